"""One short test for each bug that random programs have found."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support import oracle
from tests.support.oracle import as_python

HALF = np.ones(3, np.float16)


def function(body: str) -> Any:
    """A function of ``a`` and ``k`` with these lines."""
    scope: dict[str, Any] = {"np": np}
    text = "".join(f" {line}\n" for line in body.split("\n"))
    exec(compile(f"def f(a, k):\n{text}", "<regression>", "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("body", [
    "return np.full(0, 2**31, dtype=np.float16)", "return np.full_like(a, 1e10)",
    "return np.array([1e10, 2], dtype=np.float16)", "return np.float64(1e300).astype(np.float32)",
    "return np.full(3, 1e300, np.complex64)", "return np.sum(a, initial=1e10)", "a[:] = 1e10",
    "a[0] = 2**31", "a[a > k] = 1e10", "a.fill(1e10)", "a[:0] = 1e10",
])
def test_constants_that_overflow_where_they_are_stored(body):
    as_python(function(body), HALF, 0)


def test_gradient_of_truth_values():
    as_python(function("np.gradient(a, axis=0)"), np.array([True, False, True]), 0)


@pytest.mark.parametrize("body", [
    "if k > 0: s = 1 // a[0]\nelse: s = a[0]", "if k > 1: s = a[0]\nelse: s = 0.5\nt = 1 // s",
    "if k > 0: s = 1 // a[0]\nelse: s = a[0] // 1\nreturn k",
    "s = a[1]\nwhile s > a[0]:\n  s = s + np.float64(1)\n  if s > 5: break\nk //= a[0]",
])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_warnings_about_numbers_that_nobody_reads_in_arms(body, kind):
    as_python(function(body), np.arange(3).astype(kind), np.int64(1))


@pytest.mark.parametrize("text", [
    "sliding(a, 2)", "(a[1:], sliding(a, 2), np.broadcast_to(a, (2, 4)), np.diagonal(a[None]))",
])
def test_views_that_are_read_only_whatever_their_owner_is(text):
    scope = {"np": np, "sliding": np.lib.stride_tricks.sliding_window_view}
    plain = eval(f"lambda a: {text}", scope)
    compiled = npcompile.jit(plain)

    def flags(result):
        return [v.flags.writeable for v in (result if isinstance(result, tuple) else (result,))]

    for writeable in (False, True, False, True):
        a = np.arange(4.0)
        a.flags.writeable = writeable
        assert flags(compiled(a)) == flags(plain(a))


def test_identity_of_a_number_with_itself():
    plain = function("same = a is a\nfor k in range(k):\n  if same == k: break\nreturn same")
    compiled = npcompile.jit(plain)
    for number in (1, 2**62, 0.5, np.float64(2), 2**63 - 1):
        assert compiled(number, 3) is plain(number, 3) is True


def test_quotients_by_what_a_loop_begins_with():
    plain = function("s = 0\nfor i in range(6):\n  try:\n    a.reshape(i, -1)\n"
                     "  except Exception:\n    break\n  s += 2\n"
                     "v = (a > k).argmax(axis=0)\nreturn s")
    for shape in ((4, 2, 3), (0, 2, 3)):
        as_python(plain, np.ones(shape), 0.5)


@pytest.mark.parametrize("number", [np.float64(2.0**63), np.float32(1e19), np.float64(1e300)])
@pytest.mark.parametrize("kind", [np.uint64, np.complex64])
@pytest.mark.parametrize("places", ["::2", "a == 0", "[0, 2]"])
def test_numbers_stored_where_they_just_fit(places, kind, number):
    as_python(function(f"a[{places}] = k"), np.zeros(3, kind), number)


def test_library_functions_of_arrays_with_many_axes():
    as_python(function("return np.unique(a, axis=k)"), np.ones((0, 2, 0, 3, 0, 4, 0)), 1)


def test_an_index_that_divides_by_an_empty_length() -> None:
    def f(a: Any) -> Any:
        b = a * 2
        k = 1
        for _ in range(3):
            k = k * 37 % 101
            b[k % len(b)] -= k
        return b

    compiled = npcompile.jit(f)
    for n in (0, 4, 0):
        if n:
            assert compiled(np.ones(n)).tolist() == f(np.ones(n)).tolist()
            continue
        with pytest.raises(ZeroDivisionError) as caught:
            compiled(np.ones(n))
        assert caught.traceback[-1].name == "f"


def test_new_axes_of_a_length_that_only_the_run_knows() -> None:
    def f(a: Any) -> Any:
        return np.expand_dims(a[a != 1], -1), np.expand_dims(np.outer(a[a != 1], a), (0, 2))

    for a in (np.arange(5.0), np.ones(3), np.array([1.0, 2.0]), np.zeros(0)):
        as_python(f, a)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 1), (1, 2), (0, -1), (3, 4), ()])
def test_new_axes_of_slices_of_a_length_that_only_the_run_knows(axis: Any) -> None:
    def f(a: Any) -> Any:
        n = int((a > 7).sum()) + 1
        parts = a[::n], a[:n, ::2], a[::-n, :1], a[:, :n], a.T[:n], a[n, ::n]
        return [np.expand_dims(part, axis) for part in parts if part.ndim + np.size(axis) > 2]

    for top in (8, 9, 10, 7):
        as_python(f, (np.arange(24.0) % top).reshape(8, 3))
        as_python(f, (np.arange(48.0) % top).reshape(8, 3, 2))


@pytest.mark.parametrize("n", [5, 12, 100])
def test_roots_of_what_no_iteration_changes(n: int) -> None:
    """LLVM moves what it finds to be constant out of loops, and out of branches with it."""
    def f(x: Any) -> Any:
        x -= x
        return np.sqrt(np.abs(x)), x

    for x in (np.arange(n)[::-1], np.arange(n), np.arange(float(n))):
        as_python(f, x)


@pytest.mark.parametrize("narrow", ["float32", "int64", "int8", "float16", "float64"])
@pytest.mark.parametrize("call", ["a.sum(axis=0, out=b)", "np.prod(a, axis=0, out=b)",
                                  "np.add.reduce(a, out=b)", "np.cumsum(a[0], out=b)"])
def test_sums_into_arrays_of_another_dtype(call: str, narrow: str) -> None:
    """NumPy computes in the wider dtype, and rounds what it has so far from time to time."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(a, b):\n    return {call}, b\n", scope)
    for kind in ("float64", "int64", "bool"):
        a = (np.arange(12.0).reshape(4, 3) / 1.7).astype(kind)
        as_python(scope["f"], a, np.ones(3, narrow))


