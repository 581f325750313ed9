"""``python -m benchmarks.joining``: do the pool's workers begin before the caller is done?

Each part notes when and on which processor it begins and ends.  Every line is some processes, in
which the caller is moved to another processor before each series of calls, as happens to one that
has waited for something.  *late*: the caller had to run the worker's part; *shared*: the worker ran
on the caller's processor.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import time

import numpy as np

from npcompile.backends.cpu.loader.compile import Loaded, load
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.threads import pool

CALLS, SERIES = 200, 10
EDGES = (1, 5, 10, 20, 50, 100)  # microseconds

_TEXT = """
declare i32 @sched_getcpu()
declare i64 @llvm.readcyclecounter()
declare void @npc_pool_run(ptr, ptr, i64, i64, i64)

define i64 @cycles() {
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}

; notes[3 * part]: first and last cycle and processor of each part; the cycles of a part before them
define void @part(ptr %frame, i64 %begin, i64 %end) {
entry:
  %first = call i64 @llvm.readcyclecounter()
  %processor = call i32 @sched_getcpu()
  %wide = zext i32 %processor to i64
  %work = load i64, ptr %frame
  br label %loop
loop:
  %now = call i64 @llvm.readcyclecounter()
  %spent = sub i64 %now, %first
  %more = icmp ult i64 %spent, %work
  br i1 %more, label %loop, label %done
done:
  %index = mul i64 %begin, 3
  %at = add i64 %index, 1
  %note = getelementptr i64, ptr %frame, i64 %at
  store i64 %first, ptr %note
  %note.last = getelementptr i64, ptr %note, i64 1
  store i64 %now, ptr %note.last
  %note.processor = getelementptr i64, ptr %note, i64 2
  store i64 %wide, ptr %note.processor
  ret void
}

; a call of two parts and a pause, %count times; a row of %notes for each: begin, then the frame
define void @series(ptr %notes, i64 %count, i64 %work, i64 %pause) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %test]
  %index = mul i64 %i, 8
  %row = getelementptr i64, ptr %notes, i64 %index
  %frame = getelementptr i64, ptr %row, i64 1
  store i64 %work, ptr %frame
  %begin = call i64 @llvm.readcyclecounter()
  store i64 %begin, ptr %row
  call void @npc_pool_run(ptr @part, ptr %frame, i64 2, i64 1, i64 1)
  %end = call i64 @llvm.readcyclecounter()
  br label %rest
rest:
  %now = call i64 @llvm.readcyclecounter()
  %spent = sub i64 %now, %end
  %waiting = icmp ult i64 %spent, %pause
  br i1 %waiting, label %rest, label %test
test:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


def frequency(code: Loaded) -> float:
    """Cycles of the time stamp counter in a microsecond."""
    cycles = ctypes.CFUNCTYPE(ctypes.c_int64)(code["cycles"])
    first, started = cycles(), time.perf_counter()
    time.sleep(0.02)
    return (cycles() - first) / (time.perf_counter() - started) / 1e6


def measure(work: float, pause: float) -> tuple[list[float], int, int]:
    """Microseconds from each call to the worker's begin, where it came before the caller was done
    with its own part; how many came too late; how many shared the caller's processor."""
    pool.ensure()
    pool.set_num_threads(2)
    code = load(compiled(_TEXT))
    rate = frequency(code)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3)(code["series"])
    processors = sorted(os.sched_getaffinity(0))
    rows = []
    for turn in range(SERIES):
        os.sched_setaffinity(0, {processors[turn % len(processors)]})
        os.sched_setaffinity(0, processors)
        time.sleep(0.003)
        notes = np.zeros((CALLS, 8), np.int64)
        run(notes.ctypes.data, CALLS, int(work * rate / 2), int(pause * rate))
        rows.append(notes)
    called, _, _, done, own, begun, _, other = np.concatenate(rows).T
    joined = begun < done
    shared = joined & (own == other)
    delays = (begun - called)[joined] / rate
    return [float(d) for d in delays], int((~joined).sum()), int(shared.sum())


def gathered(work: float, pause: float, processes: int) -> str:
    """A line of the table: the results of some processes."""
    delays: list[float] = []
    late = shared = bad = 0
    for _ in range(processes):
        command = [sys.executable, "-m", "benchmarks.joining", "--one", str(work), str(pause)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        missed, together, *times = done.stdout.split()
        late += int(missed)
        shared += int(together)
        bad += int(missed) + int(together) > CALLS * SERIES // 2
        delays += map(float, times)
    total = late + len(delays)
    counts = np.histogram(delays, [0, *EDGES, np.inf])[0]
    cells = [f"{100 * c / total:.0f}" for c in (late, shared, *counts)]
    return f"| {work:g} | {pause:g} | " + " | ".join(cells) + f" | {bad} of {processes} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, type=float, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--processes", type=int, default=8)
    options = parser.parse_args()
    if options.one:
        delays, late, shared = measure(*options.one)
        print(late, shared, *(f"{d:.2f}" for d in delays))
        return
    print("Per cent of the calls; begun after at most so many us.")
    names = ["work us", "pause us", "late", "shared", *map(str, EDGES), "later"]
    print("| " + " | ".join(names) + " | processes with most calls late or shared |")
    print("|---" * (len(names) + 1) + "|")
    for work in (20, 50, 200):
        for pause in (2, 30, 80, 400):
            print(gathered(work, pause, options.processes), flush=True)


if __name__ == "__main__":
    main()
