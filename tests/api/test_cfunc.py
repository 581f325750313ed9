"""C functions of plain Python functions: numbers, arrays, SciPy's callers, exceptions."""

from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, ndimage

from npcompile import CompileError, carray, cfunc

FLOAT = st.floats(-50, 50)


@cfunc("float64(float64, float64)", fullgraph=True)
def branching(x, y):
    if x > y:
        return math.exp(-abs(x * y))
    return x + math.sin(y)


@cfunc("int64(int32, int64)", fullgraph=True)
def integers(a, b):
    return a * b + (b >> 2 if a > 3 else -b)


@settings(max_examples=50, deadline=None)
@given(FLOAT, FLOAT)
def test_floats(x: float, y: float) -> None:
    assert math.isclose(branching.ctypes(x, y), branching(x, y), rel_tol=1e-14, abs_tol=1e-300)


@settings(max_examples=50, deadline=None)
@given(st.integers(-2**31, 2**31 - 1), st.integers(-2**31, 2**31 - 1))
def test_integers(a: int, b: int) -> None:
    assert integers.ctypes(a, b) == integers(a, b)


@pytest.mark.parametrize("signature, args", [
    ("float32(float32)", (1.25,)), ("int8(int8)", (-7,)), ("uint16(uint16)", (65000,)),
    ("float64(int32)", (-3,)), ("boolean(float64)", (2.0,)), ("int64(boolean)", (True,)),
    ("float64(float64, int64)", (2.0, -3)),
])
def test_types_of_numbers(signature: str, args: tuple[Any, ...]) -> None:
    made = cfunc(signature, fullgraph=True)(_identity if len(args) == 1 else _power)
    wanted = made(*args)
    assert made.ctypes(*args) == (bool(wanted) if signature.startswith("bool") else wanted)
    assert signature in repr(made)


def _identity(x):
    return x


def _power(x, n):
    return x ** n


def test_quad() -> None:
    bell = cfunc("quad", fullgraph=True)(lambda x: math.exp(-x * x))
    assert integrate.quad(bell.low_level_callable, 0, 5)[0] == pytest.approx(
        integrate.quad(bell.__wrapped__, 0, 5)[0], rel=1e-14)
    plane = cfunc("nquad", fullgraph=True)(lambda x: x[0] * x[1] + x[0])
    assert integrate.nquad(plane.low_level_callable, [[0, 1], [0, 2]])[0] == pytest.approx(2.0)


def test_filters() -> None:
    image = np.random.default_rng(3).normal(size=(20, 30))
    spread = cfunc("generic_filter", fullgraph=True)(lambda v: v.max() - v.min() * 2)
    for size in (3, 5, (1, 4)):
        np.testing.assert_array_equal(
            ndimage.generic_filter(image, spread.low_level_callable, size),
            ndimage.generic_filter(image, spread.__wrapped__, size))

    @cfunc("generic_filter1d", fullgraph=True)
    def running(line, result):
        for k in range(len(result)):
            result[k] = line[k] + line[k + 1] * line[k + 2]

    np.testing.assert_array_equal(
        ndimage.generic_filter1d(image, running.low_level_callable, 3),
        ndimage.generic_filter1d(image, running.__wrapped__, 3))

    @cfunc("geometric_transform", fullgraph=True)
    def moved(at, found):
        found[0] = at[0] - 0.5
        found[1] = at[1] * 0.9

    np.testing.assert_allclose(
        ndimage.geometric_transform(image, moved.low_level_callable),
        ndimage.geometric_transform(image, lambda at: (at[0] - 0.5, at[1] * 0.9)))


def test_numbas_way_to_write_a_filter() -> None:
    @cfunc("intc(CPointer(float64), intp, CPointer(float64), voidptr)", fullgraph=True)
    def mean(values_ptr, len_values, result, data):
        values = carray(values_ptr, (len_values,), dtype=np.float64)
        result[0] = values.sum() / len_values
        return 1

    image = np.random.default_rng(3).normal(size=(20, 30))
    np.testing.assert_allclose(ndimage.generic_filter(image, mean.low_level_callable, 3),
                               ndimage.generic_filter(image, np.mean, 3))


def test_arrays_with_lengths() -> None:
    @cfunc("float64(float64[:], float64[:, :])", fullgraph=True)
    def form(x, a):
        total = 0.0
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                total += x[i] * a[i, k] * x[k]
        return total

    for n in (3, 4, 1):
        x, a = np.arange(1.0, n + 1), np.arange(1.0 * n * n).reshape(n, n)
        pointers = [v.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for v in (x, a)]
        got = form.ctypes(pointers[0], n, pointers[1], n, n)
        assert got == pytest.approx(form(x, a), rel=1e-14)


def test_an_exception_is_told_and_the_result_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    inverse = cfunc("float64(float64)", fullgraph=True)(lambda x: 1.0 / x)
    assert inverse.ctypes(4.0) == 0.25 and not said
    assert math.isnan(inverse.ctypes(0.0))
    assert [one.exc_type for one in said] == [ZeroDivisionError]
    assert cfunc("int32(int32)")(lambda n: 7 // n).ctypes(0) == 0
    spread = cfunc("generic_filter")(lambda v: 1 / int(v[0]))
    with pytest.raises(RuntimeError):
        ndimage.generic_filter(np.zeros(5), spread.low_level_callable, 3)


def test_globals_may_change() -> None:
    factor = 2.0
    made = cfunc("float64(float64)")(lambda x: x * factor)
    assert made.ctypes(3.0) == 6.0
    factor = 5.0
    assert made.ctypes(3.0) == 15.0
    assert made.ctypes(4.0) == 20.0


def test_what_cannot_be_compiled_runs_in_python() -> None:
    def listed(x):
        return float(len(globals()) > 0) + x

    made = cfunc("float64(float64)")(listed)
    assert made.ctypes(0.5) == 1.5
    assert "Python" in made.explain()
    with pytest.raises(CompileError):
        cfunc("float64(float64)", fullgraph=True)(listed)


def test_what_was_written_before_leaving_is_not_written_twice() -> None:
    @cfunc("void(float64[:], float64)")
    def counted(total, x):
        total[0] += 1.0
        total[1] = math.exp(x)

    held = np.zeros(2)
    pointer = held.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    counted.ctypes(pointer, 2, 0.0)
    assert held.tolist() == [1.0, 1.0]
    said: list[Any] = []
    before, sys.unraisablehook = sys.unraisablehook, said.append
    counted.ctypes(pointer, 2, 1000.0)
    sys.unraisablehook = before
    assert held[0] == 2.0 and len(said) == 1


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="tells no result"):
        cfunc("float64")(_identity)
    with pytest.raises(TypeError, match="no option"):
        cfunc("float64(float64)", nonsense=1)
    with pytest.raises(TypeError, match="compiles Python functions"):
        cfunc("float64(float64)")(math.sin)
