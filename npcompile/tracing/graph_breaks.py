"""Functions in regions: compiled, a little of Python, compiled again.

Where an instruction of the outermost function can't be followed, the compiled region ends before
it, wherever that is: in a branch or in an iteration of a loop.  Python executes the rest of the
statement, and tracing begins anew behind it with what variables and stack then hold.
"""

from __future__ import annotations

import opcode
from collections.abc import Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Union

from npcompile.core.errors import TOO_LONG, Refusal
from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.core.sizes import Size, Unhinted, hint, product
from npcompile.frontend.bytecode import ENDS, GENERATORS, RETURN, Code, Instruction, analyse
from npcompile.graph.ir import Check, Graph, Resume, walk
from npcompile.graph.types import Array, Nothing
from npcompile.guards.sources import Arg
from npcompile.python.values import UNBOUND, Frame, State, Static, Successors, Unreachable, Value

if TYPE_CHECKING:
    from npcompile.tracing import iteration, selectors
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tracing", "iteration", "selectors")

#: how a stack slot comes in: as it is, or as the parts of an iterator
Slot = Union[str, tuple[Any, ...]]
#: what can't be followed, by the offset of its instruction
GraphBreaks = Mapping[int, Refusal]
#: elements of an array from which a region is worth the way into it and out again
MANY = 2048


@record
class ResumePoint:
    """Where in a function to begin, and what is there then: variables, and the value stack.

    ::

        slot ::= "value" | "range" | "array" | "items" | ("enumerate", slot) | ("zip", slot, ...)

    A range comes as three numbers, what is left of an array or tuple as such, and what counts an
    ``enumerate`` after what it runs over.  Each takes one argument, named ``.0``, ``.1``, ...
    """

    offset: int
    names: tuple[str, ...]
    stack: tuple[Slot, ...]


def begin(
    t: Tracer, function: FunctionType, bound: Mapping[str, object], start: ResumePoint
) -> Frame:
    """The frame to go on in."""
    code = analyse(function.__code__, start.offset)
    closure = t.free_variables(function, None)
    variables: list[Value] = [UNBOUND] * len(code.names)
    variables[len(variables) - len(closure) :] = closure
    held = iter([
        t.inputs.lift(value, Arg(name, position))
        for position, (name, value) in enumerate(bound.items())
    ])
    for name in start.names:
        variables[code.names.index(name)] = next(held)
    stack = [_slot(t, slot, held) for slot in start.stack]
    return Frame(code, function.__globals__, None, closure, State(variables, stack, {}))


def _slot(t: Tracer, slot: Slot, held: Any) -> Value:
    if slot == "value":
        value: Value = next(held)
        return value
    return iteration.begin(t, _iterable(t, slot, held))


def _iterable(t: Tracer, slot: Slot, held: Any) -> Value:
    """Makes the iterable of a loop from the arguments that stand for its stack slot."""
    match slot:
        case "range":
            ends = (next(held), next(held), next(held))
            return t.call(Static(range), ends, {})
        case ("enumerate", inner):
            parts = (_iterable(t, inner, held), next(held))
            return t.call(Static(enumerate), parts, {})
        case ("zip", *inner):
            made = tuple([_iterable(t, part, held) for part in inner])
            return t.call(Static(zip), made, {})
    value: Value = next(held)
    return value


def finish(t: Tracer, frame: Frame, exits: Successors) -> Value:
    """Emits the checks that leave the outermost function at its graph breaks; the function's
    result."""
    if not exits.states:
        raise Unreachable
    t.frames.append(frame)
    for target, state in exits.states.items():
        if target == RETURN:
            continue
        block, instruction = t.places[target]
        frame.enters(block, state)
        frame.begins(instruction, state.stack, t.writes)
        t.builder.at(instruction.line)
        goes_on = t.builder.const(False)
        if exits.selector is not None and len(exits.states) > 1:
            selected = selectors.selects(t, exits.selector, target)
            goes_on = t.builder.emit("bit_not", (selected,), None, selected.type)
        refusal = t.graph_breaks[instruction.offset]
        resume = Resume((t.trees.frame_with_a_graph_break(frame),), graph_breaks=True)
        t.builder.emit("check", (goes_on,), Check(str(refusal), resume), Nothing())
    t.frames.pop()
    end = exits.states.get(RETURN)
    if end is None:
        return Static(None)
    frame.goes_on(end)
    return end.stack[-1]


