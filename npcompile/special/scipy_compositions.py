"""Functions of scipy.special that are written in Python there, as compositions of records."""

from __future__ import annotations

import numpy as np

from npcompile.ops.arguments import as_array, static
from npcompile.ops.elementwise import (
    composed,
    contents,
    lift,
    loops,
    part,
    run,
    scalar_array,
    wrap,
)
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.special.gamma_functions import zeta_functions

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


def _number(ctx: Context, x: Operand, what: str) -> ArrayRef:
    """``np.asarray(x)``, if it is one of real numbers."""
    array = as_array(ctx, x)
    if array.dtype.kind not in "biuf":
        raise ctx.refuse(what, f"of {array.dtype}")
    return array


def _chosen(ctx: Context, n: Operand, k: Operand, values: Operand) -> Operand:
    """The values where ``0 <= k <= n``, else 0."""
    fine = run(ctx, "less_equal", k, n)
    for operand in (n, k):
        fine = run(ctx, "bitwise_and", fine, run(ctx, "greater_equal", operand, 0))
    if not isinstance(values, ArrayRef) and values.dtype != np.float64:
        raise ctx.refuse("comb", "of numbers that are not float64: their type depends on them")
    zero = values.dtype.type(0)
    return _unwrapped(ctx, run(ctx, "where.choose", fine, values, zero))


def _unwrapped(ctx: Context, x: Operand) -> Operand:
    """A scalar instead of an array of no axes."""
    return wrap(ctx, contents(ctx, x)) if isinstance(x, ArrayRef) and not x.ndim else x


def _inexact(ctx: Context, exact: Operand, what: str) -> None:
    if static(exact) is not False:
        raise ctx.refuse(what, "exactly, with Python's integers")


@composed("comb", "scipy.special:comb")
def comb(ctx: Context, N: Operand, k: Operand, *, exact: Operand = False,
         repetition: Operand = False) -> Operand:
    """The number of combinations."""
    _inexact(ctx, exact, "comb")
    if static(repetition) is not False:
        raise ctx.refuse("comb", "with repetition")
    k, n = _number(ctx, k, "comb"), _number(ctx, N, "comb")
    return _chosen(ctx, n, k, run(ctx, "binom", n, k))


@composed("perm", "scipy.special:perm")
def perm(ctx: Context, N: Operand, k: Operand, exact: Operand = False) -> Operand:
    """The number of permutations."""
    _inexact(ctx, exact, "perm")
    k, n = _number(ctx, k, "perm"), _number(ctx, N, "perm")
    start = run(ctx, "add", run(ctx, "subtract", n, k), 1)
    return _chosen(ctx, n, k, run(ctx, "poch", start, k))


@composed("factorial", "scipy.special:factorial")
def factorial(ctx: Context, n: Operand, exact: Operand = False,
              extend: Operand = "zero") -> Operand:
    """The factorial, ``gamma(n + 1)``; 0 of negative numbers."""
    _inexact(ctx, exact, "factorial")
    if static(extend) != "zero":
        raise ctx.refuse("factorial", "with extend=")
    array = _number(ctx, n, "factorial")
    if array.dtype.kind == "b" or (not array.ndim and array.dtype.char not in "ld"):
        raise ctx.refuse("factorial", f"of {array.dtype}")
    if not array.ndim and isinstance(n, ArrayRef):
        raise ctx.refuse("factorial", "of an array of no axes")
    if any(ctx.facts.equal(size, 0) for size in array.shape):
        raise ctx.refuse("factorial", "of an empty array, which is returned as it is")
    found = run(ctx, "gamma", run(ctx, "add", array, 1))
    found = run(ctx, "where.choose", run(ctx, "less", array, 0), found.dtype.type(0), found)
    if array.ndim:
        return run(ctx, "astype", found, np.float64, order="C")
    return _unwrapped(ctx, found)


@composed("softplus", "scipy.special:softplus")
def softplus(ctx: Context, x: Operand, **options: Operand) -> Operand:
    """``log(1 + exp(x))``"""
    return run(ctx, "logaddexp", 0, x, **options)


def _spherical(name: str) -> None:
    """Defines one of the spherical Bessel functions of real numbers."""

    def program(ctx: Context, n: Operand, z: Operand, derivative: Operand = False) -> Operand:
        order, at = _number(ctx, n, name), _number(ctx, z, name)
        if static(derivative) is not False or order.dtype.kind not in "iu":
            raise ctx.refuse(name, "derivatives, and orders that are not integers")
        if at.dtype.char != "d" or max(order.ndim, at.ndim) > 1:
            raise ctx.refuse(name, f"of {at.dtype}, or of several axes")
        return run(ctx, f"_{name}", run(ctx, "astype", order, np.int64), at)

    kind = "modified " if name[-2] in "ik" else ""
    composed(name, f"scipy.special:{name}",
             doc=f"The {kind}spherical Bessel function {name[-2]}.")(program)


for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    _spherical(_name)


@composed("lambertw", "scipy.special:lambertw")
def lambertw(ctx: Context, z: Operand, k: Operand = 0, tol: Operand = 1e-8) -> Operand:
    """Lambert's W."""
    branch = _number(ctx, k, "lambertw")
    if branch.dtype.kind not in "iu" or static(tol) != 1e-8:
        raise ctx.refuse("lambertw", "with a tolerance, or a branch that is no integer")
    return run(ctx, "_lambertw", z, run(ctx, "astype", branch, np.int64), np.float64(1e-8))
