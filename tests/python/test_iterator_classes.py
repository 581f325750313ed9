"""Objects of the user's classes that loops go through."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle


class Grid:
    def __init__(self, n):
        self.cells, self.held, self.n = np.arange(float(n)), [1.5] * n, n

    def __iter__(self):
        for k in range(self.n):
            yield self.cells[k] * 0.5

    def __len__(self):
        return self.n + 1


class Rows(Grid):
    def __iter__(self):
        for k, value in enumerate(self.cells):
            yield k, -value


class Held(Grid):
    def __iter__(self):
        return iter(self.held)


class Array(Grid):
    def __iter__(self):
        return iter(self.cells)


class NoIterator(Grid):
    def __iter__(self):
        return self.held


class Own(Grid):
    """Its own iterator."""

    def __iter__(self):
        self.k = -1
        return self

    def __next__(self):
        self.k += 1
        if self.k >= self.n:
            raise StopIteration
        return self.cells[self.k]


class Raises(Grid):
    def __iter__(self):
        for k in range(self.n):
            if self.cells[k] > 2:
                raise ValueError(k)
            yield self.cells[k]


class Counts(Grid):
    def __iter__(self):
        for k in range(self.n):
            self.n += k == 0
            yield self.cells[k - 1]


class Places:
    """What has places only."""

    def __init__(self, n):
        self.cells, self.n = np.arange(float(n)), n

    def __getitem__(self, k):
        if k >= self.n:
            raise IndexError(k)
        return self.cells[k] * 2


def total(grid):
    found = 0.0
    for value in grid:
        found = found * 0.5 + value
    return found


def indexed(grid):
    found = 0.0
    for k, value in grid:
        found += k * value
    return found


def squares(grid):
    return [value * value for value in grid], sum(value for value in grid)


def early(grid):
    for value in grid:
        if value > 0.7:
            return value
    return None


def twice(grid):
    found = 0.0
    for one in grid:
        for other in grid:
            found += one * other
    return found


def written(grid):
    found = 0.0
    for value in grid:
        grid.cells[grid.n - 1] += 1
        found += value
    return found


def longer(grid):
    found = 0.0
    for value in grid:
        if grid.n < 5:
            grid.n += 0
        found += value
        grid.held.append(found)
        if found > 50:
            break
    return found


def asked(grid):
    return 0.5 in grid, list(grid), len(grid), max(grid)


CAPTURED = [(total, Grid), (indexed, Rows), (squares, Grid), (twice, Grid), (total, Array)]
KINDS = (Grid, Held, Array, NoIterator, Own, Raises, Counts, Places)


@pytest.mark.parametrize(("function", "kind"), [
    *CAPTURED, *((function, kind) for kind in KINDS
                 for function in (total, early, written, longer, asked, squares)),
])
def test_iterated(function, kind):
    if function is longer and kind is Places:
        return  # it has no list
    compiled = jit(function, fullgraph=(function, kind) in CAPTURED)
    for n in (4, 4, 3, 7):
        oracle.check_made(compiled, function, lambda n=n: (kind(n),))


def test_classes_at_each_call():
    compiled = jit(total)
    for kind in (Grid, Array, Held, Grid, Own, Raises, Array):
        oracle.check_made(compiled, total, lambda kind=kind: (kind(4),))
