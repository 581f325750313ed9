"""One short test for each bug that was found by running other programs."""

from __future__ import annotations

import functools
import operator
import re
import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support import oracle
from tests.support.oracle import as_python

REAL = np.arange(6.0).reshape(2, 3)
WHOLE = np.arange(4)
BYTES = np.arange(4, dtype=np.uint8)


def function(text: str) -> Any:
    """A function of ``a`` and ``k`` that returns an expression."""
    scope: dict[str, Any] = {"np": np}
    exec(compile(f"def f(a, k):\n    return {text}\n", "<regression>", "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize(("text", "a", "k"), [
    # np.dtype(float) == None is true
    ("np.array(a, dtype=float)", WHOLE, 0),
    ("np.asarray(a, dtype=float)", BYTES, 0),
    # NumPy's integers as sizes and indices
    ("a[k]", WHOLE, np.int8(2)),
    ("(a[k:], a[:k])", WHOLE, np.int64(1)),
    ("(np.zeros(k), np.arange(k))", WHOLE, np.int32(3)),
    ("np.zeros((5, k))[:, :1].sum(0)", WHOLE, np.int64(2)),
    # an index of an axis of length 1 inside a sum
    ("np.ones((3, k, k))[..., np.arange(k), np.arange(k)].sum()", WHOLE, 1),
    # operators of Python's own sequences
    ("k + 1", WHOLE, [1, 2]),
    ("-k", WHOLE, [1, 2]),
    ("k < 1", WHOLE, (1, 2)),
    ("k * 2.5", WHOLE, [1, 2]),
    ("abs(k)", WHOLE, [1, 2]),
    ("float(k)", WHOLE, [1, 2]),
    ("divmod(k, 2)", WHOLE, [1, 2]),
    ("sum(k)", WHOLE, [[1, 2], [3]]),
    # attributes and methods of numbers
    ("k.shape", WHOLE, 3),
    ("k.copy()", WHOLE, np.float64(2)),
    ("k.fill(3)", WHOLE, np.float64(2)),
    ("(k.transpose(), k.squeeze(), k.conj())", WHOLE, np.float64(2)),
    ("(np.transpose(k), np.squeeze(k), np.flip(k))", WHOLE, np.float64(2)),
    # reductions of numbers
    ("(np.nanmin(k), np.nanmean(k), np.nanvar(k))", WHOLE, np.float64(2)),
    # methods that give the array itself
    ("(a.squeeze(), a.conj())", REAL, 0),
    # axis=
    ("np.sum(a, axis=k)", REAL, np.int64(1)),
    ("np.sum(k, axis=[0])", REAL, [1, 2]),
    ("np.sum(k, keepdims=True)", REAL, 3),
    ("np.any(a, initial=True)", REAL, 0),
    # products with numbers are of arrays: a dtype of their own, C order
    ("np.dot(a, k)", BYTES, 2),
    ("np.dot(a, k)", REAL, -1),
    ("np.inner(a, k)", np.asfortranarray(REAL), 2.5),
    # signatures
    ("np.clip(a, k)", REAL, 2),
    ("np.maximum(a, a, a)", REAL, 2),
    ("np.indices(k)", REAL, 2),
    ("np.diff(k, 0)", REAL, [1, 2]),
    ("a.strides", np.zeros((2, 0)), 0),
    # flags of what LLVM could compute in advance, and of constants
    ("np.log(a)", REAL, 0),
    ("a ** -2", REAL, 0),
    ("a + 1e300", REAL.astype(np.float32), 0),
])
def test_expression(text: str, a: Any, k: Any) -> None:
    as_python(function(text), a, k)


def test_inline_caches_of_calls_on_two_ways() -> None:
    """3.11: a jump may go to a PRECALL; its caches are not those of the instruction before."""
    def plain(a: Any, n: int) -> Any:
        total = a
        for k in range(n):
            if k != 1:
                total = np.add(total, k == 2 < 3 or k)
        return total

    as_python(plain, REAL, 3)


