"""More functions that are subprograms, by families: exact values and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from tests.support.special_functions import Points, Samples

Case = tuple[Callable[..., Any], Callable[[Points], Samples]]


def spread(p: Points, low: float, high: float) -> np.ndarray:
    """Numbers of all sizes between powers of ten."""
    return 10.0 ** p.rng.uniform(low, high, p.count)


def either(p: Points, x: np.ndarray) -> np.ndarray:
    """With either sign."""
    return x * p.rng.choice([-1, 1], p.count)


def joined(p: Points, *sets: tuple[Any, ...]) -> Samples:
    """Sets of points, one after the other; columns of whole numbers stay such."""
    columns = []
    for column in zip(*sets, strict=True):
        kind = np.int64 if np.asarray(column[0]).dtype.kind == "i" else p.kind
        columns.append(np.concatenate(
            [np.broadcast_to(x, p.count).astype(kind) for x in column]))
    return tuple(columns)


# ------------------------------------------------------------------ distributions of whole numbers


def binomial(p: Points) -> Samples:
    n = p.rng.integers(1, 200, p.count)
    k = np.floor(n * p.span(0, 1))
    few = p.rng.integers(1, 8, p.count)
    return joined(p, (k, n, p.span(0, 1)), (np.minimum(p.rng.integers(0, 9, p.count), few) * 1.0,
                                            few, spread(p, -8, -0.01)))


def negative_binomial(p: Points) -> Samples:
    few = p.rng.integers(0, 9, p.count), p.rng.integers(1, 9, p.count)
    return joined(p, (p.rng.integers(0, 80, p.count), p.rng.integers(1, 80, p.count),
                      p.span(0, 1)), (*few, spread(p, -8, -0.01)))


def share(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), of a and b whose sum is not too large."""
    with mp.workprec(700):
        return mp.betainc(a, b, 0, x, regularized=True)


def _failures(k: Any, n: Any, p: Any) -> Any:
    return share(n - k, k + 1, 1 - p) if n > k else mp.mpf(1)


def _successes(k: Any, n: Any, p: Any) -> Any:
    return share(k + 1, n - k, p) if n > k else mp.mpf(0)


DISTRIBUTIONS: dict[str, Case] = {
    "bdtr": (_failures, binomial), "bdtrc": (_successes, binomial),
    "nbdtr": (lambda k, n, p: share(n, k + 1, p), negative_binomial),
    "nbdtrc": (lambda k, n, p: share(k + 1, n, 1 - p), negative_binomial),
}


# ------------------------------------------------------------------ counting


def counts(p: Points) -> Samples:
    n = np.floor(p.span(0, 1000))
    return joined(
        p, (n, np.floor(n * p.span(0, 1))), (p.span(0, 20), p.span(0, 20)),
        (np.floor(p.span(0, 60)), np.floor(p.span(0, 30))), (spread(p, -5, 3), spread(p, -5, 3)),
        (p.span(-20, 0), np.floor(p.span(0, 30))), (p.span(0, 30), p.span(-20, 0)),
        (spread(p, 3, 15), np.floor(p.span(0, 20))))


def risings(p: Points) -> Samples:
    return joined(
        p, (p.span(0, 60), np.floor(p.span(0, 60))), (p.span(0, 20), p.span(0, 20)),
        (spread(p, -9, 9), p.span(-1, 1)), (p.span(0, 20), p.span(-20, 0)),
        (p.span(-20, 0), np.floor(p.span(0, 20))), (spread(p, 0, 6), np.floor(p.span(-9, 9))))


COUNTING: dict[str, Case] = {
    "binom": (mp.binomial, counts), "poch": (mp.rf, risings),
    "gammasgn": (lambda x: mp.sign(mp.rgamma(x)), lambda p: joined(p, (p.span(-30, 9),))),
}

# ------------------------------------------------------------------ transforms


