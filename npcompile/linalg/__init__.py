"""Linear algebra: records and algorithms, and the functions of ``numpy.linalg``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

#: what fills this namespace lies above it
_FUNCTIONS = "npcompile.api.linear_algebra"

if TYPE_CHECKING:
    from numpy.linalg import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        from numpy import linalg

        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module 'npcompile.linalg' has no attribute {name!r}")
        theirs = getattr(linalg, name)
        if name not in linalg.__all__:
            return theirs
        ours = importlib.import_module(_FUNCTIONS).FUNCTIONS
        made = globals()[name] = ours.get(name, theirs)
        return made
