"""Values as operators take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.graph.ir import Node
from npcompile.guards.class_hooks import ask
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Operand, Tensor
from npcompile.python.composite import Composite, Reader
from npcompile.python.iterator import RangeIterator
from npcompile.python.values import LONGEST, Value, Vector, described
from npcompile.tracing import external
from npcompile.tracing.inputs import pinned

if TYPE_CHECKING:
    from npcompile.python.iterator import Iterator
    from npcompile.python.values import HeapObject, Sequence, Static, TensorValue
    from npcompile.tracing.services import Tracer


class Operands(Reader[Operand]):
    """Values as operators take them."""

    def __init__(self, t: Tracer) -> None:
        self.t = t

    def refused(self, value: Value) -> Operand:
        wanted = "is no array or number, and a function of arrays gets it"
        raise self.t.refuse(described(value), wanted)

    def read_number(self, value: Node) -> Operand:
        return value

    def read_array(self, value: ArrayRef) -> Operand:
        return value

    def read_constant(self, value: Static) -> Operand:
        t, held, source = self.t, value.value, value.source
        if isinstance(held, range):
            ends = (held.start, held.stop, held.step)
            return [*held] if len(held) <= LONGEST else run(t, "arange", *ends)
        ask(t, held, described(value))
        return held if source is None or pinned(held) else external.operand(t, held, source)

    def read_tuple(self, value: Sequence) -> Operand:
        return self.refused(value) if value.builds is None else self.read_built(value)

    def read_tensor(self, value: TensorValue) -> Operand:
        return Tensor(value.array)

    def read_list(self, value: HeapObject) -> Operand:
        held = self.t.heap[value]
        if isinstance(held, Vector):
            hint = "make an array of it: np.array(...)"
            raise self.t.refuse("list", "of a length that only the run knows", hint)
        return list(map(self.read, held))

    def read_dict(self, value: HeapObject) -> Operand:
        return {key: self.read(item) for key, item in self.t.heap[value].items()}

    def read_built(self, value: Composite) -> Operand:
        return value.builds(*map(self.read, value.parts()))

    def read_iterator(self, value: Iterator) -> Operand:
        if not value.itself or not isinstance(value, RangeIterator):
            return self.refused(value)
        made = run(self.t, "arange", *map(self.read, value.over))
        assert isinstance(made, ArrayRef)
        return made if self.t.facts.less(0, made.shape[0]) else []  # of float64
