"""Random functions of torch tensors, compiled and plain.

Statements: expressions (complex numbers, transforms, equations, calls in place), writes into
slices, operations in place, views, branches on data, loops, several names for one tensor.
Compared: results, their layouts, which of them share memory, and what happens to the arguments.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from npcompile import jit
from tests.fuzz.framework import Counts, Grammar
from tests.support import oracle

torch = pytest.importorskip("torch")

SHAPES = {"a": (4, 5), "b": (4, 5), "v": (5,), "s": ()}


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = {"a": 2, "b": 2, "v": 1, "s": 0}  # ranks
        self.lines: list[str] = []

    def text(self) -> str:
        for _ in range(self.random.randint(3, 8)):
            self.statement(1)
        chosen = self.random.sample(sorted(self.names), min(3, len(self.names)))
        return "\n".join(["def f(a, b, v, s, n):", *self.lines, f"    return {', '.join(chosen)},"])

    def pick(self, rank: int | None = None) -> str:
        found = [n for n, r in self.names.items() if rank is None or r == rank]
        return self.random.choice(found) if found else "v"

    def matrix(self) -> str:
        """An expression of shape (4, 5)."""
        r = self.random
        name = self.pick(2)
        leaves = [name, name, self.pick(2), "v", "s", str(r.randint(-3, 3)), "0.5"]
        one, two = r.choice(leaves[:3]), r.choice(leaves)
        return r.choice([
            f"{one} {r.choice('+-*')} {two}", f"{two} {r.choice('+-*')} {one}",
            f"torch.{r.choice(['sin', 'tanh', 'abs', 'floor', 'relu'])}({one})",
            f"torch.where({one} > {two}, {one}, {two})", f"{one}.clamp(-1, 2)",
            f"{one} - {self.pick(2)}.{r.choice(['mean', 'amax', 'sum'])}(dim=-1, keepdim=True)",
            f"{one}.clone()", one, f"{one}.T.contiguous().T", f"{one}[:, :]", f"{one}.double()",
            f"{one}.flip({r.randint(0, 1)})", f"torch.zeros_like({one})",
            f"torch.fft.irfft(torch.fft.rfft({one}) * {r.choice(['0.5', '1j'])}, n=5)",
            f"torch.fft.fft({one}, dim={r.randint(0, 1)}).{r.choice(['real', 'imag', 'abs()'])}",
            f"({one} + 1j * {self.pick(2)}).abs()", f"{one}[torch.tensor([3, 1, 0, 2])]",
            f"torch.linalg.solve(torch.eye(4) * 9 + torch.tril({one}[:, :4]).tanh(), {one})",
            f"torch.sort({one}, dim=-1)[0]", f"torch.roll({one}, {r.randint(-3, 3)}, 0)",
            f"{one}.masked_fill({one} > 1, 0.5)", f"torch.nn.functional.gelu({one})",
        ])

    def statement(self, depth: int) -> None:
        r, pad = self.random, "    " * depth
        kind = r.randint(0, 9)
        if kind <= 3:
            name = r.choice(["a", "b", "c", "d"])
            self.lines.append(f"{pad}{name} = {self.matrix()}")
            if depth == 1:
                self.names[name] = 2
        elif kind == 4:
            rows = r.choice(["0", "-1", "1:3", ":", "::2", "n % 4"])
            value = r.choice(["v", "s", "0.25", "2"])
            self.lines.append(f"{pad}{self.pick(2)}[{rows}] {r.choice(['=', '+=', '*='])} {value}")
        elif kind == 5:
            value = r.choice(["0.5", "v", "s", self.pick(2)])
            self.lines.append(f"{pad}{self.pick(2)} {r.choice(['+=', '-=', '*='])} {value}")
        elif kind == 6 and depth == 1:
            name = r.choice(["w", "v"])
            self.lines.append(f"{pad}{name} = {self.pick(2)}[{r.randint(0, 3)}]")
            self.names[name] = 1
        elif kind == 7 and depth < 3:
            test = r.choice(["(a > 0).all()", "s > 0.5", "n > 2", "b.sum() > 1", "v[0] < v[1]"])
            self.lines.append(f"{pad}if {test}:")
            self.statement(depth + 1)
            if r.random() < 0.5:
                self.lines.append(f"{pad}else:")
                self.statement(depth + 1)
        elif kind == 8 and depth < 3:
            self.lines.append(f"{pad}for i in range({r.choice(['3', 'n'])}):")
            self.statement(depth + 1)
            self.statement(depth + 1)
        else:
            self.lines.append(f"{pad}s = {self.pick(2)}.{r.choice(['sum', 'mean', 'max'])}()")


def arguments(seed: int) -> list[Any]:
    """Tensors, one of them laid out otherwise now and then, and a number."""
    torch.manual_seed(seed)
    args: list[Any] = [torch.randn(shape) for shape in SHAPES.values()]
    if seed % 3 == 0:
        args[1] = torch.randn(5, 4).T
    if seed % 4 == 0:
        args[2] = torch.arange(5)
    if seed % 7 == 3:
        args[1] = args[1].half()
    return [*args, seed % 5]


def check(seed: int, counts: Counts) -> str:
    """What differs in a function, with its text, or an empty string."""
    text = Writer(seed).text()
    space: dict[str, Any] = {"torch": torch}
    exec(text, space)
    compiled = jit(space["f"])
    for k in range(2):
        got, want = (oracle.observe(f, *arguments(seed + k)) for f in (compiled, space["f"]))
        if found := oracle.difference(got, want, close=(1e-4, 1e-4), lines=False, warnings=""):
            return f"seed {seed}, call {k}: {found}\n{text}"
    counts["compiled"] += compiled.cache_info().compiled > 0
    return ""


GRAMMAR = Grammar(check=check)
