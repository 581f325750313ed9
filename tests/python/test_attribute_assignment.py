"""Attributes of objects from outside that get other values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from npcompile import jit


class Model:
    def __init__(self) -> None:
        self.u = np.arange(5.0)
        self.t = 0.0
        self.n = 0
        self.log = None

    def __repr__(self) -> str:
        return f"t = {self.t}"

    def __call__(self, dt: float) -> Any:
        self.n += 1
        return self.u * dt

    @property
    def double(self) -> float:
        return 2 * self.t


class Other(Model):
    pass


class Slots:
    __slots__ = ("t",)

    def __init__(self) -> None:
        self.t = 1.0


def step(s, dt):
    s.u = s.u + dt * s.u
    s.t += dt
    s.n = s.n + 1
    return s.u.sum()


def stores_what_it_reads(s, dt):
    v = s.u * 2
    s.u = v
    return v


def loops(s, dt):
    u = s.u.copy()
    for i in range(3):
        u = u + dt * i
    s.u = u
    s.log = [dt, i]
    s.log.append(s.n)
    for i in range(2):
        s.u[i] += 1
    return s.u is u


def read(s):
    return s.t + s.double


def inlined(s, dt):
    s.t = dt
    return read(s)


def asked(s, dt):
    s.new = dt
    return hasattr(s, "new"), getattr(s, "new", 3), s.new


def divided(s, dt):
    s.t = 1 / s.n
    return s.t


def warned(s, dt):
    s.n = s.n + 1
    return np.log(s.u - 3)


def shown(s, dt):
    s.t = dt
    return f"{s}", str(s), repr(s)


def printed(s, dt):
    s.t = dt
    print(s)


def branches(s, dt):
    if s.u[0] > -1:
        s.t = 7.0
    return s.t


def early(s, dt):
    if s.u[0] > 100:
        return 1
    s.t = dt * 2
    return s.t


def raising(s, dt):
    s.t = dt
    if s.t > 0.3:
        raise ValueError(s.t)
    return s.t


def after_a_write(s, dt):
    s.u[0] = 5
    s.t = s.t + dt
    s.u[int(s.t * 10)] = 4


def turns(s, dt):
    for i in range(3):
        s.n = i
    return s.n


def dictionary(s, dt):
    s.t = dt
    return s.__dict__["t"], vars(s)["t"]


CAPTURED = [step, stores_what_it_reads, loops, inlined, asked]


def one_of_two(s, dt):
    """A function that is followed for each of two types stores to what nobody has stored to."""
    if s.u[0] < 0:
        dt = np.float32(dt)
    return s(dt)


@pytest.mark.parametrize("f", [
    *CAPTURED, one_of_two, divided, warned, shown, printed, branches, early, raising,
    after_a_write, turns, dictionary,
])
def test_stores(f: Any, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = jit(f)
    for kind in (Model, Model, Other):
        outcomes = []
        for function in (f, compiled):
            thing, told = kind(), []
            for dt in (0.25, 0.5):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        result = function(thing, dt)
                    except (ValueError, ZeroDivisionError, IndexError) as error:
                        result = type(error), str(error)
                told.append((repr(result), [str(w.message) for w in caught], repr(vars(thing)),
                             [type(v) for v in vars(thing).values()]))
            outcomes.append((told, capsys.readouterr().out))
        assert outcomes[0] == outcomes[1]
    if f in CAPTURED:
        info = compiled.cache_info()
        assert info.compiled and not info.fallbacks, str(compiled.explain(Model(), 0.5))


def test_identity() -> None:
    compiled, s = jit(stores_what_it_reads), Model()
    for _ in range(2):
        assert compiled(s, 1.0) is s.u


def test_objects_that_may_be_one() -> None:
    def f(p, q):
        p.t = 5.0
        return q.t

    compiled, s = jit(f), Model()
    for _ in range(2):
        assert compiled(s, s) == 5.0
        assert compiled(Model(), Model()) == 0.0
        assert compiled(Model(), Other()) == 0.0

    def g(p, q):
        p.t = 5.0
        q.t = 6.0
        return p.t

    assert jit(g)(s, s) == 6.0


def test_left_to_python() -> None:
    def f(s):
        s.t = s.t + 1
        return s.t

    compiled = jit(f)
    assert compiled(Slots()) == 2.0

    class Loud:
        t = 1.0

        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value * 2)

    assert compiled(Loud()) == f(Loud())


def test_check() -> None:
    compiled, s = jit(step, check=True), Model()
    compiled(s, 0.5)
    compiled(s, 0.5)
    assert (s.n, s.t) == (2, 1.0)


class Negative:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        return -value if name == "w" else value


def test_what_is_read_is_not_what_was_stored() -> None:
    def f(s: Any) -> Any:
        s.w += 2
        return s.w * 2

    assert jit(f)(Negative(np.ones(3))).tolist() == f(Negative(np.ones(3))).tolist()
