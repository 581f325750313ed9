"""What follows where a condition is known to hold, or not to hold."""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.graph.ir import Const, Get, Node, integer

#: a comparison, or a question whether an operation overflows, and whether it holds
Known = tuple[Node, bool]
_COMPARISONS = frozenset({"lt", "le", "eq", "ne"})


def holding(condition: Node, truth: bool) -> Iterator[Known]:
    """The comparisons of numbers whose outcome follows, and operations that don't overflow."""
    op = condition.op
    if op == "cast":
        yield from holding(condition.args[0], truth)
    elif op == "bit_not":
        yield from holding(condition.args[0], not truth)
    elif op == ("bit_and" if truth else "bit_or"):
        for arg in condition.args:
            yield from holding(arg, truth)
    elif op.endswith("_overflows"):
        yield condition, truth
    elif op in _COMPARISONS:
        yield condition, truth
        number, other = condition.args
        constant = _number(other)
        if constant is not None and truth == (op == "eq"):
            for path in _paths(number, constant):
                yield from holding(*path)
    else:
        for path in _paths(condition, truth):
            yield from holding(*path)


def _number(node: Node) -> int | None:
    if isinstance(node.attrs, Const) and node.dtype.kind in "bi":
        return integer(node.attrs.value)
    return None


def _paths(node: Node, value: int) -> Iterator[tuple[Node, bool]]:
    """Conditions on which a number that is chosen has a value."""
    if node.op == "where":
        condition, *arms = node.args
    elif isinstance(node.attrs, Get) and node.args[0].op == "if_":
        (choice,) = node.args
        condition, at = choice.args[0], node.attrs.index
        arms = [region.results[at] for region in choice.regions]
    else:
        return
    for arm, other, taken in zip(arms, arms[::-1], (True, False), strict=True):
        constant = _number(other)
        if constant is not None and constant != value:
            yield condition, taken
            if node.dtype.kind == "b":
                yield arm, bool(value)
            else:
                yield from _paths(arm, value)
