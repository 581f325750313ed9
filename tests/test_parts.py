"""Modules in two parts that are compiled side by side."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu import compile, parts
from npcompile.backends.cpu.compile import load
from tests.support_calls import alike

TEXT = """
@table.0 = private constant [2 x i64] [i64 5, i64 7], align 64
@npc.other = external global i8
declare i64 @llvm.smax.i64(i64, i64)
define i64 @body(i64 %x) nounwind {
entry:
  %a = call i64 @k0(i64 %x)
  %b = call i64 @k1.2(i64 %a)
  %c = call i64 @llvm.smax.i64(i64 %a, i64 %b), !annotation !0
  ret i64 %c
}
define internal i64 @k0(i64 %x) nounwind {
entry:
  %at = getelementptr i64, ptr @table.0, i64 1
  %y = load i64, ptr %at
  %z = mul i64 %x, %y
  ret i64 %z
}
define internal i64 @k1.2(i64 %x) nounwind {
entry:
  %a = call i64 @k0(i64 %x)
  %b = load i64, ptr @table.0
  %c = add i64 %a, %b
  ret i64 %c
}
!0 = !{!"note"}
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LEAST", 1)
    monkeypatch.setattr(sys.modules[load.__module__], "_processors", lambda: 2)


def test_what_goes_where(small: None) -> None:
    made = parts.split(TEXT, ())
    assert made is not None
    assert "define i64 @body" in made.first
    assert made.shared
    assert "@npc.other" not in made.first + made.second
    assert parts.split(TEXT.replace("internal ", ""), ()) is None


def test_little_is_not_split() -> None:
    assert parts.split(TEXT, ()) is None


def test_calls_across(small: None) -> None:
    import ctypes

    code = compile(TEXT)
    loaded = load(code)
    body = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(loaded["body"])
    assert [body(k) for k in (3, -1)] == [3 * 49 + 5, -7]


def test_failures_reach_the_caller(small: None) -> None:
    with pytest.raises(RuntimeError):
        compile(TEXT.replace("load i64, ptr @table.0\n", "load i64, ptr %nothing\n"))
    assert not [t for t in threading.enumerate() if t.name == "npcompile code"]
    compile(TEXT)


def test_programs(small: None) -> None:
    def f(a: Any, b: Any, n: int) -> Any:
        u = a.copy()
        for k in range(n):
            u[1:-1] = 0.5 * (u[:-2] + u[2:]) + k
            b += np.exp(-u).sum()
        total = 0.0
        for x in u:
            total = total + x if x > 0.0 else total * 0.5
        return u, np.cumsum(u), u.argmax(), (u * b).sum(), total

    rng = np.random.default_rng(1)
    alike(f, *((rng.standard_normal(size), np.ones(size), 3) for size in (3, 9, 200)))


def test_from_several_threads(small: None) -> None:
    found = {}

    def work(k: int) -> None:
        compiled = npcompile.jit(lambda x: (np.sin(x) * k, np.sort(x) + k, x.sum() * k))
        found[k] = compiled(np.arange(20.0))[2]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: 190.0 * k for k in range(4)}
