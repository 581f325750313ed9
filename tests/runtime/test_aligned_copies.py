"""Arrays that are not aligned: machine code runs on copies, and no caller can tell."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit
from tests.support.signals import Alarm, Stop


def apart(array: np.ndarray, packed: bool = False) -> np.ndarray:
    """The same numbers in an array that is not aligned: from an odd address, or one field of
    packed records."""
    if packed:
        found = np.zeros(array.shape, [("x", "i1"), ("y", array.dtype)])["y"]
    else:
        room = np.empty(array.nbytes + 1, "u1")[1:]
        found = np.ndarray(array.shape, array.dtype, room, 0, array.strides)
    found[...] = array
    return found


def values(a: Any, b: Any) -> Any:
    return np.exp(a) + b


def sums(a: Any, b: Any) -> Any:
    return np.sin(a).sum(), a.sum(), [len(b), np.cos(b)]


def element_by_element(a: Any, b: Any) -> Any:
    for i in range(len(a)):
        a[i] = np.cos(a[i]) * b[i]
    return a


def in_place(a: Any, b: Any) -> None:
    a += np.exp(b)
    b[...] = np.tanh(a)


FUNCTIONS = [jit(f) for f in (values, sums, element_by_element, in_place)]


@given(
    st.sampled_from(FUNCTIONS), st.integers(0, 40), st.sampled_from("fd"),
    st.lists(st.sampled_from(["aligned", "odd", "packed"]), min_size=2, max_size=2),
    st.booleans(), st.integers(0, 2**32 - 1),
)
@settings(max_examples=100, deadline=None)
def test_results_are_those_of_aligned_arrays(
    f: Any, n: int, char: str, layouts: list[str], one: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    plain = [rng.normal(size=n).astype(char) for _ in layouts]
    odd = [x.copy() if layout == "aligned" else apart(x, layout == "packed")
           for x, layout in zip(plain, layouts)]
    if one:  # the same object twice
        plain, odd = [plain[0]] * 2, [odd[0]] * 2
    want, got = f(*plain), f(*odd)
    if want is plain[0]:
        assert got is odd[0]
    assert repr(got) == repr(want)
    for x, y in zip(plain, odd):
        assert x.tobytes() == y.tobytes()


def test_calls_run_in_machine_code() -> None:
    for f in map(jit, (values, element_by_element, in_place)):
        for _ in range(50):
            f(apart(np.ones(5)), apart(np.ones(5)))
        assert f.cache_info().fallbacks == 0


def held_in(kind: str, a: Any, b: Any) -> Any:
    """Two arrays in a container."""
    return {"list": [a, b], "tuple": (a, b), "dict": {0: a, 1: b}, "deep": [[a], (b,)]}[kind]


def item_values(xs: Any) -> Any:
    return np.exp(xs[0]) + xs[1]


def item_sums(xs: Any) -> Any:
    return np.sin(xs[0]).sum(), xs[0].sum(), [len(xs[1]), np.cos(xs[1])]


def items_in_place(xs: Any) -> Any:
    a, b = xs[0], xs[1]
    for i in range(len(a)):
        a[i] = np.cos(a[i]) * b[i]
    b += np.tanh(a)
    return a


def inner_items(xs: Any) -> Any:
    (a,), (b,) = xs
    a += np.exp(b)
    return np.sin(a)


def packed_values(*xs: Any) -> Any:
    return np.exp(xs[0]) + xs[1]


OF_ITEMS = [jit(f) for f in (item_values, item_sums, items_in_place)]


@given(
    st.sampled_from([*((f, kind) for f in OF_ITEMS for kind in ("list", "tuple", "dict")),
                     (jit(inner_items), "deep")]),
    st.integers(0, 40), st.sampled_from("fd"),
    st.lists(st.sampled_from(["aligned", "odd", "packed"]), min_size=2, max_size=2),
    st.booleans(), st.integers(0, 2**32 - 1),
)
@settings(max_examples=100, deadline=None)
def test_items_give_what_aligned_ones_give(
    case: Any, n: int, char: str, layouts: list[str], one: bool, seed: int
) -> None:
    f, kind = case
    rng = np.random.default_rng(seed)
    plain = [rng.normal(size=n).astype(char) for _ in layouts]
    odd = [x.copy() if layout == "aligned" else apart(x, layout == "packed")
           for x, layout in zip(plain, layouts)]
    if one:  # the same object twice
        plain, odd = [plain[0]] * 2, [odd[0]] * 2
    xs, ys = held_in(kind, *plain), held_in(kind, *odd)
    want, got = f(xs), f(ys)
    if want is plain[0]:
        assert got is odd[0]
    assert repr(got) == repr(want)
    for x, y in zip(plain, odd):
        assert x.tobytes() == y.tobytes()
    if kind != "deep":
        assert ys[0] is odd[0] and ys[1] is odd[1]


@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "star"])
def test_calls_with_items_run_in_machine_code(kind: str) -> None:
    f = jit(packed_values if kind == "star" else item_values)
    for _ in range(30):
        pair = apart(np.ones(5)), apart(np.ones(5))
        f(*pair) if kind == "star" else f(held_in(kind, *pair))
    assert f.cache_info().fallbacks == 0


def test_lists_that_hold_each_other_or_a_thousand_arrays() -> None:
    @jit
    def f(xs: Any) -> Any:
        return np.exp(xs[0])

    ring: list[Any] = [apart(np.ones(3))]
    ring.append(ring)
    for xs in (ring, [apart(np.ones(3))] * 1000):
        for _ in range(3):
            assert f(xs).tolist() == np.exp(np.ones(3)).tolist()


COMMON = [apart(np.ones(3)), np.zeros(3)]


class Holder:
    def __init__(self, xs: Any) -> None:
        self.xs = xs


def test_containers_are_the_callers_own() -> None:
    def same(xs: Any, holder: Any) -> Any:
        return np.exp(xs[0]), xs is COMMON, xs is holder.xs, xs

    def changed(xs: Any, holder: Any) -> Any:
        xs[1] = np.exp(xs[0])
        xs.append(xs[0])

    fast = jit(same)
    for xs in ([apart(np.ones(3))] * 2, COMMON, COMMON, [apart(np.ones(3))] * 2):
        for holder in (Holder(xs), Holder(COMMON), Holder(None)):
            want, got = same(xs, holder), fast(xs, holder)
            assert got[1:3] == want[1:3] and got[3] is xs
    fast = jit(changed)
    for _ in range(3):
        xs = [apart(np.ones(3)), np.zeros(3)]
        fast(xs, None)
        assert len(xs) == 3 and xs[2] is xs[0] and xs[1].tolist() == np.exp(np.ones(3)).tolist()


def test_aligned_items_are_compiled_after_others_were_refused() -> None:
    for kind in ("list", "tuple", "dict"):
        f = jit(lambda xs: xs[0].sum() + xs[1])
        a, b = np.random.default_rng(3).normal(size=(2, 1000))
        odd = apart(a)
        for _ in range(12):
            got = f(held_in(kind, odd, b))
            assert got.tolist() == (odd.sum() + b).tolist()  # NumPy's order, which is another one
        before = f.cache_info().fallbacks
        assert f(held_in(kind, a, b)).tolist() == (a.sum() + b).tolist()
        assert f.cache_info().fallbacks == before


def test_aligned_calls_are_compiled_after_others_were_refused() -> None:
    @jit
    def total(a: Any) -> Any:
        return a.sum()

    a = np.random.default_rng(3).normal(size=10_000)
    odd = apart(a)
    for _ in range(12):
        assert total(odd) == odd.sum()  # NumPy's order, which is another one
    before = total.cache_info().fallbacks
    assert total(a) == a.sum()
    assert total.cache_info().fallbacks == before


def test_an_exit_leaves_what_python_leaves() -> None:
    def scattered(a: Any, at: Any, b: Any) -> None:
        for k in at:
            a[k] = np.exp(a[k])
            b[k] += 1.0

    fast = jit(scattered)
    for at in ([0, 1, 2], [0, 1, 9]):
        arrays = []
        for f in (scattered, fast):
            a, b = apart(np.arange(3.0)), np.zeros(3)
            try:
                f(a, apart(np.array(at)), b)
            except IndexError as error:
                arrays.append((a.tolist(), b.tolist(), str(error)))
            else:
                arrays.append((a.round(9).tolist(), b.tolist()))
        assert arrays[0] == arrays[1]


def test_arrays_that_share_memory_stay_aliases() -> None:
    def shifted(a: Any, b: Any) -> None:
        a[...] = np.exp(b)
        b[...] = a * 2

    memory = apart(np.arange(8.0))
    same = memory.copy()
    for f, x in ((jit(shifted), memory), (shifted, same)):
        for _ in range(2):
            f(x[1:], x[:-1])
            x /= x.max()
    np.testing.assert_allclose(memory, same, rtol=1e-14)


def test_views_are_of_the_argument() -> None:
    @jit
    def f(a: Any) -> Any:
        return np.exp(a), a[1:]

    for _ in range(3):
        a = apart(np.ones(4))
        assert f(a)[1].base is a.base


def test_what_may_not_be_written() -> None:
    f = jit(in_place)
    f(apart(np.ones(3)), apart(np.ones(3)))
    a = apart(np.ones(3))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(a, np.ones(3))


def test_layouts_that_a_function_looks_at() -> None:
    @jit
    def f(a: Any) -> Any:
        return a.strides, np.exp(a)

    for _ in range(3):
        assert f(apart(np.ones(3), packed=True))[0] == (9,)


def test_warnings_come_once() -> None:
    @jit
    def logs(a: Any, b: Any) -> Any:
        b += 1.0
        a[...] = np.log(a)
        return np.log(a) + b

    for _ in range(3):
        a, b = np.array([0.0, 1.0]), np.zeros(2)
        odd, c = apart(a), b.copy()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            want = logs(a, b)
        with warnings.catch_warnings(record=True) as again:
            warnings.simplefilter("always")
            got = logs(odd, c)
        assert sorted(str(w.message) for w in again) == sorted(str(w.message) for w in told) != []
        for x, y in ((want, got), (a, odd), (b, c)):
            np.testing.assert_array_equal(x, y)


def test_an_interrupted_call_keeps_what_it_has_written() -> None:
    @jit
    def slow(a: Any, times: int) -> None:
        for _ in range(times):
            for i in range(len(a)):
                a[i] = np.cos(a[i])

    slow(apart(np.ones(5)), 1)
    a = apart(np.ones(1000))
    with pytest.raises(Stop), Alarm(0.2):
        slow(a, 10**9)
    np.testing.assert_allclose(a, 0.7390851332151607)
