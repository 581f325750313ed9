"""Functions of NumPy that ask operands for attributes which only arrays have, for one index, or for
what has so many axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile

CALLS = ["np.split(x, 1)", "np.split(x, [1])", "np.hsplit(x, 1)", "np.vsplit([x, x], 2)",
         "np.take_along_axis(x, np.array([0]), 0)", "np.take_along_axis(np.array(x), [0], 0)",
         "np.take_along_axis(np.array(x), np.array([0]), -1)", "np.take(x, None)",
         "np.take(x, True)", "np.take(x, 1)", "np.take(x, np.int8(-1))", "np.take(x, 1.0)",
         "np.take(x, ...)", "np.take(x, slice(None))", "np.take(np.array([x, x]), None, 1)",
         "np.pad(x, np.uint8(1))", "np.pad(x, (np.uint8(1), np.uint8(2)))", "np.pad(x, True)",
         "np.pad(x, np.int8(1))", "np.pad(x, [[np.uint8(1), 2]])",
         "np.sum(x, where=None)", "np.mean(x, where=None)", "np.max(x, where=None, initial=0)",
         "np.trapezoid(x, np.ones((2, 3)))", "np.trapezoid(x, np.arange(12.0).reshape(3, 2, 2))",
         "np.trapezoid([x, x], np.arange(6).reshape(2, 3), axis=0)",
         "np.trapezoid(x, dx=np.arange(6).reshape(3, 2))",
         "np.array(x).astype((1, 2))", "np.zeros(2, (int, 2))", "o.astype((len(x), 2))",
         "np.zeros(2, (len(x), 2))", "np.add(o, 1, dtype=(len(x), 2))",
         "np.sum(o, dtype=(len(x), 2))",
         "np.asarray(o, dtype=[len(x), 2])", "o.astype(len(x))", "o.view((len(x), 2))"]


def stored(call: str) -> str:
    """Makes a call that writes into ``o`` one that returns it."""
    return f"({call}, o)"


WRITES = [f"np.copyto({target}, {source})"
          for target in ("o", "o.astype(int)", "o.astype(np.uint8)", "o.astype(complex)")
          for source in ("x", "x[0]", "1 + 2j, 'unsafe'", "np.complex128(1), 'unsafe'",
                         "[1 + 2j, 1, 2], 'unsafe'", "(1, 2, 3)", "300")]
WRITES += [f"np.add.at(o, [0, 0], {source})"
           for source in ("np.ones((1, 1))", "np.ones((1, 2))", "[[1.0, 2.0]]", "np.ones(1)",
                          "[1, 2]", "np.ones(())", "x[0]")]
WRITES += [f"o.__setitem__(o < 1, {source})"
           for source in ("np.ones((1, 1))", "np.ones((1, 3))", "[[1.0, 2.0, 3.0]]", "x", "[4]")]
CALLS += map(stored, WRITES)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call", CALLS)
def test_operands(call: str) -> None:
    plain = eval(f"lambda x, o: {call}", {"np": np})
    fast = npcompile.jit(plain)
    for x in (np.array([3.0, 1.0, 2.0]), [3, 1, 2], (3.5, 1, 2)):
        found: list[Any] = []
        for called in (plain, fast, fast):
            try:
                found.append(repr(called(x, np.zeros(3))))
            except (AttributeError, ArithmeticError, TypeError, ValueError, Warning) as error:
                found.append((type(error), str(error)))
        assert found[1] == found[0] and found[2] == found[0]
