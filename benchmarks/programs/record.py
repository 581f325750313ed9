"""What a program of the corpus is, and the list that its modules fill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Maker = Callable[[int, np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """An ordinary NumPy function and its arguments for a size.

    ``scalar`` programs are loops over elements, the others work on arrays.  ``exact`` ones give
    NumPy's bits: they have no transcendental functions, sums of floats or BLAS.
    """

    function: Callable[..., Any]
    make: Maker
    small: int
    bench: int
    scalar: bool = False
    exact: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def topic(self) -> str:
        return self.function.__module__.rpartition(".")[2]

    def arguments(self, size: int, seed: int = 1) -> tuple[Any, ...]:
        """New arguments, the same ones for the same size and seed."""
        return self.make(size, np.random.default_rng(seed))


PROGRAMS: dict[str, Program] = {}


def program(
    function: Callable[..., Any],
    make: Maker,
    small: int,
    bench: int,
    *,
    scalar: bool = False,
    exact: bool = False,
) -> None:
    """Adds a function to the corpus; the function stays as it is."""
    added = Program(function, make, small, bench, scalar, exact)
    assert added.name not in PROGRAMS, f"two programs are named {added.name}"
    PROGRAMS[added.name] = added
