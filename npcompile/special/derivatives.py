"""Derivatives in closed form: programs that give one partial derivative per operand, of real
numbers.  Sources: DLMF 4.7, 4.20, 4.34 (elementary), 5.2, 7.2, 10.6, 10.29.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import Expr, copysign, sqrt
from npcompile.special import (
    bessel,
    beta_functions,
    circular,
    elliptic,
    exponential,
    incomplete,
    integrals,
    logarithm,
    normal,
    powers,
    probability,
    quantiles,
    roots,
)
from npcompile.special import gamma_functions as gamma

Partials = Callable[..., tuple[Expr | None, ...]]
ROOT_PI = math.sqrt(math.pi)
GAUSS = 1 / math.sqrt(2 * math.pi)


def one(slope: Callable[[Expr], Expr]) -> Partials:
    """The derivative of a function of one operand."""
    return lambda x: (slope(x),)


def _bell(x: Expr) -> Expr:
    return GAUSS * exponential.exp(-0.5 * x * x)


def _hypot(x: Expr, y: Expr) -> tuple[Expr, ...]:
    size = roots.hypot(x, y)
    return x / size, y / size


def _arctan2(y: Expr, x: Expr) -> tuple[Expr, ...]:
    square = x * x + y * y
    return x / square, -y / square


def _power(x: Expr, y: Expr) -> tuple[Expr, ...]:
    value = powers.power(x, y)
    return y * powers.power(x, y - 1.0), value * logarithm.log(x)


def _logaddexp(x: Expr, y: Expr) -> tuple[Expr, ...]:
    return probability.expit(x - y), probability.expit(y - x)


def _xlogy(x: Expr, y: Expr) -> tuple[Expr, ...]:
    return logarithm.log(y), x / y


def _xlog1py(x: Expr, y: Expr) -> tuple[Expr, ...]:
    return logarithm.log1p(y), x / (1.0 + y)


def _gammainc(sign: float) -> Partials:
    """With respect to the second operand; the other derivative has no closed form."""
    return lambda a, x: (None, sign * incomplete.gamma_density(a, x))


def _beta(a: Expr, b: Expr) -> tuple[Expr, ...]:
    value, whole = beta_functions.beta(a, b), gamma.digamma(a + b)
    return value * (gamma.digamma(a) - whole), value * (gamma.digamma(b) - whole)


def _betaln(a: Expr, b: Expr) -> tuple[Expr, ...]:
    whole = gamma.digamma(a + b)
    return gamma.digamma(a) - whole, gamma.digamma(b) - whole


def _ellipk(m: Expr) -> Expr:
    """DLMF 19.4.1 with ``m = k**2``; ellipe's is 19.4.2."""
    return (elliptic.ellipe(m) / (1.0 - m) - elliptic.ellipk(m)) / (m + m)


