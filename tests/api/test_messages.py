"""Messages that can be acted on: logs of recompilations, warnings, reasons and headlines."""

from __future__ import annotations

import importlib
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npcompile import jit, set_logs
from npcompile.runtime.versions.fallbacks import MANY

TOTAL = 0


def scaled(x: Any, k: Any = 2) -> Any:
    return x * k


def assigns(x: Any) -> Any:
    global TOTAL
    TOTAL = TOTAL + 1
    return x * TOTAL


def refused(x: Any) -> Any:
    return {str(v) for v in x}


def messages(caplog: pytest.LogCaptureFixture, topic: str) -> list[str]:
    return [record.getMessage() for record in caplog.records
            if record.name == f"npcompile.{topic}"]


# ------------------------------------------------------------------ logs


def test_recompilations_say_which_argument_is_another(caplog: pytest.LogCaptureFixture) -> None:
    compiled = jit(scaled)
    with caplog.at_level(logging.INFO, "npcompile.recompiles"):
        compiled(np.ones(3))
        compiled(np.ones(3, "f4"))
        compiled(np.ones((3, 3)))
        compiled(np.ones(3), 2.5)
    first, dtype, axes, kind = messages(caplog, "recompiles")
    assert first.startswith("scaled (test_messages.py:")
    assert first.endswith("version 1: the first call")
    assert ("version 2: x is a C-contiguous float32 array of 1 axis "
            "(not a C-contiguous float64 array of 1 axis)") in dtype
    assert "version 3: x is a C-contiguous float64 array of 2 axes" in axes
    assert "version 4: k is a float" in kind


def test_recompilations_for_a_value(caplog: pytest.LogCaptureFixture) -> None:
    compiled = jit(lambda x, mode: x * 2 if mode == "twice" else x * 3)
    with caplog.at_level(logging.INFO, "npcompile.recompiles"):
        compiled(1.5, "twice")
        compiled(1.5, "thrice")
    assert "mode is 'thrice' (not 'twice')" in messages(caplog, "recompiles")[1]


def test_nothing_is_logged_unless_it_is_wanted(caplog: pytest.LogCaptureFixture) -> None:
    jit(scaled)(np.ones(3))
    assert not [record for record in caplog.records if record.name.startswith("npcompile")]


def test_topics_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    set_logs("recompiles", "guards")
    try:
        jit(scaled, cache=False)(np.ones(3))
    finally:
        set_logs()
    text = capsys.readouterr().err
    assert re.search(r"npcompile\[recompiles\] scaled \(.*\), version 1: the first call", text)
    assert "npcompile[guards] scaled: x is a C-contiguous float64 array of 1 axis" in text


def test_one_warning_when_a_function_is_left_to_python(caplog: pytest.LogCaptureFixture) -> None:
    compiled = jit(refused)
    for _ in range(3 * MANY):
        compiled(np.ones(2))
    (text,) = messages(caplog, "exits")
    assert text.startswith("refused (test_messages.py:") and "is left to Python: line " in text
    assert caplog.records[-1].levelno == logging.WARNING


def test_no_warning_for_a_function_that_is_compiled(caplog: pytest.LogCaptureFixture) -> None:
    compiled = jit(scaled)
    for _ in range(3 * MANY):
        compiled(np.ones(2))
    assert messages(caplog, "exits") == []


# ------------------------------------------------------------------ reasons


def test_assigned_globals() -> None:
    text = str(jit(assigns).explain(np.ones(3)))
    assert "global: a variable of the module is assigned" in text
    assert "(return the value, and assign it outside)" in text


@pytest.fixture
def pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package that looks like pandas to who asks for its files."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules)
              if name.partition(".")[0] == "pandas"}
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas" / "__init__.py").write_text("""
import weakref
class Series:
    def __init__(self, values): self.values = values
    def __mul__(self, other): return weakref.ref(self)().values * other
