"""Many random numbers at once: the stream of NumPy's generator, by code of our own.

``random``, ``uniform``, ``standard_normal``, ``normal``, ``integers`` and ``choice`` of generators
on :class:`numpy.random.PCG64`, called for arrays: NumPy's own loops call a function for each
number, which steps the state.  Here the state stays in registers (see `.pcg`).  Normal numbers
need NumPy's own tables, read where its library holds them.  Machine code draws single numbers by
functions of the same kind, which find the state in the generator (:func:`address`).

At first use the numbers, and the state after them, are compared with NumPy's.  Where they differ,
where the tables are not found, for other bit generators and for arguments that are not plain
numbers NumPy is asked, as it is for errors.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from npcompile.backends.cpu.loader.symbols import DRAW
from npcompile.core.records import record
from npcompile.runtime.memory import recycled
from npcompile.runtime.random import pcg
from npcompile.runtime.unsafe import numpy_memory, raw_memory

_FLOAT, _INT, _INT32 = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.int32)
LEAST, LEAST_OTHERS = 10_000, 1000  # numbers that are worth a call, uniform and other ones
WORTH = 100_000  # numbers that are worth making the functions


# ------------------------------------------------------------------ tables


def _tables() -> Any:
    """Limits, units and heights of the ziggurat's layers as NumPy's library holds them, 256 words
    of each in one array; None if they are not there.

    They are found by what they are about; the recurrence for the layers is Doornik's.
    """
    from numpy.random import _generator

    area = 0.004928673233974655
    x, two = [0.0] * 257, 2.0**52
    x[255], x[256] = pcg.LAST, area / math.exp(-0.5 * pcg.LAST * pcg.LAST)
    for k in range(254, 0, -1):
        height = math.exp(-0.5 * x[k + 1] * x[k + 1])
        x[k] = math.sqrt(-2.0 * math.log(area / x[k + 1] + height))
    units = np.array([x[256], *x[1:256]]) / two
    heights = np.array([1.0, *(math.exp(-0.5 * v * v) for v in x[1:256])])
    limits = np.array([pcg.LAST / x[256], 0.0, *(x[k - 1] / x[k] for k in range(2, 256))]) * two
    data = Path(_generator.__file__).read_bytes()
    words = np.frombuffer(data, np.int64, len(data) // 8)
    found = []
    for table, dtype in ((limits, np.int64), (units, np.float64), (heights, np.float64)):
        held = words.view(dtype)
        with np.errstate(invalid="ignore"):
            near = np.abs(held[: -255] - table[0]) <= 1e-9 * table[0]
        places = [
            at for at in np.flatnonzero(near)
            if np.allclose(held[at : at + 256], table, rtol=1e-9, atol=0)
        ]
        if not places:
            return None
        found.append(words[places[0] : places[0] + 256])
    return np.concatenate(found)


# ------------------------------------------------------------------ drawing


@record
class _Drawers:
    """The functions."""

    uniform: Callable[..., None]
    normal: Callable[..., None]
    integers: dict[Any, Callable[..., None]]  # by dtype
    addresses: dict[str, int]  # of the functions and of the tables


_asked = 0  # how many numbers were drawn without them


def _found(count: int) -> _Drawers | None:
    """The functions, once they are worth it."""
    global _asked
    _asked += count
    return _drawers() if _asked >= WORTH else None


@cache
def _drawers() -> _Drawers | None:
    """The functions if they do what NumPy does here."""
    from npcompile.backends.cpu.loader.compile import lasting
    from npcompile.runtime.cache.disk import compiled

    tables = _tables()
    if tables is None:
        return None
    raw_memory.keep_for_ever(tables)  # machine code has its address, whichever thread made it
    code = lasting(compiled(pcg.CODE))
    pointer, count, number = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    one = ctypes.CFUNCTYPE(None, pointer, count, pointer, number, number)(code["npc_uniform"])
    kind = ctypes.CFUNCTYPE(None, pointer, count, pointer, number, number, pointer)
    other, place = kind(code["npc_normal"]), tables.ctypes.data
    whole = ctypes.CFUNCTYPE(None, pointer, pointer, count, pointer, count, count)
    integers: dict[Any, Callable[..., None]] = {
        dtype: whole(code[f"npc_{dtype.name}"]) for dtype in (_INT, _INT32)}
    known = {name: code[name] for name in ("npc_normal", "npc_int64")} | {"npc.tables": place}
    made = _Drawers(one, lambda *args: other(*args, place), integers, known)
    return made if _agree(made) else None


@cache
def _singles() -> Any:
    """Functions that draw one number each, for machine code; they never do if NumPy's generators
    are not as expected."""
    from npcompile.backends.cpu.loader.compile import lasting
    from npcompile.runtime.cache.disk import compiled

    drawers, fields = _drawers(), numpy_memory.generator_fields()
    if drawers is None or fields is None:
        return lasting(compiled(pcg.NONE))
    next_double = numpy_memory.generator_interface(np.random.PCG64(0))[3]
    imports = {"npc.generator": id(np.random.Generator), "npc.next_double": next_double,
               **drawers.addresses}
    return lasting(compiled(pcg.one(pcg.Fields(*fields))), imports)


def address(what: str) -> int:
    """Where the function is that draws one number: ``uniform``, ``normal`` or ``int64``."""
    found: int = _singles()[f"{DRAW}.{what}"]
    return found


def _agree(drawers: _Drawers) -> bool:
    """Whether some thousand numbers, and the state after them, are NumPy's."""
    ours, plain = (np.random.Generator(np.random.PCG64(20141)) for _ in "ab")
    state = plain.bit_generator.state["state"]
    held = raw_memory.words(numpy_memory.generator_state(ours.bit_generator)[0], 4)
    whole = [value >> shift & (1 << 64) - 1 for value in (state["state"], state["inc"])
             for shift in (0, 64)]
    if list(held) != whole:
        return False
    for draw, count in ((drawers.normal, 3000), (drawers.uniform, 203), (drawers.normal, 5)):
        found = _fill(draw, ours.bit_generator, (count,), -1.5, 0.75)
        method = plain.normal if draw is drawers.normal else plain.uniform
        given = (-1.5, 0.75) if draw is drawers.normal else (-1.5, -0.75)
        if found.tobytes() != method(*given, count).tobytes():
            return False
    for dtype, draw in drawers.integers.items():
        for count, least, range_ in ((203, -7, 1000), (40, -1 << 31, 3 << 30)):
            numbers = _fill_integers(draw, ours.bit_generator, (count,), least, range_, dtype)
            same = plain.integers(least, least + range_, count, dtype)
            if numbers.tobytes() != same.tobytes():
                return False
    return bool(ours.bit_generator.state == plain.bit_generator.state)