DERIVATIVES: dict[str, Partials] = {
    "exp": one(exponential.exp),
    "exp2": one(lambda x: math.log(2) * exponential.exp2(x)),
    "exp10": one(lambda x: math.log(10) * exponential.exp10(x)),
    "expm1": one(exponential.exp),
    "log": one(lambda x: 1.0 / x),
    "log2": one(lambda x: 1 / math.log(2) / x),
    "log10": one(lambda x: 1 / math.log(10) / x),
    "log1p": one(lambda x: 1.0 / (1.0 + x)),
    "sin": one(circular.cos),
    "cos": one(lambda x: -circular.sin(x)),
    "tan": one(lambda x: circular.tan(x) * circular.tan(x) + 1.0),
    "sinh": one(exponential.cosh),
    "cosh": one(exponential.sinh),
    "tanh": one(lambda x: 1.0 - exponential.tanh(x) * exponential.tanh(x)),
    "arcsin": one(lambda x: 1.0 / sqrt(1.0 - x * x)),
    "arccos": one(lambda x: -1.0 / sqrt(1.0 - x * x)),
    "arctan": one(lambda x: 1.0 / (1.0 + x * x)),
    "arcsinh": one(lambda x: 1.0 / roots.hypot(x, x * 0.0 + 1.0)),
    "arccosh": one(lambda x: 1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0))),
    "arctanh": one(lambda x: 1.0 / ((1.0 - x) * (1.0 + x))),
    "cbrt": one(lambda x: (1 / 3) / (roots.cbrt(x) * roots.cbrt(x))),
    "hypot": _hypot, "arctan2": _arctan2, "pow": _power, "logaddexp": _logaddexp,
    "erf": one(lambda x: 2 / ROOT_PI * exponential.exp(-x * x)),
    "erfc": one(lambda x: -2 / ROOT_PI * exponential.exp(-x * x)),
    "erfcx": one(lambda x: 2.0 * x * normal.erfcx(x) - 2 / ROOT_PI),
    "erfinv": one(lambda y: ROOT_PI / 2 * exponential.exp(normal.erfinv(y) * normal.erfinv(y))),
    "erfcinv": one(
        lambda z: -ROOT_PI / 2 * exponential.exp(normal.erfcinv(z) * normal.erfcinv(z))),
    "ndtr": one(_bell),
    "ndtri": one(lambda p: 1.0 / _bell(normal.ndtri(p))),
    "log_ndtr": one(lambda x: GAUSS * exponential.exp(-0.5 * x * x - normal.log_ndtr(x))),
    "expit": one(lambda x: probability.expit(x) * probability.expit(-x)),
    "log_expit": one(lambda x: probability.expit(-x)),
    "logit": one(lambda p: 1.0 / (p * (1.0 - p))),
    "entr": one(lambda x: -logarithm.log(x) - 1.0),
    "xlogy": _xlogy, "xlog1py": _xlog1py,
    "gammaln": one(gamma.digamma),
    "gamma": one(lambda x: gamma.gamma(x) * gamma.digamma(x)),
    "rgamma": one(lambda x: -gamma.rgamma(x) * gamma.digamma(x)),
    "i0": one(bessel.i1),
    "i1": one(lambda x: bessel.i0(x) - bessel.i1(x) / x),
    "i0e": one(lambda x: bessel.i1e(x) - copysign(1.0, x) * bessel.i0e(x)),
    "i1e": one(lambda x: bessel.i0e(x) - bessel.i1e(x) * (copysign(1.0, x) + 1.0 / x)),
    "k0": one(lambda x: -bessel.k1(x)),
    "k1": one(lambda x: -bessel.k0(x) - bessel.k1(x) / x),
    "k0e": one(lambda x: bessel.k0e(x) - bessel.k1e(x)),
    "k1e": one(lambda x: bessel.k1e(x) - bessel.k0e(x) - bessel.k1e(x) / x),
    "j0": one(lambda x: -bessel.j1(x)),
    "j1": one(lambda x: bessel.j0(x) - bessel.j1(x) / x),
    "y0": one(lambda x: -bessel.y1(x)),
    "y1": one(lambda x: bessel.y0(x) - bessel.y1(x) / x),
    "dawsn": one(lambda x: 1.0 - 2.0 * x * integrals.dawsn(x)),
    "exp1": one(lambda x: -exponential.exp(-x) / x),
    "ellipk": one(_ellipk), "ellipe": one(
        lambda m: (elliptic.ellipe(m) - elliptic.ellipk(m)) / (m + m)),
    "gammaincinv": lambda a, p: (
        None, 1.0 / incomplete.gamma_density(a, quantiles.gammaincinv(a, p))),
    "betaincinv": lambda a, b, p: (
        None, None, 1.0 / beta_functions.beta_density(a, b, quantiles.betaincinv(a, b, p))),
    "beta": _beta, "betaln": _betaln,
    "betainc": lambda a, b, x: (None, None, beta_functions.beta_density(a, b, x)),
    "gammainc": _gammainc(1.0), "gammaincc": _gammainc(-1.0),
}
