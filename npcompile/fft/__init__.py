"""Fourier transforms: plans and their algorithms, and the functions of ``numpy.fft``.

>>> import numpy as np, npcompile
>>> npcompile.fft.fft([1.0, 0.0, 0.0, 0.0]).real
array([1., 1., 1., 1.])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

#: what fills this namespace lies above it
_FUNCTIONS = "npcompile.api.fourier"

if TYPE_CHECKING:
    from numpy.fft import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return list(np.fft.__all__)
        if name.startswith("_") or not hasattr(np.fft, name):
            raise AttributeError(f"module 'npcompile.fft' has no attribute {name!r}")
        theirs = getattr(np.fft, name)
        ours = importlib.import_module(_FUNCTIONS)
        made = globals()[name] = getattr(ours, name, theirs) if name in np.fft.__all__ else theirs
        return made


def __dir__() -> list[str]:
    return sorted({*globals(), *np.fft.__all__})
