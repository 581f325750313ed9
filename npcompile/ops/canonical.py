"""The canonical order of reductions: NumPy >= 2.3's, written down.

Compiled code must give the bits of :func:`reduce`; :func:`plan` says, for symbolic sizes, in what
order that is.  How NumPy (``reduction.c`` and ``npyiter_find_buffering_setup``) gets there:

1. Axes of length 1 are dropped, the others sorted by ``|stride|`` of the operand (a tie or a
   stride 0: as in C order); neighbours that are both reduced and are one run of memory are merged.
   Negative strides are not flipped: a reversed array is summed from its own first element.
2. Every accumulator starts as ``initial``, for ``sum`` 0 (so that a sum of -0.0 is +0.0).
3. If the innermost axis is kept, then each accumulator takes its elements one by one, in the order
   of the reduced axes, the last varying fastest (``mode`` *sequential*).
4. If the innermost axis is reduced, then ``acc += pairwise(run)`` for one run after the other
   (``mode`` *pairwise*).  A run lies within the ``flat`` innermost reduced axes, read as one
   axis, in pieces of ``chunk`` elements; it starts anew for each index of the axes outside.

   - operand used in place (right dtype, aligned): ``flat`` is 1 and the run is the whole
     innermost axis, except that the iterator *buffers* a strided operand (of which several
     innermost reduced axes don't merge and the last has at most 4096 elements): axes are then
     joined, from the innermost on, while those joined so far have fewer than 8192 elements.
   - operand cast (or unaligned, byte-swapped): the same joining, whatever the strides.

   With ``core`` the elements of the joined axes but the outermost of them, a piece has
   ``core * (8192 // core)`` elements: whole cores, never more than 8192.  Where nothing was joined
   a cast operand goes in pieces of 8192; one used in place in a single piece.
5. ``pairwise``: fewer than 8 numbers one by one; up to 128 with 8 accumulators, combined as
   ``((0+1)+(2+3)) + ((4+5)+(6+7))``, what is left over one by one; more are split at
   ``(n // 2) & -8``.  Complex: 4 accumulators, leaves of up to 64, split at ``(n // 2) & -4``.
   float16: a run is summed in float32, together with the accumulator, and rounded once.

Only ``sum`` is pairwise.  Every other kind runs element by element in the order of the axes.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Size, floordiv, hint, is_known, product
from npcompile.graph import layout
from npcompile.graph.ir import Number, Reduction
from npcompile.graph.primitives import REDUCTIONS
from npcompile.graph.types import Array as ArrayType
from npcompile.graph.types import Type

BUFFER = 8192  # elements that NumPy's iterator buffers; np.setbufsize is not followed
Array = np.ndarray[Any, Any]


@record
class PlanAxis:
    """One axis of the iteration: the array's own ``axes`` that merged into it, slowest first."""

    length: Size
    stride: Size
    axes: tuple[int, ...]
    reduced: bool


@record
class ReductionPlan:
    """The order of one reduction; see the module's docstring for the meaning of each field.

    ``axes`` stand slowest first.  ``flat`` and ``chunk`` are 0 where they don't apply; a ``chunk``
    of 0 is a single piece.
    """

    axes: tuple[PlanAxis, ...]
    mode: Literal["pairwise", "sequential"]
    flat: int = 0
    chunk: Size = 0


def plan(
    facts: Facts,
    shape: tuple[Size, ...],
    strides: tuple[Size, ...],
    axes: tuple[int, ...],
    needs_cast: bool,
) -> ReductionPlan:
    """The canonical order of a sum over ``axes`` of an array with these strides.

    Decisions that sizes don't prove are asked of ``facts``, and so become guards.

    Examples
    --------
    >>> plan(Facts(), (3, 4), (4, 1), (0, 1), False).axes
    (PlanAxis(length=12, stride=1, axes=(0, 1), reduced=True),)
    >>> plan(Facts(), (3, 4), (4, 1), (0,), False).mode
    'sequential'
    """
    found = _sorted_axes(facts, shape, strides, frozenset(axes))
    if not found or not found[-1].reduced:
        return ReductionPlan(found, "sequential")
    flat, chunk = _runs(facts, found, needs_cast)
    return ReductionPlan(found, "pairwise", flat, chunk)


def is_canonical(attrs: Reduction) -> bool:
    """Whether the order of a reduction shows in its bits."""
    return attrs.kind in ("sum", "prod") and attrs.loop.kind in "fc" and not attrs.running


