"""Arms that compute the same, whichever is taken: the branch goes.

Where a name is Python's number or NumPy's by path, each of the two is traced by itself; often the
difference shows in nothing but what the number is called.
"""

from __future__ import annotations

from npcompile.graph.builder import IMPURE, Builder
from npcompile.graph.ir import Node, Region
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Scalar

Keys = dict[Node, int]  # nodes by number: equal for what is the same


def join_arms(builder: Builder, node: Node) -> list[Node] | None:
    """The results of an ``if_`` without it, if its arms differ in nothing that costs or can be
    seen: what both compute is computed once, and what else is different is chosen."""
    if node.op != "if_":
        return None
    then, other = node.regions
    if not _pure(then) or not _pure(other):
        return None
    keys: Keys = {}
    numbers: dict[object, int] = {}
    for region in node.regions:
        for inner in region.nodes:
            keys[inner] = numbers.setdefault(_key(inner, keys), len(numbers))
    results = list(zip(then.results, other.results, strict=True))
    if any(one.type != two.type for one, two in results):
        return None
    shared = {_same(inner, keys) for inner in then.nodes} & {
        _same(inner, keys) for inner in other.nodes}
    alike = [_same(one, keys) == _same(two, keys) for one, two in results]
    if (alike and not any(alike)) or not all(
            _quiet(inner) or _same(inner, keys) in shared
            for region in node.regions for inner in region.nodes):
        return None
    new = _inlined(builder, then, keys, {})
    if not all(alike):
        known = {_same(inner, keys): new[inner] for inner in reversed(then.nodes)}
        new |= _inlined(builder, other, keys, known)
    return [
        new.get(one, one) if same else builder.emit(
            "where", (node.args[0], new.get(one, one), new.get(two, two)), None, one.type)
        for (one, two), same in zip(results, alike, strict=True)
    ]


def _inlined(
    builder: Builder, region: Region, keys: Keys, known: dict[object, Node]
) -> dict[Node, Node]:
    """The nodes of an arm where the branch was; those that are known are there already."""
    new: dict[Node, Node] = {}
    for inner in region.nodes:
        found = known.get(_same(inner, keys))
        if found is None:
            args = [new.get(arg, arg) for arg in inner.args]
            found = builder.emit(inner.op, args, inner.attrs, inner.type)
        elif found.type != inner.type:
            found = builder.emit("cast", (found,), None, inner.type)
        new[inner] = found
    return new


def _pure(region: Region) -> bool:
    """Whether all of it are numbers, computed from numbers."""
    return all(isinstance(node.type, Scalar) and node.op not in IMPURE for node in region.nodes)


def _quiet(node: Node) -> bool:
    """Whether it may as well be computed in vain: it costs little and raises no flag."""
    if node.op == "cast":
        return _renamed(node) or all(x.dtype.kind in "biu" for x in (*node.args, node))
    primitive = PRIMITIVES.get(node.op)
    return node.op == "const" or (primitive is not None and not primitive.flags)


def _renamed(node: Node) -> bool:
    """Whether it is its operand, said to be Python's or NumPy's."""
    return node.op == "cast" and node.args[0].type in (
        Scalar(node.dtype, "np"), Scalar(node.dtype, "py"))


def _same(node: Node, known: Keys) -> object:
    while _renamed(node):
        (node,) = node.args
    return known.get(node, node)


def _key(node: Node, known: Keys) -> object:
    """Equal for what is the same; Python's numbers raise no flags, NumPy's may."""
    primitive = PRIMITIVES.get(node.op)
    quiet = node.op == "const" or (primitive is not None and not primitive.flags)
    origin = "" if quiet or not isinstance(node.type, Scalar) else node.type.origin
    args = tuple([_same(arg, known) for arg in node.args])
    return node.op, node.attrs, node.dtype, origin, args
