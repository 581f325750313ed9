"""Statements of a program in a function: what the body and the iterations of parallel loops
share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.llvm.sizes import SizeEmitter
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64
from npcompile.backends.cpu.loops import work_estimate
from npcompile.backends.cpu.loops.registers import Registers
from npcompile.backends.target import Target
from npcompile.core.paths import defer
from npcompile.core.sizes import Size
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Edge,
    For,
    Free,
    If,
    Kernel,
    Program,
    RoutineCall,
    SideExit,
    Statement,
    Swap,
    While,
    branches,
)

if TYPE_CHECKING:
    from npcompile.backends.cpu.loops import control_flow, signal_polls
else:
    defer(globals(), "npcompile.backends.cpu.loops", "control_flow", "signal_polls")

#: lines of a function that computes little in loops from which on it counts for less how well they
#: are compiled than how fast: what takes time is what it calls
CALLS = 80

#: the class that emits calls of routines, which a program without them does not import
ROUTINES = "npcompile.backends.cpu.linalg.routine_calls:Routines"


class Statements(ABC):
    """Writes statements into a function; what depends on which function that is, others say."""

    def __init__(self, f: LLVMFunction, slots: Registers, program: Program, target: Target) -> None:
        self.f, self.slots, self.program, self.target = f, slots, program, target
        self.depth = 0  # of loops around the statement
        self.budget: Value | None = None  # operations until the clock is looked at
        self.counted = 0  # loops around the statement in which kernels count, too
        self.computed = 0  # lines that compute numbers in loops
        self.taken: Value | None = None  # whether the arm is taken that is computed in any case

    def hasty(self, scalar: bool) -> bool:
        """Whether the function had better be compiled in haste; ``scalar``: it has loops that
        LLVM's passes help."""
        return not scalar and (not self.computed or len(self.f) > max(CALLS, 8 * self.computed))

    @abstractmethod
    def leave(self, status: Value) -> None:
        """Ends the function before its time: a check has failed."""

    @property
    @abstractmethod
    def released(self) -> Value:
        """Where the thread's state is while the GIL is released; null if it never is."""

    @abstractmethod
    def alloc(self, buffer: Buffer) -> None:
        """Makes memory."""

    @abstractmethod
    def free(self, buffer: Buffer) -> None:
        """Gives memory back."""

    @abstractmethod
    def run(self, kernel: Kernel) -> None:
        """Calls a kernel with axes."""

    @abstractmethod
    def iterations(self, loop: For) -> None:
        """A parallel loop."""

    @abstractmethod
    def call(self, statement: RoutineCall | Call) -> None:
        """Calls a routine of a library or a function of Python's."""

    def size(self, size: Size) -> Value:
        return SizeEmitter(self.slots)(size)

    def block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Kernel():
                self.kernel(statement)
            case Alloc(buffer):
                self.alloc(buffer)
            case Free(buffer):
                self.free(buffer)
            case Swap(first, second):
                places = self.slots.data(first), self.slots.data(second)
                self.slots.set_data(second, places[0])
                self.slots.set_data(first, places[1])
            case Bind():
                (value,) = self.slots.number(statement.buffer)
                dtype = statement.buffer.dtype
                signed = "sext" if dtype.kind == "i" else "zext"
                wide = value if dtype.itemsize == 8 else self.f.convert(signed, value, "i64")
                self.slots.set_symbol(statement.symbol, wide)
            case SideExit():
                self.check(statement)
            case For(parallel=True):
                self.iterations(statement)
            case For():
                control_flow.loop(self, statement)
            case While():
                self.repeat(statement)
            case If():
                control_flow.choose(self, statement)
            case RoutineCall() | Call():
                if isinstance(statement, RoutineCall):
                    self.count(work_estimate.multiplications(statement))
                self.call(statement)

    def check(self, check: SideExit) -> None:
        (holds,) = self.slots.number(check.buffer)
        out, on = self.f.name_for("out"), self.f.name_for("on")
        if self.taken is not None:  # first what can be foretold
            fails = self.f.name_for("fails")
            self.f.branch(holds, on, fails, likely=True)
            self.f.label(fails)
            self.f.branch(self.taken, out, on)
        else:
            self.f.branch(holds, on, out, likely=True)
        self.f.label(out)
        with self.slots.inside(), self.taking(None):
            self.depart(check)
        self.f.label(on)

    def depart(self, way: SideExit | Edge) -> None:
        """Leaves for Python, which goes on."""
        self.hand_over(way)
        self.leave(i64(way.number))

    def hand_over(self, check: SideExit | Edge) -> None:
        """Makes what Python needs where a check has failed."""
        self.make(check.leaving)
        for result in self.program.resumes[check.number].held():
            self.slots.flush(result)

    def make(self, leaving: tuple[Statement, ...]) -> None:
        """Runs what is only run where the function is left."""
        self.block(leaving)

    # ------------------------------------------------------------------ edges

    def left_over(self) -> Value:
        """Where it is counted how many operations are left until the clock is looked at."""
        if self.budget is None:
            self.budget = self.f.alloca("i64")
            with self.f.at_entry():
                self.f.store(i64(signal_polls.MANY), self.budget)
        return self.budget

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """What is written inside is in one more loop."""
        self.depth += 1
        yield
        self.depth -= 1

    @contextmanager
    def counting(self, counts: bool) -> Iterator[None]:
        self.counted += counts
        yield
        self.counted -= counts

    def count(self, elements: Size) -> None:
        """Counts the elements of a kernel, or what a routine does, in a loop that may be left."""
        if self.counted:
            place = self.left_over()
            budget = self.f.load(place, "i64")
            self.f.store(self.f.intrinsic("usub.sat", budget, self.size(elements)), place)

    def repeat(self, loop: While) -> None:
        """A loop that ends on a condition."""
        control_flow.repeat(self, loop)

    def again(self, loop: While) -> Value:
        """Whether there is another iteration."""
        (again,) = self.slots.number(loop.again)
        return again

    @contextmanager
    def taking(self, taken: Value | None) -> Iterator[None]:
        before, self.taken = self.taken, taken
        yield
        self.taken = before

    def kernel(self, kernel: Kernel) -> None:
        if kernel.axes:
            self.run(kernel)
            return
        before = len(self.f)
        kernel_functions.inline(self.f, self.slots, kernel, self.target)
        self.computed += len(self.f) - before if self.depth else 0


def scalar_loops(body: Iterable[Statement]) -> bool:
    """Whether there is a loop that calls nothing: passes would gain little for any other."""
    for statement in branches(body):
        if isinstance(statement, (For, While)) and not _is_call(statement):
            inside = list(branches(statement.body))
            if scalar_loops(inside) or not any(map(_calls, inside)):
                return True
    return False


def _calls(statement: Statement) -> bool:
    """Whether it calls something, or loops in it do."""
    if isinstance(statement, (For, While)) and not _is_call(statement):
        return any(map(_calls, branches(statement.body)))
    return _is_call(statement)


def _is_call(statement: Statement) -> bool:
    if isinstance(statement, Kernel):
        return bool(statement.axes)
    return isinstance(statement, (RoutineCall, Call)) or (
        isinstance(statement, For) and statement.parallel
    )
