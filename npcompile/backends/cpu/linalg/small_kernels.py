"""Modules of small matrices: one algorithm for matrices of known shape, in loops over blocks of
lanes.

::

    npc.small.ROUTINE.SIZES.DTYPE(blocks, (operand, stride)..., (result, stride)...)

Each block is of as many matrices as there are lanes; matrices are in C order, ``stride`` elements
apart.  1 if all went well, else 0: then the results are not to be used.
"""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.linalg.lane_emitter import LaneEmitter, LaneMatrix
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal
from npcompile.backends.target import Target
from npcompile.core.records import record
from npcompile.graph.routines import ROUTINES
from npcompile.linalg.small.table import ALGORITHMS


@record
class SmallKernel:
    """A routine (with its spec) for matrices of some sizes; ``dtype`` is that of their elements."""

    routine: str
    sizes: tuple[int, ...]
    dtype: np.dtype

    @property
    def symbol(self) -> str:
        return ".".join(("npc.small", self.routine, *map(str, self.sizes), self.dtype.name))

    @property
    def shapes(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Rows and columns of the operands, and of the results."""
        return shapes(self.routine, self.sizes)


def core(routine: str) -> tuple[list[str], list[str]]:
    """The axes of the operands and results of a routine (with its spec)."""
    row = ROUTINES.get(routine) or ROUTINES[routine.rpartition("_")[0]]
    operands, results = (part.split(",") for part in row.core.split("->"))
    return operands, results


def shapes(routine: str, sizes: tuple[int, ...]) -> tuple[list[tuple[int, int]],
                                                          list[tuple[int, int]]]:
    """Rows and columns of the operands and results; ``sizes`` are those of the operands' axes, each
    once."""
    operands, results = core(routine)
    known = dict(zip(dict.fromkeys("".join(operands)), sizes))
    known["K"] = min(sizes)

    def shape(word: str) -> tuple[int, int]:
        rows, columns = ([known[letter] for letter in word] + [1, 1])[:2]
        return rows, columns

    return [shape(word) for word in operands], [shape(word) for word in results]


def lanes(target: Target) -> int:
    """Of float64 in a register."""
    return target.width // 8


def text(kernel: SmallKernel, count: int) -> str:
    """The module of a kernel for a number of lanes."""
    module = LLVMModule()
    operands, results = kernel.shapes
    params = [(kind, f"{name}{at}") for at in range(len(operands) + len(results))
              for kind, name in (("ptr", "A"), ("i64", "s"))]
    f = LLVMFunction(module, kernel.symbol, "i64", [("i64", "blocks"), *params], False)
    blocks, *places = f.params
    arrays = list(zip(places[::2], places[1::2]))
    with f.loop(i64(0), blocks, 1, [literal("i1", False, count)]) as running:
        failed = _block(f, kernel, count, f.binary("mul", running.index, i64(count)), arrays)
        running.goes_on([f.binary("or", running.carried[0], failed)])
    bad = LaneEmitter(f, count).any(running.results[0])
    f.do(f"ret i64 {f.convert('zext', f.negate(bad), 'i64').text}")
    return module.text()


def _block(f: LLVMFunction, kernel: SmallKernel, count: int, first: Value,
           arrays: list[tuple[Value, Value]]) -> Value:
    """The algorithm on the matrices from ``first`` on; the lanes where it failed."""
    k, elem = LaneEmitter(f, count), "double" if kernel.dtype.itemsize == 8 else "float"
    operands, results = kernel.shapes
    elements = [LaneMatrix(k, *shape, elem) for shape in (*operands, *results)]
    places = [(f.offset(pointer, elem, f.binary("mul", first, stride)), stride)
              for pointer, stride in arrays]
    for operand, place in zip(elements[: len(operands)], places):
        operand.read(*place)
    ALGORITHMS[kernel.routine](k, *elements)
    for result, place in zip(elements[len(operands) :], places[len(operands) :]):
        result.write(*place)
    return k.failed()
