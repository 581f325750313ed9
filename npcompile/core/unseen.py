"""Functions of ours between a caller and the function that it calls, as `warnings`, `logging` and
readers of tracebacks see them: not at all."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TypeVar

from npcompile.core.config import full_tracebacks

_F = TypeVar("_F")
#: what ``stacklevel=`` of :func:`warnings.warn` and of loggers does not count: frames of files with
#: these words in their names, since the import system stands between modules like that
_SKIPPED = " (as importlib._bootstrap)"


def unseen(thing: _F) -> _F:
    """Lets ``stacklevel=2`` in a function that this one, or a method of this class, calls mean
    whoever calls this one.

    Examples
    --------
    >>> import warnings
    >>> def careful():
    ...     warnings.warn("careful", stacklevel=2)
    >>> call = unseen(lambda: careful())
    >>> with warnings.catch_warnings(record=True) as told:
    ...     call()
    >>> call.__code__.co_filename in told[0].filename
    False
    """
    found = list(vars(thing).values()) if isinstance(thing, type) else [thing]
    for held in found:
        if isinstance(held, FunctionType):
            held.__code__ = _renamed(held.__code__)
    return thing


def _renamed(code: CodeType) -> CodeType:
    inner = tuple([_renamed(c) if isinstance(c, CodeType) else c for c in code.co_consts])
    return code.replace(co_filename=code.co_filename + _SKIPPED, co_consts=inner)


def is_unseen(code: CodeType) -> bool:
    """Whether ``stacklevel`` does not count a frame of this code."""
    return code.co_filename.endswith(_SKIPPED)


def forget_frames(error: BaseException) -> None:
    """Takes the frames of unseen functions from the head of an exception's traceback.

    An ``except`` clause that calls this and ends with a bare ``raise`` leaves no trace of its own
    function: Python adds a frame where an exception arises or arrives, not where it is raised
    again.  ``NPCOMPILE_FULL_TRACEBACKS=1`` keeps all frames.
    """
    trace = error.__traceback__
    while trace is not None and is_unseen(trace.tb_frame.f_code):
        trace = trace.tb_next
    if not full_tracebacks():
        error.with_traceback(trace)
