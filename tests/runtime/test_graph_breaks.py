"""Functions that run in regions: compiled, a little of Python, compiled again."""

from __future__ import annotations

import inspect
import io
import json
import sys
import traceback
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.frontend.bytecode import analyse
from npcompile.runtime.versions import resume
from npcompile.tracing import graph_breaks

X = np.linspace(0.5, 3.0, 12)
SEEN: list[Any] = []
TABLE: dict[Any, Any] = {}


def unknown(value: Any) -> Any:
    """Nothing that a tracer follows."""
    SEEN.append(value)
    return eval("value * 2", {"value": value})


def changes(a: Any) -> int:
    a[0] = eval("-5.0")
    SEEN.append(a.copy())
    return 3


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_breaks, "MANY", 0)  # as if small arrays were worth the way
    monkeypatch.setenv("NPCOMPILE_STRICT", "1")
    SEEN.clear()
    TABLE.clear()


def run(function: Callable[..., Any], *args: Any, places: int = 1) -> Any:
    """The compiled function, which has paused and come back at so many places."""
    compiled = jit(function)
    for _ in range(2):
        mine, theirs = (
            [a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)
        )
        SEEN.clear()
        TABLE.clear()
        want, seen, table = function(*theirs), list(SEEN), dict(TABLE)
        SEEN.clear()
        TABLE.clear()
        got = compiled(*mine)
        assert repr(got) == repr(want)
        assert repr(mine) == repr(theirs)
        assert repr(SEEN) == repr(seen)
        assert repr(TABLE) == repr(table)
    parts = compiled._dispatcher.regions
    assert parts is not None
    assert len(parts.continuations) == places
    assert all(c.versions and not c.fallbacks for c in parts.continuations.values())
    assert not parts.rests
    return compiled


