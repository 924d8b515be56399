#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What traza is compared with: a script that profiles matmul + add with
torch.profiler, prints the table of operators and saves the trace.

usage: torch_profiler.py [--device cuda|cpu] [--size N] [--dtype bfloat16]

Its last line says where the time went, in seconds since the first statement.
"""

import time

START = time.perf_counter()

import argparse  # noqa: E402  the clock runs first
import os
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--dtype", default="bfloat16")
    arguments = parser.parse_args()

    marks = []

    def mark(name):
        marks.append((name, time.perf_counter() - START))

    import torch
    from torch.profiler import (ProfilerActivity, profile, record_function,
                                schedule)
    mark("import")

    cuda = arguments.device.startswith("cuda")
    size = (arguments.size, arguments.size)
    x, w, b = (torch.randn(size, device=arguments.device,
                           dtype=getattr(torch, arguments.dtype))
               for _ in range(3))
    mark("tensors")

    def step():
        with record_function("matmul_add"):
            return torch.add(torch.matmul(x, w), b)

    def synchronize():
        if cuda:
            torch.cuda.synchronize()

    for _ in range(3):
        step()
    synchronize()
    mark("warm-up")

    activities = [ProfilerActivity.CPU]
    activities += [ProfilerActivity.CUDA] if cuda else []
    with profile(activities=activities, schedule=schedule(
            wait=1, warmup=1, active=3, repeat=1)) as profiler:
        for _ in range(5):
            step()
            profiler.step()
        synchronize()
    mark("profile")

    sort_by = "cuda_time_total" if cuda else "cpu_time_total"
    print(profiler.key_averages().table(sort_by=sort_by, row_limit=15))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        mark("table and trace")
        print(f"{os.path.getsize(path)} bytes of trace; "
              + ", ".join(f"{name} {at:.2f} s" for name, at in marks))


if __name__ == "__main__":
    main()
