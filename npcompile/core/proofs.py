"""What follows from facts about sizes: bounds of sums, quotients and extremes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import gcd
from typing import TYPE_CHECKING

from npcompile.core.sizes import (
    HOLDS,
    Monomial,
    Poly,
    Size,
    SizeCall,
    Symbol,
    lower_bound,
    poly,
    symbols,
)

if TYPE_CHECKING:
    from npcompile.core.facts import Facts

#: for a product and the sign of its factor: a size, its least value, and that factor in it
_Index = dict[tuple[Monomial, bool], list[tuple[Poly, int, int]]]


class Proofs:
    """What follows from facts; an answer is kept until something else is learned."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._answers_of = (-1, 0)  # changes and loops when the answers below were found
        self._proved: dict[tuple[str, Size, Size, int], bool | None] = {}
        self._signs: dict[tuple[Size, int], bool] = {}
        self._lows: dict[tuple[Size, int], int | None] = {}
        self._by_term: _Index | None = None

    def prove(self, op: str, a: Size, b: Size, reach: int) -> bool | None:
        """Whether ``a op b`` follows; None where it is open."""
        self._refresh()
        question = op, a, b, reach
        if question not in self._proved:
            gap = self.facts.norm(a) - self.facts.norm(b)
            self._proved[question] = self._prove(op, gap, reach)
        return self._proved[question]

    def _prove(self, op: str, gap: Size, reach: int) -> bool | None:
        """The same of a size beside 0."""
        if isinstance(gap, int):
            return HOLDS[op](gap, 0)
        if op in ("==", "!="):
            low = self._low(gap, reach)
            high = None if low is not None and low > 0 else self._low(-gap, reach)
            apart = (low is not None and low > 0) or (high is not None and high > 0)
            if apart or gap in self.facts.apart:
                return op == "!="
            return (op == "==") if low == 0 == high else None
        strict, apart = op == "<", gap in self.facts.apart
        high = self._low(-gap, reach)
        if high is not None and (high > 0 or (high == 0 and (apart or not strict))):
            return True
        low = self._low(gap, reach)
        if low is not None and (low > 0 or (low == 0 and (apart or strict))):
            return False
        return None

    def floor(self, size: Size) -> Size:
        """A lower bound in which loop indices that occur linearly are replaced by their ends,
        the innermost first."""
        for index in reversed(self.facts.ranges):
            if isinstance(size, int):
                break
            if index not in size.symbols:
                continue
            own = [(atoms, c) for atoms, c in size.terms if atoms == (index,)]
            rest = size - Poly(tuple(own)) if own else size
            if own and index not in symbols(rest):
                low, high = self.facts.ranges[index]
                size = rest + own[0][1] * (low if own[0][1] > 0 else high)
        return size

    def _low(self, size: Size, reach: int) -> int | None:
        known = [self._low_of(size, reach)]
        if self.facts.ranges:
            least = self.floor(size)
            if least is not size:
                known.append(self._low_of(self.facts.norm(least), reach))
        return max((low for low in known if low is not None), default=None)

    def _low_of(self, size: Size, depth: int) -> int | None:
        """A lower bound that needs at most ``depth`` facts beside what is known of all sizes."""
        self._refresh()
        if (size, depth) not in self._lows:
            self._lows[size, depth] = self._lowest(size, depth)
        return self._lows[size, depth]

    def _lowest(self, size: Size, depth: int) -> int | None:
        known = [b for b in (lower_bound(size), self.facts.bounds.get(size)) if b is not None]
        if isinstance(size, Poly):
            atoms, coefficient = size.terms[-1]
            constant = 0 if atoms else coefficient
            rest = size.shifted(-constant)
            if rest in self.facts.bounds:
                known.append(self.facts.bounds[rest] + constant)
            if depth and (self.facts.here or self.facts.limits):
                known += self._low_by_others(size, depth)
            if depth:
                known += self._low_by_calls(size, depth)
        return max(known) if known else None

    def _low_by_others(self, size: Poly, depth: int) -> Iterator[int]:
        """Lower bounds of a size as a sum: a multiple of one whose bound is known, and the rest."""
        for atoms, coefficient in size.terms:
            for known, bound, by in self._terms().get((atoms, coefficient > 0), ()):
                times, odd = divmod(coefficient, by)
                if not odd:
                    low = self._low_of(size - known * times, depth - 1)
                    if low is not None:
                        yield low + bound * times

    def _low_by_calls(self, size: Poly, depth: int) -> Iterator[int]:
        """Lower bounds of a size in which a quotient, remainder, minimum or maximum gives way to
        what bounds it."""
        for atoms, coefficient in size.terms:
            if len(atoms) == 1 and isinstance(atoms[0], SizeCall):
                rest = size - Poly(((atoms, coefficient),))
                for ends, times in self._ends(atoms[0], coefficient, depth):
                    least = [self._low_of(rest * times + end, depth - 1) for end in ends]
                    lows = [low for low in least if low is not None]
                    if len(lows) == len(least):
                        yield -(-min(lows) // times)

    def _ends(
        self, call: SizeCall, coefficient: int, depth: int
    ) -> Iterator[tuple[tuple[Size, ...], int]]:
        """Sizes, the least of which bounds ``coefficient * times * call`` from below, and
        ``times``."""
        a, b, more = call.left, call.right, coefficient > 0
        if call.name in ("min", "max"):
            if more == (call.name == "max"):  # each of them does
                yield (coefficient * a,), 1
                yield (coefficient * b,), 1
            else:
                yield (coefficient * a, coefficient * b), 1
        elif call.name == "floordiv" and isinstance(b, int) and b > 0:
            yield (coefficient * (a - b + 1 if more else a),), b
        elif call.name == "mod" and (self._low_of(b, depth - 1) or 0) > 0:
            yield (0 if more else coefficient * (b - 1),), 1

    # ------------------------------------------------------------------ from several facts

    def never_negative(self, size: Size, reach: int) -> bool:
        """Whether ``0 <= size`` follows from what checks have found, from at most ``reach`` facts:
        each eliminates a term of the sum, as Bodik, Gupta and Sarkar's shortest paths do (ABCD,
        PLDI 2000)."""
        self._refresh()
        return self._eliminate(self.facts.norm(size), reach)

    def _refresh(self) -> None:
        """Forgets answers that were found before something else was learned."""
        now = self.facts.changes, len(self.facts.ranges)
        if self._answers_of != now:
            self._answers_of, self._proved, self._signs, self._lows = now, {}, {}, {}
            self._by_term = None

    def _terms(self) -> _Index:
        if self._by_term is None:
            self._by_term = _by_term(self.facts)
        return self._by_term

    def _eliminate(self, size: Size, reach: int) -> bool:
        if not isinstance(size, Poly):
            return size >= 0
        found = self._signs.get((size, reach))
        if found is None:
            low = lower_bound(size)
            found = (low is not None and low >= 0) or self._sum(size, reach)
            self._signs[size, reach] = found
        return found

    def _sum(self, size: Poly, reach: int) -> bool:
        if not reach:
            return False
        for atoms, c in size.terms:
            if len(atoms) == 1 and isinstance(atoms[0], SizeCall):
                rest = size - Poly(((atoms, c),))
                return any(  # what is more than -1 is not negative
                    all(self._eliminate(rest * times + end + (times - 1), reach) for end in ends)
                    for ends, times in self._ends(atoms[0], c, 1))
        atoms, c = next((t for t in size.terms if t[1] < 0 and t[0]), size.terms[0])
        for known, low, by in self._terms().get((atoms, c > 0), ()):
            shared = gcd(c, by)
            some, many = abs(by) // shared, abs(c) // shared
            rest = size * some - known * many
            if self._eliminate(rest + (low * many + some - 1), reach - 1):
                return True
        return False

    def most(self, size: Size, hidden: Collection[Symbol]) -> Size | None:
        """An upper bound of a size without some symbols, None if none is known."""
        total: Size = 0
        for atoms, coefficient in poly(size).terms:
            term = Poly(((atoms, coefficient),)) if atoms else coefficient
            if not any(s in hidden for s in symbols(term)):
                total = total + term
                continue
            if len(atoms) != 1 or not isinstance(atoms[0], Symbol):
                return None
            bound: Size | None = atoms[0].low
            if coefficient > 0:
                limit = self.facts.limits.get(atoms[0])
                bound = None if limit is None else self.most(limit, hidden)
            if bound is None:
                return None
            total = total + bound * coefficient
        return total


def _by_term(facts: Facts) -> _Index:
    found: _Index = {}
    for known, low in (*facts.here, *facts.bounds.items()):
        for atoms, c in known.terms if isinstance(known, Poly) else ():
            if atoms and isinstance(known, Poly):
                found.setdefault((atoms, c > 0), []).append((known, low, c))
    return found
