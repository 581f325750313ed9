"""Products of a block of rows by a packed matrix as LLVM text, for loops over blocks of rows.

::

    npc.pack.T(k, n, B, rb, cb, P)                           strips of columns of b, k by k
    npc.rows.T(chain, start, count, per, n, k, A, ra, ca, P, C, rc)
    npc.gram.T(k, n, A, ra, ca, C)                           c += a.T a, from the diagonal on
    npc.gram_sum.T(count, n, S, C)                           c = the sum of these, both halves

``npc.rows`` multiplies rows ``start`` to ``start + count`` of all rows of a batch, of which each
matrix has ``per``; ``A`` and ``C`` point to the first of them, ``P`` to the packed matrices of all
the batch, whose columns are padded to a multiple of
:data:`~npcompile.graph.routines.PADDED`.  Each element is a sum of chains of fused multiply-adds,
of :data:`DEEP` elements of ``k`` each; with ``chain`` it is one chain, as in
:mod:`.portable_products`.

A strip has one to three vectors of columns; all strips of a matrix have about as many.  A tile is
some rows by a strip; where rows are missing its last row is computed several times.

``npc.gram`` packs rows of ``a`` once, for both operands: its tiles are columns of one strip by
the same or a later one.  What these leave below the diagonal ``npc.gram_sum`` does not read.
"""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.linalg.matrix_products import NULL
from npcompile.backends.cpu.linalg.portable_products import PortableProducts
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64
from npcompile.backends.target import Target
from npcompile.graph.routines import PADDED

#: elements of k that are added before other rows take their turn
DEEP = 128
#: columns that are copied to the other side of the diagonal at a time
MIRRORED = 16
GRAM = "k n A ra ca C"


