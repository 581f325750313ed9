"""Versions found on disk: only where all that they rely on is what it was."""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import types
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import signal

import npcompile
from npcompile.runtime.cache.disk import DiskCache
from npcompile.runtime.versions import native

X = np.linspace(-1.0, 2.0, 7)

TEXT = """
import numpy as np
SCALE = 2.0
MODE = "plus"
def helper(x):
    return x * 3
class Box:
    weight = 4.0
    def apply(self, x):
        return x + self.weight
box = Box()
def make(offset):
    def f(x, n=2, flag=True):
        y = np.sin(x) * SCALE + helper(x) + offset + n
        if MODE == "plus":
            y = y + 1
        if flag:
            y = box.apply(y)
        if y[0] > 1e6:
            raise ValueError("too large")
        return y, np, helper
    return f
f = make(5.0)
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = DiskCache(tmp_path / "cache")
    monkeypatch.setattr("npcompile.runtime.versions.compiling.store", lambda: made)
    monkeypatch.setattr(native, "store", lambda: made)


def space(text: str = TEXT) -> dict[str, Any]:
    module = types.ModuleType("made")
    exec(compile(text, "made.py", "exec"), module.__dict__)
    return module.__dict__


def recalled(compiled: Any) -> bool:
    """Whether the latest version was found."""
    return "recall" in compiled._dispatcher.versions[0].executable.times


def run(names: dict[str, Any], *args: Any, **kwargs: Any) -> bool:
    """Whether the version of a call was found; what it gives must be Python's."""
    compiled = npcompile.jit(names["f"])
    got, want = compiled(*args, **kwargs), names["f"](*args, **kwargs)
    assert np.allclose(got[0], want[0], rtol=1e-15)
    assert got[1:] == want[1:]
    return recalled(compiled)


def test_a_new_function_of_the_same_code() -> None:
    assert not run(space(), X)
    assert run(space(), X)
    assert run(space(), X[:3])
    assert not run(space(), X, 7)  # a default that is left out is a constant
    assert run(space(), X, 8)


@pytest.mark.parametrize(("old", "new"), [
    ("x * 3", "x * 5"),
    ('MODE = "plus"', 'MODE = "minus"'),
    ("x + self.weight", "x - self.weight"),
])
def test_what_it_relies_on_has_changed(old: str, new: str) -> None:
    assert not run(space(), X)
    changed = space(TEXT.replace(old, new))
    assert not run(changed, X)
    assert run(changed, X)
    assert run(space(), X)  # the older entry is still there


@pytest.mark.parametrize(("old", "new"), [
    ("SCALE = 2.0", "SCALE = 2.5"), ("make(5.0)", "make(6.0)"), ("n=2", "n=4"),
    ("weight = 4.0", "weight = 8.0"),
])
def test_numbers_are_read_anew(old: str, new: str) -> None:
    assert not run(space(), X)
    assert run(space(TEXT), X)
    run(space(TEXT.replace(old, new)), X)  # found or not, the numbers are the new ones


def test_other_arguments() -> None:
    assert not run(space(), X)
    assert not run(space(), X.astype(np.float32))
    assert not run(space(), X[::2])
    assert not run(space(), X, flag=False)
    assert run(space(), X.astype(np.float32))
    assert run(space(), X, flag=False)


def test_leaving_a_found_version() -> None:
    text = TEXT.replace("y = np.sin(x)", "x[0] += 1\n        y = np.sin(x)")
    for found in (False, True):
        names = space(text)
        compiled = npcompile.jit(names["f"])
        good, bad = X.copy(), np.full(3, 1e7)
        compiled(good)
        with pytest.raises(ValueError, match="too large") as caught:
            compiled(bad)
        with pytest.raises(ValueError, match="too large") as plain:
            names["f"](np.full(3, 1e7))
        assert bad[0] == 1e7 + 1
        assert good[0] == X[0] + 1
        assert caught.traceback[-1].lineno == plain.traceback[-1].lineno
        assert recalled(compiled) == found


def test_leaving_where_a_function_of_the_program_lives() -> None:
    text = """
def f(a, n):
    last = 0.0
    def add(k, by=1.0):
        nonlocal last
        last = (lambda: a[k])()
        a[k] += by
    for k in range(n):
        add(k)
        a[k] *= last
    return a, last
"""
    for found in (False, True):
        names = space(text)
        compiled = npcompile.jit(names["f"])
        got, want = compiled(X.copy(), 5), names["f"](X.copy(), 5)
        assert (got[0] == want[0]).all()
        assert got[1] == want[1]
        left, plain = X.copy(), X.copy()
        for function, a in ((compiled, left), (names["f"], plain)):
            with pytest.raises(IndexError, match="out of bounds"):
                function(a, 8)
        assert (left == plain).all()
        assert recalled(compiled) == found


