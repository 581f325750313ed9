"""Computes the constants of the elementary functions and writes their modules.

Run from the repository's root::

    python tools/elementary_coefficients.py            # all tables, with their errors
    python tools/elementary_coefficients.py EXP LOG    # some: the others are kept

Each polynomial's error bound is printed and written beside it: the largest weighted error of the
polynomial with its machine coefficients, where the weight makes it relative to the function.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
from minimax import minimax, rounded, split
from tables import SMALL, Rows, Tables, by_format, main, table

HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.0001")
QUARTER_PI = {"d": mp.pi / 4 * mp.mpf("1.0001"), "f": mp.pi / 4 * mp.mpf("1.005")}


@table("exponential")
def ln2() -> Rows:
    """log(2) in two parts and its inverse; the first part times an exponent is exact by fma."""
    return by_format(lambda c, b: (*split(mp.log(2), b), rounded(1 / mp.log(2), b)))


EXP_STEPS = 16
HALF_STEP = HALF_LN2 / EXP_STEPS


@table("exponential")
def exp_step() -> Rows:
    """log(2)/16 in two parts and its inverse; the first part times 16 exponents is exact by fma."""
    return by_format(lambda c, b: (
        *split(mp.log(2) / EXP_STEPS, b), rounded(EXP_STEPS / mp.log(2), b)))


@table("exponential")
def exp_table() -> Rows:
    """2**(i/16) in two parts."""
    roots = [mp.power(2, mp.mpf(i) / EXP_STEPS) for i in range(EXP_STEPS)]
    return by_format(lambda c, b: tuple(zip(*(split(root, b) for root in roots))))


@table("exponential")
def exp() -> Rows:
    """(exp(r) - 1 - r) / r**2 on |r| <= log(2)/32, error relative to r."""
    count = {"d": 6, "f": 3}
    return by_format(lambda c, b: minimax(
        lambda r: (mp.expm1(r) - r) / r**2, range(count[c]), -HALF_STEP, HALF_STEP, b, abs))


@table("exponential")
def growth() -> Rows:
    """(exp(r) - 1 - r - r**2/2) / r**3 on |r| <= log(2)/32, error relative to r."""
    return by_format(lambda c, b: minimax(
        lambda r: (mp.expm1(r) - r - r**2 / 2) / r**3, range({"d": 5, "f": 2}[c]), -HALF_STEP,
        HALF_STEP, b, lambda r: r**2))


@table("exponential")
def ln10() -> Rows:
    """log(10) in two parts."""
    return by_format(lambda c, b: split(mp.log(10), b))


@table("exponential")
def log10_2() -> Rows:
    """log10(2) in three parts, the first so short that its multiples by an exponent are exact,
    and its inverse."""
    return by_format(lambda c, b: (
        *split(mp.log10(2), b, 3, first=SHORT[c]), rounded(1 / mp.log10(2), b)))


@table("exponential")
def sinh() -> Rows:
    """(sinh(r) - r) / r**3 in z = r**2 on |r| <= 1/2, error relative to r."""
    count = {"d": 6, "f": 3}

    def remainder(z: Any) -> Any:
        r = mp.sqrt(z)
        return (mp.sinh(r) - r) / (r * z)

    return by_format(lambda c, b: minimax(
        remainder, range(count[c]), SMALL, mp.mpf(1) / 4, b, abs))


@table("exponential")
def expm1() -> Rows:
    """(exp(r) - 1 - r - r**2/2) / r**3 on |r| <= log(2)/2, error relative to r."""
    return {"f": minimax(
        lambda r: (mp.expm1(r) - r - r**2 / 2) / r**3, range(5), -HALF_LN2, HALF_LN2, 24,
        lambda r: r**2)}


@table("exponential")
def odd() -> Rows:
    """(sinh(r) - r) / r**3 in z = r**2 on |r| <= log(2)/2, error relative to r."""
    count = {"d": 5, "f": 2}

    def remainder(z: Any) -> Any:
        r = mp.sqrt(z)
        return (mp.sinh(r) - r) / (r * z)

    return by_format(lambda c, b: minimax(
        remainder, range(count[c]), SMALL, HALF_LN2**2, b, abs))


@table("exponential")
def even() -> Rows:
    """(cosh(r) - 1) / r**2 in z = r**2 on |r| <= log(2)/2, absolute error."""
    count = {"d": 5, "f": 3}
    return by_format(lambda c, b: minimax(
        lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z, range(count[c]), SMALL, HALF_LN2**2, b, abs))


# ---------------------------------------------------------------- logarithms

LOG_STEPS = 16


def log_intervals() -> Iterator[tuple[Any, Any]]:
    """A binade's sixteen intervals, equal in bits, from 0.703125 on: the tenth holds 1."""
    start = mp.mpf("0.703125")
    for i in range(LOG_STEPS):
        ends = [mp.mpf(k) / 32 + start for k in (i, i + 1)]
        yield tuple(end if end <= 1 else 2 * end - 1 for end in ends)


