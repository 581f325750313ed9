"""Factorisations as LLVM text: LAPACK, called as :mod:`numpy.linalg` calls it, one matrix a time.

::

    npc.ROUTINE.T(sizes..., (operand, strides...)..., results...)     1 if it went well, else 0

Sizes are those of the operands' axes, each once.  Operands may have any strides; results are in C
order.  LAPACK wants columns first, so operands are copied, as NumPy copies them: same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.backends.cpu.linalg.blas import LETTERS, Blas
from npcompile.backends.cpu.linalg.matrices import Matrices, Numbers
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts, component, constant
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.cpu.loader.compile import Target

ONE, NULL = i64(1), Value("null", "ptr")
Arguments = dict[str, Value]


class Factors(Matrices):
    """Writes the module of one routine for one dtype."""

    def __init__(self, dtype: np.dtype, target: Target, blas: Blas) -> None:
        super().__init__(dtype, target)
        self.blas = blas
        self.real = component(dtype)

    def text(self, routine: str) -> str:
        """The module with ``npc.<routine>.<dtype>``."""
        self.pack()
        name, _, spec = routine.partition("_")
        params = _PARAMETERS.get(routine, _PARAMETERS[name])
        f, p = self.function(f"npc.{routine}.{self.dtype.name}", params, False, "i64")
        _WRITERS[name](self, f, p, spec)
        return self.module.text()

    # ------------------------------------------------------------------ calling LAPACK

    def lapack(self, f: LLVMFunction, name: str, *args: Value, letters: int = 0) -> None:
        f.run(f"blas.{LETTERS[self.dtype.char]}{name}", *args, *[ONE] * letters)

    def integers(self, f: LLVMFunction, *values: Value) -> list[Value]:
        return self.blas.integers(f, *values)

    def went_well(self, f: LLVMFunction, info: Value) -> Value:
        bits = self.blas.bits
        return f.icmp("eq", f.load(info, f"i{bits}"), literal(f"i{bits}", 0))

    def end(self, f: LLVMFunction, rooms: Value, well: Value) -> None:
        f.run("npc_give", rooms)
        f.do(f"ret i64 {f.convert('zext', well, 'i64').text}")

    def unless(self, f: LLVMFunction, size: Value) -> None:
        """Returns at once if there is nothing to do."""
        with f.when(f.icmp("eq", size, i64(0))):
            f.do("ret i64 1")
            f.label(f.name_for("never"))

    def room(self, f: LLVMFunction, *counts: tuple[Value, int], held: Value | None = None
             ) -> list[Value]:
        """Scratch memory for counts of items of some bytes: all of it, then each.  If there is
        none, ``held`` is given back and the routine fails."""
        starts, total = [], i64(0)
        for count, size in counts:
            starts.append(total)
            bytes_ = f.binary("mul", count, i64(size))
            total = f.binary("add", total, f.binary("and", f.binary("add", bytes_, i64(127)),
                                                    i64(-64)))
        memory = f.call("npc_take", ("ptr", 1), total)
        with f.when(f.icmp("eq", memory, NULL)):
            if held is not None:
                f.run("npc_give", held)
            f.do("ret i64 0")
            f.label(f.name_for("never"))
        return [memory, *[f.offset(memory, "i8", start) for start in starts]]

    def work(self, f: LLVMFunction, sizes: Value) -> Value:
        """The length of a work array that a query has found."""
        number = f.load(sizes, "double" if self.real.itemsize == 8 else "float")
        return f.intrinsic("smax", f.convert("fptosi", number, "i64"), ONE)

    def asked(self, f: LLVMFunction, size: Value) -> Value:
        """The length of an array of integers that a query has found."""
        found = f.load(size, f"i{self.blas.bits}")
        return found if self.blas.bits == 64 else f.convert("sext", found, "i64")

    @property
    def unit(self) -> int:
        return self.dtype.itemsize

    def copied(self, f: LLVMFunction, m: Value, n: Value, a: Value, ra: Value, ca: Value,
               to: Value) -> None:
        """A matrix, columns first."""
        f.run_here("pack", n, m, a, ca, ra, to)

    def returned(
        self, f: LLVMFunction, m: Value, n: Value, a: Value, width: Value, to: Value
    ) -> None:
        """Columns of a width back in C order."""
        f.run_here("pack", m, n, a, ONE, width, to)

    # ------------------------------------------------------------------ equations

    def solve(self, f: LLVMFunction, p: Arguments, spec: str) -> None:
        """``spec`` vector: one right side, which has one axis."""
        n, m = p["n"], ONE if spec else p["m"]
        columns = (p["rb"], ONE) if spec else (p["rb"], p["cb"])
        self.unless(f, n)
        rooms, a, b, pivots = self.room(f, (f.binary("mul", n, n), self.unit),
                                        (f.binary("mul", n, m), self.unit), (n, 8))
        self.copied(f, n, n, p["A"], p["ra"], p["ca"], a)
        self.copied(f, n, m, p["B"], *columns, b)
        self._gesv(f, n, m, rooms, a, b, pivots, p["X"])

    def inv(self, f: LLVMFunction, p: Arguments, _: str) -> None:
        n = p["n"]
        self.unless(f, n)
        square = f.binary("mul", n, n)
        rooms, a, b, pivots = self.room(f, (square, self.unit), (square, self.unit), (n, 8))
        self.copied(f, n, n, p["A"], p["ra"], p["ca"], a)
        numbers = Numbers(f, self.dtype)
        one = constant(1, self.dtype)
        with f.loop(i64(0), square) as running:
            numbers.store(numbers.zero, self.at(f, b, (running.index, ONE)), Lanes(1))
        with f.loop(i64(0), n) as running:
            diagonal = f.binary("mul", running.index, f.binary("add", n, ONE))
            numbers.store(one, self.at(f, b, (diagonal, ONE)), Lanes(1))
        self._gesv(f, n, n, rooms, a, b, pivots, p["X"])

    def _gesv(self, f: LLVMFunction, n: Value, m: Value, rooms: Value, a: Value, b: Value,
              pivots: Value, x: Value) -> None:
        order, sides, info = self.integers(f, n, m, i64(0))
        self.lapack(f, "gesv", order, sides, a, order, pivots, b, order, info)
        self.returned(f, n, m, b, n, x)
        self.end(f, rooms, self.went_well(f, info))

    # ------------------------------------------------------------------ triangles

    def cholesky(self, f: LLVMFunction, p: Arguments, spec: str) -> None:
        n = p["n"]
        self.unless(f, n)
        rooms, a = self.room(f, (f.binary("mul", n, n), self.unit))
        self.copied(f, n, n, p["A"], p["ra"], p["ca"], a)
        order, info = self.integers(f, n, i64(0))
        self.lapack(f, "potrf", self.blas.letter(f, spec), order, a, order, info, letters=1)
        self._triangle(f, n, n, a, n, p["X"], lower=spec == "L")
        self.end(f, rooms, self.went_well(f, info))

    def _triangle(self, f: LLVMFunction, m: Value, n: Value, a: Value, width: Value, to: Value,
                  lower: bool) -> None:
        """One half of a matrix in C order, the other 0."""
        numbers = Numbers(f, self.dtype)
        with f.loop(i64(0), m) as outer:
            i = outer.index
            with f.loop(i64(0), n) as inner:
                j = inner.index
                found = numbers.load(self.at(f, a, (j, width), (i, ONE)), ONE, Lanes(1))
                inside = f.icmp("sle", *((j, i) if lower else (i, j)))
                value = tuple([f.select(inside, v, z) for v, z in zip(found, numbers.zero)])
                numbers.store(value, self.at(f, to, (i, n), (j, ONE)), Lanes(1))

    # ------------------------------------------------------------------ determinants

    def det(self, f: LLVMFunction, p: Arguments, _: str) -> None:
        sign, logarithm = self._determinant(f, p)
        size = f.call("exp", ("double", 1), logarithm)
        Numbers(f, self.dtype).store(self._times(f, sign, (size,)), p["X"], Lanes(1))
        f.do("ret i64 1")

    def slogdet(self, f: LLVMFunction, p: Arguments, _: str) -> None:
        sign, logarithm = self._determinant(f, p)
        Numbers(f, self.dtype).store(sign, p["S"], Lanes(1))
        f.store(logarithm, p["L"])
        f.do("ret i64 1")

    def _times(self, f: LLVMFunction, a: Parts, b: Parts) -> Parts:
        """A product as NumPy takes it here; a second factor of one part is real."""
        if len(a) == 1:
            return (f.binary("fmul", a[0], b[0]),)
        (x, y), u = a, b[0]
        v = b[1] if len(b) > 1 else literal(u.elem, 0.0)
        real = f.binary("fsub", f.binary("fmul", x, u), f.binary("fmul", y, v))
        return real, f.binary("fadd", f.binary("fmul", x, v), f.binary("fmul", y, u))

    def _determinant(self, f: LLVMFunction, p: Arguments) -> tuple[Parts, Value]:
        """Sign and logarithm of the size of a determinant, by the factors of Gauss."""
        n, numbers = p["n"], Numbers(f, self.dtype)
        kind = f"i{self.blas.bits}"
        rooms, a, pivots = self.room(f, (f.binary("mul", n, n), self.unit), (n, 8))
        self.copied(f, n, n, p["A"], p["ra"], p["ca"], a)
        order, info = self.integers(f, n, i64(0))
        with f.when(f.icmp("ne", n, i64(0))):
            self.lapack(f, "getrf", order, order, a, order, pivots, info)
        regular = self.went_well(f, info)
        with f.loop(i64(0), n, 1, [i64(0)]) as running:
            pivot = f.load(f.offset(pivots, kind, running.index), kind)
            pivot = pivot if self.blas.bits == 64 else f.convert("sext", pivot, "i64")
            moved = f.icmp("ne", pivot, f.binary("add", running.index, ONE))
            running.next = [f.binary("xor", running.carried[0], f.convert("zext", moved, "i64"))]
        odd = f.icmp("ne", running.results[0], i64(0))
        one, zero = constant(1, self.dtype), numbers.zero
        minus = constant(-1, self.dtype)
        sign = [f.select(odd, x, y) for x, y in zip(minus, one)]
        factors = f.select(regular, n, i64(0))  # NumPy takes no logarithm of a zero
        with f.loop(i64(0), factors, 1, [*sign, literal("double", 0.0)]) as running:
            *held, total = running.carried
            at = f.binary("mul", running.index, f.binary("add", n, ONE))
            element = numbers.load(self.at(f, a, (at, ONE)), ONE, Lanes(1))
            unit, size = self._polar(f, tuple(held), element)
            log = f.call("log", ("double", 1), size)
            running.next = [*unit, f.binary("fadd", total, log)]
        *signs, total = running.results
        f.run("npc_give", rooms)
        found = tuple([f.select(regular, u, z) for u, z in zip(signs, zero)])
        return found, f.select(regular, total, literal("double", float("-inf")))

    def _polar(self, f: LLVMFunction, sign: Parts, element: Parts) -> tuple[Parts, Value]:
        """A sign times that of an element, and the element's size."""
        if len(element) == 1:
            (x,) = element
            negative = f.op(f"fcmp olt double {x.text}, {literal('double', 0.0).text}", "i1")
            turned = f.op(f"fneg double {sign[0].text}", "double")
            other = f.op(f"fneg double {x.text}", "double")
            return (f.select(negative, turned, sign[0]),), f.select(negative, other, x)
        size = f.call("hypot", ("double", 1), *element)
        unit = tuple([f.binary("fdiv", part, size) for part in element])
        return self._times(f, sign, unit), size

    # ------------------------------------------------------------------ eigenvalues

    def eigh(self, f: LLVMFunction, p: Arguments, spec: str) -> None:
        """``spec``: the half of the matrix that is used, L or U; without vectors: ``p`` has no
        place for them."""
        n, vectors = p["n"], "V" in p
        self.unless(f, n)
        job, half = (self.blas.letter(f, x) for x in ("V" if vectors else "N", spec))
        real = self.real.itemsize
        rooms, a = self.room(f, (f.binary("mul", n, n), self.unit))
        order, query, info = self.integers(f, n, i64(-1), i64(0))
        (count,) = self.integers(f, i64(0))
        room, reals = f.alloca("double", 2), f.alloca("double", 2)
        complex_ = self.dtype.kind == "c"
        name = "heevd" if complex_ else "syevd"
        more = [reals, query] if complex_ else []
        args = [job, half, order, a, order, p["W"]]
        self.lapack(f, name, *args, room, query, *more, count, query, info, letters=2)
        work, whole = self.work(f, room), self.asked(f, count)
        real_work = self.work(f, reals) if complex_ else ONE
        self.copied(f, n, n, p["A"], p["ra"], p["ca"], a)
        scratch, w, r, i = self.room(f, (work, self.unit), (real_work, real), (whole, 8),
                                      held=rooms)
        lwork, lreal, lwhole = self.integers(f, work, real_work, whole)
        more = [r, lreal] if complex_ else []
        self.lapack(f, name, *args, w, lwork, *more, i, lwhole, info, letters=2)
        f.run("npc_give", scratch)
        if vectors:
            self.returned(f, n, n, a, n, p["V"])
        self.end(f, rooms, self.went_well(f, info))

    # ------------------------------------------------------------------ singular values

    def svd(self, f: LLVMFunction, p: Arguments, spec: str) -> None:
        """``spec`` full: all vectors; without vectors: ``p`` has no place for them."""
        m, n = p["m"], p["n"]
        k = f.intrinsic("smin", m, n)
        self.unless(f, k)
        vectors, full = "U" in p, bool(spec)
        left, right = (m, n) if full else (k, k)  # columns of U, rows of V
        rooms, a, u, v, r, i = self.room(
            f, (f.binary("mul", m, n), self.unit), (f.binary("mul", m, left), self.unit),
            (f.binary("mul", right, n), self.unit), (self._real_room(f, k, vectors), 8),
            (f.binary("mul", k, i64(8)), 8))
        self.copied(f, m, n, p["A"], p["ra"], p["ca"], a)
        rows, columns, height, query, info = self.integers(f, m, n, right, i64(-1), i64(0))
        room = f.alloca("double", 2)
        job = self.blas.letter(f, ("A" if full else "S") if vectors else "N")
        args = [job, rows, columns, a, rows, p["S"], u, rows, v, height]
        more = [r] if self.dtype.kind == "c" else []
        self.lapack(f, "gesdd", *args, room, query, *more, i, info, letters=1)
        work = self.work(f, room)
        scratch, w = self.room(f, (work, self.unit), held=rooms)
        (lwork,) = self.integers(f, work)
        self.lapack(f, "gesdd", *args, w, lwork, *more, i, info, letters=1)
        f.run("npc_give", scratch)
        if vectors:
            self.returned(f, m, left, u, m, p["U"])
            self.returned(f, right, n, v, right, p["V"])
        self.end(f, rooms, self.went_well(f, info))

    def _real_room(self, f: LLVMFunction, k: Value, vectors: bool) -> Value:
        """The length of ``rwork``, as LAPACK's manual has it."""
        if self.dtype.kind != "c":
            return ONE
        if not vectors:
            return f.binary("mul", k, i64(7))
        return f.binary("mul", f.binary("mul", k, i64(5)), f.binary("add", k, ONE))

    # ------------------------------------------------------------------ orthogonal factors

    def qr(self, f: LLVMFunction, p: Arguments, spec: str) -> None:
        """``spec`` complete: all columns of Q; r: only R."""
        m, n = p["m"], p["n"]
        k = f.intrinsic("smin", m, n)
        self.unless(f, k)
        wide = m if spec == "complete" else k  # columns of Q
        room_for = f.binary("mul", m, f.intrinsic("smax", n, wide))
        rooms, a, tau = self.room(f, (room_for, self.unit), (k, self.unit))
        self.copied(f, m, n, p["A"], p["ra"], p["ca"], a)
        rows, columns, inner = self.integers(f, m, n, k)
        info = self._with_work(f, "geqrf", rooms, [rows, columns, a, rows, tau])
        self._triangle(f, wide if spec == "complete" else k, n, a, m, p["R"], lower=False)
        if spec != "r":
            (count,) = self.integers(f, wide)
            name = "ungqr" if self.dtype.kind == "c" else "orgqr"
            info = self._with_work(f, name, rooms, [rows, count, inner, a, rows, tau])
            self.returned(f, m, wide, a, m, p["Q"])
        self.end(f, rooms, self.went_well(f, info))

    def _with_work(self, f: LLVMFunction, name: str, rooms: Value, args: Sequence[Value]) -> Value:
        """Calls a routine with the memory that it asks for."""
        query, info = self.integers(f, i64(-1), i64(0))
        room = f.alloca("double", 2)
        self.lapack(f, name, *args, room, query, info)
        work = self.work(f, room)
        scratch, w = self.room(f, (work, self.unit), held=rooms)
        (lwork,) = self.integers(f, work)
        self.lapack(f, name, *args, w, lwork, info)
        f.run("npc_give", scratch)
        return info


_PARAMETERS = {
    "solve": "n m A ra ca B rb cb X",
    "solve_vector": "n A ra ca B rb X",
    "inv": "n A ra ca X",
    "cholesky": "n A ra ca X",
    "det": "n A ra ca X",
    "slogdet": "n A ra ca S L",
    "eigh": "n A ra ca W V",
    "eigvalsh": "n A ra ca W",
    "svd": "m n A ra ca U S V",
    "svdvals": "m n A ra ca S",
    "qr": "m n A ra ca Q R",
    "qr_r": "m n A ra ca R",
}
_WRITERS = {
    "solve": Factors.solve,
    "solve_vector": Factors.solve,
    "inv": Factors.inv,
    "cholesky": Factors.cholesky,
    "det": Factors.det,
    "slogdet": Factors.slogdet,
    "eigh": Factors.eigh,
    "eigvalsh": Factors.eigh,
    "svd": Factors.svd,
    "svdvals": Factors.svd,
    "qr": Factors.qr,
}


def text(routine: str, dtype: np.dtype, target: Target, blas: Blas) -> str:
    """The module of one routine for one dtype."""
    return Factors(dtype, target, blas).text(routine)