def _fill(draw: Callable[..., None], bits: Any, shape: Any, lower: float, range_: float) -> Any:
    made = recycled.empty(shape, _FLOAT)
    with bits.lock:
        draw(numpy_memory.generator_state(bits)[0], made.size, made.ctypes.data, lower, range_)
    return made


def _fill_integers(
    draw: Callable[..., None], bits: Any, shape: Any, least: int, range_: int, dtype: Any
) -> Any:
    made = recycled.empty(shape, dtype)
    with bits.lock:
        draw(*numpy_memory.generator_state(bits), made.size, made.ctypes.data, least, range_)
    return made


def _shape(rng: Any, size: Any, least: int) -> Any:
    """The shape of a draw that is worth it; None where NumPy is to be asked."""
    if type(rng) is not np.random.Generator or type(rng.bit_generator) is not np.random.PCG64:
        return None
    shape = size if type(size) is tuple else (size,)
    if not all(type(n) is int and 0 <= n < 1 << 40 for n in shape):
        return None
    return shape if math.prod(shape) >= least else None


def _drawn(normal: bool, rng: Any, size: Any, lower: Any, range_: Any) -> Any:
    """An array; None where NumPy is to be asked."""
    shape = _shape(rng, size, LEAST_OTHERS if normal else LEAST)
    if shape is None:
        return None
    if type(lower) not in (int, float) or type(range_) not in (int, float):
        return None
    drawers = _found(math.prod(shape))
    if drawers is None:
        return None
    try:
        draw = drawers.normal if normal else drawers.uniform
        return _fill(draw, rng.bit_generator, shape, float(lower), float(range_))
    except (MemoryError, OverflowError, ValueError):  # of an array that large
        return None


def _random(rng: Any, size: Any = None, *others: Any, **named: Any) -> Any:
    return None if others or named else _drawn(False, rng, size, -0.0, 1.0)


def _standard_normal(rng: Any, size: Any = None, *others: Any, **named: Any) -> Any:
    return None if others or named else _drawn(True, rng, size, -0.0, 1.0)


def _uniform_between(
    rng: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None, **named: Any
) -> Any:
    if named or type(low) not in (int, float) or type(high) not in (int, float):
        return None
    range_ = float(high) - float(low)
    return _drawn(False, rng, size, low, range_) if 0 <= range_ < math.inf else None


def _normal(
    rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **named: Any
) -> Any:
    plain = not named and type(scale) in (int, float) and 0 < scale < math.inf
    return _drawn(True, rng, size, loc, scale) if plain else None


def _integers(rng: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64,
              endpoint: Any = False, *others: Any) -> Any:
    """Whole numbers of ranges below 2**32, in int64 and int32."""
    if others or type(low) is not int or type(endpoint) is not bool:
        return None
    if high is None:
        low, high = 0, low
    shape = _shape(rng, size, LEAST_OTHERS)
    if shape is None or type(high) is not int or dtype not in (np.int64, int, np.int32):
        return None
    of = _INT32 if dtype == np.int32 else _INT
    range_, bound = high - low + endpoint, 1 << of.itemsize * 8 - 1
    if not 1 < range_ < 1 << 32 or low < -bound or low + range_ > bound:
        return None
    drawers = _found(math.prod(shape))
    if drawers is None:
        return None
    try:
        return _fill_integers(drawers.integers[of], rng.bit_generator, shape, low, range_, of)
    except (MemoryError, ValueError):  # of an array that large
        return None


def _choice(rng: Any, a: Any, size: Any = None, replace: Any = True, *others: Any,
            **named: Any) -> Any:
    """Elements of an array of one axis, or numbers below one; any of them more than once."""
    if others or named or replace is not True:
        return None
    if type(a) is int:
        return _integers(rng, a, size=size)
    if type(a) is not np.ndarray or a.ndim != 1:
        return None
    places = _integers(rng, len(a), size=size)
    return None if places is None else a.take(places)


#: by path
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"numpy.random.Generator.{name}": function
    for name, function in (("random", _random), ("standard_normal", _standard_normal),
                           ("uniform", _uniform_between), ("normal", _normal),
                           ("integers", _integers), ("choice", _choice))
}
