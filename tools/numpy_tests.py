"""NumPy's own tests, the body of each a compiled function: which pass in Python alone.

    python -m tools.numpy_tests [--write] [files below numpy, as lib/tests/test_histograms.py]

Thousands of functions that nobody wrote for npcompile.  Every file runs twice, each time in a
process of its own: as it is and compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu.loader.compile import target

HOME = Path(np.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "numpy_tests.md"
FILES = [f"{room}/tests/test_{name}.py" for room, names in {
    "_core": """numeric umath ufunc multiarray indexing einsum shape_base scalarmath function_base
        getlimits item_selection nep50_promotions umath_accuracy umath_complex dtype numerictypes
        array_coercion scalar_methods half indexerrors nditer""",
    "lib": """function_base shape_base twodim_base nanfunctions arraysetops arraypad histograms
        index_tricks type_check ufunclike polynomial stride_tricks packbits array_utils
        regression""",
    "linalg": "linalg regression",
    "fft": "helper pocketfft",
    "polynomial": "polynomial chebyshev legendre hermite laguerre hermite_e polyutils",
}.items() for name in names.split()]
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore", "-m", "not slow",
           "--tb=no", "-c", os.devnull]
SECONDS = 1800  # of a file
WAYS = ("whole", "in regions", "in Python")
HEAD = """# NumPy's own tests, compiled

The body of each test function under `jit`, made anew for each set of parameters; `python -m
tools.numpy_tests --write`.  {date}, Python {python}, NumPy {numpy}, CPU {cpu}.

Of {all} tests that pass in Python, {passed} pass compiled.  Most bodies call `assert_equal` and the
like, which are left to Python: *whole* are the calls that needed no Python, *in stretches* those
with compiled parts, *in Python* those with a call that ran there altogether.
"""


class Bodies:
    """A plugin of pytest that notes outcomes, and how the bodies of tests were run."""

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled
        self.outcomes: dict[str, str] = {}
        self.how: Counter[str] = Counter()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> Iterator[None]:
        """The body of a test, also of a method, under ``jit``."""
        plain = pyfuncitem.obj
        function = getattr(plain, "__func__", plain)
        jitted = npcompile.jit(function) if self.compiled else None
        if jitted is not None:
            owner = getattr(plain, "__self__", None)
            pyfuncitem.obj = jitted if owner is None else jitted.__get__(owner)
        yield
        if jitted is not None:
            self._note(jitted)

    def _note(self, jitted: Any) -> None:
        dispatcher = jitted._dispatcher
        paused = any(version.trace.graph_breaks for version in dispatcher.versions)
        self.how[WAYS[2 if dispatcher.fallbacks else 1 if paused else 0]] += 1

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Failures of any phase, else what the call came to."""
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid.split("::", 1)[1]] = report.outcome


def one(file: str, compiled: bool) -> None:
    """Runs a file in this process and prints what came out."""
    bodies = Bodies(compiled)
    with open(os.devnull, "w") as nowhere:
        kept, sys.stdout = sys.stdout, nowhere
        try:
            pytest.main([*OPTIONS, "--rootdir", str(HOME), str(HOME / file)], plugins=[bodies])
        finally:
            sys.stdout = kept
    print(json.dumps([bodies.outcomes, bodies.how]))


def run(file: str, compiled: bool) -> tuple[dict[str, str], Counter[str]]:
    """The same in a process of its own, which may crash."""
    command = [sys.executable, "-m", "tools.numpy_tests", file, "--one",
               "compiled" if compiled else "plain"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise SystemExit(f"{file}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    outcomes, how = json.loads(done.stdout.splitlines()[-1])
    return outcomes, Counter(how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--one", choices=["plain", "compiled"])
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}")
    given = parser.parse_args()
    if given.one:
        one(given.files[0], given.one == "compiled")
        return
    rows, different = [], []
    for file in given.files:
        plain, _ = run(file, False)
        compiled, ways = run(file, True)
        passed = [name for name, outcome in plain.items() if outcome == "passed"]
        failed = [name for name in passed if compiled.get(name) != "passed"]
        rows.append((file, len(passed), len(passed) - len(failed), *(ways[way] for way in WAYS)))
        different += [f"{file}::{name}" for name in failed]
        print(*rows[-1], *failed, flush=True)
    if given.write:
        PAGE.write_text(page(rows, different))


def page(rows: list[tuple[Any, ...]], different: list[str]) -> str:
    """The table of files, and the tests that differ."""
    sums = [sum(column) for column in zip(*(row[1:] for row in rows))]
    lines = [HEAD.format(date=date.today(), python=platform.python_version(), numpy=np.__version__,
                         cpu=target().cpu, all=sums[0], passed=sums[1]),
             "| file | pass in Python | pass compiled | " + " | ".join(WAYS) + " |",
             "|---" * 6 + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in (*rows, ("all", *sums))]
    lines += ["", "Different:", "", *(f"- `{name}`" for name in different)] if different else []
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
