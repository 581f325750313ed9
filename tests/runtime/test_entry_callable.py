"""Function objects whose instances have vectorcall pointers."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from npcompile.program.ir import ParamResult
from npcompile.runtime.entry.state import Signature
from npcompile.runtime.unsafe.native_functions import FunctionBase, install, installed
from tests.support.entry import Entry, array_leaf, program


class Function(FunctionBase):
    """A function of Python."""

    def __init__(self, name: str = "f") -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return (self.name, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Function, (self.name,)


@pytest.fixture(scope="module")
def entry() -> Entry:
    leaf = array_leaf("x")
    return Entry(Signature.positional((leaf,)), program([leaf], ParamResult(0)))


def test_without_code() -> None:
    f, keywords = Function(), {"a": 2}
    assert installed(f) == 0
    assert f(1, a=2) == ("f", (1,), {"a": 2})
    assert f(*[1], **keywords) == f.__call__(1, a=2) == ("f", (1,), {"a": 2})
    assert list(map(f, [1])) == [("f", (1,), {})]
    assert callable(f) and isinstance(f, FunctionBase)


def test_install(entry: Entry) -> None:
    f, x = Function(), np.ones(2)
    address, empty, named = entry.loaded["entry"], {}, {"x": x}
    install(f, address)
    assert installed(f) == address
    assert f(x) is x and f(*[x]) is x and next(map(f, [x])) is x and f(x, **empty) is x
    assert f(x, 1) == ("f", (x, 1), {})
    assert f(x, k=1)[2] == {"k": 1} and f(**named)[2] == {"x": x}
    install(f, 0)
    assert f(x)[0] == "f"
    with pytest.raises(TypeError):
        install(len, address)  # type: ignore[arg-type]


def test_subclasses_and_attributes(entry: Entry) -> None:
    class More(Function):
        def __init__(self) -> None:
            super().__init__("more")
            self.extra = []

    f, x = More(), np.ones(2)
    install(f, entry.loaded["entry"])
    assert f(x) is x and f(3) == ("more", (3,), {})
    f.extra.append(f)
    f.__wrapped__ = len  # type: ignore[attr-defined]
    assert vars(f)["name"] == "more"


def test_method(entry: Entry) -> None:
    class Model:
        step = Function("step")

    model, x = Model(), np.ones(2)
    assert model.step(1) == ("step", (model, 1), {})
    assert Model.step(1) == ("step", (1,), {})
    bound = model.step
    assert bound.__self__ is model and bound(2) == ("step", (model, 2), {})
    install(Model.step, entry.loaded["entry"])
    assert Model.step(x) is x
    for _ in range(100):  # the specialised instructions, too
        assert model.step(x) == ("step", (model, x), {})
    assert model.step(x, k=1)[2] == {"k": 1}


def test_lifetime(entry: Entry) -> None:
    f = Function()
    install(f, entry.loaded["entry"])
    f.cycle = [f]
    alive = weakref.ref(f)
    types = sys.getrefcount(Function)
    del f
    gc.collect()
    assert alive() is None and sys.getrefcount(Function) <= types


def test_pickle() -> None:
    assert pickle.loads(pickle.dumps(Function("g")))(1) == ("g", (1,), {})


def test_threads(entry: Entry) -> None:
    f, failures = Function(), []
    address = entry.loaded["entry"]

    def work() -> None:
        x = np.ones(2)
        for _ in range(3000):
            got = f(x)
            if not (got is x or got[0] == "f"):
                failures.append(got)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(300):
        install(f, address if k % 2 else 0)
    for thread in threads:
        thread.join()
    assert not failures


def test_unknown_layout() -> None:
    """On another Python everything goes to ``__call__``."""
    script = """
import npcompile.runtime.unsafe.layout as layout
layout.layout = lambda: None
from npcompile.runtime.unsafe.native_functions import FunctionBase, install, installed
class Function(FunctionBase):
    def __call__(self, *args): return args
class Model:
    step = Function()
model = Model()
assert model.step(1) == (model, 1) and Function()(1) == (1,) and installed(Function()) == 0
try:
    install(Function(), 1)
except RuntimeError:
    print("fine")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=True)
    assert done.stdout == "fine\n"
