"""Loads and stores of whole vectors: contiguous, reversed, strided, complex, masked.

The lanes of a masked access beyond its end repeat the first lane, so that whatever is computed
from them raises no flag and traps nowhere that the first lane would not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.backends.cpu.llvm.scalar import Parts, component, gather, memory
from npcompile.backends.cpu.llvm.text import (
    LLVMFunction,
    Value,
    i64,
    literal,
    poison,
    vector_literal,
)
from npcompile.core.records import record, replace
from npcompile.core.sizes import Poly, Size, Symbol
from npcompile.program.ir import Buffer, Index

LEAST = 128  # bits that LLVM can pack in a register


@record
class Address:
    """What two accesses share: all of an index but its constant."""

    buffer: Buffer
    offset: Size
    coefficients: tuple[Size, ...]


def split(buffer: Buffer, at: Index) -> tuple[Address, int]:
    """The shared part of an index and its constant."""
    constant = 0
    if isinstance(at.offset, int):
        constant = at.offset
    elif isinstance(at.offset, Poly):
        constant = sum(c for atoms, c in at.offset.terms if not atoms)
    return Address(buffer, at.offset - constant, at.coefficients), constant


def along(offset: Size, symbol: Symbol) -> tuple[Size, Size]:
    """What of an offset neither is a constant nor a multiple of a symbol, and the multiple."""
    if isinstance(offset, int):
        return 0, 0
    step = Poly(tuple([term for term in offset.terms if term[0] == (symbol,)]))
    constant = sum(c for atoms, c in offset.terms if not atoms)
    return offset - step - constant, step


@record
class Lanes:
    """How many there are, and where masked, which of them count; ``first``: how many, if these are
    the first ones."""

    count: int
    mask: Value | None = None
    first: Value | None = None


ALL = Lanes(1)


def parts(dtype: np.dtype, part: str) -> tuple[int, ...]:
    """The components that a part of an element has."""
    if dtype.kind != "c":
        return (0,)
    return {"": (0, 1), "real": (0,), "imag": (1,)}[part]


@record
class ElementAddress:
    """The memory of one element per lane: the first lane's address and the step between lanes, or
    how much further each lane is."""

    pointer: Value  # of the element, whole even if only one part is meant
    dtype: np.dtype  # of the buffer
    part: str
    step: Value  # i64, in elements
    notes: str = ""  # metadata on the memory
    by: Value | None = None  # i64 for each lane, in elements, beside the step

    def moves(self, step: str) -> bool:
        """Whether each lane is a known step from the one before."""
        return self.by is None and self.step.text == step

    @property
    def elem(self) -> str:
        return memory(component(self.dtype)) if self.dtype.kind == "c" else memory(self.dtype)

    @property
    def size(self) -> int:
        return component(self.dtype).itemsize

    @property
    def per_element(self) -> int:
        return 2 if self.dtype.kind == "c" else 1

    @property
    def parts(self) -> tuple[int, ...]:
        """Which components are meant."""
        return parts(self.dtype, self.part)


def element_type(dtype: np.dtype) -> str:
    """What addresses are counted in."""
    return f"[2 x {memory(component(dtype))}]" if dtype.kind == "c" else memory(dtype)


def further(f: LLVMFunction, place: ElementAddress, by: Value) -> ElementAddress:
    """A place some elements further on; an offset for each lane has elements gathered."""
    if by.lanes > 1:
        return replace(place, by=by)
    return replace(place, pointer=f.offset(place.pointer, element_type(place.dtype), by))


def _component(f: LLVMFunction, place: ElementAddress, part: int) -> Value:
    return f.offset(place.pointer, place.elem, i64(part)) if part else place.pointer


def _from_memory(f: LLVMFunction, place: ElementAddress, value: Value) -> Value:
    """A bool is true where its byte is not 0."""
    if place.dtype.kind != "b":
        return value
    return f.icmp("ne", value, literal("i8", 0, value.lanes))


def _to_memory(f: LLVMFunction, value: Value) -> Value:
    return f.convert("zext", value, "i8") if value.elem == "i1" else value


def load(f: LLVMFunction, place: ElementAddress, lanes: Lanes) -> Parts:
    """One element per lane."""
    if lanes.count == 1:
        found: Sequence[Value] = [
            f.load(_component(f, place, part), place.elem, notes=place.notes)
            for part in place.parts
        ]
    elif place.moves("1"):
        found = _load_run(f, place, lanes)
    elif place.moves("-1") and lanes.mask is None and place.per_element == 1:
        found = [_load_reversed(f, place, lanes.count)]
    else:
        found = [gather(f, pointers, place.elem) for pointers in _pointers(f, place, lanes)]
    return tuple(_from_memory(f, place, value) for value in found)


def _load_run(f: LLVMFunction, place: ElementAddress, lanes: Lanes) -> Sequence[Value]:
    count = lanes.count
    if place.per_element == 1:
        if lanes.mask is None:
            return [f.load(place.pointer, place.elem, count, place.size)]
        return [_load_masked(f, place, lanes)]
    if lanes.mask is not None:
        return [gather(f, pointers, place.elem) for pointers in _pointers(f, place, lanes)]
    whole = f.load(place.pointer, place.elem, 2 * count, place.size)
    unused = poison(place.elem, 2 * count)
    return [f.shuffle(whole, unused, range(part, 2 * count, 2)) for part in place.parts]


def _load_masked(f: LLVMFunction, place: ElementAddress, lanes: Lanes) -> Value:
    assert lanes.mask is not None
    first = f.splat(f.load(place.pointer, place.elem), lanes.count)
    return load_where(f, lanes.mask, place.pointer, first, place.size)


def load_where(f: LLVMFunction, mask: Value, pointer: Value, others: Value, align: int) -> Value:
    """A vector from memory; in masked lanes that of ``others``."""
    name = f"llvm.masked.load.{others.suffix}.p0"
    f.module.declare(name, others.type, ["ptr", mask.type, others.type])
    return f.op(f"call {others.type} @{name}(ptr align {align} {pointer.text}, {mask.typed}, "
                f"{others.typed})", others.elem, others.lanes)


def _load_reversed(f: LLVMFunction, place: ElementAddress, count: int) -> Value:
    low = f.offset(place.pointer, place.elem, i64(1 - count))
    return _reverse(f, f.load(low, place.elem, count, place.size))


def _reverse(f: LLVMFunction, value: Value) -> Value:
    return f.shuffle(value, poison(value.elem, value.lanes), range(value.lanes - 1, -1, -1))


def _pointers(f: LLVMFunction, place: ElementAddress, lanes: Lanes) -> list[Value]:
    """Per part, the address of each lane's; beyond the end the first lane's."""
    numbers = vector_literal("i64", range(lanes.count))
    offsets = f.binary("mul", f.splat(place.step, lanes.count), numbers)
    if lanes.mask is not None:
        offsets = f.select(lanes.mask, offsets, literal("i64", 0, lanes.count))
    if place.by is not None:
        offsets = f.binary("add", offsets, place.by)
    unit = element_type(place.dtype)
    return [f.offset(_component(f, place, part), unit, offsets) for part in place.parts]


def store(f: LLVMFunction, place: ElementAddress, values: Parts, lanes: Lanes, streaming: int = 0,
          past: Value | None = None) -> None:
    """One element per lane, in unmasked lanes only; ``streaming``: past the cache, to places at
    multiples of so many bytes; ``past``: whether masked lanes go past the cache."""
    values = tuple(_to_memory(f, value) for value in values)
    if lanes.count == 1:
        with_mask = f.when(lanes.mask) if lanes.mask is not None else None
        if with_mask is None:
            _store_one(f, place, values)
        else:
            with with_mask:
                _store_one(f, place, values)
    elif place.moves("1") and len(place.parts) == place.per_element:
        _store_run(f, place, values, lanes, streaming, past=past)
    elif place.moves("-1") and lanes.mask is None and place.per_element == 1:
        low = f.offset(place.pointer, place.elem, i64(1 - lanes.count))
        f.store(_reverse(f, values[0]), low, place.size)
    else:
        for pointers, value in zip(_pointers(f, place, Lanes(lanes.count)), values, strict=True):
            _scatter(f, value, pointers, lanes, place.size)


def _store_one(f: LLVMFunction, place: ElementAddress, values: Parts) -> None:
    for part, value in zip(place.parts, values, strict=True):
        f.store(value, _component(f, place, part), notes=place.notes)


def pack(
    f: LLVMFunction, place: ElementAddress, values: Parts, mask: Value, in_register: bool
) -> None:
    """The elements of unmasked lanes, one after the other; ``in_register``: the machine can bring
    them together there."""
    values = tuple(_to_memory(f, value) for value in values)
    if mask.lanes == 1:
        with f.when(mask):
            _store_one(f, place, values)
    elif in_register:
        _pack_run(f, place, *_whole(f, place, values, mask))
    else:
        _store_run(f, place, values, Lanes(mask.lanes, mask), 0, "compressstore")


def _pack_run(f: LLVMFunction, place: ElementAddress, whole: Value, mask: Value | None) -> None:
    """A register at a time, and not by the one instruction that brings elements together and stores
    them: some processors take a hundred cycles and more for it."""
    assert mask is not None
    lanes, pointer = whole.lanes // place.per_element, place.pointer
    for first in range(0, whole.lanes, lanes):
        some = range(first, first + lanes)
        value = f.shuffle(whole, poison(whole.elem, whole.lanes), some)
        chosen = f.shuffle(mask, poison("i1", whole.lanes), some)
        packed = _packed(f, value, chosen)
        ahead, count = _first(f, chosen)
        store_where(f, ahead, packed, pointer, place.size)
        pointer = f.offset(pointer, place.elem, count)


def _packed(f: LLVMFunction, value: Value, mask: Value) -> Value:
    """The unmasked lanes in front, the others with anything; integers by some of so many bits
    that LLVM has an instruction for it."""
    lanes, elem = value.lanes, value.elem
    wide = elem
    while wide.startswith("i") and lanes * int(wide[1:]) < LEAST:
        wide = f"i{2 * int(wide[1:])}"
    value = f.convert("zext", value, wide) if wide != elem else value
    name = f"llvm.experimental.vector.compress.{value.suffix}"
    f.module.declare(name, value.type, [value.type, mask.type, value.type])
    found = f.op(f"call {value.type} @{name}({value.typed}, {mask.typed}, {value.type} poison)",
                 wide, lanes)
    return f.convert("trunc", found, elem) if wide != elem else found


def _first(f: LLVMFunction, mask: Value) -> tuple[Value, Value]:
    """As many lanes as are unmasked, from the first one on, and how many these are."""
    lanes, bits = mask.lanes, f"i{mask.lanes}"
    chosen = f.op(f"bitcast {mask.typed} to {bits}", bits)
    count = f.intrinsic("ctpop", chosen if lanes == 64 else f.convert("zext", chosen, "i64"))
    half = f.binary("lshr", count, i64(1))  # in two steps: 64 would be too far
    beyond = f.binary("shl", f.binary("shl", i64(-1), half), f.binary("sub", count, half))
    first = f.binary("xor", beyond, i64(-1))
    first = first if lanes == 64 else f.convert("trunc", first, bits)
    return f.op(f"bitcast {first.typed} to {mask.type}", "i1", lanes), count


def _store_run(f: LLVMFunction, place: ElementAddress, values: Parts, lanes: Lanes, streaming: int,
               masked: str = "store", past: Value | None = None) -> None:
    whole, mask = _whole(f, place, values, lanes.mask)
    if mask is None:
        f.store(whole, place.pointer, streaming or place.size, streaming > 0)
    elif past is not None and lanes.first is not None and place.size in (4, 8):
        left = f.binary("mul", lanes.first, i64(place.per_element))
        with f.either(past) as others:
            _store_past(f, whole, place, left)
            others()
            store_where(f, mask, whole, place.pointer, place.size, masked)
    else:
        store_where(f, mask, whole, place.pointer, place.size, masked)


def _whole(f: LLVMFunction, place: ElementAddress, values: Parts,
           mask: Value | None) -> tuple[Value, Value | None]:
    """The numbers of all lanes as they stand in memory, and the mask of each."""
    count = values[0].lanes
    if place.per_element == 1:
        return values[0], mask
    twice = [lane + part * count for lane in range(count) for part in (0, 1)]
    whole = f.shuffle(values[0], values[1], twice)
    if mask is not None:
        mask = f.shuffle(mask, poison("i1", count), [k // 2 for k in range(2 * count)])
    return whole, mask


def _store_past(f: LLVMFunction, whole: Value, place: ElementAddress, left: Value) -> None:
    """The first lanes past the cache, one by one: machines can't mask such stores."""
    word, room = f"i{8 * place.size}", f.alloca(place.elem, whole.lanes)
    f.store(whole, room)
    with f.loop(i64(0), left) as loop:
        one = f.load(f.offset(room, word, loop.index), word)
        f.store(one, f.offset(place.pointer, word, loop.index), streaming=True)


def store_where(f: LLVMFunction, mask: Value, values: Value, pointer: Value, align: int,
                how: str = "store") -> None:
    """The unmasked lanes of a vector to memory, each to its place or (``compressstore``) one after
    the other."""
    name = f"llvm.masked.{how}.{values.suffix}" + (".p0" if how == "store" else "")
    f.module.declare(name, "void", [values.type, "ptr", mask.type])
    f.do(f"call void @{name}({values.typed}, ptr align {align} {pointer.text}, {mask.typed})")


def _scatter(f: LLVMFunction, value: Value, pointers: Value, lanes: Lanes, size: int) -> None:
    mask = lanes.mask if lanes.mask is not None else literal("i1", True, lanes.count)
    name = f"llvm.masked.scatter.{value.suffix}.{pointers.suffix}"
    f.module.declare(name, "void", [value.type, pointers.type, mask.type])
    f.do(f"call void @{name}({value.typed}, {pointers.type} align {size} {pointers.text}, "
         f"{mask.typed})")