def short_inverse(low: Any, high: Any) -> float:
    """A short 1/c for an interval."""
    if low < 1 < high:
        return 1.0
    return float(mp.nint(2 / (low + high) * 64) / 64)


@table("logarithm")
def log_range() -> Rows:
    """Bits of the first interval's start."""
    return {"d": 0x3FE6800000000000, "f": 0x3F340000}


@table("logarithm")
def log_inverse() -> Rows:
    """1/c for each interval, so short that r = m/c - 1 is exact or nearly so."""
    return by_format(lambda c, b: tuple(short_inverse(*ends) for ends in log_intervals()))


def log_rows(base: Any) -> Rows:
    """log(c) to a base in two parts, the first short."""

    def rows(char: str, bits: int) -> tuple[tuple[float, ...], ...]:
        grid = {"d": 2**42, "f": 2**16}[char]
        logs = [-mp.log(mp.mpf(short_inverse(*ends))) / base for ends in log_intervals()]
        high = [float(mp.nint(v * grid) / grid) for v in logs]
        return tuple(high), tuple(rounded(v - mp.mpf(h), bits) for v, h in zip(logs, high))

    return by_format(rows)


SHORT = {"d": 42, "f": 16}


@table("logarithm")
def log_tables() -> Rows:
    """log(c) in two parts: the first so short that k*log(2) + log(c) is exact."""
    return log_rows(mp.mpf(1))


@table("logarithm")
def log2_tables() -> Rows:
    """log2(c), likewise."""
    return log_rows(mp.log(2))


@table("logarithm")
def log10_tables() -> Rows:
    """log10(c), likewise."""
    return log_rows(mp.log(10))


@table("logarithm")
def log2_base() -> Rows:
    """log2(2) in two parts and 1/log(2) in two parts."""
    return by_format(lambda c, b: (1.0, 0.0, *split(1 / mp.log(2), b)))


@table("logarithm")
def log10_base() -> Rows:
    """log10(2) in two parts, the first short, and 1/log(10) in two parts."""
    return by_format(lambda c, b: (
        *split(mp.log(2) / mp.log(10), b, first=SHORT[c] - 1), *split(1 / mp.log(10), b)))


@table("logarithm")
def log_ln2() -> Rows:
    """log(2): a short first part, whose multiples by an exponent are exact, and the rest."""
    return by_format(lambda c, b: split(mp.log(2), b, first=SHORT[c]))


def log_reach() -> tuple[Any, Any]:
    """The range of r over all intervals."""
    ends = [mp.mpf(short_inverse(*pair)) * end - 1 for pair in log_intervals() for end in pair]
    return min(ends), max(ends)


@table("logarithm")
def log() -> Rows:
    """(log1p(r) - r + r**2/2) / r**3 over the intervals, error relative to r."""
    count = {"d": 8, "f": 3}
    return by_format(lambda c, b: minimax(
        lambda r: (mp.log1p(r) - r + r**2 / 2) / r**3, range(count[c]), *log_reach(), b,
        lambda r: r**2))


def log_rest(base: Any) -> Rows:
    count = {"d": 9, "f": 4}
    return by_format(lambda c, b: minimax(
        lambda r: (mp.log1p(r) - r) / (r**2 * base), range(count[c]), *log_reach(), b, abs))


@table("logarithm")
def log2() -> Rows:
    """(log1p(r) - r) / (r**2 * log(2)) over the intervals, error relative to r."""
    return log_rest(mp.log(2))


@table("logarithm")
def log10() -> Rows:
    """(log1p(r) - r) / (r**2 * log(10)) over the intervals, error relative to r."""
    return log_rest(mp.log(10))


NEAR_STEPS = 224


