"""Ufuncs of plain functions: results, NumPy's ways of calling them, dtypes, errors."""

from __future__ import annotations

import math
import pickle
import sys
import warnings
from collections.abc import Callable
from threading import Thread
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from npcompile import CompileError, guvectorize, vectorize
from npcompile.runtime.ufuncs.core_layouts import CoreLayout

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(2, 40)) * 3


def branching(x, y):
    if x > y:
        return math.exp(-x * y) if x * y < 700 else 0.0
    return x + math.sin(y)


def smooth(x, y):
    return np.exp(-x * x) * y + np.sqrt(abs(y))


def steps(x, y):
    count, z = 0, x
    while abs(z) < 50.0 and count < 30:
        z = z * z + y
        count += 1
    return count


def mixed(x, y):
    return 0 if x > y else y


def digits(x, y):
    return x % 7 + (y >> 1 if y > 3 else y << 2)


FLOATS = [branching, smooth, steps, mixed]


def plainly(function: Callable[..., Any], *args: Any) -> Any:
    """The function of each element, in the dtype that holds all results."""
    operands = np.broadcast_arrays(*args)
    results = [function(*row) for row in zip(*[a.ravel() for a in operands], strict=True)]
    return np.array(results).reshape(operands[0].shape)


#: elementary functions differ from the mathematical library's by an ulp or two
ELEMENTARY = dict.fromkeys([branching, smooth], 1e-14)


def check(made: Any, *args: Any) -> None:
    got, wanted = made(*args), plainly(made.__wrapped__, *args)
    np.testing.assert_allclose(got, wanted, rtol=ELEMENTARY.get(made.__wrapped__, 0), atol=0)


@pytest.mark.parametrize("function", FLOATS, ids=lambda f: f.__name__)
def test_broadcasting_and_layouts(function: Any) -> None:
    made = vectorize(function, fullgraph=True)
    for args in ((X, Y), (X[:, None], Y), (X[::-2], Y[::2]), (X[:1], Y), (X[:0], Y[:0]),
                 (X.reshape(5, 8).T, Y.reshape(8, 5)), (X.astype(">f8"), Y)):
        check(made, *args)
    assert made(1.5, 2.5) == function(1.5, 2.5)
    assert made.nin == 2 and made.nout == 1 and made.__name__ == function.__name__


def test_out_and_where() -> None:
    made = vectorize(branching)
    wanted = made(X, Y)
    np.testing.assert_allclose(wanted, plainly(branching, X, Y), rtol=1e-14)
    out = np.zeros(40)
    assert made(X, Y, out=out, where=X > Y) is out
    np.testing.assert_array_equal(out, np.where(X > Y, wanted, 0))
    apart = np.zeros(80)[::2]
    made(X, Y, apart)
    np.testing.assert_array_equal(apart, wanted)
    same = X.copy()
    made(same, Y, out=same)
    np.testing.assert_array_equal(same, wanted)
    shifted = np.concatenate([X, [0.0]])
    made(shifted[:-1], Y, out=shifted[1:])
    np.testing.assert_array_equal(shifted[1:], wanted)


def test_methods() -> None:
    made = vectorize(lambda a, b: a + 2 * b)
    plain = np.frompyfunc(lambda a, b: a + 2 * b, 2, 1)
    table = np.arange(24.0).reshape(4, 6)
    for axis in (0, 1):
        for name in ("reduce", "accumulate"):
            got, wanted = getattr(made, name)(table, axis), getattr(plain, name)(table, axis)
            np.testing.assert_array_equal(got, wanted.astype(float))
    np.testing.assert_array_equal(made.reduceat(X, [0, 3, 3, 9]),
                                  plain.reduceat(X, [0, 3, 3, 9]).astype(float))
    np.testing.assert_array_equal(made.outer(X[:3], Y[:4]),
                                  plain.outer(X[:3], Y[:4]).astype(float))
    counts, wanted = np.zeros(5), np.zeros(5)
    made.at(counts, [0, 0, 3], np.array([1.0, 2.0, 3.0]))
    np.add.at(wanted, [0, 0, 3], np.array([2.0, 4.0, 6.0]))
    np.testing.assert_array_equal(counts, wanted)
    with pytest.raises(ValueError, match="no identity"):
        made.reduce(np.zeros(0))
    either = vectorize(lambda a, b: a | b, identity=0)
    assert either.reduce(np.zeros(0, int)) == 0 and either.identity == 0
    assert either.reduce(np.array([[1, 2], [4, 8]]), axis=(0, 1)) == 15


