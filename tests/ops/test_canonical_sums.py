"""The reference order of reductions against NumPy, bit for bit."""

import numpy as np
import pytest

from npcompile.core.facts import Facts
from npcompile.core.sizes import symbol
from npcompile.ops import canonical
from tests.support import oracle

LOOPS = {"e": "f", "f": "d", "d": "f", "F": "D", "D": "F", "l": "d"}
LENGTHS = [1, 2, 3, 5, 9, 17, 40, 100, 129, 300, 1000, 4097, 5000, 9000]


def exactly(got, want):
    """The same bits, of NaNs, too, and the same layout."""
    oracle.check(got, np.asarray(want), oracle.EXACT)


def random_view(rng, dtype):
    """A strided, permuted, reversed or broadcast view with random numbers of many sizes."""
    ndim = rng.integers(1, 5)
    left, shape = rng.choice([50, 2000, 20000, 60000]), []
    for _ in range(ndim):
        shape.append(min(int(rng.choice(LENGTHS)), max(int(left), 1)))
        left //= shape[-1]
    order = rng.permutation(ndim)
    step = [int(rng.choice([1, 1, 1, 2])) for _ in order]
    memory = [(shape[k] + int(rng.choice([0, 0, 1, 3]))) * s for k, s in zip(order, step)]
    a = rng.standard_normal(memory) * 10.0 ** rng.integers(-3, 4)
    a = a + 1j * rng.standard_normal(memory) if dtype in "FD" else a * 100 if dtype == "l" else a
    a = a.astype(dtype)[tuple(slice(None, None, s) for s in step)]
    a = a[tuple(slice(0, shape[k]) for k in order)].transpose(np.argsort(order))
    a = a[tuple(slice(None, None, rng.choice([1, 1, 1, 1, 1, 1, -1])) for _ in shape)]
    if rng.random() < 0.1:
        axis = rng.integers(ndim)
        one = a[tuple(slice(0, 1) if k == axis else slice(None) for k in range(ndim))]
        a = np.broadcast_to(one, a.shape)
    return a


@pytest.mark.parametrize("seed", range(120))
def test_sum_of_any_view(seed):
    rng = np.random.default_rng(seed)
    dtype = "efdFDfdl"[seed % 8]
    a = random_view(rng, dtype)
    axes = tuple(sorted(rng.permutation(a.ndim)[: rng.integers(1, a.ndim + 1)].tolist()))
    loop = LOOPS[dtype] if rng.random() < 0.3 else None
    keepdims = bool(rng.random() < 0.3)
    initial = 3 if rng.random() < 0.3 else None
    given = {} if initial is None else {"initial": initial}
    with np.errstate(all="ignore"):
        want = np.add.reduce(a, axis=axes, dtype=loop, keepdims=keepdims, **given)
        got = canonical.reduce(a, "sum", axes, keepdims, loop, initial)
    exactly(got, want)


@pytest.mark.parametrize("dtype", "efdFD")
def test_sum_of_each_length(dtype):
    rng = np.random.default_rng(0)
    lengths = [*range(301), 1000, 4096, 8191, 8193, 20001]
    for n in lengths:
        a = (rng.standard_normal(n) * 3).astype(dtype)
        exactly(canonical.reduce(a), a.sum())
    exactly(canonical.reduce(a, loop=LOOPS[dtype]), a.sum(dtype=LOOPS[dtype]))


def test_unaligned_and_swapped_input_goes_in_chunks():
    a = np.random.default_rng(0).standard_normal(20001)
    swapped = a.astype(">f8")
    exactly(canonical.reduce(swapped, loop="f8"), swapped.sum())
    raw = np.zeros(8 * a.size + 1, np.uint8)
    unaligned = raw[1:].view(np.float64)
    unaligned[...] = a
    exactly(canonical.reduce(unaligned), unaligned.sum())
    assert canonical.reduce(unaligned) != a.sum()


@pytest.mark.parametrize("axis", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("kind", ["prod", "min", "max", "all", "any", "bit_xor"])
def test_other_kinds(kind, axis):
    rng = np.random.default_rng(1)
    a = rng.standard_normal((7, 5, 30)).transpose(2, 0, 1)
    function = {"prod": np.multiply, "min": np.minimum, "max": np.maximum, "all": np.logical_and,
                "any": np.logical_or, "bit_xor": np.bitwise_xor}[kind]
    if kind in ("all", "any"):
        a = a > 2
    elif kind == "bit_xor":
        a = (a * 100).astype(int)
    exactly(canonical.reduce(a, kind, axis), function.reduce(a, axis=axis))


def test_negative_zeros_and_empty_input():
    assert canonical.reduce(np.array([-0.0])).tobytes() == np.array([-0.0]).sum().tobytes()
    assert canonical.reduce(np.zeros((0, 3))).tobytes() == np.zeros((0, 3)).sum().tobytes()
    exactly(canonical.reduce(np.zeros((0, 3)), axes=(0,)), np.zeros((0, 3)).sum(0))
    exactly(canonical.reduce(np.zeros((0, 3)), axes=(1,)), np.zeros((0, 3)).sum(1))


def test_plan_of_a_symbolic_geometry():
    n, m = symbol("n", 100, 0), symbol("m", 80, 0)
    facts = Facts()
    inner = canonical.plan(facts, (n - 2, m - 2), (m, 1), (0, 1), False)
    assert inner.mode == "pairwise" and inner.flat == 2
    assert inner.chunk == (m - 2) * (8192 // (m - 2))
    whole = canonical.plan(facts, (n, m), (m, 1), (0, 1), False)
    assert (whole.axes[0].length, whole.flat, whole.chunk) == (n * m, 1, 0)
    rows = canonical.plan(facts, (n, m), (m, 1), (0,), False)
    assert rows.mode == "sequential"
    values = {"n": 100, "m": 80}
    assert all(g.holds(lambda s: values[s.name]) for g in facts.guards)