def test_failures_of_the_compiler_are_not_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> Any:
        raise KeyError("of the compiler")

    monkeypatch.setattr("npcompile.runtime.versions.lowering.lower", broken)
    compiled = npcompile.jit(function("a + k"))
    with pytest.raises(KeyError, match="of the compiler"):
        compiled(REAL, 1)
    monkeypatch.setenv("NPCOMPILE_STRICT", "0")
    assert np.array_equal(compiled(REAL, 1), REAL + 1)
    assert "KeyError" in str(compiled.explain())
    with pytest.raises(npcompile.CompileError, match="KeyError"):
        npcompile.jit(function("a - k"), fullgraph=True)(REAL, 1)


@pytest.mark.parametrize(
    "function", [lambda x: np.copy(x), lambda x: np.zeros_like(x), lambda x: x.astype("f4")]
)
def test_layout_of_copies_of_broadcast_arrays(function: Any) -> None:
    """Order K of a copy puts axes of stride 0 last, unlike order K of an operator's result."""
    base = np.arange(24.0).reshape(2, 3, 4)
    repeated = np.broadcast_to(base, (5, 2, 3, 4))
    for array in (repeated, base.transpose(1, 2, 0), base[::-1, :, ::2]):
        got, want = npcompile.jit(function)(array), function(array)
        assert got.strides == want.strides
        assert np.array_equal(got, want)


def test_temporaries_are_not_laid_out_like_reversed_views() -> None:
    """What a pass makes of a view bears its strides, which may be negative."""

    def plain(a: Any) -> Any:
        a[0] = a[0] + 0
        picked = np.where(a > -0.0, a, a)
        if a.sum() < 0:
            raise ValueError("negative")
        return picked

    compiled = npcompile.jit(plain)
    for cut in (np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::-1], np.s_[::-2, ::3]):
        for low in (-40, 0, -10):
            whole = np.arange(low, low + 64).astype(np.float16).reshape(8, 8)
            oracle.check_made(compiled, plain, lambda a=whole, cut=cut: (a.copy()[cut],))


def test_returned_objects_are_those_of_the_call() -> None:
    """What only its class or value guards was the object of the first call."""
    class Thing:
        pass

    def f(a: Any, thing: Any) -> Any:
        a[0] = 1.0
        return a.sum(), thing, [thing]

    for make in (Thing, lambda: [1, 2], lambda: (np.ones(2), 3), lambda: {"a": 1}, lambda: "x" * 9,
                 lambda: (lambda k: lambda v: v + k)(2)):
        compiled = npcompile.jit(f)
        for _ in range(3):
            thing = make()
            total, first, (second,) = compiled(np.ones(3), thing)
            assert total == 3.0
            assert first is second is thing


def test_python_goes_on_before_a_variable_is_deleted() -> None:
    def f(a: Any, k: int) -> Any:
        b = a + 1
        a[0] = 2.0
        c = b[k]
        del b
        return c

    compiled = npcompile.jit(f)
    assert compiled(np.ones(3), 1) == 2.0
    with pytest.raises(IndexError):
        compiled(np.ones(3), 7)


def test_element_between_kernels_that_sweep() -> None:
    def f(a: Any) -> Any:
        v = a + a
        w = v[1:-1]
        w[0] = 0.0
        return w, w[1:] - w[:-1] + w[1:]

    a = np.arange(1.0, 9.0)
    for got, want in zip(npcompile.jit(f)(a), f(a), strict=True):
        assert np.array_equal(got, want)


def test_counters_of_each_iteration_begin_anew() -> None:
    """Zeros that are counted into, made before a loop and in it, are not one array."""

    def plain(a: Any, n: int) -> Any:
        found = np.zeros((n, 3), int)
        position = np.zeros((2, 2))
        for t in range(n):
            position = position + 0.5
            found[t] = np.bincount(a, minlength=3)
            a[t] = 2
        return found, position

    as_python(plain, np.arange(9) % 3, 4)


