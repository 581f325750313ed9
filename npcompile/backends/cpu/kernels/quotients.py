"""Quotients of many numbers by one: the divisor's inverse is computed once.

With ``y`` the inverse of ``b`` as rounded, ``q = a*y`` and the exact remainder ``r = a - b*q``,
``q + r*y`` is ``a / b`` correctly rounded if nothing overflows or underflows on the way
(Brisebarre, Muller and Raina: Accelerating correctly rounded floating-point division when the
divisor is known in advance, IEEE Trans. Computers 53, 2004).  Vectors with a lane out of a safe
range are divided.
"""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.llvm import scalar
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, known_float, literal
from npcompile.core.records import record

#: for each dtype its exponents' bias and fraction bits, and the safe exponents of the divisor.
#: Those of the dividend are the middle half of all (-63 to 64, -511 to 512): the quotient, and a
#: remainder twice the fraction's bits below it, are normal
_RANGES = {
    "float": (127, 23, (-60, 60)),
    "double": (1023, 52, (-500, 500)),
}


@record
class Divisor:
    """A number to divide by and its inverse; ``wanted`` is the bit that tells whether a dividend is
    in the safe range (see :func:`_middle`), and 0 if the number itself is not."""

    number: Value
    inverse: Value
    wanted: Value


def divisor(f: LLVMFunction, dtype: np.dtype, number: Value, lanes: int) -> Divisor:
    """Prepares a number to divide by; no flag is raised that dividing by it would not raise."""
    elem = scalar.register(dtype)
    bit, none = (_integer(elem, k, lanes) for k in (1 << (_width(elem) - 2), 0))
    known = known_float(number)
    if known is not None and _is_safe(elem, known):
        inverse = literal(elem, float(dtype.type(1) / dtype.type(known)), lanes)
        return Divisor(literal(elem, known, lanes), inverse, bit)
    before, safe, after = f.block, f.name_for("safe"), f.name_for("after")
    f.branch(_within(f, number), safe, after, likely=True)
    f.label(safe)
    one = literal(elem, 1.0)
    inverse = f.binary("fdiv", one, number)
    f.jump(after)
    f.label(after)
    inverse = f.phi(elem, 1, (inverse, safe), (one, before))
    wanted = f.phi(bit.elem, lanes, (bit, safe), (none, before))
    return Divisor(f.splat(number, lanes), f.splat(inverse, lanes), wanted)


def divide(f: LLVMFunction, a: Value, by: Divisor, width: int) -> Value:
    """``a / b`` in each lane; registers have ``width`` bytes."""
    names = ("usual", "unusual", "zeros", "seldom", "after")
    usual, unusual, zeros, seldom, after = (f.name_for(stem) for stem in names)
    f.branch(_have(f, _middle(f, a), by.wanted, width), usual, unusual, likely=True)
    f.label(unusual)
    zero = f.icmp("eq", _doubled(f, a), _integer(a.elem, 0, a.lanes))
    allowed = f.select(zero, by.wanted, _middle(f, a))
    f.branch(_have(f, allowed, by.wanted, width), zeros, seldom)
    f.label(seldom)
    divided = f.binary("fdiv", a, by.number)
    f.jump(after)
    f.label(zeros)  # their quotients keep no sign
    first, better = _corrected(f, a, by)
    signed = f.intrinsic("copysign", better, first)
    f.jump(after)
    f.label(usual)
    _, quotient = _corrected(f, a, by)
    f.jump(after)
    f.label(after)
    return f.phi(a.elem, a.lanes, (divided, seldom), (signed, zeros), (quotient, usual))


def _corrected(f: LLVMFunction, a: Value, by: Divisor) -> tuple[Value, Value]:
    """The product with the inverse, and the same corrected by its remainder."""
    first = f.binary("fmul", a, by.inverse)
    negated = f.op(f"fneg {first.typed}", a.elem, a.lanes)
    rest = f.intrinsic("fma", negated, by.number, a)
    return first, f.intrinsic("fma", rest, by.inverse, first)


def _middle(f: LLVMFunction, a: Value) -> Value:
    """Integers whose second bit is set where an exponent is in the middle half of all."""
    bits = f.bitcast(a, f"i{_width(a.elem)}")
    return f.binary("add", bits, _integer(a.elem, 1 << (_width(a.elem) - 3), a.lanes))


def _doubled(f: LLVMFunction, a: Value) -> Value:
    """The bits of a number without its sign, doubled."""
    bits = f.bitcast(a, f"i{_width(a.elem)}")
    return f.binary("add", bits, bits)


def _have(f: LLVMFunction, bits: Value, wanted: Value, width: int) -> Value:
    """Whether every lane has a bit that is wanted; if none is wanted, none has it."""
    while bits.lanes * _width(wanted.elem) // 8 > width:
        bits = f.binary("and", *f.halves(bits))
        wanted, _ = f.halves(wanted)
    found = f.binary("and", bits, wanted)
    lacks = f.icmp("eq", found, literal(found.elem, 0, found.lanes))
    return f.negate(scalar.any_lane(f, lacks))


def _integer(elem: str, number: int, lanes: int = 1) -> Value:
    return literal(f"i{_width(elem)}", number, lanes)


def _width(elem: str) -> int:
    return 64 if elem in ("double", "i64") else 32


def _is_safe(elem: str, number: float) -> bool:
    """Whether the magnitude of a constant divisor is in the safe range."""
    low, high = _RANGES[elem][2]
    return 2.0**low <= abs(number) < 2.0**high


def _within(f: LLVMFunction, number: Value) -> Value:
    """Whether the magnitude of a divisor is in the safe range."""
    bias, fraction, exponents = _RANGES[number.elem]
    low, high = ((e + bias) << (fraction + 1) for e in exponents)
    above = f.binary("sub", _doubled(f, number), _integer(number.elem, low))
    return f.icmp("ult", above, _integer(number.elem, high - low))