@pytest.mark.parametrize("dtypes", ["ff", "dd", "fd", "ll", "hb", "Bl", "ee", "ld"])
def test_dtypes_by_use(dtypes: str) -> None:
    made = vectorize(lambda a, b: a * 3 + b, fullgraph=True)
    args = [np.arange(12).astype(char) for char in dtypes]
    check(made, *args)
    assert made(*args).dtype == plainly(made.__wrapped__, *args).dtype


def test_numbers_of_python_beside_arrays() -> None:
    made = vectorize(lambda a, b: a * b)
    assert made(np.float32([1, 2]), 2.5).dtype == np.float32
    assert made(np.arange(3), 2.5).dtype == np.float64
    assert made(np.uint8([3]), 2).dtype == np.uint8
    with pytest.raises(OverflowError):
        made(np.uint8([3]), 300)


def test_signatures_decide() -> None:
    made = vectorize(["int32(int32)", "float64(float64)"])(lambda x: x / 2)
    assert made.types == ["i->i", "d->d"]
    assert made(np.array([5], np.int16)).dtype == np.int32
    assert made(np.array([5])).tolist() == [2.5]
    with pytest.raises(TypeError, match="did not contain a loop"):
        made(np.array([1j]))
    assert vectorize("float32(float64)")(lambda x: x)(1.5).dtype == np.float32


def test_an_exception_is_the_plain_functions() -> None:
    def careful(x):
        if x < 0:
            raise KeyError("negative", float(x))
        return math.sqrt(x)

    made = vectorize(careful)
    with pytest.raises(KeyError) as caught:
        made(np.array([4.0, -1.0, -2.0]))
    assert caught.value.args == ("negative", -1.0)
    with pytest.raises(OverflowError, match="range"):
        vectorize(lambda x: math.exp(x))(np.array([1.0, 1000.0]))
    with pytest.raises(ZeroDivisionError):
        vectorize(lambda x: 1.0 / float(x))(np.array([1.0, 0.0]))
    assert made(np.array([9.0])).tolist() == [3.0]


def test_warnings_are_a_ufuncs() -> None:
    made = vectorize(lambda x: np.log(x))
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in <lambda>"):
        made(np.array([1.0, 0.0]))
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(np.array([0.0]))[0] == -np.inf
        vectorize(lambda x: float(x) * 1e300)(np.array([1e200]))  # Python's floats warn of nothing
        made(np.linspace(1, 2, 100))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        made(np.array([0.0]))


def test_integers_that_overflow_wrap_and_warn() -> None:
    made, big = vectorize(lambda x: x * 3), np.array([1, 2**62, 5])
    with pytest.warns(RuntimeWarning, match="overflow encountered in scalar multiply"):
        assert made(big).tolist() == [3, 2**62 * 3 - 2**64, 15]


def test_globals_and_closures_may_change() -> None:
    factor, table = 2.0, np.arange(5.0)

    def scaled(x):
        return x * factor + table[2]

    made = vectorize(scaled)
    assert made(X[:1])[0] == X[0] * 2 + 2
    factor = 3.0
    assert made(X[:1])[0] == X[0] * 3 + 2
    table[2] = 7.0
    assert made(X[:1])[0] == X[0] * 3 + 7
    table = np.ones(3)
    assert made(X[:1])[0] == X[0] * 3 + 1
    factor = np.float32(1)
    assert made(X[:1])[0] == X[0] + 1