def test_temporaries_are_not_laid_out_like_written_views() -> None:
    def plain(a: Any, x: float) -> Any:
        a[a > -1] = 0.5
        b = np.abs(np.fmin(a, a))
        if a.min() <= -9:
            raise ValueError("too small")
        b[1] = x
        for _ in range(2):
            if b.max() > 5:
                raise ValueError("limit")
        return b

    compiled = npcompile.jit(plain)
    for x in (1.0, 9.0):
        for low in (-20.0, -2.0):
            whole = (np.arange(48.0) + low).reshape(6, 8).astype(np.float16)
            oracle.check_made(
                compiled, plain, lambda a=whole, x=x: (a.copy()[::2, ::-3], x))


def test_a_mask_of_one_element_packs_it() -> None:
    """A kernel without axes packs too: what it does not store is not left undefined."""

    def plain(a: Any) -> Any:
        first = a[::2].argmax(axis=0, keepdims=True)
        chosen = first[first <= 1]
        first[-1] = 7
        return chosen

    for first in (3.0, 1.0):
        for _ in range(3):
            np.full(1, 123456789)  # what recycled memory holds
            as_python(plain, np.array([first, 0.0, 2.0, 1.0, 2.5]))


def test_slices_that_a_negative_argument_ends() -> None:
    def f(a: Any, k: int) -> Any:
        return a[k:] - a[:-k], a[-k:], a[::2][: -k + 1]

    a = np.arange(30.0)
    compiled = npcompile.jit(f)
    for k in (1, 2, 7, 15, 29):
        for got, want in zip(compiled(a, k), f(a, k), strict=True):
            assert np.array_equal(got, want)
    assert not any("left" in line for line in compiled.explain().history)


@pytest.mark.parametrize("kind", [np.float64, np.int8, np.uint8, np.complex64, np.bool_])
@pytest.mark.parametrize("items", [[0, 10], (1.7, -2.5), [300, 1], [float("nan"), 1.0], []])
def test_scalar_types_of_lists_make_arrays(kind: type, items: Any) -> None:
    def plain(items: Any) -> Any:
        return kind(items)

    compiled = npcompile.jit(plain)
    oracle.check_calls(compiled, plain, items)


def test_array_of_a_scalar_type_as_an_argument_of_a_library_function() -> None:
    def plain(x: float) -> Any:
        return np.interp(x, [0, 1], np.float64([2, 4])), np.float64([x, 1])

    as_python(plain, 0.5)


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 1, 2), (4,)])
def test_extremes_of_all_axes_into_a_number(shape: tuple[int, ...]) -> None:
    def plain(a: Any) -> Any:
        out = np.full_like(a.max(), np.nan)
        np.minimum.reduce(a, axis=None, out=out)
        return out, a.sum(out=np.zeros(()))

    as_python(plain, np.arange(24.0)[: int(np.prod(shape))].reshape(shape)[::-1])


NUMBERS = [np.bool_(1), np.int8(1), np.int64(1), np.uint64(1), np.float32(1), np.float64(1),
           np.complex64(1), True, 1, 1.0, 1j]


@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: type(x).__name__)
def test_names_of_warnings_of_two_numbers(x: Any) -> None:
    """Some operands NumPy's scalars leave to the ufuncs, whose warnings have other names."""
    def plain(out: Any, x: Any, y: Any) -> Any:
        out[0] = 1
        return x / y

    def literal(out: Any, x: Any, y: Any) -> Any:
        out[0] = 1
        return 1.0 / y

    for y in NUMBERS:
        if isinstance(x, np.generic) or isinstance(y, np.generic):
            as_python(plain, np.zeros(3), x, y * 0)
            as_python(literal, np.zeros(3), x, type(y)(0))


def unknown(v: Any) -> Any:
    return eval("len(v)", {"v": v})


