"""When all that no compiled version serves is left to Python."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.versions import policy


def dtypes(compiled: Any, *names: str) -> None:
    for name in names:
        assert compiled(np.arange(3).astype(name)) == 6


def total(x: Any) -> Any:
    return 2 * x.sum()


def test_much_time_for_many_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "BUDGET", 0.0)
    monkeypatch.setattr(policy, "CALLS", 1)
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

    monkeypatch.setattr(policy, "KINDS", 2)
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
    monkeypatch.setattr(policy, "AT_ONCE", 0.0)
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


def test_more_is_compiled_after_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "AT_ONCE", 1e-9)
    compiled = jit(scaled, cache=False)
    assert tuples(compiled, 1, 20) == 2  # the first is free, the second fills the bucket
    assert "for one kind of arguments" in str(compiled.explain())
    monkeypatch.setattr(policy, "SHARE", 1e9)  # as if much time had passed
    assert tuples(compiled, 20, 26) == 8
    monkeypatch.setattr(policy, "SHARE", 0.0)
    assert tuples(jit(scaled, cache=False, fullgraph=True), 1, 13) == 12  # who insists, waits


def test_what_ran_long_is_worth_more_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "AT_ONCE", 1e-9)
    monkeypatch.setattr(policy, "WORTH", 1e9)
    assert tuples(jit(scaled, cache=False), 1, 9) == 8


def test_the_first_of_each_kind_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "AT_ONCE", 0.0)
    compiled = jit(total, cache=False)
    dtypes(compiled, "f8", "f4", "i4", "i8")
    assert compiled.cache_info() == (4, 0, 0)


def waves(x: Any, how: tuple[Any, ...]) -> Any:
    for step in how:
        x = np.sin(x) * step
    return x


def test_what_has_other_bits_is_compiled_by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "AT_ONCE", 0.0)  # seconds don't count
    monkeypatch.setattr(policy, "PATIENT", 5)
    compiled, x = jit(waves, cache=False), np.arange(5.0)
    served = []
    for k in range(1, policy.FEW + 13):
        before = compiled.cache_info().compiled
        assert np.allclose(compiled(x, (2.0,) * k), waves(x, (2.0,) * k), rtol=1e-13)
        served.append(compiled.cache_info().compiled > before)
    left = policy.FEW + 5  # so many calls have been left to Python before one more is compiled
    assert all(served[: policy.FEW]) and not any(served[policy.FEW : left])
    assert served[left]


def first(xs: Any, n: int) -> Any:
    held, s = xs[0], 0.0
    for i in range(n):
        s += held * i
    return s


@pytest.mark.parametrize("kind", [list, tuple])
def test_refusals_are_of_the_types_of_items(kind: Any) -> None:
    compiled = jit(first, cache=False)
    for k in range(12):
        fractions = kind([Fraction(k), Fraction(2)])
        assert compiled(fractions, 9) == first(fractions, 9)
    left = compiled.cache_info().fallbacks
    assert left > 8
    assert compiled(kind([1.0, 2.0]), 9) == 36.0
    assert compiled.cache_info().fallbacks == left


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
    monkeypatch.setattr(policy, "AT_ONCE", 0.0)
    x = np.linspace(0.5, 1.0, 5)
    for function in (np.exp, np.sin, np.cos, np.tan, np.sqrt, np.cbrt, np.log, np.log2, np.log10,
                     np.exp2, np.expm1, np.log1p, np.tanh, np.sinh, np.cosh):
        compiled = jit(doubled(function), cache=False)
        assert np.allclose(compiled(x), function(x) * 2.0)
        assert compiled.cache_info().fallbacks == 0
        del compiled