def near_inverses() -> list[tuple[int, float]]:
    """Sixteen numbers of steps from 1 on, those down from 1 last, and a short 1/c for each."""
    steps = [k if k < 8 else k - 16 for k in range(16)]
    return [(k, float(mp.nint(512 / (1 + mp.mpf(k) / NEAR_STEPS)) / 512)) for k in steps]


@table("logarithm")
def near_tables() -> Rows:
    """1/c for the multiples of 1/224 next to 1, so short that squares of r = s/c - 1 are exact
    for some 19 bits of a number; log(c) in two parts, the first short."""
    inverses = [inverse for _, inverse in near_inverses()]
    logs = [-mp.log(mp.mpf(inverse)) for inverse in inverses]
    high = [float(mp.nint(v * 2**42) / 2**42) for v in logs]
    low = [rounded(v - mp.mpf(h), 53) for v, h in zip(logs, high)]
    return {"d": (tuple(inverses), tuple(high), tuple(low))}


@table("logarithm")
def near_log() -> Rows:
    """(log1p(r) - r + r**2/2) / r**3 over these intervals, error relative to r."""
    half, slack = mp.mpf("0.5001") / NEAR_STEPS, mp.mpf(2)**-17
    ends = [mp.mpf(inverse) * (1 + mp.mpf(k) / NEAR_STEPS + side * (half + slack)) - 1
            for k, inverse in near_inverses() for side in (-1, 1)]
    return {"d": minimax(lambda r: (mp.log1p(r) - r + r**2 / 2) / r**3, range(5),
                         min(ends), max(ends), 53, lambda r: r**2)}


# ---------------------------------------------------------------- circular functions


TURN_STEPS = 16
TURN = mp.pi / TURN_STEPS
HALF_TURN = TURN / 2 * mp.mpf("1.001")


@table("circular")
def turn_step() -> Rows:
    """pi/16 in three parts and 16/pi; in float64 the second part times 24 bits is exact."""
    def row(char: str, bits: int) -> tuple[Any, ...]:
        first, rest = split(TURN, bits)[0], TURN - split(TURN, bits)[0]
        second = rounded(rest, 29 if char == "d" else bits)
        return first, second, rounded(rest - second, bits), rounded(1 / TURN, bits)

    return by_format(row)


@table("circular")
def wide_step() -> Rows:
    """pi/16 in three parts as wide as the format, and 16/pi."""
    return {"d": (*split(TURN, 53, 3), rounded(1 / TURN, 53))}


@table("circular")
def turn_sines() -> Rows:
    """sin(i*pi/16) in two parts, then cos(i*pi/16)."""

    def rows(char: str, bits: int) -> tuple[tuple[float, ...], ...]:
        angles = [i * TURN for i in range(TURN_STEPS)]
        sines = [split(mp.sin(a), bits) for a in angles]
        cosines = [split(mp.cos(a) if 2 * a != mp.pi else 0, bits) for a in angles]
        return (*zip(*sines), *zip(*cosines))

    return by_format(rows)


@table("circular")
def steps_by_angle() -> Rows:
    """16/pi * 2**(32*g - 52) modulo 32 in four parts, for the exponents 32*g ... 32*g + 31."""
    with mp.workprec(1400):
        by_angle = TURN_STEPS / mp.pi
        rows = [split(mp.fmod(mp.ldexp(by_angle, 32 * g - 52), 32), 53, 4) for g in range(32)]
    return {"d": tuple(zip(*rows))}


@table("circular")
def sin() -> Rows:
    """(sin(r) - r) / r**3 in z = r**2 on |r| <= pi/32, error relative to r."""
    count = {"d": 4, "f": 2}

    def remainder(z: Any) -> Any:
        r = mp.sqrt(z)
        return (mp.sin(r) - r) / (r * z)

    return by_format(lambda c, b: minimax(
        remainder, range(count[c]), SMALL, HALF_TURN**2, b, abs))


@table("circular")
def cos() -> Rows:
    """(cos(r) - 1) / r**2 in z = r**2 on |r| <= pi/32, absolute error."""
    count = {"d": 4, "f": 2}
    return by_format(lambda c, b: minimax(
        lambda z: (mp.cos(mp.sqrt(z)) - 1) / z, range(count[c]), SMALL, HALF_TURN**2, b, abs))


SINGLE_TURN = mp.pi / 8


@table("circular")
def single_step() -> Rows:
    """pi/8 in three parts and 8/pi."""
    return {"f": (*split(SINGLE_TURN, 24, 3), rounded(1 / SINGLE_TURN, 24))}


