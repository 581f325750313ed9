"""Loops whose trip counts only the run knows: what each iteration of an iterator gives.

A range is run over by its own index; everything else by a position ``k`` from the iterator's own
to its length, at which items are views and numbers that depend on ``k``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.core.records import record, replace
from npcompile.core.sizes import (
    INDEX,
    Poly,
    Size,
    Unhinted,
    floordiv,
    largest,
    mod,
    product,
    smallest,
)
from npcompile.graph.ir import Node
from npcompile.ops import arguments, indexing
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import Fetched, HeapObject, Iterator, Sequence, Static, Value, Vector
from npcompile.tracing import iteration, texts, vectors
from npcompile.tracing.escapes import as_number

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

Bounds = tuple[Size, Size, Size]


@record
class Iterations:
    """``range(start, stop, step)`` of an index, and what the iteration with an index gives: the
    item, and the iterator after it.  ``low`` and ``high`` are the ends of the index, inclusive.
    ``standing`` gives the iterator before an item, should it be left to Python, and ``before`` the
    one before the iteration with an index."""

    start: Size
    stop: Size
    step: Size
    low: Size
    high: Size
    item: Callable[[Node, Size], tuple[Value, Iterator]]
    before: Callable[[Size], Iterator]
    standing: Callable[[Size, Value], Value] = lambda k, begun: begun


def iterations(t: Tracer, iterator: Iterator) -> Iterations:
    """Describes the iterations of a loop over the rest of an iterator; refuses iterators whose
    state must be known while tracing."""
    found = bounds(t, iterator)
    if found is None:
        count = length(t, iterator)
        first = iterator.position

        def place(index: Node, k: Size) -> tuple[Value, Iterator]:
            return at(t, iterator, k - first)

        def standing(k: Size, begun: Value) -> Value:
            return after(t, iterator, k - first) if _checks(t, iterator) else begun

        def before(k: Size) -> Iterator:
            return after(t, iterator, k - first)

        return Iterations(first, count, 1, first, count - 1, place, before, standing)
    start, stop, step = found
    rising = is_positive(t, step)

    def number(index: Node, i: Size) -> tuple[Value, Iterator]:
        value = t.builder.size(i) if small(t, start, stop) else index
        return value, standing_at(i + step)

    def standing_at(i: Size) -> Iterator:
        rest = tuple(t.builder.size(n) for n in (i, stop, step))
        return Iterator("range", rest, token=iterator.token, begun=iterator.begun)

    ends = (start, stop - 1) if rising else (stop + 1, start)
    return Iterations(start, stop, step, *ends, number, standing_at)


def _checks(t: Tracer, it: Value) -> bool:
    """Whether an iterator's items are checked when they are taken."""
    held = t.heap.get(it) if isinstance(it, HeapObject) else None
    if isinstance(held, Vector):
        return isinstance(held.item, Fetched)
    return isinstance(it, Iterator) and any(_checks(t, part) for part in it.over)


def has_iterations(t: Tracer, over: Iterations) -> bool:
    """Whether there is a first iteration, by a guard if need be."""
    ends = (over.low, over.high)
    try:
        return t.facts.ask("<=", *ends)
    except Unhinted:
        return t.facts.ensure("<=", *ends)


def first(t: Tracer, iterator: Iterator, over: Iterations) -> Node:
    """The index of the first iteration, as a number that may be large."""
    if iterator.kind != "range" or small(t, over.start):
        return t.builder.size(over.start)
    number = t.call_record(int, (iterator.over[0],))
    for _ in range(iterator.position):
        number = t.binary("+", number, iterator.over[2])
    found = as_number(t, number)
    assert found is not None
    return found


def check(t: Tracer, it: Iterator) -> None:
    """Refuses a range that Python would refuse to make."""
    found = bounds(t, it)
    assert found is not None
    is_positive(t, found[2])


def is_positive(t: Tracer, step: Size) -> bool:
    """The sign of a step that is not 0; that only the run knows is taken for the likelier one, and
    checked."""
    try:
        if t.facts.ask("==", step, 0):
            raise t.refuse("range", "a step of 0: Python raises")
        return t.facts.ask("<", 0, step)
    except Unhinted:
        falls = isinstance(step, Poly) and all(factor < 0 for _, factor in step.terms)
        down = t.facts.prove("<", step, 0) or (falls and not t.facts.prove("<", 0, step))
        low, high = (step, 0) if down else (0, step)
        arguments.require(t, "<", low, high, "a range goes the other way than it did")
        return not down


def small(t: Tracer, *ends: Size) -> bool:
    """Whether all numbers between these are small, guarded if need be."""
    return all(t.facts.ensure("<=", -INDEX, n) and t.facts.ensure("<=", n, INDEX) for n in ends)


