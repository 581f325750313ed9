"""``in``, ``==`` of sequences and ``is`` whose answers only the run knows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

NAN = math.nan


def among(x: Any) -> Any:
    return x in (0, 0.5, -1), x not in [2, "name", None], [k for k in range(9) if k in (x, 5)]


def beside(x: Any, y: Any) -> Any:
    return (x, y) == (y, x), [x, (1, y)] != [1, (x, 1)], (x, y) == (y,), x in (y, 3)


def known(x: Any) -> Any:
    return (x, 1) == (NAN, 1), x in (NAN, 2), (NAN, x) == (NAN, x)


def agreed(x: Any) -> Any:
    same = bool((x == x.T).all())
    return same is True, same is not False, np.allclose(x, 0) is False, same is None


def paired(a: Any, b: Any) -> Any:
    return [x * y for x, y in zip(a, b, strict=True)]


def sizes(x: Any, n: Any) -> Any:
    return np.shape(x), np.ndim(x), np.size(x), np.shape([[n, n + 1]]), np.size([n, (n)])


def small(n: Any) -> Any:
    return n if n in (0, 1) else 2 * n


def in_views(**named: Any) -> Any:
    held = named.keys(), named.values(), named.items(), {}.keys()
    return "a" in held[0], 1 in held[1], "a" in held[3], len(held[2]), ["b" in x for x in held]


def runs_it(n: Any) -> Any:
    items, letters = iter((1, 2, 3, 4)), iter("abcd")
    return 2 in items, list(items), n in letters, n in letters, list(letters)


def test_views_of_dictionaries() -> None:
    compiled = jit(in_views)
    for named in ({}, {"a": 2}, {"a": 1, "b": 3}, {"c": "b"}):
        assert compiled(**named) == in_views(**named)
    alike(lambda: in_views(a=1), (), captured=False, backends=["cpu"])


def test_membership_runs_an_iterator() -> None:
    alike(runs_it, ("b",), ("d",), (2,), captured=False, backends=["cpu"])


def test_numbers_among_numbers() -> None:
    alike(among, (3.0,), (0.5,), (NAN,), (2,), (7,), (True,), (np.float64(0.5),))


def test_sequences_of_numbers() -> None:
    alike(beside, (1, 1), (1, 2), captured=True, backends=["cpu"])
    alike(beside, (1.0, 1.0), (0.0, -0.0), (2.5, 1.0), backends=["cpu"])


def test_nan_may_be_one_object() -> None:
    nan = float("nan")
    alike(beside, (1.0, 2.0), (nan, nan), (NAN, 1.0), (1.0, NAN), captured=False)
    alike(known, (1.0,), (NAN,), (nan,), (2,), captured=False, backends=["cpu"])


def sees_its_variables(x: Any, flag: Any = False) -> Any:
    mean = x.mean()
    spread = x.std()
    print(end="")
    return {k: type(v).__name__ for k, v in locals().items()}, spread


def test_locals() -> None:
    alike(sees_its_variables, (np.arange(3.0),), (np.arange(5), True), captured=False)


def test_the_two_bools() -> None:
    alike(agreed, (np.ones((2, 2)),), (np.arange(4.0).reshape(2, 2),), (np.zeros((3, 3)),))


def test_strict_zip() -> None:
    alike(paired, ([1.0, 2.0], [3.0, 4.0]), backends=["cpu"])
    alike(paired, ([1.0], [3.0, 4.0]), ((), [1]), (np.ones(2), np.ones(3)), captured=False,
          backends=["cpu"])


def test_shapes_of_lists() -> None:
    alike(sizes, ([1, 2, 3], 3), ([[1.0, 2], [3, 4]], 2.5), backends=["cpu"])
    alike(sizes, ([[1], [2, 3]], 3), captured=False, backends=["cpu"])


def test_one_version_for_all_numbers() -> None:
    compiled = jit(small)
    assert [compiled(n) for n in range(5)] == [0, 1, 4, 6, 8]
    assert compiled.cache_info() == (1, 0, 0)


@pytest.mark.parametrize("argument", [2.5, np.ones(2)])
def test_a_refusal_names_kinds_as_python_does(argument: Any) -> None:
    compiled = jit(lambda n: list(range(n)))
    with pytest.raises(TypeError):
        compiled(argument)
    text = str(compiled.explain(argument))
    assert ("float" if isinstance(argument, float) else "an array") in text
    assert "Node" not in text and "ArrayRef" not in text


def inside(x: Any) -> Any:
    kept, other = x[0] + 1, x[1] * 2
    x[2] = kept
    return sorted(locals()), other


@pytest.mark.parametrize("seen", [
    lambda x, k: (k + 1, print(end=""), eval("k"))[2],
    lambda x, k: (print(end=""), inside(x))[1],
    lambda x, k: (k + 1, print(end=""), sorted(vars()))[2],
    lambda x, k: (x[0] + k, print(end=""), dir())[2],
    lambda x, k: (k + 1, print(end=""), sorted(vars(*())))[2],
])
def test_what_looks_at_all_variables(seen: Any) -> None:
    compiled = jit(seen)
    for _ in range(2):
        assert compiled(np.arange(4.0), 3) == seen(np.arange(4.0), 3)
