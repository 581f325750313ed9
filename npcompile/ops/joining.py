"""Arrays side by side: every part is written into its view of a fresh array."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as combinations
from typing import Any

import numpy as np

from npcompile.core.sizes import Size, is_known, mod
from npcompile.graph import layout
from npcompile.graph.types import SUPPORTED
from npcompile.ops import arguments, gathers, views
from npcompile.ops.arguments import as_array, axis_in, dtype_of, program, static, view
from npcompile.ops.creation import filled, like_strides
from npcompile.ops.indexing import setitem
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS

JOINING = arguments.program_kind("joining")


def _axes_in_memory(ctx: Context, refs: list[ArrayRef]) -> list[int]:
    """Axes, slowest first, as NumPy's concatenate sorts them: C order unless arrays agree."""
    ndim = refs[0].ndim
    order: list[int] = []
    for axis in range(ndim):
        place = axis
        for k in range(axis - 1, -1, -1):
            verdict = _inside(ctx, refs, axis, order[k])
            if verdict:
                break
            if verdict is False:
                place = k
        order.insert(place, axis)
    return order


def _inside(ctx: Context, refs: list[ArrayRef], inner: int, outer: int) -> bool | None:
    """Whether one array has ``inner`` inside ``outer``; None if no array can tell."""
    verdict: bool | None = None
    for ref in refs:
        if any(ctx.facts.equal(ref.shape[k], 1) for k in (inner, outer)):
            continue
        if ctx.facts.at_most(*(layout.magnitude(ctx.facts, ref.strides[k])
                               for k in (inner, outer))):
            return True
        verdict = False
    return verdict


def joined(ctx: Context, what: str, refs: list[ArrayRef], axis: Operand,
           dtype: Operand = None) -> ArrayRef:
    """``np.concatenate``."""
    if not refs or any(ref.ndim != refs[0].ndim for ref in refs):
        raise ctx.refuse(what, "arrays of unlike numbers of axes: Python raises")
    if not refs[0].ndim:
        raise ctx.refuse(what, "of numbers: Python raises")
    place = axis_in(ctx, axis, refs[0].ndim, what)
    kind = np.result_type(*(r.dtype for r in refs)) if dtype is None else dtype_of(ctx, dtype, what)
    if kind.char not in SUPPORTED or not all(
        np.can_cast(r.dtype, kind, "same_kind") for r in refs
    ):
        raise ctx.refuse(what, f"to {kind}")
    shape = list(refs[0].shape)
    for ref in refs[1:]:
        if not all(ctx.facts.equal(n, m) for k, (n, m) in enumerate(zip(ref.shape, shape))
                   if k != place):
            raise ctx.refuse(what, "arrays of unlike lengths: Python raises")
    total: Size = 0
    for ref in refs:
        total = total + ref.shape[place]
    shape[place] = total
    strides = layout.fresh_strides(tuple(shape), _axes_in_memory(ctx, refs))
    out = filled(ctx, tuple(shape), None, kind, strides)
    start: Size = 0
    for ref in refs:
        part = view(out, ref.shape, out.strides, out.strides[place] * start)
        setitem(ctx, part, Ellipsis, ref)
        start = start + ref.shape[place]
    return out


def _arrays(ctx: Context, what: str, operand: Operand) -> list[ArrayRef]:
    if isinstance(operand, ArrayRef):
        raise ctx.refuse(what, "of one array")
    if not isinstance(operand, (list, tuple)):
        raise ctx.refuse(what, "of what is no list")
    return [as_array(ctx, item) for item in operand]


def _of_rows(ctx: Context, what: str, ref: ArrayRef, along: bool) -> ArrayRef:
    """The rows of an array, taken for a list of them, joined along their own first axis or along
    a new one."""
    if ref.ndim < 2 or not views.is_contiguous(ctx, ref):
        raise ctx.refuse(what, "of one array")
    arguments.require(ctx, "<", 0, ref.shape[0], f"{what} of no arrays")
    shape = (ref.shape[0] * ref.shape[1], *ref.shape[2:]) if along else ref.shape
    return views.copied(ctx, views.reshaped(ctx, ref, shape))


def _delivered(ctx: Context, what: str, found: ArrayRef, out: Operand) -> ArrayRef:
    if out is None:
        return found
    if not isinstance(out, ArrayRef) or out.ndim != found.ndim:
        raise ctx.refuse(what, "out= of another shape: Python raises")
    if not all(map(ctx.facts.equal, out.shape, found.shape)) or out.dtype != found.dtype:
        raise ctx.refuse(what, "out= of another shape or dtype")
    setitem(ctx, out, Ellipsis, found)
    return out


