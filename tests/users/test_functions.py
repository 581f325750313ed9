"""Functions as users write them: results, dtypes and changed arguments are plain Python's."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.users import Case, cases
from npcompile import jit

#: dictionaries of pieces of texts, which only the run knows, are Python's
PARTLY = {"kmer_counts"}
CASES = {case.function.__qualname__: case for case in cases()}


def contents(value: Any) -> Any:
    """What can be compared of an argument: generators by what they draw next."""
    if isinstance(value, np.random.Generator):
        return value.random(4)
    return vars(value) if hasattr(value, "__dict__") else value


def check_close(got: Any, want: Any) -> None:
    """Asserts that both are of one type, and agree to some digits of the largest number."""
    assert type(got) is type(want)
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            check_close(one, other)
        return
    a, b = np.asarray(got), np.asarray(want)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    if b.dtype.kind in "fc":
        np.testing.assert_allclose(a, b, 1e-10, 1e-12 * np.abs(b).max(initial=1.0))
    else:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_as_plain(name: str) -> None:
    case: Case = CASES[name]
    compiled = jit(case.function)
    for _ in range(3):
        args = case.make()
        results = []
        for function in (compiled, case.function):
            given = copy.deepcopy(args)
            results.append((function(*given), [contents(value) for value in given]))
        check_close(*results)
    assert compiled.explain().captured or name in PARTLY
