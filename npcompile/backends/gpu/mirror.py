"""Arrays of the host and their copies on a device.

Each side is brought up to date when it is read there.  A copy is of all the memory that an array
spans, so that strides, of any sign, are the same on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.lib.array_utils import byte_bounds

from npcompile.backends.gpu.source import KernelSource, Parameter
from npcompile.core.records import record
from npcompile.program.ir import Buffer

Handle = Any  # what a device has for a piece of its memory


@record
class Pointer:
    """A place in a device's memory: so many bytes into a piece of it."""

    handle: Handle
    offset: int


#: a kernel that will be launched, with its constants and the sizes that are known
Launch = tuple[KernelSource, dict[str, int], Mapping[Parameter, int]]


class Device(Protocol):
    """Where kernels run, one after the other; ``xp`` has NumPy's names for arrays there."""

    xp: Any

    def empty(self, nbytes: int) -> Handle:
        """A piece of memory."""
        ...

    def lent(self, array: Any, before: int) -> Handle:
        """The memory of an array of ``xp`` from so many bytes before its first element on."""
        ...

    def array(self, pointer: Pointer, shape: tuple[int, ...], strides: tuple[int, ...],
              dtype: np.dtype[Any]) -> Any:
        """An array of ``xp`` whose element (0, ..., 0) is at a place; strides count bytes."""
        ...

    def upload(self, handle: Handle, data: np.ndarray[Any, Any]) -> None:
        """Fills a piece of memory with the bytes of a one-dimensional array."""
        ...

    def download(self, handle: Handle, data: np.ndarray[Any, Any]) -> None:
        """Fills a one-dimensional array of bytes with a piece of memory."""
        ...

    def prepare(self, launches: Sequence[Launch]) -> None:
        """Makes ready what is sure to be launched."""
        ...

    def launch(self, source: KernelSource, programs: int, args: Iterable[Any],
               constants: dict[str, int]) -> None:
        """Runs a kernel; ``args`` are pointers and numbers of exactly their types."""
        ...


@record(frozen=False)
class _Copy:
    """``newer`` says where the contents are: ``host``, ``device``, ``both`` or ``neither``."""

    array: np.ndarray[Any, Any]
    pointer: Pointer | None
    newer: str


class Mirror(dict[Buffer, Any]):
    """The memory of a run: arrays (and Python objects) of the host by buffer."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device
        self._copies: dict[int, _Copy] = {}  # by the array's identity

    def __getitem__(self, buffer: Buffer) -> Any:
        """The array as the host sees it, up to date."""
        array = super().__getitem__(buffer)
        copy = self._copies.get(id(array))
        if copy is not None and copy.newer == "device":
            assert copy.pointer is not None
            self.device.download(copy.pointer.handle, _span(array))
            copy.newer = "both"
        return array

    def __delitem__(self, buffer: Buffer) -> None:
        self._copies.pop(id(super().__getitem__(buffer)), None)
        super().__delitem__(buffer)

    def lend(self, image: np.ndarray[Any, Any], array: Any) -> None:
        """Memory on the device belongs to an image (see :mod:`npcompile.tensors.device`)."""
        before = _before(image)
        pointer = Pointer(self.device.lent(array, before), before)
        self._copies[id(image)] = _Copy(image, pointer, "device")

    def upload(self, images: Iterable[np.ndarray[Any, Any]]) -> None:
        """Brings lent memory up to date."""
        for image in images:
            copy = self._copies[id(image)]
            if copy.newer == "host":
                assert copy.pointer is not None
                self.device.upload(copy.pointer.handle, _span(image))
                copy.newer = "both"

    def settle(self, buffers: Iterable[Buffer]) -> None:
        """Brings the host up to date."""
        for buffer in buffers:
            if buffer in self:
                self.__getitem__(buffer)

    def swap(self, first: Buffer, second: Buffer) -> None:
        """Each of two buffers gets the memory of the other."""
        one, other = super().__getitem__(first), super().__getitem__(second)
        self[first], self[second] = other, one

    def fresh(self, buffer: Buffer) -> None:
        """The buffer has memory without contents."""
        array = super().__getitem__(buffer)
        self._copies[id(array)] = _Copy(array, None, "neither")

    def changed(self, buffers: Iterable[Buffer]) -> None:
        """The host has written to buffers."""
        for buffer in buffers:
            copy = self._copies.get(id(super().__getitem__(buffer)))
            if copy is not None:
                copy.newer = "host"

    def pointer(self, buffer: Buffer, written: bool) -> Pointer:
        """Element (0, ..., 0) on the device, up to date; ``written``: a kernel changes it there."""
        array = super().__getitem__(buffer)
        copy = self._copies.get(id(array))
        if copy is None:
            copy = self._copies[id(array)] = _Copy(array, None, "host")
        if copy.pointer is None:
            copy.pointer = Pointer(self.device.empty(_span(array).size), _before(array))
        if copy.newer == "host":
            self.device.upload(copy.pointer.handle, _span(array))
            copy.newer = "both"
        if written:
            copy.newer = "device"
        return copy.pointer


def _before(array: np.ndarray[Any, Any]) -> int:
    """The bytes between the lowest element and element (0, ..., 0)."""
    return array.__array_interface__["data"][0] - byte_bounds(array)[0] if array.size else 0


def _span(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes from the lowest element of an array to its highest."""
    if array.size == 0:
        return np.empty(0, np.uint8)
    low, high = byte_bounds(array)
    return np.asarray(_Bytes(array, low, high - low))


class _Bytes:
    """A run of memory, which an array keeps alive."""

    def __init__(self, array: np.ndarray[Any, Any], start: int, length: int) -> None:
        self.array = array
        self.__array_interface__ = {
            "version": 3, "shape": (length,), "typestr": "|u1", "data": (start, False),
        }