@program(JOINING, "concatenate", "concat")
def concatenate(ctx: Context, arrays: Operand, /, axis: Operand = 0, out: Operand = None, *,
                dtype: Operand = None, casting: Operand = "same_kind") -> ArrayRef:
    """Arrays one after the other along an axis."""
    if isinstance(arrays, ArrayRef) and axis == 0 and dtype is out is None:
        return _of_rows(ctx, "concatenate", arrays, True)
    refs = _arrays(ctx, "concatenate", arrays)
    if casting != "same_kind":
        raise ctx.refuse("concatenate", "casting=")
    if axis is None:
        refs, axis = [views.ravel(ctx, ref) for ref in refs], 0
    return _delivered(ctx, "concatenate", joined(ctx, "concatenate", refs, axis, dtype), out)


@program(JOINING, "stack")
def stack(ctx: Context, arrays: Operand, axis: Operand = 0, out: Operand = None, *,
          dtype: Operand = None, casting: Operand = "same_kind") -> ArrayRef:
    """Arrays one after the other along a new axis."""
    if isinstance(arrays, ArrayRef) and axis == 0 and dtype is out is None:
        return _of_rows(ctx, "stack", arrays, False)
    refs = _arrays(ctx, "stack", arrays)
    if not refs or casting != "same_kind":
        raise ctx.refuse("stack", "no arrays, or casting=")
    wide = [views.expand_dims(ctx, ref, axis) for ref in refs]
    return _delivered(ctx, "stack", joined(ctx, "stack", wide, axis, dtype), out)


def _stacker(name: str, *aliases: str) -> None:
    """``vstack``, ``hstack`` or ``dstack``: at least so many axes, then along one of them."""
    least = {"vstack": 2, "hstack": 1, "dstack": 3}[name]

    def stacked(ctx: Context, tup: Operand, *, dtype: Operand = None,
                casting: Operand = "same_kind") -> ArrayRef:
        rows = isinstance(tup, ArrayRef) and dtype is None
        if rows and (name == "vstack" or (name == "hstack" and tup.ndim == 2)):
            return _of_rows(ctx, name, tup, tup.ndim > least)
        op = OPERATORS[f"atleast_{least}d"]
        refs = [op.kind.call(op, ctx, (ref,), {}) for ref in _arrays(ctx, name, tup)]
        axis = {"vstack": 0, "dstack": 2}.get(name, 0 if refs and refs[0].ndim == 1 else 1)
        return joined(ctx, name, refs, axis, dtype)

    program(JOINING, name, *aliases, doc=f"Arrays joined along axis {least - 1}.")(stacked)


_stacker("vstack")
_stacker("hstack")
_stacker("dstack")


@program(JOINING, "column_stack")
def column_stack(ctx: Context, tup: Operand) -> ArrayRef:
    """Vectors as the columns of a matrix."""
    refs = [
        view(ref, (ref.shape[0], 1), (ref.strides[0], 0)) if ref.ndim == 1 else ref
        for ref in _arrays(ctx, "column_stack", tup)
    ]
    return joined(ctx, "column_stack", refs, 1)


@program(JOINING, "append")
def append(ctx: Context, arr: Operand, values: Operand, axis: Operand = None) -> ArrayRef:
    """An array and more values behind it."""
    refs = [as_array(ctx, x) for x in (arr, values)]
    if axis is None:
        refs, axis = [views.ravel(ctx, ref) for ref in refs], 0
    return joined(ctx, "append", refs, axis)


# ------------------------------------------------------------------ repetition


@program(JOINING, "repeat", "ndarray.repeat")
def repeat(ctx: Context, a: Operand, repeats: Operand, axis: Operand = None) -> ArrayRef:
    """Each element several times in a row."""
    ref = as_array(ctx, a)
    if axis is None:
        ref, axis = views.ravel(ctx, ref), 0
    place = axis_in(ctx, axis, ref.ndim, "repeat")
    if isinstance(repeats, (list, tuple)) or (isinstance(repeats, ArrayRef) and repeats.ndim):
        return gathers.repeated(ctx, ref, as_array(ctx, repeats), place)
    times = arguments.length(ctx, repeats, "repeat")
    shape = list(ref.shape)
    shape[place] = shape[place] * times
    out = filled(ctx, tuple(shape), None, ref.dtype)
    parts = [*ref.shape[: place + 1], times, *ref.shape[place + 1 :]]
    step = out.strides[place]
    strides = [*out.strides[:place], step * times, step, *out.strides[place + 1 :]]
    source = views.expand_dims(ctx, ref, place + 1)
    setitem(ctx, view(out, parts, strides), Ellipsis, source)
    return out


