#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the first lines of files: license, include guard.

usage: check_headers.py [ROOT]

Prints FILE:LINE: MESSAGE for each fault and exits with 1 if there is one.
"""

import os
import re
import sys

ROOMS = ["api", "base", "bench", "client", "server", "spec", "tests", "trace",
         "worker", "workloads"]
OTHERS = ["cmake", "deploy", "proto", "scripts"]
SPDX = "SPDX-License-Identifier: Apache-2.0"

# How the license line starts, by the end of the name.
COMMENT = {".h": "// ", ".cc": "// ", ".cu": "// ", ".proto": "// ",
           ".py": "# ", ".sh": "# ", ".cmake": "# "}


def guard_of(path):
    """SERVER_JOBS_JOB_MANAGER_H_ for server/jobs/job_manager.h."""
    return re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"


def check_license(path, lines):
    start = COMMENT.get(os.path.splitext(path)[1], "# ")
    first = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) <= first or lines[first] != start + SPDX:
        yield first + 1, f"this line has to be: {start}{SPDX}"


def check_guard(path, lines):
    guard = guard_of(path)
    directives = [(number, line) for number, line in enumerate(lines, start=1)
                  if line.startswith("#")]
    for number, line in directives:
        if re.match(r"#\s*pragma\s+once", line):
            yield number, f"no #pragma once: guard with {guard}"
            return
    wanted = [f"#ifndef {guard}", f"#define {guard}"]
    if [line for _, line in directives[:2]] != wanted:
        number = directives[0][0] if directives else 1
        yield number, f"the guard has to be {guard}"
    last = f"#endif  // {guard}"
    if not lines or lines[-1] != last:
        yield max(len(lines), 1), f"the last line has to be: {last}"


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as source:
        lines = source.read().splitlines()
    yield from check_license(path, lines)
    if path.endswith(".h"):
        yield from check_guard(path, lines)


def files(root):
    for room in ROOMS + OTHERS:
        for folder, folders, names in os.walk(os.path.join(root, room)):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(names):
                if os.path.splitext(name)[1] in COMMENT or \
                        name == "CMakeLists.txt":
                    yield os.path.relpath(os.path.join(folder, name), root)


def main(arguments):
    root = arguments[1] if len(arguments) > 1 else "."
    count, bad = 0, 0
    for path in files(root):
        count += 1
        for number, message in check_file(root, path):
            bad += 1
            print(f"{path}:{number}: {message}")
    print(f"check_headers: {count} files, {bad} faults")
    if count == 0:
        print(f"check_headers: no source under {os.path.abspath(root)}")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
