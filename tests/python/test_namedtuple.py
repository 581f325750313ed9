"""Classes of tuples: named ones, with methods, and those that behave unlike them."""

from collections import namedtuple
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from scipy.stats import linregress

import npcompile
from npcompile.core.tuples import is_named_tuple, reads_as_tuple

Pair: Any = namedtuple("Pair", "x y")


class Method(Pair):
    def norm(self):
        return self.x + self.y


class Default(NamedTuple):
    x: float
    y: float = 2.0


class New(Pair):
    def __new__(cls, x, y=0):
        return super().__new__(cls, x + 1, y)


class Init(Pair):
    def __init__(self, x, y):
        self.sum = x + y


class Made(Pair):
    @classmethod
    def _make(cls, items):
        return cls(9, 9)


class Property(Pair):
    @property
    def x(self):
        return 100.0


class Items(Pair):
    def __getitem__(self, place):
        return 7.0


class Backwards(Pair):
    def __iter__(self):
        return iter((self.y, self.x))


class Long(Pair):
    def __len__(self):
        return 5


class Everything(Pair):
    def __contains__(self, item):
        return True


class Never(Pair):
    def __bool__(self):
        return False


LIKE_TUPLES = [Pair, Method, Default]
MADE_OTHERWISE = [New, Init, Made]
READ_OTHERWISE = [Property, Items, Backwards, Long, Everything, Never]


def look(p: Any, x: Any) -> Any:
    first, _ = p
    total = 0.0
    for item in p:
        total = 2 * total + item
    return x + first, p.x, p[0], len(p), 1 if p else 2, total, tuple(p)


def make(kind: Any) -> Any:
    def made(x):
        return kind(x.sum(), 1.0)

    def used(x):
        return look(kind(x.sum(), 1.0), x)

    def within(x):
        return 3 in kind(1, 2), x + 1

    return made, used, within


def facts(result: Any) -> Any:
    return type(result), repr(result), getattr(result, "__dict__", None)


@pytest.mark.parametrize("kind", [*LIKE_TUPLES, *MADE_OTHERWISE, *READ_OTHERWISE])
def test_as_in_python(kind: Any) -> None:
    x, given = np.arange(3.0), kind(1.0, 2.0)
    for function, args in [*((f, (x,)) for f in make(kind)), (look, (given, x)),
                           (lambda p, x: (p, p + p, p * 2, x + 1), (given, x))]:
        compiled, want = npcompile.jit(function), facts(function(*args))
        for _ in range(2):
            assert facts(compiled(*args)) == want
        if kind in LIKE_TUPLES and function.__name__ in ("made", "used", "within"):
            assert compiled.cache_info().refused == 0


def test_which_are_named_tuples() -> None:
    assert all(map(is_named_tuple, LIKE_TUPLES))
    assert not any(map(is_named_tuple, [*MADE_OTHERWISE, *READ_OTHERWISE, tuple, list]))
    assert all(map(reads_as_tuple, [*LIKE_TUPLES, *MADE_OTHERWISE]))
    assert not any(map(reads_as_tuple, [*READ_OTHERWISE, tuple, list]))


def test_results_of_scipy() -> None:
    """They have attributes beside their items: they are read, but made by SciPy alone."""

    def line(x, y):
        found = linregress(x, y)
        return found.slope * x + found.intercept

    def whole(x, y):
        return linregress(x, y)

    x, y = np.arange(9.0), np.arange(9.0) ** 2
    compiled = npcompile.jit(line)
    np.testing.assert_array_equal(compiled(x, y), line(x, y))
    assert compiled.cache_info()[:2] == (1, 0)
    assert facts(npcompile.jit(whole)(x, y)) == facts(whole(x, y))


def test_an_array_at_an_index_that_only_the_run_knows() -> None:
    def one(arrays, x):
        total = 0.0
        for i, p in enumerate(x.T):
            total += arrays[i][0] * p.sum()
            arrays[i][0] = i + 7.0
        return total

    def several(arrays, x):
        pairs = ((1, np.zeros(3)), (2, np.ones(3)))
        total = 0.0
        for i in range(x.shape[1]):
            total += pairs[i % 2][1][0] * x[0, i]
        return total

    x = np.arange(8.0).reshape(2, 4)
    for function, columns in ((one, 1), (one, 2), (several, 4)):
        wanted, got = (np.array([2.0]),), (np.array([2.0]),)
        outcomes = []
        for f, arrays in ((function, wanted), (npcompile.jit(function), got)):
            try:
                outcomes.append(repr(f(arrays, x[:, :columns])))
            except IndexError as error:
                outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1] and wanted == got


def test_questions_of_copies_and_classes() -> None:
    def copies(x):
        same = np.array(x, copy=np._CopyMode.IF_NEEDED)  # as SciPy's functions ask
        never = np.asarray(x, copy=False)
        never[0] = 5.0
        return same is x, cast(Any, same) + 1, issubclass(x.dtype.type, np.floating)

    def needed(x):
        return np.array(x, np.int32, copy=False)

    x = np.arange(3.0)
    compiled = npcompile.jit(copies)
    assert repr(compiled(x.copy())) == repr(copies(x.copy()))
    assert compiled.cache_info() == (1, 0, 0)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        npcompile.jit(needed)(x)


def test_attributes_that_only_an_object_has() -> None:
    def asked(p, x):
        return hasattr(p, "more"), getattr(p, "more", 2.0), x + 1

    compiled, x = npcompile.jit(asked), np.arange(3.0)
    for more in (False, True, False):
        given = Method(1.0, 2.0)
        if more:
            given.more = 5.0
        assert repr(compiled(given, x)) == repr(asked(given, x))
    assert not npcompile.jit(asked)(Pair(1.0, 2.0), x)[0]


class Step(NamedTuple):
    t: float
    y: Any
    h: float = 0.1


class Stubborn(Step):
    def _replace(self, **fields):
        return "never"


@pytest.mark.parametrize("kind", [Step, Stubborn])
def test_replace(kind):
    def advanced(s, end):
        other = s._replace(y=s.t)
        while s.t < end and isinstance(s, tuple):
            s = s._replace(t=s.t + s.h) if s.h > 0.05 else s._replace(h=s.h * 2)
            if isinstance(s, str):
                return s, other
        return s._replace(), other

    compiled = npcompile.jit(advanced)
    for h in (0.1, 0.01, 0.2):
        got, want = (f(kind(1.0, np.arange(3.0), h), 3.0) for f in (compiled, advanced))
        assert repr(got) == repr(want)
    if kind is Step:
        assert compiled.explain(kind(1.0, np.arange(3.0), 0.01), 3.0).captured


def test_replace_of_what_is_no_field():
    wrong = npcompile.jit(lambda s: s._replace(z=1))
    with pytest.raises((TypeError, ValueError), match="unexpected field names"):
        wrong(Step(1.0, None))
