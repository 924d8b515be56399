// SPDX-License-Identifier: Apache-2.0
#include "spec/json_fields.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxKeyBytes = 64;

// Looks at a document without building it: finds what is too deep, and the
// place of a fault, which the parser without exceptions keeps to itself.
class JsonScan final : public Json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }

  bool too_deep() const { return depth_ > kMaxJsonDepth; }
  std::size_t position() const { return position_; }

 private:
  bool Enter() { return ++depth_ <= kMaxJsonDepth; }
  bool Leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::size_t position_ = 0;
};

std::string ElementPath(absl::string_view name, absl::string_view key) {
  return absl::StrCat(name, "[",
                      EscapeControlCharacters(CutUtf8(key, kMaxKeyBytes)), "]");
}

absl::StatusOr<std::string> ToString(const Json& value, absl::string_view field,
                                     size_t max_bytes) {
  if (!value.is_string()) return FieldError(field, "must be a string");
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > max_bytes) {
    return FieldError(field, absl::StrCat("has ", text.size(),
                                          " bytes; at most ", max_bytes));
  }
  return text;
}

absl::StatusOr<int64_t> ToInt(const Json& value, absl::string_view field,
                              int64_t min, int64_t max) {
  if (!value.is_number_integer()) {
    return FieldError(field, "must be a whole number");
  }
  const bool too_large =
      value.is_number_unsigned() &&
      value.get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const int64_t number = too_large ? max : value.get<int64_t>();
  if (too_large || number < min || number > max) {
    return FieldError(field, absl::StrCat("must be from ", min, " to ", max));
  }
  return number;
}

absl::StatusOr<double> ToNumber(const Json& value, absl::string_view field) {
  if (!value.is_number()) return FieldError(field, "must be a number");
  const auto number = value.get<double>();
  if (!std::isfinite(number)) return FieldError(field, "must be finite");
  return number;
}

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return FieldError("", absl::StrCat("JSON of ", text.size(),
                                       " bytes; at most ", max_bytes));
  }
  // The parser takes a NUL for the end and would ignore what follows.
  if (const size_t nul = text.find('\0'); nul != absl::string_view::npos) {
    return FieldError("", absl::StrCat("not JSON at byte ", nul + 1));
  }
  JsonScan scan;
  if (!Json::sax_parse(text.begin(), text.end(), &scan)) {
    if (scan.too_deep()) {
      return FieldError("", absl::StrCat("JSON nests deeper than ",
                                         kMaxJsonDepth, " levels"));
    }
    return FieldError("", absl::StrCat("not JSON at byte ", scan.position()));
  }
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) return FieldError("", "not JSON");
  return json;
}

std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::Status FieldError(absl::string_view field,
                        absl::string_view description) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation(field, description)
      .Build(field.empty() ? std::string(description)
                           : absl::StrCat(field, ": ", description));
}

absl::Status UnderPath(absl::string_view path, const absl::Status& status) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  if (!details.has_value() || details->violations.size() != 1) {
    return Annotate(status, path);
  }
  const FieldViolation& inner = details->violations.front();
  const bool joined = inner.field.empty() || inner.field.front() == '[';
  return FieldError(absl::StrCat(path, joined ? "" : ".", inner.field),
                    inner.description);
}

absl::StatusOr<JsonFields> JsonFields::Of(const Json& json) {
  if (!json.is_object()) return FieldError("", "must be an object");
  return JsonFields(json);
}

absl::StatusOr<std::string> JsonFields::String(absl::string_view name,
                                               size_t max_bytes) const {
  const Json* value = Find(name);
  if (value == nullptr) return Missing(name);
  return ToString(*value, name, max_bytes);
}

absl::StatusOr<std::string> JsonFields::StringOrEmpty(absl::string_view name,
                                                      size_t max_bytes) const {
  const Json* value = Find(name);
  if (value == nullptr) return std::string();
  return ToString(*value, name, max_bytes);
}

absl::StatusOr<std::optional<std::string>> JsonFields::OptionalString(
    absl::string_view name, size_t max_bytes) const {
  const Json* value = Find(name);
  if (value == nullptr) return std::optional<std::string>();
  ASSIGN_OR_RETURN(std::string text, ToString(*value, name, max_bytes));
  return std::optional<std::string>(std::move(text));
}

absl::StatusOr<std::string> JsonFields::CutString(absl::string_view name,
                                                  size_t max_bytes) const {
  ASSIGN_OR_RETURN(const std::string text,
                   String(name, std::numeric_limits<size_t>::max()));
  return std::string(CutUtf8(text, max_bytes));
}

