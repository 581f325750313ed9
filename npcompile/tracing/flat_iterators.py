"""``array.flat``: the elements of an array one after the other, which a view of one axis shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.graph.ir import Node
from npcompile.graph.types import PY_FLOAT, Scalar, contiguous
from npcompile.ops import indexing, views
from npcompile.ops.operands import ArrayRef
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import ArrayIterator, FlatIterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.slices import Slice
from npcompile.python.values import Sequence, Static, Value
from npcompile.tracing.escapes import as_number

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def of(t: Tracer, array: ArrayRef) -> Iterator:
    """``array.flat``"""
    if array.geometry.part or not views.is_contiguous(t, array):
        raise t.refuse(".flat", "of an array whose elements are not next to each other")
    return FlatIterator((t.operate(views.ravel, array), array), token=t.token())


def _place(t: Tracer, flat: Iterator, key: Value) -> tuple[ArrayRef, bool]:
    """The view, and whether a key is of one element; refuses keys that are neither an int nor a
    slice."""
    view, _ = flat.over
    assert isinstance(view, ArrayRef)
    number = as_number(t, key)
    single = number is not None and number.dtype.kind in "iu"
    sliced = isinstance(key, Slice) or (isinstance(key, Static) and type(key.value) is slice)
    if not (single or sliced) or isinstance(key, Sequence):
        raise t.refuse(".flat", "with a key that is no int and no slice")
    return view, single


def getitem(t: Tracer, flat: Iterator, key: Value) -> Value:
    """``array.flat[key]``: an element, or a copy of some."""
    view, single = _place(t, flat, key)
    found = t.operate(indexing.getitem, view, key)
    if single or not isinstance(found, ArrayRef):
        return found
    kind = contiguous(found.dtype, found.shape)
    return t.new(t.builder.emit("copy", (t.read(found),), None, kind))


def setitem(t: Tracer, flat: Iterator, key: Value, value: Value) -> None:
    """``array.flat[key] = value``, of a number that the array holds as it is."""
    view, _ = _place(t, flat, key)
    number = as_number(t, value)
    if not isinstance(number, Node) or number.dtype != view.dtype or (
        number.type != Scalar(view.dtype, "np") and number.type != PY_FLOAT
    ):
        raise t.refuse(".flat", "gets something else than a number of the array's dtype")
    t.operate(indexing.setitem, view, key, number)


class FlatType(PythonType):
    """``array.flat``"""

    t: Tracer
    value: Iterator

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (cls if isinstance(value, Iterator) else PythonType)(t, value)

    def getitem(self, key: Value) -> Value:
        return getitem(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        setitem(self.t, self.value, key, value)

    def contains(self, item: Value) -> Value:
        raise self.t.refuse("in", "of an iterator is left to Python")

    def truth(self) -> Value:
        raise self.t.refuse("truth", "of array.flat is left to Python")

    def iterate(self) -> Iterator:
        return ArrayIterator(self.value.over[:1], token=self.value.token, begun=self.value.begun)
