"""``python -m benchmarks.corpus [--small] [--peers ...]``: the corpus side by side with NumPy.

Every peer works in a process of its own that is ended when it takes too long.  Arguments are made
anew for each call, outside of the time; the best call counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.programs import PROGRAMS, Program
from benchmarks.programs.compare import difference

LIMIT = 60.0  # seconds of one peer for one program
MOST = 7  # turns of one measurement
QUICK, QUICK_CALLS = 5e-3, 3  # what takes less seconds is called so often in a turn
Answer = dict[str, Any]


def once(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - started, result


def best(
    functions: dict[str, Callable[..., Any]], program: Program, size: int, budget: float
) -> Answer:
    """The best seconds of each function, in turns, until the budget of seconds is spent."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    started = time.perf_counter()
    for turn in range(MOST):
        if turn > 1 and time.perf_counter() - started > budget:
            break
        for name, function in functions.items():
            for _ in range(QUICK_CALLS):  # of which the first finds another's data in the caches
                times[name].append(once(function, program.arguments(size))[0])
                if times[name][-1] > QUICK:
                    break
    return {name: min(found) for name, found in times.items()}


def check(function: Callable[..., Any], program: Program, size: int, strict: bool) -> str:
    """The difference to NumPy in result and arguments, or an empty string."""
    args, plain = program.arguments(size), program.arguments(size)
    got, want = function(*args), program.function(*plain)
    return difference(got, want, program.exact and strict, strict) or difference(
        args, plain, program.exact and strict, strict
    )


def npcompile_and_numpy(program: Program, size: int, budget: float) -> Answer:
    """Times of both, of first calls without and with the code on disk, and what was captured."""
    import npcompile

    first, _ = once(npcompile.jit(program.function), program.arguments(program.small))
    compiled = npcompile.jit(program.function)
    warm, _ = once(compiled, program.arguments(program.small))
    wrong = check(compiled, program, size, strict=True)
    told = compiled.explain(*program.arguments(size))
    # the history: how many versions, then every return to Python
    left = [str(told.refusal)] if told.refusal else told.pauses or compiled.explain().history[1:]
    times = best({"numpy": program.function, "npcompile": compiled}, program, size, budget)
    why = left[0] if left else ""
    return {"first": first, "warm": warm, "wrong": wrong, "reason": why, **times}


def helpers(program: Program, made: Callable[[Any], Any]) -> tuple[Any, Callable[..., Any]]:
    """The function with the functions that it calls, and those among its arguments, compiled."""
    scope = dict(program.function.__globals__)
    for name, value in scope.items():
        own = isinstance(value, FunctionType) and value.__module__ == program.function.__module__
        if own and name in program.function.__code__.co_names:
            scope[name] = made(value)
    function = FunctionType(program.function.__code__, scope, program.name)
    function.__defaults__ = program.function.__defaults__
    known: dict[Any, Any] = {}

    def converted(*args: Any) -> tuple[Any, ...]:
        return tuple(
            known.setdefault(a, made(a)) if isinstance(a, FunctionType) else a for a in args
        )

    return made(function), converted


def _numba(**options: bool) -> Callable[[Program], Callable[..., Any]]:
    def make(program: Program) -> Callable[..., Any]:
        import warnings

        import numba

        warnings.simplefilter("ignore")
        fast, converted = helpers(program, numba.njit(**options))
        return lambda *args: fast(*converted(*args))

    return make


def _jax(program: Program) -> Callable[..., Any]:
    from benchmarks.peers import with_jax

    return with_jax(program)  # type: ignore[arg-type]  # it looks at the function only


def _torch(program: Program) -> Callable[..., Any]:
    import torch

    return torch.compile(program.function)


PEERS: dict[str, tuple[str, Callable[[Program], Callable[..., Any]]]] = {
    "numba": ("numba", _numba()),
    "numba parallel": ("numba", _numba(parallel=True)),
    "jax": ("jax", _jax),
    "torch": ("torch", _torch),
}


def peer(name: str, program: Program, size: int, budget: float) -> Answer:
    """Seconds of a peer, of its first call, or why there are none."""
    function = PEERS[name][1](program)
    first, _ = once(function, program.arguments(program.small))
    wrong = check(function, program, size, strict=False)
    if wrong:
        return {"reason": f"wrong: {wrong}"}
    return {"first": first, **best({name: function}, program, size, budget)}


def work(name: str, link: Connection) -> None:
    np.seterr(all="ignore")
    if name == "npcompile":
        import npcompile

        npcompile.jit(lambda x: x + 1)(np.zeros(3))  # imports the compiler
    while True:
        name_of_program, size, budget = link.recv()
        program = PROGRAMS[name_of_program]
        try:
            if name == "npcompile":
                answer = npcompile_and_numpy(program, size, budget)
            else:
                answer = peer(name, program, size, budget)
        except Exception as error:  # a result too
            lines = str(error).strip().splitlines() or [""]
            answer = {"reason": f"{type(error).__name__}: {lines[0][:80]}", "failed": True}
        link.send(answer)


