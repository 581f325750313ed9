"""Methods and constructors of Python types take the keywords that Python's own take."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from npcompile.python import registry
from npcompile.python.protocol import PythonType
from tests.support.oracle import as_python

KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def classes(kind: type[PythonType] = PythonType) -> Iterator[type[PythonType]]:
    registry.class_of(list)  # which imports the classes
    for made in kind.__subclasses__():
        yield made
        yield from classes(made)


def keywords(function: Callable[..., Any]) -> set[str]:
    """The parameters that may be named, but the receiver."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except ValueError:  # a function written in C without a signature takes no keywords
        return set()
    return {p.name for p in found[1:] if p.kind in KEYWORDS}


METHODS = {
    f"{kind.__name__}.{held.__name__}": (getattr(kind, held.__name__), held)
    for kind in classes() for held in kind.METHODS
}


@pytest.mark.parametrize("name", METHODS)
def test_keywords(name: str) -> None:
    ours, held = METHODS[name]
    assert keywords(ours) == keywords(held)


def test_there_are_methods() -> None:
    assert {"DictType.get", "ListType.append", "ExternalDict.pop"} <= METHODS.keys()


CALLS: tuple[Callable[[int], Any], ...] = (
    lambda n: [n, 2].index(wanted=n), lambda n: [n].append(value=n),
    lambda n: [n].insert(index=0, value=n), lambda n: [n].count(wanted=n),
    lambda n: [n].extend(more=[n]), lambda n: {"b": n}.get(key="b"),
    lambda n: {"b": n}.get("b", default=n), lambda n: {"b": n}.pop(key="b"),
    lambda n: {"b": n}.setdefault(key="b"), lambda n: {"b": n}.pop("c", default=n),
    lambda n: [n].remove(wanted=n), lambda n: [n].pop(index=0), lambda n: [n].sort(by=n),
)


@pytest.mark.parametrize("function", CALLS)
def test_a_keyword_that_python_has_not(function: Callable[[int], Any]) -> None:
    as_python(function, 3)
