#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundle from the programs of a build folder, unpacks it elsewhere,
and runs a job from there with nothing but what bin/traza-env finds.

usage: bundle_test.py ROOT BUILD_FOLDER STRIP SITE_PACKAGES
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile

DEADLINE = 60  # seconds, for each program
MAX_BYTES = 50_000_000

# What a bare host with a PyTorch has: glibc, GCC's runtime, torch and CUDA.
FROM_HOST = re.compile(
    r"(libc|libm|libgcc_s|libstdc\+\+|libdl|libpthread|librt|ld-linux-x86-64)"
    r"\.so\.\d+|lib(torch|torch_cpu|torch_cuda|c10|c10_cuda)\.so"
    r"|lib(cupti|cudart|nvrtc)\.so\.13")


def fail(text):
    sys.exit(f"bundle_test: {text}")


def run(*command, **options):
    print("$", *command, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=DEADLINE,
                          check=False, **options)
    if done.returncode != 0:
        fail(f"{command[0]} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def pack(root, strip, manifest, output):
    run(sys.executable, "-B", f"{root}/scripts/bundle.py", "--strip", strip,
        str(manifest), str(output))


def check_reproducible(root, strip, manifest, scratch):
    """The same bytes, whenever and wherever; a part of it will do."""
    lines = manifest.read_text(encoding="utf-8").splitlines(keepends=True)
    part = scratch / "part.manifest"
    part.write_text("".join(line for line in lines
                            if "bin/traza\n" in line or "program" not in line),
                    encoding="utf-8")
    outputs = []
    for name in ("one", "two"):
        (scratch / name).mkdir()
        pack(root, strip, part, scratch / name / f"{name}.tar.gz")
        outputs.append((scratch / name / f"{name}.tar.gz").read_bytes())
    if outputs[0] != outputs[1]:
        fail("two runs give different bytes")
    with tarfile.open(scratch / "one/one.tar.gz") as tar:
        names = tar.getnames()
        owners = {(m.uid, m.gid, m.mtime) for m in tar.getmembers()}
    if names != sorted(names) or len(owners) != 1:
        fail("the tarball is not sorted, or has several owners or times")


def dynamic(path):
    """NEEDED and run paths of an ELF file; None for another."""
    if path.is_symlink() or path.read_bytes()[:4] != b"\x7fELF":
        return None
    text = run("readelf", "--wide", "-d", str(path))
    return (re.findall(r"\(NEEDED\).*\[(.*)\]", text),
            re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", text))


def check_files(bundle, build, root):
    files = [p for p in bundle.rglob("*") if p.is_file()]
    names = {p.name for p in (bundle / "lib/traza").iterdir()}
    for path in files:
        found = dynamic(path)
        if found is None:
            continue
        needed, run_paths = found
        for name in needed:
            if name not in names and not FROM_HOST.fullmatch(name):
                fail(f"{path} needs {name}, which is not in the bundle")
        for run_path in run_paths:
            where = run_path.replace("$ORIGIN", str(path.parent))
            if not pathlib.Path(where).resolve().is_relative_to(bundle):
                fail(f"{path} has run path {run_path}")
    for path in files:
        if path.suffix in (".py", "") and path.stat().st_size < 100_000:
            data = path.read_bytes()
            if build.encode() in data or f"{root}/".encode() in data:
                fail(f"{path} names the build tree")


def check_loader(bundle, environment):
    """With the system's copies in reach, the bundle's are the ones loaded."""
    for program in ("bin/trazad", "libexec/traza/traza-local",
                    "libexec/traza/traza-worker"):
        text = run(str(bundle / "bin/traza-env"), "ldd", str(bundle / program),
                   env=environment)
        if "not found" in text:
            fail(f"{program} lacks libraries:\n{text}")
        carried = {p.name for p in (bundle / "lib/traza").iterdir()}
        for name, path in re.findall(r"(\S+) => (/\S+)", text):
            if name in carried and not path.startswith(f"{bundle}/"):
                fail(f"{program} loads {path}")


def check_job(bundle, environment, scratch):
    ready, write = os.pipe()
    daemon = subprocess.Popen(
        [bundle / "bin/traza-env", "trazad", "--listen", "127.0.0.1:0",
         "--http-listen", "127.0.0.1:0", "--data-dir", f"{scratch}/data",
         "--ready-fd", str(write)],
        pass_fds=[write], stdin=subprocess.DEVNULL, env=environment)
    os.close(write)
    try:
        with open(ready, encoding="utf-8") as lines:
            line = lines.readline()
        if not line:
            fail("trazad did not get ready")
        traza = [bundle / "bin/traza", "--server", json.loads(line)["grpc"]]
        answer = run(*traza, "run", "matmul_add", "--device", "cpu",
                     "--timed-steps", "3", "--traced-steps", "3", env={})
        if "Verdict: " not in answer:
            fail("the answer has no verdict")
        traces = json.loads(run(*traza, "traces", "--json", env={}))["traces"]
        path = f"{scratch}/trace.parquet"
        run(*traza, "download", traces[0]["name"], "-o", path, env={})
        # Without a server: by traza-local, which it finds by itself.
        if "aten::mm" not in run(bundle / "bin/traza", "table", path, env={}):
            fail("the table of the trace has no aten::mm")
        daemon.send_signal(signal.SIGTERM)
        if daemon.wait(DEADLINE) != 0:
            fail(f"trazad ended with {daemon.returncode} after TERM")
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()


def check_benches(bundle, environment):
    """Their scripts, with the programs beside them: figures do not matter
    here, and bars may be missed."""
    for script, *arguments in [
            ("overhead/step_overhead.py", "--device=cpu", "--rounds=1",
             "--steps=50"), ("time_to_answer.py", str(bundle / "bin"), "1")]:
        done = subprocess.run(
            [bundle / "bin/traza-env", sys.executable, "-B",
             bundle / "bench" / script, *arguments], env=environment,
            stdout=subprocess.PIPE, text=True, timeout=DEADLINE, check=False)
        if "\nResult: " not in done.stdout:
            fail(f"{script} ended with {done.returncode}: {done.stdout}")


def python_with(site, scratch):
    """A Python that has the packages of `site`."""
    path = pathlib.Path(scratch) / "python3"
    path.write_text(f"#!/bin/sh\nPYTHONPATH='{site}' exec "
                    f"'{sys.executable}' \"$@\"\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def main():
    root, build, strip, site = sys.argv[1:]
    manifest = pathlib.Path(build) / "bundle.manifest"
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder).resolve()
        check_reproducible(root, strip, manifest, scratch)
        tarball = scratch / "traza-bundle.tar.gz"
        pack(root, strip, manifest, tarball)
        if tarball.stat().st_size >= MAX_BYTES:
            fail(f"{tarball.stat().st_size} bytes")
        run("tar", "-xzf", str(tarball), "-C", str(scratch))
        bundle = scratch / "traza-bundle"
        check_files(bundle, build, root)
        if "traza 0.1.0" not in run(bundle / "bin/traza", "--version", env={}):
            fail("bin/traza --version does not say 0.1.0")
        environment = {"TRAZA_PYTHON": str(python_with(site, scratch))}
        check_loader(bundle, environment)
        check_job(bundle, environment, scratch)
        check_benches(bundle, environment)
        run(bundle / "bin/traza-gpu-check", "--list", env=environment)
    print("bundle_test: passed")


if __name__ == "__main__":
    main()
