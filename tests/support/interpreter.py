"""Runs programs over primitives on arrays by NumPy, with a fast fused multiply-add.

The primitives' own ``fma`` is exact Python integers: right, and slow.  This one is the machine's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.backends.gpu.fused import fma
from npcompile.core.sizes import symbol
from npcompile.graph.builder import Builder
from npcompile.graph.expression import apply
from npcompile.graph.ir import Const, Node, Param, Subprogram, Table
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.subprograms import evaluate
from npcompile.graph.types import contiguous


@functools.cache
def nodes_of(program: Callable[..., Any], chars: str) -> tuple[list[Node], Any]:
    """The nodes of a program on one-dimensional operands of these dtypes, and its result."""
    builder = Builder()
    length = symbol("n", 1000, 0)
    params = [
        builder.emit("param", (), Param(k, f"x{k}"), contiguous(np.dtype(char), (length,)))
        for k, char in enumerate(chars)
    ]
    result = apply(program, builder, params)
    return builder.region.nodes, result


def run(program: Callable[..., Any], *operands: np.ndarray) -> Any:
    """A program's values, node by node, by the primitives' NumPy meanings.  Floating-point flags
    are NumPy's (``np.errstate`` applies), but for those of ``fma``."""
    nodes, result = nodes_of(program, "".join(np.asarray(x).dtype.char for x in operands))
    values: dict[int, Any] = {}
    for node in nodes:
        args = [values[id(a)] for a in node.args]
        values[id(node)] = _value(node, args, operands)
    if isinstance(result, tuple):
        return tuple(None if node is None else values[id(node)] for node in result)
    return values[id(result)]


def _value(node: Node, args: list[Any], operands: tuple[np.ndarray, ...]) -> Any:
    if isinstance(node.attrs, Param):
        return operands[node.attrs.index]
    if isinstance(node.attrs, Const):
        return node.dtype.type(node.attrs.value)
    if node.op == "cast":
        return np.asarray(args[0]).astype(node.dtype)
    if node.op == "fma":
        made = fma(*args)
        _raise_flags(made, args)
        return made
    if isinstance(node.attrs, Table):
        table = np.array(node.attrs.values, node.dtype)
        return PRIMITIVES["lookup"].meaning(args[0], table=table)
    if isinstance(node.attrs, Subprogram):
        return evaluate(node.attrs, args, _meaning)
    with np.errstate(under="ignore"):
        found = PRIMITIVES[node.op].meaning(*args)
    assert np.asarray(found).dtype == node.dtype, (node, np.asarray(found).dtype)
    return found


def _meaning(name: str) -> Callable[..., Any]:
    return fma if name == "fma" else PRIMITIVES[name].meaning


def _raise_flags(made: Any, args: list[Any]) -> None:
    """NumPy's flags for a fused multiply-add that it does not have."""
    finite = np.isfinite(args[0]) & np.isfinite(args[1]) & np.isfinite(args[2])
    unknown = np.isnan(args[0]) | np.isnan(args[1]) | np.isnan(args[2])
    if np.any(np.isinf(made) & finite):
        np.multiply(np.float64(1e300), np.float64(1e300))
    if np.any(np.isnan(made) & ~unknown):
        np.sqrt(np.float64(-1.0))


def flags_of(program: Callable[..., Any], *operands: np.ndarray) -> set[str]:
    """The floating-point flags that a program raises, but for underflow and inexact."""
    raised: set[str] = set()
    with np.errstate(all="call", under="ignore", call=lambda kind, flag: raised.add(kind)):
        run(program, *operands)
    return {kind.split()[0] for kind in raised}


def operations(program: Callable[..., Any], chars: str) -> int:
    """How many primitives a program takes."""
    return sum(node.op not in ("param", "const") for node in nodes_of(program, chars)[0])
