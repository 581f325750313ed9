"""The memory of torch tensors as arrays, and arrays as tensors, without copies.

Nothing here imports torch: who has a tensor has done so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from npcompile.tensors import device

#: dtypes of tensors that are followed, by their names in both libraries
NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
         "complex64", "complex128")


def is_torch(value: Any) -> bool:
    """Whether a value is a tensor of any kind; of others, no ``__class__`` is asked."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and issubclass(type(value), tensor)


def tensor_class() -> Any:
    """``torch.Tensor``"""
    return sys.modules["torch"].Tensor


def function(path: str) -> Any:
    """The function ``torch.path``, or None."""
    return getattr(sys.modules["torch"], path, None)


def size_class() -> Any:
    """``torch.Size``"""
    return sys.modules["torch"].Size


def named_result(name: str) -> Any:
    """The class of a named tuple that a function of torch's returns."""
    return getattr(sys.modules["torch"].return_types, name)


@cache
def dtypes() -> dict[Any, np.dtype[Any]]:
    """NumPy's dtype for each of torch's."""
    return {getattr(sys.modules["torch"], name): np.dtype(name) for name in NAMES}


def torch_dtype(dtype: np.dtype[Any]) -> Any:
    """Torch's dtype for one of NumPy's."""
    return getattr(sys.modules["torch"], dtype.name)


# ------------------------------------------------------------------ what can be lent


@cache
def _ask() -> Callable[[Any], str]:
    """:func:`refused`, for torch is imported now."""
    torch = sys.modules["torch"]
    c, forward = torch._C, torch.autograd.forward_ad
    tensor, strided, plain, known = torch.Tensor, torch.strided, torch.float32, dtypes()
    functions, dispatch = c._len_torch_function_stack, c._len_torch_dispatch_stack
    level, autocast, default = (
        c._functorch.maybe_current_level, torch.is_autocast_enabled, torch.get_default_dtype,
    )
    inference = torch.is_inference_mode_enabled

    def ask(x: Any) -> str:
        if type(x) is not tensor:
            return f"a {type(x).__name__} may behave unlike a tensor"
        if x.requires_grad:
            return "autograd follows it"
        if not x.is_cpu or x.layout is not strided:
            return f"its memory is {x.layout} on {x.device}"
        if x.dtype not in known:
            return f"tensors of {x.dtype} are torch's"
        if x.is_neg() or x.is_conj() or x.is_inference():
            return "it is a negative or conjugate view, or made for inference"
        if functions() or dispatch():
            return "a mode overrides torch's functions"
        if level() is not None or forward._current_level >= 0:
            return "a transformation of functions is under way"
        if inference():
            return "results would be made for inference"
        if autocast("cpu"):
            return "autocast changes dtypes"
        return "" if default() is plain else "the default dtype is not float32"

    return ask


def refused(tensor: Any) -> str:
    """Why the memory of a tensor can't be lent; empty: it can."""
    return _ask()(tensor)


class _Capsule:
    """What ``np.from_dlpack`` asks a tensor for; torch's own method is slower."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __dlpack__(self, **options: Any) -> Any:
        return self.held

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def lend(tensor: Any) -> np.ndarray[Any, Any]:
    """A tensor's memory as an array, or the image of one of CuPy's.

    ``Tensor.numpy`` would forbid the tensor to change its size from then on.

    Raises
    ------
    ValueError
        If it can't be lent.
    """
    if device.is_cupy(tensor):
        return device.image(tensor)
    reason = refused(tensor) if is_torch(tensor) else "it is no tensor"
    if reason:
        raise ValueError(reason)
    export = getattr(sys.modules["torch"]._C, "_to_dlpack_versioned", None)
    if export is None:  # another version of torch
        return np.from_dlpack(tensor)
    return np.from_dlpack(_Capsule(export(tensor)))


def lent(tensor: Any) -> np.ndarray[Any, Any] | None:
    """The same, or None if it can't be lent."""
    try:
        return lend(tensor)
    except ValueError:
        return None


def written(tensor: Any) -> None:
    """Tells autograd that a tensor has been changed."""
    sys.modules["torch"].autograd.graph.increment_version(tensor)


def kind(tensor: Any, exact: bool) -> object:
    """What refusals are remembered by."""
    named = (str(tensor.dtype), tensor.dim(), bool(refused(tensor)))
    return (*named, tuple(tensor.shape)) if exact else named


def over(array: np.ndarray[Any, Any]) -> Any:
    """A tensor over the memory of an array, or over a copy of memory that it can't be over."""
    torch = sys.modules["torch"]
    if not array.size:
        return torch.empty(array.shape, dtype=torch_dtype(array.dtype))
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def memory_of(tensor: Any) -> np.ndarray[Any, Any] | None:
    """The memory of a fresh tensor as an array; None if it can't be lent."""
    if not is_torch(tensor) or refused(tensor):
        return None
    found: np.ndarray[Any, Any] = tensor.numpy()
    return found


# ------------------------------------------------------------------ results


class NewTensor:
    """As the kind of a result: a tensor over the memory of a new array."""

    #: the function in machine code that makes it of its item, whose reference it takes
    maker = "tensor.make"

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        (array,) = items
        return over(array)


class TensorView:
    """As the kind of a result: the view of a tensor that an array is of its memory."""

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        array, tensor = items
        if tensor.is_complex() and array.dtype.kind == "f":
            tensor = sys.modules["torch"].view_as_real(tensor)
        unit, offset = array.itemsize, tensor.storage_offset()
        strides = [step // unit for step in array.strides]
        start = array.__array_interface__["data"][0]
        return tensor.as_strided(array.shape, strides, offset + (start - tensor.data_ptr()) // unit)
