"""``python -m benchmarks.corpus [--small] [--peers NAME,...]``: the corpus side by side with NumPy.

Every peer works in a process of its own that is ended when it takes too long.  Arguments are made
anew for each call, outside of the time; the best call counts.  Where npcompile and the fastest peer
are within 5 %, all are measured once more, and the best of both counts for each.  With ``--times
FILE`` the times of earlier runs are kept there, so that peers can be measured one after the other
(``--peers torch --peers-only``), and ``--able`` leaves out what a peer could not run then.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.programs import PROGRAMS, Program
from benchmarks.programs.compare import difference

MOST = 7  # turns of one measurement
QUICK, QUICK_CALLS = 5e-3, 3  # what takes less seconds is called so often in a turn
CLOSE = 0.05  # what differs by less from the fastest peer is measured once more
FAR = 150  # nanoseconds to another processor and back, where they share no cache
Answer = dict[str, Any]
Results = dict[str, dict[str, Answer]]  # of each program and peer


def once(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - started, result


def best(function: Callable[..., Any], program: Program, size: int, budget: float) -> float:
    """The best seconds of a call, in turns, until the budget of seconds is spent."""
    times: list[float] = []
    started = time.perf_counter()
    for turn in range(MOST):
        if turn > 1 and time.perf_counter() - started > budget:
            break
        for _ in range(QUICK_CALLS):
            times.append(once(function, program.arguments(size))[0])
            if times[-1] > QUICK:
                break
    return min(times)


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
    from benchmarks.distance import distance

    first, _ = once(npcompile.jit(program.function), program.arguments(program.small))
    compiled = npcompile.jit(program.function)
    warm, _ = once(compiled, program.arguments(program.small))
    wrong = check(compiled, program, size, strict=True)
    told = compiled.explain(*program.arguments(size))
    # the history: how many versions, then every return to Python
    left = [str(told.refusal)] if told.refusal else told.pauses or compiled.explain().history[1:]
    before = distance()
    times = {
        name: best(function, program, size, budget)
        for name, function in (("numpy", program.function), ("npcompile", compiled))
    }
    why = left[0] if left else ""
    apart = max((d for d in (before, distance()) if d is not None), default=None)
    return {
        "first": first, "warm": warm, "wrong": wrong, "reason": why, "apart": apart, **times
    }


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
    """Its module's functions on jax.numpy, compiled for the whole numbers that they are given."""
    import jax

    config: Any = jax.config
    config.update("jax_enable_x64", True)
    import jax.numpy
    import jax.scipy.special

    scope = dict(program.function.__globals__)
    known: dict[Any, Any] = {}
    for name, value in scope.items():
        if isinstance(value, FunctionType) and value.__module__ == program.function.__module__:
            known[value] = scope[name] = FunctionType(value.__code__, scope, name)
            scope[name].__defaults__ = value.__defaults__
    scope.update(np=jax.numpy, erf=jax.scipy.special.erf)
    static = [
        place for place, value in enumerate(program.arguments(program.small))
        if isinstance(value, (int, str, FunctionType))
    ]
    fast = jax.jit(known[program.function], static_argnums=static)
    wait: Any = jax.block_until_ready
    return lambda *args: wait(
        fast(*(known[a] if isinstance(a, FunctionType) else a for a in args))
    )


def _torch(program: Program) -> Callable[..., Any]:
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no processes that outlive this one
    import torch

    torch._dynamo.reset()
    return torch.compile(program.function)


@dataclass(frozen=True)
class Peer:
    """What another compiler is called, needs, and makes of a program."""

    title: str
    module: str
    make: Callable[[Program], Callable[..., Any]]


PEERS: dict[str, Peer] = {
    "numba": Peer("numba", "numba", _numba()),
    "parallel": Peer("numba parallel", "numba", _numba(parallel=True)),
    "jax": Peer("jax", "jax", _jax),
    "torch": Peer("torch", "torch", _torch),
}


def peer(name: str, program: Program, size: int, budget: float) -> Answer:
    """Seconds of a peer, or why there are none."""
    function = PEERS[name].make(program)
    wrong = check(function, program, size, strict=False)
    if wrong:
        return {"reason": f"wrong: {wrong}", "wrong": True}
    return {name: best(function, program, size, budget)}


def work(name: str, link: Connection) -> None:
    np.seterr(all="ignore")
    if name == "npcompile":
        import npcompile

        npcompile.jit(lambda x: x + 1)(np.zeros(3))  # imports the compiler
    link.send("ready")
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

    def __init__(self, name: str, limit: float) -> None:
        self.name, self.limit = name, limit
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.link, other = context.Pipe()
        self.process = context.Process(target=work, args=(self.name, other), daemon=True)
        self.process.start()
        other.close()
        self.link.recv()  # what it imports would take others' time

    def ask(self, program: str, size: int, budget: float) -> Answer:
        self.link.send((program, size, budget))
        try:
            if self.link.poll(self.limit):
                answer: Answer = self.link.recv()
                return answer
            reason = f"took longer than {self.limit:.0f} s"
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