absl::StatusOr<int64_t> JsonFields::Int(absl::string_view name, int64_t min,
                                        int64_t max) const {
  const Json* value = Find(name);
  if (value == nullptr) return Missing(name);
  return ToInt(*value, name, min, max);
}

absl::StatusOr<std::optional<int64_t>> JsonFields::OptionalInt(
    absl::string_view name, int64_t min, int64_t max) const {
  const Json* value = Find(name);
  if (value == nullptr) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(const int64_t number, ToInt(*value, name, min, max));
  return std::optional<int64_t>(number);
}

absl::StatusOr<double> JsonFields::Number(absl::string_view name) const {
  const Json* value = Find(name);
  if (value == nullptr) return Missing(name);
  return ToNumber(*value, name);
}

absl::StatusOr<bool> JsonFields::Bool(absl::string_view name) const {
  const Json* value = Find(name);
  if (value == nullptr) return Missing(name);
  if (!value->is_boolean()) return FieldError(name, "must be true or false");
  return value->get<bool>();
}

absl::StatusOr<std::map<std::string, std::string>> JsonFields::StringMap(
    absl::string_view name, size_t max_entries, size_t max_bytes) const {
  std::map<std::string, std::string> entries;
  ASSIGN_OR_RETURN(const Json* map, Map(name, max_entries));
  if (map == nullptr) return entries;
  for (const auto& [key, value] : map->items()) {
    ASSIGN_OR_RETURN(entries[key],
                     ToString(value, ElementPath(name, key), max_bytes));
  }
  return entries;
}

absl::StatusOr<std::map<std::string, double>> JsonFields::NumberMap(
    absl::string_view name, size_t max_entries) const {
  std::map<std::string, double> entries;
  ASSIGN_OR_RETURN(const Json* map, Map(name, max_entries));
  if (map == nullptr) return entries;
  for (const auto& [key, value] : map->items()) {
    ASSIGN_OR_RETURN(entries[key], ToNumber(value, ElementPath(name, key)));
  }
  return entries;
}

absl::StatusOr<std::map<std::string, int>> JsonFields::IntMap(
    absl::string_view name, size_t max_entries, int min, int max) const {
  std::map<std::string, int> entries;
  ASSIGN_OR_RETURN(const Json* map, Map(name, max_entries));
  if (map == nullptr) return entries;
  for (const auto& [key, value] : map->items()) {
    ASSIGN_OR_RETURN(const int64_t number,
                     ToInt(value, ElementPath(name, key), min, max));
    entries[key] = static_cast<int>(number);
  }
  return entries;
}

absl::StatusOr<std::vector<std::string>> JsonFields::StringList(
    absl::string_view name, size_t max_entries, size_t max_bytes) const {
  std::vector<std::string> values;
  ASSIGN_OR_RETURN(const Json* array, Array(name, max_entries));
  if (array == nullptr) return values;
  for (const Json& element : *array) {
    ASSIGN_OR_RETURN(
        std::string text,
        ToString(element, absl::StrCat(name, "[", values.size(), "]"),
                 max_bytes));
    values.push_back(std::move(text));
  }
  return values;
}

absl::Status JsonFields::AllowOnly(
    std::initializer_list<absl::string_view> names) const {
  for (const auto& item : json_->items()) {
    if (std::ranges::find(names, item.key()) == names.end()) {
      return FieldError(
          EscapeControlCharacters(CutUtf8(item.key(), kMaxKeyBytes)),
          "there is no such field");
    }
  }
  return absl::OkStatus();
}

const Json* JsonFields::Find(absl::string_view name) const {
  const auto it = json_->find(std::string(name));
  if (it == json_->end() || it->is_null()) return nullptr;
  return &*it;
}

absl::StatusOr<const Json*> JsonFields::Array(absl::string_view name,
                                              size_t max_entries) const {
  const Json* value = Find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) return FieldError(name, "must be an array");
  if (value->size() > max_entries) {
    return FieldError(name, absl::StrCat("has ", value->size(),
                                         " elements; at most ", max_entries));
  }
  return value;
}

absl::StatusOr<const Json*> JsonFields::Map(absl::string_view name,
                                            size_t max_entries) const {
  const Json* value = Find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) return FieldError(name, "must be an object");
  if (value->size() > max_entries) {
    return FieldError(name, absl::StrCat("has ", value->size(),
                                         " entries; at most ", max_entries));
  }
  return value;
}

absl::Status JsonFields::Missing(absl::string_view name) {
  return FieldError(name, "is missing");
}

absl::Status JsonFields::UnknownName(absl::string_view name,
                                     absl::string_view text) {
  return FieldError(name, absl::StrCat("does not know ", Quoted(text)));
}

}  // namespace traza
