"""Control flow, structured while walking.

``run`` follows exits block by block.  A static condition is followed.  A traced one traces both
arms, each over the blocks that only it can reach, and joins what they leave behind:

* an arm that certainly raises becomes a check, and tracing goes on with the other;
* arms without effects that bind numbers of one type are joined by ``where``;
* anything else is refused.

Loops over something of known length need no special care: their back edges are followed, which
unrolls them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from npcompile.core.sizes import Unhinted
from npcompile.graph.ir import Node
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import BOOL, PY_INT, Scalar
from npcompile.tracing.bytecode import RETURN
from npcompile.tracing.values import (
    UNBOUND,
    Dead,
    Exits,
    Frame,
    Iterator,
    Method,
    Sequence,
    Slice,
    State,
    Static,
    Value,
)

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

TRIPS = 64  #: trips of a loop that is unrolled, if they emit nodes
VISITS = 4096  #: trips of a loop that only computes static values
NODES = 4000  #: nodes of a graph with unrolled loops

#: what may be computed on a path that Python does not take: it never raises, warns or leaves
_SPECULATIVE = frozenset({"const", "size"}) | {
    name for name, p in PRIMITIVES.items() if not p.flags and name != "lookup"
}


def run(t: Tracer, frame: Frame, exits: Exits, allowed: set[int]) -> Exits:
    """Goes on until no exit leads to a block in ``allowed``."""
    while True:
        inside = [target for target in exits.states if target in allowed]
        if not inside:
            return exits
        if len(exits.states) > 1:
            raise t.refuse("branch", "its arms go on in different places")
        exits = step(t, frame, inside[0], exits.states[inside[0]])


def step(t: Tracer, frame: Frame, block: int, state: State) -> Exits:
    """Executes one block."""
    from npcompile.tracing.handlers import HANDLERS

    frame.state, frame.block = state, block
    if block in frame.code.loops:
        _visit(t, frame, block)
    try:
        for instruction in frame.code.blocks[block]:
            frame.instruction = instruction
            frame.stack = list(state.stack)
            frame.writes = t.writes
            t.builder.line = instruction.line
            handler = HANDLERS.get(instruction.op)
            if handler is None:
                raise t.refuse(_construct(instruction.op), "is left to Python")
            exits = handler(t, frame, instruction)
            if exits is not None:
                return exits
    except Dead:
        return Exits({})
    return Exits({frame.code.successors[block][0]: state})


def _construct(op: str) -> str:
    """An opcode in the user's terms."""
    return _CONSTRUCTS.get(op, op.lower().replace("_", " "))


_CONSTRUCTS = {
    "BEFORE_WITH": "with",
    "YIELD_VALUE": "yield",
    "STORE_GLOBAL": "global",
    "DELETE_GLOBAL": "global",
    "LOAD_BUILD_CLASS": "class",
    "GET_AWAITABLE": "await",
    "BUILD_SET": "set",
    "BUILD_STRING": "f-string",
    "FORMAT_VALUE": "f-string",
    "FORMAT_SIMPLE": "f-string",
    "FORMAT_WITH_SPEC": "f-string",
    "LOAD_SUPER_ATTR": "super",
    "MATCH_CLASS": "match",
    "MATCH_KEYS": "match",
    "MATCH_MAPPING": "match",
    "MATCH_SEQUENCE": "match",
}


def _visit(t: Tracer, frame: Frame, header: int) -> None:
    """Counts trips of loops that are followed, so that tracing ends."""
    count = frame.visits[header] = frame.visits.get(header, 0) + 1
    if count > VISITS or len(t.builder.region.nodes) > NODES:
        raise t.refuse("loop", "is too long to unroll and runs in Python")


def unrolls(t: Tracer, iterator: Iterator) -> None:
    """Refuses a loop that would unroll into too many nodes."""
    if iterator.position > TRIPS and len(t.builder.region.nodes) > iterator.nodes:
        raise t.refuse("loop", f"has more than {TRIPS} trips and runs in Python")


# ---------------------------------------------------------------------- branches


def branch(
    t: Tracer, frame: Frame, condition: Value, then: int, other: int, popping: int = RETURN
) -> Exits:
    """Goes on in block ``then`` if the condition holds, else in ``other``.

    On the way to ``popping`` the top of the stack is dropped.
    """

    def state(target: int) -> State:
        made = frame.state.copy()
        if target == popping:
            made.stack.pop()
        return made

    if isinstance(condition, Static):
        target = then if condition.value else other
        return Exits({target: state(target)})
    assert isinstance(condition, Node)
    raising = [target in frame.code.raises for target in (then, other)]
    if all(raising):
        raise Dead
    if any(raising):
        _check(t, condition, raising[1], "an exception is raised")
        target = other if raising[0] else then
        return Exits({target: state(target)})
    decided = _decide(t, frame, condition)
    if decided is not None:
        target = then if decided else other
        return Exits({target: state(target)})
    return _arms(t, frame, condition, (then, state(then)), (other, state(other)))


_ASKED = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}


