"""Nests of scalar loops two rows at a time, the second row some columns behind the first.

``a[i, j] = f(a[i - 1, j], a[i, j - 1])`` waits in each iteration for the one before.  Two rows wait
at the same time: the outer loop is unrolled, its iterations are jammed together (Callahan, Carr and
Kennedy, Improving register allocation for subscripted variables, PLDI 1990) and skewed (Wolfe,
Loop skewing: the wavefront method revisited, 1986).  Every element is computed once, from the same
numbers as before; what changes is that row ``i + 1`` has done column ``j - lag`` before row ``i``
does column ``j + 1``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.lines import in_words
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import (
    Poly,
    Predicate,
    Size,
    Symbol,
    hint,
    is_known,
    largest,
    smallest,
    substitute,
    symbols,
)
from npcompile.graph.types import BOOL, INT
from npcompile.program.ir import (
    Apply,
    Buffer,
    Constant,
    Exit,
    For,
    If,
    Index,
    Kernel,
    Load,
    SideExit,
    SizeValue,
    Statement,
    Store,
    Value,
    flat,
    with_blocks,
)
from npcompile.schedule.loops.loop_polls import held
from npcompile.schedule.loops.parallel_loops import Exposed
from npcompile.schedule.memory.allocate import reads
from npcompile.schedule.memory.overlaps import in_turn

FARTHEST = 3  # columns that the second row may be behind
LONG = 80  # values of an iteration that fill the processor without help
SHORT = 16  # iterations of the inner loop that are too few


@record
class ArrayAccess:
    """An access to an array; ``place`` is None where nobody knows it."""

    buffer: Buffer
    writes: bool
    place: Size | None


@record(frozen=False)
class Wavefronts:
    """Statements with such nests; ``reads`` counts how often numbers are read, ``held`` are those
    that results and exits hold."""

    facts: Facts
    exits: Sequence[Exit]
    reads: Counter[Buffer]
    made: list[Buffer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def block(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple([self._statement(statement) for statement in body])

    def _statement(self, statement: Statement) -> Statement:
        if not isinstance(statement, For):
            return with_blocks(statement, self.block)
        with in_turn(self.facts, statement.start, statement.stop, statement.step):
            found = None if statement.parallel else self._nest(statement)
            return with_blocks(statement, self.block) if found is None else found

    def _nest(self, outer: For) -> For | None:
        """The nest with its rows in pairs, if that may be and pays."""
        before, inner = outer.body[:-1], outer.body[-1] if outer.body else None
        if not isinstance(inner, For) or not self._fits(outer, inner) or not _pays(inner):
            return None
        every = list(flat(outer.body))
        own = {b for s in every if isinstance(s, Kernel) for b in s.written if b.kind == "scalar"}
        exposed = Exposed()
        exposed.block(outer.body)
        inside = reads(outer.body)
        if not own.isdisjoint(exposed.found) or any(inside[b] != self.reads[b] for b in own):
            return None
        lag = self._lag(outer, inner, before)
        if lag is None:
            return None
        number = len(self.made)
        second = {b: replace(b, name=f"{b.name}.second{number}") for b in own}
        there = Buffer(f"there{number}", "scalar", BOOL)
        self.made += [*second.values(), there]
        self.notes.append(f"two iterations of the loop in {in_words(outer.line)} run at a time, "
                          f"the second {lag} behind the first")
        if not own.isdisjoint(held(outer, self.exits)):
            outer = replace(outer, edge=None)
        return _jammed(outer, replace(inner, edge=None), before, second, there, lag)

    def _fits(self, outer: For, inner: For) -> bool:
        """Whether the nest has rectangular form and does nothing but compute; checks have Python
        run the function from the start."""
        statements = [s for s in flat(outer.body) if s is not inner]
        return (
            outer.step in (1, -1) and inner.step == 1 and not inner.parallel
            and outer.symbol not in (*symbols(inner.start), *symbols(inner.stop))
            and all(is_plain(s) or is_free(s, self.exits) for s in statements)
        )

    # ------------------------------------------------------------------ dependences

    def _lag(self, outer: For, inner: For, before: Sequence[Statement]) -> int | None:
        """The fewest columns by which the second row has to be behind."""
        touches, ahead = list(_touches(inner.body)), list(_touches(before))
        written = {t.buffer for t in touches if t.writes}
        if any(t.writes for t in ahead):
            return None
        touches, ahead = ([t for t in some if t.buffer in written] for some in (touches, ahead))
        for lag in range(1, FARTHEST + 1):
            before_lag = self.facts.mark()
            # else a row ends before the next one begins
            self.facts.learn(Predicate("<", inner.start + lag, inner.stop))
            found = self._in_order(outer, inner, touches, [*touches, *ahead], lag)
            self.facts.undo(before_lag)
            if found:
                return lag
        return None

    def _in_order(self, outer: For, inner: For, firsts: Sequence[ArrayAccess],
                  seconds: Sequence[ArrayAccess], lag: int) -> bool:
        """Whether what a row touches later than ``lag`` columns on was not touched by the next row
        yet; what comes before that row's loop is done with its first column."""
        return all(
            self._apart(outer, inner, one, other, lag)
            for one in firsts for other in seconds
            if one.buffer is other.buffer and (one.writes or other.writes)
        )

    def _apart(
        self, outer: For, inner: For, one: ArrayAccess, other: ArrayAccess, lag: int
    ) -> bool:
        """Whether ``one`` in row i and a column beyond j + lag never is ``other`` in row i + 1 and
        column j: their distance is never 0, growing or falling with that of the columns."""
        if one.place is None or other.place is None:
            return False
        column, row = (Poly((((loop.symbol,), 1),)) for loop in (inner, outer))
        next_row = {outer.symbol: row + outer.step}
        prove = self.facts.prove
        steps = [place - substitute(place, {inner.symbol: column - 1})
                 for place in (one.place, other.place)]
        if inner.symbol in (*symbols(steps[0]), *symbols(steps[1])):
            return False
        theirs = substitute(other.place, next_row)
        if steps[0] == steps[1]:
            near = substitute(one.place, {inner.symbol: column + lag + 1}) - theirs
            most = inner.stop - inner.start - 1
            far = substitute(one.place, {inner.symbol: column + most}) - theirs
        elif steps[1] == 0:
            near, far = (substitute(one.place, {inner.symbol: at}) - theirs
                         for at in (inner.start + lag, inner.stop - 1))
        else:
            return False
        grows, falls = prove("<=", 0, steps[0]), prove("<=", steps[0], 0)
        if grows and falls:
            return prove("!=", near, 0) is True
        low, high = (near, far) if grows else (far, near)
        return bool((grows or falls) and (prove("<", 0, low) or prove("<", high, 0)))


