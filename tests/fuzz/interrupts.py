"""Random loops that a signal's handler ends.

The first element of an array counts the iterations.  What variables and arrays, the function's own
too, hold where the handler raises must be what they hold in the plain function when it comes to
that line, in the same iteration or at the end of the one before.  Programs that differ are printed
with their seeds.
"""

from __future__ import annotations

import random
import sys
from copy import deepcopy
from types import FrameType
from typing import Any

import numpy as np

from npcompile import jit
from tests.fuzz.framework import Counts, Grammar
from tests.support.machine import SLOWER
from tests.support.signals import Alarm, Stop

MANY = 10**13  # iterations that no call comes to
SIZE = 24
FILE = "<random interrupts>"


class Found(BaseException):
    """Ends the plain function where it holds the same."""


def source(r: random.Random) -> str:
    """A function whose only endless loop counts in ``a[0]``."""
    lines = ["def f(a, b, given, table, held, x, y, k, n):", "    c = given + 0",
             "    p, q = table.tolist(), held.tolist()"]
    whiles = r.random() < 0.4
    lines.append("    while k < n:" if whiles else "    for i in range(k, n):")
    lines.append("        a[0] += 1")
    for _ in range(r.randint(1, 4)):
        lines += ["        " + line for line in statement(r, "k" if whiles else "i")]
    if whiles:
        lines.append("        k += 1")
    lines.append("    return x, y, k, c, np.array(p), np.array(q)")
    return "\n".join(lines) + "\n"


def statement(r: random.Random, index: str) -> list[str]:
    place, other = r.randint(1, SIZE - 1), r.randint(1, SIZE - 1)
    last = SIZE - 1
    return r.choice([
        [f"x = (x * {r.randint(2, 9)} + {index}) % {r.randint(50, 9999)}"],
        [f"y = (x ^ y) & {r.randint(7, 4095)}"],
        [f"a[1 + x % {last}] = (a[{place}] + x) & 1023"],
        [f"if x & {r.choice([1, 3, 5])}:", f"    y += {r.randint(1, 5)}",
         "    y &= 4095"],
        [f"for j in range(1, {r.choice(['len(a)', 'len(b)', str(r.randint(3, 9))])}):",
         "    x = (x + a[j] * j) & 8191", f"    b[j] = (b[j] + x) & {r.randint(1, 255)}"],
        [f"a[1:] = (a[1:] + b[1:] * {r.randint(1, 3)}) & 255"],
        [f"c[{place}] = (c[x % {SIZE}] + {index} + 1) & 511", f"x += c[{other}] & 1"],
        ["for j in range(1, len(c)):", f"    c[j] = (c[j - 1] + b[j] + {place}) & 255"],
        [f"c[{place}:] = (c[{place}:] ^ x) & 127"],
        [f"b[{place}:] = a[{place}:] ^ x", "y = (y + b[1]) & 1023"],
        [f"p[{place}] = (p[x % {SIZE}] + {index} + 1) & 511", f"x += p[{other}] & 1"],
        [f"for j in range(1, {SIZE}):", f"    p[j] = (p[j - 1] + b[j] + {place}) & 255"],
        [f"while len(q) > {r.randint(2, 30)}:", "    y = (y + q.pop()) & 4095",
         f"q.append((x + {index}) & 1023)"],
        [f"q.append(x & {r.randint(1, 255)})", f"if len(q) > {r.randint(2, 30)}:",
         "    y = (y + q.pop()) & 4095", "    q.pop()"],
        ["z = x & 63", "while z > 0:", "    z >>= 1", f"    a[{other}] = (a[{other}] + z) & 4095"],
    ])


def made(text: str) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(compile(text, FILE, "exec"), space)
    return space["f"]


def arrays() -> tuple[Any, ...]:
    return (np.arange(SIZE) * 0, np.arange(SIZE) & 3, np.arange(SIZE) & 7, np.arange(SIZE) & 5,
            np.arange(2))


def differs(seed: int) -> str | None:
    """What is wrong with the program of a seed; None if nothing is."""
    r = random.Random(seed)
    text = source(r)
    plain, fast = made(text), jit(made(text))

    fast(*arrays(), 1, 0, 0, 9)
    for wait in (0.05, 0.5, 2.0, 5.0, 5.0 * SLOWER):  # the first calls are compiled meanwhile
        a, b, *more = arrays()
        try:
            with Alarm(wait * (1 + r.random())):
                fast(a, b, *more, 1, 0, 0, MANY)
        except Stop:
            found = frame_of(sys.exc_info()[2])
            if found is not None and "q" in found[1]:
                return compared(text, plain, fast, (a, b), found)
    return f"seed {seed}: never interrupted\n{text}"


def frame_of(traceback: Any) -> tuple[int, dict[str, Any]] | None:
    """The line and the variables of the function's frame, if it has begun."""
    found = None
    while traceback is not None:
        frame: FrameType = traceback.tb_frame
        if frame.f_code.co_filename == FILE:
            found = traceback.tb_lineno, dict(frame.f_locals)
        traceback = traceback.tb_next
    return found


def compared(
    text: str, plain: Any, fast: Any, left: tuple[Any, Any], found: tuple[int, dict[str, Any]]
) -> str | None:
    """Runs all iterations but the last ones compiled, and these in Python, line by line."""
    turns = int(left[0][0])
    first = max(turns - 2, 0)
    a, b, *more = arrays()
    x, y, k, *more = fast(a, b, *more, 1, 0, 0, first)
    line, variables = found
    whiles = "while" in text.splitlines()[3]
    names = variables.keys() & ({"x", "y", "z", "k", "p", "q"} - (set() if whiles else {"k"}))
    own = variables["c"]
    assert own.flags.owndata and own.flags.writeable and own.base is None
    seen: list[object] = []

    def look(frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True  # Python looks for signals within a line, too
        here = frame.f_code.co_filename == FILE and frame.f_lineno == line
        if here and event in ("line", "opcode"):
            now = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
            if a[0] == turns:
                seen.append(deepcopy(now))
            same = np.array_equal(a, left[0]) and np.array_equal(b, left[1])
            same = same and np.array_equal(frame.f_locals["c"], own)
            if same and all(now.get(name) == variables[name] for name in names):
                raise Found
        return look

    outer = sys.gettrace()
    sys.settrace(look)
    try:
        plain(a, b, *more, x, y, k if whiles else first, turns + 2)
    except Found:
        return None
    finally:
        sys.settrace(outer)
    return f"iteration {turns}, line {line}: {variables}, {left}\nPython has {seen}\n{text}"


def check(seed: int, counts: Counts) -> str:
    """What is wrong with the program of a seed, or an empty string."""
    return differs(seed) or ""


GRAMMAR = Grammar(check=check)
