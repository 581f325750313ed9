"""Sizes: integer polynomials over symbols, with ``//``, ``%``, ``min`` and ``max`` as atoms.

::

    Size    ::= int | Poly
    Poly    ::= sum of  coefficient * product of atoms        (canonical: sorted, no zero terms)
    Atom    ::= Symbol | Call(name in {floordiv, mod, min, max}, Size, Size)
    Symbol  ::= a named integer read at each call (a dimension, a stride, a Python int)
                or bound by a node of the graph (a computed integer, the number of True in a mask)

Shapes, strides, offsets and trip counts are Sizes, so one compile serves every size.  A
:class:`Facts` object answers questions about them: what can be proved is answered outright, the
rest is answered from the sizes at hand and remembered as a :class:`Predicate` that guards the
compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Union

Size = Union[int, "Poly"]


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A named integer; identity is by object.

    ``hint`` is its value in the call being traced (None if only the run can tell); ``low`` is a
    proved lower bound: 0 for dimensions and counts, None where any sign may come.
    """

    name: str
    hint: int | None = None
    low: int | None = None

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Call:
    """``floordiv``, ``mod``, ``min`` or ``max`` of two sizes, where it can't be simplified."""

    name: str
    left: Size
    right: Size

    @cached_property
    def _text(self) -> str:
        infix = {"floordiv": "//", "mod": "%"}.get(self.name)
        if infix:
            return f"(({self.left!r}) {infix} ({self.right!r}))"
        return f"{self.name}({self.left!r}, {self.right!r})"

    def __repr__(self) -> str:
        return self._text

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return symbols(self.left) + symbols(self.right)


Atom = Union[Symbol, Call]
Monomial = tuple[Atom, ...]
INDEX = 2**30  #: sums and products of two computed integers up to here stay far below 64 bits


def _atom_key(atom: Atom) -> tuple[str, int]:
    return (atom.name, id(atom)) if isinstance(atom, Symbol) else (atom._text, 0)


def _term_key(term: tuple[Monomial, int]) -> tuple[int, list[tuple[str, int]]]:
    return (-len(term[0]), list(map(_atom_key, term[0])))  # a constant last


