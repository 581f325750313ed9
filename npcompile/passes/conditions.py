"""What follows where a condition is known to hold, or not to hold."""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.core.sizes import Predicate, Size, Symbol, bound, lone_symbol
from npcompile.graph.ir import Const, Get, Graph, Node, integer
from npcompile.graph.types import Array, c_strides
from npcompile.passes.intervals import ANY, Interval

MEMORY = 1 << 57  # bytes that have addresses
#: a comparison, or a question whether an operation overflows, and whether it holds
Known = tuple[Node, bool]
_COMPARISONS = frozenset({"lt", "le", "eq", "ne"})
WRITTEN = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_OPPOSITE = {"lt": ("le", True), "le": ("lt", True), "eq": ("ne", False), "ne": ("eq", False)}


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


def predicate(op: str, holds: bool, left: Size, right: Size) -> Predicate:
    """What a comparison says that holds, or not."""
    if not holds:
        op, swap = _OPPOSITE[op]
        left, right = (right, left) if swap else (left, right)
    return Predicate(WRITTEN[op], left, right)


def guarded(graph: Graph) -> dict[Symbol, Interval]:
    """What guards say of single symbols, and that arrays are in memory."""
    found: dict[Symbol, Interval] = {}
    for param in graph.params:
        if isinstance(param.type, Array):
            most = (MEMORY if param.type.ndim == 1 else 2**63 - 1) // param.type.dtype.itemsize
            contiguous = param.type.strides == c_strides(param.type.shape)
            names = map(lone_symbol, param.type.shape if contiguous else ())
            found.update((name, Interval(0, most)) for name in names if name is not None)
    for guard in graph.facts.guards:
        said = bound(guard)
        if said is not None:
            name, sign, least = said
            low, high = found.get(name, ANY)
            if name.low is not None:
                low = max(low, name.low)
            ends = (max(low, least), high) if sign > 0 else (low, min(high, -least))
            found[name] = Interval(*ends)
    return found
