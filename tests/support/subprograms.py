"""The functions that are subprograms: their exact values and the points where they are tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import scipy.special as sp

from tests.support.complex_subprograms import FURTHER, FURTHER_WRONG
from tests.support.special_functions import Points, Samples
from tests.support.subprogram_families import FAMILIES, binomial, joined, negative_binomial, spread

# ------------------------------------------------------------------ points


def gamma_pairs(p: Points) -> Samples:
    large = spread(p, 1, 3)
    return joined(
        p, (p.span(0, 1), p.span(0, 3)), (p.span(0, 12), p.span(0, 16)),
        (p.span(8, 40), p.span(5, 50)), (spread(p, -8, 2), spread(p, -8, 2)),
        (large, large * p.near(1.0)), (large, large * p.span(0.5, 1.5)),
        (large, large + p.rng.normal(size=p.count) * np.sqrt(large)))


def beta_pairs(p: Points) -> Samples:
    return joined(p, (p.span(0, 2), p.span(0, 2)), (p.span(0, 60), p.span(0, 60)),
                  (spread(p, -6, 4), spread(p, -6, 4)))


def beta_signed(p: Points) -> Samples:
    return joined(p, *zip(*(np.split(x, 3) for x in beta_pairs(p))), (p.span(-9, 9), p.span(-9, 9)))


def beta_points(p: Points) -> Samples:
    a, b = spread(p, 0, 3), spread(p, -1, 3)
    mean = a / (a + b)
    x = mean + 2 * p.rng.normal(size=p.count) * np.sqrt(mean * (1 - mean) / (a + b))
    return joined(
        p, (p.span(0, 1), p.span(0, 1), p.span(0, 1)), (p.span(0, 20), p.span(0, 20), p.span(0, 1)),
        (spread(p, -6, 2), spread(p, -6, 2), spread(p, -8, 0)), (a, b, np.clip(x, 1e-6, 1 - 1e-6)),
        (spread(p, -2, 2), spread(p, -6, 0), 1 - spread(p, -7, -0.3)))


def zeta_pairs(p: Points) -> Samples:
    return joined(p, (1 + p.span(0, 20), p.span(0, 20)), (1 + spread(p, -6, 2), spread(p, -6, 3)),
                  (np.floor(p.span(2, 12)), p.span(-9, 0)))


def zeta_points(p: Points) -> Samples:
    return joined(p, (p.span(0, 20),), (1 + spread(p, -8, 0),), (p.span(10, 70),),
                  (p.span(-60 if p.kind is np.float64 else -20, 0),))


def deviates(p: Points) -> Samples:
    """Degrees of freedom, and numbers about them."""
    return joined(p, (p.span(0, 50), p.span(0, 80)), (spread(p, -2, 2), spread(p, -2, 2)))


def counts(p: Points) -> Samples:
    return joined(p, (np.floor(p.span(0, 50)), p.span(0, 80)),
                  (np.floor(p.span(0, 9)), spread(p, -3, 1)))


def scaled_deviates(p: Points) -> Samples:
    return joined(p, (p.span(0, 5), p.span(0, 20), p.span(0, 10)))


def quotients(p: Points) -> Samples:
    return joined(p, (p.span(0, 40), p.span(0, 40), spread(p, -2, 1.5)))


def student(p: Points) -> Samples:
    return joined(p, (p.span(0, 40), p.span(-8, 8)), (spread(p, -1, 3), p.span(-9, 9)))


def shares(p: Points) -> Samples:
    return joined(p, (p.span(0.1, 30), p.span(0.01, 1)), (spread(p, -1, 1), spread(p, -12, 0)),
                  (spread(p, 1, 4), p.span(0.01, 0.99)))


def beta_shares(p: Points) -> Samples:
    return joined(p, (p.span(0.1, 30), p.span(0.1, 30), p.span(0.01, 0.99)),
                  (spread(p, -1, 1), spread(p, -1, 1), spread(p, -12, 0)))


def moduli(p: Points) -> Samples:
    return joined(p, (p.span(0, 1),), (1 - spread(p, -6, -1),), (-spread(p, -3, 5),))


def complements(p: Points) -> Samples:
    return joined(p, (p.span(0, 1),), (spread(p, -30, 5),))


def binomial_shares(p: Points) -> Samples:
    k, n, y = binomial(p)
    return np.minimum(k, n - 1), n, y


def students(p: Points) -> Samples:
    return joined(p, (p.span(0.1, 40), p.span(0.01, 0.99)), (spread(p, 0, 4), spread(p, -9, 0)))


# ------------------------------------------------------------------ exact values


def _digits(function: Callable[..., Any]) -> Callable[..., Any]:
    """With as many digits as large parameters lose."""

    def at(*args: Any) -> Any:
        with mp.workprec(400 + int(min(4000, max(args)))):
            return function(*args)

    return at


def _lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _upper(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _share(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _student(v: Any, t: Any) -> Any:
    tail = _share(v / 2, mp.mpf(1) / 2, v / (v + t * t)) / 2
    return tail if t < 0 else 1 - tail


def _inverse(name: str, value: Callable[..., Any], slope: Callable[..., Any]) -> Any:
    """By Newton's method from what SciPy has; ``value(x, ...)`` has a slope in x."""

    def at(*args: Any) -> Any:
        *first, target = args
        given = (int(a) if mp.isint(a) else float(a) for a in args)
        x = mp.mpf(float(getattr(sp, name)(*given)))
        for _ in range(6):
            step = (value(*first, x) - target) / slope(*first, x)
            x -= max(min(step, abs(x) / 2), -abs(x) / 2)
        return x

    return at


