"""More functions that are subprograms, by families: exact values and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from tests.support_special import Points, Samples

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

FAMILIES: dict[str, Case] = {**DISTRIBUTIONS, **COUNTING, **TRANSFORMS}
