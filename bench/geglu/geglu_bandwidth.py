#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our one-kernel GeGLU on a GPU: against the bandwidth of a device copy and
against the kernel that Inductor builds for the same shapes, in one run.

usage: geglu_bandwidth.py [--bin DIR] [--rounds N] [--calls N] [--no-inductor]

geglu_bench times ours in a process of its own, this one times Inductor's,
round by round; each number is the median of its rounds. Both call a kernel
many times in a row over several sets of bf16 tensors, so that no cache holds
them; Inductor's is also replayed as a CUDA graph, and the better of its two
times counts. Exit 1: a bar is missed or could not be measured; 77: there is no
GPU.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_DEVICE = 77
MAIN = "8192x3072"
# As many elements, and tails of every kind: an odd number of columns, of rows,
# and neither a multiple of anything.
ODD = ["8191x3073", "4099x6143", "1x25165843"]
WARM_CALLS = 20
SETS_BYTES = 1 << 29  # as geglu_bench

MIN_OF_COPY = 0.85
MIN_OF_INDUCTOR = 0.98  # equal, within what rounds differ by
MIN_OF_MAIN = 0.80


def default_bin_dir():
    """Of the bundle that this file lies in, or of the tree."""
    for folder in (ROOT / "bin", ROOT / "build/release/bin"):
        if (folder / "bench/geglu_bench").exists():
            return folder
    return ROOT / "build/release/bin"


class Ours:
    """A running geglu_bench."""

    def __init__(self, arguments):
        words = [arguments.bin / "bench/geglu_bench",
                 f"--calls={arguments.calls}"]
        for shape in [MAIN] + ODD:
            words += ["--shape", shape]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def measure(self):
        """{shape: times} of one round."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            print(f"geglu_bench ended with {code}", flush=True)
            sys.exit(NO_DEVICE if code == NO_DEVICE else 1)
        return json.loads(line)["shapes"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Inductor:
    """torch.compile of the two operators, built anew for each shape."""

    def __init__(self, calls):
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        import torch  # the host's own; imported late: it takes seconds
        self.torch = torch
        self.calls = calls
        self.cases = {}
        for shape in [MAIN] + ODD:
            self.cases[shape] = self.build(shape)

    def build(self, shape):
        torch = self.torch
        sizes = [int(part) for part in shape.split("x")]
        torch._dynamo.reset()

        def geglu(gate, up):
            return torch.nn.functional.gelu(gate, approximate="tanh") * up

        compiled = torch.compile(geglu, dynamic=False)
        count = 1
        for size in sizes:
            count *= size
        sets = []
        for _ in range(max(1, -(-SETS_BYTES // (3 * 2 * count)))):
            sets.append([torch.randn(sizes, device="cuda",
                                     dtype=torch.bfloat16) for _ in range(2)])
        begun = time.monotonic()
        with torch.inference_mode():
            compiled(*sets[0])
        torch.cuda.synchronize()
        print(f"Inductor built its kernel for {shape} in "
              f"{time.monotonic() - begun:.1f} s", file=sys.stderr, flush=True)
        return compiled, sets

    def time(self, enqueue):
        """Microseconds a call between two events around `enqueue`."""
        begin, end = (self.torch.cuda.Event(enable_timing=True)
                      for _ in range(2))
        begin.record()
        enqueue()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / self.calls

    def measure(self):
        return {shape: self.measure_case(*case)
                for shape, case in self.cases.items()}

    def measure_case(self, compiled, sets):
        torch = self.torch

        def call(count):
            for i in range(count):
                compiled(*sets[i % len(sets)])

        with torch.inference_mode():
            call(WARM_CALLS)
            plain = self.time(lambda: call(self.calls))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                call(self.calls)
            graph.replay()
            replayed = self.time(graph.replay)
            del graph
        return min(plain, replayed)


def middle(rounds, shape, key):
    return statistics.median(each[shape][key] for each in rounds)


def report(ours, inductor):
    """Prints the table and the bars; returns the names of those missed."""
    copy = middle(ours, MAIN, "copy_bytes_per_us") * 1e6
    print(f"device copy, read and written: {copy / 1e12:.3f} TB/s")
    print(f"{'shape':>12} {'fused us':>9} {'TB/s':>6} {'of copy':>8} "
          f"{'Inductor us':>12} {'eager us':>9}")
    rates = {}
    for shape in [MAIN] + ODD:
        fused = middle(ours, shape, "fused_us")
        rates[shape] = middle(ours, shape, "bytes") / fused * 1e6
        theirs = (f"{statistics.median(r[shape] for r in inductor):12.2f}"
                  if inductor else f"{'-':>12}")
        print(f"{shape:>12} {fused:9.2f} {rates[shape] / 1e12:6.3f} "
              f"{rates[shape] / copy:8.1%} {theirs} "
              f"{middle(ours, shape, 'eager_us'):9.2f}")
    bars = [("of the copy's bandwidth", rates[MAIN] / copy, MIN_OF_COPY)]
    if inductor:
        # Within a round: clocks move between rounds.
        ratio = statistics.median(
            theirs[MAIN] / mine[MAIN]["fused_us"]
            for theirs, mine in zip(inductor, ours))
        bars.append(("of Inductor's rate, same shape", ratio, MIN_OF_INDUCTOR))
    else:
        bars.append(("of Inductor's rate, same shape", None, MIN_OF_INDUCTOR))
    for shape in ODD:
        bars.append((f"of its own rate, at {shape}",
                     rates[shape] / rates[MAIN], MIN_OF_MAIN))
    missed = []
    for name, value, least in bars:
        good = value is not None and value >= least
        seen = "not measured" if value is None else f"{value:.1%}"
        print(f"{'ok  ' if good else 'MISS'} {seen} {name}, at least "
              f"{least:.0%}")
        if not good:
            missed.append(name)
    print(f"Result: {rates[MAIN] / 1e12:.2f} TB/s, "
          f"{rates[MAIN] / copy:.0%} of a copy"
          f"{'' if not missed else '; missed: ' + '; '.join(missed)}")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=default_bin_dir())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--no-inductor", action="store_true",
                        help="leave the comparison out; its bar is missed")
    arguments = parser.parse_args()
    ours = Ours(arguments)
    ours.measure()  # first of all: without a GPU nothing else is worth doing
    inductor = None
    if not arguments.no_inductor:
        try:
            inductor = Inductor(arguments.calls)
            inductor.measure()
        except Exception as error:  # no torch, no Triton, no compiler
            print(f"no Inductor: {type(error).__name__}: {error}", flush=True)
            inductor = None
    mine, theirs = [], []
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr,
              flush=True)
        mine.append(ours.measure())
        if inductor:
            theirs.append(inductor.measure())
    ours.close()
    sys.exit(1 if report(mine, theirs) else 0)


if __name__ == "__main__":
    main()
