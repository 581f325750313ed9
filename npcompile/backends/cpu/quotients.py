"""Quotients of many numbers by one: the divisor's inverse is computed once.

With ``y`` the inverse of ``b`` as rounded, ``q = a*y`` and the exact remainder ``r = a - b*q``,
``q + r*y`` is ``a / b`` correctly rounded if nothing overflows or underflows on the way
(Brisebarre, Muller and Raina: Accelerating correctly rounded floating-point division when the
divisor is known in advance, IEEE Trans. Computers 53, 2004).  Vectors with a lane out of a safe
range are divided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npcompile.backends.cpu import scalar
from npcompile.backends.cpu.text import Function, Value, literal
from npcompile.program.ir import Apply, Kernel

#: for each dtype its exponents' bias and fraction bits, and the safe exponents of the divisor and
#: of the dividend: the quotient, and a remainder twice the fraction's bits below it, are normal
_RANGES = {
    "float": (127, 23, (-36, 36), (-76, 90)),
    "double": (1023, 52, (-400, 400), (-500, 600)),
}


@dataclass(frozen=True, slots=True)
class Divisor:
    """A number to divide by, its inverse, and whether it is in the safe range."""

    number: Value
    inverse: Value
    safe: Value


def divisors(kernel: Kernel, varies: list[bool]) -> frozenset[int]:
    """The values that are the same in all lanes and divide one that is not."""
    return frozenset(
        v.args[1] for v in kernel.values
        if isinstance(v, Apply) and v.op == "div" and v.dtype.char in "fd"
        and varies[v.args[0]] and not varies[v.args[1]]
    )


def divisor(f: Function, dtype: np.dtype, number: Value, lanes: int) -> Divisor:
    """Prepares a number to divide by; no flag is raised that dividing by it would not raise."""
    elem = scalar.register(dtype)
    safe = _within(f, number, _RANGES[elem][2])
    one = literal(elem, 1.0)
    inverse = f.binary("fdiv", one, f.select(safe, number, one))
    return Divisor(f.splat(number, lanes), f.splat(inverse, lanes), safe)


def divide(f: Function, a: Value, by: Divisor) -> Value:
    """``a / b`` in each lane."""
    names = ("usual", "unusual", "zeros", "seldom", "after")
    usual, unusual, zeros, seldom, after = (f.name_for(stem) for stem in names)
    within = _within(f, a, _RANGES[a.elem][3])
    f.branch(f.binary("and", _all(f, within), by.safe), usual, unusual, likely=True)
    f.label(unusual)
    magnitude = _magnitude(f, a)
    zero = f.icmp("eq", magnitude, literal(magnitude.elem, 0, a.lanes))
    f.branch(f.binary("and", _all(f, f.binary("or", within, zero)), by.safe), zeros, seldom)
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


def _corrected(f: Function, a: Value, by: Divisor) -> tuple[Value, Value]:
    """The product with the inverse, and the same corrected by its remainder."""
    first = f.binary("fmul", a, by.inverse)
    negated = f.op(f"fneg {first.typed}", a.elem, a.lanes)
    rest = f.intrinsic("fma", negated, by.number, a)
    return first, f.intrinsic("fma", rest, by.inverse, first)


def _all(f: Function, mask: Value) -> Value:
    return f.call(f"llvm.vector.reduce.and.{mask.suffix}", ("i1", 1), mask)


def _magnitude(f: Function, a: Value) -> Value:
    """The bits of the absolute value."""
    width = 64 if a.elem == "double" else 32
    return f.binary("and", f.bitcast(a, f"i{width}"), literal(f"i{width}", (1 << (width - 1)) - 1,
                                                              a.lanes))


def _within(f: Function, a: Value, exponents: tuple[int, int]) -> Value:
    """Whether magnitudes lie between two powers of two."""
    bias, fraction, *_ = _RANGES[a.elem]
    magnitude = _magnitude(f, a)
    low, high = (literal(magnitude.elem, (e + bias) << fraction, a.lanes) for e in exponents)
    return f.binary("and", f.icmp("sgt", magnitude, low), f.icmp("slt", magnitude, high))
