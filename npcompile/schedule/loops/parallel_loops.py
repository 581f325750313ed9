"""Loops whose iterations don't need each other become parallel.

Each iteration makes its numbers and temporaries anew; no element that one iteration writes is
touched by another.  Checks may stand inside where Python, if one fails, runs the function from the
start: what other iterations have done till then is not seen; for others see
:mod:`.interruptible_loops`.  Of loops in each other the outermost is taken, unless it has few
iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from npcompile.core.facts import Facts
from npcompile.core.lines import in_words
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Poly, Predicate, Symbol, Unhinted, floordiv, hint, product
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Exit,
    For,
    Free,
    If,
    Kernel,
    RoutineCall,
    SideExit,
    Statement,
    Swap,
    While,
    flat,
    with_blocks,
)
from npcompile.program.results import result_buffers
from npcompile.schedule.loops.accumulators import Entangled, folds, is_light
from npcompile.schedule.loops.dependence import Access, Dependences
from npcompile.schedule.loops.interruptible_loops import SpeculativeLoop
from npcompile.schedule.loops.loop_polls import held, without_edges
from npcompile.schedule.loops.vector_loops import is_choice
from npcompile.schedule.memory.allocate import allocate, loaded, reads, touched

Folds = tuple[tuple[Buffer, str], ...]
FEW = 4  # iterations of a loop that leave threads idle


class Dependent(Exception):
    """Why the iterations of a loop run one after the other."""


@record(frozen=False)
class Independent:
    """Statements with such loops marked.

    ``whole`` counts how often each buffer is touched, ``reads`` how often numbers are read;
    ``carried`` is what iterations of loops leave to the next ones.
    """

    facts: Facts
    exits: Sequence[Exit]
    whole: Counter[Buffer]
    reads: Counter[Buffer]
    carried: Mapping[Symbol, Set[Buffer]]
    made: list[Buffer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    depth: int = 0  # loops around that run iteration by iteration

    def block(self, body: Iterable[Statement]) -> tuple[Statement, ...]:
        return tuple([made for statement in body for made in self._statement(statement)])

    def _statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case For(parallel=False):
                return self._loop(statement)
            case While():
                self.depth += 1
                inner = with_blocks(statement, self.block)
                self.depth -= 1
                return [inner]
            case If() if not is_choice(statement):
                return [with_blocks(statement, self.block)]
        return [statement]

    def _loop(self, loop: For) -> list[Statement]:
        try:
            private, shared = self._private(loop)
            attempt = self._attempt(loop, private, shared)
        except Dependent as reason:
            self._note(loop, f"run one after the other: {reason}")
            return [replace(loop, body=self._inside(loop))]
        if _few(loop):
            before = len(self.notes)
            inner = self._inside(loop)
            if any((isinstance(s, Kernel) and s.axes) or (isinstance(s, For) and s.parallel)
                   for s in flat(inner)):
                return [replace(loop, body=inner)]
            del self.notes[before:]
        self._note(loop, "run in parallel on threads, if there is enough work")
        if attempt is not None:
            own = set(attempt.private.values())
            return attempt.statements(self._parallel(attempt.loop, own, shared))
        return [self._parallel(loop, private, shared)]

    def _note(self, loop: For, text: str) -> None:
        if loop.line:  # else it is none of the user's
            self.notes.append(f"the iterations of the loop in {in_words(loop.line)} {text}")

    def _parallel(self, loop: For, private: set[Buffer], shared: Folds) -> For:
        known = {*touched(loop)} - private
        body = allocate(without_edges(loop.body), (), known, arms=False)
        own = private | {b for s in flat(body) if isinstance(s, Kernel) for b in s.written
                         if b.kind == "scalar" and b not in dict(shared)}
        edge = loop.edge if own.isdisjoint(held(loop, self.exits)) else None
        return replace(loop, body=body, parallel=True, folds=shared, edge=edge)

    def _attempt(self, loop: For, private: set[Buffer], shared: Folds) -> SpeculativeLoop | None:
        """How the loop runs, if Python may have to go on in the middle of it."""
        checks = [s for s in flat(loop.body) if isinstance(s, SideExit)
                  and (s.leaving or self.exits[s.number].frames)]
        if not checks:
            return None
        attempt = SpeculativeLoop(loop, private, len(self.made))
        if shared or not attempt.pays(self.facts):
            raise Dependent(f"Python may take over in the middle ({checks[0].reason})")
        self.made += attempt.made
        return attempt

    def _inside(self, loop: For) -> tuple[Statement, ...]:
        """The statements of an iteration, knowing what its index is."""
        before = self.facts.mark()
        iteration = Poly((((loop.symbol,), 1),))
        if loop.step == 1:
            self.facts.learn(Predicate("<=", loop.start, iteration))
            self.facts.learn(Predicate("<", iteration, loop.stop))
        self.depth += 1
        try:
            return self.block(loop.body)
        finally:
            self.depth -= 1
            self.facts.undo(before)

    def _private(self, loop: For) -> tuple[set[Buffer], Folds]:
        """The arrays that each iteration has for itself, and the numbers that all change
        together."""
        every = list(flat(loop.body))
        for statement in every:
            self._allow(statement)
        inside = Counter([*touched(loop), *self._held(loop)])
        carried = self.carried.get(loop.symbol, frozenset())
        known = {b for b in inside if b in carried or inside[b] != self.whole[b]}
        shared = self._numbers(loop, known)
        if self.depth and not {"min", "max"}.isdisjoint(dict(shared).values()) and (
                is_light(loop.body)):
            raise Dependent("each does too little for threads")
        private = {
            b for b in inside if b.kind == "temp" and inside[b] == self.whole[b]
            and (b not in carried or _overwritten(self.facts, loop.body, b))
        }
        if any(isinstance(s, Swap) for s in every):
            raise Dependent("arrays are swapped")
        met = Dependences(self.facts, loop).conflict(private)
        if met is not None:
            raise Dependent(_conflict(*met))
        return private, shared

    def _allow(self, statement: Statement) -> None:
        match statement:
            case Call() | RoutineCall():
                raise Dependent("they call a library function")
            case Alloc() | Free():
                raise Dependent("they allocate arrays")
            case For(parallel=True):
                raise Dependent("the loops over arrays in it run on threads")

    def _held(self, loop: For) -> list[Buffer]:
        """What checks of a loop hand to Python."""
        return [buffer for s in flat(loop.body) if isinstance(s, SideExit)
                for held in self.exits[s.number].held() for buffer in result_buffers(held)]

    def _numbers(self, loop: For, known: set[Buffer]) -> Folds:
        """Each iteration makes the numbers that it reads, and leaves none, but those that
        iterations change in any order; ``known`` are those that are more than an iteration's
        own."""
        made = {b: kernel for kernel in flat(loop.body) if isinstance(kernel, Kernel)
                for b in kernel.written if b.kind == "scalar"}
        exposed = Exposed()
        exposed.block(loop.body)
        carried = [b for b in exposed.found if b in made and b in known]
        try:
            shared = folds(loop.body, carried)
        except Entangled:
            raise Dependent(f"each needs a number that the one before computes"
                            f"{_lines(made[carried[0]].lines)}") from None
        inside = reads(loop.body) + Counter(self._held(loop))
        for buffer, kernel in made.items():
            if inside[buffer] != self.reads[buffer] and buffer not in shared:
                raise Dependent(f"a number that the last one computes is needed after it"
                                f"{_lines(kernel.lines)}")
        return tuple(shared.items())


def _few(loop: For) -> bool:
    try:
        return hint(floordiv(loop.stop - loop.start, loop.step)) < FEW
    except (Unhinted, ZeroDivisionError):
        return False


def _lines(lines: tuple[int, ...]) -> str:
    return f" (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""


def _conflict(one: Access, other: Access) -> str:
    if one.form is None or other.form is None:
        unknown = other if other.form is None else one
        return f"it is not known which elements of {_name(one.buffer)} they access" + _lines(
            unknown.lines)
    lines = sorted({*one.lines, *other.lines})
    return f"they may access the same elements of {_name(one.buffer)}{_lines(tuple(lines))}"


def _name(buffer: Buffer) -> str:
    """An array as the user knows it."""
    known = buffer.title or (buffer.kind == "param" and buffer.name)
    return known or "an array that the function makes"


def _overwritten(facts: Facts, body: Sequence[Statement], buffer: Buffer) -> bool:
    """Whether an iteration begins with writing all of a temporary; one that only exits hand to
    Python is not written."""
    first = next((s for s in body if buffer in touched(s)), None)
    if not isinstance(first, Kernel) or buffer in loaded(first):
        return False
    for store in first.stores:
        if store.buffer is not buffer or store.by is not None or store.packed:
            continue
        if store.mask is not None or store.at.part or store.at.offset != 0:
            continue
        axes = [(facts.norm(a.extent), facts.norm(c))
                for a, c in zip(first.axes, store.at.coefficients, strict=True)]
        whole = [(facts.norm(n), facts.norm(c))
                 for n, c in zip(buffer.shape, buffer.strides, strict=True)]
        if axes == [(facts.norm(product(buffer.shape)), 1)] or Counter(axes) == Counter(whole):
            return True
    return False


class Exposed:
    """The numbers that some statements read before they make them."""

    def __init__(self) -> None:
        self.made: set[Buffer] = set()
        self.found: dict[Buffer, None] = {}

    def read(self, *buffers: Buffer) -> None:
        self.found.update(dict.fromkeys(b for b in buffers if b not in self.made))

    def block(self, body: Iterable[Statement]) -> None:
        for statement in body:
            match statement:
                case Kernel():
                    self.read(*loaded(statement))
                    self.read(*(s.buffer for s in statement.stores if s.mask is not None))
                    self.made.update(statement.written)
                case Bind(_, buffer) | SideExit(buffer):
                    self.read(buffer)
                case For():
                    before = set(self.made)
                    self.block(statement.body)
                    self.made = before
                case While():
                    self.block(statement.body)
                    self.read(statement.again)
                case If():
                    self.read(statement.condition)
                    before = set(self.made)
                    self.block(statement.then)
                    then, self.made = self.made, before
                    self.block(statement.orelse)
                    self.made &= then