def test_dtypes_of_results_follow_globals() -> None:
    base: Any = 3.0

    def scaled(x, wanted):
        return x * base if wanted else x

    made, x = vectorize(scaled), np.arange(4)
    for base in (3.0, 2, np.float32(2), 2.5, 2):
        for wanted in (False, True):
            want = np.result_type(x[0], base)
            assert made(x, wanted).dtype == want and made(3, wanted).dtype == want
            assert np.array_equal(made(x, wanted), x * base if wanted else x)
            out = np.zeros(4)
            assert made(x, wanted, out=out) is out and np.array_equal(out, made(x, wanted))


def test_a_call_after_a_change_has_the_new_dtype_at_once() -> None:
    factor: Any = 2.0
    seen = []

    def scaled(x):
        return x * factor

    def noting(x):
        seen.append(x)
        return x * factor

    made, noted, x = vectorize(scaled), vectorize(noting), np.arange(4.0)
    fold = vectorize(lambda a, b: a + b * factor)
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        for factor in (2.0, 2j, 3.0, 3j, np.float32(2), 1j):
            want = x * factor
            given: dict[str, Any] = {"out": np.empty(4, want.dtype)}
            for kwargs in (given, {"dtype": want.dtype}, {}):
                factor, before = 1.0, factor
                assert made(x).dtype == noted(x).dtype == fold.reduce(x).dtype == np.float64
                factor = before
                assert made(x, **kwargs).tolist() == want.tolist()
            del seen[:]
            assert noted(x).tolist() == want.tolist() and seen == x.tolist()
            assert fold.reduce(x) == want[1:].sum() and noted(x, out=given["out"]) is given["out"]


def test_an_exception_is_raised_by_its_own_call() -> None:
    def careful(x):
        if x == 3.0:
            raise ValueError("three")
        return 1 / x

    made = vectorize(careful)
    for _ in range(3):
        with np.errstate(divide="raise"), pytest.raises(ValueError, match="three"):
            made(np.array([0.0, 3.0]))
        assert made(np.array([1.0, 2.0])).tolist() == [1.0, 0.5]
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            made(np.array([0.0, 2.0]))
        with pytest.raises(ValueError, match="three"):
            made.at(np.array([3.0]), [0])
        with pytest.raises(TypeError, match="Cannot cast"):
            made(np.array([1.0]), out=np.zeros(1, int))


def test_calls_with_many_dtypes_are_told_apart() -> None:
    made = vectorize(lambda a, b: a * 2 + b)
    dtypes = [np.dtype(char) for char in "bhilfdFDBHe"]
    args = [(np.arange(5).astype(a), np.ones(5, b)) for a in dtypes for b in dtypes[::3]]
    for _ in range(3):
        for a, b in args:
            got = made(a, b)
            assert got.dtype == (a * 2 + b).dtype and got.tolist() == (a * 2 + b).tolist()
    a, b = np.ones(3), np.ones(3)
    out, held = np.zeros(3), [sys.getrefcount(a), sys.getrefcount(b)]
    for _ in range(50):
        assert made(a, b, out) is made(a, b, out=out) is out
        with pytest.raises(TypeError):
            made(a, b, out, out)
        with pytest.raises(TypeError):
            made(a)
    assert [sys.getrefcount(a), sys.getrefcount(b)] == held


def test_a_class_that_holds_a_ufunc_makes_no_method_of_it() -> None:
    class Holder:
        scaled = vectorize(lambda x: x * 2)

    assert Holder().scaled(np.arange(3.0)).tolist() == [0, 2, 4]
    assert Holder.scaled is Holder().scaled and Holder().scaled(X).tolist() == (X * 2).tolist()


