#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares importing a trace of torch.profiler with Python's bare json.load of
the same file, run by run in turn.

usage: import_speed.py [--megabytes N] [--runs N] [--gzip] [--fixture FILE]
                       [--hta PYTHON] IMPORT_FILE

IMPORT_FILE is build/release/bin/bench/import_file. The file is made of the
events of a fixture, repeated with later times and other ids. Prints medians
and their ratio; of json.load only the call counts, of the import the call in
the program: reading, unpacking, parsing and tying the records together. With
--hta, the trace parser of Holistic Trace Analysis runs in turn, too: PYTHON is
an interpreter that has it, and only the call of parse_trace_dataframe counts.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(
    HERE, "../tests/trace/fixtures/torch-profiler/train.json.gz")
IDS = ("External id", "correlation", "Ev Idx", "Sequence number")


def shifted(event, microseconds, ids):
    """The event later, with ids that no other copy has."""
    event = dict(event)
    event["ts"] = round(event["ts"] + microseconds, 3)
    if "id" in event:
        event["id"] += ids
    if "args" in event:
        event["args"] = {key: value + ids if key in IDS else value
                         for key, value in event["args"].items()}
    return event


def write_long_trace(fixture, path, size, pack):
    """As Kineto lays events out: one member a line, the args on end."""
    with gzip.open(fixture) as file:
        document = json.load(file)
    events = [event for event in document.pop("traceEvents")
              if event["ph"] != "M"]
    first = min(event["ts"] for event in events)
    last = max(event["ts"] + event.get("dur", 0) for event in events)
    written = 0
    with (gzip.open(path, "wt") if pack else open(path, "w")) as file:
        file.write(json.dumps(document)[:-1] + ',\n"traceEvents": [')
        copy = 0
        while written < size:
            chunk = []
            for event in events:
                text = json.dumps(
                    shifted(event, copy * (last - first + 100),
                            copy * 1_000_000), indent=1)
                chunk.append(text.replace("\n ", "\n    "))
            text = (",\n  " if copy else "\n  ") + ",\n  ".join(chunk)
            file.write(text)
            written += len(text)
            copy += 1
        file.write("\n]}\n")
    return written, copy * len(events)


def load_seconds(path):
    start = time.perf_counter()
    with (gzip.open(path) if path.endswith(".gz") else open(path)) as file:
        json.load(file)
    return time.perf_counter() - start


HTA = """
import sys, time
from hta.common.trace_parser import parse_trace_dataframe
from hta.configs.parser_config import ParserConfig
start = time.perf_counter()
parse_trace_dataframe(sys.argv[1], ParserConfig.get_default_cfg())
print(time.perf_counter() - start)
"""


def hta_seconds(python, path):
    answer = subprocess.run([python, "-c", HTA, path], check=True,
                            capture_output=True, text=True)
    return float(answer.stdout.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=70)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--fixture", default=FIXTURE)
    parser.add_argument("--hta", metavar="PYTHON")
    parser.add_argument("program")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        if arguments.gzip:
            path += ".gz"
        size, events = write_long_trace(
            arguments.fixture, path, arguments.megabytes * 1_000_000,
            arguments.gzip)
        python, ours, hta = [], [], []
        for _ in range(arguments.runs):
            python.append(load_seconds(path))
            answer = subprocess.run([arguments.program, path], check=True,
                                    capture_output=True, text=True)
            seconds, rows, memory = answer.stdout.split()
            ours.append(float(seconds))
            if arguments.hta:
                hta.append(hta_seconds(arguments.hta, path))
    theirs, mine = statistics.median(python), statistics.median(ours)
    print(f"{size / 1e6:.0f} MB of text, {events} events, {rows} rows, "
          f"{arguments.runs} runs")
    print(f"json.load   {theirs:.3f} s  ({min(python):.3f} to "
          f"{max(python):.3f})")
    print(f"import      {mine:.3f} s  ({min(ours):.3f} to {max(ours):.3f}), "
          f"{int(memory) / 1e6:.0f} MB at most")
    print(f"ratio       {mine / theirs:.3f}")
    if hta:
        print(f"HTA         {statistics.median(hta):.3f} s  "
              f"({min(hta):.3f} to {max(hta):.3f})")


if __name__ == "__main__":
    main()
