"""Products of matrices of floats with the same bits on every machine.

Each element of a product of matrices is one chain of fused multiply-adds over ``k``, from 0 on:
blocks, tiles and vectors of any size give it, as they only decide when which part is computed.
Products with a vector are sums of runs: element ``k`` belongs to partial sum ``k`` modulo a number
that is the same everywhere, and partial sums are added by halves.

Large matrices are packed: strips of rows of ``a`` and of columns of ``b``, ``k`` by ``k``.  Where a
strip is not full, its last line stands in for what is missing, so that no flag is raised which the
lines don't raise themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from npcompile.backends.cpu.linalg import lane_blocks
from npcompile.backends.cpu.linalg.blas import Blas
from npcompile.backends.cpu.linalg.matrices import Numbers
from npcompile.backends.cpu.linalg.matrix_products import BLAS, PRODUCT, Products
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts, component
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64
from npcompile.backends.target import Target

#: elements of k, and rows, of a block that stays in a cache
DEEP, HIGH = 480, 192
#: vectors of rows whose sums with a vector stay in a cache
VECTORS = 16
#: columns that are asked for before they are read
AHEAD = 6
#: products of fewer elements than this are not packed, and of fewer complex ones
LEAST, LEAST_COMPLEX = 96**3, 32**3


class PortableProducts(Products):
    """Writes the module of one dtype of floats."""

    def __init__(self, dtype: np.dtype, target: Target) -> None:
        super().__init__(dtype, target, None)
        self.fused = True
        self.partial, self.wide = {"d": (8, 2), "f": (16, 1)}.get(dtype.char, (8, 1))
        is_complex, roomy = dtype.kind == "c", target.masks
        self.high = (4 if is_complex else 8) if roomy else (2 if is_complex else 4)
        self.broad = 2 if is_complex and not roomy else 3  # vectors of a tile

    def text(self) -> str:
        self._dot()
        self._sum()
        self._rows()
        self._columns()
        for vectors in range(1, self.vectors + 1):
            self._panel(vectors)
        self._small()
        self.pack()
        self._slow()
        for width in sorted({self.high, self.lanes}):
            self._strip(width)
        self._tile_of_strips()
        self._edge()
        self._blocked()
        self._gemm()
        return self.module.text()

    # ------------------------------------------------------------------ vectors

    def _dot(self) -> None:
        f, p = self.function(f"npc.dot.{self.dtype.name}", "n X dx Y dy Out", internal=False)
        unit = f.binary("and", *(f.icmp("eq", p[d], i64(1)) for d in ("dx", "dy")))
        with f.when(unit):
            self._finish_dot(f, p, self._run(f, p["n"], [p["X"]], p["Y"])[0])
            f.label(f.name_for("never"))
        steps = (p["dx"], p["dy"])
        self._finish_dot(f, p, self._run(f, p["n"], [p["X"]], p["Y"], steps)[0])

    def _columns(self) -> None:
        """A matrix whose columns are runs, times a run: the sums of :meth:`_run` for each row, a
        block of rows at a time, whose partial sums stay in a cache."""
        f, p = self.function("columns", "m k A ca X C")
        width, many = self.lanes, self.partial * self.wide
        sums = f.alloca(self.elem, many * VECTORS * width * self.parts)
        numbers = self.numbers(f, width)
        whole, rest = (f.binary("and", p["k"], i64(-count)) for count in (many, self.partial))
        with f.loop(i64(0), p["m"], VECTORS * width) as running:
            first = running.index
            rows = f.intrinsic("smin", f.binary("sub", p["m"], first), i64(VECTORS * width))
            vectors = f.binary("udiv", f.binary("add", rows, i64(width - 1)), i64(width))
            with f.loop(i64(0), i64(many * VECTORS)) as cleared:
                self._put(f, sums, cleared.index, numbers.zero)
            place = self.at(f, p["A"], (first, i64(1)))
            with f.loop(i64(0), p["k"]) as columns:
                k = columns.index
                at = f.select(f.icmp("slt", k, whole), f.binary("and", k, i64(many - 1)),
                              f.binary("and", k, i64(self.partial - 1)))
                self._column(f, self.at(f, place, (k, p["ca"])), p["ca"],
                             numbers.one(self.at(f, p["X"], (k, i64(1)))), sums,
                             f.binary("mul", at, i64(VECTORS)), rows)
            self._zeros(f, sums, p["k"], rest)
            with f.loop(i64(0), vectors) as inner:
                total = self._totals(f, sums, inner.index)
                row = f.binary("mul", inner.index, i64(width))
                lanes = self.tail(f, f.binary("sub", rows, row))
                numbers.store(total, self.at(f, p["C"], (f.binary("add", first, row), i64(1))),
                              lanes)
        f.do("ret void")

    def _held(self, f: LLVMFunction, sums: Value, at: Value, part: int) -> Value:
        """Where a part of a vector of partial sums is."""
        index = f.binary("add", f.binary("mul", at, i64(self.parts)), i64(part))
        return f.offset(sums, self.elem, f.binary("mul", index, i64(self.lanes)))

    def _put(self, f: LLVMFunction, sums: Value, at: Value, values: Parts) -> None:
        for part, value in enumerate(values):
            f.store(value, self._held(f, sums, at, part), 4)

    def _get(self, f: LLVMFunction, sums: Value, at: Value) -> Parts:
        short = self.numbers(f).elem
        return tuple([f.load(self._held(f, sums, at, part), short, self.lanes, 4)
                      for part in range(self.parts)])

    def _column(self, f: LLVMFunction, column: Value, step: Value, x: Parts, sums: Value,
                start: Value, rows: Value) -> None:
        """Adds some rows of a column times a number to the vectors of one partial sum."""
        numbers, width = self.numbers(f, self.lanes), self.lanes
        ahead = f.binary("mul", step, i64(AHEAD))

        def added(row: Value, lanes: Lanes) -> None:
            at = f.binary("add", start, f.binary("udiv", row, i64(width)))
            place = self.at(f, column, (row, i64(1)))
            f.prefetch(self.at(f, place, (ahead, i64(1))))
            a = numbers.load(place, i64(1), lanes)
            self._put(f, sums, at, numbers.madd(a, x, self._get(f, sums, at)))

        whole = f.binary("and", rows, i64(-width))
        with f.loop(i64(0), whole, width) as running:
            added(running.index, Lanes(width))
        with f.when(f.icmp("slt", whole, rows)):
            added(whole, self.tail(f, f.binary("sub", rows, whole)))

    def _zeros(self, f: LLVMFunction, sums: Value, k: Value, rest: Value) -> None:
        """Adds 0 where the last elements of a run are fewer than lanes."""
        numbers = self.numbers(f, self.lanes)
        count = f.binary("sub", k, rest)
        start = f.select(f.icmp("eq", count, i64(0)), i64(self.partial), count)
        start, stop = (f.binary("mul", x, i64(VECTORS)) for x in (start, i64(self.partial)))
        with f.loop(start, stop) as running:
            held = self._get(f, sums, running.index)
            self._put(f, sums, running.index, numbers.add(held, numbers.zero))

    def _totals(self, f: LLVMFunction, sums: Value, vector: Value) -> Parts:
        """The partial sums of some rows, added by halves."""
        numbers = self.numbers(f, self.lanes)
        found = [self._get(f, sums, f.binary("add", vector, i64(j * VECTORS)))
                 for j in range(self.partial * self.wide)]
        while len(found) > 1:
            half = len(found) // 2
            found = [numbers.add(a, b) for a, b in zip(found[:half], found[half:], strict=True)]
        return found[0]

    def _vector(self, f: LLVMFunction, p: dict[str, Value], m: Value, k: Value,
                matrix: Sequence[Value], vector: Sequence[Value], c: Value, step: Value) -> None:
        (a, ra, ca), (x, dx) = matrix, vector
        run = (i64(1), k, x, i64(0), dx)
        with f.when(f.icmp("eq", ca, i64(1))):
            self._with_runs(f, p, run, lambda x, _: f.run_here("rows", m, k, a, ra, x, c, step))
            self.leave(f)
        runs = f.binary("and", f.icmp("eq", ra, i64(1)), f.icmp("eq", step, i64(1)))
        with f.when(runs):
            self._with_runs(f, p, run, lambda x, _: f.run_here("columns", m, k, a, ca, x, c))
            self.leave(f)
        with f.loop(i64(0), m) as running:
            row, out = self.at(f, a, (running.index, ra)), self.at(f, c, (running.index, step))
            f.run_here(f"npc.dot.{self.dtype.name}", k, row, ca, x, dx, out)
        self.leave(f)

    def _slow(self) -> None:
        """Element by element, where there is no memory for copies."""
        f, p = self.function("slow", PRODUCT)
        vector = f.binary("or", *(f.icmp("eq", p[x], i64(1)) for x in "mn"))
        with f.loop(i64(0), p["m"]) as rows, f.loop(i64(0), p["n"]) as columns:
            i, j = rows.index, columns.index
            args = [p["k"], self.at(f, p["A"], (i, p["ra"])), p["ca"],
                    self.at(f, p["B"], (j, p["cb"])), p["rb"],
                    self.at(f, p["C"], (i, p["rc"]), (j, i64(1)))]
            with f.either(vector) as others:
                f.run_here(f"npc.dot.{self.dtype.name}", *args)
                others()
                f.run_here("sum", *args)
        f.do("ret void")

    # ------------------------------------------------------------------ strips

    @property
    def elem(self) -> str:
        """What strips consist of."""
        return access.element_type(component(self.dtype))

    @property
    def parts(self) -> int:
        return 2 if self.dtype.kind == "c" else 1

    def _strip(self, width: int) -> None:
        """Packs ``lines`` lines, of ``width`` at most: ``width`` elements of one k (of complex
        numbers the real parts, then the imaginary ones), and ``skip`` numbers further the next."""
        f, p = self.function(f"strip{width}", "lines k L dl dk P skip")
        numbers, full = self.numbers(f, width), f.icmp("eq", p["lines"], i64(width))

        def stored(values: Sequence[Value], k: Value) -> None:
            place = f.offset(p["P"], self.elem, f.binary("mul", k, p["skip"]))
            for at, value in enumerate(values):
                f.store(value, f.offset(place, self.elem, i64(at * width)), 4)

        with f.when(f.icmp("eq", p["dl"], i64(1))):
            with f.when(f.negate(full)):
                self._partly(f, p, numbers, stored)
                self.leave(f)
            with f.loop(i64(0), p["k"]) as running:
                place = self.at(f, p["L"], (running.index, p["dk"]))
                stored(numbers.load(place, i64(1), Lanes(width)), running.index)
            self.leave(f)
        with f.when(f.binary("and", full, f.icmp("eq", p["dk"], i64(1)))):
            self._turned(f, p, width, stored)
            self.leave(f)
        self._line_by_line(f, p, i64(0), width)
        f.do("ret void")

    def _partly(self, f: LLVMFunction, p: dict[str, Value], numbers: Numbers,
                stored: Callable[[Sequence[Value], Value], None]) -> None:
        """Lines that lie side by side and are fewer than lanes."""
        lanes = self.tail(f, p["lines"], numbers.lanes)
        assert lanes.mask is not None
        last = f.binary("sub", p["lines"], i64(1))
        with f.loop(i64(0), p["k"]) as running:
            place = self.at(f, p["L"], (running.index, p["dk"]))
            found = numbers.load(place, i64(1), lanes)
            more = numbers.one(self.at(f, place, (last, i64(1))))
            stored([f.select(lanes.mask, x, y) for x, y in zip(found, more, strict=True)],
                   running.index)

    def _turned(self, f: LLVMFunction, p: dict[str, Value], width: int, stored: object) -> None:
        """Lines that are runs: blocks of them are transposed in registers."""
        assert callable(stored)
        size = min(width, 8)
        each = size // self.parts  # of k
        distance = f.binary("mul", p["dl"], i64(self.parts))
        whole = f.binary("and", p["k"], i64(-each))
        with f.loop(i64(0), whole, each) as running:
            place = self.at(f, p["L"], (running.index, i64(1)))
            columns = lane_blocks.load(f, place, distance, self.elem, size, width)
            for at in range(each):
                stored(columns[at * self.parts : (at + 1) * self.parts],
                       f.binary("add", running.index, i64(at)))
        self._line_by_line(f, p, whole, width)

    def _line_by_line(self, f: LLVMFunction, p: dict[str, Value], start: Value, width: int) -> None:
        """The last line stands in for those that are missing."""
        one, last = self.numbers(f), f.binary("sub", p["lines"], i64(1))
        with f.loop(i64(0), i64(width)) as outer:
            line = self.at(f, p["L"], (f.intrinsic("smin", outer.index, last), p["dl"]))
            target = f.offset(p["P"], self.elem, outer.index)
            with f.loop(start, p["k"]) as inner:
                found = one.load(self.at(f, line, (inner.index, p["dk"])), i64(1), Lanes(1))
                place = f.offset(target, self.elem, f.binary("mul", inner.index, p["skip"]))
                for at, value in enumerate(found):
                    f.store(value, f.offset(place, self.elem, i64(at * width)))

    # ------------------------------------------------------------------ tiles

    def _tile_of_strips(self) -> None:
        """A tile of ``c`` from packed strips; ``more``: it goes on with what is there."""
        f, p = self.function("tile", "k A B C rc more")
        numbers, width = self.numbers(f, self.lanes), self.lanes
        places = [(self.at(f, p["C"], (i64(r), p["rc"]), (i64(v * width), i64(1))))
                  for r in range(self.high) for v in range(self.broad)]
        load, start = f.name_for("load"), f.name_for("start")
        before = f.block
        f.branch(f.icmp("ne", p["more"], i64(0)), load, start)
        f.label(load)
        held = [part for place in places for part in numbers.load(place, i64(1), Lanes(width))]
        loaded = f.block
        f.jump(start)
        f.label(start)
        zero = numbers.zero[0]
        sums = [f.phi(v.elem, v.lanes, (zero, before), (v, loaded)) for v in held]
        with f.loop(i64(0), p["k"], 1, sums) as running:
            running.next[:] = self._multiplied(f, p, running.index, list(running.carried))
        for at, place in enumerate(places):
            mine = slice(at * self.parts, (at + 1) * self.parts)
            numbers.store(tuple(running.results[mine]), place, Lanes(width))
        f.do("ret void")

    def _multiplied(self, f: LLVMFunction, p: dict[str, Value], k: Value, sums: list[Value]
                    ) -> list[Value]:
        numbers, parts, width = self.numbers(f, self.lanes), self.parts, self.lanes
        a = f.offset(p["A"], self.elem, f.binary("mul", k, i64(self.high * parts)))
        b = f.offset(p["B"], self.elem, f.binary("mul", k, i64(self.broad * width * parts)))
        short = numbers.zero[0].elem

        def at(place: Value, index: int) -> Value:
            return f.offset(place, self.elem, i64(index))

        columns = [tuple([f.load(at(b, (v * parts + part) * width), short, width, 4)
                          for part in range(parts)]) for v in range(self.broad)]
        found = list(sums)
        for r in range(self.high):
            row = tuple([f.splat(f.load(at(a, part * self.high + r), short), width)
                         for part in range(parts)])
            for v, column in enumerate(columns):
                place = (r * self.broad + v) * parts
                mine = slice(place, place + parts)
                found[mine] = numbers.madd(row, column, tuple(sums[mine]))
        return found

    def _edge(self) -> None:
        """A tile of which only ``m`` rows and ``n`` columns are there, by way of the stack."""
        f, p = self.function("edge", "m n k A B C rc more")
        wide = self.broad * self.lanes
        room = f.alloca(self.elem, self.high * wide * self.parts)
        one = self.numbers(f)
        more = f.icmp("ne", p["more"], i64(0))
        rows = f.select(more, i64(self.high), i64(0))
        with f.loop(i64(0), rows) as outer, f.loop(i64(0), i64(wide)) as inner:
            i, j = (f.intrinsic("smin", index, f.binary("sub", p[size], i64(1)))
                    for index, size in ((outer.index, "m"), (inner.index, "n")))
            found = one.load(self.at(f, p["C"], (i, p["rc"]), (j, i64(1))), i64(1), Lanes(1))
            one.store(found, self.at(f, room, (outer.index, i64(wide)), (inner.index, i64(1))),
                      Lanes(1))
        f.run_here("tile", p["k"], p["A"], p["B"], room, i64(wide), p["more"])
        with f.loop(i64(0), p["m"]) as outer, f.loop(i64(0), p["n"]) as inner:
            i, j = outer.index, inner.index
            found = one.load(self.at(f, room, (i, i64(wide)), (j, i64(1))), i64(1), Lanes(1))
            one.store(found, self.at(f, p["C"], (i, p["rc"]), (j, i64(1))), Lanes(1))
        f.do("ret void")

    # ------------------------------------------------------------------ blocks

    def _blocked(self) -> None:
        """All of a product, by blocks of k, then of rows."""
        f, p = self.function("blocked", PRODUCT)
        wide = self.broad * self.lanes
        columns = f.binary("mul", f.binary("udiv", f.binary("add", p["n"], i64(wide - 1)),
                                           i64(wide)), i64(wide))
        room = self._taken(f, f.binary("mul", f.binary("add", columns, i64(HIGH)), i64(DEEP)), p)
        packed = f.offset(room, self.elem, f.binary("mul", columns, i64(DEEP * self.parts)))
        with f.loop(i64(0), p["k"], DEEP) as blocks:
            first = blocks.index
            deep = f.intrinsic("smin", f.binary("sub", p["k"], first), i64(DEEP))
            more = f.convert("zext", f.icmp("ne", first, i64(0)), "i64")
            self._strips_of_columns(f, p, first, deep, room)
            with f.loop(i64(0), p["m"], HIGH) as rows:
                high = f.intrinsic("smin", f.binary("sub", p["m"], rows.index), i64(HIGH))
                a = self.at(f, p["A"], (rows.index, p["ra"]), (first, p["ca"]))
                self._strips_of_rows(f, p, high, deep, a, packed)
                c = self.at(f, p["C"], (rows.index, p["rc"]))
                self._tiles(f, p, high, deep, (packed, room, c), more)
        f.run("npc_give", room)
        f.do("ret void")

    def _strips_of_columns(self, f: LLVMFunction, p: dict[str, Value], first: Value, deep: Value,
                           room: Value) -> None:
        wide, parts = self.broad * self.lanes, self.parts
        with f.loop(i64(0), p["n"], wide) as running:
            strip = f.offset(room, self.elem, f.binary("mul", running.index, i64(DEEP * parts)))
            for v in range(self.broad):
                at = f.binary("add", running.index, i64(v * self.lanes))
                at = f.intrinsic("smin", at, f.binary("sub", p["n"], i64(1)))
                lines = f.intrinsic("smin", f.binary("sub", p["n"], at), i64(self.lanes))
                source = self.at(f, p["B"], (first, p["rb"]), (at, p["cb"]))
                target = f.offset(strip, self.elem, i64(v * self.lanes * parts))
                f.run_here(f"strip{self.lanes}", lines, deep, source, p["cb"], p["rb"], target,
                           i64(wide * parts))

    def _strips_of_rows(self, f: LLVMFunction, p: dict[str, Value], high: Value, deep: Value,
                        a: Value, packed: Value) -> None:
        with f.loop(i64(0), high, self.high) as running:
            lines = f.intrinsic("smin", f.binary("sub", high, running.index), i64(self.high))
            target = f.offset(packed, self.elem,
                              f.binary("mul", running.index, i64(DEEP * self.parts)))
            f.run_here(f"strip{self.high}", lines, deep, self.at(f, a, (running.index, p["ra"])),
                       p["ra"], p["ca"], target, i64(self.high * self.parts))

    def _tiles(self, f: LLVMFunction, p: dict[str, Value], high: Value, deep: Value,
               places: tuple[Value, Value, Value], more: Value) -> None:
        packed, room, c = places
        wide, step = self.broad * self.lanes, i64(DEEP * self.parts)
        with f.loop(i64(0), p["n"], wide) as columns:
            b = f.offset(room, self.elem, f.binary("mul", columns.index, step))
            n = f.binary("sub", p["n"], columns.index)
            with f.loop(i64(0), high, self.high) as rows:
                a = f.offset(packed, self.elem, f.binary("mul", rows.index, step))
                target = self.at(f, c, (rows.index, p["rc"]), (columns.index, i64(1)))
                m = f.binary("sub", high, rows.index)
                full = f.binary("and", f.icmp("sge", m, i64(self.high)),
                                f.icmp("sge", n, i64(wide)))
                with f.either(full) as others:
                    f.run_here("tile", deep, a, b, target, p["rc"], more)
                    others()
                    f.run_here("edge", f.intrinsic("smin", m, i64(self.high)),
                               f.intrinsic("smin", n, i64(wide)), deep, a, b, target, p["rc"],
                               more)

    def _matrices(self, f: LLVMFunction, p: dict[str, Value]) -> None:
        least = LEAST if self.parts == 1 else LEAST_COMPLEX
        size = f.binary("mul", f.binary("mul", p["m"], p["n"]), p["k"])
        large = f.binary("and", f.icmp("sgt", size, i64(least)),
                         f.icmp("sge", p["m"], i64(self.high)))
        with f.when(large):
            f.run_here("blocked", *(p[name] for name in PRODUCT.split()))
            self.leave(f)
        super()._matrices(f, p)


def text(dtype: np.dtype, target: Target, blas: Blas | None) -> str:
    """The module of one dtype; with a library, floats go where NumPy sends them."""
    if blas is None and dtype.char in BLAS:
        return PortableProducts(dtype, target).text()
    return Products(dtype, target, blas).text()
