"""One graph serves every size for which its guards hold: traced with some, run with others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed, interpret
from npcompile.ops import indexing
from tests.support import oracle
from tests.support.arrays import call, holds, meaning, trace

get = indexing.getitem


def item(key):
    return lambda ctx, x: get(ctx, x, key), lambda x: x[key]


def function(f, *args, **options):
    return call(f, *args, **options), lambda x: f(x, *args, **options)


def both(f, **options):
    return (lambda ctx, x: call(f, **options)(ctx, [x, x]),
            lambda x: f([x, x], **options))


def assign(key, value):
    def numpy(x):
        x[key] = value
        return x

    def program(ctx, x):
        indexing.setitem(ctx, x, key, value)
        return x

    return program, numpy


PROGRAMS = [
    item(np.s_[1:-1, 1:-1]), item(np.s_[::2, ::-1]), item(np.s_[-1]), item(np.s_[2:0:-1, :3]),
    item(np.s_[-3:, None, ..., -2]), assign(np.s_[1:-1], 3), assign(np.s_[:2, -1], 5.0),
    function(np.sum), function(np.sum, axis=0), function(np.sum, axis=1), function(np.mean, axis=0),
    function(np.var), function(np.max, axis=1), function(np.argmin, axis=0),
    function(np.sum, dtype="f4"), function(np.sum, axis=0, keepdims=True),
    function(np.ravel), function(np.transpose), function(np.reshape, (-1, 2)),
    function(np.reshape, -1), function(np.copy), function(np.diagonal), function(np.trace, 1),
    function(np.squeeze), function(np.flip), function(np.rot90), function(np.array_split, 3),
    function(np.tril), function(np.triu, 1), function(np.zeros_like), function(np.roll, 2),
    function(np.roll, -1, axis=1), function(np.tile, 2), function(np.repeat, 2, axis=1),
    function(np.pad, 1), function(np.diff, axis=0), function(np.nansum, axis=1),
    function(np.broadcast_to, (3, 4, 5)), both(np.concatenate), both(np.stack, axis=1),
    both(np.concatenate, axis=1), both(np.hstack), function(np.linalg.norm, axis=1),
    function(np.expand_dims, 1), function(np.ascontiguousarray),
]
shape = st.tuples(*[st.sampled_from([0, 1, 2, 3, 4, 7, 130])] * 2)
layout = st.sampled_from(["C", "F", "strided", "reversed"])


def made(shape, layout):
    rng = np.random.default_rng(sum(shape))
    wide = rng.standard_normal([2 * n for n in shape]) * 10.0 ** rng.integers(-3, 4)
    a = wide[::2, ::2]
    return {"C": np.ascontiguousarray(a), "F": np.asfortranarray(a), "strided": a,
            "reversed": a[::-1]}[layout]


@pytest.mark.parametrize("program, numpy", PROGRAMS)
@settings(max_examples=25)
@given(shape, st.lists(shape, min_size=1, max_size=4), layout)
def test_sizes(program, numpy, first, others, layout):
    example = made(first, layout)
    try:
        graph = trace(program, example)
    except (Refused, CheckFailed):
        return
    for again in (first, *others):
        a = made(again, layout)
        if (example.flags.c_contiguous and not a.flags.c_contiguous) or not holds(graph, a):
            continue
        b = made(again, layout)
        with np.errstate(all="ignore"):
            want = numpy(b)
        try:
            got = interpret(graph, [a], meaning)
        except CheckFailed:
            continue
        oracle.check(got, want, oracle.MEANING)
        oracle.check(a, b, oracle.MEANING)
