"""``python -m benchmarks.parallel_loops [NAME ...]``: loops of the corpus on threads, beside
numba's on the same text, where ``range`` of the same loop is ``prange``.

Both in one process.  Of some calls in a row the processor time of the calling thread and of all
others is taken, which other programs on the machine disturb little: the larger one is what two free
processors would take.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from benchmarks.corpus import helpers
from benchmarks.programs import PROGRAMS, Program
from npcompile.runtime.threads import pool

CALLS, SERIES, TIMES = 6, 3, 3  # TIMES the size of the benchmark
SAID = re.compile(r"the iterations of the loop in line (\d+) run in parallel")


def lines(program: Program) -> list[int]:
    """The lines of the loops that run on threads."""
    explained = npcompile.jit(program.function).explain(*program.arguments(program.bench))
    return [int(found[1]) for note in explained.notes if (found := SAID.match(note))]


def with_prange(program: Program, places: list[int]) -> Callable[..., Any]:
    """The same function with these loops over ``prange``."""
    import numba

    text, first = inspect.getsourcelines(program.function)
    for place in places:
        text[place - first] = text[place - first].replace("range(", "prange(", 1)
    scope = {**program.function.__globals__, "prange": numba.prange}
    exec("".join(text), scope)
    made: Callable[..., Any] = scope[program.name]
    return made


def several(function: Callable[..., Any], program: Program,
            converted: Callable[..., Any]) -> tuple[float, float]:
    """Seconds of a call: of the calling thread, and of all others."""
    given = [converted(program.arguments(TIMES * program.bench)) for _ in range(CALLS)]
    function(*given[0])
    mine, all_ = time.thread_time(), time.process_time()
    for args in given[1:]:
        function(*args)
    mine, all_ = time.thread_time() - mine, time.process_time() - all_
    return mine / (CALLS - 1), (all_ - mine) / (CALLS - 1)


def measure(program: Program, places: list[int]) -> dict[str, float]:
    """Seconds on the busier thread: ours and numba's, on one thread and on two."""
    import numba

    numba.set_num_threads(2)
    pool.set_num_threads(2)
    serial, converted = helpers(program, numba.njit)
    parallel = numba.njit(parallel=True)(with_prange(program, places))
    ways = {
        "one": (npcompile.jit(program.function, parallel=False), tuple),
        "two": (npcompile.jit(program.function), tuple),
        "numba": (serial, lambda args: converted(*args)),
        "numba two": (parallel, lambda args: converted(*args)),
    }
    best = dict.fromkeys(ways, math.inf)
    for _ in range(SERIES):
        for name, (function, given) in ways.items():
            best[name] = min(best[name], max(several(function, program, given)))
    return best


def main() -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    ratios = []
    for name in sys.argv[1:] or [n for n, p in PROGRAMS.items() if p.scalar]:
        places = lines(PROGRAMS[name])
        if not places:
            continue
        try:
            best = measure(PROGRAMS[name], places)
        except Exception as error:  # what numba can't compile
            print(f"{name:24s} {type(error).__name__}: {str(error)[:80]!r}", flush=True)
            continue
        ratios.append(best["two"] / best["numba two"])
        print(f"{name:24s} ms: " + ", ".join(f"{way} {1e3 * t:.2f}" for way, t in best.items())
              + f"; gain {best['one'] / best['two']:.2f}, two / numba two {ratios[-1]:.2f}",
              flush=True)
    if ratios:
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