@table("circular")
def single_sines() -> Rows:
    """sin(i*pi/8) in two parts, then cos(i*pi/8)."""
    sines = [mp.sin(i * SINGLE_TURN) if i % 8 else mp.mpf(0) for i in range(16)]
    pairs = [split(s, 24) for s in sines]
    return {"f": (*zip(*pairs), *zip(*(pairs[4:] + pairs[:4])))}


SINGLE_REACH = SMALL, (SINGLE_TURN / 2 * mp.mpf("1.01"))**2


@table("circular")
def single_sin() -> Rows:
    """(sin(r) - r) / r**3 in z = r**2 on |r| <= pi/16, error relative to r."""

    def remainder(z: Any) -> Any:
        r = mp.sqrt(z)
        return (mp.sin(r) - r) / (r * z)

    return {"f": minimax(remainder, range(2), *SINGLE_REACH, 24, abs)}


@table("circular")
def single_cos() -> Rows:
    """(cos(r) - 1) / r**2 in z = r**2 on |r| <= pi/16, absolute error."""
    return {"f": minimax(lambda z: (mp.cos(mp.sqrt(z)) - 1) / z, range(2), *SINGLE_REACH, 24, abs)}


@table("circular")
def quarter_step() -> Rows:
    """pi/4 in three parts and 4/pi."""
    return {"f": (*split(mp.pi / 4, 24, 3), rounded(4 / mp.pi, 24))}


@table("circular")
def tan() -> Rows:
    """(tan(r) - r) / r**3 in z = r**2 on |r| <= pi/8, error relative to r."""

    def remainder(z: Any) -> Any:
        r = mp.sqrt(z)
        return (mp.tan(r) - r) / (r * z)

    return {"f": minimax(remainder, range(4), SMALL, (mp.pi / 8 * mp.mpf("1.01"))**2, 24, abs)}


# ---------------------------------------------------------------- inverse circular, roots


def arctangent_rest(z: Any) -> Any:
    """(atan(t) - t) / t**3 for t = sqrt(z)."""
    t = mp.sqrt(z)
    return (mp.atan(t) - t) / (t * z)


@table("inverse")
def arctan2() -> Rows:
    """(atan(t) - t) / t**3 in z = t**2 on |t| <= 1/4, error relative to t."""
    count = {"d": 9, "f": 4}
    end = mp.mpf(1) / 16 * mp.mpf("1.001")
    return by_format(lambda c, b: minimax(arctangent_rest, range(count[c]), SMALL, end, b, abs))


@table("inverse")
def arctan2_bases() -> Rows:
    """In two parts atan(c) for c of 0, 1/2 and 1, those less pi/2, those less pi, and pi/2 more."""
    angles = [mp.mpf(0), mp.atan(mp.mpf(1) / 2), mp.pi / 4, mp.mpf(0)]
    steep, left = [a - mp.pi / 2 for a in angles], [a - mp.pi for a in angles]
    angles += [*steep, *left, *(mp.pi + a for a in steep)]
    return by_format(lambda c, b: tuple(zip(*(split(angle, b) for angle in angles))))


def arctangent_points() -> list[float]:
    """Points of which the k-th stands for numbers a where the exponent and the first bit of the
    mantissa of ``a + 1/8`` are k modulo 16; 0 stands for the ends."""
    ends = [mp.mpf(m) * 2**e / 2 - mp.mpf(1) / 8 for e in range(-3, 4) for m in (2, 3)]
    points = [0.0] * 16
    for k in range(1, 12):
        middle = mp.tan((mp.atan(ends[k]) + mp.atan(ends[k + 1])) / 2)
        points[(k + 8) % 16] = rounded(middle, 12)
    return points


@table("inverse")
def arctan_points() -> Rows:
    """Points and their arctangents in two parts; that for large numbers is pi/2."""
    points = arctangent_points()
    angles = [mp.atan(c) for c in points]
    angles[4] = mp.pi / 2
    return by_format(lambda c, b: (tuple(points), *zip(*(split(angle, b) for angle in angles))))


@table("inverse")
def arctan() -> Rows:
    """(atan(t) - t) / t**3 in z = t**2 on |t| <= 1/7.875, error relative to t."""
    count = {"d": 6, "f": 3}
    end = mp.mpf("7.875") ** -2 * mp.mpf("1.001")
    return by_format(lambda c, b: minimax(arctangent_rest, range(count[c]), SMALL, end, b, abs))


