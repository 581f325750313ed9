"""Functions, their exact values and the points where they are tested."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from npcompile.ops.record import OPERATORS

Samples = tuple[np.ndarray, ...]

# ------------------------------------------------------------------ points


class Points:
    """Random points of one format."""

    def __init__(self, char: str, count: int, seed: int = 0) -> None:
        self.kind: Any = np.dtype(char).type
        self.integer = {8: np.int64, 4: np.int32}[np.dtype(char).itemsize]
        self.info = np.finfo(self.kind)
        self.count = count
        self.rng = np.random.default_rng(seed)

    def bits(self, top: float = np.inf) -> np.ndarray:
        """Random bit patterns of positive numbers below ``top``, subnormal ones too."""
        top = min(top, float(self.info.max))
        last = int(np.array(top, self.kind).view(self.integer))
        return self.rng.integers(1, last, self.count).astype(self.integer).view(self.kind)

    def signed(self, x: np.ndarray) -> np.ndarray:
        return x * self.rng.choice([-1, 1], x.size).astype(x.dtype)

    def span(self, low: float, high: float) -> np.ndarray:
        return self.rng.uniform(low, high, self.count).astype(self.kind)

    def subnormal(self) -> np.ndarray:
        return self.info.smallest_subnormal * self.rng.integers(1, 1 << 20, self.count // 8)

    def near(self, centres: np.ndarray | float) -> np.ndarray:
        """Next to given points: within a few units in the last place and further out."""
        centre = np.broadcast_to(np.asarray(centres, np.float64), self.count)
        away = self.rng.standard_normal(self.count) * 2.0 ** -self.rng.uniform(
            2, self.info.nmant + 1, self.count)
        return (centre * (1 + away)).astype(self.kind)

    def every(self, *parts: np.ndarray) -> np.ndarray:
        """The parts together, infinities left out."""
        with np.errstate(all="ignore"):
            whole = np.concatenate([np.asarray(part).astype(self.kind) for part in parts])
        return whole[np.isfinite(whole)]

    def overflow(self) -> float:
        """The logarithm of the largest number."""
        return float(np.log(float(self.info.max)))


def exponents(p: Points) -> Samples:
    top = p.overflow()
    return (p.every(p.span(-1, 1), p.span(-top * 1.06, top * 1.01), p.signed(p.bits(top)),
                    p.span(-20, 20), p.span(-top * 1.055, -top * 0.98),
                    np.arange(-60, 61) * np.log(2) / 2),)


def binary_exponents(p: Points) -> Samples:
    return (exponents(p)[0] * np.array(1 / np.log(2), p.kind),)


def positives(p: Points) -> Samples:
    return (p.every(p.bits(), p.span(0.4, 2.1), p.near(1.0), p.subnormal(),
                    p.near(np.resize(np.arange(0.703125, 1.5, 1 / 32), p.count)),
                    2.0 ** np.arange(-120, 120), 10.0 ** np.arange(-30, 30)),)


def above_minus_1(p: Points) -> Samples:
    x = positives(p)[0]
    return (p.every(x, -x[x < 1], p.near(1.0) - 1, -p.bits(1.0)),)


def angles(p: Points) -> Samples:
    multiples = np.exp(p.rng.uniform(0, 40, p.count)).round()
    # the double and the float nearest to a multiple of pi/2 (Muller, Elementary Functions, 11.3),
    # and the nearest doubles below 2**21 and 2**40
    hardest = [6381956970095103 * 2.0**797, 16367173 * 2.0**72, 6411027962775774 * 2.0**-47,
               7763785107565477 * 2.0**-29]
    return (p.every(p.signed(p.bits()), p.signed(p.near(multiples * np.pi / 2)),
                    p.span(-1, 1), p.span(-100, 100), p.near(np.resize(
                        np.arange(1, 99) * np.pi / 4, p.count)), hardest),)


def hyperbolic(p: Points) -> Samples:
    return (p.every(p.span(-1, 1), p.span(-25, 25), p.signed(p.bits(p.overflow() * 1.001))),)


def everywhere(p: Points) -> Samples:
    return (p.every(p.signed(p.bits()), p.span(-2, 2), p.signed(p.bits(1.0)), p.subnormal()),)


def unit(p: Points) -> Samples:
    return (p.every(p.signed(p.bits(1.0)), p.span(-1, 1), 1 - p.bits(1.0), p.near(0.5)),)


def erf_points(p: Points) -> Samples:
    edges = np.resize(np.arange(1, 24) / 4, p.count)
    return (p.every(p.signed(p.bits(7.0)), p.span(-6, 6), p.span(-1, 1), p.near(edges),
                    p.near(edges * 1.5)),)


def pairs(p: Points) -> Samples:
    a, b = p.signed(p.bits()), p.signed(p.bits())
    shift = 2.0 ** p.rng.integers(-12, 12, p.count)
    with np.errstate(all="ignore"):
        x = np.concatenate([a, p.span(-1, 1), a]).astype(p.kind)
        y = np.concatenate([b, p.span(-1, 1), a * shift]).astype(p.kind)
    fine = np.isfinite(x) & np.isfinite(y)
    return x[fine], y[fine]


def powers(p: Points) -> Samples:
    top = p.overflow()
    x = p.every(np.exp(p.rng.uniform(-top, top, p.count) * 0.99), p.span(0.5, 2), p.near(1.0),
                p.subnormal(), p.near(np.resize(np.arange(0.703125, 1.5, 1 / 32), p.count)))
    x = x[(x > 0) & (x != 1)]
    y = p.rng.uniform(-top * 1.07, top * 1.01, x.size) / np.log(x.astype(np.float64))
    with np.errstate(over="ignore"):
        y = np.where(np.arange(x.size) % 4 == 0, np.rint(y), y).astype(p.kind)
    return x[np.isfinite(y)], y[np.isfinite(y)]


def _exact(function: Callable[..., Any], digits: int = 200) -> Callable[..., Any]:
    def at(*args: Any) -> Any:
        with mp.workprec(digits):
            return function(*args)

    return at


def units(p: Points) -> Samples:
    return (p.every(p.bits(1.0), p.span(0, 1), 1 - p.bits(1.0), p.near(0.5), p.subnormal()),)


def from_1(p: Points) -> Samples:
    x = p.every(1 + p.bits(1.0), p.span(1, 3), p.bits(), 1 + p.bits(), p.near(1.0))
    return (x[x >= 1],)


def in_1(p: Points) -> Samples:
    return (p.every(p.signed(p.bits(1.0)), p.span(-1, 1), 1 - p.bits(1.0), p.bits(1.0) - 1),)


def in_tail(p: Points) -> Samples:
    last = -p.info.minexp * np.log(2)
    return (p.every(p.span(-6, float(np.sqrt(last)) * 1.02), p.span(-3, 3), p.span(0, 10),
                    p.signed(p.bits(6.0))),)


def normal_tail(p: Points) -> Samples:
    return (-in_tail(p)[0] * np.array(2**0.5, p.kind),)


def decimal_exponents(p: Points) -> Samples:
    return (exponents(p)[0] * np.array(1 / np.log(10), p.kind),)


def sums(p: Points) -> Samples:
    """Pairs whose logarithms of a sum are not next to 0."""
    x = p.every(p.span(0, 50), p.span(-1, 1), p.span(-900, 900), p.bits(700.0))
    y = (x + p.rng.choice([-1, 1], x.size) * p.rng.exponential(10, x.size)).astype(p.kind)
    wide = x.astype(float), y.astype(float)
    least = np.minimum(abs(np.logaddexp(*wide)), abs(np.logaddexp2(*wide)))
    fine = least > 0.3 * np.maximum(abs(x), abs(y))
    return x[fine], y[fine]


def weights(p: Points) -> Samples:
    y = positives(p)[0]
    x = np.resize(np.concatenate([p.span(-1, 1), p.signed(p.bits())]), y.size)
    return x, y


def weights_1(p: Points) -> Samples:
    y = above_minus_1(p)[0]
    y = y[y > -1]
    x = np.resize(np.concatenate([p.span(-1, 1), p.signed(p.bits())]), y.size)
    return x, y


def gamma_points(p: Points) -> Samples:
    """Positive numbers, and some next to 1, 2 and 4."""
    return (p.every(p.bits(), p.span(0, 5), p.near(1.0), p.near(2.0), p.near(4.0),
                    p.near(1.4616), p.span(3, 40)),)


def gamma_signed(p: Points) -> Samples:
    top = 160 if p.kind is np.float64 else 30
    return (p.every(p.span(-top, top), p.signed(p.bits(top)), p.span(-3, 3), p.near(1.0)),)


def to_600(p: Points) -> Samples:
    """Positive numbers whose exponential is finite."""
    top = 0.95 * p.overflow()
    return (p.every(p.bits(top), p.span(0, top), p.span(0, 3), p.near(1.0)),)


def signed_to_600(p: Points) -> Samples:
    return (p.signed(to_600(p)[0]),)


def oscillating(p: Points) -> Samples:
    return (p.every(p.span(0, 50), p.span(0, 10), p.bits(1e4), p.near(8.0),
                    p.near(np.resize(np.arange(1, 16) / 2, p.count))),)


def in_2(p: Points) -> Samples:
    x = p.every(p.bits(1.0), p.span(0, 2), 2 - p.bits(1.0), p.near(1.0))
    return (x[x < 2],)


def below_1(p: Points) -> Samples:
    x = in_1(p)[0]
    return (x[abs(x) < 1],)


def between(p: Points) -> Samples:
    x = units(p)[0]
    return (x[x < 1],)


def wide(p: Points) -> Samples:
    return (p.every(p.signed(p.bits(1e6)), p.span(-26, 26), p.span(-3, 3), p.near(28.0)),)


def _dawson(x: Any) -> Any:
    if abs(x) > 12:
        return mp.fsum(mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(60)) / (2 * x)
    with mp.workprec(300 + int(4 * x * x)):
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _erfcinv(z: Any) -> Any:
    """By Newton's method on the logarithm."""
    if z > 1:
        return -_erfcinv(2 - z)
    t = mp.sqrt(-mp.log(z * (2 - z))) if z < 1 else mp.mpf(0)
    for _ in range(60):
        tail = mp.erfc(t)
        step = mp.log(tail / z) * tail * mp.exp(t * t) * mp.sqrt(mp.pi) / 2
        t += step
        if abs(step) <= abs(t) * mp.mpf(2) ** -100:
            break
    return t


