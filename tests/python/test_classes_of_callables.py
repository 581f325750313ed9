"""Functions, bound methods, ``functools.partial`` and ``super`` objects are of Python's classes."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

X = np.arange(6.0)


class Plain:
    def method(self):
        return 1


class Heir(Plain):
    def method(self):
        return type(super()) is super

    def __call__(self, x):
        return x + 1


def double(x):
    return x * 2


def test_what_type_and_isinstance_say():
    def f(x):
        made = (
            functools.partial(double), np.vectorize(double), lambda: x, Heir().method, x.sum,
            "a".upper, [].append, Heir().__init__, slice(1, x.sum()),
        )
        return [type(value) for value in made], [
            [isinstance(value, kind) for value in made]
            for kind in (functools.partial, np.vectorize, types.FunctionType, types.MethodType,
                         types.BuiltinMethodType, types.MethodWrapperType, slice, int, object)
        ]

    alike(f, (X,))


def test_super_has_a_class():
    alike(lambda x: x * 2 if Heir().method() else x, (X,))


def test_callable():
    def f(x):
        made = (Heir(), Plain(), Heir, functools.partial(double), lambda: x, x.sum, x, 1, "a",
                [1], slice(3), super, (k for k in (1, 2)))
        return [callable(value) for value in made], x + 1

    alike(f, (X,))


def test_attributes_that_are_there():
    def f(x):
        part = functools.partial(double)
        return [hasattr(part, "func"), hasattr(part, "name"), hasattr(Heir().method, "__self__"),
                hasattr(x.sum, "__func__"), hasattr(slice(2), "step")], x + 1

    alike(f, (X,))


def test_the_class_of_a_generator_is_pythons_to_say():
    def f(x):
        items = (k for k in (1, 2))
        return isinstance(items, types.GeneratorType), x + 1

    alike(f, (X,), captured=False)


def test_partial_of_nothing_raises():
    with pytest.raises(TypeError, match="partial"):
        jit(lambda x: functools.partial()(x))(X)


def test_partial_takes_keywords_of_any_name():
    def keywords(x, **named):
        return x * named["self"] + named["t"] - named["cls"]

    alike(lambda x: functools.partial(keywords, self=2, t=3, cls=4)(x), (X,))


def test_update_takes_keywords_of_any_name():
    def f(x):
        found = {"a": x}
        found.update(self=x + 1, other=x + 2)
        return found["self"] + found["other"], list(found)

    alike(f, (X,))
