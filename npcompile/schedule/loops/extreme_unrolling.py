"""Unrolls loops that look for the smallest or largest integer: several candidates side by side.

``best = max(best, x)`` waits in each iteration for the one before.  Iterations update several such
numbers in turn, of which the best is taken in the end: with integers, the same number.  Everything
else that the iterations do stays in its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Poly, Unhinted, floordiv, hint, is_known, largest
from npcompile.graph.types import BOOL, INT
from npcompile.program.ir import (
    Apply,
    Buffer,
    Exit,
    For,
    Index,
    Kernel,
    Load,
    Statement,
    Store,
    flat,
    with_blocks,
)
from npcompile.schedule.loops.accumulators import Entangled, extreme, is_light
from npcompile.schedule.loops.parallel_loops import Exposed
from npcompile.schedule.loops.wavefront import Copy, is_free, is_plain
from npcompile.schedule.memory.allocate import reads

PARTS = 2
SHORT = 8  # iterations that are too few
HERE = Index(0, ())


@record(frozen=False)
class Extremes:
    """Statements with such loops; ``reads`` counts how often numbers are read."""

    exits: Sequence[Exit]
    reads: Counter[Buffer]
    made: list[Buffer] = field(default_factory=list)

    def block(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple([made for statement in body for made in self._statement(statement)])

    def _statement(self, statement: Statement) -> list[Statement]:
        if isinstance(statement, For) and _fits(statement, self.exits):
            numbers = self._numbers(statement)
            if numbers:
                return self._parted(statement, numbers)
        return [with_blocks(statement, self.block)]

    def _numbers(self, loop: For) -> dict[Buffer, str]:
        """The numbers of which nothing is seen but what they are in the end."""
        exposed, inside = Exposed(), reads(loop.body)
        exposed.block(loop.body)
        found: dict[Buffer, str] = {}
        for number in exposed.found:
            if number.kind != "scalar" or number.dtype != INT:
                continue
            try:
                kind, others = extreme(loop.body, number)
            except Entangled:
                continue
            if others.isdisjoint(exposed.found) and all(
                    inside[b] == self.reads[b] for b in others):
                found[number] = kind
        return found

    def _parted(self, loop: For, numbers: dict[Buffer, str]) -> list[Statement]:
        step, start = loop.step, loop.start
        assert isinstance(step, int)
        groups = floordiv(largest((loop.stop - start) * step, 0), PARTS)
        middle = start + groups * (PARTS * step)
        iteration = Poly((((loop.symbol,), 1),))
        parts = [{n: replace(n, name=f"{n.name}.part{len(self.made)}.{k}") for n in numbers}
                 for k in range(1, PARTS)]
        self.made += [number for part in parts for number in part.values()]
        body = list(loop.body)
        for k, part in enumerate(parts, 1):
            body += Copy(part, {loop.symbol: iteration + k * step}).block(loop.body)
        rest = Copy({}, {}).block(loop.body)
        return [
            *[_copied(n, other) for part in parts for n, other in part.items()],
            replace(loop, stop=middle, step=PARTS * step, body=tuple(body), rolled=True,
                    edge=None),
            *[_best(kind, n, part[n]) for part in parts for n, kind in numbers.items()],
            replace(loop, start=middle, body=rest, rolled=True, edge=None),
        ]


def _fits(loop: For, exits: Sequence[Exit]) -> bool:
    """Whether it is a short body of numbers, for more than a few iterations."""
    every = list(flat(loop.body))
    iterations = loop.stop - loop.start
    try:
        few = is_known(iterations) and abs(hint(iterations)) < SHORT
    except Unhinted:
        few = False
    return (loop.step in (1, -1) and not loop.parallel and not few and is_light(loop.body)
            and all(is_plain(s) or is_free(s, exits) for s in every)
            and all(store.mask is None for s in every if isinstance(s, Kernel)
                    for store in s.stores))


def _copied(number: Buffer, other: Buffer) -> Kernel:
    return Kernel("part", (), (Load(number, HERE, INT),), (Store(other, HERE, 0),))


def _best(kind: str, number: Buffer, other: Buffer) -> Kernel:
    loads = (Load(number, HERE, INT), Load(other, HERE, INT))
    smaller = (0, 1) if kind == "min" else (1, 0)
    values = (*loads, Apply("lt", (0, 1), BOOL), Apply("where", (2, *smaller), INT))
    return Kernel("best", (), values, (Store(number, HERE, 3),))
