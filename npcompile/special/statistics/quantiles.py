"""Inverses of the incomplete gamma and beta functions, as subprograms.

Newton's method for the logarithm of the function (of the smaller of both tails) in that of the
unknown: it is concave, so the steps never go astray (DiDonato & Morris, ACM TOMS 12, 1986, and
Abramowitz & Stegun 26.5.22 for the first guesses).
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import Expr, const, floor, fma, sqrt, where
from npcompile.graph.subprograms import (
    Results,
    choose_among,
    packed_subprogram,
    repeat,
)
from npcompile.special.arithmetic.double_word import two_sum
from npcompile.special.elementary.logarithm import log1p
from npcompile.special.elementary.piecewise import INFINITY, NAN, exp_sum, expm1_sum, log_of
from npcompile.special.error.normal import ndtri
from npcompile.special.gamma_functions.beta_functions import beta_shares, beta_size, betaln
from npcompile.special.gamma_functions.gamma_function import gammaln
from npcompile.special.gamma_functions.incomplete_gamma import gamma_size, gammainc, gammaincc

#: the largest number, and after which change another step would change nothing
MOST, NEAR = 1.7e308, 1e-6
#: the tail, its slope in the logarithm, and that of the slope's logarithm
Tail = Callable[[Expr], tuple[Expr, Expr, Expr]]
Guess = Callable[[], Expr]


def _solved(start: Expr, target: Expr, tail: Tail, most: float, back: float) -> Expr:
    """The number where a tail has a value; ``start`` is a guess at its logarithm, ``back`` a step
    to where the tail is larger."""

    def step(n: Expr, x: Expr) -> Results:
        value, slope, bend = tail(x)
        lost = ~(value > 0.0)
        value = where(lost, 1.0, value)
        miss, by = log_of(value / target), value / slope
        cubic = fma(miss * -0.5, bend * by - 1.0, 1.0)  # Halley's
        cubic = where(cubic > 2.0, 2.0, where(cubic > 0.5, cubic, 0.5))
        change = -miss * by / cubic
        change = where(change > 3.0, 3.0, where(change < -3.0, -3.0, change))
        change = where(lost, back, where((change == change) & (x > 0.0), change, 0.0))
        x = x * exp_sum(change)
        more = ((abs(change) > NEAR) | (abs(miss) > NEAR)) & (n < 100.0)
        return more, n + 1.0, where(x > most, most, x)

    return repeat(step, const(0.0, start), exp_sum(start))[1]


# ------------------------------------------------------------------ gamma


def _gamma_start(a: Expr, p: Expr, q: Expr, lower: Expr) -> Expr:
    """Wilson's and Hilferty's cube, or the first term of the series where it is rough."""
    z = ndtri(where(lower, p, q))
    z = where(lower, z, -z)
    root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * sqrt(a))
    cube = (a > 0.5) & (root > 0.3)
    log = where(q < 0.5, log1p(-where(q < 0.5, q, 0.0), True), log_of(p))
    series = (log + gammaln(a + 1.0)) / a
    tail = -log_of(q) - gammaln(a)  # of exp(-x) * x**(a - 1) / gamma(a)
    distant = ~lower & ~cube & (tail > 1.0)
    tail = where(distant, tail, 2.0)
    tail = tail - (1.0 - a) * log_of(tail)
    start = log_of(a) + 3.0 * log_of(where(cube, root, 1.0))
    start = where(cube & ~(lower & (start < series)), start, series)  # series is below
    return where(distant, log_of(where(tail > 0.5, tail, 0.5)), start)


def _gamma_inverse(a: Expr, p: Expr, q: Expr) -> Expr:
    """x with P(a, x) = p and Q(a, x) = q."""
    fine = (a > 0.0) & (a < INFINITY) & (p > 0.0) & (q > 0.0)
    lower, wide = p <= q, a > 1e11  # where the cube is exact

    def start() -> Expr:
        return _gamma_start(a, p, q, lower)

    def below() -> Expr:
        return _solved(start(), p, lambda x: (gammainc(a, x), gamma_size(a, x), a - x), MOST, 0.2)

    def above() -> Expr:
        return _solved(
            start(), q, lambda x: (gammaincc(a, x), -gamma_size(a, x), a - x), MOST, -0.2)

    return choose_among(
        const(NAN, a), (fine & wide, lambda: exp_sum(start())), (fine & ~wide & lower, below),
        (fine & ~wide & ~lower, above))


@packed_subprogram
def gammaincinv(a: Expr, p: Expr) -> Expr:
    """The inverse of gammainc."""
    value = _gamma_inverse(a, p, 1.0 - p)
    value = where(p == 0.0, 0.0, where(p == 1.0, INFINITY, value))
    return where((a >= 0.0) & (p >= 0.0) & (p <= 1.0), value, NAN)


@packed_subprogram
def gammainccinv(a: Expr, q: Expr) -> Expr:
    """The inverse of gammaincc."""
    value = _gamma_inverse(a, 1.0 - q, q)
    value = where(q == 1.0, 0.0, where(q == 0.0, INFINITY, value))
    return where((a >= 0.0) & (q >= 0.0) & (q <= 1.0), value, NAN)


@packed_subprogram
def chdtri(v: Expr, q: Expr) -> Expr:
    """The inverse of chdtrc."""
    return 2.0 * gammainccinv(0.5 * v, q)


# ------------------------------------------------------------------ beta


def _beta_start(a: Expr, b: Expr, p: Expr, q: Expr) -> Expr:
    """By the normal distribution where both parameters are above 1, else the first term."""
    series = (log_of(p) + log_of(a) + betaln(a, b)) / a
    usual = (a > 1.0) & (b > 1.0)
    a, b = where(usual, a, 2.0), where(usual, b, 2.0)
    z = -where(p <= q, ndtri(p), -ndtri(q))
    by_a, by_b = 1.0 / (a + a - 1.0), 1.0 / (b + b - 1.0)
    whole, spread = 2.0 / (by_a + by_b), (z * z - 3.0) * (1 / 6)
    w = z * sqrt(whole + spread) / whole
    w = w - (by_b - by_a) * (spread + 5 / 6 - 2.0 / (3.0 * whole))
    normal = -log_of(1.0 + b / a * exp_sum(w + w))
    return where(usual & ((normal > series) | ((p > q) & (normal == normal))), normal, series)


def _beta_inverse(a: Expr, b: Expr, p: Expr, q: Expr, guess: Guess | None = None) -> Expr:
    """x of at most 1/2 with I_x(a, b) = p = 1 - q."""
    half = -0.6931471805599453

    def start() -> Expr:
        value = _beta_start(a, b, p, q) if guess is None else guess()
        return where(value < half, value, half)

    def share(x: Expr, upper: bool) -> Expr:
        y, low = two_sum(const(1.0, x), -x)
        zero = const(0.0, x)
        return beta_shares(b, a, y, low, x, zero) if upper else beta_shares(a, b, x, zero, y, low)

    def tail(x: Expr, upper: bool) -> tuple[Expr, Expr, Expr]:
        size = beta_size(a, b, x)
        return share(x, upper), -size if upper else size, a - (b - 1.0) * (x / (1.0 - x))

    return choose_among(
        const(0.0, a), (p <= q, lambda: _solved(start(), p, lambda x: tail(x, False), 0.5, 0.2)),
        (p > q, lambda: _solved(start(), q, lambda x: tail(x, True), 0.5, -0.2)))


def _beta_solution(a: Expr, b: Expr, p: Expr, q: Expr,
                   guess: Callable[[Expr], Expr] | None = None) -> tuple[Expr, Expr, Expr]:
    """The smaller of x and 1 - x with I_x(a, b) = p = 1 - q, whether it is the second, and where
    it is at all; ``guess`` is the logarithm of about that."""
    fine = (a > 0.0) & (a < INFINITY) & (b > 0.0) & (b < INFINITY) & (p > 0.0) & (q > 0.0)
    a, b, p, q = (where(fine, part, full) for part, full in zip((a, b, p, q), (1, 1, 0.25, 0.75)))
    half, zero = const(0.5, a), const(0.0, a)
    less = p <= q
    middle = beta_shares(where(less, a, b), where(less, b, a), half, zero, half, zero)
    flipped = where(less, p > middle, q < middle)
    first, second = where(flipped, b, a), where(flipped, a, b)
    x = _beta_inverse(first, second, where(flipped, q, p), where(flipped, p, q),
                      None if guess is None else lambda: guess(flipped))
    return x, flipped, fine


def _beta_ends(a: Expr, b: Expr, p: Expr, q: Expr, inside: Expr) -> Expr:
    """The share where a probability is 0 or a parameter infinite; NaN where there is none."""
    value = where(p == 0.0, 0.0, where(q == 0.0, 1.0, inside))
    value = where(b == INFINITY, 0.0, where(a == INFINITY, 1.0, value))
    wrong = ~((a > 0.0) & (b > 0.0) & (p >= 0.0) & (q >= 0.0))
    return where(wrong | ((a == INFINITY) & (b == INFINITY)), NAN, value)


@packed_subprogram
def betaincinv(a: Expr, b: Expr, p: Expr) -> Expr:
    """The inverse of betainc."""
    x, flipped, _ = _beta_solution(a, b, p, 1.0 - p)
    return _beta_ends(a, b, p, 1.0 - p, where(flipped, 1.0 - x, x))


@packed_subprogram
def betainccinv(a: Expr, b: Expr, q: Expr) -> Expr:
    """The inverse of betaincc."""
    x, flipped, _ = _beta_solution(a, b, 1.0 - q, q)
    return _beta_ends(a, b, 1.0 - q, q, where(flipped, 1.0 - x, x))


# ------------------------------------------------------------------ of distributions


@packed_subprogram
def bdtri(k: Expr, n: Expr, y: Expr) -> Expr:
    """The inverse of bdtr in the probability of each event."""
    k = floor(k)
    fine = (k >= 0.0) & (n > k)
    value = betainccinv(k + 1.0, where(fine, n - k, 1.0), y)
    return where(fine, value, NAN)


@packed_subprogram
def nbdtri(k: Expr, n: Expr, y: Expr) -> Expr:
    """The inverse of nbdtr in the probability of each event."""
    value = where((k >= 0.0) & (n > 0.0), betaincinv(n, k + 1.0, y), NAN)
    return where((k >= 0.0) & (y == 0.0), 0.0, value)


@packed_subprogram
def pdtri(k: Expr, y: Expr) -> Expr:
    """The inverse of pdtr in the mean."""
    fine = (k >= 0.0) & (y >= 0.0) & (y < 1.0)
    return where(fine, gammainccinv(k + 1.0, y), NAN)


@packed_subprogram
def gdtrix(a: Expr, b: Expr, p: Expr) -> Expr:
    """The inverse of gdtr in its last operand."""
    return gammaincinv(b, p) / a


@packed_subprogram
def fdtri(a: Expr, b: Expr, p: Expr) -> Expr:
    """The inverse of fdtr in its last operand."""
    x, flipped, fine = _beta_solution(0.5 * a, 0.5 * b, p, 1.0 - p)
    y = 1.0 - x
    value = where(flipped, b * y, b * x) / where(flipped, a * x, a * y)
    value = where(p == 0.0, 0.0, where(p == 1.0, INFINITY, where(fine, value, NAN)))
    return where((a > 0.0) & (b > 0.0) & (p >= 0.0) & (p <= 1.0), value, NAN)


def _student_start(v: Expr, p: Expr, flipped: Expr) -> Expr:
    """The logarithm of ``v / (v + t*t)``, or of 1 less that if flipped, for both tails beyond t
    (Hill, Algorithm 396: Student's t-quantiles, Commun. ACM 13, 1970)."""
    few = v < 1.0
    n = where(few, 1.0, v)
    a = 1.0 / (n - 0.5)
    b = 48.0 / (a * a)
    c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36
    d = ((94.5 / (b + c) - 3.0) / b + 1.0) * sqrt(a * 1.5707963267948966) * n
    y = exp_sum(log_of(d * p) * 2.0 / n)
    far = y <= a + 0.05
    bottom = ((n + 6.0) / (n * y) - 0.089 * d - 0.822) * ((n + 2.0) * 3.0)
    outer = ((1.0 / bottom + 0.5 / (n + 4.0)) * y - 1.0) * (n + 1.0) / (n + 2.0) + 1.0 / y
    x = ndtri(0.5 * p)
    square = x * x
    c = where(n < 5.0, fma(0.3 * (n - 4.5), x + 0.6, c), c)
    c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c
    top = ((0.4 * square + 6.3) * square + 36.0) * square + 94.5
    inner = ((top / c - square - 3.0) / b + 1.0) * x
    y = where(far, outer, expm1_sum(a * inner * inner))
    rough = few | ~((y > 1e-300) & (y < 1e300))
    y = where(rough, 1.0, y)
    # next to the middle, where the density is constant, or by the first term of the series
    tail = (log_of(p) + log_of(0.5 * v) + betaln(0.5 * v, const(0.5, v))) * 2.0 / v
    inside = where(rough, tail, -log_of(1.0 + y))
    return where(flipped, where(rough, -1.0, log_of(y / (1.0 + y))), inside)


@packed_subprogram
def stdtrit(v: Expr, p: Expr) -> Expr:
    """The inverse of stdtr in its last operand."""
    tail = where(p > 0.5, 1.0 - p, p)
    usual = (v > 0.0) & (v < 1e17)
    freedom = where(usual, v, 1.0)
    twice = tail + tail
    x, flipped, _ = _beta_solution(
        0.5 * freedom, const(0.5, v), twice, 1.0 - twice,
        lambda flipped: _student_start(freedom, twice, flipped))
    y = 1.0 - x
    size = sqrt(freedom) * sqrt(where(flipped, x, y) / where(flipped, y, x))
    size = where(tail == 0.5, 0.0, where((tail == 0.0) | (v < 1e-290), INFINITY, size))
    value = where(p < 0.5, -size, size)
    value = choose_among(value, (~usual, lambda: ndtri(p)))
    return where((v > 0.0) & (p >= 0.0) & (p <= 1.0), value, NAN)
