"""Sizes that only the run can tell: slices by computed integers, counts, what is made of them."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from npcompile.core.facts import Facts
from npcompile.core.sizes import Predicate, Unhinted, lone_symbol, symbol
from tests.support import oracle


def as_python(plain: Any, *args: Any, whole: bool = True) -> Any:
    """The compiled function does what the plain one does, and Python takes no part if ``whole``."""
    compiled = npcompile.jit(plain, fullgraph=True)
    for _ in range(2):
        oracle.check_calls(compiled, plain, *args)
    reference = npcompile.jit(plain, fullgraph=True, backend="reference")
    oracle.check_calls(reference, plain, *args, bases=False)
    with contextlib.suppress(npcompile.CompileError):
        compiled.lower(*args)  # a version that has seen these lengths
    told = str(compiled.explain(*args)).splitlines()
    left = [text for text in told if "left compiled code" in text]
    assert not whole or not left, left
    return compiled


# ------------------------------------------------------------------ what is known of them


class TestFacts:
    def test_without_a_hint_nobody_can_tell(self) -> None:
        s = symbol("s", low=0)
        with pytest.raises(Unhinted):
            Facts().equal(s, 1)

    def test_what_is_supposed_is_checked(self) -> None:
        checks: list[Predicate] = []
        facts = Facts(suppose=checks.append)
        s, t = symbol("s", low=0), symbol("t", low=0)
        assert not facts.equal(s, 1)
        assert facts.less(1, s)
        assert not facts.equal(s, t)
        assert facts.must("==", s, t)
        assert [repr(p) for p in checks] == ["s != 1", "1 < s", "s != t", "s == t"]

    def test_what_a_check_found_is_known_until_it_is_undone(self) -> None:
        facts, n = Facts(), symbol("n", low=0)
        s, t = symbol("s", low=0), symbol("t")
        mark = facts.mark()
        facts.learn(Predicate("<=", s, n))
        facts.learn(Predicate("<", t, s))
        assert facts.prove("<=", s, n + 2)
        assert facts.prove("<", t, n)
        assert facts.prove("<=", n, t) is False
        assert facts.prove("<=", 2 * s, 2 * n)
        assert facts.prove("<=", s - 1, t) is None
        facts.undo(mark)
        assert facts.prove("<=", s, n) is None

    def test_equal_and_apart(self) -> None:
        facts, s, n = Facts(), symbol("s", low=0), symbol("n", low=0)
        facts.learn(Predicate("==", s, n))
        assert facts.prove("==", s, n)
        assert facts.prove("==", s + 1, n) is False
        facts.learn(Predicate("!=", n, 1))
        assert facts.prove("!=", n, 1)
        assert facts.prove("==", 1, n) is False


# ------------------------------------------------------------------ slices by computed integers


def pieces(x: Any, k: Any) -> Any:
    m = int(k[0])
    head, tail = x[:m] * 2, x[m:]
    return head, tail + 1, head.sum(), x[::-1][:m].max(initial=0), x[m:].sum()


@pytest.mark.parametrize("m", [0, 1, 2, 6, 7])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_head_and_tail(m: int, layout: Any) -> None:
    as_python(pieces, np.arange(7.0), np.array([m]))
    as_python(pieces, np.asarray(np.arange(21.0).reshape(7, 3), order=layout), np.array([m]),
              whole=m > 1 or (m == 0 and layout == "C"))


@pytest.mark.parametrize("m", [-9, -7, -1, 8, 100])
def test_beyond_the_array(m: int) -> None:
    as_python(pieces, np.arange(7.0), np.array([m]), whole=False)


def orders(x: Any, k: Any) -> Any:
    y = x[: k[0]]
    return (y.sum(axis=0), y.sum(axis=1), y.sum(), y.T + 1.0, y[:, 1:].sum(), y.mean(),
            (y[..., None] * np.ones(2)).sum(axis=1), y.copy(), y.max(axis=1))


@pytest.mark.parametrize("m", [0, 1, 2, 200])
@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("columns", [1, 3, 300])
def test_orders_of_sums_and_layouts(m: int, layout: Any, columns: int) -> None:
    x = np.random.default_rng(m).standard_normal((200, columns)).astype(np.float32)
    as_python(orders, np.asarray(x, order=layout), np.array([m]), whole=False)


def knapsack(values: Any, weights: Any, capacity: int) -> Any:
    best = np.zeros(capacity + 1, dtype=np.int64)
    for value, weight in zip(values, weights):
        best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + value)
    return best


def test_slices_that_move_in_a_loop() -> None:
    rng = np.random.default_rng(1)
    as_python(knapsack, rng.integers(1, 50, 20), rng.integers(1, 30, 20), 100)
    as_python(knapsack, rng.integers(1, 50, 20), rng.integers(1, 300, 20), 100, whole=False)


def rows(starts: Any, data: Any) -> Any:
    out = np.empty(len(starts) - 1)
    for i in range(len(starts) - 1):
        row = data[starts[i] : starts[i + 1]]
        out[i] = (row * row).sum() + row.size
    return out


def test_rows_between_computed_ends() -> None:
    as_python(rows, np.array([0, 3, 3, 10, 20]), np.random.default_rng(2).random(20))
    as_python(rows, np.array([0, 3, 3, 10, 25]), np.random.default_rng(2).random(20), whole=False)
    as_python(rows, np.array([0, 3, 1, 10, 20]), np.random.default_rng(2).random(20), whole=False)


def sieve(n: int) -> Any:
    flags = np.ones(n + 1, dtype=bool)
    flags[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = False
    return flags


@pytest.mark.parametrize("n", [2, 30, 1000])
def test_sieve(n: int) -> None:
    as_python(sieve, n)


@given(n=st.integers(0, 9), step=st.integers(-4, 4).filter(bool), ends=st.tuples(
    st.integers(-11, 11), st.integers(-11, 11)))
@settings(max_examples=60)
def test_computed_steps(n: int, step: int, ends: tuple[int, int]) -> None:
    def f(x: Any, k: Any) -> Any:
        step, a, b = int(k[0]), int(k[1]), int(k[2])
        return x[::step] * 2, x[a::step].sum(), x[:b:step], x[a:b:step]

    as_python(f, np.arange(float(n)), np.array([step, *ends]), whole=False)


def test_a_view_of_a_computed_length_is_a_view() -> None:
    def f(x: Any, k: Any) -> Any:
        part = x[1 : k[0]]
        part += 1
        return part

    as_python(f, np.arange(9.0), np.array([5]))


# ------------------------------------------------------------------ lengths that change


def shrinking(x: Any, turns: int) -> Any:
    x, count = x.copy(), 0
    for _ in range(turns):
        x = x * 1.5 - 0.25
        x = x[x < 2.0]
        count += x.size
    return x, count


def shrinking_rows(x: Any, turns: int) -> Any:
    x = x.copy()
    for k in range(turns):
        x = x[x[:, 0] < 0.9 - 0.1 * k] * 1.1
    return x, x.sum(axis=0)


def until_few(x: Any, least: int) -> Any:
    x, turns = x.copy(), 0
    while x.size > least:
        x = x[x > x.mean()]
        turns += 1
    return x, turns


@pytest.mark.parametrize("n", [0, 1, 5, 100])
@pytest.mark.parametrize("turns", [0, 1, 6])
def test_arrays_that_get_shorter(n: int, turns: int) -> None:
    rng = np.random.default_rng(n)
    as_python(shrinking, rng.random(n), turns)
    as_python(shrinking_rows, rng.random((n, 3)), turns, whole=False)
    as_python(until_few, rng.random(n), 1 + turns, whole=False)


def either(x: Any, k: Any) -> Any:
    y = x[x > 0.5] if k[0] > 2 else x[1:] * 2
    return y.sum(), y * 2, y


def one_arm(x: Any, k: Any) -> Any:
    y = x * 2
    if k[0] > 2:
        y = y[y > 0.5]
    return y.sum(), y


@pytest.mark.parametrize("f", [either, one_arm])
@pytest.mark.parametrize("k", [1, 4])
def test_lengths_that_a_branch_gives(f: Any, k: int) -> None:
    for n in (1, 9):
        as_python(f, np.random.default_rng(3).random(n), np.array([k]))


def shrinking_early(c: Any, limit: int) -> Any:
    where = np.arange(c.size)
    count = np.zeros(c.size, dtype=np.int64)
    c = c + 0
    z = np.zeros_like(c)
    for step in range(limit):
        if len(z) == 0:
            break
        z = z * z + c
        out = z * z > 4.0
        count[where[out]] = step + 1
        keep = ~out
        z, c, where = z[keep], c[keep], where[keep]
    return count


@pytest.mark.parametrize("n", [1, 50])
def test_several_arrays_that_get_shorter(n: int) -> None:
    c = np.random.default_rng(4).random(n) * 4 - 2
    as_python(shrinking_early, c, 20)
    as_python(shrinking_early, c + 10, 20)


def test_the_flags_of_what_only_a_loop_looks_at() -> None:
    def f(b: Any) -> int:
        b *= b
        v = b // b
        w = v + 0
        for _ in range(int((v > 0).sum())):
            w = w[(w <= 0.5)[:, 0]]
        return 1

    as_python(f, np.arange(12).reshape(4, 3))


def test_answers_are_found_anew_when_more_or_less_is_known():
    facts = Facts()
    n, i = symbol("n", 5, 0), symbol("i", None, 0)
    assert facts.prove("<", 2, n) is None
    before = facts.mark()
    facts.learn(Predicate("<", 2, n))
    assert facts.prove("<", 2, n) is True
    with facts.earlier(before):
        assert facts.prove("<", 2, n) is None
    assert facts.prove("<", 2, n) is True
    facts.undo(before)
    assert facts.prove("<", 2, n) is None
    assert facts.prove("<", i, n) is None
    facts.ranges[lone_symbol(i)] = (0, n - 1)
    assert facts.prove("<", i, n) is True
    assert facts.prove("==", n, 5) is None
    assert facts.ask("==", n, 5)
    assert facts.prove("==", n, 5) is True
