"""Integers that can't leave 64 bits: their overflow checks go, and tests whose answer follows.

Intervals are computed from what each integer is made of.  A number that loops carry is bounded by
*drift*: if every way to its next value adds or subtracts a small number, or starts anew from
something bounded, it moves by at most :data:`STEP` in an operation, so within any time that a
program runs (2**51 operations) it stays within 2**61 of where it began.  The interval knows the
directions in which it may move.

Beside its interval, an integer may be known as a size (:meth:`_Intervals.exact`), about which
branches, loops and checks tell facts: ``while j > 0 and a[j - 1] > x`` needs no check of its index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from npcompile.core.sizes import (
    Poly,
    Predicate,
    Size,
    Symbol,
    bound,
    lone_symbol,
    substitute,
    symbols,
)
from npcompile.graph.builder import Builder
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
from npcompile.graph.types import BOOL, INT, Array, Scalar, c_strides
from npcompile.passes.conditions import holding
from npcompile.passes.rewrite import rewrite
from npcompile.passes.simplify import simplify

CHOICES = 2  # that are looked at case by case, within one another
STEP = 1 << 10
FAR = 1 << 61
MEMORY = 1 << 57  # bytes that have addresses


class Interval(NamedTuple):
    low: int
    high: int

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high


_WRITTEN = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_OPPOSITE = {"lt": ("le", True), "le": ("lt", True), "eq": ("ne", False), "ne": ("eq", False)}
_ELEMENTS = frozenset({"read", "copy", "full", "gather"})  # whose elements are those of another
_RELATED = frozenset({"int_mod", "where"})
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
        self.sizes: dict[Symbol, Interval] = _guarded(graph)
        self.decided: dict[Node, bool] = {}
        self.sized: dict[Node, Size | None] = {}
        self.node = dict(graph.bound)  # that a symbol names
        self.node.update((p.attrs.symbol, p) for p in graph.params
                         if isinstance(p.attrs, Param) and p.attrs.symbol is not None)
        self.named = {node: name for name, node in self.node.items()}
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

    def _decide(self, region: Region) -> None:
        for node in region.nodes:
            if isinstance(node.type, Scalar) and node.type.dtype == BOOL and len(node.args) == 2:
                answer = self._answer(node)
                if answer is not None:
                    self.decided[node] = answer
            if node.op == "check":
                self._learn(node.args[0], True)
            elif node.op in _RELATED and isinstance(node.type, Scalar) and node.dtype == INT:
                self._relate(node)
            for k, inner in enumerate(node.regions):
                before = self.facts.mark()
                if node.op == "if_":
                    self._learn(node.args[0], k == 0)
                elif node.op in ("for_", "while_"):
                    self._turn(node)
                self._decide(inner)
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
        if node.op in ("eq", "ne") and (left.high < right.low or right.high < left.low):
            return node.op == "ne"
        return None

    def _proved(self, node: Node) -> bool | None:
        """What the facts say of two sizes."""
        op = {"lt": "<", "le": "<="}.get(node.op)
        return None if op is None else self.prove(op, node.args[0], node.args[1])

    def prove(self, op: str, left: Node, right: Node, depth: int = CHOICES) -> bool | None:
        """What the facts say of two numbers; those that are chosen by a condition case by case."""
        left, right = self.chosen(left), self.chosen(right)
        a, b = self.exact(left), self.exact(right)
        if a is None or b is None:
            return None
        found = self.facts.prove(op, a, b)
        choice = next((n for n in (left, right) if n.op == "where"), None)
        if found is not None or choice is None or not depth:
            return found
        condition, *cases = choice.args
        answers = set()
        for truth, case in zip((True, False), cases, strict=True):
            before = self.facts.mark()
            self._learn(condition, truth)
            pair = [case if n is choice else n for n in (left, right)]
            answers.add(self.prove(op, pair[0], pair[1], depth - 1))
            self.facts.undo(before)
        return answers.pop() if len(answers) == 1 else None

    def chosen(self, node: Node) -> Node:
        """What a choice comes to that is decided."""
        while node.op == "where" and node.args[0] in self.decided:
            node = node.args[1 if self.decided[node.args[0]] else 2]
        return node

    # ------------------------------------------------------------------ facts about sizes

    def exact(self, node: Node) -> Size | None:
        """An int64 as a size: by what it is computed from, else by a name."""
        node = self.chosen(node)
        if node not in self.sized:
            self.sized[node] = None  # what depends on itself
            self.sized[node] = self._exact(node)
        return self.sized[node]

    def _exact(self, node: Node) -> Size | None:
        if not isinstance(node.type, Scalar) or node.type.dtype != INT:
            return None
        if isinstance(node.attrs, Const):
            return integer(node.attrs.value)
        if isinstance(node.attrs, SizeOf):
            found = {name: self.exact(self.graph.bound[name])
                     for name in symbols(node.attrs.size) if name in self.graph.bound}
            known = {name: size for name, size in found.items() if size is not None}
            return substitute(node.attrs.size, known)
        if node.op == "cast" and node.args[0].dtype == INT:
            return self.exact(node.args[0])
        if node.op in ("add", "sub") and _RULES[node.op](*map(self.of, node.args)).within(*ANY):
            left, right = map(self.exact, node.args)
            if left is not None and right is not None:
                return left + right if node.op == "add" else left - right
        if node in self.origin and self.chosen(_next(*self.origin[node])) is node:  # it stays
            loop, position = self.origin[node]
            return self.exact(loop.args[position])
        if node not in self.named:
            self.named[node] = Symbol("known")
            self.node[self.named[node]] = node
        return Poly((((self.named[node],), 1),))

    def _learn(self, condition: Node, truth: bool) -> None:
        """What follows where a condition holds, or not."""
        for known, holds in holding(condition, truth):
            self._note(known.op, holds, *map(self.exact, known.args))

    def _note(self, op: str, holds: bool, left: Size | None, right: Size | None) -> None:
        if left is not None and right is not None:
            self.facts.learn(_predicate(op, holds, left, right))

    def _relate(self, node: Node) -> None:
        """A remainder and its divisor, the smaller or greater of two numbers and both."""
        if node.op == "int_mod":
            divisor = self.exact(node.args[1])
            if divisor is not None and self.facts.prove("<", 0, divisor):
                self._note("le", True, 0, self.exact(node))
                self._note("lt", True, self.exact(node), divisor)
        elif node.args[0].op in ("lt", "le") and set(node.args[0].args) == set(node.args[1:]):
            made, smaller = self.exact(node), node.args[0].args[0] is node.args[1]
            for end in map(self.exact, node.args[1:]):
                self._note("le", True, *((made, end) if smaller else (end, made)))

    def _turn(self, node: Node) -> None:
        """What holds at the beginning of every turn of a loop."""
        if isinstance(node.attrs, Loop) and isinstance(node.attrs.step, int):
            index = self.exact(node.regions[0].params[0])
            first, last = node.attrs.start, node.attrs.stop
            if node.attrs.step < 0:
                first, last = last + 1, first + 1
            self._note("le", True, first, index)
            self._note("lt", True, index, last)
        for param in _params(node):
            if isinstance(param.type, Scalar) and param.type.dtype == INT:
                self._moves(param)
        if node.op == "while_":
            self._again(node)

    def _moves(self, param: Node) -> None:
        """A number that moves in one direction stays on that side of where it began."""
        bases, down, up, mirrored = self._walk(param)
        begun = {self.exact(base) for base in bases}
        if len(begun) == 1 and down != up and not mirrored:
            (base,) = begun
            ends = (self.exact(param), base) if down else (base, self.exact(param))
            self._note("le", True, *ends)

    def _again(self, loop: Node) -> None:
        """What lets a loop go on holds in every turn, if it does at first."""
        region = loop.regions[0]
        params = _params(loop)
        following = {self.chosen(n): k for k, n in enumerate(region.results[1:])}
        inside = {*params, *walk(region)}
        for known, holds in holding(region.results[0], True):
            now: list[Size | None] = []
            first: list[Size | None] = []
            for arg in known.args:
                here = there = self.exact(arg)
                at = following.get(self.chosen(arg))
                if at is not None and not isinstance(here, int):
                    here, there = self.exact(params[at]), self.exact(loop.args[at])
                now.append(here)
                first.append(there)
            left, right = first
            if left is None or right is None or not self._outside(inside, left, right):
                continue
            begin = _predicate(known.op, holds, left, right)
            if self.facts.prove(begin.op, begin.left, begin.right):
                self._note(known.op, holds, *now)

    def _outside(self, inside: set[Node], *found: Size) -> bool:
        """Whether sizes are the same in all turns of a loop."""
        return all(self.node.get(name) not in inside for size in found for name in symbols(size))

    # ------------------------------------------------------------------ intervals

    def of(self, node: Node) -> Interval:
        """Where an int64 or bool is, or every element of an array of them."""
        node = self.chosen(node)
        if node not in self.known:
            self.known[node] = ANY  # what depends on itself
            self.known[node] = self._interval(node)
        return self.known[node]

    def _interval(self, node: Node) -> Interval:
        if not isinstance(node.type, (Scalar, Array)) or node.type.dtype.kind not in "biu":
            return ANY
        if node.type.dtype.kind == "b":
            return BIT
        whole = np.iinfo(node.type.dtype)
        kind = Interval(int(whole.min), int(whole.max))
        if node.type.dtype != INT:
            return kind
        if isinstance(node.attrs, Const):
            value = integer(node.attrs.value)
            return Interval(value, value)
        if isinstance(node.attrs, SizeOf):
            return self.size(node.attrs.size)
        if isinstance(node.attrs, Param) and node.attrs.symbol is not None:
            return self.symbol(node.attrs.symbol)
        if node in self.index:
            return self._turns(self.index[node])
        if node in self.origin or isinstance(node.attrs, Get):
            return self._drifting(node)
        if node.op == "cast":
            return self._cast(node)
        if node.op in _ELEMENTS:
            return self.of(node.args[0])
        if node.op in WRITES:
            return self.of(node.args[0]).union(self.of(node.args[1]))
        if node.op == "where":
            return self.of(node.args[1]).union(self.of(node.args[2]))
        if node.op == "neg":
            return _checked(_minus(Interval(0, 0), self.of(node.args[0])))
        if node.op in _RULES:
            return _checked(_RULES[node.op](self.of(node.args[0]), self.of(node.args[1])))
        return ANY

    def _cast(self, node: Node) -> Interval:
        (arg,) = node.args
        if not isinstance(arg.type, (Scalar, Array)) or arg.type.dtype.kind not in "biu":
            return ANY
        return self.of(arg) if arg.type.dtype != np.uint64 else ANY

    # ------------------------------------------------------------------ drift

    def _drifting(self, node: Node) -> Interval:
        """Of what loops carry: where it may begin, and which way it moves from there."""
        bases, down, up, mirrored = self._walk(node)
        found = [self.of(base) for base in bases]
        if not found or not all(base.within(-FAR, FAR) for base in found):
            return ANY
        low, high = min(base.low for base in found), max(base.high for base in found)
        if mirrored:
            low, high, down, up = min(low, -high), max(high, -low), down or up, down or up
        return Interval(low - FAR * down, high + FAR * up)

    def _walk(self, node: Node) -> tuple[list[Node], bool, bool, bool]:
        """The values where it may begin, whether it may move down, or up, from there, and whether
        it may change its sign."""
        seen, stack, bases = {node}, [node], []
        down = up = mirrored = False
        while stack:
            here = stack.pop()
            mirrored = mirrored or here.op == "neg"
            found = self._came_from(here)
            if found is None:
                bases.append(here)
                continue
            before, by = found
            down, up = down or by.low < 0, up or by.high > 0
            before = tuple(map(self.chosen, before))
            stack += [n for n in before if n not in seen]
            seen.update(before)
        return bases, down, up, mirrored

    def _came_from(self, node: Node) -> tuple[tuple[Node, ...], Interval] | None:
        """The values of which it is one, moved by a small number; None: it begins here."""
        still = Interval(0, 0)
        if node in self.origin:
            loop, position = self.origin[node]
            return (loop.args[position], _next(loop, position)), still
        if isinstance(node.attrs, Get):
            (source,) = node.args
            at = node.attrs.index
            if source.op == "if_":
                return tuple(region.results[at] for region in source.regions), still
            if source.op in ("for_", "while_"):
                return (_params(source)[at], _next(source, at)), still
        if node.op in ("minimum", "maximum", "where"):
            return node.args[-2:], still
        if node.op in _ELEMENTS or node.op in WRITES:
            return node.args[: 1 + (node.op in WRITES)], still
        if node.op == "neg" or (node.op == "cast" and node.args[0].dtype == INT):
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
        return None

    def _offset(self, size: Size) -> tuple[tuple[Node, ...], Interval] | None:
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
        return None

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


def _next(loop: Node, position: int) -> Node:
    return loop.regions[0].results[position + (loop.op == "while_")]


def _predicate(op: str, holds: bool, left: Size, right: Size) -> Predicate:
    """What a comparison says that holds, or not."""
    if not holds:
        op, swap = _OPPOSITE[op]
        left, right = (right, left) if swap else (left, right)
    return Predicate(_WRITTEN[op], left, right)


def _guarded(graph: Graph) -> dict[Symbol, Interval]:
    """What guards say of single symbols, and that arrays are in memory."""
    found: dict[Symbol, Interval] = {}
    for param in graph.params:
        if isinstance(param.type, Array):
            most = (MEMORY if param.type.ndim == 1 else 2**63 - 1) // param.type.dtype.itemsize
            contiguous = param.type.strides == c_strides(param.type.shape)
            names = map(lone_symbol, param.type.shape if contiguous else ())
            found.update((name, Interval(0, most)) for name in names if name is not None)
    for predicate in graph.facts.guards:
        said = bound(predicate)
        if said is not None:
            name, sign, least = said
            low, high = found.get(name, ANY)
            if name.low is not None:
                low = max(low, name.low)
            ends = (max(low, least), high) if sign > 0 else (low, min(high, -least))
            found[name] = Interval(*ends)
    return found


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
