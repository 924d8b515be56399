// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_event.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/match.h"

#include "trace/file/file_errors.h"
#include "trace/file/json_cursor.h"
#include "trace/file/json_number.h"

namespace traza {
namespace {

int64_t NumberOf(absl::string_view value) {
  return ScaledInteger(value, 0).value_or(kNull<int64_t>);
}

// A process or thread: a number, or one at the end of a text ("stream 7").
int64_t LaneOf(absl::string_view value) {
  if (const auto number = ScaledInteger(value, 0)) return *number;
  const absl::string_view text =
      absl::StripTrailingAsciiWhitespace(Unquoted(value));
  size_t first = text.size();
  while (first > 0 && absl::ascii_isdigit(text[first - 1])) --first;
  return ScaledInteger(text.substr(first), 0).value_or(kNull<int64_t>);
}

// "[4, 2, 1]"; what is no array has no dimensions.
void ReadDimensions(absl::string_view value,
                    std::array<int64_t, 3>* dimensions) {
  JsonCursor cursor(value);
  if (!cursor.Enter('[')) return;
  for (size_t i = 0; i < dimensions->size() && cursor.NextElement(); ++i) {
    (*dimensions)[i] = NumberOf(cursor.Value());
  }
}

void ReadArg(absl::string_view key, absl::string_view value,
             KinetoEvent* event) {
  const auto is = [key](absl::string_view name) {
    return absl::EqualsIgnoreCase(key, name);
  };
  switch (key.size()) {
    case 4:
      if (is("grid")) ReadDimensions(value, &event->grid);
      break;
    case 5:
      if (is("block")) ReadDimensions(value, &event->block);
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
      if (is("input dims")) event->input_dims = value;
      if (is("input type")) event->input_types = value;
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
}

void ReadArgs(JsonCursor* cursor, KinetoEvent* event) {
  if (!cursor->Enter('{')) {
    cursor->Value();  // none
    return;
  }
  absl::string_view key;
  while (cursor->NextKey(&key)) ReadArg(key, cursor->Value(), event);
}

bool IsRow(KinetoKind kind) {
  return kind != KinetoKind::kMetadata && kind != KinetoKind::kOther;
}

}  // namespace

absl::string_view KinetoEventReader::TextOf(absl::string_view value,
                                            std::string* memory) {
  value = Unquoted(value);
  if (std::memchr(value.data(), '\\', value.size()) == nullptr) return value;
  memory->clear();
  AppendUnescaped(value, memory);
  return *memory;
}

void KinetoEventReader::ReadMember(absl::string_view key, JsonCursor* cursor,
                                   KinetoEvent* event) {
  // Once it is known that an event is no row, its args do not matter.
  if (key == "args" && (event->phase == 0 || event->category.empty() ||
                        IsRow(KindOfCategory(event->category, event->phase)))) {
    return ReadArgs(cursor, event);
  }
  const absl::string_view value = cursor->Value();
  if (key == "ph") {
    const absl::string_view phase = Unquoted(value);
    event->phase = phase.size() == 1 ? phase[0] : '?';
  } else if (key == "cat") {
    event->category = TextOf(value, &category_);
  } else if (key == "name") {
    event->name = TextOf(value, &name_);
  } else if (key == "pid") {
    event->pid = LaneOf(value);
  } else if (key == "tid") {
    event->tid = LaneOf(value);
  } else if (key == "ts") {
    event->start_ns = ScaledInteger(value, 3);
  } else if (key == "dur") {
    event->duration_ns = ScaledInteger(value, 3);
  }
}

absl::Status KinetoEventReader::Read(
    absl::string_view window,
    absl::FunctionRef<absl::Status(const KinetoEvent&)> add) {
  JsonCursor cursor(window);
  bool good = cursor.Enter('[');
  while (good && cursor.NextElement()) {
    KinetoEvent event;
    good = cursor.Enter('{');
    absl::string_view key;
    while (good && cursor.NextKey(&key)) ReadMember(key, &cursor, &event);
    if (!good || cursor.failed()) break;
    event.kind = KindOfCategory(event.category, event.phase);
    if (absl::Status status = add(event); !status.ok()) return status;
  }
  if (good && !cursor.failed()) return absl::OkStatus();
  return UnreadableFile("An event of the file is no JSON object.");
}

}  // namespace traza