def _erfcx(x: Any) -> Any:
    if x > 1e4:
        return mp.fsum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k
                       for k in range(8)) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def _size(x: Any) -> Any:
    """The size of oscillating Bessel functions about x, of which their errors are a part."""
    return mp.sqrt(2 / (mp.pi * max(abs(x), 1)))


#: least size of a result, of whose unit errors are counted
SIZES: dict[str, Callable[..., Any]] = dict.fromkeys(("j0", "j1", "y0", "y1"), _size)
SIZES["sici.1"] = lambda x: 1 / max(abs(x), mp.mpf(1))
SIZES["shichi.1"] = SIZES["expi"] = lambda x: mp.mpf(1) / 4
SIZES.update(dict.fromkeys(("ellipj.0", "ellipj.1"), lambda u, m: mp.mpf(1)))
SIZES.update(
    (f"airy.{k}", lambda x, sign=(-1) ** (k + 1): mp.mpf(0) if x > 0 else mp.mpf(
        max(abs(x), 1)) ** (mp.mpf(sign) / 4) / 2) for k in range(4))
SIZES["yn"] = lambda n, x: _size(x)
SIZES.update(dict.fromkeys(
    ("_spherical_jn", "_spherical_yn"), lambda n, x: 1 / abs(x) if abs(x) > n else mp.mpf(0)))
