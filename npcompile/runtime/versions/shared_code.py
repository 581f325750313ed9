"""Machine code that programs share, subprograms and kernels in stock: compiled once, kept on disk,
loaded when the first caller is."""

from __future__ import annotations

from collections.abc import Callable

from npcompile.backends import cpu
from npcompile.backends.cpu.kernels import vector_subprograms
from npcompile.backends.cpu.loader.symbols import STOCK, SUBPROGRAM
from npcompile.backends.target import Target
from npcompile.graph.subprograms import SUBPROGRAMS
from npcompile.ops.record import OPERATORS
from npcompile.runtime.cache.disk import DiskCache, Record, environment, fingerprint


def address(what: str) -> int:
    """Where a subprogram is; ``what`` is its name and number of lanes: ``gammainc.8``."""
    name, _, count = what.partition(".")
    lanes = int(count)
    request = next((w for w in ("scalar", "avx2") if cpu.target(w).width == 8 * lanes), "default")

    def text(target: Target) -> str:
        if name not in SUBPROGRAMS:  # which the modules that define records define
            list(OPERATORS.values())
        return vector_subprograms.emit(SUBPROGRAMS[name], target, lanes)

    return _address(f"{SUBPROGRAM}.{what}", request, text)


def stock_address(what: str) -> int:
    """Where a kernel in stock is; ``what`` is its name, which begins with the width of registers.
    """
    width, name = int(what.partition(".")[0]), f"{STOCK}.{what}"
    request = next(w for w in ("default", "avx2", "scalar") if cpu.target(w).width == width)

    def text(target: Target) -> str:
        from npcompile.backends.cpu.kernels import kernel_functions  # only who compiles needs them

        return kernel_functions.stock_text(name, target)

    return _address(name, request, text)


def function(name: str, module: str, text: Callable[[Target], str]) -> int:
    """Where a function of a module of its own is."""
    return _address(module, "default", text, name)


def _address(name: str, request: str, text: Callable[[Target], str], of: str = "") -> int:
    """Where a function is; the text of its module is made where it is not on disk: writing it takes
    longer than loading it."""
    store = DiskCache()
    key = fingerprint("shared", name, environment(request), cpu.compiler_version()).encode()
    found = store.get(key)
    if found is not None:
        code = found.object
    else:
        target = cpu.target(request)
        code = cpu.compile(text(target), target)
        store.put(key, Record(code, {}))
    return cpu.lasting(code)[of or name]
