"""Accesses to a memory, and whether they may meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Union

from npcompile.core.facts import Facts
from npcompile.core.sizes import Poly, Predicate, Size
from npcompile.schedule.memory.memories import BufferView, Footprint


def conflict(facts: Facts, extents: tuple[Size, ...], a: Footprint, b: Footprint) -> bool:
    """Whether iterations of one nest may meet through two accesses, one of them a store."""
    if a.memory is not b.memory:
        return False
    if a.by is not None or b.by is not None:
        return True
    if a == b:
        return False
    if a.part and b.part and a.part != b.part:
        return False
    return not disjoint(facts, (a.offset, extents, a.steps), (b.offset, extents, b.steps))


def overlap(facts: Facts, a: BufferView, b: BufferView) -> bool:
    """Whether two places may share memory."""
    if a.memory is not b.memory or (a.part and b.part and a.part != b.part):
        return False
    return not disjoint(facts, (a.offset, a.shape, a.strides), (b.offset, b.shape, b.strides))


#: offset, lengths and steps of strided elements of a memory (a regular section)
Section = tuple[Size, tuple[Size, ...], tuple[Size, ...]]


Span = Union[tuple[Size, Size], None]


def disjoint(facts: Facts, a: Section, b: Section) -> bool:
    """Whether it is proved that two strided boxes (offset, lengths, steps) have no element in
    common: one ends before the other begins, or does so within each row."""
    if a == b:
        return False
    if _apart(facts, span(facts, a), span(facts, b), None):
        return True
    shared = [step for step in dict.fromkeys(a[2]) if step in b[2] and facts.prove("<", 1, step)]
    return any(
        _apart(facts, span(facts, _within(a, step)), span(facts, _within(b, step)), step)
        for step in shared
    )


def _apart(facts: Facts, first: Span, second: Span, period: Size | None) -> bool:
    """Whether one region ends before the other begins; if both come again after each period, they
    must lie within one."""
    if first is None or second is None:
        return False
    return any(
        facts.prove("<", low[1], high[0])
        and (period is None or facts.prove("<", high[1] - low[0], period))
        for low, high in ((first, second), (second, first))
    )


def _within(box: Section, period: Size) -> Section:
    """A section without the axes that step by multiples of a period."""
    offset, lengths, steps = box
    left = [k for k, step in enumerate(steps) if quotient(step, period) is None]
    return offset, tuple([lengths[k] for k in left]), tuple([steps[k] for k in left])


def quotient(size: Size, divisor: Size) -> Size | None:
    """``size / divisor`` where both are products, one of which has the other as a factor."""
    if size == divisor:
        return 1
    if isinstance(size, int) and isinstance(divisor, int):
        return size // divisor if divisor and size % divisor == 0 else None
    if isinstance(size, int) or isinstance(divisor, int):
        return None
    (atoms, factor), *more = size.terms
    (wanted, by), *others = divisor.terms
    if more or others or factor % by:
        return None
    rest = list(atoms)
    for atom in wanted:
        if atom not in rest:
            return None
        rest.remove(atom)
    return Poly(((tuple(rest), factor // by),)) if rest else factor // by


def split(size: Size, by: Size) -> tuple[Size, Size]:
    """``(whole, rest)`` with ``size == whole * by + rest``, as far as terms are multiples."""
    if isinstance(size, int):
        if isinstance(by, int):
            return divmod(size, by)
        return (0, size)
    if size == by or by == 1:
        return (1, 0) if by != 1 else (size, 0)
    whole: Size = 0
    for atoms, coefficient in size.terms:
        term = Poly(((atoms, coefficient),)) if atoms else coefficient
        found = quotient(term, by)
        if found is not None:
            whole = whole + found
    return whole, size - whole * by


def span(facts: Facts, box: Section) -> Span:
    """The lowest and the highest element of a section that is not empty."""
    low, lengths, steps = box
    high = low
    for length, step in zip(lengths, steps):
        reach = step * (length - 1)
        if facts.prove("<=", 0, step):
            high = high + reach
        elif facts.prove("<=", step, 0):
            low = low + reach
        else:
            return None
    return low, high


@contextmanager
def in_turn(facts: Facts, start: Size, stop: Size, step: Size) -> Iterator[None]:
    """Inside a loop that has an iteration."""
    before = facts.mark()
    if facts.prove("<", 0, step):
        facts.learn(Predicate("<", start, stop))
    elif facts.prove("<", step, 0):
        facts.learn(Predicate("<", stop, start))
    yield
    facts.undo(before)
