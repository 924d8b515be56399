// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_cutter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "base/utf8.h"
#include "trace/file/file_errors.h"
#include "trace/file/json_blocks.h"

namespace traza {
namespace {

// In front of the text, for the bracket of a window that begins with it.
constexpr size_t kFrontBytes = 64;
constexpr size_t kTailBytes = 64;  // and behind it
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsSpace(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}
bool Separates(char byte) { return byte == ',' || IsSpace(byte); }
bool Opens(char byte) { return byte == '{' || byte == '['; }
bool Closes(char byte) { return byte == '}' || byte == ']'; }

// Follows one JSON value byte by byte.
class ValueEnd {
 public:
  // Whether the value ends before `byte`; else `byte` is part of it.
  bool EndsBefore(char byte) {
    if (in_string_) {
      in_string_ = escaped_ || byte != '"';
      escaped_ = !escaped_ && byte == '\\';
      done_ = !in_string_ && depth_ == 0;
      return false;
    }
    if (done_ || (depth_ == 0 && (Closes(byte) || Separates(byte)))) {
      return true;
    }
    if (byte == '"') {
      in_string_ = true;
    } else if (Opens(byte)) {
      ++depth_;
    } else if (Closes(byte)) {
      done_ = --depth_ == 0;
    }
    return false;
  }

 private:
  int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool done_ = false;
};

}  // namespace

KinetoCutter::KinetoCutter(ByteSource& source, int64_t max_bytes,
                           size_t window_bytes)
    : source_(source),
      max_bytes_(max_bytes),
      window_bytes_(window_bytes),
      buffer_(kFrontBytes + window_bytes + kTailBytes),
      begin_(kFrontBytes),
      end_(kFrontBytes) {}

absl::StatusOr<absl::string_view> KinetoCutter::Next() {
  if (state_ == State::kStart) RETURN_IF_ERROR(ReadStart());
  while (state_ != State::kEnd) {
    if (state_ == State::kMembers) {
      RETURN_IF_ERROR(ReadMembers());
      continue;
    }
    ASSIGN_OR_RETURN(const absl::string_view window, NextEvents());
    if (!window.empty()) return window;
  }
  if (!saw_events_) {
    return UnreadableFile(
        "This JSON file is no Chrome trace: it has no traceEvents.");
  }
  return absl::string_view();
}

absl::StatusOr<bool> KinetoCutter::Fill() {
  if (source_ended_) return false;
  if (begin_ > kFrontBytes) {
    // Windows are long, so little is left over.
    std::memmove(buffer_.data() + kFrontBytes, buffer_.data() + begin_,
                 end_ - begin_);
    const size_t moved = begin_ - kFrontBytes;
    scan_.next -= std::min(scan_.next, moved);
    scan_.cut -= std::min(scan_.cut, moved);
    begin_ -= moved;
    end_ -= moved;
  }
  if (end_ + kTailBytes == buffer_.size()) {
    buffer_.resize(2 * buffer_.size());
  }
  ASSIGN_OR_RETURN(
      const size_t count,
      source_.Read(buffer_.data() + end_, buffer_.size() - kTailBytes - end_));
  source_ended_ = count == 0;
  end_ += count;
  bytes_ += static_cast<int64_t>(count);
  if (bytes_ > max_bytes_) {
    return FileTooLarge("bytes of text", bytes_, max_bytes_);
  }
  return count > 0;
}

absl::Status KinetoCutter::CutOff(absl::string_view where) const {
  return IncompleteFile(
      absl::StrCat("its text ends ", where, ", after ", bytes_,
                   " bytes; its writer was stopped, or a copy was"));
}

absl::StatusOr<int> KinetoCutter::PeekAfterSpace() {
  for (;;) {
    for (; begin_ < end_; ++begin_) {
      if (!IsSpace(buffer_[begin_])) {
        return static_cast<unsigned char>(buffer_[begin_]);
      }
    }
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return -1;
  }
}

absl::Status KinetoCutter::Expect(char byte, absl::string_view where) {
  ASSIGN_OR_RETURN(const int next, PeekAfterSpace());
  if (next < 0) return CutOff(where);
  if (next != byte) {
    return UnreadableFile(absl::StrCat("This is no JSON: it has no '",
                                       absl::string_view(&byte, 1), "' ", where,
                                       "."));
  }
  ++begin_;
  return absl::OkStatus();
}

absl::StatusOr<std::string> KinetoCutter::ReadValue() {
  std::string text;
  ValueEnd value;
  for (;;) {
    for (; begin_ < end_; ++begin_) {
      if (value.EndsBefore(buffer_[begin_])) {
        if (text.size() > kMaxMemberBytes) text.clear();
        return text;
      }
      if (text.size() <= kMaxMemberBytes) text.push_back(buffer_[begin_]);
    }
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return CutOff("inside of the document");
  }
}

absl::StatusOr<std::string> KinetoCutter::ReadKey() {
  ASSIGN_OR_RETURN(const int next, PeekAfterSpace());
  if (next != '"') {
    return UnreadableFile(
        "This is no JSON: a member of the document has no name.");
  }
  ASSIGN_OR_RETURN(std::string key, ReadValue());
  // Without the quotes; those we know have no escapes.
  return key.size() < 2 ? std::string() : key.substr(1, key.size() - 2);
}

absl::Status KinetoCutter::ReadStart() {
  while (end_ - begin_ < kByteOrderMark.size()) {
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) break;
  }
  const absl::string_view head(buffer_.data() + begin_, end_ - begin_);
  if (head.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    begin_ += kByteOrderMark.size();
  }
  ASSIGN_OR_RETURN(const int next, PeekAfterSpace());
  if (next < 0) return UnreadableFile("The file is empty.");
  if (next != '{' && next != '[') {
    return UnreadableFile(
        "This is neither a Parquet file nor JSON: it begins with neither PAR1 "
        "nor { nor [.");
  }
  ++begin_;
  bare_ = next == '[';
  state_ = State::kMembers;
  if (bare_) StartEvents();
  return absl::OkStatus();
}

