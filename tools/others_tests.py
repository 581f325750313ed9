"""Other people's functions under ``jit``: their doctests and tests, and each call made again.

    python -m tools.others_tests [--seconds N] [--root FOLDER] FILE_OR_FOLDER ...

Each file runs in processes of its own, by pytest: with every function and method of the
modules below ``--root`` (the file alone, if there is none) compiled; and with all calls noted.
Noted calls are made again by themselves, plain and compiled, also with other numbers, sizes
and dtypes; results, exceptions and their lines, changed arguments, what is printed and warnings
are compared.  Then what was left to Python is counted and calls are timed.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import io
import json
import math
import os
import random
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest

import npcompile
import npcompile.runtime.versions.dispatch
import npcompile.runtime.versions.lowering
import npcompile.tracing.tracer  # what children need, once

OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore", "--tb=short",
           "--doctest-modules", "-c", os.devnull]
CALLS = 3  # of a function that are made again, with all variations
ROUNDS = 3  # of each: traced and compiled, then taken by what was compiled
PATIENCE = 1.0  # seconds of a plain call
FUNCTION_SECONDS = 8.0
GENERATED = 64  # values that are taken from a generator
DEPTH = 6  # of objects in objects that are compared
RTOL = {"f": 1e-4, "F": 1e-4, "e": 1e-2}
#: generators, coroutines and asynchronous generators come back from calls before they run
UNSUPPORTED = 0x80 | 0x100 | 0x200


class Late(BaseException):
    """A call takes too long."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises `Late` inside the block when its time is over."""
    def late(*_: Any) -> None:
        raise Late
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ------------------------------------------------------------------ replacing functions

def modules(root: Path) -> list[types.ModuleType]:
    """The modules whose files are ``root`` or lie below it."""
    found = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and (Path(file) == root or root in Path(file).parents):
            found.append(module)
    return found


def is_test(module: types.ModuleType) -> bool:
    name = Path(str(module.__file__)).name
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


class Replacing:
    """A plugin of pytest that puts another function in the place of each one below ``root``."""

    def __init__(self, root: Path, other: Callable[[Any], Any]) -> None:
        self.root = root
        self.other = other
        self.made: dict[Any, Any] = {}
        self.undo: list[Callable[[], None]] = []
        self.outcomes: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def replaced(self, f: Any, home: str) -> Any:
        """What stands for a function of a module, or the thing itself."""
        if isinstance(f, (staticmethod, classmethod)):
            return type(f)(self.replaced(f.__func__, home))
        if type(f) is property and f.fget is not None:
            return property(self.replaced(f.fget, home), f.fset, f.fdel, f.__doc__)
        if type(f) is not types.FunctionType or f.__module__ != home:
            return f
        if f.__code__.co_flags & UNSUPPORTED:
            return f
        if f not in self.made:
            self.made[f] = self.other(f)
        return self.made[f]

    def pytest_collection_finish(self, session: Any) -> None:
        """All modules are imported now."""
        for module in modules(self.root):
            if is_test(module):
                continue
            for thing in list(vars(module).values()):
                self.replaced(thing, module.__name__)
                if isinstance(thing, type) and thing.__module__ == module.__name__:
                    self._methods(thing)
        homes = {id(m): m for m in (*modules(self.root), *(i.module for i in session.items
                                                          if hasattr(i, "module")))}
        spaces = [vars(m) for m in homes.values()]
        spaces += [item.dtest.globs for item in session.items if getattr(item, "dtest", None)]
        for space in spaces:
            for name, thing in list(space.items()):
                if type(thing) is types.FunctionType and thing in self.made:
                    space[name] = self.made[thing]
                    self.undo.append(functools.partial(space.__setitem__, name, thing))

    def _methods(self, owner: type) -> None:
        for name, thing in list(vars(owner).items()):
            other = self.replaced(thing, owner.__module__)
            if other is not thing:
                with contextlib.suppress(TypeError, AttributeError):
                    setattr(owner, name, other)
                    self.undo.append(functools.partial(setattr, owner, name, thing))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Failures of any phase, else what the call came to."""
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
            if report.outcome == "failed":
                self.texts[report.nodeid] = report.longreprtext[-1500:]


# ------------------------------------------------------------------ one call and what it does

@dataclass
class Outcome:
    """Everything that a call's caller can see."""

    args: Any
    result: Any = None
    error: BaseException | None = None
    printed: str = ""
    warned: set[tuple[Any, str, int]] = field(default_factory=set)


