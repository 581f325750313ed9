"""An NVIDIA GPU: memory of CuPy's pool, kernels compiled by Triton, launched on CuPy's stream."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from npcompile.backends.gpu.compile import Cubin, identity, translate
from npcompile.backends.gpu.mirror import Launch, Pointer
from npcompile.backends.gpu.source import Given, KernelSource, Parameter

STATIC = 48 * 1024  # bytes of shared memory that need no permission
PERMISSION = 8  # the driver's CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

#: machine code and what belongs to it (for JSON), made or from where it is kept under a key
Made = tuple[bytes, dict[str, Any]]
Keep = Callable[[tuple[object, ...], Callable[[], Made]], Made]


def driver() -> Any:
    """CuPy, on a machine with a GPU.

    Raises
    ------
    RuntimeError
        What is missing.
    """
    why = missing()
    if why:
        raise RuntimeError(why)
    import cupy

    if not cupy.cuda.is_available():
        raise RuntimeError("device='cuda' needs an NVIDIA GPU and its driver; none is found")
    return cupy


def require(device: str) -> None:
    """Raises what :func:`driver` raises, or says what the interpreter lacks."""
    if device == "cuda":
        driver()
    elif why := missing(device):
        raise RuntimeError(why)


#: the oldest versions that are served
OLDEST = {"cupy": (14, 0), "triton": (3, 6)}


def missing(device: str = "cuda") -> str:
    """Which libraries of a device are not installed, or too old, and how to install them; empty:
    none."""
    needs = {"cuda": ("cupy", "triton"), "interpreter": ("triton",)}.get(device, ())
    wrong = [f"{name} not found" for name in needs if find_spec(name) is None]
    if not wrong:
        have = {name: installed(name) for name in needs}
        wrong = [f"{name} is {text}" for name, text in have.items()
                 if release(text) < OLDEST[name]]
    known = {"cupy": "CuPy 14", "triton": "Triton 3.6"}
    return "" if not wrong else (
        f"device={device!r} needs {' and '.join(known[name] for name in needs)} or newer: "
        f"pip install --upgrade 'npcompile[gpu]' ({', '.join(wrong)})")


def installed(name: str) -> str:
    """The version of a library, which for CuPy is the module's: its package has several names."""
    found: str = version(name) if name == "triton" else import_module(name).__version__
    return found


def release(text: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple([int(digits) for digits in re.findall(r"\d+", text)[:2]])


class Cuda:
    """The GPU that is CuPy's current one when the device is made."""

    def __init__(self, keep: Keep, cupy: Any = None) -> None:
        self.keep, self.xp = keep, cupy or driver()
        self.capability = int(self.xp.cuda.Device().compute_capability)
        self._kernels: dict[Any, tuple[Cubin, Any]] = {}

    def empty(self, nbytes: int) -> Any:
        return self.xp.cuda.alloc(max(nbytes, 1))

    def lent(self, array: Any, before: int) -> Any:
        return array.data - before

    def array(self, pointer: Pointer, shape: tuple[int, ...], strides: tuple[int, ...],
              dtype: np.dtype[Any]) -> Any:
        return self.xp.ndarray(shape, dtype, pointer.handle + pointer.offset, strides)

    def upload(self, handle: Any, data: np.ndarray[Any, Any]) -> None:
        """In its turn on the current stream: CuPy's ``copy_from_host`` knows the default one only,
        for which other streams need not wait."""
        handle.copy_from_host_async(data.ctypes.data, data.size)
        self.xp.cuda.get_current_stream().synchronize()

    def download(self, handle: Any, data: np.ndarray[Any, Any]) -> None:
        """What the current stream has computed."""
        handle.copy_to_host_async(data.ctypes.data, data.size)
        self.xp.cuda.get_current_stream().synchronize()

    def prepare(self, launches: Sequence[Launch]) -> None:
        """Compiles side by side what is sure to be launched; addresses are taken for aligned."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(self.cubin, source, constants, _sixteens(source, sizes))
                    for source, constants, sizes in launches]
        for job in jobs:
            job.result()

    def launch(self, source: KernelSource, programs: int, args: Iterable[Any],
               constants: dict[str, int]) -> None:
        """Puts a kernel on the current stream."""
        given = [_argument(arg) for arg in args]
        sixteens = _sixteens(source, {p: int(g) for (_, p), g in zip(source.parameters, given)
                                      if not isinstance(p, Given)})
        cubin, function = self.kernel(source, constants, sixteens)
        scratch = [self.empty(programs * nbytes) for nbytes in cubin.scratch]
        given += [np.uint64(piece.ptr if nbytes else 0)
                  for piece, nbytes in zip(scratch, cubin.scratch)]
        function((programs,), (32 * cubin.warps,), tuple(given), shared_mem=cubin.shared)

    def kernel(self, source: KernelSource, constants: dict[str, int],
               sixteens: Set[str]) -> tuple[Cubin, Any]:
        """A kernel's machine code, and its function in the driver: loaded once."""
        key = source.text, tuple(constants.items()), sixteens
        found = self._kernels.get(key)
        if found is None:
            cubin = self.cubin(source, constants, sixteens)
            module = self.xp.cuda.function.Module()
            module.load(cubin.code)
            function = module.get_function(cubin.entry)
            if cubin.shared > STATIC:
                self.xp.cuda.driver.funcSetAttribute(function.ptr, PERMISSION, cubin.shared)
            found = self._kernels[key] = cubin, function
        return found

    def cubin(self, source: KernelSource, constants: dict[str, int], sixteens: Set[str]) -> Cubin:
        """A kernel's machine code, from disk if it is there."""
        def make() -> Made:
            made = translate(source, constants, self.capability, sixteens)
            return made.code, {"entry": made.entry, "warps": made.warps, "shared": made.shared,
                               "scratch": made.scratch}

        code, rest = self.keep(identity(source, constants, self.capability, sixteens), make)
        return Cubin(code, rest["entry"], rest["warps"], rest["shared"], tuple(rest["scratch"]))


def _sixteens(source: KernelSource, numbers: Mapping[Parameter, int]) -> frozenset[str]:
    """The names of addresses and sizes that are multiples of 16; unknown addresses are."""
    return frozenset(
        name for name, p in source.parameters
        if not isinstance(p, Given) and numbers.get(p, 0) % 16 == 0
    )


def _argument(arg: Any) -> Any:
    """NumPy's numbers carry the exact width; bools are a byte."""
    if isinstance(arg, Pointer):
        return np.uint64(arg.handle.ptr + arg.offset)
    return np.int8(arg) if arg.dtype.kind == "b" else arg
