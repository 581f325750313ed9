"""Subprograms as Triton functions: branches and loops of each lane by itself.

Both arms of a branch are computed, and chosen from (:mod:`npcompile.backends.gpu.flat`); a loop
runs until no lane needs another iteration.  What a lane gets does not depend on the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from npcompile.backends.gpu import casts, scalar
from npcompile.backends.gpu.flat import Flat, Iterations
from npcompile.backends.gpu.scalar import Parts, ScalarText
from npcompile.backends.gpu.source import INLINE, SCOPE, FunctionWriter, Tables, request
from npcompile.core.errors import refuse
from npcompile.core.records import field, record
from npcompile.graph.ir import Const, Get, Node, Subprogram, Table
from npcompile.graph.subprograms import DOUBLE, region_of
from npcompile.graph.types import BOOL, Scalar


@record(frozen=False)
class SubprogramLibrary:
    """The functions that a kernel calls, each after those that it calls itself, and the tables
    that each needs as further arguments."""

    names: dict[Subprogram, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    tables: dict[str, tuple[Tables, ...]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def call(
        self, what: Subprogram, args: list[ScalarText], active: str, writer: FunctionWriter
    ) -> str:
        """The text of a call, its function being defined; ``active`` are the lanes that count."""
        name = self.names.get(what)
        if name is None:
            name = self.names[what] = self._fresh(what.name)
            function = _Function(what, name, self)
            self.tables[name], self.texts[name] = function.tables, function.text
        self.calls.append(name)
        writer.taken.add(name)
        more = [writer.parameter(tables) for tables in self.tables[name]]
        lanes = [active] * has_lanes(what)
        return f"{name}({', '.join([*map(scalar.typed, args), *lanes, *more])})"

    def _fresh(self, name: str) -> str:
        """The name, unless another function has it."""
        others = [other for other in self.names if other.name == name]
        return f"{name}_{len(others) + 1}" if others else name

    @property
    def lines(self) -> int:
        """How many lines all calls put in line."""
        return sum(self.texts[name].count("\n") for name in self.calls)

    @property
    def parts(self) -> tuple[str, ...]:
        """All functions."""
        return tuple(self.texts.values())


@cache
def has_lanes(what: Subprogram) -> bool:
    """Whether a function is told which lanes count: it, or what it calls, has loops."""
    return what.body is None or any(
        isinstance(node.attrs, Subprogram) and has_lanes(node.attrs) for node in what.body.nodes)


class _Function:
    """One subprogram being written."""

    def __init__(self, what: Subprogram, name: str, library: SubprogramLibrary) -> None:
        self.library, self.w = library, FunctionWriter(name, set(SCOPE))
        self.titles = what.tables
        self.starts: dict[str, tuple[str, int]] = {}  # constants that say where tables begin
        region, active = region_of(what), Node("param", (), None, Scalar(BOOL, "np"))
        self.values: dict[Node, Parts] = {}
        self.several: dict[Node, list[ScalarText]] = {}
        params = [self.w.fresh("xyzabcdef"[k]) for k in range(what.operands)]
        params.append(self.w.fresh("active"))
        self.fold = what.body is not None
        flat = Flat(region, active, names=what.names)
        self.uses = Counter(a for node in flat.nodes for a in node.args)
        self.uses.update(flat.results)
        for node, name in zip(flat.params, params, strict=True):
            self.values[node] = (ScalarText(name, node.dtype),)
        self.lanes = params[-1]
        self.write(flat)
        self.w.line(f"return {scalar.typed(self.term(flat.results[0]))}")
        self.text = self.w.function(first=params[: len(params) - (not has_lanes(what))],
                                    title=what.doc)
        self.tables = tuple(p for p in self.w.parameters if isinstance(p, Tables))

    def parts(self, node: Node) -> Parts:
        if isinstance(node.attrs, Const):
            return (scalar.constant(node.attrs.value, node.dtype),)
        return self.values[node]

    def term(self, node: Node) -> ScalarText:
        return self.parts(node)[0]

    def named(self, term: ScalarText, request: str = "t") -> ScalarText:
        if term.value is not None or term.text.isidentifier():
            return term
        return ScalarText(self.w.let(request, term.text), term.dtype)

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
                self.values[unit] = self.kept(unit, flat)

    def kept(self, node: Node, flat: Flat) -> Parts:
        """What is used once and short stays an expression, but for what programs name."""
        parts, name = self.value(node), flat.names.get(node, "")
        if self.fold and self.uses[node] <= 1 and not name and len(parts[0].text) < INLINE:
            return parts
        return tuple([self.named(part, name or request(node.op)) for part in parts])

    def called(self, what: Subprogram, args: list[ScalarText], active: ScalarText) -> ScalarText:
        """A call's result has the name of what is called."""
        self.w.taken.add(what.name)
        text = self.library.call(what, args, active.text, self.w)
        return self.named(ScalarText(text, DOUBLE), what.name)

    def together(self, iterations: Iterations, flat: Flat) -> None:
        """Calls of one subprogram: one call, or one in a loop."""
        (what, *_) = [call.attrs for call in iterations[0]]
        assert isinstance(what, Subprogram)
        given = [self.operands(iteration, flat) for iteration in iterations]
        if len(iterations) == 1:
            found = [self.called(what, *given[0])]
        else:
            found = self.in_turns(what, given)
        for iteration, term in zip(iterations, found):
            self.values.update(dict.fromkeys(iteration, (term,)))

    def operands(
        self, iteration: Sequence[Node], flat: Flat
    ) -> tuple[list[ScalarText], ScalarText]:
        """The operands of each lane, of calls that need different lanes, and the lanes."""
        (first, *others) = iteration
        args, active = [self.term(a) for a in first.args], self.term(flat.active[first])
        for call in others:
            lanes = self.term(flat.active[call])
            args = [self.named(self.either(lanes, self.term(new), old), "operand")
                    for new, old in zip(call.args, args)]
            if lanes != active:
                active = self.named(
                    ScalarText(f"{active.operand} | {lanes.operand}", BOOL), "active"
                )
        return args, active

    def either(self, lanes: ScalarText, new: ScalarText, old: ScalarText) -> ScalarText:
        return scalar.choice(lanes, new, old)

    def in_turns(
        self, what: Subprogram, given: list[tuple[list[ScalarText], ScalarText]]
    ) -> list[ScalarText]:
        """The results of calls one after the other, in a loop."""
        w = self.w
        w.taken.add(what.name)
        names, iteration = [w.fresh(what.name) for _ in given], w.fresh("turn")
        for name in names:
            w.line(f"{name} = tl.full({self.lanes}.shape, 0.0, {scalar.register(DOUBLE)})")
        w.line(f"for {iteration} in range({len(given)}):")
        w.nest()
        *args, active = [self.of_iteration(iteration, terms)
                         for terms in zip(*[(*args, active) for args, active in given])]
        found = self.called(what, args, active)
        for k, name in enumerate(names):
            w.line(f"{name} = tl.where({iteration} == {k}, {found.text}, {name})")
        w.leave()
        return [ScalarText(name, DOUBLE) for name in names]

    def of_iteration(self, iteration: str, terms: Sequence[ScalarText]) -> ScalarText:
        """What a number is in each iteration."""
        if all(term == terms[0] for term in terms):
            return terms[0]
        text = scalar.typed(terms[-1])
        for k, term in reversed(list(enumerate(terms[:-1]))):
            text = f"tl.where({iteration} == {k}, {scalar.typed(term)}, {text})"
        return self.named(ScalarText(text, terms[0].dtype), "operand")

    def value(self, node: Node) -> Parts:
        args = [self.term(a) for a in node.args]
        if node.op == "cast":
            return casts.cast((args[0],), args[0].dtype, node.dtype)
        if isinstance(node.attrs, Table):
            tables, place = self.w.table(node.attrs, node.dtype)
            start = self.start(node.attrs, place)
            return (scalar.lookup(tables, start, node.attrs, args[0], node.dtype),)
        if node.op not in scalar.KNOWN:
            raise refuse(node.op, "has no Triton code")
        return scalar.apply(node.op, [self.parts(a) for a in node.args], node.dtype)

    def start(self, table: Table, place: int) -> str:
        """Where a table begins, after the first one of its name."""
        title = self.titles.get(table)
        if title is None:
            return str(place)
        if title not in self.starts:
            name = self.w.constant(title)
            self.starts[title] = name, place
            self.w.lines.insert(len(self.starts) - 1, f"    {name}: tl.constexpr = {place}")
        name, first = self.starts[title]
        return f"{name} + {place - first}".replace("+ -", "- ").removesuffix(" + 0")

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
            self.values[param] = (ScalarText(name, param.dtype),)
            carried.append(name)
        running = w.fresh("running")
        self.values[body.params[-1]] = (ScalarText(running, BOOL),)
        w.line(f"{running} = {active}")
        w.line(f"while npc.any_of({running}):")
        w.nest()
        self.write(body)
        again, *following = (self.named(self.term(r)) for r in body.results)
        for k, term in enumerate(following):
            if term.text in carried[:k]:  # which has its next value by then
                following[k] = ScalarText(w.fresh("before"), term.dtype)
                w.line(f"{following[k].text} = {term.text}")
        for name, term in zip(carried, following):
            w.line(f"{name} = tl.where({running}, {scalar.typed(term)}, {name})")
        w.line(f"{running} = {running} & {scalar.typed(again)}")
        w.leave()
        self.several[node] = [self.term(param) for param in body.params[:-1]]
