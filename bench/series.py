#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the experiments of the series "Profiling in PyTorch" and says of each
statement whether traza shows it: PASS, FAIL or SKIP, with the evidence.

usage: series.py [--bin DIR] [--device gpu0|cpu] [--only RUN,...] [--keep FILE]
       series.py --judge FILE

Starts a daemon on a temporary folder, and asks it by the command line only, as
a user would. Without a GPU it runs what a CPU can show, small, and skips the
rest. --keep writes what traza said, --judge judges such a file again. Exit 1: a
statement fails; 77: none could be tried.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import daemon as daemons  # noqa: E402
import series_rows  # noqa: E402
import series_statements  # noqa: E402

SKIPPED = 77
COMMAND_SECONDS = 900  # a compiled variant is built in its first job

# run -> (workload, variant, parameters, more words).
RUNS = {
    "mm64_cold": ("matmul_add", "eager", {"size": 64},
                  ["--cold-steps", "5"]),
    "mm64": ("matmul_add", "eager", {"size": 64}, []),
    "mm64_1d": ("matmul_add", "eager", {"size": 64, "bias": "1d"}, []),
    "mm4096": ("matmul_add", "eager", {"size": 4096}, []),
    "mm4096_1d": ("matmul_add", "eager", {"size": 4096, "bias": "1d"}, []),
    "mm4096_compiled": ("matmul_add", "compiled", {"size": 4096}, []),
    "mm4096_compiled_1d": ("matmul_add", "compiled",
                           {"size": 4096, "bias": "1d"}, []),
    "mm3d": ("matmul_add", "eager", {"size": 64, "batch": 64}, []),
    "linear": ("linear", "eager", {}, []),
    "linear_compiled": ("linear", "compiled", {}, []),
    "geglu": ("geglu_mlp", "eager", {}, []),
    "geglu_compiled": ("geglu_mlp", "compiled", {}, []),
    "geglu_fused": ("geglu_mlp", "fused", {}, []),
    "attn_naive": ("attention", "naive", {}, []),
    "attn_inplace": ("attention", "inplace", {}, []),
    "attn_math": ("attention", "math", {}, []),
    "attn_flash": ("attention", "flash", {}, []),
    "attn_efficient": ("attention", "efficient", {}, []),
    "attn_cudnn": ("attention", "cudnn", {}, []),
}
CPU_SIZES = {4096: 128, 64: 16}  # of matmul_add


def default_bin_dir():
    """Of the bundle that this file lies in, or of the tree."""
    bundled = HERE.parent / "bin"
    return bundled if (bundled / "trazad").exists() else pathlib.Path(
        "build/release/bin")


class Refused(Exception):
    """A command that ended with an error; its message."""


class Traza:
    """The command line of one daemon."""

    def __init__(self, server):
        self.server = server

    def ask(self, *words, codes=(0,)):
        """The JSON that a command prints."""
        done = subprocess.run(
            [self.server.bin_dir / "traza", "--server", self.server.address,
             "-q", *words, "--json"], capture_output=True, text=True,
            timeout=COMMAND_SECONDS, check=False)
        if done.returncode not in codes:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise Refused(" ".join(line.strip() for line in lines[:3]))
        return json.loads(done.stdout)

    def run(self, key, device):
        """All that traza says of one run of the series."""
        workload, variant, params, more = RUNS[key]
        on_gpu = device != "cpu"
        words = ["run", workload, "--variant", variant, "--device", device,
                 "--timeout", "10m", *more]
        for name, value in params.items():
            if not on_gpu and name in ("size", "batch"):
                value = CPU_SIZES[value]
            words += ["-p", f"{name}={value}"]
        said = self.ask(*words)
        trace = said["job"]["trace"]
        asked = series_rows.expressions(key, on_gpu)
        # 1: a check failed, which is for the statements to say.
        checks = self.ask("check", trace, *[
            word for text in asked for word in ("--expect", text)],
                          codes=(0, 1))["results"]
        said["checks"] = dict(zip(asked, checks))
        said["tables"] = {
            by: self.ask("table", trace, "--by", by, "--phase", "traced")
            for by in ("op", "kernel", "step")}
        said["tables"]["op_cold"] = self.ask("table", trace, "--by", "op",
                                             "--phase", "cold")
        return said

    def same_output(self, run, other):
        return self.ask("check", run["job"]["trace"], "--expect",
                        f"same_output({other['job']['trace']})",
                        codes=(0, 1))["results"][0]


def run_all(traza, keys, device):
    runs = {}
    for key in keys:
        print(f"running {key}", file=sys.stderr, flush=True)
        try:
            runs[key] = traza.run(key, device)
        except (Refused, subprocess.TimeoutExpired) as error:
            runs[key] = {"missing": str(error)}
            print(f"  {error}", file=sys.stderr, flush=True)
    for key, other in series_rows.SAME_OUTPUT.items():
        if all("missing" not in runs.get(each, {"missing": ""})
               for each in (key, other)):
            runs[key]["same_output"] = traza.same_output(runs[key],
                                                         runs[other])
    return runs


def choose_device(traza, wanted):
    if wanted:
        return wanted
    usable = [device["name"] for device in traza.ask("devices")["devices"]
              if not device.get("unavailable")]
    return next((name for name in usable if name.startswith("gpu")), "cpu")


def report(lines):
    """Prints the lines; returns the exit code."""
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for line in lines:
        counts[line.outcome] += 1
        print(f"{line.outcome}  {line.id:7} {line.text}: {line.evidence}")
    print(f"Result: {counts['PASS']} PASS, {counts['FAIL']} FAIL, "
          f"{counts['SKIP']} SKIP")
    if counts["FAIL"]:
        return 1
    return 0 if counts["PASS"] else SKIPPED


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=default_bin_dir())
    parser.add_argument("--device", help="default: the first GPU, else the CPU")
    parser.add_argument("--only", default="", metavar="RUN,...",
                        help=f"of {', '.join(RUNS)}")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--judge", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.judge:
        kept = json.loads(arguments.judge.read_text(encoding="utf-8"))
        sys.exit(report(series_statements.judge_all(
            kept["runs"], kept["device"] != "cpu")))
    keys = [key for key in arguments.only.split(",") if key] or list(RUNS)
    for key in keys:
        if key not in RUNS:
            parser.error(f"there is no run {key}; there are {', '.join(RUNS)}")
    with daemons.Daemon(arguments.bin) as server:
        traza = Traza(server)
        device = choose_device(traza, arguments.device)
        print(f"on {device}", file=sys.stderr, flush=True)
        runs = run_all(traza, keys, device)
    if arguments.keep:
        arguments.keep.write_text(json.dumps({"device": device, "runs": runs}),
                                  encoding="utf-8")
    sys.exit(report(series_statements.judge_all(runs, device != "cpu")))


if __name__ == "__main__":
    main()