def ask_order(facts: Facts, type_: Type, attrs: Reduction) -> None:
    """Asks what the order of a sum depends on, so that the answers hold where it is computed."""
    assert isinstance(type_, ArrayType)
    if is_canonical(attrs):
        shape, strides = (tuple(map(facts.norm, s)) for s in (type_.shape, type_.strides))
        plan(facts, shape, strides, attrs.axes, type_.dtype != attrs.loop)


def _sorted_axes(
    facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...], reduced: frozenset[int]
) -> tuple[PlanAxis, ...]:
    """Axes of more than one element, slowest first, reduced neighbours merged."""
    if len(shape) == 1:
        return (PlanAxis(shape[0], strides[0], (0,), 0 in reduced),)
    long = [axis for axis in range(len(shape))
            if not is_known(shape[axis]) or not facts.equal(shape[axis], 1)]
    order = [long[k] for k in layout.axis_order(
        facts, tuple(shape[a] for a in long), [tuple(strides[a] for a in long)]
    )]
    for k, axis in enumerate(order):
        last = axis in reduced and k == len(order) - 1 and order[k - 1] not in reduced
        if k and not last and not is_known(shape[axis]) and facts.equal(shape[axis], 1):
            raise AssertionError("a size that only the run can tell is not supposed to be 1")
    out: list[PlanAxis] = []
    for axis in order:
        new = PlanAxis(shape[axis], strides[axis], (axis,), axis in reduced)
        if out and out[-1].reduced and new.reduced:
            outer = out[-1]
            if layout.coalesces(facts, (outer.length, outer.stride), (new.length, new.stride)):
                new = PlanAxis(
                    outer.length * new.length, new.stride, (*outer.axes, axis), True
                )
                out.pop()
        out.append(new)
    return tuple(out)


