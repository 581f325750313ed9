"""The versions, the machine and the settings that compiled code depends on."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pprint import pprint
from typing import Any

import numpy as np

#: the packages whose versions matter
PACKAGES = ("npcompile", "numpy", "scipy", "llvmlite", "triton", "cupy", "torch")


def found() -> Iterator[tuple[str, str]]:
    """Names and values, in the order in which they are printed."""
    from npcompile.backends.cpu.loader.compile import target
    from npcompile.core.surroundings import Unusable
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
        try:
            yield "processor", target().cpu
            yield "vector width", f"{target().width * 8} bits"
        except Unusable as unusable:
            yield "compiler", str(unusable)
    yield "threads", f"{get_num_threads()} of {os.cpu_count()} processors"
    disk = DiskCache().info()
    state = disk.reason or f"{disk.entries} files, {disk.bytes / 1e6:.1f} MB"
    yield "cache", f"{disk.path} ({state})"
    for name, value in sorted(os.environ.items()):
        if name.startswith("NPCOMPILE_") or name == "OMP_NUM_THREADS":
            yield name, value


def show_config(mode: str = "stdout") -> Any:
    """Show how NumPy was built, and what npcompile compiles with.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, optional
        ``"stdout"`` prints; ``"dicts"`` returns a dictionary.

    Returns
    -------
    dict or None
        That of `numpy.show_config`, with the key ``"npcompile"`` more.
    """
    theirs: Any = np.show_config(mode)  # type: ignore[call-overload]
    if theirs is not None:
        return {**theirs, "npcompile": dict(found())}
    print("npcompile:")
    for name, value in found():
        print(f"  {name}: {value}")
    return None


def show_runtime() -> None:
    """Print what `numpy.show_runtime` does, and the versions, threads and cache of npcompile."""
    np.show_runtime()
    pprint([{"npcompile": dict(found())}])
