#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs programs and the libraries they need into one relocatable tarball.

usage: bundle.py [--strip PROGRAM] MANIFEST OUTPUT.tar.gz

A line of the manifest (cmake/Bundle.cmake writes it) is KIND, FROM and TO,
separated by tabs: `program` is stripped, gets a run path relative to itself
and brings its libraries along; `file` is copied; `link` is a symbolic link TO
that points to FROM. The same input makes the same bytes.
"""

import argparse
import gzip
import io
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile

TOP = "traza-bundle"  # the folder that the tarball unpacks to
LIBRARY_DIR = "lib/traza"
MAX_BYTES = 50_000_000

# What any host has that can run a C++ program: glibc, and the runtime of GCC.
BASE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
        "librt.so.1", "ld-linux-x86-64.so.2", "libgcc_s.so.1",
        "libstdc++.so.6"}
# What comes with the host's PyTorch; bin/traza-env says where it is.
HOST = {"libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libc10.so",
        "libc10_cuda.so", "libcupti.so.13", "libcudart.so.13",
        "libnvrtc.so.13"}

# 2000-01-01: tar warns about times before 1970 and near it.
MTIME = int(os.environ.get("SOURCE_DATE_EPOCH", 946684800))

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29


class Elf:
    """The dynamic section of a 64-bit little-endian ELF file in memory."""

    def __init__(self, name, data):
        self.name = name
        self.data = bytearray(data)
        if self.data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"bundle: {name} is no 64-bit little-endian ELF file")
        table, = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        self.loads = []
        self.dynamic = []  # (position, tag, value)
        for position in range(table, table + size * count, size):
            kind, = struct.unpack_from("<I", self.data, position)
            offset, address, _, length = struct.unpack_from(
                "<QQQQ", self.data, position + 8)
            if kind == PT_LOAD:
                self.loads.append((offset, address, length))
            elif kind == PT_DYNAMIC:
                self.dynamic = [
                    (at, *struct.unpack_from("<QQ", self.data, at))
                    for at in range(offset, offset + length, 16)]
        self.strings = next((self.offset(value) for _, tag, value
                             in self.dynamic if tag == DT_STRTAB), 0)

    def offset(self, address):
        for offset, start, length in self.loads:
            if start <= address < start + length:
                return address - start + offset
        sys.exit(f"bundle: {self.name}: no segment holds {address:#x}")

    def string(self, value):
        start = self.strings + value
        return self.data[start:self.data.index(0, start)].decode()

    def needed(self):
        return [self.string(value) for _, tag, value in self.dynamic
                if tag == DT_NEEDED]

    def run_paths(self):
        return [entry for entry in self.dynamic
                if entry[1] in (DT_RPATH, DT_RUNPATH)]

    def set_run_path(self, path):
        """As RPATH: unlike RUNPATH, it also counts for the libraries of the
        libraries, and ours have none of their own."""
        entries = self.run_paths()
        if len(entries) != 1:
            sys.exit(f"bundle: {self.name} has {len(entries)} run paths")
        position, _, value = entries[0]
        room = len(self.string(value))
        if len(path) > room:
            sys.exit(f"bundle: {self.name}: its run path has room for {room} "
                     f"characters, {path} has {len(path)}; link it with that")
        start = self.strings + value
        self.data[start:start + room] = path.encode().ljust(room, b"\0")
        struct.pack_into("<Q", self.data, position, DT_RPATH)


def run(*command, check=True):
    environment = {k: v for k, v in os.environ.items()
                   if k != "LD_LIBRARY_PATH"} | {"LC_ALL": "C"}
    return subprocess.run(command, check=check, stdout=subprocess.PIPE,
                          text=True, env=environment).stdout


def stripped(path, strip):
    if not strip:
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "stripped")
        run(strip, "--strip-all", "-o", copy, str(path))
        return pathlib.Path(copy).read_bytes()


def libraries_of(program):
    """Name -> path of everything that the loader finds for `program`."""
    found = {}
    for line in run("ldd", str(program)).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            found[match[1]] = pathlib.Path(match[2])
    return found


def add_libraries(elf, program, libraries):
    """Adds what `elf` needs, directly and not, and the host lacks."""
    found = libraries_of(program)
    todo = elf.needed()
    while todo:
        name = todo.pop()
        if name in BASE or name in HOST or name in libraries:
            continue
        if name not in found:
            sys.exit(f"bundle: {program} needs {name}, which is not found")
        library = Elf(name, found[name].read_bytes())
        for _, _, value in library.run_paths():
            if not library.string(value).startswith("$ORIGIN"):
                sys.exit(f"bundle: {name} has run path {library.string(value)}")
        libraries[name] = found[name]
        todo += library.needed()


def licences_of(paths):
    """Name -> text of the licences of what `paths` were installed by."""
    licences = {}
    debian = []
    for path in paths:
        package = path.parent.name
        texts = sorted(path.parent.parent.glob(
            f"{package}-*.dist-info/licenses/LICENSE*"))
        if texts:  # a wheel
            licences[package] = texts[0].read_bytes()
        else:
            debian.append(f"*/{path.resolve().name}")
    if debian and shutil.which("dpkg-query"):
        found = run("dpkg-query", "-S", *debian, check=False)
        for line in found.splitlines():
            owner = line.split(":")[0]
            text = pathlib.Path("/usr/share/doc", owner, "copyright")
            if text.exists():
                licences[owner] = text.read_bytes()
    return licences


def newest_glibc(paths):
    """The version of glibc that the files ask for."""
    text = run("readelf", "--wide", "--version-info", *map(str, paths))
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", text)
    return ".".join(map(str, max((int(a), int(b)) for a, b in versions)))


class Tree:
    """What goes into the tarball."""

    def __init__(self):
        self.entries = {}  # name -> (mode, bytes), or the target of a link

    def add(self, name, data, executable=False):
        self.entries[name] = (0o755 if executable else 0o644, bytes(data))

    def link(self, name, target):
        self.entries[name] = target

    def folders(self):
        return {str(parent) for name in self.entries
                for parent in pathlib.PurePosixPath(name).parents} - {"."}

    def write(self, path):
        with open(path, "wb") as file, \
                gzip.GzipFile("", "wb", 6, file, mtime=MTIME) as packed, \
                tarfile.open(fileobj=packed, mode="w",
                             format=tarfile.GNU_FORMAT) as tar:
            for name in sorted([*self.entries, *self.folders(), ""]):
                self.write_entry(tar, name)

    def write_entry(self, tar, name):
        info = tarfile.TarInfo(f"{TOP}/{name}".rstrip("/"))
        info.mtime = MTIME
        entry = self.entries.get(name)
        if entry is None:
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(info)
        elif isinstance(entry, str):
            info.type, info.linkname = tarfile.SYMTYPE, entry
            tar.addfile(info)
        else:
            info.mode, data = entry
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def read_manifest(path):
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines
                if line.strip()]


def collect(manifest, strip):
    tree = Tree()
    libraries = {}
    programs = []
    for kind, source, name in manifest:
        path = pathlib.Path(source)
        if kind == "link":
            tree.link(name, source)
        elif kind == "file":
            tree.add(name, path.read_bytes(),
                     executable=bool(path.stat().st_mode & stat.S_IXUSR))
        else:
            elf = Elf(name, stripped(path, strip))
            add_libraries(elf, path, libraries)
            up = os.path.relpath(LIBRARY_DIR, os.path.dirname(name))
            elf.set_run_path(f"$ORIGIN/{up}")
            tree.add(name, elf.data, executable=True)
            programs.append(path)
    for name, path in libraries.items():
        tree.add(f"{LIBRARY_DIR}/{name}", path.read_bytes())
    for owner, text in licences_of(libraries.values()).items():
        tree.add(f"share/doc/third-party/{owner}", text)
    version = newest_glibc([*programs, *libraries.values()])
    tree.add("share/traza/glibc", f"{version}\n".encode())
    return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strip", help="binutils' strip")
    parser.add_argument("manifest")
    parser.add_argument("output")
    arguments = parser.parse_args()
    tree = collect(read_manifest(arguments.manifest), arguments.strip)
    partial = f"{arguments.output}.partial"
    tree.write(partial)
    size = os.path.getsize(partial)
    if size >= MAX_BYTES:
        sys.exit(f"bundle: {size / 1e6:.1f} MB, the limit is "
                 f"{MAX_BYTES / 1e6:.0f} MB; it is kept as {partial}")
    os.replace(partial, arguments.output)
    print(f"{arguments.output}: {size / 1e6:.1f} MB, {len(tree.entries)} files")


if __name__ == "__main__":
    main()