def is_plain(statement: Statement) -> bool:
    """Whether it is one of numbers, or a branch."""
    return isinstance(statement, If) or (
        isinstance(statement, Kernel) and not statement.axes and not statement.reductions)


def is_free(statement: Statement, exits: Sequence[Exit]) -> bool:
    """Whether it is a check that has Python run the function from the start."""
    return isinstance(statement, SideExit) and not (
        statement.leaving or exits[statement.number].frames)


def _pays(inner: For) -> bool:
    """Whether two rows at a time gain: if iterations wait for values of earlier ones, and no branch
    chooses a load or store (such branches are predicted worse if two rows alternate)."""
    exposed = Exposed()
    exposed.block(inner.body)
    kernels = [s for s in flat(inner.body) if isinstance(s, Kernel)]
    made = {buffer for kernel in kernels for buffer in kernel.written}
    iterations = inner.stop - inner.start
    return (
        not made.isdisjoint(exposed.found) and sum(len(k.values) for k in kernels) <= LONG
        and not any(isinstance(s, If) and any(_touches((s,))) for s in flat(inner.body))
        and not (is_known(iterations) and hint(iterations) < SHORT)
    )


def _touches(body: Sequence[Statement]) -> Iterator[ArrayAccess]:
    for statement in flat(body):
        if isinstance(statement, Kernel):
            for value in statement.values:
                if isinstance(value, Load) and value.buffer.kind != "scalar":
                    place = value.at.offset if value.by is None else None
                    yield ArrayAccess(value.buffer, False, place)
            for store in statement.stores:
                if store.buffer.kind != "scalar":
                    known = store.by is None and not store.packed
                    yield ArrayAccess(store.buffer, True, store.at.offset if known else None)


# ------------------------------------------------------------------ writing them


def _jammed(outer: For, inner: For, before: Sequence[Statement],
            second: Mapping[Buffer, Buffer], there: Buffer, lag: int) -> For:
    """The nest in pairs of rows; where only one is left, it is done as the columns by which the
    second one is behind, and the number ``there`` is false."""
    column, row = (Poly((((loop.symbol,), 1),)) for loop in (inner, outer))
    step, start, stop = outer.step, inner.start, inner.stop
    assert isinstance(step, int)
    first = Copy({}, {})
    behind = Copy(second, {outer.symbol: row + step, inner.symbol: column - lag})
    alone = Copy(second, {outer.symbol: row + step})
    left = (outer.stop - row) * step  # rows
    whole = largest(2 - left, 0) * largest(stop - start, 0)
    begin = start + lag + whole
    test = Kernel(
        "pair",
        (),
        (SizeValue(left), Constant(np.int64(1), INT), Apply("lt", (1, 0), BOOL)),
        (Store(there, Index(0, ()), 2),),
    )
    body = (
        *first.block(before),
        replace(inner, stop=smallest(begin, stop), body=first.block(inner.body), rolled=True),
        test,
        If(there, alone.block(before), ()),
        replace(inner, start=begin, rolled=True,
                body=(*first.block(inner.body), *behind.block(inner.body))),
        replace(inner, start=largest(stop - lag, start) + whole, body=alone.block(inner.body),
                rolled=True),
    )
    return replace(outer, step=2 * step, body=body)


@record(frozen=False)
class Copy:
    """Statements that only compute, on other numbers, at other places."""

    names: Mapping[Buffer, Buffer]
    places: Mapping[Symbol, Size]

    def block(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple([self._statement(statement) for statement in body])

    def _statement(self, statement: Statement) -> Statement:
        match statement:
            case Kernel():
                stores = tuple([replace(s, buffer=self._name(s.buffer), at=self._index(s.at))
                                for s in statement.stores])
                return replace(
                    statement, values=tuple(map(self._value, statement.values)), stores=stores)
            case SideExit():
                return replace(statement, buffer=self._name(statement.buffer))
            case If():
                then, orelse = self.block(statement.then), self.block(statement.orelse)
                condition = self._name(statement.condition)
                return replace(statement, condition=condition, then=then, orelse=orelse)
        raise AssertionError(statement)

    def _value(self, value: Value) -> Value:
        match value:
            case Load():
                return replace(value, buffer=self._name(value.buffer), at=self._index(value.at))
            case SizeValue(size):
                return replace(value, size=substitute(size, self.places))
        return value

    def _name(self, buffer: Buffer) -> Buffer:
        return self.names.get(buffer, buffer)

    def _index(self, at: Index) -> Index:
        return replace(at, offset=substitute(at.offset, self.places))