@pytest.mark.parametrize("body", [
    "x = np.zeros((n, 3)); return x", "a[:] = a / a[1] + a / a[2]; return np.ones((3, n))",
    "x = np.zeros(n); x[0] = a[1]; return x[:2].sum()",
])
def test_memory_that_is_not_there(body: str) -> None:
    """NumPy's exception says what could not be made, and where."""
    scope: dict[str, Any] = {"np": np}
    exec(compile(f"def f(a, n):\n    {body}\n", "<regression>", "exec"), scope)
    compiled = npcompile.jit(scope["f"])
    for n in (3, 3, 1 << 50, 3, 1 << 61, 1 << 62):
        oracle.check_calls(compiled, scope["f"], np.arange(3.0), n)


@pytest.mark.parametrize(("body", "y", "largest"), [
    ("s = a // y", np.inf, 5000), ("s = (a // -y)[2]", -np.inf, 5000),
    ("s = -a ** y", np.nan, 5000), ("s = np.zeros(3) ** y", -np.inf, 5000),
    ("s = a[1] / y", 0.0, 5000), ("s = (a > y + 0j) & (a / (a - y) > 1)", 2.0, 5000),
    ("s = np.divide(a[1], y)", 0.0, 2000), ("s = np.multiply(y, y)", 1e300, 2000),
])
def test_flags_of_calls_that_write(body: str, y: float, largest: int) -> None:
    """Of no more than is kept the function can be run again, for others a cause is looked for."""
    scope: dict[str, Any] = {"np": np}
    text = f"def f(a, b, y):\n    {body}\n    b += 1\n    return s\n"
    exec(compile(text, "<regression>", "exec"), scope)
    compiled = npcompile.jit(scope["f"])
    for value in (1.5, 1.5, y):
        for size in (3, largest):
            oracle.check_calls(
                compiled, scope["f"], np.arange(3.0), np.zeros(size), np.float64(value))


