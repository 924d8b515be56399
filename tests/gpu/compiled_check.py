#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiled variants and own models on a real GPU: four packages are built,
each of which takes up to a minute, and an own model of five kinds.

usage: compiled_check.py [--bin DIR] [--device ID] [--only CHECK,...]

Needs the host's Python with PyTorch, Triton and a C++ compiler (TRAZA_PYTHON).
Each check prints one line; the last line is `Result: ...`. Exit 0: all hold,
1: one does not, 77: nothing can be compiled here, and why.
"""

import argparse
import json
import os
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
WORKLOADS = {"matmul_add": ["-p", "size=256"], "linear": [], "geglu_mlp": [],
             "attention": []}

# As an operator makes a model, in the host's Python: a package, one that says
# that it was made for another GPU, one of another PyTorch, one that is cut, and
# the same model as TorchScript.
MAKE_OWN_MODELS = """
import json, pathlib, sys, zipfile
import torch

class ScaleBias(torch.nn.Module):
    def forward(self, x, bias):
        return x * 2.0 + bias

folder = pathlib.Path(sys.argv[1])
example = (torch.zeros(1024, 8, device="cuda"), torch.zeros(8, device="cuda"))
rows = torch.export.Dim("rows", min=2, max=65536)
program = torch.export.export(ScaleBias().eval(), example,
                              dynamic_shapes=({0: rows}, None))
whole = folder / "whole.pt2"
torch._inductor.aoti_compile_and_package(
    program, package_path=str(whole), inductor_configs={
        "aot_inductor.metadata": {"torch": torch.__version__}})
torch.jit.save(torch.jit.script(ScaleBias().eval()), folder / "script.pt")

