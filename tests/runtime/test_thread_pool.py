"""The thread pool: every index once, by whoever; floating-point state; fork; exit."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from npcompile import passes
from npcompile.backends.cpu.kernels.kernel_functions import PARALLEL_WORK, weight
from npcompile.backends.cpu.loader.compile import Loaded, compile, load
from npcompile.backends.cpu.loader.symbols import resolve
from npcompile.backends.cpu.parallel.parallel_cost import LIGHT, Company
from npcompile.backends.target import here
from npcompile.core.config import Config
from npcompile.program.ir import Kernel, RoutineCall
from npcompile.runtime.threads import pool, processors
from npcompile.schedule import schedule
from npcompile.tracing.retries import trace

PARTS = """
declare void @npc_pool_run(ptr, ptr, i64, i64, i64)
declare void @npc.fp.save(ptr)

; frame: array of counters
define void @mark(ptr %frame, i64 %begin, i64 %end) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %p = getelementptr i64, ptr %frame, i64 %i
  atomicrmw add ptr %p, i64 1 monotonic
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}

; the same, each part split again
define void @nested(ptr %frame, i64 %begin, i64 %end) {
  %p = getelementptr i64, ptr %frame, i64 %begin
  %n = sub i64 %end, %begin
  call void @npc_pool_run(ptr @mark, ptr %p, i64 %n, i64 1, i64 16)
  ret void
}

; frame: doubles a[n], b[n], and the control bits of each index at b + n
define void @divide(ptr %frame, i64 %begin, i64 %end) {
entry:
  %bits = alloca i32
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %p = getelementptr [3 x double], ptr %frame, i64 %i
  %q = getelementptr double, ptr %p, i64 1
  %r = getelementptr double, ptr %p, i64 2
  %a = load volatile double, ptr %p
  %b = load volatile double, ptr %q
  %c = fdiv double %a, %b
  store volatile double %c, ptr %p
  call void @npc.fp.save(ptr %bits)
  %now = load i32, ptr %bits
  %wide = zext i32 %now to i64
  store i64 %wide, ptr %r
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}

; frame: how many of 16 indices others have done; the first ones wait for all of them, for a while
define void @last(ptr %frame, i64 %begin, i64 %end) {
entry:
  %first = icmp eq i64 %begin, 0
  br i1 %first, label %look, label %count
count:
  %mine = sub i64 %end, %begin
  atomicrmw add ptr %frame, i64 %mine release
  ret void
look:
  %others = sub i64 16, %end
  br label %wait
wait:
  %turn = phi i64 [ 0, %look ], [ %next, %wait ]
  call i32 @sched_yield()
  %seen = load atomic i64, ptr %frame acquire, align 8
  %less = icmp slt i64 %seen, %others
  %next = add i64 %turn, 1
  %patient = icmp slt i64 %next, 10000000
  %more = and i1 %less, %patient
  br i1 %more, label %wait, label %done
done:
  %found = getelementptr i64, ptr %frame, i64 1
  store i64 %seen, ptr %found
  ret void
}
declare i32 @sched_yield()

