"""What routines on matrices are written with: arithmetic on elements, copies, scratch memory."""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import ElementAddress, Lanes
from npcompile.backends.cpu.llvm.casts import float_to_half, half_to_float
from npcompile.backends.cpu.llvm.scalar import Parts, component
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal
from npcompile.backends.target import Target
from npcompile.core.records import record


@record(frozen=False)
class Numbers:
    """Arithmetic on elements of a dtype, in the form in which sums are kept: float16 as float32,
    to be rounded once."""

    f: LLVMFunction
    dtype: np.dtype
    lanes: int = 1
    fused: bool = False  # whether products are added with one rounding

    @property
    def elem(self) -> str:
        """A part's type in registers."""
        part = component(self.dtype)
        if part.kind == "f":
            return "double" if part.itemsize == 8 else "float"
        return "i1" if part.kind == "b" else f"i{8 * part.itemsize}"

    @property
    def zero(self) -> Parts:
        return (literal(self.elem, 0, self.lanes),) * (2 if self.dtype.kind == "c" else 1)

    def load(self, pointer: Value, step: Value, lanes: Lanes) -> Parts:
        found = access.load(self.f, ElementAddress(pointer, self.dtype, "", step), lanes)
        if self.dtype.char != "e":
            return found
        return (half_to_float(self.f, found[0]),)

    def one(self, pointer: Value) -> Parts:
        """The element at an address, in every lane."""
        return tuple([self.f.splat(p, self.lanes) for p in self.load(pointer, i64(1), Lanes(1))])

    def store(self, values: Parts, pointer: Value, lanes: Lanes) -> None:
        if self.dtype.char == "e":
            values = (float_to_half(self.f, values[0]),)
        access.store(self.f, ElementAddress(pointer, self.dtype, "", i64(1)), values, lanes)

    def add(self, a: Parts, b: Parts) -> Parts:
        op = {"b": "or", "i": "add", "u": "add"}.get(self.dtype.kind, "fadd")
        return tuple([self.f.binary(op, p, q) for p, q in zip(a, b, strict=True)])

    def madd(self, a: Parts, b: Parts, total: Parts) -> Parts:
        """``total + a * b``."""
        f = self.f
        if self.fused:
            return self._fused(a, b, total)
        if self.dtype.kind == "c":
            (x, y), (u, v), (re, im) = a, b, total
            real = f.binary("fsub", f.binary("fmul", x, u), f.binary("fmul", y, v))
            imag = f.binary("fadd", f.binary("fmul", x, v), f.binary("fmul", y, u))
            return f.binary("fadd", re, real), f.binary("fadd", im, imag)
        op = {"b": "and", "f": "fmul"}.get(self.dtype.kind, "mul")
        return self.add(total, (f.binary(op, a[0], b[0]),))

    def _fused(self, a: Parts, b: Parts, total: Parts) -> Parts:
        f = self.f
        if len(a) == 1:
            return (f.intrinsic("fma", a[0], b[0], total[0]),)
        (x, y), (u, v), (re, im) = a, b, total
        turned = f.op(f"fneg {y.typed}", y.elem, y.lanes)
        re = f.intrinsic("fma", turned, v, f.intrinsic("fma", x, u, re))
        return re, f.intrinsic("fma", y, u, f.intrinsic("fma", x, v, im))

    def joined(self, values: Parts) -> Parts:
        """The sum of all lanes, by halves."""
        lanes = values[0].lanes
        while lanes > 1:
            lanes //= 2
            low, high = (
                tuple([self.f.shuffle(p, p, range(start, start + lanes)) for p in values])
                for start in (0, lanes)
            )
            values = self.add(low, high)
        return values


class Matrices:
    """Writes a module of routines on matrices of one dtype."""

    def __init__(self, dtype: np.dtype, target: Target) -> None:
        self.dtype, self.target = dtype, target
        self.module = LLVMModule()

    def function(self, name: str, params: str, internal: bool = True, result: str = "void"
                 ) -> tuple[LLVMFunction, dict[str, Value]]:
        """A new function; parameters that begin with a capital letter are pointers."""
        names = params.split()
        typed = [("ptr" if name[0].isupper() else "i64", name) for name in names]
        f = LLVMFunction(self.module, name, result, typed, internal)
        return f, dict(zip(names, f.params, strict=True))

    def at(self, f: LLVMFunction, base: Value, *terms: tuple[Value, Value]) -> Value:
        """``base + sum(index * stride)`` elements."""
        place = base
        for index, stride in terms:
            step = index if stride.text == "1" else f.binary("mul", index, stride)
            place = f.offset(place, access.element_type(self.dtype), step)
        return place

    def leave(self, f: LLVMFunction) -> None:
        """Returns; what is written next is not reached."""
        f.do("ret void")
        f.label(f.name_for("never"))

    def pack(self) -> None:
        """Writes the function that copies a matrix, columns side by side."""
        f, p = self.function("pack", "m n A ra ca C")
        numbers = Numbers(f, self.dtype)
        with f.loop(i64(0), p["m"]) as outer:
            row = self.at(f, p["A"], (outer.index, p["ra"]))
            target = self.at(f, p["C"], (outer.index, p["n"]))
            with f.loop(i64(0), p["n"]) as inner:
                found = numbers.load(self.at(f, row, (inner.index, p["ca"])), i64(1), Lanes(1))
                numbers.store(found, self.at(f, target, (inner.index, i64(1))), Lanes(1))
        f.do("ret void")
