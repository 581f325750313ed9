"""Calls of torch's functions that have no record: they run as they are, at their place.

Those that give fresh tensors are predicted on torch's ``meta`` device, or by their first real
call.  Forms in place change a copy of the memory, which is written back, so that autograd hears of
it as of every other store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.errors import Refused
from npcompile.ops import views
from npcompile.ops.foreign import Foreign
from npcompile.ops.operands import Context, Operand
from npcompile.python.values import Value, is_tensor
from npcompile.tensors import called_in_place, elementwise
from npcompile.tracing import (
    external_calls,
    observed_results,
    predicted_results,
)

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

#: options that functions are left to Python with
_OPTIONS = ("out", "inplace", "generator", "requires_grad")


def made(
    t: Tracer, held: Any, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool
) -> Value | None:
    """``held(*args, **kwargs)``; None if it is no function that may be called so."""
    if not t.inputs.tensors:  # a call's tensors vouch for torch's modes
        return None
    name = called_in_place.path(held)
    if name is None:
        return _changing(t, held, args, kwargs, plain)
    trial = called_in_place.Trial(held)
    found = Foreign(name, trial)
    external_calls.allowed(t, found, args, kwargs, True, _OPTIONS)
    try:
        shape = predicted_results.predict(t, found, args, kwargs)
    except Refused:  # its result depends on numbers, or torch has no rule for it
        found = Foreign(name, None, observed=True)
        shape = observed_results.predict(t, found, args, kwargs)
    if trial.draws:
        found = Foreign(name, trial, effect=True)
        if not plain:
            raise t.refuse(name, "draws, and is called from inside another function")
    return external_calls.emitted(t, found, held, shape, args, kwargs)


def _changing(
    t: Tracer, held: Any, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool
) -> Value | None:
    """``held(*args, **kwargs)``, which changes its first operand and gives it; None if it does
    not."""
    name = called_in_place.path_of_change(held)
    if name is None or not args or not is_tensor(args[0]):
        return None
    trial = called_in_place.TrialOfChange(held)
    found = Foreign(name, trial)
    external_calls.allowed(t, found, args, kwargs, True, _OPTIONS)
    predicted_results.predict(t, found, args, kwargs)

    def may_change(ctx: Context, *operands: Operand) -> None:
        target, *others = operands
        elementwise.writes(ctx, target, others, name)
        if trial.draws and not views.is_contiguous(ctx, target.memory):
            raise ctx.refuse(name, "draws for elements that lie in another order")

    t.operate(may_change, *[x for x in (*args, *kwargs.values()) if is_tensor(x)])
    if trial.draws:
        found = Foreign(name, trial, effect=True)
        if not plain:
            raise t.refuse(name, "draws, and is called from inside another function")
    external_calls.changed(t, found, called_in_place.Change(held), args, kwargs)
    return args[0]
