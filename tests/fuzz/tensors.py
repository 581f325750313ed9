"""Random functions of torch tensors, compiled and plain: ``python -m tests.fuzz.tensors SEED
COUNT``.

Statements: expressions, writes into slices, operations in place, views, branches on data, loops,
several names for one tensor.  Compared: results, their layouts, which of them share memory, and
what happens to the arguments.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from npcompile import jit

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
    return [*args, seed % 5]


def outcome(f: Any, args: list[Any]) -> Any:
    try:
        return f(*args)
    except Exception as error:
        return type(error), str(error)


def described(results: Any, args: list[Any]) -> Any:
    """What can be compared exactly."""
    if not results or isinstance(results[0], type):
        return results
    every = [x for x in (*results, *args) if isinstance(x, torch.Tensor)]
    shares = [[x is y, x.data_ptr() == y.data_ptr(),
               x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()]
              for x in every for y in every]
    return [(x.dtype, x.shape, x.stride(), x.storage_offset()) for x in every], shares


def differs(seed: int) -> tuple[str, str, int]:
    """The function, what differs (empty: nothing), and how many versions were compiled."""
    text = Writer(seed).text()
    space: dict[str, Any] = {"torch": torch}
    exec(text, space)
    compiled = jit(space["f"])
    for k in range(2):
        plain, ours = arguments(seed + k), arguments(seed + k)
        want, have = outcome(space["f"], plain), outcome(compiled, ours)
        told = (described(want, plain), described(have, ours))
        if told[0] != told[1]:
            return text, f"{told[0]}\n{told[1]}", 0
        if want and isinstance(want[0], type):
            want, have = (), ()
        pairs = zip((*want, *plain[:4]), (*have, *ours[:4]))
        for x, y in pairs:
            if not torch.allclose(x.double(), y.double(), 1e-4, 1e-4, equal_nan=True):
                return text, f"{x}\n{y}", 0
    return text, "", compiled.cache_info().compiled


def main(seed: int, count: int) -> int:
    """How many differ."""
    wrong = compiled = 0
    for k in range(seed, seed + count):
        text, difference, versions = differs(k)
        compiled += versions > 0
        if difference:
            wrong += 1
            print(f"seed {k}\n{text}\n{difference}\n")
    print(f"{count} functions, {compiled} compiled, {wrong} differ")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
