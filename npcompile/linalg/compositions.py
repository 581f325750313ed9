"""What NumPy composes of products and factorisations, step by step as it does."""

from __future__ import annotations

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.ir import Geometry
from npcompile.graph.types import FLOAT, SUPPORTED, contiguous
from npcompile.linalg.factorisations import inv, matrix, svd, svdvals
from npcompile.linalg.norms import norm, of
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, axis_in, program, static_int
from npcompile.ops.contraction import dot, matmul, outer, tensordot
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.selection import diagonal, trace

COMPOSITION = arguments.program_kind("composition")


# ------------------------------------------------------------------ names of other functions


@program(COMPOSITION, "linalg.matmul", guarantee="none")
def matmul_of_linalg(ctx: Context, x1: Operand, x2: Operand, /) -> Operand:
    """The product of matrices or vectors."""
    return of(ctx, "matmul", x1, x2)


@program(COMPOSITION, "linalg.outer")
def outer_of_vectors(ctx: Context, x1: Operand, x2: Operand, /) -> Operand:
    """Each element of one vector times each element of another."""
    if not as_array(ctx, x1).ndim == as_array(ctx, x2).ndim == 1:
        raise ctx.refuse("outer", "of other than vectors: Python raises")
    return outer(ctx, x1, x2)


@program(COMPOSITION, "linalg.tensordot", guarantee="none")
def tensordot_of_linalg(ctx: Context, x1: Operand, x2: Operand, /, *, axes: Operand = 2) -> Operand:
    """Sums over the last axes of one array and the first of the other, or over pairs of axes."""
    return tensordot(ctx, x1, x2, axes)


@program(COMPOSITION, "linalg.diagonal")
def diagonal_of_matrices(ctx: Context, x: Operand, /, *, offset: Operand = 0) -> Operand:
    """A read-only view of the diagonals of matrices."""
    return diagonal(ctx, x, offset, -2, -1)


@program(COMPOSITION, "linalg.trace")
def trace_of_matrices(ctx: Context, x: Operand, /, *, offset: Operand = 0, dtype: Operand = None
                      ) -> Operand:
    """The sums of the diagonals of matrices."""
    return trace(ctx, x, offset, -2, -1, dtype)


# ------------------------------------------------------------------ products


@program(COMPOSITION, "linalg.matrix_power", guarantee="none")
def matrix_power(ctx: Context, a: Operand, n: Operand) -> Operand:
    """A square matrix to a constant integer power, by repeated squares."""
    ref = matrix(ctx, a, "matrix_power", square=True)
    power = static_int(ctx, n, "matrix_power")
    if power == 0:
        raise ctx.refuse("matrix_power", "n=0")
    if power < 0:
        ref, power = inv(ctx, ref), -power
    if power == 1:
        return ref
    if power == 3:
        return matmul(ctx, matmul(ctx, ref, ref), ref)
    square, result = ref, None
    while True:
        power, bit = divmod(power, 2)
        if bit:
            result = square if result is None else matmul(ctx, result, square)
        if not power:
            return result
        square = matmul(ctx, square, square)


@program(COMPOSITION, "linalg.multi_dot", guarantee="none")
def multi_dot(ctx: Context, arrays: Operand) -> Operand:
    """A product of matrices, of which the first and the last may be vectors, in the cheapest order.
    """
    if not isinstance(arrays, (list, tuple)) or len(arrays) < 2:
        raise ctx.refuse("multi_dot", "of other than several arrays")
    refs = [as_array(ctx, x) for x in arrays]
    if len(refs) == 2:
        return dot(ctx, *refs)
    first, last = refs[0].ndim, refs[-1].ndim
    if not (first in (1, 2) and last in (1, 2) and all(r.ndim == 2 for r in refs[1:-1])):
        raise ctx.refuse("multi_dot", "of other than matrices: Python raises")
    a, c = refs[0], refs[-1]
    if first == 1:
        refs[0] = arguments.view(a, (1, *a.shape), (0, *a.strides))
    if last == 1:
        refs[-1] = arguments.view(c, (*c.shape, 1), (*c.strides, 0))
    found = _three(ctx, *refs) if len(refs) == 3 else _chain(ctx, refs)
    if first == last == 1:
        return ctx.builder.element(ctx.read(found), arguments.geometry((), ()))
    return views.ravel(ctx, found) if first == 1 or last == 1 else found


