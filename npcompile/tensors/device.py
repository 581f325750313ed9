"""CuPy's arrays: their images on the host, and CuPy's names.

The *image* of an array is one of NumPy's with its dtype, shape and strides, in memory that nobody
has written or reads: what is asked of an argument before a run, about layout and shared memory, is
asked of its image.  Arrays that share memory have images that do.

Nothing here imports CuPy: who has an array has done so.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from npcompile.core.locks import lock

#: CuPy's modules whose functions mean what those of the same name mean here
MODULES = {
    "cupy": "numpy",
    "cupy.linalg": "numpy.linalg",
    "cupy.fft": "numpy.fft",
    "cupyx.scipy.special": "scipy.special",
}
#: what CuPy has, but not on an array's behalf
_OTHERS = frozenset({"ndarray", "asarray", "array", "asnumpy", "asanyarray", "random", "save"})


def is_cupy(value: Any) -> bool:
    """Whether a value is an array of CuPy's."""
    kind = getattr(sys.modules.get("cupy"), "ndarray", None)
    return kind is not None and type(value) is kind


class _Image:
    """What the image of an array tells NumPy; it keeps the array."""

    def __init__(self, array: Any, block: np.ndarray[Any, Any]) -> None:
        self.array, self.block = array, block
        place = block.__array_interface__["data"][0] + array.data.ptr - array.data.mem.ptr
        self.__array_interface__ = {
            "version": 3, "shape": array.shape, "strides": array.strides,
            "typestr": array.dtype.str, "data": (place, False),
        }


#: by the memory's device, address and size, as long as there are images of it
_blocks: WeakValueDictionary[tuple[int, int, int], np.ndarray[Any, Any]] = WeakValueDictionary()
_lock = lock()


def image(array: Any) -> np.ndarray[Any, Any]:
    """The image of an array.  Its memory is reserved, not touched: none is in use."""
    memory = array.data.mem
    place = memory.device_id, memory.ptr, memory.size
    with _lock:  # two blocks for one memory would share none
        block = _blocks.get(place)
        if block is None:
            block = _blocks[place] = np.empty(max(memory.size, 1), np.uint8)
    return np.asarray(_Image(array, block))


def owner(value: Any) -> Any:
    """CuPy's array whose image a value is, or None."""
    base = value.base if type(value) is np.ndarray else None
    return base.array if isinstance(base, _Image) else None


@cache
def _functions() -> dict[int, tuple[Any, Any]]:
    """CuPy's functions by identity, and the functions that they stand for."""
    found: dict[int, tuple[Any, Any]] = {}
    for theirs, ours in MODULES.items():
        if theirs not in sys.modules or ours not in sys.modules:
            continue
        names = [n for n in dir(sys.modules[ours]) if n not in _OTHERS and not n.startswith("_")]
        for name in names:
            meant = getattr(sys.modules[ours], name)
            held = getattr(sys.modules[theirs], name, None)
            if callable(held) and callable(meant) and held is not meant:
                found[id(held)] = (held, meant)
    return found


def belongs(held: Any) -> bool:
    """Whether a function is CuPy's."""
    module = getattr(held, "__module__", None) or type(held).__module__
    return "cupy" in sys.modules and module.partition(".")[0] in ("cupy", "cupyx")


def meant(held: Any) -> Any:
    """The function that one of CuPy's stands for, or None."""
    found = _functions().get(id(held))
    return found[1] if found is not None and found[0] is held else None
