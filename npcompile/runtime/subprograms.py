"""Machine code of subprograms: compiled once, kept on disk, loaded when the first caller is."""

from __future__ import annotations

import importlib
from functools import cache

from npcompile.backends import cpu
from npcompile.backends.cpu import subprograms, symbols
from npcompile.backends.cpu.scalar import SUBPROGRAM
from npcompile.graph.subprograms import SUBPROGRAMS
from npcompile.runtime.cache import Record, Store, environment, fingerprint

_kept: list[cpu.Loaded] = []


def address(what: str) -> int:
    """Where a subprogram is; ``what`` is its name and number of lanes: ``gammainc.8``."""
    name, _, count = what.partition(".")
    lanes = int(count)
    wish = "avx2" if lanes == cpu.target("avx2").width // 8 else "default"
    loaded = cpu.load(_code(name, wish, lanes))
    _kept.append(loaded)
    return loaded[f"{SUBPROGRAM}.{what}"]


def _code(name: str, wish: str, lanes: int) -> bytes:
    """The object, from the disk if it is there: writing its text takes longer than loading it."""
    store = Store()
    what = f"{name}.{lanes}"
    key = fingerprint("subprogram", what, environment(wish), cpu.compiler_version()).encode()
    found = store.get(key)
    if found is not None:
        return found.object
    importlib.import_module("npcompile.special.library")
    target = cpu.target(wish)
    code = cpu.compile(subprograms.emit(SUBPROGRAMS[name], target, lanes), target)
    store.put(key, Record(code, {}))
    return code


@cache
def ensure() -> None:
    """Subprograms are found from now on."""
    symbols.provide(SUBPROGRAM, address)
