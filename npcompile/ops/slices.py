"""Basic keys: integers, slices, None and Ellipsis.

::

    key  ::= item | tuple of items
    item ::= integer | start:stop:step | None | ...      numbers may be traced
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npcompile.core.records import field, record
from npcompile.core.sizes import Size, floordiv, is_known, largest, smallest
from npcompile.graph.types import BOOL, INT
from npcompile.ops import arguments
from npcompile.ops.arguments import require
from npcompile.ops.operands import ArrayRef, Context, Operand


@record(frozen=False)
class Axes:
    """A view under construction, axis by axis."""

    offset: Size = 0
    shape: list[Size] = field(default_factory=list)
    strides: list[Size] = field(default_factory=list)

    def move(self, by: Size) -> None:
        """Begins the view so many elements further on."""
        self.offset = self.offset + by


def view_of(ctx: Context, ref: ArrayRef, key: Operand) -> ArrayRef:
    """The view that a basic key selects."""
    items = expanded(ctx, key, ref.ndim)
    geometry = Axes()
    axis = 0
    for item in items:
        if item is None:
            geometry.shape.append(1)
            geometry.strides.append(0)
            continue
        n, stride = ref.shape[axis], ref.strides[axis]
        axis += 1
        if isinstance(item, slice):
            start, count, step = bounds(ctx, item, n)
            geometry.shape.append(count)
            geometry.strides.append(stride * step)
            geometry.offset = geometry.offset + stride * start
        else:
            geometry.offset = geometry.offset + stride * position(ctx, item, n)
    return arguments.view(ref, geometry.shape, geometry.strides, geometry.offset)


def expanded(ctx: Context, key: Operand, ndim: int) -> list[Operand]:
    """One item per axis, and None for new axes."""
    items: Sequence[Any] = key if isinstance(key, tuple) else (key,)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > ndim:
        raise ctx.refuse("index", "too many indices: Python raises")
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise ctx.refuse("index", "more than one Ellipsis: Python raises")
    at = dots[0] if dots else len(items)
    fill = [slice(None)] * (ndim - used)
    return [*items[:at], *fill, *items[at + 1 :]]


def position(ctx: Context, item: Operand, n: Size) -> Size:
    """An index along an axis of length ``n``, counted from the front."""
    if isinstance(item, (ArrayRef, list, tuple)):
        raise ctx.refuse("index", "reading or writing by an array of indices")
    i = arguments.integer(ctx, item, "index")
    reason = "an index is out of range"
    negative = _negative(ctx, i)
    if negative is None:
        return _wrapped(ctx, i, n, reason)
    if negative:
        i = i + n
        require(ctx, "<=", 0, i, reason)
    else:
        require(ctx, "<", i, n, reason)
    return i


def _negative(ctx: Context, i: Size) -> bool | None:
    """Whether an index is negative; None if only the run can tell."""
    proved = ctx.facts.prove("<", i, 0)
    if proved is None and is_known(i):
        return ctx.facts.ask("<", i, 0)
    if proved is None and ctx.facts.ensure("<=", 0, i):
        return False
    if proved is None and ctx.facts.ensure("<", i, 0):
        return True
    return proved


def _wrapped(ctx: Context, i: Size, n: Size, reason: str) -> Size:
    """An index of unknown sign: ``i + n if i < 0 else i``, checked."""
    b = ctx.builder
    low, index, count = b.const(0), b.size(i), b.size(n)
    wrapped = b.map("add", (index, count), index.dtype, origin="py")
    is_negative = b.map("lt", (index, low), BOOL)
    node = b.map("where", (is_negative, wrapped, index), index.dtype, origin="py")
    b.check(b.map("le", (low, node), BOOL), reason)
    b.check(b.map("lt", (node, count), BOOL), reason)
    return b.size_of(node)


def bounds(ctx: Context, item: slice, n: Size) -> tuple[Size, Size, Size]:
    """``slice.indices`` for an axis of length ``n``: first position, count, step."""
    step, *given = [None if part is None else arguments.integer(ctx, part, "slice")
                    for part in (item.step, item.start, item.stop)]
    step = 1 if step is None else step
    if _forwards(ctx, step):
        start, stop = _forward(ctx, given[0], given[1], n)
        return start, _steps(ctx, stop - start, step), step
    start, stop = _backward(ctx, given[0], given[1], n)
    return start, _steps(ctx, start - stop, -step), step


def _forwards(ctx: Context, step: Size) -> bool:
    """The sign of a slice's step, which is not 0."""
    if ctx.facts.prove("==", step, 0) or (is_known(step) and ctx.facts.ask("==", step, 0)):
        raise ctx.refuse("slice", "a step of 0: Python raises")
    if ctx.facts.prove("<", step, 0):
        return False
    return ctx.facts.must("<", 0, step) if not is_known(step) else ctx.facts.ask("<", 0, step)


