#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the layers: which folder may include which, and who may see what.

usage: check_layers.py [ROOT]

Prints FILE:LINE: MESSAGE for each include that the tables below do not allow
and exits with 1 if there is one. The link lists of CMake say the same, but all
folders share one include root, so a bad include would compile.
"""

import os
import re
import sys

TRACE = ["trace", "trace/file", "trace/correlate", "trace/analysis",
         "trace/render", "trace/export"]
SERVER = ["server/store", "server/metrics", "server/host"]

# Folder (or file stem) -> what it may include besides itself. The longest
# entry that matches a path counts. "proto" is what protoc generates.
LAYERS = {
    "base": [],
    "spec": ["base"],
    # The phases of a job are words that worker, trace and daemon share.
    "spec/phase": ["base"],
    "trace": ["spec/phase", "base"],
    "trace/header": ["trace", "spec", "base"],
    # Its importer of foreign traces ties their records together.
    "trace/file": ["trace", "trace/correlate", "trace/analysis", "spec",
                   "base"],
    "trace/correlate": ["trace", "spec/phase", "base"],
    "trace/analysis": ["trace", "spec/phase", "base"],
    "trace/render": ["trace", "trace/analysis", "spec/phase", "base"],
    "trace/export": ["trace", "trace/analysis", "spec/phase", "base"],
    "workloads": ["spec", "base"],
    "worker": ["workloads", *TRACE, "spec", "base"],
    "api": ["spec", *TRACE, "proto", "base"],
    "server/store": ["spec", *TRACE, "base"],
    "server/metrics": ["spec", "base"],
    "server/host": ["spec", "base"],
    "server/jobs": ["api", "spec", *TRACE, "base", *SERVER],
    "server/rpc": ["server/jobs", *SERVER, "api", "proto", *TRACE, "spec",
                   "base"],
    "server/http": ["server/jobs", *SERVER, "api", "proto", *TRACE, "spec",
                    "base"],
    "server": ["server/rpc", "server/http", "server/jobs", *SERVER, "api",
               "proto", *TRACE, "spec", "base"],
    "client": ["api", "proto", *TRACE, "spec", "base"],
}

# Tests and benches look at every room, but not into each other.
OUTSIDE = ["tests", "bench"]
ROOMS = sorted({folder.split("/")[0] for folder in LAYERS} | set(OUTSIDE))

# Third party: includes that match the first pattern only in files that match
# the second.
THIRD_PARTY = [
    ("torch", r"(torch|ATen|c10|caffe2|kineto)/|libkineto\.h|ActivityType\.h",
     r"workloads/[^/]*\.cc|worker/(gpu_roofs|l2_flush|op_recorder|torch_runtime)\.cc|bench/"
     r"|tests/(gpu|worker|workloads)/.*\.cc"),
    ("CUDA", r"cupti\w*\.h|cuda\w*\.h|nvml\.h|nvrtc\.h",
     r"worker/cupti/.*|tests/worker/cupti/.*|tests/gpu/.*"
     r"|trace/analysis/occupancy\.cc|bench/|tests/base/nvml_abi_test\.cc"),
    ("Arrow", r"(arrow|parquet)/", r"trace/file/|tests/trace/file/"),
    ("SQLite", r"sqlite3\.h", r"server/store/sqlite\.cc"),
    ("prometheus-cpp", r"prometheus/", r"server/metrics/"),
    ("gRPC", r"(grpc|grpcpp)/|.*\.grpc\.pb\.h",
     r"server/rpc/|server/daemon\.cc|client/|tests/|bench/"),
    ("protobuf", r"google/protobuf/",
     r"api/|server/(rpc|http)/|client/|tests/|bench/"),
    ("cpp-httplib", r"httplib\.h", r"server/http/|tests/"),
    ("nlohmann-json", r"nlohmann/",
     r"spec/|trace/header\.|trace/render/|worker/|client/|server/http/"
     r"|server/store/job_json\.cc|bench/|tests/"),
    ("CLI11", r"CLI/",
     r"server/(options|main)\.cc|client/|worker/(main|options)\.cc|bench/"),
    ("RE2", r"re2/", r"trace/analysis/name_pattern\.cc"),
    ("OpenSSL", r"openssl/", r"base/file\.cc"),
    ("simdjson", r"simdjson\.h", r"trace/file/"),
    ("zlib", r"zlib\.h", r"trace/file/|bench/|tests/trace/file/"),
    ("zstd", r"zstd\.h", r"trace/file/"),
    ("GoogleTest", r"(gtest|gmock)/", r"tests/"),
    ("google-benchmark", r"benchmark/", r"bench/"),
    ("Abseil", r"absl/", r""),
]

# Where generated headers are included from.
GENERATED = re.compile(r"(traza|google/rpc|grpc/health)/.*\.pb\.h$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE = re.compile(r"\.(h|cc|cu)$")


def layer_of(path):
    """The longest entry of LAYERS that holds `path`, or None."""
    best = None
    for layer in LAYERS:
        inside = path.startswith(layer + "/") or path.startswith(layer + ".")
        if inside and (best is None or len(layer) > len(best)):
            best = layer
    return best


def check_ours(path, included):
    """Says what is wrong with including our own header, or None."""
    room = path.split("/")[0]
    other = included.split("/")[0]
    if room == "tests":
        if other == "bench":
            return "a test does not include a bench"
        if other == "tests" and not included.startswith("tests/support/"):
            own = os.path.dirname(path) + "/"
            if not included.startswith(own):
                return "a test includes tests/support or its own folder only"
        return None
    if room == "bench":
        return None
    if other in OUTSIDE:
        return f"{room} does not include {other}"
    here, there = layer_of(path), layer_of(included)
    if there is None:
        return f"{included} is in no layer: add it to check_layers.py"
    # A folder with an entry for one of its files is still one folder.
    if here == there or os.path.dirname(path) == os.path.dirname(included):
        return None
    allowed = LAYERS[here]
    if there in allowed or os.path.dirname(included) in allowed:
        return None
    return f"{here} may not include {there}; it may: {', '.join(allowed)}"


def check_include(path, quote, included):
    """Says what is wrong with one include, or None."""
    if included.startswith("."):
        return f'relative include "{included}": write the path from the root'
    if GENERATED.match(included):
        here = layer_of(path)
        if here is not None and "proto" not in LAYERS[here]:
            return f"{here} may not include generated proto ({included})"
        if not included.endswith(".grpc.pb.h"):
            return None
    for name, pattern, where in THIRD_PARTY:
        if re.match(pattern, included):
            if quote == "<":
                return f'third party is quoted: "{included}"'
            if not re.match(where, path):
                return f"{name} ({included}) is for {where} only"
            return None
    if included.split("/")[0] in ROOMS:
        if quote == "<":
            return f'ours is quoted: "{included}"'
        return check_ours(path, included)
    if quote == '"':
        return f'unknown "{included}": system headers take <>, third party ' \
            "needs a line in check_layers.py"
    return None


def check_file(root, path):
    """Yields (line number, message) for one file, `path` relative to root."""
    with open(os.path.join(root, path), encoding="utf-8") as source:
        for number, line in enumerate(source, start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            message = check_include(path, match.group(1), match.group(2))
            if message:
                yield number, message


def source_files(root):
    """Yields the C++ files of all rooms, relative to root, sorted."""
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(root, room)):
            folders.sort()
            for name in sorted(names):
                if SOURCE.search(name):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main(arguments):
    root = arguments[1] if len(arguments) > 1 else "."
    count, bad = 0, 0
    for path in source_files(root):
        count += 1
        for number, message in check_file(root, path):
            bad += 1
            print(f"{path}:{number}: {message}")
    print(f"check_layers: {count} files, {bad} bad includes")
    if count == 0:
        print(f"check_layers: no source under {os.path.abspath(root)}")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
