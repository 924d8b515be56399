// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_event.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "simdjson.h"

#include "base/status_macros.h"
#include "base/utf8.h"
#include "trace/file/file_errors.h"
#include "trace/file/json_number.h"
#include "trace/file/kineto_cutter.h"

namespace traza {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

// As parsers count: with them, a window of the largest event has its brackets.
constexpr size_t kMaxWindowBytes = 4 * KinetoCutter::kMaxEventBytes;

// The text of a value up to the next one, without what separates them.
absl::string_view TokenOf(ondemand::value& value) {
  const std::string_view token = value.raw_json_token();
  return absl::StripTrailingAsciiWhitespace(
      absl::string_view(token.data(), token.size()));
}

// The name of a field as it stands between its quotes.
absl::string_view KeyOf(const ondemand::field& field, const char* end) {
  const char* const begin = field.key().raw();
  const void* const quote = std::memchr(begin, '"', end - begin);
  const char* const stop =
      quote == nullptr ? end : static_cast<const char*>(quote);
  return absl::string_view(begin, stop - begin);
}

// Of `"text"` without escapes, what is between the quotes.
absl::string_view Unquoted(absl::string_view token) {
  return token.size() < 2 || token.front() != '"' || token.back() != '"'
             ? token
             : token.substr(1, token.size() - 2);
}

// A text, unescaped into the parser's memory where it has escapes. What is no
// text, or has escapes that mean nothing, stays as it is written.
absl::string_view TextOf(ondemand::value& value) {
  const absl::string_view token = TokenOf(value);
  if (std::memchr(token.data(), '\\', token.size()) == nullptr) {
    return Unquoted(token);
  }
  std::string_view text;
  if (value.get_string().get(text) != error_code::SUCCESS) {
    return Unquoted(token);
  }
  return absl::string_view(text.data(), text.size());
}

int64_t NumberOf(ondemand::value& value) {
  return ScaledInteger(TokenOf(value), 0).value_or(kNull<int64_t>);
}

// A process or thread: a number, or one at the end of a text ("stream 7").
int64_t LaneOf(ondemand::value& value) {
  const absl::string_view token = TokenOf(value);
  if (const auto number = ScaledInteger(token, 0)) return *number;
  const absl::string_view text =
      absl::StripTrailingAsciiWhitespace(Unquoted(token));
  size_t first = text.size();
  while (first > 0 && absl::ascii_isdigit(text[first - 1])) --first;
  return ScaledInteger(text.substr(first), 0).value_or(kNull<int64_t>);
}

error_code ReadDimensions(ondemand::value& value,
                          std::array<int64_t, 3>* dimensions) {
  ondemand::array array;
  if (value.get_array().get(array) != error_code::SUCCESS) {
    return error_code::SUCCESS;  // no dimensions
  }
  size_t i = 0;
  for (auto element : array) {
    ondemand::value item;
    if (const error_code error = element.get(item)) return error;
    if (i < dimensions->size()) (*dimensions)[i] = NumberOf(item);
    ++i;
  }
  return error_code::SUCCESS;
}

absl::string_view ArrayText(ondemand::value& value) {
  ondemand::array array;
  std::string_view text;
  if (value.get_array().get(array) != error_code::SUCCESS ||
      array.raw_json().get(text) != error_code::SUCCESS) {
    return absl::string_view();
  }
  return absl::string_view(text.data(), text.size());
}

error_code ReadArg(absl::string_view key, ondemand::value& value,
                   KinetoEvent* event) {
  const auto is = [key](absl::string_view name) {
    return absl::EqualsIgnoreCase(key, name);
  };
  switch (key.size()) {
    case 4:
      if (is("grid")) return ReadDimensions(value, &event->grid);
      break;
    case 5:
      if (is("block")) return ReadDimensions(value, &event->block);
      if (is("bytes")) event->bytes = NumberOf(value);
      break;
    case 6:
      if (is("device")) event->device = NumberOf(value);
      if (is("stream")) event->stream = NumberOf(value);
      break;
    case 7:
      if (is("context")) event->context = NumberOf(value);
      break;
    case 8:
      if (is("graph id")) event->graph = NumberOf(value);
      break;
    case 9:
      if (is("device id")) event->device_id = NumberOf(value);
      break;
    case 10:
      if (is("input dims")) event->input_dims = ArrayText(value);
      if (is("input type")) event->input_types = ArrayText(value);
      break;
    case 11:
      if (is("correlation")) event->correlation = NumberOf(value);
      if (is("external id")) event->external_id = NumberOf(value);
      if (is("device type")) event->device_type = NumberOf(value);
      break;
    case 13:
      if (is("shared memory")) event->shared_memory = NumberOf(value);
      if (is("graph node id")) event->graph_node = NumberOf(value);
      break;
    case 20:
      if (is("registers per thread")) event->registers = NumberOf(value);
      break;
    default:
      break;
  }
  return error_code::SUCCESS;
}

error_code ReadArgs(ondemand::value& value, const char* end,
                    KinetoEvent* event) {
  ondemand::object args;
  if (value.get_object().get(args) != error_code::SUCCESS) {
    return error_code::SUCCESS;  // none
  }
  for (auto field_or : args) {
    ondemand::field field;
    if (const error_code error = std::move(field_or).get(field)) return error;
    if (const error_code error =
            ReadArg(KeyOf(field, end), field.value(), event)) {
      return error;
    }
  }
  return error_code::SUCCESS;
}

bool IsRow(KinetoKind kind) {
  return kind != KinetoKind::kMetadata && kind != KinetoKind::kOther;
}

// Sets `*skip` once nothing else of the event matters.
error_code ReadField(absl::string_view key, ondemand::value& value,
                     const char* end, KinetoEvent* event, bool* skip) {
  if (key == "ph") {
    const absl::string_view phase = Unquoted(TokenOf(value));
    event->phase = phase.size() == 1 ? phase[0] : '?';
  } else if (key == "cat") {
    event->category = TextOf(value);
  } else if (key == "name") {
    event->name = TextOf(value);
    return error_code::SUCCESS;
  } else if (key == "pid") {
    event->pid = LaneOf(value);
  } else if (key == "tid") {
    event->tid = LaneOf(value);
  } else if (key == "ts") {
    event->start_ns = ScaledInteger(TokenOf(value), 3);
  } else if (key == "dur") {
    event->duration_ns = ScaledInteger(TokenOf(value), 3);
  } else if (key == "args") {
    return ReadArgs(value, end, event);
  }
  *skip = event->phase != 0 && !event->category.empty() &&
          !IsRow(KindOfCategory(event->category, event->phase));
  return error_code::SUCCESS;
}

error_code ReadEvent(ondemand::object object, const char* end,
                     KinetoEvent* event) {
  bool skip = false;
  for (auto field_or : object) {
    ondemand::field field;
    if (const error_code error = std::move(field_or).get(field)) return error;
    if (const error_code error =
            ReadField(KeyOf(field, end), field.value(), end, event, &skip)) {
      return error;
    }
    if (skip) break;
  }
  event->kind = KindOfCategory(event->category, event->phase);
  return error_code::SUCCESS;
}

}  // namespace