def test_arguments_of_the_first_call_do_not_stay() -> None:
    for found in (False, True):
        compiled = npcompile.jit(space()["f"])
        first = X.copy()
        compiled(first)
        assert recalled(compiled) == found
        held = weakref.ref(first)
        del first
        gc.collect()
        assert held() is None


def test_stages_of_a_found_version() -> None:
    run(space(), X)
    compiled = npcompile.jit(space()["f"])
    compiled(X)
    assert recalled(compiled)
    assert compiled.explain(X).kernels
    assert "define i64 @body" in compiled.lower(X).llvm
    assert not recalled(compiled)
    assert compiled.cache_info().compiled == 1
    assert compiled(X)[1] is np


def test_deterministic_modes_hold() -> None:
    def f(a: Any) -> Any:
        return a @ a

    a = np.ones((3, 3))
    for found in (False, True):
        compiled = npcompile.jit(f)
        compiled(a)
        assert recalled(compiled) == found
        with npcompile.deterministic("portable"), pytest.raises(npcompile.DeterminismError):
            compiled(a)


def test_objects_of_this_process_are_not_kept() -> None:
    log = logging.getLogger("npcompile.made")

    def f(x: Any) -> Any:
        y = x + 1.0
        log.debug("so far")
        return y

    for _ in range(2):
        compiled = npcompile.jit(f)
        compiled(X)
        assert not recalled(compiled)


def test_sources_that_name_another_function_by_now_are_not_kept() -> None:
    names = space("""
import functools
def helper(x):
    return x * 2
def counted(f):
    most = {f: [4]}  # found by a function that nobody finds by its name
    @functools.wraps(f)
    def call(x):
        return f(x) if len(x) > len(most[f]) else x
    return call
helper = counted(helper)
def f(x):
    return helper(x) + 1
""")
    sys.modules["made"] = made = types.ModuleType("made")
    try:
        vars(made).update(names)
        compiled = npcompile.jit(names["f"])
        assert np.array_equal(compiled(X), X * 2 + 1)
        assert compiled.cache_info().compiled == 1
    finally:
        del sys.modules["made"]


LAZY = """
import numpy as np
def f(x):
    return np.fft.fft(x * 2)
"""  # NumPy imports this module when it is first asked for


