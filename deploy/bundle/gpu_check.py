#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the GPU tests and benches of the bundle and prints one table.

usage: traza-gpu-check LOG_FOLDER [--only REGEX] [--list] [--tests|--benches]

A test runs in a process of its own and is skipped or not by itself; a bench is
a script whose last line `Result: ...` is its figure. What each one printed is
in LOG_FOLDER/NAME.log, the table in LOG_FOLDER/table.txt. Exit 0: nothing
failed; 1: something did; 77: nothing failed and nothing ran (no GPU).
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # the exit code that says so
LIST_SECONDS = 60
WORDS = {"passed": "ok", "failed": "FAILED", "skipped": "skipped",
         "timeout": "TIMEOUT"}


class Check:
    """One line of the table."""

    def __init__(self, name, command, seconds):
        self.name = name
        self.command = command
        self.limit = float(seconds)
        self.result = ""
        self.note = ""
        self.seconds = 0.0

    def run(self, log_folder, scratch):
        log = log_folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', self.name)}.log"
        start = time.monotonic()
        with open(log, "w+", encoding="utf-8", errors="replace") as output:
            print("$", *map(shlex.quote, self.command), file=output, flush=True)
            self.run_command(output, scratch)
            output.seek(0)
            self.read(output.read())
        self.seconds = time.monotonic() - start

    def run_command(self, output, scratch):
        try:
            process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, cwd=scratch, start_new_session=True)
        except OSError as error:
            print(error, file=output, flush=True)
            self.result, self.code = "failed", None
            return
        try:
            self.code = process.wait(self.limit)
            self.result = {0: "passed", SKIPPED: "skipped"}.get(
                self.code, "failed")
        except subprocess.TimeoutExpired:
            self.result, self.code = "timeout", None
        # And whatever it started: a daemon must not outlive its bench.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def read(self, text):
        """Takes the figure, or what went wrong, out of the output."""
        lines = [line.strip() for line in text.splitlines()[1:] if line.strip()]
        figures = [line[len("Result: "):] for line in lines
                   if line.startswith("Result: ")]
        if self.result == "passed" and "[  SKIPPED ]" in text:
            self.result = "skipped"
        if self.result == "timeout":
            self.note = f"killed after {self.limit:.0f} s"
        elif self.result == "skipped":
            self.note = after(r": Skipped$", lines)
        elif figures:
            self.note = figures[-1]
        elif self.result == "failed":
            self.note = after(r": Failure$", lines)
            if self.code is not None and self.code < 0:
                self.note = f"signal {-self.code}; {self.note}"


def after(pattern, lines):
    """The line after the first that matches, where gtest says why; else the
    last line."""
    for line, reason in zip(lines, lines[1:]):
        if re.search(pattern, line):
            return reason
    return lines[-1] if lines else "no output"


def list_tests(program, seconds):
    """The gtest cases of `program`; itself where it cannot list them, so that
    the table shows it as failed."""
    name = program.name
    try:
        text = subprocess.run([program, "--gtest_list_tests"], check=True,
                              capture_output=True, text=True,
                              timeout=LIST_SECONDS).stdout
    except (OSError, subprocess.SubprocessError):
        return [Check(name, [str(program)], seconds)]
    checks, suite = [], ""
    for line in text.splitlines():
        word = line.split("#")[0].rstrip()
        if not word.startswith(" "):
            suite = word if word.endswith(".") else suite
        elif "DISABLED_" not in suite + word:
            case = suite + word.strip()
            checks.append(Check(f"{name}/{case}",
                                [str(program), f"--gtest_filter={case}"],
                                seconds))
    return checks


def read_checks(path):
    """The checks that cmake/Bundle.cmake listed: `test SECONDS NAME` and
    `bench SECONDS NAME SCRIPT [ARGUMENT]...`."""
    tests, benches = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, seconds, name, *command = shlex.split(line)
        if kind == "test":
            tests += list_tests(ROOT / "bin/tests" / name, seconds)
        else:
            script, *rest = command
            benches.append(Check(f"bench/{name}",
                                 [sys.executable, "-B", str(ROOT / script),
                                  *rest], seconds))
    return tests, benches


def table_of(checks):
    width = max(len(check.name) for check in checks)
    lines = [f"{'Check':<{width}}  {'Result':<8}{'Seconds':>8}  Figure"]
    lines.append("-" * len(lines[0]))
    for check in checks:
        lines.append(f"{check.name:<{width}}  {WORDS[check.result]:<8}"
                     f"{check.seconds:>8.1f}  {check.note[:120]}".rstrip())
    counts = ", ".join(
        f"{sum(c.result == result for c in checks)} {word}"
        for result, word in WORDS.items()
        if any(c.result == result for c in checks))
    return "\n".join([*lines, lines[1], f"{len(checks)} checks: {counts}"])


def run_all(checks, log_folder):
    # Where trazad keeps what it would keep in the home folder, and where a
    # bench may write.
    with tempfile.TemporaryDirectory(prefix="traza-gpu-check-") as scratch:
        for number, check in enumerate(checks, 1):
            print(f"[{number}/{len(checks)}] {check.name}", end=" ",
                  file=sys.stderr, flush=True)
            check.run(log_folder, scratch)
            print(f"{WORDS[check.result]}, {check.seconds:.1f} s",
                  file=sys.stderr, flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="traza-gpu-check", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", metavar="LOG_FOLDER", nargs="?")
    parser.add_argument("--only", metavar="REGEX", default="",
                        help="checks whose name it matches")
    parser.add_argument("--list", action="store_true", help="names only")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--tests", action="store_true", help="no benches")
    kinds.add_argument("--benches", action="store_true", help="no tests")
    parser.add_argument("--checks", type=pathlib.Path,
                        default=ROOT / "share/traza/checks",
                        help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.logs and not arguments.list:
        parser.error("name a folder for the logs")
    return arguments


def main():
    arguments = parse_arguments()
    tests, benches = read_checks(arguments.checks)
    checks = [] if arguments.benches else tests
    checks += [] if arguments.tests else benches
    checks = [c for c in checks if re.search(arguments.only, c.name)]
    if arguments.list:
        print(*(check.name for check in checks), sep="\n")
        return 0
    if not checks:
        sys.exit("traza-gpu-check: no check has such a name (see --list)")
    logs = pathlib.Path(arguments.logs).absolute()
    logs.mkdir(parents=True, exist_ok=True)
    run_all(checks, logs)
    table = table_of(checks)
    print(table)
    (logs / "table.txt").write_text(f"{table}\n", encoding="utf-8")
    results = {check.result for check in checks}
    if results & {"failed", "timeout"}:
        return 1
    return 0 if "passed" in results else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
