"""Values that may be computed although nobody has asked for them."""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.graph.ir import integer
from npcompile.graph.primitives import PRIMITIVES
from npcompile.program.ir import Apply, Constant, Load, Value

_DIVISIONS = frozenset({"int_div", "int_mod"})


def quiet(values: Sequence[Value], value: Value) -> bool:
    """Whether one of ``values`` neither traps, nor raises a floating-point flag, nor touches
    memory."""
    if not isinstance(value, Apply):
        return not isinstance(value, Load)
    operands = [values[arg] for arg in value.args]
    if value.op in _DIVISIONS:
        by = operands[1]
        return isinstance(by, Constant) and by.dtype.kind == "i" and integer(by.value) > 0
    floating = any(v.dtype.kind in "fc" for v in (*operands, value))
    if value.op in ("cast", "lookup", "call") or not floating:
        return not floating
    return not PRIMITIVES[value.op].flags
