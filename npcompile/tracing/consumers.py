"""Builtins that consume an iterable, in Python: where the run finds the length, their bytecode is
followed like the user's own, and becomes a loop."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.tracing.values import Function, Value

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


def total(items: Iterable[Any], start: Any) -> Any:
    """``sum``"""
    for item in items:
        start = start + item
    return start


def largest(items: Iterable[Any]) -> Any:
    """``max``"""
    best = None
    for item in items:
        if best is None or item > best:
            best = item
    if best is None:
        raise ValueError
    return best


def smallest(items: Iterable[Any]) -> Any:
    """``min``"""
    best = None
    for item in items:
        if best is None or item < best:
            best = item
    if best is None:
        raise ValueError
    return best


def anything(items: Iterable[Any]) -> bool:
    """``any``"""
    for item in items:  # noqa: SIM110
        if item:
            return True
    return False


def everything(items: Iterable[Any]) -> bool:
    """``all``"""
    for item in items:  # noqa: SIM110
        if not item:
            return False
    return True


def listed(items: Iterable[Any]) -> list[Any]:
    """``list``"""
    found = []
    for item in items:
        found.append(item)  # noqa: PERF402
    return found


def follow(t: Tracer, consumer: Any, *args: Value) -> Value:
    """Follows one of these functions; where a check fails in it, Python makes the call anew."""
    from npcompile.tracing import calls

    assert isinstance(consumer, FunctionType)
    made = Function(consumer.__code__, consumer.__globals__, None, consumer.__name__)
    return calls.inline(t, made, args, {}, transparent=True)
