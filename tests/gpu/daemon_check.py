#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a daemon does on a real GPU over many jobs, some of which go wrong.

usage: daemon_check.py [--bin DIR] [--jobs N] [--device ID] [--only REGEX]

Each check prints one line; the last line is `Result: ...`. Exit 0: all hold,
1: one does not, 77: there is no GPU.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench"))
import daemon  # noqa: E402
import tally  # noqa: E402

PHASES = ["setup", "cold", "warmup", "timed", "traced", "flush"]
SKIPPED = 77
# What a context and the caches of a driver may come and go with.
LEAK_BYTES = 64 << 20


def nvidia_smi(query):
    """The values of the first GPU, or None where there is no nvidia-smi."""
    try:
        text = subprocess.run(
            ["nvidia-smi", f"--query-{query}", "--format=csv,noheader,nounits"],
            check=True, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return text.strip().splitlines()


def used_bytes():
    return int(nvidia_smi("gpu=memory.used")[0]) << 20


class Checks(tally.Tally):
    """Runs them in order and remembers what failed."""

    def __init__(self, args):
        super().__init__()
        self.args = args

    def daemon(self, *flags, **environment):
        saved = dict(os.environ)
        os.environ.update(environment)
        try:
            return daemon.Daemon(self.args.bin, *flags)
        finally:
            os.environ.clear()
            os.environ.update(saved)

    def run_job(self, server, *flags):
        return json.loads(server.cli(
            "run", "matmul_add", "-p", "size=64", "--device", self.args.device,
            "--json", *flags))

    def job(self, server, name):
        return json.loads(server.cli("job", name, "--json"))

    def wait(self, server, name, done, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            job = self.job(server, name)
            if done(job):
                return job
            time.sleep(0.01)
        raise RuntimeError(f"{name} is still {job.get('state')}")

    def worker_pids(self, server):
        """The workers of a daemon that have the job (a standby has none)."""
        path = f"/proc/{server.process.pid}/task"
        pids = set()
        for task in os.listdir(path):
            with open(f"{path}/{task}/children", encoding="ascii") as file:
                pids.update(map(int, file.read().split()))
        return pids

    # ---- The checks

    def many_jobs_leak_nothing(self):
        with self.daemon("--standby-workers=1") as server:
            for _ in range(5):
                self.run_job(server)
            before = self.settled_bytes()
            firsts, slow, unmarked = [], 0, 0
            for _ in range(self.args.jobs):
                reply = self.run_job(server)
                steps = reply["answer"]["steps"]
                first = steps.get("first_traced_over_median")
                firsts.append(first or float("inf"))
                if firsts[-1] > 1.3:
                    slow += 1
                    unmarked += self.criterion(reply, "first-step")["met"]
            firsts.sort()
            grown = self.settled_bytes() - before
            self.expect(f"{self.args.jobs} jobs leak no GPU memory",
                        grown < LEAK_BYTES, f"{grown >> 20} MiB more")
            self.expect("the first traced step is within 1.3 of the median in "
                        "19 of 20 jobs", slow <= self.args.jobs / 20,
                        f"{slow} of {self.args.jobs} are not; median "
                        f"{firsts[len(firsts) // 2]:.2f}, largest "
                        f"{firsts[-1]:.2f}")
            self.expect("  and is marked in the others", unmarked == 0,
                        f"{unmarked} are not")
            self.expect("the trace has device records and no losses",
                        self.is_whole(reply), reply["answer"]["validity"])

    @staticmethod
    def criterion(reply, name):
        return next(c for c in reply["answer"]["validity"]["criteria"]
                    if c["id"] == name)

    @staticmethod
    def settled_bytes():
        """Once the standby worker has its context: the same twice in a row."""
        last = None
        while (used := used_bytes()) != last:
            last = used
            time.sleep(3)
        return used

    def is_whole(self, reply):
        seen = reply["answer"]["completeness"]
        zero = ["dropped", "zero_ts", "bad_order", "before_launch",
                "missing_gpu", "unmatched_call", "failed_calls",
                "truncated_buffers"]
        return (bool(reply["answer"]["breakdown"]) and
                all(seen.get(name) == 0 for name in zero))

    def a_worker_killed_in_each_phase_frees_the_gpu(self):
        with self.daemon("--standby-workers=0") as server:
            for phase in PHASES:
                # Long enough in every phase to be caught there.
                created = json.loads(server.cli(
                    "run", "matmul_add", "-p", "size=512", "--device",
                    self.args.device, "--cold-steps=20000", "--warmup=20000",
                    "--timed-steps=50000", "--traced-steps=200000",
                    "--timeout=120s", "--detach", "--json"))
                name = created["name"].removeprefix("jobs/")
                # A phase may be over before it is seen: the next one counts.
                later = PHASES[PHASES.index(phase):] + ["store"]
                job = self.wait(
                    server, name,
                    lambda job: job["state"] != "PENDING" and
                    job.get("progress", {}).get("phase") in later)
                for pid in self.worker_pids(server):
                    os.kill(pid, signal.SIGKILL)
                ended = self.wait(server, name,
                                  lambda job: job["state"] == "FAILED")
                reason = ended["error"]["reason"]
                self.expect(
                    f"killed in {job['progress']['phase']}: WORKER_CRASHED",
                    reason == "WORKER_CRASHED", reason)
                reply = self.run_job(server)
                self.expect("  and the next job succeeds",
                            reply["job"]["state"] == "SUCCEEDED")

    def a_hung_worker_is_killed(self):
        with self.daemon("--standby-workers=0") as server:
            created = json.loads(server.cli(
                "run", "matmul_add", "-p", "size=64", "--device",
                self.args.device, "--traced-steps=1000000", "--timeout=20s",
                "--detach", "--json"))
            name = created["name"].removeprefix("jobs/")
            self.wait(server, name, lambda job: job["state"] == "RUNNING")
            time.sleep(0.5)
            for pid in self.worker_pids(server):
                os.kill(pid, signal.SIGSTOP)
            ended = self.wait(server, name,
                              lambda job: job["state"] == "FAILED", 90)
            self.expect("a worker that hangs: PHASE_TIMEOUT",
                        ended["error"]["reason"] == "PHASE_TIMEOUT",
                        ended["error"]["reason"])
            self.expect("  and the next job succeeds",
                        self.run_job(server)["job"]["state"] == "SUCCEEDED")

    def another_process_on_the_gpu_is_flagged(self):
        hold = ("import torch, sys; x = torch.zeros(1, device='cuda'); "
                "print('ready', flush=True); sys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", hold],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as other:
            other.stdout.readline()
            with self.daemon("--standby-workers=0") as server:
                reply = self.run_job(server)
            other.stdin.close()
        shared = self.criterion(reply, "other-processes")
        self.expect("a second process on the GPU is flagged, or unknown is "
                    "said", not shared["met"] or
                    "unknown" in shared["observed"], shared["observed"])

    def visible_devices_are_respected(self):
        uuid = nvidia_smi("gpu=uuid")[0]
        for value in ["0", uuid]:
            with self.daemon("--standby-workers=0",
                             CUDA_VISIBLE_DEVICES=value) as server:
                reply = self.run_job(server)
                self.expect(f"CUDA_VISIBLE_DEVICES={value} works",
                            self.is_whole(reply))
        for value in ["", "-1", "MIG-00000000-0000-0000-0000-000000000000"]:
            with self.daemon("--standby-workers=0",
                             CUDA_VISIBLE_DEVICES=value) as server:
                devices = json.loads(server.cli("devices", "--json"))
                ids = [device["name"] for device in devices["devices"]]
                self.expect(f"CUDA_VISIBLE_DEVICES={value!r} leaves the CPU",
                            ids == ["cpu"], ids)

    @staticmethod
    def gpus_of_processes():
        """{pid: the GPUs that it holds memory of}."""
        gpus = {}
        for line in nvidia_smi("compute-apps=pid,gpu_uuid"):
            pid, gpu = line.split(", ")
            gpus.setdefault(pid, set()).add(gpu)
        return gpus

    def work_on_one_gpu_leaves_the_others_alone(self):
        if len(nvidia_smi("gpu=uuid")) < 2:
            print("skipped work_on_one_gpu_leaves_the_others_alone: there is "
                  "one GPU", flush=True)
            return
        for standby in ["1", "0"]:
            with self.daemon(f"--standby-workers={standby}") as server:
                job = json.loads(server.cli(
                    "run", "two_streams", "--variant", "two_streams",
                    "--device", "gpu1", "--timed-steps", "100000", "--detach",
                    "--json"))["name"]
                self.wait(server, job, lambda job: job.get("progress", {}).get(
                    "phase") == "timed")
                gpus = self.gpus_of_processes()
                server.cli("cancel", job)
                self.expect(
                    f"with {standby} standby workers each is on one GPU",
                    bool(gpus) and all(len(of) == 1 for of in gpus.values()),
                    gpus)

    def run(self):
        for check in [self.many_jobs_leak_nothing,
                      self.a_worker_killed_in_each_phase_frees_the_gpu,
                      self.a_hung_worker_is_killed,
                      self.another_process_on_the_gpu_is_flagged,
                      self.visible_devices_are_respected,
                      self.work_on_one_gpu_leaves_the_others_alone]:
            if not re.search(self.args.only, check.__name__):
                continue
            try:
                check()
            except (RuntimeError, KeyError, OSError, StopIteration) as error:
                self.expect(check.__name__, False, repr(error))
        return self.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=HERE.parents[1] / "bin",
                        type=pathlib.Path)
    parser.add_argument("--jobs", default=200, type=int)
    parser.add_argument("--device", default="gpu0")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="checks whose function it finds")
    args = parser.parse_args()
    if nvidia_smi("gpu=uuid") is None:
        print("Result: skipped, there is no nvidia-smi")
        return SKIPPED
    return Checks(args).run()


if __name__ == "__main__":
    sys.exit(main())
