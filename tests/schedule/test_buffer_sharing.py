"""Temporaries of a loop share memory where they may, and only there."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.facts import Facts
from npcompile.core.sizes import Poly, Size, Symbol, symbol
from npcompile.graph.ir import Geometry, HostCall
from npcompile.graph.types import BOOL, FLOAT, INT
from npcompile.program.ir import (
    Alloc,
    Axis,
    Bind,
    Buffer,
    Call,
    For,
    If,
    Index,
    Kernel,
    Load,
    SideExit,
    Statement,
    Store,
    Swap,
    View,
    While,
    flat,
)
from npcompile.schedule.memory.allocate import allocate, touched
from npcompile.schedule.memory.shared_temporaries import SharedMemory
from tests.fuzz import buffer_sharing
from tests.fuzz.framework import checked
from tests.support import oracle

N = symbol("n", 5, 0)
TURN, INNER = Symbol("turn"), Symbol("inner")
X = Buffer("x", "param", FLOAT, (N,), (1,), 0)
GO = Buffer("go", "scalar", BOOL)
AT = Index(0, (1,))


def temporary(name: str, dtype: np.dtype = FLOAT, size: Size = N) -> Buffer:
    return Buffer(name, "temp", dtype, (size,), (1,))


A, B, C, D = map(temporary, "abcd")


def step(target: Buffer, *sources: Buffer) -> Kernel:
    """``target = sources[0]``, all of which it reads."""
    loads = tuple([Load(source, AT, source.dtype) for source in sources])
    return Kernel("k", (Axis("i", N),), loads, (Store(target, AT, 0),))


def loop(*body: Statement, symbol: Symbol = TURN, **options: Any) -> For:
    return For(symbol, 0, 3, 1, body, **options)


#: a turn whose ``c`` may take the memory of ``a``
CHAIN = (step(A, X), step(B, A), step(C, B), step(X, C))


def shared(body: Sequence[Statement], made: Set[Buffer] = frozenset((A, B, C, D)),
           kept: Set[Buffer] = frozenset(), key: Symbol | Buffer = TURN) -> set[str]:
    """The temporaries that are left, by name."""
    found = SharedMemory(Facts(), {key: made}, body, kept).block(body)
    return {b.name for s in found for b in touched(s) if b.kind == "temp"}


def test_one_after_the_other() -> None:
    assert shared([loop(*CHAIN)]) == {"a", "b"}
    assert shared([loop(step(A, X), step(B, A), step(C, A, B), step(X, C))]) == {"a", "b", "c"}


def test_loops_on_data() -> None:
    assert shared([While(CHAIN, GO)], key=GO) == {"a", "b"}


def test_in_branches() -> None:
    """A branch is one statement of the turn; a loop in an arm is a loop."""
    turn = loop(step(A, X), If(GO, (step(B, A),), (step(X, A),)), step(C, X), step(X, C))
    assert shared([turn]) == {"a", "b"}
    assert shared([If(GO, (loop(*CHAIN),), ())]) == {"a", "b"}
    assert shared([loop(If(GO, CHAIN, ()))]) == {"a", "b", "c"}


def test_inner_loops() -> None:
    """What an inner loop uses is needed at once, but for what a turn of it makes."""
    inner = loop(*CHAIN, symbol=INNER)
    outer = loop(step(D, X), step(X, D), inner)
    assert shared([outer]) == {"d", "b", "c"}
    found = SharedMemory(Facts(), {TURN: {A, B, C, D}, INNER: {A, B, C}}, [outer], set()).block(
        [outer]
    )
    assert {b.name for b in touched(found[0]) if b.kind == "temp"} == {"d", "b"}


def test_of_another_form() -> None:
    for other in (temporary("o", INT), temporary("o", FLOAT, N + 1)):
        turn = loop(step(A, X), step(B, A), step(other, B), step(X, other))
        assert shared([turn], {A, B, other}) == {"a", "b", "o"}


def test_what_iterations_leave() -> None:
    """What a turn has not made itself is there in the next one."""
    for buffer in (A, C):
        assert shared([loop(*CHAIN)], {A, B, C} - {buffer}) == {"a", "b", "c"}


@pytest.mark.parametrize("body", [
    [step(A, X), loop(*CHAIN)],
    [loop(*CHAIN), step(X, A)],
    [loop(*CHAIN), step(X, C)],
], ids=["before", "after the first", "after the last"])
def test_used_outside(body: list[Statement]) -> None:
    assert shared(body) == {"a", "b", "c"}


def test_kept() -> None:
    """What results, exits or flags need."""
    assert shared([loop(*CHAIN)], kept={C}) == {"a", "b", "c"}


def test_other_kinds() -> None:
    owned = Buffer("o", "owned", FLOAT, (N,), (1,))
    turn = loop(step(A, X), step(B, A), step(owned, B), step(X, owned))
    body = SharedMemory(Facts(), {TURN: {A, B, owned}}, [turn], set()).block([turn])
    assert {owned, A, B} <= set(touched(body[0]))


def test_calls_of_functions() -> None:
    call = Call(HostCall("numpy:sort"), (View(A, Geometry(0, (N,), (1,)), FLOAT),), (D,))
    turn = loop(step(A, X), call, step(B, D), step(C, B), step(X, C))
    assert shared([turn]) == {"a", "b", "c", "d"}


def test_sizes_that_a_iteration_finds() -> None:
    """Such memory is taken and given back in each turn."""
    count = Symbol("count", low=0)
    size = Poly((((count,), 1),))
    number = Buffer("number", "scalar", INT)
    a, b, c = (temporary(name, FLOAT, size) for name in "abc")
    turn = loop(Bind(count, number), step(a, X), step(b, a), step(c, b), step(X, c))
    assert shared([turn], {a, b, c}) == {"a", "b", "c"}


def test_parallel_iterations() -> None:
    assert shared([loop(*CHAIN, parallel=True)]) == {"a", "b", "c"}


def test_checks_read_what_they_hand_over() -> None:
    out = Buffer("out", "result", FLOAT, (N,), (1,))
    leaving = (Alloc(out), step(out, A))
    turn = loop(step(A, X), step(B, A), step(C, B), SideExit(GO, "", 0, leaving), step(X, C))
    assert shared([turn]) == {"a", "b", "c"}
    turn = loop(step(A, X), SideExit(GO, "", 0, leaving), step(B, A), step(C, B), step(X, C))
    assert shared([turn]) == {"a", "b"}


def test_memories_that_change_places() -> None:
    """What a turn brings to the next one is needed until they do."""
    home = temporary("home")
    turn = loop(step(A, home), step(B, A), step(C, B), Swap(C, home), step(D, home), step(X, D))
    body = [step(home, X), turn, step(X, home)]
    found = SharedMemory(Facts(), {TURN: {A, B, C, D}}, body, set()).block(body)
    swap = next(s for s in flat(found) if isinstance(s, Swap))
    assert swap == Swap(A, home)
    assert {b.name for s in found for b in touched(s) if b.kind == "temp"} == {"a", "b", "home"}


def test_memory_is_taken_once() -> None:
    body = allocate(
        SharedMemory(Facts(), {TURN: {A, B, C}}, [loop(*CHAIN)], set()).block([loop(*CHAIN)])
    )
    assert [s.buffer for s in body if isinstance(s, Alloc)] == [A, B]


# ------------------------------------------------------------------ whole functions


def chain(u: Any, v: Any, n: int) -> Any:
    """Sums are in the way of sweeps."""
    total = 0.0
    for _ in range(n):
        a = np.roll(u, 1, 1) * v
        total += a.sum()
        b = np.roll(a, 1, 1) - v
        total -= b.max()
        c = np.roll(b, 1, 1) + u
        total += c.min()
        u[:] = np.roll(c, 1, 1)
    return total


def until(u: Any, v: Any, n: int) -> Any:
    turns = 0
    while turns < n:
        a = np.cumsum(u, axis=1)
        b = np.cumsum(a * v, axis=1)
        c = np.cumsum(b - a.max(), axis=1)
        if c.sum() > 0:
            d = np.cumsum(c, axis=0)
            u += d / d.max()
        else:
            u -= c / c.min()
        turns += 1
    return turns


def nested(u: Any, v: Any, n: int) -> Any:
    out = np.zeros_like(u)
    for k in range(n):
        x = np.cumsum(u, axis=0)
        y = np.sort(x, axis=0)
        total = np.zeros_like(u)
        for _ in range(k):
            z = np.cumsum(total * v + y.sum(), axis=0)
            total = np.cumsum(z, axis=1)
        out += np.cumsum(total, axis=0)
    return out


def left_in_the_middle(u: Any, v: Any, n: int) -> Any:
    for k in range(n):
        a = np.cumsum(u, axis=1)
        b = np.cumsum(a, axis=1)
        if k == 2:
            raise ValueError(float(a.sum() + b.sum()))
        c = np.cumsum(b * v, axis=1)
        u[:] = np.cumsum(c - v, axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_random_loops(seed: int) -> None:
    checked(buffer_sharing.GRAMMAR, [seed])


@pytest.mark.parametrize("function", [chain, until, nested, left_in_the_middle])
def test_same_bits(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    for shape in ((7, 9), (1, 3), (33, 40)):
        args = np.random.default_rng(3).uniform(0.5, 1.0, (2, *shape))
        oracle.check_calls(compiled, function, *args, 4)
