"""A page of sums: the bits of functions in mode ``"portable"``, the same on every machine.

    python -m tests.portable.page               computes all lines and says which differ
    python -m tests.portable.page write         writes ``sums.txt``
    python -m tests.portable.page COUNT SEED    computes a sample of the lines

A line has a function's name and the SHA-256 of its results.  What a NaN is besides that is left out
of the sums: processors differ there.  Operands are made of integers, by operations that round each
number once.
"""

from __future__ import annotations

import hashlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from npcompile import jit
from npcompile.ops.record import OPERATORS, Domain, Op
from tests.linalg import portable_page

SUMS = Path(__file__).with_name("sums.txt")
Line = tuple[Callable[..., Any], list[Any]]
#: numbers of a line: no whole number of registers
COUNT = 203


def numbers(low: float, high: float, count: int = COUNT, salt: int = 1) -> Any:
    """Numbers between two, spread evenly or, over wide ranges, by their sizes."""
    grid = np.arange(count, dtype=np.uint64) * np.uint64(2654435761 * salt) % np.uint64(1 << 32)
    part = grid.astype(np.float64) / 2.0**32
    if high - low <= 4000:
        return part * (high - low) + low
    powers = np.ldexp(1.0 + part, (grid % np.uint64(60)).astype(np.int64) - 30)
    return np.clip(np.where(grid % np.uint64(3) == 0, -powers, powers), low, high)


def operand(domain: Domain, kind: str, salt: int) -> Any:
    """Numbers of a domain and of a type, some special ones at the end."""
    made = numbers(float(domain.low), float(domain.high), salt=salt)
    if kind in "FD":
        return (made + 1j * np.roll(made, 7)).astype(kind)
    if kind in "fd":
        special = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e-30, 1e30]
        return np.concatenate([made, np.roll(special, salt)]).astype(kind)
    if kind == "?":
        return made > 0
    low, high = max(domain.low, -100), min(domain.high, 100)
    return np.concatenate([numbers(low, high, salt=salt), np.zeros(10) + 1]).astype(kind)


def elementwise() -> Iterator[tuple[str, Line]]:
    """Each elementwise function, of each of these types that it has a loop for."""
    for op in OPERATORS.values():
        known = op.aliases and "." not in op.aliases[0].partition(":")[2]
        if op.kind.name == "elementwise" and op.guarantee == "portable" and known:
            wanted = "dfD" if op.aliases[0].startswith("numpy:") else "d"
            for char in wanted:
                kinds = _kinds(op, char)
                if kinds:
                    domains = [op.domains[min(k, len(op.domains) - 1)] for k in range(len(kinds))]
                    found = [operand(d, k, 2 * at + 1)
                             for at, (d, k) in enumerate(zip(domains, kinds, strict=True))]
                    yield f"{op.name} {char}", (called(op.aliases[0], len(kinds)), found)


def _kinds(op: Op, char: str) -> str:
    """The types of a loop that computes in one of them, or of integers beside it."""
    for loop in op.signatures.split():
        kinds = loop.split("->")[0]
        if char in kinds and set(kinds) <= {char, "l", "d" if char == "D" else char}:
            return kinds
    return ""


def called(path: str, operands: int) -> Callable[..., Any]:
    """A function of Python's that calls what is at a path."""
    module, _, name = path.partition(":")
    names = ", ".join("xyzwv"[:operands])
    space: dict[str, Any] = {}
    exec(f"import {module}\ndef f({names}):\n    return {module}.{name}({names})", space)
    found: Callable[..., Any] = space["f"]
    return found


_ORDERED = ("min", "max", "argmin", "argmax", "ptp", "median", "nanmax")


def reductions() -> Iterator[tuple[str, Line]]:
    """Sums and others, of whole arrays and along both axes."""
    part = numbers(-3, 5, 41 * 67).reshape(41, 67)
    table = part * part * part
    arrays = {"d": table, "f": table.astype("f"), "D": table + 1j * table[::-1],
              "l": (table * 9).astype("l")}
    for name in ("sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "ptp",
                 "cumsum", "cumprod", "any", "count_nonzero", "median", "nansum", "nanmax"):
        for char, a in arrays.items():
            if char == "D" and name in _ORDERED:
                continue
            scaled = a / 64 if "prod" in name and char != "l" else a
            for axis in ("None", "0", "1"):
                if axis == "None" and name in ("cumsum", "cumprod"):
                    continue
                yield f"{name} {char} axis={axis}", (_made(
                    "x", f"np.{name}(x, axis={axis})"), [scaled])


def _made(names: str, text: str, body: str = "") -> Callable[..., Any]:
    """A function of Python's with this result, after some statements."""
    space: dict[str, Any] = {"np": np}
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    exec(f"def f({names}):\n{lines}    return {text}", space)
    found: Callable[..., Any] = space["f"]
    return found


_STENCIL = """\
y = x.copy()
for _ in range(5):
    y[1:-1, 1:-1] = (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]) * 0.25"""
_NEWTON = """\
y = np.ones_like(x)
while np.abs(y * y - x).max() > 1e-12:
    y = (y + x / y) * 0.5"""
_LOOP = """\
total, last = 0.0, 0.1
for k in range(x.shape[0]):
    last = last * 0.75 + x[k, k % 7] / (1.0 + last * last)
    if last > 1.5:
        last = np.sin(last)
    total += last"""