def _steps(ctx: Context, gap: Size, pace: Size) -> Size:
    """How many steps of a positive length begin in a gap, which is not negative."""
    if pace == 1:
        return gap
    count = floordiv(gap + (pace - 1), pace)
    if isinstance(pace, int) or is_known(count):
        return count
    b = ctx.builder
    pair = b.size(gap + (pace - 1)), b.size(pace)
    return b.size_of(b.map("int_div", pair, INT, origin="py"), 0)


def _forward(ctx: Context, start: Size | None, stop: Size | None, n: Size) -> tuple[Size, Size]:
    """Ends of a slice with a positive step, ``0 <= start <= stop <= n``."""
    if start is None and stop is None:
        return 0, n
    first = 0 if start is None else _from_front(ctx, start, n)
    last = n if stop is None else _from_front(ctx, stop, n)
    if not (is_known(first) and is_known(last) and is_known(n)):
        return _checked(ctx, first, last, n)
    if _at_most(ctx, first, last) and _at_most(ctx, 0, first) and _at_most(ctx, last, n):
        return first, last
    first, last = _clamp(ctx, first, 0, n), _clamp(ctx, last, 0, n)
    return (first, last) if _at_most(ctx, first, last) else (first, first)


def _backward(ctx: Context, start: Size | None, stop: Size | None, n: Size) -> tuple[Size, Size]:
    """Ends of a slice with a negative step, ``n - 1 >= start >= stop >= -1``."""
    first = n - 1 if start is None else _from_front(ctx, start, n)
    last = -1 if stop is None else _from_front(ctx, stop, n)
    if not (is_known(first) and is_known(last) and is_known(n)):
        if start is None and stop is None:
            return first, last
        require(ctx, "<=", -1, last, "a slice is cut off at the array's end")
        require(ctx, "<=", last, first, "a slice is empty the wrong way round")
        require(ctx, "<", first, n, "a slice is cut off at the array's end")
        return first, last
    first, last = _clamp(ctx, first, -1, n - 1), _clamp(ctx, last, -1, n - 1)
    return (first, last) if _at_most(ctx, last, first) else (first, first)


def _checked(ctx: Context, first: Size, last: Size, n: Size) -> tuple[Size, Size]:
    """Ends that only the run knows: a slice that NumPy would cut off or find empty the wrong way
    round leaves, so that lengths stay simple; the end of a block is cut off."""
    require(ctx, "<=", 0, first, "a slice starts before the array")
    if isinstance(last - first, int) or ctx.facts.prove("<=", last, n):
        require(ctx, "<=", last, n, "a slice ends after the array")
        if ctx.facts.prove("<=", first, last) is False:
            return first, first
    elif first == 0:
        require(ctx, "<=", last, n, "a slice ends after the array")
    else:
        last = smallest(last, n)
    if isinstance(last - first, int):
        return first, first + largest(last - first, 0)
    require(ctx, "<=", first, last, "a slice starts after its end")
    return first, last


def _from_front(ctx: Context, end: Size, n: Size) -> Size:
    """A slice bound, counted from the front, not yet clamped."""
    negative = _negative(ctx, end)
    if negative is None:
        high = ctx.facts.prove("<=", end, 0)  # such as -i for a loop index i
        op = ("<", end, 0) if high else ("<=", 0, end)
        require(ctx, op[0], op[1], op[2], "a slice bound changes its sign")
        negative = bool(high)
    return end + n if negative else end


def _at_most(ctx: Context, a: Size, b: Size) -> bool:
    return ctx.facts.at_most(a, b)


def _clamp(ctx: Context, end: Size, low: Size, high: Size) -> Size:
    if not _at_most(ctx, low, end):
        return low
    return end if _at_most(ctx, end, high) else high

