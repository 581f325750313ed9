"""Floating-point warnings: category, message, line and number are plain Python's."""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.runtime.unsafe.version_tags import filters_address
from npcompile.runtime.versions.exits import Exits
from tests.fuzz import fp_warnings
from tests.fuzz.framework import checked
from tests.support import oracle
from tests.support.oracle import alike


def warned(function: Callable[..., Any], *args: Any) -> list[tuple[str, str, int, str]]:
    """Kinds, messages, lines and files of the warnings of a call."""
    return oracle.observe(function, *args).warned


def scale(x: Any, y: Any) -> Any:
    x[1:] = x[1:] * 1e200
    x += y
    x *= 1e200
    return x.sum() / y[0]


def turns(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] / y[i]
        if x[i] < 0:
            x[i] = x[i] * 1e300
    return x


def leaves(x: Any, y: Any) -> Any:
    x += y * 1e300
    x *= 1e300
    if x[0] > 1:
        raise ZeroDivisionError
    return x - x


@pytest.mark.parametrize("function", [scale, turns, leaves])
def test_writing_functions_warn_as_plain(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    quiet = np.linspace(0.25, 0.5, 6) * 1e-150
    for low in (1.0, 0.0, -1.0, 1e-300, 1e150, np.nan):
        for values in (quiet, np.full(6, low), np.full(6, -1e200)):
            oracle.check_calls(compiled, function, values, np.full(6, low), warnings="all")


def test_memory_beside_a_view_stays_as_it_is() -> None:
    compiled = jit(scale)
    whole, plain = np.full((3, 8), 2.0), np.full((3, 8), 2.0)
    got, want = (oracle.observe(call, x[::2, ::-2], np.zeros(4), world=lambda x=x: x)
                 for call, x in ((compiled, whole), (scale, plain)))
    oracle.check(got, want, warnings="all")


def test_large_arguments_warn_in_the_same_kinds() -> None:
    compiled = jit(scale)
    for value in (1.0, 1.0, 1e200, 1.0, 1e200):
        oracle.check_calls(
            compiled, scale, np.full(5000, value), np.ones(1), warnings="categories")


def test_warnings_before_python_takes_over() -> None:
    """Flags raised before a statement that Python executes: at the very line."""

    def f(a: Any, b: Any) -> Any:
        c = a.astype(np.int32)
        d = a % c
        return d, b + b[2:]

    a = np.array([[0.5, 1.5, -2.0], [0.0, 3.0, 1.0]])
    b = np.ones(5)

    with pytest.raises(ValueError, match="broadcast"):
        f(a, b)
    oracle.check_calls(jit(f), f, a, b, warnings="all")


def test_warnings_of_results_that_nobody_reads() -> None:
    """A quotient in either of two arrays, one of them a view, that is not used any more."""

    def f(a: Any, k: float) -> Any:
        b = a[:-1] * k
        c = b + 0 if k > 0 else b[::-1]
        c /= b
        return a

    compiled = jit(f)
    for k in (1.0, -1.0):
        for a in (np.arange(6.0), np.zeros(6), np.ones(6)):
            oracle.check_calls(compiled, f, a, k, warnings="all")


def test_warnings_of_parts_of_an_array_that_nobody_reads() -> None:
    """What is read beside a row that is written runs in the same kernel, the row itself is not
    needed."""

    def f(a: Any) -> Any:
        b = a * 2
        for i in range(3):
            b[i] = b[i + 1] // i
        return a

    compiled = jit(f)
    for a in (np.arange(6.0) + 1, np.zeros((6, 2)), np.ones((6, 2))):
        oracle.check_calls(compiled, f, a, warnings="all")


OVERWRITTEN = [
    "v[:] = 1.0", "v[...] = np.fmin(x, y)", "v[:] = v * 0 + 1", "v[:] = 1.0; v[:] = 2.0",
    "v[:] = 1.0; v += x", "w = v[::-1]; v[:] = y",
]


@pytest.mark.parametrize("then", OVERWRITTEN)
@pytest.mark.parametrize("first", ["x % y", "x / y", "x * 1e300 * y", "np.sqrt(-y)"])
def test_what_is_overwritten_has_warned(first: str, then: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(x, y):\n v = {first}\n {then}\n return v\n", scope)
    x, y = np.array([1.0, 0.0, 1e200]), np.array([0.0, 1.0, 1e200])
    oracle.check_calls(jit(scope["f"]), scope["f"], x, y, warnings="all")


@pytest.mark.parametrize("then", ["x[:] = y", "x[:] = 1.0", "x[1:] = y[1:]\n x[:1] = 2.0"])
def test_what_is_overwritten_in_an_argument_has_warned(then: str) -> None:
    """Two stores of one kernel to one place: LLVM sees that the first one is vain."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(x, y):\n x /= y\n {then}\n return x\n", scope)
    x, y = np.array([1.0, 0.0, 1e200]), np.zeros(3)
    oracle.check_calls(jit(scope["f"]), scope["f"], x, y, warnings="all")


LOUD = [
    "a > a", "a <= 1", "abs(a)", "np.sign(a)", "np.arctan(a)", "np.tanh(a)", "np.exp(a)",
    "np.ldexp(a.real, 5)", "np.rad2deg(a.real)",
]


@pytest.mark.parametrize("then", LOUD)
def test_what_else_may_have_raised_a_flag(then: str) -> None:
    """Functions that write and have a second operation that can raise what the first can."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(a, b):\n b /= b\n r = {then}\n return r\n", scope)
    a = np.array([complex(1.5e308, 1.5e308), complex(np.nan, 1), 1])
    for b in (np.zeros(2), np.ones(2)):
        oracle.check_calls(jit(scope["f"]), scope["f"], a, b, warnings="all",
                           close=(1e-12, 1e-300))


FORGOTTEN = [
    "np.isnan(np.logical_not(v))", "(v > 0).astype(np.int64) * 0", "np.sqrt(-v) < 0",
    "(v > 1) & (v <= 1)", "((v > 0) * 1) < 2", "np.abs(v) < 0", "np.minimum(np.uint8(0), v > 0)",
    "(v > 0) & False", "(v > 0) ^ (v > 0)", "np.clip((v > 0).astype(np.int32), 5, 5)",
    "np.where((v > 0) & False, v, 1.0)", "np.where(v > 0, 5, 5)", "(v > 0) | np.ones(3, bool)",
    "(np.nan_to_num(v).astype(np.int64) & 1) >> 1", "np.abs(np.copysign(1.0, v))",
    "(v > 0).astype(np.int8) // 2", "((v + 1j) == v) & False",
]


@pytest.mark.parametrize("then", FORGOTTEN)
@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
def test_what_makes_no_difference_has_warned(then: str, kind: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(b):\n v = b / b\n return {then}\n", scope)
    b = np.array([0, -1, np.inf], kind)
    oracle.check_calls(jit(scope["f"]), scope["f"], b, warnings="all")


def test_what_only_a_vain_loop_needs_has_warned() -> None:
    def f(b: Any) -> Any:
        v = b % b
        n = 0
        while n < int((v > 0).sum()):
            n += 1
        return b[1:]

    b = np.array([0.0, 1.0, np.inf])
    oracle.check_calls(jit(f), f, b, warnings="all")


def test_numbers_that_make_no_difference_have_warned() -> None:
    def f(b: Any) -> Any:
        count = 0
        for k in range(len(b)):
            v = b[k] / b[k]
            count += int(v > 0) * 0
            if v * v < 0 and (v > 0) & (v <= 0):
                count += 1
        return count

    b = np.array([0.0, 1.0, np.inf])
    oracle.check_calls(jit(f), f, b, warnings="all")


def test_equal_operations_on_several_lines_warn_each() -> None:
    def f(a: Any, c: Any) -> Any:
        v = (a % a) - a
        w = a % a
        c[:] = c + 1
        return v, w

    for a in (np.zeros(7, np.int32), np.arange(-3, 4)):
        oracle.check_calls(jit(f), f, a, np.zeros(7), warnings="all")


@pytest.mark.parametrize("other", ["0", "y"])
@pytest.mark.parametrize("arm", ["1 / x", "y / x", "y + x", "y * x", "np.sqrt(y)"])
def test_what_is_not_chosen_has_warned(arm: str, other: str) -> None:
    """A choice and its arm may become one masked instruction."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(x, y):\n return np.where(x > 0, {arm}, {other})\n", scope)
    for n in (1, 2, 8, 9, 100):
        for bad in (0.0, -1.5e308):
            x, y = np.full(n, 2.0), np.full(n, 3.0)
            x[0], y[0] = bad, -1.5e308
            oracle.check_calls(jit(scope["f"]), scope["f"], x, y, warnings="all")


@pytest.mark.parametrize("name", ["divide", "floor_divide", "remainder", "arctanh", "power"])
@pytest.mark.parametrize("kind", ["int64", "uint8", "float32", "complex128"])
def test_what_a_mask_leaves_out_raises_no_flags(name: str, kind: str) -> None:
    def into(a: Any, b: Any) -> Any:
        function(a, *((b,) if function.nin == 2 else ()), out=out, where=b != 0)
        return out

    def in_place(a: Any, b: Any) -> Any:
        function(a, *((b,) if function.nin == 2 else ()), out=a, where=b > 0)
        return a

    function = getattr(np, name)
    a, b = np.array([1, 0, 2, 0], kind), np.array([0, 0, 1, 2], kind)
    try:
        with np.errstate(all="ignore"):
            out = np.zeros_like(function(a, *((b,) if function.nin == 2 else ())))
    except TypeError:
        pytest.skip("there is no such loop")
    for f in (into, in_place) if out.dtype == a.dtype else (into,):
        compiled = jit(f)
        for _ in range(2):
            oracle.check_calls(compiled, f, a, b, warnings="all")


@pytest.mark.parametrize("name", ["maximum", "absolute", "negative", "tanh", "fmin", "sqrt"])
@pytest.mark.parametrize("chosen", [0, 1, 5])
def test_what_out_holds_is_converted_though_nothing_is_chosen(name: str, chosen: int) -> None:
    """Some loops of NumPy's clear the flags of conversions: if they run at all."""
    def into(a: Any, mask: Any, out: Any) -> None:
        function(*([a] * function.nin), out=out, where=mask, dtype=np.float32)

    function, mask = getattr(np, name), np.arange(5) < chosen
    compiled = jit(into)
    for _ in range(2):
        oracle.check_calls(
            compiled, into, np.ones(5), mask, np.full(5, 1e300), warnings="all")


@pytest.mark.parametrize("filters, again", [
    ([("ignore", RuntimeWarning)], False),
    ([("ignore", Warning)], False),
    ([("ignore", Warning), ("always", UserWarning)], False),
    ([("ignore", Warning), ("always", RuntimeWarning)], True),
    ([("ignore", DeprecationWarning)], True),
    ([], True),
])
def test_what_nobody_hears_is_not_run_again(
    filters: list[tuple[Any, type[Warning]]], again: bool,
) -> None:
    def f(x: Any) -> Any:
        return np.where(x > 0, 1 / x, 1 / (x - 4))  # flags don't say which

    compiled = jit(f)
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for action, category in filters:
            warnings.simplefilter(action, category)
        for _ in range(2):
            assert compiled(np.array([0.0, 2.0])).tolist() == [-0.25, 0.5]
    assert any("floating-point" in line for line in compiled.explain().history) == again


def first_doubles_then_halves(b: Any, a: Any) -> Any:
    np.multiply(b, 1.0, out=b)
    return a.min()


@pytest.mark.parametrize("width", [4, 16, 19])
def test_what_else_lies_in_registers_is_not_converted(width: int) -> None:
    """Each quarter of these float64 is a signaling NaN as a float16."""
    b = np.full((2, 20), 0x7D017D017D017D01, np.uint64).view(np.float64)[:, :width]
    a = np.arange(1, 13, dtype=np.float16).reshape(4, 3)
    compiled = jit(first_doubles_then_halves, fullgraph=True)
    assert warned(compiled, b, a) == []
    assert compiled(b, a) == 1


def test_constants_that_warn_do_so_at_each_call() -> None:
    def f(x: Any) -> Any:
        return x * int(np.complex64(3))

    compiled = jit(f)
    for _ in range(2):
        oracle.check_calls(compiled, f, 2.0, warnings="all")


def test_compiling_forgets_no_warning_that_was_told() -> None:
    """The default filter tells once of each place; catching warnings anew would tell again."""
    def warn() -> None:
        warnings.warn("once", stacklevel=1)

    def f(x: Any) -> Any:
        return np.median(x * 2 + int(np.float64(3)))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warn()
        jit(f)(np.arange(5.0))
        warn()
    assert len(caught) == 1


def telling(x: Any) -> Any:
    if x.sum() > 9.0:
        print("large")
    y = x**3
    z = 1.0 / y
    return z - 1.0 / (x - 1.0)


def test_where_nothing_was_told_python_warns(capsys: pytest.CaptureFixture[str]) -> None:
    compiled, outcomes = jit(telling, fullgraph=True), []
    arrays = [np.array(x) for x in ([3.0], [1.0, 0.0], [1.0, 2.0], [10.0], [0.0, 0.0], [1.0])]
    for function in (telling, compiled):
        found = []
        for x in arrays:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(x)
            found.append([(str(w.message), w.lineno) for w in caught])
        outcomes.append((found, capsys.readouterr().out))
    (want, printed), (got, printed_too) = outcomes
    assert printed_too == printed == "large\n"
    # after a call that told something, the likeliest is named once
    assert got[4] == want[4][:1]
    assert got[:4] + got[5:] == want[:4] + want[5:]


def test_what_can_have_raised_a_flag() -> None:
    def after(x: Any) -> Any:
        print(end="")
        return x.astype(bool), 2.0 / x**2

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jit(after)(np.array([0.0, 1.0]))
    assert [str(w.message) for w in caught] == ["divide by zero encountered in divide"]


def test_of_what_only_an_arm_would_change() -> None:
    """The array that is computed is written in an arm, and nobody sees it."""
    def f(a, b):
        v = (a + b) % 0
        w = v if b.any() else b
        w[:1] = 0
        return 1

    a = np.ones((5, 4))
    for b in (np.ones((5, 4), np.float32), np.zeros((5, 4), np.float32)):
        alike(f, (a, b))


def test_what_is_overwritten_has_been_heard() -> None:
    """A value that is stored as what it reads is about to change, and then overwritten."""
    def moved(a: Any, k: float) -> Any:
        v = (a - a - 1) / a
        a[0] = 0.5
        v[:] = a * k
        if v.min() < -24:
            raise ValueError(k)
        return v

    def viewed(a: Any, k: float) -> Any:
        v = 1 / a
        w = v[::2]
        v[:] = k
        return w

    a = np.array([1.0, 0.0, 2.0])
    for function in (moved, viewed):
        assert warned(function, a.copy(), 2.0)
        alike(function, (a, 2.0), (a, -30.0), captured=False)


def test_what_where_leaves_alone_is_converted_too() -> None:
    """NumPy converts all that ``out=`` holds to its loop's dtype; some loops clear flags."""
    def double(a: Any, out: Any) -> Any:
        return np.multiply(a, 2, out=out, where=a > 0)

    def positive(a: Any, out: Any) -> Any:
        return np.greater(a, 0, out=out, where=a > 0)

    def absolute(a: Any, out: Any) -> Any:
        return np.absolute(a, out=out, where=a > 0)

    def cut(a: Any, out: Any) -> Any:
        return np.clip(a, 0, 1, out=out, where=a > 0)

    held = [np.zeros(3), np.full(3, 1e300), np.full(3, np.nan), np.full(3, 1j)]
    for function in (double, positive, absolute, cut):
        for dtype in (np.float64, np.float32, np.int64):
            a = np.array([1, -1, 2], dtype)
            alike(function, *[(a, out) for out in held], captured=False)


@pytest.mark.parametrize("value, kind", [(1e300, "float32"), (1e300, "float16"), (1e5, "float16"),
                                         (np.nan, "int64"), (1e300, "int32"), (1.5, "float32")])
def test_constants_that_are_converted(value: float, kind: str) -> None:
    def filled(n: int) -> Any:
        return np.full(n, value).astype(kind)

    def seen(n: int) -> int:
        return len(np.full(n, value).astype(kind))

    for f in (filled, seen):
        compiled = jit(f)
        for n in (0, 1, 5, 40):
            oracle.check_calls(compiled, f, n, warnings="all")


def grown_and_log(a: Any, b: Any) -> Any:
    grown = np.exp(np.abs(a))
    return grown, \
        np.log(b)


def shown(function: Callable[..., Any], space: dict[str, Any], *calls: Any) -> list[Any]:
    """What is shown of the warnings of these calls in a row, under the filters of now."""
    caught: list[Any] = []
    space.pop("__warningregistry__", None)
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, kind, file, line, *_: caught.append(
            (str(text), kind, file, line))
        for args in calls:
            function(*args)
            caught.append(len(space.get("__warningregistry__", ())))
    return caught


_ZERO = (np.ones(3), np.array([1.0, 0.0, 2.0]))
_LARGE = (np.full(3, 2000.0), np.array([1.0, 0.0, 2.0]))
_QUIET = (np.ones(3), np.ones(3))


@pytest.mark.parametrize("action", ["default", "always", "module", "once", "ignore"])
def test_known_warnings_are_shown_as_by_numpy_without_a_run_in_python(action: Any) -> None:
    compiled, space = jit(grown_and_log), grown_and_log.__globals__
    calls = (_QUIET, _ZERO, _ZERO, _QUIET, _LARGE, _LARGE, _ZERO)
    found = []
    for function in (grown_and_log, compiled):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            warnings.onceregistry.clear()  # type: ignore[attr-defined]
            found.append(shown(function, space, *calls))
    assert found[0] == found[1]
    assert not any("floating-point" in line for line in compiled.explain().history)


@pytest.mark.parametrize("category", [Warning, RuntimeWarning])
def test_what_the_first_filter_ignores_never_leaves_machine_code(
    category: type[Warning], monkeypatch: pytest.MonkeyPatch
) -> None:
    def several(a: Any, b: Any) -> Any:
        return (a / b - a) / (b + a)

    def writes(a: Any, b: Any) -> None:
        a /= b
        a *= np.log(a)

    made = jit(several), jit(writes)
    left: list[Any] = []
    leave = Exits.leave
    monkeypatch.setattr(Exits, "leave", lambda *args: left.append(args) or leave(*args))
    for function in made:
        function(np.ones(3), np.ones(3))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", category)
            for _ in range(3):
                function(np.zeros(3), np.zeros(3))
            assert not left
            assert not caught
            with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
                function(np.zeros(3), np.zeros(3))
            warnings.filterwarnings("always", category=RuntimeWarning)
            function(np.zeros(3), np.zeros(3))
            assert len(caught) >= 1
        left.clear()


def test_a_warning_that_is_an_error_comes_from_the_users_line() -> None:
    compiled = jit(grown_and_log)
    compiled(*_QUIET)
    places = []
    for function in (grown_and_log, compiled):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match=r"^divide by zero encountered in log$") as e:
                function(*_ZERO)
            places.append((e.traceback[-1].name, e.traceback[-1].lineno))
    assert places[0] == places[1]


def test_warnings_of_another_module_are_remembered_there() -> None:
    other: dict[str, Any] = {"__name__": "elsewhere"}
    exec(compile("\n\ndef inner(a, b):\n    return a / b\n", "<elsewhere>", "exec"), other)
    inner = other["inner"]

    def outer(a: Any, b: Any) -> Any:
        return inner(a, b) * 2

    compiled = jit(outer)
    compiled(*_QUIET)
    found = []
    for function in (outer, compiled):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", module="elsewhere")
            found.append(shown(function, other, _ZERO, _ZERO, _QUIET))
    assert found[0] == found[1]
    assert found[0][0][2:] == ("<elsewhere>", 4)
    assert not any("floating-point" in line for line in compiled.explain().history)


def test_a_handler_of_warnings_that_raises() -> None:
    class Told(Exception):
        pass

    def show(*_: Any) -> None:
        raise Told

    compiled = jit(grown_and_log)
    compiled(*_QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        for _ in range(2):
            with pytest.raises(Told):
                compiled(*_ZERO)
    assert np.allclose(compiled(*_QUIET), grown_and_log(*_QUIET))


def test_equal_quotients_of_one_line_are_told_of_each() -> None:
    def f(a: Any, b: Any) -> Any:
        return a / b + a / b

    compiled = jit(f)
    for args in (_QUIET, _ZERO, _ZERO):
        oracle.check_calls(compiled, f, *args, warnings="all")


@pytest.mark.parametrize("action", ["error", "always"])
def test_an_error_leaves_arguments_as_they_are_at_its_line(action: Any) -> None:
    def f(x: Any, out: Any) -> None:
        out[0] = np.log(x)

    compiled = jit(f)
    for x in (1.0, -1.0, -1.0):
        found = []
        for function in (f, compiled):
            out = np.array([5.0, 6.0])
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter(action)
                try:
                    function(x, out)
                except RuntimeWarning as error:
                    found.append(str(error))
                found.append(([str(w.message) for w in caught], out.tolist()))
        half = len(found) // 2
        assert repr(found[:half]) == repr(found[half:])


@pytest.mark.parametrize("mode", ["call", "log"])
@pytest.mark.parametrize("size", [3, 5000])
def test_what_seterrcall_has_set_is_called_as_by_numpy(mode: Any, size: int) -> None:
    def f(a: Any, b: Any) -> None:
        a /= b

    class Handler:
        def write(self, text: str) -> None:
            seen.append(text)

        def __call__(self, *args: Any) -> None:
            seen.append(args)

    compiled, found = jit(f), []
    for function in (f, compiled):
        seen: list[Any] = []
        for b in (np.ones(size), np.zeros(size), np.ones(size), np.zeros(size)):
            with np.errstate(all=mode, call=Handler()):
                function(np.ones(size), b)
        found.append(seen)
    assert found[0] == found[1]
    assert found[0]


def test_an_overflow_of_pythons_own_numbers_is_no_warning() -> None:
    def f(x: float) -> float:
        return x * 1e300 * 1e300

    compiled = jit(f)
    for x in (1e-300, 1.0, 1.0):
        assert compiled(x) == f(x)
        assert warned(compiled, x) == []
    assert not any("floating-point" in line for line in compiled.explain().history)


@pytest.mark.parametrize("seed", [5, 23, 50, 61, 77])
def test_random_programs_whose_warnings_come_and_go(seed: int) -> None:
    checked(fp_warnings.GRAMMAR, [seed])


@pytest.mark.parametrize("name", ["exp", "log", "expm1", "log1p", "sinh"])
def test_ufuncs_of_ours_warn_as_numpys_do(name: str) -> None:
    ours, theirs = getattr(npcompile, name), getattr(np, name)

    def apply(function: Callable[..., Any], x: Any, out: Any = None) -> Any:
        return function(x, out=out)

    space = apply.__globals__
    for action in ("always", "default", "module", "once", "ignore", "error"):
        found = []
        for function in (ours, theirs):
            told: list[Any] = []
            with warnings.catch_warnings():
                warnings.simplefilter(action)
                warnings.onceregistry.clear()  # type: ignore[attr-defined]
                for values in ([1.0, 2.0], [2000.0, 0.0], [-1.0, -2.0], [-1.0, 0.0]):
                    out = np.full(2, 7.0)
                    try:
                        told += shown(apply, space, (function, np.array(values), out))
                    except RuntimeWarning as error:
                        told.append(str(error))
                    told.append(np.isfinite(out).tolist())
            found.append(told)
        assert found[0] == found[1]


def test_a_call_that_warns_has_the_bits_of_one_that_does_not() -> None:
    def f(x: Any) -> Any:
        return np.exp(x) / np.exp(x * 0.5) - np.exp(x[0])  # flags don't say which

    x = np.linspace(0.0, 3.0, 50)
    compiled, large = jit(f), np.append(x, 2000.0)
    quiet = compiled(x)
    oracle.check_calls(compiled, f, large, warnings="all", close=(1e-12, 1e-300))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.warns(RuntimeWarning):
            assert compiled(large)[:-1].tobytes() == quiet.tobytes()


@pytest.mark.parametrize("text", ["", "np.random.seed(7)", "b[0] = 2"])
def test_modules_without_a_name_warn(text):
    source = f"def f(b):\n    {text or 'pass'}\n    unused = b // b\n    return b * 2\n"
    space = {"np": np}
    exec(compile(source, "<nameless>", "exec"), space)
    compiled = npcompile.jit(space["f"], cache=False)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            compiled(np.zeros(4, np.int8))
        assert [(str(w.message), w.lineno) for w in told] == [
            ("divide by zero encountered in floor_divide", 3)]


def several(a: Any, b: Any) -> Any:
    return (a * b) * 1e200, (a * 1e200) * (b * 1e200)


def both(compiled: Callable[..., Any], function: Callable[..., Any], args: Any) -> None:
    """Compares what is shown of a call and what its module remembers of it."""
    space = function.__globals__
    found = []
    for call in (function, compiled):
        kept = dict(_REMEMBERED.get(call, {}))
        space["__warningregistry__"] = kept
        caught: list[Any] = []

        def show(text: Any, kind: Any, file: str, line: int, *_: Any, to: Any = caught) -> None:
            to.append((str(text), kind, file, line))

        before, warnings.showwarning = warnings.showwarning, show
        try:
            call(*args)
        finally:
            warnings.showwarning = before
            del space["__warningregistry__"]
        _REMEMBERED[call] = kept
        now = ctypes.c_int64.from_address(filters_address()).value
        entries = kept if kept.get("version") == now else {}  # older ones are forgotten when read
        found.append((caught, {key for key in entries if key != "version"}))
    assert found[0] == found[1]


_REMEMBERED: dict[Any, dict[Any, Any]] = {}


@pytest.mark.parametrize("function", [grown_and_log, several])
def test_filters_that_change_show_a_warning_anew(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    numbers = [np.array([1.0, value, 2.0]) for value in (1.0, 0.0, 0.0, 1e300, 1e300, -1.0)]
    with warnings.catch_warnings():
        for action in ("default", "ignore", "default", "always", "module", "once"):
            warnings.simplefilter(action)  # type: ignore[arg-type]
            for b in numbers:
                both(compiled, function, (np.ones(3), b))
        for b in numbers:
            both(compiled, function, (np.ones(3), b))
            with warnings.catch_warnings():  # which changes no filter, but their number
                both(compiled, function, (np.ones(3), b))
            both(compiled, function, (np.ones(3), b))


def test_what_is_known_of_shown_warnings() -> None:
    """The number of CPython's that registries are compared with is found, and followed."""
    address = filters_address()
    number = ctypes.c_int64.from_address(address)
    with warnings.catch_warnings():
        for _ in range(3):
            before = number.value
            warnings.simplefilter("always")
            assert number.value == before + 1
            registry: dict[Any, Any] = {}
            warnings.warn_explicit("told", UserWarning, "somewhere", 1, "there", registry)
            assert registry["version"] == number.value


def test_where_no_candidate_would_be_shown_python_does_not_run() -> None:
    compiled, runs = jit(several), 0
    loud = (np.full(3, 1e200), np.full(3, 1e200))

    def count(frame: Any, *_: Any) -> None:
        nonlocal runs
        runs += frame.f_code is several.__code__

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for _ in range(3):
            both(compiled, several, loud)
        space = several.__globals__
        space["__warningregistry__"] = _REMEMBERED[compiled]
        sys.setprofile(count)
        try:
            for _ in range(20):
                compiled(*loud)
        finally:
            sys.setprofile(None)
            del space["__warningregistry__"]
    assert runs == 0
