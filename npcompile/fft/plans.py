"""Plans: how a transform of some length is made of shorter ones.

::

    plan ::= Passes(radices)           smooth lengths: one pass over the points for each radix
           | FourStep(columns, rows)   long ones: columns, twiddle factors, rows
           | Rader(n, inner)           primes: a cyclic convolution of n - 1 points
           | Bluestein(n, inner)       other lengths: a convolution of at least 2n - 1 points

A plan follows from its length alone, never from the machine, the batch, the strides or what ran
before: so a row has the same bits wherever it stands.
"""

from __future__ import annotations

from functools import cache

from npcompile.core.records import record

#: the factors of lengths that passes handle
PRIMES = (2, 3, 5, 7, 11, 13)
#: what a pass costs for each of its points, with what it loads and stores: by the number of
#: arithmetic instructions of its butterfly, measured where registers don't suffice
COST = {2: 6.0, 3: 6.4, 4: 6.7, 5: 8.0, 6: 8.1, 7: 10.0, 8: 8.1, 9: 10.0, 10: 9.9, 11: 15.0,
        12: 9.6, 13: 17.5, 14: 12.0, 15: 11.5, 16: 10.6}
#: points from which on two buffers of a transform leave the second-level cache
LONG = 1 << 15


@record
class Passes:
    """Decimation in frequency (Stockham): one pass for each radix, the first one first."""

    radices: tuple[int, ...]

    @property
    def n(self) -> int:
        n = 1
        for radix in self.radices:
            n *= radix
        return n

    def __str__(self) -> str:
        return " x ".join(map(str, self.radices)) or "1"


@record
class FourStep:
    """``columns.n * rows.n`` points as a matrix (Bailey)."""

    columns: Passes
    rows: Plan

    @property
    def n(self) -> int:
        return self.columns.n * self.rows.n

    def __str__(self) -> str:
        return f"[{self.columns}] columns, [{self.rows}] rows"


@record
class Rader:
    n: int
    inner: Plan

    def __str__(self) -> str:
        return f"Rader {self.n} by [{self.inner}]"


@record
class Bluestein:
    n: int
    inner: Plan

    def __str__(self) -> str:
        return f"Bluestein {self.n} by [{self.inner}]"


Plan = Passes | FourStep | Rader | Bluestein


def is_smooth(n: int) -> bool:
    for p in PRIMES:
        while n % p == 0:
            n //= p
    return n == 1


def is_prime(n: int) -> bool:
    return n > 1 and all(n % p for p in range(2, int(n**0.5) + 1))


@cache
def plan(n: int) -> Plan:
    """The plan of a transform of ``n`` points.

    >>> print(plan(1024), "|", plan(17))
    16 x 8 x 8 | Rader 17 by [16]
    """
    if is_smooth(n):
        return _four_step(n) if n > LONG else Passes(_radices(n))
    if is_prime(n) and is_smooth(n - 1):
        return Rader(n, plan(n - 1))
    return Bluestein(n, plan(_smooth_above(2 * n - 1)))


def _four_step(n: int) -> Plan:
    """Columns of the largest length that is at most the root; rows are multiples of 16."""
    lengths = [d for d in _divisors(n) if 16 <= d <= LONG and d * d <= n and n // d % 16 == 0]
    if not lengths:
        return Passes(_radices(n))
    return FourStep(Passes(_radices(max(lengths))), plan(n // max(lengths)))


def _divisors(n: int) -> list[int]:
    found = [1]
    for p in PRIMES:
        power = 1
        base = list(found)
        while n % p == 0:
            n, power = n // p, power * p
            found += [d * power for d in base]
    return found


def _smooth_above(least: int) -> int:
    """The least ``2**a * 3**b * 5**c`` that is not below ``least``."""
    best = 1 << (least - 1).bit_length()
    power = 1
    while power < best:
        odd = power
        while odd < best:
            rest = -(-least // odd)
            best = min(best, odd << (rest - 1).bit_length())
            odd *= 3
        power *= 5
    return best


def _radices(n: int) -> tuple[int, ...]:
    """The cheapest radices; large ones stand at both ends, where lanes would be idle."""
    if n == 1:
        return ()
    found = sorted(_cheapest(n)[1], reverse=True)
    if len(found) < 3:
        return tuple(found)
    first, second, *rest = found
    return (first, *sorted(rest), second)


@cache
def _cheapest(n: int) -> tuple[float, tuple[int, ...]]:
    """The least cost of passes for a point, and their radices."""
    if n == 1:
        return 0.0, ()
    best: tuple[float, tuple[int, ...]] | None = None
    for radix in COST:
        if n % radix == 0 and is_smooth(n):
            cost, rest = _cheapest(n // radix)
            if not rest or radix <= rest[-1]:  # each set of radices once
                total = cost + COST[radix]
                if best is None or total < best[0]:
                    best = total, (*rest, radix)
    assert best is not None, n
    return best
