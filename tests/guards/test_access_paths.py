"""What arguments hold (attributes, items) is read by machine code, and guarded as Python would."""

import contextlib
import sys
from collections import defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

X = np.arange(1.0, 6.0)
Pair = namedtuple("Pair", "a b")


class Base:
    scale = 2.0

    def __init__(self, gain=0.5):
        self.gain, self.w, self.n, self.on = gain, X.copy(), 0, True


class Filter(Base):
    @jit
    def apply(self, x):
        return (self.w * x + self.gain) * self.scale

    @jit
    def step(self, x):
        if self.on:
            self.n += 1
            self.w *= 0.5
            self.w += x
        return self.w.sum() + self.n

    @jit
    def deep(self, x):
        return x * self.inner.gain + self.inner.w


class Slots:
    __slots__ = ("k", "v")

    def __init__(self, k, v):
        self.k, self.v = k, v


@dataclass
class Point:
    x: float
    y: np.ndarray


def as_plain(function, *args):
    """The result of a compiled call, which is that of the plain one."""
    got, want = (oracle.observe(call, *args) for call in (function, function.__wrapped__))
    oracle.check(got, want)
    return got.result


def direct(function):
    """Whether all versions of a function take its own arguments."""
    versions = function._dispatcher.versions
    return bool(versions) and all(v.direct for v in versions)


def test_attributes_are_read_at_each_call():
    one, other = Filter(), Filter(0.25)
    for k in range(40):
        one.gain = k * 0.5
        other.w = X + k
        as_plain(Filter.apply, one, X)
        as_plain(Filter.apply, other, X)
    compiled = Filter.apply.cache_info().compiled
    assert direct(Filter.apply) and compiled == 1, str(Filter.apply.explain())


def test_attributes_of_other_kinds_are_other_versions():
    thing = Filter()
    for gain in (0.5, 1, np.float32(2), 0.5, True, 3j):
        thing.gain = gain
        as_plain(Filter.apply, thing, X)
    thing.w = X.astype(np.float32)[::2]
    as_plain(Filter.apply, thing, X[:3])
    thing.w = [1.0]
    as_plain(Filter.apply, thing, X)


def test_classes_that_change():
    class Changing(Filter):
        pass

    thing = Changing()
    as_plain(Filter.apply, thing, X)
    Changing.scale = 3.0
    as_plain(Filter.apply, thing, X)
    Changing.gain = property(lambda self: 7.0)
    as_plain(Filter.apply, thing, X)
    Changing.__getattribute__ = lambda self, name: 1.5
    as_plain(Filter.apply, thing, X)


def test_what_is_missing_raises_as_in_python():
    thing = Filter()
    as_plain(Filter.apply, thing, X)
    del thing.gain
    for _ in range(2):
        with pytest.raises(AttributeError, match="gain"):
            Filter.apply(thing, X)
    thing.gain = 2.0
    as_plain(Filter.apply, thing, X)


def test_writes_go_where_python_writes():
    one, other = Filter(), Filter()
    for k in range(60):
        one.on = other.on = k % 7 != 3
        if k % 10 == 9:
            one.w, other.w = X * k, X * k
        got, want = Filter.step(one, X), Filter.step.__wrapped__(other, X)
        assert repr(got) == repr(want)
        assert one.n == other.n and (one.w == other.w).all()


def test_an_attribute_that_is_an_argument_too():
    thing = Filter()
    thing.on = True
    twin = Filter()
    for _ in range(3):
        got = Filter.step(thing, thing.w)
        want = Filter.step.__wrapped__(twin, twin.w)
        assert got == want and (thing.w == twin.w).all()


def test_objects_in_objects():
    thing = Filter()
    thing.inner = Filter(3.0)
    for k in range(3):
        thing.inner.gain = k * 1.5
        as_plain(Filter.deep, thing, X)
    assert direct(Filter.deep)
    thing.inner = Slots(1, 2)
    with pytest.raises(AttributeError):
        Filter.deep(thing, X)


