"""Floating-point primitives as LLVM IR that few programs have: remainders, powers of two, bits."""

from __future__ import annotations

from collections.abc import Callable
from math import frexp
from typing import TYPE_CHECKING

from npcompile.backends.cpu.llvm.scalar import EmissionSite, Rule, any_lane, compare, register
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, known_float, literal, poison
from npcompile.core.paths import defer

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm import intrinsics, remainders
else:
    defer(globals(), "npcompile.backends.cpu.llvm", "intrinsics", "remainders")


def _fma(site: EmissionSite, a: Value, b: Value, c: Value) -> Value:
    return site.f.intrinsic("fma", a, b, c)


def _copysign(site: EmissionSite, a: Value, b: Value) -> Value:
    return site.f.intrinsic("copysign", a, b)


def _fmod(site: EmissionSite, a: Value, b: Value) -> Value:
    """Exact: by a power of two in every step, else by the quotient where that fits; libm's, lane
    by lane, where it does not."""
    f = site.f
    power = known_float(b)
    if power is not None and power > 0 and frexp(power)[0] == 0.5 and 1e-30 < power < 1e30:
        return _fmod_by(site, a, power)
    name = "fmod" if a.elem == "double" else "fmodf"
    f.module.declare(name, a.elem, (a.elem, a.elem))

    def libm(x: Value, y: Value) -> Value:  # LLVM makes anything of what it knows to be NaN
        return f.op(f"call {a.elem} @{name}({x.typed}, {y.typed}) nobuiltin", a.elem, 1)

    if a.lanes == 1 or site.target.width < 32:  # without fused multiplication
        return _each_lane(f, libm, a.elem, a, b)
    usual, seldom, after = (f.name_for(stem) for stem in ("usual", "seldom", "after"))
    f.branch(any_lane(f, f.negate(remainders.fits(f, a, b))), seldom, usual)
    f.label(seldom)
    one_by_one = _each_lane(f, libm, a.elem, a, b)
    f.jump(after)
    f.label(usual)
    together = remainders.of_floats(f, a, b)
    f.jump(after)
    f.label(after)
    return f.phi(a.elem, a.lanes, (one_by_one, seldom), (together, usual))


def _floor_quotient(site: EmissionSite, a: Value, b: Value) -> Value:
    return remainders.floor_quotient(site.f, site.target, a, b)


def _fmod_by(site: EmissionSite, a: Value, power: float) -> Value:
    f = site.f
    by, inverse = literal(a.elem, power, a.lanes), literal(a.elem, 1 / power, a.lanes)
    # what is smaller stays as it is: its quotient might underflow
    larger = compare(f, "uge", f.intrinsic("fabs", a), by)

    def rest(of: Value) -> Value:
        whole = f.binary("fmul", f.intrinsic("trunc", f.binary("fmul", of, inverse)), by)
        return f.intrinsic("copysign", f.binary("fsub", a, whole), a)

    if a.lanes > 1:
        return rest(f.select(larger, a, literal(a.elem, 0.0, a.lanes)))
    before, divided, after = f.block, f.name_for("divided"), f.name_for("after")
    f.branch(larger, divided, after)
    f.label(divided)
    found = rest(a)
    f.jump(after)
    f.label(after)
    return f.phi(a.elem, 1, (a, before), (found, divided))


def _each_lane(f: LLVMFunction, one: Callable[..., Value], elem: str, *args: Value) -> Value:
    lanes = args[0].lanes
    if lanes == 1:
        return one(*args)
    whole = poison(elem, lanes)
    for lane in range(lanes):
        value = one(*(f.extract(a, lane) for a in args))
        whole = f.op(f"insertelement {whole.typed}, {value.typed}, i64 {lane}", elem, lanes)
    return whole


def _ldexp(site: EmissionSite, a: Value, n: Value) -> Value:
    """``a * 2**n`` rounded once.

    Without the machine's own instruction: powers of two in three steps.  The first two leave a
    last step that either is exact or rounds everything away, so no subnormal is rounded twice.
    """
    f = site.f
    wide, bits, least, most, digits = (
        ("i64", 64, -1022, 1023, 53) if a.elem == "double" else ("i32", 32, -126, 127, 24))
    limit = 3 * most

    def number(value: int, elem: str = wide) -> Value:
        return literal(elem, value, a.lanes)

    n = _clamp(site, n, limit)
    have = int(n.elem[1:])
    if have != bits:
        n = f.convert("trunc" if have > bits else "sext", n, wide)
    if site.target.masks and intrinsics.fits(a):
        return intrinsics.scalef(f, a, f.convert("sitofp", n, a.elem))
    for _ in range(2):
        low, high = f.icmp("slt", n, number(least)), f.icmp("sgt", n, number(most))
        step = f.select(low, number(least + digits), f.select(high, number(most), number(0)))
        a = f.binary("fmul", a, _power_of_two(f, step, a.elem, most, digits))
        n = f.binary("sub", n, step)
    n = f.intrinsic("smin", f.intrinsic("smax", n, number(least)), number(most))
    return f.binary("fmul", a, _power_of_two(f, n, a.elem, most, digits))


def _clamp(site: EmissionSite, n: Value, limit: int) -> Value:
    f, bits = site.f, int(n.elem[1:])
    if site.dtype.kind == "u":
        top = literal(n.elem, min(limit, (1 << bits) - 1), n.lanes)
        n = f.intrinsic("umin", n, top)
        return f.convert("zext", n, f"i{2 * bits}") if bits < 32 else n
    if limit < 1 << (bits - 1):
        n = f.intrinsic("smin", n, literal(n.elem, limit, n.lanes))
        n = f.intrinsic("smax", n, literal(n.elem, -limit, n.lanes))
    return n


def _power_of_two(f: LLVMFunction, n: Value, elem: str, bias: int, digits: int) -> Value:
    biased = f.binary("add", n, literal(n.elem, bias, n.lanes))
    return f.bitcast(f.binary("shl", biased, literal(n.elem, digits - 1, n.lanes)), elem)


def _to_bits(site: EmissionSite, a: Value) -> Value:
    return a if a.elem == "i16" else site.f.bitcast(a, f"i{8 * site.dtype.itemsize}")


def _from_bits(site: EmissionSite, a: Value) -> Value:
    return a if a.elem == "i16" else site.f.bitcast(a, register(site.result))


RULES: dict[str, Rule] = {
    "fma": _fma,
    "copysign": _copysign,
    "ldexp": _ldexp,
    "fmod": _fmod,
    "floor_quotient": _floor_quotient,
    "to_bits": _to_bits,
    "from_bits": _from_bits,
}
