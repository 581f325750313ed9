"""What users write around computations: progress bars, files, counts, tables, callbacks.

``benchmarks.users`` measures them beside plain Python, ``tests/users`` compares results.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

COUNT = 0
RNG = np.random.default_rng(3)
X = RNG.random(60)
WORDS = ["alpha", "beta", "gamma", "delta", "eps"]


class Bar:
    """As tqdm's: it iterates, reports, and has a finalizer."""

    __module__ = "tqdm.std"

    def __init__(self, items: Any, file: Any) -> None:
        self.items, self.file = items, file

    def __iter__(self) -> Iterator[Any]:
        for k, item in enumerate(self.items):
            yield item
            print(k, file=self.file)

    def __del__(self) -> None:
        self.items = None


@dataclass
class Body:
    place: float
    speed: float = 0.0
    seen: list[float] = field(default_factory=list)


def with_a_bar(x: Any, n: int, file: Any) -> Any:
    total = 0.0
    for k in Bar(range(n), file):
        total += (x * k).sum()
    return total


def prints_in_a_loop(x: Any, file: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        if i % 20 == 0:
            print(i, total, file=file)
    return total


def counts_words(text: str) -> Any:
    counts: dict[str, int] = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def counts_a_list(words: list[str]) -> Any:
    counts: dict[str, int] = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


def counts_calls(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return (x * COUNT).sum()


def two_numbers(x: Any, scale: float) -> Any:
    return [x.sum() * scale, scale - 1]


def derivatives(state: Any, t: float) -> Any:
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


def records(n: int) -> Any:
    return [{"i": i, "root": math.sqrt(i)} for i in range(n)]


def parses(text: str) -> Any:
    rows = []
    for line in text.splitlines():
        rows.append([float(value) for value in line.split(",")])  # noqa: PERF401  as users write it
    return np.array(rows)


def parses_a_column(text: str) -> Any:
    total = 0.0
    for line in text.split("\n"):
        total += float(line.split(",")[1])
    return total


def distances(h: int, w: int) -> Any:
    y, x = np.ogrid[0:h, 0:w]
    return (x - w / 2) ** 2 + (y - h / 2) ** 2


def moves(body: Any, n: int) -> Any:
    for _ in range(n):
        body.speed -= 0.1 * body.place
        body.place += 0.1 * body.speed
        body.seen.append(body.place)
    return body.place


def made_again(n: int) -> Any:
    body = Body(1.0, 2.0)
    for _ in range(n):
        body = Body(body.place + 0.1 * body.speed, body.speed - 0.1 * body.place)
    return body.place, body.speed


def sums_of_bodies(bodies: list[Any]) -> Any:
    return sum(body.place * body.speed for body in bodies)


def text_of(k: int, n: int) -> str:
    return " ".join(WORDS[(k * 7 + i * i) % 5] for i in range(n))


def table_of(k: int) -> str:
    return "\n".join(f"{i * k},{i - k / 4},{k}" for i in range(12))


@dataclass
class Idiom:
    """A function, its arguments at the k-th call, and what ``explain()`` says of it."""

    function: Callable[..., Any]
    make: Callable[[int], tuple[Any, ...]]
    told: str = ""  # nothing: it is compiled whole
    fresh: bool = False  # whether a call changes its arguments, so that the next needs others


IDIOMS = {idiom.function.__name__: idiom for idiom in [
    Idiom(with_a_bar, lambda k: (X + k, 5, io.StringIO()),
          "put the loop's body into a compiled function"),
    Idiom(prints_in_a_loop, lambda k: (X * k, io.StringIO()), "print: with file="),
    Idiom(counts_words, lambda k: (text_of(3, 60),)),
    Idiom(counts_a_list, lambda k: (text_of(k, 300).split(),),
          "is a list of more than 256 items (arrays may have any length)"),
    Idiom(counts_calls, lambda k: (X,), "return the value, and assign it outside"),
    Idiom(two_numbers, lambda k: (X + k, 2.5)),
    Idiom(derivatives, lambda k: (np.array([1.0, k, 3.0]), 0.1 * k)),
    Idiom(records, lambda k: (k % 9 + 3,), "grows by other items than numbers of one kind"),
    Idiom(parses, lambda k: (table_of(3),)),
    Idiom(parses_a_column, lambda k: (table_of(3),)),
    Idiom(distances, lambda k: (k % 7 + 2, k % 5 + 2)),
    Idiom(moves, lambda k: (Body(1.0 + k), 30), fresh=True),
    Idiom(made_again, lambda k: (k % 5 + 20,)),
    Idiom(sums_of_bodies, lambda k: ([Body(i + k, 2.0) for i in range(20)],)),
]}
