"""A file of a user's as checkers of types see it: they complain of the marked lines alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import npcompile
import npcompile as cnp
from npcompile import Jit, jit


@jit
def norm(x: NDArray[np.float64], power: int = 2) -> float:
    return float((x**power).sum())


@jit(fullgraph=True, static="n")
def repeated(x: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    return np.tile(x, n)


class Filter:
    @jit
    def update(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x

    @staticmethod
    @jit
    def plain(x: float) -> float:
        return x


array = np.ones(3)
assert_type(norm(array), float)
assert_type(norm(array, power=3), float)
assert_type(repeated(array, 2), NDArray[np.float64])
assert_type(Filter().update(array), NDArray[np.float64])
assert_type(Filter.plain(1.0), float)
assert_type(norm.cache_info().compiled, int)
assert_type(norm.__wrapped__(array), float)
assert_type(norm.explain(array).captured, bool)
assert_type(norm.lower(array).llvm, str)
assert_type(norm.config.parallel, bool)
kept: Callable[..., float] = norm
taken: Jit[..., Any] = repeated
assert_type(cnp.special.gammaln, np.ufunc)
assert_type(cnp.get_num_threads(), int)
cnp.fft.rfft(array)
cnp.sqrt(array)

norm(array, 2, 3)  # wrong
text: str = norm(array)  # wrong
norm.xplain(array)  # wrong
Filter().update(array, 1)  # wrong
jit(norm, fullgrph=True)  # wrong
jit(check=1.5)  # wrong
npcompile.nonsense  # wrong # noqa: B018
cnp.special.nonsense  # wrong # noqa: B018
cnp.fft.nonsense  # wrong # noqa: B018
