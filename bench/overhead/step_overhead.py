#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracing a step on a GPU: ours at every depth against PyTorch's profiler.

usage: step_overhead.py [--bin DIR] [--device gpu0] [--rounds N] [--json FILE]

Runs step_overhead in every mode, one process each on one pinned core,
interleaved, and prints medians over the rounds; differences and ratios are
taken within a round, because clocks move between rounds. "added" is the
difference of mean steps; "by median" that of median steps, which a neighbour
on the host disturbs less. Exit 1: a bar is not met; 77: there is no such
device.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = ["off", "kernels", "launches", "ops", "shapes", "kineto"]
RUN_SECONDS = 120
NO_DEVICE = 77

# What tracing may cost, of what Kineto does.
MAX_SHARES_OF_KINETO = {"ops": 0.4, "kernels": 0.3}
MAX_FIRST_STEP = 1.3  # of the median step
MAX_STOP_MS = 300


def default_bin_dir():
    """Of the bundle that this file lies in, or of the tree."""
    for folder in (ROOT / "bin", ROOT / "build/release/bin"):
        if (folder / "bench/step_overhead").exists():
            return folder
    return ROOT / "build/release/bin"


def pin(core):
    return lambda: os.sched_setaffinity(0, {core})


def measure(arguments, mode):
    command = [arguments.bin / "bench/step_overhead", f"--mode={mode}",
               f"--device={arguments.device}", f"--size={arguments.size}",
               f"--dtype={arguments.dtype}", f"--steps={arguments.steps}"]
    # One thread: on one core, more would only wait for each other.
    done = subprocess.run(
        command, preexec_fn=pin(arguments.core), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=RUN_SECONDS, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        print(f"{done.stderr}step_overhead --mode={mode} ended with "
              f"{done.returncode}", file=sys.stderr)
    if done.returncode == NO_DEVICE:
        print(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        sys.exit(NO_DEVICE if done.returncode == NO_DEVICE else 1)
    return json.loads(done.stdout.splitlines()[-1])


def measure_rounds(arguments):
    """One dictionary by mode for each round; every round starts with another
    mode, so that none always comes after the same one."""
    rounds = []
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr,
              flush=True)
        turn = number % len(MODES)
        order = MODES[turn:] + MODES[:turn]
        rounds.append({mode: measure(arguments, mode) for mode in order})
    return rounds


def median(rounds, mode, key):
    """None where no run could observe it."""
    values = [r[mode][key] for r in rounds if r[mode][key] is not None]
    return statistics.median(values) if values else None


def shares(rounds, mode, key="added_us"):
    """What `mode` adds, as a share of what Kineto adds, round by round. None
    where Kineto added nothing that can be told from noise."""
    return [r[mode][key] / r["kineto"][key]
            if r["kineto"][key] > 0 else None for r in rounds]


def median_share(rounds, mode, key="added_us"):
    known = [s for s in shares(rounds, mode, key) if s is not None]
    return statistics.median(known) if known else float("nan")


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def print_conditions(arguments, rounds):
    run = rounds[0]["off"]
    versions = ", ".join(f"{k} {v}" for k, v in sorted(run["versions"].items()))
    print(f"matmul_add {arguments.size}x{arguments.size} {arguments.dtype} on "
          f"{run['device_name']}; {arguments.steps} steps a run, "
          f"{len(rounds)} rounds; {versions}")
    print(f"one process a run, pinned to core {arguments.core} of "
          f"{os.cpu_count()} ({cpu_name()}); medians over the rounds")


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def print_table(rounds):
    columns = [("plain_us", "plain us", 2), ("traced_us", "traced us", 2),
               ("added_us", "added us", 2),
               ("added_median_us", "by median", 2), ("after_us", "after us", 2),
               ("first_step_us", "first us", 1),
               ("median_step_us", "median us", 1), ("stop_ms", "stop ms", 1),
               ("rows", "rows", 0), ("kernels", "kernels", 0),
               ("requests", "requests", 0), ("misses", "misses", 0)]
    print(f"{'mode':<9}" + "".join(f"{title:>11}" for _, title, _ in columns)
          + f"{'of Kineto':>11}{'by median':>11}  of Kineto by round")
    for mode in MODES:
        cells = "".join(f"{number(median(rounds, mode, key), digits):>11}"
                        for key, _, digits in columns)
        by_round = " ".join(number(s) for s in shares(rounds, mode))
        by_median = median_share(rounds, mode, "added_median_us")
        print(f"{mode:<9}{cells}{number(median_share(rounds, mode)):>11}"
              f"{number(by_median):>11}  {by_round}")


def check(arguments, rounds):
    first = statistics.median(
        r["ops"]["first_step_us"] / r["ops"]["median_step_us"] for r in rounds)
    stop = median(rounds, "ops", "stop_ms")
    checks = []
    for mode, most in MAX_SHARES_OF_KINETO.items():
        share = median_share(rounds, mode)
        checks.append((f"added at depth {mode}, of what Kineto adds",
                       f"{share:.2f}", f"<= {most}", share <= most))
    checks += [
        ("first traced step, of the median one", f"{first:.2f}",
         f"<= {MAX_FIRST_STEP}", first <= MAX_FIRST_STEP),
        ("stop", f"{stop:.1f} ms", f"<= {MAX_STOP_MS} ms", stop <= MAX_STOP_MS),
    ]
    if arguments.device == "cpu":
        return checks
    # A tracer that saw nothing costs little, and proves nothing.
    for mode in MODES[1:]:
        least = min(r[mode]["kernels"] for r in rounds)
        checks.append((f"kernels seen by {mode} in any round", f"{least}",
                       f">= {2 * arguments.steps}",
                       least >= 2 * arguments.steps))
    return checks


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=default_bin_dir(),
                        help="where bench/step_overhead is [%(default)s]")
    parser.add_argument("--device", default="gpu0")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int,
                        default=max(os.sched_getaffinity(0)))
    parser.add_argument("--json", help="writes every run to this file")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rounds = measure_rounds(arguments)
    print_conditions(arguments, rounds)
    print_table(rounds)
    checks = check(arguments, rounds)
    for name, value, bar, met in checks:
        print(f"{'ok  ' if met else 'MISS'} {name}: {value} (bar {bar})")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rounds, file, indent=1)
    known = [s for s in shares(rounds, "ops") if s is not None]
    print(f"Result: ops add {median(rounds, 'ops', 'added_us'):.2f} us a step, "
          f"{median_share(rounds, 'ops'):.2f} of Kineto's"
          + (f" ({min(known):.2f} to {max(known):.2f})" if known else ""))
    return 0 if all(met for *_, met in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
