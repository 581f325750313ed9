"""A process that forks while its other threads compile, and its children, which compile too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys, threading, time
import numpy as np
from npcompile import jit

TEXT = "def f(x):\\n    return x * {} + {}.5\\n"
over = False

def made(k, n):
    space = {}
    exec(TEXT.format(k, n), space)
    return jit(space["f"], cache=False)

def work(n):
    k = 0
    while not over:
        k += 1
        made(k, n)(np.arange(3.0))

threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(2)]
for thread in threads:
    thread.start()
sys.setswitchinterval(1e-5)
for k in range(12):
    child = os.fork()
    if not child:
        right = np.array_equal(made(k, 99)(np.arange(3.0)), np.arange(3.0) * k + 99.5)
        sys.exit(not right)
    assert os.waitpid(child, 0)[1] == 0, k
over = True
for thread in threads:
    thread.join()
print("forked")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_beside_threads_that_compile() -> None:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "forked\n", done.stderr
