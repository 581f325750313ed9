"""What NumPy means, where Triton's operators mean something else: functions for kernels.

Imported only where Triton is at hand.  Each works on blocks of any shape; Triton has no types that
Python's checkers know.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

MINUS_64 = tl.constexpr(-(2**63))
MINUS_32 = tl.constexpr(-(2**31))
MINUS_16 = tl.constexpr(-(2**15))

# ------------------------------------------------------------------ floats


@triton.jit
def to_bits(x):
    """The signed integer of the same bits."""
    if x.dtype == tl.float64:
        y = x.to(tl.int64, bitcast=True)
    elif x.dtype == tl.float32:
        y = x.to(tl.int32, bitcast=True)
    else:
        y = x.to(tl.int16, bitcast=True)
    return y


@triton.jit
def sign_bit(bits):
    """The sign alone of a float's bits."""
    if bits.dtype == tl.int64:
        y = bits & MINUS_64
    elif bits.dtype == tl.int32:
        y = bits & MINUS_32
    else:
        y = bits & MINUS_16
    return y


@triton.jit
def negative(x):
    """``-x``; of a float the other sign, of 0 too."""
    if x.dtype.is_floating():
        y = x * -1.0
    else:
        y = 0 - x
    return y


@triton.jit
def absolute(x):
    """``|x|``; the least integer stays."""
    if x.dtype.is_floating():
        y = tl.abs(x)
    elif x.dtype.is_int_signed():
        y = tl.where(x < 0, 0 - x, x)
    else:
        y = x
    return y


@triton.jit
def copysign(x, y):
    """The magnitude of x with the sign of y."""
    bits = to_bits(x)
    return ((bits ^ sign_bit(bits)) | sign_bit(to_bits(y))).to(x.dtype, bitcast=True)


@triton.jit
def trunc(x):
    """The integer part; -0 stays."""
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))


@triton.jit
def rint(x):
    """The nearest integer, ties to even: adding 2**52 (2**23) leaves no room for a fraction."""
    size = absolute(x)
    if x.dtype == tl.float64:
        nearest = tl.where(size < 4503599627370496.0, (size + 4503599627370496.0)
                           - 4503599627370496.0, size)
    else:
        nearest = tl.where(size < 8388608.0, (size + 8388608.0) - 8388608.0, size)
    return copysign(nearest, x)


@triton.jit
def minimum(x, y):
    """IEEE 754-2019 minimum: NaN if either is, -0 < +0."""
    same = (to_bits(x) | to_bits(y)).to(x.dtype, bitcast=True)
    least = tl.where(x < y, x, tl.where(y < x, y, same))
    return tl.where(x != x, x, tl.where(y != y, y, least))


@triton.jit
def maximum(x, y):
    """IEEE 754-2019 maximum: NaN if either is, -0 < +0."""
    same = (to_bits(x) & to_bits(y)).to(x.dtype, bitcast=True)
    most = tl.where(x > y, x, tl.where(y > x, y, same))
    return tl.where(x != x, x, tl.where(y != y, y, most))


