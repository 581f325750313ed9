"""Arithmetic of intervals of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Interval(NamedTuple):
    low: int
    high: int

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high


ANY = Interval(-(2**63), 2**63 - 1)
BIT = Interval(0, 1)


def checked(found: Interval) -> Interval:
    """What overflows wraps."""
    return found if found.within(*ANY) else ANY


def plus(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def minus(a: Interval, b: Interval) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def times(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return Interval(min(corners), max(corners))


def _quotient(a: Interval, b: Interval) -> Interval:
    if b.low <= 0:
        return ANY
    corners = [x // y for x in a for y in b]
    return Interval(min(corners), max(corners))


def _remainder(a: Interval, b: Interval) -> Interval:
    if b.low <= 0:
        return ANY
    return Interval(0, min(b.high - 1, a.high) if a.low >= 0 else b.high - 1)


def _both(a: Interval, b: Interval) -> Interval:
    """Bits that two have in common; those of one that is not negative bound them."""
    tops = [i.high for i in (a, b) if i.low >= 0]
    return Interval(0, min(tops)) if tops else ANY


def _either(a: Interval, b: Interval) -> Interval:
    """Bits of two that are not negative have no more digits than theirs."""
    if min(a.low, b.low) < 0:
        return Interval(-1 << _digits(a, b), (1 << _digits(a, b)) - 1)
    return Interval(0, (1 << _digits(a, b)) - 1)


def _digits(a: Interval, b: Interval) -> int:
    return max(end.bit_length() for end in (*a, *b))


def _shifted(a: Interval, b: Interval) -> Interval:
    if not b.within(0, 63):
        return Interval(min(a.low, -1), max(a.high, 0))
    corners = [x >> y for x in a for y in b]
    return Interval(min(corners), max(corners))


def _raised(a: Interval, b: Interval) -> Interval:
    """Of a shift to the left, if no bit is lost."""
    if not b.within(0, 63):
        return ANY
    corners = [x << y for x in a for y in b]
    return Interval(min(corners), max(corners))


RULES: dict[str, Callable[[Interval, Interval], Interval]] = {
    "add": plus,
    "sub": minus,
    "mul": times,
    "int_div": _quotient,
    "int_mod": _remainder,
    "bit_and": _both,
    "bit_or": _either,
    "bit_xor": _either,
    "shl": _raised,
    "shr": _shifted,
    "minimum": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    "maximum": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
}
