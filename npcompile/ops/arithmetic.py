"""Sums, products, quotients and square roots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.graph.expression import Expr, sqrt
from npcompile.graph.ir import Node
from npcompile.graph.types import Array
from npcompile.ops.elementwise import COMPLEX, FLOATS, INTS, NUMBERS, Program, Ufunc, loops, ufunc
from npcompile.ops.operands import Context
from npcompile.ops.record import OPERATORS, SILENT, Errors

if TYPE_CHECKING:
    from npcompile.ops import complexes
else:
    defer(globals(), "npcompile.ops", "complexes")

REAL = INTS + FLOATS


def primitive(name: str, *args: Expr, dtype: np.dtype | None = None) -> Expr:
    """A primitive that has no function in :mod:`npcompile.graph.expression`."""
    first = args[0]
    return first.scope.emit(name, tuple(a.node for a in args), dtype or first.dtype)


def by_kind(**programs: Program | str) -> Program:
    """The program for the kind (``b i u f c``) of the first operand; ``iu`` names both.  One given
    by its name is a function of :mod:`npcompile.ops.complexes`."""
    table = {kind: program for kinds, program in programs.items() for kind in kinds}

    def run(*args: Expr) -> Any:
        program = table[args[0].dtype.kind]
        return (getattr(complexes, program) if isinstance(program, str) else program)(*args)

    return run


def _no_reversed_singles(ctx: Context, nodes: tuple[Node, ...]) -> None:
    """NumPy doesn't fuse products of complex64 arrays that run backwards."""
    for node in nodes:
        if isinstance(node.type, Array) and node.dtype == np.complex64:
            for stride in node.type.strides:
                if not ctx.facts.at_most(0, stride):
                    raise ctx.refuse("complex product", "of complex64 with negative strides")


ufunc("add", loops("xx->x", "?" + NUMBERS),
      by_kind(b=lambda x, y: x | y, iuf=lambda x, y: x + y, c="cadd"),
      errors=Errors("oi"), of_scalars=True,
      doc="The sum.", fresh=True)
ufunc("subtract", loops("xx->x", NUMBERS),
      by_kind(iuf=lambda x, y: x - y, c="csub"), errors=Errors("oi"), of_scalars=True,
      doc="The difference.", fresh=True)
ufunc("multiply", loops("xx->x", "?" + NUMBERS),
      by_kind(b=lambda x, y: x & y, iuf=lambda x, y: x * y, c="cmul"),
      data=Ufunc(prepare=_no_reversed_singles), errors=Errors("oui"), of_scalars=True,
      doc="The product.", fresh=True)
ufunc("divide", loops("xx->x", FLOATS + COMPLEX),
      by_kind(f=lambda x, y: x / y, c="cdiv"),
      errors=Errors("douI", integers="doui"), of_scalars=True,
      doc="The quotient, correctly rounded.", fresh=True)
ufunc("negative", loops("x->x", NUMBERS), by_kind(iuf=lambda x: -x, c="cneg"), errors=SILENT,
      doc="-x", fresh=True)
ufunc("positive", loops("x->x", NUMBERS), lambda x: x, errors=SILENT, doc="A copy.")
ufunc("square", loops("x->x", NUMBERS),
      by_kind(iuf=lambda x: x * x, c="csquare"),
      data=Ufunc(prepare=_no_reversed_singles), errors=Errors("oui"), doc="x * x")
ufunc("reciprocal", loops("x->x", FLOATS + COMPLEX),
      by_kind(f=lambda x: 1.0 / x, c="creciprocal"), errors=Errors("doui"), doc="1 / x")


def elsewhere(name: str) -> Program:
    """The program of a record that belongs to the special functions."""

    def run(*args: Expr) -> Expr:
        program = OPERATORS[name].lower
        assert callable(program)
        found: Expr = program(*args)
        return found

    return run


ufunc("sqrt", loops("x->x", FLOATS + COMPLEX), by_kind(f=sqrt, c=elsewhere("sqrt.complex")),
      ulp=dict.fromkeys(COMPLEX, 2.0), errors=Errors("I", "ui"),
      doc="The square root; of reals correctly rounded.", fresh=True, eager=True)
