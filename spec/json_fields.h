// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_JSON_FIELDS_H_
#define SPEC_JSON_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"

namespace traza {

// Reading JSON that somebody else wrote. Nothing here throws; every fault is
// an INVALID_ARGUMENT whose one violation names the field by its path from
// the value that was read, e.g. "devices[0].id".

// How deep objects and arrays may nest: ours use 7 levels, and code that walks
// a document recursively must not run out of stack.
inline constexpr int kMaxJsonDepth = 16;

// The document in `text`; a fault names the byte where it is.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text,
                                         size_t max_bytes);

// On one line; malformed UTF-8 becomes U+FFFD instead of an exception.
std::string DumpJson(const nlohmann::json& json);

absl::Status FieldError(absl::string_view field, absl::string_view description);

// `status`, an error of this header, as seen from the value that holds the
// faulty one at `path`.
absl::Status UnderPath(absl::string_view path, const absl::Status& status);

// Typed access to the fields of one JSON object, which must outlive this. A
// field that is null counts as absent. Immutable.
class JsonFields {
 public:
  static absl::StatusOr<JsonFields> Of(const nlohmann::json& json);

  bool Has(absl::string_view name) const { return Find(name) != nullptr; }

  absl::StatusOr<std::string> String(absl::string_view name,
                                     size_t max_bytes) const;
  // "" when absent.
  absl::StatusOr<std::string> StringOrEmpty(absl::string_view name,
                                            size_t max_bytes) const;
  absl::StatusOr<std::optional<std::string>> OptionalString(
      absl::string_view name, size_t max_bytes) const;
  // A longer string is cut instead of refused.
  absl::StatusOr<std::string> CutString(absl::string_view name,
                                        size_t max_bytes) const;

  // Whole numbers only: 5.0 and 1e3 are refused, whatever their value.
  absl::StatusOr<int64_t> Int(
      absl::string_view name, int64_t min = std::numeric_limits<int64_t>::min(),
      int64_t max = std::numeric_limits<int64_t>::max()) const;
  absl::StatusOr<std::optional<int64_t>> OptionalInt(
      absl::string_view name, int64_t min = std::numeric_limits<int64_t>::min(),
      int64_t max = std::numeric_limits<int64_t>::max()) const;
  absl::StatusOr<double> Number(absl::string_view name) const;
  absl::StatusOr<bool> Bool(absl::string_view name) const;

  // Empty when absent.
  absl::StatusOr<std::map<std::string, std::string>> StringMap(
      absl::string_view name, size_t max_entries, size_t max_bytes) const;
  absl::StatusOr<std::map<std::string, double>> NumberMap(
      absl::string_view name, size_t max_entries) const;
  absl::StatusOr<std::map<std::string, int>> IntMap(absl::string_view name,
                                                    size_t max_entries, int min,
                                                    int max) const;
  absl::StatusOr<std::vector<std::string>> StringList(absl::string_view name,
                                                      size_t max_entries,
                                                      size_t max_bytes) const;

  // The value whose name `from_name` knows.
  template <typename T>
  absl::StatusOr<T> Enum(absl::string_view name, std::optional<T> (*from_name)(
                                                     absl::string_view)) const {
    ASSIGN_OR_RETURN(const std::string text, String(name, kMaxNameBytes));
    const std::optional<T> value = from_name(text);
    if (!value.has_value()) return UnknownName(name, text);
    return *value;
  }
  template <typename T>
  absl::StatusOr<std::optional<T>> OptionalEnum(
      absl::string_view name,
      std::optional<T> (*from_name)(absl::string_view)) const {
    if (!Has(name)) return std::optional<T>();
    ASSIGN_OR_RETURN(T value, Enum(name, from_name));
    return std::optional<T>(std::move(value));
  }

  // A required value read by its own function.
  template <typename T>
  absl::StatusOr<T> Value(
      absl::string_view name,
      absl::StatusOr<T> (*read)(const nlohmann::json&)) const {
    const nlohmann::json* value = Find(name);
    if (value == nullptr) return Missing(name);
    absl::StatusOr<T> result = read(*value);
    if (!result.ok()) return UnderPath(name, result.status());
    return result;
  }

  // Each element read by its own function; empty when absent.
  template <typename T>
  absl::StatusOr<std::vector<T>> List(
      absl::string_view name, size_t max_entries,
      absl::StatusOr<T> (*read)(const nlohmann::json&)) const {
    std::vector<T> values;
    ASSIGN_OR_RETURN(const nlohmann::json* array, Array(name, max_entries));
    if (array == nullptr) return values;
    for (const nlohmann::json& element : *array) {
      absl::StatusOr<T> value = read(element);
      if (!value.ok()) {
        return UnderPath(absl::StrCat(name, "[", values.size(), "]"),
                         value.status());
      }
      values.push_back(*std::move(value));
    }
    return values;
  }

  // Fails on any field that is not in `names`.
  absl::Status AllowOnly(std::initializer_list<absl::string_view> names) const;

 private:
  static constexpr size_t kMaxNameBytes = 64;

  explicit JsonFields(const nlohmann::json& json) : json_(&json) {}

  const nlohmann::json* Find(absl::string_view name) const;
  // Null when absent.
  absl::StatusOr<const nlohmann::json*> Array(absl::string_view name,
                                              size_t max_entries) const;
  absl::StatusOr<const nlohmann::json*> Map(absl::string_view name,
                                            size_t max_entries) const;
  static absl::Status Missing(absl::string_view name);
  static absl::Status UnknownName(absl::string_view name,
                                  absl::string_view text);

  const nlohmann::json* json_;
};

}  // namespace traza

#endif  // SPEC_JSON_FIELDS_H_