@table("inverse")
def turns() -> Rows:
    """pi/2 and pi, each in two parts."""
    return by_format(lambda c, b: (split(mp.pi / 2, b), split(+mp.pi, b)))


@table("inverse")
def arcsin() -> Rows:
    """(asin(s) - s) / s**3 in z = s**2 on |s| <= 1/2, error relative to s."""
    count = {"d": 13, "f": 5}

    def remainder(z: Any) -> Any:
        s = mp.sqrt(z)
        return (mp.asin(s) - s) / (s * z)

    return by_format(lambda c, b: minimax(
        remainder, range(count[c]), SMALL, mp.mpf("0.25"), b, abs))


def _start(shift: float, x: Any) -> Any:
    """``x * r**3`` where the bits of r are a constant less a third of those of x: next to powers of
    two these are nearly a logarithm to base 2 (Blinn, Floating-point tricks, IEEE Computer Graphics
    and Applications 17, 1997)."""
    exponent = np.floor(np.log2(x))
    log = shift - (exponent + x / 2**exponent - 1) / 3
    whole = np.floor(log)
    return x * ((1 + log - whole) * 2**whole) ** 3


@cache
def _start_range() -> tuple[float, float, float]:
    """The shift for which that varies least, and its bounds, with some room for rounding."""
    x = np.concatenate([2.0**k * np.linspace(1, 2, 20000, endpoint=False) for k in range(3)])
    spans = {shift: np.ptp(np.log(_start(shift, x))) for shift in np.linspace(-0.1, 0.1, 2001)}
    shift = min(spans, key=spans.__getitem__)
    found = _start(shift, x)
    return float(shift), float(found.min()) - 2e-3, float(found.max()) + 2e-3


@table("roots")
def cbrt_start() -> Rows:
    """The number from which a third of the upper bits of x is taken, as a float of 1.5 * 2**p and
    more, for the upper bits of an inverse cube root."""

    def number(char: str, bits: int) -> tuple[float, ...]:
        bias = {"d": 1023, "f": 127}[char]
        upper = bits - 1 - {"d": 12, "f": 9}[char]
        return (1.5 * 2.0 ** (bits - 1) + round((_start_range()[0] + 4 * bias / 3) * 2**upper),)

    return by_format(number)


@table("roots")
def cbrt() -> Rows:
    """c**(-1/3) where c is what CBRT_START leaves of the cube's relative error, relative error."""
    count, third = {"d": 7, "f": 4}, mp.mpf(1) / 3
    _, low, high = _start_range()
    return by_format(lambda c, b: minimax(
        lambda m: m**-third, range(count[c]), low, high, b, lambda m: m**third))


# ---------------------------------------------------------------- the error function

ERF_WIDTH = mp.mpf("0.375")


def erf_row(index: int, count: int) -> tuple[tuple[float, ...], Any]:
    """One interval: centre, erf and its derivative there in two parts, the rest's fit."""
    centre = (index + mp.mpf(1) / 2) * ERF_WIDTH if index else mp.mpf(0)
    value = split(mp.erf(centre), 53)
    slope = split(2 / mp.sqrt(mp.pi) * mp.exp(-(centre**2)), 53)

    def rest(t: Any) -> Any:
        known = mp.fsum(map(mp.mpf, value)) + mp.fsum(map(mp.mpf, slope)) * t
        return (mp.erf(centre + t) - known) / t**2

    low, high = (-ERF_WIDTH / 2, ERF_WIDTH / 2) if index else (SMALL, ERF_WIDTH)
    fit = minimax(rest, range(count), low, high, 53, lambda t: t**2 / mp.erf(centre + t))
    return (float(centre), *value, *slope, *fit.coefficients), fit.error


@table("error")
def erf() -> Rows:
    """erf in 16 intervals: rows of centres, values (2), slopes (2) and of the coefficients of
    (erf(c + t) - value - slope*t) / t**2, error relative to erf."""
    made = [erf_row(k, 12) for k in range(16)]
    rows = tuple(zip(*(row for row, _ in made)))
    return {"d": Tables(rows, max(error for _, error in made))}


