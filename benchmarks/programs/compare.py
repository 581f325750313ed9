"""Whether two results are the same: types, shapes, and bits or nearly so."""

from __future__ import annotations

import types
from typing import Any

import numpy as np


def difference(got: Any, want: Any, exact: bool, strict: bool = True) -> str:
    """The first difference found, or an empty string.

    Floats that are not ``exact`` agree to ten digits of the largest value (five in float32).
    With ``strict`` types agree too, without it an array may stand for a list or a number.
    """
    if isinstance(want, (tuple, list)):
        if len(got) != len(want) or (strict and type(got) is not type(want)):
            return f"{type(got).__name__} of {len(got)} for {type(want).__name__} of {len(want)}"
        found = (difference(a, b, exact, strict) for a, b in zip(got, want))
        return next((text for text in found if text), "")
    if strict and type(got) is not type(want):
        return f"{type(got).__name__} for {type(want).__name__}"
    if isinstance(want, np.random.Generator):
        return difference(got.random(4), want.random(4), True)
    if want is None or isinstance(want, types.FunctionType):
        return "" if got is want or not strict else "another object"
    return _numbers(np.asarray(got), np.asarray(want), exact, strict)


def _numbers(a: Any, b: Any, exact: bool, strict: bool) -> str:
    if a.shape != b.shape or (strict and a.dtype != b.dtype):
        return f"{a.dtype}{a.shape} for {b.dtype}{b.shape}"
    if exact or b.dtype.kind not in "fc":
        same = a == b
        if b.dtype.kind in "fc":
            same |= (a != a) & (b != b)
        wrong = int(same.size - np.count_nonzero(same))
        return f"{wrong} of {a.size} values differ" if wrong else ""
    tolerance = 1e-5 if b.dtype.itemsize // (1 + (b.dtype.kind == "c")) < 8 else 1e-10
    scale = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return ""
    return f"values differ by up to {np.nanmax(np.abs(a - b)):.3g}"
