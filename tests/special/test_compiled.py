"""Elementary functions in machine code: the bits of the programs' meaning, at any vector width."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.ops.record import OPERATORS
from tests.support.interpreter import run
from tests.support.special_functions import FUNCTIONS, Points, called, operands_at


@pytest.mark.parametrize("width", ["avx512", "avx2"])
@pytest.mark.parametrize("char", "df")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits(name: str, char: str, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", width)
    samples = FUNCTIONS[name][1](Points(char, 300))
    operands = tuple(np.concatenate(part) for part in zip(samples, operands_at(name, char)))
    program = OPERATORS[name].lower
    assert callable(program)
    with np.errstate(all="ignore"):
        want = np.asarray(run(program, *operands))
        compiled = jit(called(name, len(operands)), fullgraph=True, cache=False)
        for stop in (len(want), 5, 1):
            got = compiled(*(x[:stop] for x in operands))
            same = (got == want[:stop]) & (np.signbit(got) == np.signbit(want[:stop]))
            bad = ~(same | (np.isnan(got) & np.isnan(want[:stop])))
            places = [x[:stop][bad][:4] for x in operands]
            assert not bad.any(), (places, got[bad][:4], want[:stop][bad][:4])


@pytest.mark.parametrize("name", ["erf", "erfc", "ndtr"])
def test_single_precision_is_all_but_rounded_right(name: str) -> None:
    """No further from exact than float64 rounded, to four digits of a unit in the last place."""
    x = np.arange(0, 1 << 32, 1021, dtype=np.uint64).astype(np.uint32).view(np.float32)
    function = jit(called(name, 1), fullgraph=True)
    with np.errstate(all="ignore"):
        got, want = function(x), function(x.astype(np.float64))
    unit = np.ldexp(1.0, np.maximum(np.frexp(want)[1] - 24, -149))
    assert np.array_equal(np.isnan(got), np.isnan(x))
    assert np.nanmax(np.abs(got - want) / unit) < 0.50005


def _warnings(function: Any, *args: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        function(*args)
    return [str(w.message) for w in told]


@pytest.mark.parametrize("char", "df")
def test_warnings_of_special_powers(char: str) -> None:
    """Compiled, whose branches skip what no lane needs."""
    info = np.finfo(char)
    sizes = [0.0, 0.5, 1.0, 1.5, 3.0, info.tiny, info.smallest_subnormal, info.max, np.inf, np.nan]
    numbers = np.array([s * sign for s in sizes for sign in (1, -1)], char)
    compiled = jit(lambda x, y: np.power(x, y), fullgraph=True, cache=False)
    for x in numbers:
        for y in numbers[np.isfinite(numbers)]:  # of max**inf NumPy reports an overflow
            args = np.array([0.25, x, 0.5], char), np.array([0.25, y, 0.5], char)
            assert _warnings(compiled, *args) == _warnings(np.power, *args), (x, y)
