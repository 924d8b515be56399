// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_STAND_IN_PYTHON_H_
#define TESTS_SUPPORT_STAND_IN_PYTHON_H_

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/check.h"
#include "base/file.h"

namespace traza {

// A shell script in `folder` that plays the host's Python: it is called as
// "python3 -B SCRIPT probe TORCH" and "python3 -B SCRIPT compile REQUEST".
// Each compilation adds a line to the file `count`.
class StandInPython {
 public:
  static constexpr char kVersions[] =
      R"(echo '{"python": "3.12.3", "torch": "2.11.0+cu130", )"
      R"("triton": "3.6.0"}')";

  explicit StandInPython(const std::filesystem::path& folder)
      : folder_(folder) {
    TRAZA_CHECK(WriteFileAtomically(script(), "# for Python\n").ok());
    Play("printf package >\"$out\"", kVersions);
  }

  // What it does when it compiles: shell commands, in which $out is the
  // package to write; and then, and when it probes: what it prints.
  void Play(const std::string& compile, const std::string& print = kVersions,
            const std::string& probe = kVersions) {
    constexpr char kFindOut[] =
        R"sh(out="$(sed -n 's/.*"out":"\([^"]*\)".*/\1/p' "$4")")sh";
    const std::string text =
        absl::StrCat("#!/bin/sh\ncase \"$3\" in\nprobe) ", probe,
                     " ;;\ncompile)\n", "echo x >>", count().native(), "\n",
                     kFindOut, "\n", compile, "\n", print, "\n;;\nesac\n");
    TRAZA_CHECK(WriteFileAtomically(program(), text).ok());
    TRAZA_CHECK(::chmod(program().c_str(), 0700) == 0);
  }

  std::filesystem::path program() const { return folder_ / "python3"; }
  std::filesystem::path script() const { return folder_ / "export.py"; }
  std::filesystem::path count() const { return folder_ / "count"; }
  // How often it has compiled.
  int compilations() const {
    const std::string lines = ReadFile(count(), 1 << 20).value_or("");
    return static_cast<int>(std::ranges::count(lines, '\n'));
  }
  // What makes a worker use it.
  std::vector<std::string> environment() const {
    return {"PATH=/usr/bin:/bin",
            absl::StrCat("TRAZA_PYTHON=", program().native()),
            absl::StrCat("TRAZA_EXPORT_SCRIPT=", script().native())};
  }

 private:
  const std::filesystem::path folder_;
};

}  // namespace traza

#endif  // TESTS_SUPPORT_STAND_IN_PYTHON_H_
