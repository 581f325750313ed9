"""Compares functions that a compiler can hardly help with themselves under ``jit``.

Run from the repository's root::

    python -m tools.never_slower                 # all, in some minutes
    python -m tools.never_slower statistics      # those with this word in their names
    python -m tools.never_slower --write         # and put into docs/measurements/never_slower.md

Each function is called 200 times, then in rounds of 140 calls, plain and compiled in turn; the
arguments change from call to call.  The ratio is that of the least rounds; what the first calls
took beyond the plain function's is told in seconds, with all that was compiled meanwhile.
"""

from __future__ import annotations

import platform
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import thread_time
from typing import Any

from npcompile import jit
from npcompile.core.records import record
from tools.never_slower_cases import CASES, Case

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "never_slower.md"
FIRST, ROUNDS, CALLS = 200, 20, 140
#: what is promised: of the plain function's time, and seconds before
RATIO, BEFORE = 1.06, 0.3


@record
class Found:
    """``plain``: seconds a call; ``ratio``: times that under ``jit``; ``first``: seconds of the
    first call, ``before``: of the others before the rounds, beyond the plain function's."""

    name: str
    plain: float
    ratio: float
    first: float
    before: float

    @property
    def good(self) -> bool:
        return self.ratio <= RATIO and self.first + self.before <= BEFORE


def seconds(function: Any, args: list[tuple[Any, ...]]) -> float:
    """What these calls take of the processor: other programs on the machine disturb it little."""
    begun = thread_time()
    for a in args:
        function(*a)
    return thread_time() - begun


def measure(name: str, case: Case) -> Found:
    """One function's figures."""
    plain, make = case
    compiled = jit(plain)
    first = seconds(compiled, [make(0)])
    before = seconds(compiled, [make(k) for k in range(1, FIRST)])
    least = {plain: float("inf"), compiled: float("inf")}
    for turn in range(ROUNDS):
        for function in least:
            args = [make(FIRST + turn * CALLS + k) for k in range(CALLS)]
            least[function] = min(least[function], seconds(function, args))
    took = least[plain] / CALLS
    return Found(name, took, least[compiled] / least[plain], first, before - (FIRST - 1) * took)


def table(found: list[Found]) -> Iterator[str]:
    """The page."""
    good = sum(one.good for one in found)
    yield "# Functions that a compiler can hardly help\n"
    yield (f"Written by `python -m tools.never_slower --write`, Python {platform.python_version()},"
           " with an empty disk cache; seconds of the processor.\n")
    yield (f"{good} of {len(found)} functions take at most {RATIO} times the plain function's time"
           f" after {FIRST} calls, and at most {BEFORE} s beyond it before, the first call"
           " included.\n")
    yield "| function | plain, µs | under `jit` | first call, ms | the next calls, ms |"
    yield "|---|---:|---:|---:|---:|"
    for one in found:
        yield (f"| {one.name} | {1e6 * one.plain:.2f} | {one.ratio:.2f}"
               f" | {1e3 * one.first:.0f} | {1e3 * one.before:.1f} |")


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    found = []
    warnings.simplefilter("ignore")
    for name, case in CASES.items():
        if not words or any(word in name for word in words):
            one = measure(name, case)
            found.append(one)
            print("    " if one.good else "BAD ", f"{name:40s} {1e6 * one.plain:8.2f} us "
                  f"{one.ratio:6.2f}  first {one.first:.3f} s, then {one.before:.3f} s", flush=True)
    if "--write" in sys.argv:
        PAGE.write_text("\n".join(table(found)) + "\n")


if __name__ == "__main__":
    main()
