#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into a scratch prefix, then runs everything from there.

usage: install_test.py CMAKE BUILD_FOLDER ROOT
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

DEADLINE = 60  # seconds, for each program


def run(*command, **options):
    print("$", *command, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=DEADLINE,
                          check=False, **options)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    return done.stdout


def check_libraries(program, forbidden):
    libraries = run("ldd", program)
    if "not found" in libraries:
        sys.exit(f"{program} lacks libraries")
    for name in forbidden:
        if name in libraries:
            sys.exit(f"{program} links {name}")


def full_config(root, scratch):
    """The shipped file with every key active: none may be unknown."""
    with open(os.path.join(root, "deploy/trazad.toml"), encoding="utf-8") as f:
        text = re.sub(r"^# ([a-z-]+ = )", r"\1", f.read(), flags=re.MULTILINE)
    path = os.path.join(scratch, "trazad.toml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def run_daemon(prefix, root, scratch):
    """Starts the installed daemon as it finds its own worker, runs one job."""
    ready, write = os.pipe()
    daemon = subprocess.Popen(
        [f"{prefix}/bin/trazad", "--config", full_config(root, scratch),
         "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
         "--data-dir", f"{scratch}/data", "--ready-fd", str(write)],
        pass_fds=[write], stdin=subprocess.DEVNULL)
    os.close(write)
    try:
        with open(ready, encoding="utf-8") as lines:
            line = lines.readline()
        if not line:
            sys.exit("trazad did not get ready")
        address = json.loads(line)["grpc"]
        out = run(f"{prefix}/bin/traza", "--server", address, "run",
                  "matmul_add", "--device", "cpu", "--timed-steps", "3",
                  "--traced-steps", "3")
        if "Verdict: " not in out:
            sys.exit("the answer has no verdict")
        daemon.send_signal(signal.SIGTERM)
        if daemon.wait(DEADLINE) != 0:
            sys.exit(f"trazad ended with {daemon.returncode} after TERM")
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()


def main():
    cmake, build, root = sys.argv[1:]
    # The path of the build tree must not help.
    os.environ.pop("LD_LIBRARY_PATH", None)
    with tempfile.TemporaryDirectory() as scratch:
        prefix = f"{scratch}/prefix"
        run(cmake, "--install", build, "--prefix", prefix)
        programs = {"bin/trazad": ["torch", "cupti", "cuda"],
                    "bin/traza": ["torch", "cupti", "cuda"],
                    "libexec/traza/traza-worker": ["grpc", "protobuf"]}
        for name, forbidden in programs.items():
            program = f"{prefix}/{name}"
            check_libraries(program, forbidden)
            version = run(program, "--version")
            if "0.1.0" not in version:
                sys.exit(f"{name} --version says: {version}")
        run_daemon(prefix, root, scratch)
        for name in ["lib/systemd/system/trazad.service",
                     "lib/sysusers.d/traza.conf",
                     "lib/tmpfiles.d/traza.conf", "etc/traza/trazad.toml",
                     "share/traza/prometheus/alerts.yaml",
                     "share/traza/proto/traza/v1/job_service.proto"]:
            if not os.path.exists(f"{prefix}/{name}"):
                sys.exit(f"{name} is not installed")


if __name__ == "__main__":
    main()
