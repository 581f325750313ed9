"""Many random numbers at once: the stream of NumPy's generator, by code of our own.

``random``, ``uniform``, ``standard_normal`` and ``normal`` of generators on
:class:`numpy.random.PCG64`, called for arrays: NumPy's own loops call a function for each number,
which steps the state.  Here the state stays in registers (O'Neill, PCG: a family of simple fast
space-efficient statistically good algorithms, 2014: XSL-RR 128/64), and normal numbers come from
the same ziggurat (Doornik, An improved ziggurat method to generate normal random samples, 2005)
with NumPy's own tables, read where its library holds them.

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

from npcompile.core.records import record
from npcompile.runtime import memory

_FLOAT = np.dtype(np.float64)
LEAST, LEAST_NORMAL = 10_000, 1000  # numbers that are worth a call, uniform and normal ones
WORTH = 100_000  # numbers that are worth making the functions
_STEP = 2549297995355413924 << 64 | 4865540595714422341  # of PCG64: state * step + increment
_ALL = (1 << 128) - 1
_LANES = 4  # states side by side, each so many steps ahead of itself
_LAST = 3.6541528853610088  # where the ziggurat's tail begins
_LAST_INVERSE = 0.27366123732975828


# ------------------------------------------------------------------ code


def _word(name: str, state: str) -> str:
    """The 64 bits that a state gives."""
    return f"""
  %{name}.high128 = lshr i128 %{state}, 64
  %{name}.high = trunc i128 %{name}.high128 to i64
  %{name}.low = trunc i128 %{state} to i64
  %{name}.xor = xor i64 %{name}.high, %{name}.low
  %{name}.by = lshr i64 %{name}.high, 58
  %{name} = call i64 @llvm.fshr.i64(i64 %{name}.xor, i64 %{name}.xor, i64 %{name}.by)"""


def _fraction(name: str, state: str) -> str:
    """The number in [0, 1) that a state gives."""
    return f"""{_word(f"{name}.word", state)}
  %{name}.top = lshr i64 %{name}.word, 11
  %{name}.whole = uitofp i64 %{name}.top to double
  %{name} = fmul double %{name}.whole, {2.0**-53!r}"""


def _next(name: str, state: str) -> str:
    return f"""
  %{name}.product = mul i128 %{state}, {_STEP}
  %{name} = add i128 %{name}.product, %increment"""


def _between(name: str, of: str, place: str) -> str:
    """Stores a number of a range."""
    return f"""
  %{name}.part = fmul double %range, %{of}
  %{name}.sum = fadd double %lower, %{name}.part
  %{name}.at = getelementptr double, ptr %out, i64 %{place}
  store double %{name}.sum, ptr %{name}.at"""


_ENTRY = """
entry:
  %first = load i128, ptr %pcg, align 8
  %increment.at = getelementptr i8, ptr %pcg, i64 16
  %increment = load i128, ptr %increment.at, align 8"""


def _uniform() -> str:
    """Lanes are states that step several times at once: ``s * step**n + c * (1 + ... )``."""
    far = pow(_STEP, _LANES, 1 << 128)
    together = sum(pow(_STEP, k, 1 << 128) for k in range(_LANES)) & _ALL
    lanes = range(1, _LANES + 1)
    begin = "".join(_next(f"begin{k}", "first" if k == 1 else f"begin{k - 1}") for k in lanes)
    phis = "".join(
        f"\n  %s{k} = phi i128 [ %begin{k}, %entry ], [ %far{k}, %several ]" for k in lanes)
    turn = "".join(
        f"\n  %k{k} = add i64 %k, {k - 1}" + _fraction(f"u{k}", f"s{k}")
        + _between(f"x{k}", f"u{k}", f"k{k}") +
        f"\n  %far{k}.product = mul i128 %s{k}, {far}"
        f"\n  %far{k} = add i128 %far{k}.product, %ahead" for k in lanes)
    return f"""
