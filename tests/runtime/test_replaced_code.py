"""A decorated function that gets other code runs that code from then on, as reloaders want it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from npcompile import jit

X = np.arange(3.0)


def made(shift: float) -> Any:
    def plain(x: Any, a: Any = 1) -> Any:
        return x * a + shift

    return plain


def other(shift: float) -> Any:
    def plain(x: Any, c: Any = 1) -> Any:
        return x - c - shift

    return plain


def longer(x: Any, a: Any, b: Any = 5) -> Any:
    return x + a * b


def any_number(*args: Any, **named: Any) -> Any:
    return len(args), named


@pytest.mark.parametrize("calls", [0, 1, 3])
@pytest.mark.parametrize("by", [lambda f: f, lambda f: f.__wrapped__])
def test_plain_function_and_jitted_one(by: Callable[[Any], Any], calls: int) -> None:
    f = jit(made(2.0))
    for _ in range(calls):
        assert f(X).tolist() == (X + 2).tolist()
    by(f).__code__ = other(0.0).__code__
    for _ in range(3):
        assert f(X).tolist() == (X - 3).tolist()
        assert f(X, c=4).tolist() == (X - 6).tolist()
        with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
            f(X, a=4)
    f.__code__ = made(0.0).__code__
    assert f(X, a=2).tolist() == (X * 2 + 2).tolist()
    assert f.cache_info().compiled == 1


def test_other_parameters() -> None:
    def plain(x: Any, a: Any = 1) -> Any:
        return x * a

    f = jit(plain)
    for code, answers in (
        (plain.__code__, [2 * X, 4 * X, None]),
        (longer.__code__, [X + 2, X + 4, X + 8]),
        (any_number.__code__, [(2, {}), (1, {"a": 4}), (3, {})]),
        (plain.__code__, [2 * X, 4 * X, None]),
    ):
        plain.__code__ = code
        for _ in range(3):
            for (args, named), answer in zip([((X, 2), {}), ((X,), {"a": 4}), ((X, 2, 4), {})],
                                             answers):
                if answer is None:
                    with pytest.raises(TypeError, match="but 3 were given"):
                        f(*args, **named)
                else:
                    np.testing.assert_equal(f(*args, **named), answer)


def test_the_next_function_of_the_former_code() -> None:
    f = jit(made(2.0))
    assert f(X).tolist() == (X + 2).tolist()
    f.__wrapped__.__code__ = other(0.0).__code__
    assert f(X).tolist() == (X - 3).tolist()
    del f
    f = jit(made(3.0))
    assert f(X).tolist() == (X + 3).tolist()


@pytest.mark.parametrize("numbers", [[1, 3, 3, 1], [3, 1], [2, 2, 3, 2], [0, 0, 3, 0]])
def test_a_call_that_has_begun_goes_on_with_its_code(numbers: list[int]) -> None:
    def programs(jit: Callable[[Any], Any]) -> list[Any]:
        held: list[Any] = []

        def plain(x: Any, n: int) -> Any:
            y = x * 2
            held[0](n)
            z = y + 1
            for i in range(n):
                z = z + i
                if i == 1:
                    held[0](n)
            return z

        def new(x: Any, n: int) -> Any:
            return x - n if held else None

        def change(n: int) -> None:
            if n == 3:
                assert isinstance(plain, FunctionType)
                plain.__code__ = new.__code__

        held.append(change)
        f = jit(plain)
        return [f(X, n).tolist() for n in numbers]

    assert programs(jit) == programs(lambda f: f)
