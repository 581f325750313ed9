"""Two products of one matrix by vectors as LLVM text, for which its rows are read once.

::

    npc.double.T(m, n, A, ra, X, U, T, Y, Sums)      t = A x; y = u A

The columns of ``A`` lie side by side; ``u`` may be ``t``.  Four rows at a time give their numbers
of ``t`` and are added to ``y`` while they are near, and the next four are asked for meanwhile.
Bands of :data:`~npcompile.graph.routines.BAND` rows have sums of their own, which are added
in their order: so the bits don't depend on the number of threads.  Rows that fill no register, and
rows of which few fit into a cache, are two products of a library's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.backends.cpu.linalg.matrix_products import Products
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64
from npcompile.backends.target import Target
from npcompile.graph.routines import BAND

TOGETHER = 4  # rows
#: elements that are worth waking threads for
MUCH = 1 << 17
#: the least and the most numbers of rows that are taken here
SHORT, LONG = 8, 1 << 18
#: words of a frame, in the order of parameters
FRAME = ("m", "n", "A", "ra", "X", "U", "T", "Sums")


class DoubleProducts(Products):
    """Writes the module of one dtype of real floats."""

    def __init__(self, dtype: np.dtype, target: Target) -> None:
        super().__init__(dtype, target, None)
        self.fused, self.wide = True, 2
        self.partial = self.lanes

    def text(self) -> str:
        self._bands()
        self._double()
        return self.module.text()

    # ------------------------------------------------------------------ rows

    def _bands(self) -> None:
        """Some bands of rows, whose sums lie one behind the other."""
        f, p = self.function("bands", "Frame begin end")
        for k, name in enumerate(FRAME):
            place = f.offset(p["Frame"], "i64", i64(k))
            p[name] = f.load(place, "ptr" if name[0].isupper() else "i64")
        numbers = self.numbers(f, self.lanes)
        with f.loop(p["begin"], p["end"]) as band:
            sums = self.at(f, p["Sums"], (band.index, p["n"]))
            self._along(f, p["n"], lambda j, lanes: numbers.store(
                numbers.zero, self.at(f, sums, (j, i64(1))), lanes))
            first = f.binary("mul", band.index, i64(BAND))
            last = f.intrinsic("smin", f.binary("add", first, i64(BAND)), p["m"])
            whole = f.binary("and", f.binary("sub", last, first), i64(-TOGETHER))
            whole = f.binary("add", first, whole)
            for start, stop, count in ((first, whole, TOGETHER), (whole, last, 1)):
                with f.loop(start, stop, count) as rows:
                    self._rows_at(f, p, rows.index, count, sums)
        f.do("ret void")

    def _rows_at(self, f: LLVMFunction, p: dict[str, Value], row: Value, count: int, sums: Value
                 ) -> None:
        self._times(f, p, row, count)
        self._added(f, p, row, count, sums, ahead=True)

    def _places(self, f: LLVMFunction, p: dict[str, Value], row: Value, count: int) -> list[Value]:
        return [self.at(f, p["A"], (f.binary("add", row, i64(k)), p["ra"])) for k in range(count)]

    def _times(self, f: LLVMFunction, p: dict[str, Value], row: Value, count: int) -> None:
        """Some rows times ``x``."""
        places, one = self._places(f, p, row, count), self.numbers(f)
        for k, total in enumerate(self._run(f, p["n"], places, p["X"])):
            one.store(total, self.at(f, p["T"], (f.binary("add", row, i64(k)), i64(1))), Lanes(1))

    def _added(self, f: LLVMFunction, p: dict[str, Value], row: Value, count: int, sums: Value,
               ahead: bool) -> None:
        """Adds some rows, each times its number of ``u``; ``ahead``: the next ones are far."""
        numbers, unit = self.numbers(f, self.lanes), i64(1)
        places = self._places(f, p, row, count)
        by = [numbers.one(self.at(f, p["U"], (f.binary("add", row, i64(k)), unit)))
              for k in range(count)]
        distance = f.binary("mul", p["ra"], i64(count))

        def added(j: Value, lanes: Lanes) -> None:
            place = self.at(f, sums, (j, unit))
            total = self._some(f, place, lanes)
            for start, factor in zip(places, by):
                here = self.at(f, start, (j, unit))
                if ahead:
                    f.prefetch(self.at(f, here, (distance, unit)), near=False)
                total = numbers.madd(self._some(f, here, lanes), factor, total)
            numbers.store(total, place, lanes)

        self._along(f, p["n"], added)

    def _some(self, f: LLVMFunction, place: Value, lanes: Lanes) -> Parts:
        """A vector, with zeros in lanes that don't count."""
        numbers = self.numbers(f, self.lanes)
        if lanes.mask is None:
            return numbers.load(place, i64(1), lanes)
        return self._zeroed(f, numbers, place, i64(1), lanes)

    def _along(self, f: LLVMFunction, n: Value, do: Callable[[Value, Lanes], None]) -> None:
        """Whole vectors, then what is left of one."""
        whole = f.binary("and", n, i64(-self.lanes))
        with f.loop(i64(0), whole, self.lanes) as running:
            do(running.index, Lanes(self.lanes))
        with f.when(f.icmp("slt", whole, n)):
            do(whole, self.tail(f, f.binary("sub", n, whole)))

    # ------------------------------------------------------------------ all rows

    def _double(self) -> None:
        name = f"npc.double.{self.dtype.name}"
        f, p = self.function(name, "m n A ra X U T Y Sums", internal=False)
        fits = f.binary("and", f.icmp("sle", i64(SHORT), p["n"]), f.icmp("sle", p["n"], i64(LONG)))
        with f.when(f.negate(fits)):
            self._apart(f, p)
            self.leave(f)
        f.module.declare("npc_pool_call", "void", ["ptr", "ptr", "i64", "i64", "i64", "i1"])
        up = f.binary("sdiv", f.binary("add", p["m"], i64(BAND - 1)), i64(BAND))
        count = f.intrinsic("smax", up, i64(1))
        several, sums = f.icmp("slt", i64(1), count), p["Sums"]
        p["Sums"] = f.select(several, sums, p["Y"])
        frame = f.alloca("i64", len(FRAME))
        for k, word in enumerate(FRAME):
            f.store(p[word], f.offset(frame, "i64", i64(k)))
        much = f.icmp("slt", i64(MUCH), f.binary("mul", p["m"], p["n"]))
        f.run("npc_pool_call", Value("@bands", "ptr"), frame, count, i64(1), i64(0), much)
        with f.when(several):
            self._joined(f, p["n"], count, sums, p["Y"])
        f.do("ret void")

    def _apart(self, f: LLVMFunction, p: dict[str, Value]) -> None:
        """Two products, each of a row by a matrix."""
        for count, summed, vector, steps, made in (
                ("m", "n", "X", (i64(1), p["ra"]), "T"), ("n", "m", "U", (p["ra"], i64(1)), "Y")):
            f.run(f"npc.gemm.{self.dtype.name}", i64(1), p[count], p[summed], p[vector], i64(0),
                  i64(1), p["A"], *steps, p[made], i64(0), i64(2))

    def _joined(self, f: LLVMFunction, n: Value, count: Value, sums: Value, target: Value) -> None:
        """The sums of all bands, added in their order."""
        numbers = self.numbers(f, self.lanes)

        def joined(j: Value, lanes: Lanes) -> None:
            begin = self.at(f, sums, (j, i64(1)))
            with f.loop(i64(1), count, 1, list(self._some(f, begin, lanes))) as running:
                place = self.at(f, begin, (running.index, n))
                running.next[:] = numbers.add(tuple(running.carried),
                                              tuple(self._some(f, place, lanes)))
            numbers.store(tuple(running.results), self.at(f, target, (j, i64(1))), lanes)

        self._along(f, n, joined)


class SeparateProducts(DoubleProducts):
    """The two products apart, of a block of rows: for loops that have other code between them.

    ::

        npc.vector_rows.T(m, n, A, ra, X, T)        t = A x
        npc.add_rows.T(m, n, A, ra, U, Y)           y += u A
    """

    def text(self) -> str:
        for name, vectors in (("vector_rows", "X T"), ("add_rows", "U Y")):
            f, p = self.function(f"npc.{name}.{self.dtype.name}", f"m n A ra {vectors}", False)
            whole = f.binary("and", p["m"], i64(-TOGETHER))
            for start, stop, count in ((i64(0), whole, TOGETHER), (whole, p["m"], 1)):
                with f.loop(start, stop, count) as rows:
                    if name == "vector_rows":
                        self._times(f, p, rows.index, count)
                    else:
                        self._added(f, p, rows.index, count, p["Y"], ahead=False)
            f.do("ret void")
        return self.module.text()


def text(dtype: np.dtype, target: Target) -> str:
    """The module of a dtype."""
    return DoubleProducts(dtype, target).text()


def separate_text(dtype: np.dtype, target: Target) -> str:
    """The module of a dtype, of the two products apart."""
    return SeparateProducts(dtype, target).text()
