"""Temporaries of a loop that are never needed at once share one memory.

Memory is taken before loops, not in each iteration, so that every temporary of an iteration has
memory of its own as long as the loop runs.  Like values in registers (linear scan: Poletto and
Sarkar, TOPLAS 1999), those of equal dtype and layout share it where the statements of an iteration
that touch them don't overlap.  What an iteration makes is its own: it leaves nothing in there to
the next one, nor to what comes after the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Union

from npcompile.core.facts import Facts
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.core.sizes import Symbol, symbols
from npcompile.program.ir import Buffer, Call, For, If, Statement, While, flat
from npcompile.schedule.memory.allocate import bound, touched, uses

if TYPE_CHECKING:
    from npcompile.schedule.memory import renamed_buffers
else:
    defer(globals(), "npcompile.schedule.memory", "renamed_buffers")

#: what an iteration of each loop makes; of a ``while`` by the number that says whether it goes on
Made = Mapping[Union[Symbol, Buffer], Set[Buffer]]


class SharedMemory:
    """Statements whose temporaries share memory, but for those that are ``kept`` for others."""

    def __init__(self, facts: Facts, made: Made, body: Sequence[Statement],
                 kept: Set[Buffer]) -> None:
        self.facts, self.made = facts, made
        # whatever a called function does with its arguments' memory
        self.kept = {*kept, *(b for s in flat(body) if isinstance(s, Call) for b in touched(s))}
        self.uses = uses(body)

    def block(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple(map(self._statement, body))

    def _statement(self, statement: Statement) -> Statement:
        match statement:
            case If(_, then, other):
                return replace(statement, then=self.block(then), orelse=self.block(other))
            case For(parallel=False) | While():
                key = statement.symbol if isinstance(statement, For) else statement.again
                if key in self.made:
                    inner = replace(statement, body=self.block(statement.body))
                    return replace(inner, body=self._iteration(inner, self.made[key]))
        return statement

    def _iteration(self, loop: For | While, made: Set[Buffer]) -> tuple[Statement, ...]:
        """The statements of an iteration, with fewer temporaries."""
        last = {buffer: k for k, s in enumerate(loop.body) for buffer in touched(s)}
        own = self._own(loop, made)
        idle: dict[object, list[Buffer]] = {}
        instead: dict[Buffer, Buffer] = {}
        for k, statement in enumerate(loop.body):
            mine = [buffer for buffer in dict.fromkeys(touched(statement)) if buffer in own]
            for buffer in mine:
                if buffer not in instead:
                    free = idle.get(self._form(buffer))
                    instead[buffer] = free.pop() if free else buffer
            for buffer in mine:
                if last[buffer] == k:
                    idle.setdefault(self._form(buffer), []).append(instead[buffer])
        names = {buffer: other for buffer, other in instead.items() if other is not buffer}
        for buffer, other in names.items():
            self.uses[other] += self.uses[buffer]
        return renamed_buffers.renamed(loop.body, names)

    def _own(self, loop: For | While, made: Set[Buffer]) -> set[Buffer]:
        """The temporaries that only an iteration uses, in memory that is there before the loop."""
        inside, inner = uses([loop]), bound([loop])
        return {
            b for b in inside
            if b.kind == "temp" and b in made and b not in self.kept and inside[b] == self.uses[b]
            and inner.isdisjoint(name for s in (*b.shape, *b.strides) for name in symbols(s))
        }

    def _form(self, buffer: Buffer) -> object:
        """The key of temporaries that may share memory: dtype, shape and strides."""
        norm = self.facts.norm
        return buffer.dtype, tuple(map(norm, buffer.shape)), tuple(map(norm, buffer.strides))
