"""Computes the constants of the exponential, trigonometric and Fresnel integrals, and Owen's.

Run from the repository's root::

    python tools/integral_coefficients.py
"""

from __future__ import annotations

import sys
from typing import Any

import mpmath as mp
from minimax import split
from special_coefficients import octaves, pieces, polynomial, uniform
from tables import FAMILIES, Rows, main, table

mp.mp.prec = 200
#: of the quadrature
NODES = 24

# ---------------------------------------------------------------- exponential integral


def _root() -> Any:
    return mp.findroot(mp.ei, mp.mpf("0.372507"))


@table("exponential_integral")
def expi_root() -> Rows:
    """The zero of Ei in two parts; Euler's constant in two parts."""
    return {"d": (split(_root(), 53), split(+mp.euler, 53))}


@table("exponential_integral")
def expi_middle() -> Rows:
    """Ei(x) * exp(-x) * x / (x - root) on (1/4, 64)."""
    root = _root()
    return pieces(lambda x: mp.ei(x) * mp.exp(-x) * x / (x - root), octaves(-2, 2), 18)


@table("exponential_integral")
def expi_far() -> Rows:
    """x * exp(-x) * Ei(x) in u = 1/x <= 1/64 (DLMF 6.12.2)."""
    return polynomial(lambda u: mp.ei(1 / u) * mp.exp(-1 / u) / u, 12, mp.mpf(10) ** -4,
                      mp.mpf(1) / 64)


@table("exponential_integral")
def expi_near() -> Rows:
    """(Ei(x) - log(x) - euler) / x on (0, 1/4] (DLMF 6.6.1)."""
    return polynomial(lambda x: (mp.ei(x) - mp.log(x) - mp.euler) / x, 11, mp.mpf(10) ** -9,
                      mp.mpf(1) / 4)


# ---------------------------------------------------------------- sine and cosine integrals


@table("sine_integral")
def sine_near() -> Rows:
    """Si(x) / x on [0, 4)."""
    return pieces(lambda x: mp.si(x) / x if x else mp.mpf(1), uniform(4, 8), 13)


@table("sine_integral")
def cosine_near() -> Rows:
    """(Ci(x) - log(x) - euler) / x**2 on [0, 4)."""
    def value(x: Any) -> Any:
        return (mp.ci(x) - mp.log(x) - mp.euler) / x**2 if x > 1e-9 else -mp.mpf(1) / 4

    return pieces(value, uniform(4, 8), 13)


def _auxiliary(x: Any) -> tuple[Any, Any]:
    """f and g: Si(x) = pi/2 - f*cos(x) - g*sin(x), Ci(x) = f*sin(x) - g*cos(x) (DLMF 6.2.17)."""
    with mp.workprec(300):
        z = mp.mpc(0, x)
        e = mp.exp(z) * mp.e1(z)  # g - i*f, less the turn
    return -e.imag, e.real


@table("sine_integral")
def auxiliary_f() -> Rows:
    """x * f(x) in u = 4/x <= 1."""
    return pieces(lambda u: 4 / u * _auxiliary(4 / u)[0] if u else mp.mpf(1), uniform(1), 13)


@table("sine_integral")
def auxiliary_g() -> Rows:
    """x**2 * g(x) in u = 4/x <= 1."""
    return pieces(lambda u: 16 / u**2 * _auxiliary(4 / u)[1] if u else mp.mpf(1), uniform(1), 13)


@table("exponential_integral")
def hyperbolic_sine_near() -> Rows:
    """(Shi(x) - x) / x**3 in x**2 <= 1."""
    def value(z: Any) -> Any:
        x = mp.sqrt(z)
        return (mp.shi(x) - x) / x**3

    return polynomial(value, 9, mp.mpf(10) ** -9, 1)


@table("exponential_integral")
def hyperbolic_cosine_near() -> Rows:
    """(Chi(x) - log(x) - euler) / x**2 in x**2 <= 1."""
    def value(z: Any) -> Any:
        x = mp.sqrt(z)
        return (mp.chi(x) - mp.log(x) - mp.euler) / z

    return polynomial(value, 8, mp.mpf(10) ** -9, 1)


