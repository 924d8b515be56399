#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bin/traza-env on hosts whose Python has no fitting PyTorch, and on one whose
has.

usage: bundle_env_test.py TRAZA_ENV
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TRAZA_ENV = sys.argv.pop(1)
GOOD = {"version": "2.11.0+cu130", "cuda": "13.0"}


class TrazaEnv(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name).resolve()

    def make(self, path, text=""):
        (self.scratch / path).parent.mkdir(parents=True, exist_ok=True)
        (self.scratch / path).write_text(text, encoding="utf-8")
        return self.scratch / path

    def make_python(self, site="site", path="python3"):
        """A Python with the packages of `site` alone."""
        python = self.make(path, "#!/bin/sh\n"
                           f"PYTHONPATH='{self.scratch}/{site}' exec "
                           f"'{sys.executable}' -S \"$@\"\n")
        python.chmod(0o755)
        return python

    def make_torch(self, site="site", version="2.11.0+cu130", cuda="13.0"):
        self.make(f"{site}/torch/__init__.py", "raise SystemExit('imported')")
        self.make(f"{site}/torch/version.py",
                  f"__version__ = {version!r}\ncuda = {cuda!r}\n")
        self.make(f"{site}/torch/lib/libtorch_cpu.so")

    def make_cuda(self, site="site"):
        for name in ("libcudart.so.13", "libcupti.so.13"):
            self.make(f"{site}/nvidia/cu13/lib/{name}")
        self.make(f"{site}/nvidia/cudnn/lib/libcudnn.so.9")

    def run_env(self, *command, **environment):
        return subprocess.run([TRAZA_ENV, *command], env=environment,
                              capture_output=True, text=True, timeout=60,
                              check=False)

    def expect_refused(self, *texts, python=None):
        done = self.run_env("echo", "ran",
                            TRAZA_PYTHON=str(python or self.make_python()))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        for text in (*texts, "pip install torch==2.11.0", "TRAZA_PYTHON"):
            self.assertIn(text, done.stderr)

    def test_says_that_there_is_no_python(self):
        self.expect_refused("/nonexistent does not run",
                            python="/nonexistent")

    def test_says_that_there_is_no_torch(self):
        self.expect_refused("has no PyTorch")

    def test_refuses_another_version(self):
        self.make_torch(version="2.110.0+cu130")
        self.make_cuda()
        self.expect_refused("has PyTorch 2.110.0+cu130, not 2.11")

    def test_refuses_torch_without_cuda(self):
        self.make_torch(version="2.11.0+cpu", cuda=None)
        self.expect_refused("has PyTorch 2.11.0+cpu without CUDA")

    def test_refuses_another_cuda(self):
        self.make_torch(version="2.11.0+cu128", cuda="12.8")
        self.expect_refused("for CUDA 12.8, not 13")

    def test_refuses_a_damaged_torch(self):
        self.make_torch()
        self.make("site/torch/version.py", "__version__ =")
        self.expect_refused("version.py cannot be read")

    def test_names_the_wheel_of_a_missing_library(self):
        self.make_torch()
        self.make("site/nvidia/cu13/lib/libcudart.so.13")
        self.expect_refused("no libcupti.so.13", "nvidia-cuda-cupti>=13,<14")

    def test_runs_the_command_with_the_libraries(self):
        self.make_torch()
        self.make_cuda()
        done = self.run_env("sh", "-c", 'echo "$LD_LIBRARY_PATH $PATH"; exit 7',
                            TRAZA_PYTHON=str(self.make_python()),
                            LD_LIBRARY_PATH="/theirs", PATH=os.defpath)
        self.assertEqual(done.returncode, 7, done.stderr)
        site = f"{self.scratch}/site"
        libraries, path = done.stdout.split()
        self.assertEqual(libraries.split(":"), [
            f"{site}/torch/lib", f"{site}/nvidia/cu13/lib",
            f"{site}/nvidia/cudnn/lib", "/theirs"])
        self.assertTrue(path.split(":")[0].endswith("/bin"), path)

    def test_takes_cuda_from_where_the_image_says(self):
        self.make_torch()
        self.make_cuda(site="cuda")
        lib = f"{self.scratch}/cuda/nvidia/cu13/lib"
        done = self.run_env("sh", "-c", 'echo "$LD_LIBRARY_PATH"',
                            TRAZA_PYTHON=str(self.make_python()),
                            LD_LIBRARY_PATH=lib)
        self.assertEqual(done.stdout.strip(),
                         f"{self.scratch}/site/torch/lib:{lib}:{lib}",
                         done.stderr)

    def test_passes_over_pythons_that_do_not_fit(self):
        self.make_torch(site="old", version="2.9.0+cu130")
        self.make_torch()
        self.make_cuda()
        self.make_python(site="old", path="first/python3")
        fitting = self.make_python(path="second/bin/python3")
        done = self.run_env("sh", "-c", 'echo "$LD_LIBRARY_PATH"',
                            PATH=f"{self.scratch}/first:{os.defpath}",
                            VIRTUAL_ENV=str(fitting.parents[1]))
        self.assertIn(f"{self.scratch}/site/torch/lib", done.stdout,
                      done.stderr)

    def test_prints_exports_that_a_shell_takes(self):
        self.make_torch()
        self.make_cuda()
        python = self.make_python()
        done = self.run_env(TRAZA_PYTHON=str(python))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("has PyTorch 2.11.0+cu130 for CUDA 13.0", done.stderr)
        shell = subprocess.run(
            ["sh", "-c", f'{done.stdout}echo "$LD_LIBRARY_PATH"'],
            capture_output=True, text=True, check=True)
        self.assertIn(f"{self.scratch}/site/torch/lib", shell.stdout)

    def test_adds_its_paths_once(self):
        self.make_torch()
        self.make_cuda()
        python = str(self.make_python())
        once = self.run_env("sh", "-c", 'echo "$LD_LIBRARY_PATH $PATH"',
                            TRAZA_PYTHON=python)
        twice = self.run_env("sh", "-c", f'TRAZA_PYTHON={python} {TRAZA_ENV} '
                             'sh -c \'echo "$LD_LIBRARY_PATH $PATH"\'',
                             TRAZA_PYTHON=python)
        self.assertEqual(once.stdout, twice.stdout)


if __name__ == "__main__":
    unittest.main()
