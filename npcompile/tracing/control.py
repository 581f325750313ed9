"""Control flow, structured while walking.

``run`` follows exits block by block.  A static condition is followed.  A traced one traces both
arms, each over the blocks that only it can reach, and joins what they leave behind:

* an arm that certainly raises becomes a check, and tracing goes on with the other;
* otherwise both become regions of an ``if_``, or a ``where`` (see :mod:`.joins`);
* where one arm returns, the other goes on as part of its arm, as far as the arms around them reach:
  what follows those is traced once.

Loops over something of known length need no special care: their back edges are followed, which
unrolls them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.core.errors import TOO_LONG, Refused
from npcompile.core.lines import file_of
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.core.sizes import Unhinted
from npcompile.frontend.bytecode import RETURN, Instruction
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, Scalar
from npcompile.python.values import Frame, State, Successors, Unreachable, Value
from npcompile.tracing.opcodes import handler_of

if TYPE_CHECKING:
    from npcompile.python.iterator import Iterator
    from npcompile.tracing import joins, loops, selectors, trip_counts, unions
    from npcompile.tracing.services import Progress, Reached, Tracer
else:
    defer(globals(), "npcompile.tracing", "joins", "loops", "selectors", "trip_counts", "unions")

TRIPS = 64  #: trips of a loop that is unrolled, if they emit nodes
VISITS = 4096  #: trips of a loop that only computes static values
BLOCKS = 2000  #: blocks that are followed in all
NODES = 4000  #: nodes of a graph with unrolled loops


def run(t: Tracer, frame: Frame, exits: Successors, allowed: set[int]) -> Successors:
    """Goes on until no exit leads to a block in ``allowed``."""
    before = frame.allowed
    frame.allows(allowed)
    try:
        return _run(t, frame, exits, allowed)
    finally:
        frame.allows(before)


def _run(t: Tracer, frame: Frame, exits: Successors, allowed: set[int]) -> Successors:
    while True:
        inside = [target for target in exits.states if target in allowed]
        if not inside:
            return exits
        if len(exits.states) > 1:
            exits = _one_of(t, frame, exits, inside, allowed)
        else:
            exits = step(t, frame, inside[0], exits.states[inside[0]])


def _one_of(
    t: Tracer, frame: Frame, exits: Successors, inside: list[int], allowed: set[int]
) -> Successors:
    """Goes on at the first of several places, where the selector says so."""
    assert exits.selector is not None
    target = min(inside, key=frame.code.order.__getitem__)
    rest = {other: state for other, state in exits.states.items() if other != target}
    own = (allowed & frame.code.dominated[target]) - set(rest)
    condition = selectors.selects(t, exits.selector, target)
    stand(t, frame, target, exits.states[target])
    way = t.way()
    taken = joins.Arm(target, frame.state, Successors({target: frame.state.copy()}), way)
    passed = joins.Arm(RETURN, frame.state, Successors(rest, exits.selector), way)
    _enter(t, frame, taken, own, way)
    if not taken.exits.states:
        check(t, condition, False, "an exception is raised")
        return passed.exits
    t.reach(taken.reached)
    return joins.join(t, frame, condition, taken, passed)


def stand(t: Tracer, frame: Frame, block: int, state: State) -> None:
    """A check made now goes back to the beginning of a block."""
    frame.enters(block, state)
    while not frame.code.blocks[block]:
        (block,) = frame.code.successors[block]
    frame.begins(frame.code.blocks[block][0], state.stack, t.writes)


def step(t: Tracer, frame: Frame, block: int, state: State) -> Successors:
    """Executes one block, or a loop that begins there."""
    frame.enters(block, state)
    if block in frame.code.loops:
        exits = loops.enter(t, frame, block, state)
        if exits is not None:
            return exits
        _visit(t, frame, block)
    return execute(t, frame, block, state)


def execute(t: Tracer, frame: Frame, block: int, state: State) -> Successors:
    """Executes one block."""
    frame.enters(block, state)
    t.builder.ignore(t.ignored())
    if t.count_block() > BLOCKS:
        raise t.refuse("function", TOO_LONG)
    try:
        for instruction in frame.code.blocks[block]:
            if instruction.offset in t.graph_breaks and len(t.frames) == 1:
                t.begin_instruction(frame, instruction, state.stack)
                return _graph_break(t, frame, instruction)
            exits = instruct(t, frame, instruction, state.stack)
            if exits is not None:
                return exits
            state = frame.state
    except Unreachable:
        return Successors({})
    except (Refused, Unhinted) as stuck:
        if len(t.frames) == 1 and frame.instruction is not None:
            _placed(stuck, frame.instruction)
        raise
    return Successors({frame.code.successors[block][0]: state})


def _placed(stuck: Refused | Unhinted, here: Instruction) -> None:
    """Attributes a refusal to the instruction of the outermost function."""
    general = False
    if isinstance(stuck, Refused):
        general, line = stuck.refusal.general, stuck.refusal.line
        if line and file_of(line) != file_of(here.line):
            stuck.called_at(here.line)
    if not general:
        stuck.stands_at(here.offset)


def _graph_break(t: Tracer, frame: Frame, instruction: Instruction) -> Successors:
    """Leaves for Python before an instruction, wherever in the function it is."""
    state = frame.state
    state.stack[:] = [trip_counts.standing(t, value) for value in state.stack]
    t.places[target := frame.code.graph_break(frame.block, instruction)] = (
        frame.block,
        instruction,
    )
    return Successors({target: state})


def instruct(t: Tracer, frame: Frame, i: Instruction, stack: list[Value]) -> Successors | None:
    """Executes one instruction, which finds ``stack`` for Python."""
    t.begin_instruction(frame, i, stack)
    if t.undecided:
        union = unions.looked_at(t, frame, i)
        if union is not None and i.op.startswith("POP_JUMP") and not i.op.endswith("NONE"):
            unions.fork(t, frame, replace(i, op="TO_BOOL", jumps=False), union)
            frame.begins(i, stack, t.writes)
        elif union is not None:
            return unions.fork(t, frame, i, union)
    handler = handler_of(i.op)
    if handler is None:
        construct = _construct(i.op)
        raise t.refuse(construct, *_ADVICE.get(construct, ("is left to Python",)))
    return handler(t, frame, i)


def _construct(op: str) -> str:
    """An opcode in the user's terms."""
    return _CONSTRUCTS.get(op, op.lower().replace("_", " "))