""")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("pandas")
    del sys.modules["pandas"]
    sys.modules.update(before)


def test_what_to_do_with_a_series(pandas: Any) -> None:
    told = jit(lambda s: s * 2.0).explain(pandas.Series(np.ones(3)))
    text = str(told)
    assert "pandas: Python runs this library's code (pass columns as arrays: " in text
    assert "weakref" not in text


# ------------------------------------------------------------------ headlines


def test_the_headline_tells_of_calls() -> None:
    compiled = jit(refused)
    assert str(compiled.explain()).startswith("refused: not called yet\n")
    for _ in range(5):
        compiled(np.ones(2))
    assert str(compiled.explain()).startswith("refused: runs in Python; 5 calls so far\n")


def test_a_headline_over_calls_that_ran_in_python() -> None:
    """Python is faster for some calls, as is found out on the calls themselves."""
    compiled = jit(lambda d, x: d["gain"] * x)
    for _ in range(3000):
        compiled({"gain": 2.0}, 3.0)
        if compiled.explain().in_python > 100:
            break
    told = compiled.explain()
    if told.in_python:  # else compiled code is faster on this machine
        assert f": compiled whole, but {told.in_python:,} calls ran in Python\n" in str(told)


def test_a_call_that_is_timed_is_no_call_that_is_left_to_python() -> None:
    compiled = jit(lambda d, x: (d["gain"] * x).sum())
    for _ in range(30):
        compiled({"gain": 2.0}, np.ones(100_000))
    for text in compiled.explain().history:
        assert "Python is faster" not in text


def test_calls_that_python_completed() -> None:
    def checked(x: Any) -> Any:
        x[0] = 1.0
        return x[int(x[1])]

    compiled = jit(checked)
    for last in (0.0, 9.0, 9.0):
        try:
            compiled(np.array([0.0, last, 2.0]))
        except IndexError:
            continue
    assert compiled.explain().left == 2
    assert "; Python completed 2 calls" in str(compiled.explain()).splitlines()[0]


def test_looking_changes_nothing() -> None:
    compiled = jit(scaled)
    x = np.ones(3)
    before = compiled.explain(x)
    assert before.captured and compiled.cache_info() == (0, 0, 0)
    compiled(x)
    assert compiled.cache_info() == (1, 0, 0)
    compiled.explain(np.ones(3, "f4"))
    compiled.explain([1, 2], "text")
    assert compiled.cache_info() == (1, 0, 0)


def test_names_are_the_users() -> None:
    def texts(name: str, xs: Any, n: int) -> Any:
        return f"{name!r} {n}", np.r_[0:n], xs[0] * 2 + xs[1]

    text = str(jit(texts).explain("a", [np.ones(3), np.ones(3)], 3))
    for word in ("concatenated", "indexed", "format_repr", "xs[0].0"):
        assert word not in text
    assert "xs[0].shape[0]" in text and 'f"..."' in text


def test_lengths_that_only_the_run_knows() -> None:
    text = str(jit(lambda x: np.unique(x)[::2] * 2).explain(np.ones(5)))
    assert not re.search(r"\b[hs]\d+\b", text.partition("valid while")[0])


def test_in_a_notebook() -> None:
    told = jit(lambda x: x < 2).explain(np.ones(3))
    html = told._repr_html_()
    assert html.startswith("<pre><b>") and "compiled whole" in html and "x &lt; 2" in html
    lowered = jit(scaled).lower(np.ones(3))
    assert len(repr(lowered)) < 200 and "<details" in lowered._repr_html_()


# ------------------------------------------------------------------ texts as arguments


def words(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def test_long_texts_are_compiled_for_few_times() -> None:
    compiled = jit(words)
    for k in range(100):
        text = f"some words of text number {k} and some more words that come after it"
        assert compiled(text) == words(text)
    assert compiled.cache_info().compiled <= 2


def test_texts_that_never_end_are_compiled_for_more_and_more_rarely() -> None:
    compiled = jit(words)
    for k in range(20_000):
        compiled(f"some words of text number {k} and some more words after it")
    assert compiled.cache_info().compiled <= 6  # 2, then after 2,048, 4,096, ... calls


def test_options_are_compiled_for_each() -> None:
    compiled = jit(lambda x, mode: x * len(mode))
    for mode in ("a", "bb", "ccc", "dddd"):
        assert compiled(2.0, mode) == 2.0 * len(mode)
    assert compiled.cache_info().compiled == 4