SIZES["zetac"] = lambda s: mp.mpf(1) if s < 1 else mp.mpf(0)
SIZES["betaln"] = lambda a, b: mp.mpf(1)

#: name: exact function, points
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Points], Samples]]] = {
    "exp": (mp.exp, exponents), "exp2": (lambda x: mp.power(2, x), binary_exponents),
    "expm1": (mp.expm1, exponents), "log": (mp.log, positives),
    "log2": (lambda x: mp.log(x) / mp.log(2), positives), "log10": (mp.log10, positives),
    "log1p": (mp.log1p, above_minus_1),
    "sin": (_exact(mp.sin, 1300), angles), "cos": (_exact(mp.cos, 1300), angles),
    "tan": (_exact(mp.tan, 1300), angles),
    "sinh": (mp.sinh, exponents), "cosh": (mp.cosh, exponents), "tanh": (mp.tanh, hyperbolic),
    "arctan": (mp.atan, everywhere), "arcsin": (mp.asin, unit), "arccos": (mp.acos, unit),
    "cbrt": (lambda x: mp.cbrt(x) if x >= 0 else -mp.cbrt(-x), everywhere),
    "hypot": (mp.hypot, pairs), "arctan2": (mp.atan2, pairs), "pow": (mp.power, powers),
    "erf": (mp.erf, erf_points),
    "arcsinh": (mp.asinh, everywhere), "arccosh": (mp.acosh, from_1), "arctanh": (mp.atanh, in_1),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), sums),
    "logaddexp2": (lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y)) / mp.log(2), sums),
    "erfc": (mp.erfc, in_tail), "ndtr": (mp.ncdf, normal_tail),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), exponents),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), exponents),
    "logit": (lambda x: mp.log(x) - mp.log1p(-x), units),
    "entr": (lambda x: -x * mp.log(x), positives),
    "xlogy": (lambda x, y: x * mp.log(y), weights),
    "xlog1py": (lambda x, y: x * mp.log1p(y), weights_1),
    "exp10": (lambda x: mp.power(10, x), decimal_exponents),
    "gammaln": (mp.loggamma, gamma_points), "gamma": (mp.gamma, gamma_signed),
    "rgamma": (mp.rgamma, gamma_signed), "psi": (mp.digamma, gamma_points),
    "erfinv": (lambda y: mp.sign(y) * _erfcinv(1 - abs(y)) if abs(y) > 0.5 else mp.erfinv(y),
               below_1),
    "erfcinv": (_erfcinv, in_2),
    "ndtri": (lambda p: -mp.sqrt(2) * _erfcinv(2 * p), between),
    "erfcx": (_erfcx, wide),
    "log_ndtr": (lambda x: mp.log1p(-mp.ncdf(-x)) if x > 5 else mp.log(mp.ncdf(x)), normal_tail),
    "i0": (lambda x: mp.besseli(0, x), signed_to_600),
    "i1": (lambda x: mp.besseli(1, x), signed_to_600),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), signed_to_600),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), signed_to_600),
    "k0": (lambda x: mp.besselk(0, x), to_600), "k1": (lambda x: mp.besselk(1, x), to_600),
    "k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), to_600),
    "k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), to_600),
    "j0": (lambda x: mp.besselj(0, x), oscillating),
    "j1": (lambda x: mp.besselj(1, x), oscillating),
    "y0": (lambda x: mp.bessely(0, x), oscillating),
    "y1": (lambda x: mp.bessely(1, x), oscillating),
    "dawsn": (_dawson, wide), "exp1": (mp.e1, to_600),
}
#: those whose exact values take long
SLOW = frozenset(list(FUNCTIONS)[list(FUNCTIONS).index("gammaln"):])
#: those that are not NumPy's
SCIPYS = list(FUNCTIONS)[list(FUNCTIONS).index("erfc"):]
#: how each is called in Python, where it is not NumPy's of this name
CALLS = {"pow": "np.power", **{name: f"special.{name}" for name in ("erf", *SCIPYS)}}


