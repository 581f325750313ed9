"""``check=True``: every call runs also in Python, on copies, and the outcomes are compared."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.core.errors import CheckError
from npcompile.core.unseen import unseen
from npcompile.tensors import memory

#: relative tolerance where transcendental functions or libraries are involved
TOLERANCE = {"f": 1e-4, "F": 1e-4, "e": 1e-2}


@unseen
def checked(
    plain: Callable[..., Any],
    compiled: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    exact: Callable[[], bool],
) -> Any:
    """The compiled call's outcome, after comparing it with the plain one's on copies.

    Parameters
    ----------
    plain, compiled
        The two ways to call the function.
    args, kwargs
        The call's arguments; the compiled call gets these, the plain one copies.
    exact
        Whether the results must be equal bit for bit, asked after both calls.

    Raises
    ------
    CheckError
        If result, exception or a mutated argument differs.
    """
    theirs = copy.deepcopy((args, kwargs))
    state, other = np.random.get_state(), random.getstate()
    want, want_error = _outcome(plain, *theirs)
    np.random.set_state(state)  # both runs draw the same numbers
    random.setstate(other)
    got, got_error = _outcome(compiled, args, kwargs)
    rtol = 0.0 if exact() else 1e-9
    if type(got_error) is not type(want_error) or str(got_error) != str(want_error):
        raise CheckError(f"raised {got_error!r}, Python {want_error!r}") from got_error
    text = difference(got, want, "result", rtol) if want_error is None else ""
    text = text or difference(args, theirs[0], "arguments", rtol)
    text = text or difference(kwargs, theirs[1], "keyword arguments", rtol)
    if text:
        raise CheckError(text)
    if got_error is not None:
        raise got_error
    return got


@unseen
def _outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Any]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def difference(got: Any, want: Any, where: str, rtol: float) -> str:
    """What differs between two values, or an empty string; NaN equals NaN."""
    if type(got) is not type(want):
        return f"{where}: type {type(got).__name__}, Python gives {type(want).__name__}"
    if memory.is_torch(want) and not memory.refused(want):
        return difference(memory.lend(got), memory.lend(want), where, rtol or 1e-9)
    if isinstance(want, np.ndarray) and (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{where}: {got.dtype}{got.shape}, Python gives {want.dtype}{want.shape}"
    if isinstance(want, (np.ndarray, np.generic, float, complex)):
        same = equal(np.asarray(got), np.asarray(want), rtol)
        return "" if same else f"{where}: {got!r}, Python gives {want!r}"
    if isinstance(want, dict):
        return difference(list(got.items()), list(want.items()), where, rtol)
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            return f"{where}: length {len(got)}, Python gives {len(want)}"
        parts = (
            difference(g, w, f"{where}[{k}]", rtol) for k, (g, w) in enumerate(zip(got, want))
        )
        return next(filter(None, parts), "")
    if isinstance(want, (int, str, bytes, type(None))):
        return "" if got == want else f"{where}: {got!r}, Python gives {want!r}"
    return ""  # other objects are Python's own


def equal(got: Any, want: Any, rtol: float) -> bool:
    """Whether arrays are equal: bit for bit but for NaN's payload, or within a tolerance."""
    if want.dtype.kind == "c":
        return equal(got.real, want.real, rtol) and equal(got.imag, want.imag, rtol)
    if want.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    if rtol:
        rtol = TOLERANCE.get(want.dtype.char, rtol)
        return bool(np.allclose(got, want, rtol=rtol, atol=rtol * 1e-3, equal_nan=True))
    known = ~np.isnan(want)
    return bool(
        np.array_equal(known, ~np.isnan(got))
        and np.array_equal(got[known], want[known])
        and np.array_equal(np.signbit(got[known]), np.signbit(want[known]))
    )