def _boxcox(x: Any, power: Any) -> Any:
    return mp.log(x) if power == 0 else mp.expm1(power * mp.log(x)) / power


def _boxcox1p(x: Any, power: Any) -> Any:
    return mp.log1p(x) if power == 0 else mp.expm1(power * mp.log1p(x)) / power


def _inv_boxcox(x: Any, power: Any) -> Any:
    return mp.exp(x) if power == 0 else mp.exp(mp.log1p(x * power) / power)


def _inv_boxcox1p(x: Any, power: Any) -> Any:
    return mp.expm1(x) if power == 0 else mp.expm1(mp.log1p(x * power) / power)


def transformed(p: Points) -> Samples:
    power = either(p, spread(p, -3, 1))
    return joined(p, (spread(p, -3, 3), p.span(-3, 3)), (p.near(1.0), p.span(-3, 3)),
                  (np.exp(np.clip(p.span(-30, 30) / power, -80, 80)), power),
                  (spread(p, -5, 5), 0.0), (spread(p, -8, 8), either(p, spread(p, -30, -1))))


def transformed_1(p: Points) -> Samples:
    x, power = transformed(p)
    small = p.near(1.0) - 1
    count = p.count
    x = np.where(x > 1e4, 1e4, x)
    y = np.where(np.arange(x.size) < count, x - 1, x)
    y[count : 2 * count] = small
    fine = y > -1
    return np.where(fine, y, 0.5).astype(p.kind), power


def untransformed(p: Points) -> Samples:
    power = either(p, spread(p, -3, 1))
    x = (np.expm1(p.span(-30, 30)) / power).astype(p.kind)
    x = np.where(1 + x * power.astype(p.kind).astype(float) > 1e-9, x, power)
    return joined(p, (x, power), (p.span(0, 5), p.span(0, 3)),
                  (p.span(-5, 5), 0.0), (p.span(-5, 5), either(p, spread(p, -30, -2))),
                  (either(p, spread(p, -12, -2)), p.span(-3, 3)))


def _pseudo_huber(delta: Any, r: Any) -> Any:
    return delta * r * (r / (mp.hypot(delta, r) + delta))


def losses(p: Points) -> Samples:
    return joined(p, (p.span(0, 9), p.span(-20, 20)), (spread(p, -9, 9), spread(p, -9, 9)))


def divergences(p: Points) -> Samples:
    x = spread(p, -4, 4)
    return joined(p, (p.span(0, 9), p.span(0, 9)), (x, x * p.near(1.0)), (x, x * p.span(0.5, 2)),
                  (spread(p, -30, 30), spread(p, -30, 30)))


def powers(p: Points) -> Samples:
    x = spread(p, -3, 3)
    return joined(p, (x, p.span(-9, 9)), (p.near(1.0), p.span(-9, 9)),
                  (-x, np.floor(p.span(-9, 9))), (x, either(p, spread(p, -20, 0))))


TRANSFORMS: dict[str, Case] = {
    "boxcox": (_boxcox, transformed), "boxcox1p": (_boxcox1p, transformed_1),
    "inv_boxcox": (_inv_boxcox, untransformed), "inv_boxcox1p": (_inv_boxcox1p, untransformed),
    "huber": (lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2), losses),
    "pseudo_huber": (_pseudo_huber, losses),
    "rel_entr": (lambda x, y: x * mp.log(x / y), divergences),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, divergences),
    "exprel": (lambda x: mp.expm1(x) / x,
               lambda p: joined(p, (p.span(-9, 9),), (either(p, spread(p, -9, 1.9)),))),
    "cosm1": (lambda x: -2 * mp.sin(x / 2) ** 2,
              lambda p: joined(p, (p.span(-9, 9),), (spread(p, -9, 4),))),
    "powm1": (lambda x, y: mp.expm1(y * mp.log(x)) if x > 0 else x**y - 1, powers),
}

