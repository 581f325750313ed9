"""Integers that can't leave 64 bits: their overflow checks go, and tests whose answer follows.

Intervals are computed from what each integer is made of.  A number that loops carry is bounded by
*drift*: if every way to its next value adds or subtracts a small number, or starts anew from
something bounded, it moves by at most :data:`STEP` in an operation, so within any time that a
program runs (2**51 operations) it stays within 2**61 of where it began.  The interval knows the
directions in which it may move.

Beside its interval, an integer may be known as a size (:meth:`Ranges.exact`), about which branches,
loops and checks tell facts: ``while j > 0 and a[j - 1] > x`` needs no check of its index.  What
stays true from iteration to iteration is found by :mod:`.invariants`.
"""

from __future__ import annotations

from collections.abc import Callable, Set

import numpy as np

from npcompile.core.sizes import (
    Poly,
    Predicate,
    Size,
    Symbol,
    floordiv,
    largest,
    lone_symbol,
    mod,
    smallest,
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
)
from npcompile.graph.types import BOOL, INT, Array, Scalar
from npcompile.passes import invariants
from npcompile.passes.conditions import WRITTEN, guarded, holding, predicate
from npcompile.passes.intervals import ANY, BIT, RULES, Interval, checked, minus, plus, times
from npcompile.passes.rewrite import rewrite
from npcompile.passes.simplify import simplify

CHOICES = 2  # that are looked at case by case, within one another
STEP = 1 << 10
FARTHEST = 256  #: values that are looked at to find where one begins
FAR = 1 << 61
SETTLED = 1 << 62  # no position among what is not settled

_ELEMENTS = frozenset({"read", "copy", "full", "gather"})  # whose elements are those of another
_RELATED = frozenset({"int_mod", "where"})
_DIVISIONS = frozenset({"int_div", "int_mod"})
_WRAPPING = frozenset({"add", "sub", "mul"})


def narrow(graph: Graph) -> Graph:
    """The graph without the checks and choices that intervals decide, and with quotients and
    remainders of numbers that are not negative as those of unsigned ones."""
    ranges = Ranges(graph)
    decided, unsigned = ranges.decided, ranges.unsigned
    if not decided and not unsigned:
        return graph

    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        if node in unsigned:
            operands = [builder.emit("cast", (arg,), None, unsigned[node]) for arg in args]
            made = builder.emit(node.op, operands, None, unsigned[node])
            return builder.emit("cast", (made,), None, node.type)
        if node not in decided:
            return None
        assert isinstance(node.type, Scalar)
        return builder.const(np.bool_(decided[node]), node.type)

    return simplify(rewrite(graph, rule))


def _by_constant(rule: Callable[[Size, int], Size]) -> Callable[[Size, Size], Size | None]:
    return lambda a, b: rule(a, b) if isinstance(b, int) and b > 0 else None


_SIZES: dict[str, Callable[[Size, Size], Size | None]] = {  # of operands that are sizes
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b if isinstance(a, int) or isinstance(b, int) else None,
    "int_div": _by_constant(floordiv),
    "int_mod": _by_constant(mod),
    "shr": _by_constant(lambda a, b: floordiv(a, 1 << min(b, 63))),
    "minimum": smallest,
    "maximum": largest,
}


Mark = tuple[tuple[int, int], int, dict[Node, "Size | None"]]


