"""npcompile: compiles existing NumPy functions to machine code, unmodified and at once.

>>> import numpy as np
>>> from npcompile import jit
>>> @jit
... def norm(x, y):
...     return np.sqrt(x * x + y * y)
>>> norm(np.array([3.0, 5.0]), np.array([4.0, 12.0]))
array([ 5., 13.])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npcompile.api.determinism import deterministic, use_deterministic_algorithms
    from npcompile.api.jit import Jit, jit
    from npcompile.core.errors import CheckError, CompileError, DeterminismError
    from npcompile.core.logs import set_logs

__version__ = "0.1.0"

__all__ = [
    "CheckError",
    "CompileError",
    "DeterminismError",
    "Jit",
    "deterministic",
    "jit",
    "set_logs",
    "use_deterministic_algorithms",
]

#: where the public names live; each is imported when it is first used
_HOMES = {
    "CheckError": "core.errors",
    "CompileError": "core.errors",
    "DeterminismError": "core.errors",
    "Jit": "api.jit",
    "deterministic": "api.determinism",
    "jit": "api.jit",
    "set_logs": "core.logs",
    "use_deterministic_algorithms": "api.determinism",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'npcompile' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"npcompile.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
