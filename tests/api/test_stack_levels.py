"""``stacklevel=`` means callers of the compiled function, whoever runs it."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit

LOGGER = logging.getLogger("npcompile_stack_levels")


def at_the_beginning(x: np.ndarray) -> np.ndarray:
    warnings.warn("first", stacklevel=2)
    warnings.warn("second", stacklevel=3)
    return x * 2


def left_to_python(x: np.ndarray) -> Any:
    warnings.warn("first", stacklevel=2)
    found = {str(type(v)) for v in x}
    warnings.warn("second", stacklevel=3)
    return found


def after_a_check(x: np.ndarray) -> np.ndarray:
    x[0] = 1.0
    if x[1] > 0.5:
        warnings.warn("first", stacklevel=2)
    x[int(x[2])] = 3.0
    warnings.warn("second", stacklevel=3)
    return x


def in_a_stretch(x: np.ndarray) -> Any:
    total = (x * 2).sum()
    with np.printoptions(precision=3):
        warnings.warn("first", stacklevel=2)
    warnings.warn("second", stacklevel=3)
    return total + (x * 3).sum()


def of_a_callee(x: np.ndarray) -> Any:
    return at_the_beginning(x) + 1


def keywords(x: np.ndarray, *, y: float = 2.0) -> Any:
    warnings.warn("first", stacklevel=2)
    LOGGER.warning("second", stacklevel=2)
    return x * y


def places(called: Callable[[np.ndarray], Any]) -> list[tuple[str, str, int]]:
    """Where warnings and records of several calls point to."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(filename)s %(funcName)s %(lineno)d %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(3):
                called(np.linspace(0, 1, 5))
            for _ in range(60):  # calls left to Python are forwarded by then
                called(np.linspace(0, 1, 4))
    finally:
        LOGGER.removeHandler(handler)
    lines = [(text, "", 0) for text in stream.getvalue().splitlines()]
    return [(str(w.message), w.filename, w.lineno) for w in told] + lines


@pytest.mark.parametrize("function", [
    at_the_beginning, left_to_python, after_a_check, in_a_stretch, of_a_callee, keywords,
])
def test_of_warnings_and_loggers(function: Callable[..., Any]) -> None:
    found, want = [places(called) for called in (jit(function), function)]
    assert found and found == want


def test_with_keywords_and_as_a_method() -> None:
    class Thing:
        def method(self, x: np.ndarray, y: float = 1.0) -> Any:
            warnings.warn("first", stacklevel=2)
            return x * y

    class Compiled(Thing):
        method = jit(Thing.method)

    plain, compiled = Thing(), Compiled()
    want = places(lambda x: (plain.method(x, y=2.0), plain.method(x=x)))
    got = places(lambda x: (compiled.method(x, y=2.0), compiled.method(x=x)))
    lines = {line for _, _, line in got}
    assert len(got) == len(want) and all(file == __file__ for _, file, _ in got)
    assert lines == {line + 1 for _, _, line in want}
