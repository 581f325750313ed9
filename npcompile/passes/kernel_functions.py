"""Elementary and special functions as functions that kernels call by name.

For backends whose compilers put calls in line: code with a name for each function is shorter, and
can be read.  What is called computes what would stand in line, to the last bit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any, Union

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.sizes import symbol
from npcompile.graph import expression
from npcompile.graph.builder import Builder
from npcompile.graph.expression import Expr
from npcompile.graph.ir import GRAMMAR, Const, Graph, Node, NumberOf, Subprogram, Table
from npcompile.graph.types import Array, Scalar, Type
from npcompile.ops.elementwise import Ufunc
from npcompile.ops.record import OPERATORS, Op
from npcompile.passes.decompose import is_half, retype, widen
from npcompile.passes.rewrite import rewrite
from npcompile.passes.simplify import simplify

SHORT = 8  #: operations: so many stand in line

#: the dtype of an operand, and the number that it is, or whether it is an array
Operand = tuple[np.dtype, Union[Const, bool]]


def name_functions(graph: Graph) -> Graph:
    """Elementwise operators with long programs become calls of subprograms."""
    return rewrite(graph, _rule)


def _rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    record = None if node.op in GRAMMAR else OPERATORS.get(node.op)
    if record is None or record.kind.name != "elementwise" or not callable(record.lower):
        return None
    if any(a.dtype.kind == "c" for a in (node, *args)):
        return None
    half = any(map(is_half, args)) and isinstance(record.data, Ufunc)
    half = half and record.data.half is not None
    args = tuple([widen(builder, a) for a in args])
    what = _function(record, half, tuple(map(_operand, args)))
    if what is None:
        return None
    assert what.body is not None
    dtype = what.body.results[0].dtype
    whole: Type = Scalar(dtype, "np")
    if isinstance(node.type, Array):
        whole = Array(dtype, node.type.shape, node.type.strides)
    given = [a for a in args if not isinstance(_operand(a)[1], Const)]
    return retype(builder, builder.emit("call", given, what, whole), node.type)


def _operand(node: Node) -> Operand:
    if isinstance(node.attrs, Const) and isinstance(node.type, Scalar):
        return node.dtype, node.attrs
    return node.dtype, isinstance(node.type, Array)


@cache
def _function(record: Op, half: bool, operands: tuple[Operand, ...]) -> Subprogram | None:
    """An operator's function of the operands that are not known; None if it is short."""
    given = [dtype for dtype, what in operands if not isinstance(what, Const)]
    if not given:
        return None
    body = _body(record, half, operands)
    if sum(node.op != "const" for node in body.region.nodes) <= SHORT:
        return None
    words = [record.name, *["of_halves"] * half]
    words += [str(what.value) for _, what in operands if isinstance(what, Const)]
    # few programs look at whether an operand is one number or many: then the name tells
    many = tuple([(d, what if isinstance(what, Const) else True) for d, what in operands])
    if many != operands and _written(_body(record, half, many)) != _written(body):
        words += ["by" if what is False else "of" for _, what in operands]
    words.append(f"{given[0].kind}{8 * given[0].itemsize}")
    name = "_".join(words).replace("-", "minus_")
    name = "".join(letter if letter.isalnum() else "_" for letter in name)
    lower = record.lower
    assert callable(lower)
    tables = {n.attrs: _TABLES[n.attrs] for n in body.region.nodes
              if isinstance(n.attrs, Table) and n.attrs in _TABLES}
    return Subprogram(name, len(given), lower, 1, body.region, body.names, tables, record.doc)


def _body(record: Op, half: bool, operands: tuple[Operand, ...]) -> Graph:
    """The program of an operator as primitives."""
    builder, count = Builder(Facts()), symbol("n", low=1)
    nodes, params = [], []
    for dtype, what in operands:
        if isinstance(what, Const):
            nodes.append(builder.const(what.value, Scalar(dtype, "np")))
        else:
            kind = Array(dtype, (count,), (1,)) if what else Scalar(dtype, "np")
            params.append(builder.param(kind))
            nodes.append(params[-1])
    lower = record.data.half if half else record.lower
    assert callable(lower)
    names: dict[Node, str] = {}
    tables: dict[Table, str] = {}
    with _observed(names, tables):
        result = expression.apply(lower, builder, nodes)
    assert isinstance(result, Node)
    builder.region.begins_with(params)
    builder.region.ends_with([result])
    graph = Graph(record.name, builder.region, NumberOf(result), builder.facts, names=names)
    _TABLES.update(tables)
    found = simplify(graph)
    found.region.consists_of([n for n in _needed(found.region.results) if n.op != "param"])
    return found


def _needed(results: list[Node]) -> list[Node]:
    """What results are computed from, and these, in order."""
    found: dict[Node, None] = {}
    stack = list(results)
    while stack:
        missing = [arg for arg in stack[-1].args if arg not in found]
        if missing:
            stack.extend(reversed(missing))
        else:
            found[stack.pop()] = None
    return list(found)


def _written(graph: Graph) -> list[object]:
    """A body as something that is equal for equal ones."""
    region = graph.region
    number = {node: k for k, node in enumerate((*region.params, *region.nodes))}
    return [(n.op, [number[a] for a in n.args], n.attrs, n.dtype) for n in region.nodes]


#: names of polynomials, by what computes them
_SCHEMES = {
    expression.poly.__code__: "polynomial_by_estrin",
    expression.horner.__code__: "polynomial_by_horner",
}
#: names of tables, as programs have them
_TABLES: dict[Table, str] = {}


@contextmanager
def _observed(names: dict[Node, str], tables: dict[Table, str]) -> Iterator[None]:
    """Values get the names of the variables that programs keep them in, tables those of constants
    of modules."""
    before, home = sys.getprofile(), expression.__file__
    schemes: dict[Node, str] = {}

    def look(frame: FrameType, event: str, given: Any) -> None:
        if event != "return":
            return
        code = frame.f_code
        if code.co_filename != home:
            for name, value in frame.f_locals.items():
                if isinstance(value, Expr):
                    names.setdefault(value.node, name)
        elif code in _SCHEMES and isinstance(given, Expr):
            schemes.setdefault(given.node, _SCHEMES[code])
        elif code is expression.lookup.__code__ and frame.f_back is not None:
            name = _constant(frame.f_locals["values"], frame.f_back.f_globals)
            if name and isinstance(given.node.attrs, Table):
                tables.setdefault(given.node.attrs, name)

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
        for node, scheme in schemes.items():
            names.setdefault(node, scheme)


def _constant(values: object, module: dict[str, Any]) -> str:
    """The constant of a module that is, or contains, an object; empty: none."""
    def holds(held: Any, depth: int = 3) -> bool:
        if held is values:
            return True
        parts = held.values() if isinstance(held, dict) else held
        return depth > 0 and isinstance(held, (dict, tuple, list)) and any(
            holds(part, depth - 1) for part in parts if isinstance(part, (dict, tuple, list)))

    return next((name for name, held in module.items() if name.isupper() and holds(held)), "")
