"""Functions of scipy.special that are written in Python there, as compositions of records."""

from __future__ import annotations

import numpy as np

from npcompile.ops.arguments import as_array
from npcompile.ops.elementwise import composed, lift, loops, part, run, scalar_array
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.special import zeta_functions

part("polygamma.values", loops("xx->x", "d"), "scipy.special:polygamma",
     zeta_functions.derived_gamma, ulp={"d": 15.0}, doc="The derivatives of digamma.")


@composed("zeta", "scipy.special:zeta")
def zeta(ctx: Context, x: Operand, q: Operand = None, out: Operand = None) -> Operand:
    """Riemann's zeta function, or Hurwitz's."""
    if q is None:
        return run(ctx, "_riemann_zeta", x, out=out)
    return run(ctx, "_zeta", x, q, out=out)


@composed("polygamma", "scipy.special:polygamma")
def polygamma(ctx: Context, n: Operand, x: Operand) -> Operand:
    """The derivative of order n of digamma."""
    operands = []
    for operand in (n, x):
        array = operand if isinstance(operand, ArrayRef) else as_array(ctx, operand)
        if array.dtype.kind not in "biuf" or array.dtype.char == "g":
            raise ctx.refuse("polygamma", f"of {array.dtype}")
        operands.append(lift(ctx, array, "polygamma"))
    order, at = (ctx.builder.cast(x.value, np.float64) for x in operands)
    made = ctx.builder.map("polygamma.values", (order, at), np.float64)
    return ctx.new(scalar_array(ctx, made))
