"""What the public namespaces hold beside NumPy's own objects, built from the records."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from npcompile.api.ufuncs import ufunc
from npcompile.ops.index import EAGER
from npcompile.ops.record import OPERATORS, Op


@cache
def elementary() -> dict[str, Op]:
    """Records whose loops are programs of our own, by NumPy's name."""
    return {name: OPERATORS[name] for name in EAGER}


@cache
def of_numpy(name: str) -> Any:
    """One of NumPy's ufuncs over compiled loops."""
    return ufunc(elementary()[name])


@cache
def special() -> dict[str, Op]:
    """Records by their name in scipy.special."""
    found = {}
    for op in OPERATORS.values():
        for alias in op.aliases:
            module, _, name = alias.partition(":")
            if module == "scipy.special":
                found[name] = op
    return found


@cache
def of_special(name: str) -> Any:
    """A function of ``npcompile.special``: compiled if it has a record, else SciPy's own."""
    # first of all, since importing a module of the room asks for its name while records are made
    if name not in names_of_special():
        raise AttributeError(f"module 'npcompile.special' has no attribute {name!r}")
    op, found = special().get(name), getattr(importlib.import_module("scipy.special"), name)
    if op is not None and op.kind.name == "elementwise":
        return ufunc(op, found if isinstance(found, np.ufunc) else None)
    return found


@cache
def names_of_special() -> tuple[str, ...]:
    """All public functions of scipy.special."""
    library = importlib.import_module("scipy.special")
    return tuple(sorted({*library.__all__} - {"test"}))