@program(JOINING, "tile")
def tile(ctx: Context, A: Operand, reps: Operand) -> ArrayRef:
    """An array repeated as a block."""
    ref = as_array(ctx, A)
    many = reps if isinstance(reps, (list, tuple)) else (reps,)
    times = [arguments.length(ctx, n, "tile") for n in many]
    missing = len(times) - ref.ndim
    if missing > 0:
        ref = view(ref, (*[1] * missing, *ref.shape), (*[0] * missing, *ref.strides))
    times = [*[1] * -missing, *times]
    if isinstance(A, ArrayRef) and all(ctx.facts.equal(n, 1) for n in times):
        return views.copied(ctx, ref, "K")
    shape = tuple(n * t for n, t in zip(ref.shape, times))
    if any(is_known(n) and ctx.facts.equal(n, 0) for n in ref.shape):
        same = all(map(ctx.facts.equal, shape, ref.shape))
        return view(ref, shape, ref.strides) if same else views.reshaped(ctx, ref, shape)
    out = filled(ctx, shape, None, ref.dtype)
    parts = [size for n, t in zip(ref.shape, times) for size in (t, n)]
    strides = [s for n, step in zip(ref.shape, out.strides) for s in (step * n, step)]
    source = views.expand_dims(ctx, ref, tuple(range(0, 2 * ref.ndim, 2))) if ref.ndim else ref
    setitem(ctx, view(out, parts, strides), Ellipsis, source)
    return out


# ------------------------------------------------------------------ roll and pad


def _iteration(ctx: Context, shift: Size, n: Size) -> Size:
    """``shift % n``, as simple as the sizes at hand allow."""
    if not is_known(shift - n):
        return mod(shift, n)
    for candidate in (shift, shift + n):
        if ctx.facts.at_most(0, candidate) and ctx.facts.less(candidate, n):
            return candidate
    return mod(shift, n)


@program(JOINING, "roll")
def roll(ctx: Context, a: Operand, shift: Operand, axis: Operand = None) -> ArrayRef:
    """Elements moved along axes, those that fall out put in again on the other side."""
    ref = as_array(ctx, a)
    if axis is None:
        rolled = roll(ctx, views.ravel(ctx, ref), shift, 0)
        return views.reshaped(ctx, rolled, ref.shape)
    axes = axis if isinstance(axis, (list, tuple)) else (axis,)
    shifts = shift if isinstance(shift, (list, tuple)) else (shift,) * len(axes)
    iterations: dict[int, Size] = {}
    for by, which in zip(shifts, axes if len(axes) == len(shifts) else axes * len(shifts)):
        place = axis_in(ctx, which, ref.ndim, "roll")
        iterations[place] = iterations.get(place, 0) + arguments.integer(ctx, by, "roll")
    out = filled(ctx, ref.shape, None, ref.dtype, like_strides(ctx, ref))
    if any(is_known(n) and ctx.facts.equal(n, 0) for n in ref.shape):
        return out
    parts = []
    for place, n in enumerate(ref.shape):
        iteration = _iteration(ctx, iterations.get(place, 0), n)
        still = is_known(iteration) and ctx.facts.equal(iteration, 0)
        # (first of the source, first of the result, count)
        parts.append(
            [(0, 0, n)] if still else [(0, iteration, n - iteration), (n - iteration, 0, iteration)]
        )
    for corner in combinations(*parts):
        counts = [count for _, _, count in corner]
        setitem(ctx, _corner(out, [to for _, to, _ in corner], counts), Ellipsis,
                _corner(ref, [start for start, _, _ in corner], counts))
    return out


def _corner(ref: ArrayRef, starts: list[Any], counts: list[Any]) -> ArrayRef:
    offset: Size = 0
    for start, stride in zip(starts, ref.strides):
        offset = offset + stride * start
    return view(ref, counts, ref.strides, offset)


