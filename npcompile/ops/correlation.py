"""Sliding products of rows with a short one: NumPy's order of sums, one after the other.

Kernels of up to 11 floats NumPy sums itself; with longer ones it calls BLAS for every element,
whose order is its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import hint
from npcompile.ops import arguments
from npcompile.ops.arguments import FOLLOWED, as_array, followed, program, view
from npcompile.ops.elementwise import run
from npcompile.ops.indexing import getitem
from npcompile.ops.operands import Context, Operand

SLIDING = arguments.program_kind("sliding product")
#: the longest kernels of floats and of integers
FLOATS, INTEGERS = 11, 32
_HERE = "npcompile.ops.correlation:"


@program(SLIDING, _HERE + "slid")
def _slid(ctx: Context, a: Operand, v: Operand) -> Operand:
    """Sums of products of a short row with a longer one's elements, wherever it fits in."""
    long, short = as_array(ctx, a), as_array(ctx, v)
    (n,), (m,) = long.shape, short.shape
    if hint(m) > INTEGERS:
        raise ctx.refuse("correlate", "with a long row")
    found: Operand = long.dtype.type(0)  # which the sums begin with: no zero is negative
    for k in range(arguments.pinned(ctx, m)):
        part = view(long, (n - m + 1,), long.strides, long.strides[0] * k)
        term = run(ctx, "multiply", part, getitem(ctx, short, k))
        found = run(ctx, "add", found, term)
    return found


slid: Any = _slid  # as functions in Python call it


@followed
def _correlated(a: Any, v: Any, mode: Any) -> Any:
    n, m = a.size, v.size
    inner = slid(a, v)
    if mode == "valid":
        return inner
    left = m - 1 if mode == "full" else m // 2
    right = m - 1 if mode == "full" else m - m // 2 - 1
    out = np.zeros(n - m + 1 + left + right, a.dtype)
    out[left : left + n - m + 1] = inner
    for k in range(left):
        out[left - k : left] += a[:k] * v[k]
    for k in range(left, m):
        out[:left] += a[k - left : k] * v[k]
    first = left + n - m + 1
    for k in range(m - 1 - right):
        start = n - m + 1 + k
        out[first:] += a[start : start + right] * v[k]
    for k in range(m - 1 - right, m - 1):
        count = m - 1 - k
        out[first : first + count] += a[n - count :] * v[k]
    return out


@followed
def _alike(a: Any, v: Any) -> Any:
    """Both rows in the dtype that they promote to."""
    if a.dtype == v.dtype:
        return a, v
    common = np.promote_types(a.dtype, v.dtype)
    return a.astype(common), v.astype(common)


@followed
def _checked(a: Any, v: Any, mode: Any) -> None:
    """Leaves what NumPy adds in an order of BLAS's, or raises for."""
    if a.ndim != 1 or v.ndim != 1 or v.size == 0 or v.size > a.size:
        raise NotImplementedError
    if mode not in ("valid", "same", "full"):
        raise NotImplementedError
    if a.dtype == np.float64 or (a.dtype == np.float32 and mode == "valid"):
        if v.size > FLOATS:
            raise NotImplementedError
    elif a.dtype.kind not in "iu" or v.size > INTEGERS:
        raise NotImplementedError


@program(FOLLOWED, "correlate")
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Sums of products of one row with another that slides along it."""
    a, v = _alike(np.asarray(a), np.asarray(v))
    _checked(a, v, mode)
    return _correlated(a, v, mode)


@program(FOLLOWED, "convolve")
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """The same with the other row reversed; the longer row is the one that stays."""
    a, v = _alike(np.atleast_1d(a), np.atleast_1d(v))
    if a.ndim != 1 or v.ndim != 1:
        raise NotImplementedError
    if v.size > a.size:
        a, v = v, a
    v = v[::-1].copy()
    _checked(a, v, mode)
    return _correlated(a, v, mode)
