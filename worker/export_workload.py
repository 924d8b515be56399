#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a workload ahead of time, for the C++ worker that runs it.

usage: export_workload.py probe TORCH
       export_workload.py compile REQUEST

Runs in the Python of the host, the one that has PyTorch. `probe` looks at what
is installed without importing it (about 50 ms). `compile` reads a request (the
JSON that worker/package_cache.cc writes), exports the module of that name
and has Inductor compile it into a package, whose tensors are all inputs: no
weight is in it, so the worker's seed decides them as it does for the variant
eager.

Prints one line of JSON on stdout: what was found or built, or
{"error": CODE, "message": TEXT}, with exit code 1. CODE is one of no-python,
no-torch, torch-version, no-cuda, no-triton, no-ptxas, no-compiler,
bad-request, export-failed, compile-failed.
"""

import ctypes
import json
import os
import shutil
import signal
import sys

OLDEST_PYTHON = (3, 8)


class Fault(Exception):
    """What stops us, as a code and a sentence."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def version_of(package):
    """The installed version, or None. Reads metadata only."""
    from importlib import metadata
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def folder_of(package):
    """Where a package lies, or None; it is not imported."""
    import importlib.util
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    return places[0] if places else None


def release(version):
    """'2.11' of '2.11.0+cu130': packages fit within one release."""
    return ".".join(version.split("+")[0].split(".")[:2])


def cxx_compiler():
    """The C++ compiler that Inductor will call, or None."""
    return shutil.which(os.environ.get("CXX") or "g++")


def ptxas(triton_folder):
    """The assembler that Triton will call, or None."""
    places = [os.environ.get("TRITON_PTXAS_PATH", ""),
              os.path.join(triton_folder, "backends", "nvidia", "bin",
                           "ptxas")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    return shutil.which("ptxas")


def look(wanted):
    """What a compilation needs, as a dictionary; raises Fault without it.

    `wanted` is the PyTorch that the worker runs, '2.11.0'.
    """
    if sys.version_info < OLDEST_PYTHON:
        raise Fault("no-python", "%s is Python %s; %d.%d or newer is needed" % (
            sys.executable, sys.version.split()[0], *OLDEST_PYTHON))
    torch = version_of("torch")
    if torch is None:
        raise Fault("no-torch", "%s has no PyTorch" % sys.executable)
    if release(torch) != release(wanted):
        raise Fault("torch-version",
                    "%s has PyTorch %s, but the worker runs %s: a package "
                    "fits one release" % (sys.executable, torch, wanted))
    triton = version_of("triton")
    folder = folder_of("triton")
    if triton is None or folder is None:
        raise Fault("no-triton", "%s has PyTorch %s, but no Triton: "
                    "install the package triton" % (sys.executable, torch))
    if ptxas(folder) is None:
        raise Fault("no-ptxas", "Triton %s finds no ptxas: install it again, "
                    "or put that of a CUDA toolkit on PATH" % triton)
    if cxx_compiler() is None:
        raise Fault("no-compiler", "there is no C++ compiler %s on PATH, "
                    "which Inductor needs: install g++, or set CXX" %
                    (os.environ.get("CXX") or "g++"))
    return {"python": sys.version.split()[0], "torch": torch,
            "triton": triton}


def die_with_parent():
    """A worker that is killed must not leave a compiler behind."""
    pr_set_pdeathsig = 1
    try:
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        pass  # another C library: the worker's supervisor finds us


def import_torch():
    try:
        import torch
    except Exception as error:  # a library that is missing raises many kinds
        raise Fault("no-torch", "PyTorch cannot be imported: %s" %
                    last_line(error)) from error
    if not torch.cuda.is_available():
        raise Fault("no-cuda", "PyTorch %s finds no GPU%s" % (
            torch.__version__,
            "" if torch.version.cuda else ", it is built without CUDA"))
    return torch


def last_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return "%s: %s" % (type(error).__name__, lines[-1] if lines else "")


def modules(torch):
    """The step of each workload, exactly as its variant eager has it."""
    from torch.nn import functional

    class MatmulAdd(torch.nn.Module):
        def forward(self, x, w, b):
            return torch.add(torch.matmul(x, w), b)

    class Linear(torch.nn.Module):
        def forward(self, x, weight, bias):
            return functional.linear(x, weight, bias)

    class GegluMlp(torch.nn.Module):
        def forward(self, x, gate, up, down):
            gated = functional.linear(x, gate)
            raised = functional.linear(x, up)
            activated = functional.gelu(gated, approximate="tanh")
            return functional.linear(activated * raised, down)

    class Attention(torch.nn.Module):
        def forward(self, q, k, v, mask):
            scores = torch.matmul(q, k.transpose(-2, -1)) * (
                q.shape[-1] ** -0.5)
            scores = torch.masked_fill(scores, mask, float("-inf"))
            return torch.matmul(torch.softmax(scores, -1), v)

    return {"matmul_add": MatmulAdd, "linear": Linear, "geglu_mlp": GegluMlp,
            "attention": Attention}


def dtypes(torch):
    # tf32 is how fp32 is multiplied: a setting of the process that runs it.
    return {"fp32": torch.float32, "tf32": torch.float32,
            "bf16": torch.bfloat16, "fp16": torch.float16,
            "bool": torch.bool}


def read_request(path):
    try:
        with open(path, encoding="utf-8") as file:
            request = json.load(file)
        for key in ("module", "inputs", "device", "out", "torch"):
            request[key]
        return request
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Fault("bad-request", "%s cannot be read: %r" % (
            path, error)) from error


def export(torch, request):
    """The exported program, with example inputs of the wanted shapes."""
    known = modules(torch)
    if request["module"] not in known:
        raise Fault("bad-request", "there is no module %s; there are %s" % (
            request["module"], ", ".join(sorted(known))))
    device = torch.device("cuda", int(request["device"]))
    torch.cuda.set_device(device)
    inputs = tuple(
        torch.zeros(entry["shape"], dtype=dtypes(torch)[entry["dtype"]],
                    device=device) for entry in request["inputs"])
    module = known[request["module"]]().eval()
    # Shapes stay static, as `torch.compile` has them in the published runs.
    return torch.export.export(module, inputs)


def compile_package(request):
    found = look(request["torch"])
    torch = import_torch()
    import torch._inductor
    with torch.inference_mode(False), torch.no_grad():
        try:
            program = export(torch, request)
        except Fault:
            raise
        except Exception as error:
            raise Fault("export-failed", last_line(error)) from error
        try:
            torch._inductor.aoti_compile_and_package(
                program, package_path=request["out"],
                inductor_configs={
                    "aot_inductor.metadata": {
                        "torch": str(torch.__version__)}})
        except Exception as error:
            raise Fault("compile-failed", last_line(error)) from error
    found["torch"] = str(torch.__version__)
    return found


def answer(result):
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def main(arguments):
    try:
        if len(arguments) == 2 and arguments[0] == "probe":
            answer(look(arguments[1]))
        elif len(arguments) == 2 and arguments[0] == "compile":
            die_with_parent()
            answer(compile_package(read_request(arguments[1])))
        else:
            sys.stderr.write(__doc__)
            return 2
    except Fault as fault:
        import traceback
        if fault.__cause__ is not None:
            traceback.print_exception(type(fault.__cause__), fault.__cause__,
                                      fault.__cause__.__traceback__)
        answer({"error": fault.code, "message": str(fault)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