# ---------------------------------------------------------------- Fresnel integrals


@table("fresnel")
def fresnel_near() -> Rows:
    """S(x) / x**3 and C(x) / x in x**4 <= 1.5**4, one polynomial after the other."""
    top = mp.mpf("1.5") ** 4
    least = mp.mpf(10) ** -20
    first = polynomial(lambda z: mp.fresnels(mp.root(z, 4)) / mp.root(z, 4) ** 3, 14, least, top)
    second = polynomial(lambda z: mp.fresnelc(mp.root(z, 4)) / mp.root(z, 4), 14, least, top)
    return {"d": (first["d"].coefficients, second["d"].coefficients)}


def _fresnel(x: Any) -> tuple[Any, Any]:
    """The auxiliary functions f and g (DLMF 7.5.3, 7.5.4)."""
    with mp.workprec(400):
        s, c = mp.fresnels(x), mp.fresnelc(x)
        turn = mp.pi * x * x / 2
        f = (mp.mpf("0.5") - s) * mp.cos(turn) - (mp.mpf("0.5") - c) * mp.sin(turn)
        g = (mp.mpf("0.5") - c) * mp.cos(turn) + (mp.mpf("0.5") - s) * mp.sin(turn)
    return f, g


def _fresnel_at(u: Any, which: int) -> Any:
    """pi * x * f or pi**2 * x**3 * g at ``u = (1.5 / x)**2``."""
    if u < mp.mpf(10) ** -6:
        return mp.mpf(1)
    x = mp.mpf("1.5") / mp.sqrt(u)
    if x > 40:
        t = (mp.pi * x * x) ** 2
        if which:
            return 1 - 15 / t + 945 / t**2 - 135135 / t**3 + 34459425 / t**4
        return 1 - 3 / t + 105 / t**2 - 10395 / t**3 + 2027025 / t**4
    return (mp.pi**2 * x**3 if which else mp.pi * x) * _fresnel(x)[which]


@table("fresnel")
def fresnel_f() -> Rows:
    """pi * x * f(x) in u = (1.5 / x)**2 <= 1."""
    return pieces(lambda u: _fresnel_at(u, 0), uniform(1), 13)


@table("fresnel")
def fresnel_g() -> Rows:
    """pi**2 * x**3 * g(x) in u = (1.5 / x)**2 <= 1."""
    return pieces(lambda u: _fresnel_at(u, 1), uniform(1), 13)


# ---------------------------------------------------------------- dilogarithm


@table("fresnel")
def dilogarithm() -> Rows:
    """Li2(-w) / -w for abs(w) <= 1/2 (DLMF 25.12.1)."""
    return polynomial(lambda w: mp.polylog(2, -w) / -w if abs(w) > 1e-30 else mp.mpf(1), 30,
                      -mp.mpf(1) / 2, mp.mpf(1) / 2)


#: the tables of this script
@table("owen")
def gauss() -> Rows:
    """Nodes and weights of Gauss's quadrature on (0, 1) (DLMF 3.5.20)."""
    def slope(t: Any) -> Any:
        return NODES * (t * mp.legendre(NODES, t) - mp.legendre(NODES - 1, t)) / (t * t - 1)

    nodes, weights = [], []
    for k in range(1, NODES + 1):
        t = mp.cos(mp.pi * (k - mp.mpf(1) / 4) / (NODES + mp.mpf(1) / 2))
        for _ in range(8):
            t -= mp.legendre(NODES, t) / slope(t)
        nodes.append(float((1 + t) / 2))
        weights.append(float(1 / ((1 - t * t) * slope(t) ** 2)))
    return {"d": (tuple(nodes), tuple(weights))}


OWN = [name for family in ("exponential_integral", "sine_integral", "fresnel", "owen")
       for name in FAMILIES[family]]

if __name__ == "__main__":
    main("integral_coefficients.py", sys.argv[1:] or OWN)