def single_erf_row(index: int) -> tuple[tuple[float, ...], Any]:
    """One interval of float32, as :func:`single_erf` says."""
    middle, half = mp.mpf(index) / 8, mp.mpf("0.501") / 8
    away = half / 8 if index < 24 else 3 * half  # there it is so flat that few are

    def sixth(x: Any) -> Any:
        return (2 * x**2 - 1) / 3 * 2 / math.sqrt(math.pi) * math.exp(-(x**2))

    # about a quarter of what rounding that one changes can't be made up for
    share = abs(sixth(middle)) * half**3 / 4 / mp.erf(middle) if index else 0
    centre = (accurate_centre(math.erf, middle, away, sixth, float(share), 400_001) if index
              else mp.mpf(0))
    value = rounded(mp.erf(centre), 24)
    exact = 2 / mp.sqrt(mp.pi) * mp.exp(-(centre**2))
    slope, bend = split(exact, 24), split(-centre * exact, 24)

    def rest(t: Any) -> Any:
        known = mp.fsum(map(mp.mpf, slope)) * t + mp.fsum(map(mp.mpf, bend)) * t**2
        return (mp.erf(centre + t) - mp.mpf(value) - known) / t**3

    low, high = (middle - half - centre, middle + half - centre) if index else (SMALL, half)
    fit = minimax(rest, range(5), low, high, 24, lambda t: abs(t)**3 / mp.erf(centre + t))
    inexact = abs(mp.erf(centre) / mp.mpf(value) - 1) if index else 0
    return (float(centre), value, *slope, *bend, *fit.coefficients), max(fit.error, inexact)


@table("error")
def single_erf() -> Rows:
    """erf in 32 intervals about multiples of 1/8: rows of centres, of values there, which are
    nearly exact, of slopes (2), halves of the second derivatives (2), and of the coefficients of
    what is left over t**3; error relative to erf."""
    made = [single_erf_row(k) for k in range(32)]
    return {"f": Tables(tuple(zip(*(row for row, _ in made))), max(error for _, error in made))}


@table("error")
def root_half() -> Rows:
    """sqrt(1/2) in two parts."""
    return by_format(lambda c, b: split(mp.sqrt(mp.mpf(1) / 2), b))




TANH_STEPS = mp.mpf("3.49")


def accurate_centre(function: Callable[[float], float], middle: Any, away: Any,
                    other: Callable[[float], float] | None = None, share: float = 1 / 32,
                    points: int = 20_001) -> Any:
    """A number of float32 near the middle of an interval, so far away at most, where the function
    is nearly such a number, and another too, of whose error a share counts (Gal & Bachelis, An
    accurate elementary mathematical library for the IEEE floating point standard, ACM TOMS 17,
    1991): the best of so many points."""

    def waste(of: Callable[[float], float], centre: float) -> float:
        value = of(centre)
        return abs(value / float(np.float32(value)) - 1)

    def both(centre: float) -> float:
        return max(waste(function, centre), waste(other, centre) * share if other else 0.0)

    near = float(middle) + float(away) * np.linspace(-1, 1, points)
    return mp.mpf(min(near.astype(np.float32).astype(float).tolist(), key=both))


@table("exponential")
def tanh() -> Rows:
    """tanh in 32 intervals about multiples of 1/3.49: rows of centres, of values and slopes there,
    which are nearly exact, and of the coefficients of (tanh(c + t) - value - slope*t) / t**2, error
    relative to tanh."""

    def slope(x: float) -> float:
        return 1 - math.tanh(x) ** 2

    def row(index: int) -> tuple[tuple[float, ...], Any]:
        middle, half = index / TANH_STEPS, mp.mpf("0.502") / TANH_STEPS
        away = half / 64 if index < 20 else 2 * half  # there it is so flat that few are
        centre = accurate_centre(math.tanh, middle, away, slope) if index else mp.mpf(0)
        value, rise = rounded(mp.tanh(centre), 24), rounded(1 - mp.tanh(centre) ** 2, 24)

        def rest(t: Any) -> Any:
            return (mp.tanh(centre + t) - mp.mpf(value) - mp.mpf(rise) * t) / t**2

        low, high = (middle - half - centre, middle + half - centre) if index else (SMALL, half)
        fit = minimax(rest, range(5), low, high, 24, lambda t: t**2 / mp.tanh(centre + t))
        return (float(centre), value, rise, *fit.coefficients), fit.error

    made = [row(k) for k in range(32)]
    return {"f": Tables(tuple(zip(*(row for row, _ in made))), max(error for _, error in made))}


def power_intervals() -> Iterator[tuple[Any, Any]]:
    """A binade's 32 intervals, equal in bits, from 0.703125 on."""
    start = mp.mpf("0.703125")
    for i in range(32):
        ends = [mp.mpf(k) / 64 + start for k in (i, i + 1)]
        yield tuple(end if end <= 1 else 2 * end - 1 for end in ends)


