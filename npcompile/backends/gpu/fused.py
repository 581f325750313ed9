"""``fma`` of arrays by the host's machine code: the primitive's meaning in NumPy is slow.

An exact sum of fractions for what lies near the ends of the range took two thirds of the time of
kernels on Triton's interpreter.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

_TEXT = """
declare {t} @llvm.fma.{m}({t}, {t}, {t})
define void @run(ptr %a, ptr %b, ptr %c, ptr %o, i64 %n) {{
start:
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
  %pa = getelementptr {t}, ptr %a, i64 %i
  %pb = getelementptr {t}, ptr %b, i64 %i
  %pc = getelementptr {t}, ptr %c, i64 %i
  %po = getelementptr {t}, ptr %o, i64 %i
  %x = load {t}, ptr %pa
  %y = load {t}, ptr %pb
  %z = load {t}, ptr %pc
  %r = call {t} @llvm.fma.{m}({t} %x, {t} %y, {t} %z)
  store {t} %r, ptr %po
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


@functools.cache
def _kernel(char: str) -> tuple[Any, Callable[..., None]]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    kind, suffix = {"d": ("double", "f64"), "f": ("float", "f32")}[char]
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten())
    module = llvm.parse_assembly(_TEXT.format(t=kind, m=suffix))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    pointers = [ctypes.c_void_p] * 4
    call = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(engine.get_function_address("run"))
    return engine, call


def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once, on arrays of float64 or of float32."""
    dtype = np.result_type(a, b, c)
    a, b, c = (np.ascontiguousarray(v, dtype) for v in np.broadcast_arrays(a, b, c))
    out = np.empty(a.shape, dtype)
    if out.size:
        _kernel(dtype.char)[1](a.ctypes.data, b.ctypes.data, c.ctypes.data, out.ctypes.data,
                               out.size)
    return out[()]
