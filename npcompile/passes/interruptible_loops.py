"""Which loops need to be left between two of their iterations, if a signal handler raises.

The outermost ones do, and those in them of which one iteration of the loop around may take long.
Inner loops that don't are compiled as if nothing could come between their iterations: what only
Python would need there is not computed.  That they take little is a guard of the compiled code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import suppress

from npcompile.core.sizes import (
    INDEX,
    Poly,
    Size,
    SizeCall,
    Symbol,
    floordiv,
    largest,
    product,
    smallest,
    substitute,
    symbols,
)
from npcompile.graph.ir import (
    WRITES,
    Const,
    Get,
    Graph,
    Loop,
    Node,
    Param,
    Region,
    SizeOf,
    integer,
    walk,
)
from npcompile.graph.types import INT, Array

LITTLE = 1 << 26  #: operations of an iteration that takes no more than some 10 ms
BITS = 32  # of a number that are shifted out one by one, mostly fewer
DEPTH = 4  # loops in one another of which the work is estimated
COSTS = {
    "const": 0, "size": 0, "get": 0, "param": 0, "empty": 0, "cast": 0, "call": 64, "div": 4,
    "sqrt": 4, "lookup": 4, "fmod": 16, "int_div": 8, "int_mod": 8,
}


_SIZES: dict[str, Callable[[Size, Size], Size]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "maximum": largest, "minimum": smallest, "max": largest, "min": smallest,
}


class Long(Exception):
    """Nothing tells how long an iteration takes."""


def drop_edges(graph: Graph) -> Graph:
    """The graph without the edges of loops that need none; its regions are changed, those of an
    earlier pass."""
    work = _EdgeWork(graph)
    work.shorten()
    work.region(graph.region)
    return graph


class _EdgeWork:
    def __init__(self, graph: Graph) -> None:
        self.facts, self.bound, self.whole = graph.facts, graph.bound, graph.region
        self.indices = {node: name for name, node in graph.bound.items() if node.op == "param"}

    def shorten(self) -> None:
        """Notes which ``while_`` have few iterations."""
        for node in walk(self.whole):
            if node.op == "while_":
                with suppress(Long):
                    trips = self._trips(node)
                    if isinstance(trips, int) and trips <= BITS:
                        node.regions[0].shorten()

    def region(self, region: Region, around: object = None) -> None:
        """Drops the edges of the loops in an iteration of a loop, or in the function, that takes
        little; else those of iterations in it that do."""
        if not any(node.regions for node in region.nodes):
            return
        if self._is_little(region, around):
            drop(region)
            return
        for node in region.nodes:
            for inner in node.regions:
                self.region(inner, node.attrs)

    def _is_little(self, region: Region, around: object) -> bool:
        """Whether a region takes little, guarded by bounds of sizes."""
        try:
            work = self._body(region, around, 0)
            bounds = {name: _above(name) for name in symbols(work)}
            if most(work, bounds) > LITTLE:
                return False
            more = {name: 2 * bound for name, bound in bounds.items()}
            while bounds and most(work, more) <= LITTLE and max(more.values()) <= INDEX:
                bounds, more = more, {name: 2 * bound for name, bound in more.items()}
        except Long:
            return False
        sizes = [(Poly((((name,), 1),)), bound) for name, bound in bounds.items()]
        return all(self.facts.ask("<=", 0, size) and self.facts.ask("<=", size, bound)
                   for size, bound in sizes)

    def _body(self, body: Region, attrs: object, depth: int) -> Size:
        """The most that an iteration takes: work grows or falls with the index."""
        total: Size = 0
        for node in body.nodes:
            total = total + self._node(node, depth)
        if isinstance(attrs, Loop) and attrs.symbol in symbols(total):
            ends = self._resolved(attrs.start), self._resolved(attrs.stop)
            first, last = (substitute(total, {attrs.symbol: end}) for end in ends)
            total = first + last
        if depth == 0 and not self.bound.keys().isdisjoint(symbols(total)):
            raise Long
        return total

    def _node(self, node: Node, depth: int) -> Size:
        if node.op in ("host_call", "extern") or depth > DEPTH:
            raise Long
        if isinstance(node.attrs, Loop):
            loop = node.attrs
            length = self._resolved(loop.stop) - self._resolved(loop.start)
            trips = floordiv(length, loop.step) + 1
            return self._count(trips) * self._body(node.regions[0], loop, depth + 1)
        if node.op == "while_":
            return self._count(self._trips(node)) * self._body(node.regions[0], None, depth + 1)
        if node.regions:
            return sum((self._body(arm, None, depth + 1) for arm in node.regions), 0)
        each = COSTS.get(node.op, 1)
        made = node.args[1] if node.op in WRITES else node
        if isinstance(made.type, Array) and each and node.op != "read":
            return self._count(product(made.type.shape)) * each
        return each

    # ------------------------------------------------------------------ how many

    def _trips(self, loop: Node) -> Size:
        """The most iterations of a ``while_``: a number goes by steps towards a bound that does not
        change, or its bits are shifted out."""
        (region,) = loop.regions
        again, *following = region.results
        pairs = zip(loop.args, region.params, strict=True)
        numbers = dict(zip(map(_uncast, following), pairs, strict=True))
        for condition in _implied(again):
            if condition.op not in ("lt", "le"):
                continue
            small, large = map(_uncast, condition.args)
            if small in numbers:
                begun, param = numbers[small]
                if self._rises(small, param, 1):
                    return self._size(large) - self._size(begun) + 2
            if large in numbers:
                begun, param = numbers[large]
                if self._rises(large, param, -1):
                    return self._size(begun) - self._size(small) + 2
                if large.op == "shr" and _uncast(large.args[0]) is param and isinstance(
                        small.attrs, Const) and integer(small.attrs.value) >= 0:
                    return BITS
        raise Long

    def _rises(self, following: Node, before: Node, sign: int) -> bool:
        """Whether a number grows by at least 1 in each iteration, or falls."""
        if following.op not in ("add", "sub"):
            return False
        left, right = map(_uncast, following.args)
        if before not in (left, right):
            return False
        step = right if left is before else left
        if following.op == "sub":
            if left is not before:
                return False
            sign = -sign
        try:
            return self.facts.prove("<=", 1, self._size(step) * sign) is True
        except Long:
            return False

    def _size(self, node: Node, steps: int = 8) -> Size:
        """A number as a size that is known before the outermost loop but for indices of loops."""
        node = _uncast(node)
        if isinstance(node.attrs, Const) and node.dtype.kind == "i":
            return integer(node.attrs.value)
        if isinstance(node.attrs, SizeOf):
            return self._resolved(node.attrs.size, steps)
        if isinstance(node.attrs, Param) and node.attrs.symbol is not None:
            return Poly((((node.attrs.symbol,), 1),))
        if node in self.indices:
            return Poly((((self.indices[node],), 1),))
        if node.op in _SIZES and len(node.args) == 2 and node.dtype.kind == "i" and steps:
            left, right = (self._size(arg, steps - 1) for arg in node.args)
            return _SIZES[node.op](left, right)
        raise Long

    def _resolved(self, size: Size, steps: int = 8) -> Size:
        """The same with what computed numbers are computed from."""
        names = {name: self._size(self.bound[name], steps - 1) for name in symbols(size)
                 if name in self.bound and self.bound[name].op != "param"} if steps else {}
        return substitute(size, names)

    def _count(self, size: Size) -> Size:
        return size if self.facts.prove("<=", 0, size) else largest(size, 0)


def _above(name: Symbol) -> int:
    """A bound that is not the size at hand itself."""
    if name.hint is None or name.hint < 0:
        raise Long
    return 1 << name.hint.bit_length()


def most(size: Size, bounds: dict[Symbol, int]) -> int:
    """The most that a size may be if symbols are from 0 to their bounds."""
    return size if isinstance(size, int) else _extremes(size, bounds)[1]


def _extremes(size: Size, bounds: dict[Symbol, int]) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    low = high = 0
    for factors, times in size.terms:
        least = largest_ = times
        for factor in factors:
            ends = (0, bounds[factor]) if isinstance(factor, Symbol) else _of_call(factor, bounds)
            corners = [x * y for x in (least, largest_) for y in ends]
            least, largest_ = min(corners), max(corners)
        low, high = low + least, high + largest_
    return low, high


def _of_call(call: SizeCall, bounds: dict[Symbol, int]) -> tuple[int, int]:
    (a, b), (c, d) = (_extremes(part, bounds) for part in (call.left, call.right))
    match call.name:
        case "max":
            return max(a, c), max(b, d)
        case "min":
            return min(a, c), min(b, d)
        case "floordiv" if c == d != 0:
            return min(a // c, b // c), max(a // c, b // c)
        case "mod" if c > 0:
            return 0, d - 1
    raise Long


def _implied(again: Node, holds: bool = True) -> Iterator[Node]:
    """Comparisons that hold if a condition has an outcome."""
    if again.op in ("lt", "le"):
        opposite = "le" if again.op == "lt" else "lt"
        yield again if holds else Node(opposite, again.args[::-1], None, again.type)
    elif again.op == "cast":
        yield from _implied(again.args[0], holds)
    elif again.op == "bit_not":
        yield from _implied(again.args[0], not holds)
    elif again.op == "bit_and" and holds:
        for part in again.args:
            yield from _implied(part)
    elif again.op in ("eq", "ne") and isinstance(again.args[1].attrs, Const):
        if holds is (again.op == "eq"):
            yield from _is(again.args[0], again.args[1].attrs)
    else:
        yield from _is(again, Const(holds))


def _is(choice: Node, value: Const) -> Iterator[Node]:
    """Comparisons that hold if a choice is a constant."""
    condition, arms = choice, choice.args[1:]
    if isinstance(choice.attrs, Get) and choice.args[0].op == "if_":
        arms = tuple([arm.results[choice.attrs.index] for arm in choice.args[0].regions])
        condition = choice.args[0]
    elif choice.op != "where":
        return
    for holds, (arm, other) in ((True, arms), (False, arms[::-1])):
        if isinstance(other.attrs, Const) and other.attrs.value != value.value:
            yield from _implied(condition.args[0], holds)
            if arm.dtype.kind == "b":
                yield from _implied(arm, bool(value.value))
            else:
                yield from _is(arm, value)


def _uncast(node: Node) -> Node:
    """An integer as it was before it was cast to another class of 64 bits."""
    while node.op == "cast" and node.dtype == INT and node.args[0].dtype == INT and (
            not node.args[0].shape):
        (node,) = node.args
    return node


def drop(region: Region) -> None:
    """Takes the edges of all loops in a region away."""
    for node in region.nodes:
        for inner in node.regions:
            inner.goes_on_at(None)
            drop(inner)
