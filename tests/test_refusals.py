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