def test_what_runs_in_python_has_the_dtype_that_it_returns() -> None:
    seen, base = [], 1.0

    def noisy(x, y):
        seen.append(x)
        return x * base + y if x > 0 else 0

    made, x = vectorize(noisy), np.arange(4.0).reshape(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for base in (1.0, 2j, 3, np.float32(2)):  # noqa: B007 -- the function reads it
            got = made(x, 1)
            assert got.tolist() == plainly(noisy, x, 1).tolist()
            assert got.dtype == plainly(noisy, x, 1).dtype and type(seen[-1]) is np.float64
    assert made(x.T, x.T).strides == x.T.strides and made(2.0, 1) == 2 * base + 1
    assert made(x[:, :0], 1).shape == (2, 0) and made(x.astype("f4"), 1).dtype == np.float32
    assert "runs in Python" in made.explain()


def test_numbers_that_no_longer_fit_are_no_errors() -> None:
    factor: Any = 2

    def scaled(x):
        return x * factor

    made, x = vectorize(scaled), np.arange(1, 4)
    for other in (np.inf, 1e300, np.nan, -2.5):
        for number in (x, 3):
            factor = 2
            assert np.array_equal(made(number), number * 2)
            factor = other
            found = made(number)
            assert found.dtype == np.float64
            assert np.array_equal(found, number * other, equal_nan=True)
    factor = None
    with pytest.raises(TypeError, match="NoneType"):
        made(x)


def test_integers_that_the_function_reads_are_compiled() -> None:
    factor, seen = 2, []

    def scaled(x):
        return x * factor

    made = vectorize(scaled, fullgraph=True)
    for factor in (2, 5, -3, 2**40):
        assert np.array_equal(made(np.arange(4)), np.arange(4) * factor)
    assert "machine code" in made.explain()

    def noting(x):
        seen.append(factor)
        return x * factor

    assert vectorize(noting)(np.arange(2)).tolist() == [0, factor] and factor in seen


def test_what_cannot_be_compiled_runs_in_python() -> None:
    seen = []

    def noisy(x):
        seen.append(open.__name__)
        return x + len(globals())

    made = vectorize(noisy)
    assert made(np.array([1.0, 2.0])).shape == (2,) and len(seen) >= 2
    assert "runs in Python" in made.explain()
    with pytest.raises(CompileError):
        vectorize(noisy, fullgraph=True)(X)


def test_objects_are_taken_as_numpys_vectorize_takes_them() -> None:
    assert vectorize(lambda s: len(s))(np.array(["ab", "cde"])).tolist() == [2, 3]
    low, high = vectorize(lambda x: (x - 1, x + 1))(np.arange(3))
    assert low.tolist() == [-1, 0, 1] and high.tolist() == [1, 2, 3]
    assert isinstance(vectorize(lambda x: x, otypes=[float]), np.vectorize)
    assert isinstance(vectorize(len), np.vectorize)


def test_other_array_types_are_asked() -> None:
    class Wrapped:
        __array_priority__ = 1

        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
            return method, ufunc.nin

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(3)

    assert vectorize(smooth)(Wrapped(), 2.0) == ("__call__", 2)


@vectorize
def at_module_level(x):
    return x + 1


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    again = cloudpickle.loads(cloudpickle.dumps(vectorize(lambda x: x * 2)))
    assert again(X[:2]).tolist() == (X[:2] * 2).tolist()


def test_threads() -> None:
    made = vectorize(smooth)
    wanted = made(X, Y)
    wrong = []

    def many() -> None:
        for _ in range(50):
            wrong.extend([1] if not np.array_equal(made(X, Y), wanted) else [])

    threads = [Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


FLOAT = st.floats(allow_nan=True, allow_infinity=True, width=64)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(FLOAT, FLOAT), min_size=1, max_size=40))
def test_any_floats(rows: list[tuple[float, float]]) -> None:
    x, y = np.array(rows).T
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for made in HYPOTHESIS:
            try:
                wanted = plainly(made.__wrapped__, x, y)
            except (OverflowError, ValueError) as error:
                with pytest.raises(type(error)):
                    made(x, y)
            else:
                limit = ELEMENTARY.get(made.__wrapped__, 0)
                np.testing.assert_allclose(made(x, y), wanted, rtol=limit, atol=5e-324)


