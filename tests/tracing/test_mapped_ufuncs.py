"""Calls of ``npcompile.vectorize``'s ufuncs and of C functions in compiled functions: the plain
function is mapped over the operands, with a ufunc's dtypes, warnings and exceptions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import CompileError, cfunc, guvectorize, jit, vectorize
from tests.support.oracle import as_python, check, check_calls, observe

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(2, 24)) * 3
BASE = 3.0
COUNTS = np.zeros(3)
DRAWS = np.random.default_rng(1)


@vectorize
def chosen(x, y):
    if x > y:
        return x * y + 1
    return x - y


@vectorize
def ratio(x, y):
    return x / y


@vectorize
def mixed(x, y):
    return 0 if x > y else y


@vectorize
def scaled(x, y):
    return x * BASE + y


@vectorize
def rooted(x, y):
    if x < -100:
        raise ValueError("too small")
    return math.sqrt(abs(x)) + y


@vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def typed(x, y):
    return x * y


@vectorize(["float64(float64, float64)"])
def wide(x, y):
    return x * y


@vectorize
def based(x, wanted):
    if wanted:
        return x * BASE
    return x


@vectorize
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@vectorize
def nested(x):
    return ratio(x, 2.0) + chosen(x, 1)


@vectorize
def counted(x):
    COUNTS[int(x) % 3] = x
    return x * 2


@vectorize
def drawn(x):
    return x + DRAWS.random()


@vectorize
def worded(x, y):
    return f"{x} {y}"


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->(n)")
def written(x, y, out):
    out[:] = x + y


@cfunc("float64(float64, float64)")
def bell(x, y):
    return math.exp(-x * x) * y


OPERANDS: dict[str, tuple[Any, Any]] = {
    "arrays": (X, Y), "a number": (X, 0.5), "an int": (2, Y), "two axes": (X.reshape(4, 6), X[:6]),
    "outer": (X[:4, None], Y), "one element": (X[:1], Y), "one element of two": (X[:1], Y[:1]),
    "none": (X[:0], Y[:0]), "strided": (X[::2], Y[::-2]), "single": (X.astype("f"), Y),
    "single and a number": (X.astype("f"), 0.5), "ints": (np.arange(-3, 4), np.arange(7)),
    "small ints": (np.arange(-3, 4, dtype="b"), 2), "numbers": (1.5, -2), "ints alone": (7, 3),
    "NumPy's numbers": (np.float32(1.5), np.float64(2)), "bools": (X > 0, Y),
    "in Fortran's order": (X.reshape(4, 6).T, Y.reshape(6, 4)),
    "of no axes": (np.array(1.5), np.array(2.5)), "of no axes and arrays": (np.array(1.5), Y),
}


@pytest.mark.parametrize("operands", OPERANDS)
@pytest.mark.parametrize("ufunc", [chosen, mixed, scaled, rooted, typed], ids=lambda u: u.__name__)
def test_results(ufunc: Any, operands: str) -> None:
    def used(x, y):
        return ufunc(x, y), ufunc(y, x) * 2

    as_python(used, *OPERANDS[operands])


@pytest.mark.parametrize("operands", [
    "arrays", "a number", "an int", "two axes", "outer", "strided", "single", "ints", "numbers"])
@pytest.mark.parametrize("ufunc", [chosen, mixed, rooted, typed], ids=lambda u: u.__name__)
def test_no_graph_break(ufunc: Any, operands: str) -> None:
    @jit(fullgraph=True)
    def used(x, y):
        return ufunc(x, y) + 1

    used(*OPERANDS[operands])
    assert used.cache_info().fallbacks == 0


def test_in_loops() -> None:
    @jit(fullgraph=True)
    def total(x):
        found = 0.0
        for k in range(len(x)):
            found += chosen(x[k], 0.5) + bell(x[k], 2.0)
        return found

    assert total(X) == pytest.approx(total.__wrapped__(X), rel=1e-14)


def test_warnings_are_the_ufuncs() -> None:
    def divided(x, y):
        found = ratio(x, y)
        return found * 2

    compiled = jit(divided)
    for args in (
        (X, Y), (X, np.zeros(24)), (np.float64(1), 0.0), (1.0, 0.0), (np.full(24, 1e300), 1e-9),
        (np.arange(3) * 2**62, np.full(3, 4)), (X, Y),
    ):
        check_calls(compiled, divided, *args)


def test_integers_that_overflow_wrap_and_warn() -> None:
    def used(x, y):
        return scaled_ints(x, y)

    @vectorize
    def scaled_ints(x, y):
        return x * y

    compiled = jit(used)
    for args in ((np.array([2, 3]), 5), (np.array([2**62, 3]), 4), (np.array([2, 3]), 5)):
        check_calls(compiled, used, *args)


def test_numbers_of_pythons_first_have_the_other_operands_dtype() -> None:
    def used(x, y):
        return wide(x, y), wide(y, x), chosen(x, y)

    for x in (X.astype("f"), X.astype("e"), np.arange(-3, 4, dtype="b"), np.arange(7, dtype="B"),
              np.float32(2), np.uint8(3), X > 0):
        for y in (0.1, 1e300, 300, -1, 2**40, True):
            as_python(used, x, y)

    as_python(lambda x: wide(x, 0.1), X.astype("f"))
    as_python(lambda x: wide(x, 300), np.arange(7, dtype="B"))


def test_effects_are_in_numpys_order() -> None:
    """NumPy begins at the end of arrays that lie backwards."""
    def state() -> Any:
        return COUNTS.copy(), DRAWS.bit_generator.state["state"]["state"]

    def begin() -> None:
        COUNTS[:] = 0
        DRAWS.bit_generator.state = np.random.default_rng(1).bit_generator.state

    for function in (lambda x: counted(x), lambda x: drawn(x)):
        compiled = jit(function)
        for x in (X, X[::-1], X.reshape(4, 6).T):
            outcomes = []
            for call in (compiled, function):
                begin()
                outcomes.append(observe(call, x, world=state))
            check(*outcomes)


def test_ufuncs_in_ufuncs() -> None:
    def used(x):
        return nested(x), factorial(x)

    for x in (np.arange(6), np.arange(6.0), 5, np.float32(4)):
        as_python(used, x)
    assert "machine code" in nested.explain()


def test_exceptions() -> None:
    def used(x, y):
        return rooted(x, y).sum()

    compiled = jit(used)
    for args in ((X, Y), (np.where(X > 2, -200.0, X), Y), (X, Y)):
        check_calls(compiled, used, *args)


@pytest.mark.parametrize("call", [
    lambda x, y: chosen(x, y, out=np.empty(24)), lambda x, y: chosen(x, y=y),
    lambda x, y: chosen.outer(x, y), lambda x, y: chosen(x, y, where=x > 0, out=np.zeros(24)),
    lambda x, y: chosen.reduce(x), lambda x, y: worded(x, y), lambda x, y: chosen(list(x), y),
    lambda x, y: typed(x, y + 1j), lambda x, y: chosen(x), lambda x, y: chosen(x[:3], y),
    lambda x, y: written(x, y)])
def test_other_calls_are_pythons(call: Callable[..., Any]) -> None:
    check_calls(jit(call), call, X, Y)


def test_what_is_called_may_change() -> None:
    global BASE
    held = {"ufunc": chosen}

    def used(x, y):
        return held["ufunc"](x, y) + scaled(x, y)

    compiled = jit(used)
    check_calls(compiled, used, X, Y)
    try:
        BASE = -2
        check_calls(compiled, used, X, Y)
        BASE = 2.5
        held["ufunc"] = mixed
        check_calls(compiled, used, X, Y)
        held["ufunc"] = typed
        check_calls(compiled, used, X, Y)
        held["ufunc"] = chosen.__wrapped__
        check_calls(compiled, used, X[0], Y[0])
    finally:
        BASE = 3.0


def test_a_dtype_may_rest_on_what_the_operands_leave_out() -> None:
    global BASE

    def used(x):
        return based(x, False)

    compiled = jit(used)
    try:
        for base in (3.0, 2, 3.0, np.float32(1)):
            BASE = base
            check_calls(compiled, used, np.arange(4))
    finally:
        BASE = 3.0


def test_functions_that_only_python_calls_are_refused_by_name() -> None:
    @jit(fullgraph=True)
    def used(x, y):
        return worded(x, y)

    with pytest.raises(CompileError):
        used(X, Y)
