"""softmax, log_softmax and logsumexp: compositions along axes, as SciPy has them."""

from __future__ import annotations

from functools import partial

import numpy as np

from npcompile.graph.expression import Expr
from npcompile.ops.arguments import as_array, static
from npcompile.ops.elementwise import composed, contents, loops, part, run, wrap
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.special.arithmetic.double_word import joined
from npcompile.special.arithmetic.formats import format_of
from npcompile.special.elementary.logarithm import edges, log1p, log_parts


def quiet_log(x: Expr) -> Expr:
    """The logarithm, without flags."""
    return edges(x, joined(log_parts(x, format_of(x))), 0.0, True)


part("log1p.quiet", loops("x->x", "fd"), "numpy:log1p", partial(log1p, quiet=True),
     ulp={"f": 0.75, "d": 0.75}, doc="``log(1 + x)``, without warnings.")
part("log.quiet", loops("x->x", "fd"), "numpy:log", quiet_log, ulp={"f": 0.75, "d": 0.75},
     doc="The natural logarithm, without warnings.")


def _floats(ctx: Context, x: Operand, what: str) -> ArrayRef:
    found = as_array(ctx, x)
    if found.dtype.char not in "fd" or not found.ndim:
        raise ctx.refuse(what, "of what is no array of float32 or float64")
    return found


def _finite_or_0(ctx: Context, x: Operand) -> Operand:
    zero = x.dtype.type(0)
    return run(ctx, "where.choose", run(ctx, "isfinite", x), x, zero)


@composed("softmax", "scipy.special:softmax")
def softmax(ctx: Context, x: Operand, axis: Operand = None) -> Operand:
    """``exp(x) / sum(exp(x))`` along axes."""
    x = _floats(ctx, x, "softmax")
    largest = run(ctx, "max", x, axis=axis, keepdims=True)
    powers = run(ctx, "exp", run(ctx, "subtract", x, largest))
    return run(ctx, "divide", powers, run(ctx, "sum", powers, axis=axis, keepdims=True))


@composed("log_softmax", "scipy.special:log_softmax")
def log_softmax(ctx: Context, x: Operand, axis: Operand = None) -> Operand:
    """The logarithm of softmax."""
    x = _floats(ctx, x, "log_softmax")
    largest = run(ctx, "max", x, axis=axis, keepdims=True)
    less = run(ctx, "subtract", x, _finite_or_0(ctx, largest))
    total = run(ctx, "sum", run(ctx, "exp", less), axis=axis, keepdims=True)
    return run(ctx, "subtract", less, run(ctx, "log.quiet", total))


@composed("logsumexp", "scipy.special:logsumexp")
def logsumexp(ctx: Context, a: Operand, axis: Operand = None, b: Operand = None,
              keepdims: Operand = False, return_sign: Operand = False) -> Operand:
    """``log(sum(exp(a)))`` along axes: the largest terms stand apart."""
    if b is not None or static(return_sign) is not False or static(keepdims) not in (True, False):
        raise ctx.refuse("logsumexp", "with b= or return_sign=")
    a = _floats(ctx, a, "logsumexp")
    largest = run(ctx, "max", a, axis=axis, keepdims=True)
    shift = _finite_or_0(ctx, largest)
    top = run(ctx, "equal", a, largest)
    weight = run(ctx, "where.choose", top, a.dtype.type(1), a.dtype.type(0))
    count = run(ctx, "sum", weight, axis=axis, keepdims=True)
    rest = run(ctx, "where.choose", top, a.dtype.type(-np.inf), run(ctx, "subtract", a, shift))
    total = run(ctx, "sum", run(ctx, "exp", rest), axis=axis, keepdims=True)
    safe = run(ctx, "maximum", count, a.dtype.type(1))
    logs = run(ctx, "add", run(ctx, "log1p.quiet", run(ctx, "divide", total, safe)),
               run(ctx, "log.quiet", safe))
    found = run(ctx, "add", logs, shift)
    found = run(ctx, "where.choose", run(ctx, "isfinite", largest), found, largest)
    if static(keepdims):
        return found
    made = run(ctx, "squeeze", found, axis=axis)
    return made if made.ndim else wrap(ctx, contents(ctx, made))
