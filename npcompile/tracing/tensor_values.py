"""Torch tensors as the traced program sees them.

A tensor is a :class:`~npcompile.python.values.TensorValue`, whose only part is the array that is
its memory: so it passes through joins and loops like a tuple, and whoever looks at it asks here
first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.paths import defer
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.python.bound_methods import Method
from npcompile.python.values import Sequence, Static, Value, is_tensor, shown

if TYPE_CHECKING:
    from npcompile.tensors import called_in_place, tensor_memory
    from npcompile.tensors.table import Function
    from npcompile.tracing import tensor_calls
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tensors", "called_in_place", "tensor_memory")
    defer(globals(), "npcompile.tracing", "tensor_calls")


def among(values: Iterable[Any]) -> bool:
    """Whether a torch tensor is among them."""
    return any(map(is_tensor, values))


def array(value: Value) -> ArrayRef:
    """The memory of a tensor."""
    return shown(value)


def operate(t: Tracer, operator: Callable[..., Operand], *values: Any) -> Value:
    """``operator(ctx, operands...)`` without floating-point errors: torch reports none."""
    with t.builder.hush("doui"):
        return t.operate(operator, *values)


def call(
    t: Tracer, meaning: Function, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """A function of torch's."""
    if not t.inputs.tensors:  # a call's tensors vouch for torch's modes
        raise t.refuse("torch", "in a function that no tensor comes to")

    def called(ctx: Context, args: Any, kwargs: Any) -> Operand:
        return meaning(ctx, *args, **kwargs)

    return operate(t, called, args, kwargs)


def _table() -> ModuleType:
    """Torch's names, read where there are tensors."""
    from npcompile.tensors import table

    return table


def _expressions() -> ModuleType:
    from npcompile.tensors import expressions

    return expressions


def _indexing() -> ModuleType:
    from npcompile.tensors import indexing

    return indexing


def _meaning(held: Any) -> Function | None:
    """The rule for a function of torch's, or None."""
    found: Function | None = _table().resolve(held) if "torch" in sys.modules else None
    return found


def _named(t: Tracer, path: str, *args: Value) -> Value:
    meaning = _table().rows().get(path)
    if meaning is None:
        raise t.refuse(f"torch.{path}", "is left to torch")
    held = tensor_memory.function(path)
    if held is None or not is_tensor(args[0]):
        return call(t, meaning, args, {})
    return _recorded(t, held, meaning, args, {}, False)


