"""What is known about sizes: guards, and what checks have found; :mod:`.proofs` finds what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.core.paths import import_path
from npcompile.core.records import field, record
from npcompile.core.sizes import (
    HOLDS,
    Poly,
    Predicate,
    Size,
    SizeCall,
    Symbol,
    Unhinted,
    evaluate,
    hint,
    is_known,
    poly,
    replace_calls,
    substitute,
    symbols,
)

if TYPE_CHECKING:
    from npcompile.core.proofs import Proofs

_NEGATED = {"==": ("!=", False), "!=": ("==", False), "<": ("<=", True), "<=": ("<", True)}

REACH = 2  # facts that a proof may combine


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
    changes: int = 0  # of what was learned
    _prover: Proofs | None = None  # made for the first question that needs it
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
            return HOLDS[op](0, 0)
        if isinstance(a, int) and isinstance(b, int):
            return HOLDS[op](a, b)
        return self._proofs.prove(op, a, b, reach)

    @property
    def _proofs(self) -> Proofs:
        """What follows from the facts, found by a module that simple functions do not need."""
        if self._prover is None:
            self._prover = import_path("npcompile.core.proofs:Proofs")(self)
        return self._prover

    def never_negative(self, size: Size, reach: int) -> bool:
        """Whether ``0 <= size`` follows from what checks have found, from at most ``reach`` facts.
        """
        return self._proofs.never_negative(size, reach)

    def floor(self, size: Size) -> Size:
        """A lower bound in which loop indices that occur linearly are replaced by their ends."""
        return self._proofs.floor(size)

    def most(self, size: Size, hidden: Collection[Symbol]) -> Size | None:
        """An upper bound of a size without some symbols, None if none is known."""
        return self._proofs.most(size, hidden)

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
        self.changes += 1
        try:
            yield
        finally:
            self.here, self.apart = found
            self.changes += 1

    def undo(self, mark: tuple[int, int]) -> None:
        """Forgets what was learned since a mark."""
        if self.mark() != mark:
            self.changes += 1
            del self.here[mark[0] :]
            del self.apart[mark[1] :]

    def limit(self, size: Size, most: Size) -> None:
        """Notes that a lone symbol is never more than a size."""
        gap = most - size
        if isinstance(gap, Poly) and isinstance(size, Poly):
            self.changes += 1
            rest, bound = _bounded(gap, 0)
            self.bounds[rest] = bound
            name = size.terms[0][0][0]
            assert isinstance(name, Symbol)
            self.limits.setdefault(name, most)

    def learn(self, p: Predicate) -> None:
        """Notes what a check has found."""
        self.changes += 1
        gap = self.norm(p.right) - self.norm(p.left)
        if not isinstance(gap, Poly):
            return
        if p.op == "!=":
            self.apart += (gap, -gap)
            return
        for size in (gap, -gap) if p.op == "==" else (gap,):
            self.here.append(_bounded(size, int(p.op == "<")))

    def _learn(self, p: Predicate) -> None:
        self.changes += 1
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
