"""Primitives as LLVM IR, for any number of lanes.

A value is a tuple of parts: one, or the real and the imaginary.  In registers a bool is an i1 and
a float16 its 16 bits; in memory a bool is a byte.  LLVM has undefined behaviour where NumPy has
values (conversions out of range, shifts by the width, division by zero): every rule here is total.
Comparisons raise no flag for quiet NaNs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import frexp
from typing import TYPE_CHECKING

import numpy as np

from npcompile.backends.cpu.llvm.text import (
    FLOATS,
    LLVMFunction,
    Value,
    known_float,
    known_integer,
    literal,
    poison,
)
from npcompile.backends.cpu.loader.symbols import SUBPROGRAM
from npcompile.backends.target import Target
from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.graph.ir import Number, Subprogram, Table, integer

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm import casts, intrinsics, remainders
else:
    defer(globals(), "npcompile.backends.cpu.llvm", "casts", "intrinsics", "remainders")

Parts = tuple[Value, ...]

_FLOAT = {2: "i16", 4: "float", 8: "double"}


def component(dtype: np.dtype) -> np.dtype:
    """The dtype of one part."""
    return dtype if dtype.kind != "c" else np.dtype(f"f{dtype.itemsize // 2}")


def register(dtype: np.dtype) -> str:
    """The element type of a part in registers."""
    part = component(dtype)
    if part.kind == "b":
        return "i1"
    return _FLOAT[part.itemsize] if part.kind == "f" else f"i{8 * part.itemsize}"


def memory(dtype: np.dtype) -> str:
    """The element type of a part in memory."""
    return "i8" if dtype.kind == "b" else register(dtype)


def constant(number: Number, dtype: np.dtype, lanes: int = 1) -> Parts:
    """A number as parts; integers wrap."""
    elem = register(dtype)
    if dtype.kind in "biu":
        return (literal(elem, bool(number) if elem == "i1" else integer(number), lanes),)
    value = dtype.type(number)
    if dtype.kind == "c":
        return literal(elem, float(value.real), lanes), literal(elem, float(value.imag), lanes)
    if elem == "i16":
        return (literal(elem, int(value.view(np.int16)), lanes),)
    return (literal(elem, float(value), lanes),)


@record
class EmissionSite:
    """What a rule may look at: where it writes, for which machine, and the operands' dtype."""

    f: LLVMFunction
    target: Target
    dtype: np.dtype  # of the operands (the last one's)
    result: np.dtype
    attrs: Table | Subprogram | None = None

    @property
    def floating(self) -> bool:
        return self.dtype.kind == "f"

    @property
    def signed(self) -> bool:
        return self.dtype.kind == "i"


Rule = Callable[..., Value]


def apply(f: LLVMFunction, target: Target, op: str, dtypes: list[np.dtype], args: list[Parts],
          result: np.dtype, attrs: Table | Subprogram | None = None) -> Parts:
    """One primitive, or ``cast``, of operands of the same number of lanes."""
    if op == "cast":
        found = casts.cast(f, args[0], dtypes[0], result, target)
        known = not any(a.text.startswith("%") for a in args[0])
        return tuple([f.opaque(a) if known and a.elem in FLOATS else a for a in found])
    site = EmissionSite(f, target, dtypes[-1], result, attrs)
    if op in _PARTWISE:
        return _PARTWISE[op](site, *args)
    operands = [part for (part,) in args]
    if site.floating and not any(a.text.startswith("%") for a in operands):
        operands = [f.opaque(a) if a.elem in FLOATS else a for a in operands]
    return (RULES[op](site, *operands),)


def any_lane(f: LLVMFunction, mask: Value) -> Value:
    """Whether a mask holds anywhere."""
    if mask.lanes == 1:
        return mask
    return f.call(f"llvm.vector.reduce.or.{mask.suffix}", ("i1", 1), mask)


# ------------------------------------------------------------------ arithmetic


def _arithmetic(on_floats: str, on_ints: str, on_bools: str) -> Rule:
    def rule(site: EmissionSite, a: Value, b: Value) -> Value:
        op = on_floats if site.floating else on_bools if site.dtype.kind == "b" else on_ints
        return site.f.binary(op, a, b)

    return rule


def _neg(site: EmissionSite, a: Value) -> Value:
    if site.floating:
        return site.f.op(f"fneg {a.typed}", a.elem, a.lanes)
    return site.f.binary("sub", literal(a.elem, 0, a.lanes), a)


def _abs(site: EmissionSite, a: Value) -> Value:
    if site.floating:
        return site.f.intrinsic("fabs", a)
    return site.f.select(_negative(site.f, a), _neg(site, a), a) if site.signed else a


def _negative(f: LLVMFunction, a: Value) -> Value:
    return f.icmp("slt", a, literal(a.elem, 0, a.lanes))


def _unary(name: str) -> Rule:
    return lambda site, a: site.f.intrinsic(name, a)


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


# ------------------------------------------------------------------ integers


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
    unlike = _negative(f, f.binary("xor", rest, safe))
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
    low = _negative(f, rest)
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