class TestStatements:
    def test_a_call(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            c = unknown(b)
            b += c
            return b.sum(), c

        run(f, X)

    def test_in_the_middle_of_an_expression(self) -> None:
        def f(a: Any) -> Any:
            b = a + 1
            c = b.sum() + unknown(b)[0] * 2 - b[1]
            return b * c

        run(f, X)

    @pytest.mark.parametrize("held", ["range(1, n, 2)", "table.items()", "table.keys()"])
    def test_ranges_and_views_that_are_held(self, held: str) -> None:
        space: dict[str, Any] = {}
        exec("def f(a, n, rng, table):\n"
             f"    held = {held}\n"
             "    for _ in range(2):\n"
             "        a = a[rng.permutation(range(n))] * 2\n"
             "    return a, list(held), len(held)\n", space)
        compiled = jit(space["f"])
        for _ in range(2):
            got, want = (g(X, 12, np.random.RandomState(5), {"a": 1, "b": 2.0})
                         for g in (compiled, space["f"]))
            assert repr(got) == repr(want)

    def test_several(self) -> None:
        def f(a: Any) -> Any:
            a += 1
            n = unknown(3)
            a[n] = 7.0
            TABLE[n] = a.copy()
            unknown(n)
            a += 1
            k = changes(a)
            return a[k] + n

        run(f, X, places=3)

    def test_stores_to_what_comes_from_outside(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            TABLE["sum"] = unknown(float(b.sum()))
            b += 1
            TABLE[len(b)] = unknown(1)
            return b * 2

        run(f, X, places=2)

    def test_objects_of_python(self) -> None:
        def f(a: Any, n: int) -> Any:
            out = io.StringIO()
            total = 0.0
            for k in range(n):
                total += float(a[k])
                out.write(f"{total:.2f} ")
            text = json.dumps({"total": total})
            return a * total, out.getvalue(), text

        compiled = jit(f)
        assert repr(compiled(X, 5)) == repr(f(X, 5))
        assert repr(compiled(X, 3)) == repr(f(X, 3))
        assert compiled._dispatcher.regions.continuations

    def test_what_is_returned_at_once(self) -> None:
        def f(a: Any) -> Any:
            b = np.sqrt(a) + a
            return unknown(b)

        run(f, X, places=0)

    def test_deleted_variables(self) -> None:
        def f(a: Any) -> Any:
            b = a + 1
            c = unknown(b)
            del b
            return c + 1

        run(f, X)

    def test_closures_and_globals(self) -> None:
        gain = np.array([2.0])

        def f(a: Any) -> Any:
            b = a * gain
            unknown(b)
            return b * gain + len(SEEN)

        run(f, X)
        gain[0] = 3.0
        run(f, X)


class TestLoops:
    def test_every_iteration(self) -> None:
        def f(a: Any, n: int) -> Any:
            total = 0.0
            for k in range(n):
                a = np.sqrt(a + k)
                total += unknown(k)
                a = a * 2
            return a, total

        compiled = run(f, X, 6)
        for n in (0, 1, 2, 9):
            SEEN.clear()
            got, mine = compiled(X, n), list(SEEN)
            SEEN.clear()
            assert repr(got) == repr(f(X, n))
            assert mine == SEEN

    def test_some_iterations(self) -> None:
        def f(a: Any, n: int) -> Any:
            for k in range(n):
                a += 0.5
                if k % 7 == 3:
                    a[0] = unknown(k)
                a *= 1.5
            return a.sum()

        run(f, X, 40)

    def test_in_the_inner_of_two(self) -> None:
        def f(a: Any, n: int) -> Any:
            total = 0.0
            for i in range(n):
                for j in range(i, n):
                    a[j] += i * 0.5
                    if a[j] > 4.0:
                        total += unknown(i * 10.0 + j)
                    a[j] *= 1.25
                total += float(a.sum())
            return total

        run(f, X, 6)

    @pytest.mark.parametrize("over", [
        "enumerate(a)", "zip(a, a[::-1])", "enumerate(zip(a, a), 3)", "enumerate((1, 2.5, 4))",
    ])
    def test_over_other_things(self, over: str) -> None:
        source = f"def f(a):\n  t, b = 0.0, a + 1\n  for k, v in {over}:\n    t += a.sum()\n" \
                 "    t += unknown(k)\n    b[1] += t\n  return t, b, v\n"
        scope: dict[str, Any] = {"unknown": unknown}
        exec(source, scope)
        run(scope["f"], X)

    def test_while(self) -> None:
        def f(a: Any, limit: float) -> Any:
            k = 0
            while a.sum() < limit:
                a *= 1.5
                k += 1
                if k % 2:
                    a[0] += unknown(k)
            else:
                a -= 1
            return a, k

        run(f, X, 500.0)

    def test_break_and_continue(self) -> None:
        def f(a: Any, n: int) -> Any:
            for k in range(n):
                if k % 3 == 1:
                    continue
                a += k
                if unknown(k) > 10:
                    break
                a *= 1.1
            return a, k

        run(f, X, 12)

    @pytest.mark.parametrize("over", ["range(1, 5)", "(1, 2, 3, 4)", "range(4, 0, -1)",
                                      "enumerate((1, 2, 3))", "zip(range(4), (1, 2, 3, 4))"])
    def test_in_several_iterations_of_an_unrolled_loop(self, over: str) -> None:
        source = f"def f(a, x):\n  t = 0.0\n  for k in {over}:\n    t += 1.5\n    a *= 2\n" \
                 "    i = k if type(k) is int else k[0]\n    if a[i] > x:\n" \
                 "      t += unknown(i)\n  return t, a\n"
        scope: dict[str, Any] = {"unknown": unknown}
        exec(source, scope)
        compiled = jit(scope["f"])
        for x in (9.0, 0.0, 99.0, 4.0):
            mine, theirs = X.copy(), X.copy()
            SEEN.clear()
            got, seen = compiled(mine, x), list(SEEN)
            SEEN.clear()
            assert repr((got, mine)) == repr((scope["f"](theirs, x), theirs))
            assert seen == SEEN

    def test_a_list_is_run_over_in_python(self) -> None:
        def f(a: Any, parts: list[int]) -> Any:
            for k in parts:
                a = a + k
                unknown(k)
            return a

        compiled = jit(f)
        assert repr(compiled(X, [1, 2, 3])) == repr(f(X, [1, 2, 3]))

    def test_little_to_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Pausing in every turn of a loop that does nothing else is not worth it."""
        monkeypatch.setattr(graph_breaks, "MANY", 2048)

        def f(n: int) -> Any:
            total = 0
            for k in range(n):
                total += unknown(k)
            return total

        compiled = jit(f)
        assert compiled(100) == f(100)
        assert [*range(100), *range(100)] == SEEN


class TestLeaving:
    def test_exceptions_in_python(self) -> None:
        def f(a: Any, k: int) -> Any:
            a += 1
            TABLE[k].append(
                a.sum())
            return a

        compiled = jit(f)
        for function in (compiled, f):
            TABLE.update({0: [], 1: None})
            mine = X.copy()
            function(mine, 0)
            with pytest.raises(AttributeError) as caught:
                function(mine, 1)
            last = traceback.extract_tb(caught.value.__traceback__)[-1]
            assert (last.name, last.lineno) == ("f", inspect.getsourcelines(f)[1] + 2)
            assert mine.tolist() == (X + 2).tolist()

    def test_exceptions_after_it(self) -> None:
        def f(a: Any, k: int) -> Any:
            a += 1
            unknown(k)
            a += 1
            return a[k]

        compiled = jit(f)
        compiled(X.copy(), 3)
        mine = X.copy()
        with pytest.raises(IndexError):
            compiled(mine, 12)
        assert mine.tolist() == (X + 2).tolist()

    def test_caught_exceptions(self) -> None:
        def f(a: Any, text: str) -> Any:
            b = np.sqrt(a) * 2
            try:
                n = int(unknown(text))
            except ValueError:
                n = -1
            return b + n

        compiled = jit(f)
        for text in ("12", "x", "3"):
            assert repr(compiled(X, text)) == repr(f(X, text))

    def test_handlers_are_out_of_reach(self) -> None:
        def f(a: Any) -> Any:
            try:
                a = unknown(a)
            except ValueError:
                a = a + 1
                a = a * 2
            finally:
                a = a - 1
            return a

        code = analyse(f.__code__)
        every = [i for body in code.blocks.values() for i in body]
        calls = [i for i in every if i.op == "CALL"]
        adds = [i for i in every if i.op == "BINARY_OP" and i.line == calls[0].line + 2]
        assert adds and all(i.offset in code.handling for i in adds)
        assert not any(i.offset in code.handling for i in calls)
        for offset in code.handling:
            with pytest.raises(ValueError, match="handles an exception"):
                resume.prepare([resume.Activation.of(f, offset, {"a": 1})])

    def test_arrays_that_are_one(self) -> None:
        def f(a: Any) -> Any:
            b = a[1:]
            c = a
            unknown(0)
            b += 1
            c[0] = 9
            return a, b, c

        compiled = jit(f)
        mine, theirs = X.copy(), X.copy()
        got, want = compiled(mine), f(theirs)
        assert repr(got) == repr(want)
        assert got[0] is got[2] is mine
        assert got[1].base is mine

    def test_other_arguments(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            unknown(0)
            return b + b.sum()

        compiled = jit(f)
        for a in (X, X.astype("f4"), np.ones((3, 4)), X[::2], X[:3]):
            assert repr(compiled(a)) == repr(f(a))


class TestTelling:
    def test_explain(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            unknown(b)
            b += 1
            unknown(1)
            return b

        compiled = jit(f)
        compiled(X)
        told = compiled.explain(X)
        assert not told.captured
        assert told.refusal is None
        line = inspect.getsourcelines(f)[1]
        assert len(told.graph_breaks) == 2
        assert told.graph_breaks[1].startswith(f"line {line + 4}: ")
        assert "compiled in regions" in str(told)

    def test_clearing(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            unknown(b)
            return b + 1

        compiled = jit(f)
        for _ in range(2):
            assert repr(compiled(X)) == repr(f(X))
            assert compiled._dispatcher.regions.continuations
            compiled.clear_cache()
            assert compiled._dispatcher.regions is None

    def test_fullgraph(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            unknown(b)
            return b + 1

        with pytest.raises(npcompile.CompileError):
            jit(f, fullgraph=True)(X)

    def test_deterministic_modes(self) -> None:
        def f(a: Any) -> Any:
            b = a * 2
            unknown(b)
            return b + 1

        with pytest.raises(npcompile.DeterminismError, match="Python's part"):
            jit(f, deterministic=True)(X)

    def test_reference_backend(self) -> None:
        def f(a: Any, n: int) -> Any:
            for k in range(n):
                a = a + 1
                a = a * unknown(k)
            return a

        compiled = jit(f, backend="reference")
        assert repr(compiled(X, 4)) == repr(f(X, 4))
        assert compiled._dispatcher.regions.continuations


def test_iterations_under_way_are_copies_of_blocks() -> None:
    def f(a: Any, n: int) -> Any:
        for i in range(n):
            for j in range(n):
                a += i
                a -= j
            a *= 2
        return a

    assert isinstance(f, FunctionType)
    whole = analyse(f.__code__)
    for block, body in whole.blocks.items():
        if block not in whole.order:
            continue
        for i in body:
            code = analyse(f.__code__, i.offset)
            assert code.reducible
            real = {b % (1 << 24) for b in code.order}
            assert i.offset in real
            assert len(code.loops) <= 3


def test_references_are_those_of_python() -> None:
    def f(a: Any) -> tuple[int, int]:
        b = a * 2
        for _ in range(3):
            np.dot(a, a, b)
        return sys.getrefcount(b), sys.getrefcount(np.dot(a, a))

    x = np.ones((40, 40))
    assert jit(f)(x) == f(x)


def test_arrays_live_as_long_as_in_python() -> None:
    def f(a: Any) -> list[bool]:
        held = [a * 2, a.T + 1]
        refs = [weakref.ref(v) for v in held]
        unknown(held[0].sum())
        del held
        return [ref() is None for ref in refs]

    assert jit(f)(np.ones((40, 40))) == [True, True]


class Spread:
    def seen(self, x):
        return eval("x * 2")


SPREAD = Spread()


def test_a_method_of_a_global_object_waits_on_the_stack():
    def f(x):
        y = SPREAD.seen(x + 1)
        return y * 2

    compiled = jit(f, cache=False)
    x = np.arange(5000.0)
    for _ in range(2):
        assert np.array_equal(compiled(x), (x + 1) * 4)
    assert compiled.cache_info() == (1, 0, 0)
