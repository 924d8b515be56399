#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds and memory of `traza explain` and `traza table` on a trace of a
million events, each run a whole process, as a user starts it.

usage: bench/answer_speed.py [BIN_DIR] [--rows N] [--runs N] [--source FILE]

The trace is SOURCE's traced steps, repeated one after the other with shifted
times and ids. Needs pyarrow. Exit 1: a bar is not met.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/trace/fixtures/h200/geglu.parquet"
REFERENCES = ("parent", "op", "call")  # columns that hold row numbers
GAP_NS = 50_000
# Seconds (median) and bytes resident at most.
BARS = {"explain": (0.5, 600e6), "table": (0.25, None)}


def traced_part(table):
    """The rows of the traced steps, whose references stay among them."""
    rows = pc.and_(pc.equal(table["phase"], "traced"),
                   pc.invert(pc.is_in(table["kind"], pa.array(["phase"]))))
    kept = [i for i, keep in enumerate(rows.to_pylist()) if keep]
    new_id = {old: new for new, old in enumerate(kept)}
    part = table.take(kept)
    for name in REFERENCES:
        cells = [new_id.get(old) for old in part[name].to_pylist()]
        part = replace(part, name, pa.array(cells, pa.int64()))
    return part


def replace(table, name, cells):
    at = table.schema.get_field_index(name)
    field = table.schema.field(at).with_nullable(True)
    return table.set_column(at, field, cells)


def shifted(part, turn, steps, span_ns):
    """`part` again, as the `turn`-th of its kind."""
    rows = part.num_rows
    ids = pa.array(range(turn * rows, (turn + 1) * rows), pa.int64())
    part = replace(part, "id", ids)
    for name, by in [("start_ns", turn * span_ns), ("step", turn * steps),
                     ("correlation", turn * 10_000_000)] + [
                         (name, turn * rows) for name in REFERENCES]:
        column = part[name]
        part = replace(part, name,
                       pc.add(column, pa.scalar(by, column.type)))
    return part


def write_big(source, rows, path):
    table = pq.read_table(source)
    part = traced_part(table)
    starts = part["start_ns"].to_pylist()
    durations = part["duration_ns"].to_pylist()
    span_ns = max(s + d for s, d in zip(starts, durations)) - starts[0] + GAP_NS
    steps = pc.max(part["step"]).as_py() + 1
    turns = -(-rows // part.num_rows)
    big = pa.concat_tables(
        shifted(part, turn, steps, span_ns) for turn in range(turns))
    big = big.cast(part.schema).replace_schema_metadata(table.schema.metadata)
    pq.write_table(big, path, compression="zstd")
    return big.num_rows


def run(words):
    """(seconds, bytes resident at most) of one process."""
    started = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    if status != 0:
        sys.exit(f"{' '.join(words)} failed")
    return seconds, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin_dir", nargs="?", default="build/release/bin")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--source", default=str(SOURCE))
    options = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "big.parquet")
        rows = write_big(options.source, options.rows, path)
        print(f"{rows:,} events, {os.path.getsize(path) / 1e6:.1f} MB, "
              f"median of {options.runs}")
        traza = str(pathlib.Path(options.bin_dir) / "traza")
        for command, (seconds_bar, bytes_bar) in BARS.items():
            samples = [run([traza, command, path]) for _ in range(options.runs)]
            seconds = statistics.median(s for s, _ in samples)
            peak = max(b for _, b in samples)
            good = seconds <= seconds_bar and peak <= (bytes_bar or peak)
            met = met and good
            print(f"{command:8} {seconds:6.3f} s (bar {seconds_bar})  "
                  f"{peak / 1e6:6.0f} MB"
                  f"{'' if bytes_bar is None else f' (bar {bytes_bar / 1e6:.0f})'}"
                  f"  {'met' if good else 'MISSED'}", flush=True)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