def bounds(t: Tracer, it: Iterator) -> Bounds | None:
    """Start, stop and step of the rest of a range, also reversed; None for anything else."""
    found: Bounds | None = None
    held = it.over[0] if it.over else None
    if it.kind == "range":
        start, stop, step = (
            arguments.integer(t, t.operand(part), "range") for part in it.over
        )
        found = (start, stop, step)
    elif it.kind == "static" and isinstance(held, Static) and isinstance(held.value, range):
        found = (held.value.start, held.value.stop, held.value.step)
    elif it.kind == "reversed" and isinstance(held, Iterator):
        inner = bounds(t, held)
        found = None if inner is None else _reversed(t, *inner)
    if found is None or not it.position:
        return found
    return (found[0] + it.position * found[2], found[1], found[2])


def _reversed(t: Tracer, start: Size, stop: Size, step: Size) -> Bounds:
    sign = 1 if is_positive(t, step) else -1
    last = start + floordiv((stop - start) * sign - 1, step * sign) * step
    return last, start - sign, -step


def length(t: Tracer, it: Iterator) -> Size:
    """How many items an iterator has, from its beginning."""
    found = bounds(t, replace(it, position=0))
    if found is not None:
        start, stop, step = found
        sign = 1 if is_positive(t, step) else -1
        count = floordiv((stop - start) * sign + step * sign - 1, step * sign)
        return count if t.facts.ensure("<=", 0, count) else largest(count, 0)
    inner = [part for part in it.over if isinstance(part, Iterator)]
    match it.kind:
        case "array":
            assert isinstance(it.over[0], ArrayRef)
            return t.facts.norm(it.over[0].shape[0])
        case "text":
            return t.facts.norm(texts.array(it.over[0]).shape[0])
        case "grown":
            return vectors.size(t, _grown(t, it)[1])
        case "enumerate" | "reversed":
            return length(t, inner[0]) - inner[0].position
        case "zip" | "map" if inner:
            if any(map(iteration.calls, inner[:-1])):
                raise t.refuse(it.kind, "may call a function once more than it needs to")
            counts = [length(t, part) - part.position for part in inner]
            shortest = counts[0]
            for count in counts[1:]:
                shortest = _smaller(t, shortest, count)
            return shortest
        case "ndindex" | "ndenumerate":
            first, dims = _grid(t, it)
            return product(dims) - first
    raise t.refuse("loop", f"over {it.kind} is followed iteration by iteration")


def _smaller(t: Tracer, a: Size, b: Size) -> Size:
    try:
        return a if t.facts.ask("<=", a, b) else b
    except Unhinted:
        return smallest(a, b)


def at(t: Tracer, it: Iterator, k: Size) -> tuple[Value, Iterator]:
    """The item ``k`` places after an iterator's position, and the iterator after that item."""
    return item(t, it, k), after(t, it, k + 1)


def item(t: Tracer, it: Iterator, k: Size) -> Value:
    """The item ``k`` places after an iterator's position."""
    found = bounds(t, it)
    if found is not None:
        start, stop, step = found
        if not small(t, start, stop):
            raise t.refuse("range", "of large numbers side by side with something else")
        return t.builder.size(start + k * step)
    inner = [part for part in it.over if isinstance(part, Iterator)]
    k = k + it.position
    match it.kind:
        case "grown":
            return vectors.load(t, *_grown(t, it), k)
        case "array":
            return t.operate(indexing.getitem, it.over[0], t.builder.size(k))
        case "text":
            return texts.item(t, it.over[0], k)
        case "zip":
            return Sequence(tuple(item(t, part, k) for part in inner))
        case "map":
            return t.call(it.over[0], tuple(item(t, part, k) for part in inner), {})
        case "enumerate":
            return Sequence((_counted(t, it.over[1], k), item(t, inner[0], k)))
        case "reversed" if inner[0].kind == "grown" and not inner[0].position:
            over, held = _grown(t, inner[0])
            return vectors.load(t, over, held, vectors.size(t, held) - 1 - k)
        case "reversed" if inner[0].kind == "array" and not inner[0].position:
            return t.operate(indexing.getitem, _flipped(inner[0]), t.builder.size(k))
        case "ndindex" | "ndenumerate":
            return _storage(t, it, k)
    raise t.refuse("loop", f"over {it.kind} is followed iteration by iteration")


def standing(t: Tracer, it: Iterator) -> Iterator:
    """The same iterator at its beginning, if that can be told."""
    if it.itself:
        return it
    held = it.over[0] if it.over else None
    counted = isinstance(held, Static) and isinstance(held.value, range)
    return after(t, it, 0) if counted or iteration.remaining(t, it) is None else it


def alike(a: Iterator, b: Iterator) -> bool:
    """Whether iterators that stand at their beginnings differ in nothing but their parts."""
    kinds = ("range", "array", "zip", "enumerate")
    return (
        a.kind == b.kind and a.kind in kinds and len(a.over) == len(b.over)
        and not a.position and not b.position and a.itself == b.itself
    )


def after(t: Tracer, it: Iterator, k: Size) -> Iterator:
    """The iterator that begins ``k`` places after another one's position; the same to the program.
    """
    return replace(_after(t, it, k), token=it.token, begun=it.begun)


