"""Where a body releases Python's global interpreter lock (the GIL), and takes it back.

A body that may release it is divided into *regions*: statements in a row that need no Python.
Where the work of a region is worth it, the GIL is released before it.  It is taken back where
something needs Python, by code that looks whether it is held, and before the body returns.  So a
body of kernels and loops alone releases it once; arrays that it returns are made before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.cpu.loops import work_estimate
from npcompile.backends.cpu.loops.python_objects import NULL
from npcompile.core.records import record
from npcompile.core.sizes import Size, symbols
from npcompile.program.ir import Alloc, Call, For, Free, If, Statement, While, flat
from npcompile.schedule.memory.allocate import bound

WORTH = 1 << 19  # work from which on the GIL is released: some 25 us
ITERATIONS = 1 << 14  # iterations after which it is, of loops that nothing tells the length of
#: what LLVM is told of the calls, so that loops around them keep arrays' elements in registers
_APART = "cold memory(inaccessiblemem: readwrite)"


@record(eq=False)
class StatementRun:
    """Statements in a row and their work; None for one that is looked into, or needs Python."""

    statements: tuple[Statement, ...]
    work: Size | None = None

    @property
    def worth(self) -> bool:
        """Whether the run may find that there is enough work."""
        return self.work is not None and not (isinstance(self.work, int) and self.work < WORTH)


class Regions:
    """The regions of a program's blocks; each block is looked at once."""

    def __init__(self) -> None:
        self._known: dict[
            int, tuple[object, list[StatementRun]]
        ] = {}  # with the block: ids come back

    def of(self, body: tuple[Statement, ...], outermost: bool) -> list[StatementRun]:
        """The regions of a block in order; in the ``outermost`` one arrays are made as early as
        their sizes are known."""
        found = self._known.get(id(body))
        if found is None:
            found = self._known[id(body)] = body, list(_regions(body, outermost))
        return found[1]

    def worth(self, body: tuple[Statement, ...], outermost: bool = True) -> bool:
        """Whether there may be a region in a block before which the GIL is released."""
        return any(
            part.worth or any(isinstance(s, While) for s in flat(part.statements))
            or (part.work is None and any(self.worth(b, False) for b in _blocks(part)))
            for part in self.of(body, outermost)
        )


def _regions(body: Iterable[Statement], outermost: bool) -> Iterator[StatementRun]:
    run: list[Statement] = []
    early: list[Statement] = []
    for statement in body:
        if outermost and _makes(statement) and _sizes(statement).isdisjoint(bound(run)):
            early.append(statement)
        elif isinstance(statement, While) or _needs_python(statement):
            yield from _joined(early, run)
            early, run = [], []
            yield StatementRun((statement,))
        else:
            run.append(statement)
    yield from _joined(early, run)


def _blocks(part: StatementRun) -> Iterator[tuple[Statement, ...]]:
    for statement in part.statements:
        if isinstance(statement, For):
            yield statement.body
        elif isinstance(statement, If):
            yield from (statement.then, statement.orelse)


def _joined(early: Sequence[Statement], run: Sequence[Statement]) -> Iterator[StatementRun]:
    yield from (StatementRun((statement,)) for statement in early)
    if run:
        yield StatementRun(tuple(run), work_estimate.whole(run))


def _makes(statement: Statement) -> bool:
    return isinstance(statement, Alloc) and statement.buffer.kind == "result"


def _sizes(statement: Statement) -> set[object]:
    assert isinstance(statement, Alloc)
    buffer = statement.buffer
    return {name for size in (*buffer.shape, *buffer.strides) for name in symbols(size)}


def _needs_python(statement: Statement) -> bool:
    """Whether it makes or releases objects, or calls Python, where no check fails."""
    return any(
        isinstance(s, Call) or (isinstance(s, (Alloc, Free)) and s.buffer.kind != "temp")
        for s in flat((statement,))
    )


class Gil:
    """Writes into a body what releases the GIL and takes it back.

    The thread's state is in a variable of the body while the GIL is released, which is null else.
    """

    def __init__(self, f: LLVMFunction) -> None:
        self.f = f
        self.state = f.alloca("ptr")
        self.iterations: Value | None = None  # how many there have been
        with f.at_entry():
            f.store(NULL, self.state)

    def release(self, size: Value) -> None:
        """Releases the GIL for work of some size, if that is worth it."""
        self._release(self.f.icmp("sle", i64(WORTH), size))

    def count(self) -> None:
        """Counts an iteration of a loop of unknown length."""
        f = self.f
        if self.iterations is None:
            self.iterations = f.alloca("i64")
            with f.at_entry():
                f.store(i64(0), self.iterations)
        f.store(f.binary("add", f.load(self.iterations, "i64"), i64(1)), self.iterations)

    def look(self) -> None:
        """Releases the GIL after many iterations."""
        f = self.f
        assert self.iterations is not None
        long, on = f.name_for("long"), f.name_for("on")
        f.branch(
            f.icmp("slt", f.load(self.iterations, "i64"), i64(ITERATIONS)), on, long, likely=True
        )
        f.label(long)
        f.store(i64(0), self.iterations)
        self._release(literal("i1", True))
        f.jump(on)
        f.label(on)

    def _release(self, worth: Value) -> None:
        f = self.f
        held = f.icmp("eq", f.load(self.state, "ptr"), NULL)
        with f.when(f.binary("and", worth, held)):
            f.module.declare("PyEval_SaveThread", "ptr", [])
            f.store(f.op(f"call ptr @PyEval_SaveThread() {_APART}", "ptr"), self.state)

    def take(self) -> None:
        """Takes the GIL back if it was released."""
        f = self.f
        saved = f.load(self.state, "ptr")
        with f.when(f.icmp("ne", saved, NULL)):
            f.module.declare("PyEval_RestoreThread", "void", ["ptr"])
            f.do(f"call void @PyEval_RestoreThread(ptr {saved.text}) {_APART}")
            f.store(NULL, self.state)
