"""Gauss's elimination with row exchanges: equations, the inverse, determinants."""

from __future__ import annotations

from npcompile.linalg.small.numbers import Index, LaneBuilder, LaneMask, LaneNumber, MatrixAccess

#: products of pivots between these bounds have lost nothing
_LEAST, _MOST = 1e-280, 1e280


class Elimination:
    """A matrix as the product of triangular factors, with its rows exchanged.

    In the column of each step every row that has a larger number than the first one changes places
    with it, so that the largest is the pivot in the end.  ``singular``: a column that is 0 from
    its pivot on is left as it is.
    """

    def __init__(self, k: LaneBuilder, a: MatrixAccess, singular: bool = False) -> None:
        n = a.rows
        self.size = n
        self.rows = [[a[i, j] for j in range(n)] for i in range(n)]
        self.exchanges: list[list[LaneMask]] = []  # of each column, for each row below
        self.inverses: list[LaneNumber] = []  # of pivots
        one, zero = k.constant(1.0), k.constant(0.0)
        for step in range(n):
            self.exchanges.append([self._exchanged(step, i) for i in range(step + 1, n)])
            pivot = self.rows[step][step]
            divisor = pivot.equals(zero).where(one, pivot) if singular else pivot
            self.inverses.append(one / divisor)
            for row in self.rows[step + 1 :]:
                row[step] = row[step] * self.inverses[step]
                for j in range(step + 1, n):
                    row[j] = row[j].minus(row[step], self.rows[step][j])

    def _exchanged(self, step: int, i: int) -> LaneMask:
        first, row = self.rows[step], self.rows[i]
        larger = abs(row[step]) > abs(first[step])
        for j in range(step, self.size):
            first[j], row[j] = larger.where(row[j], first[j]), larger.where(first[j], row[j])
        return larger

    @property
    def pivots(self) -> list[LaneNumber]:
        return [self.rows[i][i] for i in range(self.size)]

    def solved(self, column: list[LaneNumber]) -> list[LaneNumber]:
        """The solution of the equations for one right side."""
        x = list(column)
        for step in range(self.size):
            for i, larger in enumerate(self.exchanges[step], step + 1):
                x[step], x[i] = larger.where(x[i], x[step]), larger.where(x[step], x[i])
            for i in range(step + 1, self.size):
                x[i] = x[i].minus(self.rows[i][step], x[step])
        for i in reversed(range(self.size)):
            for j in range(i + 1, self.size):
                x[i] = x[i].minus(self.rows[i][j], x[j])
            x[i] = x[i] * self.inverses[i]
        return x


def _regular(k: LaneBuilder, a: MatrixAccess) -> Elimination:
    """The factors of a matrix whose pivots are neither 0, infinite nor NaN."""
    factors = Elimination(k, a)
    for pivot in factors.pivots:
        k.require(abs(pivot).within(0.0, float("inf")))
    return factors


def solve(k: LaneBuilder, a: MatrixAccess, b: MatrixAccess, x: MatrixAccess) -> None:
    """Writes the ``x`` of ``a @ x = b``."""
    factors = _regular(k, a)

    def column(j: Index) -> None:
        for i, value in enumerate(factors.solved([b[i, j] for i in range(b.rows)])):
            x[i, j] = value

    k.each(b.columns, column)


def inv(k: LaneBuilder, a: MatrixAccess, x: MatrixAccess) -> None:
    """Writes the inverse."""
    factors = _regular(k, a)

    def column(j: Index) -> None:
        for i, value in enumerate(factors.solved([k.unit(i, j) for i in range(a.rows)])):
            x[i, j] = value

    k.each(a.columns, column)


def _determinant(k: LaneBuilder, a: MatrixAccess) -> tuple[LaneNumber, LaneMask]:
    """The determinant but for a pivot that is 0, and whether there is one; fails where a product of
    some pivots may have lost digits."""
    factors = Elimination(k, a, singular=True)
    zero, found = k.constant(0.0), factors.pivots[0]
    singular = factors.pivots[0].equals(zero)
    for step, pivot in enumerate(factors.pivots):
        for larger in factors.exchanges[step]:
            found = larger.where(-found, found)
        if step:
            singular = singular | pivot.equals(zero)
            found = found * pivot
            k.require(abs(found).within(_LEAST, _MOST) | singular)
    return found, singular


def det(k: LaneBuilder, a: MatrixAccess, x: MatrixAccess) -> None:
    """Writes the determinant."""
    found, singular = _determinant(k, a)
    x[0, 0] = singular.where(k.constant(0.0), found)


def slogdet(k: LaneBuilder, a: MatrixAccess, sign: MatrixAccess, logarithm: MatrixAccess) -> None:
    """Writes the sign of the determinant and the logarithm of its size; fails where it is 0."""
    found, singular = _determinant(k, a)
    k.require(~singular)
    sign[0, 0] = k.constant(1.0).signed(found)
    logarithm[0, 0] = abs(found).log()
