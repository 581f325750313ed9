"""Loads kernels of small matrices when machine code first meets matrices of their sizes."""

from __future__ import annotations

import _thread
import ctypes
import threading
from functools import cache

import numpy as np

from npcompile.backends.cpu.linalg import small_kernels
from npcompile.backends.cpu.linalg.batches import ROW
from npcompile.backends.cpu.linalg.small_kernels import SmallKernel
from npcompile.backends.cpu.loader.compile import lasting
from npcompile.backends.target import Target
from npcompile.core.aside import aside
from npcompile.runtime.cache.disk import own
from npcompile.runtime.unsafe.raw_memory import keep_for_ever

_FIND = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class KernelTable:
    """The kernels of one routine by the sizes of matrices, as machine code finds them."""

    def __init__(self, routine: str, dtype: np.dtype, machine: Target) -> None:
        self._routine, self._dtype, self._machine = routine, dtype, machine
        self._entries = (ctypes.c_void_p * (ROW * ROW))()
        self._axes = len(set("".join(small_kernels.core(routine)[0])))
        self._find = _FIND(self._found)
        keep_for_ever(self)

    def addresses(self) -> dict[str, int]:
        """The names that generated code has for the table and for what fills it."""
        of = f"{self._routine}.{self._dtype.name}"
        found = ctypes.cast(self._find, ctypes.c_void_p).value
        return {f"npc.table.{of}": ctypes.addressof(self._entries), f"npc.find.{of}": found or 0}

    def _found(self, first: int, second: int) -> int:
        """Called by machine code, which no exception can pass: 0 where there is no kernel."""
        try:
            return aside(lambda: self.kernel(*(first, second)[: self._axes]))
        except KeyboardInterrupt:  # it is for the code that called
            threading.Timer(0.01, _thread.interrupt_main).start()
            return 0

    def kernel(self, *sizes: int) -> int:
        """The address of the kernel for matrices of some sizes."""
        kernel = SmallKernel(self._routine, sizes, self._dtype)
        count = small_kernels.lanes(self._machine)
        name = f"{kernel.symbol}.{count}"
        address = lasting(own(name, lambda: small_kernels.text(kernel, count)))[kernel.symbol]
        self._entries[sizes[0] * ROW + sizes[-1]] = address
        return address


@cache
def table(routine: str, dtype: np.dtype, machine: Target) -> KernelTable:
    return KernelTable(routine, dtype, machine)
