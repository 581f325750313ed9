"""Products of matrices as LLVM text: one module per dtype, the same for all programs.

::

    npc.dot.T(n, x, dx, y, dy, out)                          out[0] = sum x[k] y[k]
    npc.gemm.T(m, n, k, a, ra, ca, b, rb, cb, c, rc, least)  c[i, j] = sum a[i, k] b[k, j]

Strides count elements and may be anything; the columns of ``c`` lie side by side, and ``c`` is
apart from ``a`` and ``b``.  ``least`` is the ``k`` from which on BLAS multiplies two matrices: 1 in
``numpy.dot``, 2 in ``numpy.matmul``.  Floats go where NumPy sends them, so that the bits are
NumPy's: to BLAS (dot, gemv, syrk or gemm) if it can read the strides, matrices that it can't read
as copies, and the rest through loops that add products one by one.  Those loops are tiles of up to
four rows by up to three vectors of ``c``; all other dtypes use them too, and floats where the same
bits are wanted on every machine and from any number of threads, which no library promises.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from npcompile.backends.cpu.linalg.blas import Blas
from npcompile.backends.cpu.linalg.matrices import Matrices, Numbers
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts, component
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal, vector_literal
from npcompile.backends.target import Target

BLAS = frozenset("fdFD")
PRODUCT = "m n k A ra ca B rb cb C rc"
ROWS = 4
NULL = Value("null", "ptr")


class Products(Matrices):
    """Writes the module of one dtype."""

    def __init__(self, dtype: np.dtype, target: Target, blas: Blas | None) -> None:
        super().__init__(dtype, target)
        self.blas = blas if blas is not None and dtype.char in BLAS else None
        part = component(dtype)
        self.lanes = target.width // max(part.itemsize, 4)
        # with BLAS few products are left
        self.rows = ROWS if self.blas is None else 1
        self.vectors = 1 if dtype.kind == "c" or self.blas is not None else 3
        self.fused = False
        self.partial, self.wide = self.lanes, 0  # lanes of sums of runs, and vectors; 0: any

    def text(self) -> str:
        self._dot()
        self._sum()
        if self.dtype.kind in "biu":
            self._rows()
        for vectors in range(1, self.vectors + 1):
            self._panel(vectors)
        self._small()
        self.pack()
        self._slow()
        self._gemm()
        return self.module.text()

    def numbers(self, f: LLVMFunction, lanes: int = 1) -> Numbers:
        """Arithmetic on elements."""
        return Numbers(f, self.dtype, lanes, self.fused)

    def tail(self, f: LLVMFunction, count: Value, lanes: int = 0) -> Lanes:
        """The first ``count`` lanes."""
        lanes = lanes or self.lanes
        numbers = vector_literal("i64", range(lanes))
        return Lanes(lanes, f.icmp("slt", numbers, f.splat(count, lanes)))

    # ------------------------------------------------------------------ vectors

    def _dot(self) -> None:
        f, p = self.function(f"npc.dot.{self.dtype.name}", "n X dx Y dy Out", internal=False)
        one = self.numbers(f)
        if self.blas is not None and self.blas.has_dot(self.dtype):
            fits = f.binary("and", *(f.icmp("slt", i64(0), p[d]) for d in ("dx", "dy")))
            fits = f.binary("and", fits, f.icmp("slt", i64(1), p["n"]))
            with f.when(fits):
                self.blas.dot(f, self.dtype, p["n"], p["X"], p["dx"], p["Y"], p["dy"], p["Out"])
                self.leave(f)
        if self.dtype.kind in "biu":  # in any order
            unit = f.binary("and", *(f.icmp("eq", p[d], i64(1)) for d in ("dx", "dy")))
            with f.when(unit):
                self._finish_dot(f, p, self._run(f, p["n"], [p["X"]], p["Y"])[0])
                f.label(f.name_for("never"))
        self._finish_dot(f, p, self._dot_loop(f, p, one))

    def _finish_dot(self, f: LLVMFunction, p: dict[str, Value], total: Parts) -> None:
        self.numbers(f).store(total, p["Out"], Lanes(1))
        f.do("ret void")

    def _dot_loop(self, f: LLVMFunction, p: dict[str, Value], numbers: Numbers) -> Parts:
        """The sum over elements of any stride, one by one."""
        with f.loop(i64(0), p["n"], 1, numbers.zero) as running:
            a, b = (
                numbers.load(self.at(f, p[x], (running.index, p[d])), i64(1), Lanes(1))
                for x, d in (("X", "dx"), ("Y", "dy"))
            )
            running.next[:] = list(numbers.madd(a, b, tuple(running.carried)))
        return tuple(running.results)

    def _run(self, f: LLVMFunction, n: Value, rows: Sequence[Value], y: Value,
             steps: tuple[Value, Value] = (i64(1), i64(1))) -> list[Parts]:
        """The sums of several runs of elements times another run; ``steps`` of both kinds."""
        numbers = self.numbers(f, self.partial)
        wide = self.wide or (1 if len(rows) > 1 else 4)  # vectors at once
        parts, sums = len(numbers.zero), len(rows) * wide
        totals = list(numbers.zero) * sums
        done = i64(0)
        for vectors in dict.fromkeys((wide, 1)):
            stride = vectors * self.partial
            whole = f.binary("and", n, i64(-stride))
            with f.loop(done, whole, stride, totals) as running:
                for v in range(vectors):
                    index = f.binary("add", running.index, i64(v * self.partial))
                    b = numbers.load(self.at(f, y, (index, steps[1])), steps[1],
                                     Lanes(self.partial))
                    for r, row in enumerate(rows):
                        a = numbers.load(self.at(f, row, (index, steps[0])), steps[0],
                                         Lanes(self.partial))
                        mine = slice(parts * (r * wide + v), parts * (r * wide + v + 1))
                        running.next[mine] = numbers.madd(a, b, tuple(running.carried[mine]))
            totals, done = running.results, whole
        return self._run_tail(f, n, done, rows, y, totals, steps)

    def _run_tail(self, f: LLVMFunction, n: Value, done: Value, rows: Sequence[Value], y: Value,
                  totals: list[Value], steps: tuple[Value, Value]) -> list[Parts]:
        numbers = self.numbers(f, self.partial)
        parts = len(numbers.zero)
        before, some, after = f.block, f.name_for("tail"), f.name_for("after")
        f.branch(f.icmp("slt", done, n), some, after)
        f.label(some)
        lanes = self.tail(f, f.binary("sub", n, done), self.partial)
        b = self._zeroed(f, numbers, self.at(f, y, (done, steps[1])), steps[1], lanes)
        last = list(totals)
        wide = len(totals) // (parts * len(rows))
        for r, row in enumerate(rows):
            a = self._zeroed(f, numbers, self.at(f, row, (done, steps[0])), steps[0], lanes)
            mine = slice(parts * r * wide, parts * (r * wide + 1))
            last[mine] = numbers.madd(a, b, tuple(totals[mine]))
        end = f.block
        f.jump(after)
        f.label(after)
        sums = [
            f.phi(t.elem, t.lanes, (t, before), (u, end)) if t is not u else t
            for t, u in zip(totals, last, strict=True)
        ]
        found = []
        for r in range(len(rows)):
            many = [tuple(sums[parts * (r * wide + v) :][:parts]) for v in range(wide)]
            while len(many) > 1:
                many = [numbers.add(a, b) for a, b in zip(many[::2], many[1::2], strict=True)]
            found.append(numbers.joined(many[0]))
        return found

    def _zeroed(self, f: LLVMFunction, numbers: Numbers, pointer: Value, step: Value,
                lanes: Lanes) -> Parts:
        """Elements, and 0 in the lanes that don't count."""
        assert lanes.mask is not None
        found = numbers.load(pointer, step, lanes)
        return tuple([f.select(lanes.mask, v, z) for v, z in zip(found, numbers.zero)])

    # ------------------------------------------------------------------ matrix by vector

    def _rows(self) -> None:
        """Rows that are runs, times a run: four at a time share its loads."""
        f, p = self.function("rows", "m k A ra X C rc")
        one = self.numbers(f)
        whole = f.binary("and", p["m"], i64(-ROWS))
        for start, stop, count in ((i64(0), whole, ROWS), (whole, p["m"], 1)):
            with f.loop(start, stop, count) as running:
                index = [f.binary("add", running.index, i64(r)) for r in range(count)]
                rows = [self.at(f, p["A"], (i, p["ra"])) for i in index]
                for i, total in zip(index, self._run(f, p["k"], rows, p["X"])):
                    one.store(total, self.at(f, p["C"], (i, p["rc"])), Lanes(1))
        f.do("ret void")

    # ------------------------------------------------------------------ matrix by matrix

    def _panel(self, vectors: int) -> None:
        """All rows by some columns: ``vectors`` vectors, the last of ``last`` lanes."""
        f, p = self.function(f"panel{vectors}", "m k last A ra ca B rb C rc")
        lanes = [Lanes(self.lanes)] * (vectors - 1) + [self.tail(f, p["last"])]
        whole = f.binary("and", p["m"], i64(-self.rows))
        for start, stop, rows in ((i64(0), whole, self.rows), (whole, p["m"], 1))[: self.rows]:
            with f.loop(start, stop, rows) as running:
                index = [f.binary("add", running.index, i64(r)) for r in range(rows)]
                self._tile(f, p, index, lanes)
        f.do("ret void")

    def _tile(self, f: LLVMFunction, p: dict[str, Value], rows: list[Value],
              lanes: list[Lanes]) -> None:
        numbers = self.numbers(f, self.lanes)
        parts = len(numbers.zero)
        starts = [self.at(f, p["A"], (row, p["ra"])) for row in rows]
        sums = list(numbers.zero) * (len(rows) * len(lanes))
        with f.loop(i64(0), p["k"], 1, sums) as running:
            k = running.index
            first = self.at(f, p["B"], (k, p["rb"]))
            b = [numbers.load(self.at(f, first, (i64(v * self.lanes), i64(1))), i64(1), mask)
                 for v, mask in enumerate(lanes)]
            for r, start in enumerate(starts):
                a = numbers.one(self.at(f, start, (k, p["ca"])))
                for v, column in enumerate(b):
                    at = parts * (r * len(lanes) + v)
                    mine = slice(at, at + parts)
                    running.next[mine] = numbers.madd(a, column, tuple(running.carried[mine]))
        for r, row in enumerate(rows):
            target = self.at(f, p["C"], (row, p["rc"]))
            for v, mask in enumerate(lanes):
                at = parts * (r * len(lanes) + v)
                place = self.at(f, target, (i64(v * self.lanes), i64(1)))
                numbers.store(tuple(running.results[at : at + parts]), place, mask)

    def _small(self) -> None:
        """Columns of ``b`` side by side: panel after panel."""
        f, p = self.function("small", "m n k A ra ca B rb C rc")
        wide = self.vectors * self.lanes
        with f.loop(i64(0), p["n"], wide) as running:
            j = running.index
            rest = f.intrinsic("smin", f.binary("sub", p["n"], j), i64(wide))
            b, c = (self.at(f, p[x], (j, i64(1))) for x in "BC")
            after = f.name_for("done")
            for vectors in range(1, self.vectors + 1):
                here, on = f.name_for("panel"), f.name_for("on")
                f.branch(f.icmp("sle", rest, i64(vectors * self.lanes)), here, on)
                f.label(here)
                last = f.binary("sub", rest, i64((vectors - 1) * self.lanes))
                f.run_here(f"panel{vectors}", p["m"], p["k"], last, p["A"], p["ra"], p["ca"], b,
                           p["rb"], c, p["rc"])
                f.jump(after)
                f.label(on)
            f.jump(after)
            f.label(after)
        f.do("ret void")

    # ------------------------------------------------------------------ choosing

    def _gemm(self) -> None:
        f, p = self.function(f"npc.gemm.{self.dtype.name}", f"{PRODUCT} least",
                              internal=False)
        some = f.icmp("slt", i64(0), p["k"])
        for m, matrix, vector, step in (
            ("n", ("A", "ra", "ca"), ("B", "rb"), p["rc"]),
            ("m", ("B", "cb", "rb"), ("A", "ca"), i64(1)),
        ):
            with f.when(f.binary("and", f.icmp("eq", p[m], i64(1)), some)):
                rows = p["m" if m == "n" else "n"]
                self._vector(f, p, rows, p["k"], [p[x] for x in matrix], [p[x] for x in vector],
                             p["C"], step)
        if self.blas is not None:
            size = f.icmp("ne", f.binary("mul", p["m"], p["n"]), i64(0))
            with f.when(f.binary("and", f.icmp("sle", p["least"], p["k"]), size)):
                self._library(f, p)
                self.leave(f)
        self._matrices(f, p)
        f.do("ret void")

    def _matrices(self, f: LLVMFunction, p: dict[str, Value]) -> None:
        """A product that is not the library's."""
        right = [p[name] for name in ("k", "n", "B", "rb", "cb")]
        self._with_runs(f, p, right, lambda b, rb: f.run_here(
            "small", p["m"], p["n"], p["k"], p["A"], p["ra"], p["ca"], b, rb, p["C"], p["rc"]))

    def _vector(
        self,
        f: LLVMFunction,
        p: dict[str, Value],
        m: Value,
        k: Value,
        matrix: Sequence[Value],
        vector: Sequence[Value],
        c: Value,
        step: Value,
    ) -> None:
        """A matrix (pointer, strides) times a vector (pointer, stride), ``k`` positive; returns."""
        (a, ra, ca), (x, dx) = matrix, vector
        dot = f"npc.dot.{self.dtype.name}"
        with f.when(f.icmp("eq", m, i64(1))):
            f.run_here(dot, k, a, ca, x, dx, c)
            self.leave(f)
        if self.blas is not None:
            with f.when(f.icmp("slt", i64(1), k)):
                self._library_vector(f, m, k, a, ra, ca, x, dx, c, step)
        if self.dtype.kind in "biu":
            with f.when(f.icmp("eq", ca, i64(1))):
                self._with_runs(f, p, (i64(1), k, x, i64(0), dx), lambda run, _: f.run_here(
                    "rows", m, k, a, ra, run, c, step))
                self.leave(f)
        runs = f.binary("and", f.icmp("eq", ra, i64(1)), f.icmp("eq", step, i64(1)))
        with f.when(runs):
            f.run_here("small", i64(1), m, k, x, i64(0), dx, a, ca, c, i64(0))
            self.leave(f)
        with f.loop(i64(0), m) as running:
            row, out = self.at(f, a, (running.index, ra)), self.at(f, c, (running.index, step))
            f.run_here("sum", k, row, ca, x, dx, out)
        self.leave(f)

    def _sum(self) -> None:
        """A dot product by a loop that adds one by one."""
        f, p = self.function("sum", "n X dx Y dy Out")
        self._finish_dot(f, p, self._dot_loop(f, p, self.numbers(f)))

    def _slow(self) -> None:
        """Element by element, where there is no memory for copies."""
        f, p = self.function("slow", PRODUCT)
        with f.loop(i64(0), p["m"]) as rows, f.loop(i64(0), p["n"]) as columns:
            i, j = rows.index, columns.index
            f.run_here("sum", p["k"], self.at(f, p["A"], (i, p["ra"])), p["ca"],
                       self.at(f, p["B"], (j, p["cb"])), p["rb"],
                       self.at(f, p["C"], (i, p["rc"]), (j, i64(1))))
        f.do("ret void")

    def _taken(self, f: LLVMFunction, size: Value, p: dict[str, Value], *held: Value) -> Value:
        """Memory; if there is none, the product is finished without."""
        room = f.call("npc_take", ("ptr", 1), f.binary("mul", size, i64(self.dtype.itemsize)))
        with f.when(f.icmp("eq", room, NULL)):
            for other in held:
                f.run("npc_give", other)
            f.run_here("slow", *(p[name] for name in PRODUCT.split()))
            self.leave(f)
        return room

    def _with_runs(self, f: LLVMFunction, p: dict[str, Value], matrix: Sequence[Value],
                   use: Callable[[Value, Value], None]) -> None:
        """Uses a matrix (lengths, pointer, strides) with its columns side by side: as it is, or a
        copy."""
        m, n, a, ra, ca = matrix
        as_is, copied, after = (f.name_for(stem) for stem in ("runs", "copy", "after"))
        f.branch(f.icmp("eq", ca, i64(1)), as_is, copied)
        f.label(as_is)
        use(a, ra)
        f.jump(after)
        f.label(copied)
        room = self._taken(f, f.binary("mul", m, n), p)
        f.run_here("pack", m, n, a, ra, ca, room)
        use(room, n)
        f.run("npc_give", room)
        f.jump(after)
        f.label(after)

    # ------------------------------------------------------------------ the library

    def _library(self, f: LLVMFunction, p: dict[str, Value]) -> None:
        """``c.T = b.T @ a.T`` in columns first order, as BLAS has it; a matrix times its own
        transpose is symmetric, if BLAS reads both where they are."""
        assert self.blas is not None
        b = self._layout(f, p, ("k", "n", "B", "rb", "cb"))
        a = self._layout(f, p, ("m", "k", "A", "ra", "ca"), b[3])
        same = [f.icmp("eq", x, y) for x, y in (
            (p["A"], p["B"]), (p["m"], p["n"]), (p["ra"], p["cb"]), (p["ca"], p["rb"]))]
        same += [f.icmp("ne", a[0], b[0]), *(f.icmp("eq", x[3], NULL) for x in (a, b))]
        twin, other, after = (f.name_for(stem) for stem in ("twin", "other", "after"))
        f.branch(functools.reduce(lambda x, y: f.binary("and", x, y), same), twin, other)
        f.label(twin)
        self.blas.syrk(f, self.dtype, p["n"], p["k"], a[:3], p["C"], p["rc"])
        self._mirror(f, p["n"], p["C"], p["rc"])
        f.jump(after)
        f.label(other)
        self.blas.gemm(f, self.dtype, p["n"], p["m"], p["k"], b[:3], a[:3], p["C"], p["rc"])
        f.jump(after)
        f.label(after)
        for room in (b[3], a[3]):
            f.run("npc_give", room)

    def _mirror(self, f: LLVMFunction, n: Value, c: Value, rc: Value) -> None:
        """What is above the diagonal, below it."""
        numbers = self.numbers(f)
        with f.loop(i64(0), n) as outer:
            i = outer.index
            with f.loop(f.binary("add", i, i64(1)), n) as inner:
                j = inner.index
                above = numbers.one(self.at(f, c, (i, rc), (j, i64(1))))
                numbers.store(above, self.at(f, c, (j, rc), (i, i64(1))), Lanes(1))

    def _layout(self, f: LLVMFunction, p: dict[str, Value], names: tuple[str, ...],
                *held: Value) -> tuple[Value, Value, Value, Value]:
        """A matrix as BLAS takes it: the letter N (rows are runs) or T, where, the distance of
        runs, and memory to be given back (maybe null)."""
        m, n, a, ra, ca = (p[name] for name in names)
        rows, not_rows, columns, packed, after = (f.name_for("layout") for _ in range(5))
        f.branch(_runs(f, ca, ra, n), rows, not_rows)
        f.label(rows)
        f.jump(after)
        f.label(not_rows)
        f.branch(_runs(f, ra, ca, m), columns, packed)
        f.label(columns)
        f.jump(after)
        f.label(packed)
        room = self._taken(f, f.binary("mul", m, n), p, *held)
        far, near = (f.call("llvm.abs.i64", ("i64", 1), s, "i1 false") for s in (ra, ca))
        flip = f.icmp("slt", far, near)  # a copy keeps the order of the axes
        lines, length, outer, inner = (
            f.select(flip, x, y) for x, y in ((n, m), (m, n), (ca, ra), (ra, ca)))
        f.run_here("pack", lines, length, a, outer, inner, room)
        width = f.intrinsic("smax", length, i64(1))
        letter = f.select(flip, *(literal("i8", ord(x)) for x in "TN"))
        packed = f.block
        f.jump(after)
        f.label(after)
        normal, turned = (literal("i8", ord(x)) for x in "NT")
        return (
            f.phi("i8", 1, (normal, rows), (turned, columns), (letter, packed)),
            f.phi("ptr", 1, (a, rows), (a, columns), (room, packed)),
            f.phi("i64", 1, (ra, rows), (ca, columns), (width, packed)),
            f.phi("ptr", 1, (NULL, rows), (NULL, columns), (room, packed)),
        )

    def _library_vector(self, f: LLVMFunction, m: Value, k: Value, a: Value, ra: Value, ca: Value,
                        x: Value, dx: Value, c: Value, step: Value) -> None:
        """``c = a @ x`` where BLAS can read ``a``; returns then."""
        assert self.blas is not None
        rows, columns = _runs(f, ca, ra, k), _runs(f, ra, ca, m)
        fits = f.binary("and", f.binary("or", rows, columns), f.icmp("slt", i64(0), dx))
        with f.when(fits):
            letter = f.select(rows, literal("i8", ord("T")), literal("i8", ord("N")))
            first, second = f.select(rows, k, m), f.select(rows, m, k)
            wide = f.select(rows, ra, ca)
            self.blas.gemv(f, self.dtype, letter, first, second, (a, wide), (x, dx), (c, step))
            self.leave(f)


def _runs(f: LLVMFunction, unit: Value, stride: Value, length: Value) -> Value:
    """Whether lines of a length are runs that don't overlap."""
    apart = f.icmp("sle", f.intrinsic("smax", length, i64(1)), stride)
    return f.binary("and", f.icmp("eq", unit, i64(1)), apart)
