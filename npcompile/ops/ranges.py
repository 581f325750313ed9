"""Numbers in a row, grids of them, and matrices that follow from indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size, floordiv, is_known, largest
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, INT, PY_FLOAT, PY_INT
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, dtype_of, program, shape_of, static_int, truth
from npcompile.ops.creation import CREATION, filled
from npcompile.ops.elementwise import run
from npcompile.ops.indexing import setitem
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.selection import diagonal, diagonal_of
from npcompile.ops.views import copied, permuted

# ------------------------------------------------------------------ arange and linspace


@program(CREATION, "arange")
def arange(ctx: Context, start: Operand, stop: Operand = None, step: Operand = None,
           dtype: Operand = None, *, device: Operand = None, like: Operand = None) -> ArrayRef:
    """``start + i * step``, as NumPy counts and rounds it."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    parts = [arguments.static(x) for x in (start, stop, step)]
    kinds = [arguments.operand_dtype(arguments.number(ctx, x)) for x in parts]
    loop = np.result_type(INT, *kinds) if dtype is None else dtype_of(ctx, dtype, "arange")
    if loop.kind not in "iuf" or any(k.kind not in "if" or k.char == "e" for k in kinds):
        raise ctx.refuse("arange", f"of dtype {loop}")
    if all(k.kind == "i" for k in kinds):
        sizes = [arguments.integer(ctx, x, "arange") for x in parts]
        first, second = sizes[0], sizes[0] + sizes[2]
        count = _steps(ctx, sizes[0], sizes[1], sizes[2])
        ends = [_as_number(ctx, size) for size in (first, second)]
    else:
        count, ends = _float_steps(ctx, parts)
    return ctx.new(_row(ctx, count, ends[0], ends[1], loop))


def _as_number(ctx: Context, size: Size) -> Operand:
    return size if isinstance(size, int) else ctx.builder.size(size)


def _steps(ctx: Context, start: Size, stop: Size, step: Size) -> Size:
    """The length of an integer range."""
    if ctx.facts.equal(step, 0):
        raise ctx.refuse("arange", "a step of 0: Python raises")
    gap, pace = (stop - start, step) if ctx.facts.less(0, step) else (start - stop, -step)
    if ctx.facts.prove("<=", 0, gap) is None and not is_known(gap):
        gap = largest(gap, 0)
    elif not ctx.facts.at_most(0, gap):
        return 0
    return gap if pace == 1 else floordiv(gap + pace - 1, pace)


def _float_steps(ctx: Context, parts: list[Operand]) -> tuple[Size, list[Operand]]:
    """The length of a range of floats, ``ceil((stop - start) / step)``, and its first two; numbers
    of NumPy's round this as they do."""
    narrow = any(arguments.operand_dtype(x).char == "f" for x in parts)
    if not narrow and not any(isinstance(x, Node) for x in parts):
        start, stop, step = (float(x) for x in parts)
        quotient = (stop - start) / step if step else np.nan
        if not 0 <= quotient < 2**53 or (quotient == 0 and stop != start):
            raise ctx.refuse("arange", "a length that NumPy decides")
        return int(np.ceil(quotient)), [start, start + step]
    b = ctx.builder
    nodes = [arguments.number(ctx, x) for x in parts]
    if not narrow:
        nodes = [b.emit("cast", (x,), None, PY_FLOAT) for x in nodes]
    first, last, pace = nodes
    quotient = run(ctx, "divide", run(ctx, "subtract", last, first), pace)
    ratio = b.emit("cast", (arguments.number(ctx, quotient),), None, PY_FLOAT)
    for low, high in ((b.const(0.0), ratio), (ratio, b.const(2.0**53))):
        b.check(b.map("lt", (low, high), BOOL), "arange: no step, or none at all")
    whole = b.map("ceil", (ratio,), FLOAT, origin="py")
    count = b.size_of(b.emit("cast", (whole,), None, PY_INT))
    return count, [first, run(ctx, "add", first, pace)]


def _row(ctx: Context, count: Size, first: Operand, second: Operand,
         dtype: np.dtype[Any]) -> Node:
    """``count`` numbers from the first two: NumPy's fill loops, ``first + i * delta``, computed
    in the dtype (float16: in float32), the second as it is given."""
    b = ctx.builder
    if dtype.kind != "f":
        index = b.iota(count)
        start, after = (b.cast(arguments.number(ctx, x), INT) for x in (first, second))
        step = b.map("sub", (after, start), INT)
        if isinstance(first, int) and isinstance(second, int):
            step = b.const(np.int64(second - first))
        row = index if step.op == "const" and second == 1 and first == 0 else b.map(
            "add", (b.map("mul", (index, step), INT), start), INT)
        return b.cast(row, dtype)
    if dtype.char == "e":
        raise ctx.refuse("arange", "of float16")
    start, after = (arguments.scalar_to(ctx, x, dtype) for x in (first, second))
    delta = b.map("sub", (after, start), dtype)
    row = b.map("mul", (b.cast(b.iota(count), dtype), delta), dtype)
    row = b.map("add", (row, start), dtype)
    if _regular(first, second, dtype):
        return row
    index = b.iota(count)
    for place, value in ((0, start), (1, after)):
        here = b.map("eq", (index, b.const(np.int64(place))), BOOL)
        row = b.map("where", (here, value, row), dtype)
    return row


