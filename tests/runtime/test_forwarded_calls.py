"""Calls that are left to Python go straight to the plain function after a while."""

import subprocess
import sys
import threading
import traceback
from collections import Counter

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.runtime.versions import forwarding
from npcompile.runtime.versions.forwarding import PATIENCE, UNSEEN
from npcompile.runtime.versions.tiering import FASTER
from tests.support import oracle

X = np.arange(6.0)


def joined(first, second="b", /, third="c", *, last=""):
    if first is None:
        raise ValueError("nothing")
    return "".join(sorted(set(first + second + third + last)))


def settle(function, *args):
    """Calls a function until its next calls are forwarded."""
    for _ in range(50 * PATIENCE):
        assert function(*args) == function.__wrapped__(*args)
        if function._dispatcher.left.forwarder and function._dispatcher.left.forwarder.left:
            return
    raise AssertionError("every call is looked at")


def settled(function, *args):
    made = jit(function)
    settle(made, *args)
    return made


def test_arguments_and_exceptions_are_pythons():
    g = settled(joined, "ba")
    before = g.cache_info().fallbacks
    for k in range(3 * UNSEEN):
        args = [("ba",), ("xy", "q"), ("xy", "q", "r"), (), (None,), ("a", "b", "c", "d")][k % 6]
        kwargs = [{}, {"third": "z"}, {"last": "l"}, {"second": "s"}, {"more": 1}][k % 5]
        want = oracle.observe(joined, *args, **kwargs)
        oracle.check(oracle.observe(g, *args, **kwargs), want)
        before += not isinstance(want.error, TypeError)
    assert g.cache_info().fallbacks >= before  # misfits are not counted where they are looked at


def test_tracebacks_have_no_frames_of_ours():
    g = settled(joined, "ba")
    try:
        g(None)
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
    assert [frame.name for frame in frames] == [
        "test_tracebacks_have_no_frames_of_ours", "joined"]


def test_calls_that_raise_are_forwarded():
    g = jit(lambda d: d["b"])
    for _ in range(2 * PATIENCE):
        with pytest.raises(KeyError, match="b"):
            g({"a": 1.0})
    assert g._dispatcher.left.forwarder.left
    assert g({"b": 2.0}) == 2.0


def test_other_calls_are_compiled_still():
    def f(x):
        return {1, 2} if isinstance(x, str) else x * 2

    g = settled(f, "a")
    for k in range(UNSEEN):  # four calls each: some are looked at, whatever was forwarded before
        assert g("a") == {1, 2}
        assert g(X + k).tolist() == (2 * (X + k)).tolist()
        assert g(x="a") == {1, 2}
        assert g(x=X).tolist() == (2 * X).tolist()
    assert g.cache_info().compiled >= 1
    assert g.cache_info().fallbacks >= 200


def test_a_long_call_is_looked_at():
    g = settled(lambda words: sorted(set(words), key=str.lower), ["b", "a"])
    forwarder = g._dispatcher.left.forwarder
    g(["b", "a"] * 100_000)
    assert not forwarder.left
    settle(g, ["b", "a"])


def test_counts_and_modes():
    g = settled(joined, "ba")
    before = g.cache_info().fallbacks
    with npcompile.deterministic(True), pytest.raises(npcompile.DeterminismError):
        g("ba")
    assert not g._dispatcher.left.forwarder.left
    for _ in range(100):
        g("ba")
    assert before + 100 <= g.cache_info().fallbacks <= before + 101
    g.clear_cache()
    assert g.cache_info() == (0, 0, 0)
    assert g("ba") == "abc"


def test_methods():
    class Words:
        def __init__(self):
            self.seen = Counter()

        @jit
        def note(self, word, times=1):
            self.seen[word] += times
            return self.seen.most_common(1)

    words = Words()
    for k in range(300):
        assert words.note("a")[0] == ("a", 2 * k + 1)
        Words.note(words, word="a")
    assert words.seen == {"a": 600}


def test_threads():
    g = settled(joined, "ba")
    wrong = []

    def run():
        wrong.extend(k for k in range(2000) if g("ba", "q") != joined("ba", "q"))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_that_are_the_first():
    """Each has its calls left to Python at once, and loads the code that forwards them."""
    program = """
import threading, time
from npcompile import jit

@jit
def f(held, numbers, x):
    held["a"] = x
    return held["a"] + numbers[0]

def calls():
    while not done:
        f(held, numbers, 1.5)

done, held, numbers = False, {"a": 0.0}, [1.0]
threads = [threading.Thread(target=calls) for _ in range(2)]
for thread in threads:
    thread.start()
time.sleep(2.0)
done = True
for thread in threads:
    thread.join()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_another_thread_withdraws_what_is_about_to_be_granted(monkeypatch):
    g = settled(joined, "ba")
    taker = g._dispatcher.left.forwarder

    def rate():
        taker.withdraw()  # as a call does that is not left to Python
        return 1e9

    monkeypatch.setattr(forwarding._machine(), "rate", rate)
    for _ in range(3 * UNSEEN):
        assert g("ba") == joined("ba")


def test_nested_functions_are_forwarded_anew():
    def make(k):
        @jit
        def f(words):
            return {k, *words}

        return f

    for k in range(5):
        f = make(k)
        assert all(f("ab") == {k, "a", "b"} for _ in range(100))


def test_graph_breaks_are_tried():
    def f(x):
        return len(set(x.tolist()))

    def g(n):
        seen, queue = np.zeros(n, bool), [0]
        while queue:
            u = queue.pop(0)
            for v in np.nonzero(np.arange(n) % (u + 2) == 1)[0]:
                if not seen[v]:
                    seen[v] = True
                    queue.append(v)
        return seen

    many = np.arange(3000.0)  # what comes before the graph break is heavy
    compiled = jit(f), jit(g)
    for k in range(60):
        assert compiled[0](many // (k + 1)) == f(many // (k + 1))
        assert (compiled[1](10 + k % 3) == g(10 + k % 3)).all()
    assert all(made.cache_info().fallbacks for made in compiled)
    # its graph breaks are timed beside Python, or do so little between them that nobody looks at
    # the time
    assert FASTER in str(compiled[1].explain()) or compiled[1].cache_info().refused
    after = compiled[1]._dispatcher.regions.continuations.values()
    assert all(len(rest.versions) <= rest.served.limit < 10 for rest in after)
