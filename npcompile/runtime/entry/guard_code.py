"""Machine code that tests what a compiled function relies on and reads its arguments.

A guard either goes on or leaves for a label where the next entry is tried; nothing is changed
until all of them have held.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.backends.cpu.loader.symbols import descr
from npcompile.core.records import record
from npcompile.core.sizes import Predicate, Size, SizeCall, Symbol, lone_symbol
from npcompile.graph.types import Array, Scalar
from npcompile.runtime.entry.function_writer import Writer
from npcompile.runtime.unsafe.layout import Layout

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400  # NumPy's NPY_ARRAY_ flags


#: DLPack's codes of kinds of numbers, and offsets in a DLTensor and its size, in bytes
DL_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
DL_DEVICE, DL_NDIM, DL_DTYPE, DL_SHAPE, DL_STRIDES, DL_OFFSET, DL_TENSOR = 8, 16, 20, 24, 32, 40, 48


def dl_key(dtype: np.dtype) -> int:
    """DLPack's name of a dtype in one number: its code, its bits, one lane."""
    return DL_CODES[dtype.kind] | (8 * dtype.itemsize) << 8 | 1 << 16


class SizeEvaluator:
    """Sizes as 64-bit values, without branches.

    ``wrong`` collects conditions under which a value is not right: it does not fit 64 bits, or
    something is divided by zero.
    """

    def __init__(self, writer: Writer, value: Callable[[Symbol], str | int]) -> None:
        self.writer = writer
        self.value = value
        self.wrong: list[str] = []

    def emit(self, size: Size) -> str | int:
        if isinstance(size, int):
            return size
        total: str | int = 0
        for atoms, coefficient in size.terms:
            term: str | int = coefficient
            for atom in atoms:
                factor = self.value(atom) if isinstance(atom, Symbol) else self._call(atom)
                term = self._checked("smul", term, factor)
            total = self._checked("sadd", total, term)
        return total

    def _checked(self, op: str, left: str | int, right: str | int) -> str | int:
        neutral = 1 if op == "smul" else 0
        if left == neutral:
            return right
        if right == neutral:
            return left
        w, name = self.writer, f"llvm.{op}.with.overflow.i64"
        pair = w.call("{i64, i1}", name, ("i64", left), ("i64", right))
        self.wrong.append(w.let(f"extractvalue {{i64, i1}} {pair}, 1"))
        return w.let(f"extractvalue {{i64, i1}} {pair}, 0")

    def _call(self, call: SizeCall) -> str | int:
        left, right = self.emit(call.left), self.emit(call.right)
        if call.name in ("min", "max"):
            return self.writer.call(
                "i64", f"llvm.s{call.name}.i64", ("i64", left), ("i64", right)
            )
        return self._divide(call.name, left, right)

    def _divide(self, name: str, left: str | int, right: str | int) -> str:
        """Python's // or %: the quotient rounds down."""
        w = self.writer
        if not (isinstance(right, int) and right > 0):  # zero, and least // -1, would trap
            least = w.add("icmp eq", "i64", left, -(2**63))
            minus = w.add("icmp eq", "i64", right, -1)
            zero = w.add("icmp eq", "i64", right, 0)
            trap = w.any([w.add("and", "i1", least, minus), zero])
            self.wrong.append(trap)
            right = w.let(f"select i1 {trap}, i64 1, i64 {right}")
        quotient = w.add("sdiv", "i64", left, right)
        rest = w.add("srem", "i64", left, right)
        inexact = w.add("icmp ne", "i64", rest, 0)
        apart = w.add("icmp slt", "i64", w.add("xor", "i64", rest, right), 0)
        down = w.add("and", "i1", inexact, apart)
        if name == "floordiv":
            return w.add("add", "i64", quotient, w.let(f"sext i1 {down} to i64"))
        back = w.let(f"select i1 {down}, i64 {right}, i64 0")
        return w.add("add", "i64", rest, back)

    def require(self, predicate: Predicate) -> None:
        """Where the predicate does not hold, that is wrong."""
        left, right = self.emit(predicate.left), self.emit(predicate.right)
        opposite = {"==": "ne", "!=": "eq", "<": "sge", "<=": "sgt"}[predicate.op]
        self.wrong.append(self.writer.add(f"icmp {opposite}", "i64", left, right))


@record
class ArrayValue:
    """The fields of an array as LLVM values; ``strides`` count elements, None: C-contiguous."""

    data: str
    dims: tuple[str, ...]
    strides: tuple[str, ...] | None
    itemsize: int


