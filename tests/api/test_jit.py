"""`jit` as a citizen: it behaves like the function that it replaces."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import gc
import inspect
import multiprocessing
import os
import pickle
import random
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.api.jit import Jit
from npcompile.runtime.unsafe import gates


@jit
def line(x: Any, a: float = 2, *, b: float = 1) -> Any:
    """A line."""
    return x * a + b


def compiled(function: Any) -> int:
    return int(function.cache_info().compiled)


X = np.arange(12.0)


class TestIdentity:
    def test_keeps_name_doc_and_signature(self) -> None:
        assert line.__name__ == "line"
        assert line.__doc__ == "A line."
        assert line.__module__ == __name__
        wanted = "(x: 'Any', a: 'float' = 2, *, b: 'float' = 1) -> 'Any'"
        assert str(inspect.signature(line)) == wanted
        assert line.__wrapped__(X).tolist() == (X * 2 + 1).tolist()

    def test_with_options(self) -> None:
        @jit(fullgraph=True, parallel=False)
        def f(x: Any) -> Any:
            return x + 1

        assert f(X).tolist() == (X + 1).tolist()
        assert f.config.fullgraph

    def test_rejects_what_is_no_function(self) -> None:
        with pytest.raises(TypeError, match="Python functions"):
            jit(3)
        with pytest.raises(TypeError):
            jit(unknown_option=True)(lambda x: x)

    def test_is_no_function_but_has_its_parts(self) -> None:
        assert type(line) is line.__class__ is Jit
        assert inspect.isroutine(line) and not inspect.isfunction(line)
        plain = inspect.unwrap(line)
        assert inspect.isfunction(plain) and inspect.getfile(plain) == __file__
        assert inspect.getsourcelines(line)[1] == line.__code__.co_firstlineno
        for name in ("__code__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__"):
            assert getattr(line, name) is getattr(plain, name)

    def test_what_says_it_is_a_function_is_none(self) -> None:
        """Compiled code looks into functions, which it must not do with what only pretends."""
        class Pretends:
            __class__ = property(lambda self: types.FunctionType)
            __code__ = None

            def __call__(self, x: Any) -> Any:
                return x + 1

        made = Pretends()
        assert jit(lambda x: made(x) * 2)(X).tolist() == ((X + 1) * 2).tolist()
        assert jit(lambda x, f: f(x) * 2)(X, made).tolist() == ((X + 1) * 2).tolist()
        with pytest.raises(TypeError):
            jit(made)

    def test_pickles_by_reference(self) -> None:
        assert pickle.loads(pickle.dumps(line)) is line
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pickle.dumps(jit(lambda x: x))

    def test_copies_are_itself(self) -> None:
        assert copy.copy(line) is line
        assert copy.deepcopy(line) is line

    def test_token_is_stable_and_tells_functions_apart(self) -> None:
        one, other = jit(lambda x: x + 1), jit(lambda x: x + 2)
        assert one.__dask_tokenize__() == one.__dask_tokenize__()
        assert one.__dask_tokenize__() != other.__dask_tokenize__()


class TestCalls:
    def test_keywords_and_defaults(self) -> None:
        for args, kwargs in [((X,), {}), ((X, 3), {}), ((X,), {"b": 5}), ((), {"x": X, "a": 0.5})]:
            want = line.__wrapped__(*args, **kwargs)
            assert line(*args, **kwargs).tolist() == want.tolist()

    @pytest.mark.parametrize(
        ("args", "kwargs"),
        [((), {"x": X, "k": 3.0}), ((X,), {"k": 3.0}), ((X,), {}), ((), {"k": 3.0, "x": X})],
    )
    def test_keywords_and_defaults_are_bound_by_machine_code(self, args: Any, kwargs: Any) -> None:
        def f(x: Any, k: float = 2.0) -> Any:
            return x * k

        g = jit(f)
        for _ in range(3):
            assert g(*args, **kwargs).tolist() == f(*args, **kwargs).tolist()
        (version,) = g._dispatcher.versions
        in_python = version.calls
        assert g(*args, **kwargs).tolist() == f(*args, **kwargs).tolist()
        assert version.calls == in_python
        f.__defaults__ = (5.0,)
        assert g(*args, **kwargs).tolist() == f(*args, **kwargs).tolist()
        with pytest.raises(TypeError, match="unexpected keyword"):
            g(X, w=1)
        g.clear_cache()
        assert g(*args, **kwargs).tolist() == f(*args, **kwargs).tolist()
        assert compiled(g) == 1

    @pytest.mark.parametrize("name", ["self", "function", "args", "dispatcher", "what", "x"])
    def test_any_keyword_is_the_functions_own(self, name: str) -> None:
        space: dict[str, Any] = {"np": np}
        exec(f"def named({name}=1, k=2.0): return {name} * k\n"
             f"def gathered(**kw): return kw\n"
             f"def refused({name}): return str({name}) + repr(input)\n", space)
        for plain, value in [("named", X), ("named", 3), ("gathered", X), ("refused", X)]:
            f = jit(space[plain])
            for _ in range(12):
                assert repr(f(**{name: value})) == repr(space[plain](**{name: value}))
        assert jit(space["named"], check=True)(**{name: X}).tolist() == (X * 2).tolist()
        assert jit(space["named"]).explain(**{name: X}).captured
        assert "mul" in jit(space["named"]).lower(**{name: X}).graph

    def test_wrong_arguments_raise_as_python_does(self) -> None:
        with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
            line()
        with pytest.raises(TypeError, match="unexpected keyword"):
            line(X, c=1)

    def test_methods(self) -> None:
        class Filter:
            def __init__(self, gain: float) -> None:
                self.gain = gain

            @jit
            def apply(self, x: Any) -> Any:
                return x * self.gain

            @staticmethod
            @jit
            def twice(x: Any) -> Any:
                return x * 2

        filter_ = Filter(3.0)
        assert filter_.apply(X).tolist() == (X * 3).tolist()
        filter_.gain = 4.0
        assert filter_.apply(X).tolist() == (X * 4).tolist()
        assert filter_.twice(X).tolist() == (X * 2).tolist()
        assert compiled(Filter.__dict__["apply"]) == 1

    def test_variadic(self) -> None:
        @jit
        def total(*arrays: Any, **options: Any) -> Any:
            result = arrays[0]
            for array in arrays[1:]:
                result = result + array * options.get("scale", 1)
            return result

        assert total(X, X, X, scale=2).tolist() == (X + X * 2 + X * 2).tolist()
        assert total(X).tolist() == X.tolist()

    def test_containers_and_dataclasses_as_arguments(self) -> None:
        class Pair(NamedTuple):
            left: Any
            right: Any

        @dataclasses.dataclass
        class Model:
            weight: Any
            bias: float

        @jit
        def f(pair: Pair, model: Model, options: dict[str, float]) -> Any:
            return Pair(pair.left * model.weight + model.bias, pair.right - options["shift"])

        got = f(Pair(X, X), Model(X, 0.5), {"shift": 2.0})
        assert type(got) is Pair
        assert got.left.tolist() == (X * X + 0.5).tolist()
        assert got.right.tolist() == (X - 2).tolist()

    @pytest.mark.parametrize(
        "value",
        [
            np.array([1, "a"], dtype=object),
            np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
            np.array(["a", "b"]),
            np.ma.masked_array([1.0, 2.0], [True, False]),
            np.matrix([[1.0, 2.0]]),
            np.arange(4.0).astype(">f8"),
            np.array(["2020-01-01"], dtype="M8[D]"),
            np.arange(3, dtype=np.longdouble),
        ],
    )
    def test_other_arrays_run_in_python(self, value: Any) -> None:
        def f(x: Any) -> Any:
            return x[::-1]

        got, want = jit(f)(value), f(value)
        assert type(got) is type(want)
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist()

    def test_globals_are_read_at_each_call(self) -> None:
        scope: dict[str, Any] = {"np": np, "K": 2.0}
        exec("def g(x): return x - 1\ndef f(x): return g(x) * K", scope)
        f = jit(scope["f"])
        assert f(X).tolist() == ((X - 1) * 2).tolist()
        scope["K"] = 5.0
        assert f(X).tolist() == ((X - 1) * 5).tolist()
        scope["K"] = 5
        assert f(X).tolist() == ((X - 1) * 5).tolist()
        exec("def g(x): return x + 1", scope)
        assert f(X).tolist() == ((X + 1) * 5).tolist()

    def test_closures_are_read_at_each_call(self) -> None:
        gain = 2.0

        @jit
        def f(x: Any) -> Any:
            return x * gain

        assert f(X).tolist() == (X * 2).tolist()
        gain = 3.0
        assert f(X).tolist() == (X * 3).tolist()

    def test_changed_code_of_a_callee(self) -> None:
        def g(x: Any) -> Any:
            return x + 1

        @jit
        def f(x: Any) -> Any:
            return g(x)

        assert f(X).tolist() == (X + 1).tolist()
        g.__code__ = (lambda x: x + 2).__code__
        assert f(X).tolist() == (X + 2).tolist()


class TestOneCompile:
    def test_fifty_shapes(self) -> None:
        f = jit(lambda x, y: (x * 2 + y).sum(axis=1))
        for n in range(2, 52):
            x = np.random.default_rng(n).random((n, n + 3))
            assert f(x, x).tolist() == (x * 2 + x).sum(axis=1).tolist()
        assert compiled(f) == 1

    def test_twenty_numbers(self) -> None:
        f = jit(lambda x, k, r: x * k + r)
        for k in range(20):
            assert f(X, k, k / 7).tolist() == (X * k + k / 7).tolist()
        assert compiled(f) == 1

    def test_types_are_versions(self) -> None:
        f = jit(lambda x, k: x * k)
        for x in (X, X.astype("f4"), X.astype("i8")):
            for k in (2, 2.0):
                got, want = f(x, k), x * k
                assert got.dtype == want.dtype
                assert got.tolist() == want.tolist()
        assert compiled(f) == 6


class TestExits:
    def test_raises_where_python_raises(self) -> None:
        def f(x: Any) -> Any:
            if (x < 0).any():
                raise ValueError("negative")
            return np.sqrt(x)

        g = jit(f)
        assert g(X).tolist() == f(X).tolist()
        with pytest.raises(ValueError, match="negative") as caught:
            g(-X)
        assert caught.traceback[-1].lineno == inspect.getsourcelines(f)[1] + 1
        assert compiled(g) == 1

    def test_overflow_of_python_ints(self) -> None:
        f = jit(lambda n, x: (n * n, x + 1))
        assert f(3, X)[0] == 9
        assert f(2**40, X)[0] == 2**80
        assert f(2**70, X)[0] == 2**140

    def test_overlapping_arguments(self) -> None:
        def f(a: Any, b: Any) -> None:
            a[1:] += b[:-1]

        g, x, y = jit(f), X.copy(), X.copy()
        g(x.copy(), X)
        g(x[2:], x[:-2])
        f(y[2:], y[:-2])
        assert x.tolist() == y.tolist()
        g(x, x)
        f(y, y)
        assert x.tolist() == y.tolist()
        assert g.cache_info().fallbacks == 2

    def test_read_only_argument(self) -> None:
        def f(a: Any) -> None:
            a += 1

        g, x = jit(f), X.copy()
        g(x)
        x.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            g(x)

    def test_identity_of_results(self) -> None:
        f = jit(lambda a: (a, a[1:], a.T, a))
        got = f(X)
        assert got[0] is X
        assert got[3] is X
        assert got[1].base is X
        assert np.shares_memory(got[1], X)

    def test_fullgraph_raises(self) -> None:
        f = jit(lambda x: input(x), fullgraph=True)
        with pytest.raises(npcompile.CompileError, match="input"):
            f(X)

    def test_check_finds_a_wrong_kernel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        f = jit(lambda x: x + 1, check=True)
        assert f(X).tolist() == (X + 1).tolist()
        monkeypatch.setattr(f._dispatcher, "call", lambda x: x + 2)
        with pytest.raises(npcompile.CheckError):
            f(X)


class TestWarnings:
    def test_as_numpy_warns(self) -> None:
        f = jit(lambda x: 1.0 / x)
        assert f(X + 1).tolist() == (1 / (X + 1)).tolist()
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            f(X)
        with np.errstate(divide="ignore"):
            assert f(X)[0] == np.inf
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            f(X)

    def test_quiet_comparison_of_nan(self) -> None:
        x = np.array([np.nan, 1.0])
        with np.errstate(all="raise"):
            assert jit(lambda x: x < 2)(x).tolist() == [False, True]


class TestThreadsAndProcesses:
    def test_racing_first_calls(self) -> None:
        f = jit(lambda x, k: (x * k).sum())
        results: list[Any] = []
        start = threading.Barrier(8)

        def work(k: int) -> None:
            start.wait()
            results.extend((k, f(X, k)) for _ in range(50))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 400
        assert all(value == (X * k).sum() for k, value in results)
        assert compiled(f) == 1

    def test_after_fork(self) -> None:
        big = np.arange(400_000.0)
        assert line(big)[-1] == big[-1] * 2 + 1
        pid = os.fork()
        if pid == 0:
            os._exit(0 if line(big)[-1] == big[-1] * 2 + 1 and line(X, 7)[1] == 8 else 1)
        assert os.waitpid(pid, 0)[1] == 0

    def test_spawned(self) -> None:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.map(line, [X])[0].tolist() == (X * 2 + 1).tolist()


class TestDeterminism:
    def test_products_are_refused_by_name_in_portable_mode(self) -> None:
        a = np.ones((3, 3))
        f = jit(lambda a: a @ a)
        assert f(a).tolist() == (a @ a).tolist()
        with npcompile.deterministic("portable"), pytest.raises(
            npcompile.DeterminismError, match="matmul"
        ):
            f(a)
        assert f(a).tolist() == (a @ a).tolist()

    def test_warn_only(self) -> None:
        a = np.ones((3, 3))
        with npcompile.deterministic("portable", warn_only=True), pytest.warns(match="matmul"):
            jit(lambda a: a @ a)(a)

    def test_fallback_is_refused(self) -> None:
        f = jit(lambda x: dir() or x, deterministic=True)
        with pytest.raises(npcompile.DeterminismError, match="dir"):
            f(X)


class TestExplain:
    def test_names_the_line_of_a_refusal(self) -> None:
        def f(x: Any) -> Any:
            y = x + 1
            input(y[0])
            return y

        told = jit(f).explain(X)
        assert not told.captured
        assert told.refusal.line == inspect.getsourcelines(f)[1] + 2
        assert "input" in str(told)

    def test_tells_kernels(self) -> None:
        told = jit(lambda x: x * 2 + 1).explain(X)
        assert told.captured
        assert len(told.kernels) == 1
        assert "2 operations, 16 bytes a point" in told.kernels[0]
        assert "valid while" in str(told)

    def test_counts_bytes_of_each_array_once(self) -> None:
        def f(x: Any) -> Any:
            return x[1:] * x[:-1] + x[0]

        (kernel,) = jit(f).explain(X).kernels
        assert "16 bytes a point" in kernel

    def test_names_conditions_once(self) -> None:
        def f(x: Any) -> Any:
            return x[3:] + x[:-3] * x[1]

        conditions = [g for g in jit(f).explain(X).guards if "shape" in g]
        assert conditions == ["x.shape[0] >= 3"]

    def test_tells_rows_of_blocks(self) -> None:
        def f(x: Any) -> Any:
            y = np.exp(x - x.max(1, keepdims=True))
            return y / y.sum(1, keepdims=True)

        told = jit(f).explain(np.ones((300, 40)))
        names = [kernel.split()[0] for kernel in told.kernels]
        assert len(set(names)) == len(names)
        assert f"{', '.join(names)} run together over blocks of the x.shape[0] rows" in str(told)
        assert "over rows of a block x x.shape[1]: " in told.kernels[-1]
        assert told.kernels[-1].endswith("return y / y.sum(1, keepdims=True)")

    def test_lower(self) -> None:
        stages = jit(lambda x: x * 2 + 1).lower(X)
        assert "mul" in stages.graph
        assert "kernel" in stages.program
        assert "define i64 @body" in stages.llvm
        assert "mulpd" in stages.asm or "vfmadd" not in stages.asm


def test_a_million_calls_leak_nothing() -> None:
    import resource

    f = jit(lambda x: x * 2 + 1)
    f(X)
    counts = [sys.getrefcount(o) for o in (X, X.dtype, None, f)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1_000_000):
        f(X)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000
    after = [sys.getrefcount(o) for o in (X, X.dtype, None, f)]
    assert all(abs(a - b) < 50 for a, b in zip(after, counts))


class TestClearing:
    def test_while_another_thread_is_inside(self) -> None:
        done = threading.Event()

        @jit
        def f(x: Any) -> Any:
            return np.sqrt(x) + 1

        want, wrong = (np.sqrt(X) + 1).tolist(), []

        def call() -> None:
            while not done.is_set():
                got = f(X).tolist()
                if got != want:
                    wrong.append(got)

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(8):
            f.clear_cache()
        done.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert f(X).tolist() == want

    def test_inside_of_a_warning(self) -> None:
        @jit
        def f(x: Any) -> Any:
            return 1 / x + 1

        def clear(*args: Any) -> None:
            f.clear_cache()
            gc.collect()

        assert f(X[1:]).tolist() == (1 / X[1:] + 1).tolist()
        with np.errstate(all="call", call=clear):
            got = f(X)
        assert got[0] == np.inf
        assert compiled(f) == 0
        assert f(X[1:]).tolist() == (1 / X[1:] + 1).tolist()


class TestThreads:
    def test_a_version_alone_is_tried_before_others(self) -> None:
        """A call that binds names and fits no version goes from one version to the next."""
        f = jit(lambda x, k=2.0: x[1:] * k)
        for _ in range(3):
            assert f(x=X).tolist() == (X[1:] * 2).tolist()
        for x in (X[:1], X[:0], X.astype("f4"), X[::2], X.astype("i4"), X[:2]):
            for _ in range(2):
                assert f(x=x).tolist() == (x[1:] * 2.0).tolist()

    def test_first_calls_clearing_and_modes_race(self) -> None:
        functions = [lambda x, k=1.5: np.sqrt(x) * k, lambda x: (x - 1).sum(), lambda x: x[::2]]
        shared = [(f, jit(f)) for f in functions]
        wrong: list[Any] = []

        def work(seed: int) -> None:
            rng = random.Random(seed)
            for turn in range(150):
                mine = shared if turn % 40 else [(f, jit(f)) for f in functions]
                f, g = rng.choice(mine)
                x = np.arange(rng.randrange(1, 8), dtype=rng.choice(["f8", "f4", "i8"]))
                got, want = (h(x=x) if turn % 3 else h(x) for h in (g, f))
                if got.dtype != want.dtype or got.tolist() != want.tolist():
                    wrong.append((got, want))
                if turn % 50 == 7:
                    g.clear_cache()
                elif turn % 10 == 3:
                    with npcompile.deterministic():
                        pass

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(work, range(4)))
        finally:
            sys.setswitchinterval(interval)
        assert not wrong

    @pytest.mark.parametrize("events", [3000, 10_000, 20_000])
    def test_an_interrupt_leaves_no_lock_held(
        self, events: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After so many lines and returns, none of them llvmlite's, which can't be interrupted."""
        monkeypatch.setattr(gates, "looked_at", lambda: 0)  # else the plain function runs
        line(1.0)  # LLVM is ready
        plain = eval(f"lambda x: np.sqrt(x * x + {events}) - x", {"np": np})
        f = jit(plain, cache=False)  # what lies on disk takes fewer steps
        left = events

        def trace(frame: types.FrameType, event: str, value: object) -> Any:
            nonlocal left
            assert "llvmlite" not in frame.f_code.co_filename
            if event != "call":
                left -= 1
                if not left:
                    raise KeyboardInterrupt
            return trace

        x = np.arange(4.0)
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with contextlib.suppress(KeyboardInterrupt):  # which a destructor would only report
                f(x)
        finally:
            sys.settrace(before)
        assert not left
        thread = threading.Thread(target=f, args=(x,), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
        assert f(x).tolist() == f.__wrapped__(x).tolist()


def test_conditions_on_sizes_are_told_plainly():
    def f(a, b):
        return a[1:] + b[:-1], a[2]

    told = npcompile.jit(f).explain(np.ones(4), np.ones(4)).guards
    assert "b.shape[0] >= 3" in told and "a.shape[0] == b.shape[0]" in told


class Settings:
    scale = 2.0


def test_what_is_not_none_needs_not_be_the_same_object():
    def f(x, weights=None, options=None, settings=None, then=None):
        weights = [1.0] if weights is None else weights
        options = {"by": 3.0} if options is None else options
        settings = Settings() if settings is None else settings
        x = x if then is None else then(x)
        return x * weights[0] + options["by"] * settings.scale

    g = jit(f, fullgraph=True)
    for k in range(3):
        for given in ({"weights": [k + 0.5]}, {"options": {"by": float(k)}},
                      {"settings": Settings()}, {"then": lambda x: x + 1}):
            assert np.array_equal(g(X, **given), f(X, **given))
        assert compiled(g) == 4


def test_exponents_from_arguments_have_numpys_own_functions():
    def f(x, n, scale=1.0):
        return scale * x**n

    g = jit(f, fullgraph=True)
    for n in (2, -1, 2, 3, 0, 4, 2):
        assert np.allclose(g(X + 1, n), f(X + 1, n), rtol=1e-15)
        if n in (2, -1):
            assert np.array_equal(g(X + 1, n), f(X + 1, n))
    assert compiled(g) == 3
    assert "2 operations" in str(g.explain(X, 2).kernels)


def test_short_calls_that_are_left_to_python_are_looked_at_now_and_then():
    def f(words, seen):
        seen[len(words)] = seen.get(len(words), 0) + 1
        return sorted(set(words), key=str.lower)

    g = jit(f)
    seen: dict[int, int] = {}
    words = ["b", "a", "b", "c"]
    for k in range(300):
        assert g(words[: k % 5], seen) == f(words[: k % 5], {})
    assert seen == dict.fromkeys(range(5), 60)
    assert g.cache_info() == (0, g.cache_info().refused, 300)
    forwarder = g._dispatcher.left.forwarder
    assert forwarder.left > 0
    g(words * 100_000, seen)  # a long one
    assert not forwarder.left
    for _ in range(100):
        g(words, seen)
    assert forwarder.left > 0
    with npcompile.deterministic(True), pytest.raises(npcompile.DeterminismError):
        g(words, seen)


def test_defaults_may_be_set():
    g = jit(lambda x, a=2: x * a)
    for a in (2, 5, 7):
        g.__defaults__ = (a,)
        assert g(X).tolist() == (X * a).tolist() == g(X).tolist()


def test_caches_stay_outermost():
    def f(n, k=1.0):
        return n * k + 0.5

    cached = jit(functools.lru_cache(maxsize=2, typed=True)(f))
    plain = functools.lru_cache(maxsize=2, typed=True)(f)
    for call in [(1,), (1.0,), (1,), (2, 3.0), (1,), (True,)] * 2:
        got, want = cached(*call), plain(*call)
        assert got == want and type(got) is type(want)
    assert cached(3, k=2.0) == plain(3, k=2.0)
    assert cached.cache_info() == plain.cache_info()
    assert cached.cache_parameters() == plain.cache_parameters()
    assert cached.__name__ == "f" and compiled(cached.__wrapped__)

    @jit
    @functools.cache
    def ways(n):
        return 1 if n < 2 else ways(n - 1) + ways(n - 2)

    assert ways(30) == 1346269
    assert ways.cache_info().misses == 31
