"""Sizes: integer polynomials over symbols, with ``//``, ``%``, ``min`` and ``max`` as atoms.

::

    Size    ::= int | Poly
    Poly    ::= sum of  coefficient * product of atoms        (canonical: sorted, no zero terms)
    Atom    ::= Symbol | Call(name in {floordiv, mod, min, max}, Size, Size)
    Symbol  ::= a named integer read at each call (a dimension, a stride, a Python int)
                or bound by a node of the graph (a computed integer, the number of True in a mask)

Shapes, strides, offsets and trip counts are Sizes, so one compile serves every size.  What is known
about them is a :class:`~npcompile.core.facts.Facts` object's: what can be proved is answered
outright, the rest is answered from the sizes at hand and remembered as a :class:`Predicate` that
guards the compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import eq, le, lt, ne
from typing import Any, Union

from npcompile.core.records import record

Size = Union[int, "Poly"]


@record(eq=False)
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


class SizeCall:
    """``floordiv``, ``mod``, ``min`` or ``max`` of two sizes, where it can't be simplified."""

    __slots__ = ("_text", "left", "name", "right")
    __match_args__ = ("name", "left", "right")

    def __init__(self, name: str, left: Size, right: Size) -> None:
        self.name, self.left, self.right = name, left, right
        self._text = ""

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, SizeCall) and self.name == other.name
                and self.left == other.left and self.right == other.right)

    def __hash__(self) -> int:
        return hash((self.name, self.left, self.right))

    def __repr__(self) -> str:
        if not self._text:
            infix = {"floordiv": "//", "mod": "%"}.get(self.name)
            self._text = (f"(({self.left!r}) {infix} ({self.right!r}))" if infix
                          else f"{self.name}({self.left!r}, {self.right!r})")
        return self._text

    def __reduce__(self) -> tuple[type[SizeCall], tuple[str, Size, Size]]:
        return SizeCall, (self.name, self.left, self.right)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return symbols(self.left) + symbols(self.right)


Atom = Symbol | SizeCall
Monomial = tuple[Atom, ...]
INDEX = 2**30  #: sums and products of two computed integers up to here stay far below 64 bits


def _atom_key(atom: Atom) -> tuple[str, int]:
    return (atom.name, id(atom)) if isinstance(atom, Symbol) else (repr(atom), 0)


def _term_key(term: tuple[Monomial, int]) -> tuple[int, list[tuple[str, int]]]:
    return (-len(term[0]), list(map(_atom_key, term[0])))  # a constant last


def _symbols(atoms: Monomial) -> list[Symbol]:
    found: list[Symbol] = []
    for atom in atoms:
        found += (atom,) if isinstance(atom, Symbol) else atom.symbols
    return found