class Guards:
    """Tests the leaves of one call; collects the values of symbols as it reads them."""

    def __init__(self, writer: Writer, layout: Layout, miss: str) -> None:
        self.writer = writer
        self.layout = layout
        self.miss = miss
        self.symbols: dict[Symbol, str | int] = {}
        self._pairs: list[tuple[Size, str]] = []
        self._wrong: list[str] = []

    def is_instance(self, thing: str, type_name: str) -> None:
        w = self.writer
        cls = w.load("ptr", thing, self.layout.type)
        w.require(w.add("icmp eq", "ptr", cls, w.data(type_name)), self.miss)

    def array(self, thing: str, type_: Array, contiguous: bool, written: bool) -> ArrayValue:
        """Tests an array and reads it."""
        w, at = self.writer, self.layout
        self.is_instance(thing, "PyArray_Type")
        self._kind(thing, type_, contiguous, written)
        dims: tuple[str, ...] = ()
        strides = None
        if type_.ndim:
            block = w.load("ptr", thing, at.dims)
            dims = tuple(w.load("i64", block, 8 * axis) for axis in range(type_.ndim))
            if not contiguous:
                strides = self._strides(w.load("ptr", thing, at.strides), type_)
        for size, value in (*zip(type_.shape, dims), *zip(type_.strides, strides or ())):
            self.measure(size, value)
        return ArrayValue(w.load("ptr", thing, at.data), dims, strides, type_.dtype.itemsize)

    def tensor(self, place: str, type_: Array, contiguous: bool) -> ArrayValue:
        """Tests what DLPack tells of a tensor, and reads it."""
        w = self.writer
        rank, dtype = (w.load("i32", place, at) for at in (DL_NDIM, DL_DTYPE))
        w.refuse([w.add("icmp ne", "i32", rank, type_.ndim),
                  w.add("icmp ne", "i32", dtype, dl_key(type_.dtype))], self.miss)
        shape, steps = (w.load("ptr", place, at) for at in (DL_SHAPE, DL_STRIDES))
        dims = tuple([w.load("i64", shape, 8 * axis) for axis in range(type_.ndim)])
        strides: list[str] = []
        apart: list[str] = []
        packed: str | int = 1
        for axis in range(type_.ndim)[::-1]:  # a shorter axis than 2 may lie anywhere
            short = w.add("icmp ult", "i64", dims[axis], 2)
            step = w.load("i64", steps, 8 * axis)
            strides.append(w.let(f"select i1 {short}, i64 1, i64 {step}"))
            other = w.add("icmp ne", "i64", step, packed)
            apart.append(w.let(f"select i1 {short}, i1 false, i1 {other}"))
            packed = w.add("mul", "i64", packed, dims[axis])
        if contiguous and apart:
            some = w.add("icmp ne", "i64", packed, 0)
            self._wrong.append(w.add("and", "i1", w.any(apart), some))
        found = None if contiguous else tuple(strides[::-1])
        for size, value in (*zip(type_.shape, dims), *zip(type_.strides, found or ())):
            self.measure(size, value)
        data = w.load("ptr", place)
        offset = w.load("i64", place, DL_OFFSET)
        start = w.let(f"getelementptr i8, ptr {data}, i64 {offset}")
        return ArrayValue(start, dims, found, type_.dtype.itemsize)

    def _kind(self, thing: str, type_: Array, contiguous: bool, written: bool) -> None:
        """Tests dtype, rank and flags.

        The dtype is compared by address; unpickled arrays have a dtype object of their own.
        """
        w, at, dtype = self.writer, self.layout, type_.dtype
        needed = ALIGNED | (WRITEABLE if written else 0) | (C_CONTIGUOUS if contiguous else 0)
        held = w.add("and", "i32", w.load("i32", thing, at.flags), needed)
        rank = w.load("i32", thing, at.ndim)
        wrong = [w.add("icmp ne", "i32", held, needed), w.add("icmp ne", "i32", rank, type_.ndim)]
        found = w.load("ptr", thing, at.descr)
        other = w.add("icmp ne", "ptr", found, w.data(descr(dtype)))
        bad = w.any(wrong)
        look, good = w.name("L"), w.name("L")
        w.branch(w.any([other, bad]), look, good, likely=False)
        w.label(look)
        number = w.load("i32", found, at.type_number)
        order = w.load("i8", found, at.byte_order)
        noted = w.load("ptr", found, at.metadata)
        unlike = [
            bad,
            w.add("icmp ne", "i32", number, dtype.num),
            w.add("icmp eq", "i8", order, ord(">")),
            w.add("icmp ne", "ptr", noted, "null"),
        ]
        w.branch(w.any(unlike), self.miss, good, likely=False)
        w.label(good)

    def _strides(self, block: str, type_: Array) -> tuple[str, ...]:
        w, unit = self.writer, type_.dtype.itemsize
        strides = [w.load("i64", block, 8 * axis) for axis in range(type_.ndim)]
        if unit == 1:
            return tuple(strides)
        for stride in strides:  # item sizes are powers of two
            rest = w.add("and", "i64", stride, unit - 1)
            self._wrong.append(w.add("icmp ne", "i64", rest, 0))
        return tuple(w.add("ashr", "i64", s, unit.bit_length() - 1) for s in strides)

    def measure(self, size: Size, value: str) -> None:
        """A size must be this value; a symbol that is new is defined by it."""
        name = lone_symbol(size)
        if name is not None and name not in self.symbols:
            self.symbols[name] = value
        else:
            self._pairs.append((size, value))

    def sizes(self, predicates: list[Predicate]) -> None:
        """Tests all measured sizes and the predicates on them, when every leaf has been read."""
        sizes = SizeEvaluator(self.writer, self.symbols.__getitem__)
        for size, value in self._pairs:
            expected = sizes.emit(size)
            sizes.wrong.append(self.writer.add("icmp ne", "i64", value, expected))
        for predicate in predicates:
            sizes.require(predicate)
        self.writer.refuse(self._wrong + sizes.wrong, self.miss)

    def extent(self, array: ArrayValue) -> tuple[str, str]:
        """The first address of an array's memory and the one after its last; equal if empty."""
        w = self.writer
        low = high = w.let(f"ptrtoint ptr {array.data} to i64")
        if array.strides is None:
            count: str | int = array.itemsize
            for n in array.dims:
                count = w.add("mul", "i64", n, count)
            return low, w.add("add", "i64", low, count)
        last = w.add("add", "i64", high, array.itemsize)
        empty = "false"
        for n, stride in zip(array.dims, array.strides):
            steps = w.add("sub", "i64", n, 1)
            step = w.add("mul", "i64", stride, array.itemsize)
            span = w.add("mul", "i64", steps, step)
            for op in ("smax", "smin"):
                reach = w.call("i64", f"llvm.{op}.i64", ("i64", span), ("i64", 0))
                if op == "smax":
                    last = w.add("add", "i64", last, reach)
                else:
                    low = w.add("add", "i64", low, reach)
            empty = w.add("or", "i1", empty, w.add("icmp eq", "i64", n, 0))
        return low, w.let(f"select i1 {empty}, i64 {low}, i64 {last}")

    def shares(self, array: ArrayValue) -> list[str]:
        """Conditions of which one holds where elements of an array may share memory.

        Else each axis steps over all that the axes of no greater stride reach.
        """
        w = self.writer
        steps = [
            w.call("i64", "llvm.abs.i64", ("i64", s), ("i1", "false")) for s in array.strides or ()
        ]
        reach = [
            w.add("mul", "i64", w.add("sub", "i64", n, 1), s) for n, s in zip(array.dims, steps)
        ]
        found = []
        for k, (n, step) in enumerate(zip(array.dims, steps)):
            total: str | int = 0
            for j, other in enumerate(steps):
                if j != k:
                    inner = w.add("icmp ule", "i64", other, step)
                    part = w.let(f"select i1 {inner}, i64 {reach[j]}, i64 0")
                    total = w.add("add", "i64", total, part)
            several = w.add("icmp sgt", "i64", n, 1)
            found.append(w.add("and", "i1", several, w.add("icmp sge", "i64", total, step)))
        return found

    def meets(self, one: tuple[str, str], other: tuple[str, str]) -> str:
        """Whether two extents have something in common."""
        w = self.writer
        begins = w.add("icmp ult", "i64", one[0], other[1])
        return w.add("and", "i1", begins, w.add("icmp ult", "i64", other[0], one[1]))

    # ---------------------------------------------------------- numbers

    def number(self, thing: str, type_: Scalar) -> list[str]:
        """Tests a number; its bits as 64-bit words, low-order first."""
        if type_.origin == "np":
            return self._numpy_number(thing, type_.dtype)
        return {bool: self._bool, int: self._int, float: self._float, complex: self._complex}[
            type_.python_type
        ](thing)

    def _numpy_number(self, thing: str, dtype: np.dtype) -> list[str]:
        w, at = self.writer, self.layout.scalar_value
        self.is_instance(thing, "type." + descr(dtype).removeprefix("descr."))
        if dtype.itemsize < 8:
            narrow = w.load(f"i{8 * dtype.itemsize}", thing, at)
            return [w.let(f"zext i{8 * dtype.itemsize} {narrow} to i64")]
        return [w.load("i64", thing, at + k) for k in range(0, dtype.itemsize, 8)]

    def _bool(self, thing: str) -> list[str]:
        w = self.writer
        true = w.add("icmp eq", "ptr", thing, w.data("_Py_TrueStruct"))
        false = w.add("icmp eq", "ptr", thing, w.data("_Py_FalseStruct"))
        w.require(w.add("or", "i1", true, false), self.miss)
        return [w.let(f"zext i1 {true} to i64")]

    def _int(self, thing: str) -> list[str]:
        w = self.writer
        self.is_instance(thing, "PyLong_Type")
        value = w.call(
            "i64", "PyLong_AsLongLongAndOverflow", ("ptr", thing), ("ptr", "%overflow")
        )
        overflow = w.load("i32", "%overflow")
        w.require(w.add("icmp eq", "i32", overflow, 0), self.miss)
        return [value]

    def _float(self, thing: str) -> list[str]:
        self.is_instance(thing, "PyFloat_Type")
        return [self.writer.load("i64", thing, self.layout.float_value)]

    def _complex(self, thing: str) -> list[str]:
        self.is_instance(thing, "PyComplex_Type")
        at = self.layout.complex_value
        return [self.writer.load("i64", thing, at + k) for k in (0, 8)]
