"""Loops as regions: ``for_`` and ``while_``.

One iteration of the body is traced on parameters that stand for what an iteration begins with:

* live variables that the loop stores: numbers, also inside tuples, and arrays that it binds anew;
* array cells that an iteration looks at (see :class:`~npcompile.python.values.Scope`);
* contents of closure cells, lists and dictionaries that change.

What the iteration ends with must have the very types it began with; where it has not (``s = 0`` and
then ``s += x`` of floats), the first iteration is followed on its own and the loop begins after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.errors import Refused
from npcompile.core.records import replace
from npcompile.core.sizes import Unhinted, hint
from npcompile.graph.types import BOOL
from npcompile.python.iterator import Iterator
from npcompile.python.values import Frame, State, Successors
from npcompile.tracing import control, loop_fixpoint, trip_counts
from npcompile.tracing.loop_effects import MayBeEmpty, Retry, TypeMismatch
from npcompile.tracing.loop_facts import LoopFacts

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

SHORT = 4  #: iterations of a loop that is unrolled although it need not be
PEELED = 3  #: iterations that are followed one by one before the rest becomes a region
REFUSED = 2  #: times a loop is refused before it is no longer tried as a region
ATTEMPTS = 6  #: times a body is traced while something is learned about it


def enter(t: Tracer, frame: Frame, header: int, state: State) -> Successors | None:
    """The exits of a loop that is reached at its header; None: go on there, iteration by
    iteration."""
    last = loop_fixpoint.last_instruction(frame, header)
    top = state.stack[-1] if last.op == "FOR_ITER" else None
    iterator = top if isinstance(top, Iterator) else None
    if header in frame.unrolled:
        return None
    if iterator is not None:
        if iterator.unrolled:
            return None
        if _is_short(t, iterator):
            _unroll(state, iterator)
            return None
        followed = iterator.position
    else:
        followed = frame.followed.get(header, 0)
    before = Checkpoint(t, frame)
    try:
        return _region(t, frame, header, state, iterator, followed)
    except TypeMismatch as unlike:
        before.restore()
        if followed >= PEELED:
            raise t.refuse("loop", str(unlike)) from None
    except MayBeEmpty:
        before.restore()
        assert iterator is not None
        return nonempty(t, frame, header, state, iterator)
    except Refused as refused:
        before.restore()
        t.learned[frame.code, header].refused.append(refused.again())
        if iterator is None:
            frame.unrolled[header] = refused.again()
            return None
        if iterator.left(t) is None:
            raise
        _unroll(state, iterator)
        return None
    frame.followed[header] = followed + 1
    return None


def nonempty(
    t: Tracer, frame: Frame, header: int, state: State, iterator: Iterator
) -> Successors:
    """Enters a loop only where the run finds that it has an iteration."""
    over = trip_counts.iterations(t, iterator)
    last = frame.code.blocks[header][-1]
    frame.enters(header, state, last)
    pair = (t.builder.size(over.low), t.builder.size(over.high))
    runs = t.builder.map("le", pair, BOOL, origin="py")
    some, none = state.copy(), state.copy()
    some.stack[-1] = replace(iterator, nonempty=True)
    none.stack.pop()
    return control.arms(t, frame, runs, (header, some, {header}), (last.target, none, set()))


def advance(t: Tracer, frame: Frame, iterator: Iterator) -> Successors | None:
    """Takes one item of an iterator whose length only the run knows, which is on the stack."""
    over = trip_counts.iterations(t, iterator)
    header, state = frame.block, frame.state
    last = frame.code.blocks[header][-1]
    if not iterator.nonempty and not trip_counts.has_iterations(t, over):
        try:
            hint(over.high - over.low)
        except Unhinted:
            return nonempty(t, frame, header, state, iterator)
        state.stack.pop()
        return Successors({last.target: state})
    item, _ = over.item(trip_counts.first(t, iterator, over), over.start)
    state.stack[-1] = replace(iterator, position=iterator.position + 1, nonempty=False)
    state.stack.append(item)
    return Successors({last.after: state})


def _is_short(t: Tracer, iterator: Iterator) -> bool:
    count = iterator.left(t)
    return count is not None and (count <= SHORT or iterator.stored)


def _unroll(state: State, iterator: Iterator) -> None:
    state.stack[-1] = replace(iterator, unrolled=True)


class Checkpoint:
    """All that an attempt changes, so that another way can be tried."""

    def __init__(self, t: Tracer, frame: Frame) -> None:
        self.t, self.frame = t, frame
        self.mark, self.saved = t.builder.mark(), replace(frame)
        self.reached, self.listed = t.mark(), t.aliases.mark()
        self.place = (t.builder.line, t.builder.region)
        self.pending = dict(t.effects.pending)

    def restore(self) -> None:
        t = self.t
        t.builder.rollback(self.mark)
        t.builder.at(*self.place)
        t.back_to(self.reached)
        t.aliases.back_to(self.listed)
        t.effects.back_to(self.pending)
        self.frame.back_to(self.saved)


def _region(
    t: Tracer, frame: Frame, header: int, state: State, iterator: Iterator | None, followed: int
) -> Successors:
    """Traces the body until nothing new is learned."""
    loop_facts = t.learned.setdefault((frame.code, header), LoopFacts())
    if len(loop_facts.refused) >= REFUSED:
        raise loop_facts.refused[-1].again()
    over = None if iterator is None else trip_counts.iterations(t, iterator)
    before = Checkpoint(t, frame)
    for _ in range(ATTEMPTS):
        try:
            nonempty = iterator is not None and iterator.nonempty
            return loop_fixpoint.LoopAttempt(
                t, frame, header, state, loop_facts, over, followed, nonempty).exits()
        except Unhinted as unknown:
            raise t.refuse("size", f"{unknown} is known only to the run") from None
        except Retry:
            before.restore()
    raise t.refuse("loop", "changes too much from iteration to iteration")