# ------------------------------------------------------------------ integrals


def reals(p: Points) -> Samples:
    """Numbers of all sizes, with either sign."""
    return joined(p, (p.span(-9, 9),), (either(p, spread(p, -9, 4)),), (p.span(-60, 60),),
                  (borders(p, -4, 7),))


def positives(p: Points) -> Samples:
    return tuple(abs(x) for x in reals(p))


def borders(p: Points, low: int, high: int) -> np.ndarray:
    """Powers of two and numbers between them, where pieces may end."""
    return 2.0 ** p.rng.integers(low, high, p.count) * p.rng.choice([1, 1.25, 1.5], p.count)


def exponents(p: Points) -> Samples:
    return joined(p, (p.span(-9, 9),), (either(p, spread(p, -9, 2)),), (p.span(0.2, 80),),
                  (p.near(0.3725074107813666),), (borders(p, -4, 7),))


def orders(p: Points) -> Samples:
    few = p.rng.integers(1, 9, p.count)
    return joined(p, (few, p.span(0, 9)), (few, spread(p, -9, 2)),
                  (p.rng.integers(1, 200, p.count), p.span(0, 9)),
                  (p.rng.integers(9, 60, p.count), spread(p, -9, 2)))


def waves(p: Points) -> Samples:
    top = 100 if p.kind is np.float64 else 20
    return joined(p, (p.span(-9, 9),), (either(p, spread(p, -9, np.log10(top))),),
                  (-spread(p, 0, 4),), (p.near(-2.0),),
                  (either(p, borders(p, -4, 4)),))


INTEGRALS: dict[str, Case] = {
    "expi": (mp.ei, exponents), "expn": (mp.expint, orders),
    "erfi": (mp.erfi, lambda p: joined(
        p, (p.span(-26, 26),), (p.span(-2, 2),), (either(p, spread(p, -30, 0)),))),
    "zetac": (lambda s: mp.zeta(s) - 1, lambda p: joined(
        p, (p.span(-20, 1),), (p.span(1.001, 9),), (spread(p, 0, 1.7),), (p.near(1.5),))),
    "spence": (lambda x: mp.polylog(2, 1 - x).real,
               lambda p: joined(p, (p.span(0, 9),), (spread(p, -9, 9),), (p.near(1.0),))),
    "sici.0": (mp.si, reals), "sici.1": (lambda x: mp.ci(x).real, positives),
    "shichi.0": (mp.shi, exponents),
    "shichi.1": (lambda x: mp.chi(x).real, lambda p: (abs(exponents(p)[0]),)),
    **{f"airy.{k}": (lambda x, k=k: (mp.airybi if k > 1 else mp.airyai)(x, derivative=k % 2), waves)
       for k in range(4)},
    "fresnel.0": (mp.fresnels, reals), "fresnel.1": (mp.fresnelc, reals),
}

# ------------------------------------------------------------------ elliptic integrals


def sides(p: Points, count: int = 3) -> Samples:
    return joined(p, [p.span(0, 9) for _ in range(count)],
                  [spread(p, -9, 9) for _ in range(count)],
                  [p.near(2.0), *(p.span(1, 3) for _ in range(count - 1))],
                  [spread(p, -9, 9) * (p.rng.integers(0, 3, p.count) > 0),
                   *(spread(p, -9, 9) for _ in range(count - 1))])


def pairs(p: Points) -> Samples:
    return sides(p, 2)


def angles(p: Points) -> Samples:
    """Angles and parameters of up to 1."""
    return joined(p, (p.span(-1.57, 1.57), p.span(0, 1)), (p.span(-9, 9), p.span(0, 1)),
                  (p.span(-9, 9), -spread(p, -3, 4)), (spread(p, -6, 0), 1 - spread(p, -7, 0)),
                  (p.span(1.5, 1.57), 1 - spread(p, -7, 0)), (spread(p, -8, 0), spread(p, -8, 0)))