define i32 @run_with(i32 %control, ptr %fn, ptr %frame, i64 %n) {
  %p = alloca i32
  %old = alloca i32
  call void @npc.fp.save(ptr %old)
  store i32 %control, ptr %p
  call void @npc.fp.restore(ptr %p)
  call void @npc_pool_run(ptr %fn, ptr %frame, i64 %n, i64 1, i64 16)
  call void @npc.fp.save(ptr %p)
  %after = load i32, ptr %p
  call void @npc.fp.restore(ptr %old)
  ret i32 %after
}
declare void @npc.fp.restore(ptr)
"""

pytestmark = pytest.mark.skipif(not pool.supported(), reason="no worker threads here")


@pytest.fixture(scope="module")
def parts() -> Loaded:
    pool.ensure()
    return load(compile(PARTS))


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    before = pool.get_num_threads()
    pool.ensure()
    pool.set_num_threads(4)
    yield
    pool.set_num_threads(before)


def run(function: int, frame: np.ndarray, n: int, grain: int, pieces: int = 16) -> None:
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3)
    prototype(resolve("npc_pool_run"))(function, frame.ctypes.data, n, grain, pieces)


@settings(max_examples=60)
@given(n=st.integers(-1, 3000), grain=st.integers(0, 4000), threads=st.integers(1, 5),
       pieces=st.integers(1, 40))
def test_every_index_once(parts: Loaded, n: int, grain: int, threads: int, pieces: int) -> None:
    pool.set_num_threads(threads)
    for name in ("mark", "nested"):
        counts = np.zeros(3000, np.int64)
        run(parts[name], counts, n, grain, pieces)
        assert (counts == (np.arange(3000) < n)).all()


def test_pieces_are_multiples_of_the_grain(parts: Loaded) -> None:
    begins: list[tuple[int, int]] = []
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    note = prototype(lambda frame, begin, end: begins.append((begin, end)))
    address = ctypes.cast(note, ctypes.c_void_p).value
    assert address is not None
    cases = {(1000, 0): 256, (1000, 7): 252, (10, 1): 3, (5, 1): 2, (100, 60): 60}
    for (n, grain), part in cases.items():
        for pieces, each in ((1, 1), (8, 2), (11, 2), (16, 4)):
            begins.clear()
            run(address, np.zeros(1), n, grain, pieces)
            expected = []
            for first in range(0, n, part):
                count, unit = min(part, n - first), grain or 64
                edges = [(count - (count >> k)) // unit * unit for k in range(each)] + [count]
                expected += [(first + a, first + b) for a, b in pairwise(edges) if a < b]
            assert sorted(begins) == expected


def test_many_jobs_in_a_row_and_after_graph_breaks(parts: Loaded) -> None:
    counts = np.zeros(500, np.int64)
    for i in range(2000):
        run(parts["mark"], counts, 500, 1)
        if i % 100 == 0:
            time.sleep(0.0005)
    assert (counts == 2000).all()


def test_a_worker_takes_what_is_left_of_a_busy_thread_s_part(parts: Loaded) -> None:
    pool.set_num_threads(2)
    for _ in range(20):
        seen = np.zeros(2, np.int64)
        run(parts["last"], seen, 16, 1)
        assert seen[1] == 12


def test_other_python_threads_run_serially_or_in_turn(parts: Loaded) -> None:
    counts = np.zeros((4, 4000), np.int64)

    def work(row: np.ndarray) -> None:
        for _ in range(300):
            run(parts["mark"], row, row.size, 1)

    threads = [threading.Thread(target=work, args=(row,)) for row in counts]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (counts == 300).all()


@pytest.mark.parametrize("rounding", range(4))
def test_floating_point_state_travels(parts: Loaded, rounding: int) -> None:
    call = ctypes.CFUNCTYPE(
        ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
    )(parts["run_with"])
    control = 0x1F80 | rounding << 13 if here().name == "x86-64" else rounding << 22
    rows = np.ones((400, 3))
    for _ in range(20):
        rows[:, :2] = 2.0, 1.0
        assert call(control, parts["divide"], rows.ctypes.data, 400) == control
        rows[:, :2] = 1.0, 2.0
        rows[390, 1] = 0.0  # in the last part
        assert call(control, parts["divide"], rows.ctypes.data, 400) == control | 4
        rows[:, :2] = 1.0, 3.0
        assert call(control, parts["divide"], rows.ctypes.data, 400) == control | 32
        seen = rows[:, 2].view(np.int64) & ~63
        assert (seen == control).all() and (rows[:, 0] == rows[0, 0]).all()


def test_fork_starts_afresh(parts: Loaded) -> None:
    counts = np.zeros(1000, np.int64)
    run(parts["mark"], counts, 1000, 1)
    assert pool.running_threads() >= 4
    child = os.fork()
    if child == 0:
        before = pool.running_threads()
        run(parts["mark"], counts, 1000, 1)
        fine = before == 1 and pool.running_threads() >= 2 and (counts == 2).all()
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    run(parts["mark"], counts, 1000, 1)
    assert (counts == 2).all() and pool.running_threads() >= 4


@pytest.mark.filterwarnings("ignore:This process")
def test_fork_while_the_pool_is_in_use(parts: Loaded) -> None:
    counts = np.zeros((2, 100_000), np.int64)
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            run(parts["mark"], counts[0], 100_000, 1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                run(parts["mark"], counts[1], 1000, 1)
                os._exit(0 if counts[1].sum() == 1000 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        thread.join()


def test_stop_and_start(parts: Loaded) -> None:
    counts = np.zeros(1000, np.int64)
    for i in range(5):
        run(parts["mark"], counts, 1000, 1)
        assert pool.running_threads() >= 4
        assert pool.stop() and pool.running_threads() == 1
        assert (counts == i + 1).all()


EXIT = """
import ctypes, threading, numpy as np
from npcompile.runtime.threads import pool
from tests.runtime.test_thread_pool import PARTS, compile, load, run
pool.ensure()
parts = load(compile(PARTS))
counts = np.zeros(100000, np.int64)
run(parts["mark"], counts, 1000, 1)
assert pool.running_threads() == 3, pool.running_threads()
def forever():
    while True:
        run(parts["mark"], counts, 100000, 1)
