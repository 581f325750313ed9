"""Linear algebra: records and algorithms, beside the names of ``numpy.linalg``."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from numpy import linalg

    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'npcompile.linalg' has no attribute {name!r}")
    return getattr(linalg, name)