def _after(t: Tracer, it: Iterator, k: Size) -> Iterator:
    found = bounds(t, it)
    if found is not None:
        start, stop, step = found
        return Iterator("range", tuple(t.builder.size(n) for n in (start + k * step, stop, step)))
    inner = [part for part in it.over if isinstance(part, Iterator)]
    k = k + it.position
    match it.kind:
        case "reversed" if inner[0].kind == "grown" and not inner[0].position:
            over, held = _grown(t, inner[0])
            count = vectors.size(t, held) - k
            obj = vectors.copied(t, over, held, count - 1, count, -1, rest=True)
            return _rest(t, inner[0], obj, None)
        case "array" | "reversed" if "array" in (it.kind, *(part.kind for part in inner)):
            ref = it.over[0] if it.kind == "array" else _flipped(inner[0])
            assert isinstance(ref, ArrayRef)
            n, stride = ref.shape[0], ref.strides[0]
            rest = arguments.view(ref, (n - k, *ref.shape[1:]), ref.strides, k * stride)
            return Iterator("array", (rest,))
        case "text":
            return Iterator("text", (texts.rest(it.over[0], k),))
        case "zip":
            return Iterator("zip", tuple(after(t, part, k) for part in inner))
        case "map":
            return Iterator("map", (it.over[0], *(after(t, part, k) for part in inner)))
        case "enumerate":
            return Iterator("enumerate", (after(t, inner[0], k), _counted(t, it.over[1], k)))
        case "grown":
            over, held = _grown(t, it)
            obj = vectors.copied(t, over, held, k, vectors.size(t, held) - k, rest=True)
            return _rest(t, it, obj, k)
        case "ndindex" | "ndenumerate":
            first, _ = _grid(t, it)
            return Iterator(it.kind, (t.builder.size(first + k), *it.over[1:]))
    raise t.refuse("loop", f"over {it.kind} is followed iteration by iteration")


def _rest(t: Tracer, it: Iterator, obj: HeapObject, k: Size | None) -> Iterator:
    """The iterator over the items of a list that another one has not given; it remembers the whole
    list, and how far it is in it, if it goes through it from the front."""
    t.generators.goes_on(it.over[0], obj)
    whole, *places = it.over[2:] or (it.over[0], t.builder.const(0))
    if k is not None and places:
        begun = arguments.integer(t, t.operand(places[0]), "list")
        places = [t.builder.size(begun + k)]
    return Iterator("grown", (obj, t.heap[obj].length, whole, *places[: k is not None]))


def _grown(t: Tracer, it: Iterator) -> tuple[HeapObject, Vector]:
    """A list, which must not grow or shrink from the beginning of a loop over it on."""
    obj = it.over[0]
    assert isinstance(obj, HeapObject)
    held = t.heap[obj]
    begun = it.over[1] if len(it.over) > 1 else None
    changed = isinstance(begun, Node) and not (
        isinstance(held, Vector) and vectors.same_length(t, held.length, begun)
    )
    if changed or not isinstance(held, Vector):
        raise t.refuse("loop", "over a list that it makes longer or shorter")
    return obj, held


def _grid(t: Tracer, it: Iterator) -> tuple[Size, tuple[Size, ...]]:
    """Where an iterator over indices begins, in row-major order, and the lengths of the axes."""
    first = arguments.integer(t, t.operand(it.over[0]), "ndindex")
    held = it.over[1]
    if isinstance(held, ArrayRef):
        return first, held.shape
    assert isinstance(held, Sequence)
    return first, tuple(arguments.integer(t, t.operand(n), "ndindex") for n in held.items)


def _storage(t: Tracer, it: Iterator, k: Size) -> Value:
    """The indices of the element that is ``k`` places behind the iterator's beginning."""
    first, dims = _grid(t, it)
    rest, found = first + k, list[Size]()
    for n in reversed(dims[1:]):
        found.append(mod(rest, n))
        rest = floordiv(rest, n)
    found += [rest] if dims else []
    indices = Sequence(tuple(map(t.builder.size, reversed(found))))
    if it.kind == "ndindex":
        return indices
    return Sequence((indices, t.operate(indexing.getitem, it.over[1], indices)))


def _counted(t: Tracer, start: Value, k: Size) -> Value:
    if isinstance(k, int) and k == 0:
        return start
    if isinstance(start, Static) and type(start.value) is int and abs(start.value) <= INDEX:
        return t.builder.size(start.value + k)
    size = t.builder.known_size(start) if isinstance(start, Node) else None
    if size is not None and small(t, size):
        return t.builder.size(size + k)
    return t.binary("+", start, t.builder.size(k))


def _flipped(it: Iterator) -> ArrayRef:
    ref = it.over[0]
    assert isinstance(ref, ArrayRef)
    n, stride = ref.shape[0], ref.strides[0]
    strides = (-stride, *ref.strides[1:])
    return arguments.view(ref, ref.shape, strides, (n - 1) * stride)
