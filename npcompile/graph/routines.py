"""The routines of ``extern`` nodes: whole computations on arrays that a backend takes from a
library or writes itself.  Each has its meaning in NumPy.

Those of matrices work on batches, whose axes come first and are the same for all operands.
``product`` sums products over one index: ``spec`` is NumPy's notation of einsum for two operands
of one dtype, ``"ij,jk->ik"``.  Each index of the result is one of an operand's; at most one index
is summed over, and it is one of both.  The order of a sum of floats is the backend's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.core.records import record
from npcompile.graph.transform_spec import transform_spec


@record
class Routine:
    """``meaning`` takes the spec, then NumPy arrays; it gives an array, or a tuple of them.

    ``flags`` says whether floating-point exceptions are the caller's to see, as NumPy reports
    them for some functions and not for others.  ``core`` are the axes of each operand and result
    after those of batches, which all have in common: ``"nn,nm->nm"``; a capital is the smaller of
    two.  Such a routine gives one more result: a bool, whether it went well everywhere.  It may
    not, if only for lack of memory.  ``portable``: its bits depend on nothing but its operands.
    ``inside``: iterations of a parallel loop may call it.  ``prepares``: it makes what other
    routines need, and nothing that a user's statement asks for.
    """

    name: str
    meaning: Callable[..., Any]
    doc: str
    flags: bool = False
    core: str = ""
    portable: bool = False
    inside: bool = False
    prepares: bool = False


@record
class Spec:
    """A product's indices by what they are for: of the left operand and the result (``rows``), of
    the right one and the result (``columns``), of all three (``batch``), summed over."""

    left: str
    right: str
    out: str

    @property
    def batch(self) -> str:
        return "".join(c for c in self.out if c in self.left and c in self.right)

    @property
    def rows(self) -> str:
        return "".join(c for c in self.out if c not in self.right)

    @property
    def columns(self) -> str:
        return "".join(c for c in self.out if c not in self.left)

    @property
    def summed(self) -> str:
        return "".join(c for c in self.left if c not in self.out)

    def holds(self) -> bool:
        """Whether it is of the form that a product has."""
        words = (self.left, self.right, self.out)
        return (
            all(len(set(word)) == len(word) for word in words)
            and set(self.out) <= set(self.left + self.right)
            and self.summed == "".join(c for c in self.right if c not in self.out)
            and len(self.summed) <= 1
        )


def parse(spec: str) -> Spec:
    """``"ij,jk->ik"`` by its parts."""
    operands, _, out = spec.partition("->")
    left, _, right = operands.partition(",")
    return Spec(left, right, out)


def product(spec: str, a: Any, b: Any, xp: Any = np) -> Any:
    """By ``matmul`` of NumPy, or of a module with its names, on axes brought into its order."""
    s = parse(spec)
    a, b = xp.asarray(a), xp.asarray(b)
    extents = {**dict(zip(s.left, a.shape)), **dict(zip(s.right, b.shape))}
    batch, rows, columns = (tuple(extents[c] for c in w) for w in (s.batch, s.rows, s.columns))
    k = extents[s.summed] if s.summed else 1
    left = a.transpose([s.left.index(c) for c in s.batch + s.rows + s.summed])
    right = b.transpose([s.right.index(c) for c in s.batch + s.summed + s.columns])
    m, n = (int(np.prod(sizes, dtype=int)) for sizes in (rows, columns))
    found = xp.matmul(left.reshape((*batch, m, k)), right.reshape((*batch, k, n)))
    order = s.batch + s.rows + s.columns
    shape = (*batch, *rows, *columns)
    return found.reshape(shape).transpose([order.index(c) for c in s.out])


# ------------------------------------------------------------------ matrices


def _attempt(function: Callable[..., Any], results: int) -> Callable[..., Any]:
    """A function of :mod:`numpy.linalg`, and whether it went well; if not, its results are NaN."""

    def meaning(spec: str, *operands: Any) -> tuple[Any, ...]:
        try:
            found = function(*operands, *[spec] * bool(spec))
        except np.linalg.LinAlgError:
            return (*[np.nan] * results, False)
        return (*(found if isinstance(found, tuple) else (found,)), True)

    return meaning


def _solve_vector(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b[..., None])[..., 0]


def _eigenvalues(a: Any, spec: Any) -> Any:
    return np.linalg.eigvalsh(a, spec)


def _cholesky(a: Any, spec: str) -> Any:
    return np.linalg.cholesky(a, upper=spec == "U")


def _general(a: Any) -> tuple[Any, Any]:
    w, v = np.linalg.eig(a)
    return w + 0j, v + 0j


def _least_squares(a: Any, b: Any, share: Any) -> tuple[Any, ...]:
    x, left, rank, s = np.linalg.lstsq(a, b, float(share[0]))
    return x, left if len(left) else np.full(b.shape[1], np.nan), rank, s


def _svd(a: Any, full: bool = False) -> tuple[Any, ...]:
    return tuple(np.linalg.svd(a, full_matrices=full))


def _qr(mode: Any) -> Callable[..., Any]:
    return _attempt(lambda a: np.linalg.qr(a, mode), 2)


# ------------------------------------------------------------------ transforms


_TRANSFORMS = {"c2c": "fft", "ic2c": "ifft", "r2c": "rfft", "c2r": "irfft"}


def _transform(spec: str, a: Any) -> tuple[Any, bool]:
    what = transform_spec(spec)
    transform: Any = getattr(np.fft, _TRANSFORMS[what.kind])
    return transform(a, what.length(a.shape), what.axis, what.norm), True


def _transform_entry(spec: str, n: int) -> tuple[int, bool]:
    return n, True


def _transform_rows(spec: str, a: Any, entry: Any) -> Any:
    return _transform(spec, a)[0]


# ------------------------------------------------------------------ routines of SciPy's library


def _of_scipy(name: str, core: str, doc: str, call: Callable[..., Any]) -> Routine:
    """``call`` takes the spec and the operands; results of two axes lie columns first."""
    words, made = (part.split(",") for part in core.split("->"))

    def meaning(spec: str, *operands: Any) -> tuple[Any, ...]:
        from scipy import linalg

        batch = operands[0].shape[: operands[0].ndim - len(words[0])]
        flat = [a.reshape(-1, *a.shape[len(batch) :]) for a in operands]
        try:
            found = [call(linalg, spec, *matrices) for matrices in zip(*flat)]
        except linalg.LinAlgError:
            return (*[np.nan] * len(made), False)
        several = [one if isinstance(one, tuple) else (one,) for one in found]
        return (*[np.reshape(part, batch + part[0].shape) for part in zip(*several)], True)

    return Routine(name, meaning, doc, core=core)


_OF_SCIPY = (
    _of_scipy("getrf", "mn->mn,K", "Factors of Gauss, exchanged rows.",
              lambda sp, _, a: sp.lu_factor(a)),
    _of_scipy("getrs", "nn,n,nm->nm", "Equations by factors of Gauss; spec: N, T or C.",
              lambda sp, spec, a, k, b: sp.lu_solve((a, k), b, "NTC".index(spec))),
    _of_scipy("potrf", "nn->nn", "A factor of Cholesky; spec: the half, and c if the other is 0.",
              lambda sp, spec, a: sp.cholesky(a, spec[0] == "L") if spec.endswith("c")
              else sp.cho_factor(a, spec[0] == "L")[0]),
    _of_scipy("potrs", "nn,nm->nm", "Equations by such a factor; spec: the half.",
              lambda sp, spec, a, b: sp.cho_solve((a, spec == "L"), b)),
    _of_scipy("trtrs", "nn,nm->nm", "Triangular equations; spec: half, transposed, unit diagonal.",
              lambda sp, spec, a, b: sp.solve_triangular(a, b, spec[1], spec[0] == "L",
                                                         spec[2] == "U")),
    _of_scipy("geqrf_full", "mn->mn,mm", "R over what Q is made of, and Q.",
              lambda sp, _, a: (np.triu(sp.qr(a, mode="raw")[0][0]), sp.qr(a)[0])),
    _of_scipy("geqrf_thin", "mn->mn,mK", "R over what Q is made of, and some columns of Q.",
              lambda sp, _, a: (sp.qr(a, mode="raw")[0][0], sp.qr(a, mode="economic")[0])),
    _of_scipy("geqrf_r", "mn->mn", "R over what Q is made of.",
              lambda sp, _, a: sp.qr(a, mode="raw")[0][0]),
    _of_scipy("gesdd_full", "mn->mm,K,nn", "Singular values, all vectors.",
              lambda sp, _, a: sp.svd(a)),
    _of_scipy("gesdd_thin", "mn->mK,K,Kn", "Singular values and vectors.",
              lambda sp, _, a: sp.svd(a, full_matrices=False)),
    _of_scipy("gesdd_values", "mn->K", "Singular values.", lambda sp, _, a: sp.svdvals(a)),
    _of_scipy("syevr", "nn->n,nn", "Eigenvalues and vectors; spec: the half used.",
              lambda sp, spec, a: sp.eigh(a, lower=spec == "L")),
    _of_scipy("syevr_values", "nn->n", "Eigenvalues; spec: the half used.",
              lambda sp, spec, a: sp.eigvalsh(a, lower=spec == "L")),
)
#: rows of a matrix that a double product adds to the same sums
BAND = 256


def _double(spec: str, a: Any, x: Any, u: Any = None) -> tuple[Any, Any, float]:
    t = a @ x
    return t, (t if u is None else u) @ a, 0.0


#: columns of packed matrices are a multiple of it
PADDED = 16


def _pack(spec: str, b: Any) -> Any:
    *_, k, n = b.shape
    return np.pad(b.reshape((-1, k, n)), ((0, 0), (0, 0), (0, -n % PADDED)))


def _product_rows(spec: str, a: Any, packed: Any, chain: int, start: int, per: int, n: int) -> Any:
    found = np.empty((len(a), n), a.dtype)
    for row in range(len(a)):
        found[row] = a[row : row + 1] @ packed[(start + row) // per, :, :n]
    return found


def _mirrored(spec: str, parts: Any) -> Any:
    upper = np.triu(parts.sum(axis=0))
    return upper + np.triu(upper, 1).T


_ROWS = (
    Routine("pack", _pack, "Matrices, made ready for products by rows; only these read it.",
            prepares=True),
    Routine("product_rows", _product_rows, "Rows of a batch, from ``start`` on, times packed"
            " matrices: ``per`` rows belong to each of them, which has ``n`` columns; sums are"
            " one ``chain``, or of blocks.",
            flags=True, portable=True, inside=True),
    Routine("vector_rows", lambda spec, a, x: a @ x, "Rows of a matrix times a vector.",
            flags=True, inside=True),
    Routine("add_rows", lambda spec, a, u, y: y + u @ a, "The vector of which the output is a part,"
            " with rows of a matrix added, each times a number.", flags=True, inside=True),
    Routine("gram_rows", lambda spec, a, c: c + a.T @ a, "The matrix of which the output is a part,"
            " with products of the columns of some rows added; nobody but ``gram_sum`` reads what"
            " is below its diagonal.", flags=True, inside=True),
    Routine("gram_sum", _mirrored, "The sum of such matrices, with both halves.", flags=True),
    Routine("double", _double, "``a @ x``, that or another vector times ``a``, and room for sums.",
            flags=True),
    Routine("transform", _transform, "A Fourier transform along an axis.", flags=True,
            core="n->n", portable=True),
    Routine("transform_entry", _transform_entry,
            "What the transforms of a length are computed by; spec: with the operand's dtype.",
            prepares=True),
    Routine("transform_rows", _transform_rows, "Fourier transforms of rows, by an entry.",
            flags=True, core="n,->n", portable=True, inside=True),
    Routine("product", product, "Sums of products over one index of two arrays.", flags=True),
    Routine("solve", _attempt(np.linalg.solve, 1), "Linear equations.", core="nn,nm->nm"),
    Routine("solve_vector", _attempt(_solve_vector, 1), "Linear equations.", core="nn,n->n"),
    Routine("inv", _attempt(np.linalg.inv, 1), "The inverse.", core="nn->nn"),
    Routine("cholesky", _attempt(_cholesky, 1), "A factor; spec: the half of it that is not 0.",
            core="nn->nn"),
    Routine("det", _attempt(np.linalg.det, 1), "The determinant.", flags=True, core="nn->"),
    Routine("slogdet", _attempt(np.linalg.slogdet, 2), "Sign and logarithm of the determinant.",
            flags=True, core="nn->,"),
    Routine("eigh", _attempt(np.linalg.eigh, 2), "Eigenvalues and vectors; spec: the half used.",
            core="nn->n,nn"),
    Routine("eigvalsh", _attempt(_eigenvalues, 1), "Eigenvalues; spec: the half used.",
            core="nn->n"),
    Routine("svd", _attempt(_svd, 3), "Singular values and vectors.", core="mn->mK,K,Kn"),
    Routine("svd_full", _attempt(lambda a: _svd(a, True), 3), "Singular values, all vectors.",
            core="mn->mm,K,nn"),
    Routine("eig", _attempt(_general, 2), "Complex eigenvalues and vectors.", core="nn->n,nn"),
    Routine("eigvals", _attempt(lambda a: _general(a)[0], 1), "Complex eigenvalues.",
            core="nn->n"),
    Routine("lstsq", _attempt(_least_squares, 4), "Least squares: results, the sums of squares"
            " that are left (NaN if the rank is not full), rank, singular values; the last operand"
            " is the share of the largest that counts as 0.", core="mn,mp,q->np,p,,K"),
    *_OF_SCIPY,
    Routine("svdvals", _attempt(np.linalg.svdvals, 1), "Singular values.", core="mn->K"),
    Routine("qr", _qr("reduced"), "Orthogonal and triangular factor.", core="mn->mK,Kn"),
    Routine("qr_complete", _qr("complete"), "Orthogonal and triangular factor, all of them.",
            core="mn->mm,mn"),
    Routine("settle", lambda spec, *computed: (), "Forgets flags: see the op of that name."),
    Routine("qr_r", _qr("r"), "The triangular factor.", core="mn->Kn"),
)
ROUTINES: dict[str, Routine] = {routine.name: routine for routine in _ROWS}
