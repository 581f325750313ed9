"""``super()``, properties and compiled methods of base classes."""

import sys

import numpy as np
import pytest

from npcompile import jit

X = np.arange(4.0)
FOLLOWED = sys.version_info >= (3, 12)  # one instruction finds the attribute there


class Base:
    F = 3.0

    def __init__(self, k):
        super().__init__()
        self.k = k

    def f(self, x):
        return x * self.k

    @jit
    def g(self, x):
        return x - self.k

    @property
    def size(self):
        return self.k + 1

    @property
    @jit
    def area(self):
        return self.k * np.pi

    @staticmethod
    def shifted(x):
        return x + 1


class Derived(Base):
    F = 4.0

    def __init__(self, k, m=2.0):
        super().__init__(k)
        self.m = m

    @jit
    def f(self, x):
        return super().f(x) + self.m

    @jit
    def g(self, x):
        return super().g(x) * super(Derived, self).g(x)  # noqa: UP008 (both forms)

    @jit
    def all(self, x):
        return super().shifted(x) + super().size * self.area + super().f(self.F * x)


class Further(Derived):
    def f(self, x):
        return -super().f(x)


def plain(owner, name):
    return vars(owner)[name].__wrapped__


@pytest.mark.parametrize("name", ["f", "g", "all"])
def test_methods_of_base_classes(name):
    for thing in (Derived(2.0), Derived(3, 1), Further(1.5), Derived(2.0)):
        want = plain(Derived, name)(thing, X)
        assert (getattr(Derived, name)(thing, X) == want).all()
    assert getattr(Derived, name).explain(thing, X).captured == FOLLOWED


def test_instances_that_the_program_makes():
    @jit
    def made(x, k):
        thing = Derived(k, m=k + 1)
        return thing.f(x) + thing.all(x)

    for k in (1.0, 2.5, 2):
        assert (made(X, k) == made.__wrapped__(X, k)).all()
    assert made.explain(X, 1.0).captured == FOLLOWED


def test_compiled_properties():
    f = jit(lambda thing, x: x * thing.area)
    assert (f(Base(2.0), X) == X * (2.0 * np.pi)).all()
    assert f.explain(Base(2.0), X).captured


def test_methods_that_change():
    class A:
        def f(self, x):
            return x + 1

    class B(A):
        pass

    class C(B):
        @jit
        def f(self, x):
            return super().f(x) * 2

    thing = C()
    assert (thing.f(X) == (X + 1) * 2).all()
    B.f = lambda self, x: x + 5  # nearer than that of A
    assert (thing.f(X) == (X + 5) * 2).all()
    del B.f
    A.f = lambda self, x: x - 1
    assert (thing.f(X) == (X - 1) * 2).all()


def test_several_base_classes():
    class Left(Base):
        @jit
        def f(self, x):
            return super().f(x) + 1

    class Right(Base):
        def f(self, x):
            return super().f(x) * 10

    class Both(Left, Right):
        pass

    assert (Left(2.0).f(X) == X * 2 + 1).all()
    assert (Both(2.0).f(X) == X * 20 + 1).all()
    assert (Left(2.0).f(X) == X * 2 + 1).all()


def test_what_is_missing_is_python_s_error():
    class A:
        @jit
        def f(self, x):
            return super().f(x)

    with pytest.raises(AttributeError, match="'super' object has no attribute 'f'"):
        A().f(X)
