"""Kernels that many programs have: filling, copying and reducing contiguous memory.

Their functions are compiled once, for all programs and processes, by names that say all that they
do::

    name ::= stock.WIDTH.fill.DTYPE.NUMBER.WHERE
           | stock.WIDTH.copy.DTYPE.WHERE
           | stock.WIDTH.KIND.DTYPE.CAST.RESULT.NUMBER    a reduction; none: no cast, no start
    NUMBER ::= its bytes in hexadecimal digits
    WHERE  ::= temp | result (anything else: what is read again is stored past the cache later)
"""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.llvm.sizes import Word
from npcompile.backends.cpu.loader.symbols import STOCK
from npcompile.core.sizes import Poly, Size, Symbol
from npcompile.program.ir import (
    Apply,
    Axis,
    Buffer,
    Constant,
    Index,
    Kernel,
    Load,
    Reduce,
    Store,
    Value,
)

_DTYPES = frozenset("?bhilqBHILQfdFD")
_KINDS = frozenset({"sum", "any", "all", "min", "max"})
_SIZE: Size = Poly((((Symbol("n", None, 0),), 1),))
_ALONG, _ONCE = Index(0, (1,)), Index(0, (0,))


def find(kernel: Kernel, width: int) -> tuple[str, tuple[Word, ...]] | None:
    """The name of a kernel's function and the words that it is given, if it is in stock; ``width``
    is that of the target's registers."""
    parts = None
    if len(kernel.axes) == 1 and isinstance(kernel.axes[0].extent, Poly) and not kernel.ordered:
        parts = _stored(kernel) if kernel.stores else _reduced(kernel)
    if parts is None:
        return None
    buffers = [v.buffer for v in kernel.values if isinstance(v, Load)] + kernel.written
    return ".".join((STOCK, str(width), *parts)), _words(kernel.axes[0].extent, buffers)


def _words(extent: Size, buffers: list[Buffer]) -> tuple[Word, ...]:
    return (extent, *((buffer, 0) for buffer in buffers))


def _stored(kernel: Kernel) -> tuple[str, ...] | None:
    """The parts of a name, where a constant or what is loaded is stored."""
    if len(kernel.values) != 1 or len(kernel.stores) != 1 or kernel.reductions:
        return None
    (value,), (store,) = kernel.values, kernel.stores
    dtype = value.dtype
    where = "temp" if store.buffer.kind == "temp" else "result"
    plain = store.at == _ALONG and store.mask is store.by is None and not store.packed
    if not plain or store.buffer.dtype != dtype or dtype.char not in _DTYPES:
        return None
    if isinstance(value, Constant):
        number = _digits(value.value, dtype)
        return None if number is None else ("fill", dtype.name, number, where)
    if isinstance(value, Load) and _plain(value) and value.buffer is not store.buffer:
        return "copy", dtype.name, where
    return None


def _reduced(kernel: Kernel) -> tuple[str, ...] | None:
    """The parts of a name, where what is loaded is reduced to a number, perhaps cast before."""
    if len(kernel.reductions) != 1 or len(kernel.values) not in (1, 2):
        return None
    (reduce,), load, last = kernel.reductions, kernel.values[0], kernel.values[-1]
    cast = isinstance(last, Apply) and (last.op, last.args) == ("cast", (0,)) and not last.attrs
    if not isinstance(load, Load) or not _plain(load) or not (last is load or cast):
        return None
    dtypes = (load.dtype, last.dtype, reduce.dtype)
    usual = (reduce.kind in _KINDS and reduce.axes == (0,) and reduce.at == _ONCE
             and reduce.value == len(kernel.values) - 1 and reduce.chunk == 0
             and not reduce.running and reduce.buffer.kind == "scalar"
             and reduce.buffer.dtype == reduce.dtype
             and all(dtype.char in _DTYPES for dtype in dtypes))
    number = "none" if reduce.initial is None else _digits(reduce.initial, reduce.dtype)
    # how numbers become integers is the mode's to say
    rounds = cast and load.dtype.kind in "fc" and last.dtype.kind in "iu"
    if not usual or number is None or rounds:
        return None
    as_ = last.dtype.name if cast else "none"
    return reduce.kind, load.dtype.name, as_, reduce.dtype.name, number


def _plain(load: Load) -> bool:
    return load.at == _ALONG and load.by is None and load.buffer.dtype == load.dtype


def _digits(value: object, dtype: np.dtype) -> str | None:
    """The bytes of a number; None if it is another one in the dtype, or of another class."""
    made, plain = np.array(value, dtype), value.item() if isinstance(value, np.generic) else value
    same = type(made.item()) is type(plain) and repr(made.item()) == repr(plain)
    return made.tobytes().hex() if same else None


def _number(digits: str, dtype: np.dtype) -> int | float | complex | bool:
    found: int | float | complex | bool = np.frombuffer(bytes.fromhex(digits), dtype)[0].item()
    return found


def kernel(name: str) -> tuple[Kernel, tuple[Word, ...]]:
    """The kernel that a name (without ``stock``) stands for, and its words in order."""
    _, what, of, *rest = name.split(".")
    dtype = np.dtype(of)
    values: tuple[Value, ...]
    if what == "fill":
        number, where = rest
        values = (Constant(_number(number, dtype), dtype),)
        return _of(values, (), (Store(_result(where, dtype), _ALONG, 0),), ())
    source = Buffer("x", "param", dtype, (_SIZE,), (1,))
    values = (Load(source, _ALONG, dtype),)
    if what == "copy":
        (where,) = rest
        return _of(values, (source,), (Store(_result(where, dtype), _ALONG, 0),), ())
    as_, result, number = rest
    if as_ != "none":
        values += (Apply("cast", (0,), np.dtype(as_)),)
    made = np.dtype(result)
    initial = None if number == "none" else _number(number, made)
    target = Buffer("y", "scalar", made)
    return _of(values, (source,), (),
               (Reduce(what, (0,), len(values) - 1, target, _ONCE, made, initial),))


def _result(where: str, dtype: np.dtype) -> Buffer:
    return Buffer("y", "temp" if where == "temp" else "result", dtype, (_SIZE,), (1,))


def _of(values: tuple[Value, ...], loaded: tuple[Buffer, ...], stores: tuple[Store, ...],
        reductions: tuple[Reduce, ...]) -> tuple[Kernel, tuple[Word, ...]]:
    made = Kernel(STOCK, (Axis("i", _SIZE),), values, stores, reductions)
    return made, _words(_SIZE, [*loaded, *made.written])
