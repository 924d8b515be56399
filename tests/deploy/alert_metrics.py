#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every metric that an alert reads is one that server/metrics exports, and
every alert has its section in the runbook.

usage: alert_metrics.py ROOT
"""

import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def main():
    root = sys.argv[1]
    rules = read(os.path.join(root, "deploy/prometheus/alerts.yaml"))
    folder = os.path.join(root, "server/metrics")
    table = "".join(read(os.path.join(folder, name))
                    for name in sorted(os.listdir(folder))
                    if name.endswith((".cc", ".h")))
    runbook = read(os.path.join(root, "docs/operations.md"))
    faults = []
    for metric in sorted(set(re.findall(r"\b(?:traza|grpc)_\w+", rules))):
        family = re.sub(r"_(bucket|sum|count)$", "", metric)
        if f'"{family}"' not in table:
            faults.append(f"{metric}: not in server/metrics")
    for alert in re.findall(r"- alert: (\w+)", rules):
        if not re.search(rf"^#+ {alert}$", runbook, re.MULTILINE):
            faults.append(f"{alert}: no section in docs/operations.md")
        if f"operations.md#{alert.lower()}\n" not in rules:
            faults.append(f"{alert}: its runbook_url does not name its section")
    print("\n".join(faults) or "every metric and every section exists")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
