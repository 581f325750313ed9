"""Routines that do the same for each row of an array, on blocks of rows.

A Fourier transform along the last axis asks once, before the loop over blocks, what transforms of
its length are computed by.  That may fail, and then everything is run again in Python: so only
transforms whose check stands where that is still possible belong to a group.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.core.facts import Facts
from npcompile.core.records import replace
from npcompile.core.sizes import Size, product
from npcompile.graph.ir import Extern, Geometry
from npcompile.graph.routines import transform_spec
from npcompile.graph.types import INT
from npcompile.program.ir import Buffer, Exit, RoutineCall, SideExit, Statement, View


def has_rows(call: RoutineCall) -> bool:
    """Whether it transforms the last of several axes."""
    geometry = call.inputs[0].geometry
    last = len(geometry.shape) - 1
    return last > 0 and transform_spec(call.routine.spec).axis == last and not geometry.part


def rows(facts: Facts, call: RoutineCall) -> Size:
    return facts.norm(product(call.inputs[0].geometry.shape[:-1]))


def check_of(
    call: RoutineCall, behind: Sequence[Statement], exits: Sequence[Exit]
) -> SideExit | None:
    """The check that follows a routine, if everything is run again where it fails."""
    for check in behind:
        if isinstance(check, SideExit) and check.buffer is call.outputs[1]:
            whole = check.number < len(exits) and not exits[check.number].frames
            return check if whole and not check.leaving else None
    return None


def before(call: RoutineCall, entry: Buffer, check: SideExit) -> list[Statement]:
    """Finds the entry of a length, or leaves."""
    (view,), routine = call.inputs, call.routine
    points = transform_spec(routine.spec).length(view.geometry.shape)
    what = Extern("transform_entry", routine.name, f"{routine.spec} {view.dtype.name}", True)
    return [RoutineCall(what, (), (entry, check.buffer), call.line, (points,)), check]


def on_rows(
    call: RoutineCall, entry: Buffer, start: Size, count: Size, private: dict[Buffer, Buffer]
) -> RoutineCall:
    """The routine on ``count`` rows from ``start`` on."""
    (view,), made, routine = call.inputs, call.outputs[0], call.routine

    def part(buffer: Buffer, offset: Size, length: Size) -> Geometry:
        begin = offset if buffer in private else offset + start * length
        return Geometry(begin, (count, length), (length, 1))

    source = part(view.buffer, view.geometry.offset, view.geometry.shape[-1])
    operand = View(private.get(view.buffer, view.buffer), source, view.dtype)
    spec = transform_spec(routine.spec)
    what = Extern("transform_rows", routine.name, str(replace(spec, axis=1)), routine.quiet)
    number = View(entry, Geometry(0, (), ()), INT)
    return RoutineCall(what, (operand, number), (private.get(made, made),), call.line,
                       into=part(made, 0, made.shape[-1]))