#: reasons and hints beyond that a construct is left to Python
_ADVICE = {
    "global": ("a variable of the module is assigned, which Python does",
               "return the value, and assign it outside"),
}
_CONSTRUCTS = {
    "BEFORE_WITH": "with",
    "YIELD_VALUE": "yield",
    "STORE_GLOBAL": "global",
    "DELETE_GLOBAL": "global",
    "LOAD_BUILD_CLASS": "class",
    "GET_AWAITABLE": "await",
    "BUILD_SET": "set",
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


Way = tuple[int, State, set[int]]  # a target, the state there, and the blocks to go on in


def check(t: Tracer, condition: Node, holds: bool, reason: str) -> None:
    """Leaves for Python where a condition is not what ``holds`` says."""
    t.builder.check(condition if holds else negate(t, condition), reason)


def negate(t: Tracer, condition: Node) -> Node:
    """``not condition``."""
    return t.builder.emit("bit_not", (condition,), None, Scalar(BOOL, "py"))


def arms(t: Tracer, frame: Frame, condition: Node, then: Way, other: Way) -> Successors:
    """Traces both ways to go on from here, and joins what they leave behind."""
    origin, before = t.way(), t.mark()
    leaves(frame, {then[0], other[0]})
    arms = [
        joins.Arm(target, state, Successors({target: state.copy()}), origin)
        for target, state, _ in (then, other)
    ]
    for k, (arm, (_, _, own)) in enumerate(zip(arms, (then, other))):
        _enter(t, frame, arm, own, origin)
        if not arm.exits.states:
            return _only(t, condition, arms[1 - k], k == 1, before)
    first, second = (list(arm.exits.states) for arm in arms)
    if first != second and [RETURN] in (first, second) and not frame.regions:
        k = 0 if second == [RETURN] else 1
        _enter(t, frame, arms[k], frame.allowed, origin)
        if not arms[k].exits.states:
            return _only(t, condition, arms[1 - k], k == 1, before)
    t.reach(*(arm.reached for arm in arms))
    return joins.join(t, frame, condition, *arms)


def leaves(frame: Frame, targets: set[int]) -> None:
    """Refuses to leave a loop that is followed iteration by iteration where only the run knows
    when."""
    for header, refused in frame.unrolled.items():
        body = frame.code.loops[header]
        if frame.block in body and not body.issuperset(targets):
            raise refused.again()


def _enter(
    t: Tracer, frame: Frame, arm: joins.Arm, allowed: set[int], origin: Progress
) -> None:
    """Traces blocks of an arm into its region."""
    enter(t, frame, arm, origin, lambda exits: run(t, frame, exits, allowed))


def enter(
    t: Tracer,
    frame: Frame,
    arm: joins.Arm,
    origin: Progress,
    go: Callable[[Successors], Successors],
) -> None:
    """Traces some of an arm into its region; all else stays as it was."""
    before, created = replace(frame), len(t.created)
    t.reach(arm.reached)
    with t.builder.inside(arm.region):
        exits = go(arm.exits)
    arm.goes_on(exits, t.created[created:], t.way())
    frame.back_to(before)
    t.reach(origin)
    assert frame.instruction is not None
    t.builder.at(frame.instruction.line)


def _only(
    t: Tracer, condition: Node, arm: joins.Arm, holds: bool, before: Reached
) -> Successors:
    """One arm where the other certainly raises."""
    t.back_to(before)
    check(t, condition, holds, "an exception is raised")
    return Successors({arm.target: arm.state})
