"""Whether iterations of a loop may touch the same elements.

The place of an access is a linear form over the index of the loop, the indices of inner loops and
axes, and whatever else is computed inside of which only the range is known.  Two accesses meet in
different iterations where the difference of their forms is 0 for a distance between iterations that
is not
0.  That is excluded

* if the difference lies on one side of 0 (Banerjee, Dependence Analysis, 1997), or nearer to 0
  than an iteration's step reaches;
* if it is ``P * high + low`` with ``low`` nearer to 0 than P, and one of the two is never 0: the
  indices of an array of several axes one by one (Maslov, Delinearization, PLDI 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from npcompile.core.facts import Facts
from npcompile.core.records import record, replace
from npcompile.core.sizes import (
    Atom,
    Poly,
    Predicate,
    Size,
    Symbol,
    floordiv,
    largest,
    smallest,
    symbols,
)
from npcompile.program.ir import Buffer, For, If, Index, Kernel, Load, Statement, While
from npcompile.schedule.memory.allocate import bound
from npcompile.schedule.memory.overlaps import quotient

Range = tuple[Size, Size]
DEPTH = 4  # axes of an array that are told apart
STEPS = 12  # of a division


@record
class Term:
    """``step`` times a number in a range."""

    step: Size
    low: Size
    high: Size


@record
class AffineForm:
    """``constant + iteration * index + sum(terms)``."""

    iteration: Size
    constant: Size
    terms: tuple[Term, ...]


@record
class Access:
    """``form`` is None where nobody knows."""

    buffer: Buffer
    writes: bool
    form: AffineForm | None
    lines: tuple[int, ...]


@dataclass
class Dependences:
    """The accesses of a loop's iterations and what follows from them."""

    facts: Facts
    loop: For
    ranges: dict[Symbol, Range | None] = field(default_factory=dict)
    found: dict[Access, None] = field(default_factory=dict)  # equal ones once

    def __post_init__(self) -> None:
        self.ranges[self.loop.symbol] = self._iterations(self.loop)
        self.ranges.update(dict.fromkeys(bound(self.loop.body)))
        self._block(self.loop.body)

    def conflict(self, private: Iterable[Buffer]) -> tuple[Access, Access] | None:
        """Two accesses that may meet in different iterations, one of them a write."""
        own, by_buffer = set(private), dict[Buffer, list[Access]]()
        for access in self.found:
            if access.buffer not in own:
                by_buffer.setdefault(access.buffer, []).append(access)
        for accesses in by_buffer.values():
            for k, one in enumerate(accesses):
                for other in accesses[k:]:
                    if (one.writes or other.writes) and self._may_meet(one, other):
                        return one, other
        return None

    # ------------------------------------------------------------------ collecting

    def _iterations(self, loop: For) -> Range | None:
        """The first and the last value of a loop's index, or what it stays between."""
        first, last = self.extremes(loop.start), self.extremes(loop.stop)
        if first is None or last is None:
            return None
        if self.facts.prove("<", 0, loop.step):
            return first[0], last[1] - 1
        return (last[0] + 1, first[1]) if self.facts.prove("<", loop.step, 0) else None

    def _block(self, body: Iterable[Statement]) -> None:
        for statement in body:
            match statement:
                case Kernel():
                    self._kernel(statement)
                case For():
                    self.ranges[statement.symbol] = self._iterations(statement)
                    self._block(statement.body)
                case While():
                    self._block(statement.body)
                case If():
                    self._block((*statement.then, *statement.orelse))

    def _kernel(self, kernel: Kernel) -> None:
        accesses = [(v.buffer, False, v.at, v.by is not None)
                    for v in kernel.values if isinstance(v, Load)]
        accesses += [(s.buffer, True, s.at, s.by is not None or s.packed) for s in kernel.stores]
        accesses += [(r.buffer, True, r.at, False) for r in kernel.reductions]
        for buffer, writes, at, anywhere in accesses:
            if buffer.kind not in ("scalar", "object"):
                form = None if anywhere else self._form(kernel, at)
                self.found[Access(buffer, writes, form, kernel.lines)] = None

    def _form(self, kernel: Kernel, at: Index) -> AffineForm | None:
        form = self.linear(at.offset)
        if form is None:
            return None
        terms = list(form.terms)
        for axis, step in zip(kernel.axes, at.coefficients, strict=True):
            extent = self.extremes(axis.extent)
            if step == 0:
                continue
            if extent is None or self._varies(step):
                return None
            terms.append(Term(step, 0, extent[1] - 1))
        return replace(form, terms=tuple(terms))

    # ------------------------------------------------------------------ forms and ranges

    def _varies(self, size: Size) -> bool:
        return any(name in self.ranges for name in symbols(size))

    def linear(self, size: Size) -> AffineForm | None:
        """A size as a linear form, if it is one."""
        iteration: Size = 0
        constant: Size = 0
        terms: dict[Atom, Size] = {}
        for atoms, coefficient in _terms(self.facts.norm(size)):
            moving = [a for a in atoms if self._moves(a)]
            if len(moving) > 1:
                return None
            rest = list(atoms)
            for atom in moving:
                rest.remove(atom)
            factor: Size = Poly(((tuple(rest), coefficient),)) if rest else coefficient
            if not moving:
                constant = constant + factor
            elif moving[0] is self.loop.symbol:
                iteration = iteration + factor
            else:
                terms[moving[0]] = terms.get(moving[0], 0) + factor
        listed = []
        for atom, step in terms.items():
            reach = self._reach(atom)
            if reach is None:
                return None
            listed.append(Term(step, *reach))
        return AffineForm(iteration, constant, tuple(listed))

    def _moves(self, atom: Atom) -> bool:
        if isinstance(atom, Symbol):
            return atom in self.ranges
        return any(name in self.ranges for name in atom.symbols)

    def _reach(self, atom: Atom) -> Range | None:
        """The bounds of an atom over all iterations of all loops."""
        if isinstance(atom, Symbol):
            return self.ranges[atom]
        left, right = self.extremes(atom.left), self.extremes(atom.right)
        if right is None:
            return None
        if atom.name == "mod":
            positive = self.facts.prove("<", 0, right[0])
            return (0, right[1] - 1) if positive else None
        if left is None:
            return None
        if atom.name == "floordiv":
            same = right[0] == right[1] and self.facts.prove("<", 0, right[0])
            return (floordiv(left[0], right[0]), floordiv(left[1], right[1])) if same else None
        pick = smallest if atom.name == "min" else largest
        return pick(left[0], right[0]), pick(left[1], right[1])

    def extremes(self, size: Size) -> Range | None:
        """The least and the largest value of a size in all iterations of all loops, or bounds."""
        low: Size = 0
        high: Size = 0
        for atoms, coefficient in _terms(self.facts.norm(size)):
            moving = [a for a in atoms if self._moves(a)]
            rest = list(atoms)
            for atom in moving:
                rest.remove(atom)
            factor: Size = Poly(((tuple(rest), coefficient),)) if rest else coefficient
            reach = self._product(moving)
            scaled = None if reach is None else self._scaled(factor, reach)
            if scaled is None:
                return None
            low, high = low + scaled[0], high + scaled[1]
        return low, high

    def _product(self, atoms: Sequence[Atom]) -> Range | None:
        low: Size = 1
        high: Size = 1
        for atom in atoms:
            reach = self._reach(atom)
            if reach is None or (len(atoms) > 1 and not self.facts.prove("<=", 0, reach[0])):
                return None
            low, high = low * reach[0], high * reach[1]
        return low, high

    def _scaled(self, factor: Size, reach: Range) -> Range | None:
        if reach[0] == reach[1]:
            return factor * reach[0], factor * reach[1]
        if self.facts.prove("<=", 0, factor):
            return factor * reach[0], factor * reach[1]
        if self.facts.prove("<=", factor, 0):
            return factor * reach[1], factor * reach[0]
        return None

    # ------------------------------------------------------------------ pairs

    def _may_meet(self, one: Access, other: Access) -> bool:
        iterations = self.ranges[self.loop.symbol]
        if one.form is None or other.form is None or iterations is None:
            return True
        before = self.facts.mark()
        self.facts.learn(Predicate("<", *iterations))  # else there are no two such accesses
        for term in (*one.form.terms, *other.form.terms):
            self.facts.learn(Predicate("<=", term.low, term.high))
        strides = tuple(map(self.facts.norm, one.buffer.strides))
        both = _common(one.form.constant, other.form.constant)
        try:
            return not any(
                self._never_equal(_moved(one.form, shift), _moved(other.form, shift), strides,
                                  DEPTH)
                for shift in dict.fromkeys((0, both))
            )
        finally:
            self.facts.undo(before)

    def _never_equal(
        self, one: AffineForm, other: AffineForm, strides: tuple[Size, ...], depth: int
    ) -> bool:
        """Whether two forms are never the same number in different iterations."""
        terms = (*one.terms, *(replace(t, step=-t.step) for t in other.terms))
        constant = self.facts.norm(one.constant - other.constant)
        step, drift = (
            self.facts.norm(one.iteration),
            self.facts.norm(one.iteration - other.iteration),
        )
        iterations = self.ranges[self.loop.symbol]
        assert iterations is not None
        if drift != 0:  # the one iteration, beside its distance from the other
            terms = (*terms, Term(drift, *iterations))
        span = self._span(constant, terms)
        if span is not None and self._is_apart(step, span):
            return True
        periods = [
            *strides,
            *(t.step for t in (*one.terms, *other.terms)),
            one.iteration,
            other.iteration,
        ]
        for period in dict.fromkeys(map(self._magnitude, periods) if depth else ()):
            if period is not None and period not in (0, 1):
                for parts in self._halves(one, other, period):
                    if parts != (one, other) and self._never_equal(*parts, strides, depth - 1):
                        return True
        return False

    def _is_apart(self, iteration: Size, span: Range) -> bool:
        """Whether a distance of iterations never makes up for what lies in a span."""
        prove, (low, high) = self.facts.prove, span
        step = self._magnitude(iteration)
        if step is None:
            return False
        nearest = step * abs(self.loop.step) if isinstance(self.loop.step, int) else step
        if step != 0 and prove("<", high, nearest) and prove("<", -nearest, low):
            return True
        iterations = self.ranges[self.loop.symbol]
        assert iterations is not None
        reach = step * (iterations[1] - iterations[0])
        return bool(prove("<", reach, low) or prove("<", high, -reach))

    def _halves(
        self, one: AffineForm, other: AffineForm, period: Size
    ) -> list[tuple[AffineForm, AffineForm]]:
        """Pairs of forms of which one is never equal only if the two forms are not: quotients and
        remainders by a period."""
        (a, low), (b, low2) = (self._divided(form, period) for form in (one, other))
        return [] if low is None or low2 is None else [(a, b), (low, low2)]

    def _divided(self, form: AffineForm, period: Size) -> tuple[AffineForm, AffineForm | None]:
        """Quotient and remainder, None if it may be less than 0 or not less than the period."""
        parts = [division(term.step, period) for term in form.terms]
        high, low = (
            tuple([replace(t, step=p[k]) for t, p in zip(form.terms, parts) if p[k] != 0])
            for k in (0, 1)
        )
        iteration, constant = division(form.iteration, period), division(form.constant, period)
        for shift in (0, 1):
            rest = self.facts.norm(constant[1] + period * shift)
            reach = self._span(rest, (*low, *self._iteration_term(iteration[1])))
            if reach is not None and self.facts.prove("<=", 0, reach[0]) and self.facts.prove(
                    "<", reach[1], period):
                return AffineForm(iteration[0], constant[0] - shift, high), AffineForm(
                    iteration[1], rest, low
                )
        return form, None

    def _iteration_term(self, step: Size) -> tuple[Term, ...]:
        iterations = self.ranges[self.loop.symbol]
        return (Term(step, *iterations),) if iterations is not None and step != 0 else ()

    def _span(self, constant: Size, terms: tuple[Term, ...]) -> Range | None:
        low, high = constant, constant
        for term in terms:
            scaled = self._scaled(term.step, (term.low, term.high))
            if scaled is None:
                return None
            low, high = low + scaled[0], high + scaled[1]
        return low, high

    def _magnitude(self, size: Size) -> Size | None:
        if isinstance(size, int):
            return abs(size)
        if self.facts.prove("<=", 0, size):
            return size
        return -size if self.facts.prove("<=", size, 0) else None