def binary(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """``left symbol right``, where one is a tensor; with ``=`` at its end in place."""
    plain = symbol.rstrip("=")
    if plain not in _expressions().OPERATORS:
        raise t.refuse(symbol, "of tensors is left to torch")
    name = _expressions().OPERATORS[plain]
    if symbol == plain or not is_tensor(left):
        return _named(t, name, left, right)
    meaning = _table().rows().get(f"Tensor.{name}_")
    if meaning is None:
        raise t.refuse(symbol, "of tensors is left to torch")
    call(t, meaning, (left, right), {})
    return left


def compare(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """``left symbol right``, where one is a tensor."""
    return _named(t, _expressions().OPERATORS[symbol], left, right)


def unary(t: Tracer, symbol: str, value: Value) -> Value:
    """``symbol value``"""
    return _named(t, _expressions().UNARY[symbol], value)


def getitem(t: Tracer, value: Value, key: Value) -> Value:
    """``value[key]``"""
    return operate(t, _indexing().getitem, value, key)


def setitem(t: Tracer, value: Value, key: Value, new: Value) -> None:
    """``value[key] = new``"""
    operate(t, _indexing().setitem, value, key, new)


def rows(t: Tracer, value: Value) -> Value:
    """``iter(value)``: the views of its first axis."""
    ref = array(value)
    if not ref.ndim:
        raise t.refuse("iteration", "over a tensor without axes: Python raises")
    places = t.call(Static(range), (t.builder.size(ref.shape[0]),), {})
    pick = Method(Static(tensor_memory.tensor_class().__getitem__), value)
    return t.call(Static(map), (pick, places), {})


def truth(t: Tracer, value: Value) -> Value:
    """``bool(value)`` of a tensor of one element."""
    return t.truth(_named(t, "Tensor.item", value))


# ------------------------------------------------------------------ attributes and calls

_CONSTANT: dict[str, Callable[[ArrayRef], Any]] = {
    "ndim": lambda ref: ref.ndim,
    "dtype": lambda ref: tensor_memory.torch_dtype(ref.dtype),
    "itemsize": lambda ref: ref.dtype.itemsize,
    "requires_grad": lambda ref: False,
    "is_cuda": lambda ref: False,
    "is_cpu": lambda ref: True,
    "is_leaf": lambda ref: True,
    "is_sparse": lambda ref: False,
    "grad": lambda ref: None,
    "device": lambda ref: sys.modules["torch"].device("cpu"),
    "layout": lambda ref: sys.modules["torch"].strided,
}
#: attributes that are functions of the tensor
_FUNCTIONS = {"real": "real", "imag": "imag", "H": "adjoint", "mH": "adjoint", "data": "detach"}
#: attributes that are views: the axes that they exchange
_VIEWS = {"T": (0, 1), "mT": (-2, -1)}


def load(t: Tracer, value: Value, name: str) -> Value:
    """``value.name``"""
    ref = array(value)
    if name == "shape":
        sizes = tuple(map(t.builder.size, ref.shape))
        return Sequence(sizes, tensor_memory.size_class())
    if name in _CONSTANT:
        return Static(_CONSTANT[name](ref))
    if name in _VIEWS:
        if ref.ndim != 2 and name == "T":
            raise t.refuse(".T", "of a tensor that is no matrix")
        return _named(t, "transpose", value, *map(Static, _VIEWS[name]))
    if name in _FUNCTIONS:
        return _named(t, _FUNCTIONS[name], value)
    held = getattr(tensor_memory.tensor_class(), name, None)
    if _meaning(held) is None and called_in_place.path(held) is None:
        raise t.refuse(f".{name}", "of a tensor is left to torch")
    return Method(Static(held), value)


def called(
    t: Tracer, held: Any, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool
) -> Value | None:
    """A call that is torch's, or that tensors take part in; None: it is neither, or goes on in a
    function of the program."""
    meaning = _meaning(held)
    if (
        meaning is not None
        and held is tensor_memory.tensor_class().size
        and len(args) == 1 > len(kwargs)
    ):
        return load(t, args[0], "shape")
    if meaning is not None:
        return _recorded(t, held, meaning, args, kwargs, plain)
    if t.inputs.tensors:  # most calls have none, and need none of the code
        made = tensor_calls.made(t, held, args, kwargs, plain)
        if made is not None:
            return made
    if not among((*args, *kwargs.values())) or not _of_library(held):
        return None
    if held in _NUMBERS and len(args) == 1 and not kwargs:
        return t.call(Static(held), (_named(t, "Tensor.item", *args),), {})
    if held is np.asarray and len(args) == 1 and not kwargs:
        return _named(t, "Tensor.numpy", *args)
    if held is abs and len(args) == 1:
        return _named(t, "abs", *args)
    if held in _LOOKING:
        return None
    name = getattr(held, "__qualname__", repr(held))
    raise t.refuse(name, "of a tensor is left to Python")


def _recorded(
    t: Tracer, held: Any, meaning: Function, args: tuple[Value, ...], kwargs: dict[str, Value],
    plain: bool,
) -> Value:
    """A call of a function with a rule; what that refuses, torch's own function may do."""
    mark, writes = t.builder.mark(), t.writes
    try:
        return call(t, meaning, args, _understood(kwargs))
    except Refused:
        if t.writes != writes:
            raise
        t.builder.rollback(mark)
        try:
            made = tensor_calls.made(t, held, args, kwargs, plain)
        except Refused as refused:
            if refused.refusal.provisional:
                raise
            made = None
        if made is None:
            raise
        return made


#: options that say nothing new, by the names of their values
_USUAL = {
    "memory_format": ("torch.preserve_format", "None"), "device": ("cpu", "None"),
    "layout": ("torch.strided", "None"), "requires_grad": ("False", "None"),
    "pin_memory": ("False", "None"), "non_blocking": ("False",), "out": ("None",),
}


def _understood(kwargs: dict[str, Value]) -> dict[str, Value]:
    """Options without those that say what is usual."""
    return {
        name: value for name, value in kwargs.items()
        if not (isinstance(value, Static) and str(value.value) in _USUAL.get(name, ()))
    }


def _of_library(held: Any) -> bool:
    """Whether a callable is no function, class or object of the program's."""
    from npcompile.guards import class_hooks

    if type(held) is FunctionType:
        return class_hooks.of_library(held)
    module = getattr(held, "__module__", None)
    return module is None or class_hooks.is_library(sys.modules.get(module))


_NUMBERS = frozenset([int, float, bool])
_LOOKING = frozenset([isinstance, type, len, id])
