"""Debuggers, coverage and profilers see what they would see of the plain function."""

from __future__ import annotations

import cProfile
import ctypes
import gc
import mmap
import pstats
import subprocess
import sys
import threading
import trace
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core import sections
from npcompile.runtime.unsafe import gates, native_functions, raw_memory, tool_bytes


def scaled(x: Any, k: float = 2.0) -> Any:
    y = x * k
    return y + 1


FIRST = scaled.__code__.co_firstlineno


def warned(x: Any) -> Any:
    names = {type(v).__name__ for v in x}
    warnings.warn("a word", stacklevel=2)
    return names


@pytest.fixture
def compiled() -> Callable[..., Any]:
    made = jit(scaled)
    for _ in range(3):
        made(np.ones(4))
    made(np.ones(4), k=3.0)
    made(np.ones(4), k=3.0)
    assert made.cache_info().compiled >= 1
    return made


def lines(call: Callable[[], Any]) -> list[int]:
    """The lines of ``scaled`` that a trace function sees."""
    seen: list[int] = []

    def look(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is scaled.__code__ and event == "line":
            seen.append(frame.f_lineno - FIRST)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen


def test_a_trace_function_sees_lines(compiled: Any) -> None:
    x = np.ones(4)
    calls = compiled.cache_info()
    assert lines(lambda: compiled(x)) == [1, 2]
    assert lines(lambda: compiled(x, k=3.0)) == [1, 2]
    assert compiled.cache_info() == calls
    assert lines(lambda: np.testing.assert_array_equal(compiled(x), x * 2 + 1)) == [1, 2]
    assert not gates.looked_at()


def test_only_where_one_looks(compiled: Any) -> None:
    """A trace function of another thread sees that thread's calls alone, before Python 3.12."""
    begun, over = threading.Event(), threading.Event()

    def other() -> None:
        sys.settrace(lambda *_: None)
        begun.set()
        over.wait(10)
        sys.settrace(None)

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(10)
    np.testing.assert_array_equal(compiled(np.ones(4)), np.full(4, 3.0))
    assert bool(gates.looked_at()) == (sys.version_info >= (3, 12))
    over.set()
    thread.join()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 669 came with Python 3.12")
def test_sys_monitoring(compiled: Any) -> None:
    tools: Any = sys.monitoring
    seen: list[int] = []
    tools.use_tool_id(tools.COVERAGE_ID, "test")
    tools.register_callback(tools.COVERAGE_ID, tools.events.LINE, lambda code, line: (
        seen.append(line - FIRST) if code is scaled.__code__ else None))
    try:
        tools.set_events(tools.COVERAGE_ID, tools.events.LINE)
        compiled(np.ones(4))
        jit(scaled)(np.ones(4))
    finally:
        tools.set_events(tools.COVERAGE_ID, 0)
        tools.free_tool_id(tools.COVERAGE_ID)
    assert seen == [1, 2, 1, 2]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 669 came with Python 3.12")
def test_tools_that_others_take_while_ours_is_looked_for(monkeypatch: Any) -> None:
    tools: Any = sys.monitoring
    take, taken = tools.use_tool_id, []

    def late(tool: int, name: str) -> None:
        if len(taken) < 2:  # somebody else is faster
            take(tool, "debugger")
            taken.append(tool)
        take(tool, name)

    alone = tool_bytes.address()
    monkeypatch.setattr(tools, "use_tool_id", late)
    try:
        assert tool_bytes.address() == alone is not None
        assert len(taken) == 2
        assert [tools.get_tool(tool) for tool in taken] == ["debugger"] * 2
    finally:
        for tool in taken:
            tools.free_tool_id(tool)


def test_a_counter_of_lines_begins_before_or_after_compiling(compiled: Any) -> None:
    for function in (compiled, jit(scaled)):
        counter = trace.Trace(count=True, trace=False)
        counter.runfunc(function, np.ones(4))
        counts = counter.results().counts
        assert {line - FIRST for file, line in counts if file == __file__} == {1, 2}


def test_a_debugger_stops_at_breakpoints(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("""\
import numpy as np
from npcompile import jit
@jit
def scaled(x):
    y = x * 2
    return y + 1
for k in range(3):
    scaled(np.ones(3))
print("done")
""")
    done = subprocess.run(
        [sys.executable, "-m", "pdb", str(script)], capture_output=True, text=True, check=False,
        input="b 6\nc\np y\nc\nc\ncl 1\nc\nq\n",
    )
    assert done.stdout.count("-> return y + 1") == 3 and "array([2., 2., 2.])" in done.stdout


@pytest.fixture
def profile() -> Iterator[cProfile.Profile]:
    made = cProfile.Profile()
    yield made
    made.disable()


def rows(profile: cProfile.Profile) -> dict[str, int]:
    """How many calls each name has, in all."""
    found: dict[str, int] = {}
    for (_, _, name), (count, *_) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        found[name] = found.get(name, 0) + count
    return found


def test_profiles_name_the_function(compiled: Any, profile: cProfile.Profile) -> None:
    x = np.ones(4)
    before = compiled.cache_info()
    profile.enable()
    for _ in range(20):
        compiled(x)
        compiled(x, k=3.0)
    profile.disable()
    assert rows(profile)["scaled"] == 40
    assert compiled.cache_info() == before
    places = [key for key in pstats.Stats(profile).stats if key[2] == "scaled"]  # type: ignore[attr-defined]
    assert places[0][1] == FIRST and __file__ in places[0][0]


def test_warnings_and_tracebacks_under_a_profiler(profile: cProfile.Profile) -> None:
    compiled: Any = jit(scaled)
    told: Any = jit(warned)
    for _ in range(50):
        compiled(np.ones(4))
        with warnings.catch_warnings(record=True):
            told(np.ones(2))
    profile.enable()
    with pytest.raises(TypeError) as raised:
        compiled("text")
    with pytest.warns(UserWarning, match="a word") as caught:
        told(np.ones(2))
    profile.disable()
    assert [str(entry.path) for entry in raised.traceback] == [__file__] * 2
    assert caught[0].filename == __file__


def test_calls_of_themselves_and_of_each_other(profile: cProfile.Profile) -> None:
    @jit
    def down(n: int) -> int:
        return 0 if n == 0 else int(down(n - 1)) + 1

    @jit
    def above(n: int) -> int:
        return int(down(n)) * 2

    for _ in range(20):
        above(5)
    profile.enable()
    assert above(5) == 10
    profile.disable()
    assert rows(profile)["above"] == 1
    sys.settrace(lambda *_: None)
    try:
        assert above(5) == 10
    finally:
        sys.settrace(None)


def test_where_the_places_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "_places", lambda: None)
    monkeypatch.setattr(gates, "_found", [])
    gates.gate.cache_clear()
    try:
        made: Any = jit(scaled)
        assert lines(lambda: made(np.ones(4))) == [1, 2]  # a tool that began before
        for _ in range(3):
            np.testing.assert_array_equal(made(np.ones(4)), np.full(4, 3.0))
        assert made.cache_info().compiled == 1
    finally:
        gates.gate.cache_clear()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the places are found without a thread")
def test_callbacks_where_the_places_are_searched_run_the_plain_function() -> None:
    """The search has a thread of its own, for which a thread with locks waits."""
    here, elsewhere = threading.get_ident(), []
    usual = gc.get_threshold()

    def callback(phase: str, info: dict[str, Any]) -> None:
        if threading.get_ident() != here:
            elsewhere.append(sections.inside())

    gc.callbacks.append(callback)
    gc.set_threshold(1)
    try:
        sections.section(gates._functions)()
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(callback)
    assert elsewhere
    assert all(elsewhere)


def test_the_search_ends_where_memory_does() -> None:
    """Another thread may give back what lies behind the state of an interpreter."""
    size, libc = mmap.PAGESIZE, ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    rights, kind = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    start = libc.mmap(None, ctypes.c_size_t(3 * size), rights, kind, -1, ctypes.c_long(0))
    held = bytes(range(256)) * (size // 256)
    ctypes.memmove(start, held, size)
    assert libc.munmap(start + size, 2 * size) == 0
    try:
        assert raw_memory.snapshot(start, size) in (held, b"")  # nothing, where nobody may read so
        assert raw_memory.snapshot(start + 8, 3 * size)[: size - 8] in (held[8:], b"")
        assert not raw_memory.snapshot(8, 16)
    finally:
        libc.munmap(start, size)


def test_a_profile_function_calls_while_calls_for_profilers_are_imported() -> None:
    """In a process of its own, which has not imported them."""
    text = (
        "import sys\n"
        "import numpy as np\n"
        "from npcompile import jit\n"
        "made = jit(lambda x: x * 2 + 1)\n"
        "for _ in range(3):\n"
        "    made(np.ones(2))\n"
        "def look(frame, event, argument):\n"
        "    if frame.f_code.co_filename.endswith('profiled_calls.py'):\n"
        "        found.append(made(np.ones(2)).tolist())\n"
        "found = []\n"
        "sys.setprofile(look)\n"
        "last = made(np.ones(2))\n"
        "sys.setprofile(None)\n"
        "assert all(x == [3, 3] for x in [*found, last.tolist()]), found\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_calls_between_the_stores_of_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may call a function while its entries are taken out and put back."""
    compiled = jit(scaled)
    x, answers = np.arange(3.0), []
    assert compiled(x).tolist() == scaled(x).tolist()
    word = native_functions._word

    class Word:
        def __init__(self, function: Any, place: int) -> None:
            self.held = word(function, place)

        def __getitem__(self, k: int) -> Any:
            return self.held[k]

        def __setitem__(self, k: int, value: int) -> None:
            self.held[k] = value
            answers.append(compiled(x).tolist())

    entry = native_functions.installed(compiled)
    assert entry
    monkeypatch.setattr(native_functions, "_word", Word)
    for address in (0, entry, 0, entry):
        native_functions.install(compiled, address)
    assert answers and all(answer == scaled(x).tolist() for answer in answers)


SEARCHES = """
import sys, threading
import numpy as np
from npcompile import jit
from npcompile.runtime.unsafe import gates

sys.setswitchinterval(1e-6)
search, found, ready = gates._search, [], threading.Barrier(4)
gates._search = lambda: found.append(search()) or found[-1]

def work():
    ready.wait()
    places = gates._places()
    assert places is found[0] is not None, (places, found)
    assert jit(lambda x: x + 1)(np.ones(2)).tolist() == [2, 2]

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 1 and not gates.looked_at()
print("fine")
"""


def test_threads_search_one_after_the_other() -> None:
    done = subprocess.run([sys.executable, "-c", SEARCHES], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