def _moved(form: AffineForm, by: Size) -> AffineForm:
    return replace(form, constant=form.constant - by)


def division(size: Size, by: Size) -> tuple[Size, Size]:
    """``(whole, rest)`` with ``size == whole * by + rest``: as polynomials are divided, the highest
    term first."""
    if not isinstance(by, Poly):
        whole: Size = 0
        for atoms, coefficient in _terms(size) if by else ():
            term = Poly(((atoms, 1),)) if atoms else 1
            whole = whole + term * (coefficient // by)
        return whole, size - whole * by
    lead, whole, rest = Poly(by.terms[:1]), 0, size
    for _ in range(STEPS):
        found = next((q for q in (quotient(Poly((term,)), lead) for term in _terms(rest)
                                  if term[0]) if q is not None), None)
        if found is None:
            break
        whole, rest = whole + found, rest - found * by
    return whole, rest


def _common(one: Size, other: Size) -> Size:
    """The terms that two sizes share."""
    shared: Size = 0
    for atoms, coefficient in set(_terms(one)) & set(_terms(other)):
        shared = shared + (Poly(((atoms, coefficient),)) if atoms else coefficient)
    return shared


def _terms(size: Size) -> Iterator[tuple[tuple[Atom, ...], int]]:
    if isinstance(size, int):
        yield (), size
    else:
        yield from size.terms