def run(function: Any, given: Any, seconds: float) -> Outcome:
    """Calls a function with copies of arguments."""
    args, kwargs = copy.deepcopy(given)
    outcome = Outcome((args, kwargs))
    random.seed(1)
    np.random.seed(1)
    text = io.StringIO()
    with (contextlib.redirect_stdout(text), warnings.catch_warnings(record=True) as caught,
          limited(seconds)):
        warnings.simplefilter("always")
        try:
            outcome.result = function(*args, **kwargs)
            if isinstance(outcome.result, types.GeneratorType):
                outcome.result = [x for x, _ in zip(outcome.result, range(GENERATED))]
        except Exception as error:
            outcome.error = error
    outcome.printed = text.getvalue()
    outcome.warned = {(w.category, str(w.message), w.lineno) for w in caught}
    return outcome


def line(error: BaseException | None, file: str) -> int:
    """Where in a file it was raised."""
    if error is None:
        return 0
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return (lines[-1] or 0) if lines else 0


def difference(got: Outcome, want: Outcome, file: str) -> str:
    """What differs between two outcomes, or an empty string."""
    if type(got.error) is not type(want.error) or str(got.error) != str(want.error):
        place = "".join(traceback.format_tb(got.error.__traceback__)[-2:]) if got.error else ""
        return f"raised {got.error!r} instead of {want.error!r} {place}"
    places = [line(x.error, file) for x in (got, want)]
    if places[0] != places[1] and not isinstance(want.error, (UnboundLocalError, RecursionError)):
        return f"{want.error!r} at line {places[0]} instead of {places[1]}"
    text = value(got.result, want.result, "result", {}) or value(got.args, want.args, "args", {})
    if got.printed != want.printed:
        text = text or f"printed {got.printed!r} instead of {want.printed!r}"
    if got.warned != want.warned:
        text = text or f"warned {got.warned} instead of {want.warned}"
    return text[:900]


def value(got: Any, want: Any, where: str, seen: dict[int, Any]) -> str:
    """What differs between two values."""
    if type(got) is not type(want):
        return f"{where}: type {type(got)} instead of {type(want)}"
    if id(want) in seen or got is want:
        return ""
    seen[id(want)] = want
    if isinstance(want, np.ndarray):
        return array(got, want, where, seen)
    if isinstance(want, (np.number, np.bool_, float, complex)):
        near = close(np.asarray(got), np.asarray(want))
        return "" if near else f"{where}: {got!r} instead of {want!r}"
    if isinstance(want, dict):
        return value(list(got.items()), list(want.items()), where, seen)
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            return f"{where}: length {len(got)} instead of {len(want)}"
        parts = (value(g, w, f"{where}[{k}]", seen) for k, (g, w) in enumerate(zip(got, want)))
        return next(filter(None, parts), "")
    if isinstance(want, (int, str, bytes, type(None), range, slice)):
        return "" if got == want else f"{where}: {got!r} instead of {want!r}"
    if isinstance(want, (type, types.FunctionType, types.ModuleType)) or where.count(".") > DEPTH:
        return ""
    if isinstance(want, (set, frozenset)):
        same = got == want or repr(got) == repr(want)
        return "" if same else f"{where}: {got!r} instead of {want!r}"
    if hasattr(want, "__dict__"):
        return value(vars(got), vars(want), f"{where}.{type(want).__name__}", seen)
    return ""


def array(got: Any, want: Any, where: str, seen: dict[int, Any]) -> str:
    """What differs between two arrays."""
    for name in ("dtype", "shape"):
        if getattr(got, name) != getattr(want, name):
            return f"{where}: {name} {getattr(got, name)} instead of {getattr(want, name)}"
    if want.size and got.strides != want.strides:
        return f"{where}: strides {got.strides} instead of {want.strides}"
    if want.flags.writeable != got.flags.writeable or (want.base is None) != (got.base is None):
        return f"{where}: flags {got.flags} instead of {want.flags}"
    if want.dtype == object:
        return value(got.tolist(), want.tolist(), where, seen)
    if want.dtype.kind not in "biufc":
        return "" if got.tobytes() == want.tobytes() else f"{where}: {got!r} instead of {want!r}"
    return "" if close(got, want) else f"{where}: {got!r} instead of {want!r}"


def close(got: Any, want: Any) -> bool:
    """Equal, or within what other orders of sums and other elementary functions make."""
    got, want = np.asarray(got), np.asarray(want)  # also of masked arrays
    if want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want))
    rtol = RTOL.get(want.dtype.char, 1e-5)
    with np.errstate(all="ignore"):
        scale = float(np.max(np.abs(want[np.isfinite(want)]), initial=0.0))
        return bool(np.allclose(got, want, rtol=rtol, atol=min(rtol * scale, 1e-9), equal_nan=True))


# ------------------------------------------------------------------ other calls like a call