def fastest(found: dict[str, Answer]) -> str:
    """The name of the peer that takes the least time, or nothing where none can run it."""
    able = [name for name in PEERS if name in found.get(name, {})]
    return min(able, key=lambda name: found[name][name], default="")


def is_close(found: dict[str, Answer]) -> bool:
    """Whether npcompile takes nearly as long as the fastest peer."""
    peer, own = fastest(found), found["npcompile"]
    return bool(peer) and "npcompile" in own and (
        abs(own["npcompile"] / found[peer][peer] - 1) < CLOSE
    )


def pooled(one: Answer, other: Answer) -> Answer:
    """An answer with the best times of two."""
    timed = [name for name in ("numpy", "npcompile", *PEERS) if name in one and name in other]
    return {**one, **{name: min(one[name], other[name]) for name in timed}}


def speed(found: dict[str, Answer], name: str) -> str:
    """Times NumPy's speed, as text."""
    if name not in found.get(name, {}):
        return "-"
    return f"{found['npcompile']['numpy'] / found[name][name]:.2f}"


def row(program: Program, found: dict[str, Answer], peers: list[str]) -> str:
    own = found["npcompile"]
    if "numpy" not in own:
        return f"| {program.name} | - | - | - | - | {own['reason']} |" + " - |" * (len(peers) + 1)
    best_peer = fastest(found)
    cells = [
        program.name,
        f"{1e3 * own['numpy']:.1f}",
        speed(found, "npcompile"),
        f"{1e3 * own['first']:.0f}",
        f"{1e3 * own['warm']:.0f}",
        f"**wrong: {own['wrong']}**" if own["wrong"] else own["reason"] or "whole",
        *(speed(found, name) for name in peers),
        PEERS[best_peer].title if best_peer else "-",
    ]
    return "| " + " | ".join(cells) + " |"


