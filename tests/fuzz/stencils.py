"""Random steps in place: arrays of one to three dimensions whose windows are made from neighbours.

Each program is compiled with small parts and few rows at a time and compared with plain Python for
arrays of many sizes and layouts, on one to three threads and on the reference backend, which takes
parallel turns backwards: results, changed arguments, exceptions, warnings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.program.ir import flat
from npcompile.runtime.threads.pool import get_num_threads, set_num_threads
from npcompile.schedule.fusion import array_cuts, ring_buffers
from tests.fuzz.framework import BOTH, Counts, Grammar, Program

CUT = 4  # rows that every window lacks
SMALL = {"NEAR": 300, "PART": 100, "SHARE": 1, "EVEN": 1}
DTYPES = ("f8", "f8", "f8", "f4", "i8", "i4", "u1", "c16")
SIZES = {
    1: ((200,), (0,), (1,), (2,), (3,), (5,), (9,), (64,), (1001,)),
    2: ((60, 9), (0, 4), (1, 7), (2, 2), (3, 9), (6, 5), (7, 30), (31, 6), (150, 8)),
    3: ((40, 6, 7), (0, 5, 5), (1, 6, 6), (5, 5, 5), (6, 7, 9), (33, 5, 6)),
}
LAYOUTS = ("plain", "plain", "plain", "upside down", "from the right", "every other", "inner",
           "turned", "the same array", "overlapping")


class Writer:
    """Writes the program of a seed over arrays ``a``, ``b``, ``c``."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.ndim = rng.choice((1, 2, 2, 2, 3))
        self.dtype = rng.choice(DTYPES)
        self.names = ["a", "b", "c"]
        self.lines = ["def f(a, b, c, n):"]
        if rng.random() < 0.3:
            self.lines.append("    a, c = a * 2, c + 1")
        pad = "    "
        if rng.random() < 0.15:
            self.lines.append("    for m in range(2):")
            pad += "    "
        self.looped = rng.random() < 0.8
        if self.looped:
            self.lines.append(f"{pad}for k in range(n):")
            pad += "    "
        for _ in range(rng.randint(1, 5)):
            self.lines.append(pad + self.statement())
        if self.looped and rng.random() < 0.2:
            self.lines.append(f"{pad}if {self.window('a')}.sum() {self.pick('<', '>')} "
                              f"{self.pick('0', '3', '50')}: {self.pick('break', 'continue')}")
            self.lines.append(pad + self.statement())
        more = [] if self.looped else [name for name in self.names[3:] if rng.random() < 0.5]
        self.lines.append(f"    return {', '.join(['a', 'b', 'c', *more])}")
        self.source = "\n".join(self.lines) + "\n"

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def window(self, name: str, center: float = 0.2) -> str:
        """A window that lacks some rows, columns and so on of an array."""
        ends = []
        for _ in range(self.ndim):
            first = CUT // 2 if self.rng.random() < center else self.rng.randint(0, CUT)
            ends.append(f"{first or ''}:{first - CUT or ''}")
        return f"{name}[{', '.join(ends)}]"

    def value(self, names: list[str]) -> str:
        rng = self.rng
        terms = [self.window(rng.choice(names)) for _ in range(rng.randint(1, 4))]
        found = terms[0]
        for term in terms[1:]:
            found = f"{found} {self.pick('+', '-', '*', '+')} {term}"
        roll = rng.random()
        if roll < 0.1:
            return f"np.where({terms[0]} > {terms[-1]}, {found}, {self.pick('0', terms[0])})"
        if roll < 0.2 and self.dtype[0] == "f":
            return self.pick(f"({found}) / {terms[0]}", f"np.sqrt({found})", f"({found}) * 0.25")
        return f"k * ({found})" if roll < 0.25 and self.looped else found

    def statement(self) -> str:
        rng, target = self.rng, self.rng.choice(self.names[:3])
        roll = rng.random()
        if roll < 0.12:
            self.names.append("old")
            return f"old = {target}.copy()"
        if roll < 0.22:  # rows at the edges, and far ones
            source = rng.choice(self.names[:3])
            to = self.pick("[:1]", "[-1:]", "[1:2]", "[-2:-1]")
            return f"{target}{to} = {source}{self.pick('[:1]', '[-1:]', '[1:2]', '[-2:-1]')}"
        if roll < 0.26:
            return f"{target}[0] {self.pick('=', '+=')} {rng.choice(self.names[:3])}[-1]"
        if roll < 0.3 and self.ndim > 1:
            return f"{target}[:, 0] = {target}[:, {self.pick('1', '-1')}]"
        if roll < 0.4:
            other = rng.choice(self.names[:3])
            axis, by = rng.randrange(self.ndim), self.pick("1", "-1", "2")
            return f"{target} = np.roll({target}, {by}, {axis}) - {other}"
        if roll < 0.43:  # far rows of what is made here
            made, far = f"made{len(self.names)}", f"far{len(self.names)}"
            self.names += made, far
            return (f"{made} = {target} {self.pick('*', '-')} {rng.choice(self.names[:3])}; "
                    f"{far} = np.empty_like(a); {far}[:1] = {made}[-1:] + 1; "
                    f"{far}[1:] = {made}[:-1] * {rng.choice(self.names[:-1])}[1:]")
        if roll < 0.45:
            return f"{target}[{target} > {self.pick('0', '1')}] {self.pick('=', '-=')} 1"
        names = [target] * rng.randint(0, 2) + self.names
        how = self.pick("=", "=", "=", "+=", "-=")
        return f"{self.window(target, 0.6)} {how} {self.value(names)}"