# ------------------------------------------------------------------ where to leave

#: names by which functions look at how long objects live
_LIVES = frozenset({"getrefcount", "weakref"})


def may_graph_break(function: FunctionType, place: int) -> bool:
    """Whether Python may go on before the instruction at an offset: not where references are
    counted, as those that wait for the rest of the function would be, too."""
    code = function.__code__
    inner = (c.co_names for c in code.co_consts if isinstance(c, CodeType))
    return (place >= 0 and not code.co_flags & GENERATORS
            and _LIVES.isdisjoint(code.co_names) and all(map(_LIVES.isdisjoint, inner)))


@lru_cache(maxsize=1024)
def statement_end(code_object: CodeType, place: int) -> tuple[int, int]:
    """Where compiled code may go on after the statement of an instruction, or before a jump on
    its value, and the depth of the value stack there; RETURN: nowhere.

    No other jump and no handler may come before, and variables must be the function's own.
    """
    code, nowhere = analyse(code_object), (RETURN, 0)
    depths = _depths(code_object)
    found = [b for b, body in code.blocks.items() if any(i.offset == place for i in body)]
    if code_object.co_cellvars or not found or place not in depths:
        return nowhere
    (block,) = found
    base = sum(
        block in body and any(i.op == "FOR_ITER" for i in code.blocks[header])
        for header, body in code.loops.items()
    )
    for i in code.blocks[block]:
        if i.offset < place:
            continue
        if i.jumps and i.offset > place and depths[i.offset] == base + 1:
            return i.offset, base + 1
        if i.jumps or i.op in ENDS or code.handlers(i.offset, i.after):
            return nowhere
        if depths[i.offset] + effect(code.code, i) == base:
            return i.after, base
    return nowhere


@lru_cache(maxsize=64)
def _depths(code_object: CodeType) -> dict[int, int]:
    return stack_depths(analyse(code_object))


def stack_depths(code: Code) -> dict[int, int]:
    """The depth of the value stack before each instruction that is reached without exceptions."""
    found: dict[int, int] = {}
    work = [(code.entry, 0)]
    seen = {code.entry}
    while work:
        block, depth = work.pop()
        for i in code.blocks[block]:
            found[i.offset] = depth
            after = depth + effect(code.code, i)
            if i.jumps and i.target not in seen:
                seen.add(i.target)
                work.append((i.target, depth + effect(code.code, i, True)))
            depth = after
        for target in code.successors[block]:
            if target not in seen:
                seen.add(target)
                work.append((target, depth))
    return found


def effect(code: CodeType, i: Instruction, jump: bool = False) -> int:
    """How much deeper the value stack is after an instruction with its prefixes."""
    if i.op == "FOR_ITER" and jump:
        return -1
    total, extended = 0, 0
    for offset in range(i.offset, i.at + 2, 2):
        number, arg = code.co_code[offset], code.co_code[offset + 1] | extended
        extended = arg << 8 if opcode.opname[number] == "EXTENDED_ARG" else 0
        if extended or opcode.opname[number] in ("CACHE", "EXTENDED_ARG"):
            continue
        total += opcode.stack_effect(
            number, arg if number >= opcode.HAVE_ARGUMENT else None, jump=jump
        )
    return total


def worthwhile(graph: Graph, function: FunctionType, graph_breaks: GraphBreaks) -> bool:
    """Whether a region that pauses does enough, or may be followed by one that does: it has
    loops or large arrays, or there are loops in the function.  It does not if Python takes over
    in the middle of a loop for good, or where a trace has become too long: what comes after one
    statement more is as long."""
    code = analyse(function.__code__)
    comes_back = any(
        statement_end(code.code, place)[0] != RETURN
        for place, why in graph_breaks.items()
        if not why.reason.startswith(TOO_LONG)
    )
    if comes_back and code.loops:
        return True
    within = {i.offset for body in code.loops.values() for b in body for i in code.blocks[b]}
    return is_heavy(graph) and (comes_back or within.isdisjoint(graph_breaks))


def is_heavy(graph: Graph) -> bool:
    """Whether a graph has loops or large arrays."""
    return any(
        node.op in ("for_", "while_")
        or (isinstance(node.type, Array) and node.op != "param"
            and _elements(node.type.shape) >= MANY)
        for node in walk(graph.region)
    )


def _elements(shape: tuple[Size, ...]) -> int:
    try:
        return hint(product(shape))
    except Unhinted:
        return MANY
