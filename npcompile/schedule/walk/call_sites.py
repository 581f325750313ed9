"""Calls: of routines and of NumPy's functions, whose results have known types, and of any Python
function, which may keep its operands and whose results are taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from npcompile.core.errors import refuse
from npcompile.graph.ir import CallSite, Extern, Geometry, Get, HostCall, Node
from npcompile.graph.types import OBJECT, Array, Nothing, Opaque, Scalar, Tuple, Type, c_strides
from npcompile.schedule.memory.memories import BufferView, Memory
from npcompile.schedule.walk.demand import is_number
from npcompile.schedule.walk.draft_statements import Host, Operand, RoutineStep

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler


def call_routine(s: Scheduler, node: Node) -> None:
    """Schedules a call of a routine.  A view of another operand is found in its memory: BLAS
    takes another way for a matrix times its own transpose."""
    for arg in node.args:
        if arg.op == "read" and arg not in s.place and arg.args[0] in node.args:
            s.place[arg] = s.laid_out(arg.args[0]).geometry(cast(Geometry, arg.attrs))
    inputs, outputs = _operands(s, node)
    s.steps.append(RoutineStep(cast(Extern, node.attrs), inputs, outputs, node.line))


def settle(s: Scheduler, node: Node) -> None:
    """Schedules the end of a region whose floating-point flags are its own."""
    inputs = tuple([
        ((s.number(arg).whole(s.facts) if isinstance(arg.type, Scalar) else s.materialise(arg)),
         arg.dtype, "np") for arg in node.args
    ])
    s.steps.append(RoutineStep(cast(Extern, node.attrs), inputs, (), node.line))


def call(s: Scheduler, node: Node) -> None:
    """Schedules a call of a Python function."""
    _put_together(s)
    if isinstance(node.attrs, CallSite):
        call_site(s, node, node.attrs)
        return
    inputs, outputs = _operands(s, node)
    host, type_ = cast(HostCall, node.attrs), node.type
    if not host.out and isinstance(type_, Array) and type_.strides == c_strides(type_.shape):
        outputs[0].becomes("owned")
    s.steps.append(Host(host, inputs, outputs, node.line))


def _put_together(s: Scheduler) -> None:
    """Stores values that are computed from several temporaries which nobody else needs: these would
    all be there during the call."""
    needed = {place.memory for node, place in s.place.items()
              if s.demand.last_use.get(node, -1) > s.now}
    made = {memory for memory in s.memories[s.iteration :] if memory.kind == "temp"} - needed
    for node in list(s.live):
        if (node not in s.place and not is_number(node) and s.demand.last_use[node] > s.now
                and len(_read(s, node) & made) > 1):
            s.note(node, "a value is stored, because it takes less memory than its operands")
            s.materialise(node)


def _read(s: Scheduler, root: Node) -> set[Memory]:
    """The memories that a value is computed from."""
    seen, stack, found = {root}, [root], set[Memory]()
    while stack:
        node = stack.pop()
        if node in s.place:
            found.add(s.place[node].memory)
            continue
        operands = node.args[1:2] if node.op == "write" else node.args
        stack += [arg for arg in operands if arg not in seen]
        seen.update(operands)
    return found


def _operands(s: Scheduler, node: Node) -> tuple[tuple[Operand, ...], tuple[Memory, ...]]:
    """Where a call finds its operands, and fresh memory for its results."""
    inputs = tuple([(s.materialise(arg), arg.dtype, "np") for arg in node.args])
    several = isinstance(node.type, Tuple)
    types = node.type.items if isinstance(node.type, Tuple) else (node.type,)
    outputs = []
    for type_ in types:
        if isinstance(type_, Nothing):
            continue
        if not isinstance(type_, (Array, Scalar)):
            raise refuse(node.op, "returns something that is no array", node.line)
        strides = type_.strides if isinstance(type_, Array) else ()
        kind: Literal["temp", "scalar"] = "temp" if isinstance(type_, Array) else "scalar"
        outputs.append(s.memory("h", kind, type_.dtype, type_.shape, strides))
    if several:
        for user in s.demand.consumers[node]:
            assert isinstance(user.attrs, Get)
            s.place[user] = outputs[user.attrs.index].whole(s.facts)
    elif outputs:
        s.place[node] = outputs[0].whole(s.facts)
    return inputs, tuple(outputs)


def call_site(s: Scheduler, node: Node, site: CallSite) -> None:
    """Schedules a call.  An array operand is in memory of a NumPy array, so that what the callee
    keeps of it stays valid."""
    inputs = tuple([_operand(s, arg) for arg in node.args])
    assert isinstance(node.type, Tuple)
    outputs = tuple([_output(s, kind) for kind in node.type.items])
    for user in s.demand.consumers[node]:
        assert isinstance(user.attrs, Get)
        s.place[user] = outputs[user.attrs.index].whole(s.facts)
    s.steps.append(Host(site, inputs, outputs, node.line))


def _operand(s: Scheduler, arg: Node) -> tuple[BufferView, np.dtype, str]:
    if isinstance(arg.type, Scalar):
        return s.number(arg).whole(s.facts), arg.dtype, arg.type.origin
    if isinstance(arg.type, Opaque):
        return s.place[arg], OBJECT, "np"
    place = s.materialise(arg)
    if place.memory.kind == "temp":
        place.memory.becomes("owned")
    return place, arg.dtype, "np"


def _output(s: Scheduler, kind: Type) -> Memory:
    if isinstance(kind, Array):
        return s.memory("h", "owned", kind.dtype, kind.shape, kind.strides)
    if isinstance(kind, Scalar):
        return s.memory("s", "scalar", kind.dtype)
    assert isinstance(kind, Opaque)
    return s.memory("o", "object", OBJECT)
