"""Eigenvalues and singular values by Jacobi's rotations: each makes one pair of columns orthogonal,
and sweeps over all pairs are taken until none is left to iteration."""

from __future__ import annotations

from functools import reduce
from operator import or_

from npcompile.linalg.small.factors import Reflections, Scaled, dot
from npcompile.linalg.small.numbers import LaneBuilder, LaneMask, LaneNumber, MatrixAccess

_SWEEPS = 30
_UNIT = 2.0**-53


def _rotation(k: LaneBuilder, g: LaneNumber, h: LaneNumber
              ) -> tuple[LaneNumber, LaneNumber, LaneNumber]:
    """Tangent, cosine and sine of the angle that makes ``g`` 0 between two numbers on the diagonal
    that differ by ``h``; no rotation where ``g`` is 0."""
    one, zero = k.constant(1.0), k.constant(0.0)
    twice = g + g
    length = (h * h).plus(twice, twice).sqrt()
    below = abs(h) + length
    below = below.equals(zero).where(one, below)
    tangent = (h < zero).where(-twice, twice) / below
    cosine = one / one.plus(tangent, tangent).sqrt()
    return tangent, cosine, tangent * cosine


def _rotated(u: LaneNumber, v: LaneNumber, cosine: LaneNumber, sine: LaneNumber
             ) -> tuple[LaneNumber, LaneNumber]:
    return (cosine * u).minus(sine, v), (cosine * v).plus(sine, u)


