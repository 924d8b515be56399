#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang's front end, or clang-tidy, over our files of a build folder.

usage: compile.py --database compile_commands.json [options] syntax|tidy

syntax  clang -fsyntax-only with the flags of the build: warnings and
        thread-safety annotations, with no code generated
tidy    clang-tidy-19 with the .clang-tidy of the tree
"""

import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import time


def our_entries(database, root):
    """The entries for sources inside the tree, one a file, sorted."""
    with open(database, encoding="utf-8") as text:
        entries = json.load(text)
    ours = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]),
                               root)
        if not path.startswith(("..", "build/", ".deps/")):
            ours.setdefault(path, entry)
    return sorted(ours.items())


def chosen(entries, only):
    """Entries whose file, or the header of the same stem, is in `only`."""
    with open(only, encoding="utf-8") as text:
        stems = {os.path.splitext(line.strip())[0] for line in text}
    return [e for e in entries if os.path.splitext(e[0])[0] in stems]


def syntax_command(entry):
    words = shlex.split(entry["command"])
    # What stands before the compiler is the launcher of the compiler cache.
    first = next(i for i, word in enumerate(words) if "clang++" in word)
    words = words[first:]
    for flag in ("-o", "-MF", "-MT"):
        if flag in words:
            at = words.index(flag)
            del words[at:at + 2]
    # clang 19 finds std::stable_sort of g++ 12's library deprecated inside.
    return [w for w in words if w not in ("-c", "-MD")] + [
        "-fsyntax-only", "-Wno-deprecated-declarations"]


def run(path, command, directory, deadline):
    """(path, output) of a failure, (path, None) when not reached, or None."""
    left = deadline - time.monotonic()
    if left <= 0:
        return path, None
    try:
        done = subprocess.run(command, cwd=directory, timeout=max(left, 30),
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except subprocess.TimeoutExpired:
        return path, None
    return (path, done.stdout) if done.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="file with paths, one a line")
    parser.add_argument("--seconds", type=float, default=3600,
                        help="start no new file after this long")
    parser.add_argument("mode", choices=["syntax", "tidy"])
    options = parser.parse_args()
    root = os.getcwd()
    entries = our_entries(options.database, root)
    if options.mode == "syntax":
        # Locks and what they guard are declared in the rooms; tests are half of
        # all files and would double the time.
        entries = [e for e in entries if not e[0].startswith(("tests/", "bench/"))]
    if options.only:
        entries = chosen(entries, options.only)
    deadline = time.monotonic() + options.seconds

    def one(item):
        path, entry = item
        if options.mode == "syntax":
            command = syntax_command(entry)
        else:
            command = ["clang-tidy-19", "--quiet", "-p",
                       os.path.dirname(options.database), path]
            return run(path, command, root, deadline)
        return run(path, command, entry["directory"], deadline)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [r for r in pool.map(one, entries) if r]
    failures = [(path, out) for path, out in results if out is not None]
    skipped = [path for path, out in results if out is None]
    for _, out in failures:
        print(out)
    for path in skipped:
        print(f"{options.mode}: not reached within {options.seconds:.0f} s: "
              f"{path}")
    print(f"{options.mode}: {len(entries)} files, {len(failures)} with faults, "
          f"{len(skipped)} not reached")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