@pytest.mark.parametrize("text", [TEXT, LAZY], ids=["helper", "lazy module"])
def test_another_process(text: str, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(text + """
import npcompile, sys
x = np.linspace(-1.0, 2.0, 7)
g = npcompile.jit(f)
print(np.allclose(g(x)[0], f(x)[0]), g._dispatcher.versions[0].executable.times)
""")
    told = [
        subprocess.run([sys.executable, str(tmp_path / "user.py")], capture_output=True, text=True,
                       check=True, env={**os.environ,
                                        "NPCOMPILE_CACHE_DIR": str(tmp_path / "cache")}).stdout
        for _ in range(2)
    ]
    assert "True" in told[0]
    assert "trace" in told[0]
    assert "True" in told[1]
    assert "recall" in told[1]


HOSTS = """
import random
import warnings
import numpy as np
from scipy import signal
def f(x, rng):
    y = np.percentile(x, [25.0, 75.0]).sum() + signal.detrend(x).max()
    for _ in range(3):
        y = y + rng.random() + np.random.rand() + random.random()
    z = np.random.standard_normal(4)
    x[0] = 7.0
    return y, float(z[1]) + rng.integers(10), x[0]
"""


def draws(names: dict[str, Any]) -> tuple[Any, bool]:
    compiled = npcompile.jit(names["f"])
    results = []
    for function in (compiled, names["f"]):
        np.random.seed(3)
        names["random"].seed(5)
        rng = np.random.default_rng(7)
        results.append([function(X.copy(), rng) for _ in range(2)])
    assert results[0] == results[1]
    return results[0], recalled(compiled)


def test_calls_of_library_functions_are_found() -> None:
    first, found = draws(space(HOSTS))
    assert not found
    again, found = draws(space(HOSTS))
    assert found
    assert again == first


def test_a_library_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy

    draws(space(HOSTS))
    monkeypatch.setattr(scipy, "__version__", "0.1")
    assert not draws(space(HOSTS))[1]
    assert draws(space(HOSTS))[1]


def test_a_library_function_that_was_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which another version stands on disk."""
    before, _ = draws(space(HOSTS))
    percentile = np.percentile
    monkeypatch.setattr(np, "percentile", lambda x, q: 2.0 * percentile(x, q))
    after, _ = draws(space(HOSTS))  # what it gives is Python's
    assert after != before


@pytest.mark.parametrize("home, name", [
    (np, "cumsum"), (np, "exp"), (np.linalg, "norm"), (signal, "detrend"),
])
def test_a_function_that_was_replaced(
    monkeypatch: pytest.MonkeyPatch, home: Any, name: str
) -> None:
    """The version on disk computes the former function."""
    text = """
import numpy as np
from scipy import signal
def f(x):
    return np.cumsum(x).sum() + np.exp(x).max() + np.linalg.norm(x) + signal.detrend(x).max()
"""
    assert npcompile.jit(space(text)["f"])(X) == pytest.approx(space(text)["f"](X))
    before = getattr(home, name)
    monkeypatch.setattr(home, name, lambda x: 2.0 * before(x))
    names = space(text)
    compiled = npcompile.jit(names["f"])
    assert compiled(X) == pytest.approx(names["f"](X))
    assert not (compiled._dispatcher.versions and recalled(compiled))


def test_stubs_of_a_found_version_look_like_the_program() -> None:
    text = """
import numpy as np
def inner(x):
    return np.percentile(x, 250.0)
def f(x):
    return inner(x) + 1.0
"""
    for found in (False, True):
        names = space(text)
        compiled = npcompile.jit(names["f"])
        frames = []
        for function in (compiled, names["f"]):
            with pytest.raises(ValueError, match="Percentiles must be") as caught:
                function(X)
            own = [e for e in caught.traceback if str(e.path).endswith("made.py")]
            frames.append([(e.name, e.lineno) for e in own])
        assert frames[0] == frames[1]
        if compiled._dispatcher.versions:
            assert recalled(compiled) == found


def test_globals_of_another_module() -> None:
    """Warnings go through the globals of the module that the function is of."""
    outer = """
import numpy as np
def f(x):
    return helper(x) + np.percentile(x, 50.0)
"""
    inner = """
import numpy as np
def helper(x):
    return np.percentile(x, 75.0) + np.random.rand()
"""
    for found in (False, True):
        names, others = space(outer), space(inner)
        names["helper"] = others["helper"]
        compiled = npcompile.jit(names["f"])
        results = []
        for function in (compiled, names["f"]):
            np.random.seed(1)
            results.append(function(X))
        assert results[0] == results[1]
        assert recalled(compiled) == found


KINDS = {  # how a class may be written anew under its name
    "base": ("class B: pass\nclass C(B): pass", "class B: pass\nclass C: pass"),
    "equality": ("class C:\n    v = 1.0", "class C:\n    v = 1.0\n    __eq__ = lambda a, b: True"),
    "fields": ('C = namedtuple("C", "a b")', 'C = namedtuple("C", "b a")'),
    "defaults": ('C = namedtuple("C", "a b", defaults=[1.0])',
                 'C = namedtuple("C", "a b", defaults=[2.0])'),
    "members": ("class C(Enum):\n    A = 1", "class C(Enum):\n    A = 1\n    B = 2"),
    "positions": ('class C:\n    a, b = 1.0, 2.0\n    __match_args__ = ("a", "b")',
                  'class C:\n    a, b = 1.0, 2.0\n    __match_args__ = ("b", "a")'),
    "metaclass": ("class M(type): pass\nclass C(metaclass=M): pass",
                  "class M(type):\n    def __len__(self): return 0\nclass C(metaclass=M): pass"),
}
USES = {
    "base": "x + 1 if isinstance(C(), B) else x - 1",
    "equality": "x + 1 if C() == C() else x - 1",
    "fields": "x + C(1.0, 2.0).a",
    "defaults": "x + C(1.0).b",
    "members": "x + len(C)",
    "positions": "x + second(C())",
    "metaclass": "x + 1 if C else x - 1",
}


@pytest.mark.parametrize("change", KINDS)
@pytest.mark.parametrize("back", [False, True])
def test_a_class_that_is_written_anew(change: str, back: bool) -> None:
    rest = (
        "\ndef second(o):\n    match o:\n        case C(p, q): return q\n"
        f"\ndef f(x):\n    return {USES[change]}, 0\n"
    )
    head = "from collections import namedtuple\nfrom enum import Enum\n"
    first, then = reversed(KINDS[change]) if back else KINDS[change]
    for text in (first, then):
        f = space(head + text + rest)["f"]
        for _ in range(2):
            np.testing.assert_array_equal(npcompile.jit(f)(X)[0], f(X)[0])
