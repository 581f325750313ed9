"""Keys of calls that are left to Python for the same reason."""

from __future__ import annotations

from itertools import islice
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.config import Config
from npcompile.core.errors import Refusal, Refused
from npcompile.core.lines import SourceLine
from npcompile.core.records import replace
from npcompile.runtime.entry.leaf_matching import is_unaligned

if TYPE_CHECKING:
    from npcompile.guards.sources import Trace


#: of so many items of a list, and of its last, the types matter
ITEMS = 4
#: bits of a size that calls like each other may differ by
BITS = 4


def placed(refusal: Refusal, function: FunctionType, place: int) -> Refusal:
    """A refusal in a function, which may be of something that a function called by it does."""
    line = list(function.__code__.co_positions())[place // 2][0] or 0
    return refusal.called_at(SourceLine(line, function.__code__.co_filename))


def call_kind(bound: dict[str, Any], exact: bool, items: bool = True) -> object:
    """The key under which a refusal is remembered: types and layouts, or (``exact``) sizes and
    values too; ``items``: with the types of lists' items."""

    def one(value: Any) -> object:
        if type(value) is np.ndarray:
            flags = value.flags
            kind = (value.dtype, value.ndim, flags.c_contiguous, flags.aligned)
            return (*kind, value.shape) if exact else kind
        if type(value) in (int, float, bool, str, type(None), complex):
            return (type(value), value) if exact else type(value)
        if items and type(value) in (list, tuple):
            return type(value), *dict.fromkeys(map(_item, (*value[:ITEMS], *value[-1:])))
        if items and type(value) is dict and any(map(is_unaligned, islice(value.values(), ITEMS))):
            return dict, False
        return _tensor(value, exact) or type(value)

    kinds = tuple(map(one, bound.values()))
    return (call_kind(bound, exact=False), kinds) if exact else kinds


def _item(value: Any) -> object:
    """The type of an item; of an array that is not aligned, with a mark."""
    return (np.ndarray, False) if is_unaligned(value) else type(value)


def magnitude(bound: dict[str, Any]) -> int:
    """The class of the largest size, length or integer among arguments."""

    def one(value: Any) -> int:
        if type(value) is int:
            return abs(value)
        if type(value) is np.ndarray:
            return value.size
        return len(value) if type(value) in (list, tuple, dict, set, str) else 0

    return max(map(one, bound.values()), default=0).bit_length() // BITS


def _tensor(value: Any, exact: bool) -> object:
    """The kind of a tensor of torch's or an array of CuPy's; None of other objects."""
    from npcompile.tensors import device, tensor_memory

    if tensor_memory.is_torch(value):
        return tensor_memory.kind(value, exact)
    if device.is_cupy(value):
        return call_kind({"": device.image(value)}, exact), "cupy"
    return None


def on_device(followed: Trace, config: Config) -> Config:
    """The configuration of the device that a trace's arrays are on."""
    if not followed.device or not config.capabilities.host_memory:
        return config
    from npcompile.backends.gpu.cuda import missing

    if missing():
        raise Refused(Refusal("device", missing()))
    return replace(config, device="cuda")
