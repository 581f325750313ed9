"""The functions of `numpy.linalg` that small matrices have kernels for, with NumPy's signatures.

Arrays of several small matrices go to compiled code, which has the same bits as in a jitted
function; a single matrix, and whatever else NumPy takes, goes to NumPy's function.
"""

from __future__ import annotations

from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.api.jit import jit
from npcompile.linalg.small.table import LONGEST
from npcompile.ops.record import resolve, stands_for


def solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def inv(a: Any) -> Any:
    return np.linalg.inv(a)


def det(a: Any) -> Any:
    return np.linalg.det(a)


def slogdet(a: Any) -> Any:
    return np.linalg.slogdet(a)


def cholesky(a: Any, /, upper: Any = False) -> Any:
    return np.linalg.cholesky(a, upper=upper)


def qr(a: Any, mode: Any = "reduced") -> Any:
    return np.linalg.qr(a, mode)


def eigh(a: Any, UPLO: Any = "L") -> Any:
    return np.linalg.eigh(a, UPLO)


def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    return np.linalg.eigvalsh(a, UPLO)


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    return np.linalg.svd(a, full_matrices, compute_uv, hermitian)


def svdvals(x: Any, /) -> Any:
    return np.linalg.svdvals(x)


def _over(plain: FunctionType) -> FunctionType:
    """NumPy's function, but for batches of small matrices.

    Entries of compiled code take no keyword-only parameters: where ``plain`` has parameters that
    are positional only, NumPy takes all others by keyword only.
    """
    theirs, compiled = getattr(np.linalg, plain.__name__), jit(plain)
    most = plain.__code__.co_posonlyargcount or plain.__code__.co_argcount

    @wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            if type(a) is np.ndarray and a.ndim > 2 and a.shape[-1] <= LONGEST:
                return compiled(*args, **kwargs) if len(args) <= most else theirs(*args, **kwargs)
        return theirs(*args, **kwargs)

    op = resolve(theirs)
    assert op is not None and isinstance(function, FunctionType)
    stands_for(function, op)
    return function


#: by their names
FUNCTIONS = {
    plain.__name__: _over(plain)
    for plain in (solve, inv, det, slogdet, cholesky, qr, eigh, eigvalsh, svd, svdvals)
    if isinstance(plain, FunctionType)
}
