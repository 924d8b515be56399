#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resident memory of an idle trazad, and over many jobs.

usage: bench/daemon_memory.py [BIN_DIR] [JOBS]
"""

import sys

from daemon import Daemon


def main():
    bin_dir = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin"
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with Daemon(bin_dir, "--standby-workers=1") as daemon:
        print(f"idle {daemon.resident_bytes() / 1e6:.1f} MB")
        for job in range(1, jobs + 1):
            daemon.cli("run", "matmul_add", "-p", "size=64")
            if job == 1 or job % max(1, jobs // 10) == 0:
                print(f"after {job} jobs "
                      f"{daemon.resident_bytes() / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
