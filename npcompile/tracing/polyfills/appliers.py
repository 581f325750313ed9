"""Functions that apply a function of the program: ``np.vectorize``, ``functools.reduce``, ...

Each is a loop in Python that is followed like the user's own (:func:`.consumers.follow`), and does
what NumPy's and Python's do: the same calls, in the same order, with operands of the same types.
Where one of them raises, the call is left for Python, which raises itself.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.guards.kinds import IdentityGuard
from npcompile.guards.sources import Attribute, Source
from npcompile.ops import arguments, views
from npcompile.ops.operands import ArrayRef
from npcompile.python.iterator import Iterator, RangeIterator
from npcompile.python.iterators import ConstantIterator, ItemsIterator
from npcompile.python.values import NONE, NULL, Sequence, Static, Value, python_class
from npcompile.tracing import containers, iteration
from npcompile.tracing.builtin_functions import Args, Keywords, rule
from npcompile.tracing.polyfills.consumers import follow

if TYPE_CHECKING:
    from npcompile.python import grids, partials
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.python", "grids", "partials")


# ---------------------------------------------------------------------- in Python


def _vectorized(function: Any, otypes: Any, *args: Any) -> Any:
    """A call of ``np.vectorize(function, otypes)``: the first elements tell the dtypes."""
    arrays = [np.asarray(a) for a in args]
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    flat = [np.broadcast_to(a, shape).flatten() for a in arrays]
    if otypes is None:
        if not len(flat[0]):
            raise ValueError
        first = function(*[a[0] for a in flat])
        otypes = np.asarray(first).dtype
    out = np.empty(shape, otypes)
    elements = out.reshape(-1)
    for k in range(len(elements)):
        elements[k] = function(*[a[k].item() for a in flat])
    return out


def _along_rows(function: Any, rows: Any, *args: Any, **named: Any) -> Any:
    """What ``np.apply_along_axis`` gives for the rows of a matrix."""
    if not len(rows):
        raise ValueError
    first = np.asarray(function(rows[0], *args, **named))
    out = np.zeros((len(rows), *first.shape), first.dtype)
    out[0] = first
    for k in range(1, len(rows)):
        out[k] = np.asarray(function(rows[k], *args, **named))
    return out


def _piecewise(x: Any, conditions: Any, functions: Any, *args: Any, **named: Any) -> Any:
    """``np.piecewise`` of an array and a list of arrays."""
    masks = [np.asarray(condition, dtype=bool) for condition in conditions]
    if len(functions) == len(masks) + 1:
        covered = masks[0]
        for mask in masks[1:]:
            covered = covered | mask
        masks.append(~covered)
    if len(functions) != len(masks):
        raise ValueError
    out = np.zeros_like(x)
    for mask, function in zip(masks, functions):
        if callable(function):
            values = x[mask]
            if values.size > 0:
                out[mask] = function(values, *args, **named)
        else:
            out[mask] = function
    return out


def _from_indices(function: Any, shape: Any, dtype: Any = float, **named: Any) -> Any:
    """``np.fromfunction``"""
    return function(*np.indices(shape, dtype=dtype), **named)


def _gathered(items: Iterable[Any], dtype: Any) -> Any:
    """``np.fromiter``"""
    found = []
    for item in items:
        found.append(item)
    return np.array(found, dtype=dtype)


def _reduced(function: Any, items: Iterable[Any]) -> Any:
    """``functools.reduce`` without a first value"""
    total = None
    for item in items:
        total = item if total is None else function(total, item)
    if total is None:
        raise TypeError
    return total


def _reduced_from(function: Any, items: Iterable[Any], total: Any) -> Any:
    """``functools.reduce``"""
    for item in items:
        total = function(total, item)
    return total


def _largest(items: Iterable[Any], key: Any) -> Any:
    """``max`` by a key"""
    best = None
    top = None
    for item in items:
        found = key(item)
        if top is None or found > top:
            best, top = item, found
    if top is None:
        raise ValueError
    return best


def _smallest(items: Iterable[Any], key: Any) -> Any:
    """``min`` by a key"""
    best = None
    top = None
    for item in items:
        found = key(item)
        if top is None or found < top:
            best, top = item, found
    if top is None:
        raise ValueError
    return best


def _in_order(items: Iterable[Any], key: Any, backwards: bool) -> list[Any]:
    """``sorted`` of numbers, or by a key that is a number; NaN has no place in an order."""
    found = []
    keys = []
    for item in items:
        found.append(item)
        keys.append(item if key is None else key(item))
    if not found:
        raise ValueError
    marks = np.array(keys)
    if (marks != marks).any():
        raise ValueError
    if backwards:
        places = len(marks) - 1 - np.argsort(marks[::-1].copy(), kind="stable")[::-1]
    else:
        places = np.argsort(marks, kind="stable")
    return [found[k] for k in places]


def _kept(function: Any, items: Iterable[Any]) -> Iterable[Any]:
    """``filter``"""
    return (item for item in items if function(item))


def _pairs(items: Iterable[Any]) -> list[Any]:
    """``itertools.combinations`` of two"""
    held = []
    for item in items:
        held.append(item)
    found = []
    for j in range(len(held)):
        for k in range(j + 1, len(held)):
            found.append((held[j], held[k]))
    return found


def _running(items: Iterable[Any]) -> Iterable[Any]:
    """``itertools.accumulate`` without a function"""
    total = None
    for item in items:
        total = item if total is None else total + item
        yield total


# ---------------------------------------------------------------------- calls of them


def _in_c_order(t: Tracer, args: Args, what: str) -> None:
    """Refuses arrays that NumPy would run through in another order."""
    for a in args:
        if isinstance(a, ArrayRef) and a.ndim > 1 and not views.is_contiguous(t, a):
            raise t.refuse(what, "of arrays that are not C-contiguous")


@rule(np.vectorize)
def _vectorize(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    options = {key: t.known(value)[1] for key, value in kwargs.items() if key != "otypes"}
    if len(args) != 1 or any(options.values()):
        raise t.refuse("vectorize", "with options beside otypes")
    otypes = _one_type(t, kwargs.get("otypes", NONE))
    return partials.Partial(Static(_vectorized), (args[0], otypes), {}, np.vectorize)


def _one_type(t: Tracer, otypes: Value) -> Value:
    """``otypes=`` as the dtype of one result."""
    if python_class(otypes) in (list, tuple):
        items = iteration.items(t, otypes)
        otypes = items[0] if len(items) == 1 else NULL
    held = t.static(otypes, "otypes") if isinstance(otypes, Static) else NULL
    if held is None or (isinstance(held, (type, np.dtype)) or (
        isinstance(held, str) and len(held) == 1
    )):
        return NONE if held is None else Static(np.dtype(held))
    raise t.refuse("vectorize", "with several results")


@rule(_vectorized)
def _call_vectorized(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if kwargs or len(args) < 3:
        raise t.refuse("vectorize", "with keywords, or without operands")
    _in_c_order(t, args[2:], "vectorize")
    return follow(t, _vectorized, *args)


def vectorized(t: Tracer, held: np.vectorize, source: Source) -> Value:
    """A ``np.vectorize`` from outside."""
    t.inputs.guard(IdentityGuard(source, held))
    options = (held.signature, held.excluded, held.cache)
    if any(options) or not callable(held.pyfunc):
        raise t.refuse("vectorize", "with options beside otypes")
    function, otypes = (
        t.inputs.lift(getattr(held, name), Attribute(source, name)) for name in ("pyfunc", "otypes")
    )
    return partials.Partial(Static(_vectorized), (function, _one_type(t, otypes)), {}, np.vectorize)


@rule(np.apply_along_axis)
def _apply_along_axis(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) < 3 or not isinstance(args[2], ArrayRef) or args[2].ndim != 2:
        raise t.refuse("apply_along_axis", "of what is no matrix")
    axis = t.static(args[1], "axis")
    if axis not in (0, 1, -1, -2):
        raise t.refuse("apply_along_axis", "axis is out of bounds: Python raises")
    columns = axis % 2 == 0
    rows = views.permuted(args[2], (1, 0)) if columns else args[2]
    made = follow(t, _along_rows, args[0], rows, *args[3:], **kwargs)
    assert isinstance(made, ArrayRef)
    return views.permuted(made, (1, 0)) if columns and made.ndim == 2 else made


@rule(np.piecewise)
def _call_piecewise(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) < 3 or not isinstance(args[0], ArrayRef) or not all(
        python_class(a) in (list, tuple) for a in args[1:3]
    ):
        raise t.refuse("piecewise", "of what is no array, or of no list of conditions")
    conditions = iteration.items(t, args[1])
    if not conditions or not all(
        isinstance(c, ArrayRef) and c.shape == args[0].shape for c in conditions
    ):
        raise t.refuse("piecewise", "conditions of another shape")
    return follow(t, _piecewise, *args, **kwargs)


@rule(np.fromfunction)
def _fromfunction(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) != 2 or "like" in kwargs:
        raise t.refuse("fromfunction", "with like=")
    return follow(t, _from_indices, *args, **kwargs)


@rule(np.fromiter)
def _fromiter(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    operands = (*args, *kwargs.values())
    if len(operands) != 2 or not set(kwargs) <= {"dtype"}:
        raise t.refuse("fromiter", "with count=")
    return follow(t, _gathered, *operands)


@rule(functools.reduce)
def _reduce(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if kwargs or len(args) not in (2, 3):
        return NULL
    return follow(t, _reduced if len(args) == 2 else _reduced_from, *args)


def by_key(t: Tracer, function: Any, args: Args, kwargs: Keywords) -> Value:
    """``min`` and ``max`` with ``key=``."""
    if set(kwargs) != {"key"} or len(args) != 1:
        raise t.refuse(function.__name__, "default= is left to Python")
    return follow(t, _largest if function is max else _smallest, args[0], kwargs["key"])


def in_order(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    """``sorted``"""
    backwards = containers.backwards(t, kwargs.get("reverse", Static(False)))
    key = kwargs.get("key", NONE)
    return follow(t, _in_order, args[0], key, Static(backwards))


@rule(filter, counts=(2, 2))
def _filter(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    function, items = args
    if isinstance(function, Static) and function.value is None:
        function = Static(bool)
    return follow(t, _kept, function, items)


# ---------------------------------------------------------------------- itertools


def _listed(t: Tracer, made: Value) -> Value:
    """The iterator over a list that nobody else sees."""
    found = iteration.begin(t, made)
    return type(found)(found.over, token=t.token())


@rule(itertools.combinations)
def _combinations(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    pairs = len(args) == 2 and not kwargs and t.static(args[1], "combinations")
    if type(pairs) is not int or pairs != 2:
        raise t.refuse("combinations", "of another number than two")
    return _listed(t, follow(t, _pairs, args[0]))


@rule(itertools.accumulate)
def _accumulate(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if kwargs or len(args) != 1:
        raise t.refuse("accumulate", "with a function")
    return follow(t, _running, args[0])


@rule(itertools.product, names=("repeat",))
def _product(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    """Of ranges from 0, what ``np.ndindex`` gives; of what is known, the tuples."""
    times = t.static(kwargs.get("repeat", Static(1)), "repeat")
    if type(times) is not int or times < 0:
        raise t.refuse("product", "of another number than a count")
    parts = [iteration.begin(t, a) for a in args] * times
    ends = [end for end in map(_end, parts) if end is not None]
    if parts and len(ends) == len(parts):
        for end in ends:
            arguments.length(t, t.operand(end), "product")
        return grids.IndexIterator((Static(0), Sequence(tuple(ends))), token=t.token())
    lengths = [part.left(t) for part in parts]
    if None in lengths:
        raise t.refuse("product", "of what only the run knows the length of")
    columns = [
        [part.item(t, part.position + k) for k in range(n or 0)] for part, n in zip(parts, lengths)
    ]
    found = tuple(Sequence(items) for items in itertools.product(*columns))
    return ItemsIterator(found, token=t.token())


def _end(it: Iterator) -> Value | None:
    """``n`` of the iterator of ``range(n)``."""
    if isinstance(it, ConstantIterator):
        held = it.held().value
        plain = type(held) is range and held.start == 0 and held.step == 1
        return Static(len(held)) if plain else None
    if not isinstance(it, RangeIterator) or it.position:
        return None
    start, stop, step = it.over
    plain = isinstance(start, Static) and isinstance(step, Static) and (
        (start.value, step.value) == (0, 1)
    )
    return stop if plain else None


