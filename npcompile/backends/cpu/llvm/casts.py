"""Conversions between dtypes, with NumPy's results where C leaves them open.

Out of range and NaN, x86 gives the least integer of the instruction's width: int64 for int64 and
uint64's lower half, int32 for all narrower types, which then keep the low bits.  For uint32 NumPy
has two ways: arrays of float32, float64 and complex go through int32 as uint64 does through
int64; float16, and single elements of any type, keep the low bits of an int64.  Here a dtype has
one way, whatever the layout.
"""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, literal


def cast(f: LLVMFunction, parts: tuple[Value, ...], source: np.dtype,
         to: np.dtype) -> tuple[Value, ...]:
    """``astype``, unsafe casting."""
    if source == to or source.char == to.char:
        return parts
    if to.kind == "c":
        half = np.dtype(f"f{to.itemsize // 2}")
        if source.kind == "c":
            inner = np.dtype(f"f{source.itemsize // 2}")
            return tuple(_real(f, part, inner, half) for part in parts)
        real = _real(f, parts[0], source, half)
        return real, literal(real.elem, 0.0, real.lanes)
    if source.kind == "c":
        inner = np.dtype(f"f{source.itemsize // 2}")
        if to.kind == "b":
            truth = [_real(f, part, inner, to) for part in parts]
            return (f.binary("or", *truth),)
        return (_real(f, parts[0], inner, to),)
    if source == np.float16 and to == np.uint32:
        return (_low_bits(f, half_to_float(f, parts[0]), to),)
    return (_real(f, parts[0], source, to),)


def resize(f: LLVMFunction, value: Value, elem: str, signed: bool) -> Value:
    """An integer in another width."""
    have, want = int(value.elem[1:]), int(elem[1:])
    if have == want:
        return value
    return f.convert("trunc" if have > want else "sext" if signed else "zext", value, elem)


def _real(f: LLVMFunction, a: Value, source: np.dtype, to: np.dtype) -> Value:
    if source.kind == "f" and source.itemsize == 2:
        if to.kind == "f" and to.itemsize == 2:
            return a
        a, source = half_to_float(f, a), np.dtype(np.float32)
    if to.kind == "b":
        return _truth(f, a, source)
    if source.kind in "biu":
        return _from_integer(f, a, source, to)
    if not a.text.startswith("%"):
        a = f.opaque(a)
    return _float_to_float(f, a, to) if to.kind == "f" else _to_integer(f, a, to)


def _truth(f: LLVMFunction, a: Value, source: np.dtype) -> Value:
    if source.kind == "b":
        return a
    if source.kind == "f":
        zero = literal(a.elem, 0.0, a.lanes)
        return f.op(f"fcmp une {a.type} {a.text}, {zero.text}", "i1", a.lanes)
    return f.icmp("ne", a, literal(a.elem, 0, a.lanes))


def _from_integer(f: LLVMFunction, a: Value, source: np.dtype, to: np.dtype) -> Value:
    if to.kind != "f":
        return resize(f, a, f"i{8 * to.itemsize}", source.kind == "i")
    elem = "double" if to.itemsize == 8 else "float"
    value = f.opaque(f.convert("sitofp" if source.kind == "i" else "uitofp", a, elem))
    return _float_to_float(f, value, to)


def _float_to_float(f: LLVMFunction, a: Value, to: np.dtype) -> Value:
    have = 8 if a.elem == "double" else 4
    if to.itemsize == 2:
        return float_to_half(f, a)
    if have == to.itemsize:
        return a
    return f.convert("fptrunc", a, "float") if have == 8 else f.convert("fpext", a, "double")


def half_to_float(f: LLVMFunction, bits: Value) -> Value:
    """The float32 of a float16's bits.  Machines that convert four at once find one number in all
    of them: what else is in the register would raise flags of its own."""
    four = f.splat(bits, 4) if bits.lanes == 1 else bits
    wide = f.convert("fpext", f.bitcast(four, "half"), "float")
    return f.extract(f.opaque(wide), 0) if bits.lanes == 1 else wide


def float_to_half(f: LLVMFunction, a: Value) -> Value:
    """The bits of the nearest float16; from float64 in one rounding: what float32 can't hold is
    gathered in its last digit first (rounding to odd), so that the second rounding decides as one
    from float64 would."""
    if a.elem == "double":
        bits = f.bitcast(a, "i64")
        below = literal("i64", (1 << 30) - 1, a.lanes)
        rest = f.binary("and", bits, below)
        sticky = f.icmp("ne", rest, literal("i64", 0, a.lanes))
        kept = f.binary("xor", bits, rest)
        odd = f.binary("or", kept, literal("i64", 1 << 29, a.lanes))
        a = f.convert("fptrunc", f.bitcast(f.select(sticky, odd, kept), "double"), "float")
    four = f.opaque(f.splat(a, 4)) if a.lanes == 1 else a
    bits = f.bitcast(f.convert("fptrunc", four, "half"), "i16")
    return f.extract(bits, 0) if a.lanes == 1 else bits


def _low_bits(f: LLVMFunction, a: Value, to: np.dtype) -> Value:
    return resize(f, f.convert("fptosi", a, "i64"), f"i{8 * to.itemsize}", signed=True)


def _to_integer(f: LLVMFunction, a: Value, to: np.dtype) -> Value:
    elem = f"i{8 * to.itemsize}"
    if to.itemsize == 8:
        return f.convert("fptosi", a, "i64") if to.kind == "i" else _unsigned(f, a, "i64")
    if to.kind == "u" and to.itemsize == 4:
        return _unsigned(f, a, "i32")
    return resize(f, f.convert("fptosi", a, "i32"), elem, signed=True)


def _unsigned(f: LLVMFunction, a: Value, elem: str) -> Value:
    """Converted after taking off the upper half where it is in it, which is put back as a bit."""
    bits = int(elem[1:])
    half = literal(a.elem, float(1 << (bits - 1)), a.lanes)
    name = f"llvm.experimental.constrained.fcmp.{a.suffix}"
    upper = f.call(name, ("i1", a.lanes), a, half, 'metadata !"oge"',
                   'metadata !"fpexcept.ignore"')
    less = f.binary("fsub", a, f.select(upper, half, literal(a.elem, 0.0, a.lanes)))
    top = f.select(upper, literal(elem, -(1 << (bits - 1)), a.lanes), literal(elem, 0, a.lanes))
    return f.binary("xor", f.convert("fptosi", less, elem), top)
