"""Jitted functions in pickles, in other processes, and under Dask's names."""

from __future__ import annotations

import copy
import doctest
import functools
import inspect
import io
import json
import os
import pickle
import pydoc
import signal
import subprocess
import sys
import textwrap
import time
import types
import typing
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from npcompile import Jit, jit
from npcompile.runtime.cache import filelocks
from npcompile.runtime.cache.disk import DiskCache
from npcompile.runtime.threads.processors import granted_processors

X = np.arange(4.0)
K = 3.0


@jit
def by_name(x: np.ndarray, a: float = 2.0) -> np.ndarray:
    """Scales.

    >>> by_name(np.arange(2.0)).tolist()
    [0.0, 2.0]
    """
    return x * a


def slow(x: Any) -> Any:
    return x + 1


fast = jit(slow, deterministic=True)


class Filter:
    gain = 2.0

    @jit(parallel=False)
    def apply(self, x: Any) -> Any:
        return x * self.gain

    @staticmethod
    @jit
    def twice(x: Any) -> Any:
        return x * 2


def even(x: Any, n: int) -> Any:
    return x if n == 0 else odd(x + 1, n - 1)


odd = jit(lambda x, n: even(x * 2, n - 1))
even = jit(even)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("called", [False, True])
def test_plain_pickles(protocol: int, called: bool) -> None:
    def back(thing: Any) -> Any:
        return pickle.loads(pickle.dumps(thing, protocol))

    if called:
        assert by_name(X).tolist() == (X * 2).tolist()
        assert Filter().apply(X).tolist() == (X * 2).tolist()
    assert back(by_name) is by_name
    assert back(Filter.apply) is Filter.apply
    assert back(Filter.twice) is Filter.twice
    assert back(Filter().apply)(X).tolist() == (X * 2).tolist()
    assert back(functools.partial(by_name, a=3.0))(X).tolist() == (X * 3).tolist()
    assert back([by_name, by_name]) == [by_name, by_name]
    other = back(fast)  # found by the name of the plain function, which is another one
    assert type(other) is Jit and other is not fast
    assert other.__wrapped__ is slow and other.config == fast.config
    assert other(X).tolist() == (X + 1).tolist()


@pytest.mark.parametrize("protocol", [3, 5])
def test_what_a_plain_pickle_cannot_name_is_refused(protocol: int) -> None:
    def nested(x: Any) -> Any:
        return x

    for function in (jit(nested), jit(lambda x: x), odd):
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pickle.dumps(function, protocol)


def test_copies_are_the_function_itself() -> None:
    for function in (by_name, fast, odd):
        assert copy.copy(function) is function
        assert copy.deepcopy([function])[0] is function


def test_wrappers_get_nothing_of_the_compiler() -> None:
    by_name(X)

    @functools.wraps(by_name)
    def wrapper(*args: Any) -> Any:
        return by_name(*args)

    assert set(vars(by_name)) - set(vars(wrapper)) == set()
    assert all(type(v) in (str, dict, tuple, types.FunctionType, Jit)
               for v in vars(wrapper).values())


# ------------------------------------------------------------------ as tools look at functions


def test_tools_see_the_function() -> None:
    plain = by_name.__wrapped__
    assert type(by_name) is by_name.__class__ is Jit
    assert inspect.isroutine(by_name) and callable(by_name)
    assert inspect.unwrap(by_name) is plain
    assert inspect.signature(by_name) == inspect.signature(plain)
    assert inspect.getfullargspec(by_name) == inspect.getfullargspec(plain)
    assert inspect.getsourcelines(by_name) == inspect.getsourcelines(plain)
    assert inspect.getmodule(by_name) is sys.modules[__name__]
    assert inspect.getdoc(by_name) == inspect.getdoc(plain)
    assert typing.get_type_hints(by_name) == typing.get_type_hints(plain)
    assert list(inspect.signature(Filter().apply).parameters) == ["x"]
    text = pydoc.plain(pydoc.render_doc(by_name))
    assert "by_name(x: 'np.ndarray', a: 'float' = 2.0)" in text and "Scales." in text
    with mock.patch.object(Filter, "apply", autospec=True) as stand_in:
        Filter().apply(X)
    assert stand_in.called


