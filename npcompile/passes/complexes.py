"""Complex arithmetic becomes real arithmetic on the two parts, as NumPy's loops do it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.core.errors import refuse
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Const, Graph, Node
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import BOOL, Array, Scalar, Type
from npcompile.passes.decompose import fresh
from npcompile.passes.rewrite import rewrite

#: primitives that make, take apart or move complex numbers
KEPT = frozenset({"complex", "real", "imag", "where", "rare"})


def expand_complex(graph: Graph) -> Graph:
    """Casts and primitives on complex operands; reductions keep theirs."""
    if not any(_is_complex(node) for node in graph.region.nodes):
        return graph
    return rewrite(graph, _rule)


def _is_complex(node: Node) -> bool:
    return isinstance(node.type, (Array, Scalar)) and node.type.dtype.kind == "c"


def _rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    if node.op in KEPT or not (_is_complex(node) or any(map(_is_complex, args))):
        return None
    if node.op == "cast":
        return _cast(builder, node, args[0])
    if node.op not in PRIMITIVES:
        return None
    expand = _EXPANSIONS.get(node.op)
    if expand is None:
        raise refuse(node.op, "is not defined on complex numbers", node.line)
    return expand(_Parts(builder, node.type), *args)


class _Parts:
    """Emits real primitives with the shape and layout of one complex node."""

    def __init__(self, builder: Builder, type_: Type) -> None:
        self.builder, self.type = builder, type_

    def at(self, dtype: np.dtype) -> Type:
        if isinstance(self.type, Array):
            return Array(dtype, self.type.shape, self.type.strides)
        return Scalar(dtype, "np")

    def split(self, node: Node) -> tuple[Node, Node]:
        """Real and imaginary part of an operand."""
        real = np.dtype(node.dtype.char.lower())
        return self.part("real", node, real), self.part("imag", node, real)

    def part(self, name: str, node: Node, dtype: np.dtype) -> Node:
        if node.op == "complex":
            return node.args[0 if name == "real" else 1]
        if node.op == "const":
            assert isinstance(node.attrs, Const)
            return self.builder.const(getattr(node.dtype.type(node.attrs.value), name))
        array = isinstance(node.type, Array)
        type_ = fresh(self.builder, node, dtype) if array else Scalar(dtype, "np")
        return self.builder.emit(name, (node,), None, type_)

    def real(self, op: str, *args: Node) -> Node:
        dtype = BOOL if op in ("eq", "ne", "lt", "le") else args[0].dtype
        return self.builder.emit(op, args, None, self.at(dtype))

    def join(self, re: Node, im: Node) -> Node:
        return self.builder.emit("complex", (re, im), None, self.type)


def _each(op: str) -> Callable[..., Node]:
    def expand(parts: _Parts, *args: Node) -> Node:
        (res, ims) = zip(*map(parts.split, args), strict=True)
        return parts.join(parts.real(op, *res), parts.real(op, *ims))

    return expand


def _mul(parts: _Parts, a: Node, b: Node) -> Node:
    """NumPy's loops over arrays fuse one product into the sum; its scalars don't."""
    (ar, ai), (br, bi) = parts.split(a), parts.split(b)
    mul = parts.real
    if isinstance(parts.type, Array):
        re = mul("fma", ar, br, mul("neg", mul("mul", ai, bi)))
        im = mul("fma", ar, bi, mul("mul", ai, br))
    else:
        re = mul("sub", mul("mul", ar, br), mul("mul", ai, bi))
        im = mul("add", mul("mul", ar, bi), mul("mul", ai, br))
    return parts.join(re, im)


def _compare(op: str, joint: str) -> Callable[..., Node]:
    def expand(parts: _Parts, a: Node, b: Node) -> Node:
        (ar, ai), (br, bi) = parts.split(a), parts.split(b)
        both = (parts.real(op, ar, br), parts.real(op, ai, bi))
        return parts.builder.emit(joint, both, None, parts.type)

    return expand


_EXPANSIONS: dict[str, Callable[..., Node]] = {
    "add": _each("add"),
    "sub": _each("sub"),
    "neg": _each("neg"),
    "mul": _mul,
    "eq": _compare("eq", "bit_and"),
    "ne": _compare("ne", "bit_or"),
}


def _cast(builder: Builder, node: Node, arg: Node) -> Node | None:
    """Complex to bool is "not zero", to real drops the imaginary part, from real adds a zero."""
    parts = _Parts(builder, node.type)
    if not _is_complex(node):
        re, im = parts.split(arg)
        if node.dtype != BOOL:
            return builder.emit("cast", (re,), None, node.type)
        zero = builder.const(re.dtype.type(0))
        both = (parts.real("ne", re, zero), parts.real("ne", im, zero))
        return builder.emit("bit_or", both, None, node.type)
    half = np.dtype(node.dtype.char.lower())
    type_ = parts.at(half)
    if _is_complex(arg):
        if arg.dtype == node.dtype:
            return None
        re, im = (builder.emit("cast", (p,), None, type_) for p in parts.split(arg))
    else:
        re = builder.emit("cast", (arg,), None, type_)
        im = builder.const(half.type(0))
    return parts.join(re, im)
