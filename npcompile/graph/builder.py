"""Builds graphs: infers types, interns pure nodes, inserts casts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from npcompile.core.errors import refuse
from npcompile.core.facts import Facts
from npcompile.core.sizes import Poly, Predicate, Size, Symbol, symbol
from npcompile.graph import layout
from npcompile.graph.ir import (
    EFFECTS,
    Attrs,
    Check,
    Const,
    Geometry,
    Get,
    Loop,
    Node,
    Number,
    Region,
    Resume,
    Scatter,
    SizeOf,
    integer,
)
from npcompile.graph.types import (
    BOOL,
    INT,
    PY_INT,
    PYTHON,
    Array,
    Calling,
    Nothing,
    Origin,
    Scalar,
    Tuple,
    Type,
    contiguous,
)

_Key = TypeVar("_Key")
_Held = TypeVar("_Held")
#: computed integers within this need no overflow checks
SMALL = 2**53
IMPURE = EFFECTS | {"param", "for_", "while_", "if_"}


class Carried(NamedTuple):
    """A value that a loop carries from iteration to iteration."""

    init: Node
    param: Node
    next: Node


class Mark(NamedTuple):
    """How much there was of what a builder makes."""

    nodes: int
    interned: int
    bound: int
    passed: int
    found: tuple[int, int]


#: the primitive that compares as a predicate does
COMPARISONS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne"}
_COMPARED = {name: op for op, name in COMPARISONS.items()}


def learn(facts: Facts, holds: Node) -> None:
    """Notes what is known of sizes after a check that passes."""
    op = _COMPARED.get(holds.op)
    if op is not None:
        left, right = map(_counted, holds.args)
        if left is not None and right is not None:
            facts.learn(Predicate(op, left, right))


def _counted(node: Node) -> Size | None:
    if isinstance(node.attrs, SizeOf):
        return node.attrs.size
    if isinstance(node.attrs, Const) and node.dtype.kind == "i":
        return integer(node.attrs.value)
    return None


def _shorten(entries: dict[Any, Any], count: int) -> None:
    while len(entries) > count:
        entries.popitem()


def _since(entries: dict[_Key, _Held], count: int) -> list[tuple[_Key, _Held]]:
    """All but the first entries."""
    return list(islice(reversed(entries.items()), max(len(entries) - count, 0)))[::-1]


class Diverged(Exception):
    """Another effect was emitted than was expected."""


class Builder:
    """Appends nodes to a region.

    ``line`` is the user's line that new nodes get; ``resume`` gives the place where Python goes on
    if a check made now fails (the tracer sets it).
    """

    def __init__(self, facts: Facts | None = None, region: Region | None = None) -> None:
        self.facts = facts if facts is not None else Facts()
        self.region = Region() if region is None else region
        self.line = 0
        self.resume: Callable[[], Resume] = Resume
        self.quiet = ""  # first letters of the floating-point errors that are ignored now
        self.hushed: dict[Node, str] = {}  # nodes that were made so, and what they may ignore
        self.echoes: set[Node] = set()  # nodes whose floating-point errors others tell of
        self.repeated: set[Node] = set()  # nodes that the program has on several lines
        self.shared: set[Node] = set()  # nodes that stand for several equal ones
        self.calling: Calling | None = None  # how the program calls the ufunc that is emitted now
        self.calls: dict[Node, Calling] = {}  # ufuncs that the program itself calls
        self.outs: set[Node] = set()  # writes of what a ufunc computes, made by its own call
        self.bound: dict[Symbol, Node] = {}  # symbols that are bound by nodes
        self.known: dict[Node, Size] = {}  # computed integers that are equal to a size
        self.below: dict[Node, Size] = {}  # arrays of indices from 0 to below a size
        self.closed: set[Symbol] = set()  # bound in regions that are finished
        self.passed: dict[Node, None] = {}  # conditions of checks that were made on the way here
        self.expected: list[Node] | None = None  # effects that must come next, the first one last
        self._region = 0  # how many settles there are; no node is one with those before them
        self._interned: dict[tuple[object, ...], Node] = {}
        self._layouts: dict[tuple[object, ...], Array] = {}
        self._unique: dict[Type, Type] = {}  # equal types are one
        self._types: dict[int, tuple[Type, Type]] = {}  # by identity: the type, and that one

    def connect(self, resume: Callable[[], Resume]) -> None:
        """Has the program check what is supposed of sizes; ``resume`` says where Python goes on."""
        self.resume = resume
        self.facts.check_suppositions(self.suppose)

    # -------------------------------------------------------------- nodes

    def ignore(self, categories: str) -> None:
        """Ignores floating-point errors from here on, by their first letters."""
        self.quiet = categories

    def expect(self, effects: list[Node] | None) -> None:
        """Emits these effects again, the first one last; None: any."""
        self.expected = effects

    @contextmanager
    def hush(self, categories: str) -> Iterator[None]:
        """What is made inside may ignore these floating-point errors as well."""
        before = self.quiet
        self.quiet = "".join(sorted({*before, *categories}))
        try:
            yield
        finally:
            self.quiet = before

    @contextmanager
    def called(self, how: Calling | None) -> Iterator[None]:
        """A ufunc that is emitted inside is called by the program itself; None: by something that
        the program calls."""
        before, self.calling = self.calling, how
        try:
            yield
        finally:
            self.calling = before

    def emit(self, op: str, args: Sequence[Node], attrs: Attrs, type_: Type) -> Node:
        """A node; an equal pure one that exists already is returned instead."""
        if op in IMPURE:
            if self.expected is not None:
                return self._again(op, tuple(args), attrs, type_)
            node = Node(op, tuple(args), attrs, type_, self.line)
            self.region.nodes.append(node)
            if op == "settle":
                self._region += 1
            return node
        if op == "empty":  # each is an array of its own, for others to write into
            self.region.nodes.append(node := Node(op, (), None, type_, self.line))
            return node
        held = self._types.get(id(type_))
        if held is None:
            held = self._types[id(type_)] = type_, self._unique.setdefault(type_, type_)
        quiet, region = self.quiet, self._region
        if op in ("const", "size"):
            quiet, region = "", 0
        key = (op, *map(id, args), attrs, id(held[1]), quiet, region)
        found = self._interned.get(key)
        if found is None:
            found = self._interned[key] = Node(op, tuple(args), attrs, type_, self.line)
            self.region.nodes.append(found)
            if quiet:
                self.hushed[found] = quiet
        else:
            self.shared.add(found)
            if found.line != self.line:
                self.repeated.add(found)
        return found

    def _again(self, op: str, args: tuple[Node, ...], attrs: Attrs, type_: Type) -> Node:
        """The effect that was emitted already."""
        node = self.expected.pop() if self.expected else None
        if node is None or (node.op, node.args, node.type) != (op, args, type_):
            raise Diverged
        if node.attrs != attrs:
            raise Diverged
        return node

    def const(self, value: Number, type_: Scalar | None = None) -> Node:
        """A constant scalar; its type is ``value``'s own unless given."""
        if type_ is None:
            type_ = PYTHON.get(type(value)) or Scalar(np.asarray(value).dtype, "np")
        kind: type = type_.python_type if type_.origin == "py" else type_.dtype.type
        number: Number = kind(value)
        if type_.origin == "py" and kind is int and not -(2**63) <= integer(number) < 2**63:
            raise refuse("int", f"the constant {number} is wider than 64 bits", self.line)
        return self.emit("const", (), Const(number), type_)

    def size(self, size: Size) -> Node:
        """A size as a Python int."""
        size = self.facts.norm(size)
        if isinstance(size, int):
            return self.const(size)
        return self.emit("size", (), SizeOf(size), PY_INT)

    def known_size(self, node: Node) -> Size | None:
        """The size that an integer scalar is known to be equal to."""
        found = _counted(node)
        return self.known.get(node) if found is None else found

    def bind(self, size: Size, node: Node) -> Symbol:
        """From here on the lone symbol ``size`` stands for a node."""
        assert isinstance(size, Poly)
        name = size.terms[0][0][0]
        assert isinstance(name, Symbol)
        self.bound[name] = node
        self.known[node] = size
        return name

    def size_of(self, node: Node, low: int | None = None) -> Size:
        """An integer scalar, known to be at least ``low``, as a size; a computed one binds a
        fresh symbol."""
        if node.op == "const":
            assert isinstance(node.attrs, Const)
            return integer(node.attrs.value)
        if node.op == "param" and node.type != PY_INT:  # a slot of its own holds the size
            node = self.emit("cast", (node,), None, PY_INT)
        found = self._composed(node)
        if found is not None:
            return found
        fresh = symbol(f"s{len(self.bound)}", low=low)
        self.bind(fresh, node)
        return fresh

    def _composed(self, node: Node, steps: int = 4) -> Size | None:
        """The size that an integer is by the sizes that it was computed from, some steps back."""
        known = self.known_size(node)
        if known is not None:
            return known
        if node.op == "cast" and node.dtype == INT and node.args[0].dtype.kind == "i":
            whole = node.args[0]
            return None if whole.op == "param" else self.size_of(whole)
        if node.op not in ("add", "sub", "neg") or node.dtype != INT or not steps:
            return None
        ends = [self._composed(arg, steps - 1) for arg in node.args]
        if node.op == "neg":
            ends.insert(0, 0)
        left, right = ends
        if left is None or right is None:
            return None
        made = left + right if node.op == "add" else left - right
        fits = all(self.facts.ensure("<=", -SMALL, n) and self.facts.ensure("<=", n, SMALL)
                   for n in (left, right, made))
        return made if fits else None

    def cast(self, node: Node, dtype: np.dtype | type | str) -> Node:
        """``node.astype(dtype)`` (unsafe casting), free if it has the dtype already."""
        dtype = np.dtype(dtype)
        if isinstance(node.type, Array):
            if node.type.dtype == dtype:
                return node
            order = layout.k_strides(self.facts, node.shape, [node.type.strides])
            return self.emit("cast", (node,), None, Array(dtype, node.shape, order))
        if node.op == "cast" and node.args[0].type == Scalar(dtype, "np") == Scalar(
            node.dtype, "np"
        ):
            return node.args[0]  # of another origin in between
        if node.type == Scalar(dtype, "np"):
            return node
        if node.op == "const" and node.dtype.kind != "c":
            assert isinstance(node.attrs, Const)
            with np.errstate(all="raise"), suppress(FloatingPointError):  # the run warns, if so
                number = np.asarray(node.attrs.value).astype(dtype)[()]
                return self.const(cast(np.generic, number))
        return self.emit("cast", (node,), None, Scalar(dtype, "np"))

    def check(self, holds: Node, reason: str) -> None:
        """Where ``holds`` is false, leave compiled code and let Python go on."""
        assert holds.type in (Scalar(BOOL, "np"), Scalar(BOOL, "py")), holds.type
        if holds.op == "const" and isinstance(holds.attrs, Const) and bool(holds.attrs.value):
            return
        if holds in self.passed:
            return
        self.emit("check", (holds,), Check(reason, self.resume()), Nothing())
        self.passed[holds] = None
        learn(self.facts, holds)

    def require(self, p: Predicate, reason: str) -> None:
        """Leaves where what is said of sizes does not hold."""
        pair = (self.size(p.left), self.size(p.right))
        self.check(self.map(COMPARISONS[p.op], pair, BOOL), reason)

    def suppose(self, p: Predicate) -> None:
        """Leaves where an answer about sizes that only the run can tell does not hold; each has a
        reason of its own, so that what follows may learn from it."""
        self.require(p, f"a length is another than expected: {p!r}")

    # -------------------------------------------------------------- trying

    def mark(self) -> Mark:
        """A point to roll back to, while the same region is being built."""
        return Mark(len(self.region.nodes), len(self._interned), len(self.bound),
                    len(self.passed), self.facts.mark())

    def rollback(self, mark: Mark) -> None:
        """Takes back every node emitted since ``mark``, those in nested regions too."""
        nodes, interned, bound, passed, found = mark
        self.facts.undo(found)
        _shorten(self.passed, passed)
        dropped = set(self.region.nodes[nodes:])
        del self.region.nodes[nodes:]
        _shorten(self._interned, interned)
        for name, node in _since(self.bound, bound):
            if node in dropped or name in self.closed:
                del self.bound[name]
                self.known.pop(node, None)

    def drop(self, mark: Mark, inner: set[Node]) -> None:
        """Takes back the nodes emitted since ``mark`` that are computed from inner ones."""
        kept = self.region.nodes[: mark.nodes]
        for node in self.region.nodes[mark.nodes :]:
            if inner.isdisjoint(node.args):
                kept.append(node)
            else:
                inner.add(node)
        self.region.nodes[:] = kept
        for name, node in _since(self.bound, mark.bound):
            if node in inner:
                del self.bound[name]
                self.known.pop(node, None)
        for key, node in _since(self._interned, mark.interned):
            if node in inner:
                del self._interned[key]

    # -------------------------------------------------------------- regions

    def at(self, line: int, region: Region | None = None) -> None:
        """Builds from here on for a line of the user's, in another region if one is given."""
        self.line = line
        if region is not None:
            self.region = region

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Builds in a nested region; its nodes are not found again outside."""
        outer, before = self.region, self.mark()
        self.region = region
        try:
            yield
        finally:
            self.region = outer
            self.facts.undo(before.found)
            _shorten(self.passed, before.passed)
            _shorten(self._interned, before.interned)
            bound = _since(self.bound, before.bound)
            if bound:
                inner = set(region.nodes) | set(region.params)
                self.closed |= {s for s, n in bound if n in inner}

    def if_(self, condition: Node, then: Region, other: Region) -> list[Node]:
        """The results of the region that is taken; both yield the same types."""
        types = tuple(node.type for node in then.results)
        assert types == tuple(node.type for node in other.results), (types, other.results)
        regions = (then, other)
        node = Node("if_", (condition,), None, Tuple(types), self.line, regions)
        self.region.nodes.append(node)
        return [self.emit("get", (node,), Get(k), kind) for k, kind in enumerate(types)]

    def param(self, type_: Type) -> Node:
        """A parameter of a nested region."""
        return Node("param", (), None, type_, self.line)

    def for_(self, loop: Loop, index: Node, carried: Sequence[Carried], region: Region) -> Node:
        """A loop over ``range(start, stop, step)``; its region has the nodes of an iteration."""
        region.begins_with([index, *(c.param for c in carried)])
        region.ends_with([c.next for c in carried])
        return self._loop("for_", loop, carried, region)

    def while_(self, again: Node, carried: Sequence[Carried], region: Region) -> Node:
        """A loop that runs its region until ``again`` is false."""
        region.begins_with([c.param for c in carried])
        region.ends_with([again, *(c.next for c in carried)])
        return self._loop("while_", None, carried, region)

    def _loop(
        self, op: str, attrs: Attrs, carried: Sequence[Carried], region: Region
    ) -> Node:
        for c in carried:
            assert c.init.type == c.param.type == c.next.type, (c.init, c.param, c.next)
        types = Tuple(tuple(c.param.type for c in carried))
        inits = tuple(c.init for c in carried)
        node = Node(op, inits, attrs, types, self.line, (region,))
        self.region.nodes.append(node)
        return node

    def get(self, node: Node, index: int) -> Node:
        """One of several results."""
        assert isinstance(node.type, Tuple)
        return self.emit("get", (node,), Get(index), node.type.items[index])

    # -------------------------------------------------------------- typed forms

    def map(self, op: str, args: Sequence[Node], dtype: np.dtype | type | str,
            attrs: Attrs = None, origin: Origin = "np", given: Sequence[Node] = (),
            single: bool = True) -> Node:
        """An elementwise node over broadcast operands, whose dtypes must be the loop's; ``given``
        is what they were before they were cast to these; ``single``: it is all that is made."""
        type_ = self.map_type(args, np.dtype(dtype), origin, op == "where" or not single, given)
        return self.emit(op, args, attrs, type_)

    def map_type(self, args: Sequence[Node], dtype: np.dtype, origin: Origin = "np",
                 iterated: bool = False, given: Sequence[Node] = ()) -> Type:
        """The type of an elementwise result: broadcast shape, K-order layout; ``iterated``: not
        that of a ufunc with one result, which may do without NumPy's iterator."""
        pairs = [(a, g) for a, g in zip(args, given or args) if isinstance(g.type, Array)]
        arrays = [g.type for _, g in pairs if isinstance(g.type, Array)]
        if not arrays:
            return Scalar(dtype, origin)
        facts = self.facts  # what was found with fewer facts may be put more simply now
        known = (len(facts.guards), len(facts.replaced), *facts.mark())
        iterated = iterated or any(a.dtype != g.dtype for a, g in pairs if g.shape)
        key = (dtype, iterated, *known, *[(a.shape, a.strides) for a in arrays])
        found = self._layouts.get(key)
        if found is None:
            shape = layout.broadcast_shapes(facts, *(a.shape for a in arrays))
            ranked = [a for a in arrays if a.shape]  # single numbers have no say
            strides = [
                layout.broadcast_strides(facts, a.shape, a.strides, shape) for a in ranked
            ]
            own = () if iterated else [a.shape for a in ranked]
            found = Array(dtype, shape, layout.k_strides(facts, shape, strides, own))
            if known == (len(facts.guards), len(facts.replaced), *facts.mark()):
                self._layouts[key] = found  # else it rests on a check, which may be taken back
        return found

    def full(self, shape: tuple[Size, ...], value: Node) -> Node:
        """A fresh C-contiguous array filled with a scalar."""
        return self.emit("full", (value,), None, contiguous(value.dtype, shape))

    def iota(self, length: Size) -> Node:
        """int64 ``0, 1, ..., length - 1``."""
        return self.emit("iota", (), None, contiguous(np.dtype(np.int64), (length,)))

    def read(self, version: Node, geometry: Geometry) -> Node:
        """What a view shows of a version: an array, or a NumPy scalar for shape ()."""
        whole = version.type
        assert isinstance(whole, Array)
        if geometry == Geometry(0, whole.shape, whole.strides):
            return version
        dtype = whole.dtype
        if geometry.part:
            dtype = np.dtype(dtype.char.lower())
        return self.emit("read", (version,), geometry, Array(dtype, geometry.shape, geometry.steps))

    def element(self, version: Node, geometry: Geometry) -> Node:
        """One element as a NumPy scalar."""
        assert geometry.shape == () and isinstance(version.type, Array)
        dtype = np.dtype(version.dtype.char.lower()) if geometry.part else version.dtype
        return self.emit("read", (version,), geometry, Scalar(dtype, "np"))

    def write(
        self, version: Node, value: Node, geometry: Geometry, mask: Node | None = None
    ) -> Node:
        """The next version of an array, with ``value`` (broadcast, of the same dtype) written
        into a view, where ``mask`` is true."""
        args = (version, value) if mask is None else (version, value, mask)
        return self.emit("write", args, geometry, version.type)

    def gather(
        self, version: Node, geometry: Geometry, at: Node, strides: tuple[Size, ...]
    ) -> Node:
        """The elements that are ``at`` further on than those of a view; every one must be there.
        The result has the view's shape and is laid out by ``strides``."""
        dtype = np.dtype(version.dtype.char.lower()) if geometry.part else version.dtype
        kind = Array(dtype, geometry.shape, strides)
        return self.emit("gather", (version, at), geometry, kind)

    def scatter(self, version: Node, value: Node, at: Node, attrs: Scatter) -> Node:
        """The next version of an array, with a value written to computed places."""
        return self.emit("scatter", (version, value, at), attrs, version.type)

    def pack(self, value: Node, mask: Node, count: Size) -> Node:
        """The ``count`` elements of a value where a mask of its shape holds."""
        return self.emit("pack", (value, mask), None, contiguous(value.dtype, (count,)))