def _decide(t: Tracer, frame: Frame, condition: Node) -> bool | None:
    """A comparison of sizes, and of integers that come from outside: decided now, and guarded.

    Conditions that end a loop are not: their value changes from trip to trip.
    """
    if condition.op == "bit_not":
        decided = _decide(t, frame, condition.args[0])
        return None if decided is None else not decided
    sizes = [t.builder.known_size(x) for x in condition.args if x.type == PY_INT]
    if condition.op not in _ASKED or len(sizes) != 2 or None in sizes:
        return None
    targets = frame.code.successors[frame.block]
    loops = [body for body in frame.code.loops.values() if frame.block in body]
    if any(target not in body for body in loops for target in targets):
        return None
    try:
        return t.facts.ask(_ASKED[condition.op], *sizes)  # type: ignore[arg-type]
    except Unhinted:
        return None


def _check(t: Tracer, condition: Node, holds: bool, reason: str) -> None:
    t.builder.check(condition if holds else negate(t, condition), reason)


def negate(t: Tracer, condition: Node) -> Node:
    """``not condition``."""
    return t.builder.emit("bit_not", (condition,), None, Scalar(BOOL, "py"))


def _arms(
    t: Tracer, frame: Frame, condition: Node, then: tuple[int, State], other: tuple[int, State]
) -> Exits:
    before, mark, writes, visible = replace(frame), t.builder.mark(), t.writes, t.visible

    def arm(target: int, state: State) -> Exits:
        """The part of an arm that nothing else leads to, tried."""
        exits = Exits({target: state})
        if frame.code.predecessors[target] == [before.block]:
            exits = run(t, frame, exits, frame.code.dominated[target])
        back()
        return exits

    def back() -> None:
        frame.state, frame.block, frame.stack = before.state, before.block, before.stack
        frame.instruction, frame.writes = before.instruction, before.writes
        t.writes, t.visible = writes, visible
        assert frame.instruction is not None
        t.builder.line = frame.instruction.line

    arms = (then, other)
    untouched = [state.copy() for _, state in arms]
    found = []
    for k, (target, state) in enumerate(arms):
        found.append(arm(target, state))
        if not found[k].states:
            t.builder.rollback(mark)
            _check(t, condition, k == 1, "an exception is raised")
            return Exits({arms[1 - k][0]: untouched[1 - k]})
    return _join(t, frame, condition, found[0], found[1], t.builder.region.nodes[mark[0] :])


def _join(
    t: Tracer, frame: Frame, condition: Node, a: Exits, b: Exits, emitted: list[Node]
) -> Exits:
    target = next(iter(a.states))
    if list(b.states) != [target]:
        raise t.refuse("if", "depends on data, and its arms go on in different places")
    if any(node.op not in _SPECULATIVE for node in emitted):
        raise t.refuse("if", "depends on data, and its arms compute or change something")
    return Exits({target: _merge(t, frame, condition, a.states[target], b.states[target], target)})


def _merge(t: Tracer, frame: Frame, condition: Node, a: State, b: State, target: int) -> State:
    """The state after either arm."""
    code = frame.code
    live = code.live[target] if target != RETURN else set()
    cells_of_code = range(code.code.co_nlocals, len(code.names))
    kept = live.union(cells_of_code)
    frame.state = a

    def one(x: Value, y: Value) -> Value:
        return select(t, condition, x, y)

    for box in a.cells:  # what only one arm made is reached through no common name
        if box in b.cells and not _same_contents(a.cells[box], b.cells[box]):
            raise t.refuse("if", "depends on data, and its arms change an object")
    variables = [
        one(x, y) if k in kept else (x if same(x, y) else UNBOUND)
        for k, (x, y) in enumerate(zip(a.locals, b.locals))
    ]
    stack = [one(x, y) for x, y in zip(a.stack, b.stack)]
    return State(variables, stack, {**b.cells, **a.cells})


def _same_contents(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _all_same(a, b)
    return a is b or same(a, b)


def select(t: Tracer, condition: Node, a: Value, b: Value) -> Value:
    """``a if condition else b`` where that has one exact type."""
    if same(a, b):
        return a
    match a, b:
        case Sequence(), Sequence() if a.kind is b.kind and len(a.items) == len(b.items):
            items = [select(t, condition, x, y) for x, y in zip(a.items, b.items)]
            return Sequence(tuple(items), a.kind)
    x, y = _number(t, a), _number(t, b)
    if x is None or y is None or x.type != y.type:
        raise t.refuse("if", "depends on data, and its arms bind values of different types")
    assert isinstance(x.type, Scalar)
    return t.builder.map("where", (condition, x, y), x.dtype, origin=x.type.origin)


def _number(t: Tracer, value: Value) -> Node | None:
    if isinstance(value, Node):
        return value
    if isinstance(value, Static) and type(value.value) in (bool, int, float, complex):
        return t.builder.const(value.value)
    return None


def same(a: Value, b: Value) -> bool:
    """Whether two values are certainly one."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    match a, b:
        case Static(x), Static(y):
            plain = (bool, int, str, bytes, type(None))
            return x is y or (type(x) is type(y) and type(x) in plain and x == y)
        case Sequence(x, kind), Sequence(y, other):
            return kind is other and _all_same(x, y)
        case Slice(), Slice():
            return _all_same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
        case Method(), Method():
            return same(a.function, b.function) and same(a.receiver, b.receiver)
        case Iterator(), Iterator():
            return (a.kind, a.position, a.token) == (b.kind, b.position, b.token) and _all_same(
                a.parts, b.parts
            )
    return False


def _all_same(a: Iterable[Value], b: Iterable[Value]) -> bool:
    first, second = list(a), list(b)
    return len(first) == len(second) and all(map(same, first, second))