class Poly:
    """A canonical polynomial: ``terms`` maps products of atoms to nonzero coefficients.

    Not a data class: a compilation makes thousands, and asks each for its hash again and again.
    """

    __slots__ = ("_hash", "_symbols", "terms")
    __match_args__ = ("terms",)

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._symbols: tuple[Symbol, ...] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        if self._symbols is None:
            self._symbols = tuple([s for atoms, _ in self.terms for s in _symbols(atoms)])
        return self._symbols

    def shifted(self, by: int) -> Poly:
        """The polynomial and a constant."""
        if not by:
            return self
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
        return self.shifted(other) if other.__class__ is int else _combine(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        return self.shifted(-other) if other.__class__ is int else _combine(self, other, -1)

    def __rsub__(self, other: Size) -> Size:
        return _combine(poly(other), self, -1)

    def __neg__(self) -> Size:
        return self * -1

    def __mul__(self, other: Size) -> Size:
        if not isinstance(other, Poly):
            factor = int(other)
            if factor == 1:
                return self
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


def poly(size: Size) -> Poly:
    """A size as a polynomial."""
    if isinstance(size, Poly):
        return size
    return Poly((((), int(size)),)) if size else Poly(())


def _make(total: Mapping[Monomial, int], ordered: bool = False) -> Size:
    """The sum of terms; ``ordered``: they come in their order."""
    terms = [term for term in total.items() if term[1]]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    if not ordered and len(terms) > 1:
        terms.sort(key=_term_key)
    return Poly(tuple(terms))


def _combine(left: Size, right: Size, sign: int) -> Size:
    if isinstance(left, Poly) and not isinstance(right, Poly):
        return left.shifted(sign * int(right))
    total = dict(poly(left).terms)
    count = len(total)
    for atoms, coefficient in poly(right).terms:
        total[atoms] = total.get(atoms, 0) + sign * coefficient
    return _make(total, len(total) == count)


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
        for atoms, coefficient in poly(a).terms:
            term = Poly(((atoms, 1),)) if atoms else 1
            if coefficient % b == 0:
                quotient = quotient + term * (coefficient // b)
            else:
                rest = rest + term * coefficient
        if rest == 0:
            return quotient
        if isinstance(rest, int):
            return quotient + rest // b
        return quotient + Poly((((SizeCall("floordiv", rest, b),), 1),))
    return Poly((((SizeCall("floordiv", a, b),), 1),))


def mod(a: Size, b: Size) -> Size:
    """``a % b`` with the sign of ``b``, as Python has it."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 1:
        return 0
    return a - floordiv(a, b) * b if isinstance(b, int) else Poly((((SizeCall("mod", a, b),), 1),))


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
    return Poly((((SizeCall(name, a, b),), 1),))


def product(sizes: Iterator[Size] | tuple[Size, ...] | list[Size]) -> Size:
    """The product of sizes; 1 if there are none."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def symbols(size: Size) -> tuple[Symbol, ...]:
    """All symbols of a size, inside ``//``, ``%``, ``min`` and ``max`` too."""
    return size.symbols if isinstance(size, Poly) else ()


def lone_symbol(size: Size) -> Symbol | None:
    """The symbol of a size that is nothing else."""
    if isinstance(size, Poly) and len(size.terms) == 1:
        atoms, coefficient = size.terms[0]
        if coefficient == 1 and len(atoms) == 1 and isinstance(atoms[0], Symbol):
            return atoms[0]
    return None


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
    if isinstance(size, int) or replace.keys().isdisjoint(size.symbols):
        return size
    total: dict[Monomial, int] = {}
    known: dict[SizeCall, Size] = {}
    for atoms, coefficient in size.terms:
        if replace.keys().isdisjoint(_symbols(atoms)):
            total[atoms] = total.get(atoms, 0) + coefficient
            continue
        term: Size = coefficient
        for atom in atoms:
            if isinstance(atom, Symbol):
                term = term * replace.get(atom, Poly((((atom,), 1),)))
                continue
            if atom not in known:
                left, right = substitute(atom.left, replace), substitute(atom.right, replace)
                known[atom] = _SYMBOLIC[atom.name](left, right)
            term = term * known[atom]
        for more, factor in poly(term).terms:
            total[more] = total.get(more, 0) + factor
    return _make(total)


def replace_calls(size: Size, known: Mapping[SizeCall, Size]) -> Size:
    """A size with calls among its factors replaced by sizes."""
    if isinstance(size, int) or not any(atom in known for atoms, _ in size.terms for atom in atoms):
        return size
    total: Size = 0
    for atoms, coefficient in size.terms:
        term: Size = coefficient
        for atom in atoms:
            found = known.get(atom) if isinstance(atom, SizeCall) else None
            term = term * (Poly((((atom,), 1),)) if found is None else found)
        total = total + term
    return total


class Unhinted(Exception):
    """A size has no value at tracing time, and nothing that is known decides a question of it.

    ``place`` is as that of a :class:`~npcompile.core.errors.Refused`.
    """

    place = -1

    def stands_at(self, place: int) -> None:
        """Attributes the question to an instruction, unless it has one."""
        if self.place < 0:
            self.place = place


def hint(size: Size) -> int:
    """The value of a size in the call being traced; raises :class:`Unhinted` if none is known, or
    it divides by 0."""

    def value(s: Symbol) -> int:
        if s.hint is None:
            raise Unhinted(s.name)
        return s.hint

    try:
        return evaluate(size, value)
    except ZeroDivisionError as error:
        raise Unhinted(f"{size}: {error}") from None


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


def _call_low(call: SizeCall) -> int | None:
    left, right = lower_bound(call.left), lower_bound(call.right)
    if call.name == "max":
        known = [b for b in (left, right) if b is not None]
        return max(known) if known else None
    if call.name == "min":
        return None if left is None or right is None else min(left, right)
    if call.name == "floordiv" and left is not None and isinstance(call.right, int):
        return left // call.right if call.right > 0 else None
    return None


#: what a predicate of two numbers says
HOLDS: dict[str, Callable[[int, int], bool]] = {"==": eq, "!=": ne, "<": lt, "<=": le}


@record
class Predicate:
    """``left op right`` over sizes; ``op`` is one of ``== != < <=``."""

    op: str
    left: Size
    right: Size

    def __repr__(self) -> str:
        return f"{self.left!r} {self.op} {self.right!r}"

    def holds(self, value: Callable[[Symbol], int]) -> bool:
        return HOLDS[self.op](evaluate(self.left, value), evaluate(self.right, value))


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