@program(JOINING, "pad")
def pad(ctx: Context, array: Operand, pad_width: Operand, mode: Operand = "constant", *,
        constant_values: Operand = 0) -> ArrayRef:
    """An array with a border of numbers, or of its own elements."""
    if mode not in ("constant", *_BORDERS):
        raise ctx.refuse("pad", f"mode={mode!r} is left to Python")
    ref = as_array(ctx, array)
    widths = _borders(ctx, pad_width, ref.ndim)
    shape = tuple(n + before + after for n, (before, after) in zip(ref.shape, widths))
    fortran = ref.ndim > 1 and views.is_fortran(ctx, ref) and not views.is_contiguous(ctx, ref)
    order = range(ref.ndim)[::-1] if fortran else range(ref.ndim)
    alone = mode == "constant" and arguments.is_number(constant_values)
    fill = constant_values if alone else None
    out = filled(ctx, shape, fill, ref.dtype, layout.fresh_strides(shape, order))
    setitem(ctx, _corner(out, [before for before, _ in widths], list(ref.shape)), Ellipsis, ref)
    if mode == "constant" and not alone:
        values = _constants(ctx, constant_values, ref.ndim)
        for axis in range(ref.ndim):
            for place, value in zip(_sides(out, widths, axis), values[axis]):
                setitem(ctx, place, Ellipsis, value)
    elif mode != "constant":
        for axis, n in enumerate(ref.shape):
            _own_border(ctx, out, widths, axis, n, mode)
    return out


#: of a border of w elements beside an axis of n: the first element of each side's source, counted
#: from the axis's first, the step there, and by how much w must be less than n + 1
_Sides = tuple[Callable[[Size, Size], Size], Callable[[Size, Size], Size], int, int]
_BORDERS: dict[str, _Sides] = {
    "edge": (lambda n, w: 0, lambda n, w: n - 1, 0, 0),
    "wrap": (lambda n, w: n - w, lambda n, w: 0, 1, 0),
    "symmetric": (lambda n, w: w - 1, lambda n, w: n - 1, -1, 0),
    "reflect": (lambda n, w: w, lambda n, w: n - 2, -1, 1),
}


def _own_border(
    ctx: Context, out: ArrayRef, widths: list[tuple[Size, Size]], axis: int, n: Size, mode: str
) -> None:
    """Fills both sides of an axis from what stands between them."""
    *firsts, step, less = _BORDERS[mode]
    before, stride = widths[axis][0], out.strides[axis]
    for side, (place, width) in enumerate(zip(_sides(out, widths, axis), widths[axis])):
        most = n if mode == "edge" else n - less
        low = 1 if mode == "edge" else width
        if not (is_known(most - low) and ctx.facts.at_most(low, most)):
            raise ctx.refuse("pad", f"mode={mode!r} and a border wider than the array")
        first = firsts[side]
        assert callable(first)
        strides = list(out.strides)
        strides[axis] = stride * step
        source = view(out, place.shape, strides, stride * (before + first(n, width)))
        setitem(ctx, place, Ellipsis, source)


def _sides(
    out: ArrayRef, widths: list[tuple[Size, Size]], axis: int
) -> tuple[ArrayRef, ArrayRef]:
    """The borders before and behind an axis."""
    found = []
    before, after = widths[axis]
    for start, count in ((0, before), (out.shape[axis] - after, after)):
        shape = list(out.shape)
        shape[axis] = count
        found.append(view(out, shape, out.strides, out.strides[axis] * start))
    return found[0], found[1]


def _constants(ctx: Context, operand: Operand, ndim: int) -> list[list[Any]]:
    """``constant_values=`` for both sides of each axis."""
    try:
        values = np.broadcast_to(np.array(operand), (ndim, 2))
    except ValueError:
        raise ctx.refuse("pad", "constant_values that don't fit: Python raises") from None
    if values.dtype.kind not in "biuf":
        raise ctx.refuse("pad", "constants that only the run knows")
    found: list[list[Any]] = values.tolist()
    return found


def _borders(ctx: Context, operand: Operand, ndim: int) -> list[tuple[Size, Size]]:
    """``pad_width=`` as (before, after) for each axis."""

    def width(number: Operand) -> Size:
        if arguments.is_number(number) and arguments.operand_dtype(number).kind != "i":
            raise ctx.refuse("pad", "pad_width of no signed integers: Python raises")
        return arguments.length(ctx, number, "pad")

    if not isinstance(operand, (list, tuple)):
        return [(width(operand), width(operand))] * ndim
    rows = operand if isinstance(operand[0], (list, tuple)) else [operand]
    pairs = []
    for row in rows:
        sizes = [width(static(n)) for n in row]
        if len(sizes) not in (1, 2):
            raise ctx.refuse("pad", "pad_width that is no pair: Python raises")
        pairs.append((sizes[0], sizes[-1]))
    if len(pairs) not in (1, ndim):
        raise ctx.refuse("pad", "pad_width for another number of axes: Python raises")
    return pairs * ndim if len(pairs) == 1 else pairs
