"""Programs written as arithmetic: nodes, types, constants, and their meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npcompile.core.sizes import symbol
from npcompile.graph import expression as ex
from npcompile.graph.builder import Builder
from npcompile.graph.expression import apply
from npcompile.graph.ir import Node, Param
from npcompile.graph.types import Array, Scalar, contiguous
from tests.support.interpreter import run

FLOATS = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 5e-324])
INTS = np.array([0, 1, -7, 2**40], np.int64)


def parameter(builder: Builder, index: int, type_: Any) -> Node:
    return builder.emit("param", (), Param(index, f"p{index}"), type_)


@pytest.mark.parametrize("program, numpy", [
    (lambda x: x + 1, lambda x: x + 1), (lambda x: 1 - x, lambda x: 1 - x),
    (lambda x: 2 * x, lambda x: 2 * x), (lambda x: 1 / x, lambda x: 1 / x),
    (lambda x: -abs(x), lambda x: -abs(x)), (lambda x: x < 1, lambda x: x < 1),
    (lambda x: x >= 1, lambda x: x >= 1), (lambda x: x != x, lambda x: x != x),
    (lambda x: (x > 0) & ~(x > 1), lambda x: (x > 0) & ~(x > 1)),
    (lambda x: ex.where(x == 0, x, -0.0), lambda x: np.where(x == 0, x, -0.0)),
    (lambda x: ex.rare(x < 0, 1.0, x), lambda x: np.where(x < 0, 1.0, x)),
    (lambda x: ex.from_bits(ex.to_bits(x)), lambda x: x),
    (lambda x: ex.cast(x, "f"), lambda x: x.astype("f")),
    (lambda x: ex.floor(x) + ex.ceil(x) * ex.trunc(x) - ex.rint(x),
     lambda x: np.floor(x) + np.ceil(x) * np.trunc(x) - np.rint(x)),
    (lambda x: ex.copysign(2.0, x), lambda x: np.copysign(2.0, x)),
    (lambda x: ex.imag(ex.complex_(1.0, x)), lambda x: x),
])
def test_operators(program: Callable[..., Any], numpy: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        got, want = np.asarray(run(program, FLOATS)), np.asarray(numpy(FLOATS))
    assert got.dtype == want.dtype
    assert np.array_equal(got, want, equal_nan=got.dtype.kind != "b")
    if got.dtype.kind == "f":
        assert np.array_equal(np.signbit(got), np.signbit(want))


def test_integers() -> None:
    got = run(lambda i: ((i << 3) ^ (i >> 1)) | (i & 12), INTS)
    assert np.array_equal(got, ((INTS << 3) ^ (INTS >> 1)) | (INTS & 12))


def test_lookup_wraps_the_index() -> None:
    got = run(lambda i: ex.lookup(i, (1.0, 2.0, 4.0, 8.0)), INTS)
    assert got.tolist() == [1.0, 2.0, 2.0, 1.0]


def test_several_results() -> None:
    builder = Builder()
    x = parameter(builder, 0, Scalar(np.dtype(float), "np"))
    made = apply(lambda x: (x + 1, x), builder, [x])
    assert isinstance(made, tuple) and made[0].op == "add" and made[1] is x


def test_constants_have_the_operands_dtype_and_sign() -> None:
    builder = Builder()
    x = parameter(builder, 0, Scalar(np.dtype(np.float32), "np"))
    made = apply(lambda x: ((x + 0.0), (x + -0.0), (x + 0.1)), builder, [x])
    assert isinstance(made, tuple)
    values = [node.args[1].attrs.value for node in made]  # type: ignore[union-attr]
    assert [type(v) for v in values] == [np.float32] * 3
    assert [bool(np.signbit(v)) for v in values] == [False, True, False]


def test_layout_is_that_of_all_operands() -> None:
    """Steps on one transposed operand are laid out as NumPy lays out the whole result."""
    builder = Builder()
    n, m = symbol("n", 4, 0), symbol("m", 3, 0)
    x = parameter(builder, 0, Array(np.dtype(float), (n, m), (1, n)))
    y = parameter(builder, 1, contiguous(np.dtype(float), (m,)))
    made = apply(lambda x, y: (abs(x) * y, abs(y)), builder, [x, y])
    assert isinstance(made, tuple)
    assert made[0].type == builder.map_type([x, y], np.dtype(float))
    assert made[0].args[0].type == made[0].type
    assert made[1].shape == (m,)


def test_a_program_has_no_branches() -> None:
    with pytest.raises(TypeError, match="branches"):
        run(lambda x: x if x > 0 else -x, FLOATS)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12), st.integers(-3, 3))
def test_polynomials(coefficients: list[int], x: int) -> None:
    got = run(lambda v: ex.poly(v, [float(c) for c in coefficients]) + v * 0.0,
              np.array([float(x)]))
    assert got[0] == sum(c * x**k for k, c in enumerate(coefficients))
