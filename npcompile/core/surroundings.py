"""What a compiler needs around it: LLVM, memory, files, a machine that entries are written for.

Where something of it is missing or fails, functions run in Python, and one warning in a process
says why.
"""

from __future__ import annotations

import sys
import warnings

from npcompile.core.config import strict
from npcompile.core.errors import Refusal, Refused
from npcompile.core.sections import from_handler
from npcompile.core.unseen import is_unseen

_told = ""  #: the construct of the refusal that the process was warned of


class Unusable(Refused):
    """Nothing can be compiled in this process."""


class Postponed(Refused):
    """Nothing can be compiled at this moment."""


def why(error: Exception) -> Refusal | None:
    """Why a call is left to Python after an error of the compiler's; None: it is to be raised."""
    if isinstance(error, Unusable):
        _tell(error.refusal)
    elif not isinstance(error, Refused):
        if from_handler(error):
            return None
        what = f"failed with {type(error).__name__}: {error}"
        if isinstance(error, (MemoryError, OSError)) or (
                isinstance(error, ImportError) and not strict()):
            _tell(found := Refusal("compiler", what))
            return found
        hint = "NPCOMPILE_STRICT=1 raises it"
        return None if strict() else Refusal("compiler", what, hint=hint)
    return error.refusal


def _tell(refusal: Refusal) -> None:
    """Warns once in a process."""
    global _told
    if not _told:
        _told = refusal.construct
        text = f"npcompile leaves functions to Python: {refusal}"
        warnings.warn(text, RuntimeWarning, stacklevel=_depth())


def is_told(refusal: Refusal) -> bool:
    """Whether the process was warned of what a refusal is about."""
    return refusal.construct == _told


def _depth() -> int:
    """The ``stacklevel`` of a warning about the innermost frame that is not npcompile's."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("npcompile."):
        frame = frame.f_back
        depth += not is_unseen(frame.f_code)
    return depth