HYPOTHESIS = [vectorize(f) for f in (branching, mixed, steps, smooth)]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-2**63, 2**63 - 1)] * 2), min_size=1, max_size=20))
def test_any_integers(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, np.int64).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(INTEGERS(x, y), plainly(digits, x, y))


INTEGERS = vectorize(digits)


# ------------------------------------------------------------------ core axes


@guvectorize(["void(float64[:], float64[:], float64[:])",
              "void(int64[:], int64[:], int64[:])"], "(n),(n)->()")
def dot(a, b, out):
    total = 0 * a[0]
    for k in range(len(a)):
        total += a[k] * b[k]
    out[0] = total


@guvectorize("(m,n),(n),()->(m)")
def affine(a, x, c, out):
    for i in range(a.shape[0]):
        out[i] = c
        for k in range(a.shape[1]):
            out[i] += a[i, k] * x[k]


def _summed(a, out):
    total = 0.0
    for k in range(len(a)):
        total += a[k]
    out[0] = total


def _outer(a, b, out):
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] < 0:
                raise ValueError("negative")
            out[i, j] = a[i] ** 0.5 * b[j]


def _parted(a, largest, out):
    largest[0] = a.max()
    out[:] = a - a.max()


def _affine(x, y, out):
    out[0] = x * y + 1


def _both(x, more, less):
    more[0], less[0] = x + 1, x - 1


#: functions that write, and the same as expressions of core arrays
CORES: list[tuple[str, Any, Any]] = [
    ("(n)->()", _summed, lambda a: sum(a.tolist())),
    ("(n),(m)->(n,m)", _outer, lambda a, b: np.array([[x ** 0.5 * y for y in b] for x in a])),
    ("(n)->(),(n)", _parted, lambda a: (a.max(), a - a.max())),
    ("(),()->()", _affine, lambda x, y: x * y + 1),
    ("()->(),()", _both, lambda x: (x + 1, x - 1)),
]


