"""Which floating-point errors NumPy reports of a node, by their first letters: divide, over, under,
invalid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.graph.ir import GRAMMAR, Extern, Node, Reduction
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Array, Scalar
from npcompile.ops.record import OPERATORS, Op

if TYPE_CHECKING:
    from npcompile.graph import routines
else:
    defer(globals(), "npcompile.graph", "routines")

#: stands beside categories of which a function of NumPy's never tells
UNTOLD = "*"
#: the prefix of operators that compute otherwise than NumPy's ufuncs
OF_SCALARS = "scalar_"


def record_of(node: Node) -> Op | None:
    """The record of NumPy's operator that a node stands for."""
    return None if node.op in GRAMMAR else OPERATORS.get(node.op.removeprefix(OF_SCALARS))


def raises(node: Node) -> str:
    """The first letters of the categories that an operation can raise on its dtype."""
    operand = node.args[0].type if node.args else node.type
    if not isinstance(operand, (Array, Scalar)):
        return ""
    kind = operand.dtype.kind
    if node.op == "cast":
        assert isinstance(node.type, (Array, Scalar))
        width, other = (t.dtype.itemsize >> (t.dtype.kind == "c") for t in (node.type, operand))
        narrower = node.type.dtype.kind in "iu" or (node.type.dtype.kind != "b" and width < other)
        return "oi" if kind in "fc" and narrower else ""
    if isinstance(node.attrs, Extern):
        loud = kind in "fc" and not node.attrs.quiet
        return "oui" if loud and routines.ROUTINES[node.attrs.routine].flags else ""
    if isinstance(node.attrs, Reduction):
        return "oui" if kind in "fc" and node.attrs.kind in ("sum", "prod") else ""
    record = record_of(node)
    if record is not None and record.errors is not None:
        exactly = record.errors.of_node(node)
        return record.errors.of(kind) if exactly is None else exactly
    return PRIMITIVES[node.op].flags if kind in "fc" and node.op in PRIMITIVES else ""


def is_known(node: Node) -> bool:
    """Whether :func:`raises` tells all that an operation can raise."""
    if node.op in PRIMITIVES or isinstance(node.attrs, Extern):
        return True
    record = record_of(node)
    if record is None:
        return node.op in GRAMMAR and node.op != "host_call"
    return record.errors is not None


def of_finite(node: Node) -> bool:
    """Whether an operation is invalid for some finite numbers."""
    record = record_of(node)
    return node.op == "cast" or (
        record is not None and record.errors is not None and "I" in record.errors.floats)
