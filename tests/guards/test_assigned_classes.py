"""A program assigns the class of an object that a global, a closure or an attribute holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile import jit
from tests.support.oracle import check_calls


class Near:
    factor = 2.0

    def scaled(self, x: Any) -> Any:
        return x * self.factor


class Far(Near):
    factor = 3.0

    def scaled(self, x: Any) -> Any:
        return x - self.factor


THING: Near = Near()
TABLE = {"a": Near()}


def asked(x: Any) -> Any:
    return x * isinstance(THING, Far)


def of_type(x: Any) -> Any:
    return x + 1.0 if type(THING) is Near else x


def called(x: Any) -> Any:
    return THING.scaled(x)


def item(x: Any) -> Any:
    return x * isinstance(TABLE["a"], Far)


def test_of_globals() -> None:
    functions = (asked, of_type, called, item)
    compiled = [jit(function) for function in functions]
    for kind in (Near, Far, Near, Far):
        THING.__class__ = TABLE["a"].__class__ = kind
        for function, made in zip(functions, compiled):
            for _ in range(3):
                check_calls(made, function, np.arange(3.0))


def test_of_a_closure() -> None:
    thing = Near()

    def inside(x: Any) -> Any:
        return x * isinstance(thing, Far)

    compiled = jit(inside)
    for kind in (Near, Far, Near):
        thing.__class__ = kind
        for _ in range(3):
            check_calls(compiled, inside, np.arange(3.0))
