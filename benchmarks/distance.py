"""``python -m benchmarks.distance [--times N]``: how long a line goes to a processor and back.

Under 100 ns where they share a cache, some 300 where they don't.  A virtual machine's host may move
it from one to the other while it runs: then kernels whose results another thread reads next take up
to three times as long, in one second and not in the next.  Measurements should say which it was.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import threading
import time
from functools import cache

import numpy as np

from benchmarks.joining import frequency
from npcompile.backends.cpu.loader.compile import Loaded, load
from npcompile.runtime.cache.disk import compiled

ROUNDS, SERIES = 100, 200
PATIENCE = 0.1  # seconds

_TEXT = """
declare i64 @llvm.readcyclecounter()

define i64 @cycles() {
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}

; waits until the counter is the next of this side's numbers, and adds 1; the fewest cycles of a
; series of rounds, or of what was done before too many cycles had passed
define i64 @bounce(ptr %counter, i64 %side, i64 %rounds, i64 %series, i64 %patience) {
entry:
  %begin = call i64 @llvm.readcyclecounter()
  br label %series.head
series.head:
  %s = phi i64 [ 0, %entry ], [ %s.next, %series.end ]
  %best = phi i64 [ -1, %entry ], [ %best.next, %series.end ]
  %start = call i64 @llvm.readcyclecounter()
  %first = mul i64 %s, %rounds
  br label %round
round:
  %r = phi i64 [ 0, %series.head ], [ %r.next, %go ]
  %done = add i64 %first, %r
  %twice = shl i64 %done, 1
  %mine = add i64 %twice, %side
  br label %look
look:
  %seen = load atomic i64, ptr %counter acquire, align 64
  %ready = icmp eq i64 %seen, %mine
  br i1 %ready, label %go, label %wait
wait:
  %now = call i64 @llvm.readcyclecounter()
  %spent = sub i64 %now, %begin
  %late = icmp ugt i64 %spent, %patience
  br i1 %late, label %leave, label %look
go:
  %given = add i64 %mine, 1
  store atomic i64 %given, ptr %counter release, align 64
  %r.next = add i64 %r, 1
  %more = icmp slt i64 %r.next, %rounds
  br i1 %more, label %round, label %series.end
series.end:
  %end = call i64 @llvm.readcyclecounter()
  %took = sub i64 %end, %start
  %less = icmp ult i64 %took, %best
  %best.next = select i1 %less, i64 %took, i64 %best
  %s.next = add i64 %s, 1
  %again = icmp slt i64 %s.next, %series
  br i1 %again, label %series.head, label %leave
leave:
  %result = phi i64 [ %best, %wait ], [ %best.next, %series.end ]
  ret i64 %result
}
"""


@cache
def _code() -> tuple[Loaded, float]:
    """The machine code and the cycles of the time stamp counter in a nanosecond."""
    code = load(compiled(_TEXT))
    return code, frequency(code) / 1e3


def distance() -> float | None:
    """Nanoseconds to another processor and back; None if there is none that is free."""
    code, rate = _code()
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        return None
    bounce = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, *[ctypes.c_int64] * 4)(
        code["bounce"])
    room = np.zeros(24, np.int64)
    counter = (room.ctypes.data + 63) // 64 * 64
    rest = (ROUNDS, SERIES, int(PATIENCE * 1e9 * rate))
    found: list[int] = []

    def side(which: int) -> None:
        os.sched_setaffinity(0, {processors[which]})  # of this thread
        found.append(bounce(counter, which, *rest))

    threads = [threading.Thread(target=side, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    least = min(found)
    return least / ROUNDS / rate if least < 1 << 63 else None


def told(found: float | None) -> str:
    return "unknown" if found is None else f"{found:.0f} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="once a second")
    for turn in range(parser.parse_args().times):
        time.sleep(min(turn, 1))
        print(told(distance()), flush=True)


if __name__ == "__main__":
    main()
