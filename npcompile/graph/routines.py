"""The routines of ``extern`` nodes: whole computations on arrays that a backend takes from a
library or writes itself.  Each has its meaning in NumPy.

``product`` sums products over one index: ``spec`` is NumPy's notation of einsum for two operands
of one dtype, ``"ij,jk->ik"``.  Each index of the result is one of an operand's; at most one index
is summed over, and it is one of both.  The order of a sum of floats is the backend's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Routine:
    """``meaning`` takes the spec, then NumPy arrays; it gives an array, or a tuple of them.

    ``flags`` says whether floating-point exceptions are the caller's to see, as NumPy reports
    them for some functions and not for others.
    """

    name: str
    meaning: Callable[..., Any]
    doc: str
    flags: bool = False


@dataclass(frozen=True, slots=True)
class Spec:
    """A product's indices by what they are for: of the left operand and the result (``rows``), of
    the right one and the result (``columns``), of all three (``batch``), summed over."""

    left: str
    right: str
    out: str

    @property
    def batch(self) -> str:
        return "".join(c for c in self.out if c in self.left and c in self.right)

    @property
    def rows(self) -> str:
        return "".join(c for c in self.out if c not in self.right)

    @property
    def columns(self) -> str:
        return "".join(c for c in self.out if c not in self.left)

    @property
    def summed(self) -> str:
        return "".join(c for c in self.left if c not in self.out)

    def holds(self) -> bool:
        """Whether it is of the form that a product has."""
        words = (self.left, self.right, self.out)
        return (
            all(len(set(word)) == len(word) for word in words)
            and set(self.out) <= set(self.left + self.right)
            and self.summed == "".join(c for c in self.right if c not in self.out)
            and len(self.summed) <= 1
        )


def parse(spec: str) -> Spec:
    """``"ij,jk->ik"`` by its parts."""
    operands, _, out = spec.partition("->")
    left, _, right = operands.partition(",")
    return Spec(left, right, out)


def product(spec: str, a: Any, b: Any) -> Any:
    """By ``np.matmul`` on axes brought into its order."""
    s = parse(spec)
    a, b = np.asarray(a), np.asarray(b)
    extents = {**dict(zip(s.left, a.shape)), **dict(zip(s.right, b.shape))}
    batch, rows, columns = (tuple(extents[c] for c in w) for w in (s.batch, s.rows, s.columns))
    k = extents[s.summed] if s.summed else 1
    left = a.transpose([s.left.index(c) for c in s.batch + s.rows + s.summed])
    right = b.transpose([s.right.index(c) for c in s.batch + s.summed + s.columns])
    m, n = (int(np.prod(sizes, dtype=int)) for sizes in (rows, columns))
    found = np.matmul(left.reshape(*batch, m, k), right.reshape(*batch, k, n))
    order = s.batch + s.rows + s.columns
    return found.reshape(*batch, *rows, *columns).transpose([order.index(c) for c in s.out])


_ROWS = (
    Routine("product", product, "Sums of products over one index of two arrays.", flags=True),
)
ROUTINES: dict[str, Routine] = {routine.name: routine for routine in _ROWS}