def test_variables_without_a_value_over_a_graph_break() -> None:
    def plain(a: Any, k: int) -> Any:
        if a[0] > k:
            late = a * 2
        n = unknown(a)
        return late[n - 1] + a

    as_python(plain, np.arange(3.0), -1)
    compiled = npcompile.jit(plain)
    for k in (-1, 5, -1, 5):
        oracle.check_calls(compiled, plain, np.arange(3.0), k)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "int32", "bool", "float16"])
@pytest.mark.parametrize("text", ["-a[0]", "abs(a[0])", "-a[0:1]", "np.negative(a[0])"])
def test_signs_of_numbers_that_overflow(kind: str, text: str) -> None:
    if kind != "bool":
        for value in (0, 1, 127, -128 if kind[0] in "if" else 200, -(2**63)):
            as_python(function(text), np.array([value]).astype(np.int64).astype(kind), 0)


def test_a_check_of_sizes_is_made_again_where_it_was_taken_back():
    """An array of another layout by path: its comparison was tried once for both layouts, and what
    was found out about the sizes outlived the check that it rested on."""

    def shrink(a, k):
        rows = a + 0
        n = 0
        while n < int((a > k).sum()) and len(rows) > 1:
            n += 1
            rows = rows[(rows <= k)[:, 0]]
        return ((rows == a) * a) - a

    few, all_rows = np.asfortranarray(np.ones((4, 3))), np.asfortranarray(np.zeros((4, 3)))
    few[2:, 0] = 0.0
    f = npcompile.jit(shrink)
    for _ in range(2):
        assert np.array_equal(f(all_rows, 0.5), shrink(all_rows, 0.5))
        with pytest.raises(ValueError, match=r"shapes \(2,3\) \(4,3\)"):
            f(few, 0.5)


def test_memory_is_not_as_large_as_what_is_counted_later() -> None:
    def f(a: Any, k: int) -> Any:
        c = np.zeros(5)
        if a[0] > k:
            c[0] = 2.0
        m = int(a[1])
        e = np.ones(m)
        w = np.empty(max(5, m))
        if a[2] > k:
            w[:5] = c
            return w[:5]
        w[:m] = e
        return w[:m]

    for a in ([1.0, 7.0, 3.0], [1.0, 2.0, 0.0], [-1.0, 3.0, 3.0], [0.0, 7.0, 0.0]):
        as_python(f, np.array(a), 0)
    assert npcompile.jit(f).explain(np.ones(3), 0).refusal is None
    # the strides of a view depend on the size of its owner, which the view itself doesn't name
    text = npcompile.jit(f).lower(np.ones(3), 0).llvm
    entered, _, boxed = text.partition("define ptr @entry")[2].partition("\nbox:")
    given = set(re.findall(r"%frame, i64 (\d+)", entered))
    given |= {str(8 * int(k)) for k in re.findall(r"i64, ptr %frame, i64 (\d+)", text)}
    assert set(re.findall(r"%frame, i64 (\d+)", boxed)) <= given


def _onto_all(a: Any) -> Any:
    a[...] = a
    return a.sum()


def _onto_part(a: Any) -> Any:
    a[1:] = a[1:]
    return a.sum()


def _onto_view(a: Any) -> Any:
    v = a[2:]
    v[-3:] = v
    return a.sum()


def _onto_view_of_written(a: Any) -> Any:
    a[0] = 1.0
    d = np.broadcast_to(a, (2, a.size))
    d[0] = d[0]
    return a.sum()


