#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bin/traza-gpu-check of the bundle, with tests and benches that pass, fail,
skip, crash and hang.

usage: gpu_check_test.py GPU_CHECK_PY
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GPU_CHECK = sys.argv.pop(1)

# Answers as a gtest program does.
FAKE_TEST = r"""#!/bin/sh
case "$1" in
  --gtest_list_tests) printf 'Gpu.\n  Passes\n  Fails\n  Skips  # GetParam\n'
    printf '  Hangs\n  Crashes\n  DISABLED_Never\n' ;;
  *Gpu.Passes) echo '[       OK ] Gpu.Passes' ;;
  *Gpu.Fails) echo 'gpu_test.cc:7: Failure'; echo 'Expected: 2 kernels'
    echo '[  FAILED  ] Gpu.Fails'; exit 1 ;;
  *Gpu.Skips) echo 'gpu_test.cc:9: Skipped'; echo 'no GPU here'
    echo '[  SKIPPED ] Gpu.Skips (0 ms)' ;;
  *Gpu.Hangs) sleep 600 & echo $! >hang.pid; cp hang.pid "$HANG"; wait ;;
  *Gpu.Crashes) echo 'about to'; kill -SEGV $$ ;;
esac
"""


class GpuCheck(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for path in ("libexec/traza", "bin/tests", "share/traza", "bench"):
            (self.root / path).mkdir(parents=True)
        shutil.copy(GPU_CHECK, self.root / "libexec/traza/gpu_check.py")
        self.program("bin/tests/gpu_test", FAKE_TEST)
        self.program("bench/good.py", "print('Result: 0.33 of Kineto')\n")
        self.program("bench/missed.py", "import sys\n"
                     "print('Result: 0.55 of Kineto')\nsys.exit(1)\n")
        self.program("bench/none.py", "import sys\n"
                     "print('no gpu0 here')\nsys.exit(77)\n")

    def program(self, path, text):
        (self.root / path).write_text(text, encoding="utf-8")
        (self.root / path).chmod(0o755)

    def run_check(self, checks, *arguments):
        (self.root / "share/traza/checks").write_text(checks, encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-B", self.root / "libexec/traza/gpu_check.py",
             *arguments], capture_output=True, text=True, timeout=60,
            check=False, env={"PATH": "/usr/bin:/bin",
                              "HANG": str(self.root / "hang.pid")})

    def test_one_table_although_some_fail(self):
        logs = self.root / "logs"
        done = self.run_check(
            "test 1 gpu_test\ntest 1 absent_test\n"
            "bench 20 good bench/good.py --rounds 5\n"
            "bench 20 missed bench/missed.py\nbench 20 none bench/none.py\n",
            str(logs))
        self.assertEqual(done.returncode, 1, done.stderr)
        rows = {line.split()[0]: line for line in done.stdout.splitlines()
                if "/" in line or line.startswith("absent")}
        for name, result, note in [
                ("gpu_test/Gpu.Passes", "ok", ""),
                ("gpu_test/Gpu.Fails", "FAILED", "Expected: 2 kernels"),
                ("gpu_test/Gpu.Skips", "skipped", "no GPU here"),
                ("gpu_test/Gpu.Hangs", "TIMEOUT", "killed after 1 s"),
                ("gpu_test/Gpu.Crashes", "FAILED", "signal 11"),
                ("absent_test", "FAILED", "No such file"),
                ("bench/good", "ok", "0.33 of Kineto"),
                ("bench/missed", "FAILED", "0.55 of Kineto"),
                ("bench/none", "skipped", "no gpu0 here")]:
            self.assertEqual(rows[name].split()[1], result, rows[name])
            self.assertIn(note, rows[name])
        self.assertEqual(len(rows), 9)
        self.assertIn("9 checks: 2 ok, 4 FAILED, 2 skipped, 1 TIMEOUT",
                      done.stdout)
        self.assertEqual((logs / "table.txt").read_text(encoding="utf-8"),
                         done.stdout)
        self.assertIn("about to", (logs / "gpu_test_Gpu.Crashes.log").read_text(
            encoding="utf-8"))

    def test_what_a_check_started_ends_with_it(self):
        self.run_check("test 1 gpu_test\n", str(self.root / "logs"), "--only",
                       "Hangs")
        pid = (self.root / "hang.pid").read_text(encoding="utf-8").strip()
        state = pathlib.Path(f"/proc/{pid}/stat")
        self.assertTrue(not state.exists() or " Z " in state.read_text(
            encoding="utf-8"))

    def test_success_is_0_and_nothing_to_run_is_77(self):
        logs = str(self.root / "logs")
        checks = "test 5 gpu_test\nbench 20 good bench/good.py\n"
        self.assertEqual(
            self.run_check(checks, logs, "--only", "Passes|good").returncode, 0)
        self.assertEqual(
            self.run_check(checks, logs, "--only", "Skips").returncode, 77)
        self.assertNotIn(
            self.run_check(checks, logs, "--only", "typing mistake").returncode,
            (0, 77))

    def test_lists_and_chooses(self):
        checks = "test 5 gpu_test\nbench 20 good bench/good.py\n"
        self.assertEqual(self.run_check(checks, "--list").stdout.split(), [
            "gpu_test/Gpu.Passes", "gpu_test/Gpu.Fails", "gpu_test/Gpu.Skips",
            "gpu_test/Gpu.Hangs", "gpu_test/Gpu.Crashes", "bench/good"])
        self.assertEqual(
            self.run_check(checks, "--list", "--benches").stdout.split(),
            ["bench/good"])


if __name__ == "__main__":
    unittest.main()
