"""Nested functions that are made again take over what was compiled for the ones before."""

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

from npcompile import jit
from npcompile.core import logs
from npcompile.runtime.versions import closure_cache
from npcompile.runtime.versions.served import Served
from npcompile.runtime.versions.version import HEIRLOOMS

X = np.arange(5.0)


def scaled(k):
    @jit
    def inner(x, add=1):
        return x * k + add

    return inner


def test_versions_are_taken_over():
    first = scaled(2.0)
    assert (first(X) == X * 2.0 + 1).all()
    version = first._dispatcher.versions[0]
    del first
    second = scaled(3.0)
    for _ in range(3):
        assert (second(X) == X * 3.0 + 1).all()
    assert second._dispatcher.versions[0] is version
    assert not version.adrift  # its entry is called directly again


def test_living_functions_keep_their_own():
    functions = [scaled(float(k)) for k in range(4)]
    for _ in range(2):
        for k, f in enumerate(functions):
            assert (f(X) == X * k + 1).all()
    assert len({id(f._dispatcher) for f in functions}) == 4


def test_contents_of_other_types():
    contents = [2.0, 3, X.copy(), np.arange(5), X[::-1], "text", None, 2j, 4.0, X + 1, True, 5]
    for content in contents * 2:
        made = scaled(content)
        plain = made.__wrapped__
        for _ in range(2):
            try:
                want, error = plain(X), None
            except TypeError as raised:
                want, error = None, raised
            try:
                got = made(X)
            except TypeError as raised:
                assert str(raised) == str(error)
            else:
                assert error is None
                assert got.dtype == want.dtype
                assert (got == want).all()


def test_defaults_and_keywords_are_those_of_the_new_function():
    def make(k):
        @jit
        def inner(x, add=k, *, times=2 * k):
            return (x + add) * times

        return inner

    for k in (1.0, 2.0, 3, 4.0):
        assert (make(k)(X) == (X + k) * (2 * k)).all()
        assert (make(k)(X, times=1) == X + k).all()


def test_captured_arrays_are_written_and_let_go():
    def make(store):
        @jit
        def inner(x):
            store[:] += x
            return store.sum()

        return inner

    for k in range(4):
        store = np.full(5, float(k))
        assert make(store)(X) == (k + X).sum()
        assert (store == k + X).all()
    seen = weakref.ref(store)
    del store
    gc.collect()
    assert seen() is None


def test_captured_functions():
    def make(f):
        @jit
        def inner(x):
            return f(x).sum()

        return inner

    def shifted(k):
        return lambda x: x + k

    for k in (1.0, 2.0, 3):
        assert make(shifted(k))(X) == (X + k).sum()
        assert make(np.sqrt)(X) == np.sqrt(X).sum()
        assert make(scaled(k))(X) == (X * k + 1).sum()


def test_recursive_and_changed_cells():
    def make(k):
        @jit
        def inner(n, x):
            nonlocal k
            k = k + 1
            return x * k if n <= 0 else inner(n - 1, x)

        return inner

    for k in (0, 5, 2.5):
        f = make(k)
        assert (f(0, X) == X * (k + 1)).all()
        assert (f(2, X) == X * (k + 4)).all()


def test_regions_are_taken_over(capsys):
    def make(k):
        @jit
        def inner(x):
            y = np.sort(x * k)
            for i in range(40):
                y[i % 5] += np.sqrt(y[i % 5])
            with open("/dev/null") as file:
                file.read()
            for i in range(40):
                y[i % 5] += k
            return y

        return inner

    for k in (1.0, 2.0, 3.0):
        f = make(k)
        assert (f(X) == f.__wrapped__(X)).all()


def test_refusals_are_taken_over(monkeypatch):
    def make(k):
        @jit
        def inner(x):
            return {k, x.sum()}

        return inner

    assert make(1.0)(X) == {1.0, 10.0}
    told = []
    monkeypatch.setattr(logs, "log", lambda topic, text: told.append(topic))
    f = make(2.0)
    assert f(X) == {2.0, 10.0}
    assert f.cache_info().fallbacks == 1
    assert "trace" not in told


def test_threads_that_make_functions():
    wrong = []

    def work(seed):
        made = (float(seed + k) for k in range(40))
        wrong.extend(k for k in made if not (scaled(k)(X) == X * k + 1).all())

    threads = [threading.Thread(target=work, args=(100 * s,)) for s in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_few_are_kept():
    for k in range(closure_cache.LIMIT + 9):
        space = {"jit": jit}
        exec(f"def outer():\n    @jit\n    def f(x): return [x, {{{k}}}]\n    return f", space)
        space["outer"]()(1)
    assert len(closure_cache._left) <= closure_cache.LIMIT


def test_reading_a_version_takes_memory_for_that_alone():
    @jit
    def f(x):
        return x * 1.25 - 0.5

    f(X)
    again = jit(f.__wrapped__)
    tracemalloc.start()
    try:
        again(X)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_few_versions_are_taken_over(monkeypatch):
    """Versions of earlier closures do not use up the number that a function may have."""
    monkeypatch.setattr(Served, "limit", HEIRLOOMS + 2)
    for k in range(HEIRLOOMS + 6):
        made = jit(lambda x, k=k: x * k, static=("k",), fullgraph=True, cache=False)
        assert (made(X) == X * k).all()
        del made


def test_what_is_refused_of_one_builtin_is_not_of_the_next():
    def made(function):
        def f(x):
            return function(x)

        return jit(f)

    x = np.arange(1.0, 4.0)
    for function in (np.invert, np.ceil, np.negative):
        for _ in range(3):
            if function is np.invert:
                with pytest.raises(TypeError):
                    made(function)(x)
                continue
            compiled = made(function)
            assert compiled(x).tolist() == function(x).tolist()
            assert compiled.cache_info().fallbacks == 0