def mapped(change: Callable[[Any], Any], x: Any) -> Any:
    """Arguments with numbers and arrays changed."""
    if type(x) in (list, tuple):
        return type(x)(mapped(change, y) for y in x)
    return change(x)


def _single(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        return x.astype(np.float32)
    return float(x) if type(x) is int else x


def _longer(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.ndim:
        return np.concatenate([x, x[::-1]])
    return x + 1 if type(x) is int else x


def _negative(x: Any) -> Any:
    if type(x) in (int, float) or (isinstance(x, np.ndarray) and x.dtype.kind in "if"):
        return -x
    return x


def _whole(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        with np.errstate(all="ignore"):
            return x.astype(np.int64)
    return int(x) if type(x) is float and math.isfinite(x) else x


def _strided(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.ndim:
        return np.repeat(x, 2, axis=-1)[..., ::2] * 2
    return x * 2 if type(x) is float else x


def _zero(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind in "if":
        return x[:1] * 0
    return x * 0 if type(x) in (int, float) else x


VARIATIONS = (None, _longer, _negative, _single, None, _whole, _strided, _zero, None)


class Again:
    """Makes the noted calls of one function again."""

    def __init__(self, plain: types.FunctionType, file: str) -> None:
        self.plain, self.file = plain, file
        self.different: list[str] = []
        self.faulty = False

    def go(self, calls: list[Any]) -> dict[str, Any]:
        """All calls in all variations; what came out."""
        compiled = npcompile.jit(self.plain)
        end, count = perf_counter() + FUNCTION_SECONDS, 0
        for given in calls:
            for change in VARIATIONS:
                if perf_counter() > end or self.faulty:
                    break
                count += self._one(compiled, given, change)
        dispatcher = compiled._dispatcher
        return {"name": self.plain.__qualname__, "file": self.file, "calls": count,
                "different": self.different, "compiled": len(dispatcher.versions),
                "why": dict(dispatcher.fallbacks) | {
                    str(r): 1 for r in dispatcher.policy.refused.values()} | {
                    str(p): 1 for v in dispatcher.versions for p in v.trace.graph_breaks.values()},
                "ratio": self._ratio(calls)}

    def _one(self, compiled: Any, given: Any, change: Callable[[Any], Any] | None) -> int:
        try:
            args, kwargs = copy.deepcopy(given)
            if change is not None:
                args = mapped(change, args)
                kwargs = {k: mapped(change, v) for k, v in kwargs.items()}
            wants = [run(self.plain, (args, kwargs), PATIENCE) for _ in range(2)]
        except (Late, Exception):  # what can't be copied, changed, or takes too long
            return 0
        if difference(*wants, self.file):  # of time, or of memory
            return 0
        for turn in range(ROUNDS):
            try:
                got = run(compiled, (args, kwargs), 10 * PATIENCE + 20)
                text = difference(got, wants[0], self.file)
            except Late:
                text, self.faulty = "takes too long", True
            if text:
                how = "" if change is None else change.__name__
                shown = f"{args!r} {kwargs!r}"[:300]
                self.different.append(f"turn {turn} {how} {shown}: {text}")
                self.faulty = self.faulty or len(self.different) > 3
                break
        return 1

    def _ratio(self, calls: list[Any]) -> list[float]:
        """Times of the first call that leaves its arguments alone: plain, compiled, seconds."""
        for given in calls:
            try:
                want = run(self.plain, given, PATIENCE)
                if want.error or value(want.args, given, "args", {}) or want.printed:
                    continue
                if isinstance(want.result, types.GeneratorType):
                    continue
                return times(self.plain, npcompile.jit(self.plain), given)
            except (Late, Exception):
                continue
        return []


def times(plain: Any, compiled: Any, given: Any) -> list[float]:
    """Seconds of a call, plain and compiled, the best of several in turns."""
    args, kwargs = copy.deepcopy(given)
    best = [math.inf, math.inf]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with limited(60.0):
            for _ in range(60):
                compiled(*args, **kwargs)
            for _ in range(5):
                for k, f in enumerate((plain, compiled)):
                    count, start = 0, perf_counter()
                    while perf_counter() - start < 1e-3:
                        f(*args, **kwargs)
                        count += 1
                    best[k] = min(best[k], (perf_counter() - start) / count)
    return best


# ------------------------------------------------------------------ processes

class Noting:
    """Makes functions that note their calls."""

    def __init__(self) -> None:
        self.calls: dict[Any, list[Any]] = {}
        self.busy = False

    def __call__(self, f: types.FunctionType) -> Any:
        self.calls[f] = []

        @functools.wraps(f)
        def noting(*args: Any, **kwargs: Any) -> Any:
            known = self.calls[f]
            if len(known) < CALLS and not self.busy:
                self.busy = True
                try:
                    known.append(copy.deepcopy((args, kwargs)))
                except Exception:  # modules, locks, generators
                    pass
                finally:
                    self.busy = False
            return f(*args, **kwargs)

        return noting


def one(file: str, root: Path, way: str, out: int) -> None:
    """Runs a file in this process and writes what came out."""
    noting = Noting()
    with contextlib.suppress(ImportError):  # first calls compile
        from hypothesis import settings

        settings.register_profile("others", deadline=None, derandomize=True)
        settings.load_profile("others")
    plugin = Replacing(root, npcompile.jit if way == "compiled" else noting)
    pytest.main([*OPTIONS, "--rootdir", str(root if root.is_dir() else root.parent), file],
                plugins=[plugin])
    for undo in reversed(plugin.undo):
        undo()
    again = []
    for f, calls in noting.calls.items():
        if calls:
            print(f"@{f.__qualname__}", file=sys.stderr, flush=True)
            again.append(Again(f, f.__code__.co_filename).go(calls))
    with open(out, "w") as file_:
        file_.write(json.dumps([plugin.outcomes, plugin.texts, again]))


def process(file: str, root: Path, way: str, seconds: float) -> tuple[Any, str]:
    """The same in a child, which may crash or never end."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as out:
        child = os.fork()
        if not child:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            status = 1
            try:
                one(file, root, way, os.dup(out.fileno()))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        end, done, status = perf_counter() + seconds, 0, 0
        while not done and perf_counter() < end:
            sleep(0.05)
            done, status = os.waitpid(child, os.WNOHANG)
        if not done:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
        if not done or status:
            what = f"status {status}" if done else f"more than {seconds:.0f} s"
            return None, f"{way}: {what} in {text.split('@')[-1][-1500:]}"
        out.seek(0)
        return json.loads(out.read()), ""


class Table:
    """What came out of all files."""

    def __init__(self) -> None:
        self.why: Counter[str] = Counter()
        self.example: dict[str, str] = {}
        self.slow: list[tuple[float, float, str]] = []
        self.functions = self.calls = self.different = self.whole = self.tests = 0

    def add(self, again: list[dict[str, Any]]) -> None:
        """The calls of one file."""
        for f in again:
            place = f"{f['file']}:{f['name']}"
            self.functions += 1
            self.calls += f["calls"]
            self.whole += bool(f["compiled"] and not f["why"])
            for text in f["different"]:
                self.different += 1
                print(f"DIFFERENT {place}: {text}", flush=True)
            for why in f["why"]:
                kind = why.split(": ", 1)[-1]
                self.why[kind] += 1
                self.example.setdefault(kind, f"{place} {why}")
            if f["ratio"] and f["ratio"][1] > 1.05 * f["ratio"][0]:
                self.slow.append((f["ratio"][1] / f["ratio"][0], f["ratio"][0] * 1e6, place))

    def show(self) -> None:
        print(f"{self.tests} tests; {self.functions} functions, {self.whole} compiled whole, "
              f"{self.calls} calls, {self.different} different")
        for kind, count in self.why.most_common(60):
            print(f"{count:5d}  {kind}  ({self.example[kind]})")
        print(f"slower than in Python: {len(self.slow)}")
        for ratio, micro, place in sorted(self.slow, reverse=True)[:60]:
            print(f"{ratio:6.2f} of {micro:8.2f} us  {place}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0, help="of a process")
    parser.add_argument("--keep", type=Path, help="file for all that came out, line by line")
    given = parser.parse_args()
    table = Table()
    files = [f for path in given.paths for f in ([path] if path.is_file() else sorted(
        path.rglob("*.py"))) if f.name != "__init__.py"]
    for file in (f.resolve() for f in files):
        root = given.root.resolve() if given.root else file
        plain, problem = process(str(file), root, "noted", given.seconds)
        passed = [k for k, outcome in (plain or [{}])[0].items() if outcome == "passed"]
        if not passed:
            print(f"-- {file}: no tests that pass {problem}", flush=True)
            continue
        compiled, other = process(str(file), root, "compiled", given.seconds)
        table.tests += len(passed)
        for name in passed if compiled is not None else ():
            if compiled[0].get(name) != "passed":
                print(f"FAILED {name}\n{compiled[1].get(name)}", flush=True)
        for text in filter(None, (problem, other)):
            print(f"BROKEN {file}: {text}", flush=True)
        print(f"-- {file}: {len(passed)} tests, {len(plain[2])} functions", flush=True)
        table.add(plain[2])
        if given.keep:
            with given.keep.open("a") as out:
                out.writelines(json.dumps(f) + "\n" for f in plain[2])
    table.show()


if __name__ == "__main__":
    main()