void KinetoCutter::StartEvents() {
  state_ = State::kEvents;
  saw_events_ = true;
  scan_ = Scan();
  scan_.next = scan_.cut = begin_;
}

absl::Status KinetoCutter::ReadMembers() {
  if (bare_) return CheckTail();
  for (;;) {
    ASSIGN_OR_RETURN(const int next, PeekAfterSpace());
    if (next < 0) return CutOff("inside of the document");
    if (next == '}') {
      ++begin_;
      return CheckTail();
    }
    if (next == ',') {
      ++begin_;
      continue;
    }
    RETURN_IF_ERROR(ReadMember());
    if (state_ == State::kEvents) return absl::OkStatus();
  }
}

absl::Status KinetoCutter::ReadMember() {
  ASSIGN_OR_RETURN(std::string key, ReadKey());
  RETURN_IF_ERROR(Expect(':', "after the name of a member"));
  if (key == "traceEvents") {
    RETURN_IF_ERROR(Expect('[', "after traceEvents"));
    StartEvents();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(PeekAfterSpace().status());
  ASSIGN_OR_RETURN(std::string value, ReadValue());
  if (members_.size() < kMaxMembers) {
    members_.push_back({std::move(key), std::move(value)});
  }
  return absl::OkStatus();
}

absl::Status KinetoCutter::CheckTail() {
  state_ = State::kEnd;
  for (;;) {
    ASSIGN_OR_RETURN(const int next, PeekAfterSpace());
    if (next < 0) return absl::OkStatus();
    if (next != 0) {
      return IncompleteFile("other text comes after the end of its document");
    }
    ++begin_;
  }
}

absl::StatusOr<absl::string_view> KinetoCutter::NextEvents() {
  if (covered_at_ != 0) {
    buffer_[covered_at_] = covered_;
    covered_at_ = 0;
    begin_ = scan_.cut;
  }
  for (size_t wanted = window_bytes_;; wanted = 2 * (end_ - begin_)) {
    bool more = true;
    while (more && end_ - begin_ < wanted) {
      ASSIGN_OR_RETURN(more, Fill());
    }
    ScanEvents();
    if (scan_.broken) {
      return UnreadableFile(
          "This is no JSON: a bracket among its events closes nothing.");
    }
    if (bare_ && source_ended_ && scan_.depth == 0 && !scan_.in_string) {
      scan_.cut = scan_.at_end ? scan_.cut : end_;
      scan_.at_end = true;
    }
    if (scan_.at_end) {
      ASSIGN_OR_RETURN(const absl::string_view window, TakeWindow());
      covered_at_ = 0;  // that byte is done with
      begin_ = std::min(scan_.cut + 1, end_);
      state_ = State::kMembers;
      return window;
    }
    if (scan_.cut > begin_) return TakeWindow();
    if (!more) return CutOff("inside of its events");
    if (end_ - begin_ > kMaxEventBytes) {
      return FileTooLarge("bytes in one event",
                          static_cast<int64_t>(end_ - begin_), kMaxEventBytes);
    }
  }
}

void KinetoCutter::ScanEvents() {
  while (!scan_.at_end && !scan_.broken &&
         end_ - scan_.next >= kJsonBlockBytes) {
    const JsonBlock block = LookAtBlock(buffer_.data() + scan_.next);
    if (block.backslashes != 0 || scan_.escaped) {
      ScanBytes(scan_.next + kJsonBlockBytes);
      continue;
    }
    const uint64_t inside =
        PrefixXor(block.quotes) ^ (scan_.in_string ? ~uint64_t{0} : 0);
    const uint64_t opens = block.opens & ~inside;
    const uint64_t closes = block.closes & ~inside;
    if (scan_.depth > std::popcount(closes)) {  // no event ends here
      scan_.depth += std::popcount(opens) - std::popcount(closes);
    } else {
      for (uint64_t left = opens | closes; left != 0; left &= left - 1) {
        See(scan_.next + std::countr_zero(left));
        if (scan_.at_end || scan_.broken) return;
      }
    }
    scan_.in_string = inside >> 63 != 0;
    scan_.next += kJsonBlockBytes;
  }
  if (source_ended_ && !scan_.at_end && !scan_.broken) ScanBytes(end_);
}

void KinetoCutter::ScanBytes(size_t end) {
  for (; scan_.next < end && !scan_.at_end && !scan_.broken; ++scan_.next) {
    const char byte = buffer_[scan_.next];
    if (scan_.in_string) {
      scan_.in_string = scan_.escaped || byte != '"';
      scan_.escaped = !scan_.escaped && byte == '\\';
    } else if (byte == '"') {
      scan_.in_string = true;
    } else if (Opens(byte) || Closes(byte)) {
      See(scan_.next);
    }
  }
}

void KinetoCutter::See(size_t at) {
  if (Opens(buffer_[at])) {
    ++scan_.depth;
  } else if (scan_.depth > 0) {
    if (--scan_.depth == 0) scan_.cut = at + 1;
  } else {
    scan_.at_end = buffer_[at] == ']';
    scan_.broken = !scan_.at_end;
    scan_.cut = at;
  }
}

// What is between begin_ and the cut, as an array. The comma between two
// windows stands in front of the second; one after the last event is forgiven.
absl::StatusOr<absl::string_view> KinetoCutter::TakeWindow() {
  size_t first = begin_;
  size_t last = scan_.cut;
  int commas = scan_.taken ? -1 : 0;
  for (; first < last && Separates(buffer_[first]); ++first) {
    commas += buffer_[first] == ',';
  }
  int trailing = 0;
  for (; first < last && Separates(buffer_[last - 1]); --last) {
    trailing += buffer_[last - 1] == ',';
  }
  const bool may_lack_comma = first == last;
  if (commas > 0 || (commas < 0 && !may_lack_comma) || trailing > 1) {
    return UnreadableFile(
        "This is no JSON: its events are not parted by one comma each.");
  }
  if (first == last) return absl::string_view();
  scan_.taken = true;
  buffer_[first - 1] = '[';
  covered_at_ = last;
  covered_ = buffer_[last];
  buffer_[last] = ']';
  return absl::string_view(buffer_.data() + first - 1, last - first + 2);
}

}  // namespace traza