@dataclass(frozen=True, eq=True)
class Poly:
    """A canonical polynomial: ``terms`` maps products of atoms to nonzero coefficients."""

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        atoms = [atom for monomial, _ in self.terms for atom in monomial]
        parts = [(a,) if isinstance(a, Symbol) else a.symbols for a in atoms]
        return sum(parts, ())

    def shifted(self, by: int) -> Poly:
        """The polynomial and a constant."""
        terms = self.terms
        if not terms[-1][0]:
            by += terms[-1][1]
            terms = terms[:-1]
        return Poly((*terms, ((), by)) if by else terms)


    def __repr__(self) -> str:
        parts = []
        for atoms, coefficient in self.terms:
            text = "*".join(map(repr, atoms))
            if not atoms:
                parts.append(str(coefficient))
            elif coefficient == 1:
                parts.append(text)
            elif coefficient == -1:
                parts.append("-" + text)
            else:
                parts.append(f"{coefficient}*{text}")
        return " + ".join(parts).replace("+ -", "- ")

    def __add__(self, other: Size) -> Size:
        return _combine(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        return _combine(self, other, -1)

    def __rsub__(self, other: Size) -> Size:
        return _combine(_poly(other), self, -1)

    def __neg__(self) -> Size:
        return self * -1

    def __mul__(self, other: Size) -> Size:
        if not isinstance(other, Poly):
            factor = int(other)
            return Poly(tuple([(a, c * factor) for a, c in self.terms])) if factor else 0
        total: dict[Monomial, int] = {}
        for atoms, coefficient in self.terms:
            for atoms2, coefficient2 in other.terms:
                key = tuple(sorted(atoms + atoms2, key=_atom_key))
                total[key] = total.get(key, 0) + coefficient * coefficient2
        return _make(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return floordiv(other, self)

    def __mod__(self, other: Size) -> Size:
        return mod(self, other)

    def __rmod__(self, other: Size) -> Size:
        return mod(other, self)

    def __reduce__(self) -> tuple[type[Poly], tuple[Any]]:
        return Poly, (self.terms,)  # hashes depend on where symbols are

    def __bool__(self) -> bool:
        raise TypeError(f"the truth of a symbolic size ({self!r}) must be asked of Facts")


def symbol(name: str, hint: int | None = None, low: int | None = None) -> Poly:
    """A fresh symbol as a size."""
    return Poly((((Symbol(name, hint, low),), 1),))


def _poly(size: Size) -> Poly:
    if isinstance(size, Poly):
        return size
    return Poly((((), int(size)),)) if size else Poly(())


def _make(total: Mapping[Monomial, int]) -> Size:
    terms = [(atoms, c) for atoms, c in total.items() if c]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    terms.sort(key=_term_key)
    return Poly(tuple(terms))


def _combine(left: Size, right: Size, sign: int) -> Size:
    if isinstance(left, Poly) and not isinstance(right, Poly):
        return left.shifted(sign * int(right))
    total = dict(_poly(left).terms)
    for atoms, coefficient in _poly(right).terms:
        total[atoms] = total.get(atoms, 0) + sign * coefficient
    return _make(total)


def floordiv(a: Size, b: Size) -> Size:
    """``a // b``, rounding down; exact quotients of polynomials by an integer are simplified."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if b == 1:
        return a
    if isinstance(b, int) and b > 0:
        # (b*q + r) // b = q + r // b
        quotient: Size = 0
        rest: Size = 0
        for atoms, coefficient in _poly(a).terms:
            term = Poly(((atoms, 1),)) if atoms else 1
            if coefficient % b == 0:
                quotient = quotient + term * (coefficient // b)
            else:
                rest = rest + term * coefficient
        if rest == 0:
            return quotient
        if isinstance(rest, int):
            return quotient + rest // b
        return quotient + Poly((((Call("floordiv", rest, b),), 1),))
    return Poly((((Call("floordiv", a, b),), 1),))


def mod(a: Size, b: Size) -> Size:
    """``a % b`` with the sign of ``b``, as Python has it."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 1:
        return 0
    return a - floordiv(a, b) * b if isinstance(b, int) else Poly((((Call("mod", a, b),), 1),))


def smallest(a: Size, b: Size) -> Size:
    """``min(a, b)``."""
    return _extreme("min", a, b)


def largest(a: Size, b: Size) -> Size:
    """``max(a, b)``."""
    return _extreme("max", a, b)


def _extreme(name: str, a: Size, b: Size) -> Size:
    gap = a - b
    if isinstance(gap, int):
        return a if (gap <= 0) == (name == "min") else b
    return Poly((((Call(name, a, b),), 1),))


def product(sizes: Iterator[Size] | tuple[Size, ...] | list[Size]) -> Size:
    """The product of sizes; 1 if there are none."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def symbols(size: Size) -> tuple[Symbol, ...]:
    """All symbols of a size, inside ``//``, ``%``, ``min`` and ``max`` too."""
    return size.symbols if isinstance(size, Poly) else ()


_CALLS: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}
_SYMBOLIC: dict[str, Callable[[Size, Size], Size]] = {
    "floordiv": floordiv,
    "mod": mod,
    "min": smallest,
    "max": largest,
}


def evaluate(size: Size, value: Callable[[Symbol], int]) -> int:
    """The number that a size stands for, given the value of each symbol."""
    if isinstance(size, int):
        return size
    total = 0
    for atoms, coefficient in size.terms:
        for atom in atoms:
            if isinstance(atom, Symbol):
                coefficient *= value(atom)
            else:
                left, right = evaluate(atom.left, value), evaluate(atom.right, value)
                coefficient *= _CALLS[atom.name](left, right)
        total += coefficient
    return total


def substitute(size: Size, replace: Mapping[Symbol, Size]) -> Size:
    """A size with symbols replaced by sizes."""
    if isinstance(size, int) or not any(s in replace for s in symbols(size)):
        return size
    total: Size = 0
    for atoms, coefficient in size.terms:
        term: Size = coefficient
        for atom in atoms:
            if isinstance(atom, Symbol):
                term = term * replace.get(atom, Poly((((atom,), 1),)))
            else:
                left, right = substitute(atom.left, replace), substitute(atom.right, replace)
                term = term * _SYMBOLIC[atom.name](left, right)
        total = total + term
    return total


class Unhinted(Exception):
    """A size has no value at tracing time, and nothing that is known decides a question of it.

    ``place`` is as that of a :class:`~npcompile.core.errors.Refused`.
    """

    place = -1


def hint(size: Size) -> int:
    """The value of a size in the call being traced; raises :class:`Unhinted` if none is known."""

    def value(s: Symbol) -> int:
        if s.hint is None:
            raise Unhinted(s.name)
        return s.hint

    return evaluate(size, value)


def is_known(size: Size) -> bool:
    """Whether the call being traced says what a size is."""
    return isinstance(size, int) or all(s.hint is not None for s in symbols(size))


def lower_bound(size: Size) -> int | None:
    """A proved lower bound, or None."""
    if isinstance(size, int):
        return size
    total = 0
    for atoms, coefficient in size.terms:
        bound = 1
        for atom in atoms:
            low = atom.low if isinstance(atom, Symbol) else _call_low(atom)
            if low is None or low < 0:
                return None
            bound *= low
        if coefficient < 0 and atoms:
            return None
        total += coefficient * bound
    return total


def _call_low(call: Call) -> int | None:
    left, right = lower_bound(call.left), lower_bound(call.right)
    if call.name == "max":
        known = [b for b in (left, right) if b is not None]
        return max(known) if known else None
    if call.name == "min":
        return None if left is None or right is None else min(left, right)
    if call.name == "floordiv" and left is not None and isinstance(call.right, int):
        return left // call.right if call.right > 0 else None
    return None


@dataclass(frozen=True, slots=True)
class Predicate:
    """``left op right`` over sizes; ``op`` is one of ``== != < <=``."""

    op: str
    left: Size
    right: Size

    def __repr__(self) -> str:
        return f"{self.left!r} {self.op} {self.right!r}"

    def holds(self, value: Callable[[Symbol], int]) -> bool:
        a, b = evaluate(self.left, value), evaluate(self.right, value)
        return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b}[self.op]


