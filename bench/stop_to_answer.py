#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds from the last traced step of a long job to its stored answer: stop,
decode, correlate, write, read back, check, analyse and commit.

usage: bench/stop_to_answer.py [BIN_DIR] [--device cpu|gpu0] [--jobs N]

Takes the times of the phases flush (stop, decode, correlate) and store (the
rest) of each job of matmul_add. Exit 1: a bar is not met; 77: there is no such
device.
"""

import argparse
import json
import statistics
import sys

from daemon import Daemon
from time_to_answer import check_device, default_bin_dir, dtype_of

MAX_SECONDS = 0.3
MAX_BYTES = 2_000_000


def run_job(daemon, arguments):
    """Seconds of flush and of store, rows and bytes of the trace."""
    reply = json.loads(daemon.cli(
        "run", "matmul_add", "-p", "size=64", "-p",
        f"dtype={dtype_of(arguments.device)}", "--device", arguments.device,
        "--traced-steps", str(arguments.steps), "--json"))
    phases = {entry["phase"]: seconds(entry["duration"])
              for entry in reply["job"]["phase_times"]}
    trace = json.loads(daemon.cli("trace", reply["job"]["trace"], "--json"))
    return {"flush": phases["flush"], "store": phases["store"],
            "rows": int(trace["rows"]), "bytes": int(trace["size_bytes"])}


def seconds(duration):
    return float(duration.rstrip("s"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", nargs="?", default=default_bin_dir())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20_000)
    arguments = parser.parse_args()
    check_device(arguments.bin_dir, arguments.device)
    with Daemon(arguments.bin_dir) as daemon:
        jobs = [run_job(daemon, arguments) for _ in range(arguments.jobs)]
    for job in jobs:
        job["all"] = job["flush"] + job["store"]
    for part in ("flush", "store", "all"):
        times = sorted(job[part] for job in jobs)
        print(f"{part:6} min {times[0]:.3f}  median "
              f"{statistics.median(times):.3f}  max {times[-1]:.3f} s")
    took = statistics.median(job["all"] for job in jobs)
    size = max(job["bytes"] for job in jobs)
    checks = [("from the last step to the answer", f"{took:.3f} s",
               f"<= {MAX_SECONDS} s", took <= MAX_SECONDS),
              ("file", f"{size / 1e6:.2f} MB", f"<= {MAX_BYTES / 1e6:.0f} MB",
               size <= MAX_BYTES)]
    for name, value, bar, met in checks:
        print(f"{'ok  ' if met else 'MISS'} {name}: {value} (bar {bar})")
    print(f"Result: {took:.3f} s, {size / 1e6:.2f} MB for {arguments.steps} "
          f"steps, {jobs[0]['rows']} rows, median of {len(jobs)} jobs")
    return 0 if all(met for *_, met in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
