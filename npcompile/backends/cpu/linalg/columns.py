"""Routines of SciPy's LAPACK, called as ``scipy.linalg`` calls them: results lie columns first,
where LAPACK leaves them."""

from __future__ import annotations

import functools

from npcompile.backends.cpu.linalg.factors import ONE, Arguments, Factors, Writer
from npcompile.backends.cpu.linalg.matrices import Numbers
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal

# ------------------------------------------------------------------ triangular factors


def _getrf(to: Factors, f: LLVMFunction, p: Arguments, _: str) -> None:
    """Factors of Gauss (X), and the rows that were exchanged (K), from 0 on."""
    m, n = p["m"], p["n"]
    rows, columns, info = to.integers(f, m, n, i64(0))
    with to.each(f, p) as one:
        to.copied(f, m, n, one.at["A"], p["ra"], p["ca"], one.at["X"])
        to.lapack(f, "getrf", rows, columns, one.at["X"], rows, one.at["K"], info)
        with f.loop(i64(0), f.intrinsic("smin", m, n)) as running:
            place = f.offset(one.at["K"], "i32", running.index)
            f.store(f.binary("sub", f.load(place, "i32"), literal("i32", 1)), place)
        to.judged(f, one, info)


def _getrs(to: Factors, f: LLVMFunction, p: Arguments, trans: str) -> None:
    """Results of equations (X) by factors of Gauss; ``trans``: N, T or C."""
    n, m = p["n"], p["m"]
    rooms, a, pivots = to.room(f, (f.binary("mul", n, n), to.unit), (n, 4))
    order, sides, info = to.integers(f, n, m, i64(0))
    letter = to.blas.letter(f, trans)
    with to.each(f, p, rooms) as one:
        to.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
        to.copied(f, n, m, one.at["B"], p["rb"], p["cb"], one.at["X"])
        with f.loop(i64(0), n) as running:
            source = f.offset(one.at["K"], "i32", f.binary("mul", running.index, p["rk"]))
            f.store(f.binary("add", f.load(source, "i32"), literal("i32", 1)),
                    f.offset(pivots, "i32", running.index))
        to.lapack(f, "getrs", letter, order, sides, a, order, pivots, one.at["X"], order, info,
                  letters=1)
        to.judged(f, one, info)


def _potrf(to: Factors, f: LLVMFunction, p: Arguments, spec: str) -> None:
    """A factor of Cholesky; ``spec``: the half, and c if the other one is made 0."""
    n, half = p["n"], spec[0]
    order, info = to.integers(f, n, i64(0))
    letter = to.blas.letter(f, half)
    with to.each(f, p) as one:
        x = one.at["X"]
        to.copied(f, n, n, one.at["A"], p["ra"], p["ca"], x)
        to.lapack(f, "potrf", letter, order, x, order, info, letters=1)
        if spec.endswith("c"):
            _cleaned(to, f, n, x, half)
        to.judged(f, one, info)


def _cleaned(to: Factors, f: LLVMFunction, n: Value, x: Value, half: str) -> None:
    """Makes the half of columns that is not wanted 0."""
    numbers = Numbers(f, to.dtype)
    with f.loop(i64(0), n) as outer:
        j = outer.index
        start, stop = (i64(0), j) if half == "L" else (f.binary("add", j, ONE), n)
        with f.loop(start, stop) as inner:
            place = to.at(f, x, (j, n), (inner.index, ONE))
            numbers.store(numbers.zero, place, Lanes(1))


def _with_triangle(name: str, to: Factors, f: LLVMFunction, p: Arguments, spec: str) -> None:
    """Results of equations (X) by a triangle; ``spec``: a letter for each option of LAPACK's."""
    n, m = p["n"], p["m"]
    rooms, a = to.room(f, (f.binary("mul", n, n), to.unit))
    order, sides, info = to.integers(f, n, m, i64(0))
    letters = [to.blas.letter(f, letter) for letter in spec]
    with to.each(f, p, rooms) as one:
        to.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
        to.copied(f, n, m, one.at["B"], p["rb"], p["cb"], one.at["X"])
        to.lapack(f, name, *letters, order, sides, a, order, one.at["X"], order, info,
                  letters=len(letters))
        to.judged(f, one, info)


# ------------------------------------------------------------------ orthogonal factors


def _geqrf(to: Factors, f: LLVMFunction, p: Arguments, spec: str) -> None:
    """R above the diagonal of X, and Q unless ``spec`` is r: all columns of it, or thin."""
    m, n = p["m"], p["n"]
    k = f.intrinsic("smin", m, n)
    wide = m if spec == "full" else k
    rooms, tau = to.room(f, (k, to.unit))
    rows, columns, inner, count, info = to.integers(f, m, n, k, wide, i64(0))
    q = p.get("Q", p["X"])
    steps = [("geqrf", [rows, columns], p["X"])]
    if spec != "r":
        steps.append(("ungqr" if to.dtype.kind == "c" else "orgqr", [rows, count, inner], q))
    sizes = [to.asked_work(f, name, [*first, a, rows, tau]) for name, first, a in steps]
    work = functools.reduce(lambda x, y: f.intrinsic("smax", x, y), sizes)
    scratch, memory = to.room(f, (work, to.unit), held=rooms)
    lengths = to.integers(f, *sizes)
    with to.each(f, p, rooms, scratch) as one:
        to.copied(f, m, n, one.at["A"], p["ra"], p["ca"], one.at["X"])
        for (name, first, _), length in zip(steps, lengths):
            matrix = one.at["X" if name == "geqrf" else "Q"]
            if name != "geqrf":  # the first columns hold what is needed
                f.run_here("pack", f.intrinsic("smin", n, wide), m, one.at["X"], m, ONE, matrix)
            to.lapack(f, name, *first, matrix, rows, tau, memory, length, info)
        to.judged(f, one, info)


