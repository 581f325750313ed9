"""Arms that compute the same, whichever is taken: the branch goes.

Where a name is Python's number or NumPy's by path, each of the two is traced by itself; often the
difference shows in nothing but what the number is called.
"""

from __future__ import annotations

from npcompile.graph.builder import IMPURE, Builder
from npcompile.graph.ir import Node, Region
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Scalar

Keys = dict[Node, object]


def join_arms(builder: Builder, node: Node) -> list[Node] | None:
    """The results of an ``if_`` if both arms compute the same, from the same values."""
    then, other = node.regions
    if not _pure(then) or not _pure(other):
        return None
    keys: tuple[Keys, Keys] = ({}, {})
    for region, known in zip(node.regions, keys, strict=True):
        for inner in region.nodes:
            known[inner] = _key(inner, known)
    for one, two in zip(then.results, other.results, strict=True):
        if one.type != two.type or _same(one, keys[0]) != _same(two, keys[1]):
            return None
    new: dict[Node, Node] = {}
    for inner in then.nodes:
        args = [new.get(arg, arg) for arg in inner.args]
        new[inner] = builder.emit(inner.op, args, inner.attrs, inner.type)
    return [new.get(result, result) for result in then.results]


def _pure(region: Region) -> bool:
    """Whether all of it are numbers, computed from numbers."""
    return all(isinstance(node.type, Scalar) and node.op not in IMPURE for node in region.nodes)


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
