"""``python -m benchmarks.functions [NAME ... | --write]``: elementary and special functions beside
NumPy, SciPy, numba and glibc's vector functions.

All in one process: the functions take turns and each one's best turn counts.  A turn begins with a
call that is not timed: no one finds caches and threads as another left them.  Where a ratio is near
its goal, above or below, all of the row take more turns, and all turns count.  N = 4096 on one
thread by the thread's processor time; N = 1e6 on all threads by the wall clock, or, with ``--cpu``,
by the process's processor time, which other programs on the machine disturb little.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import npcompile
from benchmarks import vector_math
from benchmarks.vector_math import Arrays, Call
from npcompile.runtime.threads import pool

#: threads of numba's that wait for work leave the processor to others
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "functions.md"
SMALL, LARGE = 4096, 1_000_000
TURNS = 400
TURN = 1e-4  # seconds of a turn, at least
LEAST, LONG = 5, 0.4  # turns of each, at least, and its seconds after which there are no more
NEAR, MORE = 0.05, 5  # so near to a goal it takes so many times the turns and seconds more


@dataclass(frozen=True)
class Case:
    """``numba`` is an expression in ``{x}``, ``{y}`` and ``{z}``, empty where numba has none;
    ``ranges`` are the intervals of the arguments; ``kinds`` the dtypes, ``last`` that of the last
    argument or of the second result where it is another.

    ``faster`` says by how much the library's function is to be beaten on one thread, ``vector``
    whether glibc's is to be met within a quarter.
    """

    name: str
    ranges: tuple[tuple[float, float], ...]
    module: str = "numpy"
    numba: str = ""
    outputs: int = 1
    faster: float = 1.0
    vector: bool = False
    kinds: tuple[str, ...] = ("float64", "float32")
    last: str = ""


def _numpy(names: str, *ranges: tuple[float, float], **fields: Any) -> list[Case]:
    arguments = ", ".join(f"{{{name}}}" for name in INPUTS[: len(ranges)])
    return [Case(name, ranges, numba=f"np.{name}({arguments})", **fields)
            for name in names.split()]


def _scipy(names: str, *ranges: tuple[float, float], faster: float = 1.0) -> list[Case]:
    return [Case(name, ranges, "scipy.special", faster=faster) for name in names.split()]


def _complex(names: str, faster: float = 1.0) -> list[Case]:
    return [Case(name, ((-3, 3),), numba=f"np.{name}({{x}})", faster=faster,
                 kinds=("complex128", "complex64")) for name in names.split()]


INPUTS, OUTPUTS = ("x", "y", "z"), ("out", "out2")
PLANE = (-100, 100)
CASES = [
    *_numpy("exp", (-20, 20), vector=True),
    *_numpy("exp2 expm1 sinh cosh", (-20, 20)),
    *_numpy("log", (0.01, 100), vector=True),
    *_numpy("log2 log10 log1p sqrt", (0.01, 100)),
    *_numpy("sin cos", PLANE, vector=True, faster=10.0),
    *_numpy("tan", PLANE),
    *_numpy("tanh", (-5, 5), vector=True),
    *_numpy("arcsin arccos arctanh", (-1, 1)),
    *_numpy("arctan arcsinh cbrt", PLANE),
    *_numpy("arccosh", (1, 100)),
    *_numpy("arctan2 hypot", PLANE, PLANE),
    *_numpy("power", (0.01, 100), (-10, 10), vector=True),
    *_numpy("float_power", (0.01, 100), (-10, 10), kinds=("float64",)),
    *_numpy("logaddexp logaddexp2", (-20, 20), (-20, 20)),
    *_numpy("deg2rad rad2deg floor ceil rint trunc spacing", PLANE),
    *_numpy("fmod remainder", PLANE, (-7, 7)),
    # numba's np.floor_divide is floor(x / y), one too large where the quotient rounds up
    Case("floor_divide", (PLANE, (-7, 7)), numba="{x} // {y}"),
    *_numpy("nextafter copysign heaviside", PLANE, PLANE),
    *_numpy("ldexp", PLANE, (-20, 20), last="int32"),
    Case("divmod", (PLANE, (-7, 7)), numba="divmod({x}, {y})", outputs=2),
    Case("modf", (PLANE,), numba="math.modf({x})", outputs=2),
    Case("frexp", (PLANE,), numba="math.frexp({x})", outputs=2, last="int32"),
    Case("sinc", (PLANE,), numba="np.sinc({x})"),
    *_complex("exp log sqrt", 3.0),
    *_complex("sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh"
              " log1p expm1"),
    Case("erf", ((-4, 4),), "scipy.special", "math.erf({x})", faster=5.0, vector=True),
    Case("erfc", ((-4, 10),), "scipy.special", "math.erfc({x})"),
    Case("gamma", ((0.1, 20),), "scipy.special", "math.gamma({x})"),
    Case("gammaln", ((0.1, 20),), "scipy.special", "math.lgamma({x})", faster=5.0),
    *_scipy("digamma", (0.1, 20), faster=5.0),
    *_scipy("rgamma", (0.1, 20)),
    *_scipy("i0e j0", (0, 50), faster=5.0),
    *_scipy("j1 y0 y1 i0 i1 i1e k0 k1 k0e k1e exp1", (0.1, 50)),
    *_scipy("ndtri", (0.001, 0.999), faster=5.0),
    *_scipy("erfinv", (-0.999, 0.999), faster=5.0),
    *_scipy("erfcinv", (0.001, 1.999)),
    *_scipy("ndtr log_ndtr erfcx dawsn expit log_expit exp10", (-5, 5)),
    *_scipy("logit entr", (0.001, 0.999)),
    *_scipy("xlogy xlog1py", (0.001, 10), (0.001, 10)),
    *_scipy("gammainc gammaincc", (0.1, 20), (0.1, 20), faster=5.0),
    *_scipy("betainc", (0.1, 20), (0.1, 20), (0, 1), faster=5.0),
    *_scipy("iv ive kv kve", (0, 5), (0.1, 20)),
    *_scipy("owens_t", (-4, 4), (-3, 3)),
]


def ours(case: Case, parallel: bool) -> Callable[..., Any]:
    """A compiled function that writes into given arrays."""
    names, outs = INPUTS[: len(case.ranges)], OUTPUTS[: case.outputs]
    targets = ", ".join(f"{out}[...]" for out in outs)
    call = f"library.{case.name}({', '.join(names)})"
    space: dict[str, Any] = {"library": library(case)}
    exec(f"def f({', '.join((*names, *outs))}):\n    {targets} = {call}", space)
    return npcompile.jit(space["f"], fullgraph=True, parallel=parallel)


def library(case: Case) -> Any:
    return importlib.import_module(case.module)


def theirs(case: Case, inputs: Arrays, outputs: Arrays) -> Call:
    """NumPy's or SciPy's function, called as directly as the others."""
    function = getattr(library(case), case.name)
    if isinstance(function, np.ufunc):
        return partial(function, *inputs, out=outputs)

    def assigned() -> None:
        outputs[0][...] = function(*inputs)

    return assigned


def eagerly(case: Case) -> np.ufunc | None:
    """The ufunc over compiled loops, where there is one."""
    space = npcompile if case.module == "numpy" else npcompile.special
    found = getattr(space, case.name)
    own = isinstance(found, np.ufunc) and found is not getattr(library(case), case.name)
    return found if own else None


def arguments(case: Case, kind: str, n: int) -> tuple[Arrays, Arrays]:
    """Inputs and outputs."""
    rng = np.random.default_rng(n)
    inputs = []
    for low, high in case.ranges:
        x = rng.uniform(low, high, n)
        if kind.startswith("complex"):
            x = x + 1j * rng.uniform(low, high, n)
        inputs.append(x.astype(kind))
    outputs = [np.empty(n, kind) for _ in range(case.outputs)]
    if case.last:
        changed = inputs if case.outputs == 1 else outputs
        changed[-1] = changed[-1].astype(case.last)
    return tuple(inputs), tuple(outputs)


def peers(case: Case, inputs: Arrays, outputs: Arrays, threads: int) -> dict[str, Call]:
    """All implementations that there are."""
    pool.set_num_threads(threads)
    found: dict[str, Call] = {
        "npcompile": partial(ours(case, threads > 1), *inputs, *outputs),
        "library": theirs(case, inputs, outputs)}
    eager = eagerly(case)
    if eager is not None:
        found["eager"] = partial(eager, *inputs, out=outputs)
    if case.numba:
        made = vector_math.numba(case.numba, inputs, outputs, threads)
        try:
            made()
        except Exception:  # numba has no such function
            pass
        else:
            found["numba"] = made
    if inputs[0].dtype.kind == "f":
        vectors = vector_math.libmvec(case.name, (*inputs, *outputs), threads)
        if vectors is not None:
            found["libmvec"] = vectors
    return found


def take_turns(calls: dict[str, Call], clock: Callable[[], float], times: dict[str, list[float]],
               share: int = 1) -> None:
    """Adds the seconds of a call of each, turn by turn; ``share`` times as many turns."""
    counts: dict[str, int] = {}
    for name, call in calls.items():
        call()
        started = time.perf_counter()
        call()
        counts[name] = max(1, int(TURN / (time.perf_counter() - started)))
    spent = dict.fromkeys(calls, 0.0)
    for turn in range(TURNS * share):
        for name, call in calls.items():
            if turn >= LEAST * share and spent[name] > LONG * share:
                continue
            count, begun = counts[name], time.perf_counter()
            call()
            started = clock()
            for _ in range(count):
                call()
            times[name].append((clock() - started) / count)
            spent[name] += time.perf_counter() - begun


def measured(case: Case, kind: str, n: int, calls: dict[str, Call],
             clock: Callable[[], float]) -> Row:
    """A row of the table."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    take_turns(calls, clock, times)
    row = Row(case, kind, n, {name: 1e9 * best(found) / n for name, found in times.items()})
    if not row.near():
        return row
    take_turns(calls, clock, times, MORE)
    return Row(case, kind, n, {name: 1e9 * best(found) / n for name, found in times.items()})


