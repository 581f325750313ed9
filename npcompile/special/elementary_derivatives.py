"""Derivatives of the elementary functions in closed form: programs that give one partial derivative
per operand, of real numbers.  Source: DLMF 4.7, 4.20, 4.34.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import Expr, sqrt
from npcompile.special.elementary import circular, exponential, hyperbolic, logarithm, powers, roots
from npcompile.special.error import probability

Partials = Callable[..., tuple[Expr | None, ...]]


def one(slope: Callable[[Expr], Expr]) -> Partials:
    """The derivative of a function of one operand."""
    return lambda x: (slope(x),)


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
    "sinh": one(hyperbolic.cosh),
    "cosh": one(hyperbolic.sinh),
    "tanh": one(lambda x: 1.0 - exponential.tanh(x) * exponential.tanh(x)),
    "arcsin": one(lambda x: 1.0 / sqrt(1.0 - x * x)),
    "arccos": one(lambda x: -1.0 / sqrt(1.0 - x * x)),
    "arctan": one(lambda x: 1.0 / (1.0 + x * x)),
    "arcsinh": one(lambda x: 1.0 / roots.hypot(x, x * 0.0 + 1.0)),
    "arccosh": one(lambda x: 1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0))),
    "arctanh": one(lambda x: 1.0 / ((1.0 - x) * (1.0 + x))),
    "cbrt": one(lambda x: (1 / 3) / (roots.cbrt(x) * roots.cbrt(x))),
    "hypot": _hypot, "arctan2": _arctan2, "pow": _power, "logaddexp": _logaddexp,
}