def _bits(name: str) -> Rule:
    return lambda site, a, b: site.f.binary(name, a, b)


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
    count = site.f.intrinsic("ctpop", _abs(site, a))
    return casts.resize(site.f, count, f"i{8 * site.result.itemsize}", signed=False)


def _overflows(name: str) -> Rule:
    def rule(site: EmissionSite, a: Value, b: Value) -> Value:
        f, pair = site.f, f"{{ {a.type}, {Value('', 'i1', a.lanes).type} }}"
        intrinsic = f"llvm.{name}.with.overflow.{a.suffix}"
        f.module.declare(intrinsic, pair, [a.type, a.type])
        both = f.op(f"call {pair} @{intrinsic}({a.typed}, {b.typed})", a.elem, a.lanes)
        return f.op(f"extractvalue {pair} {both.text}, 1", "i1", a.lanes)

    return rule


# ------------------------------------------------------------------ comparisons and choice


def compare(f: LLVMFunction, how: str, a: Value, b: Value) -> Value:
    """A floating-point comparison that is quiet for quiet NaNs (LLVM's plain one is not)."""
    if how in ("oeq", "une", "uno", "ord"):
        return f.op(f"fcmp {how} {a.type} {a.text}, {b.text}", "i1", a.lanes)
    name = f"llvm.experimental.constrained.fcmp.{a.suffix}"
    return f.call(name, ("i1", a.lanes), a, b, f'metadata !"{how}"',
                  'metadata !"fpexcept.ignore"')


def _ordering(on_floats: str, on_ints: str) -> Rule:
    def rule(site: EmissionSite, a: Value, b: Value) -> Value:
        if site.floating:
            return compare(site.f, on_floats, a, b)
        return site.f.icmp(("s" if site.signed else "u") + on_ints, a, b)

    return rule


def _equality(on_floats: str, on_ints: str, join: str) -> Callable[..., Parts]:
    def rule(site: EmissionSite, a: Parts, b: Parts) -> Parts:
        f, found = site.f, []
        for x, y in zip(a, b, strict=True):
            if site.dtype.kind == "f" and x.elem == "i16":
                x, y = casts.half_to_float(f, x), casts.half_to_float(f, y)
            floating = x.elem in FLOATS
            found.append(compare(f, on_floats, x, y) if floating else f.icmp(on_ints, x, y))
        return (found[0] if len(found) == 1 else f.binary(join, *found),)

    return rule


def _where(site: EmissionSite, mask: Parts, a: Parts, b: Parts) -> Parts:
    return tuple(_chosen(site.f, mask[0], x, y) for x, y in zip(a, b, strict=True))


def _chosen(f: LLVMFunction, mask: Value, x: Value, y: Value) -> Value:
    """One of two; LLVM must not compute further with either of two constants in advance, nor with
    the other number where one is the identity of an operation: flags would be raised for nothing.
    """
    found = f.select(mask, x, y)
    constants = [v for v in (x, y) if not v.text.startswith("%")]
    known = len(constants) == 2 or any(known_float(v) in (0.0, 1.0) for v in constants)
    return f.opaque(found) if known and found.elem in FLOATS else found


def _extreme(smallest: bool) -> Rule:
    def rule(site: EmissionSite, a: Value, b: Value) -> Value:
        f = site.f
        if not site.floating:
            if site.dtype.kind == "b":
                return f.binary("and" if smallest else "or", a, b)
            return f.intrinsic(("s" if site.signed else "u") + ("min" if smallest else "max"), a, b)
        if site.target.masks and intrinsics.fits(a):
            nan = literal(a.elem, float("nan"), a.lanes)
            extreme = intrinsics.extreme(f, smallest, a, b)
            return f.select(compare(f, "uno", a, b), nan, extreme)
        return (_minimum if smallest else _maximum)(f, a, b)

    return rule


def _minimum(f: LLVMFunction, a: Value, b: Value) -> Value:
    """The second one where the first is not less: or'ed with the first, it keeps its minus if they
    are equal, and becomes NaN if they are unordered."""
    less, alike = compare(f, "olt", a, b), compare(f, "ueq", a, b)
    chosen, also = _as_bits(f, f.select(less, a, b)), _as_bits(f, a)
    also = f.binary("and", also, f.convert("sext", alike, also.elem))
    return f.bitcast(f.binary("or", chosen, also), a.elem)


def _maximum(f: LLVMFunction, a: Value, b: Value) -> Value:
    """The same, but that it loses its minus if they are equal."""
    more, unlike = compare(f, "ogt", a, b), compare(f, "une", a, b)
    chosen, also = _as_bits(f, f.select(more, a, b)), _as_bits(f, a)
    also = f.binary("or", also, f.convert("sext", unlike, also.elem))
    nan = f.convert("sext", compare(f, "uno", a, b), also.elem)
    return f.bitcast(f.binary("or", f.binary("and", chosen, also), nan), a.elem)


