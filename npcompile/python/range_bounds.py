"""Ranges whose ends only the run knows."""

from __future__ import annotations

from npcompile.core.sizes import INDEX, Poly, Size, Unhinted, floordiv, largest
from npcompile.ops import arguments
from npcompile.ops.operands import Context

Bounds = tuple[Size, Size, Size]  #: start, stop and step


def is_positive(t: Context, step: Size) -> bool:
    """The sign of a step that is not 0; that only the run knows is taken for the likelier one, and
    checked."""
    try:
        if t.facts.ask("==", step, 0):
            raise t.refuse("range", "a step of 0: Python raises")
        return t.facts.ask("<", 0, step)
    except Unhinted:
        falls = isinstance(step, Poly) and all(factor < 0 for _, factor in step.terms)
        down = t.facts.prove("<", step, 0) or (falls and not t.facts.prove("<", 0, step))
        low, high = (step, 0) if down else (0, step)
        arguments.require(t, "<", low, high, "a range goes the other way than it did")
        return not down


def small(t: Context, *ends: Size) -> bool:
    """Whether all numbers between these are small, guarded if need be."""
    return all(t.facts.ensure("<=", -INDEX, n) and t.facts.ensure("<=", n, INDEX) for n in ends)


def backwards(t: Context, bounds: Bounds) -> Bounds:
    """The same numbers from the last to the first."""
    start, stop, step = bounds
    sign = 1 if is_positive(t, step) else -1
    last = start + floordiv((stop - start) * sign - 1, step * sign) * step
    return last, start - sign, -step


def count(t: Context, bounds: Bounds) -> Size:
    """How many numbers a range has."""
    start, stop, step = bounds
    sign = 1 if is_positive(t, step) else -1
    found = floordiv((stop - start) * sign + step * sign - 1, step * sign)
    return found if t.facts.ensure("<=", 0, found) else largest(found, 0)
