"""An allocation that fails while machine code runs: MemoryError, or the result; no later harm.

Only calls that a version takes are tried.  Where Python frames are on the way, CPython itself
fails: up to 3.11 an exception that passes a frame becomes a SystemError, from 3.12 on a call with
``*args`` or a generator ends the process.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("_testcapi", reason="not every build of Python has it")

TEXT = '''
import _testcapi
import numpy as np
from npcompile import jit

def values(x): return x * 2 + 1
def results(x): return x * 2, [x + 1, 3.0, x], {"a": x - 1}
def grows(x): return [i * 0.5 for i in range(len(x) * 4)]
def number(x): return x[0] + 1e9

def main(plain):
    made, x = jit(plain), np.arange(1.0, 6.0)
    want, failed, given = repr(plain(x)), 0, 0
    for k in range(8):
        for _ in range(4):
            assert repr(made(x)) == want
        got = None
        _testcapi.set_nomemory(k, k + 1)
        try:
            got = made(x)
        except MemoryError:
            failed += 1
        finally:
            _testcapi.remove_mem_hooks()
        if got is not None:
            given += 1
            assert repr(got) == want
        assert repr(made(x)) == want
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert failed + given == 8
    return failed

print(sum(map(main, (values, results, grows, number))))
'''


def test_machine_code_that_gets_no_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", TEXT], capture_output=True, text=True,
        check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0  # some call has met it