def test_slots_dataclasses_and_containers():
    slots = jit(lambda s, x: s.v * x + s.k)
    point = jit(lambda p: p.y * p.x)
    table = jit(lambda d, x: d["a"] * x + d["b"])
    items = jit(lambda t, x: t[0] * x + t[-1][1])
    for k in range(4):
        as_plain(slots, Slots(k, X), X)
        as_plain(point, Point(0.5 * k, X + k))
        as_plain(table, {"b": 2.0 * k, "a": X, "c": None}, X)
        as_plain(items, [X, (k, 2.5)], X)
        as_plain(items, (X, [k, 2.5]), X)
    for function in (slots, point, table, items):
        assert direct(function)
    with pytest.raises(KeyError):
        table({"a": X}, X)
    with pytest.raises(IndexError):
        items([X, (1,)], X)
    as_plain(table, defaultdict(float, a=X), X)
    as_plain(slots, Pair(1, 2)._replace(a=3) and Slots(2.0, 3), X)


def test_strings_and_numbers_that_are_compared():
    def f(x, how, k=1):
        if how == "sum":
            return x.sum() * k
        return x.max() if how in ("max", "maximum") else x

    g = jit(f)
    names = ["sum", "max", "maximum", "none", "".join(["s", "um"]), "".join(["ma", "x"])]
    for how in names * 10:
        assert repr(g(X, how)) == repr(f(X, how))
    assert direct(g) and g.cache_info().compiled == 4

    class Text(str):
        def __eq__(self, other):
            return False

        __hash__ = str.__hash__

    assert repr(g(X, Text("sum"))) == repr(f(X, Text("sum")))


def test_references_are_balanced():
    thing, weights = Filter(), X.copy()
    thing.w = weights
    for _ in range(5):
        Filter.apply(thing, X)
        Filter.apply(thing, X[:1])
    before = sys.getrefcount(weights), sys.getrefcount(thing)
    for k in range(200):
        thing.gain = "x" if k % 50 == 49 else 1.0
        with contextlib.suppress(TypeError):
            Filter.apply(thing, X)
    assert (sys.getrefcount(weights), sys.getrefcount(thing)) == before


class Methods:
    def __init__(self, k):
        self.k = k

    def plain(self, x):
        return x * SCALE + self.k

    @jit
    def compiled(self, x):
        return x - self.k

    @property
    def twice(self):
        return self.k * 2

    @staticmethod
    def of_none(x):
        return x * 3

    @classmethod
    def of_class(cls, x):
        return x * 5

    @jit
    def all(self, x):
        return self.plain(x) + self.compiled(x) * self.twice + self.of_none(x) - self.of_class(x)


SCALE = 2.0


def test_methods_are_found_by_machine_code(monkeypatch):
    for k in (1.0, 2.0, 3.0):
        as_plain(Methods.all, Methods(k), X)
    (version,) = Methods.all._dispatcher.versions
    assert version.direct
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    as_plain(Methods.all, Methods(4.0), X)
    for name, changed in (
        ("plain", lambda self, x: x / self.k),
        ("compiled", lambda self, x: x / 2),
        ("twice", property(lambda self: self.k * 11)),
        ("of_none", staticmethod(lambda x: x * 13)),
        ("of_class", classmethod(lambda cls, x: x * 17)),
    ):
        monkeypatch.setattr(Methods, name, changed)
        as_plain(Methods.all, Methods(5.0), X)
    monkeypatch.setattr(Methods.plain, "__code__", (lambda self, x: x * 19).__code__)
    as_plain(Methods.all, Methods(6.0), X)


@pytest.mark.parametrize("name", ["plain", "compiled", "of_none", "of_class"])
def test_methods_of_an_object_alone(name):
    """An object may have a method of another object's, or any function, for its own."""
    function = Methods.all
    as_plain(function, Methods(2.0), X)
    other = Methods(3.0)
    setattr(other, name, getattr(Methods(4.0), name))
    as_plain(function, other, X)
    setattr(other, name, lambda x: x * 100)
    as_plain(function, other, X)
    as_plain(function, Methods(5.0), X)
