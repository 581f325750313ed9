"""Keywords and defaults, bound by machine code."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest

from npcompile.program.ir import ItemsResult, ParamResult, ScalarResult
from npcompile.runtime.entry.argument_binding import Binder
from npcompile.runtime.entry.state import Signature
from tests.support.entry import Entry, array_leaf, buffers, number_leaf, program


def plain(x: Any, y: Any = 2.0, z: Any = 3.0) -> Any:
    return (x, y, z)


def bound(function: Any = plain) -> tuple[Entry, Binder]:
    leaves = array_leaf("x"), number_leaf(float), number_leaf(float)
    params = buffers(leaves)
    numbers = (ScalarResult(buffer, "py") for buffer in params[1:])
    made = program(leaves, ItemsResult(tuple, (ParamResult(0), *numbers)), params=params)
    entry = Entry(Signature.positional(leaves), made)
    binder = Binder(entry.function, function, entry.python)
    entry.state.precede(binder.address)
    return entry, binder


def test_every_way_to_call() -> None:
    entry, _ = bound()
    x, names = np.ones(2), ("x", "y", "z")
    values = (x, 5.0, 7.0)
    tried = 0
    for given in itertools.product([False, True], repeat=3):
        for split in range(4):
            for order in itertools.permutations(range(split, 3)):
                args = values[:split]
                kwargs = {names[k]: values[k] for k in order if given[k]}
                try:
                    expected = plain(*args, **kwargs)
                except TypeError:
                    expected = ("python", args, kwargs)
                got = entry(*args, **kwargs)
                assert got == expected and (got[0] is x or got[0] == "python")
                tried += got[0] is x
    assert tried > 20


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((), {"y": 1.0}), ((1, 2), {"x": 3}), ((1,), {"w": 3}), ((1, 2, 3, 4), {}),
     ((1, 2, 3), {"w": 1}), ((1, 2, 3), {}), ((1,), {}), ((), {"x": 1, "z": 2})],
)
def test_the_rest_goes_to_python_as_it_was(args: Any, kwargs: Any) -> None:
    entry, _ = bound()
    kind, got, named = entry(*args, **kwargs)
    assert kind == "python" and got[: len(args)] == args
    if len(got) == len(args):
        assert named == kwargs
    else:  # a call that Python understands, completed
        assert got == plain(*args, **kwargs) and named == {}


def test_defaults_are_read_at_each_call() -> None:
    def own(x: Any, y: Any = 2.0, z: Any = 3.0) -> Any: ...

    entry, binder = bound(own)
    x = np.ones(2)
    assert entry(x) == (x, 2.0, 3.0)
    own.__defaults__ = (5.0,)
    assert entry(x)[0] == "python" and entry(x, 1.0) == (x, 1.0, 5.0)
    own.__defaults__ = None
    assert entry(x, 1.0)[0] == "python" and entry(x, 1.0, z=4.0) == (x, 1.0, 4.0)
    binder.install(0)
    assert entry(x, 1.0, 2.0)[0] == "python"


def test_no_leaks() -> None:
    entry, _ = bound()
    x, one = np.ones(2), 5.0

    def call() -> None:
        entry(x, z=one)
        entry(x=x, y=one)
        entry(x, w=one)

    call()
    before = [sys.getrefcount(thing) for thing in (x, one, plain.__defaults__)]
    for _ in range(10_000):
        call()
    assert [sys.getrefcount(thing) for thing in (x, one, plain.__defaults__)] == before


def test_positional_only() -> None:
    def other(x: Any, y: Any = 2.0, /, z: Any = 3.0) -> Any: ...

    entry, _ = bound(other)
    x = np.ones(2)
    assert entry(x, z=4.0) == (x, 2.0, 4.0)
    assert entry(x, 5.0, z=4.0) == (x, 5.0, 4.0)
    assert entry(x) == (x, 2.0, 3.0)
    assert entry(x, y=5.0) == ("python", (x,), {"y": 5.0})
    assert entry(z=4.0) == ("python", (), {"z": 4.0})


def test_other_parameters_are_not_bound() -> None:
    entry, _ = bound()
    for other in (lambda *a: 0, lambda **k: 0, lambda *, k: 0):
        with pytest.raises(ValueError, match="by position"):
            Binder(entry.function, other, entry.python)