def _three(ctx: Context, a: ArrayRef, b: ArrayRef, c: ArrayRef) -> Operand:
    (m, k), (j, n) = a.shape, c.shape
    if ctx.facts.less(m * j * (k + n), k * n * (m + j)):
        return dot(ctx, dot(ctx, a, b), c)
    return dot(ctx, a, dot(ctx, b, c))


def _chain(ctx: Context, refs: list[ArrayRef]) -> Operand:
    """By the costs of all ways to set parentheses, from short chains to long ones."""
    sizes = [refs[0].shape[0], *[ref.shape[1] for ref in refs]]
    costs: dict[tuple[int, int], Size] = {(i, i): 0 for i in range(len(refs))}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, len(refs)):
        for i in range(len(refs) - length):
            j = i + length
            for k in range(i, j):
                cost = costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if k == i or ctx.facts.less(cost, costs[i, j]):
                    costs[i, j], splits[i, j] = cost, k

    def product(i: int, j: int) -> Operand:
        if i == j:
            return refs[i]
        return dot(ctx, product(i, splits[i, j]), product(splits[i, j] + 1, j))

    return product(0, len(refs) - 1)


@program(COMPOSITION, "kron")
def kron(ctx: Context, a: Operand, b: Operand) -> Operand:
    """Each element of one times all of another, in blocks."""
    x, y = as_array(ctx, a), as_array(ctx, b)
    if not (x.ndim and y.ndim):
        return of(ctx, "multiply", a, b)
    rank = max(x.ndim, y.ndim)
    wide = [(*[1] * (rank - r.ndim), *r.shape) for r in (x, y)]
    steps = [(*[0] * (rank - r.ndim), *r.strides) for r in (x, y)]
    left = arguments.view(x, _between(wide[0], 1), _between(steps[0], 0))
    right = arguments.view(y, _between(wide[1], 1, before=True), _between(steps[1], 0, before=True))
    found = of(ctx, "multiply", left, right)
    return views.reshaped(ctx, found, tuple(n * m for n, m in zip(*wide, strict=True)))


def _between(items: tuple[Size, ...], filler: int, before: bool = False) -> tuple[Size, ...]:
    pairs = [(filler, n) if before else (n, filler) for n in items]
    return tuple(n for pair in pairs for n in pair)


@program(COMPOSITION, "cross", "numpy:linalg.cross")
def cross(ctx: Context, a: Operand, b: Operand, axisa: Operand = -1, axisb: Operand = -1,
          axisc: Operand = -1, axis: Operand = None) -> Operand:
    """The vector product of vectors of three."""
    x, y = as_array(ctx, a), as_array(ctx, b)
    places = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    u, v = (
        views.moveaxis(ctx, ref, axis_in(ctx, place, ref.ndim, "cross"), -1)
        for ref, place in ((x, places[0]), (y, places[1]))
    )
    if not all(ctx.facts.equal(ref.shape[-1], 3) for ref in (u, v)):
        raise ctx.refuse("cross", "of vectors that don't have three components")
    dtype = np.result_type(u.dtype, v.dtype)
    if dtype.char not in SUPPORTED or dtype.kind == "b":
        raise ctx.refuse("cross", f"dtype {dtype}")
    batch = layout.broadcast_shapes(ctx.facts, u.shape[:-1], v.shape[:-1])
    kind = contiguous(dtype, (*batch, 3))
    out = ctx.new(ctx.builder.emit("empty", (), None, kind))
    p, q = ([_component(r, k) for k in range(3)] for r in (u, v))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        first, second = (of(ctx, "multiply", p[s], q[t]) for s, t in ((i, j), (j, i)))
        value = arguments.contents(ctx, of(ctx, "subtract", first, second))
        ctx.write(_component(out, k), ctx.builder.cast(value, dtype))
    if out.ndim == 1:
        return out
    return views.moveaxis(ctx, out, -1, axis_in(ctx, places[2], out.ndim, "cross"))


def _component(ref: ArrayRef, k: int) -> ArrayRef:
    """``ref[..., k]``, an array even if it has one element."""
    return arguments.view(ref, ref.shape[:-1], ref.strides[:-1], ref.strides[-1] * k)


# ------------------------------------------------------------------ singular values


