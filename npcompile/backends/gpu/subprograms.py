"""Subprograms as Triton functions: branches and loops of each lane by itself.

Both arms of a branch are computed, and chosen from (:mod:`npcompile.backends.gpu.flat`); a loop
runs until no lane needs another turn.  What a lane gets does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npcompile.backends.gpu import casts, scalar
from npcompile.backends.gpu.flat import Flat, Turns
from npcompile.backends.gpu.scalar import Parts, Term
from npcompile.backends.gpu.source import Tables, Writer
from npcompile.core.errors import refuse
from npcompile.graph.ir import Const, Get, Node, Subprogram, Table
from npcompile.graph.subprograms import DOUBLE, region_of
from npcompile.graph.types import BOOL, Scalar


@dataclass(slots=True)
class Library:
    """The functions that a kernel calls, each after those that it calls itself, and the tables
    that each needs as further arguments."""

    texts: dict[str, str] = field(default_factory=dict)
    tables: dict[str, tuple[Tables, ...]] = field(default_factory=dict)

    def call(self, what: Subprogram, args: list[Term], active: str, writer: Writer) -> str:
        """The text of a call, its function being defined; ``active`` are the lanes that count."""
        if what.name not in self.texts:
            function = _Function(what, self)
            self.tables[what.name] = function.tables
            self.texts[what.name] = function.text
        more = [writer.parameter(tables) for tables in self.tables[what.name]]
        return f"{what.name}({', '.join([*map(scalar.typed, args), active, *more])})"

    @property
    def parts(self) -> tuple[str, ...]:
        """All functions."""
        return tuple(self.texts.values())


class _Function:
    """One subprogram being written."""

    def __init__(self, what: Subprogram, library: Library) -> None:
        self.library, self.w = library, Writer(what.name)
        region, active = region_of(what), Node("param", (), None, Scalar(BOOL, "np"))
        self.values: dict[Node, Parts] = {}
        self.several: dict[Node, list[Term]] = {}
        params = [self.w.fresh("xyzabcdef"[k]) for k in range(what.operands)]
        params.append(self.w.fresh("active"))
        flat = Flat(region, active)
        for node, name in zip(flat.params, params, strict=True):
            self.values[node] = (Term(name, node.dtype),)
        self.lanes = params[-1]
        self.write(flat)
        self.w.line(f"return {scalar.typed(self.term(flat.results[0]))}")
        self.text = self.w.function(first=params)
        self.tables = tuple(p for p in self.w.parameters if isinstance(p, Tables))

    def parts(self, node: Node) -> Parts:
        if isinstance(node.attrs, Const):
            return (scalar.constant(node.attrs.value, node.dtype),)
        return self.values[node]

    def term(self, node: Node) -> Term:
        return self.parts(node)[0]

    def named(self, term: Term, wish: str = "t") -> Term:
        if term.value is not None or term.text.isidentifier():
            return term
        return Term(self.w.let(wish, term.text), term.dtype)

    def write(self, flat: Flat) -> None:
        for unit in flat.units():
            if isinstance(unit, tuple):
                self.together(unit, flat)
            elif unit.op == "while_":
                self.repeat(unit, flat)
            elif unit.op == "get":
                assert isinstance(unit.attrs, Get)
                self.values[unit] = (self.several[unit.args[0]][unit.attrs.index],)
            elif isinstance(unit.attrs, Subprogram):
                args, active = [self.term(a) for a in unit.args], self.term(flat.active[unit])
                self.values[unit] = (self.called(unit.attrs, args, active),)
            else:
                self.values[unit] = tuple(map(self.named, self.value(unit)))

    def called(self, what: Subprogram, args: list[Term], active: Term) -> Term:
        """A call's result has the name of what is called."""
        self.w.taken.add(what.name)
        text = self.library.call(what, args, active.text, self.w)
        return self.named(Term(text, DOUBLE), what.name)

    def together(self, turns: Turns, flat: Flat) -> None:
        """Calls of one subprogram: one call, or one in a loop."""
        (what, *_) = [call.attrs for call in turns[0]]
        assert isinstance(what, Subprogram)
        given = [self.operands(turn, flat) for turn in turns]
        if len(turns) == 1:
            found = [self.called(what, *given[0])]
        else:
            found = self.in_turns(what, given)
        for turn, term in zip(turns, found):
            self.values.update(dict.fromkeys(turn, (term,)))

    def operands(self, turn: Sequence[Node], flat: Flat) -> tuple[list[Term], Term]:
        """The operands of each lane, of calls that need different lanes, and the lanes."""
        (first, *others) = turn
        args, active = [self.term(a) for a in first.args], self.term(flat.active[first])
        for call in others:
            lanes = self.term(flat.active[call])
            args = [self.named(self.either(lanes, self.term(new), old), "operand")
                    for new, old in zip(call.args, args)]
            if lanes != active:
                active = self.named(Term(f"{active.operand} | {lanes.operand}", BOOL), "active")
        return args, active

    def either(self, lanes: Term, new: Term, old: Term) -> Term:
        return scalar.choice(lanes, new, old)

    def in_turns(self, what: Subprogram, given: list[tuple[list[Term], Term]]) -> list[Term]:
        """The results of calls one after the other, in a loop."""
        w = self.w
        w.taken.add(what.name)
        names, turn = [w.fresh(what.name) for _ in given], w.fresh("turn")
        for name in names:
            w.line(f"{name} = tl.full({self.lanes}.shape, 0.0, {scalar.register(DOUBLE)})")
        w.line(f"for {turn} in range({len(given)}):")
        w.indent += 1
        *args, active = [self.of_turn(turn, terms)
                         for terms in zip(*[(*args, active) for args, active in given])]
        found = self.called(what, args, active)
        for k, name in enumerate(names):
            w.line(f"{name} = tl.where({turn} == {k}, {found.text}, {name})")
        w.indent -= 1
        return [Term(name, DOUBLE) for name in names]

    def of_turn(self, turn: str, terms: Sequence[Term]) -> Term:
        """What a number is in each turn."""
        if all(term == terms[0] for term in terms):
            return terms[0]
        text = scalar.typed(terms[-1])
        for k, term in reversed(list(enumerate(terms[:-1]))):
            text = f"tl.where({turn} == {k}, {scalar.typed(term)}, {text})"
        return self.named(Term(text, terms[0].dtype), "operand")

    def value(self, node: Node) -> Parts:
        args = [self.term(a) for a in node.args]
        if node.op == "cast":
            return casts.cast((args[0],), args[0].dtype, node.dtype)
        if isinstance(node.attrs, Table):
            tables, place = self.w.table(node.attrs, node.dtype)
            return (scalar.lookup(tables, place, node.attrs, args[0], node.dtype),)
        if node.op not in scalar.KNOWN:
            raise refuse(node.op, "has no Triton code")
        return scalar.apply(node.op, [self.parts(a) for a in node.args], node.dtype)

    def repeat(self, node: Node, flat: Flat) -> None:
        w, body = self.w, flat.bodies[node]
        active = self.term(flat.active[node]).text
        carried = []
        for init, param in zip(node.args, body.params):
            name, start = w.fresh("carried"), self.term(init)
            if start.value is not None:
                kind = scalar.register(start.dtype)
                w.line(f"{name} = tl.full({active}.shape, {start.text}, {kind})")
            else:
                w.line(f"{name} = tl.where({active}, {start.text}, {start.text})")  # in each lane
            self.values[param] = (Term(name, param.dtype),)
            carried.append(name)
        running = w.fresh("running")
        self.values[body.params[-1]] = (Term(running, BOOL),)
        w.line(f"{running} = {active}")
        w.line(f"while npc.any_of({running}):")
        w.indent += 1
        self.write(body)
        again, *following = (self.named(self.term(r)) for r in body.results)
        for k, term in enumerate(following):
            if term.text in carried[:k]:  # which has its next value by then
                following[k] = Term(w.fresh("before"), term.dtype)
                w.line(f"{following[k].text} = {term.text}")
        for name, term in zip(carried, following):
            w.line(f"{name} = tl.where({running}, {scalar.typed(term)}, {name})")
        w.line(f"{running} = {running} & {scalar.typed(again)}")
        w.indent -= 1
        self.several[node] = [self.term(param) for param in body.params[:-1]]
