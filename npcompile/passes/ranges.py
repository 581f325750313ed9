"""Integers that can't leave 64 bits: their overflow checks go, and tests whose answer follows.

Intervals are computed from what each integer is made of.  A number that loops carry is bounded by
*drift*: if every way to its next value adds or subtracts a small number, or starts anew from
something bounded, it moves by at most :data:`STEP` in an operation, so within any time that a
program runs (2**51 operations) it stays within 2**61 of where it began.  The interval knows the
directions in which it may move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from npcompile.core.sizes import Facts, Poly, Predicate, Size, Symbol
from npcompile.graph.builder import Builder, learn
from npcompile.graph.ir import Const, Get, Graph, Loop, Node, Region, SizeOf
from npcompile.graph.types import BOOL, INT, Scalar
from npcompile.passes.rewrite import rewrite
from npcompile.passes.simplify import simplify

STEP = 1 << 10
FAR = 1 << 61


class Interval(NamedTuple):
    low: int
    high: int

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high


ANY = Interval(-(2**63), 2**63 - 1)
BIT = Interval(0, 1)


def narrow(graph: Graph) -> Graph:
    """The graph without the checks and choices that intervals decide."""
    decided = _Intervals(graph).decided
    if not decided:
        return graph

    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        if node not in decided:
            return None
        assert isinstance(node.type, Scalar)
        return builder.const(np.bool_(decided[node]), node.type)

    return simplify(rewrite(graph, rule))


def _checked(found: Interval) -> Interval:
    """What overflows wraps."""
    return found if found.within(*ANY) else ANY


class _Intervals:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.facts = graph.facts
        self.origin: dict[Node, tuple[Node, int]] = {}  # a carried param: its loop and position
        self.index: dict[Node, Loop] = {}
        self.loops: dict[Symbol, Loop] = {}
        self.known: dict[Node, Interval] = {}
        self.sizes: dict[Symbol, Interval] = _guarded(graph.facts)
        self.decided: dict[Node, bool] = {}
        self._enter(graph.region)
        self._decide(graph.region)

    def _enter(self, region: Region) -> None:
        for node in region.nodes:
            for inner in node.regions:
                if node.op == "for_":
                    assert isinstance(node.attrs, Loop)
                    self.index[inner.params[0]] = node.attrs
                    self.loops[node.attrs.symbol] = node.attrs
                if node.op in ("for_", "while_"):
                    params = inner.params[1:] if node.op == "for_" else inner.params
                    self.origin.update((p, (node, k)) for k, p in enumerate(params))
                self._enter(inner)

    # ------------------------------------------------------------------ decisions

    def _decide(self, region: Region, given: Node | None = None) -> None:
        """``given`` holds in a region."""
        before = self.facts.mark()
        if given is not None:
            learn(self.facts, given)
        for node in region.nodes:
            if isinstance(node.type, Scalar) and node.type.dtype == BOOL and len(node.args) == 2:
                answer = self._answer(node)
                if answer is not None:
                    self.decided[node] = answer
            if node.op == "check":
                learn(self.facts, node.args[0])
            for k, inner in enumerate(node.regions):
                self._decide(inner, node.args[0] if node.op == "if_" and k == 0 else None)
        self.facts.undo(before)

    def _answer(self, node: Node) -> bool | None:
        a, b = node.args
        if not all(isinstance(x.type, Scalar) and x.type.dtype == INT for x in node.args):
            return None
        left, right = self.of(a), self.of(b)
        if node.op.endswith("_overflows"):
            exact = _RULES[node.op.partition("_")[0]](left, right)
            return False if exact.within(*ANY) else None
        proved = self._proved(node)
        if proved is not None:
            return proved
        if node.op == "lt":
            return _ordered(left.high < right.low, left.low >= right.high)
        if node.op == "le":
            return _ordered(left.high <= right.low, left.low > right.high)
        return None

    def _proved(self, node: Node) -> bool | None:
        """What the facts say of two sizes."""
        op = {"lt": "<", "le": "<="}.get(node.op)
        left, right = (_exact(self.chosen(arg)) for arg in node.args)
        if op is None or left is None or right is None:
            return None
        return self.facts.prove(op, left, right)

    def chosen(self, node: Node) -> Node:
        """What a choice comes to that is decided."""
        while node.op == "where" and node.args[0] in self.decided:
            node = node.args[1 if self.decided[node.args[0]] else 2]
        return node

    # ------------------------------------------------------------------ intervals

    def of(self, node: Node) -> Interval:
        """Where an int64 or bool is."""
        node = self.chosen(node)
        if node not in self.known:
            self.known[node] = ANY  # what depends on itself
            self.known[node] = self._interval(node)
        return self.known[node]

    def _interval(self, node: Node) -> Interval:
        if not isinstance(node.type, Scalar) or node.type.dtype.kind not in "biu":
            return ANY
        if node.type.dtype.kind == "b":
            return BIT
        whole = np.iinfo(node.type.dtype)
        kind = Interval(int(whole.min), int(whole.max))
        if node.type.dtype != INT:
            return kind
        if isinstance(node.attrs, Const):
            value = int(node.attrs.value)  # type: ignore[arg-type]
            return Interval(value, value)
        if isinstance(node.attrs, SizeOf):
            return self.size(node.attrs.size)
        if node in self.index:
            return self._turns(self.index[node])
        if node in self.origin or isinstance(node.attrs, Get):
            return self._drifting(node)
        if node.op == "cast":
            return self._cast(node)
        if node.op == "where":
            return self.of(node.args[1]).union(self.of(node.args[2]))
        if node.op in _RULES:
            return _checked(_RULES[node.op](self.of(node.args[0]), self.of(node.args[1])))
        return ANY

    def _cast(self, node: Node) -> Interval:
        (arg,) = node.args
        if not isinstance(arg.type, Scalar) or arg.type.dtype.kind not in "biu":
            return ANY
        return self.of(arg) if arg.type.dtype != np.uint64 else ANY

    # ------------------------------------------------------------------ drift

    def _drifting(self, node: Node) -> Interval:
        """Of what loops carry: where it may begin, and which way it moves from there."""
        seen, stack = {node}, [node]
        base: Interval | None = None
        down = up = False
        while stack:
            found = self._came_from(stack.pop())
            if isinstance(found, Interval):
                base = found if base is None else base.union(found)
                continue
            before, by = found
            down, up = down or by.low < 0, up or by.high > 0
            before = tuple(map(self.chosen, before))
            stack += [n for n in before if n not in seen]
            seen.update(before)
        if base is None or not base.within(-FAR, FAR):
            return ANY
        return Interval(base.low - FAR * down, base.high + FAR * up)

    def _came_from(self, node: Node) -> tuple[tuple[Node, ...], Interval] | Interval:
        """The values of which it is one, moved by a small number; or just where it is."""
        still = Interval(0, 0)
        if node in self.origin:
            loop, position = self.origin[node]
            return (loop.args[position], _next(loop)[position]), still
        if isinstance(node.attrs, Get):
            (source,) = node.args
            at = node.attrs.index
            if source.op == "if_":
                return tuple(region.results[at] for region in source.regions), still
            if source.op in ("for_", "while_"):
                return (_params(source)[at], _next(source)[at]), still
        if node.op in ("minimum", "maximum", "where"):
            return node.args[-2:], still
        if node.op == "cast" and node.args[0].dtype == INT:
            return node.args, still
        if isinstance(node.attrs, SizeOf):
            return self._offset(node.attrs.size)
        if node.op in ("add", "sub"):
            a, b = node.args
            step = self.of(b)
            if step.within(-STEP, STEP):
                return (a,), step if node.op == "add" else _minus(still, step)
            if node.op == "add" and self.of(a).within(-STEP, STEP):
                return (b,), self.of(a)
        return self.of(node)

    def _offset(self, size: Size) -> tuple[tuple[Node, ...], Interval] | Interval:
        """A computed number and a constant."""
        if isinstance(size, Poly):
            constant = sum(c for atoms, c in size.terms if not atoms)
            rest = size - constant
            if isinstance(rest, Poly) and rest.terms[0][1] == 1 and abs(constant) <= STEP:
                names = [atom for atom in rest.terms[0][0] if isinstance(atom, Symbol)]
                if rest.terms == (((*names,), 1),) and len(names) == 1:
                    node = self.graph.bound.get(names[0])
                    if node is not None:
                        return (node,), Interval(constant, constant)
        return self.size(size)

    # ------------------------------------------------------------------ sizes

    def _turns(self, loop: Loop) -> Interval:
        """Of the index in a turn."""
        start, stop = self.size(loop.start), self.size(loop.stop)
        step = self.size(loop.step)
        if step.low > 0:
            return Interval(start.low, max(start.low, stop.high - 1))
        if step.high < 0:
            return Interval(min(start.high, stop.low + 1), start.high)
        return start.union(stop)

    def symbol(self, name: Symbol) -> Interval:
        if name not in self.sizes:
            self.sizes[name] = ANY  # what depends on itself
            if name in self.loops:
                found = self._turns(self.loops[name])
            elif name in self.graph.bound:
                found = self.of(self.graph.bound[name])
            else:
                found = ANY
            if name.low is not None:
                found = Interval(max(found.low, name.low), found.high)
            self.sizes[name] = found
        return self.sizes[name]

    def size(self, size: Size) -> Interval:
        """Exact, as sizes are, or all 64 bits."""
        if isinstance(size, int):
            return _checked(Interval(size, size))
        total = Interval(0, 0)
        for atoms, coefficient in size.terms:
            term = Interval(coefficient, coefficient)
            for atom in atoms:
                if not isinstance(atom, Symbol):
                    return ANY
                term = _times(term, self.symbol(atom))
            total = _plus(total, term)
        return _checked(total)


def _params(loop: Node) -> list[Node]:
    region = loop.regions[0]
    return region.params[1:] if loop.op == "for_" else region.params


def _next(loop: Node) -> list[Node]:
    region = loop.regions[0]
    return region.results if loop.op == "for_" else region.results[1:]


def _exact(node: Node) -> Size | None:
    if isinstance(node.attrs, SizeOf):
        return node.attrs.size
    return int(node.attrs.value) if isinstance(node.attrs, Const) else None  # type: ignore[arg-type]


def _guarded(facts: Facts) -> dict[Symbol, Interval]:
    """What guards say of single symbols."""
    found: dict[Symbol, Interval] = {}
    for predicate in facts.guards:
        bound = _bound(predicate)
        if bound is not None:
            name, sign, least = bound
            low, high = found.get(name, ANY)
            if name.low is not None:
                low = max(low, name.low)
            ends = (max(low, least), high) if sign > 0 else (low, min(high, -least))
            found[name] = Interval(*ends)
    return found


def _bound(predicate: Predicate) -> tuple[Symbol, int, int] | None:
    """(symbol, sign, bound) where a predicate says that ``sign * symbol >= bound``."""
    gap = predicate.right - predicate.left
    if predicate.op not in ("<", "<=") or not isinstance(gap, Poly):
        return None
    constant = sum(c for atoms, c in gap.terms if not atoms)
    rest = [(atoms, c) for atoms, c in gap.terms if atoms]
    if len(rest) != 1 or len(rest[0][0]) != 1 or abs(rest[0][1]) != 1:
        return None
    (name,), sign = rest[0]
    return (name, sign, (predicate.op == "<") - constant) if isinstance(name, Symbol) else None


def _ordered(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


# ------------------------------------------------------------------ arithmetic of intervals


def _plus(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def _minus(a: Interval, b: Interval) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def _times(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return Interval(min(corners), max(corners))


def _quotient(a: Interval, b: Interval) -> Interval:
    if b.low <= 0:
        return ANY
    corners = [x // y for x in a for y in b]
    return Interval(min(corners), max(corners))


def _remainder(a: Interval, b: Interval) -> Interval:
    return Interval(0, b.high - 1) if b.low > 0 else ANY


def _both(a: Interval, b: Interval) -> Interval:
    """Bits that two have in common; those of one that is not negative bound them."""
    tops = [i.high for i in (a, b) if i.low >= 0]
    return Interval(0, min(tops)) if tops else ANY


def _shifted(a: Interval, b: Interval) -> Interval:
    if not b.within(0, 63):
        return Interval(min(a.low, -1), max(a.high, 0))
    corners = [x >> y for x in a for y in b]
    return Interval(min(corners), max(corners))


_RULES: dict[str, Callable[[Interval, Interval], Interval]] = {
    "add": _plus,
    "sub": _minus,
    "mul": _times,
    "int_div": _quotient,
    "int_mod": _remainder,
    "bit_and": _both,
    "shr": _shifted,
    "minimum": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    "maximum": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
}
