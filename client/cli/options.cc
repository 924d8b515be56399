// SPDX-License-Identifier: Apache-2.0
#include "client/cli/options.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

#include "base/id.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "client/args/duration.h"

namespace traza {
namespace {

// Called by CLI11 for each word of an option.
using Store = std::function<absl::Status(const std::string& word)>;

CLI::Option* AddOption(CLI::App& app, const std::string& name,
                       const std::string& help, const std::string& type,
                       Store store) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [name,
           store = std::move(store)](const std::vector<std::string>& words) {
            for (const std::string& word : words) {
              absl::Status status = CheckText("The value", word);
              if (status.ok()) status = store(word);
              if (!status.ok()) {
                throw CLI::ValidationError(name, std::string(status.message()));
              }
            }
          },
          help)
      ->type_name(type)
      ->type_size(1)
      ->allow_extra_args(false);
}

// Refuses the second of two values.
template <typename T>
absl::Status StoreOnce(T value, std::optional<T>* place) {
  if (place->has_value()) {
    return absl::InvalidArgumentError("It was given twice.");
  }
  *place = std::move(value);
  return absl::OkStatus();
}

}  // namespace

CLI::Option* AddText(CLI::App& app, const std::string& name,
                     std::optional<std::string>* value, const std::string& help,
                     const std::string& type) {
  return AddOption(app, name, help, type, [value](const std::string& word) {
    return StoreOnce(word, value);
  });
}

CLI::Option* AddTexts(CLI::App& app, const std::string& name,
                      std::vector<std::string>* values, const std::string& help,
                      const std::string& type) {
  return AddOption(app, name, help, type, [values](const std::string& word) {
    values->push_back(word);
    return absl::OkStatus();
  });
}

CLI::Option* AddNumber(CLI::App& app, const std::string& name,
                       std::optional<int64_t>* value, int64_t min, int64_t max,
                       const std::string& help) {
  return AddOption(
      app, name, help, "N",
      [value, min, max](const std::string& word) -> absl::Status {
        int64_t number = 0;
        // SimpleAtoi would also take blanks around the number.
        const bool digits = absl::ascii_isdigit(word.front()) ||
                            (word.front() == '-' && word.size() > 1);
        if (!digits || !absl::ascii_isdigit(word.back()) ||
            !absl::SimpleAtoi(word, &number) || number < min || number > max) {
          std::string range = absl::StrCat(min, " to ", max);
          if (max == std::numeric_limits<int64_t>::max()) {
            range = absl::StrCat("from ", min);
            if (min == std::numeric_limits<int64_t>::min())
              range = "of 64 bits";
          }
          return absl::InvalidArgumentError(
              absl::StrCat(Quoted(word), " is no whole number ", range, "."));
        }
        return StoreOnce(number, value);
      });
}

CLI::Option* AddDuration(CLI::App& app, const std::string& name,
                         std::optional<absl::Duration>* value,
                         const std::string& help) {
  return AddOption(
      app, name, help, "D", [value](const std::string& word) -> absl::Status {
        absl::StatusOr<absl::Duration> duration = DurationFromText(word);
        if (!duration.ok()) return duration.status();
        return StoreOnce(*duration, value);
      });
}

CLI::Option* AddWord(CLI::App& app, const std::string& name,
                     std::optional<std::string>* value,
                     const std::vector<std::string>& words,
                     const std::string& help, const std::string& type) {
  return AddOption(
      app, name, help, type,
      [value, words](const std::string& word) -> absl::Status {
        for (const std::string& known : words) {
          if (absl::AsciiStrToLower(known) == absl::AsciiStrToLower(word)) {
            return StoreOnce(known, value);
          }
        }
        const std::string near = Suggest(word, words);
        return absl::InvalidArgumentError(absl::StrCat(
            Quoted(word), " is none of ", absl::StrJoin(words, ", "), ".",
            near.empty() ? "" : absl::StrCat(" Did you mean ", near, "?")));
      });
}

CLI::Option* AddPairs(CLI::App& app, const std::string& name,
                      std::map<std::string, std::string>* pairs,
                      const std::string& help) {
  return AddOption(app, name, help, "KEY=VALUE",
                   [pairs](const std::string& word) -> absl::Status {
                     const size_t equals = word.find('=');
                     if (equals == std::string::npos || equals == 0) {
                       return absl::InvalidArgumentError(
                           absl::StrCat(Quoted(word), " is not KEY=VALUE."));
                     }
                     const std::string key = word.substr(0, equals);
                     if (!pairs->emplace(key, word.substr(equals + 1)).second) {
                       return absl::InvalidArgumentError(
                           absl::StrCat(Quoted(key), " was given twice."));
                     }
                     return absl::OkStatus();
                   });
}

CLI::Option* AddPositional(CLI::App& app, const std::string& name,
                           std::string* value, const std::string& help) {
  return app.add_option(name, *value, help)->required()->type_name("");
}

CLI::Option* AddPositionals(CLI::App& app, const std::string& name,
                            std::vector<std::string>* values,
                            const std::string& help) {
  return app.add_option(name, *values, help)->required()->type_name("");
}

absl::StatusOr<std::string> ResourceName(absl::string_view collection,
                                         absl::string_view text) {
  absl::string_view id = text;
  absl::ConsumePrefix(&id, absl::StrCat(collection, "/"));
  if (!IsResourceId(id)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quoted(text), " is no ", collection.substr(0, collection.size() - 1),
        " id; list them with: traza ", collection, "."));
  }
  return absl::StrCat(collection, "/", id);
}

absl::Status CheckText(absl::string_view what, absl::string_view text) {
  if (text.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, " is empty."));
  }
  if (!IsValidUtf8(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", Quoted(text), " is not UTF-8."));
  }
  return absl::OkStatus();
}

}  // namespace traza
