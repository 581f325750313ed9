"""Calls that make iterators: of Python's functions, and NumPy's over indices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.parallel import prange
from npcompile.core.paths import defer
from npcompile.ops import arguments
from npcompile.ops.operands import ArrayRef
from npcompile.python.iterator import Iterator, RangeIterator
from npcompile.python.values import NULL, Sequence, Static, TaggedUnion, Value, python_class
from npcompile.tracing import iteration, trip_counts
from npcompile.tracing.builtin_functions import Args, Keywords, rule

if TYPE_CHECKING:
    from npcompile.python import characters, grids, iterator_adapters, strings
    from npcompile.tracing import texts
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.python", "characters", "grids", "iterator_adapters", "strings")
    defer(globals(), "npcompile.tracing", "texts")


@rule(range, prange, counts=(1, 3))
def _range(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    known = [t.known(v) for v in args]
    if all(ok for ok, _ in known):
        return t.executed(range, *(held for _, held in known))
    start, stop, step = (
        (Static(0), args[0], Static(1)) if len(args) == 1 else (*args, Static(1))[:3]
    )
    made = RangeIterator((start, stop, step), itself=True)
    if not any(isinstance(part, TaggedUnion) for part in made.over):
        trip_counts.check(t, made)
    return made


def _iterator(t: Tracer, kind: type[Iterator], *parts: Value) -> Value:
    return kind(parts, token=t.token())


@rule(iter, counts=(1, 1))
def _iter(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if isinstance(args[0], Iterator) and args[0].token is not None:
        return args[0]
    found = iteration.begin(t, args[0])
    return type(found)(found.over, token=t.token())


@rule(zip, names=("strict",))
def _zip(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    begun = [iteration.begin(t, v) for v in args]
    if t.static(kwargs.get("strict", Static(False)), "zip"):
        lengths = {x.left(t) for x in begun}
        if len(lengths) > 1 or None in lengths:
            raise t.refuse("zip", "strict= of lengths that differ, or that only the run knows")
    return _iterator(t, iterator_adapters.ZipIterator, *begun)


@rule(enumerate, counts=(1, 2), names=("start",), most=2)
def _enumerate(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    start = kwargs.get("start", args[1] if len(args) > 1 else Static(0))
    if not issubclass(python_class(start), (int, np.integer)):
        raise t.refuse("enumerate", "from what is no int")
    begun, first = iteration.begin(t, args[0]), t.call(Static(int), (start,), {})
    return _iterator(t, iterator_adapters.EnumerateIterator, begun, first)


@rule(reversed, counts=(1, 1))
def _reversed(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if characters.is_text(args[0]):
        args = (texts.flipped(t, args[0]),)
        return _iterator(t, strings.StringIterator, *args)
    return _iterator(t, iterator_adapters.ReversedIterator, iteration.begin(t, args[0]))


@rule(map, counts=(2, math.inf))
def _map(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    begun = [iteration.begin(t, v) for v in args[1:]]
    return _iterator(t, iterator_adapters.MapIterator, args[0], *begun)


@rule(np.ndindex)
def _ndindex(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if kwargs:
        return NULL
    if len(args) == 1 and python_class(args[0]) in (tuple, list):
        args = iteration.items(t, args[0])
    for n in args:
        arguments.length(t, t.operand(n), "ndindex")
    return _iterator(t, grids.IndexIterator, Static(0), Sequence(args))


@rule(np.ndenumerate, counts=(1, 1))
def _ndenumerate(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if not isinstance(args[0], ArrayRef):
        raise t.refuse("ndenumerate", "of what is no array")
    return _iterator(t, grids.IndexedIterator, Static(0), args[0])
