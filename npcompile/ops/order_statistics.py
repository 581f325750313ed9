"""Medians and quantiles in Python that is traced: NumPy's formulas over elements that a sort, or a
partition around one place, has put in order.

NumPy's own partition around several places, which takes the more general of its algorithms.
``raise`` leaves a call to NumPy: which of two zeros of unlike signs its sort puts first is not
known, and what is no array of real numbers, or empty, is told of by its own code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.releases import numpy_before
from npcompile.ops.arguments import FOLLOWED, followed, program

#: elements of a row from which on it is partitioned around one place rather than sorted
LONG = 256
#: elements of a row from which on NumPy takes the median of each row without masks
BY_MASKS = 600
#: whether a number of Python's that says a quantile becomes one of the elements' dtype
_ROUNDED = numpy_before(2, 4)


@followed
def _taken(a: Any, axis: Any) -> Any:
    """The array whose first axis is in order: all elements for ``axis=None``."""
    if a.ndim == 0 or a.size == 0 or a.dtype.kind not in "iuf":
        raise NotImplementedError
    if axis is None:
        return a.ravel()
    if isinstance(axis, tuple):
        raise NotImplementedError
    return a


@followed
def _refuse_zeros(a: Any, chosen: Any) -> None:
    """Leaves where an element that is chosen is a zero and there are negative ones."""
    if a.dtype.kind == "f" and (chosen == 0).any() and ((a == 0) & np.signbit(a)).any():
        raise NotImplementedError


@followed
def _pair(a: Any, k: Any) -> Any:
    """The elements at places ``k - 1`` and ``k`` of a row, were it sorted."""
    if a.size < LONG:
        return np.sort(a)[k - 1 : k + 1]
    part = np.partition(a, k)
    return np.array([part[:k].max(), part[k]])


@followed
def _middle(a: Any) -> Any:
    """The median of a row."""
    k = a.size // 2
    pair = _pair(a, k) if a.size % 2 == 0 else np.partition(a, k)[k : k + 1]
    _refuse_zeros(a, pair)
    found = np.mean(pair)
    if a.dtype.kind == "f" and np.isnan(a).any():
        return found.dtype.type(np.nan)
    return found


@followed
def _middles(a: Any, axis: Any) -> Any:
    """The medians along an axis."""
    n = a.shape[axis]
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    pair = ordered[n // 2 - 1 : n // 2 + 1] if n % 2 == 0 else ordered[n // 2 : n // 2 + 1]
    _refuse_zeros(a, pair)
    found = np.mean(pair, axis=0)
    if a.dtype.kind == "f":
        found = np.where(np.isnan(ordered[-1]), ordered[-1], found)
    return found


@followed
def _spread(found: Any, ndim: Any, axis: Any) -> Any:
    """A result with the axes of length 1 that ``keepdims=`` asks for."""
    found = np.asarray(found)
    if axis is None:
        return found[(..., *[None] * ndim)]
    return found[(..., *[None if k == axis % ndim else slice(None) for k in range(ndim)])]


@program(FOLLOWED, "median")
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
           keepdims: Any = False) -> Any:
    """The middle of the elements in order, or the mean of the two next to it."""
    a = np.asarray(a)
    if out is not None or overwrite_input:
        raise NotImplementedError
    row = _taken(a, axis)
    found = _middle(row) if row.ndim == 1 else _middles(row, axis)
    return _spread(found, a.ndim, axis) if keepdims else found


@program(FOLLOWED, "nanmedian")
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
              keepdims: Any = False) -> Any:
    """The median of the elements that are not NaN."""
    a = np.asarray(a)
    row = _taken(a, axis)
    if out is not None or overwrite_input or keepdims:
        raise NotImplementedError
    if row.ndim == 1:
        if a.dtype.kind == "f":
            row = row[~np.isnan(row)]
            if row.size == 0:
                raise NotImplementedError
        return _middle(row)
    if row.ndim != 2 or row.dtype.kind == "u":
        raise NotImplementedError
    n = row.shape[axis]
    if row.dtype.kind == "i":
        return _middles(row, axis)
    ordered = np.sort(row, axis=axis)
    ordered = ordered.T if axis % 2 == 0 else ordered
    count = (~np.isnan(ordered)).sum(axis=1)
    if (count == 0).any():
        raise NotImplementedError
    half, odd = count // 2, count % 2 == 1
    high = np.take_along_axis(ordered, half[:, None], 1)[:, 0]
    low = np.take_along_axis(ordered, np.where(odd, half, half - 1)[:, None], 1)[:, 0]
    _refuse_zeros(row, low)
    _refuse_zeros(row, high)
    found = (low + high) / 2
    return found if n < BY_MASKS else np.where(odd, high, found)


# ------------------------------------------------------------------ quantiles


@followed
def _line(low: Any, high: Any, t: Any, rest: Any, late: Any) -> Any:
    """The place ``t`` of the way from one number to another, counted from the nearer one."""
    gap = high - low
    return np.where(late, high - gap * rest, low + gap * t)


@followed
def _quantile_of_row(a: Any, q: Any, weak: Any) -> Any:
    """One quantile of a row."""
    n = a.size
    v = (n - 1) * q
    if v >= n - 1:
        low = high = a.max()
        t = v + 1
    else:
        k = int(v)
        t = v - k
        low, high = _pair(a, k + 1)
    if not weak:
        if a.dtype == np.float32:
            raise NotImplementedError  # the class of the result is another one if there is NaN
        t = np.float64(t)
    gap = high - low
    found = low + gap * t
    if t >= 0.5:
        found = high - gap * (1 - t)
    _refuse_zeros(a, np.array([low, high]))
    if a.dtype.kind == "f" and np.isnan(a).any():
        return found.dtype.type(np.nan)
    return found


@followed
def _quantiles_in_order(ordered: Any, q: Any, weak: Any) -> Any:
    """Quantiles along the first axis, which is in order; ``weak``: one that is a number."""
    n = ordered.shape[0]
    v = (n - 1) * q
    if weak:
        last = v >= n - 1
        k = n - 1 if last else int(v)
        low, high = ordered[k], ordered[n - 1 if last else k + 1]
        t = v + 1 if last else v - k
        found = high - (high - low) * (1 - t) if t >= 0.5 else low + (high - low) * t
    else:
        above = v >= n - 1
        k = np.where(above, n - 1, np.floor(v).astype(np.intp))
        t = (v - np.where(above, -1, k)).reshape(v.shape + (1,) * (ordered.ndim - 1))
        low, high = ordered[k], ordered[np.where(above, n - 1, k + 1)]
        found = _line(low, high, t, 1 - t, t >= 0.5)
    _refuse_zeros(ordered, low)
    _refuse_zeros(ordered, high)
    if ordered.dtype.kind == "f":
        found = np.where(np.isnan(ordered[-1]), ordered[-1], found)
    return found


@followed
def _share(q: Any, divisor: Any) -> Any:
    """Where quantiles are between 0 and 1: a number, or a row of them."""
    if isinstance(q, (int, float)):
        if type(q) is int and divisor == 1:
            raise NotImplementedError  # elements, not floats
        q = q / divisor
        if not 0.0 <= q <= 1.0:
            raise ValueError
        return q
    q = np.asarray(q)
    if q.ndim != 1 or q.size == 0 or (q.dtype != np.float64 and divisor == 1):
        raise NotImplementedError
    if q.dtype != np.float64 and q.dtype != np.int64:
        raise NotImplementedError
    q = q / divisor
    if not (q.min() >= 0 and q.max() <= 1):
        raise ValueError
    return q


@followed
def _refuse_rounded(a: Any, q: Any) -> None:
    """Leaves quantiles that NumPy rounds before it finds their places."""
    if _ROUNDED and isinstance(q, float) and a.dtype.kind == "f" and a.dtype != np.float64:
        raise NotImplementedError


@followed
def _quantile(a: Any, q: Any, divisor: Any, axis: Any, keepdims: Any, weak: Any) -> Any:
    a, q = np.asarray(a), _share(q, divisor)
    _refuse_rounded(a, q)
    row = _taken(a, axis)
    one = isinstance(q, float)
    if one and not weak and row.ndim > 1:
        raise NotImplementedError
    if one and row.ndim == 1:
        found = _quantile_of_row(row, q, weak)
    elif row.ndim == 1:
        found = _quantiles_in_order(np.sort(row), q, False)
    else:
        found = _quantiles_in_order(np.moveaxis(np.sort(row, axis=axis), axis, 0), q, one)
    return _spread(found, a.ndim, axis) if keepdims else found


@program(FOLLOWED, "quantile")
def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
             method: Any = "linear", keepdims: Any = False, *, weights: Any = None) -> Any:
    """Numbers below which given shares of the elements are, between elements on a line."""
    if out is not None or overwrite_input or method != "linear" or weights is not None:
        raise NotImplementedError
    return _quantile(a, q, 1, axis, keepdims, type(q) is float)


@program(FOLLOWED, "percentile")
def percentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
               method: Any = "linear", keepdims: Any = False, *, weights: Any = None) -> Any:
    """Numbers below which given percentages of the elements are, between elements on a line."""
    if out is not None or overwrite_input or method != "linear" or weights is not None:
        raise NotImplementedError
    return _quantile(a, q, 100, axis, keepdims, type(q) is float or type(q) is int)


# ------------------------------------------------------------------ quantiles without NaN


@followed
def _nan_quantile(a: Any, q: Any, divisor: Any, axis: Any, weak: Any) -> Any:
    a, q = np.asarray(a), _share(q, divisor)
    _refuse_rounded(a, q)
    row = _taken(a, axis)
    if row.dtype.kind != "f":
        raise NotImplementedError
    one = isinstance(q, float)
    if row.ndim == 1:
        row = row[~np.isnan(row)]
        if row.size == 0:
            raise NotImplementedError
        if one:
            return _quantile_of_row(row, q, weak)
        return _quantiles_in_order(np.sort(row), q, False)
    if row.ndim != 2 or (one and not weak):
        raise NotImplementedError
    ordered = np.sort(row, axis=axis)
    ordered = ordered.T if axis % 2 == 0 else ordered
    count = (~np.isnan(ordered)).sum(axis=1)
    if (count == 0).any():
        raise NotImplementedError
    most = (count - 1)[:, None]
    v = most * np.array([q]) if one else most * q
    above = v >= most
    k = np.where(above, most, np.floor(v).astype(np.intp))
    t = v - np.where(above, -1, k)
    rest = 1 - t
    late = t >= 0.5
    if one:
        t, rest = t.astype(row.dtype), rest.astype(row.dtype)
    low = np.take_along_axis(ordered, k, 1)
    high = np.take_along_axis(ordered, np.where(above, most, k + 1), 1)
    _refuse_zeros(row, low)
    _refuse_zeros(row, high)
    found = _line(low, high, t, rest, late)
    return found[:, 0].copy() if one else found.T


@program(FOLLOWED, "nanquantile")
def nanquantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
                method: Any = "linear", keepdims: Any = False, *, weights: Any = None) -> Any:
    """Quantiles of the elements that are not NaN."""
    if out is not None or overwrite_input or method != "linear" or weights is not None or keepdims:
        raise NotImplementedError
    return _nan_quantile(a, q, 1, axis, type(q) is float)


@program(FOLLOWED, "nanpercentile")
def nanpercentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
                  method: Any = "linear", keepdims: Any = False, *, weights: Any = None) -> Any:
    """Percentiles of the elements that are not NaN."""
    if out is not None or overwrite_input or method != "linear" or weights is not None or keepdims:
        raise NotImplementedError
    return _nan_quantile(a, q, 100, axis, type(q) is float or type(q) is int)