def best(seconds: list[float]) -> float:
    """Of few turns the best one, of many nearly so, since the clocks of virtual machines err now
    and then."""
    return sorted(seconds)[len(seconds) // 50]


@dataclass(frozen=True)
class Row:
    """``times`` are nanoseconds per element."""

    case: Case
    kind: str
    n: int
    times: dict[str, float]

    def ratio(self, peer: str) -> float | None:
        """How many times as fast as a peer."""
        theirs = self.times.get(peer)
        return None if theirs is None else theirs / self.times["npcompile"]

    def goals(self) -> Iterator[tuple[str, float, float]]:
        """What is to be beaten, by how much, and how much faster than that it is."""
        case = self.case
        goal = case.faster if self.n == SMALL and self.kind in ("float64", "complex128") else 1.0
        library, numba, vectors = (self.ratio(peer) for peer in ("library", "numba", "libmvec"))
        assert library is not None
        yield "library", goal, library
        if numba is not None:
            yield "numba", 1.0, numba
        if "eager" in self.times:
            yield "eager", 1.0, self.times["library"] / self.times["eager"]
        if case.vector and vectors is not None:
            yield "libmvec", 0.8, vectors

    def misses(self) -> Iterator[str]:
        """Goals that are not reached."""
        return (f"{peer} {goal:g}" for peer, goal, ratio in self.goals() if ratio < goal)

    def near(self) -> bool:
        """Whether it can't be told from few turns which goals are reached."""
        return any(abs(ratio / goal - 1) < NEAR for _, goal, ratio in self.goals())

    def __str__(self) -> str:
        cells = [self.case.name, self.kind, "4096" if self.n == SMALL else "1e6",
                 f"{self.times['npcompile']:.3f}"]
        ratios = [self.ratio(peer) for peer in ("library", "numba", "libmvec")]
        eager = self.times.get("eager")
        ratios.append(None if eager is None else self.times["library"] / eager)
        cells += ["" if r is None else f"{r:.2f}" for r in ratios]
        return f"| {' | '.join(cells)} | {', '.join(self.misses())} |"


HEAD = """# Elementary and special functions

Nanoseconds per element of npcompile, and how many times as fast as NumPy or SciPy (*library*),
numba's loop and glibc's libmvec with AVX-512 (whose errors are up to 4 ulp) it is; results go into
given arrays.  *eager* is how many times as fast as the library's the ufunc of `import npcompile as
np` is, where it has compiled loops.  *missed* names goals that are not reached: as fast as NumPy
and numba everywhere; in float64 at N = 4096 sine and cosine ten times as fast as NumPy's, erf,
gammaln, digamma, i0e, j0, ndtri, erfinv, betainc, gammainc and gammaincc five times as fast as
SciPy's, complex exp, log and sqrt three times as fast as NumPy's; exp, log, sin, cos, tanh, erf and
power at 0.8 of libmvec's speed or more.

N = 4096 on one thread by its processor time{large}.
The best of {turns} turns in one process, or of {least} where these take long; of many the best but
2%, since the clocks of virtual machines err now and then.  A turn begins with a call that is not
timed, so that no function finds caches and threads as another left them.  Where a ratio is within
{near:.0%} of its goal, above or below, all of the row take {more} times as many turns more, and all
turns count.

    python -m benchmarks.functions --write

Machine: {machine}, {threads} cores; {date}; {note}NumPy {numpy},
SciPy {scipy}, numba {numba}, llvmlite {llvmlite}, glibc {libc}.

{summary}

| function | dtype | N | ns | library | numba | libmvec | eager | missed |
|---|---|---|--:|--:|--:|--:|--:|---|
"""


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))


