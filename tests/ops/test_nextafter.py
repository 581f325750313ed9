"""nextafter, spacing and the floor of quotients: NumPy's bits and flags."""

import itertools

import numpy as np
import pytest

import npcompile
from npcompile.special.elementary.nextafter import nextafter, spacing
from tests.support import oracle
from tests.support.interpreter import flags_of

PAIRS = npcompile.jit(lambda x, y: np.nextafter(x, y), fullgraph=True)
ALONE = npcompile.jit(lambda x: np.spacing(x), fullgraph=True)
FLOORS = npcompile.jit(lambda x, y: (x // y, *np.divmod(x, y)), fullgraph=True)


def edges(dtype):
    info = np.finfo(dtype)
    ends = [0.0, 0.1, 1.0, 1.5, 3.0, info.max, info.max / 2, np.inf, np.nan, info.tiny,
            info.smallest_subnormal, info.tiny * (1 - info.eps), info.tiny / 4]
    found = np.array([*ends, *(-x for x in ends)], dtype)
    return np.append(found, np.nextafter(found[5], dtype(0)))


def pairs(values):
    return tuple(map(np.array, zip(*itertools.product(values, values), strict=True)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
class TestNeighbours:
    def test_values(self, dtype):
        x, y = pairs(edges(dtype))
        with np.errstate(all="ignore"):
            oracle.check(PAIRS(x, y), np.nextafter(x, y))
            oracle.check(ALONE(x), np.spacing(x))

    def test_flags(self, dtype):
        """Of one point beside ordinary ones."""
        for x, y in itertools.product(edges(dtype), [0.0, 2.0, np.inf, np.nan]):
            lanes = np.array([x, 1.5, 1.5, 1.5], dtype), np.array([y, 2, 2, 2], dtype)
            assert flags_of(nextafter, *lanes) == raised(np.nextafter, *lanes), (x, y)
            assert flags_of(spacing, lanes[0]) == raised(np.spacing, lanes[0]), x


def raised(function, *operands):
    found = set()
    with np.errstate(all="call", under="ignore", call=lambda kind, flag: found.add(kind)):
        function(*operands)
    return found


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floors_of_quotients(dtype):
    rng = np.random.default_rng(3)
    edge = np.array([0, 1, 2, 3, 7.5, 1e-3, 0.1, 6e4, np.inf, np.nan], dtype)
    cases = [pairs(np.append(edge, -edge))]
    divisor = (rng.standard_normal(4000) * 10.0 ** rng.integers(-2, 2, 4000)).astype(dtype)
    for reach in (1e1, 1e3, 1e9, 1e17):  # next to whole quotients, and beyond exact ones
        product = divisor.astype("d") * np.rint(rng.uniform(-reach, reach, 4000))
        with np.errstate(over="ignore"):
            whole = product.astype(dtype)
        for end in (0, np.inf, -np.inf):
            moved = np.nextafter(whole, dtype(end)) if end else whole
            cases.append((moved, divisor))
    with np.errstate(all="ignore"):
        for x, y in cases:
            for got, want in zip(FLOORS(x, y), (x // y, *np.divmod(x, y)), strict=True):
                oracle.check(got, want)
