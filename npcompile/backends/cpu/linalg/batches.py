"""Routines on batches of matrices as LLVM text: small ones by kernels that have one matrix in each
lane, larger ones one after the other by LAPACK.

::

    npc.batch.ROUTINE.T(sizes..., count, (operand, strides..., stride)..., (result, stride)...)

Sizes are those of the operands' axes, each once; ``stride`` leads from one matrix to the next one.
Results are in C order.  1 if all went well, else 0.

Kernels are looked up in a table by their sizes; one that is not there yet is asked for by
``npc.find.ROUTINE.T``.  Matrices that are not in C order, and all that are left behind the last
whole block of lanes, are copied to the stack first; idle lanes have the last matrix, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from npcompile.backends.cpu.linalg.matrices import Matrices
from npcompile.backends.cpu.linalg.small_kernels import core, lanes
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.target import Target
from npcompile.core.records import record
from npcompile.linalg.small.table import ALGORITHMS, LONGEST

TRUE = literal("i1", True)
#: of names of modules
PREFIX = "batch_"
#: entries of a table for each first size
ROW = LONGEST + 1


def has(routine: str, dtype: np.dtype) -> bool:
    """Whether there are kernels for small matrices."""
    return routine in ALGORITHMS and dtype == np.float64


@record
class MatrixArray:
    """Matrices in memory: the first one, its sizes and strides, the stride from one to the next."""

    pointer: Value
    rows: Value
    columns: Value
    strides: tuple[Value, Value]
    step: Value


class Batches(Matrices):
    """Writes the module of one routine."""

    def __init__(self, routine: str, dtype: np.dtype, target: Target) -> None:
        super().__init__(dtype, target)
        self.routine, self.lanes = routine, lanes(target)
        self.symbol = f"{routine}.{dtype.name}"
        self.words = core(routine)

    def text(self) -> str:
        """The module with ``npc.batch.<routine>.<dtype>``."""
        self.pack()
        operands, results = self.words
        letters = list(dict.fromkeys("".join(operands)))
        names = [*letters, "count"]
        for at, word in enumerate(operands):
            names += [f"A{at}", *[f"r{at}{k}" for k in range(len(word))], f"s{at}"]
        for at in range(len(results)):
            names += [f"X{at}", f"t{at}"]
        f, p = self.function(f"npc.batch.{self.symbol}", " ".join(names), False, "i64")
        p["K"] = f.intrinsic("smin", p[letters[0]], p[letters[-1]])
        sizes = [p[letter] for letter in letters]
        inputs = [self._array(p, word, f"A{at}", f"s{at}",
                              [p[f"r{at}{k}"] for k in range(len(word))])
                  for at, word in enumerate(operands)]
        outputs = [self._array(p, word, f"X{at}", f"t{at}") for at, word in enumerate(results)]
        with f.when(self._small(f, p["count"], sizes)):
            self._by_lanes(f, p["count"], sizes, inputs, outputs)
            f.label(f.name_for("never"))
        found = f.call(f"npc.{self.symbol}", ("i64", 1), *f.params)  # takes the same
        f.do(f"ret i64 {found.text}")
        return self.module.text()

    def _array(self, p: dict[str, Value], word: str, pointer: str, step: str,
               strides: list[Value] | None = None) -> MatrixArray:
        rows, columns = ([p[letter] for letter in word] + [i64(1), i64(1)])[:2]
        if strides is None:
            strides = [columns, i64(1)]
        row, column = ([*strides, i64(1), i64(1)])[:2]
        return MatrixArray(p[pointer], rows, columns, (row, column), p[step])

    def _small(self, f: LLVMFunction, count: Value, sizes: list[Value]) -> Value:
        """Whether there are matrices, and all their axes are short."""
        found = f.icmp("sgt", count, i64(0))
        for size in sizes:
            inside = f.icmp("ult", f.binary("sub", size, i64(1)), i64(LONGEST))
            found = f.binary("and", found, inside)
        return found

    # ------------------------------------------------------------------ one in each lane

    def _by_lanes(self, f: LLVMFunction, count: Value, sizes: list[Value],
                  inputs: list[MatrixArray], outputs: list[MatrixArray]) -> None:
        kernel = self._kernel(f, sizes)
        with f.when(f.icmp("eq", kernel, Value("null", "ptr"))):
            f.do("ret i64 0")
            f.label(f.name_for("never"))
        with self._quiet(f):
            well = f.alloca("i64")
            f.store(i64(1), well)
            width = i64(self.lanes)
            whole = f.binary("mul", f.binary("udiv", count, width), width)
            for array in inputs:
                whole = f.select(self._in_c_order(f, array), whole, i64(0))
            places = [(array.pointer, array.step) for array in (*inputs, *outputs)]
            self._run(f, kernel, f.binary("udiv", whole, width), places, well)
            self._rest(f, kernel, whole, count, (inputs, outputs), well)
        f.do(f"ret i64 {f.load(well, 'i64').text}")

    def _kernel(self, f: LLVMFunction, sizes: list[Value]) -> Value:
        """The address of the kernel for these sizes."""
        table = f.module.extern(f"npc.table.{self.symbol}")
        first, second = sizes[0], sizes[-1]
        at = f.binary("add", f.binary("mul", first, i64(ROW)), second)
        place = f.offset(table, "ptr", at)
        found = f.load(place, "ptr")
        missing = f.icmp("eq", found, Value("null", "ptr"))
        before, ask, after = f.block, f.name_for("ask"), f.name_for("known")
        f.branch(missing, ask, after)
        f.label(ask)
        asked = f.call(f"npc.find.{self.symbol}", ("ptr", 1), first, second)
        f.jump(after)
        f.label(after)
        return f.phi("ptr", 1, (found, before), (asked, ask))

    @contextmanager
    def _quiet(self, f: LLVMFunction) -> Iterator[None]:
        """Restores the floating-point flags after the instructions written inside."""
        control = f.alloca("i32")
        f.run("npc.fp.save", control)
        yield
        f.run("npc.fp.restore", control)

    def _in_c_order(self, f: LLVMFunction, array: MatrixArray) -> Value:
        (row, column), one = array.strides, i64(1)
        rows = f.binary("or", f.icmp("eq", row, array.columns), f.icmp("eq", array.rows, one))
        columns = f.binary("or", f.icmp("eq", column, one), f.icmp("eq", array.columns, one))
        return f.binary("and", rows, columns)

    def _run(self, f: LLVMFunction, kernel: Value, blocks: Value,
             places: list[tuple[Value, Value]], well: Value) -> None:
        args = ", ".join(value.typed for value in (blocks, *[x for place in places for x in place]))
        done = f.op(f"call i64 {kernel.text}({args})", "i64")
        f.store(f.binary("and", done, f.load(well, "i64")), well)

    def _rest(self, f: LLVMFunction, kernel: Value, start: Value, count: Value,
              arrays: tuple[list[MatrixArray], list[MatrixArray]], well: Value) -> None:
        """Matrices from ``start`` on, block after block: of arrays that are not in C order, and of
        all in a block that is not whole, by copies."""
        inputs, outputs = arrays
        size = i64(LONGEST * LONGEST)
        copies = [f.alloca("double", LONGEST * LONGEST * self.lanes) for _ in (*inputs, *outputs)]
        in_order = [*(self._in_c_order(f, array) for array in inputs), *[TRUE for _ in outputs]]
        with f.loop(start, count, self.lanes) as running:
            first = running.index
            left = f.binary("sub", count, first)
            whole = f.icmp("sge", left, i64(self.lanes))
            places, direct = [], [f.binary("and", whole, one) for one in in_order]
            for array, copy, one in zip((*inputs, *outputs), copies, direct):
                here = self.at(f, array.pointer, (first, array.step))
                places.append((f.select(one, here, copy), f.select(one, array.step, size)))
            for array, copy, one in zip(inputs, copies, direct):
                with f.when(f.negate(one)):
                    self._filled(f, array, first, count, (copy, size))
            self._run(f, kernel, i64(1), places, well)
            with f.when(f.negate(whole)), f.loop(i64(0), left) as inner:
                index = f.binary("add", first, inner.index)
                for array, copy in zip(outputs, copies[len(inputs) :]):
                    source = self.at(f, copy, (inner.index, size))
                    target = self.at(f, array.pointer, (index, array.step))
                    f.run_here("pack", array.rows, array.columns, source, array.columns, i64(1),
                               target)

    def _filled(self, f: LLVMFunction, array: MatrixArray, first: Value, count: Value,
                place: tuple[Value, Value]) -> None:
        """Copies a block of matrices; lanes without one have the last."""
        copy, size = place
        last = f.binary("sub", count, i64(1))
        with f.loop(i64(0), i64(self.lanes)) as inner:
            index = f.intrinsic("smin", f.binary("add", first, inner.index), last)
            self._copied(f, array, index, self.at(f, copy, (inner.index, size)))

    def _copied(self, f: LLVMFunction, array: MatrixArray, index: Value, to: Value) -> None:
        source = self.at(f, array.pointer, (index, array.step))
        f.run_here("pack", array.rows, array.columns, source, *array.strides, to)


def text(routine: str, dtype: np.dtype, target: Target) -> str:
    """The module of one routine for one dtype."""
    return Batches(routine, dtype, target).text()