def test_a_draw_and_an_attribute_happen_once() -> None:
    """A call that has drawn is not run again, though it stores nothing before its end."""
    class Box:
        value = 0.0

    def f(box: Any, g: Any, a: Any) -> Any:
        box.value = g.random()
        return (a / a[0]).sum() + (a / a[1]).sum()

    compiled = npcompile.jit(f)
    for a in (np.ones(3), np.ones(3), np.arange(3.0), np.arange(3.0)):
        boxes, draws = [Box(), Box()], [np.random.default_rng(3) for _ in range(2)]
        got = oracle.observe(compiled, boxes[0], draws[0], a)
        want = oracle.observe(f, boxes[1], draws[1], a)
        assert boxes[0].value == boxes[1].value
        assert draws[0].random() == draws[1].random()
        assert len({*got.warned}) == len({*want.warned}) == (3 if a[0] == 0 else 0) - (a[0] == 0)


def test_a_iteration_does_not_vouch_for_itself() -> None:
    """That an index is in range inside of a loop does not mean that the loop is entered."""
    def f(a: Any) -> Any:
        a[0] = 1
        few = np.arange(int((a > 1).sum()), 3, -2)
        for i in range(len(few)):
            for j in range(1):
                few[0] = j
                if few[i] > 23:
                    return few
        return a

    for start in (-5, 0, -2, -5, 30):
        as_python(f, np.arange(start, start + 7))


def test_what_nobody_reads_is_computed_from_what_was_there() -> None:
    def f(a: Any) -> Any:
        for i in range(len(a)):
            if i > 20:
                return a, i
        np.greater(np.sqrt(a[:1])[0], 1.25)
        a[0] = 1

    for a in (np.ones((7, 3)), np.ones((7, 3)), -np.ones((7, 3)), -np.ones((22, 3))):
        as_python(f, a)


@pytest.mark.parametrize("order", ["C", "F"])
def test_more_axes_span_the_first(order: Any) -> None:
    def f(a: Any) -> Any:
        return np.array(a, ndmin=4), np.array(a[::2], ndmin=3, copy=None), np.array(a.T, ndmin=4)

    for shape in ((4, 3), (7,), (4, 1), (1, 4), (2, 3, 4)):
        as_python(f, np.zeros(shape, order=order))


def test_numbers_of_python_warn_of_nothing() -> None:
    def f(a: Any, x: Any) -> Any:
        a.fill(x)
        return float("inf") // x, x * 1e200 * 1e200

    compiled = npcompile.jit(f)
    for x in (2.5, 2.5, -1e100):
        oracle.check_calls(compiled, f, np.ones(4000), x)


def test_what_both_arms_compute_in_vain() -> None:
    def power(base: Any, n: int) -> Any:
        result = 1
        while n > 0:
            if n & 1:
                result = result * base
            n >>= 1
        return result

    def f(a: Any, x: Any) -> None:
        some = np.arange(2 << x)[-1] & x
        power(a[2], int(a[0]) % 20) / some

    for a, x in ((np.arange(4), 2), (np.arange(6, 10), 0), (np.arange(4), 0)):
        as_python(f, a, x)


@pytest.mark.parametrize("body", [
    "x = a / k\nif a[0] > -9: a[0] = 1\nelse: x > 1", "x = a[1] // k\nif a[0] < -9: s = x > 1",
    "x = np.uint64(7) // int(k)\nfor i in range(3):\n  if a[i] > 5: s = ~x",
])
def test_flags_of_what_only_an_idle_arm_uses(body: str) -> None:
    for k in (2.0, 2.0, 0.0):
        as_python(function(body), np.ones(5), np.float64(k))


def test_floors_of_large_integers() -> None:
    """``math.floor`` makes a float of NumPy's integers first."""
    for k in (2**53 + 1, np.int64(2**53 + 1), np.uint64(2**63 - 1), np.int32(5), np.int64(-9)):
        as_python(function("import math\nreturn math.floor(k), math.ceil(k)"), HALF, k)