def summary(rows: list[Row]) -> str:
    """How many rows miss a goal, and which."""
    missed = [row for row in rows if any(row.misses())]
    lines = [f"{len(missed)} of {len(rows)} rows miss a goal{':' if missed else '.'}"]
    lines += [f"* {row.case.name} of {row.kind} at {row.n}: {', '.join(row.misses())}"
              for row in missed]
    return "\n".join(lines)


def page(rows: list[Row], threads: int, cpu: bool) -> str:
    import llvmlite
    import numba
    import scipy

    clock = "the process's processor time" if cpu else "the wall clock"
    large = f";\nN = 1e6 on {threads} threads (NumPy and SciPy on one) by {clock}"
    head = HEAD.format(
        threads=threads, large=large if any(row.n == LARGE for row in rows) else "",
        turns=TURNS, least=LEAST, near=NEAR, more=MORE, machine=_processor(), date=date.today(),
        note="other programs ran beside it; " if cpu else "",
        numpy=np.__version__, scipy=scipy.__version__, numba=numba.__version__,
        llvmlite=llvmlite.__version__, libc=platform.libc_ver()[1],
        summary=summary(rows))
    return head + "\n".join(map(str, rows)) + "\n"


def main(words: list[str]) -> None:
    import numba

    warnings.simplefilter("ignore")
    cpu = "--cpu" in words
    names = [word for word in words if not word.startswith("--")]
    if names and "--write" in words:
        raise SystemExit("the page has the rows of all functions: no names with --write")
    threads = numba.get_num_threads()
    rows = []
    for case in CASES:
        if names and case.name not in names:
            continue
        for kind in case.kinds:
            for n, used in ((SMALL, 1), (LARGE, threads)):
                if ("--small" if n == LARGE else "--large") in words:
                    continue
                clock = time.thread_time if n == SMALL else (
                    time.process_time if cpu else time.perf_counter)
                with np.errstate(all="ignore"):
                    calls = peers(case, *arguments(case, kind, n), used)
                    rows.append(measured(case, kind, n, calls, clock))
                print(rows[-1], flush=True)
    print(summary(rows))
    if "--write" in words:
        PAGE.write_text(page(rows, threads, cpu))


if __name__ == "__main__":
    main(sys.argv[1:])