class KinetoEventReader::Parser {
 public:
  Parser() : parser_(kMaxWindowBytes) {}

  error_code Start(absl::string_view window, ondemand::document* document) {
    return parser_
        .iterate(window.data(), window.size(),
                 window.size() + KinetoCutter::kPaddingBytes)
        .get(*document);
  }

 private:
  ondemand::parser parser_;
};

KinetoEventReader::KinetoEventReader() : parser_(std::make_unique<Parser>()) {}
KinetoEventReader::~KinetoEventReader() = default;

absl::Status KinetoEventReader::Read(
    absl::string_view window,
    absl::FunctionRef<absl::Status(const KinetoEvent&)> add) {
  ondemand::document document;
  std::string repaired;
  error_code error = parser_->Start(window, &document);
  if (error == error_code::UTF8_ERROR) {
    repaired = ToValidUtf8(window);
    window = absl::string_view(repaired.data(), repaired.size());
    repaired.append(KinetoCutter::kPaddingBytes, ' ');
    window = absl::string_view(repaired).substr(
        0, repaired.size() - KinetoCutter::kPaddingBytes);
    error = parser_->Start(window, &document);
  }
  ondemand::array events;
  if (!error) error = document.get_array().get(events);
  const char* const end = window.data() + window.size();
  if (!error) {
    for (auto element : events) {
      ondemand::object object;
      KinetoEvent event;
      ondemand::value value;
      error = element.get(value);
      if (!error) error = value.get_object().get(object);
      if (!error) error = ReadEvent(object, end, &event);
      if (error) break;
      RETURN_IF_ERROR(add(event));
    }
  }
  if (!error) return absl::OkStatus();
  return UnreadableFile(absl::StrCat("An event of the file is no JSON object: ",
                                     simdjson::error_message(error)));
}

}  // namespace traza
