"""What objects keep themselves is found without their dictionaries being made."""

import gc
import inspect
import sys
from functools import cached_property

import numpy as np
import pytest

from npcompile import jit
from npcompile.guards.own_attributes import MISSING, has_dictionary, own, static


class _Setter:
    def __set__(self, held, value):
        raise AttributeError


class _Base:
    shared, number, setter = [1], 0, _Setter()

    def __init__(self):
        self.w, self.number, self.again = 2.5, 0, self.shared
        self.bound = self.method
        vars_of = {"setter": 3}
        self.more = vars_of

    def method(self):
        return self.w

    @property
    def computed(self):
        raise AssertionError("runs code of the program's")

    @cached_property
    def cached(self):
        raise AssertionError("runs code of the program's")

    @staticmethod
    def alone():
        return 1

    @classmethod
    def of_class(cls):
        return cls


class _Slots(_Base):
    __slots__ = ("slot",)


class _Shadowed(_Base):
    method_ = _Base.method

    def __init__(self):
        super().__init__()
        self.method = 5
        self.alone = 6


class _Asks(_Base):
    def __getattr__(self, name):
        raise AssertionError("runs code of the program's")


class _Dictionary(dict):
    pass


class _Kept(_Base):
    def __init__(self):
        super().__init__()
        self.__dict__ = _Dictionary(w=1.5)


NAMES = ("w", "number", "again", "shared", "bound", "more", "method", "method_", "computed",
         "cached", "alone", "of_class", "slot", "setter", "missing", "__class__", "__doc__")
KINDS = (_Base, _Slots, _Shadowed, _Asks, _Kept)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_found_as_by_inspect(kind, name):
    held = kind()
    found, kept, plain = static(held, name, MISSING), own(held, name), has_dictionary(held)
    assert found is inspect.getattr_static(held, name, MISSING)
    assert kept is vars(held).get(name, MISSING)
    assert plain == (type(held.__dict__) is dict)


def _has_none(held):
    return not any(type(kept) is dict for kept in gc.get_referents(held))


class _Costs:
    def __init__(self, n):
        self.w, self.p, self.a = list(range(n)), list(range(n)), np.arange(4.0)

    def cost(self, i):
        return self.w[i] - self.p[i]

    def scaled(self, x):
        return self.a * x + self.cost(1)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="reads stay fast there")
@pytest.mark.parametrize("function, value", [(_Costs.cost, 2), (_Costs.scaled, 2.0)])
def test_tracing_makes_no_dictionary(function, value):
    held = _Costs(8)
    fast = jit(function)
    np.testing.assert_array_equal(fast(held, value), function(held, value))
    assert fast.cache_info().compiled == 1
    assert _has_none(held)
