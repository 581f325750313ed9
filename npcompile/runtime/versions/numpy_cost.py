"""Estimates, without a clock, the time that NumPy and Python would take for a graph."""

from __future__ import annotations

from collections import defaultdict

from npcompile.core.sizes import Size, floordiv, product
from npcompile.graph.ir import (
    CallSite,
    Check,
    Const,
    Extern,
    Geometry,
    Get,
    Graph,
    HostCall,
    Loop,
    Node,
    Param,
    Region,
    SizeOf,
)
from npcompile.graph.types import Array
from npcompile.ops.record import OPERATORS
from npcompile.runtime.entry.outline import Price

#: microseconds for one call of NumPy's, for one instruction of Python's
CALL, INSTRUCTION = 0.5, 0.03
#: and for an element, if it is added and if it goes through an elementary function
ELEMENT, FUNCTION = 1e-3, 1e-2
#: iterations of a loop that nobody knows before it ends
WHILE = 2048
#: what takes no time, or as long where compiled code calls it
_FREE = (Param, Const, Geometry, SizeOf, Get, Check, CallSite, HostCall)


def price(graph: Graph) -> Price:
    """Microseconds for each of some sizes, which add up."""
    total: defaultdict[Size, float] = defaultdict(float)
    _add(total, graph.region, 1)
    return tuple(total.items())


def _add(total: defaultdict[Size, float], region: Region, times: Size) -> None:
    for node in region.nodes:
        for inner in node.regions:
            _add(total, inner, times * _iterations(node))
        if node.regions or isinstance(node.attrs, _FREE):
            continue
        if isinstance(node.type, Array):
            total[times] += CALL
            total[times * _elements(node)] += FUNCTION if _slow(node) else ELEMENT
        else:
            total[times] += INSTRUCTION


def _iterations(node: Node) -> Size:
    match node.attrs:
        case Loop(start, stop, step):
            return floordiv(stop - start, step)
    return 1 if node.op == "if_" else WHILE


def _elements(node: Node) -> Size:
    """As many as there are in its operand of the most axes."""
    shapes = [n.type.shape for n in (node, *node.args) if isinstance(n.type, Array)]
    return product(max(shapes, key=len))


def _slow(node: Node) -> bool:
    record = OPERATORS.get(node.op)
    return isinstance(node.attrs, Extern) or (record is not None and any(record.ulp.values()))
