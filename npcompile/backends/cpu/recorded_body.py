"""A program whose statements note their times: see :mod:`npcompile.core.recorder`.

Noted are kernels, calls, memory, and loops.  A loop that holds kernels or calls is looked into; the
iterations of any other, and of those that run side by side, are too short to be timed one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.backends.cpu.body import Emitted, ProgramBody
from npcompile.backends.cpu.llvm.sizes import bytes_of
from npcompile.backends.cpu.llvm.text import Value, i64
from npcompile.core.recorder import FIRST_EVENT, FIRST_MARK, WORDS, Recorder
from npcompile.core.sizes import product
from npcompile.program.ir import (
    Alloc,
    Call,
    For,
    Free,
    Kernel,
    Program,
    RoutineCall,
    Statement,
    While,
    flat,
)

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm.frame import FrameLayout
    from npcompile.backends.target import Target

NAME = "npc.record"  #: the symbol that a module finds the memory by


def emit(program: Program, frame: FrameLayout, target: Target, parallel: bool, own: bool,
         releases: bool, recorder: Recorder) -> Emitted:
    """The text of a program that notes its times."""
    return RecordedBody(program, frame, target, parallel, own, releases, recorder).emit()


class RecordedBody(ProgramBody):
    """Writes a program with what notes its times."""

    def __init__(self, program: Program, frame: FrameLayout, target: Target, parallel: bool,
                 own: bool, releases: bool, recorder: Recorder) -> None:
        super().__init__(program, frame, target, parallel, own, releases)
        self.recorder, self.within = recorder, False
        self.memory = self.module.extern(NAME)
        self.whole = recorder.mark(program, None)
        if self.whole is not None:
            with self.f.at_entry():
                self.begin(self.whole)

    def statement(self, statement: Statement) -> None:
        timed = _is_timed(statement) and not (self.within or self.departs) and self.taken is None
        mark = self.recorder.mark(self.program, statement) if timed else None
        if mark is None:
            super().statement(statement)
            return
        freed = self.amount(statement) if isinstance(statement, Free) else None
        self.within = True
        self.begin(mark)
        super().statement(statement)
        self.end(mark, self.amount(statement) if freed is None else freed)
        self.within = False

    def leave(self, status: Value) -> None:
        if not self.departs and self.whole is not None:
            self.end(self.whole, i64(0))
        super().leave(status)

    def amount(self, statement: Statement) -> Value:
        """The points of a kernel, or the bytes of memory that is taken or given back."""
        match statement:
            case Kernel():
                return self.size(product([axis.extent for axis in statement.axes]))
            case Alloc(buffer) | Free(buffer):
                return bytes_of(self.slots, buffer)
        return i64(0)

    def word(self, number: int) -> Value:
        """The address of a word."""
        return self.f.offset(self.memory, "i64", i64(number))

    def begin(self, mark: int) -> None:
        """Notes the time at which a mark begins."""
        self.f.store(self.f.call("npc.clock", ("i64", 1)), self.word(FIRST_MARK + WORDS * mark))

    def end(self, mark: int, amount: Value) -> None:
        """Notes that a mark ends, and by what amount."""
        f, first = self.f, FIRST_MARK + WORDS * mark
        now = f.call("npc.clock", ("i64", 1))
        begun = f.load(self.word(first), "i64")
        for k, more in enumerate((f.binary("sub", now, begun), i64(1), amount), first + 1):
            f.store(f.binary("add", f.load(self.word(k), "i64"), more), self.word(k))
        room, count = (f.load(self.word(k), "i64") for k in range(2))
        with f.when(f.icmp("slt", count, room)):
            at = f.binary("add", f.binary("mul", count, i64(WORDS)), i64(FIRST_EVENT))
            for k, value in enumerate((i64(mark), begun, now, amount)):
                f.store(value, f.offset(self.memory, "i64", f.binary("add", at, i64(k))))
            f.store(f.binary("add", count, i64(1)), self.word(1))


def _is_timed(statement: Statement) -> bool:
    match statement:
        case Kernel():
            return bool(statement.axes)
        case For(parallel=True) | Alloc() | Free() | RoutineCall() | Call():
            return True
        case For() | While():
            return not any(_holds(inner) for inner in flat(statement.body))
    return False


def _holds(statement: Statement) -> bool:
    """Whether a loop with such a statement is looked into."""
    if isinstance(statement, Kernel):
        return bool(statement.axes)
    return isinstance(statement, (RoutineCall, Call)) or (
        isinstance(statement, For) and statement.parallel)