def arrays(size: tuple[int, ...], seed: int, dtype: str, layout: str) -> list[Any]:
    """Three arrays; in a layout, the first one or two."""
    rng = np.random.default_rng(seed % 101)

    def numbers(*shape: int) -> Any:
        if dtype[0] in "fc":
            made = rng.uniform(-1.5, 1.5, shape) + (1j * rng.uniform(-1, 1, shape)
                                                    if dtype[0] == "c" else 0)
            return made.astype(dtype)
        return rng.integers(0, 9, shape).astype(dtype)

    a, b, c = (numbers(*size) for _ in range(3))
    if layout == "upside down":
        a, b = a[::-1], b[::-1]
    elif layout == "from the right":
        a = a[..., ::-1]
    elif layout == "every other":
        a = numbers(2 * size[0], *size[1:])[::2]
    elif layout == "inner":
        a = numbers(*size[:-1], size[-1] + 3)[..., 1:-2]
    elif layout == "turned":
        a, b = (numbers(*size[::-1]).T for _ in range(2))
    elif layout == "the same array":
        b = a
    elif layout == "overlapping":
        whole = numbers(size[0] + 1, *size[1:])
        a, b = whole[1:], whole[:-1]
    return [a, b, c]


@contextmanager
def small_parts() -> Iterator[None]:
    """Parts, blocks and jobs as small as they can be."""
    before = {name: getattr(ring_buffers, name) for name in SMALL}
    rest = array_cuts.BLOCK, kernel_functions.PARALLEL_WORK, get_num_threads()
    for name, number in SMALL.items():
        setattr(ring_buffers, name, number)
    array_cuts.BLOCK, kernel_functions.PARALLEL_WORK = 300, 0
    try:
        yield
    finally:
        for name, number in before.items():
            setattr(ring_buffers, name, number)
        array_cuts.BLOCK, kernel_functions.PARALLEL_WORK = rest[:2]
        set_num_threads(rest[2])


def small(seed: int) -> AbstractContextManager[None]:
    """Parts, blocks and jobs as small as they can be."""
    return small_parts()


def program(seed: int, most: int = 99) -> Program:
    """The program with arrays of at most so many sizes, each on one to three threads."""
    writer, rng = Writer(seed), random.Random(seed)
    sizes, steps = SIZES[writer.ndim], rng.randint(1, 3)
    tried = [(sizes[0], "plain")] + [(size, rng.choice(LAYOUTS)) for size in sizes[1:]]

    def arguments(call: int, space: dict[str, Any]) -> list[Any]:
        set_num_threads(1 + call % 3)
        size, layout = tried[call // 3]
        return [*arrays(size, seed, writer.dtype, layout), steps]

    return Program(writer.source, arguments, seed, calls=3 * min(most, len(tried)))


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts sweeps that keep rows which they overwrite."""
    if not compiled.cache_info().refused:
        lowered = compiled.lower(*program.args(0, {})).executable.program
        names = [getattr(s, "name", "") for s in flat(lowered.body)]
        counts["copies of rows"] += names.count("save")
        counts["rolling"] += sum("some rows at a time" in note for note in lowered.notes)


GRAMMAR = Grammar(program, BOTH, setting=small, note=note)
