"""Quotients and remainders of vectors, for which machines have no instruction, by floats: exact."""

from __future__ import annotations

from npcompile.backends.cpu.llvm import intrinsics
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, known_integer, literal
from npcompile.backends.target import Target

#: for each type its integer, the exponents' bias and fraction bits; what is safe: magnitudes
#: between 2**-n and 2**n for n; and how many times larger than the divisor (a power of 2)
_FLOATS = {"float": ("i32", 127, 23, 60, 20), "double": ("i64", 1023, 52, 400, 50)}
#: less by more than the roundings of two conversions, a quotient and two products
_LOW = 1 - 2.0**-50


def integers(
    f: LLVMFunction, target: Target, a: Value, b: Value, signed: bool
) -> tuple[Value, Value]:
    """``a / b`` towards 0 and the rest; ``b`` is not 0 and the quotient in range."""
    bits = int(a.elem[1:])
    small = bits < 64 and known_integer(b) is None
    if a.lanes > 1 and bits == 64 and target.masks:
        return _wide(f, a, b, signed)
    if a.lanes > 1 and small:
        # rounded, too, the quotient is not the next integer: that is at least 1/b away
        to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        elem = "float" if bits <= 16 else "double"
        ratio = f.binary("fdiv", f.convert(to, a, elem), f.convert(to, b, elem))
        if elem == "double" and not signed and not target.masks:
            # AVX2 converts to signed integers only, and tries both halves: the one is invalid
            whole = f.binary("fadd", f.intrinsic("trunc", ratio), literal(elem, 2.0**52, a.lanes))
            quotient = f.convert("trunc", f.bitcast(whole, "i64"), a.elem)
        else:
            quotient = f.convert(back, ratio, a.elem)
    else:
        quotient = f.binary("sdiv" if signed else "udiv", a, b)
    return quotient, f.binary("sub", a, f.binary("mul", quotient, b))


