"""Indexing: ``a[key]`` and ``a[key] = value`` for basic keys, and writes under a mask.

::

    key  ::= item | tuple of items
    item ::= integer (known or traced) | start:stop:step (bounds known or traced, step known)
           | None | ... | array of bool (alone, for writes)
           | array of integers (for reads: alone, or one for each axis)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from npcompile.core.sizes import Size, floordiv, is_known, largest, smallest
from npcompile.graph.ir import HostCall, Node
from npcompile.graph.layout import broadcast_shapes
from npcompile.graph.types import BOOL, INT, contiguous
from npcompile.ops import arguments
from npcompile.ops.arguments import require
from npcompile.ops.operands import ArrayRef, Context, Operand


def getitem(ctx: Context, ref: ArrayRef, key: Operand) -> Operand:
    """``ref[key]``: a view, or a NumPy scalar where every axis has an integer."""
    if is_mask(key):
        raise ctx.refuse("index", "reading by a mask: the length is known only at run time")
    picks = _picks(ctx, ref, key)
    if picks:
        return _gather(ctx, ref, picks)
    window = _view(ctx, ref, key)
    items = key if isinstance(key, tuple) else (key,)
    if window.ndim == 0 and not any(item is Ellipsis for item in items):
        return arguments.element(ctx, window)
    return window


def setitem(ctx: Context, ref: ArrayRef, key: Operand, value: Operand) -> None:
    """``ref[key] = value``."""
    if not ref.writeable:
        raise ctx.refuse("assignment", "the array is read-only: Python raises")
    if is_mask(key):
        _set_masked(ctx, ref, key[0] if isinstance(key, tuple) else key, value)
        return
    target = _view(ctx, ref, key)
    if isinstance(value, ArrayRef) and value.cell is ref.cell and value.window == target.window:
        return  # what ``a[key] += b`` assigns in the end
    ctx.write(target, assigned(ctx, target, value))


def assigned(ctx: Context, target: ArrayRef, value: Operand) -> Node:
    """A value as ``target[...] = value`` takes it: cast, and of a shape that broadcasts."""
    if arguments.is_number(value):
        return arguments.scalar_to(ctx, value, target.dtype)
    if isinstance(value, (list, tuple)):
        value = arguments.as_array(ctx, value, target.dtype)
    if not isinstance(value, ArrayRef):
        raise ctx.refuse("assignment", f"a value of type {type(value).__name__}")
    return arguments.converted(ctx, fitted(ctx, value, target.shape), target.dtype)


def fitted(ctx: Context, value: ArrayRef, shape: tuple[Size, ...]) -> ArrayRef:
    """``value`` without leading axes of length 1 that ``shape`` lacks; refuses what does not
    broadcast to ``shape``."""
    extra = max(value.ndim - len(shape), 0)
    if not all(ctx.facts.equal(n, 1) for n in value.shape[:extra]):
        raise ctx.refuse("assignment", "the value has too many axes: Python raises")
    if extra:
        value = arguments.view(value, value.shape[extra:], value.strides[extra:])
    wide = broadcast_shapes(ctx.facts, value.shape, shape)
    if not all(map(ctx.facts.equal, wide, shape)):
        raise ctx.refuse("assignment", "the value does not broadcast: Python raises")
    return value


# ------------------------------------------------------------------ arrays of integers


def pick(array: Any, *indices: Any) -> Any:
    """``array[indices]``: what compiled code calls."""
    return array[indices]


def _picks(ctx: Context, ref: ArrayRef, key: Operand) -> tuple[ArrayRef, ...]:
    """The arrays of integers of a key whose result is a C-contiguous copy; else nothing."""
    items = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(item, (ArrayRef, list)) for item in items):
        return ()
    if not all(isinstance(item, (ArrayRef, list)) and item for item in items):
        return ()
    picks = tuple(arguments.as_array(ctx, item) for item in items)
    if any(p.dtype.kind not in "iu" or p.ndim == 0 for p in picks):
        return ()
    alone = len(picks) == 1 and ref.ndim > 0
    return picks if alone or (len(picks) == ref.ndim and all(p.ndim == 1 for p in picks)) else ()


def _gather(ctx: Context, ref: ArrayRef, picks: tuple[ArrayRef, ...]) -> ArrayRef:
    """A copy of the elements at these places; NumPy itself finds them, or raises."""
    shape = broadcast_shapes(ctx.facts, *(p.shape for p in picks))
    kind = contiguous(ref.dtype, (*shape, *ref.shape[len(picks) :]))
    return ctx.host_call(HostCall("npcompile.ops.indexing:pick"), (ref, *picks), kind)


# ------------------------------------------------------------------ masks


def is_mask(key: Operand) -> bool:
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    return isinstance(key, ArrayRef) and key.dtype == BOOL and key.ndim > 0


def _set_masked(ctx: Context, ref: ArrayRef, mask: ArrayRef, value: Operand) -> None:
    """``ref[mask] = value``; each element that is written takes the same value or the value of
    its trailing axes, because how many there are is known only at run time."""
    rest = ref.ndim - mask.ndim
    if rest < 0 or not all(map(ctx.facts.equal, mask.shape, ref.shape)):
        raise ctx.refuse("index", "the mask has another shape than the array: Python raises")
    if isinstance(value, (list, tuple)):
        value = arguments.as_array(ctx, value, ref.dtype)
    if isinstance(value, ArrayRef):
        if value.ndim > rest:
            raise ctx.refuse("assignment", "as many values as the mask has True")
        node = arguments.converted(ctx, fitted(ctx, value, ref.shape[mask.ndim :]), ref.dtype)
    elif isinstance(value, Node) and value.type.origin == "np":  # type: ignore[union-attr]
        node = ctx.builder.cast(value, ref.dtype)  # wraps, where a basic index would raise
        if value.dtype.kind == "c" and ref.dtype.kind not in "cb":
            raise ctx.refuse("assignment", "complex to real warns")
    else:
        node = arguments.scalar_to(ctx, value, ref.dtype)
    wide = arguments.view(mask, (*mask.shape, *[1] * rest), (*mask.strides, *[0] * rest))
    ctx.write(ref, node, ctx.read(wide))


# ------------------------------------------------------------------ windows


@dataclass(slots=True)
class _Window:
    """A window under construction, axis by axis."""

    offset: Size = 0
    shape: list[Size] = field(default_factory=list)
    strides: list[Size] = field(default_factory=list)


def _view(ctx: Context, ref: ArrayRef, key: Operand) -> ArrayRef:
    """The view that a basic key selects."""
    items = _expand(ctx, key, ref.ndim)
    window = _Window()
    axis = 0
    for item in items:
        if item is None:
            window.shape.append(1)
            window.strides.append(0)
            continue
        n, stride = ref.shape[axis], ref.strides[axis]
        axis += 1
        if isinstance(item, slice):
            start, count, step = bounds(ctx, item, n)
            window.shape.append(count)
            window.strides.append(stride * step)
            window.offset = window.offset + stride * start
        else:
            window.offset = window.offset + stride * position(ctx, item, n)
    return arguments.view(ref, window.shape, window.strides, window.offset)


def _expand(ctx: Context, key: Operand, ndim: int) -> list[Operand]:
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
        require(ctx, "<=", last, n, "a slice ends behind the array")
        if ctx.facts.prove("<=", first, last) is False:
            return first, first
    elif first == 0:
        require(ctx, "<=", last, n, "a slice ends behind the array")
    else:
        last = smallest(last, n)
    if isinstance(last - first, int):
        return first, first + largest(last - first, 0)
    require(ctx, "<=", first, last, "a slice starts behind its end")
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

