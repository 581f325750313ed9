"""Python's operators on traced operands: Python's own result, or a refusal, or a failed check."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile.ops.bitwise
import npcompile.ops.comparison
import npcompile.ops.rounding
import npcompile.special.library  # noqa: F401
from npcompile.core.errors import Refused
from npcompile.graph.interpret import Left
from npcompile.graph.ir import Node
from npcompile.ops import python
from tests.support_context import TestContext, run_both, same_bits

BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}
COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}
PYTHONS = [0, 1, -1, 2, 7, -3, 63, 300, 2**31, -(2**40), 2**53 + 1, 2**62, 2**63 - 1, -(2**63),
           0.0, -0.0, 1.5, -2.5, 0.5, 3.0, 1e300, float("inf"), float("-inf"), float("nan"),
           True, False, 1j, 2 - 3.5j, 0j]
SCALARS = [np.float64(2.5), np.float64(-0.0), np.float64("inf"), np.float64("-inf"),
           np.float32(1.1), np.float32(-3), np.float16(0.3), np.int64(5), np.int64(-7),
           np.int64(2**62), np.int8(-128), np.int8(3), np.uint8(200), np.uint8(0),
           np.uint64(2**63 + 5), np.int32(-1), np.bool_(True), np.bool_(False),
           np.complex64(1 - 2j), np.complex128(0.1 + 0.7j)]
ARRAYS = [np.array([1.5, -0.0, np.inf, 2.0]), np.array([1, -2, 0, 127], np.int8),
          np.array([0, 1, 200, 255], np.uint8), np.array([3, -4, 5, 2**40]),
          np.array([True, False, True, True]), np.array([0.5, 3, -7, np.nan], np.float32),
          np.array([0.1, 2, -3, 60000], np.float16), np.array([1 + 2j, 0.3j, -1, 5]),
          np.array(4.0), np.array(3, np.int16)]


def outcome(function: Callable[[], Any]) -> Any:
    """What Python gives, or the exception's class."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function()
        except Exception as error:
            return type(error)


def compiled(build: Callable[[TestContext], Any]) -> Any:
    """The results of both readings; None where Python has to go on."""
    ctx = TestContext()
    try:
        made = build(ctx)
        if not isinstance(made, (Node, tuple)) and not hasattr(made, "cell"):
            return made, made
        return run_both(ctx, made)
    except (Refused, Left):
        return None


def check(build: Callable[[TestContext], Any], wanted: Any, label: object) -> bool:
    """True where a result was compiled; it must be Python's, in type and bits."""
    found = compiled(build)
    if found is None:
        return False
    assert not isinstance(wanted, type), (label, "Python raises", wanted, found)
    for one in found:
        power = isinstance(label, tuple) and label[0] == "**"
        same = close if power and np.asarray(wanted).dtype.kind in "fc" else same_bits
        assert same(one, wanted), (label, found, wanted)
    return True


def close(x: Any, y: Any) -> bool:
    """Equal types and NaNs, and floats that differ in the last place at most; complex powers in
    some units of it, in either part."""
    if type(x) is not type(y) or np.asarray(x).dtype != np.asarray(y).dtype:
        return False
    a, b = np.broadcast_arrays(x, y)
    if b.dtype.kind == "c":
        return bool(np.allclose(a, b, rtol=1e-13 if b.dtype == complex else 1e-5, equal_nan=True))
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= np.spacing(np.abs(b).astype(b.dtype))
    return bool(np.all(near | (a == b) | (np.isnan(a) & np.isnan(b))))


@pytest.mark.parametrize("symbol", [*BINARY, *COMPARE])
@pytest.mark.parametrize("left_static", [False, True])
def test_numbers_of_python(symbol: str, left_static: bool) -> None:
    function = (BINARY | COMPARE)[symbol]
    enter = python.binary if symbol in BINARY else python.compare
    count = 0
    for a in PYTHONS:
        for b in PYTHONS:
            if symbol in ("**", "<<") and isinstance(b, int) and b > 300:
                continue  # Python would take forever
            wanted = outcome(lambda a=a, b=b: function(a, b))  # type: ignore[misc]
            for static in (0, 1, 2):
                def build(ctx: TestContext, a: Any = a, b: Any = b, static: int = static) -> Any:
                    x = a if static == 1 else ctx.number(a)
                    y = b if static == 2 else ctx.number(b)
                    return enter(ctx, symbol, x, y)

                count += check(build, wanted, (symbol, a, b, static))
    assert count > 20


@pytest.mark.parametrize("symbol", [*BINARY, *COMPARE])
def test_scalars_and_arrays_of_numpy(symbol: str) -> None:
    function = (BINARY | COMPARE)[symbol]
    enter = python.binary if symbol in BINARY else python.compare
    count = 0
    operands = [*PYTHONS, *SCALARS, *ARRAYS]
    for a in operands:
        for b in operands:
            if type(a).__module__ == type(b).__module__ == "builtins":
                continue
            wanted = outcome(lambda a=a, b=b: function(a, b))  # type: ignore[misc]
            for static in (False, True):
                if static and any(isinstance(x, np.ndarray) for x in (a, b)) and isinstance(
                        b, np.ndarray):
                    continue

                def build(ctx: TestContext, a: Any = a, b: Any = b, static: bool = static) -> Any:
                    return enter(ctx, symbol, ctx.lift(a), b if static else ctx.lift(b))

                count += check(build, wanted, (symbol, a, b, static))
    assert count > 100


@pytest.mark.parametrize("symbol", [*BINARY])
def test_in_place(symbol: str) -> None:
    ready = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv,
             "//": operator.ifloordiv, "%": operator.imod, "**": operator.ipow,
             "&": operator.iand, "|": operator.ior, "^": operator.ixor, "<<": operator.ilshift,
             ">>": operator.irshift}[symbol]
    for a in ARRAYS:
        for b in [*PYTHONS, *SCALARS, *ARRAYS]:
            wanted = outcome(lambda a=a, b=b: ready(a.copy(), b))  # type: ignore[misc]

            def build(ctx: TestContext, a: Any = a, b: Any = b) -> Any:
                x = ctx.array(a.copy())
                assert python.inplace(ctx, symbol, x, ctx.lift(b)) is x
                return x

            check(build, wanted, (symbol, a, b))


@pytest.mark.parametrize("symbol", ["-", "+", "~", "not"])
def test_unary(symbol: str) -> None:
    function = {"-": operator.neg, "+": operator.pos, "~": operator.invert,
                "not": operator.not_}[symbol]
    count = 0
    for a in [*PYTHONS, *SCALARS, *ARRAYS]:
        wanted = outcome(lambda a=a: function(a))  # type: ignore[misc]
        count += check(lambda ctx, a=a: python.unary(ctx, symbol, ctx.lift(a)),  # type: ignore
                       wanted, (symbol, a))
    assert count > 20


def test_truth() -> None:
    for a in [*PYTHONS, *SCALARS, *ARRAYS, np.array([[0.0]]), np.array([2])]:
        wanted = outcome(lambda a=a: bool(a))  # type: ignore[misc]
        check(lambda ctx, a=a: python.truth(ctx, ctx.lift(a)), wanted, a)  # type: ignore[misc]