class Ranges:
    """What the integers of a graph can be."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.facts = graph.facts
        self.origin: dict[Node, tuple[Node, int]] = {}  # a carried param: its loop and position
        self.index: dict[Node, Loop] = {}
        self.loops: dict[Symbol, Loop] = {}
        self.known: dict[Node, Interval] = {}
        self.asked: dict[Node, int] = {}  # what is not settled, and the first of them it rests on
        self.rests = SETTLED  # the first that what is being computed rests on
        self.sizes: dict[Symbol, Interval] = guarded(graph)
        self.decided: dict[Node, bool] = {}
        self.unsigned: dict[Node, Scalar] = {}  # operations, and in which type they are faster
        self.sized: dict[Node, Size | None] = {}
        self.fitting: list[tuple[str, tuple[Node, ...]]] = []  # operations that checks let pass
        self.node = dict(graph.bound)  # that a symbol names
        self.node.update((p.attrs.symbol, p) for p in graph.params
                         if isinstance(p.attrs, Param) and p.attrs.symbol is not None)
        self.named = {node: name for name, node in self.node.items()}
        self._enter(graph.region)
        before = self.mark()
        self._decide(graph.region)
        self.undo(before)  # what a check says does not hold before it

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
            elif node.op in _DIVISIONS and isinstance(node.type, Scalar) and node.dtype == INT:
                self._divide(node)
            self.pass_over(node)
            for k, inner in enumerate(node.regions):
                before = self.mark()
                if node.op == "if_":
                    self.learn(node.args[0], k == 0)
                elif node.op in ("for_", "while_"):
                    self._iteration(node)
                self._decide(inner)
                self.undo(before)

    def _divide(self, node: Node) -> None:
        """A quotient or remainder without signs needs no rounding down; of 32 bits it takes half
        the time."""
        dividend, divisor = map(self.of, node.args)
        power = divisor.low == divisor.high and not divisor.low & (divisor.low - 1)
        if dividend.low >= 0 and divisor.low > 0 and not power:
            small = max(dividend.high, divisor.high) < 1 << 32
            self.unsigned[node] = Scalar(np.dtype(np.uint32 if small else np.uint64), "np")

    def pass_over(self, node: Node) -> None:
        """Notes what holds after a node."""
        if node.op == "check":
            self.learn(node.args[0], True)
        elif node.op in _RELATED and isinstance(node.type, Scalar) and node.dtype == INT:
            self._relate(node)

    def mark(self) -> Mark:
        """A point to go back to by :meth:`undo`."""
        mark = self.facts.mark(), len(self.fitting), self.sized
        self.sized = dict(self.sized)
        return mark

    def undo(self, mark: Mark) -> None:
        """Forgets what holds only since a mark."""
        facts, fitting, self.sized = mark
        self.facts.undo(facts)
        del self.fitting[fitting:]

    def _answer(self, node: Node) -> bool | None:
        a, b = node.args
        if not all(isinstance(x.type, Scalar) and x.type.dtype == INT for x in node.args):
            return None
        left, right = self.of(a), self.of(b)
        if node.op.endswith("_overflows"):
            exact = RULES[node.op.partition("_")[0]](left, right)
            return False if exact.within(*ANY) else None
        proved = self._proved(node)
        if proved is not None:
            return proved
        if node.op == "lt":
            return _ordered(left.high < right.low, left.low >= right.high)
        if node.op == "le":
            return _ordered(left.high <= right.low, left.low > right.high)
        if node.op == "eq" and a.op == "shr" and self._kept(a, b):
            return True
        if node.op in ("eq", "ne") and (left.high < right.low or right.high < left.low):
            return node.op == "ne"
        return None

    def _kept(self, back: Node, number: Node) -> bool:
        """Whether a number that is shifted to the left and back is the same: no bit is lost."""
        shifted, count = back.args
        return (shifted.op == "shl" and shifted.args == (number, count)
                and self.of(count).within(0, 63)
                and RULES["shl"](self.of(number), self.of(count)).within(*ANY))

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
        found = self.facts.prove(op, a, b, 1)
        strict, reach = int(op == "<"), invariants.REACH
        if found is None and self.facts.never_negative(b - a - strict, reach):
            found = True
        elif found is None and self.facts.never_negative(a - b - 1 + strict, reach):
            found = False
        choice = next((n for n in (left, right) if n.op == "where"), None)
        if found is not None or choice is None or not depth:
            return found
        condition, *cases = choice.args
        answers = set()
        for truth, case in zip((True, False), cases, strict=True):
            before = self.mark()
            self.learn(condition, truth)
            pair = [case if n is choice else n for n in (left, right)]
            answers.add(self.prove(op, pair[0], pair[1], depth - 1))
            self.undo(before)
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
            return self.resolved(node.attrs.size)
        if node.op == "cast" and node.args[0].dtype == INT:
            return self.exact(node.args[0])
        made = self._computed(node)
        if made is not None:
            return made
        if node in self.origin and self.chosen(_next(*self.origin[node])) is node:  # it stays
            loop, position = self.origin[node]
            return self.exact(loop.args[position])
        if node not in self.named:
            self.named[node] = Symbol("known")
            self.node[self.named[node]] = node
        return Poly((((self.named[node],), 1),))

    def resolved(self, size: Size) -> Size:
        """A size whose computed symbols are what they are computed from."""
        found = {name: self.exact(self.graph.bound[name])
                 for name in symbols(size) if name in self.graph.bound}
        return substitute(size, {name: size for name, size in found.items() if size is not None})

    def _computed(self, node: Node) -> Size | None:
        """An operation on sizes that stays within 64 bits."""
        rule = _SIZES.get(node.op)
        if rule is None:
            return None
        if node.op in _WRAPPING and (node.op, node.args) not in self.fitting and not (
                RULES[node.op](*map(self.of, node.args)).within(*ANY)):
            return None
        left, right = map(self.exact, node.args)
        return None if left is None or right is None else rule(left, right)

    def learn(self, condition: Node, truth: bool) -> None:
        """What follows where a condition holds, or not."""
        for known, holds in holding(condition, truth):
            op, _, overflows = known.op.partition("_")
            if not overflows:
                self._note(op, holds, *map(self.exact, known.args))
            elif not holds:
                self.fitting.append((op, known.args))

    def _note(self, op: str, holds: bool, left: Size | None, right: Size | None) -> None:
        if left is not None and right is not None:
            self.facts.learn(predicate(op, holds, left, right))

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

    def _iteration(self, node: Node) -> None:
        """What holds at the beginning of every iteration of a loop."""
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
        gaps = invariants.invariants(self, node)
        for gap in gaps:
            self.facts.learn(Predicate("<=", 0, gap))
        self.sized.clear()  # what was asked for too early
        self._narrow(node, gaps)

    def _moves(self, param: Node) -> None:
        """A number that moves in one direction stays on that side of where it began."""
        bases, down, up, mirrored = self._walk(param)
        begun = {self.exact(base) for base in bases}
        if len(begun) == 1 and down != up and not mirrored:
            (base,) = begun
            ends = (self.exact(param), base) if down else (base, self.exact(param))
            self._note("le", True, *ends)

    def _narrow(self, loop: Node, gaps: list[Size]) -> None:
        """The intervals of what a loop carries by what is never negative."""
        params, inside = set(_params(loop)), invariants.inside(loop)
        found: dict[Node, Interval] = {}
        for gap in gaps:
            for atoms, sign in gap.terms if isinstance(gap, Poly) else ():
                rest = gap - Poly(((atoms, sign),))
                name = lone_symbol(Poly(((atoms, 1),))) if abs(sign) == 1 and atoms else None
                param = self.node.get(name) if name is not None else None
                if param in params and self._outside(inside, rest):
                    end = self.size(rest).high
                    known = found.get(param) or self.of(param)
                    found[param] = (Interval(max(known.low, -end), known.high) if sign > 0
                                    else Interval(known.low, min(known.high, end)))
        for node in inside if found else ():
            self.known.pop(node, None)
            if node in self.named:
                self.sizes.pop(self.named[node], None)
        self.known.update(found)

    def _again(self, loop: Node) -> None:
        """What lets a loop go on holds in every iteration, if it does at first."""
        region = loop.regions[0]
        params = _params(loop)
        following = {self.chosen(n): k for k, n in enumerate(region.results[1:])}
        inside = invariants.inside(loop)
        for known, holds in holding(region.results[0], True):
            if known.op not in WRITTEN:
                continue
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
            begin = predicate(known.op, holds, left, right)
            if self.facts.prove(begin.op, begin.left, begin.right):
                self._note(known.op, holds, *now)

    def _outside(self, inside: Set[Node], *found: Size) -> bool:
        """Whether sizes are the same in all iterations of a loop."""
        return all(self.node.get(name) not in inside for size in found for name in symbols(size))

    # ------------------------------------------------------------------ intervals

    def of(self, node: Node) -> Interval:
        """Where an int64 or bool is, or every element of an array of them."""
        node = self.chosen(node)
        if node in self.known:
            self.rests = min(self.rests, self.asked.get(node, SETTLED))
            return self.known[node]
        here, outside = len(self.asked), self.rests
        self.known[node], self.asked[node], self.rests = ANY, here, SETTLED
        found = self.known[node] = self._interval(node)
        self._settle(node, here)
        self.rests = min(self.rests, outside)
        return found

    def _settle(self, node: Node, here: int) -> None:
        """Forgets what rests on nothing but that this node, which is known now, can be anything."""
        if self.rests < here:
            self.asked[node] = self.rests
            return
        for other in [other for other, first in self.asked.items() if first >= here]:
            del self.asked[other]
            if other is not node:
                del self.known[other]
        self.rests = SETTLED

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
            return self._iterations(self.index[node])
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
            return checked(minus(Interval(0, 0), self.of(node.args[0])))
        if node.op in RULES:
            return checked(RULES[node.op](self.of(node.args[0]), self.of(node.args[1])))
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
        it may change its sign; no values where that is a long way."""
        seen, stack, bases = {node}, [node], []
        down = up = mirrored = False
        while stack:
            if len(seen) > FARTHEST:
                return [], True, True, True
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
            if source.op == "while_" or (source.op == "for_" and self._runs(source)):
                return (_next(source, at),), still
            if source.op == "for_":
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
                return (a,), step if node.op == "add" else minus(still, step)
            if node.op == "add" and self.of(a).within(-STEP, STEP):
                return (b,), self.of(a)
        return None

    def _runs(self, node: Node) -> bool:
        """Whether a loop has a first iteration."""
        loop = node.attrs
        assert isinstance(loop, Loop)
        start, stop, step = map(self.size, (loop.start, loop.stop, loop.step))
        return start.high < stop.low if step.low > 0 else stop.high < start.low and step.high < 0

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

    def _iterations(self, loop: Loop) -> Interval:
        """Of the index in an iteration."""
        start, stop = self.size(loop.start), self.size(loop.stop)
        step = self.size(loop.step)
        if step.low > 0:
            return Interval(start.low, max(start.low, stop.high - 1))
        if step.high < 0:
            return Interval(min(start.high, stop.low + 1), start.high)
        return start.union(stop)

    def symbol(self, name: Symbol) -> Interval:
        if name in self.sizes:
            return self.sizes[name]
        if name in self.loops:
            self.sizes[name] = ANY  # what depends on itself
            found = self.sizes[name] = self._iterations(self.loops[name])
        else:
            found = self.of(self.node[name]) if name in self.node else ANY
        return found if name.low is None else Interval(max(found.low, name.low), found.high)

    def size(self, size: Size) -> Interval:
        """Exact, as sizes are, or all 64 bits."""
        if isinstance(size, int):
            return checked(Interval(size, size))
        total = Interval(0, 0)
        for atoms, coefficient in size.terms:
            term = Interval(coefficient, coefficient)
            for atom in atoms:
                if not isinstance(atom, Symbol):
                    return ANY
                term = times(term, self.symbol(atom))
            total = plus(total, term)
        return checked(total)


def _params(loop: Node) -> list[Node]:
    region = loop.regions[0]
    return region.params[1:] if loop.op == "for_" else region.params


def _next(loop: Node, position: int) -> Node:
    return loop.regions[0].results[position + (loop.op == "while_")]


def _ordered(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None
