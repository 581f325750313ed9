"""Fourier transforms along the last axis, on blocks of rows.

They ask once, before the loop over blocks, what transforms of their length are computed by.  That
may fail, and then everything is run again in Python: so only transforms whose check stands where
that is still possible belong to a group.
"""

from __future__ import annotations

from npcompile.core.facts import Facts
from npcompile.core.records import replace
from npcompile.core.sizes import Size, product
from npcompile.graph.ir import Extern, Geometry
from npcompile.graph.transform_spec import transform_spec
from npcompile.graph.types import INT
from npcompile.program.ir import Buffer, RoutineCall, SideExit, Statement, View
from npcompile.schedule.fusion.routine_rows import RoutineByRows, RoutineTouch


class TransformRows(RoutineByRows):
    """A transform of the last of several axes."""

    checked = True

    def touches(self) -> list[RoutineTouch]:
        (view,), made = self.call.inputs, self.call.outputs[0]
        read, written = view.geometry.shape[-1], made.shape[-1]
        return [RoutineTouch(view.buffer, False, read, view.geometry.offset, read),
                RoutineTouch(made, True, written, 0, written)]

    def prepared(self, name: str) -> Buffer:
        return Buffer(name, "scalar", INT)

    def before(self, found: Buffer | None, check: SideExit | None) -> list[Statement]:
        """Finds the entry of a length, or leaves."""
        assert check is not None and found is not None
        (view,), routine = self.call.inputs, self.call.routine
        points = transform_spec(routine.spec).length(view.geometry.shape)
        what = Extern("transform_entry", routine.name, f"{routine.spec} {view.dtype.name}", True)
        entry = RoutineCall(what, (), (found, check.buffer), self.call.line, (points,))
        return [entry, check]

    def on_rows(self, found: Buffer | None, start: Size, count: Size, private: dict[Buffer, Buffer]
                ) -> RoutineCall:
        call = self.call
        assert found is not None
        (view,), made, routine = call.inputs, call.outputs[0], call.routine

        def part(buffer: Buffer, offset: Size, length: Size) -> Geometry:
            begin = offset if buffer in private else offset + start * length
            return Geometry(begin, (count, length), (length, 1))

        source = part(view.buffer, view.geometry.offset, view.geometry.shape[-1])
        operand = View(private.get(view.buffer, view.buffer), source, view.dtype)
        spec = transform_spec(routine.spec)
        what = Extern("transform_rows", routine.name, str(replace(spec, axis=1)), routine.quiet)
        number = View(found, Geometry(0, (), ()), INT)
        return RoutineCall(what, (operand, number), (private.get(made, made),), call.line,
                           into=part(made, 0, made.shape[-1]))


def by_rows(facts: Facts, call: RoutineCall, rounds: bool) -> TransformRows | None:
    """A transform by rows, if it is one of rows."""
    geometry = call.inputs[0].geometry
    last = len(geometry.shape) - 1
    if last > 0 and transform_spec(call.routine.spec).axis == last and not geometry.part:
        return TransformRows(call, facts.norm(product(geometry.shape[:-1])))
    return None