define void @npc_uniform(ptr %pcg, i64 %n, ptr %out, double %lower, double %range) {{{_ENTRY}
  %ahead = mul i128 %increment, {together}{begin}
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %k.next, %several ]
  %before = phi i128 [ %first, %entry ], [ %s{_LANES}, %several ]{phis}
  %k.next = add i64 %k, {_LANES}
  %more = icmp sle i64 %k.next, %n
  br i1 %more, label %several, label %rest
several:{turn}
  br label %test
rest:
  %r = phi i64 [ %k, %test ], [ %r.next, %single ]
  %s = phi i128 [ %before, %test ], [ %t, %single ]
  %some = icmp slt i64 %r, %n
  br i1 %some, label %single, label %done
single:{_next("t", "s")}{_fraction("u", "t")}{_between("x", "u", "r")}
  %r.next = add i64 %r, 1
  br label %rest
done:
  store i128 %s, ptr %pcg, align 8
  ret void
}}
"""


_NORMAL = f"""
define void @npc_normal(ptr %pcg, i64 %n, ptr %out, double %lower, double %range,
                        ptr %tables) {{{_ENTRY}
  %wi = getelementptr i64, ptr %tables, i64 256
  %fi = getelementptr i64, ptr %tables, i64 512
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %k.next, %found ]
  %s = phi i128 [ %first, %entry ], [ %after, %found ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %draw, label %done
draw:
  %old = phi i128 [ %s, %test ], [ %t1, %wedge ]{_next("t", "old")}{_word("r", "t")}
  %layer = and i64 %r, 255
  %bits = lshr i64 %r, 9
  %size = and i64 %bits, {(1 << 52) - 1}
  %wi.at = getelementptr double, ptr %wi, i64 %layer
  %unit = load double, ptr %wi.at
  %number = uitofp i64 %size to double
  %above = fmul double %number, %unit
  %minus = shl i64 %r, 55
  %sign = and i64 %minus, {-(1 << 63)}
  %above.bits = bitcast double %above to i64
  %x.bits = xor i64 %above.bits, %sign
  %x = bitcast i64 %x.bits to double
  %ki.at = getelementptr i64, ptr %tables, i64 %layer
  %limit = load i64, ptr %ki.at
  %inside = icmp ult i64 %size, %limit
  br i1 %inside, label %found, label %seldom, !prof !0
seldom:
  %lowest = icmp eq i64 %layer, 0
  br i1 %lowest, label %tail, label %wedge
wedge:{_next("t1", "t")}{_fraction("u1", "t1")}
  %fi.at = getelementptr double, ptr %fi, i64 %layer
  %height = load double, ptr %fi.at
  %upper.at = getelementptr double, ptr %fi.at, i64 -1
  %upper = load double, ptr %upper.at
  %thick = fsub double %upper, %height
  %part = fmul double %thick, %u1
  %y = fadd double %part, %height
  %half = fmul double %x, -0.5
  %square = fmul double %half, %x
  %density = call double @exp(double %square)
  %under = fcmp olt double %y, %density
  br i1 %under, label %found, label %draw
tail:
  %t2 = phi i128 [ %t, %seldom ], [ %t4, %tail ]{_next("t3", "t2")}{_fraction("u3", "t3")}
  %u3.minus = fneg double %u3
  %log3 = call double @log1p(double %u3.minus)
  %beyond = fmul double %log3, {-_LAST_INVERSE!r}{_next("t4", "t3")}{_fraction("u4", "t4")}
  %u4.minus = fneg double %u4
  %log4 = call double @log1p(double %u4.minus)
  %yy = fneg double %log4
  %twice = fadd double %yy, %yy
  %beyond.square = fmul double %beyond, %beyond
  %good = fcmp ogt double %twice, %beyond.square
  %outside = fadd double %beyond, {_LAST!r}
  %outside.bits = bitcast double %outside to i64
  %other = shl i64 %size, 55
  %other.sign = and i64 %other, {-(1 << 63)}
  %signed.bits = xor i64 %outside.bits, %other.sign
  %signed = bitcast i64 %signed.bits to double
  br i1 %good, label %found, label %tail
found:
  %z = phi double [ %x, %draw ], [ %x, %wedge ], [ %signed, %tail ]
  %after = phi i128 [ %t, %draw ], [ %t1, %wedge ], [ %t4, %tail ]{_between("e", "z", "k")}
  %k.next = add i64 %k, 1
  br label %test
done:
  store i128 %s, ptr %pcg, align 8
  ret void
}}
!0 = !{{!"branch_weights", i32 2000, i32 20}}
"""

_CODE = f"""
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare double @exp(double)
declare double @log1p(double)
{_uniform()}{_NORMAL}"""


# ------------------------------------------------------------------ tables


def _tables() -> Any:
    """Limits, units and heights of the ziggurat's layers as NumPy's library holds them, 256 words
    of each in one array; None if they are not there.

    They are found by what they are about; the recurrence for the layers is Doornik's.
    """
    from numpy.random import _generator

    area = 0.004928673233974655
    x, two = [0.0] * 257, 2.0**52
    x[255], x[256] = _LAST, area / math.exp(-0.5 * _LAST * _LAST)
    for k in range(254, 0, -1):
        height = math.exp(-0.5 * x[k + 1] * x[k + 1])
        x[k] = math.sqrt(-2.0 * math.log(area / x[k + 1] + height))
    units = np.array([x[256], *x[1:256]]) / two
    heights = np.array([1.0, *(math.exp(-0.5 * v * v) for v in x[1:256])])
    limits = np.array([_LAST / x[256], 0.0, *(x[k - 1] / x[k] for k in range(2, 256))]) * two
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
    """The functions, and what keeps them."""

    uniform: Callable[..., None]
    normal: Callable[..., None]
    kept: tuple[Any, ...]


_held = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def _address(bits: Any) -> int:
    """Where the state of a :class:`numpy.random.PCG64` is, and after it its increment."""
    interface = _held(bits.capsule, b"BitGenerator")
    state = ctypes.c_void_p.from_address(interface).value
    assert state is not None
    found = ctypes.c_void_p.from_address(state).value
    assert found is not None
    return found


_asked = 0  # how many numbers were drawn without them


def _found(count: int) -> _Drawers | None:
    """The functions, once they are worth it."""
    global _asked
    _asked += count
    return _drawers() if _asked >= WORTH else None


@cache
def _drawers() -> _Drawers | None:
    """The functions if they do what NumPy does here."""
    from npcompile.backends.cpu.compile import load
    from npcompile.runtime.cache import compiled

    tables = _tables()
    if tables is None:
        return None
    code = load(compiled(_CODE))
    pointer, count, number = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    one = ctypes.CFUNCTYPE(None, pointer, count, pointer, number, number)(code["npc_uniform"])
    kind = ctypes.CFUNCTYPE(None, pointer, count, pointer, number, number, pointer)
    other, place = kind(code["npc_normal"]), tables.ctypes.data
    made = _Drawers(one, lambda *args: other(*args, place), (code, tables))
    return made if _agree(made) else None


def _agree(drawers: _Drawers) -> bool:
    """Whether some thousand numbers, and the state after them, are NumPy's."""
    ours, plain = (np.random.Generator(np.random.PCG64(20141)) for _ in "ab")
    state = plain.bit_generator.state["state"]
    held = (ctypes.c_uint64 * 4).from_address(_address(ours.bit_generator))
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
    return bool(ours.bit_generator.state == plain.bit_generator.state)


def _fill(draw: Callable[..., None], bits: Any, shape: Any, lower: float, range_: float) -> Any:
    made = memory.empty(shape, _FLOAT)
    with bits.lock:
        draw(_address(bits), made.size, made.ctypes.data, lower, range_)
    return made


def _drawn(normal: bool, rng: Any, size: Any, lower: Any, range_: Any) -> Any:
    """An array; None where NumPy is to be asked."""
    if type(rng) is not np.random.Generator or type(rng.bit_generator) is not np.random.PCG64:
        return None
    shape = size if type(size) is tuple else (size,)
    if not all(type(n) is int and 0 <= n < 1 << 40 for n in shape):
        return None
    count = math.prod(shape)
    if count < (LEAST_NORMAL if normal else LEAST):
        return None
    if type(lower) not in (int, float) or type(range_) not in (int, float):
        return None
    drawers = _found(count)
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


#: by path
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"numpy.random.Generator.{name}": function
    for name, function in (("random", _random), ("standard_normal", _standard_normal),
                           ("uniform", _uniform_between), ("normal", _normal))
}