def moduli(p: Points) -> Samples:
    return joined(p, (p.span(-3, 3), p.span(0, 1)), (spread(p, -6, 0), spread(p, -8, 0)),
                  (p.span(-3, 3), 1 - spread(p, -4, 0)))


def _amplitude(u: Any, m: Any) -> Any:
    s, c = mp.ellipfun("sn", u, m=m), mp.ellipfun("cn", u, m=m)
    return mp.atan2(s, c)


ELLIPTIC: dict[str, Case] = {
    "elliprf": (mp.elliprf, sides), "elliprd": (mp.elliprd, sides),
    "elliprg": (mp.elliprg, sides),
    "elliprc": (lambda x, y: mp.re(mp.elliprc(x, y)), pairs),
    "ellipkinc": (mp.ellipf, angles), "ellipeinc": (mp.ellipe, angles), "agm": (mp.agm, pairs),
    **{f"ellipj.{k}": (lambda u, m, name=name: mp.ellipfun(name, u, m=m), moduli)
       for k, name in enumerate(("sn", "cn", "dn"))}, "ellipj.3": (_amplitude, moduli),
}

# ------------------------------------------------------------------ Bessel functions of whole order


def orders_of_waves(p: Points) -> Samples:
    few = p.rng.integers(0, 9, p.count)
    many = p.rng.integers(0, 60, p.count)
    top = 2 if p.kind is np.float64 else 1.3
    return joined(p, (few, p.span(0, 9)), (few, spread(p, -2, top)), (many, p.span(1, 40)),
                  (many, many * p.span(0.5, 1.5) + 0.5))


def _spherical(function: Callable[..., Any], factor: Any = 1) -> Callable[..., Any]:
    def at(n: Any, x: Any) -> Any:
        return factor * mp.sqrt(mp.pi / (2 * x)) * function(n + mp.mpf(1) / 2, x)

    return at


def _second(n: Any, x: Any, sign: int) -> Any:
    """K of whole order (``sign`` is 1) or Y times -pi/2 (-1), by their series (DLMF 10.31.2,
    10.8.2), Wronskians and recurrences; mpmath's own takes seconds."""
    if x > 1e4:
        raise ValueError(x)
    with mp.workprec(500 + int(6 * x)):
        term, harmonic, total, k = mp.mpf(1), mp.mpf(0), mp.mpf(0), 0
        while k < x or abs(term * harmonic) > mp.eps * abs(total):
            k += 1
            term *= sign * x * x / (4 * k * k)
            harmonic += mp.mpf(1) / k
            total += term * harmonic
        falling = mp.besseli if sign > 0 else mp.besselj
        first, one = falling(0, x), falling(1, x)
        before = total - (mp.log(x / 2) + mp.euler) * first
        now = (1 / x - sign * one * before) / first if sign > 0 else (1 / x + one * before) / first
        if n == 0:
            return before
        for k in range(1, int(n)):
            before, now = now, 2 * k / x * now + sign * before
        return now


ORDERS: dict[str, Case] = {
    "yn": (lambda n, x: -2 / mp.pi * _second(n, x, -1), orders_of_waves),
    "kn": (lambda n, x: _second(n, x, 1), orders_of_waves),
    "_spherical_jn": (_spherical(mp.besselj), orders_of_waves),
    "_spherical_yn": (_spherical(mp.bessely), orders_of_waves),
    "_spherical_in": (_spherical(mp.besseli), orders_of_waves),
    "_spherical_kn": (_spherical(mp.besselk), orders_of_waves),
}


def real_orders(p: Points) -> Samples:
    return joined(p, (p.span(0, 4), p.span(0, 6)), (p.span(0, 45), p.span(0, 45)),
                  (spread(p, -6, 2.5), spread(p, -6, 2.5)), (p.span(0, 0.6), p.near(1.5)),
                  (p.span(70, 90), spread(p, -3, -1)))


