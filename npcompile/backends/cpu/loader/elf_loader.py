"""Machine code from disk put into memory without LLVM, whose start takes longer than all the rest.

::

    image ::= code, stubs | constants, addresses | data        each from a page of its own on

Objects are ELF files as LLVM writes them for code that is independent of its position; the family
of processors tells what is written into such code (:class:`npcompile.backends.target.Family`).
Whatever else is in one (:class:`Unplaceable`) is left to LLVM's own linker.  A *stub* jumps to a
function outside, which may be too far away for a call; the *addresses* are those of all symbols
that others see (ELF's global offset table).  What unwinds the stack is left out: nothing raises
through our code.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from npcompile.backends.cpu.loader import symbols
from npcompile.backends.target import Relocation, TooFar, here
from npcompile.runtime.unsafe.raw_memory import clean_instructions, protect

_HEAD = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian
_SECTION = np.dtype([
    ("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"),
    ("size", "<u8"), ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8"),
])
_SYMBOL = np.dtype([
    ("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
    ("size", "<u8"),
])
_RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("add", "<i8")])
# types of sections: none, bits, symbols, texts, relocations, zeros, what unwinds the stack
_NONE, _BITS, _SYMBOLS, _TEXTS, _RELOCATIONS, _ZEROS, _UNWIND = 0, 1, 2, 3, 4, 8, 0x70000001
_SECTIONS = {_NONE, _BITS, _SYMBOLS, _TEXTS, _RELOCATIONS, _ZEROS, _UNWIND}
_WRITABLE, _IN_MEMORY, _CODE = 1, 2, 4  # flags of sections
_PLAIN = (0, 1, 2, 3)  # types of symbols: none, data, function, section
_UNDEFINED, _RESERVED = 0, 0xFF00  # numbers of sections
_SLOT = 8  # bytes of an address
_PAGE = mmap.PAGESIZE


class Unplaceable(Exception):
    """Something that only LLVM's linker can place."""


