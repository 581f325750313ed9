"""Subprograms as Triton code: calls that are put together have the results of calls one by one."""

import random

import numpy as np
import pytest

from npcompile.graph.ir import Subprogram
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.subprograms import DOUBLE, choose, repeat
from tests.support.cpu_backend import elementwise

pytest.importorskip("triton", reason="Triton is not installed: kernels for GPUs are not tested")

from npcompile.backends.gpu import flat
from npcompile.backends.gpu.driver import Launched, lower
from npcompile.backends.gpu.interpreter import Interpreter
from tests.support import oracle
from tests.support.gpu import reading


def halved(x):
    return repeat(lambda y: ((y > 3.0) & (y < 1e9), y * 0.5), abs(x))[0] + 1.0


def shifted(x):
    return choose(x < 1.0, lambda: (x * x - 2.0,), lambda: (x - 3.0,))[0]


CALLED = [Subprogram("halved", 1, halved), Subprogram("shifted", 1, shifted)]


def call(which, x):
    return x.scope.emit("call", (x.node,), DOUBLE, CALLED[which])


def text_of(program):
    """The Triton code of a subprogram; it gives what calls one by one give."""
    what = Subprogram("program", 2, program)
    x, y = (np.random.default_rng(seed).uniform(-4.0, 9.0, 60) for seed in (1, 2))
    out = np.zeros(60)
    module = lower(elementwise("call", "dd", "d", what))
    Launched(module, Interpreter()).run([x, y, out])
    assert oracle.elements(out, PRIMITIVES["call"].meaning(x, y, subprogram=what)), module.text
    (source,) = [source for sources in module.sources.values() for source in sources]
    return source.parts[-2]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(flat, "WORTH", 1)


def test_calls_in_arms_are_one(monkeypatch):
    def program(x, y):
        def other():
            return choose(y < 2.0, lambda: (call(0, y),), lambda: (call(0, x + y) * 2.0,))

        return choose(x < 1.0, lambda: (call(0, x) + 1.0,), other)[0]

    with reading(monkeypatch):
        text = text_of(program)
    assert text.count(" = halved(") == 1 and "range(" not in text


def test_calls_on_the_same_lanes_are_iterations_of_a_loop(monkeypatch):
    with reading(monkeypatch):
        text = text_of(lambda x, y: call(0, x) - call(0, y) * call(0, x * y) + call(0, x))
    assert text.count(" = halved(") == 1 and "in range(3):" in text


def test_calls_that_need_each_other_stay_apart():
    assert text_of(lambda x, y: call(0, call(0, x) + y)).count(" = halved(") == 2

    def crossed(x, y):
        return call(1, call(0, x)) + call(0, call(1, y))

    text = text_of(crossed)
    assert text.count(" = halved(") + text.count(" = shifted(") == 3


def number(draw, values, depth):
    """Appends a number that is computed from others."""
    x, y = draw.choice(values), draw.choice(values)
    kind = draw.randrange(8 if depth else 5)
    if kind == 0:
        found = x + y * 0.25
    elif kind == 1:
        found = x * 0.5 - y
    elif kind < 5:
        found = call(kind % 2, x)
    elif kind < 7:
        found = choose(x < y, *[lambda: (several(draw, list(values), depth - 1),)] * 2)[0]
    else:
        def step(turns, z):
            return turns < 3.0, turns + 1.0, several(draw, [*values, z], depth - 1)

        found = repeat(step, x * 0.0, y)[1]
    values.append(found)


def several(draw, values, depth):
    for _ in range(3):
        number(draw, values, depth)
    return values[-1] + values[-2]


@pytest.mark.parametrize("seed", range(20))
def test_random_subprograms(seed):
    def program(x, y):
        draw = random.Random(seed)
        return several(draw, [x, y, x - y], 2)

    text_of(program)
