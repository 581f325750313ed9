"""Other implementations of elementary functions, as calls on given arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

Call = Callable[[], Any]
Arrays = tuple[np.ndarray, ...]

_LIBMVEC = "libmvec.so.1"
#: what the C library calls them, where its name is another
_C_NAMES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "power": "pow", "float_power": "pow",
}
_TEXT = """
declare {vector} @{symbol}({types})
define void @run({pointers}, ptr %o, i64 %n) {{
start:
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
{loads}
  %r = call {vector} @{symbol}({values})
  %po = getelementptr {elem}, ptr %o, i64 %i
  store {vector} %r, ptr %po, align 8
  %next = add i64 %i, {lanes}
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
_LOAD = """  %p{k} = getelementptr {elem}, ptr %a{k}, i64 %i
  %x{k} = load {vector}, ptr %p{k}, align 8"""
_kept: list[Any] = []


def libmvec(name: str, arrays: Arrays, threads: int) -> Call | None:
    """A loop over glibc's AVX-512 function, writing the last array; all are whole vectors long."""
    import llvmlite.binding as llvm

    numbers = range(len(arrays) - 1)
    single = arrays[0].itemsize == 4
    elem, lanes = ("float", 16) if single else ("double", 8)
    symbol = f"_ZGVeN{lanes}{'v' * len(numbers)}_{_C_NAMES.get(name, name)}{'f' if single else ''}"
    try:
        getattr(ctypes.CDLL(_LIBMVEC), symbol)
    except (OSError, AttributeError):
        return None
    vector = f"<{lanes} x {elem}>"
    text = _TEXT.format(
        vector=vector, symbol=symbol, elem=elem, lanes=lanes,
        types=", ".join(vector for _ in numbers),
        pointers=", ".join(f"ptr %a{k}" for k in numbers),
        loads="\n".join(_LOAD.format(k=k, elem=elem, vector=vector) for k in numbers),
        values=", ".join(f"{vector} %x{k}" for k in numbers))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.load_library_permanently(_LIBMVEC)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten())
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    _kept.append(engine)
    run = ctypes.CFUNCTYPE(None, *(ctypes.c_void_p for _ in arrays), ctypes.c_long)(
        engine.get_function_address("run"))
    n = arrays[0].size
    step = n // threads & -lanes
    ends = [*(step * k for k in range(threads)), n]
    parts = [
        (*(a.ctypes.data + begin * a.itemsize for a in arrays), end - begin)
        for begin, end in pairwise(ends)
    ]
    if threads == 1:
        return partial(run, *parts[0])
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(lambda part: run(*part), parts))


def numba(source: str, inputs: Arrays, outputs: Arrays, threads: int) -> Call:
    """An explicit loop over an expression in ``{x}``, ``{y}`` and ``{z}``."""
    import numba as nb

    names, outs = ["x", "y", "z"][: len(inputs)], ["out", "out2"][: len(outputs)]
    for name in names:
        source = source.replace(f"{{{name}}}", f"{name}[i]")
    lines = [f"def loop({', '.join(names + outs)}):",
             f"    for i in {'nb.prange' if threads > 1 else 'range'}(x.size):",
             f"        {', '.join(f'{out}[i]' for out in outs)} = {source}"]
    space: dict[str, Any] = {"np": np, "math": math, "nb": nb}
    exec("\n".join(lines), space)
    compiled = nb.njit(space["loop"], parallel=threads > 1, error_model="numpy")
    return partial(compiled, *inputs, *outputs)
