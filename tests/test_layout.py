"""Strides of fresh memory: elements fill it, in some order of the axes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npcompile.core.facts import Facts
from npcompile.core.sizes import symbol
from npcompile.graph.layout import fresh_strides, is_packed, packed_strides

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
