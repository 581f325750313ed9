"""Instructions that LLVM has no neutral name for, or none that does exactly this."""

from __future__ import annotations

from npcompile.backends.cpu.llvm.text import (
    Literal,
    LLVMFunction,
    Value,
    literal,
    poison,
    vector_literal,
)
from npcompile.backends.target import Target, family
from npcompile.backends.target.x86_64 import IN_PLACE, instruction, ordered

__all__ = ["IN_PLACE", "approximation", "chosen_by_order", "compared", "extreme", "fits",
           "nans", "permute", "permutes", "raise_flag", "scalef", "silent_fma", "subnormal",
           "whole_register"]

_BITS = {"double": 64, "float": 32}
_KINDS = {"double": "d", "float": "s"}  # as instructions are named
_NEAREST = "i32 4"  # rounding argument: as the control register says
_SILENT = "i32 8"  # to nearest, and no flags are raised


def fits(a: Value) -> bool:
    """Whether a float vector fills a register with masks, or some whole ones."""
    bits = a.lanes * _BITS.get(a.elem, 0)
    return bits in (128, 256) or (bits > 0 and bits % 512 == 0)


def _masked(f: LLVMFunction, name: str, a: Value, b: Value, *immediate: str) -> Value:
    """A masked instruction of two operands, all lanes on."""
    bits = a.lanes * _BITS[a.elem]
    if bits > 512:
        low, high = (
            _masked(f, name, _part(f, a, part), _part(f, b, part), *immediate) for part in (0, 1)
        )
        return f.shuffle(low, high, range(a.lanes))
    mask = literal(f"i{max(8, a.lanes)}", -1)
    extra = (_NEAREST,) if bits == 512 else ()
    return f.call(instruction(name, _KINDS[a.elem], bits), (a.elem, a.lanes),
                  a, b, *immediate, poison(a.elem, a.lanes), mask, *extra)


def _part(f: LLVMFunction, a: Value, part: int) -> Value:
    """The lower or the higher half of the lanes."""
    half = a.lanes // 2
    return f.shuffle(a, poison(a.elem, a.lanes), range(part * half, (part + 1) * half))


def scalef(f: LLVMFunction, a: Value, n: Value) -> Value:
    """``a * 2**n`` for whole ``n``, rounded once."""
    return _masked(f, "scale", a, n)


def extreme(f: LLVMFunction, smallest: bool, a: Value, b: Value) -> Value:
    """Minimum or maximum with -0 < +0; the number where one operand is NaN; no flag for quiet
    NaNs."""
    return _masked(f, "extreme", a, b, f"i32 {4 if smallest else 5}")


def _in_registers(f: LLVMFunction, name: str, result: str, operands: tuple[Value, ...],
                  *others: Value | str) -> Value:
    """An instruction on whole registers of numbers of one type."""
    elem, lanes = operands[0].elem, operands[0].lanes
    if lanes * _BITS[elem] > 512:
        low, high = (_in_registers(f, name, result, tuple(_part(f, x, part) for x in operands),
                                   *others) for part in (0, 1))
        return f.shuffle(low, high, range(lanes))
    return f.call(instruction(name, _KINDS[elem]), (result, lanes), *operands, *others)


def approximation(f: LLVMFunction, name: str, a: Value) -> Value:
    """``inverse``, or ``inverse_root``, that of the square root, to 14 bits, silently."""
    lanes = 512 // _BITS[a.elem]
    return _in_registers(f, name, a.elem, (a,), poison(a.elem, lanes), literal(f"i{lanes}", -1))


def silent_fma(f: LLVMFunction, a: Value, b: Value, c: Value) -> Value:
    """``a*b + c``, rounded to nearest, without flags."""
    return _in_registers(f, "fma", a.elem, (a, b, c), _SILENT)


def nans(f: LLVMFunction, a: Value) -> Value:
    """Where numbers are NaN, by their bits."""
    elem, infinity = ("i64", 0x7FF << 52) if a.elem == "double" else ("i32", 0xFF << 23)
    bits = f.bitcast(f.intrinsic("fabs", a), elem)
    return f.icmp("ugt", bits, literal(elem, infinity, a.lanes))


def subnormal(f: LLVMFunction, a: Value) -> Value:
    """Where numbers are subnormal and not 0."""
    return _in_registers(f, "subnormal", "i1", (a,), "i32 32")


