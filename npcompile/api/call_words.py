"""Library calls and routines of a program in words."""

from __future__ import annotations

from npcompile.core.lines import in_words
from npcompile.core.sizes import hint
from npcompile.fft.plans import plan
from npcompile.graph.transform_spec import transform_spec
from npcompile.ops import foreign
from npcompile.program.ir import Call, RoutineCall


def host_call(call: Call, here: str) -> str:
    """A call of a library's function, with its line in the file ``here``."""
    place = f"{in_words(call.line, here)}: " if call.line else ""
    parts = call.function.path.replace(":", ".").split(".")
    public = ".".join(p for p in parts if not p.startswith("_"))  # without private modules
    return place + foreign.TOLD.get(public, public)


def routine(call: RoutineCall, here: str) -> str:
    """A call of a routine; of a transform with its plan."""
    if call.routine.routine in ("transform", "transform_rows"):
        what = transform_spec(call.routine.spec)
        points = hint(what.length(call.inputs[0].geometry.shape))
        half = points % 2 == 0 and what.kind in ("r2c", "c2r")
        made = plan(points // 2 if half else points)
        return (f"{in_words(call.line, here)}: {call.routine.name} of {points:,} points along "
                f"axis {what.axis} ({made})")
    return f"{in_words(call.line, here)}: {call.routine.name}{_operands(call.routine.spec)}"


def _operands(spec: str) -> str:
    """The operands of a product in words; options of other routines are left out."""
    if "->" not in spec:
        return ""
    axes = [len(word) for word in spec.partition("->")[0].split(",")]
    names = {1: "a vector", 2: "a matrix"}
    return " of " + " and ".join(names.get(n, f"an array of {n} axes") for n in axes)
