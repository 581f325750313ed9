"""Random functions that two threads call at the same time: on arrays, lists and generators of their
own, whose results must be the plain function's, and on the same ones, where each number may be an
old or a new one but nothing else may happen.

Functions have loops over elements, gathers and scatters by contents, kernels, lists that grow,
list tables, draws and library calls; arrays are large enough for the GIL to be released.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit
from tests.fuzz.framework import Counts, Grammar
from tests.support import oracle

SIZES = (3, 50, 3000, 60_000)
CALLS = 3  # of each thread
OFTEN = 1e-6  # seconds between two switches


def source(r: random.Random) -> str:
    """A function of two arrays of floats, one of indices, a list and a generator."""
    lines = ["def f(a, b, at, held, rng):", "    n = len(a)", "    s = 0.0", "    c = a * 2.0",
             "    out = []"]
    for _ in range(r.randint(1, 4)):
        lines += ["    " + line for line in statement(r)]
    lines.append("    return s, c, out, held[:3]")
    return "\n".join(lines) + "\n"


def statement(r: random.Random) -> list[str]:
    k, array = r.randint(1, 9), r.choice("ab")
    return r.choice([
        ["for i in range(n):", f"    s = s * 0.5 + {array}[i] * {k}"],
        ["for i in range(1, n):", f"    {array}[i] = ({array}[i - 1] + b[i]) * 0.25"],
        ["for i in range(n):", f"    s += {array}[at[i]]"],
        ["for i in range(n):", f"    c[at[i]] += {array}[i]"],
        [f"c += {array}[at]"], [f"{array}[at] = c * {k}"], [f"c = np.sin({array}) * {k} + c"],
        ["b += a * 0.5"], ["s += float(np.dot(a, b))"], [f"c = c[a > {k / 10}]", "s += c.sum()",
                                                        f"c = {array} + 1.0"],
        ["for i in range(n):", f"    if {array}[i] > 0.{k}:", "        out.append(i)"],
        ["for i in range(len(held)):", f"    held[i] += {k}"],
        ["for x in held:", f"    s += x * 0.{k}"],
        ["table = [0.0] * n", "for i in range(1, n):",
         f"    table[i] = max(table[i - 1] * 0.5, {array}[i])", "s += table[-1]"],
        [f"c += rng.random(n) * {k}"], ["for i in range(n):", "    s += rng.random()"],
        ["k = 0", f"while k < n and {array}[k] < 2.0:", "    s += k * 0.5", "    k += 1"],
        [f"s += float(np.sort({array})[n // 2])"], ["at[0] = at[n - 1]"],
        [f"c = np.cumsum({array})"], ["s += float(np.bincount(at, minlength=n).max())"],
        [f"d = {array}.reshape(1, n) * np.ones((3, 1))", "c = c + d.sum(axis=0)"],
        ["for i in range(n):", f"    at[i] = (at[i] * {k} + i) % n"],
    ])


def made(text: str) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(compile(text, "<random threads>", "exec"), space)
    return space["f"]


def arguments(seed: int, size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return (rng.random(size), rng.random(size), rng.integers(0, size, size),
            rng.integers(0, 9, min(size, 400)).tolist(), np.random.default_rng(seed))


def result(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What some calls give and leave behind, or the exception of one."""
    try:
        found = [call(*args) for _ in range(CALLS)]
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        found = [type(error)]
    return found, args[:4], args[4].random()


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """The results of some calls at the same time, of threads that are switched as often as can be.
    """
    found: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(k: int) -> None:
        barrier.wait()
        found[k] = calls[k]()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(calls))]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(OFTEN)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    return found


def check(seed: int, counts: Counts) -> str:
    """What is wrong with the program of a seed, or an empty string."""
    r = random.Random(seed)
    text, size = source(r), r.choice(SIZES)
    plain, fast = made(text), jit(made(text))
    if r.random() < 0.5:  # else the threads compile it
        result(fast, arguments(seed, 5))
    with np.errstate(all="ignore"):
        want = [result(plain, arguments(seed + k, size)) for k in range(2)]
        got = together([lambda k=k: result(fast, arguments(seed + k, size))  # type: ignore[misc]
                        for k in range(2)])
        shared = arguments(seed, size)
        alone = arguments(seed + 1, size)
        mixed = [(shared, shared), ((*alone[:3], *shared[3:]), shared)][r.random() < 0.3]
        ends = together([lambda args=args: result(fast, args) for args in mixed])  # type: ignore
    counts["exceptions"] += any(isinstance(one[0][0], type) for one in want)
    for a, b in zip(want, got, strict=True):
        told = oracle.difference(b, a, close=(1e-9, 1e-9), sharing=False)
        if told:
            return f"seed {seed}, {size} elements: {told}\n{text}"
    if any(end is None for end in ends):
        return f"seed {seed}, {size} shared elements: a thread has died\n{text}"
    return ""


GRAMMAR = Grammar(check=check)
