"""Polynomials by their coefficients, highest first: values, powers, fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import hint
from npcompile.ops import arguments
from npcompile.ops.arguments import FOLLOWED, as_array, program
from npcompile.ops.creation import filled, like_strides
from npcompile.ops.elementwise import run
from npcompile.ops.indexing import getitem
from npcompile.ops.operands import Context, Operand

POLYNOMIAL = arguments.program_kind("polynomial")
#: coefficients that one kernel takes
MANY = 32


@program(POLYNOMIAL, "polyval")
def polyval(ctx: Context, p: Operand, x: Operand) -> Operand:
    """A polynomial's values, by Horner's rule."""
    coefficients, at = as_array(ctx, p), as_array(ctx, x)
    if coefficients.ndim != 1 or not at.ndim or hint(coefficients.shape[0]) > MANY:
        raise ctx.refuse("polyval", "of a number, or by many coefficients")
    y: Operand = filled(ctx, at.shape, 0, at.dtype, like_strides(ctx, at))
    for k in range(arguments.pinned(ctx, coefficients.shape[0])):
        y = run(ctx, "add", run(ctx, "multiply", y, at), getitem(ctx, coefficients, k))
    return y


@program(FOLLOWED, "vander")
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """Powers of numbers as the columns of a matrix."""
    x = np.asarray(x)
    n = len(x) if N is None else N
    if x.ndim != 1 or not isinstance(n, int):
        raise NotImplementedError
    v = np.empty((len(x), n), dtype=np.promote_types(x.dtype, int))
    tmp = v if increasing else v[:, ::-1]
    power = x.astype(v.dtype)
    if n > 0:
        tmp[:, 0] = 1
    if n > 1:
        tmp[:, 1] = power
    for k in range(2, n):
        tmp[:, k] = tmp[:, k - 1] * power
    return v


@program(FOLLOWED, "polyfit", guarantee="none")
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None,
            cov: Any = False) -> Any:
    """The polynomial of least squared distances from points."""
    if cov or not isinstance(deg, int) or deg < 0:
        raise NotImplementedError
    order = deg + 1
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if x.ndim != 1 or x.size == 0 or y.ndim < 1 or y.ndim > 2 or x.shape[0] != y.shape[0]:
        raise NotImplementedError
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    left = np.vander(x, order)
    if w is not None:
        w = np.asarray(w) + 0.0
        if w.ndim != 1 or w.shape[0] != y.shape[0]:
            raise NotImplementedError
        left *= w[:, np.newaxis]
        y = y * w[:, np.newaxis] if y.ndim == 2 else y * w
    scale = np.sqrt((left * left).sum(axis=0))
    left /= scale
    c, rest, rank, s = np.linalg.lstsq(left, y, rcond)
    if rank != order and not full:
        raise NotImplementedError  # which warns
    c = (c.T / scale).T
    return (c, rest, rank, s, rcond) if full else c
