"""Primitives as LLVM IR, for any number of lanes.

A value is a tuple of parts: one, or the real and the imaginary.  In registers a bool is an i1 and
a float16 its 16 bits; in memory a bool is a byte.  LLVM has undefined behaviour where NumPy has
values (conversions out of range, shifts by the width, division by zero): every rule here is total.
Comparisons raise no flag for quiet NaNs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from npcompile.backends.cpu.llvm.text import (
    FLOATS,
    LLVMFunction,
    Value,
    known_float,
    literal,
)
from npcompile.backends.cpu.loader.symbols import SUBPROGRAM
from npcompile.backends.target import Target, family
from npcompile.core.paths import defer, import_path
from npcompile.core.records import record
from npcompile.graph.ir import Number, Subprogram, Table, integer

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm import casts, intrinsics
else:
    defer(globals(), "npcompile.backends.cpu.llvm", "casts", "intrinsics")

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
    return (_rule_of(op)(site, *operands),)


def _rule_of(op: str) -> Rule:
    module = _MODULES.get(op)
    if module is None:
        return _RULES[op]
    found: Rule = import_path(f"npcompile.backends.cpu.llvm.{module}:RULES")[op]
    return found


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


def absolute(site: EmissionSite, a: Value) -> Value:
    if site.floating:
        return site.f.intrinsic("fabs", a)
    return site.f.select(negative(site.f, a), _neg(site, a), a) if site.signed else a


def negative(f: LLVMFunction, a: Value) -> Value:
    return f.icmp("slt", a, literal(a.elem, 0, a.lanes))


def _unary(name: str) -> Rule:
    return lambda site, a: site.f.intrinsic(name, a)


# ------------------------------------------------------------------ integers


def _bits(name: str) -> Rule:
    return lambda site, a, b: site.f.binary(name, a, b)


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


def nans_in_bits(target: Target, a: Value) -> bool:
    """Whether NaN are found without a comparison: LLVM makes one of two, which raises a flag."""
    return a.lanes > 1 and not family(target.family).pairs_quietly


def _equality(on_floats: str, on_ints: str, join: str) -> Callable[..., Parts]:
    def rule(site: EmissionSite, a: Parts, b: Parts) -> Parts:
        f, found = site.f, []
        for x, y in zip(a, b, strict=True):
            if site.dtype.kind == "f" and x.elem == "i16":
                x, y = casts.half_to_float(f, x), casts.half_to_float(f, y)
            floating = x.elem in FLOATS
            if floating and x == y and nans_in_bits(site.target, x):
                nan = intrinsics.nans(f, x)
                found.append(nan if on_floats == "une" else f.negate(nan))
                continue
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
        if family(site.target.family).orders_zeros:
            return f.intrinsic("minimum" if smallest else "maximum", a, b)
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

#: the primitives of modules that are imported when a program has one of them
_ELSEWHERE = {
    "float_rules": "fma copysign ldexp fmod floor_quotient to_bits from_bits",
    "integer_rules": """
        int_div int_mod bit_not shl shr popcount add_overflows sub_overflows mul_overflows
    """,
}
_MODULES = {op: module for module, ops in _ELSEWHERE.items() for op in ops.split()}

_RULES: dict[str, Rule] = {
    "add": _arithmetic("fadd", "add", "or"),
    "sub": _arithmetic("fsub", "sub", "xor"),
    "mul": _arithmetic("fmul", "mul", "and"),
    "div": _arithmetic("fdiv", "udiv", "and"),
    "neg": _neg,
    "abs": absolute,
    "sqrt": _unary("sqrt"),
    "floor": _unary("floor"),
    "ceil": _unary("ceil"),
    "trunc": _unary("trunc"),
    "rint": _unary("rint"),
    "minimum": _extreme(True),
    "maximum": _extreme(False),
    "bit_and": _bits("and"),
    "bit_or": _bits("or"),
    "bit_xor": _bits("xor"),
    "lt": _ordering("olt", "lt"),
    "le": _ordering("ole", "le"),
    "lookup": _lookup,
    "call": _call,
}