def _gamma_slope(a: Any, x: Any) -> Any:
    return x ** (a - 1) * mp.exp(-x) / mp.gamma(a)


def _beta_slope(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def _quotient_slope(a: Any, b: Any, x: Any) -> Any:
    return _beta_slope(a / 2, b / 2, a * x / (a * x + b)) * a * b / (a * x + b) ** 2


def _student_slope(v: Any, t: Any) -> Any:
    return (1 + t * t / v) ** (-(v + 1) / 2) / (mp.sqrt(v) * mp.beta(v / 2, mp.mpf(1) / 2))


_GAMMA_INVERSE = _inverse("gammaincinv", _lower, _gamma_slope)

#: name: exact function, points
CALLED: dict[str, tuple[Callable[..., Any], Callable[[Points], Samples]]] = {
    "gammainc": (_digits(_lower), gamma_pairs),
    "gammaincc": (_digits(_upper), gamma_pairs),
    "betainc": (_digits(_share), beta_points),
    "beta": (mp.beta, beta_signed),
    "_zeta": (_digits(mp.zeta), zeta_pairs),
    "_riemann_zeta": (lambda s: mp.zeta(s) if s != 1 else mp.inf, zeta_points),
    "chdtr": (_digits(lambda v, x: _lower(v / 2, x / 2)), deviates),
    "chdtrc": (_digits(lambda v, x: _upper(v / 2, x / 2)), deviates),
    "pdtr": (_digits(lambda k, m: _upper(mp.floor(k) + 1, m)), counts),
    "pdtrc": (_digits(lambda k, m: _lower(mp.floor(k) + 1, m)), counts),
    "gdtr": (_digits(lambda a, b, x: _lower(b, a * x)), scaled_deviates),
    "gdtrc": (_digits(lambda a, b, x: _upper(b, a * x)), scaled_deviates),
    "fdtr": (_digits(lambda a, b, x: _share(a / 2, b / 2, a * x / (a * x + b))), quotients),
    "fdtrc": (_digits(lambda a, b, x: _share(b / 2, a / 2, b / (a * x + b))), quotients),
    "stdtr": (_digits(_student), student),
    "gammaincinv": (_inverse("gammaincinv", _lower, _gamma_slope), shares),
    "gammainccinv": (_inverse("gammainccinv", _upper, lambda a, x: -_gamma_slope(a, x)), shares),
    "chdtri": (_inverse("chdtri", lambda v, x: _upper(v / 2, x / 2),
                        lambda v, x: -_gamma_slope(v / 2, x / 2) / 2), shares),
    "betaincinv": (_inverse("betaincinv", _share, _beta_slope), beta_shares),
    "ellipk": (mp.ellipk, moduli), "ellipe": (mp.ellipe, moduli),
    "ellipkm1": (lambda p: mp.ellipk(1 - p), complements),
    "betainccinv": (_inverse("betainccinv", lambda a, b, x: _share(b, a, 1 - x),
                             lambda a, b, x: -_beta_slope(a, b, x)), beta_shares),
    "bdtri": (_inverse("bdtri", lambda k, n, x: _share(n - k, k + 1, 1 - x),
                       lambda k, n, x: -_beta_slope(k + 1, n - k, x)), binomial_shares),
    "nbdtri": (_inverse("nbdtri", lambda k, n, x: _share(n, k + 1, x),
                        lambda k, n, x: _beta_slope(n, k + 1, x)), negative_binomial),
    "pdtri": (_inverse("pdtri", lambda k, m: _upper(k + 1, m),
                       lambda k, m: -_gamma_slope(k + 1, m)),
              lambda p: joined(p, (p.rng.integers(0, 60, p.count), p.span(0.01, 0.99)))),
    "gdtrix": (lambda a, b, p: _GAMMA_INVERSE(b, p) / a,
               lambda p: joined(p, (p.span(0.1, 5), p.span(0.1, 30), p.span(0.01, 1)))),
    "fdtri": (_inverse("fdtri", lambda a, b, x: _share(a / 2, b / 2, a * x / (a * x + b)),
                       _quotient_slope), beta_shares),
    "stdtrit": (_inverse("stdtrit", _student, _student_slope), students),
    "betaln": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), beta_pairs),
    **FAMILIES, **FURTHER,
}


