"""Python's operators on traced operands: Python's own result, or a refusal, or a failed check."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed
from npcompile.graph.ir import Node
from npcompile.ops import python
from tests.support import oracle
from tests.support.context import TestContext, readings, run_readings

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


def answer(function: Callable[[], Any]) -> Any:
    """What Python gives, or the exception's class."""
    with np.errstate(all="ignore"):
        found = oracle.observe(function)
    return found.result if found.error is None else type(found.error)


class Known:
    """What was built: a graph depends on the kinds of its operands, and on those that are static.
    """

    def __init__(self) -> None:
        self._built: dict[object, Any] = {}

    def run(self, build: Callable[[TestContext, Any, Any], Any], a: Any, b: Any,
            static: str) -> Any:
        """The results of both readings; None where Python has to go on.  ``static`` names the
        operands that are."""
        operands = {"a": a, "b": b}
        key = tuple(("static", id(x)) if name in static else _kind(x)
                    for name, x in operands.items())
        if key not in self._built:
            self._built[key] = _built(TestContext(), lambda ctx: build(
                ctx, *(x if name in static else ctx.lift(x) for name, x in operands.items())))
        args = [x for name, x in operands.items() if name not in static]
        return _results(self._built[key], args)


def _kind(value: Any) -> object:
    """What a graph knows of a traced operand."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.strides
    return type(value)


def _built(ctx: TestContext, build: Callable[[TestContext], Any]) -> Any:
    """Two graphs or a value that is known; None where it is refused."""
    try:
        made = build(ctx)
        if not isinstance(made, (Node, tuple)) and not hasattr(made, "storage"):
            return [made, made]
        return readings(ctx, made)
    except Refused:
        return None


def _results(built: Any, args: list[Any]) -> Any:
    if not isinstance(built, tuple):
        return built
    try:
        return run_readings(built, args)
    except CheckFailed:
        return None


def compiled(build: Callable[[TestContext], Any]) -> Any:
    """The results of both readings; None where Python has to go on."""
    ctx = TestContext()
    return _results(_built(ctx, build), ctx.args)


def check(found: Any, wanted: Any, label: Any) -> bool:
    """True where a result was compiled; it must be Python's, in type and bits."""
    if found is None:
        return False
    assert not isinstance(wanted, type), (label, "Python raises", wanted, found)
    power = isinstance(label, tuple) and label[0] == "**" and np.asarray(wanted).dtype.kind in "fc"
    for one in found:
        same = near_power(one, wanted, *label[1:3]) if power else (
            oracle.same(one, wanted, oracle.MEANING))
        assert same, (label, found, wanted)
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


def near_power(x: Any, y: Any, a: Any, b: Any) -> bool:
    """As close to NumPy's power as can be asked; for complex64, where NumPy loses digits, perhaps
    to that of doubles instead."""
    if close(x, y) or np.asarray(y).dtype != np.complex64:
        return close(x, y)
    with np.errstate(all="ignore"):
        wide = np.power(a, b, dtype=np.complex128)
    return close(x, type(y)(wide) if y.ndim == 0 else wide.astype(np.complex64))


def operation(symbol: str) -> Callable[[TestContext, Any, Any], Any]:
    enter = python.binary if symbol in BINARY else python.compare
    return lambda ctx, a, b: enter(ctx, symbol, a, b)


@pytest.mark.parametrize("symbol", [*BINARY, *COMPARE])
def test_numbers_of_python(symbol: str) -> None:
    function, known = (BINARY | COMPARE)[symbol], Known()
    count = 0
    for a in PYTHONS:
        for b in PYTHONS:
            if symbol in ("**", "<<") and isinstance(b, int) and b > 300:
                continue  # Python would take forever
            wanted = answer(partial(function, a, b))
            for static in ("", "a", "b"):
                found = known.run(operation(symbol), a, b, static)
                count += check(found, wanted, (symbol, a, b, static))
    assert count > 20


@pytest.mark.parametrize("symbol", [*BINARY, *COMPARE])
def test_scalars_and_arrays_of_numpy(symbol: str) -> None:
    function, known = (BINARY | COMPARE)[symbol], Known()
    count = 0
    operands = [*PYTHONS, *SCALARS, *ARRAYS]
    for a in operands:
        for b in operands:
            if type(a).__module__ == type(b).__module__ == "builtins":
                continue
            wanted = answer(partial(function, a, b))
            for static in ("",) if isinstance(b, np.ndarray) else ("", "b"):
                found = known.run(operation(symbol), a, b, static)
                count += check(found, wanted, (symbol, a, b, static))
    assert count > 100


@pytest.mark.parametrize("symbol", [*BINARY])
def test_in_place(symbol: str) -> None:
    ready = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv,
             "//": operator.ifloordiv, "%": operator.imod, "**": operator.ipow,
             "&": operator.iand, "|": operator.ior, "^": operator.ixor, "<<": operator.ilshift,
             ">>": operator.irshift}[symbol]
    for a in ARRAYS:
        for b in [*PYTHONS, *SCALARS, *ARRAYS]:
            wanted = answer(partial(ready, a.copy(), b))

            def build(ctx: TestContext, a: Any = a, b: Any = b) -> Any:
                x = ctx.array(a.copy())
                assert python.inplace(ctx, symbol, x, ctx.lift(b)) is x
                return x

            check(compiled(build), wanted, (symbol, a, b))


@pytest.mark.parametrize("symbol", ["-", "+", "~", "not"])
def test_unary(symbol: str) -> None:
    function = {"-": operator.neg, "+": operator.pos, "~": operator.invert,
                "not": operator.not_}[symbol]
    count = 0

    def build(ctx: TestContext, a: Any) -> Any:
        return python.unary(ctx, symbol, ctx.lift(a))

    for a in [*PYTHONS, *SCALARS, *ARRAYS]:
        wanted = answer(partial(function, a))
        found = compiled(partial(build, a=a))
        count += check(found, wanted, (symbol, a))
    assert count > 20


def test_truth() -> None:
    def build(ctx: TestContext, a: Any) -> Any:
        return python.truth(ctx, ctx.lift(a))

    for a in [*PYTHONS, *SCALARS, *ARRAYS, np.array([[0.0]]), np.array([2])]:
        wanted = answer(partial(bool, a))
        found = compiled(partial(build, a=a))
        check(found, wanted, a)
