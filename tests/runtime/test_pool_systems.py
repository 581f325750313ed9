"""The thread pool with the threads of other systems: those of POSIX, and those of Windows, whose
functions are made of POSIX's here."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from npcompile.backends.cpu.loader.compile import Loaded, compile, load
from npcompile.backends.target import family, here
from npcompile.runtime.threads import pool, worker_code
from npcompile.runtime.unsafe import raw_memory
from tests.runtime.test_thread_pool import PARTS

#: functions of Windows
WINDOWS = """
@mutex = internal global [64 x i8] zeroinitializer, align 64
@condition = internal global [64 x i8] zeroinitializer, align 64
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()

define ptr @CreateThread(ptr %safety, i64 %stack, ptr %fn, ptr %argument, i32 %how, ptr %number) {
  %place = alloca ptr
  call i32 @pthread_create(ptr %place, ptr null, ptr %fn, ptr %argument)
  %thread = load ptr, ptr %place
  ret ptr %thread
}

define i32 @WaitForSingleObject(ptr %thread, i32 %time) {
  call i32 @pthread_join(ptr %thread, ptr null)
  ret i32 0
}

define i32 @CloseHandle(ptr %thread) {
  ret i32 1
}

define i32 @SwitchToThread() {
  call i32 @sched_yield()
  ret i32 1
}

define i32 @WaitOnAddress(ptr %place, ptr %compared, i64 %size, i32 %time) {
entry:
  call i32 @pthread_mutex_lock(ptr @mutex)
  %is = load atomic i32, ptr %place seq_cst, align 4
  %was = load i32, ptr %compared
  %same = icmp eq i32 %is, %was
  br i1 %same, label %wait, label %done
wait:
  call i32 @pthread_cond_wait(ptr @condition, ptr @mutex)
  br label %done
done:
  call i32 @pthread_mutex_unlock(ptr @mutex)
  ret i32 1
}

define void @WakeByAddressSingle(ptr %place) {
  call i32 @pthread_mutex_lock(ptr @mutex)
  call i32 @pthread_cond_broadcast(ptr @condition)
  call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}
"""
GIVEN = ("CreateThread", "WaitForSingleObject", "CloseHandle", "SwitchToThread", "WaitOnAddress",
         "WakeByAddressSingle")

pytestmark = pytest.mark.skipif(not pool.supported(), reason="no worker threads here")


class Pool:
    """The pool's code for a system, loaded beside the one in use, with 4 threads."""

    def __init__(self, system: str) -> None:
        self.held: list[Loaded] = []
        given = {} if system == "posix" else self.loaded(WINDOWS, {}, GIVEN)
        self.code = self.loaded(worker_code.text(system, here()), given, (
            "npc_pool_run", "npc_pool_limit", "npc_pool_stop", "npc_pool_threads",
            "npc_pool_forget"))
        self.parts = self.loaded(PARTS, self.code, ("mark", "nested", "divide", "run_with"))
        raw_memory.numbers(self.code["npc_pool_limit"], 1)[0] = 4
        self.stop, self.threads, self.forget = (
            ctypes.CFUNCTYPE(ctypes.c_int64)(self.code[f"npc_pool_{name}"])
            for name in ("stop", "threads", "forget"))

    def loaded(self, text: str, given: dict[str, int], names: tuple[str, ...]) -> dict[str, int]:
        self.held.append(load(compile(text), given))
        return {name: self.held[-1][name] for name in names}

    def counts(self, function: str, n: int, grain: int = 1) -> np.ndarray:
        made = np.zeros(n, np.int64)
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3)
        prototype(self.code["npc_pool_run"])(self.parts[function], made.ctypes.data, n, grain, 16)
        return made


@pytest.fixture(scope="module", params=["posix", "windows"])
def shared(request: pytest.FixtureRequest) -> Pool:
    return Pool(request.param)


@pytest.fixture
def made(shared: Pool) -> Iterator[Pool]:
    yield shared
    assert shared.stop()
    assert shared.threads() == 1


def test_every_index_once(made: Pool) -> None:
    for n, grain in ((0, 1), (1, 1), (3, 1), (64, 0), (1000, 7), (4097, 64), (100_000, 1)):
        assert (made.counts("mark", n, grain) == 1).all()
    assert (made.counts("nested", 999) == 1).all()
    assert made.threads() == 4


def test_workers_that_sleep_are_woken(made: Pool) -> None:
    for pause in (0, 0.003, 0, 0.0005, 0.02, 0.001) * 5:  # after some 20 us they sleep
        time.sleep(pause)
        assert (made.counts("mark", 1000) == 1).all()


def test_stop_and_start(made: Pool) -> None:
    for _ in range(20):
        assert (made.counts("mark", 100) == 1).all()
        assert made.threads() == 4
        assert made.stop() and made.threads() == 1


def test_other_python_threads_run_serially_or_in_turn(made: Pool) -> None:
    wrong: list[int] = []

    def work() -> None:
        wrong.extend(n for n in range(100, 200) if (made.counts("mark", n) != 1).any())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_flags_of_workers_are_the_caller_s(made: Pool) -> None:
    frame = np.ones((64, 3))
    frame[-1, 1] = 0  # the last part divides by zero
    kinds = ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
    run = ctypes.CFUNCTYPE(ctypes.c_uint32, *kinds)(made.parts["run_with"])
    usual = 0x1F80 if here().name == "x86-64" else 0
    assert run(usual, made.parts["divide"], frame.ctypes.data, 64) & 63 == 4
    assert frame[-1, 0] == np.inf and (frame[:-1, 0] == 1).all()
    assert len(set(frame[:, 2].view(np.int64) & -64)) == 1  # the control of all threads


def test_fork() -> None:
    made = Pool("posix")
    assert (made.counts("mark", 1000) == 1).all()
    process = os.fork()
    if not process:
        made.forget()
        well = (made.counts("mark", 1000) == 1).all() and made.threads() == 4 and made.stop()
        os._exit(0 if well else 1)
    assert os.waitpid(process, 0)[1] == 0
    assert (made.counts("mark", 1000) == 1).all()
    assert made.stop()


@pytest.mark.parametrize(("name", "system"), [
    ("linux", "linux"), ("darwin", "posix"), ("freebsd14", "posix"), ("win32", "windows"),
    ("wasi", "")])
def test_systems(name: str, system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", name)
    monkeypatch.setattr(os, "name", {"win32": "nt", "wasi": "other"}.get(name, "posix"))
    assert pool._system() == system and pool.supported() == bool(system)
    monkeypatch.setattr(pool, "here", lambda: family("plain"))
    assert pool._system() == "" and not pool.supported()


def test_without_threads() -> None:
    code = load(compile(worker_code.text("", here())))
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(code["npc_pool_threads"])() == 1
