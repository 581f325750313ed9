"""Exact simplifications: the same bits and the same floating-point flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from npcompile.core.paths import defer
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Const, Graph, Node
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Scalar
from npcompile.passes.rewrite import rewrite

if TYPE_CHECKING:
    from npcompile.passes import equal_arms
else:
    defer(globals(), "npcompile.passes", "equal_arms")

#: operations whose results have no minus where their last two operands have none
_KEEP_SIGN = frozenset({"add", "mul", "div", "sqrt", "where", "minimum", "maximum"})

Rule = Callable[[Builder, Node, tuple[Node, ...]], "Node | None"]


def simplify(graph: Graph) -> Graph:
    """One sweep in traced order, so that operands are simple before their users."""
    return rewrite(graph, _rule, lambda *arms: equal_arms.join_arms(*arms))


def _rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    if args and all(arg.op == "const" for arg in args):
        found = _fold(builder, node, args)
        if found is not None:
            return found
    rule = _RULES.get(node.op)
    return None if rule is None else rule(builder, node, args)


def _fold(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """A number that follows from constants, unless computing it raises floating-point flags."""
    if not isinstance(node.type, Scalar) or node.attrs is not None:
        return None
    numbers = [arg.dtype.type(arg.attrs.value) for arg in args if isinstance(arg.attrs, Const)]
    try:
        with np.errstate(all="raise"):
            if node.op == "cast":
                value = np.asarray(numbers[0]).astype(node.dtype)[()]
            elif node.op in PRIMITIVES:
                value = np.asarray(PRIMITIVES[node.op].meaning(*numbers))[()]
            else:
                return None
    except FloatingPointError:
        return None
    return builder.const(cast(np.generic, value), node.type)


def _cast(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """A cast to the type that is there already, and a widening that is undone."""
    (arg,) = args
    if arg.type == node.type:
        return arg
    if arg.op == "cast" and arg.args[0].type == node.type and _holds(arg, arg.args[0]):
        return arg.args[0]
    return None


def _holds(wide: Node, narrow: Node) -> bool:
    """Whether every value of one dtype survives in another (a signalling NaN aside)."""
    order = "efd" if wide.dtype.kind == "f" else "bhil" if wide.dtype.kind == "i" else ""
    a, b = order.find(narrow.dtype.char), order.find(wide.dtype.char)
    return 0 <= a <= b


def _part(position: int) -> Rule:
    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        (arg,) = args
        if arg.op != "complex" or arg.args[position].type != node.type:
            return None
        return arg.args[position]

    return rule


def _where(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    condition, yes, no = args
    if yes is no and yes.type == node.type:
        return yes
    if condition.op == "const" and isinstance(condition.attrs, Const):
        chosen = yes if condition.attrs.value else no
        return chosen if chosen.type == node.type else None
    return None


def _unit(position: int, unit: float) -> Rule:
    """``x * 1``, ``x / 1`` and ``x - 0`` are exact; ``x + 0`` is not (-0.0 + 0 is 0.0)."""

    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        constant, other = args[position], args[1 - position]
        if constant.op != "const" or other.type != node.type:
            return None
        assert isinstance(constant.attrs, Const)
        value = constant.attrs.value
        if value != unit or (unit == 0 and str(value).startswith("-")):
            return None
        return other

    return rule


def _by_power_of_two(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """A quotient as a product with the inverse, which is exact: the very same bits and flags."""
    dividend, divisor = args
    if not isinstance(divisor.attrs, Const) or node.dtype.kind != "f":
        return None
    value = divisor.dtype.type(divisor.attrs.value)
    with np.errstate(all="ignore"):
        inverse, limits = divisor.dtype.type(1) / value, np.finfo(divisor.dtype)
    if abs(np.frexp(value)[0]) != 0.5 or not limits.tiny <= abs(inverse) <= limits.max:
        return None
    assert isinstance(divisor.type, Scalar)
    factor = builder.const(inverse, divisor.type)
    return builder.emit("mul", (dividend, factor), None, node.type)


def _twice(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """``2.0 * x`` as ``x + x``: the same bits and flags, sooner.  Of numbers only: arrays would
    be used twice."""
    if not isinstance(node.type, Scalar) or node.dtype.kind != "f" or node.dtype.itemsize < 4:
        return None
    for constant, other in (args, args[::-1]):
        if isinstance(constant.attrs, Const) and constant.attrs.value == 2:
            return builder.emit("add", (other, other), None, node.type)
    return None


def _never_less(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """Nothing is greater than infinity or less than minus infinity, no square is negative."""
    left, right = args
    if not isinstance(node.type, Scalar) or left.dtype.kind != "f":
        return None
    low, high = _number(right), _number(left)
    if high == np.inf or low == -np.inf or (low is not None and low <= 0 and _positive(left)):
        return builder.const(np.bool_(False), node.type)
    return None


def _number(node: Node) -> float | None:
    return float(node.attrs.value.real) if isinstance(node.attrs, Const) else None


def _positive(node: Node, depth: int = 8) -> bool:
    """Whether a float is NaN or has no minus, by what it is made of."""
    while node.op == "cast" and node.args[0].dtype.kind == "f":
        (node,) = node.args
    if node.op == "abs" or (node.op == "mul" and node.args[0] is node.args[1]):
        return True
    if node.op in _KEEP_SIGN and depth:
        return all(_positive(arg, depth - 1) for arg in node.args[-2:])
    number = _number(node)
    return number is not None and number >= 0 and not np.signbit(number)


def _truth(neutral: bool) -> Rule:
    """``b == True`` and ``b != False`` are ``b``; with the other constant they are its opposite."""

    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        for constant, other in (args, args[::-1]):
            if isinstance(constant.attrs, Const) and other.type == node.type:
                same = bool(constant.attrs.value) == neutral
                return other if same else builder.emit("bit_not", (other,), None, node.type)
        return None

    return rule


def _element(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """An element of an array in which all are equal, as of the imaginary part of a real one."""
    whole = args[0]
    filled = whole.op == "full" and whole.args[0].type == node.type
    return whole.args[0] if filled else None


def _first(*rules: Rule) -> Rule:
    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        for candidate in rules:
            found = candidate(builder, node, args)
            if found is not None:
                return found
        return None

    return rule


_RULES: dict[str, Rule] = {
    "cast": _cast,
    "real": _part(0),
    "imag": _part(1),
    "where": _where,
    "read": _element,
    "gather": _element,
    "mul": _first(_unit(0, 1), _unit(1, 1), _twice),
    "div": _first(_unit(1, 1), _by_power_of_two),
    "sub": _unit(1, 0),
    "lt": _never_less,
    "eq": _truth(True),
    "ne": _truth(False),
}
