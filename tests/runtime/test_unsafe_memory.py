"""The room that reads and writes memory by address: each function, its check, and what happens
where the check fails."""

from __future__ import annotations

import ctypes
import mmap
import re
from pathlib import Path

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.runtime.random import draws
from npcompile.runtime.ufuncs import direct_calls
from npcompile.runtime.unsafe import numpy_memory, processor, raw_memory, ufunc_objects

PACKAGE = Path(npcompile.__file__).parent
#: CPython has no other way to raise in a thread, and nothing lies below this room
ELSEWHERE = {"core/sections.py"}


def test_memory_is_touched_in_one_room() -> None:
    word = re.compile(r"from_address|pythonapi|\bmprotect\b|_Py\w+\.in_dll")
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")
             if word.search(path.read_text()) and "unsafe" not in path.parts}
    assert found == ELSEWHERE


def test_words_objects_and_arrays() -> None:
    held = np.array([3, 1 << 63, 7], np.uint64)
    address = held.ctypes.data
    assert raw_memory.word(address + 8) == 1 << 63
    raw_memory.set_word(address, 5)
    assert list(raw_memory.words(address, 3)) == [5, 1 << 63, 7] == list(held)
    raw_memory.numbers(address, 1)[0] = -1
    assert held[0] == 2**64 - 1
    things = [object(), "text", None]
    pointers = (ctypes.py_object * 3)(*things)
    found = raw_memory.objects(ctypes.addressof(pointers), 3)
    assert all(a is b for a, b in zip(found, things, strict=True))
    assert raw_memory.object_at(id(things[0])) is things[0]
    view = raw_memory.array(address, np.dtype(np.uint64), (3, 1))
    assert view.shape == (3, 1) and view[2, 0] == 7


def test_capsules_have_names() -> None:
    bits = np.random.PCG64(1)
    assert raw_memory.capsule(bits.capsule, b"BitGenerator") > 0
    assert raw_memory.capsule_name(bits.capsule) == b"BitGenerator"
    for held, name in ((bits.capsule, b"other"), (object(), b"BitGenerator")):
        with pytest.raises(ValueError, match="PyCapsule"):
            raw_memory.capsule(held, name)


def test_an_exception_leaves_no_frame() -> None:
    with pytest.raises(KeyError) as caught:
        raw_memory.raise_here()(KeyError, KeyError("k"))
    assert caught.traceback[-1].path == Path(__file__)


def test_pages_are_protected() -> None:
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    held = ctypes.c_char.from_buffer(memory)
    assert raw_memory.protect(ctypes.addressof(held), mmap.PAGESIZE, mmap.PROT_READ)
    assert not raw_memory.protect(ctypes.addressof(held) + 1, mmap.PAGESIZE, mmap.PROT_READ)
    del held


def test_the_processor_is_the_same_each_time() -> None:
    assert processor.identity.__wrapped__() == processor.identity()


def test_the_processor_is_not_asked_where_code_may_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "protect", lambda *args: False)
    assert processor.identity.__wrapped__() is None


@pytest.mark.parametrize("dtype", ["c16", "f8"])
def test_views_at_any_offset(dtype: str) -> None:
    owner = np.arange(12.0).astype(dtype)
    made = numpy_memory.view(owner, np.dtype("f8"), 8, (3,), (-8 + 24,), 0)
    assert made.base is owner and not made.flags.writeable
    assert np.array_equal(made, owner.view("f8")[1:7:2])


def test_the_error_state_is_read() -> None:
    from numpy._core.umath import _extobj_contextvar as variable

    with np.errstate(all="ignore"):
        ignored = numpy_memory.error_mask(variable.get())
    with np.errstate(all="raise"):
        raised = numpy_memory.error_mask(variable.get())
    assert ignored == 0 and raised != 0
    with pytest.raises(ValueError, match="PyCapsule"):
        numpy_memory.error_mask(np.random.PCG64(1).capsule)


def test_a_generator_is_known_by_its_contents() -> None:
    fields = numpy_memory.generator_fields()
    assert fields is not None
    rng = np.random.Generator(np.random.PCG64(3))
    assert raw_memory.word(id(rng) + fields[1]) == id(rng.bit_generator.lock)
    state = rng.bit_generator.state["state"]["state"]
    low, high = raw_memory.words(numpy_memory.generator_state(rng.bit_generator)[0], 2)
    assert {low | high << 64, high | low << 64} & {state}


def test_generators_of_unknown_form_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_memory, "generator_fields", lambda: None)
    monkeypatch.setattr(draws, "_singles", draws._singles.__wrapped__)
    f = jit(lambda rng: rng.random() + rng.normal(), cache=False)
    got, want = (np.random.Generator(np.random.PCG64(4)) for _ in "ab")
    assert f(got) == f.__wrapped__(want)
    assert got.random() == want.random()


def test_ufuncs_say_of_themselves_what_python_says() -> None:
    for ufunc in (np.exp, np.add, np.divmod):
        assert ufunc_objects.readable(ufunc)
        assert ufunc_objects.head(ufunc).nargs == ufunc.nargs
    assert not ufunc_objects.readable(np.matmul)  # it has core dimensions


def test_ufuncs_without_a_known_place_are_called_as_numpy_calls_them(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ufunc_objects.vectorcall(np.exp) == ufunc_objects.vectorcall(np.add) != 0
    assert direct_calls.taken(npcompile.exp)
    monkeypatch.setattr(ufunc_objects, "vectorcall_place", lambda: 0)
    assert ufunc_objects.vectorcall(np.exp) == 0
    assert not direct_calls.taken(npcompile.exp)
    made = np.frompyfunc(lambda x: x + 1, 1, 1)
    before = ufunc_objects.head(made).object
    direct_calls.take(made, np.exp)
    assert ufunc_objects.head(made).object == before and made(1) == 2
