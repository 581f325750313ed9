"""``python -m benchmarks.functions_of_numpy [NAME ... | --write]``: functions of NumPy over sorts,
tables, products and formulas beside NumPy's own.

Each is the body of a compiled function, called with 1000 and with a million elements, in one row
and in rows of 100.  Both take turns in one process; the processor time of each one's best turn
counts, that of all threads together.
"""

from __future__ import annotations

import math
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import npcompile

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "functions_of_numpy.md"
TURNS, TURN = {1000: 9, 1_000_000: 5}, 1e-3  # turns of each, and seconds of a turn at least
CHARS = {"d": "float64", "f": "float32", "l": "int64"}
BAR, WARM = 0.97, 4  # calls of a compiled function that are not timed

#: what is measured, in ``x`` and ``y`` of the shape and dtype, rows ``r`` and ``q`` of these
#: elements, ``k`` and ``m`` integers up to 1000 of the same shape, a sorted row ``s``, short rows
#: ``w`` and ``p``, points ``xp`` and ``fp``, and the number ``n`` of elements
EXPRESSIONS = re.split(r"\n| {2,}", """
np.median(x, axis=-1)  np.median(x)  np.percentile(x, 30, axis=-1)  np.percentile(x, 99.9)
np.quantile(x, [0.1, 0.5, 0.9], axis=-1)  np.nanmedian(x, axis=-1)  np.nanpercentile(x, 30, axis=-1)
np.partition(x, 10, axis=-1)  np.sort(x, axis=-1)  np.argsort(x, axis=-1)
np.argsort(x, axis=-1, kind="stable")  np.searchsorted(s, r)  np.unique(x)
np.unique(x, return_counts=True)  np.unique(k, return_counts=True)
np.unique(k, return_inverse=True)
np.isin(k, m[:10])  np.isin(k, m)  np.intersect1d(k, m)  np.union1d(k, m)  np.setdiff1d(k, m)
np.convolve(r, w)  np.correlate(r, w, "valid")  np.cov(r, q)  np.corrcoef(r, q)
np.polyval(p, x)  np.polyfit(r, q, 3)  np.vander(r, 4)  np.select([x > 50, x > 20], [x, x * 2], 0)
np.insert(x, 5, 7)  np.delete(x, 5)  np.delete(x, 5, axis=-1)  np.ediff1d(x)
np.triu_indices(math.isqrt(n))  np.geomspace(1, 1000, n)  np.logspace(0, 3, n)
np.bartlett(n)  np.hanning(n)  np.hamming(n)  np.blackman(n)  np.kaiser(n, 8.6)
np.gcd(k, m)  np.lcm(k, m)  np.interp(r, xp, fp)  np.interp(r, xp, fp, left=0, right=1)
np.interp(r, xp, fp, period=7.0)  np.packbits(x > 50, axis=-1)
g.integers(0, 100, n)  g.permutation(n)
""".strip())


def values(n: int, rows: bool, char: str) -> dict[str, Any]:
    """The arguments by name."""
    rng = np.random.default_rng(n)
    shape = (n // 100, 100) if rows else (n,)
    x, y = ((rng.random(shape) * 100).astype(char) for _ in range(2))
    k, m = (rng.integers(0, 1000, shape) for _ in range(2))
    w, p = (rng.random(8) * 9).astype(char), (rng.random(4) * 9).astype(char)
    return {"x": x, "y": y, "k": k, "m": m + 1, "r": x.ravel(), "q": y.ravel(), "w": w, "p": p,
            "s": np.sort(x, axis=None), "xp": np.arange(100.0), "fp": rng.random(100), "n": n,
            "g": np.random.default_rng(1)}


def best(functions: list[Callable[..., Any]], args: list[Any], turns: int) -> list[float]:
    """Seconds of the best turn of each; the first call of each is not timed."""
    found = [math.inf] * len(functions)
    started = time.process_time()
    for function in functions:
        function(*args)
    each = max((time.process_time() - started) / len(functions), 1e-7)
    calls = max(1, int(TURN / each))
    for _ in range(turns):
        for place, function in enumerate(functions):
            started = time.process_time()
            for _ in range(calls):
                function(*args)
            found[place] = min(found[place], (time.process_time() - started) / calls)
    return found


def measured(expression: str) -> Iterator[tuple[str, str, float, float]]:
    """Dtype, shape, NumPy's microseconds and how many times as fast the compiled function is."""
    operands = re.sub(r"np\.\w+|\"\w+\"|\w+=|g\.\w+", "", expression)
    plain_of = set(re.findall(r"\b[a-z]+\b", operands))
    chars = "dfl" if plain_of & {"x", "r"} else "d"
    shaped = plain_of & {"x", "k"}
    for char in chars:
        for rows in (False, True) if shaped else (False,):
            for n in TURNS:
                given = values(n, rows, char)
                names = [name for name in given if re.search(rf"\b{name}\b(?!\.|\()", expression)
                         or (name == "g" and expression.startswith("g."))]
                space: dict[str, Any] = {"np": np, "math": math}
                exec(f"def f({', '.join(names)}):\n    return {expression}", space)
                compiled = npcompile.jit(space["f"])
                args = [given[name] for name in names]
                for _ in range(WARM):
                    compiled(*args)
                theirs, ours = best([space["f"], compiled], args, TURNS[n])
                dtype = CHARS[char] if plain_of & {"x", "r"} else ""
                shape = f"{n // 100} x 100" if rows else f"{n}"
                yield dtype, shape, theirs * 1e6, theirs / ours


def main(words: list[str]) -> None:
    """Measures the functions whose names are given, or all."""
    lines, ratios = [], []
    for expression in EXPRESSIONS:
        if any(not w.startswith("--") for w in words) and not any(w in expression for w in words):
            continue
        for dtype, shape, theirs, ratio in measured(expression):
            lines.append(f"| `{expression}` | {dtype} | {shape} | {theirs:.2f} | {ratio:.2f} |")
            ratios.append(ratio)
            print(lines[-1], flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    below = sum(ratio < BAR for ratio in ratios)
    told = f"{len(ratios)} rows: geometric mean {mean:.2f}, {below} below {BAR}."
    print(told)
    if "--write" in words:
        PAGE.write_text(_page(told, lines))


def _page(told: str, lines: list[str]) -> str:
    machine = f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"
    return f"""# Functions of NumPy over sorts, tables, products and formulas

NumPy's microseconds, and how many times as fast the function is under `jit`, which does nothing
else.  Both take turns in one process; the processor time of each one's best turn counts, that of
all threads together.  `sort`, `argsort`, `partition`, `packbits` and the generator's methods are
calls of NumPy's, as are `convolve` in float32 and `nanpercentile` of integers; a fit of float32
numbers is made again by NumPy, which warns that its rank is not full.

    python -m benchmarks.functions_of_numpy --write

{date.today()}, {machine}.

{told}

| call | dtype | elements | NumPy, us | compiled |
|---|---|---|--:|--:|
""" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