def _as_bits(f: LLVMFunction, a: Value) -> Value:
    return f.bitcast(a, f"i{64 if a.elem == 'double' else 32}")


# ------------------------------------------------------------------ representation


def _to_bits(site: EmissionSite, a: Value) -> Value:
    return a if a.elem == "i16" else site.f.bitcast(a, f"i{8 * site.dtype.itemsize}")


def _from_bits(site: EmissionSite, a: Value) -> Value:
    return a if a.elem == "i16" else site.f.bitcast(a, register(site.result))


def _lookup(site: EmissionSite, index: Value) -> Value:
    assert isinstance(site.attrs, Table)
    f, numbers = site.f, site.attrs.values
    elem = register(site.result)
    if site.target.masks and intrinsics.permutes(elem, index.lanes, len(numbers)):
        return intrinsics.permute(f, elem, numbers, index)
    index = f.binary("and", index, literal(index.elem, len(numbers) - 1, index.lanes))
    where = f.offset(f.module.table(elem, numbers), elem, casts.resize(f, index, "i64", False))
    return gather(f, where, elem)


def gather(f: LLVMFunction, pointers: Value, elem: str) -> Value:
    """Loads one element per lane; every pointer must be valid."""
    lanes = pointers.lanes
    if lanes == 1:
        return f.load(pointers, elem)
    suffix = f"{Value('', elem, lanes).suffix}.{pointers.suffix}"
    size = 8 if elem == "double" else 4 if elem == "float" else int(elem[1:]) // 8
    typed = f"{pointers.type} align {size} {pointers.text}"
    result, mask = Value("", elem, lanes).type, literal("i1", True, lanes)
    name = f"llvm.masked.gather.{suffix}"
    f.module.declare(name, result, [pointers.type, mask.type, result])
    return f.op(f"call {result} @{name}({typed}, {mask.typed}, {result} poison)", elem, lanes)


def wide_lanes(target: Target, what: Subprogram) -> int:
    """Lanes of the subprogram's wide version, 0 if there is none."""
    return target.width // 8 * what.registers if target.masks and what.registers > 1 else 0


def _call(site: EmissionSite, *args: Value) -> Value:
    """A subprogram, which is there for one register and in a wide version."""
    assert isinstance(site.attrs, Subprogram)
    f, lanes, have = site.f, site.target.width // 8, args[0].lanes
    wide = wide_lanes(site.target, site.attrs)
    if wide and have % wide == 0:
        lanes = wide
    name = f"{SUBPROGRAM}.{site.attrs.name}.{lanes}"
    if have < lanes:
        args = tuple(f.shuffle(a, a, [k % have for k in range(lanes)]) if have > 1
                     else f.splat(a, lanes) for a in args)
    found = []
    for first in range(0, max(have, lanes), lanes):
        some = range(first, first + lanes)
        given = [f.shuffle(a, a, some) if a.lanes > lanes else a for a in args]
        found.append(f.call(name, ("double", lanes), *given))
    while len(found) > 1:
        found = [f.shuffle(a, b, range(2 * a.lanes)) for a, b in zip(found[::2], found[1::2])]
    return f.shuffle(found[0], found[0], range(have)) if have < lanes else found[0]


def _complex(site: EmissionSite, re: Parts, im: Parts) -> Parts:
    return (*re, *im)


_PARTWISE: dict[str, Callable[..., Parts]] = {
    "eq": _equality("oeq", "eq", "and"),
    "ne": _equality("une", "ne", "or"),
    "where": _where,
    "rare": _where,
    "complex": _complex,
    "real": lambda site, a: (a[0],),
    "imag": lambda site, a: (a[1],),
}

RULES: dict[str, Rule] = {
    "add": _arithmetic("fadd", "add", "or"),
    "sub": _arithmetic("fsub", "sub", "xor"),
    "mul": _arithmetic("fmul", "mul", "and"),
    "div": _arithmetic("fdiv", "udiv", "and"),
    "neg": _neg,
    "abs": _abs,
    "sqrt": _unary("sqrt"),
    "fma": _fma,
    "floor": _unary("floor"),
    "ceil": _unary("ceil"),
    "trunc": _unary("trunc"),
    "rint": _unary("rint"),
    "copysign": _copysign,
    "ldexp": _ldexp,
    "fmod": _fmod,
    "floor_quotient": _floor_quotient,
    "minimum": _extreme(True),
    "maximum": _extreme(False),
    "int_div": _int_div,
    "int_mod": _int_mod,
    "bit_and": _bits("and"),
    "bit_or": _bits("or"),
    "bit_xor": _bits("xor"),
    "bit_not": _bit_not,
    "shl": _shl,
    "shr": _shr,
    "lt": _ordering("olt", "lt"),
    "le": _ordering("ole", "le"),
    "popcount": _popcount,
    "to_bits": _to_bits,
    "from_bits": _from_bits,
    "lookup": _lookup,
    "call": _call,
    "add_overflows": _overflows("sadd"),
    "sub_overflows": _overflows("ssub"),
    "mul_overflows": _overflows("smul"),
}
