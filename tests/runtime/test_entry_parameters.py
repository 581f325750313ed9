"""Arguments bound to parameters as Python binds them."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest

from npcompile.runtime.unsafe.parameters import Parameters


def _functions() -> list[Any]:
    return [
        lambda: locals(),
        lambda x: locals(),
        lambda x, y=2: locals(),
        lambda x, /, y=2: locals(),
        lambda x=1, /: locals(),
        lambda *x: locals(),
        lambda x, *, y: locals(),
        lambda x, *rest, y=3: locals(),
        lambda x=1, *rest, y, **more: locals(),
        lambda x, /, **y: locals(),
    ]


@pytest.mark.parametrize("function", _functions())
def test_as_python_does(function: Any) -> None:
    parameters, order = Parameters(function), list(inspect.signature(function).parameters)
    for count in range(4):
        for names in itertools.chain.from_iterable(
            itertools.combinations("xyz", k) for k in range(4)
        ):
            args, kwargs = tuple(range(count)), dict(zip(names, "abc"))
            try:
                wanted = function(*args, **kwargs)
            except TypeError:
                assert parameters.bind(args, kwargs) is None
                continue
            got = parameters.bind(args, kwargs)
            assert got == wanted
            assert got is not None and list(got) == order


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
