// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_LOG_H_
#define BASE_LOG_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace traza {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below `level` are dropped from now on. The default is kInfo.
void SetLogLevel(LogLevel level);

// Parses "debug", "info", "warning", "error".
bool ParseLogLevel(absl::string_view text, LogLevel* level);

// Writes one line "2026-01-31T12:00:00.123Z I message" to stderr in one
// write(2). Control characters in the message are escaped. Thread-safe.
void LogLine(LogLevel level, absl::string_view message);

template <typename... Args>
void LogDebug(const Args&... args) {
  LogLine(LogLevel::kDebug, absl::StrCat(args...));
}
template <typename... Args>
void LogInfo(const Args&... args) {
  LogLine(LogLevel::kInfo, absl::StrCat(args...));
}
template <typename... Args>
void LogWarning(const Args&... args) {
  LogLine(LogLevel::kWarning, absl::StrCat(args...));
}
template <typename... Args>
void LogError(const Args&... args) {
  LogLine(LogLevel::kError, absl::StrCat(args...));
}

}  // namespace traza

#endif  // BASE_LOG_H_
