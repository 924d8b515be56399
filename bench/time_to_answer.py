#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds from `traza run` to its printed answer, with and without a standby
worker. Each run is a whole process, as a user starts it.

usage: bench/time_to_answer.py [BIN_DIR] [RUNS]
"""

import statistics
import sys
import time
import urllib.request

from daemon import Daemon

COMMAND = ("run", "matmul_add", "-p", "size=64")


def wait_for_standby(daemon):
    """A used standby worker is replaced after its job; wait for the new one."""
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        page = urllib.request.urlopen(f"http://{daemon.http}/metrics").read()
        for line in page.decode().splitlines():
            if line.startswith("traza_standby_workers{") and 'device="cpu"' in line:
                if float(line.split()[-1]) >= 1:
                    return
        time.sleep(0.01)
    raise RuntimeError("no standby worker came up within 30 s")


def measure(bin_dir, runs, standby):
    times = []
    with Daemon(bin_dir, f"--standby-workers={int(standby)}") as daemon:
        for _ in range(runs + 3):
            if standby:
                wait_for_standby(daemon)
            start = time.perf_counter()
            answer = daemon.cli(*COMMAND)
            times.append(time.perf_counter() - start)
            assert "\nVerdict: " in answer, answer
    return sorted(times[3:])  # the first three warm the page cache


def main():
    bin_dir = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    print(f"traza {' '.join(COMMAND)}, {runs} runs each, seconds")
    for standby in (True, False):
        times = measure(bin_dir, runs, standby)
        print(f"{'standby' if standby else 'no standby':10} "
              f"min {times[0]:.3f}  p50 {statistics.median(times):.3f}  "
              f"p90 {times[int(0.9 * (len(times) - 1))]:.3f}  "
              f"max {times[-1]:.3f}")


if __name__ == "__main__":
    main()
