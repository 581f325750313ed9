"""What is known about sizes: proofs, guards, and what checks have found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from math import gcd
from operator import eq, le, lt, ne

from npcompile.core.records import field, record
from npcompile.core.sizes import (
    Monomial,
    Poly,
    Predicate,
    Size,
    SizeCall,
    Symbol,
    Unhinted,
    evaluate,
    hint,
    is_known,
    lower_bound,
    poly,
    replace_calls,
    substitute,
    symbols,
)

_NEGATED = {"==": ("!=", False), "!=": ("==", False), "<": ("<=", True), "<=": ("<", True)}

_HOLDS: dict[str, Callable[[int, int], bool]] = {"==": eq, "!=": ne, "<": lt, "<=": le}

REACH = 2  # facts that a proof may combine
#: for a product and the sign of its factor: a size, its least value, and that factor in it
_Index = dict[tuple[Monomial, bool], list[tuple[Poly, int, int]]]


@record(frozen=False)
class Facts:
    """What is known about sizes while one function is traced.

    Every question is answered yes or no.  What is not proved is answered from the hints and kept
    in ``guards``: the compiled code is valid where all of them hold.  A size that only the run
    can tell has no hint; then ``suppose``, if there is one, checks an answer in the middle of the
    graph.  What checks have found is known from there to the end of their region (``here``,
    ``apart``): whoever walks a graph learns it on the way and undoes it where a region ends.
    """

    guards: list[Predicate] = field(default_factory=list)
    replaced: dict[Symbol, Size] = field(default_factory=dict)
    bounds: dict[Size, int] = field(default_factory=dict)
    equals: dict[Size, Size] = field(default_factory=dict)  # what no symbol could be solved for
    calls: dict[SizeCall, Size] = field(default_factory=dict)  # what they say of single calls
    ranges: dict[Symbol, tuple[Size, Size]] = field(default_factory=dict)  # of loop indices
    here: list[tuple[Size, int]] = field(default_factory=list)  # sizes and their least values
    apart: list[Size] = field(default_factory=list)  # sizes that are not 0
    limits: dict[Symbol, Size] = field(default_factory=dict)  # never more than these
    suppose: Callable[[Predicate], None] | None = None
    all_strides: bool = False
    _changes: int = 0  # of what was learned
    _answers_of: tuple[int, int] = (-1, 0)  # changes and loops when the answers below were found
    _proved: dict[tuple[str, Size, Size, int], bool | None] = field(default_factory=dict)
    _proofs: dict[tuple[Size, int], bool] = field(default_factory=dict)
    _lows: dict[tuple[Size, int], int | None] = field(default_factory=dict)
    _by_term: _Index | None = None
    _nominal: dict[Symbol | int, int] = field(default_factory=dict)

    def check_suppositions(self, check: Callable[[Predicate], None] | None) -> None:
        """Has what is supposed checked in the middle of the program; None: nothing is supposed."""
        self.suppose = check

    def rests_on_all_strides(self) -> None:
        """Notes that something rests on the strides along axes of length 1, too."""
        self.all_strides = True

    def norm(self, size: Size) -> Size:
        """The size with symbols that are known to be equal to others replaced."""
        if isinstance(size, int):
            return size
        if self.replaced:
            size = substitute(size, self.replaced)
        if self.calls:
            size = replace_calls(size, self.calls)
        return self.equals.get(size, size) if self.equals else size

    def equal(self, a: Size, b: Size) -> bool:
        return self.choose("==", a, b)

    def less(self, a: Size, b: Size) -> bool:
        return self.choose("<", a, b)

    def at_most(self, a: Size, b: Size) -> bool:
        return self.choose("<=", a, b)

    def prove(self, op: str, a: Size, b: Size, reach: int = REACH) -> bool | None:
        """True or False where it follows from what is known, None where it is open; from at most
        ``reach`` facts at once."""
        if a is b:  # most are one object, or ints
            return _HOLDS[op](0, 0)
        if isinstance(a, int) and isinstance(b, int):
            return _HOLDS[op](a, b)
        self._refresh()
        question = op, a, b, reach
        if question not in self._proved:
            self._proved[question] = self._prove(op, self.norm(a) - self.norm(b), reach)
        return self._proved[question]

    def _prove(self, op: str, gap: Size, reach: int) -> bool | None:
        """The same of a size beside 0."""
        if isinstance(gap, int):
            return _HOLDS[op](gap, 0)
        if op in ("==", "!="):
            low = self._low(gap, reach)
            high = None if low is not None and low > 0 else self._low(-gap, reach)
            apart = (low is not None and low > 0) or (high is not None and high > 0)
            if apart or gap in self.apart:
                return op == "!="
            return (op == "==") if low == 0 == high else None
        strict, apart = op == "<", gap in self.apart
        high = self._low(-gap, reach)
        if high is not None and (high > 0 or (high == 0 and (apart or not strict))):
            return True
        low = self._low(gap, reach)
        if low is not None and (low > 0 or (low == 0 and (apart or strict))):
            return False
        return None

    def ensure(self, op: str, a: Size, b: Size) -> bool:
        """Whether ``a op b`` (``<`` or ``<=``) holds for every index of the loops around: proved,
        or guarded by what it needs of sizes that are known before; False if it is left open."""
        proved = self.prove(op, a, b)
        if proved is not None:
            return proved
        least, need = self.floor(self.norm(b) - self.norm(a)), int(op == "<")
        if isinstance(least, int):
            return least >= need
        try:
            return hint(least) >= need and self.ask("<=", need, least)
        except Unhinted:
            return False

    def floor(self, size: Size) -> Size:
        """A lower bound in which loop indices that occur linearly are replaced by their ends,
        the innermost first."""
        for index in reversed(self.ranges):
            if isinstance(size, int):
                break
            if index not in size.symbols:
                continue
            own = [(atoms, c) for atoms, c in size.terms if atoms == (index,)]
            rest = size - Poly(tuple(own)) if own else size
            if own and index not in symbols(rest):
                low, high = self.ranges[index]
                size = rest + own[0][1] * (low if own[0][1] > 0 else high)
        return size

    def _low(self, size: Size, reach: int) -> int | None:
        known = [self._low_of(size, reach)]
        if self.ranges:
            least = self.floor(size)
            if least is not size:
                known.append(self._low_of(self.norm(least), reach))
        return max((low for low in known if low is not None), default=None)

    def _low_of(self, size: Size, depth: int) -> int | None:
        """A lower bound that needs at most ``depth`` facts beside what is known of all sizes."""
        self._refresh()
        if (size, depth) not in self._lows:
            self._lows[size, depth] = self._lowest(size, depth)
        return self._lows[size, depth]

    def _lowest(self, size: Size, depth: int) -> int | None:
        known = [b for b in (lower_bound(size), self.bounds.get(size)) if b is not None]
        if isinstance(size, Poly):
            atoms, coefficient = size.terms[-1]
            constant = 0 if atoms else coefficient
            rest = size.shifted(-constant)
            if rest in self.bounds:
                known.append(self.bounds[rest] + constant)
            if depth and (self.here or self.limits):
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

    # ------------------------------------------------------------------ proofs from several facts

    def never_negative(self, size: Size, reach: int) -> bool:
        """Whether ``0 <= size`` follows from what checks have found, from at most ``reach`` facts:
        each eliminates a term of the sum, as Bodik, Gupta and Sarkar's shortest paths do (ABCD,
        PLDI 2000)."""
        self._refresh()
        return self._eliminate(self.norm(size), reach)

    def _refresh(self) -> None:
        """Forgets answers that were found before something else was learned."""
        now = self._changes, len(self.ranges)
        if self._answers_of != now:
            self._answers_of, self._proved, self._proofs, self._lows = now, {}, {}, {}
            self._by_term = None

    def _terms(self) -> _Index:
        if self._by_term is None:
            self._by_term = _by_term(self)
        return self._by_term

    def _eliminate(self, size: Size, reach: int) -> bool:
        if not isinstance(size, Poly):
            return size >= 0
        found = self._proofs.get((size, reach))
        if found is None:
            low = lower_bound(size)
            found = (low is not None and low >= 0) or self._sum(size, reach)
            self._proofs[size, reach] = found
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

    def ask(self, op: str, a: Size, b: Size) -> bool:
        """Decide ``a op b``, guarding if need be; raises :class:`Unhinted` if nobody can tell."""
        proved = self.prove(op, a, b)
        if proved is not None and (not proved or op != "==" or a is b):
            return proved
        left, right = self.norm(a), self.norm(b)
        if proved is not None and not (
            is_known(left - right) and left != right
            and hint(left) == hint(right)  # proved by bounds: from now on they are one size
        ):
            return proved
        holds, predicate = _answer(op, left, right, hint)
        if predicate not in self.guards:
            self.guards.append(predicate)
            self._learn(predicate)
        return holds

    def choose(self, op: str, a: Size, b: Size) -> bool:
        """Decide ``a op b``; where only the run can tell, an answer is supposed and checked: that
        of sizes of some hundreds, each another, and of iterations in the middle of loops."""
        try:
            return self.ask(op, a, b)
        except Unhinted:
            if self.suppose is None:
                raise
        holds, predicate = _answer(op, self.norm(a), self.norm(b), self._typical)
        self.suppose(predicate)
        return holds

    def must(self, op: str, a: Size, b: Size) -> bool:
        """Whether ``a op b``: where only the run can tell, it is supposed to hold, and checked."""
        try:
            return self.ask(op, a, b)
        except Unhinted:
            if self.suppose is None:
                raise
        self.suppose(Predicate(op, self.norm(a), self.norm(b)))
        return True

    def _typical(self, size: Size) -> int:
        counted = not self.ranges.keys().isdisjoint(symbols(size))

        def value(s: Symbol) -> int:
            if s in self.ranges:
                return sum(evaluate(end, value) for end in self.ranges[s]) // 2
            if s.hint is not None and not counted:  # a loop that is short now would have no middle
                return s.hint
            same = s if s.hint is None else s.hint  # what is equal now is supposed to stay so
            return self._nominal.setdefault(same, 500 + 7 * len(self._nominal))

        return evaluate(size, value)

    def mark(self) -> tuple[int, int]:
        """A point to go back to by :meth:`undo`."""
        return len(self.here), len(self.apart)

    @contextmanager
    def earlier(self, mark: tuple[int, int]) -> Iterator[None]:
        """What checks have found since a mark does not count here."""
        found = self.here, self.apart
        self.here, self.apart = self.here[: mark[0]], self.apart[: mark[1]]
        self._changes += 1
        try:
            yield
        finally:
            self.here, self.apart = found
            self._changes += 1

    def undo(self, mark: tuple[int, int]) -> None:
        """Forgets what was learned since a mark."""
        if self.mark() != mark:
            self._changes += 1
            del self.here[mark[0] :]
            del self.apart[mark[1] :]

    def limit(self, size: Size, most: Size) -> None:
        """Notes that a lone symbol is never more than a size."""
        gap = most - size
        if isinstance(gap, Poly) and isinstance(size, Poly):
            self._changes += 1
            rest, bound = _bounded(gap, 0)
            self.bounds[rest] = bound
            name = size.terms[0][0][0]
            assert isinstance(name, Symbol)
            self.limits.setdefault(name, most)

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
                limit = self.limits.get(atoms[0])
                bound = None if limit is None else self.most(limit, hidden)
            if bound is None:
                return None
            total = total + bound * coefficient
        return total

    def learn(self, p: Predicate) -> None:
        """Notes what a check has found."""
        self._changes += 1
        gap = self.norm(p.right) - self.norm(p.left)
        if not isinstance(gap, Poly):
            return
        if p.op == "!=":
            self.apart += (gap, -gap)
            return
        for size in (gap, -gap) if p.op == "==" else (gap,):
            self.here.append(_bounded(size, int(p.op == "<")))

    def _learn(self, p: Predicate) -> None:
        self._changes += 1
        if p.op == "==":
            solved = _solve(p.left, p.right)
            if solved is not None:
                name, other = solved
                known = {name: other}
                self.replaced = {k: substitute(v, known) for k, v in self.replaced.items()}
                self.replaced[name] = other
                self.here = [(substitute(size, known), low) for size, low in self.here]
                self.apart = [substitute(size, known) for size in self.apart]
            else:
                size, other = (p.left, p.right) if isinstance(p.left, Poly) else (p.right, p.left)
                self.equals[size] = other
                self._note_call(poly(p.left - p.right))
        elif p.op in ("<", "<="):
            gap = p.right - p.left
            if isinstance(gap, Poly):
                rest, bound = _bounded(gap, int(p.op == "<"))
                self.bounds[rest] = max(bound, self.bounds.get(rest, bound))

    def _note_call(self, gap: Poly) -> None:
        """Notes what a call is, of which a constant is left where a gap is 0."""
        terms = [(atoms, times) for atoms, times in gap.terms if atoms]
        (atoms, times), *more = terms
        if not more and len(atoms) == abs(times) == 1 and isinstance(atoms[0], SizeCall):
            constant = gap - Poly(tuple(terms))
            self.calls[atoms[0]] = constant * -times


def _by_term(facts: Facts) -> _Index:
    found: _Index = {}
    for known, low in (*facts.here, *facts.bounds.items()):
        for atoms, c in known.terms if isinstance(known, Poly) else ():
            if atoms and isinstance(known, Poly):
                found.setdefault((atoms, c > 0), []).append((known, low, c))
    return found


def _answer(
    op: str, left: Size, right: Size, value: Callable[[Size], int]
) -> tuple[bool, Predicate]:
    """Whether ``left op right`` by these values, and the predicate that holds."""
    holds = Predicate(op, value(left), value(right)).holds(lambda s: 0)
    if holds:
        return True, Predicate(op, left, right)
    opposite, swap = _NEGATED[op]
    return False, Predicate(opposite, *((right, left) if swap else (left, right)))


def _bounded(size: Size, least: int) -> tuple[Size, int]:
    """A size without its constant, and its least value, where ``size >= least``."""
    constant = sum(c for atoms, c in poly(size).terms if not atoms)
    return size - constant, least - constant


def _solve(left: Size, right: Size) -> tuple[Symbol, Size] | None:
    """A symbol and what it must be for two sizes to be equal, if it occurs once, to first power,
    with coefficient 1 or -1."""
    gap = left - right
    if isinstance(gap, int):
        return None
    for atoms, coefficient in gap.terms:
        if len(atoms) == 1 and isinstance(atoms[0], Symbol) and abs(coefficient) == 1:
            rest = gap - Poly(((atoms, coefficient),))
            if atoms[0] not in set(symbols(rest)):
                return atoms[0], rest * -coefficient
    return None
