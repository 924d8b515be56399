// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/utf8.h"

namespace traza {
namespace {

std::atomic<LogLevel> min_level{LogLevel::kInfo};

char LevelLetter(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 'D';
    case LogLevel::kInfo:
      return 'I';
    case LogLevel::kWarning:
      return 'W';
    case LogLevel::kError:
      return 'E';
  }
  return '?';
}

}  // namespace

void SetLogLevel(LogLevel level) {
  min_level.store(level, std::memory_order_relaxed);
}

bool ParseLogLevel(absl::string_view text, LogLevel* level) {
  if (text == "debug") {
    *level = LogLevel::kDebug;
  } else if (text == "info") {
    *level = LogLevel::kInfo;
  } else if (text == "warning") {
    *level = LogLevel::kWarning;
  } else if (text == "error") {
    *level = LogLevel::kError;
  } else {
    return false;
  }
  return true;
}

void LogLine(LogLevel level, absl::string_view message) {
  if (level < min_level.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  const std::string line =
      absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(),
                                    absl::UTCTimeZone()),
                   " ", std::string(1, LevelLetter(level)), " ",
                   EscapeControlCharacters(message), "\n");
  // One write, so that lines of several threads do not mix. A log that cannot
  // be written has nowhere to complain.
  ssize_t written;
  do {
    written = ::write(STDERR_FILENO, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  errno = saved_errno;
}

}  // namespace traza
