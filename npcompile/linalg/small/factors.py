"""Triangular and orthogonal factors: Cholesky's and Householder's, as LAPACK has their signs."""

from __future__ import annotations

from npcompile.linalg.small.numbers import LaneBuilder, LaneNumber, MatrixAccess

#: sums of squares below this one, but 0, may have lost digits
_LEAST = 1e-280


def cholesky(k: LaneBuilder, a: MatrixAccess, x: MatrixAccess, upper: bool) -> None:
    """Writes the triangular factor of which ``a`` is the product with its transpose."""
    n, zero, one = a.rows, k.constant(0.0), k.constant(1.0)
    rest = {(i, j): a[j, i] if upper else a[i, j] for i in range(n) for j in range(i + 1)}
    for j in range(n):
        k.require(rest[j, j].within(0.0, float("inf")))
        root = rest[j, j].sqrt()
        inverse = one / root
        column = {i: rest[i, j] * inverse for i in range(j + 1, n)}
        column[j] = root
        for i in range(n):
            x[(j, i) if upper else (i, j)] = column.get(i, zero)
        for i in range(j + 1, n):
            for m in range(j + 1, i + 1):
                rest[i, m] = rest[i, m].minus(column[i], column[m])


class Reflections:
    """A matrix, given by its columns, as the product of reflections and a triangle: the columns
    become those of the triangle."""

    def __init__(self, k: LaneBuilder, columns: list[list[LaneNumber]]) -> None:
        self.k, self.columns = k, columns
        self.height = len(columns[0])
        self._vectors: list[list[LaneNumber]] = []  # behind a 1 where each begins
        self._factors: list[LaneNumber] = []
        for step in range(min(len(columns), self.height - 1)):
            self._reflect(step)

    def _reflect(self, step: int) -> None:
        k, column = self.k, self.columns[step]
        zero, one = k.constant(0.0), k.constant(1.0)
        first, below = column[step], column[step + 1 :]
        squares = dot(below, below)
        k.require(squares.equals(zero) | (squares > k.constant(_LEAST)))
        length = squares.plus(first, first).sqrt()
        done = squares.equals(zero)
        head = done.where(first, -length.signed(first))
        self._factors.append(done.where(zero, (head - first) / head))
        scale = done.where(zero, one / (first - head))
        self._vectors.append([x * scale for x in below])
        column[step] = head
        column[step + 1 :] = [zero for _ in below]
        for other in self.columns[step + 1 :]:
            self._apply(step, other)

    def _apply(self, step: int, column: list[LaneNumber]) -> None:
        """One reflection of a column, in place."""
        vector = self._vectors[step]
        along = column[step] + dot(vector, column[step + 1 :])
        along = along * self._factors[step]
        column[step] = column[step] - along
        for i, x in enumerate(vector, step + 1):
            column[i] = column[i].minus(x, along)

    def orthogonal(self, width: int) -> list[list[LaneNumber]]:
        """The first columns of the product of all reflections."""
        found = [[self.k.constant(float(i == j)) for i in range(self.height)] for j in range(width)]
        for step in reversed(range(len(self._vectors))):
            for column in found[step:]:
                self._apply(step, column)
        return found


def dot(a: list[LaneNumber], b: list[LaneNumber]) -> LaneNumber:
    """The sum of products."""
    found = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        found = found.plus(x, y)
    return found


def qr(k: LaneBuilder, a: MatrixAccess, q: MatrixAccess | None, r: MatrixAccess) -> None:
    """Writes the factors, or ``r`` only."""
    m, n = a.rows, a.columns
    scaled = Scaled(k, [a[i, j] for i in range(m) for j in range(n)])
    reflections = Reflections(k, [[scaled.numbers[i * n + j] for i in range(m)] for j in range(n)])
    zero = k.constant(0.0)
    for i in range(r.rows):
        for j in range(n):
            r[i, j] = scaled.back(reflections.columns[j][i]) if i <= j else zero
    if q is not None:
        for j, column in enumerate(reflections.orthogonal(q.columns)):
            for i, x in enumerate(column):
                q[i, j] = x


class Scaled:
    """Numbers times a power of two that brings the largest to between 1 and 2, so that squares
    neither overflow nor vanish; fails where one is infinite or NaN."""

    def __init__(self, k: LaneBuilder, numbers: list[LaneNumber]) -> None:
        largest, sound = k.constant(0.0), k.constant(0.0)
        for x in numbers:
            larger = abs(x) > largest
            largest = larger.where(abs(x), largest)
            sound = sound.plus(x, k.constant(0.0))
        k.require(sound.equals(sound) & ~(largest > k.constant(2.0**1000))
                  & ((largest > k.constant(2.0**-900)) | largest.equals(k.constant(0.0))))
        largest = largest.equals(k.constant(0.0)).where(k.constant(1.0), largest)
        self._power = largest.power()
        inverse = k.constant(1.0) / self._power
        self.numbers = [x * inverse for x in numbers]

    def back(self, number: LaneNumber) -> LaneNumber:
        """What a number of the size of these is without the scale."""
        return number * self._power
