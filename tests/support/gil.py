"""Bodies that count how often they use Python without the GIL.

``pytest -p tests.support.gil`` runs any tests with such bodies, which release it whenever they may.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from npcompile.backends.cpu.llvm.text import LLVMFunction, literal
from npcompile.backends.cpu.loader.symbols import register
from npcompile.backends.cpu.parallel import gil

#: what uses Python, and what does not
_PYTHON = ("Py", "_Py", "npc_new_array", "draw.")
_OTHERS = ("PyEval_", "PyGILState_")

mistakes = ctypes.c_int64(0)
register("npc.test.mistakes", ctypes.addressof(mistakes))


def _look(f: LLVMFunction, name: str) -> None:
    if name.startswith(_PYTHON) and not name.startswith(_OTHERS):
        held = f.call("PyGILState_Check", ("i32", 1))
        wrong = f.convert("zext", f.icmp("eq", held, literal("i32", 0)), "i64")
        f.op(f"atomicrmw add ptr {f.module.extern('npc.test.mistakes').text}, {wrong.typed} "
             "monotonic", "i64")


@contextmanager
def looking(worth: int = 0) -> Iterator[ctypes.c_int64]:
    """What is compiled inside releases the GIL where work is ``worth`` that much, and looks for it
    before each use of Python; how often it was not there."""
    call, run, before = LLVMFunction.call, LLVMFunction.run, gil.WORTH

    def looking_call(f: LLVMFunction, name: str, *args: Any) -> Any:
        _look(f, name)
        return call(f, name, *args)

    def looking_run(f: LLVMFunction, name: str, *args: Any) -> None:
        _look(f, name)
        run(f, name, *args)

    changed: list[tuple[Any, str, Any, Any]] = [
        (LLVMFunction, "call", looking_call, call),
        (LLVMFunction, "run", looking_run, run),
        (gil, "WORTH", worth, before),
    ]
    for owner, name, new, _ in changed:
        setattr(owner, name, new)
    try:
        yield mistakes
    finally:
        for owner, name, _, old in changed:
            setattr(owner, name, old)


_everywhere = looking()


def pytest_configure(config: Any) -> None:
    os.environ["NPCOMPILE_CACHE_DIR"] = tempfile.mkdtemp()
    _everywhere.__enter__()


def pytest_runtest_teardown(item: Any) -> None:
    found, mistakes.value = mistakes.value, 0
    assert not found, f"{found} uses of Python without the GIL"
