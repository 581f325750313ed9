"""Keys of ``np.ogrid``: slices of Python's numbers."""

from __future__ import annotations

from npcompile.core.records import record
from npcompile.graph.ir import Node
from npcompile.graph.types import Scalar
from npcompile.python.slices import Slice
from npcompile.python.values import NONE, Sequence, Static, Value


@record
class GridAxis:
    """One axis of a grid; ``place``: the key that puts its numbers along it."""

    start: Value
    stop: Value
    step: Value
    divides: bool  #: whether the step is a number of points, written as ``5j``
    place: Value


def is_object(value: Value, held: object) -> bool:
    """Whether a value is this very object."""
    return isinstance(value, Static) and value.value is held


def axes(key: Value) -> tuple[list[GridAxis], Value] | None:
    """The axes of a key of slices, and whether their numbers are floats; None: another key."""
    given = key.items if isinstance(key, Sequence) and key.kind is tuple else ()
    slices = [found for found in map(_sliced, given) if found is not None]
    kinds = [_number(part) for found in slices for part in found.parts()]
    if not given or len(slices) < len(given) or None in kinds:
        return None
    made = []
    for k, (found, kind) in enumerate(zip(slices, kinds[2::3])):
        start, stop, step = found.parts()
        if is_object(stop, None) or complex in kinds[3 * k : 3 * k + 2]:
            return None
        start = Static(0) if is_object(start, None) else start
        step = Static(1) if is_object(step, None) else step
        before, behind = [NONE] * k, [NONE] * (len(slices) - 1 - k)
        place = Sequence((*before, Slice(NONE, NONE, NONE), *behind))
        made.append(GridAxis(start, stop, step, kind is complex, place))
    return made, Static(bool({float, complex} & {*kinds}))


def grid(arrays: list[Value]) -> Value:
    """The tuple of a grid's arrays."""
    return Sequence(tuple(arrays))


def _sliced(part: Value) -> Slice | None:
    if isinstance(part, Static) and isinstance(part.value, slice):
        held = part.value
        return Slice(Static(held.start), Static(held.stop), Static(held.step))
    return part if isinstance(part, Slice) else None


def _number(part: Value) -> type | None:
    """The class of one of Python's numbers, int for None; None: it is something else."""
    if is_object(part, None):
        return int
    if isinstance(part, Static):
        return type(part.value) if type(part.value) in (int, float, complex) else None
    type_ = part.type if isinstance(part, Node) else None
    if not isinstance(type_, Scalar) or type_.origin != "py":
        return None
    return type_.python_type if type_.python_type in (int, float, complex) else None