# ------------------------------------------------------------------ values and vectors


def _gesdd(to: Factors, f: LLVMFunction, p: Arguments, spec: str) -> None:
    """Singular values (S), and vectors if there is a place for them: all if ``spec`` is full."""
    m, n, vectors = p["m"], p["n"], "U" in p
    k = f.intrinsic("smin", m, n)
    right = n if spec == "full" else k
    real_room = to.real_room(f, k, vectors)
    rooms, a, r, i = to.room(f, (f.binary("mul", m, n), to.unit), (real_room, 8),
                             (f.binary("mul", k, i64(8)), 8))
    rows, columns, height, one_, query, info = to.integers(f, m, n, right, ONE, i64(-1), i64(0))
    room, job = f.alloca("double", 2), "N" if not vectors else "A" if spec == "full" else "S"
    first = [to.blas.letter(f, job), rows, columns, a, rows]
    more = [*[r] * (to.dtype.kind == "c"), i, info]

    def places(at: Arguments) -> list[Value]:
        return [at["U"], rows, at["V"], height] if vectors else [a, one_, a, one_]

    to.lapack(f, "gesdd", *first, p["S"], *places(p), room, query, *more, letters=1)
    work = to.work(f, room)
    scratch, memory = to.room(f, (work, to.unit), held=rooms)
    (length,) = to.integers(f, work)
    with to.each(f, p, rooms, scratch) as one:
        to.copied(f, m, n, one.at["A"], p["ra"], p["ca"], a)
        to.lapack(f, "gesdd", *first, one.at["S"], *places(one.at), memory, length, *more,
                  letters=1)
        to.judged(f, one, info)


def _syevr(to: Factors, f: LLVMFunction, p: Arguments, spec: str) -> None:
    """Eigenvalues (W) of a symmetric matrix, and vectors if there is a place for them; ``spec``
    ends with the half that is used."""
    n, vectors, is_complex = p["n"], "V" in p, to.dtype.kind == "c"
    rooms, a, support = to.room(f, (f.binary("mul", n, n), to.unit),
                                (f.binary("mul", n, i64(2)), 8))
    order, one_, query, count, info, whole = to.integers(
        f, n, ONE, i64(-1), i64(0), i64(0), i64(0))
    zero, unit = (to.blas.number(f, to.real, x) for x in (0.0, 1.0))
    jobs = [to.blas.letter(f, x) for x in ("V" if vectors else "N", "A", spec[-1])]
    first = [*jobs, order, a, order, zero, unit, one_, order, zero, count]
    room, reals = f.alloca("double", 2), f.alloca("double", 2)
    name = "heevr" if is_complex else "syevr"

    def called(at: Arguments, *work: Value) -> None:
        z, wide = (at["V"], order) if vectors else (a, one_)
        to.lapack(f, name, *first, at["W"], z, wide, support, *work, info, letters=3)

    called(p, room, query, *[reals, query] * is_complex, whole, query)
    work, wholes = to.work(f, room), to.asked(f, whole)
    real_work = to.work(f, reals) if is_complex else ONE
    scratch, w, r, i = to.room(f, (work, to.unit), (real_work, to.real.itemsize), (wholes, 8),
                                held=rooms)
    length, real_length, wholes_length = to.integers(f, work, real_work, wholes)
    with to.each(f, p, rooms, scratch) as one:
        to.copied(f, n, n, one.at["A"], p["ra"], p["ca"], a)
        called(one.at, w, length, *[r, real_length] * is_complex, i, wholes_length)
        to.judged(f, one, info)


WRITERS: dict[str, Writer] = {
    "getrf": _getrf,
    "getrs": _getrs,
    "potrf": _potrf,
    "potrs": functools.partial(_with_triangle, "potrs"),
    "trtrs": functools.partial(_with_triangle, "trtrs"),
    "geqrf": _geqrf,
    "gesdd": _gesdd,
    "syevr": _syevr,
}
PARAMETERS = {
    "getrf": ("m n", "A ra ca X K"),
    "getrs": ("n m", "A ra ca K rk B rb cb X"),
    "potrf": ("n", "A ra ca X"),
    "potrs": ("n m", "A ra ca B rb cb X"),
    "trtrs": ("n m", "A ra ca B rb cb X"),
    "geqrf": ("m n", "A ra ca X Q"),
    "geqrf_r": ("m n", "A ra ca X"),
    "gesdd": ("m n", "A ra ca U S V"),
    "gesdd_values": ("m n", "A ra ca S"),
    "syevr": ("n", "A ra ca W V"),
    "syevr_values_L": ("n", "A ra ca W"),
    "syevr_values_U": ("n", "A ra ca W"),
}
