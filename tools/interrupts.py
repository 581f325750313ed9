"""``python -m tools.interrupts [--write] [NAME ...]``: how late programs of the corpus are ended.

Sizes grow until a call takes two seconds or arrays take a gigabyte; then a signal comes somewhere
in a call, whose handler raises.  The page in docs/measurements says when the call has ended.
"""

from __future__ import annotations

import argparse
import random
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.programs import PROGRAMS, Program
from npcompile import jit

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "interrupts.md"
SECONDS, BYTES = 2.0, 1 << 30
COUNT = 40
LONGEST = 20.0  # seconds that are spent on finding a size


class Stop(BaseException):
    """What the handler raises."""


def stop(*_: object) -> None:
    raise Stop


def size_of(args: tuple[Any, ...]) -> int:
    return sum(arg.nbytes for arg in args if isinstance(arg, np.ndarray))


def long(program: Program, function: Any) -> tuple[int, float]:
    """A size, and the seconds of a call."""
    size, began, known = program.bench, time.perf_counter(), (program.bench, 0.0)
    while True:
        for _ in range(2):  # the first one may be compiled
            args = program.arguments(size)
            seconds = ended(function, args, LONGEST)
            if seconds is None:  # left to Python at this size: the one before it then
                return known
            if seconds > 2 * SECONDS:
                break
        known = size, seconds
        wide = 4 * size_of(args) > BYTES
        if seconds >= SECONDS or wide or time.perf_counter() - began > LONGEST:
            return known
        size *= 2 if seconds > SECONDS / 8 else 4


def ended(function: Any, args: tuple[Any, ...], limit: float) -> float | None:
    """The seconds of a call; None if it had to be ended after a time."""
    before = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, limit, 1.0)  # more than one: a finalizer may take it
        function(*args)
    except Stop:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.perf_counter() - before


def late(program: Program, function: Any, size: int, seconds: float, r: random.Random) -> float:
    """How many seconds after the signal a call has ended."""
    for _ in range(4):  # a call may take less time than it took before
        args = program.arguments(size)
        wait = seconds * r.uniform(0.2, 0.6)
        before = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, wait)
            function(*args)
        except Stop:
            return time.perf_counter() - before - wait
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        seconds /= 2
    return float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, stop)
    scalar = [name for name, p in PROGRAMS.items() if p.scalar]
    rows, r = [], random.Random(1)
    for name in options.names or scalar[:COUNT]:
        program = PROGRAMS[name]
        function = jit(program.function)
        function(*program.arguments(program.small))
        size, seconds = long(program, function)
        after = late(program, function, size, seconds, r)
        rows.append(f"| `{name}` | {size} | {seconds:.2f} | {1e3 * after:.0f} |")
        print(rows[-1], flush=True)
    if options.write:
        head = "| program | size | seconds of a call | ended after ms |\n|---|---|---|---|"
        what = ("# Interrupts\n\nHow long after a signal whose handler raises a compiled call ends "
                "(`python -m tools.interrupts --write`).\n")
        PAGE.write_text("\n".join([what, head, *rows, ""]))


if __name__ == "__main__":
    main()
