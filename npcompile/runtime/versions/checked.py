"""``check=True``: every call runs also in Python, on copies, and the outcomes are compared."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.core.errors import CheckError
from npcompile.core.unseen import unseen
from npcompile.tensors import tensor_memory

#: relative tolerance where transcendental functions or libraries are involved, by the dtype of the
#: result or of its parts
TOLERANCE = {"e": 1e-2, "f": 1e-4, "d": 1e-9, "g": 1e-9}
#: what is that much smaller than a tolerance counts as 0
NOTHING = 1e-3

#: the relative tolerance of a dtype's character
Tolerance = Callable[[str], float]


@unseen
def checked(
    plain: Callable[..., Any],
    compiled: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    exact: Callable[[], bool],
    rtol: float | None = None,
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
    rtol
        The relative tolerance of all floats, in the place of what ``exact`` says.

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
    name = plain.__qualname__
    if type(got_error) is not type(want_error) or str(got_error) != str(want_error):
        raise CheckError(f"{name}: raised {got_error!r}, Python {want_error!r}") from got_error
    tolerance: Tolerance = (lambda char: rtol) if rtol is not None else (
        (lambda char: 0.0) if exact() else TOLERANCE.__getitem__)
    text = difference(got, want, "result", tolerance) if want_error is None else ""
    text = text or difference(args, theirs[0], "arguments", tolerance)
    text = text or difference(kwargs, theirs[1], "keyword arguments", tolerance)
    if text:
        raise CheckError(f"{name}: {text}")
    if got_error is not None:
        raise got_error
    return got


@unseen
def _outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Any]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def difference(got: Any, want: Any, where: str, tolerance: Tolerance) -> str:
    """Describes the difference between two values; an empty string if there is none.  NaN equals
    NaN."""
    if type(got) is not type(want):
        return f"{where}: type {type(got).__name__}, Python gives {type(want).__name__}"
    if tensor_memory.is_torch(want) and not tensor_memory.refused(want):
        lent = tensor_memory.lend(got), tensor_memory.lend(want)
        return difference(*lent, where, lambda char: tolerance(char) or TOLERANCE[char])
    if isinstance(want, np.ndarray) and (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{where}: {got.dtype}{got.shape}, Python gives {want.dtype}{want.shape}"
    if isinstance(want, (np.ndarray, np.generic, float, complex)):
        return _numbers(np.asarray(got), np.asarray(want), where, tolerance)
    if isinstance(want, dict):
        return difference(list(got.items()), list(want.items()), where, tolerance)
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            return f"{where}: length {len(got)}, Python gives {len(want)}"
        parts = (
            difference(g, w, f"{where}[{k}]", tolerance) for k, (g, w) in enumerate(zip(got, want))
        )
        return next(filter(None, parts), "")
    if isinstance(want, (int, str, bytes, type(None))):
        return "" if got == want else f"{where}: {got!r}, Python gives {want!r}"
    return ""  # other objects are Python's own


def _numbers(got: np.ndarray, want: np.ndarray, where: str, tolerance: Tolerance) -> str:
    """Which elements differ: how many, the first one's place, and by how much at most."""
    same = equal(got, want, tolerance)
    if same.all():
        return ""
    place = tuple(int(k) for k in np.argwhere(~same)[0])
    text = f"{where}{list(place) if place else ''}: {got[place]!r}, Python gives {want[place]!r}"
    if want.ndim:
        text += f"; {same.size - np.count_nonzero(same)} of {same.size} elements differ"
    if want.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            away = abs(got[~same].astype("G") - want[~same])
            ratio = away / abs(want[~same])
        finite = [np.max(x, initial=0.0, where=np.isfinite(x)) for x in (away, ratio)]
        text += f", by at most {finite[0]:.3g} (relative {finite[1]:.3g})"
        text += f"; the tolerance is {tolerance(want.real.dtype.char):.3g}"
    return text


def equal(got: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """Which elements are equal: bit for bit but for NaN's payload, or within a tolerance."""
    if want.dtype.kind == "c":
        alike = equal(got.real, want.real, tolerance)
        return np.asarray(alike & equal(got.imag, want.imag, tolerance))
    if want.dtype.kind != "f":
        return np.asarray(got == want)
    rtol = tolerance(want.dtype.char)
    if rtol:
        return np.asarray(
            np.isclose(got, want, rtol=rtol, atol=rtol * NOTHING, equal_nan=True))
    nan = np.isnan(want)
    alike = (got == want) & (np.signbit(got) == np.signbit(want))
    return np.asarray(np.where(nan, np.isnan(got), alike))
