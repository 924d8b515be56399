#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds from `traza run` to its printed answer, with and without a standby
worker. Each run is a whole process, as a user starts it.

usage: bench/time_to_answer.py [BIN_DIR] [RUNS] [--device cpu|gpu0] [--rival]

With --rival, torch_profiler.py does the same work in a fresh Python (that of
TRAZA_PYTHON, else this one), turn by turn with ours. Exit 1: a bar of the
device is not met; 77: there is no such device.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.request

from daemon import Daemon

HERE = pathlib.Path(__file__).resolve().parent
NO_DEVICE = 77
RIVAL_SECONDS = 120
ROUNDS_WITH_RIVAL = 3
WARM_RUNS = 3  # the first ones of a daemon warm the page cache
# p50, seconds; where none is given, bars are read in docs/performance.md.
BARS = {"gpu": {"standby": 0.1, "no standby": 1.5}}


def default_bin_dir():
    """Of the bundle that this file lies in, or of the tree."""
    bundled = HERE.parent / "bin"
    return str(bundled) if (bundled / "trazad").exists() else "build/release/bin"


def kind_of(device):
    return device.rstrip("0123456789")


def dtype_of(device):
    """On a GPU what models run with; on a CPU what it is good at."""
    return "fp32" if device == "cpu" else "bf16"


def command(device):
    words = ["run", "matmul_add", "-p", "size=64"]
    if device != "cpu":
        words += ["-p", f"dtype={dtype_of(device)}", "--device", device]
    return words


def wait_for_standby(daemon, device):
    """A used standby worker is replaced after its job; wait for the new one."""
    start = ("traza_standby_workers{", f'device="{device}"')
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        page = urllib.request.urlopen(f"http://{daemon.http}/metrics").read()
        for line in page.decode().splitlines():
            if line.startswith(start[0]) and start[1] in line:
                if float(line.split()[-1]) >= 1:
                    return
        time.sleep(0.01)
    raise RuntimeError("no standby worker came up within 30 s")


def check_device(bin_dir, device):
    """Ends the bench visibly where there is no such device."""
    with Daemon(bin_dir, "--standby-workers=0") as daemon:
        devices = json.loads(daemon.cli("devices", "--json"))["devices"]
    names = {entry["name"].split("/")[-1]: entry for entry in devices}
    if device not in names:
        print(f"no {device} here; there are: {', '.join(names)}")
        sys.exit(NO_DEVICE)
    if names[device].get("unavailable"):
        print(f"{device} cannot be used: {names[device]['unavailable']}")
        sys.exit(NO_DEVICE)


def measure(bin_dir, device, runs, standby):
    times = []
    with Daemon(bin_dir, f"--standby-workers={int(standby)}") as daemon:
        for _ in range(runs + WARM_RUNS):
            if standby:
                wait_for_standby(daemon, device)
            start = time.perf_counter()
            answer = daemon.cli(*command(device))
            times.append(time.perf_counter() - start)
            assert "\nVerdict: " in answer, answer
    return times[WARM_RUNS:]


def measure_rival(device):
    """One run of torch.profiler, and where its seconds went."""
    python = os.environ.get("TRAZA_PYTHON", sys.executable)
    rival = "cpu" if device == "cpu" else f"cuda:{device[len('gpu'):]}"
    dtype = {"fp32": "float32", "bf16": "bfloat16"}[dtype_of(device)]
    start = time.perf_counter()
    done = subprocess.run(
        [python, HERE / "torch_profiler.py", f"--device={rival}",
         f"--dtype={dtype}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        timeout=RIVAL_SECONDS, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{done.stderr}torch_profiler.py ended with "
                 f"{done.returncode}")
    print(f"torch.profiler {seconds:.2f} s: {done.stdout.splitlines()[-1]}",
          file=sys.stderr, flush=True)
    return seconds


def measure_all(arguments):
    """Name -> sorted seconds, whole processes."""
    rounds = ROUNDS_WITH_RIVAL if arguments.rival else 1
    times = {"standby": [], "no standby": []}
    for _ in range(rounds):
        for name in ("standby", "no standby"):
            times[name] += measure(arguments.bin_dir, arguments.device,
                                   -(-arguments.runs // rounds),
                                   name == "standby")
        if arguments.rival:
            times.setdefault("torch.profiler", []).append(
                measure_rival(arguments.device))
    return {name: sorted(values) for name, values in times.items()}


def print_table(times):
    for name, values in times.items():
        print(f"{name:14} min {values[0]:.3f}  "
              f"p50 {statistics.median(values):.3f}  "
              f"p90 {values[int(0.9 * (len(values) - 1))]:.3f}  "
              f"max {values[-1]:.3f}  n {len(values)}")


def result_line(p50):
    line = f"{p50['standby']:.3f} s, without standby {p50['no standby']:.3f} s"
    if "torch.profiler" in p50:
        line += (f", torch.profiler {p50['torch.profiler']:.1f} s "
                 f"({p50['torch.profiler'] / p50['standby']:.0f} and "
                 f"{p50['torch.profiler'] / p50['no standby']:.1f} times)")
    return line


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", nargs="?", default=default_bin_dir())
    parser.add_argument("runs", nargs="?", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rival", action="store_true")
    arguments = parser.parse_args()
    if arguments.runs is None:
        arguments.runs = 50 if arguments.device == "cpu" else 30
    return arguments


def main():
    arguments = parse_arguments()
    check_device(arguments.bin_dir, arguments.device)
    print(f"traza {' '.join(command(arguments.device))}, {arguments.runs} runs "
          "each, seconds", flush=True)
    times = measure_all(arguments)
    print_table(times)
    p50 = {name: statistics.median(values) for name, values in times.items()}
    met = True
    for name, bar in BARS.get(kind_of(arguments.device), {}).items():
        met = met and p50[name] <= bar
        print(f"{'ok  ' if p50[name] <= bar else 'MISS'} {name}: "
              f"{p50[name]:.3f} s (bar p50 <= {bar} s)")
    print(f"Result: {result_line(p50)}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
