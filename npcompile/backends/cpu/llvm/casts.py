"""Conversions between dtypes, with NumPy's results where C leaves them open.

Out of range and NaN, x86 gives the least integer of the instruction's width: int64 for int64 and
uint64's lower half, int32 for all narrower types, which then keep the low bits.  For uint32 NumPy
has two ways: arrays of float32, float64 and complex go through int32 as uint64 does through
int64; float16, and single elements of any type, keep the low bits of an int64.  Here a dtype has
one way, whatever the layout.

Other machines *saturate*: they give the nearest integer of the instruction's width, and 0 for NaN.
Arrays of float64 keep the low bits of an int64 for all narrower types, those of float32 the low
bits of an int32, those of float16 of an integer with the type's sign.
"""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, literal
from npcompile.backends.target import Target, family


def cast(f: LLVMFunction, parts: tuple[Value, ...], source: np.dtype,
         to: np.dtype, target: Target | None = None) -> tuple[Value, ...]:
    """``astype``, unsafe casting; a ``target`` is needed for numbers that become integers."""
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
            truth = [_real(f, part, inner, to, target) for part in parts]
            return (f.binary("or", *truth),)
        return (_real(f, parts[0], inner, to, target),)
    if source == np.float16 and to.kind in "iu" and target is not None:
        return (Rounding(f, target).of_half(half_to_float(f, parts[0]), to),)
    return (_real(f, parts[0], source, to, target),)


def resize(f: LLVMFunction, value: Value, elem: str, signed: bool) -> Value:
    """An integer in another width."""
    have, want = int(value.elem[1:]), int(elem[1:])
    if have == want:
        return value
    return f.convert("trunc" if have > want else "sext" if signed else "zext", value, elem)


def _real(f: LLVMFunction, a: Value, source: np.dtype, to: np.dtype,
          target: Target | None = None) -> Value:
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
    if to.kind == "f":
        return _float_to_float(f, a, to)
    assert target is not None
    return Rounding(f, target)(a, to)


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


class Rounding:
    """Numbers rounded towards zero to integers, on a machine that saturates or does not."""

    def __init__(self, f: LLVMFunction, target: Target) -> None:
        self.f, self.saturates = f, target.saturates
        self.natural = family(target.family).saturates == target.saturates

    def __call__(self, a: Value, to: np.dtype) -> Value:
        """A float32 or float64 as an element of an array."""
        size = 8 if self.saturates and a.elem == "double" else to.itemsize
        if size == 8 or (to.kind == "u" and size == 4):
            signed = to.kind == "i" or size != to.itemsize
            return self._resized(self.signed(a, f"i{8 * size}") if signed
                                 else self.unsigned(a, f"i{8 * size}"), to)
        return self._resized(self.signed(a, "i32"), to)

    def of_half(self, a: Value, to: np.dtype) -> Value:
        """A float16, which is a float32 by now."""
        if self.saturates and to.kind == "u" and to.itemsize < 8:
            return self._resized(self.unsigned(a, "i32"), to)
        if not self.saturates and to == np.uint32:
            return self._resized(self.signed(a, "i64"), to)
        return self(a, to)

    def _resized(self, value: Value, to: np.dtype) -> Value:
        return resize(self.f, value, f"i{8 * to.itemsize}", signed=True)

    def signed(self, a: Value, elem: str) -> Value:
        """The machine's own instruction where that has the right result out of range."""
        f = self.f
        if self.natural and not self.saturates:
            return f.convert("fptosi", a, elem)
        nearest = self._saturated("fptosi", a, elem)
        if self.saturates:
            return nearest
        bits = int(elem[1:])
        size = f.intrinsic("fabs", a)
        inside = self._compare(size, "olt", literal(a.elem, float(1 << (bits - 1)), a.lanes))
        return f.select(inside, nearest, literal(elem, -(1 << (bits - 1)), a.lanes))

    def unsigned(self, a: Value, elem: str) -> Value:
        """Converted after taking off the upper half where it is in it, which is put back as a bit.
        """
        if self.saturates:
            return self._saturated("fptoui", a, elem)
        f, bits = self.f, int(elem[1:])
        half = literal(a.elem, float(1 << (bits - 1)), a.lanes)
        upper = self._compare(a, "oge", half)
        less = f.binary("fsub", a, f.select(upper, half, literal(a.elem, 0.0, a.lanes)))
        top = f.select(upper, literal(elem, -(1 << (bits - 1)), a.lanes), literal(elem, 0, a.lanes))
        return f.binary("xor", self.signed(less, elem), top)

    def _saturated(self, op: str, a: Value, elem: str) -> Value:
        made = Value("", elem, a.lanes)
        return self.f.call(f"llvm.{op}.sat.{made.suffix}.{a.suffix}", (elem, a.lanes), a)

    def _compare(self, a: Value, how: str, b: Value) -> Value:
        """Without a flag for quiet NaNs."""
        name = f"llvm.experimental.constrained.fcmp.{a.suffix}"
        return self.f.call(name, ("i1", a.lanes), a, b, f'metadata !"{how}"',
                           'metadata !"fpexcept.ignore"')