def _regular(first: Operand, second: Operand, dtype: np.dtype[Any]) -> bool:
    """Whether ``first + i * delta`` gives the first two numbers themselves."""
    if isinstance(first, Node) or isinstance(second, Node):
        return False
    with np.errstate(all="ignore"):
        start, after = np.asarray([first, second]).astype(dtype)
        again = np.asarray([start + 0 * (after - start), start + (after - start)])
    return again.tobytes() == np.asarray([start, after]).tobytes()


@program(CREATION, "linspace")
def linspace(ctx: Context, start: Operand, stop: Operand, num: Operand = 50,
             endpoint: Operand = True, retstep: Operand = False, dtype: Operand = None,
             axis: Operand = 0, *, device: Operand = None) -> Operand:
    """Evenly spaced float64 numbers, cast to ``dtype``."""
    kinds = [arguments.operand_dtype(arguments.number(ctx, x)) for x in (start, stop)]
    if any(k.kind not in "iuf" or k.char in "ef" for k in kinds):
        raise ctx.refuse("linspace", "ends that are no float64 or integer")
    if static_int(ctx, axis, "linspace") not in (0, -1):
        raise ctx.refuse("linspace", "axis=")
    b = ctx.builder
    count = arguments.length(ctx, num, "linspace")
    last = truth(ctx, endpoint, "linspace")
    low, high = (b.cast(arguments.number(ctx, x), FLOAT) for x in (start, stop))
    delta = b.map("sub", (high, low), FLOAT)
    div = count - 1 if last else count
    row = b.cast(b.iota(count), FLOAT)
    step: Operand = np.nan
    if ctx.facts.less(0, div):
        parts = b.cast(b.size(div), FLOAT)
        step = b.map("div", (delta, parts), FLOAT)
        zero = b.map("eq", (step, b.const(np.float64(0))), BOOL)  # delta is subnormal
        tiny = b.map("mul", (b.map("div", (row, parts), FLOAT), delta), FLOAT)
        row = b.map("where", (zero, tiny, b.map("mul", (row, step), FLOAT)), FLOAT)
    else:
        row = b.map("mul", (row, delta), FLOAT)
    made = ctx.new(b.map("add", (row, low), FLOAT))
    if last and ctx.facts.less(1, count):
        setitem(ctx, made, -1, high)
    if dtype is not None:
        made = _space_of(ctx, made, dtype_of(ctx, dtype, "linspace"))
    return (made, step) if truth(ctx, retstep, "linspace") else made


def _space_of(ctx: Context, made: ArrayRef, dtype: np.dtype[Any]) -> ArrayRef:
    node = ctx.read(made)
    if dtype.kind in "iu":
        node = ctx.builder.map("floor", (node,), FLOAT)
    return made if dtype == FLOAT else ctx.new(ctx.builder.cast(node, dtype))


# ------------------------------------------------------------------ grids


@program(CREATION, "meshgrid")
def meshgrid(ctx: Context, *xi: Operand, copy: Operand = True, sparse: Operand = False,
             indexing: Operand = "xy") -> Operand:
    """Coordinate arrays of a grid."""
    if indexing not in ("xy", "ij"):
        raise ctx.refuse("meshgrid", "indexing is xy or ij: Python raises")
    refs = [views.ravel(ctx, as_array(ctx, x)) for x in xi]
    places = list(range(len(refs)))
    if indexing == "xy" and len(refs) > 1:
        places[:2] = [1, 0]
    grids = []
    for ref, place in zip(refs, places):
        shape: list[Size] = [1] * len(refs)
        strides: list[Size] = [0] * len(refs)
        shape[place], strides[place] = ref.shape[0], ref.strides[0]
        grids.append(arguments.view(ref, shape, strides))
    if not truth(ctx, sparse, "meshgrid"):
        full = views.broadcast_arrays(ctx, *grids)
        grids = list(full)
    if truth(ctx, copy, "meshgrid"):
        grids = [copied(ctx, grid) for grid in grids]
    return tuple(grids)


@program(CREATION, "indices")
def indices(ctx: Context, dimensions: Operand, dtype: Operand = int,
            sparse: Operand = False) -> Operand:
    """The index along each axis of a grid."""
    if not isinstance(dimensions, (tuple, list)):
        raise ctx.refuse("indices", "dimensions that are no sequence")
    sizes = shape_of(ctx, dimensions, "indices")
    kind = dtype_of(ctx, dtype, "indices")
    rows = []
    for axis, size in enumerate(sizes):
        row = ctx.new(ctx.builder.cast(ctx.builder.iota(size), kind))
        shape: list[Size] = [1] * len(sizes)
        strides: list[Size] = [0] * len(sizes)
        shape[axis], strides[axis] = size, 1
        rows.append(arguments.view(row, shape, strides))
    if truth(ctx, sparse, "indices"):
        return tuple(rows)
    out = filled(ctx, (len(sizes), *sizes), None, kind)
    for axis, row in enumerate(rows):
        setitem(ctx, out, axis, row)
    return out