class Worker:
    """A process for one peer, started again after it was ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.link, other = context.Pipe()
        self.process = context.Process(target=work, args=(self.name, other), daemon=True)
        self.process.start()
        other.close()

    def ask(self, program: str, size: int, budget: float) -> Answer:
        self.link.send((program, size, budget))
        try:
            if self.link.poll(LIMIT):
                answer: Answer = self.link.recv()
                return answer
            reason = f"took longer than {LIMIT:.0f} s"
        except (EOFError, ConnectionError):
            reason = "ended its process"
        self.end()
        self.start()
        return {"reason": reason, "failed": True}

    def end(self) -> None:
        self.process.kill()
        self.process.join()


def mean(values: list[float]) -> str:
    return f"{np.exp(np.mean(np.log(values))):.2f}" if values else "-"


def row(program: Program, found: dict[str, Answer], peers: list[str]) -> str:
    own = found["npcompile"]
    if "numpy" not in own:
        return f"| {program.name} | - | - | - | - | {own['reason']} |" + " - |" * len(peers)
    base = own["numpy"]
    cells = [
        program.name,
        f"{1e3 * base:.1f}",
        f"{base / own['npcompile']:.2f}",
        f"{1e3 * own['first']:.0f}",
        f"{1e3 * own['warm']:.0f}",
        f"**wrong: {own['wrong']}**" if own["wrong"] else own["reason"] or "whole",
    ]
    given = [f"{base / found[name][name]:.2f}" if name in found[name] else "-" for name in peers]
    return "| " + " | ".join(cells + given) + " |"


def summary(results: dict[str, dict[str, Answer]], peers: list[str]) -> list[str]:
    """Geometric means over NumPy, counts, reasons, and programs slower than NumPy."""
    able = {name: found for name, found in results.items() if "numpy" in found["npcompile"]}
    header = ["geometric mean over NumPy", "programs", "npcompile", *peers]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for title, kinds in (("arrays", (False,)), ("scalar loops", (True,)), ("all", (False, True))):
        names = [name for name in able if PROGRAMS[name].scalar in kinds]
        cells = []
        for who in ("npcompile", *peers):
            ratios = [
                able[n]["npcompile"]["numpy"] / able[n][who][who]
                for n in names if who in able[n][who]
            ]
            cells.append(mean(ratios) + ("" if len(ratios) == len(names) else f" ({len(ratios)})"))
        lines.append(f"| {title} | {len(names)} | " + " | ".join(cells) + " |")
    own = {name: found["npcompile"] for name, found in able.items()}
    whole = [name for name, answer in own.items() if not answer["reason"]]
    gains = [own[name]["numpy"] / own[name]["npcompile"] for name in whole]
    lines += ["", f"{len(whole)} of {len(results)} are captured whole; these: {mean(gains)}."]
    for title, key in (("First call", "first"), ("First call with the code on disk", "warm")):
        times = [1e3 * own[name][key] for name in whole]
        if times:
            lines.append(f"{title} of these: median {np.median(times):.0f} ms,"
                         f" worst {max(times):.0f} ms.")
    for name in peers:
        both = [a for a in able.values() if name in a[name]]
        ahead = sum(a["npcompile"]["npcompile"] <= a[name][name] for a in both)
        lines.append(f"As fast as {name} or faster on {ahead} of {len(both)} that it runs.")
    slow = {name: a["numpy"] / a["npcompile"] for name, a in own.items()}
    slow = {name: ratio for name, ratio in slow.items() if ratio < 0.97}
    text = ", ".join(f"{n} ({r:.2f})" for n, r in sorted(slow.items(), key=lambda t: t[1]))
    lines += ["", f"Slower than NumPy (< 0.97): {text or 'none'}."]
    failed = [f"{n}: {a['npcompile']['reason']}" for n, a in results.items() if n not in able]
    wrong = [f"{n}: {a['wrong']}" for n, a in own.items() if a["wrong"]]
    lines += ["", "Wrong or failed: " + ("; ".join(failed + wrong) or "none") + "."]
    lines += ["", "| programs | why they run in Python |", "|---|---|"]
    told = [a["reason"] for a in own.values() if a["reason"]]
    reasons = Counter(re.sub(r"^line \d+: | \(\w+\)$", "", text) for text in told)
    return lines + [f"| {count} | {reason} |" for reason, count in reasons.most_common()]


def run(options: argparse.Namespace) -> list[str]:
    peers = [name for name in options.peers or [] if importlib.util.find_spec(PEERS[name][0])]
    workers = {name: Worker(name) for name in ("npcompile", *peers)}
    header = ["program", "NumPy, ms", "npcompile", "first call, ms", "from disk, ms", "captured"]
    lines = ["| " + " | ".join(header + peers) + " |", "|---" * (len(header) + len(peers)) + "|"]
    results: dict[str, dict[str, Answer]] = {}
    started = time.perf_counter()
    for program in PROGRAMS.values():
        if time.perf_counter() - started > 60 * options.minutes:
            break
        if options.programs and program.name not in options.programs:
            continue
        size = program.small if options.small else program.bench
        found = {
            name: worker.ask(program.name, size, options.budget)
            for name, worker in workers.items()
        }
        results[program.name] = found
        lines.append(row(program, found, peers))
        print(lines[-1], flush=True)
        for name in peers:
            if "reason" in found[name]:
                print(f"  {name}: {found[name]['reason']}", flush=True)
    for worker in workers.values():
        worker.end()
    return [*summary(results, peers), "", *lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=[])
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), help="none named: all")
    parser.add_argument("--budget", type=float, default=1.5, help="seconds of a measurement")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begins no program later")
    parser.add_argument("--output", default="")
    options = parser.parse_args()
    if options.peers == []:
        options.peers = list(PEERS)
    from benchmarks.run import versions

    with tempfile.TemporaryDirectory() as folder:
        os.environ["NPCOMPILE_CACHE_DIR"] = folder
        lines = [*versions(), "", *run(options)]
    print("\n".join(lines))
    if options.output:
        Path(options.output).write_text("# The corpus\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
