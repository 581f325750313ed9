"""Predicts results of library functions from their first real calls.

A function that :mod:`npcompile.ops.trials` does not name may search or iterate without end on
made-up numbers, so nothing runs it while a function is traced.  The first call of a kind is made by
Python, at a graph break; :class:`Observer` stands in the function's place on the value stack and
notes the result's type, dtype and number of axes.  The next trace has the call compiled in, and
the run checks the prediction as it checks every other one.  A length of the result is taken for
the length of an operand only where one operand length alone is equal to it; the run tells every
other length.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from npcompile.core.errors import Refusal, Refused, refuse
from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.core.tuples import reads_as_tuple
from npcompile.core.unseen import forget_frames, unseen
from npcompile.graph.ir import Node
from npcompile.graph.types import PYTHON, SUPPORTED, Scalar
from npcompile.ops import foreign
from npcompile.ops.foreign import Foreign
from npcompile.ops.operands import ArrayRef, Tensor
from npcompile.python.composite import Reader
from npcompile.python.values import Value, described, python_class
from npcompile.tracing.predicted_results import Shape, contents, fresh_strides

if TYPE_CHECKING:
    from npcompile.python.characters import TextValue
    from npcompile.python.composite import Composite
    from npcompile.python.values import (
        HeapObject,
        Object,
        Sequence,
        Static,
        TensorValue,
    )
    from npcompile.tensors import called_in_place, tensor_memory
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tensors", "called_in_place", "tensor_memory")

#: kinds of calls of which a process keeps the results' kinds
MOST = 1024
_BY_VALUE = (str, bytes, bool, type(None), type, np.dtype)


@record
class Observation:
    """A result, each of whose lengths is an int, and the lengths of the operands' axes."""

    shape: Shape
    lengths: tuple[int, ...]


_seen: dict[object, Observation | Refusal] = {}


