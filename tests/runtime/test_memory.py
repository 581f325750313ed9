"""Recycled memory: ordinary arrays, reuse, limits, threads, fork, exit."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from npcompile.runtime.memory import recycled

pytestmark = pytest.mark.skipif(not recycled.supported(), reason="no recycling here")
MB = 1 << 20


def make(
    shape: tuple[int, ...], dtype: str = "f8", strides: tuple[int, ...] | None = None
) -> np.ndarray:
    new = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p
    )(recycled.ensure())
    dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    steps = (ctypes.c_int64 * len(strides))(*strides) if strides else None
    return new(id(np.dtype(dtype)), len(shape), dims, steps)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    recycled.set_limit(recycled.LIMIT)
    recycled.trim()
    yield
    recycled.set_limit(recycled.LIMIT)
    recycled.trim()


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i1", "?"])
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (40, 5), (1200, 1100), (3, 0, 9)])
def test_arrays_are_ordinary(shape: tuple[int, ...], dtype: str) -> None:
    a, want = make(shape, dtype), np.empty(shape, dtype)
    assert type(a) is np.ndarray and a.dtype is want.dtype
    assert (a.shape, a.strides, a.base) == (want.shape, want.strides, None)
    assert a.flags.owndata and a.flags.writeable and a.flags.aligned
    a.fill(1)
    assert (a == 1).all()


def test_strides_are_kept() -> None:
    a = make((1000, 300), "f8", (8, 8000))
    assert a.flags.f_contiguous and a.strides == (8, 8000) and a.flags.owndata


def test_blocks_come_back() -> None:
    a = make((3 * MB,))
    address = a.ctypes.data
    del a
    assert recycled.info().idle >= 24 * MB
    reused = recycled.info().reused
    b = make((3 * MB - 1000,))
    assert b.ctypes.data == address and recycled.info().reused == reused + 1
    assert recycled.info().idle == 0
    c = make((3 * MB,))
    assert c.ctypes.data != address


def test_blocks_come_back_wherever_they_lie() -> None:
    """Blocks that the system maps may be longer by two huge pages than what was asked for."""
    code = """if True:
        import ctypes, mmap
        import numpy as np
        from npcompile.runtime.memory import recycled
        M_MMAP_THRESHOLD = -3
        assert ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)
        recycled.ensure()
        shifts = []
        for k in range(34):
            shifts.append(mmap.mmap(-1, 1 << 16))
            for length in (524289, 950000):
                recycled.trim()
                recycled.empty((length,), np.dtype("f8"))
                before = recycled.info()
                recycled.empty((length,), np.dtype("f8"))
                assert recycled.info().reused == before.reused + 1, (k, length)
        """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_much_larger_blocks_are_not_wasted() -> None:
    del_me = make((8 * MB,))
    address = del_me.ctypes.data
    del del_me
    assert make((MB,)).ctypes.data != address


def test_the_limit_holds() -> None:
    recycled.set_limit(20 * MB)
    arrays = [make((MB,)) for _ in range(6)]
    del arrays
    assert 8 * MB <= recycled.info().idle <= 20 * MB
    huge = make((4 * MB,))
    assert np._core.multiarray.get_handler_name(huge) != "npcompile"
    recycled.set_limit(0)
    assert recycled.info().idle == 0
    off = make((MB,))
    assert np._core.multiarray.get_handler_name(off) != "npcompile"
    with pytest.raises(ValueError, match="negative"):
        recycled.set_limit(-1)


def test_resizing_and_outliving() -> None:
    a = make((MB,))
    a[:] = np.arange(MB)
    a.resize((4 * MB,), refcheck=False)
    assert (a[:MB] == np.arange(MB)).all() and (a[MB:] == 0).all()
    a.resize((3,), refcheck=False)
    assert a.tolist() == [0, 1, 2]
    view = make((MB,))[5:10]
    view[:] = 7
    recycled.trim()
    assert view.base is not None and (view == 7).all()


def test_tracemalloc_sees_them() -> None:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        a = make((2 * MB,))
        assert tracemalloc.get_traced_memory()[0] - before >= 16 * MB
        del a
        assert tracemalloc.get_traced_memory()[0] - before < MB
    finally:
        tracemalloc.stop()


def test_threads_never_share_memory() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for i in range(60):
            kept = [make((MB // 8 + 1000 * j,)) for j in range(3)]
            for a in kept:
                a.fill(number * 1000 + i)
            if not all((a == number * 1000 + i).all() for a in kept):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and recycled.info().idle <= recycled.limit()


def test_out_of_memory_is_an_exception() -> None:
    recycled.set_limit(1 << 62)
    with pytest.raises(MemoryError):
        make((1 << 50,))
    assert np._core.multiarray.get_handler_name() == "default_allocator"


@pytest.mark.filterwarnings("ignore:This process")
def test_fork() -> None:
    a = make((MB,))
    a.fill(3)
    child = os.fork()
    if child == 0:
        fine = (a == 3).all()
        del a
        b = make((MB,))
        b.fill(4)
        os._exit(0 if fine and (b == 4).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (a == 3).all()


EXIT = """
from tests.runtime.test_memory import make, recycled
import gc
assert recycled.limit() == LIMIT
kept = [make((2**20,)) for _ in range(3)]
kept.append(kept)
other = make((2**20,))
del other
gc.collect()
"""


@pytest.mark.parametrize("switch", ["0", "1"])
def test_exit_is_clean_and_the_switch_works(switch: str) -> None:
    source = EXIT.replace("LIMIT", str(recycled.LIMIT if switch == "1" else 0))
    environment = {**os.environ, "NPCOMPILE_RECYCLE": switch}
    done = subprocess.run(
        [sys.executable, "-c", source], env=environment, timeout=60, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_came_back_last_stays() -> None:
    """Blocks of other sizes, which nobody asks for any more, made way only after seconds."""
    recycled.set_limit(8 * MB)
    old = [make((2 * MB // 8,)) for _ in range(4)]
    del old
    one = make((5 * MB // 8,))
    del one
    before = recycled.info().fresh
    for _ in range(10):
        one = make((5 * MB // 8,))
        del one
    assert recycled.info().fresh == before
    assert recycled.info().idle <= 8 * MB