def called(name: str, operands: int) -> Callable[..., Any]:
    """A fresh Python function that calls one function."""
    names = ", ".join("xyzw"[:operands])
    space: dict[str, Any] = {"np": np, "special": importlib.import_module("scipy.special")}
    module = "np" if name in FUNCTIONS else "special._ufuncs" if name[0] == "_" else "special"
    where = CALLS.get(name, f"{module}.{name}")
    taken = ""
    if "." in name and name not in CALLS:  # a part of a tuple
        where, place = where.rsplit(".", 1)
        taken = f"[{place}]"
    exec(f"def f({names}):\n    return {where}({names}){taken}", space)
    found: Callable[..., Any] = space["f"]
    return found


def specials(char: str) -> np.ndarray:
    info = np.finfo(np.dtype(char))
    positive = [0.0, np.inf, 1.0, 0.5, 2.0, 3.0, 2.5, 1e30, 1e-30, 1e4, 60.0,
                float(info.smallest_subnormal), float(info.tiny), float(info.max),
                2.0 ** (info.nmant + 1) + 2]
    return np.array([*positive, *(-x for x in positive), np.nan], char)


#: special points of operands that are whole numbers
WHOLE = np.array([0, 1, 2, 3, 5, 60, -1, -2])


def operands_at(name: str, char: str) -> Samples:
    """The special points, in all combinations."""
    kinds = OPERATORS[name].signatures.split("->")[0]
    points = specials(char)
    if len(kinds) > 2:
        points = points[::3]
    return tuple(np.ravel(grid) for grid in np.meshgrid(
        *[WHOLE if kind == "l" else points for kind in kinds]))


