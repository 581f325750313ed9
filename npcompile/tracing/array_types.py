"""Arrays, tensors, and what ``np.r_`` and its like make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.paths import defer
from npcompile.ops import foreign, indexing
from npcompile.ops.operands import ArrayRef, same_elements
from npcompile.python.iterators import ArrayIterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.registry import view
from npcompile.python.values import Value
from npcompile.tracing import (
    device_arrays,
    external_calls,
    tensor_values,
    vectors,
)

if TYPE_CHECKING:
    from npcompile.python import grid_keys
    from npcompile.python.iterator import Iterator
    from npcompile.tracing.polyfills import consumers, open_grids
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.python", "grid_keys")
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

    def has(self, count: int) -> bool:
        return self.t.facts.must("==", self.value.shape[0], count)

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

    def truth(self) -> Value:
        return tensor_values.truth(self.t, self.value)

    def attribute(self, name: str, plain: bool = False) -> Value:
        return tensor_values.load(self.t, self.value, name)

    def length(self) -> Value | None:
        return ArrayType(self.t, tensor_values.array(self.value)).length()

    def has(self, count: int) -> bool:
        return ArrayType(self.t, tensor_values.array(self.value)).has(count)

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
        found = grid_keys.axes(key) if grid_keys.is_object(self.value, np.ogrid) else None
        if found is None:
            return None
        axes, floats = found
        made = []
        for axis in axes:
            ends = axis.start, axis.stop, axis.step
            line = (consumers.follow(self.t, open_grids.divided, *ends) if axis.divides else
                    consumers.follow(self.t, open_grids.axis, *ends, floats))
            made.append(self.t.operate(indexing.getitem, line, axis.place))
        return grid_keys.grid(made)
