"""Program passes are a table; each runs where it says."""

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.paths import import_path
from npcompile.schedule import program_passes
from npcompile.schedule.walk import scheduler


def rows(x: np.ndarray) -> np.ndarray:
    y = x.copy()
    for k in range(1, len(y)):
        y[k] = y[k - 1] * 0.5 + x[k]
    return y.sum(axis=1)


@pytest.mark.parametrize("one", [p for p in program_passes.PASSES if p.name != "allocation"],
                         ids=lambda p: p.name)
def test_a_program_is_right_without_any_pass(one, monkeypatch) -> None:
    """Each pass is an optimisation, but the last one, which takes and frees memory."""
    left = tuple(p for p in program_passes.PASSES if p is not one)
    monkeypatch.setattr(program_passes, "PASSES", left)
    x = np.random.default_rng(1).normal(size=(40, 30))
    fast = jit(rows, cache=False)
    np.testing.assert_array_equal(fast(x), rows(x))
    assert fast.cache_info().compiled == 1


def test_each_pass_has_a_name_and_a_reason() -> None:
    names = [p.name for p in program_passes.PASSES]
    assert len(set(names)) == len(names)
    assert all(p.reason and callable(import_path(p.uses)) for p in program_passes.PASSES)


def test_operations_are_scheduled_by_functions_that_exist() -> None:
    for op in (*scheduler._HANDLERS, *scheduler._ELSEWHERE, "add"):
        assert callable(scheduler._handler(op))
