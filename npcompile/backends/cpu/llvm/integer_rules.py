"""Integer primitives as LLVM IR that few programs have: division, shifts, counts, overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.backends.cpu.llvm.scalar import EmissionSite, Rule, absolute, any_lane, negative
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, known_integer, literal
from npcompile.core.paths import defer

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm import casts, intrinsics, remainders
else:
    defer(globals(), "npcompile.backends.cpu.llvm", "casts", "intrinsics", "remainders")

Divided = tuple[Value, Value, Value, Value]


def _divide(site: EmissionSite, a: Value, b: Value) -> Divided:
    """(quotient rounded down, remainder, divisor is 0, quotient overflows) where LLVM's division
    is defined; any of both where it is not.  Remainders of single numbers mostly bring back what
    is rarely out of range: what is in range needs no division."""
    f = site.f
    if a.lanes > 1 or not site.signed or known_integer(b) is not None:
        return _divided(site, a, b)
    zero, never = literal(a.elem, 0), literal("i1", False)
    before, divide, after = f.block, f.name_for("divide"), f.name_for("after")
    inside = f.binary("and", f.icmp("ult", a, b), f.icmp("sgt", b, zero))
    f.branch(inside, after, divide)
    f.label(divide)
    found = _divided(site, a, b)
    block = f.block
    f.jump(after)
    f.label(after)
    quotient, rest, by_zero, over = (
        f.phi(known.elem, 1, (known, before), (value, block))
        for known, value in zip((zero, a, never, never), found, strict=True)
    )
    return quotient, rest, by_zero, over


def _divided(site: EmissionSite, a: Value, b: Value) -> Divided:
    f, divisor = site.f, known_integer(b)
    if divisor is not None and divisor > 0 and site.signed:
        return *_divide_by(site, a, b, divisor), literal("i1", False), literal("i1", False)
    zero, one = literal(a.elem, 0, a.lanes), literal(a.elem, 1, a.lanes)
    never = literal("i1", False, a.lanes)
    by_zero = f.icmp("eq", b, zero) if divisor in (None, 0) else never
    over = never
    if site.signed and divisor in (None, -1):
        least = f.icmp("eq", a, literal(a.elem, -(1 << (int(a.elem[1:]) - 1)), a.lanes))
        over = f.binary("and", least, f.icmp("eq", b, literal(a.elem, -1, a.lanes)))
    safe = b
    if divisor in (None, 0, -1):
        safe = f.select(f.binary("or", by_zero, over), one, b)
    raise_where(f, by_zero, "divide")
    quotient, rest = remainders.integers(f, site.target, a, safe, site.signed)
    if not site.signed:
        return quotient, rest, by_zero, never
    # rounding down: one less where there is a rest of the other sign
    unlike = negative(f, f.binary("xor", rest, safe))
    fix = f.binary("and", unlike, f.icmp("ne", rest, zero))
    quotient = f.binary("add", quotient, f.convert("sext", fix, a.elem))
    rest = f.select(fix, f.binary("add", rest, safe), rest)
    return quotient, rest, by_zero, over


def _divide_by(site: EmissionSite, a: Value, b: Value, divisor: int) -> tuple[Value, Value]:
    """Quotient, rounded down, and remainder by a positive constant."""
    f = site.f
    shift = divisor.bit_length() - 1
    if divisor == 1 << shift:
        rest = f.binary("and", a, literal(a.elem, divisor - 1, a.lanes))
        return f.binary("ashr", a, literal(a.elem, shift, a.lanes)), rest
    if a.elem == "i64" and a.lanes == 1:
        return remainders.by_constant(f, a, divisor)
    quotient, rest = remainders.integers(f, site.target, a, b, signed=True)
    low = negative(f, rest)
    return (f.binary("add", quotient, f.convert("sext", low, a.elem)),
            f.select(low, f.binary("add", rest, b), rest))


def raise_where(f: LLVMFunction, mask: Value, flag: str) -> None:
    """Raises a floating-point flag if any lane of the mask is set."""
    if mask.text.startswith("%"):
        with f.when(any_lane(f, mask)):
            intrinsics.raise_flag(f, flag)


def _int_div(site: EmissionSite, a: Value, b: Value) -> Value:
    f = site.f
    quotient, _, by_zero, over = _divide(site, a, b)
    if site.signed:
        raise_where(f, over, "overflow")
    # where it overflows, the divisor was replaced by 1: the quotient is MIN, as NumPy has it
    return f.select(by_zero, literal(a.elem, 0, a.lanes), quotient)


def _int_mod(site: EmissionSite, a: Value, b: Value) -> Value:
    _, rest, by_zero, _ = _divide(site, a, b)
    return site.f.select(by_zero, literal(a.elem, 0, a.lanes), rest)


def _bit_not(site: EmissionSite, a: Value) -> Value:
    return site.f.binary("xor", a, literal(a.elem, -1, a.lanes))


def _shl(site: EmissionSite, a: Value, n: Value) -> Value:
    f, bits, known = site.f, int(a.elem[1:]), known_integer(n)
    if known is not None and 0 <= known < bits:
        return f.binary("shl", a, n)
    inside = f.icmp("ult", n, literal(n.elem, bits, n.lanes))
    zero = literal(a.elem, 0, a.lanes)
    return f.select(inside, f.binary("shl", a, f.select(inside, n, zero)), zero)


def _shr(site: EmissionSite, a: Value, n: Value) -> Value:
    f, bits, known = site.f, int(a.elem[1:]), known_integer(n)
    if known is not None and 0 <= known < bits:
        return f.binary("ashr" if site.signed else "lshr", a, n)
    most = literal(n.elem, bits - 1, n.lanes)
    if site.signed:  # shifting by the width less one fills with the sign
        return f.binary("ashr", a, f.intrinsic("umin", n, most))
    inside = f.icmp("ule", n, most)
    zero = literal(a.elem, 0, a.lanes)
    return f.select(inside, f.binary("lshr", a, f.select(inside, n, zero)), zero)


def _popcount(site: EmissionSite, a: Value) -> Value:
    count = site.f.intrinsic("ctpop", absolute(site, a))
    return casts.resize(site.f, count, f"i{8 * site.result.itemsize}", signed=False)


def _overflows(name: str) -> Rule:
    def rule(site: EmissionSite, a: Value, b: Value) -> Value:
        f, pair = site.f, f"{{ {a.type}, {Value('', 'i1', a.lanes).type} }}"
        intrinsic = f"llvm.{name}.with.overflow.{a.suffix}"
        f.module.declare(intrinsic, pair, [a.type, a.type])
        both = f.op(f"call {pair} @{intrinsic}({a.typed}, {b.typed})", a.elem, a.lanes)
        return f.op(f"extractvalue {pair} {both.text}, 1", "i1", a.lanes)

    return rule


RULES: dict[str, Rule] = {
    "int_div": _int_div,
    "int_mod": _int_mod,
    "bit_not": _bit_not,
    "shl": _shl,
    "shr": _shr,
    "popcount": _popcount,
    "add_overflows": _overflows("sadd"),
    "sub_overflows": _overflows("ssub"),
    "mul_overflows": _overflows("smul"),
}
