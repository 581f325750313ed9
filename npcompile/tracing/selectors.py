"""Numbers that tell which path was taken, and whether two values are certainly one."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.graph.ir import Const, Node
from npcompile.graph.types import BOOL, PY_BOOL, PY_INT
from npcompile.python.composite import Composite
from npcompile.python.values import Static, Value
from npcompile.tracing.inputs import pinned

if TYPE_CHECKING:
    from npcompile.python.values import TaggedUnion
    from npcompile.tracing.services import Tracer


def selects(t: Tracer, selector: Node, target: int) -> Node:
    """Whether a selector says ``target``."""
    condition, first, second = t.selectors.get(selector, (None, None, None))
    for tag, node in ((True, first), (False, second)):
        other = second if tag else first
        if condition is not None and _says(node, target) and _never(other, target):
            return condition if tag else t.builder.emit("bit_not", (condition,), None, PY_BOOL)
    return t.builder.map("eq", (selector, t.builder.const(target)), BOOL, origin="py")


def _says(node: Node | None, target: int) -> bool:
    return node is not None and isinstance(node.attrs, Const) and node.attrs.value == target


def _never(node: Node | None, target: int) -> bool:
    return node is not None and isinstance(node.attrs, Const) and node.attrs.value != target


def place(t: Tracer, value: TaggedUnion) -> Node:
    """Which of its options a value is, counted from 0."""
    return recoded(t, value, tuple(range(len(value.options))))


def recoded(t: Tracer, value: TaggedUnion, codes: tuple[int, ...]) -> Node:
    """``value.tag`` with other codes."""
    if codes == value.codes:
        return value.tag
    found = t.builder.const(codes[-1])
    for old, new in zip(value.codes[:-1], codes[:-1]):
        pair = (selects(t, value.tag, old), t.builder.const(new), found)
        found = t.builder.map("where", pair, PY_INT.dtype, origin="py")
    return found


def same(a: Value, b: Value) -> bool:
    """Whether two values are certainly one."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    match a, b:
        case Static(x), Static(y):
            if x is y:
                return a.source == b.source or _known_whole(x)
            plain = (bool, int, str, bytes, type(None))
            return type(x) is type(y) and type(x) in plain and x == y
        case Composite(), Composite():
            return a.alike(b) and all(map(same, a.parts(), b.parts()))
    return False


def _known_whole(value: Any) -> bool:
    """Whether guards tell which object it is: what is found in two places may be two others at
    the next call, and functions of equal code may have other closures."""
    return pinned(value) and type(value) is not FunctionType
