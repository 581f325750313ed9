"""Code that may interrupt the compiler finds out that it does."""

from __future__ import annotations

import _imp
import _thread
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from npcompile.core import aside, sections


def test_a_thread_of_the_compiler_is_in_a_section_from_its_first_instruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A garbage collection there may call functions whose locks the waiting thread holds."""
    found = []

    def get_ident() -> int:
        if sys._getframe(1).f_code is aside._Task.__call__.__code__:
            found.append(sections.inside())
        return _thread.get_ident()

    watched = SimpleNamespace(**{**vars(_thread), "get_ident": get_ident})
    monkeypatch.setattr(aside, "_thread", watched)
    assert sections.section(lambda: aside.aside(lambda: 3))() == 3
    assert found == [True]


def test_another_thread_has_the_lock_of_imports_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        _imp.acquire_lock()
        held.set()
        over.wait(60)
        _imp.release_lock()

    def sleep(seconds: float) -> None:
        over.set()
        thread.join()

    thread = threading.Thread(target=hold, daemon=True)
    monkeypatch.setattr(aside, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=sleep))
    thread.start()
    held.wait()
    assert aside._can_import()


def test_a_call_inside_an_import_of_ours_imports_nothing() -> None:
    text = (
        "import sys\n"
        "import numpy as np\n"
        "from npcompile import jit\n"
        "f = jit(lambda x: x.sum())\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'npcompile.absent':\n"
        "            before = set(sys.modules)\n"
        "            found.append((f(np.ones(3)), set(sys.modules) - before))\n"
        "found = []\n"
        "sys.meta_path.insert(0, Finder())\n"
        "try:\n"
        "    import npcompile.absent\n"
        "except ImportError:\n"
        "    pass\n"
        "assert found == [(3.0, set())], found\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
