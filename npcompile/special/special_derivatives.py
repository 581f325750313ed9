"""Derivatives of functions of scipy.special in closed form, as those of the elementary functions.
Sources: DLMF 5.2, 7.2, 10.6, 10.29.
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, copysign
from npcompile.special import elementary_derivatives
from npcompile.special.bessel import bessel_integer
from npcompile.special.elementary import exponential, logarithm
from npcompile.special.elementary_derivatives import Partials, one
from npcompile.special.error import normal, probability
from npcompile.special.gamma_functions import beta_functions, incomplete_gamma
from npcompile.special.gamma_functions import gamma_function as gamma
from npcompile.special.integrals import dawson, elliptic
from npcompile.special.statistics import quantiles

ROOT_PI = math.sqrt(math.pi)
GAUSS = 1 / math.sqrt(2 * math.pi)


def _bell(x: Expr) -> Expr:
    return GAUSS * exponential.exp(-0.5 * x * x)


def _xlogy(x: Expr, y: Expr) -> tuple[Expr, ...]:
    return logarithm.log(y), x / y


def _xlog1py(x: Expr, y: Expr) -> tuple[Expr, ...]:
    return logarithm.log1p(y), x / (1.0 + y)


def _gammainc(sign: float) -> Partials:
    """With respect to the second operand; the other derivative has no closed form."""
    return lambda a, x: (None, sign * incomplete_gamma.gamma_density(a, x))


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
    **elementary_derivatives.DERIVATIVES,
    "erf": one(lambda x: 2 / ROOT_PI * exponential.exp(-x * x)),
    "erfc": one(lambda x: -2 / ROOT_PI * exponential.exp(-x * x)),
    "erfcx": one(lambda x: 2.0 * x * normal.erfcx(x) - 2 / ROOT_PI),
    "erfinv": one(lambda y: ROOT_PI / 2 * exponential.exp(normal.erfinv(y) * normal.erfinv(y))),
    "erfcinv": one(lambda z: -ROOT_PI / 2 * exponential.exp(normal.erfcinv(z) * normal.erfcinv(z))),
    "ndtr": one(_bell),
    "ndtri": one(lambda p: 1.0 / _bell(normal.ndtri(p))),
    "log_ndtr": one(lambda x: GAUSS * exponential.exp(-0.5 * x * x - normal.log_ndtr(x))),
    "expit": one(lambda x: probability.expit(x) * probability.expit(-x)),
    "log_expit": one(lambda x: probability.expit(-x)),
    "logit": one(lambda p: 1.0 / (p * (1.0 - p))),
    "entr": one(lambda x: -logarithm.log(x) - 1.0),
    "xlogy": _xlogy,
    "xlog1py": _xlog1py,
    "gammaln": one(gamma.digamma),
    "gamma": one(lambda x: gamma.gamma(x) * gamma.digamma(x)),
    "rgamma": one(lambda x: -gamma.rgamma(x) * gamma.digamma(x)),
    "i0": one(bessel_integer.i1),
    "i1": one(lambda x: bessel_integer.i0(x) - bessel_integer.i1(x) / x),
    "i0e": one(lambda x: bessel_integer.i1e(x) - copysign(1.0, x) * bessel_integer.i0e(x)),
    "i1e": one(
        lambda x: bessel_integer.i0e(x) - bessel_integer.i1e(x) * (copysign(1.0, x) + 1.0 / x)
    ),
    "k0": one(lambda x: -bessel_integer.k1(x)),
    "k1": one(lambda x: -bessel_integer.k0(x) - bessel_integer.k1(x) / x),
    "k0e": one(lambda x: bessel_integer.k0e(x) - bessel_integer.k1e(x)),
    "k1e": one(lambda x: bessel_integer.k1e(x) - bessel_integer.k0e(x) - bessel_integer.k1e(x) / x),
    "j0": one(lambda x: -bessel_integer.j1(x)),
    "j1": one(lambda x: bessel_integer.j0(x) - bessel_integer.j1(x) / x),
    "y0": one(lambda x: -bessel_integer.y1(x)),
    "y1": one(lambda x: bessel_integer.y0(x) - bessel_integer.y1(x) / x),
    "dawsn": one(lambda x: 1.0 - 2.0 * x * dawson.dawsn(x)),
    "exp1": one(lambda x: -exponential.exp(-x) / x),
    "ellipk": one(_ellipk),
    "ellipe": one(lambda m: (elliptic.ellipe(m) - elliptic.ellipk(m)) / (m + m)),
    "gammaincinv": lambda a, p: (
        None,
        1.0 / incomplete_gamma.gamma_density(a, quantiles.gammaincinv(a, p)),
    ),
    "betaincinv": lambda a, b, p: (
        None,
        None,
        1.0 / beta_functions.beta_density(a, b, quantiles.betaincinv(a, b, p)),
    ),
    "beta": _beta,
    "betaln": _betaln,
    "betainc": lambda a, b, x: (None, None, beta_functions.beta_density(a, b, x)),
    "gammainc": _gammainc(1.0),
    "gammaincc": _gammainc(-1.0),
}