def change(name, key, value):
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(
            folder / name, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith("wrapper_metadata.json"):
                facts = json.loads(content)
                assert facts[key], facts
                content = json.dumps({**facts, key: value})
            target.writestr(entry.filename, content)

change("other_gpu.pt2", "AOTI_COMPUTE_CAPABILITY", "75")
change("other_torch.pt2", "torch", "2.4.0+cu124")
(folder / "cut.pt2").write_bytes(whole.read_bytes()[:-1000])
"""


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
        self.expect(f"{workload}: compiled runs, and says that it "
                    "bypasses the dispatcher", any(
                        finding["id"] == "compiled-region"
                        for finding in compiled["answer"]["findings"]),
                    f"{built:.0f} s")
        self.expect(f"{workload}: its package is found again",
                    loaded < LOADED_SECONDS, f"{loaded:.1f} s")
        expected = [answer["check"] for answer in
                    compiled["answer"]["expectations"]]
        self.expect(f"{workload}: it does what was expected of it",
                    bool(expected) and all(check["outcome"] == "passed"
                                           for check in expected),
                    [check["message"] for check in expected
                     if check["outcome"] != "passed"])
        code, out, err = self.cli(
            "check", compiled["job"]["trace"], "--expect",
            f"same_output({eager['job']['trace']})")
        self.expect(f"{workload}: its output is that of eager", code == 0,
                    (out + err).strip())
        self.expect(f"{workload}: the same work each time",
                    self.names(compiled, "kernel") ==
                    self.names(again, "kernel"))
        code, out, err = self.cli("diff", eager["job"]["trace"],
                                  compiled["job"]["trace"])
        self.expect(f"{workload}: eager and compiled can be compared",
                    code == 0, err.strip())
        print(out)
        print(f"        eager    {self.names(eager, 'kernel')}")
        print(f"        compiled {self.names(compiled, 'kernel')} "
              f"{self.names(compiled, 'copy')}")
        return eager, compiled

    def matmul_add(self):
        _, compiled = self.compare("matmul_add", WORKLOADS["matmul_add"])
        self.expect("matmul_add with a 2-D bias: one copy, one kernel",
                    len(self.names(compiled, "kernel")) == 1 and
                    len(self.names(compiled, "copy")) == 1)

    def linear(self):
        _, compiled = self.compare("linear", WORKLOADS["linear"])
        self.expect("linear: one kernel",
                    len(self.names(compiled, "kernel")) == 1)

    def geglu_mlp(self):
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

    def attention(self):
        eager, compiled = self.compare("attention", WORKLOADS["attention"])
        counts = [(len(self.names(reply, "kernel")),
                   len(self.names(reply, "copy")))
                  for reply in (eager, compiled)]
        self.expect("attention: naive has 5 kernels and a copy, compiled at "
                    "most 4 and none",
                    counts[0] == (5, 1) and counts[1][0] <= 4 and
                    counts[1][1] == 0, counts)

    def register(self, name, file, form):
        models = pathlib.Path(self.server.data_dir) / "models"
        manifest = {
            "name": name, "file": file, "format": form,
            "dims": {"rows": {"max": 65536, "default": 1024}},
            "inputs": [{"name": "x", "shape": ["rows", 8], "dtype": "fp32"},
                       {"name": "bias", "shape": [8], "dtype": "fp32"}]}
        (models / f"{name}.json").write_text(json.dumps(manifest))

    def own_models(self):
        """One model, registered as an operator would."""
        python = os.environ.get("TRAZA_PYTHON", "python3")
        models = pathlib.Path(self.server.data_dir) / "models"
        # TorchScript reads the source of what it compiles.
        script = models.parent / "make_own_models.py"
        script.write_text(MAKE_OWN_MODELS)
        subprocess.run([python, script, models], check=True,
                       timeout=BUILD_SECONDS)
        for name in ["whole", "other_gpu", "other_torch", "cut"]:
            self.register(name, f"{name}.pt2", "aoti")
        self.register("script", "script.pt", "torchscript")
        compiled, script = self.run_job("whole"), self.run_job("script")
        self.expect("an own package runs: one kernel",
                    len(self.names(compiled, "kernel")) == 1,
                    self.names(compiled, "kernel"))
        self.expect("an own TorchScript file runs on the GPU",
                    bool(self.names(script, "kernel")),
                    self.names(script, "kernel"))
        code, out, err = self.cli(
            "check", compiled["job"]["trace"], "--expect",
            f"same_output({script['job']['trace']})")
        self.expect("  and both compute the same", code == 0,
                    (out + err).strip())
        reply = self.run_job("whole", "-p", "rows=77")
        self.expect("  a dimension that it was compiled for may vary",
                    reply["job"]["state"] == "SUCCEEDED")
        code, _, err = self.cli("run", "whole", "--device", self.args.device,
                                "-p", "rows=1")
        self.expect("  and it refuses shapes that it was not compiled for",
                    code == 1 and "crash" not in err.lower(), err.strip())
        for name, word in [("other_gpu", "7.5"), ("other_torch", "2.4.0"),
                           ("cut", "cannot be used")]:
            code, _, err = self.cli("run", name, "--device", self.args.device)
            self.expect(f"{name} is refused, with the reason",
                        code != 0 and word in err, err.strip())
        left = [path for pattern in ("*/data", "*/*/data")
                for path in pathlib.Path("/tmp").glob(pattern + "/aotinductor")]
        self.expect("nothing unpacked is left in /tmp", left == [], left)

    def damage(self):
        """A package of ours that is not as it was built is built again."""
        compiled = pathlib.Path(self.server.data_dir) / "models" / "compiled"
        self.run_job("linear", "--variant", "compiled")
        package = next(compiled.glob("linear-*.pt2"))
        whole = package.stat().st_size
        with open(package, "r+b") as file:
            file.seek(whole // 2)
            file.write(b"damaged")
        reply = self.run_job("linear", "--variant", "compiled")
        self.expect("a damaged package is built again",
                    reply["job"]["state"] == "SUCCEEDED" and
                    b"damaged" not in package.read_bytes(),
                    f"{whole} and {package.stat().st_size} bytes")

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
        left = subprocess.run(
            ["pgrep", "-f", f"export_workload.py compile {self.server.data_dir}"],
                              capture_output=True, text=True, check=False)
        self.expect("  and leaves no compiler behind", left.stdout == "",
                    left.stdout)

    def run(self, names):
        for name in names:
            try:
                getattr(self, name)()
            except Exception as error:  # the next check may still hold
                self.expect(name, False, repr(error))
        return self.result()


CHECKS = ["matmul_add", "linear", "geglu_mlp", "attention", "own_models",
          "damage", "cancel"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=HERE.parents[1] / "bin",
                        type=pathlib.Path)
    parser.add_argument("--device", default="gpu0")
    parser.add_argument("--only", default=",".join(CHECKS), metavar="CHECK,...",
                        help=f"of {', '.join(CHECKS)}")
    args = parser.parse_args()
    with daemon.Daemon(args.bin, "--standby-workers=0") as server:
        checks = Checks(args, server)
        why = checks.why_not()
        if why is not None:
            print(f"Result: skipped, {why}")
            return SKIPPED
        return checks.run(args.only.split(","))


if __name__ == "__main__":
    sys.exit(main())
