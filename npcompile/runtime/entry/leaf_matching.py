"""Tests in Python whether the values of leaves have the types, layouts and sizes of a trace."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from npcompile.core.sizes import Size, Symbol, evaluate, lone_symbol
from npcompile.graph.types import Array, Opaque, Scalar
from npcompile.guards.sources import Leaf, ObjectWords, Roots, Source
from npcompile.runtime.entry.outline import Outline

#: containers whose items machine code reads
CONTAINERS = frozenset({list, tuple, dict})


def accepts(trace: Outline, values: tuple[Any, ...]) -> bool:
    """Whether leaf values have the types, layouts and sizes that the trace is valid for."""
    if not all(map(_leaf, trace.leaves, values)) or _conflicts(trace, values):
        return False
    known = bind_sizes(trace, values)
    return known is not None and all(guard.holds(known.__getitem__) for guard in trace.predicates)


def overlaps(trace: Outline, values: tuple[Any, ...]) -> bool:
    """Whether leaf values have the types and layouts, but one that is written is read-only or
    shares memory: every version would be left."""
    return all(map(_leaf, trace.leaves, values)) and _conflicts(trace, values)


def _conflicts(trace: Outline, values: tuple[Any, ...]) -> bool:
    if not trace.written:
        return False
    others = {k: value for k, (leaf, value) in enumerate(zip(trace.leaves, values))
              if not isinstance(leaf.source, ObjectWords)}
    return any(_conflict(others, index) for index in trace.written)


def _leaf(leaf: Leaf, value: Any) -> bool:
    kind = leaf.type
    if isinstance(kind, Opaque):
        return type(value) is kind.python_type
    if isinstance(kind, Scalar):
        if type(value) is not (kind.python_type if kind.origin == "py" else kind.dtype.type):
            return False
        return type(value) is not int or -(2**63) <= value < 2**63
    assert isinstance(kind, Array)
    return bool(
        type(value) is np.ndarray
        and value.dtype == kind.dtype
        and value.dtype.isnative
        and value.ndim == kind.ndim
        and value.flags.aligned
        and (value.flags.c_contiguous or not leaf.contiguous)
        and not any(s % value.dtype.itemsize for s in value.strides)
    )


def bind_sizes(trace: Outline, values: tuple[Any, ...]) -> dict[Symbol, int] | None:
    """The symbols' values in a call, or None if a fixed length or stride differs."""
    known: dict[Symbol, int] = {}
    pairs: list[tuple[Size, int]] = []
    for name, leaf, value in zip(trace.symbols, trace.leaves, values):
        if name is not None:
            known[name] = int(value)
        if isinstance(leaf.type, Array):
            pairs += zip(leaf.type.shape, value.shape)
            if not leaf.contiguous:
                unit = value.dtype.itemsize
                pairs += [(size, s // unit) for size, s in zip(leaf.type.strides, value.strides)]
    for size, actual in pairs:
        name = lone_symbol(size)
        if name is not None:
            known.setdefault(name, actual)
    if any(evaluate(size, known.__getitem__) != actual for size, actual in pairs):
        return None
    return known


def _conflict(values: dict[int, Any], written: int) -> bool:
    """Whether a written array is read-only or shares memory with another parameter."""
    target = values[written]
    return not target.flags.writeable or any(
        index != written and isinstance(other, np.ndarray) and np.may_share_memory(target, other)
        for index, other in values.items()
    )


def written(
    tensors: tuple[Source, ...], bound: dict[str, Any], function: FunctionType
) -> None:
    """Tells autograd that a call has changed some tensors."""
    for source in tensors:
        from npcompile.tensors import tensor_memory

        tensor_memory.written(Roots(function, bound).value(source))


def is_unaligned(value: object) -> bool:
    """Whether a value is an array that needs an aligned copy."""
    if type(value) is not np.ndarray:
        return False
    unit = value.itemsize
    return not value.flags.aligned or any(s % unit for s in value.strides if unit)
