"""``npcompile info``: the versions, the machine and the settings that compiled code depends on."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

#: the packages whose versions matter
PACKAGES = ("npcompile", "numpy", "scipy", "llvmlite", "triton", "cupy", "torch")


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments: it has none."""


def main(options: argparse.Namespace) -> int:
    """Prints one line for each fact."""
    facts = list(found())
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"{name:{width}}  {value}")
    return 0


def found() -> Iterator[tuple[str, str]]:
    """Names and values, in the order in which they are printed."""
    from npcompile.backends.cpu.loader.compile import target
    from npcompile.runtime.cache.disk import DiskCache
    from npcompile.runtime.threads.pool import get_num_threads
    from npcompile.runtime.unsafe.layout import supported, unsupported

    implementation = platform.python_implementation()
    yield "Python", f"{platform.python_version()} ({implementation}, {sys.executable})"
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "compiles here", "yes" if supported() else f"no: {unsupported()}"
    if supported():
        yield "processor", target().cpu
        yield "vector width", f"{target().width * 8} bits"
    yield "threads", f"{get_num_threads()} of {os.cpu_count()} processors"
    disk = DiskCache().info()
    state = disk.reason or f"{disk.entries} files, {disk.bytes / 1e6:.1f} MB"
    yield "cache", f"{disk.path} ({state})"
    for name, value in sorted(os.environ.items()):
        if name.startswith("NPCOMPILE_") or name == "OMP_NUM_THREADS":
            yield name, value
