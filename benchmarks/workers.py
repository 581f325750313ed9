"""Peers in processes of their own: the threads of one that wait for work, some of them spinning,
would else run into the others' time.  Only one process works at a time, in turns."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.cases import CASES, arguments

LEAST, ROUND = 3, 0.6  # rounds, and seconds of each after which there are no more
NEAR, MORE = 0.05, 4  # so near to the fastest, and so many times the rounds more
REST = 0.003  # seconds in which the threads of the peer before go to sleep


def burst(function: Callable[..., Any], args: list[Any], seconds: float) -> float:
    """Median seconds of the calls of some time after one that wakes threads.  Every result is
    dropped at the next one, as in a program that goes on with it."""
    function(*args)
    started = time.perf_counter()
    kept = function(*args)
    once = max(time.perf_counter() - started, 1e-7)
    inner = max(1, int(20e-6 / once))
    times = []
    for _ in range(max(2, int(seconds / (once * inner)))):
        started = time.perf_counter()
        for _ in range(inner):
            kept = function(*args)
        times.append((time.perf_counter() - started) / inner)
    del kept
    return float(np.median(times))


def work(name: str, threads: int, link: Connection) -> None:
    """Answers requests: a case with its dtype makes a callable, a size its arguments, ``None`` a
    measurement."""
    from benchmarks import peers

    made: Any = None
    args: list[Any] = []
    with peers.threads(threads, name):
        while (request := link.recv()) != "end":
            if isinstance(request, tuple):
                case, dtype = next(c for c in CASES if c.name == request[0]), request[1]
                small = arguments(case, 1000, dtype)
                made = case.function if name == "numpy" else peers.make(name, case, small)
                link.send(made if isinstance(made, str) else "")
            elif isinstance(request, int):
                args = arguments(case, request, dtype)
                made(*args)
                link.send(True)
            else:
                link.send(burst(made, args, 0.03))


class Worker:
    def __init__(self, name: str, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.link, other = context.Pipe()
        self.process = context.Process(target=work, args=(name, threads, other), daemon=True)
        self.process.start()
        self.able = False

    def ask(self, request: Any) -> Any:
        self.link.send(request)
        return self.link.recv()


@contextmanager
def started(names: list[str], threads: int) -> Iterator[dict[str, Worker]]:
    workers = {name: Worker(name, threads) for name in names}
    try:
        yield workers
    finally:
        for worker in workers.values():
            worker.link.send("end")
            worker.process.join(5)


def measure(workers: dict[str, Worker], n: int, rounds: int) -> dict[str, float]:
    """Seconds: each has its turn in every round, every other time in the opposite order, with a
    median of calls; the best turn counts, for other programs may run beside some of them.  Those
    that are nearly as fast as the fastest, and it, then have more turns."""
    able = {name: worker for name, worker in workers.items() if worker.able}
    for worker in able.values():
        worker.ask(n)
    spent: dict[str, list[float]] = {name: [] for name in able}
    _take_turns(able, spent, rounds)
    fastest = min(map(min, spent.values()))
    near = {name: able[name] for name in able if min(spent[name]) <= (1 + NEAR) * fastest}
    if len(near) > 1:
        _take_turns(near, spent, MORE * rounds)
    return {name: min(times) for name, times in spent.items()}


def _take_turns(workers: dict[str, Worker], spent: dict[str, list[float]], rounds: int) -> None:
    names, started = list(workers), time.perf_counter()
    for turn in range(rounds):
        if turn >= LEAST and time.perf_counter() - started > ROUND * rounds:
            break
        for name in reversed(names) if turn % 2 else names:
            time.sleep(REST)
            spent[name].append(workers[name].ask(None))
