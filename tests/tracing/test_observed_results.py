"""Library functions that nobody runs on made-up numbers: their first real call shows the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.ndimage
import scipy.optimize
import scipy.stats

from npcompile import jit
from npcompile.ops import foreign, trials
from npcompile.tracing import observed_results

X = np.linspace(1.0, 2.0, 9)


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_results, "_seen", {})


def test_functions_that_go_on_until_nothing_changes_are_not_run_while_tracing() -> None:
    mask = np.zeros((7, 7), bool)
    mask[3, 3] = True
    compiled = jit(lambda a: scipy.ndimage.binary_dilation(a, iterations=-1) * 2, fullgraph=True)
    assert compiled(mask).tolist() == [[2] * 7] * 7


@pytest.mark.parametrize("name", [n for n in vars(scipy.ndimage) if n.startswith("binary_")])
def test_rules_say_what_the_function_gives(name: str) -> None:
    function = getattr(scipy.ndimage, name)
    found = foreign.find(function)
    assert found is not None and found.trial is not None and found.trial is not function
    for mask in (np.eye(4) > 0, np.ones((2, 3, 4), bool), np.zeros(5, int)):
        want, got = function(mask), found.trial(mask)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)


def test_the_first_call_shows_the_result_and_the_next_is_compiled_whole() -> None:
    calls = []

    def loop(a: Any, b: Any, n: int) -> Any:
        total = 0.0
        for k in range(n):
            total += scipy.optimize.nnls(a, b + k)[0].sum()
        return total

    compiled = jit(loop, fullgraph=True, cache=False)
    for size in (3, 3, 4):
        a = np.eye(size) + 0.1
        calls.append(compiled(a, X[:size], 3) == loop(a, X[:size], 3))
    assert calls == [True] * 3
    assert compiled.explain(a, X[:4], 3).captured
    assert compiled.cache_info().fallbacks == 0


def test_explain_runs_no_function_of_a_library_that_might_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = jit(lambda a, b: scipy.optimize.nnls(a, b)[0] * 2)
    called = []
    monkeypatch.setattr(observed_results.Observer, "__call__", lambda *given: called.append(given))
    told = compiled.explain(np.eye(3), X[:3])
    assert not called and "nnls" in str(told)


def test_a_function_that_draws_is_left_to_python() -> None:
    def sampled(x: Any) -> Any:
        return scipy.cluster.vq.kmeans(x, 2)[1] + 1

    compiled = jit(sampled)
    np.random.seed(3)
    got = [compiled(X) for _ in range(3)]
    np.random.seed(3)
    assert got == [sampled(X) for _ in range(3)]
    state = np.random.get_state()[2]
    assert "draws random numbers of its own" in str(compiled.explain(X))
    assert np.random.get_state()[2] == state


def test_functions_inside_other_functions_run_in_python() -> None:
    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return scipy.optimize.nnls(np.eye(9) * 2, y)[0]

        return inner(x) * 2

    compiled = jit(outer)
    assert [compiled(X).tolist() for _ in range(3)] == [outer(X).tolist()] * 3


def test_the_table_names_functions_that_are_there() -> None:
    for room, names in trials._ENDING.items():
        modules = [room, *(f"{room}.{part}" for part in (
            "windows", "distance", "contingency", "qmc", "vq", "hierarchy"))]
        found = {name for module in modules for name in names if _has(module, name)}
        assert names == found, f"{room}: {sorted(names - found)}"


def _has(module: str, name: str) -> bool:
    import importlib

    try:
        return hasattr(importlib.import_module(module), name)
    except ImportError:
        return False
