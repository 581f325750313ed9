"""Values that depend on the path that was taken, and the instructions that look at them.

Where two paths meet and a variable holds a ``float`` on one and a ``np.float64`` on the other,
nothing has to be decided: the variable becomes an :class:`~npcompile.python.values.TaggedUnion`,
and goes on.  An instruction that looks at it is traced once for each option, and what it leaves
behind is joined again.  Mostly that is the same on all paths (``x < least`` of NumPy's numbers), so
that nothing of the choice is left in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from npcompile.core.errors import Refused, refuse
from npcompile.core.records import replace
from npcompile.frontend.bytecode import NEXT, VERSION, Instruction
from npcompile.graph.builder import IMPURE, Diverged
from npcompile.graph.ir import Node
from npcompile.ops.operands import Storage
from npcompile.python.composite import Composite
from npcompile.python.values import (
    NULL,
    UNBOUND,
    Frame,
    HeapObject,
    State,
    Successors,
    TaggedUnion,
    Unreachable,
    Value,
)
from npcompile.tracing import control, joins, loops, selectors
from npcompile.tracing.joins import Arm
from npcompile.tracing.loop_effects import TypeMismatch

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


FORKS = 500  #: instructions that are traced once for each option


# ---------------------------------------------------------------------- what is looked at

#: how many of the topmost values an instruction looks into
_LOOKS: dict[str, int] = {
    "BINARY_OP": 2, "COMPARE_OP": 2, "IS_OP": 2, "CONTAINS_OP": 2, "UNARY_NEGATIVE": 1,
    "UNARY_INVERT": 1, "UNARY_POSITIVE": 1, "UNARY_NOT": 1, "TO_BOOL": 1, "CALL_INTRINSIC_1": 1,
    "BINARY_SUBSCR": 2, "BINARY_SLICE": 3, "STORE_SUBSCR": 3, "STORE_SLICE": 4,
    "DELETE_SUBSCR": 2, "GET_ITER": 1, "LIST_TO_TUPLE": 1, "LIST_EXTEND": 1, "DICT_UPDATE": 1,
    "DICT_MERGE": 1, "CONVERT_VALUE": 1, "FORMAT_SIMPLE": 1, "FORMAT_WITH_SPEC": 2,
    "FORMAT_VALUE": 2, "CALL_FUNCTION_EX": 4, "SET_FUNCTION_ATTRIBUTE": 2, "MAP_ADD": 2,
}
#: those that look at the topmost value itself, but not into it
_GLANCES: dict[str, int] = {
    "UNPACK_SEQUENCE": 1, "UNPACK_EX": 1, "LOAD_ATTR": 1, "LOAD_METHOD": 1, "STORE_ATTR": 1,
}
_BINDS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "DELETE_FAST"})
_JUMPS = ("POP_JUMP", "JUMP_IF")
_MAKES = {"BUILD_MAP": 2, "BUILD_CONST_KEY_MAP": 1, "BUILD_STRING": 1, "MAKE_FUNCTION": 0}


def looked_at(t: Tracer, frame: Frame, i: Instruction) -> TaggedUnion | None:
    """A value that an instruction looks at and that depends on the path."""
    stack, heap = frame.state.stack, frame.state.heap
    if i.op in _LOOKS:
        return _first(_within(value, heap) for value in stack[-_LOOKS[i.op] :])
    if i.op in _GLANCES or i.op.startswith(_JUMPS):
        return _first([stack[-1]])
    if i.op in _BINDS:
        return _unbound(frame.state.locals[i.arg])
    if i.op == "LOAD_FAST_LOAD_FAST":
        bound = (frame.state.locals[k] for k in (i.arg >> 4, i.arg & 15))
        return _first(map(_unbound, bound))
    if i.op == "STORE_FAST_LOAD_FAST" and i.arg >> 4 != i.arg & 15:
        return _unbound(frame.state.locals[i.arg & 15])
    if i.op in ("CALL", "CALL_KW"):
        called = stack[len(stack) - i.arg - 2 - (i.op == "CALL_KW") :]
        heads = _first(called[:2])
        if heads is not None or t.inlines(*_callee(called[0], called[1])):
            return heads
        return _first(_within(value, heap) for value in called)
    if i.op in _MAKES:
        return _first(_within(v, heap) for v in stack[len(stack) - _MAKES[i.op] * i.arg - 1 :])
    return None


def _callee(first: Value, second: Value) -> tuple[Value]:
    if VERSION < (3, 13):
        return (second if first is NULL else first,)
    return (first,)


def _first(found: Iterable[Value | None]) -> TaggedUnion | None:
    return next((value for value in found if isinstance(value, TaggedUnion)), None)


def _unbound(value: Value) -> TaggedUnion | None:
    return value if isinstance(value, TaggedUnion) and UNBOUND in value.options else None


def _parts(value: Value, heap: dict[Storage | HeapObject, Any]) -> tuple[Value, ...]:
    """The values that a value consists of, as an operator sees it."""
    match value:
        case HeapObject() if value.kind in (list, dict):
            if value not in heap:
                raise refuse("if", "depends on data, and only one path makes a list or object")
            contents = heap[value]
            if isinstance(contents, dict):
                return tuple(contents.values())
            return contents if isinstance(contents, tuple) else ()
        case Composite() if not value.closed:
            return value.parts()
    return ()


def _within(value: Value, heap: dict[Storage | HeapObject, Any]) -> TaggedUnion | None:
    if isinstance(value, TaggedUnion):
        return value
    return _first(_within(part, heap) for part in _parts(value, heap))


# ---------------------------------------------------------------------- one option at a time


def _narrowed(state: State, union: TaggedUnion, to: Value, depth: int) -> State:
    """The state in which a value is one of its options, from a depth of the stack on; all of it
    where that is 0."""

    def within(value: Value) -> Value:
        match value:
            case TaggedUnion() if value is union:
                return to
            case HeapObject() if value.kind in (list, dict):
                contents = made.heap[value]
                if isinstance(contents, dict):
                    made.heap[value] = {key: within(item) for key, item in contents.items()}
                elif isinstance(contents, tuple):
                    made.heap[value] = tuple(map(within, contents))
            case Composite() if _within(value, state.heap) is not None:
                return value.mapped(within)
        return value

    made = state.copy()
    made.stack[depth:] = map(within, made.stack[depth:])
    if not depth:
        made.locals[:] = map(within, made.locals)
    return made


def fork(t: Tracer, frame: Frame, i: Instruction, union: TaggedUnion) -> Successors | None:
    """Executes an instruction for the first option of a value that it looks at, and for the
    others; what a handler returns."""
    if t.count_fork() > FORKS:
        raise t.refuse("if", "depends on data, and what follows differs from path to path")
    first, *others = union.options
    everywhere = i.op in _BINDS or i.jumps or "LOAD_FAST" in i.op
    depth = 0 if everywhere else _depth(frame, union)
    before = frame.state
    if not others:  # what loops carry may be of one kind and yet another array in each iteration
        frame.goes_on(_narrowed(before, union, first, depth))
        return control.instruct(t, frame, i, frame.stack)
    rest = replace(union, codes=union.codes[1:], options=tuple(others))
    second = others[0] if len(others) == 1 else rest
    states = [_narrowed(before, union, option, depth) for option in (first, second)]
    if not everywhere and _alike(t, frame, i, states):
        return None
    condition = selectors.selects(t, union.tag, union.codes[0])
    return _arms(t, frame, i, condition, states, lambda option: _narrowed(
        before, union, (first, second)[option], 0))


def _depth(frame: Frame, union: TaggedUnion) -> int:
    """Where the operands of an instruction begin that looks at a value."""
    stack, heap = frame.state.stack, frame.state.heap
    depth = len(stack)
    for k, value in enumerate(stack):
        if _within(value, heap) is union:
            depth = min(depth, k)
    return depth


def _once(t: Tracer, frame: Frame, i: Instruction, state: State) -> Successors:
    """The exits of an instruction; NEXT is the one after it."""
    frame.goes_on(state)
    try:
        exits = control.instruct(t, frame, i, state.stack)
    except Unreachable:
        return Successors({})
    return Successors({NEXT: frame.state}) if exits is None else exits


def _alike(t: Tracer, frame: Frame, i: Instruction, states: list[State]) -> bool:
    """Executes an instruction for both options as one, if they do the same."""
    builder, before, made = t.builder, loops.Checkpoint(t, frame), len(t.created)
    stack, first = frame.stack, len(builder.region.nodes)
    way, expected = t.way(), builder.expected
    again = None if expected is None else list(expected)

    def run(state: State) -> Arm:
        t.reach(way)
        created = len(t.created)
        frame.goes_on(state.copy())
        if control.instruct(t, frame, i, stack) is not None:
            raise Diverged
        if t.effects.pending.keys() != before.pending.keys():  # a cell that the other has not
            raise Diverged
        arm = Arm(NEXT, frame.state, Successors({NEXT: frame.state}), t.way())
        arm.created.update(t.created[created:])
        return arm

    with t.one_for_all():
        try:
            one, nodes = run(states[0]), len(builder.region.nodes)
            if again is None:
                effects = [n for n in builder.region.nodes[first:] if n.op in IMPURE]
                builder.expect([n for n in reversed(effects) if n.op != "check"])
            else:
                builder.expect(again)
            other = run(states[1])
            if len(builder.region.nodes) != nodes or (again is None and builder.expected):
                raise Diverged
            frame.goes_on(joins.same_states(t, frame, one, other))
        except (Diverged, Refused, Unreachable):
            builder.expect(expected)
            before.restore()
            del t.created[made:]
            if t.trying > 1:
                raise Diverged from None
            return False
        except TypeMismatch:  # a loop around begins anew
            builder.expect(expected)
            raise
    builder.expect(None if expected is None else builder.expected)
    frame.begins(i, stack, frame.writes)
    return True


def _arms(
    t: Tracer, frame: Frame, i: Instruction, condition: Node, states: list[State],
    certain: Callable[[int], State],
) -> Successors | None:
    """Executes an instruction for both options, each in a region of its own."""
    t.parts()
    origin, before = t.way(), t.mark()
    arms = [Arm(NEXT, state, Successors({NEXT: state.copy()}), origin) for state in states]
    for k, arm in enumerate(arms):
        control.enter(
            t, frame, arm, origin, lambda exits: _once(t, frame, i, exits.states[NEXT])
        )
        if not arm.exits.states:
            t.back_to(before)
            t.builder.check(condition if k else control.negate(t, condition), "Python raises")
            frame.goes_on(certain(1 - k))
            return control.instruct(t, frame, i, frame.stack)
    targets = {target for arm in arms for target in arm.exits.states}
    if NEXT not in targets:
        control.leaves(frame, targets)
    t.reach(*(arm.reached for arm in arms))
    exits = joins.join(t, frame, condition, *arms)
    if list(exits.states) != [NEXT]:
        assert NEXT not in exits.states
        return exits
    frame.goes_on(exits.states[NEXT])
    return None