# ------------------------------------------------------------------ matrices


@program(CREATION, "eye")
def eye(ctx: Context, N: Operand, M: Operand = None, k: Operand = 0, dtype: Operand = float,
        order: Operand = "C", *, device: Operand = None, like: Operand = None) -> ArrayRef:
    """Ones on a diagonal."""
    rows = arguments.length(ctx, N, "eye")
    columns = rows if M is None else arguments.length(ctx, M, "eye")
    out = filled(ctx, (columns, rows) if order == "F" else (rows, columns), 0,
                 dtype_of(ctx, dtype, "eye"))
    if order == "F":
        out = permuted(out, (1, 0))
    elif order != "C":
        raise ctx.refuse("eye", f"order={order!r}")
    setitem(ctx, diagonal_of(ctx, out, static_int(ctx, k, "eye"), (0, 1)), Ellipsis, 1)
    return out


@program(CREATION, "identity")
def identity(ctx: Context, n: Operand, dtype: Operand = None, *,
             like: Operand = None) -> ArrayRef:
    """Ones on the main diagonal."""
    return eye(ctx, n, dtype=float if dtype is None else dtype)


def _triangle(ctx: Context, rows: Size, columns: Size, k: int) -> Node:
    """Where ``i >= j - k``."""
    b = ctx.builder
    row, column = ctx.new(b.iota(rows)), ctx.new(b.iota(columns))
    high = ctx.read(arguments.view(row, (rows, 1), (1, 0)))
    wide = ctx.read(arguments.view(column, (1, columns), (0, 1)))
    shifted = b.map("sub", (wide, b.const(np.int64(k))), INT) if k else wide
    return b.map("le", (shifted, high), BOOL)


@program(CREATION, "tri")
def tri(ctx: Context, N: Operand, M: Operand = None, k: Operand = 0, dtype: Operand = float, *,
        like: Operand = None) -> ArrayRef:
    """Ones at and below a diagonal."""
    rows = arguments.length(ctx, N, "tri")
    columns = rows if M is None else arguments.length(ctx, M, "tri")
    mask = _triangle(ctx, rows, columns, static_int(ctx, k, "tri"))
    return ctx.new(ctx.builder.cast(mask, dtype_of(ctx, dtype, "tri")))


def _half(name: str, upper: bool) -> None:
    def half(ctx: Context, m: Operand, k: Operand = 0) -> ArrayRef:
        ref = as_array(ctx, m)
        if not ref.ndim:
            raise ctx.refuse(name, "of a number: Python raises")
        rows, columns = ref.shape[-2:] if ref.ndim > 1 else ref.shape * 2
        mask = _triangle(ctx, rows, columns, static_int(ctx, k, name) - upper)
        zero, node = ctx.builder.const(ref.dtype.type(0)), ctx.read(ref)
        arms = (zero, node) if upper else (node, zero)
        return ctx.new(ctx.builder.map("where", (mask, *arms), ref.dtype))

    program(CREATION, name,
            doc=f"The {'upper' if upper else 'lower'} triangle, zeros elsewhere.")(half)


_half("tril", False)
_half("triu", True)


@program(CREATION, "diag")
def diag(ctx: Context, v: Operand, k: Operand = 0) -> ArrayRef:
    """A matrix with these numbers on a diagonal, or the diagonal of a matrix."""
    ref = as_array(ctx, v)
    offset = static_int(ctx, k, "diag")
    if ref.ndim == 2:
        return diagonal(ctx, ref, offset)
    if ref.ndim != 1:
        raise ctx.refuse("diag", "of one or two axes: Python raises")
    n = ref.shape[0] + abs(offset)
    out = filled(ctx, (n, n), 0, ref.dtype)
    start = offset if offset >= 0 else n * -offset
    geometry = arguments.view(out, ref.shape, (n + 1,), start)
    setitem(ctx, geometry, Ellipsis, ref)
    return out


@program(CREATION, "fill_diagonal", lists_are_arrays=arguments.no_call)
def fill_diagonal(ctx: Context, a: Operand, val: Operand, wrap: Operand = False) -> None:
    """One number written onto the main diagonal."""
    if not isinstance(a, ArrayRef) or a.ndim != 2 or not arguments.is_number(val):
        raise ctx.refuse("fill_diagonal", "of a matrix with a number only")
    if truth(ctx, wrap, "fill_diagonal"):
        raise ctx.refuse("fill_diagonal", "wrap=")
    setitem(ctx, diagonal_of(ctx, a, 0, (0, 1)), Ellipsis, val)




@program(CREATION, "diagflat")
def diagflat(ctx: Context, v: Operand, k: Operand = 0) -> Operand:
    """A matrix with the items of an array, in order, on a diagonal."""
    return run(ctx, "diag", run(ctx, "ravel", as_array(ctx, v)), k)
