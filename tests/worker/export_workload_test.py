#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The script that compiles workloads, as far as a machine without a GPU lets
it go: what it finds missing, and how it says so.

usage: export_workload_test.py EXPORT_WORKLOAD_PY TORCH_FOLDER
"""

import json
import os
import pathlib
import py_compile
import subprocess
import sys
import tempfile
import unittest

TORCH_FOLDER = pathlib.Path(sys.argv.pop(2)).absolute()
SCRIPT = sys.argv.pop(1)


class ExportWorkload(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pathlib.Path(folder.name)
        self.path = self.site / "bin"
        self.path.mkdir()

    def install(self, package, version):
        """A package as pip leaves it, without anything in it."""
        (self.site / package).mkdir()
        (self.site / package / "__init__.py").touch()
        info = self.site / f"{package}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")

    def program(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o700)

    def run_script(self, *arguments, environment=None):
        """Exit code, and the last line of stdout as JSON."""
        # -S: what this machine has installed must not help.
        done = subprocess.run(
            [sys.executable, "-B", "-S", SCRIPT, *arguments],
            capture_output=True, text=True, timeout=60, check=False,
            env={"PYTHONPATH": str(self.site), "PATH": str(self.path),
                 **(environment or {})})
        self.stderr = done.stderr
        lines = done.stdout.splitlines()
        return done.returncode, json.loads(lines[-1]) if lines else None

    def assert_fault(self, code, *arguments, environment=None):
        returned, answer = self.run_script(*arguments,
                                           environment=environment)
        self.assertEqual(returned, 1)
        self.assertEqual(answer["error"], code, answer)
        self.assertNotIn("\n", answer["message"])
        return answer["message"]

    def install_all(self):
        self.install("torch", "2.11.0+cu130")
        self.install("triton", "3.6.0")
        self.program(self.site / "triton/backends/nvidia/bin/ptxas")
        self.program(self.path / "g++")

    def test_compiles_as_python(self):
        py_compile.compile(SCRIPT, cfile=str(self.site / "x.pyc"),
                           doraise=True)

    def test_wrong_usage_prints_how(self):
        self.assertEqual(self.run_script("nonsense"), (2, None))
        self.assertIn("usage:", self.stderr)

    def test_says_what_is_installed(self):
        self.install_all()
        returned, answer = self.run_script("probe", "2.11.0")
        self.assertEqual(returned, 0, answer)
        self.assertEqual(answer["torch"], "2.11.0+cu130")
        self.assertEqual(answer["triton"], "3.6.0")

    def test_without_pytorch(self):
        self.assertIn("has no PyTorch",
                      self.assert_fault("no-torch", "probe", "2.11.0"))

    def test_another_pytorch_names_both(self):
        self.install("torch", "2.12.1")
        message = self.assert_fault("torch-version", "probe", "2.11.0")
        self.assertIn("2.12.1", message)
        self.assertIn("2.11.0", message)

    def test_a_patch_release_fits(self):
        self.install_all()
        self.assertEqual(self.run_script("probe", "2.11.3")[0], 0)

    def test_without_triton(self):
        self.install("torch", "2.11.0")
        self.assert_fault("no-triton", "probe", "2.11.0")

    def test_without_ptxas(self):
        self.install("torch", "2.11.0")
        self.install("triton", "3.6.0")
        self.assert_fault("no-ptxas", "probe", "2.11.0")

    def test_without_a_compiler(self):
        self.install_all()
        (self.path / "g++").unlink()
        self.assertIn("g++",
                      self.assert_fault("no-compiler", "probe", "2.11.0"))

    def test_the_compiler_of_cxx_counts(self):
        self.install_all()
        self.assert_fault("no-compiler", "probe", "2.11.0",
                          environment={"CXX": "nonsense-c++"})

    def test_a_request_that_cannot_be_read(self):
        self.assert_fault("bad-request", "compile", str(self.site / "none"))
        (self.site / "half").write_text('{"module": "linear"}')
        self.assert_fault("bad-request", "compile", str(self.site / "half"))

    def request(self, **changes):
        path = self.site / "request.json"
        path.write_text(json.dumps({
            "module": "linear", "device": 0, "torch": "2.11.0",
            "out": str(self.site / "out.pt2"), "inputs": [], **changes}))
        return str(path)

    def test_a_pytorch_that_cannot_be_imported(self):
        self.install_all()
        (self.site / "torch/__init__.py").write_text(
            "raise ImportError('libcudnn.so.9: cannot open')\n")
        message = self.assert_fault("no-torch", "compile", self.request())
        self.assertIn("libcudnn.so.9", message)
        self.assertIn("Traceback", self.stderr)

    def test_without_a_gpu(self):
        self.install_all()
        (self.site / "torch/__init__.py").write_text(
            "import types\n__version__ = '2.11.0'\n"
            "cuda = types.SimpleNamespace(is_available=lambda: False)\n"
            "version = types.SimpleNamespace(cuda=None)\n")
        message = self.assert_fault("no-cuda", "compile", self.request())
        self.assertIn("without CUDA", message)

    @unittest.skipUnless((TORCH_FOLDER / "__init__.py").exists(),
                         "no PyTorch here")
    def test_the_wheel_of_this_build_without_its_cuda(self):
        # It has no CUDA libraries beside it, so it is found, not imported.
        for name in os.listdir(TORCH_FOLDER.parent):
            if name == "torch" or name.startswith("torch-"):
                (self.site / name).symlink_to(TORCH_FOLDER.parent / name)
        self.assertIn("no Triton",
                      self.assert_fault("no-triton", "probe", "2.11.0"))


if __name__ == "__main__":
    unittest.main()
