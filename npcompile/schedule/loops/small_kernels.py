"""Kernels over few elements inside loops, element by element: a call would cost more than they do,
and what one of them leaves in memory the next one finds in registers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from npcompile.core.records import replace
from npcompile.program.ir import (
    Apply,
    AxisIndex,
    Constant,
    For,
    Index,
    Kernel,
    Load,
    Statement,
    Store,
    Value,
    While,
    with_blocks,
)

MOST = 8  # elements
WORK = 100  # values of all elements


def unrolled(body: Sequence[Statement], inside: bool = False) -> tuple[Statement, ...]:
    """Statements with such kernels as kernels without axes; ``inside``: of a loop."""
    return tuple([_statement(statement, inside) for statement in body])


def _statement(statement: Statement, inside: bool) -> Statement:
    match statement:
        case Kernel() if inside:
            return _kernel(statement)
        case For(parallel=True):
            return statement
    within = inside or isinstance(statement, (For, While))
    return with_blocks(statement, lambda body: unrolled(body, within))


def _kernel(kernel: Kernel) -> Kernel:
    extents = [axis.extent for axis in kernel.axes if isinstance(axis.extent, int)]
    count = int(np.prod(extents, dtype=object))
    short = len(extents) == len(kernel.axes) and 0 < count <= MOST
    if not (kernel.axes and short and count * len(kernel.values) <= WORK) or (
            kernel.reductions or kernel.in_order
            or any(store.mask is not None for store in kernel.stores)):
        return kernel
    values: list[Value] = []
    stores: list[Store] = []
    for place in product(*map(range, extents)):
        first = len(values)
        values += [_value(value, place, first) for value in kernel.values]
        stores += [
            replace(store, at=_index(store.at, place), value=first + store.value,
                    by=None if store.by is None else first + store.by)
            for store in kernel.stores
        ]
    return replace(kernel, axes=(), values=tuple(values), stores=tuple(stores))


def _value(value: Value, place: tuple[int, ...], first: int) -> Value:
    """A value of the element at a place, whose values begin at ``first``."""
    match value:
        case Load(at=at, by=by):
            return replace(value, at=_index(at, place), by=None if by is None else first + by)
        case AxisIndex(axis, dtype):
            return Constant(np.int64(place[axis]), dtype)
        case Apply(args=args):
            return replace(value, args=tuple([first + arg for arg in args]))
    return value


def _index(at: Index, place: tuple[int, ...]) -> Index:
    offset = at.offset
    for coefficient, k in zip(at.coefficients, place, strict=True):
        offset = offset + coefficient * k
    return Index(offset, (), at.part)
