"""``lambdify`` beside SymPy's own with NumPy, and numba on SymPy's text, on 20 expressions.

``python -m benchmarks.lambdify [FIRST LAST]`` prints a table: for scalars and for arrays of 1e5 the
processor time of a call in microseconds (the least of rounds in turns), and of the first call for
each operation in milliseconds.  ``-``: the text is refused.  All are given common subexpressions.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

import npcompile

N = 100_000
Case = tuple[str, Any, Any]


def terms(count: int, functions: list[Callable[[Any], Any]]) -> Case:
    """A sum of products of so many operations."""
    rng, symbols = random.Random(count), sympy.symbols("a:6")
    whole: list[Any] = []
    while sympy.count_ops(sympy.Add(*whole)) < count:
        for _ in range(max(1, count // 80)):
            a, b, c = rng.choices(symbols, k=3)
            inner = rng.choice(functions)(a * rng.randint(1, 4) + b)
            scale = sympy.Rational(rng.randint(1, 9), 7)
            whole.append(scale * inner * c ** rng.randint(1, 3) / (1 + a ** 2 * b ** 2))
    return f"terms {count}", symbols, sympy.Add(*whole)


def polynomial(degree: int) -> Case:
    x, y = symbols = sympy.symbols("x y")
    return f"polynomial {degree}", symbols, sympy.expand((1 + x / 2 - y / 3) ** degree)


def arm(links: int) -> Case:
    """The Jacobian of the end of an arm in space."""
    angles = sympy.symbols(f"q:{links}")
    where = sympy.Matrix([0, 0, 0])
    turned = sympy.eye(3)
    for k, angle in enumerate(angles):
        turned = turned * (sympy.rot_axis3(angle) if k % 2 else sympy.rot_axis1(angle))
        where += turned * sympy.Matrix([1, 0, sympy.Rational(1, 2)])
    return f"arm of {links}", angles, where.jacobian(angles)


def pendulum(count: int) -> Case:
    """The mass matrix of a chain of pendulums."""
    angles = sympy.symbols(f"q:{count}")
    rates = sympy.symbols(f"u:{count}")
    energy, x, y = 0, [], []
    for k in range(count):
        x.append(sum(sympy.cos(a) * r for a, r in zip(angles[: k + 1], rates)))
        y.append(sum(sympy.sin(a) * r for a, r in zip(angles[: k + 1], rates)))
        energy += (x[-1] ** 2 + y[-1] ** 2) / 2
    return f"mass matrix {count}", (*angles, *rates), sympy.hessian(energy, rates)


def special() -> Case:
    x, y = symbols = sympy.symbols("x y")
    whole = sympy.erf(x) * sympy.gamma(y + 1) + sympy.besselj(0, x * y) * sympy.exp(-x)
    return "special", symbols, whole


def branches() -> Case:
    x, y = symbols = sympy.symbols("x y")
    whole = sympy.Piecewise((x ** 2 * y, x > y), (sympy.sin(x) / y, x > y / 2), (x - y, True))
    return "branches", symbols, whole + sympy.Max(x, y, 1) * sympy.Abs(x - y)


TRIG, MIXED = [sympy.sin, sympy.cos], [sympy.sin, sympy.cos, lambda v: sympy.exp(-v), sympy.sqrt]
ALGEBRA: list[Callable[[Any], Any]] = [sympy.sqrt, lambda v: 1 / (1 + v), lambda v: v ** 2]
CASES: list[Callable[[], Case]] = [
    lambda: terms(10, TRIG), lambda: terms(20, MIXED), lambda: terms(40, ALGEBRA), special,
    branches, lambda: polynomial(6), lambda: terms(80, MIXED), lambda: arm(3),
    lambda: pendulum(3), lambda: polynomial(16), lambda: terms(200, ALGEBRA),
    lambda: terms(300, MIXED), lambda: arm(5), lambda: terms(500, TRIG), lambda: pendulum(6),
    lambda: terms(1000, MIXED), lambda: terms(1500, ALGEBRA), lambda: terms(2000, TRIG),
    lambda: terms(3000, MIXED), lambda: terms(5000, ALGEBRA),
]


def least(calls: list[Callable[[], Any] | None], rounds: int, many: int) -> list[float]:
    """The least processor time of each call in microseconds, in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            if call is None:
                continue
            begun = time.process_time()
            for _ in range(many):
                call()
            best[k] = min(best[k], (time.process_time() - begun) / many * 1e6)
    return best


def first(made: Any, values: list[Any]) -> float:
    """Milliseconds of the first call; NaN if it is refused."""
    begun = time.process_time()
    try:
        made(*values)
    except Exception:
        return float("nan")
    return (time.process_time() - begun) * 1e3


def measure(case: Case, numba: Any) -> str:
    name, symbols, expression = case
    operations = int(sympy.count_ops(expression))
    begun = time.process_time()
    ours = npcompile.lambdify(symbols, expression)
    writing = (time.process_time() - begun) * 1e3
    theirs = sympy.lambdify(symbols, expression, ["scipy", "numpy"], cse=True)
    fast = numba.njit(sympy.lambdify(symbols, expression, ["scipy", "numpy"], cse=True))
    rng = np.random.default_rng(1)
    numbers = [float(v) for v in rng.uniform(0.2, 1.2, len(symbols))]
    arrays = list(rng.uniform(0.2, 1.2, (len(symbols), N)))
    texts = [name, str(operations)]
    for values, rounds, many in ((numbers, 30, 20), (arrays, 3, 1)):
        our_first = first(ours, values) + writing
        their_first = first(fast, values)
        calls: list[Any] = [lambda v=values: ours(*v), lambda v=values: theirs(*v),
                            lambda v=values: fast(*v)]
        try:
            wanted = theirs(*values)
            np.testing.assert_allclose(ours(*values), wanted, rtol=1e-8, atol=1e-10)
        except ValueError:  # SymPy's own makes no matrix of arrays and constants
            calls[1] = None
        if their_first != their_first:
            calls[2] = None
        times = least(calls, rounds, many)
        texts += [f"{t:.3g}" if t != float("inf") else "-" for t in times]
        texts += [f"{our_first / operations:.2f}"]
    return "| " + " | ".join(texts) + " |"


def main() -> None:
    import numba

    head = ["expression", "operations", *["scalar", "SymPy", "numba", "first, ms an operation"],
            *["1e5", "SymPy", "numba", "first, ms an operation"]]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    start, stop = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, len(CASES))
    for case in CASES[start:stop]:
        print(measure(case(), numba), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
