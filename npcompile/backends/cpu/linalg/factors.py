"""Factorisations as LLVM text: LAPACK, called as :mod:`numpy.linalg` calls it, one matrix a time.

::

    npc.ROUTINE.T(sizes..., count, (operand, strides..., stride)..., (result, stride)...)

Sizes are those of the operands' axes, each once; ``count`` is that of matrices, ``stride`` leads
from one to the next.  Operands may have any strides; results are in C order.  1 if all went well,
else 0.  LAPACK wants columns first, so operands are copied, as NumPy copies them: same bits.
Scratch memory is taken once for all matrices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from npcompile.backends.cpu.linalg.blas import LETTERS, Blas
from npcompile.backends.cpu.linalg.matrices import Matrices, Numbers
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts, component, constant
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.target import Target
from npcompile.core.records import record

ONE, NULL = i64(1), Value("null", "ptr")
Arguments = dict[str, Value]


@record(frozen=False)
class Matrix:
    """The arguments for one matrix, and whether all went well so far."""

    at: Arguments
    well: Value

    def judge(self, f: LLVMFunction, went_well: Value) -> None:
        """Notes whether LAPACK was content with it."""
        self.well = f.binary("and", self.well, went_well)


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
        f, p = self.function(f"npc.{routine}.{self.dtype.name}", parameters(routine), False, "i64")
        WRITERS[name](self, f, p, spec)
        return self.module.text()

    # ------------------------------------------------------------------ calling LAPACK

    def lapack(self, f: LLVMFunction, name: str, *args: Value, letters: int = 0) -> None:
        f.run(f"blas.{LETTERS[self.dtype.char]}{name}", *args, *[ONE] * letters)

    def integers(self, f: LLVMFunction, *values: Value) -> list[Value]:
        return self.blas.integers(f, *values)

    def went_well(self, f: LLVMFunction, info: Value) -> Value:
        bits = self.blas.bits
        return f.icmp("eq", f.load(info, f"i{bits}"), literal(f"i{bits}", 0))

    @contextmanager
    def each(self, f: LLVMFunction, p: Arguments, *rooms: Value) -> Iterator[Matrix]:
        """Inside a loop over matrices: one of them.  After the loop the function gives scratch
        memory back and returns whether all went well."""
        with f.loop(i64(0), p["count"], 1, [literal("i1", True)]) as running:
            here = dict(p)
            for name in [name for name in p if f"step{name}" in p]:
                distance = f.binary("mul", running.index, p[f"step{name}"])
                here[name] = f.offset(p[name], access.element_type(self._dtype_of(name)), distance)
            one = Matrix(here, running.carried[0])
            yield one
            running.next[:] = [one.well]
        for room in rooms:
            f.run("npc_give", room)
        f.do(f"ret i64 {f.convert('zext', running.results[0], 'i64').text}")

    def _dtype_of(self, name: str) -> np.dtype:
        if name == _INTEGER:
            return np.dtype(np.int32)
        if name in _COMPLEX:
            return np.result_type(self.dtype, np.complex64)
        return self.real if name in _REAL else self.dtype

    def judged(self, f: LLVMFunction, one: Matrix, info: Value) -> None:
        """Notes whether LAPACK was content with a matrix."""
        one.judge(f, self.went_well(f, info))

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
        with self.each(f, p, rooms) as one:
            self.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
            self.copied(f, n, m, one.at["B"], *columns, b)
            self._gesv(f, n, m, one, a, b, pivots)

    def inv(self, f: LLVMFunction, p: Arguments, _: str) -> None:
        n = p["n"]
        self.unless(f, n)
        square = f.binary("mul", n, n)
        rooms, a, b, pivots = self.room(f, (square, self.unit), (square, self.unit), (n, 8))
        numbers = Numbers(f, self.dtype)
        with self.each(f, p, rooms) as one:
            self.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
            with f.loop(i64(0), square) as running:
                numbers.store(numbers.zero, self.at(f, b, (running.index, ONE)), Lanes(1))
            with f.loop(i64(0), n) as running:
                diagonal = f.binary("mul", running.index, f.binary("add", n, ONE))
                numbers.store(constant(1, self.dtype), self.at(f, b, (diagonal, ONE)), Lanes(1))
            self._gesv(f, n, n, one, a, b, pivots)

    def _gesv(self, f: LLVMFunction, n: Value, m: Value, one: Matrix, a: Value, b: Value,
              pivots: Value) -> None:
        order, sides, info = self.integers(f, n, m, i64(0))
        self.lapack(f, "gesv", order, sides, a, order, pivots, b, order, info)
        self.returned(f, n, m, b, n, one.at["X"])
        self.judged(f, one, info)

    # ------------------------------------------------------------------ triangles

    def cholesky(self, f: LLVMFunction, p: Arguments, spec: str) -> None:
        n = p["n"]
        self.unless(f, n)
        rooms, a = self.room(f, (f.binary("mul", n, n), self.unit))
        order, info = self.integers(f, n, i64(0))
        half = self.blas.letter(f, spec)
        with self.each(f, p, rooms) as one:
            self.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
            self.lapack(f, "potrf", half, order, a, order, info, letters=1)
            self._triangle(f, n, n, a, n, one.at["X"], lower=spec == "L")
            self.judged(f, one, info)

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
        with self._determinants(f, p) as (one, sign, logarithm):
            size = f.call("exp", ("double", 1), logarithm)
            Numbers(f, self.dtype).store(self._times(f, sign, (size,)), one.at["X"], Lanes(1))

    def slogdet(self, f: LLVMFunction, p: Arguments, _: str) -> None:
        with self._determinants(f, p) as (one, sign, logarithm):
            Numbers(f, self.dtype).store(sign, one.at["X"], Lanes(1))
            f.store(logarithm, one.at["L"])

    def _times(self, f: LLVMFunction, a: Parts, b: Parts) -> Parts:
        """A product as NumPy takes it here; a second factor of one part is real."""
        if len(a) == 1:
            return (f.binary("fmul", a[0], b[0]),)
        (x, y), u = a, b[0]
        v = b[1] if len(b) > 1 else literal(u.elem, 0.0)
        real = f.binary("fsub", f.binary("fmul", x, u), f.binary("fmul", y, v))
        return real, f.binary("fadd", f.binary("fmul", x, v), f.binary("fmul", y, u))

    @contextmanager
    def _determinants(self, f: LLVMFunction, p: Arguments
                      ) -> Iterator[tuple[Matrix, Parts, Value]]:
        """Inside a loop over matrices: sign and logarithm of the size of the determinant."""
        n = p["n"]
        rooms, a, pivots = self.room(f, (f.binary("mul", n, n), self.unit), (n, 8))
        with self.each(f, p, rooms) as one:
            self.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
            yield one, *self._determinant(f, n, a, pivots)

    def _determinant(self, f: LLVMFunction, n: Value, a: Value, pivots: Value
                     ) -> tuple[Parts, Value]:
        """By the factors of Gauss."""
        numbers, kind = Numbers(f, self.dtype), f"i{self.blas.bits}"
        order, info = self.integers(f, n, i64(0))
        with f.when(f.icmp("ne", n, i64(0))):
            self.lapack(f, "getrf", order, order, a, order, pivots, info)
        regular = self.went_well(f, info)
        with f.loop(i64(0), n, 1, [i64(0)]) as running:
            pivot = f.load(f.offset(pivots, kind, running.index), kind)
            pivot = pivot if self.blas.bits == 64 else f.convert("sext", pivot, "i64")
            moved = f.icmp("ne", pivot, f.binary("add", running.index, ONE))
            running.next[:] = [f.binary("xor", running.carried[0], f.convert("zext", moved, "i64"))]
        odd = f.icmp("ne", running.results[0], i64(0))
        sign = [f.select(odd, x, y) for x, y in zip(constant(-1, self.dtype),
                                                    constant(1, self.dtype))]
        factors = f.select(regular, n, i64(0))  # NumPy takes no logarithm of a zero
        with f.loop(i64(0), factors, 1, [*sign, literal("double", 0.0)]) as running:
            *held, total = running.carried
            at = f.binary("mul", running.index, f.binary("add", n, ONE))
            element = numbers.load(self.at(f, a, (at, ONE)), ONE, Lanes(1))
            unit, size = self._polar(f, tuple(held), element)
            log = f.call("log", ("double", 1), size)
            running.next[:] = [*unit, f.binary("fadd", total, log)]
        *signs, total = running.results
        found = tuple([f.select(regular, u, z) for u, z in zip(signs, numbers.zero)])
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
        first = [job, half, order, a, order]
        self.lapack(f, name, *first, p["W"], room, query, *more, count, query, info, letters=2)
        work, whole = self.work(f, room), self.asked(f, count)
        real_work = self.work(f, reals) if complex_ else ONE
        scratch, w, r, i = self.room(f, (work, self.unit), (real_work, real), (whole, 8),
                                      held=rooms)
        lwork, lreal, lwhole = self.integers(f, work, real_work, whole)
        more = [r, lreal] if complex_ else []
        with self.each(f, p, rooms, scratch) as one:
            self.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
            args = [*first, one.at["W"], w, lwork, *more, i, lwhole, info]
            self.lapack(f, name, *args, letters=2)
            if vectors:
                self.returned(f, n, n, a, n, one.at["V"])
            self.judged(f, one, info)

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
            (f.binary("mul", right, n), self.unit), (self.real_room(f, k, vectors), 8),
            (f.binary("mul", k, i64(8)), 8))
        rows, columns, height, query, info = self.integers(f, m, n, right, i64(-1), i64(0))
        room = f.alloca("double", 2)
        job = self.blas.letter(f, ("A" if full else "S") if vectors else "N")
        first, last = [job, rows, columns, a, rows], [u, rows, v, height]
        more = [*[r] * (self.dtype.kind == "c"), i, info]
        self.lapack(f, "gesdd", *first, p["S"], *last, room, query, *more, letters=1)
        work = self.work(f, room)
        scratch, w = self.room(f, (work, self.unit), held=rooms)
        (lwork,) = self.integers(f, work)
        with self.each(f, p, rooms, scratch) as one:
            self.copied(f, m, n, one.at["A"], p["ra"], p["ca"], a)
            self.lapack(f, "gesdd", *first, one.at["S"], *last, w, lwork, *more, letters=1)
            if vectors:
                self.returned(f, m, left, u, m, one.at["U"])
                self.returned(f, right, n, v, right, one.at["V"])
            self.judged(f, one, info)

    def real_room(self, f: LLVMFunction, k: Value, vectors: bool) -> Value:
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
        rows, columns, inner, count, info = self.integers(f, m, n, k, wide, i64(0))
        factor = ("geqrf", [rows, columns, a, rows, tau])
        form = ("ungqr" if self.dtype.kind == "c" else "orgqr", [rows, count, inner, a, rows, tau])
        steps = [factor, form][: 1 if spec == "r" else 2]
        sizes = [self.asked_work(f, name, args) for name, args in steps]
        work = functools.reduce(lambda x, y: f.intrinsic("smax", x, y), sizes)
        scratch, w = self.room(f, (work, self.unit), held=rooms)
        lengths = self.integers(f, *sizes)
        with self.each(f, p, rooms, scratch) as one:
            self.copied(f, m, n, one.at["A"], p["ra"], p["ca"], a)
            for (name, args), length in zip(steps, lengths):
                self.lapack(f, name, *args, w, length, info)
                if name == "geqrf":
                    self._triangle(f, wide if spec == "complete" else k, n, a, m, one.at["R"],
                                   lower=False)
            if spec != "r":
                self.returned(f, m, wide, a, m, one.at["Q"])
            self.judged(f, one, info)

    def asked_work(self, f: LLVMFunction, name: str, args: Sequence[Value]) -> Value:
        """The length of the work array that a routine asks for."""
        query, info = self.integers(f, i64(-1), i64(0))
        room = f.alloca("double", 2)
        self.lapack(f, name, *args, room, query, info)
        return self.work(f, room)


#: sizes; operands and results by capital letters, with the letters of their strides
PARAMETERS = {
    "solve": ("n m", "A ra ca B rb cb X"),
    "solve_vector": ("n", "A ra ca B rb X"),
    "inv": ("n", "A ra ca X"),
    "cholesky": ("n", "A ra ca X"),
    "det": ("n", "A ra ca X"),
    "slogdet": ("n", "A ra ca X L"),
    "eigh": ("n", "A ra ca W V"),
    "eigvalsh": ("n", "A ra ca W"),
    "svd": ("m n", "A ra ca U S V"),
    "svdvals": ("m n", "A ra ca S"),
    "qr": ("m n", "A ra ca Q R"),
    "qr_r": ("m n", "A ra ca R"),
    "eig": ("n", "A ra ca C D"),
    "eigvals": ("n", "A ra ca C"),
    "lstsq": ("m n p q", "A ra ca B rb cb Q rq X L K S"),
}
#: results that are real beside complex ones, complex beside real ones, integers
_REAL, _COMPLEX, _INTEGER = frozenset("WSL"), frozenset("CD"), "K"


def parameters(routine: str) -> str:
    """The parameters of a routine (with its spec): a pointer is followed by its strides."""
    sizes, arrays = PARAMETERS.get(routine) or PARAMETERS[routine.partition("_")[0]]
    names, last = [*sizes.split(), "count"], ""
    for name in [*arrays.split(), "END"]:
        if name.isupper() and last:
            names.append(f"step{last}")
        names.append(name)
        last = name if name.isupper() else last
    return " ".join(names[:-1])


Writer = Callable[[Factors, LLVMFunction, Arguments, str], None]
WRITERS: dict[str, Writer] = {
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