def bound(predicate: Predicate) -> tuple[Symbol, int, int] | None:
    """(symbol, sign, least) where a predicate says that ``sign * symbol >= least``."""
    gap = predicate.right - predicate.left
    if predicate.op not in ("<", "<=") or not isinstance(gap, Poly):
        return None
    constant = sum(c for atoms, c in gap.terms if not atoms)
    rest = [(atoms, c) for atoms, c in gap.terms if atoms]
    if len(rest) != 1 or len(rest[0][0]) != 1 or abs(rest[0][1]) != 1:
        return None
    (name,), sign = rest[0]
    return (name, sign, (predicate.op == "<") - constant) if isinstance(name, Symbol) else None


_NEGATED = {"==": ("!=", False), "!=": ("==", False), "<": ("<=", True), "<=": ("<", True)}


@dataclass
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
    ranges: dict[Symbol, tuple[Size, Size]] = field(default_factory=dict)  # of loop indices
    here: list[tuple[Size, int]] = field(default_factory=list)  # sizes and their least values
    apart: list[Size] = field(default_factory=list)  # sizes that are not 0
    limits: dict[Symbol, Size] = field(default_factory=dict)  # never more than these
    suppose: Callable[[Predicate], None] | None = None
    _nominal: dict[Symbol, int] = field(default_factory=dict)

    def norm(self, size: Size) -> Size:
        """The size with symbols that are known to be equal to others replaced."""
        if self.replaced:
            size = substitute(size, self.replaced)
        return self.equals.get(size, size) if self.equals else size

    def equal(self, a: Size, b: Size) -> bool:
        return self.choose("==", a, b)

    def less(self, a: Size, b: Size) -> bool:
        return self.choose("<", a, b)

    def at_most(self, a: Size, b: Size) -> bool:
        return self.choose("<=", a, b)

    def prove(self, op: str, a: Size, b: Size) -> bool | None:
        """True or False where it follows from what is known, None where it is open."""
        gap = self.norm(a) - self.norm(b)
        if isinstance(gap, int):
            return {"==": gap == 0, "!=": gap != 0, "<": gap < 0, "<=": gap <= 0}[op]
        low, high = self._low(gap), self._low(-gap)
        if op in ("==", "!="):
            apart = (low is not None and low > 0) or (high is not None and high > 0)
            if apart or gap in self.apart:
                return op == "!="
            return (op == "==") if low == 0 == high else None
        if gap in self.apart:
            low, high = (1 if end == 0 else end for end in (low, high))
        strict = op == "<"
        if high is not None and (high > 0 if strict else high >= 0):
            return True
        if low is not None and (low >= 0 if strict else low > 0):
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
            own = [(atoms, c) for atoms, c in size.terms if atoms == (index,)]
            rest = size - Poly(tuple(own)) if own else size
            if own and index not in symbols(rest):
                low, high = self.ranges[index]
                size = rest + own[0][1] * (low if own[0][1] > 0 else high)
        return size

    def _low(self, size: Size) -> int | None:
        known = [self._low_of(size)]
        if self.ranges:
            least = self.floor(size)
            if least is not size:
                known.append(self._low_of(self.norm(least)))
        return max((low for low in known if low is not None), default=None)

    def _low_of(self, size: Size, depth: int = 2) -> int | None:
        known = [b for b in (lower_bound(size), self.bounds.get(size)) if b is not None]
        if isinstance(size, Poly):
            constant = sum(c for atoms, c in size.terms if not atoms)
            rest = self.bounds.get(size - constant)
            if rest is not None:
                known.append(rest + constant)
            if depth and (self.here or self.limits):
                known += self._low_by_others(size, depth)
        return max(known) if known else None

    def _low_by_others(self, size: Poly, depth: int) -> Iterator[int]:
        """Lower bounds of a size as a sum: a multiple of one whose bound is known, and the rest."""
        terms = dict(size.terms)
        for known, bound in (*self.here, *self.bounds.items()):
            for atoms, coefficient in known.terms if isinstance(known, Poly) else ():
                times, odd = divmod(terms.get(atoms, 0), coefficient) if atoms else (0, 0)
                if times > 0 and not odd:
                    rest = size - known * times
                    low = rest if isinstance(rest, int) else self._low_of(rest, depth - 1)
                    if low is not None:
                        yield low + bound * times
                    break

    def ask(self, op: str, a: Size, b: Size) -> bool:
        """Decide ``a op b``, guarding if need be; raises :class:`Unhinted` if nobody can tell."""
        proved = self.prove(op, a, b)
        if proved is not None:
            return proved
        left, right = self.norm(a), self.norm(b)
        holds, predicate = _answer(op, left, right, hint)
        if predicate not in self.guards:
            self.guards.append(predicate)
            self._learn(predicate)
        return holds

    def choose(self, op: str, a: Size, b: Size) -> bool:
        """Decide ``a op b``; where only the run can tell, an answer is supposed and checked: that
        of sizes of some hundreds, each another."""
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
        def value(s: Symbol) -> int:
            if s.hint is not None:
                return s.hint
            return self._nominal.setdefault(s, 500 + 7 * len(self._nominal))

        return evaluate(size, value)

    def mark(self) -> tuple[int, int]:
        """A point to go back to by :meth:`undo`."""
        return len(self.here), len(self.apart)

    def undo(self, mark: tuple[int, int]) -> None:
        """Forgets what was learned since a mark."""
        del self.here[mark[0] :]
        del self.apart[mark[1] :]

    def limit(self, size: Size, most: Size) -> None:
        """Notes that a lone symbol is never more than a size."""
        gap = most - size
        if isinstance(gap, Poly) and isinstance(size, Poly):
            rest, bound = _bounded(gap, 0)
            self.bounds[rest] = bound
            name = size.terms[0][0][0]
            assert isinstance(name, Symbol)
            self.limits.setdefault(name, most)

    def most(self, size: Size, hidden: Collection[Symbol]) -> Size | None:
        """An upper bound of a size without some symbols, None if none is known."""
        total: Size = 0
        for atoms, coefficient in _poly(size).terms:
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
        gap = self.norm(p.right) - self.norm(p.left)
        if not isinstance(gap, Poly):
            return
        if p.op == "!=":
            self.apart += (gap, -gap)
            return
        for size in (gap, -gap) if p.op == "==" else (gap,):
            self.here.append(_bounded(size, int(p.op == "<")))

    def _learn(self, p: Predicate) -> None:
        if p.op == "==":
            solved = _solve(p.left, p.right)
            if solved is not None:
                name, other = solved
                known = {name: other}
                self.replaced = {k: substitute(v, known) for k, v in self.replaced.items()}
                self.replaced[name] = other
                self.here = [(substitute(size, known), low) for size, low in self.here]
                self.apart = [substitute(size, known) for size in self.apart]
            elif isinstance(p.left, Poly):
                self.equals[p.left] = p.right
            else:
                self.equals[p.right] = p.left
        elif p.op in ("<", "<="):
            gap = p.right - p.left
            if isinstance(gap, Poly):
                rest, bound = _bounded(gap, int(p.op == "<"))
                self.bounds[rest] = max(bound, self.bounds.get(rest, bound))


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
    constant = sum(c for atoms, c in _poly(size).terms if not atoms)
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