@pytest.mark.parametrize("line", [
    "w[0] -= w[1] / a[i]", "w[1:] = a[1:] / a[i]", "w[w < 1] = 1 / a[i]",
])
def test_flags_of_writes_into_what_each_iteration_forgets(line: str) -> None:
    body = f"for i in range(len(a)):\n    w = np.zeros(6)\n    {line}"
    for a in (np.ones(6), np.ones(6), np.zeros(6)):
        as_python(function(body), a, 1)


def test_remainders_by_constants_that_are_no_numbers() -> None:
    body = "y = k\ns = y % float('nan'), np.fmod(y, np.nan)\nfor i in range(9): y = y / 2\nreturn s"
    for k in (np.uint32(1), np.float64(1.5), np.float32(2)):
        as_python(function(body), HALF, k)


def test_shifts_that_lose_bits():
    """Nothing is known of a count, so the check that no bit was lost stays."""
    shifted = npcompile.jit(lambda a, b: a << b)
    for a, b in ((3, 2), (7, 62), (-5, 62), (1 << 62, 1), (1 << 62, 2), (-(1 << 62), 1)):
        assert shifted(a, b) == a << b


def test_truth_along_an_empty_axis_of_a_view() -> None:
    def f(a: Any, k: Any) -> Any:
        v = a + k
        return v[1:-1, 2:, 1].any(axis=1, keepdims=True), v.T[:, 2:].all(axis=1)

    oracle.check_calls(npcompile.jit(f), f, np.ones((7, 2, 3)), 2)


def test_a_sum_of_halves_is_rounded_where_it_is_delivered() -> None:
    a = np.linspace(-3, 3, 21, dtype=np.float16).reshape(7, 3)
    got, want = a.copy(), a.copy()
    np.mean(want, axis=0, out=want[-1])
    npcompile.jit(lambda a: a.mean(axis=0, out=a[-1]))(got)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("value", [np.array([2]), np.array([[2.0]])])
def test_an_array_for_one_element(value: Any) -> None:
    plain = function("a[1] = k\nreturn a")
    oracle.check_calls(npcompile.jit(plain), plain, np.zeros(3), value)


@pytest.mark.parametrize("body", [
    "v = a - a\nv[:] *= np.logical_not(v / a)\nreturn v",
    "v = a - a\nreturn (a / v > 1) & (v > 0)",
    "v = np.zeros_like(a)\nw = v / v\nreturn a",
    "v = np.zeros_like(a).astype(np.float16)\nv /= v\nreturn v",
])
@pytest.mark.parametrize("char", "bldef")
def test_flags_of_what_llvm_knows_the_result_of(body: str, char: str) -> None:
    plain = function(body)
    numbers = np.array([1, 0, 2, 3, 5, 7, 8, 9, 4]).astype(char)
    oracle.check_calls(npcompile.jit(plain), plain, numbers, 0)


@pytest.mark.parametrize("body", [
    "v = a[None]\nreturn (k + v) + v + v", "return np.modf(a), divmod(a[:, None], 2)",
    "v = np.zeros(a.shape, order='F')\nreturn v.sum(1), v.T.sum(1, keepdims=True)",
    "return a.T[:, :k].sum(1), (a[:k] > 0).any(0), a.T[:k].sum(0, keepdims=True)",
])
@pytest.mark.parametrize("shape", [(4, 2, 3), (2, 1, 3), (1, 2, 3), (4, 0, 3)])
def test_strides_of_results_with_axes_of_length_1_or_0(body: str, shape: tuple[int, ...]) -> None:
    plain = function(body)
    oracle.check_calls(npcompile.jit(plain), plain, np.ones(shape, order="F"), 0)


@pytest.mark.parametrize("length", [3, 40, 300])
def test_warnings_about_elements_that_no_mask_keeps(length: int) -> None:
    plain = function("return (a / a)[a > k]")
    oracle.check_calls(npcompile.jit(plain), plain, np.zeros(length), 0)