@pytest.mark.parametrize("f", [_onto_all, _onto_part, _onto_view, _onto_view_of_written])
def test_read_only_arrays_are_not_assigned_to_themselves(f: Any) -> None:
    for flag in (True, False):
        compiled = npcompile.jit(f)
        for writeable in (flag, not flag, flag):
            a = np.arange(4.0)
            a.flags.writeable = writeable
            if writeable and f is not _onto_view_of_written:
                assert compiled(a) == f(a)
                continue
            with pytest.raises(ValueError, match="assignment destination is read-only"):
                f(a)
            with pytest.raises(ValueError, match="assignment destination is read-only"):
                compiled(a)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_reversed_view_of_rows_is_changed_in_place(backend):
    """Rows that a kernel runs through backwards were no rows of a sweep, but counted as such."""

    def double(a):
        v = a[np.array([-5, -2, 1, 2]), None] + 1.25
        w = v[::-1]
        w += w
        return v.copy()

    a = np.arange(12.0).reshape(6, 2)
    assert np.array_equal(npcompile.jit(double, backend=backend)(a), double(a))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_views_of_a_path_that_is_not_taken(backend):
    """Their lengths, of what the run did not make, may come out below zero."""

    def shorten(a, x):
        v = a + 0
        if int((a > x).sum()) > 5:
            v = v[(v > x)[:, 0]] + 1
        else:
            v = v[::-1]
        w = v[:-1]
        w -= w
        return w

    f = npcompile.jit(shorten, backend=backend)
    for n, x in ((7, 0.1), (3, 0.99), (4, 2.0), (7, 0.1)):
        a = np.random.default_rng(n).random((n, 3))
        got, want = f(a, x), shorten(a, x)
        assert got.strides == want.strides and np.array_equal(got, want)


def test_sums_of_real_and_complex_numbers_side_by_side():
    """Their pairwise sums have leaves of different sizes."""

    def f(z):
        return z.var(), z.mean(), z.real.sum()

    for n in (3, 7, 30, 200, 2000):
        z = np.random.default_rng(n).standard_normal((n, 6)).view(complex)
        for a in (z, np.asfortranarray(z), z.ravel(), z[:, 1]):
            assert npcompile.jit(f)(a) == f(a)


def test_running_sums_of_rows_of_much_work():
    for shape in ((4, 3), (17, 20), (2, 3, 9), (1, 5)):
        x = np.random.default_rng(3).uniform(1, 9, shape)

        def f(x):
            return np.cumsum((((x * 2 + 1) * x - 3) * x + 0.5) / (x + 1) - x * x, -1)

        assert f(x).tobytes() == npcompile.jit(f)(x).tobytes()


def test_objects_without_attributes():
    def f(a):
        mark = object()
        held = [mark, a + 1]
        return held[0] is mark, held[1]

    a = np.arange(3.0)
    for _ in range(2):
        got, want = npcompile.jit(f)(a), f(a)
        assert got[0] is want[0] and np.array_equal(got[1], want[1])


@pytest.mark.parametrize("text", [
    "np.add(b, a, out=b, casting='unsafe')", "np.add(a, 1, dtype=float, casting='unsafe')",
    "np.multiply(a, a, out=b, where=b > 0, casting='unsafe')",
])
def test_complex_numbers_where_real_ones_belong(text):
    def told(f):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f(np.ones(3) + 0j, np.ones(3))
        return [str(w.message) for w in caught]

    scope = {"np": np}
    exec(f"def f(a, b):\n return {text}\n", scope)
    assert told(npcompile.jit(scope["f"])) == told(scope["f"])


def test_layout_of_what_is_computed_of_a_repeated_array():
    def f(a):
        b = a.astype(np.uint8)
        return b / a, np.where(b > 0, b, a), b + a

    a = np.broadcast_to(np.arange(1, 4), (7, 3))
    got, want = npcompile.jit(f)(a), f(a)
    assert [r.strides for r in got] == [r.strides for r in want]


def test_results_of_library_functions_in_memory_that_others_know():
    def f(a, view, copy):
        b = np.array(view, copy=copy)
        b[0] = 55
        return a[0], b[0]

    compiled = npcompile.jit(f)
    for copy in (False, True, False):
        for function in (f, compiled):
            a = np.arange(4)
            assert function(a, memoryview(a), copy) == (0 if copy else 55, 55)


