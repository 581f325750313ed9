"""Calls of the ufuncs that ``npcompile.vectorize`` makes: the plain function is followed for each
element, with operands and a result of the dtypes that the ufunc's loop has.

Floating-point errors, integers that overflow and exceptions leave the call for Python, which calls
the ufunc itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.records import replace
from npcompile.graph.ir import Node
from npcompile.graph.types import PYTHON, Scalar
from npcompile.guards.kinds import IdentityGuard, LengthGuard
from npcompile.guards.sources import Attribute, FunctionSource, Source
from npcompile.ops import views
from npcompile.ops.operands import ArrayRef, Operand
from npcompile.python.values import Value
from npcompile.tracing.polyfills.consumers import follow

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

HINT = "on numbers call the plain function: `__wrapped__`"


# ---------------------------------------------------------------------- in Python


def _mapped(function: Any, given: Any, kinds: Any, result: Any, *args: Any) -> Any:
    """A call of a ufunc made of ``function``, whose loop has these dtypes."""
    cast = [np.asarray(np.asarray(a, own), kind) for a, own, kind in zip(args, given, kinds)]
    arrays = np.broadcast_arrays(*cast)
    flat = [a.reshape(-1) for a in arrays]
    out = np.empty(arrays[0].shape, result)
    elements = out.reshape(-1)
    for k in range(len(elements)):
        elements[k] = function(*[a[k] for a in flat])
    return out


def _mapped_number(function: Any, given: Any, kinds: Any, result: Any, *args: Any) -> Any:
    """The same of numbers."""
    return result(function(*[kind(own(a)) for a, own, kind in zip(args, given, kinds)]))


# ---------------------------------------------------------------------- calls of them


def called(
    t: Tracer, held: Any, source: Source | None, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """A call of a ufunc or gufunc that npcompile has made."""
    name = held.__qualname__
    if source is None or not held.of_numbers:
        raise t.refuse(name, "is a ufunc, which Python calls", HINT)
    if kwargs or len(args) != held.nin:
        raise t.refuse(name, "is a ufunc, called with out= or other options", HINT)
    operands = [t.operand(a) for a in args]
    kinds = tuple([_kind(t, name, a) for a in operands])
    signatures = Attribute(source, "declared")
    t.inputs.guard(IdentityGuard(signatures, held.declared) if held.declared
                   else LengthGuard(signatures, 0))
    try:
        types = held.loop_types(kinds)
    except TypeError:
        raise t.refuse(name, "has no loop for these operands: it raises") from None
    except Refused as refused:
        why = f"is a ufunc, which Python calls: {refused.refusal}"
        raise t.refuse(name, why, HINT) from None
    plain = Attribute(source, "__wrapped__")
    function = t.inputs.lift(held.__wrapped__, plain)
    dtypes = types.given, types.operands, types.result
    if any(isinstance(a, ArrayRef) for a in operands):
        made = follow(t, _mapped, function, *map(t.value, dtypes), *args)
    else:
        made = follow(t, _mapped_number, function, *map(t.value, map(_classes, dtypes)), *args)
    looked = {guard.source for guard in t.inputs.guards} | {x.source for x in t.inputs.leaves}
    if not looked.issuperset([_within(read, plain) for read in types.reads]):
        raise t.refuse(name, "has a dtype that rests on what is not read for these operands")
    return made


def _kind(t: Tracer, name: str, operand: Operand) -> Any:
    """The dtype of an operand of a ufunc; the class of a number of Python's."""
    if isinstance(operand, ArrayRef) and operand.ndim:
        if operand.ndim > 1 and not views.is_contiguous(t, operand):
            raise t.refuse(name, "of arrays that are not C-contiguous: NumPy has another order")
        return operand.dtype
    if isinstance(operand, Node) and isinstance(operand.type, Scalar):
        return operand.type.python_type if operand.type.origin == "py" else operand.dtype
    if type(operand) in PYTHON:
        return type(operand)
    if isinstance(operand, np.generic):
        return operand.dtype
    raise t.refuse(name, "of what is no number and no array")


def _classes(dtypes: Any) -> Any:
    """The classes of numbers of some dtypes."""
    if isinstance(dtypes, np.dtype):
        return dtypes.type
    return tuple([dtype.type for dtype in dtypes])


def _within(source: Source, owner: Source) -> Source:
    """The place that a function reads, for a caller to whom ``owner`` leads to the function."""
    if isinstance(source, FunctionSource):
        held = owner if source.owner is None else _within(source.owner, owner)
        return replace(source, owner=held)
    return source if source.base is None else replace(source, base=_within(source.base, owner))
