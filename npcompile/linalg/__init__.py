<<<<<<< HEAD
"""Linear algebra: records and algorithms, beside the names of ``numpy.linalg``."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from numpy import linalg

    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'npcompile.linalg' has no attribute {name!r}")
    return getattr(linalg, name)
=======
"""Linear algebra: importing this room adds the records of :mod:`numpy.linalg`."""

from npcompile.linalg import factorisations

__all__ = ["factorisations"]
>>>>>>> e4d1ded (Solve, invert, factorise in compiled code by LAPACK pointers)
