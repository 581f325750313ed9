"""The work of tracing: it grows with the length of a program, not with the number of its paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile.core.config import Config
from npcompile.tracing import control
from npcompile.tracing.retries import trace

#: one statement, or several, that part the paths and join them again; ``k`` counts them
STEPS = {
    "numbers": "if a[{k}] > x: x += 1.0\nelse: x = b[{k}]",
    "a return": "if a[{k}] > 0: return x\nx += 1.0",
    "a return inside": "if a[{k}] > 0:\n    if b[{k}] > 1: return x\n    x += 1.0",
    "returns on both sides": (
        "if a[{k}] > 0:\n    if b[{k}] > 1: return x\n    x += 1.0\n"
        "else:\n    if b[{k}] > 2: return None\n    x += 2.0"),
    "a return two levels in": (
        "if a[{k}] > 0:\n    if b[{k}] > 1:\n        if x > 2: return 1\n        x = 3.0"),
    "an exception inside": "if a[{k}] > 0:\n    if b[{k}] > 0: raise ValueError\n    x += 1",
    "types": "y = 1 if a[{k}] > 0 else b[{k}]\nx = x + y",
    "types that stay apart": "if a[{k}] > 0: y{k} = 1.0\nelse: y{k} = b[{k}]",
    "None": "z = None if a[{k}] > 0 else b[{k}]\nif z is not None: x += z",
    "flags": "q = False\nif a[{k}] > 0: q = True\nif q: x += 1\nelse: x = x * 2",
    "functions": "h = np.sin if a[{k}] > 0 else np.cos\nx = h(x)",
    "arrays": "if a[{k}] > 0: c = a.copy(); c[0] = 1\nelse: c = b * 2\nc[1] = x\nx = x + c[0]",
    "names for arrays": "c = a if a[{k}] > 0 else b\nc[1] = x",
    "tuples": "t = (1, x) if a[{k}] > 0 else (x, 2)\nx = x + t[0]",
    "lists": "t = [1, x] if a[{k}] > 0 else [x]\nx = x + t[0]",
    "appending": "if a[{k}] > 0: items.append(x)\nelse: x += 1",
    "conditions": "if a[{k}] > 0 and (b[{k}] > 1 or x > 2): x += 1",
    "calls that return early": "x = early(x, b[{k}])",
    "calls that return various": "x = x + various(x, b[{k}])",
    "loops that are left": "for q in range(n):\n    if a[q] > x: break\n    x += 1",
    "loops that return": "for q in range(n):\n    if a[q] > x: return x\n    x += 1",
    "loops that change a type": "s{k} = 0\nfor q in range(n): s{k} += a[q]\nx += s{k}",
    "short loops": (
        "for q in range(3):\n    if a[q] > x: continue\n    if b[q] > x: break\n    x += 1"),
    "short loops that return": (
        "for q in range(3):\n    if a[q] > x:\n        if b[q] > x: return 1\n        x = 2.0"),
}
HELPERS = """
def early(x, y):
    if y > 1: return x
    if y > 0: return x + 1.0
    return y
def various(x, y):
    if y > 1: return 1
    if y > 0: return x
    return 2.5
"""
DATA = {"a": np.arange(40.0) - 3, "b": np.ones(40), "n": 12}


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The instructions that are traced."""
    found: list[str] = []
    instruct = control.instruct

    def noted(t: Any, frame: Any, i: Any, stack: Any) -> Any:
        found.append(i.op)
        return instruct(t, frame, i, stack)

    monkeypatch.setattr(control, "instruct", noted)
    return found


def follow(body: list[str]) -> None:
    lines = [f"    {line}" for line in ("x = a[0]", "items = []", *body, "return x")]
    scope: dict[str, Any] = {"np": np}
    exec(HELPERS + "\n".join(["def f(a, b, n):", *lines]), scope)
    trace(scope["f"], DATA, Config())


@pytest.mark.parametrize("step", STEPS)
def test_grows_with_the_length(step: str, traced: list[str]) -> None:
    work = []
    for count in (4, 8, 16):
        traced.clear()
        follow([line for k in range(count) for line in STEPS[step].format(k=k).split("\n")])
        work.append(len(traced))
    assert work[2] - work[1] <= 2.5 * (work[1] - work[0])