@program(COMPOSITION, "linalg.cond", guarantee="none")
def cond(ctx: Context, x: Operand, p: Operand = None) -> Operand:
    """The condition number, by singular values or by norms."""
    ref = matrix(ctx, x, "cond")
    order = arguments.static(p)
    if order is None or order in (2, -2):
        values = svdvals(ctx, ref)
        pair = [_last(ctx, values, k) for k in (0, values.shape[-1] - 1)]
        above, below = reversed(pair) if order == -2 else pair
        positive = of(ctx, "all", of(ctx, "less", ctx.builder.const(values.dtype.type(0)), pair[1]))
        ctx.builder.check(positive, "a singular matrix: NumPy divides without warnings")
        return of(ctx, "divide", above, below)
    if order not in (1, -1, np.inf, -np.inf, "fro") or ref.dtype.char != "d":
        raise ctx.refuse("cond", f"p={order!r} of {ref.dtype}")
    above, below = (norm(ctx, each, order, (-2, -1)) for each in (ref, inv(ctx, ref)))
    found = of(ctx, "multiply", above, below)
    known = of(ctx, "all", of(ctx, "equal", found, found))
    ctx.builder.check(known, "a condition that is not a number: NumPy looks why")
    return found


def _last(ctx: Context, ref: ArrayRef, k: Size) -> Operand:
    """``ref[..., k]``."""
    if ref.ndim == 1:
        return ctx.builder.element(ctx.read(ref), Geometry(k * ref.strides[0], (), ()))
    return arguments.view(ref, ref.shape[:-1], ref.strides[:-1], ref.strides[-1] * k)


@program(COMPOSITION, "linalg.matrix_rank", guarantee="none")
def matrix_rank(ctx: Context, A: Operand, tol: Operand = None, hermitian: Operand = False, *,
                rtol: Operand = None) -> Operand:
    """How many singular values are not about 0."""
    ref = matrix(ctx, A, "matrix_rank")
    if rtol is not None or arguments.truth(ctx, hermitian, "matrix_rank"):
        raise ctx.refuse("matrix_rank", "rtol= or hermitian=")
    values = svdvals(ctx, ref)
    if tol is not None:
        if not isinstance(arguments.static(tol), (int, float)):
            raise ctx.refuse("matrix_rank", "tol= that is no constant")
        bound = np.float64(arguments.static(tol))
        return of(ctx, "count_nonzero", of(ctx, "greater", values, bound), axis=-1)
    m, n = ref.shape[-2:]
    longest = ctx.builder.size(n if ctx.facts.at_most(m, n) else m)
    least = of(ctx, "multiply", longest, np.finfo(values.dtype).eps)
    largest = of(ctx, "max", values, axis=-1, keepdims=True, initial=0)
    return of(ctx, "count_nonzero", of(ctx, "greater", values, of(ctx, "multiply", largest, least)),
              axis=-1)


@program(COMPOSITION, "linalg.pinv", guarantee="none")
def pinv(ctx: Context, a: Operand, rcond: Operand = None, hermitian: Operand = False) -> Operand:
    """The pseudo-inverse by singular values."""
    ref = matrix(ctx, a, "pinv")
    if arguments.truth(ctx, hermitian, "pinv"):
        raise ctx.refuse("pinv", "hermitian=True")
    if ref.dtype.kind not in "fc":
        ref = ctx.new(ctx.builder.cast(ctx.read(ref), FLOAT))
    share = 1e-15 if rcond is None else rcond
    if not isinstance(arguments.static(share), (int, float)):
        raise ctx.refuse("pinv", "rcond= that is no constant")
    u, s, vt = svd(ctx, of(ctx, "conjugate.method", ref), full_matrices=False)
    largest = of(ctx, "max", s, axis=-1, keepdims=True)
    least = of(ctx, "multiply", np.float64(arguments.static(share)), largest)
    large = arguments.contents(ctx, of(ctx, "greater", s, least))
    one = ctx.builder.const(s.dtype.type(1))
    safe = ctx.builder.map("where", (large, ctx.read(s), one), s.dtype)
    inverse = arguments.contents(ctx, of(ctx, "divide", one, ctx.new(safe)))
    zero = ctx.builder.const(s.dtype.type(0))
    inverse = ctx.builder.map("where", (large, inverse, zero), s.dtype)
    column = arguments.view(made := ctx.new(inverse), (*made.shape, 1), (*made.strides, 0))
    axes = (*range(ref.ndim - 2), ref.ndim - 1, ref.ndim - 2)
    right, left = (views.permuted(x, axes) for x in (vt, u))
    return matmul(ctx, right, of(ctx, "multiply", column, left))
