"""How much work makes threads gain, for kernels that hand arrays to each other.

What one thread has written another one fetches from its cache, line by line: that takes as long as
to compute a light kernel, and where processors share no cache five times as long.  So such kernels
are divided together, by what the heaviest of them does, and those next to statements on one thread
are not, unless the arrays are too large for caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.kernels.kernel_functions import weight
from npcompile.program.ir import (
    Buffer,
    Call,
    For,
    Kernel,
    Load,
    Program,
    RoutineCall,
    Statement,
    While,
    branches,
    flat,
)

LIGHT = 20  # the weight up to which to fetch an element from another cache takes longer
CACHED = 1 << 21  # elements that caches hold at most
TIMES = 4  # its own weight: more don't make threads gain for a kernel


class Company:
    """The kernels of a program, and what else in the same block reads or writes their arrays."""

    def __init__(self, program: Program) -> None:
        self._found: dict[Kernel, tuple[int, int]] = {}
        for block in _blocks(program.body):
            self._note([s for s in block if isinstance(s, (Kernel, RoutineCall, Call))
                        and not _settles(s)])

    def weighed(self, kernel: Kernel) -> tuple[int, int]:
        """What an element costs, for the choice, and how much work is enough for threads."""
        return self._found.get(kernel) or (weight(kernel), kernel_functions.PARALLEL_WORK)

    def _note(self, block: list[Kernel | RoutineCall | Call]) -> None:
        light = [s for s in block if isinstance(s, Kernel) and s.axes and weight(s) <= LIGHT]
        single = {b for s in block if not isinstance(s, Kernel) for b in _touched(s)}
        written = {b for s in block if isinstance(s, Kernel) for b in s.written}
        heaviest: dict[Buffer, int] = {}
        for kernel in light:
            for buffer in _touched(kernel) & written if not kernel.in_order else ():
                heaviest[buffer] = max(heaviest.get(buffer, 0), weight(kernel))
        for kernel in light:
            each, touched = weight(kernel), _touched(kernel)
            if touched & single:
                self._found[kernel] = each, max(kernel_functions.PARALLEL_WORK, each * CACHED)
            else:
                most = max((heaviest.get(buffer, 0) for buffer in touched), default=0)
                self._found[kernel] = (
                    max(each, min(most, TIMES * each)),
                    kernel_functions.PARALLEL_WORK,
                )


def _blocks(body: Iterable[Statement]) -> Iterator[list[Statement]]:
    """The statements of a program outside of loops, and those of each loop's body."""
    yield list(branches(body))
    for statement in flat(body):
        if isinstance(statement, (For, While)):
            yield list(branches(statement.body))


def _settles(statement: Statement) -> bool:
    """Whether it looks at flags only, at no array."""
    return isinstance(statement, RoutineCall) and statement.routine.routine == "settle"


def _touched(statement: Kernel | RoutineCall | Call) -> set[Buffer]:
    """The arrays that a statement reads or writes."""
    if isinstance(statement, Kernel):
        found = {v.buffer for v in statement.values if isinstance(v, Load)}
        found.update(statement.written)
    else:
        found = {view.buffer for view in statement.inputs}
        found.update(statement.outputs)
    return {buffer for buffer in found if buffer.kind != "scalar"}