def test_views_are_as_writeable_as_their_owner_in_this_call():
    def f(a, b):
        v = a[1:][::-1]
        v[:1] = 0
        return v + b[:1]

    compiled = npcompile.jit(f)
    for writeable in (False, True, False, True):
        a, b = np.arange(4.0), np.ones(2)
        a.flags.writeable = writeable
        if writeable:
            assert np.array_equal(compiled(a, b), [1, 3, 2])
            assert a[3] == 0
        else:
            with pytest.raises(ValueError, match="read-only"):
                compiled(a, b)


@pytest.mark.parametrize("text", [
    "a[k, None]", "a[None, k]", "a.T[k % 2, None]", "a[k, 1:2, None]", "a[::-1][k, None]",
    "np.asfortranarray(a)[k, :, None]", "np.asfortranarray(a)[None, k]", "a[k[:, None], None]",
])
def test_strides_of_new_axes_beside_indices(text):
    f = function(text)
    a, k = np.arange(12).reshape(4, 3), np.array([0, 2, 1])
    got, want = npcompile.jit(f)(a, k), f(a, k)
    assert np.array_equal(got, want) and got.strides == want.strides


def test_arms_that_square_a_number_again_and_again():
    as_python(lambda x: 2 ** min(x == -3, 66), np.complex128(0.5))


def test_lines_of_warnings_after_a_pure_library_function():
    def f(a, x):
        a[a != x] += 1
        y = x // x
        return str(x), y

    compiled = npcompile.jit(f)
    for x in (np.inf, np.nan, -np.inf, np.inf):  # a call without a warning, then one with
        as_python(f, np.arange(3.0), np.float16(x))
        oracle.check_calls(compiled, f, np.arange(3.0), np.float16(x))


def test_numbers_as_arrays_of_several_axes_have_strides():
    def f(x):
        return np.atleast_3d(x), np.atleast_2d(x), np.atleast_1d(x)

    for x in (3.0, np.float32(2), np.array(1)):
        for got, want in zip(npcompile.jit(f)(x), f(x)):
            assert (got.strides, got.shape, got.dtype) == (want.strides, want.shape, want.dtype)


def test_operators_as_functions():
    def f(x, y, n):
        total = functools.reduce(operator.add, [x, y, n])
        total = operator.imul(total, 2.0)
        pairs = map(operator.floordiv, (x, y), (y, n))
        return total, operator.neg(x), operator.lt(x, n), operator.getitem(y, 1), *pairs

    args = np.arange(4.0), np.arange(1.0, 5.0), 3
    for got, want in zip(npcompile.jit(f, fullgraph=True)(*args), f(*args)):
        assert type(got) is type(want)
        assert np.array_equal(got, want)


def test_lengths_that_are_differences_of_two_are_no_constants():
    def f(a, b):
        return np.correlate(a, b), np.convolve(a, b, "valid")

    compiled = npcompile.jit(f)
    for count in (3, 10, 25):
        args = np.arange(float(count)), np.arange(10.0)
        for got, want in zip(compiled(*args), f(*args)):
            assert np.array_equal(got, want)
    assert "left compiled code" not in str(compiled.explain())


def test_history_says_how_calls_ran():
    def f(x):
        return eval("x + 1")

    compiled = npcompile.jit(f)
    assert str(compiled.explain()).startswith(f"{f.__qualname__}: not called yet")
    compiled(1)
    assert str(compiled.explain()).startswith(f"{f.__qualname__}: runs in Python")


def beads(held):
    for _ in range(len(held)):
        rest = held[1:]
        for i, (upper, lower) in enumerate(zip(held, rest)):
            if upper > lower:
                held[i] -= upper - lower
                held[i + 1] += upper - lower
    return held


def grown_by_python(x):
    held = [3, 1, 2]
    total = x.sum()
    for value in held:
        total = total + value * x.sum()
        if value == 3:
            operator.methodcaller("append", 7)(held)
    return total, held


