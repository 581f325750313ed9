"""Keywords of ufuncs, functions made of others, casts, builtins and the functions of math."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.errors import Refused
from npcompile.graph.ir import Node, SizeOf
from npcompile.ops import python
from npcompile.ops.operands import ArrayRef
from npcompile.ops.record import OPERATORS, resolve
from tests.ops.test_python_operators import answer, check, compiled
from tests.support.context import TestContext

NUMBERS = [0, 3, -7, 2**62, 2.5, -2.5, 0.5, -0.0, 1e300, math.inf, -math.inf, math.nan, True,
           np.float64(2.5), np.float64(-1.5), np.float32(3.7), np.float16(-2.25), np.int64(-5),
           np.int8(7), np.uint8(200), np.uint64(2**63 + 1), np.bool_(True), np.array(3.25),
           np.float64(np.nan), np.complex128(1 - 2j), 2 + 1j]
GRID = np.array([[1.25, -2.5, np.nan], [np.inf, 1234.5678, -0.0]])
ARRAYS = [GRID, GRID.T, GRID[:, ::2], GRID[::-1], np.asfortranarray(GRID), GRID.astype("f4"),
          GRID.astype("f2"), GRID + 1j * GRID[::-1], np.arange(6).reshape(2, 3) * 100 - 250,
          np.arange(5, dtype="i1"), np.array([True, False]), np.array(2.75), np.zeros((0, 3)),
          np.array([200, 3], "u1")]


def call(ctx: TestContext, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    op = resolve(function)
    assert op is not None, function
    return op.kind.call(op, ctx, args, kwargs)


def both(function: Callable[..., Any], *args: Any, lifted: int = 1, **kwargs: Any) -> bool:
    """Calls with the first ``lifted`` arguments traced."""
    wanted = answer(lambda: function(*args, **kwargs))

    def build(ctx: TestContext) -> Any:
        traced = [ctx.lift(a) for a in args[:lifted]]
        return call(ctx, function, *traced, *args[lifted:], **kwargs)

    return check(compiled(build), wanted, (function, args, kwargs))


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
def test_functions_of_arrays(array: np.ndarray) -> None:
    done = 0
    for decimals in (0, 1, 2, -1, -2):
        done += both(np.round, array, decimals)
        done += both(np.ndarray.round, array, decimals)
    for bounds in ((-1, 2), (0.25, None), (None, 100), (-1.5, 300.0), (-1000, 1000), (None, None)):
        done += both(np.clip, array, *bounds)
        done += both(np.ndarray.clip, array, *bounds)
    for function in (np.real, np.conj, np.isreal, np.iscomplex, np.nan_to_num, np.fix,
                     np.negative, np.floor, np.square, np.logical_not, np.isposinf,
                     np.isneginf):
        done += both(function, array)
    done += both(np.nan_to_num, array, True, 7.0, 1.0, -1.0)
    for other in (1, 2.5, np.float32(3), np.array(3, np.int8)):
        done += both(np.where, array, array, other)
        done += both(np.where, array, other, array)
    for dtype in "?bBhHiIlLefdFD":
        done += both(np.ndarray.astype, array, dtype)
        done += both(getattr(np, np.dtype(dtype).name), array)
    for order in "CFK":
        done += both(np.ndarray.astype, array, "d", order)
    for casting in ("safe", "same_kind", "no"):
        done += both(np.ndarray.astype, array, "f", casting=casting)
    assert done > 20


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers_cast_and_rounded(value: Any) -> None:
    for function in (int, float, bool, complex, abs, round):
        both(function, value)
    both(round, value, 1)
    both(round, value, -1)
    for name in ("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64",
                 "float16", "float32", "float64", "complex64", "complex128"):
        both(getattr(np, name), value)
    for function in (np.round, np.nan_to_num, np.fix, np.sign, np.isnan, np.conj, np.real):
        both(function, value)
    both(np.clip, value, -1, 2)
    both(np.where, value, value, 3)


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_functions_of_math(value: Any) -> None:
    for name in ("sqrt", "fabs", "isnan", "isinf", "isfinite", "floor", "ceil", "trunc",
                 "degrees", "radians", "frexp", "modf"):
        both(getattr(math, name), value)
    for other in (2.0, -0.0, 0.0, math.inf, math.nan, 3):
        for name in ("copysign", "fmod"):
            both(getattr(math, name), value, other, lifted=2)
    for exponent in (-3000, -5, 0, 7, 3000):
        both(math.ldexp, value, exponent, lifted=2)


def test_extrema_of_builtins() -> None:
    done = 0
    for function in (builtins.min, builtins.max, divmod):
        for a in NUMBERS:
            for b in NUMBERS:
                done += both(function, a, b, lifted=2)
                done += both(function, a, b, lifted=1)
    assert done > 400
    ctx = TestContext()
    n, m = (call(ctx, int, ctx.number(3)) for _ in range(2))
    assert isinstance(call(ctx, builtins.min, (n, m)), Node)


# ------------------------------------------------------------------ keywords of ufuncs


def test_out_is_written_and_returned() -> None:
    x, target = np.array([1.5, -2.0, 4.0]), np.zeros((2, 3), np.float32)
    for form in ("keyword", "tuple", "positional"):
        def build(ctx: TestContext, form: str = form) -> Any:
            a, out = ctx.array(x), ctx.array(target.copy())
            if form == "positional":
                made = call(ctx, np.add, a, 1, out)
            else:
                made = call(ctx, np.add, a, 1, out=(out,) if form == "tuple" else out)
            assert made is out
            return made

        assert check(compiled(build), np.add(x, 1, out=target.copy()), form)


@pytest.mark.parametrize(("out", "why"), [
    (np.zeros(3, np.int64), "casting"), (np.zeros(2), "shape"), (np.zeros((1, 3))[:, :1], "shape"),
])
def test_out_that_numpy_refuses(out: np.ndarray, why: str) -> None:
    ctx = TestContext()
    x = ctx.array(np.array([1.5, -2.0, 4.0]))
    with pytest.raises(Refused):
        call(ctx, np.add, x, 1, out=ctx.array(out))


def test_where_with_out() -> None:
    x, mask, target = np.array([4.0, -1.0, 9.0]), np.array([True, False, True]), np.full(3, 7.0)

    def build(ctx: TestContext) -> Any:
        a, m, out = map(ctx.array, (x, mask, target.copy()))
        return call(ctx, np.sqrt, a, out=out, where=m)

    assert check(compiled(build), np.sqrt(x, out=target.copy(), where=mask), "where")
    ctx = TestContext()
    with pytest.raises(Refused, match="undefined"):
        call(ctx, np.sqrt, ctx.array(x), where=ctx.array(mask))


def test_dtype_keyword() -> None:
    x = np.array([100, 50], np.int8)
    assert both(np.add, x, x, lifted=2, dtype=np.int16)
    assert both(np.multiply, x, 3, dtype="f4")
    assert not both(np.add, np.array([1.5]), 1, dtype=np.int16)


def test_two_outputs() -> None:
    x = np.array([7.5, -7.5])

    def build(ctx: TestContext) -> Any:
        a, first, second = ctx.array(x), ctx.array(np.zeros(2)), ctx.array(np.zeros(2))
        made = call(ctx, np.divmod, a, 2, out=(first, second))
        assert made[0] is first and made[1] is second
        return made

    assert check(compiled(build), np.divmod(x, 2), "divmod")


def test_outer() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(4.0)[::-1]
    for method in (np.add.outer, np.less.outer, np.subtract.outer):
        assert both(method, x, y, lifted=2)
        assert both(method, y, x, lifted=2)
        assert both(method, x, 2.0)


def test_views_of_complex_parts() -> None:
    z = np.array([1 + 2j, 3 - 4j])
    ctx = TestContext()
    ref = ctx.array(z.copy())
    imag = call(ctx, np.imag, ref)
    assert isinstance(imag, ArrayRef) and imag.storage is ref.storage
    assert call(ctx, np.real, ctx.array(np.ones(2))).dtype == np.float64

    def build(ctx: TestContext) -> Any:
        a = ctx.array(z.copy())
        python.inplace(ctx, "*", call(ctx, np.imag, a), 2)
        return a

    assert check(compiled(build), np.array([1 + 4j, 3 - 8j]), "imag")


@pytest.mark.parametrize("symbolic", [False, True])
def test_layouts_follow_numpy(symbolic: bool) -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(12.0).reshape(3, 4)
    pairs = [(a, b), (a.transpose(2, 0, 1), a.transpose(2, 0, 1)), (a[:, ::2], 1.0),
             (a.T, np.asfortranarray(a.T)), (b.T, b[::-1].T), (a[:, :, :1], b)]
    for x, y in pairs:
        wanted = np.multiply(x, y) + x

        def build(ctx: TestContext, x: Any = x, y: Any = y) -> Any:
            left, right = ctx.lift(x), ctx.lift(y)
            return python.binary(ctx, "+", python.binary(ctx, "*", left, right), left)

        ctx = TestContext(symbolic)
        made = build(ctx)
        strides = ctx.state[made.storage].type.strides
        if not symbolic:
            assert tuple(8 * s for s in strides) == wanted.strides
            assert check(compiled(build), wanted, "layout")


# ------------------------------------------------------------------ sizes


def test_arithmetic_of_sizes_stays_symbolic() -> None:
    ctx = TestContext(symbolic=True)
    x = ctx.array(np.zeros((6, 4)))
    n, m = map(ctx.builder.size, x.shape)
    for symbol, other, text in (("+", 1, "n00 + 1"), ("-", m, "n00 - n01"), ("*", m, "n00*n01"),
                                ("//", 2, "((n00) // (2))")):
        made = python.binary(ctx, symbol, n, other)
        assert isinstance(made.attrs, SizeOf) and repr(made.attrs.size) == text
    assert python.compare(ctx, ">", n, m) is True
    assert python.compare(ctx, "==", n, 5) is False
    assert len(ctx.facts.guards) == 2
    assert python.truth(ctx, n) is True
    product = python.binary(ctx, "*", python.binary(ctx, "*", n, m), n)
    assert product.op == "mul"
    assert isinstance(call(ctx, builtins.max, n, m).attrs, SizeOf)
    assert isinstance(python.unary(ctx, "-", n).attrs, SizeOf)


def test_unknown_sizes_are_compared_at_run_time() -> None:
    ctx = TestContext()
    number = ctx.number(4)
    size = ctx.builder.size(ctx.builder.size_of(number))
    made = python.compare(ctx, "<", size, 5)
    assert isinstance(made, Node) and made.type.origin == "py"


def test_names_are_unique_and_importable() -> None:
    for name, op in OPERATORS.items():
        assert op.name == name
        if op.kind.name == "elementwise":
            assert callable(op.oracle()), name


EXTREMES = [
    lambda a, b: np.minimum(a, b), lambda a, b: np.maximum(a, b), lambda a, b: np.maximum(a, 0.0),
    lambda a, b: np.minimum(-0.0, a), lambda a, b: np.clip(a, -0.0, 1), lambda a, b: a.clip(0.0, 1),
    lambda a, b: np.clip(a, b, 1), lambda a, b: np.clip(a, -1, b), lambda a, b: np.clip(a, b, b),
    lambda a, b: np.clip(a, None, 0.0), lambda a, b: np.clip(a, np.nan, 1),
    lambda a, b: np.clip(a, b[1], b[0]), lambda a, b: np.maximum(a[0], b[0]),
]


@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
def test_signs_of_zeros_in_extremes(kind):
    pool = np.array([0.0, -0.0, 0.0, -0.0, np.nan, 1, -1, np.inf, -np.inf, 0.5], kind)
    for function in EXTREMES:
        compiled = jit(function)
        for n in (2, 5, 17, 64):
            x, y = (np.random.default_rng(n + k).choice(pool, 2 * n) for k in range(2))
            for a, b in ((x[:n], y[:n]), (x[::2], y[::2]), (x[:n][::-1], y[:n])):
                with np.errstate(all="raise"):
                    got, want = compiled(a, b), function(a, b)
                assert np.array_equal(got, want, equal_nan=True)
                number = ~np.isnan(want)
                assert np.array_equal(np.signbit(got)[number], np.signbit(want)[number])