def _laid_out(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """The same numbers in another place, order or byte order."""
    if not x.ndim:
        return x
    kind = rng.integers(5)
    if kind == 0:
        return np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    if kind == 1:
        return np.asfortranarray(x)
    if kind == 2:
        return np.repeat(x, 2, -1)[..., ::2]
    return x.astype(">f8") if kind == 3 else x


@pytest.mark.parametrize(("layout", "function", "plain"), CORES, ids=lambda value: str(value)[:9])
def test_gufuncs_are_numpys_of_a_signature(layout: str, function: Any, plain: Any) -> None:
    rng, cores = np.random.default_rng(7), CoreLayout.read(layout).inputs
    wanted = np.vectorize(plain, signature=layout)
    made = guvectorize(layout)(function)
    for _ in range(60):
        sizes = dict(zip("nm", rng.integers(1, 5, 2)))
        loop = tuple(rng.integers(1, 4, rng.integers(0, 4)).tolist())
        args = []
        for core in cores:
            part = loop[rng.integers(len(loop) + 1):]
            shape = tuple(1 if rng.random() < 0.2 else size for size in part)
            whole = (*shape, *[sizes[name] for name in core])
            args.append(_laid_out(rng, np.asarray(rng.integers(0, 9, whole) / 2)))
        want = wanted(*args)
        many = want if isinstance(want, tuple) else (want,)
        outs = tuple(_laid_out(rng, np.full(np.shape(x), 7.0)) for x in many)
        got = made(*args, out=outs)
        for x, y, z in zip(many, outs, got if isinstance(got, tuple) else (got,), strict=True):
            np.testing.assert_array_equal(y, x)
            assert z is y
    assert "machine code" in made.explain()


def test_gufunc_broadcasts() -> None:
    a, b = RNG.normal(size=(4, 5, 7)), RNG.normal(size=(5, 7))
    wanted = np.array([[sum(p * q for p, q in zip(u, v)) for u, v in zip(row, b)] for row in a])
    np.testing.assert_array_equal(dot(a, b), wanted)
    np.testing.assert_array_equal(dot(a[..., ::-1], b[..., ::-1]).shape, wanted.shape)
    np.testing.assert_allclose(dot(a.transpose(1, 0, 2), b[:, None]), wanted.T)
    np.testing.assert_allclose(dot(a, b, axis=-1), wanted)
    np.testing.assert_allclose(dot(np.moveaxis(a, 2, 0), np.moveaxis(b, 1, 0), axis=0), wanted)
    assert dot(np.arange(3), np.arange(3)) == 5 and dot(np.arange(3), np.arange(3.0)).dtype == "d"
    with pytest.raises(ValueError, match="core dimension"):
        dot(a, b[:, :3])
    assert dot.signature == "(n),(n)->()"


def test_gufunc_writes_where_it_is_told() -> None:
    a, x = RNG.normal(size=(3, 4, 5)), RNG.normal(size=5)
    wanted = a @ x + 2.0
    out = np.full((3, 4), np.nan)
    assert affine(a, x, 2.0, out) is out
    np.testing.assert_allclose(out, wanted)
    apart = np.full((4, 3), np.nan).T
    affine(a, x, 2.0, out=apart)
    np.testing.assert_allclose(apart, wanted)
    with pytest.raises(TypeError, match="out="):
        affine(a, x, 2.0)


def test_gufunc_lengths_and_exceptions() -> None:
    for n in (1, 2, 3, 8, 100):
        a = RNG.normal(size=(6, n))
        np.testing.assert_allclose(dot(a, a), (a * a).sum(-1))

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def checked(a, out):
        for k in range(len(a)):
            if a[k] < 0:
                raise ValueError("negative")
            out[k] = a[k] + 1

    assert checked(np.ones((2, 3))).tolist() == [[2.0] * 3] * 2
    with pytest.raises(ValueError, match="negative"):
        checked(np.array([[1.0, 2.0], [3.0, -1.0]]))


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="no option 'nopthon'"):
        vectorize(nopthon=True)
    with pytest.raises(ValueError, match="target"):
        vectorize(target="cuda")
    with pytest.raises(TypeError, match=r"not a signature|no type"):
        vectorize(["float64(floaty)"])
    with pytest.raises(ValueError, match="layout"):
        guvectorize("(n)(n)->()")
    with pytest.raises(ValueError, match="takes 3 arguments"):
        guvectorize("(n),(n),(n)->()")(dot.__wrapped__)
    with pytest.raises(TypeError, match="positional"):
        at_module_level()
    assert "vectorize" in dir(npcompile)


def test_calls_by_keywords_and_defaults_are_numpys() -> None:
    def scaled(x, by=2.0):
        return x * by

    for f in (scaled, lambda *args: sum(args)):
        ours, numpys = vectorize(f), np.vectorize(f)
        assert ours(X).tolist() == numpys(X).tolist()
    assert vectorize(scaled)(X, by=3.0).tolist() == np.vectorize(scaled)(X, by=3.0).tolist()
    assert vectorize(lambda *args: sum(args))(X, Y).tolist() == (X + Y).tolist()
    with pytest.raises(TypeError, match="takes from"):
        vectorize(scaled)()


def test_dtypes_of_results_are_not_assigned() -> None:
    @npcompile.vectorize
    def double(x):
        return x * 2

    with pytest.raises(AttributeError, match="otypes="):
        double.otypes = "d"
    made = npcompile.vectorize(lambda x: x * 2, otypes="f")
    assert made(np.arange(3)).dtype == np.float32
    made.otypes = "d"
    assert made(np.arange(3)).dtype == np.float64