@pytest.mark.parametrize("function, make", [
    (beads, lambda: [6, 11, 12, 4, 1, 5]), (grown_by_python, lambda: np.ones(4096)),
])
def test_lists_that_python_changes_while_a_loop_runs_over_them(function, make):
    compiled = npcompile.jit(function)
    for _ in range(2):
        assert compiled(make()) == function(make())


def test_generator_functions_make_generators():
    def squares(x):
        for value in x:
            yield value * value

    async def later(x):
        return x + 1

    compiled = npcompile.jit(squares)
    assert list(compiled(np.arange(3.0))) == [0.0, 1.0, 4.0]
    assert "generator" in str(compiled.explain(np.arange(3.0)).refusal)
    promised = npcompile.jit(later)(1)
    with pytest.raises(StopIteration, match="2"):
        promised.send(None)


def test_arrays_made_by_their_class():
    def f(n):
        a, b = np.ndarray(n + 1, dtype=np.float32), np.ndarray((n, 2), int, order="F")
        a[:], b[...] = 1.5, 2
        return a, b

    for got, want in zip(npcompile.jit(f, fullgraph=True)(3), f(3)):
        assert np.array_equal(got, want)
        assert (got.dtype, got.strides) == (want.dtype, want.strides)


@pytest.mark.parametrize("text", [
    "np.multiply.outer(a[:2], [1, 2])", "np.add.outer((1, 2, 3), a)", "np.add.outer([a[0]], a)",
])
def test_outer_of_sequences(text):
    as_python(function(text), REAL.ravel(), 0)


@pytest.mark.parametrize("body", [
    "if x:\n  s = (1 // a)[1]", "for k in range(2):\n  s = (a / a)[1:].T\n  if x: break",
    "if x:\n  s = 0\nelse:\n  s = (a // a).astype(int)[::2]\n  t = s[0]",
])
def test_warnings_of_what_nobody_reads_in_arms_and_iterations(body):
    scope = {"np": np}
    text = "".join(f" {line}\n" for line in body.split("\n"))
    exec(compile(f"def f(a, x):\n{text}", "<regression>", "exec"), scope)
    for x in (np.True_, np.False_):
        as_python(scope["f"], np.zeros(6), x)


class Bond:
    def __init__(self, coupon):
        self.coupon, self.paid = coupon, np.zeros(3)

    @npcompile.jit
    def price(self, rates):
        return (self.coupon * rates).sum()

    @npcompile.jit
    def slope(self, rates):
        return (self.price(rates + 0.5) - self.price(rates)) / 0.5

    @npcompile.jit
    def __call__(self, rates):
        self.paid = self.paid + self.coupon * rates
        return self.paid


def test_compiled_methods_that_call_compiled_methods():
    rates = np.arange(3.0)
    for coupon in (2.0, 4.0):
        assert Bond(coupon).slope(rates) == 3 * coupon
    assert Bond.slope.explain(Bond(1.0), rates).captured
    through = npcompile.jit(lambda price, x: price(x) + price(x))
    assert through(Bond(2.0).price, rates) == 12.0 and through(Bond(3.0).price, rates) == 18.0


def test_objects_whose_class_has_a_compiled_call_share_a_version():
    made = [Bond(float(k)) for k in range(3)]
    for bond in made:
        assert np.array_equal(bond(np.ones(3)), [bond.coupon] * 3)
    assert Bond.__call__.cache_info().compiled == 1


def test_arrays_in_containers_from_outside_are_changed_in_place():
    def f(params, layers, lr):
        for name in params:
            params[name] -= lr
        for k in range(len(layers)):
            layers[k] *= lr
        layers[-1] += 1

    def make():
        return {"w": np.ones((2, 2)), "b": np.ones(2)}, [np.ones(3), np.ones(2)], 0.5

    got, want = make(), make()
    npcompile.jit(f, fullgraph=True)(*got)
    f(*want)
    assert str(got) == str(want)


