"""From nests to a program: results, kernels, allocation."""

from __future__ import annotations

from npcompile.core.errors import refuse
from npcompile.graph.ir import (
    Items,
    NewArray,
    Node,
    NumberOf,
    Param,
    SameParam,
    StaticObject,
    Tree,
    ViewOf,
)
from npcompile.graph.types import Array, Scalar
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    BufferResult,
    Call,
    Check,
    Free,
    ItemsResult,
    Kernel,
    Load,
    ParamResult,
    Program,
    Result,
    ScalarResult,
    Statement,
    StaticResult,
    View,
    ViewResult,
)
from npcompile.schedule.memory import Memory
from npcompile.schedule.nest import Nest
from npcompile.schedule.scheduler import Binding, Host, Leave, Scheduler, Step


class Results:
    """Gives each array object of the result a memory of its own."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.s = scheduler
        self.cells: dict[int, Memory] = {}
        self.numbers: list[Memory] = []

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
                self.numbers.append(self.s.number(node))
            case Items(_, items):
                for item in items:
                    self.place(item)

    def _claim(self, node: Node) -> Memory:
        """The memory that holds a node already, if it is nobody's, or a new one."""
        s = self.s
        found = s.place.get(node)
        if found is not None and found.memory.kind == "temp" and s.is_whole(found):
            found.memory.kind = "result"
            return found.memory
        memory = s.fresh(node, "result")
        place = s.store(node, memory) if node.op != "empty" else memory.whole(s.facts)
        s.place.setdefault(node, place)
        return memory

    def _check_layout(self, base: NewArray) -> None:
        """A view's window is told in the strides of the type."""
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
            case ViewOf(ident, base, window, dtype):
                owner = self.tree(base)
                assert isinstance(owner, (ParamResult, BufferResult))
                return ViewResult(ident, owner, window, dtype)
            case NumberOf(node):
                assert isinstance(node.type, Scalar)
                return ScalarResult(self.s.number(node).final(), node.type.origin)
            case StaticObject():
                return StaticResult(tree.value, tree.source)
            case Items():
                items = tuple(map(self.tree, tree.items))
                return ItemsResult(tree.kind, items, tree.keys, tree.ident)


def finish(s: Scheduler) -> Program:
    """The program of a finished walk."""
    results = Results(s)
    results.place(s.graph.result)
    flagged = {s.materialise(node).memory for node in s.graph.region.results}
    _prune(s.steps, {*results.cells.values(), *results.numbers, *flagged})
    steps = [step for step in s.steps if not (isinstance(step, Nest) and _is_empty(step))]
    body = _allocate(
        [_statement(step, k) for k, step in enumerate(steps)],
        [memory.final() for memory in results.cells.values()],
    )
    graph = s.graph
    symbols = {
        p.attrs.index: p.attrs.symbol for p in graph.params
        if isinstance(p.attrs, Param) and p.attrs.symbol is not None
    }
    result = results.tree(graph.result)
    return Program(
        name=graph.name,
        params=[memory.final() for memory in s.params],
        buffers=[memory.buffer for memory in s.memories if memory.buffer is not None],
        body=body,
        result=result,
        guards=s.facts.guards,
        written=frozenset(graph.finals),
        int_symbols=symbols,
        resumes=s.resumes,
        notes=s.notes,
    )


def _is_empty(nest: Nest) -> bool:
    return not nest.puts and not nest.folds


def _prune(steps: list[Step], results: set[Memory]) -> None:
    """Backwards, so that what only dead stores need is dead as well."""
    wanted = set(results)
    for step in reversed(steps):
        if isinstance(step, Nest):
            step.prune(wanted)
            wanted |= step.memories()
        elif isinstance(step, Host):
            wanted |= {place.memory for place, _ in step.inputs}
        else:
            wanted.add(step.memory)


def _statement(step: Step, number: int) -> Statement:
    match step:
        case Nest():
            return step.kernel(f"k{number}")
        case Leave(memory, reason, resume):
            return Check(memory.final(), reason, resume)
        case Binding(symbol, memory):
            return Bind(symbol, memory.final())
        case Host(function, inputs, outputs, line):
            views = tuple([View(p.memory.final(), p.as_window(), dtype) for p, dtype in inputs])
            return Call(function, views, tuple([m.final() for m in outputs]), line)


def _buffers(statement: Statement) -> list[Buffer]:
    """The buffers that a statement touches."""
    match statement:
        case Kernel():
            loads = [v.buffer for v in statement.values if isinstance(v, Load)]
            stores = [store.buffer for store in statement.stores]
            return loads + stores + [reduce.buffer for reduce in statement.reductions]
        case Call():
            return [view.buffer for view in statement.inputs] + list(statement.outputs)
        case Check() | Bind():
            return [statement.buffer]
    return []


def _allocate(body: list[Statement], results: list[Buffer]) -> tuple[Statement, ...]:
    """Allocates each buffer just before its first use and frees it just after its last."""
    touched = [list(dict.fromkeys(_buffers(statement))) for statement in body]
    last = {buffer: k for k, buffers in enumerate(touched) for buffer in buffers}
    out: list[Statement] = []
    seen: set[Buffer] = set()
    for k, (statement, buffers) in enumerate(zip(body, touched)):
        out += [Alloc(b) for b in buffers if b not in seen and b.kind in ("temp", "result")]
        seen.update(buffers)
        out.append(statement)
        out += [Free(b) for b in buffers if last[b] == k and b.kind == "temp"]
    return (*out, *[Alloc(b) for b in results if b not in seen])