def by_constant(f: LLVMFunction, a: Value, divisor: int) -> tuple[Value, Value]:
    """Quotient, rounded down, and remainder of 64 bits by a positive constant that is no power of
    2.  What is negative is replaced by what its bits are not, ``-1 - a``, and so is its quotient;
    63 bits are divided by one product (Granlund and Montgomery, Division by invariant integers
    using multiplication, PLDI 1994, theorem 4.2)."""
    more = divisor.bit_length()
    factor = -(-(1 << (63 + more)) // divisor)
    sign = f.binary("ashr", a, literal("i64", 63))
    positive = f.convert("zext", f.binary("xor", a, sign), "i128")
    product = f.binary("mul", positive, literal("i128", factor))
    high = f.convert("trunc", f.binary("lshr", product, literal("i128", 63 + more)), "i64")
    quotient = f.binary("xor", high, sign)
    return quotient, f.binary("sub", a, f.binary("mul", quotient, literal("i64", divisor)))


def _wide(f: LLVMFunction, a: Value, b: Value, signed: bool) -> tuple[Value, Value]:
    """Of 64 bits: twice a quotient that is not too large, and not too small by more than 2**-49 of
    itself and 1; what is left is less than twice the divisor."""
    zero = literal("i64", 0, a.lanes)
    over, under = a, b
    if signed:
        minus = [f.icmp("slt", x, zero) for x in (a, b)]
        over, under = (
            f.select(m, f.binary("sub", zero, x), x) for m, x in zip(minus, (a, b), strict=True)
        )
    one, low = (literal("double", number, a.lanes) for number in (1.0, _LOW))
    inverse = f.binary("fdiv", one, f.convert("uitofp", under, "double"))
    inverse = f.binary("fmul", inverse, low)
    quotient, rest = zero, over
    for _ in range(2):
        part = f.binary("fmul", f.convert("uitofp", rest, "double"), inverse)
        part = f.convert("fptoui", part, "i64")
        quotient = f.binary("add", quotient, part)
        rest = f.binary("sub", rest, f.binary("mul", part, under))
    more = f.icmp("uge", rest, under)
    quotient = f.binary("sub", quotient, f.convert("sext", more, "i64"))
    rest = f.select(more, f.binary("sub", rest, under), rest)
    if signed:
        unlike = f.binary("xor", *minus)
        quotient = f.select(unlike, f.binary("sub", zero, quotient), quotient)
        rest = f.select(minus[0], f.binary("sub", zero, rest), rest)
    return quotient, rest


def fits(f: LLVMFunction, a: Value, b: Value) -> Value:
    """Where :func:`of_floats` is right: both moderate, the quotient exact in its type."""
    elem, bias, fraction, most, times = _FLOATS[a.elem]
    low, high = (literal(elem, (e + bias) << fraction, a.lanes) for e in (-most, most))
    over, under = _magnitude(f, a, elem), _magnitude(f, b, elem)
    zero = f.icmp("eq", over, literal(elem, 0, a.lanes))
    far = f.binary("add", under, literal(elem, times << fraction, a.lanes))
    found = f.binary("or", zero, f.icmp("sgt", over, low))
    for condition in (f.icmp("slt", over, far), f.icmp("sgt", under, low),
                      f.icmp("slt", under, high)):
        found = f.binary("and", found, condition)
    return found


def of_floats(f: LLVMFunction, a: Value, b: Value) -> Value:
    """``fmod(a, b)``: the rounded quotient may be the next integer, and then the rest, which is
    exact, has the other sign."""
    whole = f.intrinsic("trunc", f.binary("fdiv", a, b))
    rest = f.intrinsic("fma", f.op(f"fneg {whole.typed}", a.elem, a.lanes), b, a)
    signed = f.intrinsic("copysign", rest, a)
    elem = _FLOATS[a.elem][0]
    beyond = f.icmp("ne", f.bitcast(rest, elem), f.bitcast(signed, elem))
    some = f.icmp("ne", _magnitude(f, rest, elem), literal(elem, 0, a.lanes))
    back = f.binary("fadd", rest, f.intrinsic("copysign", b, a))
    back = f.intrinsic("copysign", back, a)
    return f.select(f.binary("and", beyond, some), back, signed)


def floor_quotient(f: LLVMFunction, target: Target, a: Value, b: Value) -> Value:
    """``a / b`` rounded down; NaN where the quotient is so large that its error may be 1/2, where
    it or ``b`` is not finite, and where it is subnormal by products, which raise other flags.

    The integer next to a quotient that is not quite exact is the one below it or the one above it.
    The sign of the rest, which is rounded once, tells.
    """
    elem, bias, fraction = _FLOATS[a.elem][:3]
    most, infinity = (literal(elem, exponent << fraction, a.lanes)
                      for exponent in (bias + fraction - 4, 2 * bias + 1))
    if target.masks and a.lanes * int(elem[1:]) % 512 == 0:
        quotient = _by_products(f, a, b)
        known = f.negate(intrinsics.subnormal(f, quotient))
    else:
        quotient = f.binary("fdiv", a, b)
        known = f.icmp("slt", _magnitude(f, b, elem), infinity)
    near = f.binary("and", known, f.icmp("slt", _magnitude(f, quotient, elem), most))
    nan = literal(a.elem, float("nan"), a.lanes)
    whole = f.select(near, f.intrinsic("rint", quotient), nan)
    rest = f.intrinsic("fma", f.op(f"fneg {whole.typed}", a.elem, a.lanes), b, a)
    minus = literal(elem, -1 << (int(elem[1:]) - 1), a.lanes)
    sign = f.binary("and", f.bitcast(b, elem), minus)
    below = f.icmp("ugt", f.binary("xor", f.bitcast(rest, elem), sign), minus)
    less = f.binary("fsub", whole, literal(a.elem, 1.0, a.lanes))
    return f.select(below, less, whole)


def _by_products(f: LLVMFunction, a: Value, b: Value) -> Value:
    """The quotient with an error of some units in the last place, in less time than the divider
    takes; NaN where b is 0 or not finite."""
    inverse = intrinsics.approximation(f, "inverse", b)
    minus = f.op(f"fneg {b.typed}", b.elem, b.lanes)
    one = literal(a.elem, 1.0, a.lanes)
    for _ in range(2 if a.elem == "double" else 1):
        error = intrinsics.silent_fma(f, minus, inverse, one)
        inverse = intrinsics.silent_fma(f, error, inverse, inverse)
    return f.binary("fmul", a, inverse)


def _magnitude(f: LLVMFunction, a: Value, elem: str) -> Value:
    """The bits of the absolute value."""
    mask = (1 << (int(elem[1:]) - 1)) - 1
    return f.binary("and", f.bitcast(a, elem), literal(elem, mask, a.lanes))
