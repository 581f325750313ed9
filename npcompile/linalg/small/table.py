"""The routines that small matrices have algorithms for, by the names of
:data:`npcompile.graph.routines.ROUTINES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from npcompile.linalg.small import elimination, factors, jacobi
from npcompile.linalg.small.numbers import LaneBuilder, MatrixAccess

#: the longest axis that a small matrix may have
LONGEST = 8


def _of_eigenvalues(upper: bool) -> Callable[..., None]:
    def eigvalsh(k: LaneBuilder, a: MatrixAccess, w: MatrixAccess) -> None:
        jacobi.eigh(k, a, w, None, upper)

    return eigvalsh


def _r(k: LaneBuilder, a: MatrixAccess, r: MatrixAccess) -> None:
    factors.qr(k, a, None, r)


#: what writes the results, given the operands and then the results; by name and spec
ALGORITHMS: dict[str, Callable[..., Any]] = {
    "solve": elimination.solve,
    "solve_vector": elimination.solve,
    "inv": elimination.inv,
    "det": elimination.det,
    "slogdet": elimination.slogdet,
    "cholesky_L": partial(factors.cholesky, upper=False),
    "cholesky_U": partial(factors.cholesky, upper=True),
    "qr": factors.qr,
    "qr_complete": factors.qr,
    "qr_r": _r,
    "eigh_L": partial(jacobi.eigh, upper=False),
    "eigh_U": partial(jacobi.eigh, upper=True),
    "eigvalsh_L": _of_eigenvalues(False),
    "eigvalsh_U": _of_eigenvalues(True),
    "svd": jacobi.svd,
    "svd_full": jacobi.svd,
    "svdvals": jacobi.svdvals,
}
