"""A program whose statements note their times: see :mod:`npcompile.core.recorder`.

Noted are kernels, calls, memory, and loops.  In a loop only statements are noted that take much
longer than noting them does; the time of all others is the outermost loop's.  The iterations of a
loop that run side by side are not looked into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.backends.cpu.body import ProgramBody
from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.llvm.sizes import bytes_of
from npcompile.backends.cpu.llvm.text import Value, i64
from npcompile.backends.cpu.loops.random_numbers import is_drawn
from npcompile.backends.cpu.loops.work_estimate import middle
from npcompile.core.recorder import FIRST_EVENT, FIRST_MARK, WORDS, Recorder
from npcompile.core.sizes import Size, Symbol, Unhinted, hint, product, substitute
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
)

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm.frame import FrameLayout
    from npcompile.backends.target import Target

NAME = "npc.record"  #: the symbol that a module finds the memory by
#: what is timed in each iteration of a loop: kernels of as many elements, times what each costs,
#: and memory of as many bytes
ELEMENTS, BYTES = 32768, 1 << 16


class RecordedBody(ProgramBody):
    """Writes a program with what notes its times."""

    def __init__(self, program: Program, frame: FrameLayout, target: Target, parallel: bool,
                 own: bool, releases: bool, recorder: Recorder) -> None:
        super().__init__(program, frame, target, parallel, own, releases)
        self.recorder, self.within = recorder, False
        self.around: int | None = None  # the loop that is looked into
        self.middles: dict[Symbol, Size] = {}  # of loops' indices
        self.memory = self.module.extern(NAME)
        self.whole = recorder.mark(program, None)
        if self.whole is not None:
            with self.f.at_entry():
                self.begin(self.whole)

    def statement(self, statement: Statement) -> None:
        mark = self.mark(statement)
        if isinstance(statement, For):
            self.middles[statement.symbol] = substitute(middle(statement), self.middles)
        if mark is None:
            super().statement(statement)
            return
        freed = self.amount(statement) if isinstance(statement, Free) else None
        if _is_loop(statement):
            self.around = mark
        else:
            self.within = True
        self.begin(mark)
        super().statement(statement)
        self.end(mark, self.amount(statement) if freed is None else freed)
        if _is_loop(statement):
            self.around = None
        else:
            self.within = False

    def mark(self, statement: Statement) -> int | None:
        """The mark of a statement; None if it is not timed."""
        if self.within or self.departs or self.taken is not None:
            return None
        timed = _is_timed(statement) if self.around is None else self.is_long(statement)
        return self.recorder.mark(self.program, statement, self.around) if timed else None

    def is_long(self, statement: Statement) -> bool:
        """Whether a statement is timed in each iteration of a loop."""
        match statement:
            case Kernel():
                points = product([axis.extent for axis in statement.axes])
                return self.is_much(points * kernel_functions.weight(statement), ELEMENTS)
            case Alloc(buffer) | Free(buffer):
                return self.is_much(buffer.dtype.itemsize * product(list(buffer.shape)), BYTES)
            case Call():
                return not is_drawn(statement)
        return isinstance(statement, RoutineCall) or (
            isinstance(statement, For) and statement.parallel)

    def is_much(self, size: Size, least: int) -> bool:
        """Whether a size is large in the call at hand, or not known."""
        try:
            return hint(substitute(size, self.middles)) >= least
        except Unhinted:
            return True

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
    """Whether a statement outside of loops is timed."""
    timed = isinstance(statement, (For, While, Alloc, Free, RoutineCall, Call))
    return bool(statement.axes) if isinstance(statement, Kernel) else timed


def _is_loop(statement: Statement) -> bool:
    """Whether a statement is a loop that is looked into."""
    return isinstance(statement, While) or (isinstance(statement, For) and not statement.parallel)
