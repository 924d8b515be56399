#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiled variants and own models on a real GPU: three packages are built,
each of which takes a minute or more.

usage: compiled_check.py [--bin DIR] [--device ID]

Needs the host's Python with PyTorch, Triton and a C++ compiler (TRAZA_PYTHON).
Each check prints one line; the last line is `Result: ...`. Exit 0: all hold,
1: one does not, 77: nothing can be compiled here, and why.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench"))
import daemon  # noqa: E402
import tally  # noqa: E402

SKIPPED = 77
BUILD_SECONDS = 500
# Loading takes less; building takes a minute.
LOADED_SECONDS = 10
WORKLOADS = {"matmul_add": ["-p", "size=256"], "linear": [], "geglu_mlp": []}


class Checks(tally.Tally):
    def __init__(self, args, server):
        super().__init__()
        self.args = args
        self.server = server

    def cli(self, *flags):
        """Exit code, stdout and stderr of the client."""
        done = subprocess.run(
            [self.args.bin / "traza", "--server", self.server.address, *flags],
            capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr

    def run_job(self, workload, *flags):
        code, out, err = self.cli("run", workload, "--device",
                                  self.args.device, "--json", *flags)
        if code != 0:
            raise RuntimeError(f"{workload} {' '.join(flags)}: {err}")
        return json.loads(out)

    def why_not(self):
        """Why nothing can be compiled for the device, or None."""
        devices = json.loads(self.cli("devices", "--json")[1])["devices"]
        if self.args.device not in [device["name"] for device in devices]:
            return f"there is no device {self.args.device}"
        workloads = json.loads(self.cli("workloads", "linear", "--json")[1])
        for variant in workloads["workloads"][0]["variants"]:
            if variant["name"] == "compiled":
                return variant.get("unavailable", {}).get(self.args.device)
        return "there is no variant compiled"

    @staticmethod
    def names(reply, kind):
        """The device work of a step: each name as often as it is there."""
        return sorted(name for item in reply["answer"]["structure"]["per_step"]
                      if item["kind"] == kind
                      for name in [item["name"]] * int(item["count"]))

    def compare(self, workload, flags):
        eager = self.run_job(workload, *flags)
        start = time.monotonic()
        compiled = self.run_job(workload, *flags, "--variant", "compiled")
        built = time.monotonic() - start
        start = time.monotonic()
        again = self.run_job(workload, *flags, "--variant", "compiled")
        loaded = time.monotonic() - start
        self.expect(f"{workload}: compiled runs, and says that it has no "
                    "operator rows", any(
                        finding["id"] == "compiled-region"
                        for finding in compiled["answer"]["findings"]),
                    f"{built:.0f} s")
        self.expect(f"{workload}: its package is found again",
                    loaded < LOADED_SECONDS, f"{loaded:.1f} s")
        self.expect(f"{workload}: the same work each time",
                    self.names(compiled, "kernel") ==
                    self.names(again, "kernel"))
        code, out, err = self.cli("diff", "--force", eager["job"]["trace"],
                                  compiled["job"]["trace"], "--json")
        self.expect(f"{workload}: eager and compiled can be compared",
                    code == 0, err.strip())
        print(f"        eager    {self.names(eager, 'kernel')}")
        print(f"        compiled {self.names(compiled, 'kernel')} "
              f"{self.names(compiled, 'copy')}")
        return eager, compiled

    def structures(self):
        _, compiled = self.compare("matmul_add", WORKLOADS["matmul_add"])
        self.expect("matmul_add with a 2-D bias: one copy, one kernel",
                    len(self.names(compiled, "kernel")) == 1 and
                    len(self.names(compiled, "copy")) == 1)
        _, compiled = self.compare("linear", WORKLOADS["linear"])
        self.expect("linear: one kernel",
                    len(self.names(compiled, "kernel")) == 1)
        eager, compiled = self.compare("geglu_mlp", WORKLOADS["geglu_mlp"])
        counts = [len(self.names(reply, "kernel"))
                  for reply in (eager, compiled)]
        self.expect("geglu_mlp: 5 kernels eager, 4 compiled", counts == [5, 4],
                    counts)
        gemms = [[name for name in self.names(reply, "kernel")
                  if "nvjet" in name or "gemm" in name]
                 for reply in (eager, compiled)]
        self.expect("geglu_mlp: the same three matrix products",
                    gemms[0] == gemms[1] and len(gemms[0]) == 3, gemms)

    def own_package(self):
        """The package of matmul_add, registered as an operator would."""
        models = pathlib.Path(self.server.data_dir) / "models"
        package = next((models / "compiled").glob("matmul_add-*.pt2"))
        shutil.copy(package, models / "own.pt2")
        tensors = [{"name": name, "shape": ["n", "n"], "dtype": "bf16"}
                   for name in "xwb"]
        manifest = {"name": "own", "file": "own.pt2", "format": "aoti",
                    "dims": {"n": {"max": 512, "default": 256}},
                    "inputs": tensors}
        (models / "own.json").write_text(json.dumps(manifest))
        reply = self.run_job("own")
        self.expect("an own package runs",
                    reply["job"]["state"] == "SUCCEEDED",
                    self.names(reply, "kernel"))
        code, _, err = self.cli("run", "own", "--device", self.args.device,
                                "-p", "n=128")
        self.expect("  and refuses shapes that it was not compiled for",
                    code == 1 and "crash" not in err.lower(), err.strip())

    def cancel(self):
        out = self.cli("run", "linear", "-p", "batch=777", "--variant",
                       "compiled", "--device", self.args.device, "--detach",
                       "--json")[1]
        name = json.loads(out)["name"].removeprefix("jobs/")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            job = json.loads(self.cli("job", name, "--json")[1])
            if job.get("progress", {}).get("phase") == "compiling":
                break
            time.sleep(0.1)
        time.sleep(3)
        start = time.monotonic()
        self.cli("cancel", name)
        while time.monotonic() < deadline + 60:
            job = json.loads(self.cli("job", name, "--json")[1])
            if job["state"] == "CANCELLED":
                break
            time.sleep(0.1)
        self.expect("a job is cancelled while it is compiled",
                    job["state"] == "CANCELLED",
                    f"{time.monotonic() - start:.1f} s")
        left = subprocess.run(["pgrep", "-f", "export_workload.py compile"],
                              capture_output=True, text=True, check=False)
        self.expect("  and leaves no compiler behind", left.stdout == "",
                    left.stdout)

    def run(self):
        for check in [self.structures, self.own_package, self.cancel]:
            try:
                check()
            except Exception as error:  # the next check may still hold
                self.expect(check.__name__, False, repr(error))
        return self.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=HERE.parents[1] / "bin",
                        type=pathlib.Path)
    parser.add_argument("--device", default="gpu0")
    args = parser.parse_args()
    with daemon.Daemon(args.bin, "--standby-workers=0") as server:
        checks = Checks(args, server)
        why = checks.why_not()
        if why is not None:
            print(f"Result: skipped, {why}")
            return SKIPPED
        return checks.run()


if __name__ == "__main__":
    sys.exit(main())