def _pairs(n: int) -> list[tuple[int, int]]:
    """Lists all pairs of indices in rounds; a round names each index at most once."""
    even = n + n % 2
    ring, found = list(range(even)), []
    for _ in range(even - 1):
        pairs = [sorted((ring[i], ring[-1 - i])) for i in range(even // 2)]
        found += [(p, q) for p, q in pairs if q < n]
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return found


def _identity(k: LaneBuilder, n: int) -> list[LaneNumber]:
    return [k.constant(float(i == j)) for i in range(n) for j in range(n)]


def _sort(keys: list[LaneNumber], rows: list[list[LaneNumber]], falling: bool = False) -> None:
    """Sorts keys, and the columns that belong to them, which ``rows`` are the elements of."""
    for end in range(len(keys) - 1, 0, -1):
        for i in range(end):
            wrong = keys[i] < keys[i + 1] if falling else keys[i] > keys[i + 1]
            for row in (keys, *rows):
                low, high = row[i], row[i + 1]
                row[i], row[i + 1] = wrong.where(high, low), wrong.where(low, high)


# ------------------------------------------------------------------ eigenvalues


class _Symmetric:
    """One sweep over a symmetric matrix, of which ``rest`` holds each pair of indices once."""

    def __init__(self, n: int, state: list[LaneNumber], vectors: bool) -> None:
        self.size = n
        self._places = [(i, j) for i in range(n) for j in range(i + 1)]
        self.rest = dict(zip(self._places, state))
        own = state[len(self._places) :]
        self.vectors = [own[i * n : i * n + n] for i in range(n if vectors else 0)]

    @property
    def state(self) -> list[LaneNumber]:
        return [*[self.rest[at] for at in self._places], *[x for row in self.vectors for x in row]]

    def rotate(self, k: LaneBuilder, p: int, q: int) -> None:
        """Makes one number beside the diagonal 0."""
        rest = self.rest
        g = rest[q, p]
        tangent, cosine, sine = _rotation(k, g, rest[q, q] - rest[p, p])
        rest[p, p] = rest[p, p].minus(tangent, g)
        rest[q, q] = rest[q, q].plus(tangent, g)
        rest[q, p] = k.constant(0.0)
        for i in range(self.size):
            if i not in (p, q):
                u, v = (max(i, p), min(i, p)), (max(i, q), min(i, q))
                rest[u], rest[v] = _rotated(rest[u], rest[v], cosine, sine)
        for row in self.vectors:
            row[p], row[q] = _rotated(row[p], row[q], cosine, sine)

    def largest(self, k: LaneBuilder) -> LaneNumber:
        """The size of the largest number beside the diagonal."""
        found = k.constant(0.0)
        for (i, j), x in self.rest.items():
            if i != j:
                found = found.larger(abs(x))
        return found


def eigh(k: LaneBuilder, a: MatrixAccess, w: MatrixAccess, v: MatrixAccess | None, upper: bool
         ) -> None:
    """Writes the eigenvalues in rising order, and the vectors that belong to them."""
    n = a.rows
    half = [a[j, i] if upper else a[i, j] for i in range(n) for j in range(i + 1)]
    scaled = Scaled(k, half)
    least = k.constant(_UNIT / 2)

    def sweep(state: list[LaneNumber]) -> tuple[list[LaneNumber], LaneMask]:
        matrix = _Symmetric(n, state, v is not None)
        for p, q in _pairs(n):
            matrix.rotate(k, p, q)
        return matrix.state, matrix.largest(k) > least

    state = [*scaled.numbers, *(_identity(k, n) if v is not None else [])]
    if n > 1:
        state = k.settle(state, _SWEEPS, sweep)
    found = _Symmetric(n, state, v is not None)
    values = [found.rest[i, i] for i in range(n)]
    _sort(values, found.vectors)
    for i, value in enumerate(values):
        w[i, 0] = scaled.back(value)
    if v is not None:
        for i, row in enumerate(found.vectors):
            for j, x in enumerate(row):
                v[i, j] = x


# ------------------------------------------------------------------ singular values


class _OneSided:
    """One sweep over the columns of a matrix, and of the orthogonal one that rotates them."""

    def __init__(self, height: int, width: int, state: list[LaneNumber], vectors: bool) -> None:
        self.columns = [state[j * height : j * height + height] for j in range(width)]
        own = state[width * height :]
        self.vectors = [own[j * width : j * width + width] for j in range(width if vectors else 0)]

    @property
    def state(self) -> list[LaneNumber]:
        return [x for column in (*self.columns, *self.vectors) for x in column]

    def rotate(self, k: LaneBuilder, p: int, q: int, least: LaneNumber) -> LaneMask:
        """Makes two columns orthogonal; where they were not."""
        a, b = self.columns[p], self.columns[q]
        alpha, beta, g = dot(a, a), dot(b, b), dot(a, b)
        wrong = (g * g) > (least * alpha) * beta
        _, cosine, sine = _rotation(k, wrong.where(g, k.constant(0.0)), beta - alpha)
        for part in (self.columns, self.vectors):
            if part:
                rotated = [_rotated(u, v, cosine, sine) for u, v in zip(part[p], part[q])]
                part[p], part[q] = [u for u, _ in rotated], [v for _, v in rotated]
        return wrong

    def sort(self) -> list[LaneNumber]:
        """Sorts the columns by their squared lengths, which it returns, the longest first."""
        lengths = [dot(column, column) for column in self.columns]
        both = [x + y for x, y in zip(self.columns, self.vectors)] if self.vectors else self.columns
        rows = [list(row) for row in zip(*both)]
        _sort(lengths, rows, falling=True)
        height, both = len(self.columns[0]), [list(column) for column in zip(*rows)]
        self.columns = [column[:height] for column in both]
        self.vectors = [column[height:] for column in both] if self.vectors else []
        return lengths


def _orthogonal_columns(k: LaneBuilder, columns: list[LaneNumber], height: int, width: int,
                        vectors: bool) -> _OneSided:
    """A matrix with its columns rotated until they are orthogonal."""
    least = k.constant((4 * _UNIT) ** 2)

    def sweep(state: list[LaneNumber]) -> tuple[list[LaneNumber], LaneMask]:
        found = _OneSided(height, width, state, vectors)
        wrong = [found.rotate(k, p, q, least) for p, q in _pairs(width)]
        return found.state, reduce(or_, wrong)

    state = [*columns, *(_identity(k, width) if vectors else [])]
    if width > 1:
        state = k.settle(state, _SWEEPS, sweep)
    return _OneSided(height, width, state, vectors)


def svdvals(k: LaneBuilder, a: MatrixAccess, s: MatrixAccess) -> None:
    """Writes the singular values, the largest first."""
    tall = _Tall(a)
    scaled = Scaled(k, tall.elements)
    found = _orthogonal_columns(k, scaled.numbers, tall.rows, tall.columns, vectors=False)
    for j, square in enumerate(found.sort()):
        s[j, 0] = scaled.back(square.sqrt())


def svd(k: LaneBuilder, a: MatrixAccess, u: MatrixAccess, s: MatrixAccess, v: MatrixAccess
        ) -> None:
    """Writes the singular values, the largest first, and the vectors to both sides.

    Those on the side of the columns are of the reflections that make a triangle of the columns,
    which are orthogonal: so they are even where columns are 0.
    """
    tall = _Tall(a)
    scaled = Scaled(k, tall.elements)
    found = _orthogonal_columns(k, scaled.numbers, tall.rows, tall.columns, vectors=True)
    found.sort()
    reflections = Reflections(k, found.columns)
    heads = [column[j] for j, column in enumerate(reflections.columns)]
    signs = [k.constant(1.0).signed(head) for head in heads]
    for j, head in enumerate(heads):
        s[j, 0] = scaled.back(abs(head))
    columns = reflections.orthogonal(v.rows if tall.transposed else u.columns)
    for column, sign in zip(columns, signs):
        column[:] = [x * sign for x in column]
    left, right = (found.vectors, columns) if tall.transposed else (columns, found.vectors)
    for j, vector in enumerate(left):
        for i, x in enumerate(vector):
            u[i, j] = x
    for j, vector in enumerate(right):
        for i, x in enumerate(vector):
            v[j, i] = x


class _Tall:
    """The elements of a matrix or, where it has more columns than rows, of its transpose: column
    after column."""

    def __init__(self, a: MatrixAccess) -> None:
        self.transposed = a.columns > a.rows
        rows, columns = range(a.rows), range(a.columns)
        if self.transposed:
            self.elements = [a[i, j] for i in rows for j in columns]
        else:
            self.elements = [a[i, j] for j in columns for i in rows]
        self.rows, self.columns = max(a.rows, a.columns), min(a.rows, a.columns)