def test_dir_shows_the_interface() -> None:
    names = set(dir(by_name))
    assert {"explain", "lower", "cache_info", "clear_cache", "config"} <= names
    assert {"__wrapped__", "__code__", "__defaults__", "__name__"} <= names


def test_dispatch_by_type() -> None:
    @functools.singledispatch
    def area(shape: Any) -> Any:
        return "any"

    area.register(int)(jit(lambda n: n * 2))
    area.register(Jit, lambda f: "jitted")
    assert (area(3), area(by_name), area(3.0)) == (6, "jitted", "any")


def test_doctests_are_collected() -> None:
    finder = doctest.DocTestFinder()
    (found,) = finder.find(by_name, "by_name", module=sys.modules[__name__])
    said = io.StringIO()
    assert doctest.DocTestRunner().run(found, out=said.write).failed == 0, said.getvalue()
    names = [test.name for test in finder.find(sys.modules[__name__]) if test.examples]
    assert f"{__name__}.by_name" in names


# ------------------------------------------------------------------ Dask's names


def scaled(k: Any, **options: Any) -> Any:
    @jit(**options)
    def f(x: Any) -> Any:
        return x * k

    return f


def with_default(k: Any) -> Any:
    return jit(lambda x, k=k: x * k)


def with_keyword(k: Any) -> Any:
    return jit(lambda x, *, k=k: x * k)


def with_global(k: Any) -> Any:
    space = {"jit": jit, "K": k, "data": np.arange(3.0), "__name__": "__main__"}
    exec("@jit\ndef f(x): return (x * K).data", space)
    return space["f"]


def with_global_function(k: Any) -> Any:
    space = {"jit": jit, "K": k, "__name__": "__main__"}
    exec("def g(x): return x * K if x.size else f(x)\n@jit\ndef f(x): return g(x)", space)
    return space["f"]


def with_attribute(k: Any) -> Any:
    f = jit(lambda x: x)
    f.unit = k
    return f


def through_a_helper(k: Any) -> Any:
    helper = scaled(k)
    return jit(lambda x: helper(x))


VALUES = [2, 2.0, True, 3, "2", None, [1, 2], (1, 2), {1: 2}, {"a": [1]}, {1, 2}, np.float32(2),
          np.arange(3), np.arange(3.0), np.arange(4), np.dtype("f4"), np.sin, np.cos, int, len,
          functools.partial(int, base=2), functools.partial(int, base=3), slow, by_name, fast]
KINDS = [scaled, with_default, with_keyword, with_global, with_global_function, with_attribute,
         through_a_helper]


@pytest.mark.parametrize("make", KINDS)
def test_tokens_are_equal_for_equal_functions_only(make: Any) -> None:
    tokens = [make(value).__dask_tokenize__() for value in VALUES]
    assert tokens == [make(copy.deepcopy(value)).__dask_tokenize__() for value in VALUES]
    assert len(set(tokens)) == len(tokens)


def test_tokens_tell_options_and_code_apart() -> None:
    functions = [scaled(2), scaled(2, deterministic=True), scaled(2, static="x"), jit(slow), fast,
                 jit(lambda x: x + 1), jit(lambda x: x + 2), even, odd, by_name, Filter.apply]
    assert len({f.__dask_tokenize__() for f in functions}) == len(functions)
    for function in functions:
        assert function.__dask_tokenize__() == function.__dask_tokenize__()
    assert jit(slow).__dask_tokenize__() == jit(slow).__dask_tokenize__()


def test_globals_that_only_attributes_are_called_like_do_not_count() -> None:
    one, other = with_global(2), with_global(2)
    other.__globals__["data"] = np.arange(5.0)
    assert one.__dask_tokenize__() == other.__dask_tokenize__()


def test_mapped_blocks_of_two_closures() -> None:
    array = pytest.importorskip("dask.array")
    x = array.ones(4, chunks=2)
    total = x.map_blocks(scaled(2)) + x.map_blocks(scaled(3))
    assert total.compute(scheduler="threads").tolist() == [5.0] * 4
    again = x.map_blocks(scaled(2)).name
    assert again == x.map_blocks(scaled(2)).name != x.map_blocks(scaled(3)).name


