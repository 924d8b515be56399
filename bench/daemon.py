# SPDX-License-Identifier: Apache-2.0
"""Starts a trazad of a build folder on free ports, for benches."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile


class Daemon:
    """A running trazad; use as a context manager."""

    def __init__(self, bin_dir, *flags):
        self.bin_dir = pathlib.Path(bin_dir)
        self.data_dir = tempfile.mkdtemp(prefix="traza-bench-")
        read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            [self.bin_dir / "trazad", "--listen=127.0.0.1:0",
             "--http-listen=127.0.0.1:0", f"--data-dir={self.data_dir}",
             f"--ready-fd={write_end}", "--log-level=warning",
             "--measure-gpus=false", *flags],
            pass_fds=[write_end])
        os.close(write_end)
        with os.fdopen(read_end) as ready:
            line = ready.readline()
        if not line:
            raise RuntimeError("trazad did not start; its message is above")
        ready_line = json.loads(line)
        self.address = ready_line["grpc"]
        self.http = ready_line["http"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def cli(self, *args):
        """Runs the command line; returns its standard output."""
        done = subprocess.run(
            [self.bin_dir / "traza", "--server", self.address, *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)
        if done.returncode != 0:
            raise RuntimeError(f"traza {' '.join(args)} ended with "
                               f"{done.returncode}: {done.stderr}")
        return done.stdout

    def resident_bytes(self):
        """Resident memory of the daemon alone, without its workers."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise RuntimeError("no VmRSS")
