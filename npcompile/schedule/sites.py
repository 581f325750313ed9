"""Calls of any Python function: operands that it may keep, results that are taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.graph.ir import Get, Node, Site
from npcompile.graph.types import OBJECT, Array, Opaque, Scalar, Tuple, Type
from npcompile.schedule.memory import Memory, Place
from npcompile.schedule.steps import Host

if TYPE_CHECKING:
    from npcompile.schedule.scheduler import Scheduler


def call_site(s: Scheduler, node: Node, site: Site) -> None:
    """Schedules a call.  An array operand is in memory of a NumPy array, so that what the callee
    keeps of it stays valid."""
    inputs = tuple([_operand(s, arg) for arg in node.args])
    assert isinstance(node.type, Tuple)
    outputs = tuple([_output(s, kind) for kind in node.type.items])
    for user in s.demand.consumers[node]:
        assert isinstance(user.attrs, Get)
        s.place[user] = outputs[user.attrs.index].whole(s.facts)
    s.steps.append(Host(site, inputs, outputs, node.line))


def _operand(s: Scheduler, arg: Node) -> tuple[Place, np.dtype, str]:
    if isinstance(arg.type, Scalar):
        return s.number(arg).whole(s.facts), arg.dtype, arg.type.origin
    if isinstance(arg.type, Opaque):
        return s.place[arg], OBJECT, "np"
    place = s.materialise(arg)
    if place.memory.kind == "temp":
        place.memory.kind = "owned"
    return place, arg.dtype, "np"


def _output(s: Scheduler, kind: Type) -> Memory:
    if isinstance(kind, Array):
        return s.memory("h", "owned", kind.dtype, kind.shape, kind.strides)
    if isinstance(kind, Scalar):
        return s.memory("s", "scalar", kind.dtype)
    assert isinstance(kind, Opaque)
    return s.memory("o", "object", OBJECT)
