"""Takes memory for the objects that a function returns or a failed check hands to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.errors import refuse
from npcompile.graph.ir import (
    Items,
    NewArray,
    Node,
    NumberOf,
    ObjectOf,
    SameParam,
    StaticObject,
    Tree,
    ViewOf,
)
from npcompile.graph.types import Array, Scalar
from npcompile.program.ir import (
    BufferResult,
    ItemsResult,
    ObjectResult,
    ParamResult,
    Result,
    ScalarResult,
    StaticResult,
    ViewResult,
)
from npcompile.schedule.memory.memories import Memory

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler


class Results:
    """Gives each array object a memory of its own.

    ``takes``: memory that holds an array already becomes the object; otherwise it is copied.
    """

    def __init__(self, scheduler: Scheduler, takes: bool = True) -> None:
        self.s = scheduler
        self.takes = takes
        self.cells: dict[int, Memory] = {}
        self.numbers: dict[Node, Memory] = {}

    def memories(self) -> set[Memory]:
        return {*self.cells.values(), *self.numbers.values()}

    def place(self, tree: Tree) -> None:
        """Computes what a result needs, before any memory is final."""
        match tree:
            case NewArray(cell, node):
                if cell not in self.cells:
                    self.cells[cell] = self._claim(node)
            case ViewOf(_, NewArray() as base, _, _):
                self.place(base)
                self._check_layout(base)
            case NumberOf(node):
                self.numbers[node] = self.s.number(node)
            case ObjectOf(node):
                self.numbers[node] = self.s.place[node].memory
            case Items(_, items):
                for item in items:
                    self.place(item)

    def _claim(self, node: Node) -> Memory:
        """The memory that holds a node already, if it is nobody's, or a new one."""
        s = self.s
        found = s.place.get(node)
        if (
            self.takes and found is not None and found.memory.kind in ("temp", "owned")
            and s.is_whole(found) and found.memory.like is None
            and found.memory not in self.cells.values()
        ):
            if found.memory.kind == "temp":
                found.memory.becomes("result")
            return found.memory
        memory = s.fresh(node, "result")
        place = s.store(node, memory) if node.op != "empty" else memory.whole(s.facts)
        s.place.setdefault(node, place)
        return memory

    def _check_layout(self, base: NewArray) -> None:
        """A view's view is told in the strides of the type."""
        type_ = base.node.type
        assert isinstance(type_, Array)
        norm = self.s.facts.norm
        if tuple(map(norm, type_.strides)) != self.cells[base.cell].whole(self.s.facts).strides:
            raise refuse("view", "of an array whose copy is laid out in another way",
                         base.node.line)

    def tree(self, tree: Tree) -> Result:
        match tree:
            case SameParam(index):
                return ParamResult(index)
            case NewArray(cell, _):
                return BufferResult(self.cells[cell].final())
            case ViewOf(ident, base, geometry, dtype, writeable):
                owner = self.tree(base)
                assert isinstance(owner, (ParamResult, BufferResult))
                return ViewResult(ident, owner, geometry, dtype, writeable)
            case NumberOf(node, ident):
                assert isinstance(node.type, Scalar)
                return ScalarResult(self.numbers[node].final(), node.type.origin, ident)
            case ObjectOf(node):
                return ObjectResult(self.numbers[node].final())
            case StaticObject():
                return StaticResult(tree.value, tree.source)
            case Items():
                items = tuple(map(self.tree, tree.items))
                return ItemsResult(tree.kind, items, tree.keys, tree.ident)
