"""Strides of fresh memory: elements fill it, in some order of the axes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile.core.facts import Facts
from npcompile.core.sizes import hint, symbol
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Param
from npcompile.graph.layout import fresh_strides, is_packed, packed_strides
from npcompile.graph.types import Array

N, M, K = symbol("n", 4), symbol("m", 3), symbol("k", 4)

shapes = st.lists(st.sampled_from([0, 1, 2, 3, N, M, N * M]), max_size=4).map(tuple)


@given(shapes, st.randoms())
def test_fresh_arrays_are_packed(shape, random):
    order = random.sample(range(len(shape)), len(shape))
    strides = fresh_strides(shape, order)
    assert is_packed(Facts(), shape, strides)
    assert packed_strides(Facts(), shape, strides) == strides


@given(st.lists(st.integers(0, 3), max_size=3), st.data())
def test_packed_is_what_needs_no_other_memory(shape, data):
    strides = data.draw(st.lists(st.integers(-3, 9), min_size=len(shape), max_size=len(shape)))
    places = sorted(int(np.dot(index, strides)) if strides else 0 for index in np.ndindex(*shape))
    fills = places == list(range(int(np.prod(shape))))
    assert is_packed(Facts(), tuple(shape), tuple(strides)) == fills
    assert is_packed(Facts(), tuple(shape), packed_strides(Facts(), tuple(shape), tuple(strides)))


@pytest.mark.parametrize("strides", [(0, 1), (2 * M, 1), (-M, 1), (1, N + 1), (N, 1)])
def test_strides_of_views_are_not_those_of_fresh_arrays(strides):
    assert not is_packed(Facts(), (N, M), strides)
    assert any(
        packed_strides(Facts(), (N, M), strides) == fresh_strides((N, M), order)
        for order in permutations(range(2))
    )


def test_what_is_known_of_sizes_counts():
    facts = Facts()
    facts.equal(N, K)
    assert is_packed(facts, (N, M), (1, K))


def ordered(draw, shape):
    """An array of a shape, its axes in any order in memory, those of length 1 with any stride."""
    order = draw.sample(range(len(shape)), len(shape))
    strides = [8 * s for s in fresh_strides(shape, order)]
    odd = draw.choice([0, 8, 400, None])
    at = [odd if n == 1 and odd is not None else s for n, s in zip(shape, strides, strict=True)]
    return np.lib.stride_tricks.as_strided(np.zeros(81), shape, at)


def known(draw, builder, array, name):
    """Its node: sizes and strides are numbers or symbols."""
    kept = draw.choice([(), (1,), range(81)])
    sizes = [n if n in kept else symbol(f"{name}{k}", n) for k, n in enumerate(array.shape)]
    steps = [n // 8 if kept or n == 8 else symbol(f"{name}s{k}", n // 8)
             for k, n in enumerate(array.strides)]
    type_ = Array(array.dtype, tuple(sizes), tuple(steps))
    return builder.emit("param", (), Param(0, name), type_)


@settings(max_examples=200)
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.integers(1, 4), st.randoms())
def test_results_lie_in_memory_as_numpy_lays_them_out(shape, operands, draw):
    builder, names = Builder(Facts()), "abcd"[:operands]
    sub = [[draw.choice([1, n]) for n in shape][draw.randrange(len(shape)):] for _ in names]
    shapes = [tuple(draw.choice([shape, shape, some])) for some in sub]
    arrays = [ordered(draw, some) for some in shapes]
    nodes = [known(draw, builder, *pair) for pair in zip(arrays, names, strict=True)]
    made, node = -arrays[0], builder.map("neg", nodes[:1], np.float64)
    for array, other in zip([*arrays, made], [*nodes, node], strict=True):
        made, node = made + array, builder.map("add", [node, other], np.float64)
        assert tuple(map(hint, node.type.strides)) == tuple(s // 8 for s in made.strides)