def chosen_by_order(f: LLVMFunction, target: Target, smallest: bool, a: Value, b: Value) -> Value:
    """``a if a < b else b`` (or ``>``) of two numbers by one instruction.

    Where the machine can't suppress its flag for NaN, a branch that is never taken sees to that.
    """
    name = "min" if smallest else "max"
    if target.masks:
        wide, kind = _in_vectors(f, a, b)
        made = f.call(instruction(f"silent_{name}", kind), (a.elem, wide[0].lanes),
                      *wide, poison(a.elem, wide[0].lanes), literal("i8", -1), _SILENT)
        return f.extract(made, 0)
    if family(target.family).orders_quietly:
        how = "olt" if smallest else "ogt"
        return f.select(f.op(f"fcmp {how} {a.type} {a.text}, {b.text}", "i1"), a, b)
    usual, unordered, after = (f.name_for(stem) for stem in ("ordered", "nan", "after"))
    numbers = f.op(f"fcmp ord {a.type} {a.text}, {b.text}", "i1")
    f.branch(numbers, usual, unordered, likely=True)
    f.label(unordered)
    f.jump(after)
    f.label(usual)
    wide, kind = _in_vectors(f, a, b)
    made = f.call(ordered(name, kind), (a.elem, wide[0].lanes), *wide)
    least = f.extract(made, 0)
    f.jump(after)
    f.label(after)
    return f.phi(a.elem, 1, (b, unordered), (least, usual))


def _in_vectors(f: LLVMFunction, *numbers: Value) -> tuple[list[Value], str]:
    """Numbers as first lanes of registers, and what instructions of the kind are called."""
    kind, lanes = ("d", 2) if numbers[0].elem == "double" else ("s", 4)
    return [f.op(f"insertelement <{lanes} x {v.elem}> poison, {v.typed}, i64 0", v.elem, lanes)
            for v in numbers], kind


#: comparisons without a flag for quiet NaNs
_COMPARISONS = {"eq": 0, "ne": 4, "lt": 17, "le": 18}


def compared(f: LLVMFunction, how: str, a: Value, b: Value) -> Value:
    """``a < b`` (``lt``, or ``le``, ``eq``, ``ne``) of two numbers in a mask register, without a
    flag for quiet NaNs."""
    wide, kind = _in_vectors(f, a, b)
    made = f.call(instruction("compare", kind), ("i8", 1), *wide,
                  f"i32 {_COMPARISONS[how]}", literal("i8", -1), "i32 4")
    return f.convert("trunc", made, "i1")


def whole_register(f: LLVMFunction, bit: Value) -> Value:
    """A bit in a register that is cleared before it is set: where LLVM sets a byte only, and moves
    the register to a mask, the mask waits for what the register held before."""
    wide = f.convert("zext", bit, "i32")
    return f.convert("trunc", f.op(f'call i32 asm "", "=r,0"({wide.typed})', "i32"), "i1")


def permutes(elem: str, lanes: int, count: int) -> bool:
    """Whether a table can be held in up to four registers and permuted by index."""
    half = {"double": 4, "float": 8}.get(elem, 0)
    return half > 0 and lanes % half == 0 and count <= 4 * min(lanes, 2 * half)


def permute(f: LLVMFunction, elem: str, numbers: tuple[Literal, ...], index: Value) -> Value:
    """``numbers[index]``; bits of the index above the table's are ignored."""
    lanes, bits = index.lanes, index.lanes * _BITS[elem]
    if bits > 512:
        low, high = (permute(f, elem, numbers, _part(f, index, part)) for part in (0, 1))
        return f.shuffle(low, high, range(lanes))
    kind, wide = ("d", "i64") if elem == "double" else ("s", "i32")
    if index.elem != wide:
        narrow = int(index.elem[1:]) > int(wide[1:])
        index = f.convert("trunc" if narrow else "zext", index, wide)
    if len(numbers) <= lanes:
        return f.call(instruction("permute", kind, bits), (elem, lanes),
                      vector_literal(elem, numbers * (lanes // len(numbers))), index)
    if len(numbers) > 2 * lanes:
        half = len(numbers) // 2
        first, second = (permute(f, elem, part, index) for part in (numbers[:half], numbers[half:]))
        bit = f.binary("and", index, literal(wide, half, lanes))
        upper = f.icmp("ne", bit, literal(wide, 0, lanes))
        return f.select(upper, second, first)
    one, two = (vector_literal(elem, numbers[at : at + lanes]) for at in (0, lanes))
    return f.call(instruction("permute_two", kind, bits), (elem, lanes), one, index, two)


_RAISING = {  # operations that raise just this flag (and inexact)
    "divide": ("fdiv", 1.0, 0.0),
    "overflow": ("fmul", 1e308, 1e308),
}


def raise_flag(f: LLVMFunction, flag: str) -> None:
    """Raises a floating-point flag."""
    op, a, b = _RAISING[flag]
    name = f"llvm.experimental.constrained.{op}.f64"
    f.call(name, ("double", 1), literal("double", a), literal("double", b),
           'metadata !"round.tonearest"', 'metadata !"fpexcept.strict"')
