"""Magnitudes, signs, and numbers scaled by constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.graph.expression import Expr, complex_, const, copysign, to_bits, where
from npcompile.graph.ir import Node
from npcompile.ops.arithmetic import REAL, by_kind, elsewhere
from npcompile.ops.elementwise import COMPLEX, FLOATS, NUMBERS, Program, Ufunc, loops, ufunc
from npcompile.ops.operands import Context
from npcompile.ops.record import OPERATORS, SILENT, Errors

if TYPE_CHECKING:
    from npcompile.ops import complexes
else:
    defer(globals(), "npcompile.ops", "complexes")


hypot = elsewhere("hypot")


def _needs_hypot(ctx: Context, nodes: tuple[Node, ...]) -> None:
    if nodes[0].dtype.kind == "c" and "hypot" not in OPERATORS:
        raise ctx.refuse("absolute", "of complex numbers needs hypot")


ufunc("absolute", loops("x->x", "?" + REAL) + " F->f D->d",
      by_kind(bu=lambda x: x, i=abs, f=abs, c=lambda z: hypot(*complexes.parts(z))),
      data=Ufunc(prepare=_needs_hypot), ulp={"f": 1.0, "d": 1.0}, errors=Errors(complexes="ou"),
      doc="The magnitude.", eager=True)
ufunc("fabs", loops("x->x", FLOATS), abs, errors=SILENT, doc="The magnitude, as a float.")


def _sign(x: Expr) -> Expr:
    return where(x > 0, 1.0, where(x < 0, -1.0, where(x == 0, 0.0, x)))


def _complex_sign(z: Expr) -> Expr:
    """``z / abs(z)``; of infinities the nearest axis, NaN of two."""
    (a, b), size = complexes.parts(z), hypot(*complexes.parts(z))
    endless, nothing = size == float("inf"), size == 0
    safe = where(endless | nothing, 1.0, size)
    ends = [where(abs(x) == float("inf"), copysign(1.0, x), 0.0) for x in (a, b)]
    both = (ends[0] != 0) & (ends[1] != 0)
    ends = [where(both, float("nan"), x) for x in ends]
    tame = [where(endless | nothing, 0.0, x) / safe for x in (a, b)]
    re, im = (where(endless, end, x) for end, x in zip(ends, tame))
    nan = size != size
    return complex_(where(nan, size, re), where(nan, size, im))


ufunc("sign", loops("x->x", NUMBERS),
      by_kind(u=lambda x: where(x > 0, const(1, x), 0), f=_sign, c=_complex_sign,
              i=lambda x: where(x > 0, const(1, x), where(x < 0, const(-1, x), 0))),
      ulp=dict.fromkeys(COMPLEX, 2.0), errors=Errors(complexes="oui"),
      doc="-1, 0 or 1; NaN of NaN.", eager=True)
ufunc("copysign", loops("xx->x", FLOATS), copysign, errors=SILENT,
      doc="Magnitude of x1, sign of x2.")
ufunc("signbit", loops("x->?", FLOATS), lambda x: to_bits(x) < 0, errors=SILENT,
      doc="Whether the sign is set.")


def _heaviside(x: Expr, at_zero: Expr) -> Expr:
    return where(x == 0, at_zero, where(x < 0, 0.0, where(x > 0, 1.0, x)))


ufunc("heaviside", loops("xx->x", FLOATS), _heaviside, doc="The step function.")


def _angle_scale(numerator: str) -> Program:
    """Constants computed in the operand's own precision, as NumPy does."""

    def run(x: Expr) -> Expr:
        kind: Any = x.dtype.type
        pi, half_turn = kind(np.pi), kind(180)
        scaled: Expr = x * (pi / half_turn if numerator == "pi" else half_turn / pi)
        return scaled

    return run


for _name, _numerator, _errors in (("deg2rad", "pi", "u"), ("radians", "pi", "u"),
                                   ("rad2deg", "180", "ou"), ("degrees", "180", "ou")):
    ufunc(_name, loops("x->x", FLOATS), _angle_scale(_numerator), errors=Errors(_errors),
          doc="Angles, converted.")
