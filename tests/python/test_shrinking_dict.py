"""Dictionaries whose keys the run makes and removes: ``del``, ``pop``, ``popitem``, ``clear``."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.python.polyfills.containers import SMALL_TABLE
from npcompile.python.polyfills.shrinking import ShrinkingDict
from tests.fuzz import queues
from tests.fuzz.framework import checked
from tests.support.oracle import as_python, check_calls


def deleted(x):
    found = {}
    for v in x:
        found[int(v)] = found.get(int(v), 0) + 1
    for v in x:
        if int(v) in found and v % 2:
            del found[int(v)]
    return found, len(found)


def cache(x):
    held, hits = {}, 0
    for v in x:
        v = int(v)
        if v in held:
            hits += 1
            held[v] = held.pop(v) + 1
        else:
            if len(held) >= 5:
                for _oldest in held:
                    break
                del held[_oldest]
            held[v] = 1
    return hits, held


def matched(x):
    """Pairs of equal numbers, in order."""
    waiting, pairs = {}, []
    for i in range(len(x)):
        other = waiting.pop(int(x[i]), -1)
        if other < 0:
            waiting[int(x[i])] = i
        else:
            pairs.append((other, i))
    return pairs, waiting


def from_the_end(x):
    found, total = {}, 0
    for v in x:
        found[int(v), int(v) % 3] = float(v)
        if len(found) > 6:
            key, value = found.popitem()
            total += key[0] * value
    found.clear()
    found[1, 2] = 0.5
    return total, found


@pytest.mark.parametrize("function", [deleted, cache, matched, from_the_end])
def test_the_same_items(function: Callable[..., Any]) -> None:
    rng, made = np.random.default_rng(1), jit(function)
    for high, count in ((9, 300), (10**6, 300), (9, 0)):
        check_calls(made, function, rng.integers(-high, high, count))
    assert not made.cache_info().refused


def test_a_key_that_is_not_there() -> None:
    def removes(x, wanted):
        found = {}
        for v in x:
            found[int(v)] = 1
        del found[int(x[0])]
        return found.pop(wanted)

    as_python(removes, np.arange(5), 3, compiled=True)
    for wanted in (0, 99):
        as_python(removes, np.arange(5), wanted)


def test_an_iterator_from_before_a_change() -> None:
    def behind(x, way, change):
        found = {}
        for v in x:
            found[int(v)] = float(v)
        t = iter(found) if way == 0 else iter(found.values()) if way == 1 else found.items()
        if change == 0:
            found[99] = 1.0
        elif change == 1:
            found.pop(int(x[1]))
        else:
            found[int(x[1])] = 3.0
        return list(t)

    made = jit(behind)
    for way in range(3):
        for change in range(3):
            check_calls(made, behind, np.arange(5), way, change)


@pytest.mark.parametrize("seed", range(20))
def test_the_model(seed: int) -> None:
    """A random course of changes, in Python: the model has the dictionary's items and order."""
    rng, model, plain = random.Random(seed), ShrinkingDict(), {}
    model._keys, model._values, model._there = [], [], []
    model._places = [-1] * SMALL_TABLE
    model._live = model._used = model._base = 0
    for step in range(600):
        key = rng.randrange(-9, rng.choice((5, 40, 400)))
        way = rng.random() + (0.2 if step // 120 % 2 else -0.1)
        if way < 0.5:
            model[key] = plain[key] = step
        elif way < 0.9:
            assert model.pop(key, None) == plain.pop(key, None)
        elif way < 1.0 and plain:
            assert model.popitem() == plain.popitem()
        elif way < 1.05:
            assert list(model.items()) == list(plain.items())
        elif way < 1.051:
            model.clear()
            plain.clear()
        elif key in plain:
            del model[key], plain[key]
        assert (key in model) == (key in plain) and len(model) == len(plain)
        assert model._make((model._keys, model._values, model._there)) == plain
    assert [*model] == [*plain] and [*model.values()] == [*plain.values()]


def test_random_programs() -> None:
    checked(queues.GRAMMAR, range(720000, 720006))
