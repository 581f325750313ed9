"""Arrays, tensors, and what ``np.r_`` and its like make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.paths import defer
from npcompile.graph.ir import Node
from npcompile.graph.types import Scalar
from npcompile.ops import foreign, indexing
from npcompile.ops.operands import ArrayRef, same_elements
from npcompile.python.iterators import ArrayIterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.registry import view
from npcompile.python.values import NONE, Sequence, Slice, Static, Value
from npcompile.tracing import (
    device_arrays,
    external_calls,
    tensor_values,
    vectors,
)

if TYPE_CHECKING:
    from npcompile.python.iterator import Iterator
    from npcompile.tracing.polyfills import consumers, open_grids
    from npcompile.tracing.tracer import Tracer
else:
    defer(globals(), "npcompile.tracing.polyfills", "consumers", "open_grids")


def _onto_itself(t: Tracer, container: ArrayRef, key: Value, value: Value) -> bool:
    """``a[k] = a[k]``: the end of every ``a[k] += b``.  It is a write like others, which Python
    may refuse, unless the array was written before."""
    if not isinstance(value, ArrayRef) or value.storage is not container.storage:
        return False
    storage = container.storage
    if not container.writeable or (storage.param >= 0 and t.version(storage) is t.first(storage)):
        return False
    mark = t.builder.mark()
    target = t.operate(indexing.getitem, container, key)
    t.builder.rollback(mark)
    return isinstance(target, ArrayRef) and same_elements(target, value)


class ArrayType(PythonType):
    """An array."""

    t: Tracer
    value: ArrayRef

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (cls if isinstance(value, ArrayRef) else PythonType)(t, value)

    def getitem(self, key: Value) -> Value:
        return self.t.operate(indexing.getitem, self.value, device_arrays.viewing(self.t, key))

    def setitem(self, key: Value, value: Value) -> None:
        if not _onto_itself(self.t, self.value, key, value):
            beside = vectors.beside(self.t, value, self.value)
            self.t.operate(indexing.setitem, self.value, key, beside)

    def contains(self, item: Value) -> Value:
        raise self.t.refuse("in", "of an array is left to Python")

    def length(self) -> Value | None:
        return self.t.builder.size(self.value.shape[0]) if self.value.ndim else None

    def iterate(self) -> Iterator:
        if not self.value.ndim:
            return super().iterate()
        device_arrays.check_iteration(self.t, self.value)
        return ArrayIterator((self.value,))


class TensorType(PythonType):
    """A torch tensor."""

    t: Tracer

    def getitem(self, key: Value) -> Value:
        return tensor_values.getitem(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        tensor_values.setitem(self.t, self.value, key, value)

    def contains(self, item: Value) -> Value:
        raise self.t.refuse("in", "of an array is left to Python")

    def length(self) -> Value | None:
        return ArrayType(self.t, tensor_values.array(self.value)).length()

    def iterate(self) -> Iterator:
        return view(self.t, tensor_values.rows(self.t, self.value)).iterate()


class IndexTrickType(PythonType):
    """``np.r_`` and its like."""

    t: Tracer

    def getitem(self, key: Value) -> Value:
        found = self._open_grid(key)
        if found is not None:
            return found
        args = (self.value, key)
        made = external_calls.call(self.t, foreign.indexed, args, {}, plain=True)
        assert made is not None
        return made

    def _open_grid(self, key: Value) -> Value | None:
        """``np.ogrid[...]`` of slices of Python's numbers; None: something else."""
        if not (isinstance(self.value, Static) and self.value.value is np.ogrid):
            return None
        given = key.items if isinstance(key, Sequence) and key.kind is tuple else ()
        slices = [found for found in map(_sliced, given) if found is not None]
        kinds = [_number(part) for found in slices for part in found.parts()]
        if not given or len(slices) < len(given) or None in kinds:
            return None
        floats, made = bool({float, complex} & {*kinds}), []
        for k, (found, kind) in enumerate(zip(slices, kinds[2::3])):
            start, stop, step = found.parts()
            if _is_none(stop) or complex in kinds[3 * k : 3 * k + 2]:
                return None
            start = Static(0) if _is_none(start) else start
            step = Static(1) if _is_none(step) else step
            line = (
                consumers.follow(self.t, open_grids.divided, start, stop, step)
                if kind is complex else
                consumers.follow(self.t, open_grids.axis, start, stop, step, Static(floats))
            )
            around = [NONE] * k, [NONE] * (len(slices) - 1 - k)
            place = Sequence((*around[0], Slice(NONE, NONE, NONE), *around[1]))
            made.append(self.t.operate(indexing.getitem, line, place))
        return Sequence(tuple(made))


def _sliced(part: Value) -> Slice | None:
    if isinstance(part, Static) and isinstance(part.value, slice):
        held = part.value
        return Slice(Static(held.start), Static(held.stop), Static(held.step))
    return part if isinstance(part, Slice) else None


def _is_none(part: Value) -> bool:
    return isinstance(part, Static) and part.value is None


def _number(part: Value) -> type | None:
    """The class of one of Python's numbers, int for None; None: it is something else."""
    if _is_none(part):
        return int
    if isinstance(part, Static):
        return type(part.value) if type(part.value) in (int, float, complex) else None
    type_ = part.type if isinstance(part, Node) else None
    if not isinstance(type_, Scalar) or type_.origin != "py":
        return None
    return type_.python_type if type_.python_type in (int, float, complex) else None
