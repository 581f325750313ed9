"""The code of square roots and quotients of float64 by products.

AVX-512 has approximations to 14 bits.  Newton's iteration refines them (Markstein: Computation of
elementary functions on the IBM RISC System/6000 processor, IBM J. Res. Dev. 34, 1990), and what
comes out, ``s``, is then proved in each lane.  Its remainder ``r``, ``x - s*s`` or ``a - b*s``, is
exact; with a factor ``f`` somewhat larger than ``1 / (s + sqrt(x))`` or ``1 / b``, ``s + r*f`` lies
beyond the true result as seen from ``s``.  If it rounds to ``s``, so does what lies between them.
Vectors that fail, one in 100,000, and those with a lane out of a safe range are left to the
divider, and so is every other register where it is done with that one before products are with
both.  Past the cache, where memory holds up the divider too, it does all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from npcompile.backends.cpu.llvm import scalar
from npcompile.backends.cpu.llvm.text import REGISTER, LLVMFunction, Value, literal
from npcompile.core.paths import defer

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm import intrinsics
else:
    defer(globals(), "npcompile.backends.cpu.llvm", "intrinsics")

LARGER = 1 + 2.0**-20  # the factors' errors are 2**-26 or less
#: what is added to a number's bits: the second and third one are set from then on where the
#: exponent is from -255 to 256, so that nothing overflows or underflows
SHIFT, SIGN, INSIDE = 768 << 52, 1 << 63, 3 << 61


def apply(f: LLVMFunction, op: str, operands: list[Value], iterations: bool) -> Value:
    """``sqrt(x)`` or ``a / b`` in each lane; ``iterations``: the divider does every other
    register."""
    if iterations and operands[0].lanes == 2 * REGISTER:
        lows, highs = zip(*(f.halves(x) for x in operands), strict=True)
        low = apply(f, op, list(lows), iterations)
        high = f.intrinsic("sqrt", *highs) if op == "sqrt" else f.binary("fdiv", *highs)
        return f.shuffle(low, high, range(2 * REGISTER))
    if op == "div":
        a, b = operands
        return _proved(f, _are_safe(f, a, b), lambda: _quotient(f, a, _here(f, b)),
                       lambda: f.binary("fdiv", a, b))
    (x,) = operands
    return _proved(f, _is_safe(f, x), lambda: _root(f, _here(f, x)),
                   lambda: f.intrinsic("sqrt", x))


def _is_safe(f: LLVMFunction, x: Value) -> Value:
    """A mask, of whose lanes all hold if it is safe to take roots of all."""
    inside = literal("i64", INSIDE, x.lanes)
    others = _joined(f, "or", [f.binary("xor", _shifted(f, x), inside)])
    others = f.binary("and", others, literal("i64", SIGN | INSIDE, others.lanes))
    return f.icmp("eq", others, literal("i64", 0, others.lanes))


def _are_safe(f: LLVMFunction, a: Value, b: Value) -> Value:
    """The same for the quotient of two numbers."""
    common = _joined(f, "and", [_shifted(f, a), _shifted(f, b)])
    inside = literal("i64", INSIDE, common.lanes)
    return f.icmp("eq", f.binary("and", common, inside), inside)


def _proved(f: LLVMFunction, safe: Value, products: Callable[[], tuple[Value, Value]],
            divider: Callable[[], Value]) -> Value:
    """A result by products where it is safe and proved, else the divider's."""
    quick, slow, after = (f.name_for(stem) for stem in ("quick", "slow", "after"))
    f.branch(_all(f, safe), quick, slow, likely=True)
    f.label(quick)
    result, further = products()
    proved = f.op(f"fcmp oeq {result.type} {result.text}, {further.text}", "i1", result.lanes)
    f.branch(_all(f, proved), after, slow, likely=True)
    f.label(slow)
    exact = divider()
    f.jump(after)
    f.label(after)
    return f.phi(result.elem, result.lanes, (result, quick), (exact, slow))


def _here(f: LLVMFunction, x: Value) -> Value:
    """The same numbers; nothing that is computed from them leaves the block.  LLVM would compute
    what no iteration of a loop changes before the loop, safe or not, and raise flags."""
    if x.lanes > REGISTER:
        low, high = (_here(f, half) for half in f.halves(x))
        return f.shuffle(low, high, range(x.lanes))
    return f.op(f"call {x.type} {intrinsics.IN_PLACE}({x.typed})", "double", REGISTER)


def _root(f: LLVMFunction, x: Value) -> tuple[Value, Value]:
    """The square root, and what lies beyond it."""
    y, half = intrinsics.approximation(f, "inverse_root", x), _number(x, 0.5)
    g, h = f.binary("fmul", x, y), f.binary("fmul", y, half)  # of sqrt(x), 1 / (2 sqrt(x))
    rest = _minus(f, g, h, half)
    g, h = f.intrinsic("fma", g, rest, g), f.intrinsic("fma", h, rest, h)
    g = f.intrinsic("fma", g, _minus(f, g, h, half), g)
    h = f.binary("fmul", h, _number(x, LARGER))
    s = f.intrinsic("fma", _minus(f, g, g, x), h, g)
    return s, f.intrinsic("fma", _minus(f, s, s, x), h, s)


def _quotient(f: LLVMFunction, a: Value, b: Value) -> tuple[Value, Value]:
    """The quotient, and what lies beyond it."""
    y = intrinsics.approximation(f, "inverse", b)
    y = f.intrinsic("fma", y, _minus(f, b, y, _number(b, 1.0)), y)
    s = f.binary("fmul", a, y)
    s = f.intrinsic("fma", _minus(f, b, s, a), y, s)
    y = f.binary("fmul", y, _number(b, LARGER))
    s = f.intrinsic("fma", _minus(f, b, s, a), y, s)
    return s, f.intrinsic("fma", _minus(f, b, s, a), y, s)


def _minus(f: LLVMFunction, a: Value, b: Value, c: Value) -> Value:
    """``c - a*b``, rounded once."""
    return f.intrinsic("fma", f.op(f"fneg {a.typed}", a.elem, a.lanes), b, c)


def _number(like: Value, number: float) -> Value:
    return literal("double", number, like.lanes)


def _shifted(f: LLVMFunction, x: Value) -> Value:
    return f.binary("add", f.bitcast(x, "i64"), literal("i64", SHIFT, x.lanes))


def _joined(f: LLVMFunction, op: str, bits: Iterable[Value]) -> Value:
    """The bits of all registers together."""
    first, *more = bits
    for other in more:
        first = f.binary(op, first, other)
    while first.lanes > REGISTER:
        first = f.binary(op, *f.halves(first))
    return first


def _all(f: LLVMFunction, mask: Value) -> Value:
    return f.negate(scalar.any_lane(f, f.negate(mask)))
