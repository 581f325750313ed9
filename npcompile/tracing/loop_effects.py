"""Finds the stores of a loop's body, and whether it leaves things as they were."""

from __future__ import annotations

from typing import Any

from npcompile.frontend.bytecode import accesses
from npcompile.graph.ir import Check, Region
from npcompile.python.values import Frame, HeapObject, Value, Vector
from npcompile.tracing.selectors import same


class Retry(Exception):
    """Something was learned about the loop: its body must be traced again."""


class TypeMismatch(Exception):
    """An iteration ends with values of other types than it began with."""


class MayBeEmpty(Exception):
    """The loop must only be entered where it has an iteration."""


def stored(frame: Frame, body: set[int]) -> set[int]:
    """Variables that a loop stores."""
    code = frame.code
    found: set[int] = set()
    for block in body:
        for instruction in code.blocks[block]:
            found.update(accesses(instruction)[1])
    return {k for k in found if not _is_cell(frame.state.locals[k])}


def closed_over(frame: Frame, body: set[int]) -> list[int]:
    """Variables in closure cells that a loop stores."""
    names = {i.arg for block in body for i in frame.code.blocks[block] if i.op == "STORE_DEREF"}
    return sorted(names)


def _is_cell(value: Value) -> bool:
    return isinstance(value, HeapObject) and value.kind is None


def same_contents(a: Any, b: Any) -> bool:
    if isinstance(a, Vector) and isinstance(b, Vector):
        return a.length is b.length
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return same(a, b)


def reruns(region: Region) -> bool:
    """Whether a check in a region wants to start again from the beginning."""
    return any(
        (isinstance(node.attrs, Check) and not node.attrs.resume.frames)
        or any(map(reruns, node.regions))
        for node in region.nodes
    )