@triton.jit
def _power_of_two(n, x):
    """``2**n`` of a normal exponent, in the type of x."""
    if x.dtype == tl.float64:
        y = ((n.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)
    else:
        y = ((n.to(tl.int32) + 127) << 23).to(tl.float32, bitcast=True)
    return y


@triton.jit
def ldexp(x, n):
    """``x * 2**n`` rounded once.  Two steps leave a last one that either is exact or rounds
    everything away."""
    n = tl.minimum(tl.maximum(n, -4000 if n.dtype.is_int_signed() else 0), 4000)
    n = n.to(tl.int32)
    low = -1022 if x.dtype == tl.float64 else -126
    high = 1023 if x.dtype == tl.float64 else 127
    digits = 53 if x.dtype == tl.float64 else 24
    for _ in tl.static_range(2):
        step = tl.where(n < low, low + digits, tl.where(n > high, high, 0))
        x = x * _power_of_two(step, x)
        n = n - step
    return x * _power_of_two(tl.minimum(tl.maximum(n, low), high), x)


@triton.jit
def fmod(x, y):
    """The remainder of truncated division, exact."""
    return libdevice.fmod(x, y)


@triton.jit
def floor_quotient(x, y):
    """The quotient rounded down; NaN where it or y is not moderate.  The integer next to the
    rounded quotient is the one below or above; the sign of the rest tells."""
    if x.dtype == tl.float64:
        quotient = x / y
        near = absolute(quotient) < 281474976710656.0
    else:
        quotient = tl.div_rn(x, y)
        near = absolute(quotient) < 524288.0
    whole = tl.where(near & (absolute(y) < float("inf")), rint(quotient), float("nan"))
    rest = tl.fma(-whole, y, x)
    return tl.where(tl.where(y < 0, -rest, rest) < 0, whole - 1, whole)


# ------------------------------------------------------------------ float to integer


@triton.jit
def to_int32(x):
    """The integer part; what does not fit, and NaN, is -2**31."""
    inside = (x > -2147483649.0) & (x < 2147483648.0)
    if x.dtype == tl.float32:
        inside = (x >= -2147483648.0) & (x < 2147483648.0)
    return tl.where(inside, tl.where(inside, x, 0.0).to(tl.int32), MINUS_32)


@triton.jit
def to_int64(x):
    """The integer part; what does not fit, and NaN, is -2**63."""
    inside = (x >= -9223372036854775808.0) & (x < 9223372036854775808.0)
    return tl.where(inside, tl.where(inside, x, 0.0).to(tl.int64), MINUS_64)


@triton.jit
def to_uint32(x):
    """As ``to_int32``, but that the upper half is converted without its first bit."""
    upper = x >= 2147483648.0
    return to_int32(tl.where(upper, x - 2147483648.0, x)) ^ tl.where(upper, MINUS_32, 0)


@triton.jit
def to_uint64(x):
    """As ``to_int64``, but that the upper half is converted without its first bit."""
    upper = x >= 9223372036854775808.0
    low = to_int64(tl.where(upper, x - 9223372036854775808.0, x))
    return (low ^ tl.where(upper, MINUS_64, 0)).to(tl.uint64)


# ------------------------------------------------------------------ integers


@triton.jit
def int_div(x, y):
    """``x // y`` rounding down; by 0 it is 0, and MIN // -1 is MIN."""
    if x.dtype.is_int_signed():
        safe = tl.where((y == 0) | (y == -1), 1, y)
        quotient = x // safe
        rest = x - quotient * safe
        down = ((rest ^ safe) < 0) & (rest != 0)
        quotient = tl.where(y == -1, 0 - x, quotient - down.to(x.dtype))
    else:
        quotient = x // tl.where(y == 0, 1, y)
    return tl.where(y == 0, 0, quotient)


@triton.jit
def divide(base, more, extent, LONG: tl.constexpr):
    """``base + more`` divided by an extent: the quotient is the sum of one number for all lanes and
    one in each; then the remainder.  ``LONG``: ``more`` is not larger than the extent; else both
    are small."""
    rest = base % extent + more
    if LONG:
        carry = (rest >= extent).to(tl.int64)
    else:
        small = (extent + tl.full((), 0, tl.int64)).to(tl.int32)
        carry = (rest.to(tl.int32) // small).to(tl.int64)
    return base // extent, carry, rest - carry * extent


@triton.jit
def int_mod(x, y):
    """``x % y`` with the sign of y; by 0 it is 0."""
    return tl.where(y == 0, 0, x - int_div(x, y) * y)


@triton.jit
def bit_not(x):
    """``~x``, of bools too."""
    if x.dtype == tl.int1:
        y = x == 0
    elif x.dtype.is_int_signed():
        y = ~x
    else:
        y = (0 - x) - 1
    return y


@triton.jit
def bool_less(x, y):
    """False < True."""
    return (x == 0) & y


@triton.jit
def bool_less_equal(x, y):
    """False <= True."""
    return (x == 0) | y


@triton.jit
def shl(x, n):
    """``x << n``; 0 where n is not in 0 .. width - 1."""
    width = x.dtype.primitive_bitwidth
    inside = (n >= 0) & (n < width)
    return tl.where(inside, x << tl.where(inside, n, 0), 0)


@triton.jit
def shr(x, n):
    """``x >> n``; only the sign is left where n is not in 0 .. width - 1."""
    width = x.dtype.primitive_bitwidth
    inside = (n >= 0) & (n < width)
    if x.dtype.is_int_signed():
        y = x >> tl.where(inside, n, width - 1)
    else:
        y = tl.where(inside, x >> tl.where(inside, n, 0), 0)
    return y


@triton.jit
def popcount(x):
    """The number of ones of ``|x|`` (Warren, Hacker's Delight, 5-1)."""
    y = absolute(x).to(tl.uint64)
    if x.dtype.primitive_bitwidth < 64:
        y = y & ((1 << x.dtype.primitive_bitwidth) - 1)
    y = y - ((y >> 1) & 0x5555555555555555)
    y = (y & 0x3333333333333333) + ((y >> 2) & 0x3333333333333333)
    y = (y + (y >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (y * 0x0101010101010101) >> 56


@triton.jit
def add_overflows(x, y):
    """Whether the exact sum does not fit."""
    total = x + y
    return ((x ^ total) & (y ^ total)) < 0


@triton.jit
def sub_overflows(x, y):
    """Whether the exact difference does not fit."""
    rest = x - y
    return ((x ^ y) & (x ^ rest)) < 0


@triton.jit
def mul_overflows(x, y):
    """Whether the exact product does not fit: dividing it by one factor does not give the other."""
    found = x * y
    safe = tl.where((y == 0) | (y == -1), 1, y)
    minus = (y == -1) & (x == MINUS_64)
    return minus | ((y != 0) & (y != -1) & (found // safe != x))


# ------------------------------------------------------------------ reductions


@triton.jit
def combine(x, y, KIND: tl.constexpr):
    """The operation of a reduction."""
    if KIND == "add":
        z = x + y
    elif KIND == "mul":
        z = x * y
    elif KIND == "bit_and":
        z = x & y
    elif KIND == "bit_or":
        z = x | y
    elif KIND == "bit_xor":
        z = x ^ y
    elif x.dtype.is_floating():
        z = minimum(x, y) if KIND == "minimum" else maximum(x, y)
    elif x.dtype == tl.int1:
        z = x & y if KIND == "minimum" else x | y
    else:
        z = tl.minimum(x, y) if KIND == "minimum" else tl.maximum(x, y)
    return z


@triton.jit
def _sum(x, y):
    return combine(x, y, "add")


@triton.jit
def _product(x, y):
    return combine(x, y, "mul")


@triton.jit
def _and(x, y):
    return combine(x, y, "bit_and")


@triton.jit
def _or(x, y):
    return combine(x, y, "bit_or")


@triton.jit
def _xor(x, y):
    return combine(x, y, "bit_xor")


@triton.jit
def _least(x, y):
    return combine(x, y, "minimum")


@triton.jit
def _most(x, y):
    return combine(x, y, "maximum")


@tl.core.builtin
def fma(x, y, z, _semantic):
    """``x * y + z`` rounded once; a bare number takes the type of the others, as in ``x * y``."""
    terms = [tl.core._unwrap_if_constexpr(term) for term in (x, y, z)]
    kind = next(term.dtype for term in terms if isinstance(term, tl.tensor))
    terms = [term if isinstance(term, tl.tensor) else _semantic.scalar_constant(term, kind)
             for term in terms]
    return tl.fma(*terms, _semantic=_semantic)


@tl.core.builtin
def lookup(table, index, place, _semantic):
    """Elements of a table of numbers that nothing changes, at scattered places after a known one.

    They are read through the cache of constant data.  ``tl.load`` is for neighbours: it makes
    Triton look for a layout in all that depends on it: 14 s of compile time for 180 lookups.  The
    place of a table is a part of the instruction, so that tables share the address of an index.
    """
    kind, letter = table.dtype.element_ty, {"fp64": "d", "fp32": "f", "int64": "l"}
    name = {"fp64": "f64", "fp32": "f32", "int64": "b64"}[kind.name]
    address = table.__add__(index, _semantic=_semantic).to(tl.int64, _semantic=_semantic)
    return tl.inline_asm_elementwise(
        f"ld.global.nc.{name} $0, [$1 + {place.value * kind.primitive_bitwidth // 8}];",
        f"={letter[kind.name]},l", [address], kind, True, 1, _semantic=_semantic)


@triton.jit
def any_of(x):
    """Whether any lane of a block of bools is true."""
    return tl.reduce(x.to(tl.int32), None, _or) != 0


@triton.jit
def collapse(x, KIND: tl.constexpr):
    """Reduces each row by what may be done in any order."""
    if KIND == "add":
        y = tl.reduce(x, 1, _sum)
    elif KIND == "mul":
        y = tl.reduce(x, 1, _product)
    elif KIND == "bit_and":
        y = tl.reduce(x, 1, _and)
    elif KIND == "bit_or":
        y = tl.reduce(x, 1, _or)
    elif KIND == "bit_xor":
        y = tl.reduce(x, 1, _xor)
    elif KIND == "minimum":
        y = tl.reduce(x, 1, _least)
    else:
        y = tl.reduce(x, 1, _most)
    return y


@triton.jit
def scan(x, KIND: tl.constexpr):
    """The running reduction of each row by what may be done in any order."""
    if KIND == "add":
        y = tl.associative_scan(x, 1, _sum)
    elif KIND == "mul":
        y = tl.associative_scan(x, 1, _product)
    elif KIND == "bit_and":
        y = tl.associative_scan(x, 1, _and)
    elif KIND == "bit_or":
        y = tl.associative_scan(x, 1, _or)
    elif KIND == "bit_xor":
        y = tl.associative_scan(x, 1, _xor)
    elif KIND == "minimum":
        y = tl.associative_scan(x, 1, _least)
    else:
        y = tl.associative_scan(x, 1, _most)
    return y


@triton.jit
def is_better(x, i, y, j, LEAST: tl.constexpr):
    """Whether x at place i comes before y at j: NaN, then the least (or largest), then the first;
    a place below 0 is none."""
    before = x < y if LEAST else y < x
    same = (x == y) | ((x != x) & (y != y))
    ahead = ((x != x) & (y == y)) | ((y == y) & before) | (same & (i < j))
    return (i >= 0) & ((j < 0) | ahead)


@triton.jit
def _lesser(x, i, y, j):
    first = is_better(x, i, y, j, True)
    return tl.where(first, x, y), tl.where(first, i, j)


@triton.jit
def _larger(x, i, y, j):
    first = is_better(x, i, y, j, False)
    return tl.where(first, x, y), tl.where(first, i, j)


@triton.jit
def first_of_best(x, i, LEAST: tl.constexpr):
    """The place of the best of each row."""
    if LEAST:
        x, i = tl.reduce((x, i), 1, _lesser)
    else:
        x, i = tl.reduce((x, i), 1, _larger)
    return i


@triton.jit
def fold(x, KIND: tl.constexpr, ROWS: tl.constexpr, LEVELS: tl.constexpr):
    """Reduces each of ``ROWS`` rows of ``2**LEVELS`` numbers: neighbours first."""
    for level in tl.static_range(LEVELS):
        x, y = tl.split(x.reshape(ROWS, 1 << (LEVELS - 1 - level), 2))
        x = combine(x, y, KIND)
    return x.reshape(ROWS)


@triton.jit
def leaves(count, DEPTH: tl.constexpr, LANES: tl.constexpr):
    """The leaves of a pairwise sum of ``count`` numbers: ``2**DEPTH`` slots for them."""
    return subtree(count, tl.arange(0, 1 << DEPTH), DEPTH, LANES)


@triton.jit
def subtree(count, slot, LEVEL: tl.constexpr, LANES: tl.constexpr):
    """A part of the tree of a pairwise sum of ``count`` numbers, ``LEVEL`` forks below its root, by
    its number: the first of its numbers and how many.

    A leaf above that level has the first slot of those below it; the others have no numbers.
    """
    start = slot.to(tl.int64) * 0
    size = start + count
    for level in tl.static_range(LEVEL):
        split = size > 16 * LANES
        right = ((slot >> (LEVEL - 1 - level)) & 1) == 1
        half = (size // 2) & -LANES
        start = tl.where(split & right, start + half, start)
        size = tl.where(split, tl.where(right, size - half, half), tl.where(right, 0, size))
    return start, size


@triton.jit
def tree(x, used, ROWS: tl.constexpr, DEPTH: tl.constexpr):
    """The sums of the leaves of each row, added as the tree has them."""
    for level in tl.static_range(DEPTH):
        x, y = tl.split(x.reshape(ROWS, 1 << (DEPTH - 1 - level), 2))
        used, other = tl.split(used.reshape(1 << (DEPTH - 1 - level), 2))
        x = tl.where(other[None, :], x + y, x)
    return x.reshape(ROWS)