def chars_of(name: str) -> str:
    """The formats of a function's results."""
    return "df" if "f" in OPERATORS[name].signatures else "d"


def exact_of(name: str) -> Callable[..., Any]:
    """The exact function."""
    from tests.support.subprograms import CALLED

    return (FUNCTIONS.get(name) or CALLED[name])[0]


def ulp_errors(name: str, samples: Samples, got: np.ndarray) -> np.ndarray:
    """Errors in units in the last place of the exact result; subnormal numbers have theirs."""
    function = _exact(exact_of(name))
    info = np.finfo(got.dtype)
    digits, lowest = int(info.nmant), int(info.minexp)
    limit = mp.mpf(2) ** int(info.maxexp) * (1 - mp.mpf(2) ** (-digits - 2))
    errors = np.empty(got.size)
    for k, value in enumerate(got.tolist()):
        exact = function(*(mp.mpf(float(x[k])) for x in samples))
        if not np.isfinite(value):
            errors[k] = 0 if abs(exact) >= limit and (exact > 0) == (value > 0) else np.inf
        else:
            size = abs(exact)
            if name in SIZES:
                size = max(size, SIZES[name](*(mp.mpf(float(x[k])) for x in samples)))
            exponent = mp.frexp(size)[1] - 1 if size else lowest
            unit_ = mp.mpf(2) ** (max(int(exponent), lowest) - digits)
            errors[k] = abs(mp.mpf(value) - exact) / unit_
    return errors


def scipy_is_wrong(name: str, x: np.ndarray) -> np.ndarray:
    """Where SciPy's special values are not the function's: mpmath or C99 has ours."""
    subnormal = abs(x) < np.finfo(x.dtype).tiny
    if name in ("j0", "j1", "y0", "y1"):  # they vanish at infinity; large angles are not reduced
        return abs(x) > 1e4
    if name in ("i0", "i1", "i1e", "erfinv", "k0", "k1", "k0e", "k1e"):  # -0, and NaN at infinity
        return np.isinf(x) | subnormal
    if name == "rgamma":
        return subnormal
    if name in ("gammaln", "erfcinv"):  # log(gamma) is infinite at -infinity in C99
        return subnormal | (x == -np.inf) | ((x == 1) & (name == "erfcinv"))
    return np.zeros(x.shape, bool)