def _runs(facts: Facts, axes: tuple[PlanAxis, ...], needs_cast: bool) -> tuple[int, Size]:
    """How many of the innermost axes a run flattens, and how long its pieces are."""
    inner: list[Size] = []
    for axis in reversed(axes):
        if not axis.reduced:
            break
        inner.append(axis.length)
    if not needs_cast and (len(inner) == 1 or facts.less(BUFFER // 2, inner[0])):
        return 1, 0
    flat = 1
    core: Size = 1
    size = inner[0]
    while flat < len(inner) and facts.less(size, BUFFER):
        core, size = size, size * inner[flat]
        flat += 1
    return flat, 0 if core == 0 else core * floordiv(BUFFER, core)


# ------------------------------------------------------------------ the reference

#: the primitives that reductions take their elements together by
STEPS = {
    "add": np.add, "mul": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
    "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor,
}


def reduce(
    array: Array,
    kind: str = "sum",
    axes: tuple[int, ...] | None = None,
    keepdims: bool = False,
    loop: np.dtype[Any] | type | str | None = None,
    initial: Number | None = None,
) -> Array:
    """The reduction of ``array`` over ``axes`` (default: all) in the canonical order.

    ``kind`` is a key of :data:`~npcompile.graph.primitives.REDUCTIONS` and ``loop`` the dtype that
    it runs in.  The result has K order, as NumPy's; argmin and argmax count in row-major order.

    Examples
    --------
    >>> x = np.arange(1e5) / 7
    >>> bool(reduce(x) == x.sum())
    True
    """
    axes = tuple(range(array.ndim)) if axes is None else axes
    dtype = array.dtype if loop is None else np.dtype(loop)
    if kind in ("argmin", "argmax"):
        result = _arg(array, kind, axes)
    else:
        result = _accumulate(array, kind, axes, dtype, initial)
    out = _fresh(array, axes, result.dtype)
    out[...] = result.reshape(out.shape)
    return out if keepdims else out.squeeze(axes)


def _fresh(array: Array, axes: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array for the result, with reduced axes of length 1, laid out as NumPy does."""
    strides = tuple(0 if n == 1 else s for n, s in zip(array.shape, array.strides))
    shape: tuple[Size, ...] = tuple(1 if k in axes else n for k, n in enumerate(array.shape))
    order = layout.axis_order(Facts(), array.shape, [strides])
    packed = layout.fresh_strides(shape, order)
    out = np.empty(hint(product(shape)), dtype)
    in_bytes = tuple(hint(s) * dtype.itemsize for s in packed)
    return np.lib.stride_tricks.as_strided(out, tuple(map(hint, shape)), in_bytes)


def _arg(array: Array, kind: str, axes: tuple[int, ...]) -> Array:
    kept = [k for k in range(array.ndim) if k not in axes]
    rows = array.transpose(*kept, *axes).reshape([array.shape[k] for k in kept] + [-1])
    return np.asarray(getattr(np, kind)(rows, axis=-1))


def _accumulate(
    array: Array, kind: str, axes: tuple[int, ...], dtype: np.dtype[Any], initial: Number | None
) -> Array:
    """``out[kept indices]`` with axes in the array's order."""
    casts = array.dtype != dtype or not array.dtype.isnative or not array.flags.aligned
    if array.ndim and array.itemsize:
        strides = tuple(s // array.itemsize for s in array.strides)
    else:
        strides = (0,) * array.ndim
    order = plan(Facts(), array.shape, strides, axes, casts)
    kept = [a for axis in order.axes if not axis.reduced for a in axis.axes]
    gone = [a for axis in order.axes if axis.reduced for a in axis.axes]
    shape = [array.shape[k] for k in kept]
    length = int(np.prod([array.shape[k] for k in axes], dtype=np.int64))
    units = [k for k in range(array.ndim) if k not in kept and k not in gone]
    rows = array.astype(dtype).transpose(*kept, *units, *gone).reshape([*shape, length])
    total = _run(rows, kind, order, initial)
    back = sorted(range(len(kept)), key=lambda k: kept[k])
    return total.transpose(back)


def _run(rows: Array, kind: str, order: ReductionPlan, initial: Number | None) -> Array:
    """Reduces the last axis, whose elements stand in the order of the plan."""
    name, identity = REDUCTIONS[kind]
    start = identity if initial is None else initial
    step = STEPS[name]
    length = rows.shape[-1]
    if kind == "sum" and order.mode == "pairwise" and rows.dtype.kind in "fc":
        return _sum_runs(rows, order, 0 if start is None else start)
    if start is None:
        total, first = rows[..., 0].copy(), 1
    else:
        total, first = np.full(rows.shape[:-1], start, rows.dtype), 0
    for k in range(first, length):
        total = np.asarray(step(total, rows[..., k], dtype=rows.dtype))
    return total


def _sum_runs(rows: Array, order: ReductionPlan, start: Number) -> Array:
    length = rows.shape[-1]
    flat = hint(product([axis.length for axis in order.axes[len(order.axes) - order.flat :]]))
    chunk = hint(order.chunk) or flat
    total = np.full(rows.shape[:-1], start, rows.dtype)
    wide = np.dtype(np.float32) if rows.dtype == np.float16 else rows.dtype
    for begin in range(0, length, flat) if flat else ():
        for at in range(begin, begin + flat, chunk):
            run = rows[..., at : min(at + chunk, begin + flat)].astype(wide)
            total = (total.astype(wide) + pairwise(run)).astype(rows.dtype)
    return total


def pairwise(run: Array) -> Array:
    """The pairwise sum along the last axis.

    Examples
    --------
    >>> float(pairwise(np.array([1.0, 2.0, 3.0])))
    6.0
    """
    lanes, leaf = (4, 64) if run.dtype.kind == "c" else (8, 128)
    return _pairwise(run, lanes, leaf)


def _pairwise(run: Array, lanes: int, leaf: int) -> Array:
    n = run.shape[-1]
    if n > leaf:
        half = (n // 2) & -lanes
        left = _pairwise(run[..., :half], lanes, leaf)
        return np.asarray(left + _pairwise(run[..., half:], lanes, leaf))
    whole = n - n % lanes
    if n < lanes:
        total, whole = np.full(run.shape[:-1], -0.0, run.dtype), 0
        if run.dtype.kind == "c":
            total.imag[...] = -0.0
    else:
        sums = run[..., :lanes].copy()
        for at in range(lanes, whole, lanes):
            sums = sums + run[..., at : at + lanes]
        while sums.shape[-1] > 1:
            sums = sums[..., ::2] + sums[..., 1::2]
        total = sums[..., 0]
    for k in range(whole, n):
        total = total + run[..., k]
    return np.asarray(total)


def meaning(array: Array, attrs: Reduction, initial: Number | None = None) -> Array:
    """What a ``reduce`` node stands for: the interpreters' meaning of it."""
    if attrs.running:
        step = STEPS[REDUCTIONS[attrs.kind][0]]
        (axis,) = attrs.axes
        return np.asarray(step.accumulate(array, axis, attrs.loop))
    return reduce(array, attrs.kind, attrs.axes, attrs.keepdims, attrs.loop, initial)
