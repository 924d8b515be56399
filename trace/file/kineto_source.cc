// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "zlib.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "trace/file/file_errors.h"

namespace traza {
namespace {

constexpr absl::string_view kGzipMagic = "\x1f\x8b";
constexpr size_t kPackedBytes = 64 << 10;  // read at once

class FileSource final : public ByteSource {
 public:
  explicit FileSource(UniqueFd fd) : fd_(std::move(fd)) {}

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    ssize_t count = 0;
    do {
      count = ::read(fd_.get(), to, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return ErrnoStatus(errno, "reading the file");
    return static_cast<size_t>(count);
  }

 private:
  UniqueFd fd_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(absl::string_view bytes) : left_(bytes) {}

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    const absl::string_view part = left_.substr(0, size);
    std::ranges::copy(part, to);
    left_.remove_prefix(part.size());
    return part.size();
  }

 private:
  absl::string_view left_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), input_(kPackedBytes) {
    // 15: the largest window; 16: gzip only.
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    if (!ready_) return absl::ResourceExhaustedError("No memory for zlib.");
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out =
        static_cast<uInt>(std::min<size_t>(size, kMaxOutputBytes));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && !at_end_) RETURN_IF_ERROR(Step());
    return wanted - stream_.avail_out;
  }

 private:
  static constexpr size_t kMaxOutputBytes = size_t{1} << 30;

  // Makes some progress: input, output, or the end.
  absl::Status Step() {
    RETURN_IF_ERROR(Refill());
    if (between_members_) return StartMember();
    if (stream_.avail_in == 0) {
      return IncompleteFile("its gzip data is cut off");
    }
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      between_members_ = true;
      return absl::OkStatus();
    }
    if (result == Z_OK) return absl::OkStatus();
    return IncompleteFile(
        absl::StrCat("its gzip data is damaged: ",
                     stream_.msg == nullptr ? zError(result) : stream_.msg));
  }

  absl::Status Refill() {
    if (stream_.avail_in > 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(const size_t count,
                     packed_->Read(input_.data(), input_.size()));
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(count);
    return absl::OkStatus();
  }

  // Packed files may be joined, and what archives hold is padded with zeros.
  absl::Status StartMember() {
    if (stream_.avail_in == 0) at_end_ = true;
    for (; stream_.avail_in > 0 && *stream_.next_in == 0; ++stream_.next_in) {
      --stream_.avail_in;
      padded_ = true;
    }
    if (stream_.avail_in == 0) return absl::OkStatus();
    if (padded_ || *stream_.next_in != static_cast<Bytef>(kGzipMagic[0])) {
      return IncompleteFile("other bytes come after the end of its gzip data");
    }
    between_members_ = false;
    inflateReset(&stream_);
    return absl::OkStatus();
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_ = {};
  bool ready_ = false;
  bool between_members_ = false;
  bool padded_ = false;
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> FileBytes(UniqueFd fd) {
  return std::make_unique<FileSource>(std::move(fd));
}

std::unique_ptr<ByteSource> MemoryBytes(absl::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

bool IsGzip(absl::string_view head) {
  return absl::StartsWith(head, kGzipMagic);
}

std::unique_ptr<ByteSource> GzipBytes(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<GzipSource>(std::move(packed));
}

}  // namespace traza
