"""Statements in the making, while memories have no final kind yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

import numpy as np

from npcompile.core.records import field, record
from npcompile.core.sizes import Size, Symbol
from npcompile.graph.ir import CallSite, Extern, HostCall, Resume
from npcompile.program.ir import Exit, Suspended
from npcompile.schedule.memory.memories import BufferView, Memory
from npcompile.schedule.walk.nest import Nest

if TYPE_CHECKING:
    from npcompile.schedule.walk.result_memory import Results

Step = Union[
    Nest, "Exchange", "Leave", "Binding", "Host", "RoutineStep", "Choice", "Counted", "Repeated",
]

#: of a call: where it is, its dtype, and a number's origin
Operand = tuple[BufferView, np.dtype, str]


@record(eq=False)
class Exchange:
    """Moves the contents of ``source``, which are not needed there any more, to ``target``: the
    buffers are exchanged if the program owns both, else ``copy`` copies them."""

    source: Memory
    target: Memory
    copy: Nest


@record(eq=False)
class Leave:
    """A check: ``steps`` run where it fails, and make what ``results`` hand to Python.

    ``flagged`` are computed only for the floating-point flags that they raise, ``made`` is all that
    the steps make.  Without ``memory`` it is the edge of a loop, which may be left there.
    """

    memory: Memory | None
    reason: str
    number: int
    resume: Resume
    results: Results
    line: int
    steps: list[Step] = field(default_factory=list)
    flagged: set[Memory] = field(default_factory=set)
    made: list[Memory] = field(default_factory=list)

    def exit(self) -> Exit:
        """Where Python goes on, once memories are final."""
        tree = self.results.tree
        return Exit(self.reason, tuple([
            Suspended(
                frame.code,
                frame.offset,
                tuple([(name, tree(held)) for name, held in frame.local]),
                tuple(map(tree, frame.stack)),
                frame.owner,
                frame.drops,
            )
            for frame in self.resume.frames
        ]), self.resume.graph_breaks, self.line)


@record(eq=False)
class Binding:
    symbol: Symbol
    memory: Memory


@record(eq=False)
class Host:
    """A host call."""

    function: HostCall | CallSite
    inputs: tuple[Operand, ...]
    outputs: tuple[Memory, ...]
    line: int


@record(eq=False)
class RoutineStep:
    """A call of a routine."""

    function: Extern
    inputs: tuple[Operand, ...]
    outputs: tuple[Memory, ...]
    line: int


@record(eq=False)
class Choice:
    """An ``if``."""

    memory: Memory
    then: list[Step] = field(default_factory=list)
    other: list[Step] = field(default_factory=list)


@record(eq=False, frozen=False)
class Counted:
    """A loop over a range; ``carried`` is what one iteration leaves to the next, ``made`` what it
    makes anew; ``edge`` is where it may be left between two iterations."""

    symbol: Symbol
    bounds: tuple[Size, Size, Size]
    carried: set[Memory]
    line: int
    steps: list[Step] = field(default_factory=list)
    made: list[Memory] = field(default_factory=list)
    edge: Leave | None = None

    def leaves_at(self, edge: Leave) -> None:
        """Says where the loop may be left between two iterations."""
        self.edge = edge


@record(eq=False, frozen=False)
class Repeated:
    """A loop that goes on while ``again`` holds at the end of an iteration; ``short``: few."""

    carried: set[Memory]
    short: bool
    steps: list[Step] = field(default_factory=list)
    again: Memory | None = None
    edge: Leave | None = None
    made: list[Memory] = field(default_factory=list)

    def leaves_at(self, edge: Leave) -> None:
        """Says where the loop may be left between two iterations."""
        self.edge = edge

    def repeats(self, again: Memory | None) -> None:
        """Says whether there is another iteration."""
        self.again = again
