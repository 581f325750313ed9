"""Looks for signals between the iterations of loops.

A count of operations goes down as iterations pass; where it is used up, ``npc_poll`` looks at the
clock, and at signals from time to time.  Loops run in pieces of many iterations where they can, so
that nothing is counted in them.
"""

from __future__ import annotations

from collections.abc import Iterable

from npcompile.backends.cpu.loops import work_estimate
from npcompile.program.ir import Call, For, If, Kernel, RoutineCall, Statement, While, flat

MANY = 1 << 15  #: operations after which the clock is looked at, some 10 to 50 us
NUMBERS = MANY >> 6  #: what a call of a function of numbers counts
LEAST = 16  #: iterations of a piece
AROUND = 256  #: iterations of a piece of a loop around others
FEW = 8  #: iterations of loops around these
#: what iterations on threads have to compute in a piece, some milliseconds of one thread, and how
#: many each thread gets at least
PIECE, ITERATIONS = 1 << 22, 2


def piece(loop: For) -> int:
    """The iterations of a loop after which the clock may be looked at, if loops in it look, too."""
    loops = [s for s in flat(loop.body) if isinstance(s, (For, While))]
    if not loops:
        return max(LEAST, MANY // operations(loop.body))
    return FEW if any(map(has_loops, loops)) else AROUND


def cost(loop: For | While) -> int:
    """What an iteration counts, but for kernels and products, which count themselves."""
    if any(map(_is_long, flat(loop.body))):
        return MANY
    loops = [s for s in flat(loop.body) if isinstance(s, (For, While))]
    if all(map(_counts, loops)):
        return operations(loop.body)
    return MANY // FEW


def _counts(loop: For | While) -> bool:
    """Whether the iterations of a loop in another one count themselves."""
    return isinstance(loop, While) and loop.edge is not None


def is_whole(loop: For) -> bool:
    """Whether no loop in a loop may be left: what an iteration takes is known before it."""
    return has_loops(loop) and all(
        s.edge is None for s in flat(loop.body) if isinstance(s, (For, While)))


def is_short(loop: For | While) -> bool:
    """Whether a loop is known to have few iterations."""
    if isinstance(loop, While):
        return False
    distance = loop.stop - loop.start
    return isinstance(distance, int) and abs(distance) <= LEAST


def operations(body: Iterable[Statement]) -> int:
    """What statements compute, but for loops and kernels; ``MANY`` if that may be much."""
    return min(1 + sum(map(_operations, body)), MANY)


def calls(loop: For | While) -> bool:
    """Whether a loop has something in it that may take long by itself."""
    return any(isinstance(s, RoutineCall) or (isinstance(s, Kernel) and s.axes) or _is_long(s)
               for s in flat(loop.body))


def has_loops(loop: For | While) -> bool:
    """Whether there are loops in a loop."""
    return any(isinstance(s, (For, While)) for s in flat(loop.body))


def _operations(statement: Statement) -> int:
    if _is_long(statement):
        return MANY
    if isinstance(statement, Call):
        return NUMBERS
    if isinstance(statement, Kernel):
        return len(statement.values)
    arms = (*statement.then, *statement.orelse) if isinstance(statement, If) else ()
    return sum(map(_operations, arms))


def _is_long(statement: Statement) -> bool:
    """Whether it may take long by itself, and nothing tells how long."""
    if isinstance(statement, Call):
        touched = [*(view.buffer for view in statement.inputs), *statement.outputs]
        return any(buffer.kind not in ("scalar", "object") for buffer in touched)
    if isinstance(statement, RoutineCall):
        return not work_estimate.is_counted(statement)
    return isinstance(statement, For) and statement.parallel
