// SPDX-License-Identifier: Apache-2.0
#include "api/proto_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "api/convert_job.h"
#include "base/utf8.h"

namespace traza {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// JobState -> "JOB_STATE_".
std::string PrefixOf(const EnumDescriptor& type) {
  std::string prefix;
  for (const char c : type.name()) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c)) && !prefix.empty()) {
      prefix += '_';
    }
    prefix += absl::ascii_toupper(static_cast<unsigned char>(c));
  }
  return prefix + '_';
}

// States and levels are shouted, all other words are not.
bool IsShouted(const EnumDescriptor& type) {
  return type.full_name() == "traza.v1.JobState" ||
         type.full_name() == "traza.v1.ValidityLevel";
}

std::string WordOf(const EnumValueDescriptor& value) {
  std::string word = value.name();
  const std::string prefix = PrefixOf(*value.type());
  if (word.starts_with(prefix)) word.erase(0, prefix.size());
  if (IsShouted(*value.type())) return word;
  for (char& c : word) {
    c = c == '_' ? '-' : absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return word;
}

std::string FormatDouble(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

std::string DurationText(absl::Duration duration) {
  const bool negative = duration < absl::ZeroDuration();
  if (negative) duration = -duration;
  const int64_t seconds =
      absl::IDivDuration(duration, absl::Seconds(1), &duration);
  std::string text = absl::StrCat(negative ? "-" : "", seconds);
  const int64_t ns = absl::ToInt64Nanoseconds(duration);
  if (ns != 0) {
    std::string fraction = absl::StrCat(ns);
    fraction.insert(0, 9 - fraction.size(), '0');
    fraction.erase(fraction.find_last_not_of('0') + 1);
    absl::StrAppend(&text, ".", fraction);
  }
  return text + "s";
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonOptions& options) : indent_(options.indent) {}

  void Write(const Message& message) {
    const std::string& type = message.GetDescriptor()->full_name();
    if (type == "google.protobuf.Timestamp") {
      WriteString(TimeText(
          FromProto(static_cast<const google::protobuf::Timestamp&>(message))));
    } else if (type == "google.protobuf.Duration") {
      const absl::StatusOr<absl::Duration> duration =
          FromProto(static_cast<const google::protobuf::Duration&>(message));
      if (duration.ok()) {
        WriteString(DurationText(*duration));
      } else {
        out_ += "null";
      }
    } else {
      WriteObject(message);
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  void WriteObject(const Message& message) {
    const Descriptor& type = *message.GetDescriptor();
    Open('{');
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (!IsWritten(message, field)) continue;
      Next();
      WriteKey(field.name());
      if (field.is_map()) {
        WriteMap(message, field);
      } else if (field.is_repeated()) {
        WriteList(message, field);
      } else {
        WriteValue(message, field, -1);
      }
    }
    Close('}');
  }

  static bool IsWritten(const Message& message, const FieldDescriptor& field) {
    if (field.is_repeated()) return true;
    const Reflection& reflection = *message.GetReflection();
    if (field.has_presence()) return reflection.HasField(message, &field);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      return reflection.GetEnumValue(message, &field) != 0;
    }
    return true;
  }

  void WriteList(const Message& message, const FieldDescriptor& field) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    Open('[');
    for (int i = 0; i < size; ++i) {
      Next();
      WriteValue(message, field, i);
    }
    Close(']');
  }

  // Entries come in no order of their own: they are sorted by key.
  void WriteMap(const Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    const FieldDescriptor& key = *field.message_type()->map_key();
    const FieldDescriptor& value = *field.message_type()->map_value();
    std::vector<std::pair<std::string, const Message*>> entries;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      entries.emplace_back(KeyText(entry, key), &entry);
    }
    std::ranges::sort(entries);
    Open('{');
    for (const auto& [text, entry] : entries) {
      Next();
      WriteKey(text);
      WriteValue(*entry, value, -1);
    }
    Close('}');
  }

  static std::string KeyText(const Message& entry, const FieldDescriptor& key) {
    const Reflection& reflection = *entry.GetReflection();
    switch (key.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return absl::StrCat(reflection.GetInt32(entry, &key));
      case FieldDescriptor::CPPTYPE_INT64:
        return absl::StrCat(reflection.GetInt64(entry, &key));
      default:
        return reflection.GetString(entry, &key);
    }
  }

  // The value of a singular field, or of element `index` of a list.
  void WriteValue(const Message& message, const FieldDescriptor& field,
                  int index) {
    const Reflection& r = *message.GetReflection();
    const bool list = index >= 0;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        absl::StrAppend(&out_, list ? r.GetRepeatedInt32(message, &field, index)
                                    : r.GetInt32(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        absl::StrAppend(&out_, list ? r.GetRepeatedInt64(message, &field, index)
                                    : r.GetInt64(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        out_ += FormatDouble(list ? r.GetRepeatedDouble(message, &field, index)
                                  : r.GetDouble(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        out_ += (list ? r.GetRepeatedBool(message, &field, index)
                      : r.GetBool(message, &field))
                    ? "true"
                    : "false";
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        WriteEnum(*field.enum_type(),
                  list ? r.GetRepeatedEnumValue(message, &field, index)
                       : r.GetEnumValue(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        WriteText(field, list ? r.GetRepeatedString(message, &field, index)
                              : r.GetString(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Write(list ? r.GetRepeatedMessage(message, &field, index)
                   : r.GetMessage(message, &field));
        break;
      default:
        // Unsigned and float are not used in the API.
        out_ += "null";
    }
  }

  void WriteEnum(const EnumDescriptor& type, int number) {
    const EnumValueDescriptor* value = type.FindValueByNumber(number);
    if (value == nullptr) {
      absl::StrAppend(&out_, number);
    } else {
      WriteString(WordOf(*value));
    }
  }

  void WriteText(const FieldDescriptor& field, const std::string& text) {
    if (field.type() == FieldDescriptor::TYPE_BYTES) {
      WriteString(absl::Base64Escape(text));
    } else {
      WriteString(ToValidUtf8(text));
    }
  }

  void WriteString(absl::string_view text) {
    out_ += '"';
    for (const char c : text) {
      switch (c) {
        case '"':
          out_ += "\\\"";
          break;
        case '\\':
          out_ += "\\\\";
          break;
        case '\n':
          out_ += "\\n";
          break;
        case '\t':
          out_ += "\\t";
          break;
        case '\r':
          out_ += "\\r";
          break;
        default:
          WriteCharacter(static_cast<unsigned char>(c));
      }
    }
    out_ += '"';
  }

  // DEL too, though JSON allows it: a terminal may show this text.
  void WriteCharacter(unsigned char c) {
    if (c < 0x20 || c == 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", c);
      out_ += buffer;
    } else {
      out_ += static_cast<char>(c);
    }
  }

  void WriteKey(absl::string_view key) {
    WriteString(key);
    out_ += indent_ > 0 ? ": " : ":";
  }

  void Open(char bracket) {
    out_ += bracket;
    first_.push_back(true);
  }

  // Goes to the place of the next element.
  void Next() {
    if (!first_.back()) out_ += ',';
    first_.back() = false;
    NewLine();
  }

  void Close(char bracket) {
    const bool empty = first_.back();
    first_.pop_back();
    if (!empty) NewLine();
    out_ += bracket;
  }

  void NewLine() {
    if (indent_ == 0) return;
    out_ += '\n';
    out_.append(first_.size() * static_cast<size_t>(indent_), ' ');
  }

  const int indent_;
  std::string out_;
  std::vector<bool> first_;  // of each open bracket: nothing in it so far
};

}  // namespace

std::string ToJsonText(const Message& message, const JsonOptions& options) {
  JsonWriter writer(options);
  writer.Write(message);
  return writer.Take();
}

}  // namespace traza