def predict(
    t: Tracer, found: Foreign, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Shape:
    """Predicts the kind of a call's result from the first real call with arguments of the same
    kinds.

    Raises
    ------
    Refused
        Nobody has made such a call yet, or its result can't be followed.
    """
    kind = _Traced(t)
    key = (found.path, *kind.all(args), *kind.named(kwargs))
    known = _seen.get(key)
    if known is None:
        if len(_seen) >= MOST:
            raise t.refuse(found.path, "one of too many library functions to keep account of")
        reason = "what it gives is learned where the compiled function itself calls it"
        outermost = len(t.frames) == 1
        raise Refused(Refusal(found.path, reason, t.builder.line, provisional=outermost))
    if isinstance(known, Refusal):
        raise t.refuse(found.path, known.reason)
    return _sized(known.shape, dict(_unambiguous(known.lengths, kind.lengths)))


def _unambiguous(numbers: Iterable[int], sizes: Iterable[Size]) -> Iterator[tuple[int, Size]]:
    """Each number that stands for one size alone."""
    pairs = list(zip(numbers, sizes, strict=True))
    for number, size in pairs:
        if all(other == size for same, other in pairs if same == number):
            yield number, size


def _sized(shape: Shape, known: dict[int, Size]) -> Shape:
    """The shape with sizes of the trace at hand."""
    sizes = tuple([known.get(n) if isinstance(n, int) else n for n in shape.sizes])
    items = tuple([_sized(item, known) for item in shape.items])
    return Shape(shape.kind, shape.type, shape.dtype, shape.order, sizes, (), items)


class Observer:
    """Calls a library function for Python and notes what the result looks like."""

    def __init__(self, function: Callable[..., Any], found: Foreign) -> None:
        self.function, self.found = function, found
        self.noted = False

    @unseen
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kind = _Real()
        bound = () if not isinstance(self.function, MethodType) else (self.function.__self__,)
        key = (self.found.path, *kind.all((*bound, *args)), *kind.named(kwargs))
        before = [array.tobytes() for array in kind.arrays]
        drawn = _generators()
        try:
            result = self.function(*args, **kwargs)
        except BaseException as error:
            forget_frames(error)
            raise
        if len(_seen) < MOST:
            self.noted = True
            try:
                _pure(kind.arrays, before, drawn, result)
                _seen[key] = Observation(_described(result), tuple(kind.lengths))
            except Refused as refused:
                _seen[key] = refused.refusal
        return result


def observers(stack: list[Any]) -> list[Any]:
    """A value stack on which each function that nobody has observed has an observer."""
    return [_observed(held) for held in stack]


def noted(stack: list[Any]) -> bool:
    """Whether an observer on a value stack has seen a result."""
    return any(isinstance(held, Observer) and held.noted for held in stack)


def _observed(held: Any) -> Any:
    function = held.__func__ if isinstance(held, MethodType) else held
    if not callable(function):
        return held
    path = called_in_place.path(function)
    found = foreign.find(function) if path is None else Foreign(path, None, observed=True)
    return Observer(held, found) if found is not None and found.observed else held


def _generators() -> list[Any]:
    """The states of the libraries' shared generators."""
    torch = sys.modules.get("torch")
    state: Any = np.random.get_state()
    return [*state] if torch is None else [*state, torch.get_rng_state()]


def _pure(arrays: list[Any], before: list[bytes], drawn: list[Any], result: Any) -> None:
    """Refuses a function that did more than give a fresh result."""
    if any(array.tobytes() != held for array, held in zip(arrays, before)):
        raise refuse("", "changes its operands")
    if not all(np.array_equal(a, b) for a, b in zip(drawn, _generators())):
        raise refuse("", "draws random numbers of its own")
    parts = result if isinstance(result, (tuple, list)) else (result,)
    for part in parts:
        part = tensor_memory.lent(part) if tensor_memory.is_torch(part) else part
        if isinstance(part, np.ndarray) and any(np.may_share_memory(part, a) for a in arrays):
            raise refuse("", "returns one of its arguments or a view of one")


def _described(result: Any) -> Shape:
    """What one result looks like, in lengths of its own."""
    kind = type(result)
    if kind is np.ndarray:
        if result.dtype.char not in SUPPORTED or not result.dtype.isnative:
            raise refuse("", f"gives an array of dtype {result.dtype}")
        order: Literal["C", "F"] = "C" if result.flags.c_contiguous else "F"
        if not (result.strides == fresh_strides(result, order) and result.flags.writeable):
            raise refuse("", "gives an array that is not contiguous")
        return Shape("array", np.ndarray, result.dtype, order, result.shape)
    if result is None:
        return Shape("none", kind)
    if kind in PYTHON:
        return Shape("number", PYTHON[kind])
    if isinstance(result, np.generic) and result.dtype.char in SUPPORTED:
        return Shape("number", Scalar(result.dtype, "np"))
    if tensor_memory.is_torch(result):
        memory = tensor_memory.lent(result)
        if memory is None:
            raise refuse("", f"gives a tensor of which {tensor_memory.refused(result)}")
        return Shape("tensor", Tensor, items=(_described(memory),))
    if kind in (tuple, list) or reads_as_tuple(kind) or hasattr(kind, "n_sequence_fields"):
        return Shape("sequence", kind, items=tuple(map(_described, result)))
    raise refuse("", f"gives a {kind.__name__}")


# ------------------------------------------------------------------ kinds of calls


class _Kinds(ABC):
    """Kinds of operands, which are the same for values of a trace and for objects of a run.

    ::

        kind ::= ("array", dtype, axes) | (class, kind, ...) | (class, value) | class
    """

    def __init__(self) -> None:
        self.lengths: list[Any] = []  # of the operands' axes, in order

    @abstractmethod
    def one(self, value: Any) -> object:
        """The kind of one operand."""

    def all(self, values: Iterable[Any]) -> tuple[object, ...]:
        return tuple([self.one(value) for value in values])

    def named(self, values: dict[Any, Any]) -> tuple[object, ...]:
        return tuple([(name, self.one(values[name])) for name in values])

    def array(self, dtype: Any, shape: tuple[Any, ...]) -> object:
        self.lengths += shape
        return "array", dtype.str, len(shape)


class _Real(_Kinds):
    """Kinds of objects."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: list[Any] = []

    def one(self, value: Any) -> object:
        kind = type(value)
        if kind is np.ndarray:
            self.arrays.append(value)
            return self.array(value.dtype, value.shape)
        lent = tensor_memory.lent(value) if tensor_memory.is_torch(value) else None
        if lent is not None:
            return Tensor, self.one(lent)
        if kind in (tuple, list) or reads_as_tuple(kind):
            return kind, *self.all(value)
        if kind is dict:
            return kind, *self.named(value)
        if kind is slice:
            return kind, *self.all((value.start, value.stop, value.step))
        return (kind, value) if issubclass(kind, _BY_VALUE) else kind


class _Traced(_Kinds, Reader[object]):
    """Kinds of the values of a trace."""

    def __init__(self, t: Tracer) -> None:
        super().__init__()
        self.t = t

    def one(self, value: Any) -> object:
        return self.read(value)

    def refused(self, value: Value) -> object:
        raise self.t.refuse("argument", f"{described(value)} of a library function")

    def read_array(self, value: ArrayRef) -> object:
        return self.array(value.dtype, tuple(map(self.t.facts.norm, value.shape)))

    def read_number(self, value: Node) -> object:
        if value.dtype.kind == "b":
            raise self.t.refuse("argument", "a truth value that only the run knows")
        return python_class(value)

    def read_object(self, value: Object) -> object:
        return value.kind

    def read_tuple(self, value: Sequence) -> object:
        return value.kind, *self.all(value.items)

    def read_tensor(self, value: TensorValue) -> object:
        return Tensor, self.one(value.memory)

    def read_text(self, value: TextValue) -> object:
        return value.kind, self.one(value.codes)

    def read_list(self, value: HeapObject) -> object:
        return list, *self.all(contents(self.t, value))

    def read_dict(self, value: HeapObject) -> object:
        return dict, *self.named(contents(self.t, value))

    def read_built(self, value: Composite) -> object:
        return value.builds, *self.all(value.parts())

    read_character = read_built

    def read_constant(self, value: Static) -> object:
        real = _Real()
        found = real.one(value.value)
        self.lengths += real.lengths
        return found
