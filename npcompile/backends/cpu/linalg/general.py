"""Eigenvalues of general matrices and least squares, by LAPACK as :mod:`numpy.linalg` calls it."""

from __future__ import annotations

from npcompile.backends.cpu.linalg.factors import ONE, Arguments, Factors, Matrix, Writer
from npcompile.backends.cpu.linalg.matrices import Numbers
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal

# ------------------------------------------------------------------ eigenvalues


def _eig(to: Factors, f: LLVMFunction, p: Arguments, _: str) -> None:
    """Eigenvalues (C) and, if there is a place for them, vectors (D): always complex."""
    n, vectors, is_real = p["n"], "D" in p, to.dtype.kind == "f"
    to.unless(f, n)
    square = f.binary("mul", n, n)
    rooms, a, v, w, reals = to.room(
        f, (square, to.unit), (square if vectors else ONE, to.unit),
        (f.binary("mul", n, i64(2)), to.unit), (f.binary("mul", n, i64(2)), to.real.itemsize))
    order, one, query, info = to.integers(f, n, ONE, i64(-1), i64(0))
    jobs = [to.blas.letter(f, "N"), to.blas.letter(f, "V" if vectors else "N")]
    values = [w, to.at(f, w, (n, ONE))] if is_real else [w]
    first = [*jobs, order, a, order, *values, w, one, v, order if vectors else one]
    last = [info] if is_real else [reals, info]
    room = f.alloca("double", 2)
    to.lapack(f, "geev", *first, room, query, *last, letters=2)
    work = to.work(f, room)
    scratch, memory = to.room(f, (work, to.unit), held=rooms)
    (length,) = to.integers(f, work)
    with to.each(f, p, rooms, scratch) as matrix:
        to.copied(f, n, n, matrix.at["A"], p["ra"], p["ca"], a)
        to.lapack(f, "geev", *first, memory, length, *last, letters=2)
        to.judged(f, matrix, info)
        if is_real:
            _complex_results(to, f, matrix, n, values, v if vectors else None)
            return
        to.returned(f, ONE, n, w, ONE, matrix.at["C"])
        if vectors:
            to.returned(f, n, n, v, n, matrix.at["D"])


def _complex_results(to: Factors, f: LLVMFunction, matrix: Matrix, n: Value, values: list[Value],
                     v: Value | None) -> None:
    """Complex numbers of real and imaginary parts; a pair of conjugates shares two columns."""
    numbers, elem = Numbers(f, to.dtype), "double" if to.real.itemsize == 8 else "float"
    zero = literal(elem, 0.0)

    def part(base: Value, *terms: tuple[Value, Value]) -> Value:
        return numbers.load(to.at(f, base, *terms), ONE, Lanes(1))[0]

    def store(parts: Parts, base: Value, index: Value) -> None:
        place = f.offset(base, elem, f.binary("mul", index, i64(2)))
        f.store(parts[0], place)
        f.store(parts[1], f.offset(place, elem, ONE))

    with f.loop(i64(0), n, 1, [literal("i1", False)]) as running:
        j, second = running.index, running.carried[0]  # whether it is the second of a pair
        imag = part(values[1], (j, ONE))
        store((part(values[0], (j, ONE)), imag), matrix.at["C"], j)
        paired = f.op(f"fcmp une {elem} {imag.text}, {zero.text}", "i1")
        if v is not None:
            one, two = f.convert("zext", second, "i64"), f.convert("zext", paired, "i64")
            real_at = f.binary("sub", j, one)
            imag_at = f.binary("add", real_at, two)
            with f.loop(i64(0), n) as rows:
                i = rows.index
                re, im = part(v, (real_at, n), (i, ONE)), part(v, (imag_at, n), (i, ONE))
                im = f.select(second, f.op(f"fneg {elem} {im.text}", elem), im)
                im = f.select(paired, im, zero)
                store((re, im), matrix.at["D"], f.binary("add", f.binary("mul", i, n), j))
        running.next[:] = [f.binary("and", paired, f.negate(second))]


# ------------------------------------------------------------------ least squares


def _lstsq(to: Factors, f: LLVMFunction, p: Arguments, _: str) -> None:
    """Results X, sums of squares L, rank K, singular values S; Q has the share that counts as 0."""
    m, n, sides = p["m"], p["n"], p["p"]
    tall = f.intrinsic("smax", m, n)
    is_complex, bits = to.dtype.kind == "c", to.blas.bits
    rooms, a, b = to.room(f, (f.binary("mul", m, n), to.unit),
                          (f.binary("mul", tall, sides), to.unit))
    rows, columns, count, wide, query, rank, info = to.integers(
        f, m, n, sides, tall, i64(-1), i64(0), i64(0))
    room, reals, (whole,) = f.alloca("double", 2), f.alloca("double", 2), to.integers(f, i64(0))
    first = [rows, columns, count, a, rows, b, wide]
    more = [reals] if is_complex else []
    share = p["Q"]  # of LAPACK's type
    to.lapack(f, "gelsd", *first, p["S"], share, rank, room, query, *more, whole, info)
    work, wholes = to.work(f, room), to.asked(f, whole)
    real_work = to.work(f, reals) if is_complex else ONE
    scratch, w, r, i = to.room(f, (work, to.unit), (real_work, to.real.itemsize), (wholes, 8),
                                held=rooms)
    (length,) = to.integers(f, work)
    more = [r] if is_complex else []
    with to.each(f, p, rooms, scratch) as one:
        to.copied(f, m, n, one.at["A"], p["ra"], p["ca"], a)
        with f.loop(i64(0), sides) as running:
            column = to.at(f, one.at["B"], (running.index, p["cb"]))
            to.copied(f, m, ONE, column, p["rb"], ONE, to.at(f, b, (running.index, tall)))
        to.lapack(f, "gelsd", *first, one.at["S"], share, rank, w, length, *more, i, info)
        to.judged(f, one, info)
        found = f.load(rank, f"i{bits}")
        f.store(found if bits == 32 else f.convert("trunc", found, "i32"), one.at["K"])
        to.returned(f, n, sides, b, tall, one.at["X"])
        known = found if bits == 64 else f.convert("sext", found, "i64")
        full = f.binary("and", f.icmp("eq", known, n), f.icmp("sge", m, n))
        with f.loop(i64(0), sides) as running:
            left = _squares(to, f, to.at(f, b, (running.index, tall)), n, m)
            elem = "double" if to.real.itemsize == 8 else "float"
            found = f.select(full, left, literal(elem, float("nan")))
            f.store(found, f.offset(one.at["L"], elem, running.index))


def _squares(to: Factors, f: LLVMFunction, column: Value, start: Value, stop: Value) -> Value:
    """The sum of squared sizes, one after the other."""
    numbers, elem = Numbers(f, to.dtype), "double" if to.real.itemsize == 8 else "float"
    with f.loop(start, stop, 1, [literal(elem, 0.0)]) as running:
        parts = numbers.load(to.at(f, column, (running.index, ONE)), ONE, Lanes(1))
        square = f.binary("fmul", parts[0], parts[0])
        for other in parts[1:]:
            square = f.binary("fadd", square, f.binary("fmul", other, other))
        running.next[:] = [f.binary("fadd", running.carried[0], square)]
    return running.results[0]


WRITERS: dict[str, Writer] = {"eig": _eig, "eigvals": _eig, "lstsq": _lstsq}