def _infinite(*operands: Any) -> Any:
    return np.any([np.isinf(x) for x in operands], axis=0)


def _subnormal(x: Any) -> Any:
    return (x != 0) & (abs(x) <= np.finfo(x.dtype).tiny)


def _huge(x: Any) -> Any:
    return ~(abs(x) < np.sqrt(np.finfo(x.dtype).max))


def _extreme(*operands: Any) -> Any:
    """Whether an operand is subnormal or too large for SciPy, or NaN."""
    return np.any([((x != 0) & (abs(x) < 1e-29)) | ~(abs(x) < 1e9) for x in operands], axis=0)


#: special points where SciPy's values are not the function's: mpmath has ours
SCIPY_IS_WRONG: dict[str, Callable[..., Any]] = {
    "gammainc": lambda a, x: ((a > 0) & (a < 1e-30)) | (a > 1e38),  # P is next to 1; 0 or 1
    "gammaincc": lambda a, x: a > 1e38,
    "betainc": lambda a, b, x: (abs(x) < 1e-37) | _extreme(a, b),
    "_zeta": _extreme,
    "gdtr": _extreme, "gdtrc": _extreme, "fdtr": _extreme, "fdtrc": _extreme,
    "stdtr": _extreme, "chdtr": _extreme, "chdtrc": _extreme, "pdtr": _extreme,
    "pdtrc": _extreme,
    **dict.fromkeys(("gammaincinv", "gammainccinv", "chdtri"),
                    lambda a, p: (a == 0) | _extreme(a, p)), "betaincinv": _extreme,
    "beta": _extreme, "betaln": _extreme,
    "betainccinv": lambda a, b, q: (a < 1e-30) | (b < 1e-30) | (q < 1e-30),
    "fdtri": lambda a, b, p: (a < 1e-30) | (b < 1e-30) | (p < 1e-30),
    "stdtrit": lambda v, p: (v < 1e-20) | (p == 0) | _subnormal(p),  # infinite
    "pdtri": lambda k, y: y < 1e-300,  # subnormal probabilities: ours are rough
    "gdtrix": lambda a, b, p: (p < 1e-300) | (b < 1e-30),
    # what is infinite has limits
    "binom": lambda n, k: _huge(n) | _huge(k) | _subnormal(n) | _subnormal(k),
    "poch": lambda a, m: _huge(a) | _huge(m) | _subnormal(a) | _subnormal(m) | (abs(m) > 1e3),
    **dict.fromkeys(("boxcox", "boxcox1p"), lambda x, power: x == np.inf),
    **dict.fromkeys(("inv_boxcox", "inv_boxcox1p"),
                    lambda x, power: np.isinf(x * power) | (abs(x * power + 1) < 1e-6)),
    "elliprc": lambda x, y: _subnormal(x) | _subnormal(y) | np.isinf(x) | np.isinf(y),
    **dict.fromkeys(("ellipkinc", "ellipeinc"),  # signs
                    lambda angle, m: _infinite(angle, m) | (m == 1)),
    **{f"ellipj.{k}": lambda u, m: abs(u) > 1e5 for k in range(4)},  # no digit is left of angles
    **dict.fromkeys(("fresnel.0", "fresnel.1"), lambda x: _huge(x)),
    **{f"airy.{k}": lambda x: ~(abs(x) < 1e9) for k in range(4)},
    **dict.fromkeys(("iv", "ive", "kv", "kve"), lambda v, x: (x == 0) | _extreme(v, x)),  # NaN
    "voigt_profile": _extreme, **FURTHER_WRONG,
    "yn": lambda n, x: x > 1e4,  # large angles are not reduced
    # the functions that call them turn negative numbers round
    **{f"_spherical_{kind}n": lambda n, x: (x < 0) | np.isnan(x) for kind in "jyik"},
    "eval_gegenbauer": lambda n, a, x: a < -0.25,  # NaN
    "spence": lambda x: x == np.inf,
    "pseudo_huber": lambda delta, r: np.isinf(r),
    "powm1": lambda x, y: np.isinf(y) | (x == 0),  # C's pow has those
}
