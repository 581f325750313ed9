"""Measures functions at every float32 number; writes docs/measurements/accuracy-float32.md.

Run from the repository's root::

    python -m tools.single_accuracy --write           # all functions, all 2**32 numbers
    python -m tools.single_accuracy --every 64 exp    # one number in 64, one function: printed

The compiled float32 function is compared with the compiled float64 function of the same number,
whose own error, below 2**-28 of a unit of float32, is left out of account.  NumPy's or SciPy's
function is measured on one block in eight.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import re
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from npcompile import jit
from npcompile.ops.record import OPERATORS

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "accuracy-float32.md"
BLOCK = 1 << 21
SHARE = 8  # one block of so many is measured of the library's function too
NAMES = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "cbrt", "sqrt", "erf",
    "erfc", "exp10", "expit", "log_expit", "logit", "entr", "ndtr",
)


def library_function(name: str) -> Callable[..., Any]:
    """A fresh Python function that calls NumPy's or SciPy's."""
    space: dict[str, Any] = {"np": np, "special": importlib.import_module("scipy.special")}
    exec(f"def f(x):\n    return {'np' if hasattr(np, name) else 'special'}.{name}(x)", space)
    made: Callable[..., Any] = space["f"]
    return made


def error_in_units(got: Any, want: Any) -> Any:
    """Errors in units in the last place of float32; infinite where a result is of another kind."""
    exact = want.astype(np.float32)
    _, exponent = np.frexp(want)
    unit = np.ldexp(1.0, np.maximum(exponent - 24, -149))
    error = np.abs(got.astype(np.float64) - want) / unit
    same = (got == exact) | ((got != got) & (exact != exact))
    finite = np.abs(exact) < np.inf
    return np.where(finite, np.where(got == got, error, np.inf), np.where(same, 0.0, np.inf))


units = jit(error_in_units)


def worst(x: np.ndarray, got: np.ndarray, want: np.ndarray) -> tuple[float, float]:
    """The largest error and where it is."""
    errors = units(got, want)
    place = int(np.argmax(errors))
    return float(errors[place]), float(x[place])


def measure(name: str, every: int) -> str:
    """One row of the table."""
    function = library_function(name)
    ours = jit(function, fullgraph=True)
    largest, at, theirs, count = 0.0, 0.0, 0.0, 0
    starts = range(0, 1 << 32, BLOCK * every)
    with np.errstate(all="ignore"):
        for turn, start in enumerate(starts):
            bits = np.arange(start, start + BLOCK * every, every, dtype=np.uint64)
            x = bits.astype(np.uint32).view(np.float32)
            want = ours(x.astype(np.float64))
            error, place = worst(x, ours(x), want)
            if error > largest:
                largest, at = error, place
            if turn % SHARE == 0:
                theirs = max(theirs, worst(x, function(x), want)[0])
            count += x.size
    bound = OPERATORS[name].ulp.get("f", 0)
    return f"| {name} | {count} | {largest:.4f} | {bound} | {theirs:.4g} | `{at.hex()}` |"


HEAD = """# Accuracy of float32, number by number

Largest errors in units in the last place, over so many of the {count} bit patterns as the table
says (all, or evenly spread by an odd step): the compiled float32 function beside the compiled
float64 function of the same number, whose own error is below 2**-28 of those units.  A result that
is infinite or NaN where the exact one rounded is not, or the other way round, would show as `inf`.
*bound* is what the record promises; *library* is the largest error of NumPy's or SciPy's function,
on one block of numbers in {share}.

    python -m tools.single_accuracy --write

Machine: {machine}; {date}; NumPy {numpy}.

| function | numbers | largest error | bound | library | worst argument |
|---|--:|--:|--:|--:|---|
"""


def rewritten(fresh: list[str]) -> str:
    """The page with rows put in the place of those for the same function."""
    old = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = {row.split("|")[1].strip(): row for row in (*old, *fresh)
            if re.match(r"\| \w+ \| \d", row)}
    head = HEAD.format(count=1 << 32, share=SHARE, machine=platform.machine(),
                       date=date.today(), numpy=np.__version__)
    return head + "\n".join(rows[name] for name in NAMES if name in rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for name in given.names or NAMES:
        started = time.process_time()
        row = measure(name, given.every)
        print(row, f"{time.process_time() - started:.0f} s", flush=True)
        if given.write:
            PAGE.write_text(rewritten([row]))


if __name__ == "__main__":
    main()