def _of_first(v: Any, x: Any) -> Any:
    if max(abs(v), abs(x)) > 1000:
        raise ValueError(v)  # mpmath's takes seconds
    return mp.besseli(v, x)


def _of_second(v: Any, x: Any) -> Any:
    if max(abs(v), abs(x)) > 1000:
        raise ValueError(v)
    return mp.besselk(v, x, infprec=100000, zeroprec=100000, maxprec=100000)


REAL_ORDERS: dict[str, Case] = {
    "iv": (_of_first, real_orders), "kv": (_of_second, real_orders),
    "ive": (lambda v, x: _of_first(v, x) * mp.exp(-abs(x)), real_orders),
    "kve": (lambda v, x: _of_second(v, x) * mp.exp(x), real_orders),
}


def profiles(p: Points) -> Samples:
    return joined(p, (p.span(-10, 10), p.span(0.3, 3), p.span(0, 3)),
                  (p.span(-8, 8), p.span(0.3, 3), spread(p, -20, -1)),
                  (spread(p, -4, 1), spread(p, -0.5, 1), spread(p, -4, 1)))


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    if max(abs(x), abs(gamma)) > 60 * abs(sigma):
        raise ValueError(x)
    z = mp.mpc(x, gamma) / (sigma * mp.sqrt(2))
    with mp.workprec(300 + int(4 * abs(z) ** 2)):
        return (mp.exp(-z * z) * mp.erfc(z * mp.mpc(0, -1))).real / (sigma * mp.sqrt(2 * mp.pi))



def triangles(p: Points) -> Samples:
    return joined(p, (p.span(-5, 5), p.span(-1, 1)), (p.span(0, 4), p.span(1, 6)),
                  (spread(p, -5, 1.5), spread(p, -5, 2)))


def _owen(h: Any, a: Any) -> Any:
    h, slope = abs(h), abs(a)
    if slope > 1:
        p, q = mp.ncdf(-h), mp.ncdf(-slope * h)
        return mp.sign(a) * ((p + q) / 2 - p * q - _owen(slope * h, 1 / slope))
    end = min(slope, 20 / h) if h else slope
    with mp.workprec(90):
        found = mp.quad(lambda x: mp.exp(-h * h * x * x / 2) / (1 + x * x),
                        [end * k / 6 for k in range(7)])
    return mp.sign(a) * mp.exp(-h * h / 2) / (2 * mp.pi) * found


# ------------------------------------------------------------------ polynomials and omega


def degrees(p: Points, parameters: int, low: float, high: float) -> Samples:
    n = p.rng.integers(0, 25, p.count)
    return joined(p, (n, *(p.span(-0.4, 5) for _ in range(parameters)), p.span(low, high)),
                  (n, *(p.span(0.1, 2) for _ in range(parameters)), p.near(high)))


def _omega(x: Any) -> Any:
    w = mp.exp(x) if x < -2 else mp.log(1 + mp.exp(x)) if x < 9 else x - mp.log(x)
    for _ in range(9):
        w *= (1 + x - mp.log(w)) / (1 + w)
    return w


SOLUTIONS: dict[str, Case] = {
    "eval_genlaguerre": (mp.laguerre, lambda p: degrees(p, 1, 0, 20)),
    "eval_gegenbauer": (mp.gegenbauer, lambda p: degrees(p, 1, -1, 1)),
    "wrightomega": (_omega, lambda p: joined(
        p, (p.span(-9, 20),), (p.span(-80, 80),), (spread(p, -3, 18),))),
}

FAMILIES: dict[str, Case] = {
    **SOLUTIONS, "voigt_profile": (_voigt, profiles), "owens_t": (_owen, triangles),
    **ORDERS, **REAL_ORDERS, **ELLIPTIC, **DISTRIBUTIONS, **COUNTING, **TRANSFORMS, **INTEGRALS,
}
