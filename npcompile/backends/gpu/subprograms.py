"""Subprograms as Triton functions: branches and loops of each lane by itself.

Both arms of a branch are computed, and chosen from; a loop runs until no lane needs another turn.
What a lane gets does not depend on the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from npcompile.backends.gpu import casts, scalar
from npcompile.backends.gpu.scalar import Parts, Term
from npcompile.backends.gpu.source import Tables, Writer
from npcompile.core.errors import refuse
from npcompile.graph.ir import Const, Get, Node, Region, Subprogram, Table
from npcompile.graph.subprograms import region_of


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
        region = region_of(what)
        self.values: dict[Node, Parts] = {}
        self.several: dict[Node, list[Term]] = {}
        params = [self.w.fresh("xyzabcdef"[k]) for k in range(what.operands)]
        for node, name in zip(region.params, params, strict=True):
            self.values[node] = (Term(name, node.dtype),)
        active = self.w.fresh("active")
        self.region(region, active)
        self.w.line(f"return {scalar.typed(self.term(region.results[0]))}")
        self.text = self.w.function(first=[*params, active])
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
        name = self.w.fresh(wish)
        self.w.line(f"{name} = {term.text}")
        return Term(name, term.dtype)

    def region(self, region: Region, active: str) -> None:
        """``active`` are the lanes for which the region counts."""
        for node in region.nodes:
            match node.op:
                case "const" | "param":
                    pass
                case "if_":
                    self.choose(node, active)
                case "while_":
                    self.repeat(node, active)
                case "get":
                    assert isinstance(node.attrs, Get)
                    self.values[node] = (self.several[node.args[0]][node.attrs.index],)
                case _:
                    self.values[node] = tuple(map(self.named, self.value(node, active)))

    def value(self, node: Node, active: str) -> Parts:
        args = [self.term(a) for a in node.args]
        if isinstance(node.attrs, Subprogram):
            return (Term(self.library.call(node.attrs, args, active, self.w), node.dtype),)
        if node.op == "cast":
            return casts.cast((args[0],), args[0].dtype, node.dtype)
        if isinstance(node.attrs, Table):
            tables, place = self.w.table(node.attrs, node.dtype)
            return (scalar.lookup(tables, place, node.attrs, args[0], node.dtype),)
        if node.op not in scalar.KNOWN:
            raise refuse(node.op, "has no Triton code")
        return scalar.apply(node.op, [self.parts(a) for a in node.args], node.dtype)

    def choose(self, node: Node, active: str) -> None:
        taken = self.named(self.term(node.args[0]), "taken").operand
        yes = self.named(Term(f"{active} & {taken}", node.args[0].dtype, False), "yes").text
        no = self.named(Term(f"{active} & npc.bit_not({taken})", node.args[0].dtype, False), "no")
        ends = []
        for arm, lanes in zip(node.regions, (yes, no.text)):
            self.region(arm, lanes)
            ends.append([self.term(result) for result in arm.results])
        self.several[node] = [
            self.named(Term(f"tl.where({taken}, {scalar.typed(a)}, {scalar.typed(b)})", a.dtype))
            for a, b in zip(*ends)
        ]

    def repeat(self, node: Node, active: str) -> None:
        w, (body,) = self.w, node.regions
        carried = []
        for init, param in zip(node.args, body.params, strict=True):
            name, start = w.fresh("carried"), scalar.typed(self.term(init))
            w.line(f"{name} = tl.where({active}, {start}, {start})")  # one for each lane
            self.values[param] = (Term(name, param.dtype),)
            carried.append(name)
        running = w.fresh("running")
        w.line(f"{running} = {active}")
        w.line(f"while npc.any_of({running}):")
        w.indent += 1
        self.region(body, running)
        again, *following = (self.named(self.term(r)) for r in body.results)
        for k, term in enumerate(following):
            if term.text in carried[:k]:  # which has its next value by then
                following[k] = Term(w.fresh("before"), term.dtype)
                w.line(f"{following[k].text} = {term.text}")
        for name, term in zip(carried, following):
            w.line(f"{name} = tl.where({running}, {scalar.typed(term)}, {name})")
        w.line(f"{running} = {running} & {scalar.typed(again)}")
        w.indent -= 1
        self.several[node] = [self.term(param) for param in body.params]
