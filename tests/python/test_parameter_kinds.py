"""Calls that Python refuses for the names of their arguments: the compiled function raises, too."""

from __future__ import annotations

import importlib
import inspect
import operator
import pkgutil
import typing
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any

import numpy as np
import pytest

import npcompile.python
import npcompile.tracing
from npcompile import jit
from npcompile.python.protocol import PythonType

X = np.linspace(0.0, 1.5, 4)
BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def classes(base: type[PythonType] = PythonType) -> Iterator[type[PythonType]]:
    for kind in base.__subclasses__():
        yield kind
        yield from classes(kind)


def names(function: Any) -> set[str]:
    """The parameters that a call may name."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return {p.name for p in found if p.kind in BY_NAME}


def methods() -> list[tuple[type[PythonType], Any]]:
    for package in (npcompile.python, npcompile.tracing):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
    return [(kind, method) for kind in dict.fromkeys(classes()) for method in kind.METHODS]


def test_methods_take_no_names_that_the_types_do_not_take() -> None:
    found = methods()
    assert len(found) > 50
    for kind, method in found:
        try:
            allowed = names(method)
        except ValueError:  # of C, without a signature: these take no names
            allowed = set()
        assert names(getattr(kind, method.__name__)) <= allowed, (kind, method)


WRONG: list[Callable[..., Any]] = [
    lambda x, n: [n].append(value=n),
    lambda x, n: [n].extend(more=[n]),
    lambda x, n: [n].insert(index=0, value=1),
    lambda x, n: [n].index(wanted=n) * x,
    lambda x, n: [n].count(wanted=n) * x,
    lambda x, n: [n].remove(wanted=n),
    lambda x, n: {"a": n}.get(key="a") * x,
    lambda x, n: {"a": n}.get("b", default=2) * x,
    lambda x, n: {"a": n}.pop("b", default=2) * x,
    lambda x, n: {"a": n}.setdefault(key="b", default=n) * x,
    lambda x, n: list(np.ndenumerate(x, arr=x)),
    lambda x, n: list(np.ndindex(2, shape=1)),
    lambda x, n: typing.cast(float, x, kind=1) * 2,
    lambda x, n: type(n, kind=1) is int,
    lambda x, n: operator.getitem(x, 0, key=1),
    lambda x, n: sum([n, 1], 0, start=2) * x,
    lambda x, n: [k * x for k, _ in enumerate([n, 1], 1, start=2)],
    lambda x, n: x.tolist(kind=1),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_names_that_python_refuses(wrong: Any) -> None:
    def raised(function: Any) -> str:
        with pytest.raises(TypeError) as error:
            function(X, 3)
        return str(error.value)

    assert raised(jit(wrong)) == raised(wrong)