# ------------------------------------------------------------------ disabled


def test_disabled_functions_keep_their_interface() -> None:
    code = textwrap.dedent("""
        import pickle, sys
        import npcompile, numpy as np
        @npcompile.jit(device="cuda")
        def f(x, a=2): return x * a
        class C:
            @npcompile.jit
            def m(self, x): return x
        assert isinstance(f, npcompile.Jit) and f.__wrapped__(3) == 6 and f(3) == f(x=3) == 6
        assert C().m(3) == 3 and C.m(self=C(), x=4) == 4
        assert f.cache_info() == (0, 0, 2), f.cache_info()
        f.clear_cache()
        assert "NPCOMPILE_DISABLE" in str(f.explain(3)), f.explain(3)
        try: f.lower(3)
        except npcompile.CompileError: pass
        else: raise AssertionError
        assert pickle.loads(pickle.dumps(f)) is f
        with npcompile.deterministic(True): f(3)
    """)
    env = {**os.environ, "NPCOMPILE_DISABLE": "1"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


# ------------------------------------------------------------------ other processes

PROGRAM = '''
import functools, json, multiprocessing, os, pickle, sys
import npcompile, numpy as np
from npcompile import jit, Jit

K = 3.0
OPTIONS = dict(static=("n",), deterministic=True, fullgraph=True, cache=True, parallel=False)

@jit
def top(a): return (a * 2).sum()

@jit(**OPTIONS)
def options(a, n=2): return a * n

def slow(a): return a + K
fast = jit(slow, deterministic=True)

@jit
def down(a, n): return a if n == 0 else down(a + 1, n - 1)

@jit
def ping(a, n): return a if n == 0 else pong(a + 1, n - 1)
@jit
def pong(a, n): return a if n == 0 else ping(a * 2, n - 1)

class Model:
    def __init__(self): self.w = 2.0
    @jit
    def apply(self, a): return a * self.w
    @staticmethod
    @jit
    def twice(a): return a * 2
    @classmethod
    @jit
    def named(cls, a): return a + len(cls.__name__)

class Child(Model):
    @jit
    def apply(self, a): return super().apply(a) + 1

def closure(k):
    @jit
    def f(a): return a * k
    return f

def recursive_closure():
    @jit
    def f(a, n): return a if n == 0 else f(a + 1, n - 1)
    return f

@jit
def noted(a): return a - 1
noted.unit = "m"
noted.__wrapped__.table = {"a": 1}

@functools.wraps(top)
def wrapper(a): return top(a) + 1

alone = {"jit": jit, "np": np, "__name__": "__main__"}  # as a notebook has it: no file
exec("""
@jit
def f(a):
    'a cell'
    return g(a) * L
@jit
def g(a): return a + 1
L = 4.0
""", alone)

A = np.arange(3.0)
CASES = {
    "top": (top, (A,)), "options": (options, (A,)), "fast": (fast, (A,)), "down": (down, (A, 3)),
    "ping": (ping, (A, 5)), "method": (Model().apply, (A,)), "static": (Model.twice, (A,)),
    "class": (Model().named, (A,)), "child": (Child().apply, (A,)), "closure": (closure(5), (A,)),
    "recursive": (recursive_closure(), (A, 3)), "noted": (noted, (A,)), "wrapper": (wrapper, (A,)),
    "partial": (functools.partial(options, n=5), (A,)), "notebook": (alone["f"], (A,)),
    "lambda": (jit(lambda a: a + 2), (A,)),
}

def inside(thing):
    for name in ("func", "__func__", "__wrapped__"):
        if not isinstance(thing, Jit) and hasattr(thing, name):
            return inside(getattr(thing, name))
    return thing

def work(item):
    """Calls a function twice; tells results and whether it is compiled."""
    function, args = item
    results = [np.asarray(function(*args)).tolist() for _ in range(2)]
    made = inside(function)
    kind = "Jit" if isinstance(made, Jit) else type(made).__name__
    return results[0] if results[0] == results[1] else results, kind

REFERENCE = ("top", "options", "fast", "down", "ping", "method", "static", "class", "child",
             "noted", "partial")

BIG = np.arange(1e5)  # joblib maps more than a megabyte into memory

@jit
def many(a):
    b = a * 2
    for k in range(20):
        b = np.sqrt(b * b + k) - np.sin(b) * a.sum()
    return b

def threads(_):
    """The threads that calls may have, as Python and as machine code see them."""
    many(BIG)
    from npcompile.runtime.threads import pool
    return npcompile.get_num_threads(), pool._pool().limit[0], pool.running_threads()

def laps(path):
    """Compiles when all others do; the steps that it took."""
    import time
    f = jit(many.__wrapped__)
    while not os.path.exists(path):
        time.sleep(1e-3)
    f(np.arange(5))
    return list(f._dispatcher.versions[0].executable.times)

def told(report, name, make):
    try:
        report[name] = make()
    except Exception as error:
        report[name] = f"{type(error).__name__}: {error}"

def main(report):
    report["identity"] = pickle.loads(pickle.dumps(top)) is top
    for method in ("spawn", "fork", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            told(report, method, lambda: dict(zip(REFERENCE, pool.map(
                work, [CASES[name] for name in REFERENCE], chunksize=4))))
    here = threads(0)
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        report["threads fork"] = here, pool.map(threads, range(3), chunksize=1)
        asked = pool.map_async(laps, ["go"] * 3, chunksize=1)
        open("go", "w").close()
        report["laps"] = asked.get()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        report["threads spawn"] = here, pool.map(threads, range(1))
    import joblib
    run = joblib.Parallel(2, backend="loky")
    report["threads loky"] = here, run(joblib.delayed(threads)(k) for k in range(2))
    report["share"] = max(joblib.cpu_count() // 2, 1)
    with joblib.parallel_config("loky", inner_max_num_threads=2):
        run = joblib.Parallel(2)
        report["threads inner"] = here, run(joblib.delayed(threads)(k) for k in range(2))
    for backend, names in (("loky", CASES), ("multiprocessing", REFERENCE)):
        run = joblib.Parallel(2, backend=backend)
        told(report, backend, lambda: dict(zip(names, run(
            joblib.delayed(work)(CASES[name]) for name in names))))
        told(report, backend + " itself", lambda: [float(v) for v in run(
            joblib.delayed(top)(np.arange(n)) for n in range(4))])
    import cloudpickle  # which puts other functions into classes that it reads
    for when in ("before", "after"):
        for name, item in CASES.items():
            told(report, f"cloudpickle {when} {name}",
                 lambda: work(cloudpickle.loads(cloudpickle.dumps(item))))
        for name, item in CASES.items():
            told(report, f"here {name}", lambda: work(item))
    one, other = cloudpickle.loads(cloudpickle.dumps((noted, options)))
    report["attributes"] = [one.unit, one.table, one.__name__, one.__qualname__, one.__module__,
                            one.__wrapped__.__qualname__, other.config == options.config]
    f = cloudpickle.loads(cloudpickle.dumps(alone["f"]))
    report["doc"] = [f.__doc__, f.__name__]
    report["globals shared"] = (lambda p, q: p.__globals__["pong"] is q)(
        *cloudpickle.loads(cloudpickle.dumps((ping, pong))))

if __name__ == "__main__":
    report = {}
    main(report)
    json.dump(report, open(sys.argv[1], "w"))
'''

WANT = {
    "top": 6.0, "options": [0.0, 2.0, 4.0], "fast": [3.0, 4.0, 5.0], "down": [3.0, 4.0, 5.0],
    "ping": [7.0, 11.0, 15.0], "method": [0.0, 2.0, 4.0], "static": [0.0, 2.0, 4.0],
    "class": [5.0, 6.0, 7.0], "child": [1.0, 3.0, 5.0], "closure": [0.0, 5.0, 10.0],
    "recursive": [3.0, 4.0, 5.0], "noted": [-1.0, 0.0, 1.0], "wrapper": 7.0,
    "partial": [0.0, 5.0, 10.0], "notebook": [4.0, 8.0, 12.0], "lambda": [2.0, 3.0, 4.0],
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("cloudpickle")
    pytest.importorskip("joblib")
    home: Path = tmp_path_factory.mktemp("program")
    (home / "program.py").write_text(PROGRAM)
    left_out = ("OMP_NUM_THREADS", "NPCOMPILE_NUM_THREADS")
    env = {**{k: v for k, v in os.environ.items() if k not in left_out},
           "NPCOMPILE_CACHE_DIR": str(home / "cache"),
           "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path[1:]])}
    command = [sys.executable, "program.py", "report.json"]
    subprocess.run(command, cwd=home, env=env, check=True, timeout=300)
    found: dict[str, Any] = json.loads((home / "report.json").read_text())
    return found


@pytest.mark.parametrize("name", WANT)
def test_by_value(report: dict[str, Any], name: str) -> None:
    for where in (f"cloudpickle before {name}", f"cloudpickle after {name}", f"here {name}"):
        assert report[where] == [WANT[name], "Jit"], where


def test_by_value_keeps_attributes_and_identity(report: dict[str, Any]) -> None:
    assert report["attributes"] == [
        "m", {"a": 1}, "noted", "noted", "__main__", "noted", True]
    assert report["doc"] == ["a cell", "f"]
    assert report["globals shared"] and report["identity"]


@pytest.mark.parametrize("where", ["spawn", "fork", "forkserver", "loky", "multiprocessing"])
def test_in_other_processes(report: dict[str, Any], where: str) -> None:
    assert not isinstance(report[where], str), report[where]
    for name, got in report[where].items():
        assert got == [WANT[name], "Jit"], name
    if where in ("loky", "multiprocessing"):
        assert report[f"{where} itself"] == [0.0, 0.0, 2.0, 6.0]


def test_workers_take_their_share_of_the_processors(report: dict[str, Any]) -> None:
    granted = granted_processors()
    for where in ("fork", "spawn"):
        here, there = report[f"threads {where}"]
        assert here[:2] == [granted, granted]
        assert there == [[1, 1, 1]] * len(there)
    for where, wanted in (("loky", report["share"]), ("inner", 2)):
        for threads in report[f"threads {where}"][1]:
            assert threads[:2] == [min(granted, wanted)] * 2


def test_processes_compile_once(report: dict[str, Any]) -> None:
    kinds = sorted("trace" in laps for laps in report["laps"])
    assert kinds == [False, False, True], report["laps"]


# ------------------------------------------------------------------ locks of files


def test_a_lock_is_free_again(tmp_path: Path) -> None:
    made = DiskCache(tmp_path / "cache")
    for _ in range(2):
        with made.making(b"key") as waited:
            assert not waited
            with made.making(b"key") as again, made.making(b"other") as other:
                assert not again and not other
    assert os.listdir(tmp_path / "cache") == []
    with pytest.raises(KeyError), made.making(b"key"):
        raise KeyError
    assert os.listdir(tmp_path / "cache") == []


@pytest.mark.parametrize("ends", ["killed", "done", "never"])
def test_waiting_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """It is over when the other process is done or dead, and in any case after some time."""
    monkeypatch.setattr(filelocks, "PATIENCE", 30.0 if ends != "never" else 0.1)
    made = DiskCache(tmp_path / "cache")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with made.making(b"key"):
            os.write(write, b"!")
            time.sleep(0.1 if ends == "done" else 60)
        os._exit(0)
    os.read(read, 1)
    begun = time.monotonic()
    if ends == "killed":
        os.kill(child, signal.SIGKILL)
    with made.making(b"key") as waited:
        assert waited or ends == "killed"  # the kernel may have been faster
    assert time.monotonic() - begun < 20
    if ends == "never":
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with made.making(b"key") as waited:
        assert not waited


def test_folders_that_cannot_be_used_make_nobody_wait(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with DiskCache(tmp_path / "file").making(b"key") as waited:
        assert not waited
