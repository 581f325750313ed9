"""Arguments bound to parameters as Python binds them."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest

from npcompile.runtime.parameters import Parameters


def _functions() -> list[Any]:
    return [
        lambda: 0,
        lambda x: 0,
        lambda x, y=2: 0,
        lambda x, /, y=2: 0,
        lambda x=1, /: 0,
        lambda *x: 0,
        lambda x, *, y: 0,
        lambda x, *rest, y=3: 0,
        lambda x=1, *rest, y, **more: 0,
        lambda x, /, **y: 0,
    ]


@pytest.mark.parametrize("function", _functions())
def test_as_python_does(function: Any) -> None:
    signature, parameters = inspect.signature(function), Parameters(function)
    for count in range(4):
        for names in itertools.chain.from_iterable(
            itertools.combinations("xyz", k) for k in range(4)
        ):
            args, kwargs = tuple(range(count)), dict(zip(names, "abc"))
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                assert parameters.bind(args, kwargs) is None
                continue
            bound.apply_defaults()
            got = parameters.bind(args, kwargs)
            assert got == bound.arguments
            assert got is not None and list(got) == list(bound.arguments)


def test_plain() -> None:
    found = [Parameters(function).plain for function in _functions()]
    assert found == [True] * 5 + [False] * 5


def test_defaults_may_change() -> None:
    def f(x: Any, y: Any = 2, *, z: Any = 3) -> None: ...

    parameters = Parameters(f)
    assert parameters.bind((1,), {}) == {"x": 1, "y": 2, "z": 3}
    f.__defaults__, f.__kwdefaults__ = (5,), None
    assert parameters.bind((1,), {"z": 4}) == {"x": 1, "y": 5, "z": 4}
    assert parameters.bind((1,), {}) is None
