"""Kernels on Triton's interpreter: NumPy arrays in the place of a device's memory.

It runs the text that a GPU would run, without one and without torch, slowly.  Where the
interpreter knowingly differs from a GPU, it is mended here: ``fma`` rounds once.
"""

from __future__ import annotations

import importlib.util
import linecache
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from npcompile.backends.gpu import fused
from npcompile.backends.gpu.compile import signature_of
from npcompile.backends.gpu.mirror import Launch, Pointer
from npcompile.backends.gpu.source import KernelSource, Parameter

_cache: dict[str, Any] = {}


class Interpreter:
    """A device of the host's: its memory is apart all the same, and there is no machine code."""

    xp: Any = np

    def __init__(self, keep: object = None) -> None:
        pass

    def empty(self, nbytes: int) -> np.ndarray[Any, Any]:
        return np.empty(nbytes, np.uint8)

    def lent(self, array: Any, before: int) -> np.ndarray[Any, Any]:
        raise TypeError("the interpreter has no arrays of its own")

    def array(self, pointer: Pointer, shape: tuple[int, ...], strides: tuple[int, ...],
              dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        return np.ndarray(shape, dtype, pointer.handle, pointer.offset, strides)

    def upload(self, handle: np.ndarray[Any, Any], data: np.ndarray[Any, Any]) -> None:
        handle[:] = data

    def download(self, handle: np.ndarray[Any, Any], data: np.ndarray[Any, Any]) -> None:
        data[:] = handle

    def prepare(self, launches: Sequence[Launch]) -> None:
        """The text is all that it takes."""

    def launch(self, source: KernelSource, programs: int, args: Iterable[Any],
               constants: dict[str, int]) -> None:
        """Runs all programs of a kernel, one after the other."""
        from triton.runtime.interpreter import GridExecutor

        function = self.function(source)
        names = [name for name, _ in source.parameters] + list(constants)
        given = [_argument(self.address(arg) if isinstance(arg, Pointer) else arg, p)
                 for arg, (_, p) in zip(args, source.parameters)]
        with _mended(), np.errstate(all="ignore"):
            GridExecutor(function, names, (programs,))(*given, **constants)

    def address(self, pointer: Pointer) -> np.uint64:
        return np.uint64(pointer.handle.ctypes.data + pointer.offset)

    def function(self, source: KernelSource) -> Any:
        found = _cache.get(source.text)
        if found is None:
            found = _cache[source.text] = _function(source)
        return found


def _function(source: KernelSource) -> Any:
    import triton.language as tl

    file = f"<npcompile {source.name} {len(_cache)}>"
    linecache.cache[file] = (len(source.text), None, source.text.splitlines(True), file)
    # plain functions: only what calls Triton's operators needs to be interpreted
    scope: dict[str, Any] = {
        "triton": SimpleNamespace(jit=_plain), "tl": tl, "npc": _device(),
    }
    exec(compile(source.text, file, "exec"), scope)
    return scope[source.name]


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _device() -> ModuleType:
    """The device functions as plain functions."""
    import triton

    name = "npcompile.backends.gpu.device"
    if name not in _cache:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with mock.patch.object(triton, "jit", _plain):
            spec.loader.exec_module(module)
        vars(module).update(fma=_fma, fmod=_fmod, lookup=_lookup, any_of=_any_of,
                            collapse=_collapse(module), scan=_scan(module),
                            first_of_best=_first_of_best(module))
        _cache[name] = module
    found: ModuleType = _cache[name]
    return found


def _fma(*terms: Any) -> Any:
    """Bare numbers in the type of the others."""
    import triton.language as tl

    kind = next(term.dtype for term in terms if isinstance(term, tl.tensor))
    return tl.fma(*[term if isinstance(term, tl.tensor) else tl.full((), term, kind)
                    for term in terms])


def _fmod(x: Any, y: Any) -> Any:
    """The interpreter has none of CUDA's libdevice."""
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    found = np.fmod(x.handle.data, y.handle.data)
    return tl.tensor(TensorHandle(found, x.dtype), tl.block_type(x.dtype, list(found.shape)))


def _lookup(table: Any, index: Any, place: int) -> Any:
    """Without PTX."""
    import triton.language as tl

    return tl.load(table + index + place)


def _any_of(x: Any) -> bool:
    return bool(x.handle.data.any())


def _first_of_best(module: ModuleType) -> Callable[..., Any]:
    """By halves, like ``collapse``."""
    import triton.language as tl

    def first_of_best(x: Any, i: Any, least: bool) -> Any:
        rows, width = map(int, x.shape)
        while width > 1:
            width //= 2
            x, y = tl.split(x.reshape(rows, width, 2))
            i, j = tl.split(i.reshape(rows, width, 2))
            first = module.is_better(x, i, y, j, least)
            x, i = tl.where(first, x, y), tl.where(first, i, j)
        return i.reshape(rows)

    return first_of_best


def _collapse(module: ModuleType) -> Callable[..., Any]:
    """By halves: the interpreter's own way takes elements one by one."""

    def collapse(x: Any, kind: str) -> Any:
        rows, width = x.shape
        return module.fold(x, kind, int(rows), int(width).bit_length() - 1)

    return collapse


def _scan(module: ModuleType) -> Callable[..., Any]:
    """Each number with the one so many places before it, 1, 2, 4 and so on (Hillis and Steele)."""
    import triton.language as tl

    def scan(x: Any, kind: str) -> Any:
        width, step = int(x.shape[1]), 1
        at = tl.arange(0, width)[None, :] + x.to(tl.int32) * 0
        while step < width:
            before = tl.gather(x, tl.maximum(at - step, 0), 1)
            x = tl.where(at >= step, module.combine(before, x, kind), x)
            step *= 2
        return x

    return scan


def _argument(arg: Any, parameter: Parameter) -> Any:
    """Addresses and numbers as tensors of exactly their type."""
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    kind = tl.str_to_ty(signature_of(parameter), None)
    return tl.tensor(TensorHandle(np.array([arg]), kind), kind)


@contextmanager
def _mended() -> Iterator[None]:
    """The interpreter with one rounding in ``fma``, bools as the results of comparisons (it takes
    those of single numbers for floats when it spreads them), and numbers of its own as bounds of
    loops, which NumPy >= 2.4 does not take for integers."""
    import triton.language as tl
    from triton.runtime import interpreter

    patch_tensor = interpreter._patch_lang_tensor

    def patched(tensor: Any, scope: Any) -> Any:
        found = patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))
        return found

    def fma(_: Any, x: Any, y: Any, z: Any) -> Any:
        found = np.asarray(fused.fma(x.data, y.data, z.data))
        return interpreter.TensorHandle(found, z.dtype.scalar)

    binary_op = interpreter.InterpreterBuilder.binary_op

    def typed(self: Any, left: Any, right: Any, op: Any) -> Any:
        found = binary_op(self, left, right, op)
        if found.data.dtype == np.bool_:
            found.dtype = tl.int1
        return found

    with (
        mock.patch.object(interpreter.InterpreterBuilder, "binary_op", typed),
        mock.patch.object(interpreter.InterpreterBuilder, "create_fma", fma),
        mock.patch.object(interpreter, "_patch_lang_tensor", patched),
    ):
        yield
