"""An NVIDIA GPU: memory of CuPy's pool, kernels compiled by Triton, launched on CuPy's stream."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np

from npcompile.backends.gpu.compile import Cubin, translate
from npcompile.backends.gpu.mirror import Pointer
from npcompile.backends.gpu.source import Source

STATIC = 48 * 1024  # bytes of shared memory that need no permission


def driver() -> Any:
    """CuPy, on a machine with a GPU.

    Raises
    ------
    RuntimeError
        What is missing.
    """
    missing = [name for name in ("cupy", "triton") if find_spec(name) is None]
    if missing:
        hint = f"pip install 'npcompile[gpu]' ({' and '.join(missing)} not found)"
        raise RuntimeError(f"device='cuda' needs CuPy and Triton: {hint}")
    import cupy

    if not cupy.cuda.is_available():
        raise RuntimeError("device='cuda' needs an NVIDIA GPU and its driver; none is found")
    return cupy


class Cuda:
    """The GPU that is CuPy's current one when the device is made."""

    def __init__(self, cupy: Any = None) -> None:
        self.cupy = cupy or driver()
        self.capability = int(self.cupy.cuda.Device().compute_capability)
        self._kernels: dict[Any, tuple[Cubin, Any]] = {}

    def empty(self, nbytes: int) -> Any:
        return self.cupy.cuda.alloc(max(nbytes, 1))

    def upload(self, handle: Any, data: np.ndarray[Any, Any]) -> None:
        handle.copy_from_host(data.ctypes.data, data.size)

    def download(self, handle: Any, data: np.ndarray[Any, Any]) -> None:
        handle.copy_to_host(data.ctypes.data, data.size)

    def launch(self, source: Source, programs: int, args: Iterable[Any],
               constants: dict[str, int]) -> None:
        """Puts a kernel on the current stream."""
        cubin, function = self.kernel(source, constants)
        given = [_argument(arg) for arg in args]
        scratch = [self.empty(programs * nbytes) for nbytes in cubin.scratch]
        given += [np.uint64(piece.ptr if nbytes else 0)
                  for piece, nbytes in zip(scratch, cubin.scratch)]
        function((programs,), (32 * cubin.warps,), tuple(given), shared_mem=cubin.shared)

    def kernel(self, source: Source, constants: dict[str, int]) -> tuple[Cubin, Any]:
        """A kernel's machine code, compiled once, and its function in the driver."""
        key = source.text, tuple(constants.items())
        found = self._kernels.get(key)
        if found is None:
            cubin = translate(source, constants, self.capability)
            module = self.cupy.cuda.function.Module()
            module.load(cubin.code)
            function = module.get_function(cubin.entry)
            if cubin.shared > STATIC:
                function.max_dynamic_shared_size_bytes = cubin.shared
            found = self._kernels[key] = cubin, function
        return found


def _argument(arg: Any) -> Any:
    """NumPy's numbers carry the exact width; bools are a byte."""
    if isinstance(arg, Pointer):
        return np.uint64(arg.handle.ptr + arg.offset)
    return np.int8(arg) if arg.dtype.kind == "b" else arg
