"""Covariances and coefficients of correlation in Python that is traced: a product of matrices, as
NumPy has it.  ``raise`` leaves a call to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.ops.arguments import FOLLOWED, followed, program


@followed
def _variables(m: Any, rowvar: Any, lone: Any) -> Any:
    """A row of float64 for each variable; ``lone``: ``rowvar`` does not count."""
    m = np.asarray(m)
    if m.ndim == 0 or m.ndim > 2 or m.dtype.kind not in "iuf":
        raise NotImplementedError
    rows = np.asarray(m, dtype=np.float64)
    rows = rows[None, :] if m.ndim == 1 else rows
    return rows if rowvar or lone else rows.T


@followed
def _covariances(m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any) -> Any:
    x = _variables(m, rowvar, np.ndim(m) == 1)
    if y is not None:
        x = np.concatenate((x, _variables(y, rowvar, np.ndim(y) == 1 or len(y) == 1)), axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    if not isinstance(ddof, int):
        raise NotImplementedError
    left = x.shape[1] - ddof
    if x.shape[0] == 0 or x.shape[1] == 0 or left <= 0:
        raise NotImplementedError
    x = x - x.mean(axis=1)[:, None]
    c = np.dot(x, x.T)
    c *= np.true_divide(1, left)
    return c.squeeze()


@program(FOLLOWED, "cov", guarantee="none")
def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None,
        fweights: Any = None, aweights: Any = None, *, dtype: Any = None) -> Any:
    """How variables vary together."""
    if fweights is not None or aweights is not None or dtype is not None:
        raise NotImplementedError
    return _covariances(m, y, rowvar, bias, ddof)


@program(FOLLOWED, "corrcoef", guarantee="none")
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """Covariances of variables that are divided by their deviations."""
    if dtype is not None:
        raise NotImplementedError
    c = _covariances(x, y, rowvar, False, None)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.diag(c))
    c /= deviation[:, None]
    c /= deviation[None, :]
    np.clip(c, -1, 1, out=c)
    return c
