"""Loads the routines of linear algebra: generated once per dtype, kept on disk like the rest."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache

import numpy as np

from npcompile.backends.cpu import blas, products
from npcompile.backends.cpu.compile import Loaded, Target, load, target
from npcompile.runtime import memory
from npcompile.runtime.cache import compiled

_lock = threading.Lock()


def addresses(dtypes: Iterable[str]) -> dict[str, int]:
    """The routines for some dtypes, by the names that generated code has for them."""
    found: dict[str, int] = {}
    for name in dtypes:
        memory.ensure()
        with _lock:
            found |= _routines(name, target()).addresses
    return found


@cache
def _routines(name: str, machine: Target) -> Loaded:
    library = blas.library()
    code = compiled(products.text(np.dtype(name), machine, library))
    return load(code, blas.Addresses(library))