def programs() -> Iterator[tuple[str, Line]]:
    """Expressions, stencils, loops, conversions and searches."""
    a = numbers(0.125, 7.5, 60 * 70, 3).reshape(60, 70)
    big = numbers(-1e30, 1e30, 500, 5)
    texts = {
        "expression": "np.exp(-x * x) * np.sin(x) + np.log1p(x) / np.sqrt(x)",
        "softmax": "np.exp(x - x.max(axis=1, keepdims=True)) / np.exp(x).sum(axis=1)[:, None]",
        "norms": "np.sqrt((x * x).sum(axis=1)) / np.hypot(x[:, 0], x[:, 1])",
        "masked sum": "x[x > 3.0].sum()", "where": "np.where(x > 3, 1 / x, np.exp(x))",
        "differences": "np.diff(x, axis=0) ** 2", "outer": "x[:, :1] * x[:1] - x[3]",
        "integers": "(x * 1000).astype(np.int64) // 7 % 13",
        "standard scores": "(x - x.mean(axis=0)) / x.std(axis=0)",
        "polynomial": "((x * 0.5 - 1.25) * x + 3.0) * x - 0.75",
        "sort": "np.sort(x, axis=1)", "argsort": "np.argsort(x, axis=1)",
        "searchsorted": "np.searchsorted(np.sort(x[0]), x[1])",
        "clip and round": "np.round(np.clip(x, 1, 5), 2)",
    }
    for name, text in texts.items():
        yield name, (_made("x", text), [a])
    for name, body, result in (("stencil", _STENCIL, "y"), ("Newton", _NEWTON, "y"),
                               ("loop", _LOOP, "total")):
        yield name, (_made("x", result, body), [a])
    for source in "dfe":
        with np.errstate(all="ignore"):
            given = np.concatenate([big, [np.inf, -np.inf, np.nan, 3e9, -3e9]]).astype(source)
        for to in "bBhHiIlL":
            yield f"cast {source} to {to}", (_made("x", f"x.astype({to!r})"), [given])
    with np.errstate(all="ignore"):
        yield "cast to half", (_made("x", "x.astype('e')"), [big.astype("f")])


def transforms() -> Iterator[tuple[str, Line]]:
    """Fourier transforms of our own, of the lengths that plans differ for."""
    for n in (8, 12, 17, 60, 97, 1024):
        a = (numbers(-2, 3, 3 * n) + 1j * numbers(-1, 1, 3 * n, 7)).reshape(3, n)
        for name in ("fft", "ifft", "rfft"):
            given = a.real.copy() if name == "rfft" else a
            yield f"{name} {n}", (_made("x", f"np.fft.{name}(x)"), [given])


def draws() -> Iterator[tuple[str, Line]]:
    """Random numbers."""
    for text in ("random(501)", "normal(0.5, 2.0, 501)", "integers(0, 1000, 501)",
                 "standard_exponential(501)", "uniform(-2.0, 3.0, 501)"):
        yield f"rng.{text}", (_made("rng", f"rng.{text}"), [np.random.default_rng(7)])


def lines() -> dict[str, Line]:
    """Functions and operands by the names of the lines."""
    found = dict(elementwise())
    for part in (reductions, programs, transforms, draws):
        found.update(part())
    products = portable_page.products().items()
    return found | {name: line for name, line in products if name.startswith("matmul")}


def digest(function: Callable[..., Any], operands: list[Any]) -> str:
    """The sum of a compiled function's results.  Random numbers are the generator's, which the mode
    promises nothing of."""
    drawn = any(isinstance(x, np.random.Generator) for x in operands)
    compiled = jit(function, deterministic=not drawn and "portable", fullgraph=True)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compiled(*operands)
    told = hashlib.sha256()
    for result in found if isinstance(found, tuple) else (found,):
        made = np.ascontiguousarray(result)
        told.update(f"{made.dtype.str}{made.shape}".encode())
        parts = [made.real, made.imag] if made.dtype.kind == "c" else [made]
        for part in parts:
            if part.dtype.kind == "f":
                part = np.where(np.isnan(part), np.array(np.nan, part.dtype), part)
            told.update(np.ascontiguousarray(part).tobytes())
    return told.hexdigest()


def committed() -> dict[str, str]:
    """The sums of the page."""
    rows = (line.rpartition(": ")[::2] for line in SUMS.read_text().splitlines())
    return dict(rows)


def sample(count: int, seed: int) -> list[str]:
    """Some of the page's names."""
    return random.Random(seed).sample(sorted(committed()), count)


def changed(names: list[str]) -> list[str]:
    """The lines whose sums are others than the page's."""
    known, found = committed(), lines()
    return [name for name in names if digest(*found[name]) != known[name]]


def main() -> None:
    if sys.argv[1:] == ["write"]:
        rows = []
        for name, line in lines().items():
            try:
                rows.append(f"{name}: {digest(*line)}")
            except Exception as error:
                print(f"{name} is left out: {type(error).__name__}: {str(error)[:150]}")
        SUMS.write_text("\n".join([*rows, ""]))
        return
    names = sample(*map(int, sys.argv[1:])) if sys.argv[1:] else list(committed())
    bad = changed(names)
    print(f"{len(names)} lines, {len(bad)} differ", *bad, sep="\n")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
