"""Loops over the bits of numbers become tables.

Each iteration of ``crc = crc >> 1 ^ 0xEDB88320 if crc & 1 else crc >> 1`` is affine over the field
of two elements: every bit of the result is a sum of bits.  So are eight iterations together.  Most
of what they do to a number is a shift; the rest depends on few bits next to each other, whose sums
a table of at most 256 numbers holds (Sarwate, Computation of cyclic redundancy checks via table
look-up, Communications of the ACM 31, 1988).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from npcompile.core.sizes import evaluate, symbols
from npcompile.graph.builder import IMPURE, Builder
from npcompile.graph.ir import Const, Get, Graph, Loop, Node, SizeOf, Table, integer, walk
from npcompile.graph.types import INT, Scalar
from npcompile.passes.bits import Forms, NotAffine, constant, forms, width
from npcompile.passes.rewrite import rewrite

LEAST, MOST = 4, 64  # iterations
WORK = 1024  # operations in all iterations that are looked at
INDEX = 8  # bits of a table's index

Columns = list[int]  # of each bit of a variable: the bits of the result that it is added to


def tabulate(graph: Graph) -> Graph:
    """The graph with short loops of known length that are affine as shifts and tables."""
    if not any(_iterations(node) for node in walk(graph.region)):
        return graph
    return rewrite(graph, lambda builder, node, args: None, _tabulated)


def _iterations(node: Node) -> range:
    """The indices of a loop that may be affine."""
    loop, never = node.attrs, range(0)
    if not isinstance(loop, Loop):
        return never
    start, stop, step = loop.start, loop.stop, loop.step
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
        return never
    iterations, inside = range(start, stop, step), list(walk(node.regions[0]))
    fits = LEAST <= len(iterations) <= MOST and len(iterations) * len(inside) <= WORK
    return iterations if fits and all(map(_pure, inside)) and all(map(_whole, node.args)) else never


def _whole(node: Node) -> bool:
    return isinstance(node.type, Scalar) and node.type.dtype.kind in "biu"


def _pure(node: Node) -> bool:
    return node.op == "if_" or (_whole(node) and node.op not in IMPURE)


def _tabulated(builder: Builder, node: Node) -> list[Node] | None:
    """The results of a loop without it."""
    iterations = _iterations(node)
    if not iterations:
        return None
    variables = _Variables()
    try:
        results = _after(node, iterations, variables)
    except NotAffine:
        return None
    sums = [_Sum(found, arg, variables) for found, arg in zip(results, node.args, strict=True)]
    if sum(len(total.tables) for total in sums) > max(1, len(iterations) // 4):
        return None
    return [total.emit(builder) for total in sums]


class _Variables:
    """Numbers from outside a loop, and where their bits are in a form."""

    def __init__(self) -> None:
        self.first: dict[Node, int] = {}
        self.count = 1

    def __call__(self, node: Node) -> Forms:
        if isinstance(node.attrs, Const):
            return constant(integer(node.attrs.value), node.dtype)
        if node not in self.first:
            self.first[node] = self.count
            self.count += width(node.dtype)
        return [1 << self.first[node] + k for k in range(width(node.dtype))]


def _after(node: Node, iterations: range, variables: _Variables) -> list[Forms]:
    """What a loop carries after its last iteration."""
    (region,) = node.regions
    index, *params = region.params
    state = [variables(arg) for arg in node.args]
    for iteration in iterations:
        found = {index: constant(iteration, index.dtype), **dict(zip(params, state, strict=True))}
        state = _LoopIteration(node, iteration, variables, found).forms(region.results)
    return state


class _LoopIteration:
    """One iteration of a loop, as far as what it carries needs it."""

    def __init__(self, loop: Node, iteration: int, variables: _Variables,
                 found: dict[Node, Forms]) -> None:
        self.loop, self.iteration, self.variables, self.found = (
            loop.attrs,
            iteration,
            variables,
            found,
        )
        self.inside = set(walk(loop.regions[0]))

    def forms(self, nodes: Sequence[Node]) -> list[Forms]:
        return [self.form(node) for node in nodes]

    def form(self, node: Node) -> Forms:
        if node not in self.found:
            self.found[node] = self._form(node)
        return self.found[node]

    def _form(self, node: Node) -> Forms:
        if node not in self.inside:
            return self.variables(node)
        if isinstance(node.attrs, Const):
            return constant(integer(node.attrs.value), node.dtype)
        if isinstance(node.attrs, SizeOf):
            assert isinstance(self.loop, Loop)
            if set(symbols(node.attrs.size)) - {self.loop.symbol}:
                raise NotAffine
            return constant(evaluate(node.attrs.size, lambda name: self.iteration), node.dtype)
        if isinstance(node.attrs, Get):
            (branch,) = node.args
            arms = [region.results[node.attrs.index] for region in branch.regions]
            return forms("where", node, self.forms([*branch.args, *arms]))
        return forms(node.op, node, self.forms(node.args))


class _Sum:
    """A number as the exclusive or of shifted variables and of tables."""

    def __init__(self, result: Forms, like: Node, variables: _Variables) -> None:
        self.type = like.scalar
        self.constant = sum((form & 1) << k for k, form in enumerate(result))
        self.shifts: list[tuple[Node, int, int]] = []  # to the left, and which bits count
        #: of each table, given by its columns: the numbers and how far they are shifted
        self.tables: dict[tuple[int, ...], list[tuple[Node, int]]] = {}
        for variable, first in variables.first.items():
            columns = _columns(result, first, width(variable.dtype))
            if any(columns):
                self._add(variable, columns)

    def _add(self, variable: Node, columns: Columns) -> None:
        geometries = list(_geometries(columns))
        shift = _likely(columns) if variable.type == self.type else None
        if shift is not None:
            seen = 0
            for column in columns:
                seen |= column
            every = (1 << len(columns)) - 1
            moved, whole = (_shifted(variable, shift, some) for some in (seen, every))
            left = list(_geometries([a ^ b for a, b in zip(columns, moved, strict=True)]))
            if len(left) < len(geometries):
                self.shifts.append((variable, shift, every if moved == whole else seen))
                geometries = left
        for first, table in geometries:
            self.tables.setdefault(table, []).append((variable, first))

    def emit(self, builder: Builder) -> Node:
        parts = [self._shift(builder, *shift) for shift in self.shifts]
        constant, whole = self.constant, self.type
        for columns, indices in self.tables.items():
            index: Node | None = None
            for variable, first in indices:
                part = _moved(builder, variable, -first)
                part = builder.cast(part, INT)
                index = part if index is None else _xor(builder, index, part)
            assert index is not None
            values = tuple(_signed(constant ^ value) for value in _combinations(columns))
            constant = 0
            found = builder.emit("lookup", (index,), Table(values), Scalar(INT, "np"))
            parts.append(builder.emit("cast", (found,), None, whole))
        if constant or not parts:
            parts.append(_constant(builder, constant, whole))
        total, *rest = parts
        for part in rest:
            total = _xor(builder, total, part)
        return total

    def _shift(self, builder: Builder, variable: Node, count: int, mask: int) -> Node:
        moved = _moved(builder, variable, count)
        if mask == (1 << width(variable.dtype)) - 1:
            return moved
        return builder.emit("bit_and", (moved, _constant(builder, mask, self.type)), None,
                            self.type)


def _columns(result: Forms, first: int, count: int) -> Columns:
    columns = [0] * count
    for k, form in enumerate(result):
        rest = form >> first & (1 << count) - 1
        while rest:
            columns[rest.bit_length() - 1] |= 1 << k
            rest &= ~(1 << rest.bit_length() - 1)
    return columns


def _likely(columns: Columns) -> int | None:
    """How far most bits that go to one place are shifted to the left."""
    found = Counter(column.bit_length() - 1 - i for i, column in enumerate(columns)
                    if column and not column & column - 1)
    return max(found, key=found.__getitem__) if found else None


def _shifted(variable: Node, count: int, seen: int) -> Columns:
    """What a shift to the left, or by less than 0 to the right, would be, of the bits seen."""
    bits = width(variable.dtype)
    columns = [(1 << i + count if count >= 0 else 1 << i >> -count) & seen for i in range(bits)]
    if count < 0 and variable.dtype.kind == "i":  # the sign fills
        columns[-1] = (1 << bits) - (1 << bits - 1 + count) & seen
    return columns


def _geometries(columns: Columns) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Bits next to each other that count, and the first of them."""
    at = 0
    while at < len(columns):
        if columns[at]:
            some = columns[at : at + INDEX]
            while not some[-1]:
                some.pop()
            yield at, tuple(some)
            at += INDEX
        else:
            at += 1


def _combinations(columns: tuple[int, ...]) -> list[int]:
    """The sums of all choices of columns."""
    found = [0]
    for column in columns:
        found += [value ^ column for value in found]
    return found


def _moved(builder: Builder, node: Node, count: int) -> Node:
    if not count:
        return node
    by = _constant(builder, abs(count), node.scalar)
    return builder.emit("shl" if count > 0 else "shr", (node, by), None, node.type)


def _xor(builder: Builder, a: Node, b: Node) -> Node:
    return builder.emit("bit_xor", (a, b), None, a.type)


def _signed(value: int) -> int:
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)


def _constant(builder: Builder, bits: int, type_: Scalar) -> Node:
    """A number by its bits."""
    number = np.uint64(bits).astype(type_.dtype)
    return builder.const(number, type_)
