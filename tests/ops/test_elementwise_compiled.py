"""The operators in machine code: every loop of every ufunc, and Python's operators at random."""

from __future__ import annotations

import linecache
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.ops.test_elementwise import cases, pairs, signed_zeros_differ
from tests.ops.test_python_operators import (
    ARRAYS,
    BINARY,
    COMPARE,
    PYTHONS,
    SCALARS,
    answer,
    close,
)
from tests.support import oracle

EXPRESSIONS = [
    *(f"a {symbol} b" for symbol in [*BINARY, *COMPARE]),
    "-a", "+a", "~a", "not a", "abs(a)", "int(a)", "float(a)", "bool(a)", "round(a)",
    "min(a, b)", "max(a, b)", "divmod(a, b)", "math.sqrt(a)", "math.floor(a)", "math.fmod(a, b)",
    "np.where(a, b, 1)", "np.round(a, 1)", "np.clip(a, -1, b)", "np.nan_to_num(a)",
    "np.float32(a)", "np.int8(a)", "a if a < b else b", "np.add.outer(a, b)",
]


def function_of(expression: str, names: str = "a, b") -> Callable[..., Any]:
    """A function that returns an expression, with its source on record."""
    source = f"def function({names}):\n    return {expression}\n"
    file = f"<{expression} of {names}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, file, "exec"), space)
    return space["function"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", sorted({name for name, _ in cases()}))
def test_ufuncs_in_machine_code(name: str) -> None:
    for inputs in [i for n, i in cases() if n == name]:
        if name in ("power", "absolute") and inputs[0] in "efdFD":
            continue
        args = signed_zeros_differ(name, pairs([np.dtype(c) for c in inputs],
                                               np.random.default_rng(1)))
        if name == "power":
            args[1] = np.where(args[1] < 0, 0, args[1]).astype(args[1].dtype)
        if name == "ldexp":
            args[1] = (args[1] % 3000).astype(args[1].dtype)
        letters = ", ".join("abc"[: len(args)])
        function = function_of(f"np.{name}({letters})", letters)
        with np.errstate(all="ignore"):
            oracle.check(jit(fullgraph=True)(function)(*args), function(*args))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_give_pythons_result_or_exception(expression: str) -> None:
    function = function_of(expression)
    compiled = jit(function)
    operands = [*PYTHONS, *SCALARS, *ARRAYS]
    chosen = random.Random(expression)
    power = "**" in expression
    for _ in range(40):
        a, b = chosen.choice(operands), chosen.choice(operands)
        if (power or "<<" in expression) and isinstance(b, int) and b > 300:
            continue
        wanted = answer(lambda a=a, b=b: function(a, b))  # type: ignore[misc]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = answer(lambda a=a, b=b: compiled(a, b))  # type: ignore[misc]
        if isinstance(wanted, type) or isinstance(found, type):
            assert found is wanted, (a, b, found, wanted)
        else:
            rounded = power and np.asarray(wanted).dtype.kind == "f"
            same = close if rounded else oracle.same
            assert same(found, wanted), (a, b, found, wanted)