def power_inverses() -> list[float]:
    """1/c for each, multiples of 1/64: those of which r is smallest; 1 on either side of 1."""

    def reach(inverse: Any, ends: tuple[Any, Any]) -> Any:
        return max(abs(inverse * end - 1) for end in ends)

    def best(ends: tuple[Any, Any]) -> Any:
        return min((mp.mpf(j) / 64 for j in range(40, 96)), key=lambda inv: reach(inv, ends))

    return [1.0 if 1 in ends else float(best(ends)) for ends in power_intervals()]


@table("logarithm")
def power_single() -> Rows:
    """For powers in float32: 1/c of 32 intervals, so short that r = m/c - 1 is exact; log(c) in two
    parts, the first short."""
    logs = [-mp.log(mp.mpf(inverse)) for inverse in power_inverses()]
    high = [float(mp.nint(v * 2**16) / 2**16) for v in logs]
    low = [rounded(v - mp.mpf(h), 24) for v, h in zip(logs, high)]
    return {"f": (tuple(power_inverses()), tuple(high), tuple(low))}


@table("logarithm")
def power_single_log() -> Rows:
    """(log1p(r) - r + r**2/2) / (r**3/2) over these intervals, error relative to r."""
    ends = [mp.mpf(inverse) * end - 1
            for inverse, pair in zip(power_inverses(), power_intervals()) for end in pair]
    return {"f": minimax(lambda r: 2 * (mp.log1p(r) - r + r**2 / 2) / r**3, range(4),
                         min(ends), max(ends), 24, lambda r: r**2 / 2)}


ERFCX_SHIFT, SINGLE_ERFCX_SHIFT = mp.mpf(15) / 8, mp.mpf(16) / 23
ERFCX_COUNT, SINGLE_ERFCX_COUNT = 13, 10


def scaled_erfc(z: Any) -> Any:
    return mp.exp(z * z) * mp.erfc(z)


def erfcx_edges(shift: Any) -> list[Any]:
    """Those of 16 quarters of octaves of ``1 + z/shift``."""
    return [shift * (mp.ldexp(1 + mp.mpf(k % 4) / 4, k // 4) - 1) for k in range(17)]


@table("error")
def erfcx() -> Rows:
    """exp(z**2) * erfc(z) in 16 intervals, which are quarters of octaves of ``1 + 8*z/15``: rows
    of centres, values (2), slopes (2) and of the coefficients of (it at c + t - value - slope*t) /
    t**2, relative error."""
    def row(low: Any, high: Any) -> tuple[tuple[float, ...], Any]:
        centre, half = (low + high) / 2, (high - low) / 2
        value = split(scaled_erfc(centre), 53)
        slope = split(2 * centre * scaled_erfc(centre) - 2 / mp.sqrt(mp.pi), 53)

        def rest(t: Any) -> Any:
            known = mp.fsum(map(mp.mpf, value)) + mp.fsum(map(mp.mpf, slope)) * t
            return (scaled_erfc(centre + t) - known) / t**2

        fit = minimax(rest, range(ERFCX_COUNT), -half, half, 53,
                      lambda t: t**2 / scaled_erfc(centre + t))
        return (float(centre), *value, *slope, *fit.coefficients), fit.error

    made = [row(low, high) for low, high in pairwise(erfcx_edges(ERFCX_SHIFT))]
    return {"d": Tables(tuple(zip(*(row for row, _ in made))), max(error for _, error in made))}


@table("error")
def single_erfcx() -> Rows:
    """The same for results of float32 by quarters of octaves of ``1 + 23*z/16``: rows of centres
    and coefficients."""
    made = []
    for low, high in pairwise(erfcx_edges(SINGLE_ERFCX_SHIFT)):
        centre, half = float((low + high) / 2), (high - low) / 2
        fit = minimax(lambda t, c=centre: scaled_erfc(c + t), range(SINGLE_ERFCX_COUNT), -half,
                      half, 53, lambda t, c=centre: 1 / scaled_erfc(c + t))
        made.append(((centre, *fit.coefficients), fit.error))
    return {"d": Tables(tuple(zip(*(row for row, _ in made))), max(error for _, error in made))}


if __name__ == "__main__":
    main("elementary_coefficients.py", sys.argv[1:])
