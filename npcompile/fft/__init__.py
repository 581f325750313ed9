"""Fourier transforms, beside the names of ``numpy.fft``."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from numpy import fft

    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'npcompile.fft' has no attribute {name!r}")
    return getattr(fft, name)