threading.Thread(target=forever, daemon=True).start()
"""


def test_exit_is_clean_and_the_environment_counts() -> None:
    environment = {**os.environ, "NPCOMPILE_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", EXIT], env=environment, timeout=60)
    assert done.returncode == 0


def test_bad_counts_are_refused() -> None:
    for count in (0, -1, pool.MAX_THREADS + 1):
        with pytest.raises(ValueError, match="number of threads"):
            pool.set_num_threads(count)


def test_control_group_quotas(tmp_path: Path) -> None:
    v2 = tmp_path / "two"
    (v2 / "a/b").mkdir(parents=True)
    (v2 / "a/cpu.max").write_text("150000 100000\n")
    (v2 / "a/b/cpu.max").write_text("max 100000\n")
    assert processors._quotas("0::/a/b\n", str(v2)) == [2]
    v1 = tmp_path / "one"
    (v1 / "cpu,cpuacct/box").mkdir(parents=True)
    (v1 / "cpu,cpuacct/box/cpu.cfs_quota_us").write_text("300000\n")
    (v1 / "cpu,cpuacct/box/cpu.cfs_period_us").write_text("100000\n")
    (v1 / "cpu,cpuacct/cpu.cfs_quota_us").write_text("-1\n")
    (v1 / "cpu,cpuacct/cpu.cfs_period_us").write_text("100000\n")
    assert processors._quotas("4:memory:/box\n3:cpu,cpuacct:/box\n", str(v1)) == [3]
    assert processors._quotas("0::/\n", str(tmp_path / "none")) == []
    assert 1 <= processors.granted_processors() <= (os.cpu_count() or 1)


def workers() -> list[int]:
    """The threads that only the pool has."""
    known = {thread.native_id for thread in threading.enumerate()}
    return [int(t) for t in os.listdir("/proc/self/task") if int(t) not in known]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_workers_keep_off_the_processor_of_the_caller(parts: Loaded) -> None:
    counts = np.zeros(1000, np.int64)
    allowed = os.sched_getaffinity(0)
    first, second = sorted(allowed)[:2]
    pool.stop()
    others = set(workers())
    run(parts["mark"], counts, 1000, 1)
    own = [t for t in workers() if t not in others]
    assert len(own) == 3
    deadline = time.monotonic() + 10
    while any(os.sched_getaffinity(t) == allowed for t in own):  # until each has begun
        assert time.monotonic() < deadline
        run(parts["mark"], counts, 1000, 1)
    try:
        for here in (first, second, first):
            os.sched_setaffinity(0, {here})
            run(parts["mark"], counts, 1000, 1)
            assert all(os.sched_getaffinity(t) == allowed - {here} for t in own)
        os.sched_setaffinity(own[0], allowed)  # somebody else's choice stays
        os.sched_setaffinity(0, {second})
        run(parts["mark"], counts, 1000, 1)
        assert os.sched_getaffinity(own[0]) == allowed
        assert all(os.sched_getaffinity(t) == allowed - {second} for t in own[1:])
    finally:
        os.sched_setaffinity(0, allowed)
        pool.stop()


@pytest.mark.parametrize("heavy", [False, True])
def test_what_one_thread_reads_next_is_divided_only_if_it_is_much_work(heavy: bool) -> None:
    if not pool.supported():
        pytest.skip("no threads here")

    def light_product(a, b, m):
        return (a * b) @ m

    def heavy_product(a, b, m):
        return (np.exp(a) * np.sin(b)) @ m

    function = heavy_product if heavy else light_product
    rng = np.random.default_rng(0)
    a, b, m = rng.random((600, 600)), rng.random((600, 600)), rng.random((600, 1))
    before = pool.get_num_threads()
    pool.set_num_threads(2)
    try:
        compiled = npcompile.jit(function, fullgraph=True)
        compiled(a, b, m)
        assert pool.stop()
        got = compiled(a, b, m)
        assert pool.running_threads() == (2 if heavy else 1)
        np.testing.assert_allclose(got, function(a, b, m), rtol=1e-13)
    finally:
        pool.set_num_threads(before)


def test_kernels_that_hand_arrays_to_each_other_are_divided_together() -> None:
    def shifted(best, by):
        best[by:] = np.maximum(best[by:], best[:-by] + 1)
        return best

    graph = trace(shifted, {"best": np.arange(9), "by": 2}, Config()).graph
    program = schedule(passes.run(graph))
    kernels = [s for s in program.body if isinstance(s, Kernel) and s.axes]
    light, heavy = sorted(kernels, key=weight)
    assert 1 < weight(light) < weight(heavy) <= LIGHT
    together = Company(program)
    assert together.weighed(light) == together.weighed(heavy) == (weight(heavy), PARALLEL_WORK)


def test_kernels_around_errors_that_are_ignored_are_divided() -> None:
    def ratio(a, b):
        with np.errstate(divide="ignore"):
            found = a / b
        return found / (b + 1)

    graph = trace(ratio, {"a": np.ones(9), "b": np.ones(9)}, Config()).graph
    program = schedule(passes.run(graph))
    assert any(isinstance(s, RoutineCall) for s in program.body)
    found = [s for s in program.body if isinstance(s, Kernel) and s.axes]
    assert [Company(program).weighed(s)[1] for s in found] == [PARALLEL_WORK] * 2


def test_sums_of_what_a_library_has_made_are_divided_only_if_they_are_much_work() -> None:
    if not pool.supported():
        pytest.skip("no threads here")

    def mean_of_sorted(x):
        return np.sort(x).mean()

    before = pool.get_num_threads()
    pool.set_num_threads(2)
    try:
        compiled = npcompile.jit(mean_of_sorted, fullgraph=True)
        x = np.random.default_rng(0).random(300_000)
        compiled(x)
        assert pool.stop()
        assert compiled(x) == mean_of_sorted(x)
        assert pool.running_threads() == 1
        x = np.random.default_rng(0).random(3_000_000)
        assert compiled(x) == mean_of_sorted(x)
        assert pool.running_threads() == 2
    finally:
        pool.set_num_threads(before)
