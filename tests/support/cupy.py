"""CuPy's names, as far as npcompile uses them, over memory of the host; no GPU is needed.

``install`` puts them in the place of CuPy, and a device that runs kernels on Triton's interpreter
in the place of the GPU.
"""

import ctypes
import sys
from types import ModuleType

import numpy as np

from npcompile.backends import gpu
from npcompile.backends.gpu import cuda
from npcompile.backends.gpu.interpreter import Interpreter
from npcompile.tensors import device


class Memory:
    __slots__ = ("block", "device_id", "ptr", "size")  # like CuPy's: without weak references

    def __init__(self, size):
        self.device_id = 0
        self.block = np.full(size, 0xA5, np.uint8)
        self.ptr, self.size = self.block.ctypes.data, size


class MemoryPointer:
    def __init__(self, mem, offset=0):
        self.mem, self.ptr = mem, mem.ptr + offset

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    def __sub__(self, offset):
        return self + -offset

    def copy_from_host(self, address, nbytes):
        ctypes.memmove(self.ptr, address, nbytes)

    def copy_to_host(self, address, nbytes):
        ctypes.memmove(address, self.ptr, nbytes)


def alloc(nbytes):
    return MemoryPointer(Memory(nbytes))


class ndarray:
    """An array whose elements only ``get`` and CuPy's own functions see."""

    def __init__(self, shape, dtype=float, memptr=None, strides=None):
        dtype = np.dtype(dtype)
        self.data = memptr or alloc(max(int(np.prod(shape)), 1) * dtype.itemsize)
        offset = self.data.ptr - self.data.mem.ptr
        self._host = np.ndarray(shape, dtype, self.data.mem.block, offset, strides)
        for name in ("shape", "dtype", "strides", "ndim", "size", "nbytes", "flags"):
            setattr(self, name, getattr(self._host, name))

    def get(self):
        return self._host.copy()

    def __getitem__(self, key):
        return _part(self, self._host[key])

    def __setitem__(self, key, value):
        self._host[key] = value._host

    def transpose(self, *axes):
        return _part(self, self._host.transpose(*axes))

    def reshape(self, shape):
        return asarray(self._host.reshape(shape))


def _part(whole, host):
    place = whole.data + (host.__array_interface__["data"][0] - whole.data.ptr)
    return ndarray(host.shape, host.dtype, place, host.strides)


def asarray(array):
    if isinstance(array, ndarray):
        return array
    made = ndarray(np.shape(array), np.asarray(array).dtype)
    made._host[...] = array
    return made


class Device(Interpreter):
    """Arrays of this module, kernels on Triton's interpreter."""

    def __init__(self, keep=None):
        self.launches = []
        self.copies = 0

    def empty(self, nbytes):
        return alloc(max(nbytes, 1))

    def lent(self, array, before):
        return array.data - before

    def array(self, pointer, shape, strides, dtype):
        return ndarray(shape, dtype, pointer.handle + pointer.offset, strides)

    def upload(self, handle, data):
        self.copies += 1
        handle.copy_from_host(data.ctypes.data, data.size)

    def download(self, handle, data):
        self.copies += 1
        handle.copy_to_host(data.ctypes.data, data.size)

    def launch(self, source, programs, args, constants):
        self.launches.append(source.name)
        super().launch(source, programs, args, constants)

    def address(self, pointer):
        return np.uint64(pointer.handle.ptr + pointer.offset)


def _library(name, functions):
    """A module whose functions are its own objects."""
    module = ModuleType(name)
    for function in functions:
        def theirs(*args, **kwargs):
            raise AssertionError("left to CuPy")

        theirs.__name__, theirs.__module__ = function, name
        setattr(module, function, theirs)
    return module


def install(monkeypatch):
    """The module and the device that stand for CuPy and a GPU."""
    names = ["exp", "sum", "sqrt", "zeros", "zeros_like", "where", "abs"]
    cupy = _library("cupy", names)
    cupy.linalg = _library("cupy.linalg", ["solve", "norm"])
    cupy.matmul = lambda a, b: asarray(a._host @ b._host)
    cupy.ndarray, cupy.asarray = ndarray, asarray
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.linalg", cupy.linalg)
    where = Device()
    where.xp = cupy
    monkeypatch.setattr(gpu, "_device", lambda name, keep: where)
    monkeypatch.setattr(cuda, "missing", lambda: "")
    device._functions.cache_clear()
    return cupy, where
