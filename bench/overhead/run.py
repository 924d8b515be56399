#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording an operator on the CPU: ours against PyTorch's profiler.

usage: run.py [--build DIR] [--rounds N] [--ops N] [--json]

Runs op_overhead in every mode, one process each, interleaved, and prints the
medians over the rounds. Exits with 1 when a bar is not met.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

MODES = ["absent", "disabled", "on", "shapes", "kineto"]
MAX_ADDED_NS = 200
MAX_SHARE_OF_KINETO = 0.25
MAX_ANSWER_MS = 1000
AFTER = ["stop_ms", "correlate_ms", "write_ms", "answer_ms"]


def measure(program, mode, ops):
    output = subprocess.run([program, mode, str(ops)], check=True,
                            capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def summarize(runs):
    """Medians over the rounds, differences taken within a round."""
    result = {}
    for mode in MODES:
        rounds = [r[mode] for r in runs]
        result[mode] = {
            "op_ns": statistics.median(r["op_ns"] for r in rounds),
            "added_ns": statistics.median(
                r[mode]["op_ns"] - r["absent"]["op_ns"] for r in runs)}
        for key in [*AFTER, "rows", "dropped", "bytes"]:
            if key in rounds[0]:
                result[mode][key] = statistics.median(r[key] for r in rounds)
        after = [sum(r.get(key, 0) for key in AFTER) for r in rounds]
        result[mode]["after_ms"] = statistics.median(after)
    return result


def check(result):
    on, kineto = result["on"], result["kineto"]
    share = on["added_ns"] / kineto["added_ns"]
    return [
        ("added by recording an operator", f"{on['added_ns']:.0f} ns",
         f"<= {MAX_ADDED_NS} ns", on["added_ns"] <= MAX_ADDED_NS),
        ("share of what PyTorch's profiler adds", f"{share:.2f}",
         f"<= {MAX_SHARE_OF_KINETO}", share <= MAX_SHARE_OF_KINETO),
        ("stop, correlate, write and answer", f"{on['after_ms']:.0f} ms",
         f"<= {MAX_ANSWER_MS} ms", on["after_ms"] <= MAX_ANSWER_MS),
        ("operators dropped", f"{on['dropped']:.0f}", "0", on["dropped"] == 0),
    ]


def print_tables(result, checks):
    print(f"{'mode':<10}{'ns/op':>9}{'added ns':>10}{'stop ms':>9}"
          f"{'correlate':>11}{'write':>8}{'answer':>8}{'all ms':>8}")
    for mode in MODES:
        row = result[mode]
        cells = "".join(
            f"{row[key]:>{width}.0f}" if key in row else " " * (width - 1) + "-"
            for key, width in zip(AFTER, [9, 11, 8, 8]))
        print(f"{mode:<10}{row['op_ns']:>9.1f}{row['added_ns']:>10.1f}{cells}"
              f"{row['after_ms']:>8.0f}")
    for name, value, bar, met in checks:
        print(f"{'ok  ' if met else 'MISS'} {name}: {value} (bar {bar})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ops", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    program = os.path.join(arguments.build, "bin/bench/op_overhead")
    runs = []
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        runs.append({mode: measure(program, mode, arguments.ops)
                     for mode in MODES})
    result = summarize(runs)
    checks = check(result)
    if arguments.json:
        print(json.dumps({"medians": result, "runs": runs}, indent=1))
    else:
        print_tables(result, checks)
    return 0 if all(met for *_, met in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
