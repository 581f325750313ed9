"""Random programs of every grammar in children of one process, which has warmed up.

    python -m tests.portable.campaign SEED COUNT [GRAMMAR ...]

What an emulator has translated, children have translated, too.  A child that crashes ends alone.
"""

from __future__ import annotations

import os
import signal
import sys
import time

os.environ.setdefault("NPCOMPILE_STRICT", "1")

import numpy as np
import pytest

from npcompile import jit
from tests import fuzz
from tests.fuzz import framework

EACH = 5  #: programs of a child
LIMIT = 1200  #: seconds for a child


def status(grammar: framework.Grammar, first: int, count: int) -> str:
    """Runs programs in a child: how many differ, or how it ended."""
    process = os.fork()
    if not process:
        code = 125
        try:
            code = min(framework.campaign(grammar, first, count, shrinking=False), 124)
            sys.stdout.flush()
        finally:
            os._exit(code)
    end = time.monotonic() + LIMIT
    while True:
        done, told = os.waitpid(process, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return "takes too long"
        time.sleep(0.02)
    if os.WIFSIGNALED(told) or os.WEXITSTATUS(told) == 125:
        return f"ends with status {told}"
    return f"{os.WEXITSTATUS(told)} differ"


def main() -> None:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    jit(lambda x: np.exp(x * 2).sum(), cache=False)(np.ones(3))
    failed = 0
    for seed in range(first, first + count, EACH):
        some = min(EACH, first + count - seed)
        for name in sys.argv[3:] or fuzz.names():
            try:
                grammar = fuzz.grammar(name)
            except pytest.skip.Exception as skipped:  # a library is not here
                print(f"{name}: left out, {skipped}", flush=True)
                continue
            told = status(grammar, seed, some)
            print(f"ROW {name}: {some} programs from {seed}: {told}", flush=True)
            failed += told != "0 differ"
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