def means(able: Results, peers: list[str]) -> list[str]:
    """Geometric means of the speed over NumPy's, by kind of program."""
    header = ["geometric mean over NumPy", "programs", "npcompile"]
    header += [*(PEERS[name].title for name in peers), "the best of these"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for title, kinds in (("arrays", (False,)), ("scalar loops", (True,)), ("all", (False, True))):
        rows = [able[name] for name in able if PROGRAMS[name].scalar in kinds]
        cells = []
        for who in ("npcompile", *peers, "best"):
            names = [fastest(found) if who == "best" else who for found in rows]
            ratios = [
                found["npcompile"]["numpy"] / found[name][name]
                for found, name in zip(rows, names) if name in found.get(name, {})
            ]
            cells.append(mean(ratios) + ("" if len(ratios) == len(rows) else f" ({len(ratios)})"))
        lines.append(f"| {title} | {len(rows)} | " + " | ".join(cells) + " |")
    return lines


def beside(results: Results, able: Results, peers: list[str]) -> list[str]:
    """On how many programs npcompile is as fast as each peer, and what peers can't do."""
    lines = []
    for name in (*peers, "best"):
        pairs = [
            (a["npcompile"]["npcompile"], a[who][who]) for a in able.values()
            if (who := fastest(a) if name == "best" else name) in a.get(who, {})
        ]
        counts = [sum(own <= factor * other for own, other in pairs) for factor in (1, 1.03, 1.1)]
        title = "the best of these" if name == "best" else PEERS[name].title
        text = f"As fast as {title} or faster on {counts[0]} of {len(pairs)}"
        text += f", within 3 % on {counts[1]}, within 10 % on {counts[2]}."
        if name != "best":
            asked = [found[name] for found in results.values() if name in found]
            wrong = sum(bool(answer.get("wrong")) for answer in asked)
            text += f"  Of {len(asked)} it gets {wrong} wrong and can't run"
            text += f" {sum('reason' in answer for answer in asked) - wrong}."
        lines.append(text)
    return lines


def far(own: dict[str, Answer]) -> str:
    """Which programs were measured while the processors shared no cache, which threads notice."""
    known = {name: a["apart"] for name, a in own.items() if a.get("apart") is not None}
    names = [name for name, found in known.items() if found > FAR]
    text = ", ".join(names) if len(names) < len(own) else "all"
    return f"Processors more than {FAR} ns apart (there and back): {text or 'never'}."


def summary(results: Results, peers: list[str]) -> list[str]:
    """Geometric means over NumPy, counts, reasons, and programs slower than NumPy."""
    able = {name: found for name, found in results.items() if "numpy" in found["npcompile"]}
    lines = means(able, peers)
    own = {name: found["npcompile"] for name, found in able.items()}
    whole = [name for name, answer in own.items() if not answer["reason"]]
    gains = [own[name]["numpy"] / own[name]["npcompile"] for name in whole]
    lines += ["", f"{len(whole)} of {len(results)} are captured whole; these: {mean(gains)}."]
    for title, key in (("First call", "first"), ("First call with the code on disk", "warm")):
        times = [1e3 * own[name][key] for name in whole]
        if times:
            lines.append(f"{title} of these: median {np.median(times):.0f} ms,"
                         f" worst {max(times):.0f} ms.")
    lines += beside(results, able, peers) if peers else []
    slow = {name: a["numpy"] / a["npcompile"] for name, a in own.items()}
    slow = {name: ratio for name, ratio in slow.items() if ratio < 0.97}
    text = ", ".join(f"{n} ({r:.2f})" for n, r in sorted(slow.items(), key=lambda t: t[1]))
    lines += ["", f"Slower than NumPy (< 0.97): {text or 'none'}."]
    lines += ["", far(own)]
    failed = [f"{n}: {a['npcompile']['reason']}" for n, a in results.items() if n not in able]
    wrong = [f"{n}: {a['wrong']}" for n, a in own.items() if a["wrong"]]
    lines += ["", "Wrong or failed: " + ("; ".join(failed + wrong) or "none") + "."]
    lines += ["", "| programs | why they run in Python |", "|---|---|"]
    told = [a["reason"] for a in own.values() if a["reason"]]
    reasons = Counter(re.sub(r"^line \d+: | \(\w+\)$", "", text) for text in told)
    return lines + [f"| {count} | {reason} |" for reason, count in reasons.most_common()]


def table(results: Results, peers: list[str]) -> list[str]:
    header = ["program", "NumPy, ms", "npcompile", "first call, ms", "from disk, ms", "captured"]
    header += [*(PEERS[name].title for name in peers), "fastest peer"]
    rows = [row(PROGRAMS[name], found, peers) for name, found in results.items()]
    return ["| " + " | ".join(header) + " |", "|---" * len(header) + "|", *rows]


def told(program: str, found: dict[str, Answer], names: list[str]) -> str:
    """What was measured now, for who waits for it."""
    texts = []
    for name in names:
        answer = found[name]
        seconds = f"{1e3 * answer[name]:.2f} ms" if name in answer else ""
        texts.append(f"{name} {seconds or answer.get('reason', '')}")
    return f"{program}: " + ", ".join(texts)


def measure(options: argparse.Namespace, results: Results) -> None:
    """Asks the processes for what the options name; answers replace those of earlier runs."""
    peers = [name for name in options.peers if importlib.util.find_spec(PEERS[name].module)]
    names = [*([] if options.peers_only else ["npcompile"]), *peers]
    workers = {name: Worker(name, options.limit) for name in names}
    started = time.perf_counter()
    for program in PROGRAMS.values():
        if time.perf_counter() - started > 60 * options.minutes:
            break
        if options.programs and program.name not in options.programs:
            continue
        size = program.small if options.small else program.bench
        found = results.setdefault(program.name, {})
        asked = [
            name for name in names
            if not (options.able and name in PEERS and "reason" in found.get(name, {}))
        ]
        for name in asked:
            found[name] = workers[name].ask(program.name, size, options.budget)
        if "npcompile" in asked and is_close(found):
            for name in asked:
                answer = workers[name].ask(program.name, size, options.budget)
                found[name] = pooled(found[name], answer)
        print(told(program.name, found, asked), flush=True)
        if options.times:
            Path(options.times).write_text(json.dumps(results, indent=1))
    for worker in workers.values():
        worker.end()


def named(text: str) -> list[str]:
    """Names of peers with commas between them."""
    names = list(PEERS) if text == "all" else text.split(",")
    if unknown := set(names) - set(PEERS):
        raise argparse.ArgumentTypeError(f"no peers: {', '.join(sorted(unknown))}")
    return names


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=[])
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--peers", type=named, default=[], help=f"of {','.join(PEERS)}, or all")
    parser.add_argument("--peers-only", action="store_true", help="npcompile's times are old ones")
    parser.add_argument("--able", action="store_true", help="without what peers could not run")
    parser.add_argument("--times", default="", help="a file that keeps times between runs")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a peer and program")
    parser.add_argument("--budget", type=float, default=1.5, help="seconds of a measurement")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begins no program later")
    parser.add_argument("--output", default="")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    from benchmarks.run import versions

    results: Results = {}
    if options.times and Path(options.times).exists():
        results = json.loads(Path(options.times).read_text())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NPCOMPILE_CACHE_DIR"] = folder
        measure(options, results)
    results = {name: results[name] for name in PROGRAMS if "npcompile" in results.get(name, {})}
    peers = [name for name in PEERS if any(name in found for found in results.values())]
    lines = [*versions(), "", *summary(results, peers), "", *table(results, peers)]
    print("\n".join(lines))
    if options.output:
        Path(options.output).write_text("# The corpus\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
