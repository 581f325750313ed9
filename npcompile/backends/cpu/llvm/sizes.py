"""Frame slots and sizes as LLVM values.

A kernel's function sees no frame: what it needs of one is a block of *words* that its caller fills,
addresses of arrays and sizes.  So equal kernels over other arrays are one function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from math import prod

from npcompile.backends.cpu.llvm.access import element_type
from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.backends.cpu.llvm.scalar import Parts, component, memory
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, known_integer, literal
from npcompile.core.sizes import Atom, Size, Symbol, product, symbols
from npcompile.program.ir import Buffer


class Slots:
    """Reads and writes the frame from one function; ``pointer`` is its frame argument."""

    own = ""  # metadata for loads and stores of the frame

    def __init__(self, f: LLVMFunction, frame: FrameLayout, pointer: Value) -> None:
        self.f, self.frame, self.pointer = f, frame, pointer

    @property
    def sizes(self) -> dict[Size | Atom, Value]:
        """Sizes that are there already, here."""
        return {}

    def holds(self, buffer: Buffer) -> bool:
        """Whether a number is in registers."""
        return False

    def notes(self, buffer: Buffer) -> str:
        """Metadata for loads and stores of a buffer's elements."""
        return ""

    def address(self, slot: int) -> Value:
        return self.f.offset(self.pointer, "i64", i64(slot)) if slot else self.pointer

    def data(self, buffer: Buffer) -> Value:
        """Address of an array's element (0, ..., 0), or of a scalar buffer's bits."""
        if buffer.kind == "scalar":
            return self.address(self.frame.number(buffer))
        return self.f.load(self.address(self.frame.data(buffer)), "ptr", notes=self.own)

    def set_data(self, buffer: Buffer, pointer: Value) -> None:
        self.f.store(pointer, self.address(self.frame.data(buffer)), notes=self.own)

    def object(self, buffer: Buffer) -> Value:
        return self.f.load(self.address(self.frame.object(buffer)), "ptr")

    def set_object(self, buffer: Buffer, pointer: Value) -> None:
        self.f.store(pointer, self.address(self.frame.object(buffer)))

    def number(self, buffer: Buffer) -> Parts:
        """The value of a scalar buffer."""
        elem, place = memory(buffer.dtype), self.data(buffer)
        parts = [self.f.load(place, elem, notes=self.own)]
        if buffer.dtype.kind == "c":
            second = self.f.offset(place, elem, i64(1))
            parts.append(self.f.load(second, elem, notes=self.own))
        if component(buffer.dtype).kind == "b":
            return (self.f.icmp("ne", parts[0], literal("i8", 0)),)
        return tuple(parts)

    def set_number(self, buffer: Buffer, parts: Parts) -> None:
        """Stores the value of a scalar buffer."""
        f, elem, place = self.f, memory(buffer.dtype), self.data(buffer)
        for k, part in enumerate(parts):
            bits = f.convert("zext", part, "i8") if part.elem == "i1" else part
            f.store(bits, f.offset(place, elem, i64(k)) if k else place, notes=self.own)

    def place(self, buffer: Buffer, offset: Size) -> Value:
        """Address of the element that far from element (0, ..., 0)."""
        pointer = self.data(buffer)
        if offset == 0:
            return pointer
        return self.f.offset(pointer, element_type(buffer.dtype), SizeEmitter(self)(offset))

    def row(self, buffer: Buffer, offset: Size) -> tuple[Value, Size]:
        """An address and how far from it an element is."""
        return self.data(buffer), offset

    def there(self, size: Size) -> Value | None:
        """A size that is there as it is."""
        return None

    def symbol(self, name: Symbol) -> Value:
        return self.f.load(self.address(self.frame.symbol(name)), "i64", notes=self.own)

    def set_symbol(self, name: Symbol, value: Value) -> None:
        self.f.store(value, self.address(self.frame.symbol(name)), notes=self.own)


#: a size, or the address of an element
Word = Size | tuple[Buffer, Size]


class SlotList(Slots):
    """What a function reads from the words at ``block``; which ones they are becomes ``listed``."""

    def __init__(self, f: LLVMFunction, block: Value, listed: dict[Word, int]) -> None:
        self.f, self.block, self.listed = f, block, listed
        self._read: dict[Word, Value] = {}

    def _word(self, word: Word, elem: str) -> Value:
        if word not in self._read:
            at = self.listed.setdefault(word, len(self.listed))
            with self.f.at_entry():
                place = self.f.offset(self.block, "i64", i64(at)) if at else self.block
                self._read[word] = self.f.load(place, elem)
        return self._read[word]

    def data(self, buffer: Buffer) -> Value:
        return self._word((buffer, 0), "ptr")

    def place(self, buffer: Buffer, offset: Size) -> Value:
        return self._word((buffer, offset), "ptr")

    def there(self, size: Size) -> Value | None:
        return self._word(size, "i64")