def test_warnings_about_products_of_complex_scalars() -> None:
    plain = function("s = a[0]\nfor n in range(k):\n  s = s * a[1]\n  if s == 0: a[0] = 1\n"
                     "try:\n  s // k\nexcept TypeError:\n  k = 0\nreturn k, a")
    oracle.check_calls(npcompile.jit(plain), plain, np.array([complex(np.inf, 1), 2j]), np.uint8(2))


@pytest.mark.parametrize("order", "CF")
def test_lists_of_arrays_in_other_orders(order: Any) -> None:
    plain = function("found = []\nfor row in a:\n  found.append(row * k)\nreturn np.stack(found)")
    oracle.check_calls(npcompile.jit(plain), plain, np.ones((4, 2, 3), order=order), 2)


def test_the_parts_of_a_function() -> None:
    def plain(a: float, b: int = 2, *, c: int = 3) -> float:
        return a + b + c

    compiled = npcompile.jit(plain)
    for name in ("__code__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__"):
        assert getattr(compiled, name) is getattr(plain, name)
    assert inspect.getfullargspec(compiled) == inspect.getfullargspec(plain)
    assert inspect.signature(functools.wraps(compiled)(lambda: 0)) == inspect.signature(plain)


@pytest.mark.parametrize("last", ["return y, r", "a[0] = 1\nreturn y, r"])
def test_warnings_before_a_library_function_raises(last: str) -> None:
    plain = function(f"y = a / k\nr = np.quantile(a, a[2])\n{last}")
    compiled = npcompile.jit(plain)
    oracle.check_calls(compiled, plain, np.arange(-1.0, 4.0) * 2, 0)
    assert compiled.cache_info().compiled


@pytest.mark.parametrize("text", ["a[..., None, None]", "a[None]", "np.broadcast_to(a, (2, 3, 4))"])
def test_layouts_of_numbers_without_nan(text: str) -> None:
    plain = function(f"return np.nan_to_num({text}), np.nan_to_num({text}.astype(int))")
    oracle.check_calls(npcompile.jit(plain), plain, np.ones((3, 4), order="F"), 0)


@pytest.mark.parametrize("char", "lfD")
@pytest.mark.parametrize("text", ["a[::-1][None]", "a.T[..., None]", "a[None].T[::2]", "a.T"])
def test_layouts_of_what_is_rounded(text: str, char: str) -> None:
    plain = function(f"v = {text}\nreturn np.round(v), np.round(v, 1), v.round(-1)")
    oracle.check_calls(npcompile.jit(plain), plain, np.ones((3, 8), char), 0)


@pytest.mark.parametrize("text", [
    "np.choose(1, [k, a])", "np.choose(k > 1, [a[0], k])", "np.choose([1, 0, 1], [a, 2.5])",
])
@pytest.mark.parametrize("char", "bfd")
def test_choices_of_numbers(text: str, char: str) -> None:
    plain = function(f"return {text}")
    oracle.check_calls(npcompile.jit(plain), plain, np.ones(3, char), 2)


def test_an_axis_that_two_bounds_prove_to_have_length_1() -> None:
    def plain(a: Any, b: Any) -> Any:
        return np.einsum("ij,jk->ik", b, b) + a

    oracle.check_calls(npcompile.jit(plain), plain, np.ones((4, 5)), np.full((1, 1), 4.0))


@pytest.mark.parametrize("body", [
    "a *= k\nreturn a", "a[1:2] *= k\nreturn a",
    "i = np.array([0])\na[i] *= a[i]\nreturn a",
    "i = np.array([0])\nt = a[i]\nreturn np.multiply(t, k, out=t)",
    "return np.multiply(k, a[:1], out=a[:1])", "return np.multiply(a[1:], k, out=a[:-1])",
])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["D", "F"])
def test_products_of_complex_numbers_in_place(body, size, dtype):
    f = function(body)
    compiled = npcompile.jit(f)
    k = np.array([0.3 + 0.7j], dtype)
    for seed in range(20):
        numbers = np.random.default_rng(seed).normal(size=2 * size).view("D").astype(dtype)
        assert compiled(numbers.copy(), k).tobytes() == f(numbers.copy(), k).tobytes()