class _Object:
    """One file: its sections and symbols, and where in the image they come to lie."""

    def __init__(self, code: bytes, machine: int) -> None:
        if code[: len(_HEAD)] != _HEAD or int.from_bytes(code[18:20], "little") != machine:
            raise Unplaceable("not an ELF file for this machine")
        self.code = code
        first = int.from_bytes(code[40:48], "little")
        count = int.from_bytes(code[60:62], "little")
        self.sections = np.frombuffer(code, _SECTION, count, first).tolist()
        self.at: dict[int, int] = {}  # offsets in the image, by section
        self.symbols = np.empty(0, _SYMBOL)
        self.names: dict[int, str] = {}  # of those that other objects see
        for _, kind, _, _, offset, size, link, *_ in self.sections:
            if kind not in _SECTIONS:  # relocations in another form, say
                raise Unplaceable("a section of another type")
            if kind == _SYMBOLS:
                self.symbols = np.frombuffer(code, _SYMBOL, size // _SYMBOL.itemsize, offset)
                self._name(self.sections[link][4])
        if not np.isin(self.symbols["info"] & 15, [*_PLAIN, 4]).all():
            raise Unplaceable("a symbol of another type")

    def _name(self, texts: int) -> None:
        for k in np.flatnonzero(self.symbols["info"] >> 4).tolist():
            start = texts + int(self.symbols["name"][k])
            self.names[k] = self.code[start : self.code.index(b"\0", start)].decode()

    def placed(self, group: int) -> Iterable[int]:
        """The sections of one part of the image; what holds only zeros comes last."""
        found = []
        for k, (_, kind, flags, _, _, size, *_) in enumerate(self.sections):
            if not flags & _IN_MEMORY or not size or kind == _UNWIND:
                continue
            if kind not in (_BITS, _ZEROS):
                raise Unplaceable("a section of another type")
            if group == (0 if flags & _CODE else 2 if flags & _WRITABLE else 1):
                found.append(k)
        return sorted(found, key=lambda k: self.sections[k][1] == _ZEROS)


class Image:
    """Objects in memory, as long as this lives; ``image[name]`` is an address."""

    def __init__(self, objects: list[bytes], imports: dict[str, int]) -> None:
        if sys.platform != "linux":
            raise Unplaceable("not a system whose memory can be asked for as it is here")
        self._family = here()
        self._objects = [_Object(code, self._family.elf) for code in objects]
        names = {name for o in self._objects for name in o.names.values()}
        self._names = {name: k for k, name in enumerate(sorted(names))}
        bounds = self._lay_out()
        self._memory = mmap.mmap(-1, bounds[-1], mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self._base = self._bytes.ctypes.data
        self._fill(imports)
        for o in self._objects:
            self._relocate(o)
        code, constants = bounds[0], bounds[1] - bounds[0]
        if self._family.cleans_instructions:
            clean_instructions(self._base, code)
        if not (protect(self._base, code, mmap.PROT_READ | mmap.PROT_EXEC)
                and protect(self._base + code, constants, mmap.PROT_READ)):
            raise Unplaceable("the system does not let memory be run")
        del self._objects

    def __getitem__(self, name: str) -> int:
        return int(self._addresses[self._names[name]])

    def _lay_out(self) -> list[int]:
        """Gives everything its offset; where each part of the image ends."""
        end, bounds = 0, []
        for group in range(3):
            for o in self._objects:
                for k in o.placed(group):
                    align = max(o.sections[k][8], 1)
                    o.at[k] = end = -(-end // align) * align
                    end += o.sections[k][5]
            if group < 2:  # behind code there are stubs, behind constants addresses
                end = -(-end // 64) * 64
                if group == 0:
                    self._stubs = end
                    end += len(self._family.trampoline.code) * len(self._names)
                else:
                    self._slots = end
                    end += _SLOT * len(self._names)
            end = -(-max(end, 1) // _PAGE) * _PAGE
            bounds.append(end)
        return bounds

    def _fill(self, imports: dict[str, int]) -> None:
        """Copies the sections, and finds the addresses of all names."""
        self._addresses = np.zeros(len(self._names), np.int64)
        self._outside = np.ones(len(self._names), bool)
        for o in self._objects:
            for k, offset in o.at.items():
                _, kind, _, _, start, size, *_ = o.sections[k]
                if kind == _BITS:
                    self._memory[offset : offset + size] = o.code[start : start + size]
            for k, name in o.names.items():
                section = int(o.symbols["section"][k])
                if section != _UNDEFINED:
                    number = self._names[name]
                    if not self._outside[number] or section not in o.at:
                        raise Unplaceable(f"{name} is twice there, or nowhere")
                    self._outside[number] = False
                    value = self._base + o.at[section] + int(o.symbols["value"][k])
                    self._addresses[number] = value
        for name, number in self._names.items():
            if self._outside[number]:
                self._addresses[number] = imports.get(name) or _of_process(name)
        numbers = np.arange(len(self._names))
        slots, stub = self._slots + _SLOT * numbers, self._family.trampoline
        self._write(slots, self._addresses)
        stubs = self._stubs + len(stub.code) * numbers
        self._bytes[stubs[:, None] + np.arange(len(stub.code))] = np.frombuffer(stub.code, np.uint8)
        for offset, add, relocation in stub.written:
            self._relocated(relocation, stubs + offset, self._base + slots + add)

    def _write(self, places: Any, values: Any) -> None:
        """Puts numbers at offsets in the image."""
        unit = values.dtype.itemsize
        self._bytes[places[:, None] + np.arange(unit)] = values.view(np.uint8).reshape(-1, unit)

    def _relocate(self, o: _Object) -> None:
        """Tells an object's code where everything is."""
        section = o.symbols["section"]
        at = np.full(max(len(o.sections), 1), -1, np.int64)
        for k, offset in o.at.items():
            at[k] = offset
        local = section < _RESERVED
        there = np.where(local, at[np.where(local, section, 0)], -1)
        numbers = np.full(len(section), -1)
        for k, name in o.names.items():
            numbers[k] = self._names[name]
        known = numbers >= 0
        value = np.where(there >= 0, self._base + there + o.symbols["value"].astype(np.int64), 0)
        value[known] = self._addresses[numbers[known]]
        function = value.copy()
        far = known & self._outside[numbers]
        function[far] = self._base + self._stubs + len(self._family.trampoline.code) * numbers[far]
        slot = np.where(known, self._base + self._slots + _SLOT * numbers, 0)
        goals = {"value": value, "function": function, "slot": slot}
        for _, kind, _, _, offset, size, _, target, *_ in o.sections:
            if kind != _RELOCATIONS or target not in o.at:
                continue
            rows = np.frombuffer(o.code, _RELOCATION, size // _RELOCATION.itemsize, offset)
            places = o.at[target] + rows["offset"].astype(np.int64)
            for number in set(rows["type"].tolist()):
                relocation = self._family.relocations.get(number)
                if relocation is None:
                    raise Unplaceable("a relocation of another type")
                some = rows["type"] == number
                aim = goals[relocation.goal][rows["symbol"][some]]
                if not aim.all():
                    raise Unplaceable("a symbol that is nowhere")
                self._relocated(relocation, places[some], aim + rows["add"][some])

    def _relocated(self, relocation: Relocation, places: Any, aims: Any) -> None:
        """Writes what leads to addresses at places in the image."""
        try:
            bits = relocation.field(aims, self._base + places)
        except TooFar:
            raise Unplaceable("something is too far away") from None
        made = bits.astype(f"<i{relocation.size}")
        if relocation.within:
            old = self._bytes[places[:, None] + np.arange(relocation.size)]
            made |= old.view(made.dtype).reshape(-1)
        elif (made != bits).any():
            raise Unplaceable("something is too far away")
        self._write(places, made)


def _of_process(name: str) -> int:
    """The address of what code calls without saying so: ``memset`` and the like."""
    try:
        return symbols.resolve(name)
    except KeyError:
        raise Unplaceable(f"{name} is nowhere") from None