def fill(slots: Slots, words: Iterable[Word]) -> Value:
    """A block of words for a function that is called next."""
    f, sizes = slots.f, SizeEmitter(slots)
    listed = list(words)
    block = f.words(len(listed))
    for at, word in enumerate(listed):
        value = slots.place(*word) if isinstance(word, tuple) else sizes(word)
        f.store(value, f.offset(block, "i64", i64(at)) if at else block)
    return block


class SizeEmitter:
    """Emits sizes; each only once as long as it is alive (where symbols don't change)."""

    def __init__(self, slots: Slots) -> None:
        self.f, self.slots = slots.f, slots
        self._made = slots.sizes

    def __call__(self, size: Size) -> Value:
        if isinstance(size, int):
            return i64(size)
        if size not in self._made:
            total = self.slots.there(size)
            if total is not None:
                return total
            for atoms, coefficient in size.terms:
                term = self._term(atoms, coefficient)
                total = term if total is None else self.f.binary("add", total, term)
            self._made[size] = total if total is not None else i64(0)
        return self._made[size]

    def _term(self, atoms: tuple[Atom, ...], coefficient: int) -> Value:
        if not atoms:
            return i64(coefficient)
        product = self._atom(atoms[0])
        for atom in atoms[1:]:
            product = self.f.binary("mul", product, self._atom(atom))
        return product if coefficient == 1 else self.f.binary("mul", product, i64(coefficient))

    def _atom(self, atom: Atom) -> Value:
        if atom not in self._made:
            if isinstance(atom, Symbol):
                self._made[atom] = self.slots.symbol(atom)
            else:
                left, right = self(atom.left), self(atom.right)
                self._made[atom] = _CALLS[atom.name](self.f, left, right)
        return self._made[atom]


_MOST = 54  #: bits of more bytes than any memory has


def bytes_of(slots: Slots, buffer: Buffer) -> Value:
    """The bytes of an array; where lengths of the program's own making may have a product that does
    not fit, more than there can be instead."""
    f, sizes = slots.f, SizeEmitter(slots)
    total = sizes(product(buffer.shape) * buffer.dtype.itemsize)
    known = prod(n for n in buffer.shape if isinstance(n, int)) * buffer.dtype.itemsize
    open_ = [n for n in buffer.shape if not isinstance(n, int)]
    if not open_ or (len(open_) == 1 and all(s.low == 0 for s in symbols(open_[0]))):
        return total
    zeros = [f.call("llvm.ctlz.i64", ("i64", 1), sizes(n), "i1 false") for n in open_]
    spare = reduce(lambda a, b: f.binary("add", a, b), zeros)
    least = 64 * len(open_) + known.bit_length() - _MOST
    return f.select(f.icmp("sle", i64(least), spare), total, i64(1 << _MOST))


def floordiv(f: LLVMFunction, a: Value, b: Value) -> Value:
    """Python's ``//`` of i64 values; by 0: any number, but no trap."""
    known = known_integer(b)
    if known is not None and known > 0 and known & (known - 1) == 0:
        return f.binary("ashr", a, i64(known.bit_length() - 1))
    if known is None or known == 0:
        b = f.select(f.icmp("eq", b, i64(0)), i64(1), b)
    quotient = f.binary("sdiv", a, b)
    rest = f.binary("sub", a, f.binary("mul", quotient, b))
    unlike = f.icmp("slt", f.binary("xor", rest, b), i64(0))
    fix = f.binary("and", unlike, f.icmp("ne", rest, i64(0)))
    return f.binary("add", quotient, f.convert("sext", fix, "i64"))


def _mod(f: LLVMFunction, a: Value, b: Value) -> Value:
    """Python's ``%``; indices that wrap around are seldom beyond the end, divisions slow."""
    inside = f.binary("and", f.icmp("slt", i64(0), b), f.icmp("ult", a, b))
    before, beyond, after = f.block, f.name_for("beyond"), f.name_for("after")
    f.branch(inside, after, beyond, likely=True)
    f.label(beyond)
    rest = f.binary("sub", a, f.binary("mul", floordiv(f, a, b), b))
    f.jump(after)
    f.label(after)
    return f.phi("i64", 1, (a, before), (rest, beyond))


_CALLS: dict[str, Callable[[LLVMFunction, Value, Value], Value]] = {
    "floordiv": floordiv,
    "mod": _mod,
    "min": lambda f, a, b: f.intrinsic("smin", a, b),
    "max": lambda f, a, b: f.intrinsic("smax", a, b),
}
