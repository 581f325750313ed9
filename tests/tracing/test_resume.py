"""A failed check leaves what Python needs to go on: the same result, exception and mutations."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from npcompile.graph.interpret import CheckFailed, _GraphRun
from npcompile.graph.ir import Items, StaticObject
from npcompile.python import values
from npcompile.runtime.versions.resume import NULL, Activation, resume
from npcompile.tracing.result_trees import TUPLE_ITERATOR
from tests.support import oracle
from tests.support.arrays import meaning
from tests.tracing.test_tracing import fetch, follow, refused


class Run(_GraphRun):
    """Interprets a graph, and builds what its resume descriptors say."""

    def tree(self, tree):
        if isinstance(tree, StaticObject) and tree.value is values.NULL:
            return NULL
        if isinstance(tree, Items) and tree.kind is TUPLE_ITERATOR:
            return iter(tuple(map(self.tree, tree.items)))
        return super().tree(tree)


def activations(run, left, function, arguments):
    for frame in left.resume.frames:
        owner = fetch(frame.owner, function, arguments) if frame.owner else function
        closure = (owner.__closure__ or ()) if frame.code.co_freevars else ()
        variables = {name: run.tree(tree) for name, tree in frame.local}
        stack = [run.tree(tree) for tree in frame.stack]
        yield Activation(frame.code, owner.__globals__, closure, frame.offset, variables, stack)


def leaves(function, traced_with, args):
    """Traces with some arguments, runs with others: a check fails, and Python goes on."""
    found, _ = follow(function, *copy.deepcopy(traced_with))
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    names = list(follow(function, *copy.deepcopy(traced_with))[1])
    arguments = dict(zip(names, mine))
    values_ = [fetch(leaf.source, function, arguments) for leaf in found.leaves]
    run = Run(found.graph, values_, meaning, found.graph.bound)
    with pytest.raises(CheckFailed) as caught:
        run.region(found.graph.region)
    frames = caught.value.resume.frames
    assert frames
    latest = dict(enumerate(found.graph.params))
    for node in found.graph.region.nodes:  # memory is what was written last
        if node in run.values and node.op == "write":
            latest.update({k: node for k, p in latest.items() if p is node.args[0]})
    for k, node in latest.items():
        if node.op == "write":
            values_[k][...] = run.values[node]
    left = list(activations(run, caught.value, function, arguments))
    got = oracle.observe(lambda: resume(left), world=lambda: mine)
    want = oracle.observe(function, *theirs)
    oracle.check(got.result, want.result, oracle.MEANING)
    oracle.check(got.error, want.error)
    oracle.check(mine, theirs, oracle.MEANING)
    return frames


V = np.linspace(-1, 2, 7)


def test_in_the_middle_of_an_expression():
    def f(a, n):
        a[0] = 5.0
        return (a[1],
                n * n + 1, a)

    (frame,) = leaves(f, (V, 3), (V, 2**40))
    assert frame.code is f.__code__ and len(frame.stack) == 3


def test_a_raise_in_a_loop():
    def f(a, n):
        total = []
        for k, w in enumerate([n, 2.0, 3.0]):
            for j in range(2):
                a[k] = w + j
                total.append(w)
                if a.sum() > 8:
                    raise ValueError(f"{k} {j} {total} {a}")
        return total

    leaves(f, (V, 0.5), (V, 0.5))
    leaves(f, (V, 0.5), (V, 100.0))


def square(v, n):
    v[0] = 2.0
    m = n * n
    return v + m


def outer(v, n):
    kept = v[1:]
    w = [square(kept, n), 1]
    v[0] = -1
    return w, kept


def test_inside_helpers():
    def f(a, n):
        a[-1] = 0.5
        result = outer(a, n)
        return result, a

    frames = leaves(f, (V, 3), (V, 2**40))
    assert [frame.code.co_name for frame in frames] == ["f", "outer", "square"]


def test_before_any_effect_python_starts_again():
    def f(a, n):
        b = a * 2
        b[0] = n * n
        a[0] = b[0]
        return b

    found, _ = follow(f, V, 3)
    checks = [node.attrs.resume.frames for node in found.graph.region.nodes if node.op == "check"]
    assert checks == [()]


def test_what_cannot_be_said_is_refused():
    def f(a, n):
        a[0] = 1.0
        return list(map(lambda k: k * n * n, [1, 2]))  # noqa: C417

    assert "can't go on" in refused(f, V, 3).reason