@pytest.mark.parametrize("start", [np.float32(0.1), 0.1, np.float64(0.1), np.int32(0), 2])
@pytest.mark.parametrize("stop", [np.float32(7.3), 7.3])
@pytest.mark.parametrize("step", [np.float32(0.3), 0.3, np.float64(0.3)])
def test_ranges_round_as_their_numbers_do(start, stop, step):
    as_python(lambda a, b, c: np.arange(a, b, c), start, stop, step)
    as_python(lambda a, b: np.arange(a, b, 0.3), start, stop)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_ranges_as_arrays_and_indices(n):
    def f(p, n):
        p[range(n), range(n)] += 1
        odd = np.array(range(1, n, 2))
        return p[range(n)], odd, range(n) + p[0, :n], p[range(1)].T, p[range(0)]

    got, want = np.ones((5, 5)), np.ones((5, 5))
    for a, b in zip(npcompile.jit(f, fullgraph=True)(got, n), f(want, n)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape) and np.array_equal(a, b)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("kind", [int, np.int64, np.int32])
def test_lists_grown_in_loops_over_ranges_of_any_integers(kind):
    def f(n):
        grown = []
        for k in range(n):
            grown.append(2 * k)
            grown.append(k)
        return np.array(grown)

    as_python(f, kind(5))


def test_calls_that_do_little_between_graph_breaks_are_left_to_python():
    def doubled(x):
        out, turns = np.zeros_like(x), np.nditer(x, flags=["multi_index"])
        while not turns.finished:
            out[turns.multi_index] = 2 * x[turns.multi_index]
            turns.iternext()
        return out

    compiled = npcompile.jit(doubled)
    for k in range(4):
        x = np.full((2, 3), 1.0 + k)
        assert np.array_equal(compiled(x), 2 * x)
    assert compiled.cache_info().fallbacks == 2  # after two calls
    assert "nditer" in str(compiled.explain(np.ones((2, 3))))


def test_whole_versions_come_before_those_with_graph_breaks():
    def f(x):
        for _ in range(3):
            x[0] += x.sum()
        return x.mean()

    compiled = npcompile.jit(f)
    fixed = np.ones(40)
    fixed.flags.writeable = False
    assert compiled(np.ones(40)) == f(np.ones(40))
    with pytest.raises(ValueError, match="read-only"):
        compiled(fixed)
    assert compiled.explain(np.ones(40)).captured


@pytest.mark.parametrize("kind", "fdFD")
def test_constants_that_differ_in_the_sign_of_nan(kind: str) -> None:
    nan = np.dtype(kind).type(np.nan)

    def f(x: Any) -> Any:
        x[:2] = nan
        x[2:] = -nan
        return np.where(x == 0, nan, x), np.where(x == 0, -nan, x), np.copysign(1.0, -np.nan)

    got, want = np.zeros(4, kind), np.zeros(4, kind)
    results = [*npcompile.jit(f)(got), got]
    for a, b in zip(results, [*f(want), want], strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("root", [np.std, np.nanstd])
@pytest.mark.parametrize("kind", "efdF")
def test_roots_of_variances_are_computed_in_place(root: Any, kind: str) -> None:
    a = np.asfortranarray(np.arange(56.0).reshape(7, 1, 8).astype(kind))[:, :, ::2]
    got, want = npcompile.jit(lambda x: root(x, axis=2))(a), root(a, axis=2)
    assert got.strides == want.strides
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("call", [
    f"np.{name}(a, keepdims=True)"
    for name in ("argmin", "argmax", "nanargmin", "nanmean", "mean", "max", "sum", "linalg.norm")
] + ["a.argmin(keepdims=True)", "np.argmax(2.5, keepdims=True)"])
def test_no_axes_are_kept_of_what_has_none(call):
    scope = {"np": np}
    exec(f"def f(a):\n return {call}\n", scope)
    for a in (np.array(2.5), np.array(2), np.array(1 + 2j), np.ones(3)):
        got, want = npcompile.jit(scope["f"])(a), scope["f"](a)
        assert (type(got), np.shape(got), got) == (type(want), np.shape(want), want)
