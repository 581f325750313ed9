"""When all that no compiled version serves is left to Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime import refusals


def dtypes(compiled: Any, *names: str) -> None:
    for name in names:
        assert compiled(np.arange(3).astype(name)) == 6


def total(x: Any) -> Any:
    return 2 * x.sum()


def test_much_time_for_many_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "BUDGET", 0.0)
    monkeypatch.setattr(refusals, "CALLS", 1)
    compiled = jit(total, cache=False)
    dtypes(compiled, "f8", "f4", "i4", "f8", "i4")
    assert compiled.cache_info().compiled == 2
    assert compiled.cache_info().fallbacks == 2
    assert "s of compiling" in str(compiled.explain(np.arange(3).astype("i4")))
    compiled.clear_cache()
    dtypes(compiled, "i4")
    assert compiled.cache_info().compiled == 1


def test_many_refused_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        if x.dtype.kind == "i":
            memoryview(x)
        return 2 * x.sum()

    monkeypatch.setattr(refusals, "KINDS", 2)
    compiled = jit(f, cache=False)
    dtypes(compiled, "f8", "i4", "i2", "f4", "f8")
    info = compiled.cache_info()
    assert info.compiled == 1 and info.refused == 2 and info.fallbacks == 3
    assert "2 kinds of arguments" in str(compiled.explain(np.arange(3).astype("f4")))


def letters(text: str) -> str:
    held = list(text)
    for k in range(len(held)):
        if np.random.random() < 0.3:
            held[k] = np.random.choice(["a", "b"])
    return "".join(held)


def test_a_new_text_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "AT_ONCE", 0.0)
    compiled = jit(letters, cache=False)
    for k in range(40):
        np.random.seed(k)
        found = compiled("x" * 9 + str(k))
        np.random.seed(k)
        assert found == letters("x" * 9 + str(k))
    assert compiled.cache_info().compiled + compiled.cache_info().refused < 20
    assert "for one kind of arguments" in str(compiled.explain("y"))


def scaled(x: Any, how: tuple[Any, ...]) -> Any:
    for step in how:
        x = x * step
    return x


def tuples(compiled: Any, first: int, last: int) -> int:
    x = np.arange(5.0)
    for k in range(first, last):
        how = (2.0,) * k
        assert np.array_equal(compiled(x, how), scaled(x, how))
    return int(compiled.cache_info().compiled)


def test_more_is_compiled_after_time_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "AT_ONCE", 0.0)
    compiled = jit(scaled, cache=False)
    made = tuples(compiled, 1, 20)
    assert made == refusals.FEW
    (spent,) = compiled._dispatcher.refusals._spent.values()
    assert 0 < spent.python < spent.seconds
    spent.python = spent.seconds + 1e-6
    assert tuples(compiled, 20, 26) == made + 1
    assert tuples(jit(scaled, cache=False, fullgraph=True), 1, 13) == 12  # who insists, waits


def test_long_compiles_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "AT_ONCE", 0.0)
    monkeypatch.setattr(refusals, "LONG", 0.0)
    compiled = jit(scaled, cache=False)
    assert tuples(compiled, 1, 9) == 1
    dtypes(jit(total, cache=False), "f8", "f4", "i4", "i8")  # others are not held up


class Words:
    def __init__(self) -> None:
        self.words = [f"{37 * k:>012}" for k in range(100)]
        self.letters = list("0123456789")


def places(held: Words) -> list[int]:
    found = []
    for word in held.words:
        total = 0
        for k in range(len(word)):
            total += abs(held.letters.index(word[k]) - k)
        found.append(total)
    return found


def test_what_is_too_long_is_tried_once() -> None:
    compiled = jit(places, cache=False)
    for _ in range(3):
        held = Words()
        assert compiled(held) == places(held)
    info = compiled.cache_info()
    assert info.compiled == 0 and info.refused == 1
    assert "too long" in str(compiled.explain(held))


def doubled(function: Any) -> Any:
    def apply(x: Any) -> Any:
        return function(x) * 2.0

    return apply


def test_functions_made_again_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is another function, though of the same code, and may be compiled some times."""
    monkeypatch.setattr(refusals, "AT_ONCE", 0.0)
    x = np.linspace(0.5, 1.0, 5)
    for function in (np.exp, np.sin, np.cos, np.tan, np.sqrt, np.cbrt, np.log, np.log2, np.log10,
                     np.exp2, np.expm1, np.log1p, np.tanh, np.sinh, np.cosh):
        compiled = jit(doubled(function), cache=False)
        assert np.allclose(compiled(x), function(x) * 2.0)
        assert compiled.cache_info().fallbacks == 0
        del compiled
