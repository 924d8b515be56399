// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_OPTIONS_H_
#define CLIENT_CLI_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace traza {

// Options with values of ours. All of them take exactly one word, are refused
// when empty or not UTF-8 (an API string has to be), and say in their error
// what would have been right. `value` must outlive the parsing.

CLI::Option* AddText(CLI::App& app, const std::string& name,
                     std::optional<std::string>* value, const std::string& help,
                     const std::string& type);

// The same, any number of times, in the order in which they were given.
CLI::Option* AddTexts(CLI::App& app, const std::string& name,
                      std::vector<std::string>* values, const std::string& help,
                      const std::string& type);

// A decimal number in [min, max]; CLI11 itself reads 010 as octal.
CLI::Option* AddNumber(CLI::App& app, const std::string& name,
                       std::optional<int64_t>* value, int64_t min, int64_t max,
                       const std::string& help);

CLI::Option* AddDuration(CLI::App& app, const std::string& name,
                         std::optional<absl::Duration>* value,
                         const std::string& help);

// One of `words`, in any case; stored as it is spelled there.
CLI::Option* AddWord(CLI::App& app, const std::string& name,
                     std::optional<std::string>* value,
                     const std::vector<std::string>& words,
                     const std::string& help, const std::string& type);

// KEY=VALUE, any number of times; a second value for one key is refused.
CLI::Option* AddPairs(CLI::App& app, const std::string& name,
                      std::map<std::string, std::string>* pairs,
                      const std::string& help);

// A positional that must be there.
CLI::Option* AddPositional(CLI::App& app, const std::string& name,
                           std::string* value, const std::string& help);

// One positional or more.
CLI::Option* AddPositionals(CLI::App& app, const std::string& name,
                            std::vector<std::string>* values,
                            const std::string& help);

// "jobs/ID" from "ID" or "jobs/ID" where `collection` is "jobs".
// INVALID_ARGUMENT when it cannot be one.
absl::StatusOr<std::string> ResourceName(absl::string_view collection,
                                         absl::string_view text);

// Refuses a word that no API string can hold. `what` names it.
absl::Status CheckText(absl::string_view what, absl::string_view text);

}  // namespace traza

#endif  // CLIENT_CLI_OPTIONS_H_
