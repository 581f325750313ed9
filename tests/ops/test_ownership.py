"""Results own their memory, or are views, as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit

EXPRESSIONS = [
    "np.nonzero(a)[0]", "np.nonzero(m)[1]", "np.argwhere(a)", "np.argwhere(m)",
    "np.flatnonzero(m)", "a.nonzero()[0]", "np.where(a)[0]", "np.where(m)[0]",
    "np.compress(a>1,a)", "np.extract(a>1,a)", "a[a>1]", "m[[0,1]]", "np.diag(m)", "np.ravel(m)",
    "np.ravel(m.T)", "np.reshape(m.T,-1)", "np.atleast_2d(a)", "np.roll(a,1)", "np.diff(a)",
    "m.real", "np.meshgrid(a,a)[0]", "np.indices((2,3))[0]", "np.mgrid[0:2,0:3]",
    "np.broadcast_to(a,(3,8))", "m.copy()", "np.triu_indices(3)[0]",
    "np.unravel_index([1,2],(2,2))[0]", "np.take(a,[0,1])", "m.astype('f4')", "np.sort(a)",
]


def described(found: Any) -> tuple[Any, ...]:
    flags = found.flags
    try:
        found.resize(99)
        resized = ""
    except ValueError as error:
        resized = str(error)
    return (found.base is None, flags.owndata, found.shape, found.strides, flags.c_contiguous,
            flags.f_contiguous, flags.writeable, flags.aligned, resized)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_results_are_owned_as_numpys_are(text: str) -> None:
    function = eval(f"lambda a, m: {text}", {"np": np})
    compiled = jit(function)

    def call(which: Any) -> tuple[Any, ...]:
        return described(which(np.arange(8.0), np.arange(12.0).reshape(3, 4)))

    assert call(compiled) == call(compiled) == call(function)