class RowProducts(PortableProducts):
    """Writes the module of one dtype of real floats."""

    def text(self) -> str:
        self._strip(self.lanes)
        self._packed()
        for vectors in range(1, self.broad + 1):
            self._row_tile(vectors)
        self._block()
        self._all_rows()
        self._gram_slowly()
        self._gram()
        self._gram_sum()
        return self.module.text()

    # ------------------------------------------------------------------ packing

    def _strips(self, f: LLVMFunction, n: Value) -> tuple[Value, Value]:
        """The vectors that ``n`` columns fill, and the number of strips."""
        width, broad = i64(self.lanes), i64(self.broad)
        vectors = f.binary("udiv", f.binary("add", n, i64(self.lanes - 1)), width)
        return vectors, f.binary("udiv", f.binary("add", vectors, i64(self.broad - 1)), broad)

    def _bounds(self, f: LLVMFunction, strip: Value, vectors: Value, strips: Value
                ) -> tuple[Value, Value]:
        """The first vector of a strip, and how many it has."""
        first, after = (f.binary("udiv", f.binary("mul", index, vectors), strips)
                        for index in (strip, f.binary("add", strip, i64(1))))
        return first, f.binary("sub", after, first)

    def _packed(self) -> None:
        f, p = self.function(f"npc.pack.{self.dtype.name}", "k n B rb cb P", internal=False)
        width, (vectors, strips) = i64(self.lanes), self._strips(f, p["n"])
        with f.loop(i64(0), strips) as running:
            first, count = self._bounds(f, running.index, vectors, strips)
            column = f.binary("mul", first, width)
            target = self.at(f, p["P"], (column, p["k"]))
            skip = f.binary("mul", count, width)
            with f.loop(i64(0), count) as inner:
                at = f.binary("mul", inner.index, width)
                here = f.binary("add", column, at)
                lines = f.intrinsic("smin", f.binary("sub", p["n"], here), width)
                f.run_here(f"strip{self.lanes}", lines, p["k"],
                           self.at(f, p["B"], (here, p["cb"])), p["cb"], p["rb"],
                           self.at(f, target, (at, i64(1))), skip)
        f.do("ret void")

    # ------------------------------------------------------------------ tiles

    def _row_tile(self, vectors: int) -> None:
        """Up to ``high`` rows, ``m``, by a strip, ``n`` columns of it; ``more``: 1 if it goes on
        with what is there, 2 if that is added in the end."""
        f, p = self.function(f"tile{vectors}", "m n k A ra ca B C rc more")
        numbers, width = self.numbers(f, self.lanes), self.lanes
        last = f.binary("sub", p["n"], i64((vectors - 1) * width))
        lanes = [Lanes(width)] * (vectors - 1) + [self.tail(f, last)]
        rows = [f.intrinsic("smin", i64(r), f.binary("sub", p["m"], i64(1)))
                for r in range(self.high)]
        starts = [self.at(f, p["A"], (row, p["ra"])) for row in rows]
        places = [self.at(f, p["C"], (row, p["rc"]), (i64(v * width), i64(1)))
                  for row in rows for v in range(vectors)]
        load, start, before = f.name_for("load"), f.name_for("start"), f.block
        f.branch(f.icmp("eq", p["more"], i64(1)), load, start)
        f.label(load)
        held = self._held_in(f, places, lanes)
        loaded = f.block
        f.jump(start)
        f.label(start)
        zero = numbers.zero[0]
        sums = [f.phi(v.elem, v.lanes, (zero, before), (v, loaded)) for v in held]
        with f.loop(i64(0), p["k"], 1, sums) as running:
            column = f.binary("mul", running.index, p["ca"])
            b = self.at(f, p["B"], (running.index, i64(vectors * width)))
            many: list[Parts] = [
                numbers.load(self.at(f, b, (i64(v * width), i64(1))), i64(1), Lanes(width))
                for v in range(vectors)]
            for r, place in enumerate(starts):
                a = numbers.one(self.at(f, place, (column, i64(1))))
                for v, one in enumerate(many):
                    at = r * vectors + v
                    running.next[at] = numbers.madd(a, one, (running.carried[at],))[0]
        with f.when(f.icmp("eq", p["more"], i64(2))):
            old = self._held_in(f, places, lanes)
            for at, total in enumerate(running.results):
                numbers.store(numbers.add((old[at],), (total,)), places[at], lanes[at % vectors])
            self.leave(f)
        for at, total in enumerate(running.results):
            numbers.store((total,), places[at], lanes[at % vectors])
        f.do("ret void")

    def _held_in(self, f: LLVMFunction, places: list[Value], lanes: list[Lanes]) -> list[Value]:
        """The numbers that memory holds at the places of a tile, vector by vector."""
        numbers, found = self.numbers(f, self.lanes), list[Value]()
        for at, place in enumerate(places):
            own = lanes[at % len(lanes)]
            found += (numbers.load(place, i64(1), own) if own.mask is None else
                      self._zeroed(f, numbers, place, i64(1), own))
        return found

    # ------------------------------------------------------------------ blocks

    def _block(self) -> None:
        """Rows of one matrix: strip after strip, and of each some elements of k at a time."""
        f, p = self.function("block", "chain m n k A ra ca P C rc")
        width, (vectors, strips) = i64(self.lanes), self._strips(f, p["n"])
        blocks = f.intrinsic("smax", p["k"], i64(1))  # sums of nothing are stored, too
        with f.loop(i64(0), strips) as running:
            first, count = self._bounds(f, running.index, vectors, strips)
            column, wide = (f.binary("mul", x, width) for x in (first, count))
            rest = f.binary("sub", p["n"], column)
            strip = self.at(f, p["P"], (column, p["k"]))
            with f.loop(i64(0), blocks, DEEP) as parts:
                deep = f.intrinsic("smin", f.binary("sub", p["k"], parts.index), i64(DEEP))
                b = self.at(f, strip, (parts.index, wide))
                more = f.select(f.icmp("eq", p["chain"], i64(0)), i64(2), i64(1))
                more = f.select(f.icmp("eq", parts.index, i64(0)), i64(0), more)
                with f.loop(i64(0), p["m"], self.high) as rows:
                    a = self.at(f, p["A"], (rows.index, p["ra"]), (parts.index, p["ca"]))
                    c = self.at(f, p["C"], (rows.index, p["rc"]), (column, i64(1)))
                    high = f.binary("sub", p["m"], rows.index)
                    self._by_width(f, count, (high, rest, deep, a, p["ra"], p["ca"], b, c,
                                              p["rc"], more))
        f.do("ret void")

    def _by_width(self, f: LLVMFunction, count: Value, args: tuple[Value, ...]) -> None:
        for vectors in range(1, self.broad + 1):
            with f.when(f.icmp("eq", count, i64(vectors))):
                f.run_here(f"tile{vectors}", *args)

    def _all_rows(self) -> None:
        f, p = self.function(f"npc.rows.{self.dtype.name}",
                             "chain start count per n k A ra ca P C rc", internal=False)
        padded = f.binary("and", f.binary("add", p["n"], i64(PADDED - 1)), i64(-PADDED))
        size, end = f.binary("mul", padded, p["k"]), f.binary("add", p["start"], p["count"])
        after = f.binary("udiv", f.binary("add", end, f.binary("sub", p["per"], i64(1))), p["per"])
        with f.loop(f.binary("udiv", p["start"], p["per"]), after) as batch:
            first = f.binary("mul", batch.index, p["per"])
            low = f.intrinsic("smax", f.binary("sub", first, p["start"]), i64(0))
            high = f.binary("sub", f.binary("add", first, p["per"]), p["start"])
            high = f.intrinsic("smin", high, p["count"])
            f.run_here("block", p["chain"], f.binary("sub", high, low), p["n"], p["k"],
                       self.at(f, p["A"], (low, p["ra"])), p["ra"], p["ca"],
                       self.at(f, p["P"], (batch.index, size)),
                       self.at(f, p["C"], (low, p["rc"])), p["rc"])
        f.do("ret void")

    # ------------------------------------------------------------------ a matrix by its transpose

    def _gram(self) -> None:
        f, p = self.function(f"npc.gram.{self.dtype.name}", GRAM, internal=False)
        width, (vectors, strips) = i64(self.lanes), self._strips(f, p["n"])
        size = f.binary("mul", vectors, i64(self.lanes * DEEP * self.dtype.itemsize))
        room = f.call("npc_take", ("ptr", 1), size)
        with f.when(f.icmp("eq", room, NULL)):
            f.run_here("slow_gram", *(p[name] for name in GRAM.split()))
            self.leave(f)
        with f.loop(i64(0), p["k"], DEEP) as parts:
            deep = f.intrinsic("smin", f.binary("sub", p["k"], parts.index), i64(DEEP))
            a = self.at(f, p["A"], (parts.index, p["ra"]))
            f.run_here(f"npc.pack.{self.dtype.name}", deep, p["n"], a, p["ra"], p["ca"], room)
            with f.loop(i64(0), strips) as running:
                first, count = self._bounds(f, running.index, vectors, strips)
                b = self.at(f, room, (f.binary("mul", first, width), deep))
                after = f.binary("add", running.index, i64(1))
                with f.loop(i64(0), after) as inner:
                    self._gram_tiles(f, p, (deep, room), self._bounds(
                        f, inner.index, vectors, strips), (first, count, b))
        f.run("npc_give", room)
        f.do("ret void")

    def _gram_tiles(self, f: LLVMFunction, p: dict[str, Value], packed: tuple[Value, Value],
                    left: tuple[Value, Value], right: tuple[Value, Value, Value]) -> None:
        """Columns of a strip by another strip, which are added to what is there."""
        (deep, room), (first, count, b), width = packed, right, i64(self.lanes)
        begin, wide, column = (f.binary("mul", x, width) for x in (*left, first))
        rest, rows = (f.binary("sub", p["n"], x) for x in (column, begin))
        rows = f.intrinsic("smin", rows, wide)
        strip = self.at(f, room, (begin, deep))
        with f.loop(i64(0), rows, self.high) as running:
            row = f.binary("add", begin, running.index)
            c = self.at(f, p["C"], (row, p["n"]), (column, i64(1)))
            a = self.at(f, strip, (running.index, i64(1)))
            high = f.binary("sub", rows, running.index)
            self._by_width(f, count, (high, rest, deep, a, i64(1), wide, b, c, p["n"], i64(2)))

    def _gram_slowly(self) -> None:
        """Element by element, where there is no memory for strips."""
        f, p = self.function("slow_gram", GRAM)
        numbers = self.numbers(f)
        with f.loop(i64(0), p["n"]) as rows, f.loop(rows.index, p["n"]) as columns:
            left, right = (self.at(f, p["A"], (x.index, p["ca"])) for x in (rows, columns))
            place = self.at(f, p["C"], (rows.index, p["n"]), (columns.index, i64(1)))
            with f.loop(i64(0), p["k"], 1, list(numbers.zero)) as running:
                a, b = (numbers.one(self.at(f, x, (running.index, p["ra"]))) for x in (left, right))
                running.next[:] = numbers.madd(a, b, tuple(running.carried))
            total = numbers.add(numbers.one(place), tuple(running.results))
            numbers.store(total, place, Lanes(1))
        f.do("ret void")

    def _gram_sum(self) -> None:
        f, p = self.function(f"npc.gram_sum.{self.dtype.name}", "count n S C", internal=False)
        numbers, size = self.numbers(f, self.lanes), f.binary("mul", p["n"], p["n"])
        with f.loop(i64(0), p["n"]) as rows, f.loop(rows.index, p["n"], self.lanes) as columns:
            lanes = self.tail(f, f.binary("sub", p["n"], columns.index))
            at = f.binary("add", f.binary("mul", rows.index, p["n"]), columns.index)
            first = self._zeroed(f, numbers, self.at(f, p["S"], (at, i64(1))), i64(1), lanes)
            with f.loop(i64(1), p["count"], 1, list(first)) as running:
                place = self.at(f, p["S"], (at, i64(1)), (running.index, size))
                more = self._zeroed(f, numbers, place, i64(1), lanes)
                running.next[:] = numbers.add(tuple(running.carried), more)
            numbers.store(tuple(running.results), self.at(f, p["C"], (at, i64(1))), lanes)
        with f.loop(i64(0), p["n"], MIRRORED) as columns, f.loop(columns.index, p["n"]) as rows:
            stop = f.intrinsic("smin", f.binary("add", columns.index, i64(MIRRORED)), rows.index)
            with f.loop(columns.index, stop) as inner:
                i, j = rows.index, inner.index
                found = self.numbers(f).one(self.at(f, p["C"], (j, p["n"]), (i, i64(1))))
                self.numbers(f).store(found, self.at(f, p["C"], (i, p["n"]), (j, i64(1))), Lanes(1))
        f.do("ret void")


def text(dtype: np.dtype, target: Target) -> str:
    """The module of a dtype."""
    return RowProducts(dtype, target).text()
