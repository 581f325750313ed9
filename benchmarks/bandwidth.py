"""Memory-bound functions with ``out=`` against our own copies: how much of their bandwidth they
get.  Beside them a loop that only reads two arrays: what no sum of products, which has no ``out=``,
can exceed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import npcompile
from benchmarks.workers import burst
from npcompile.backends.cpu.kernels.parallel_reductions import PIECES
from npcompile.backends.cpu.loader.compile import Loaded, load
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.threads import pool


def copy(a: Any, out: Any) -> Any:
    out[...] = a


def axpy(a: Any, b: Any, c: Any, out: Any) -> Any:
    np.add(a * b, c, out=out)


def magnitude(a: Any, b: Any, out: Any) -> Any:
    np.sqrt(a * a + b * b, out=out)


def dot(a: Any, b: Any) -> Any:
    return (a * b).sum()


def stencil(u: Any, out: Any) -> Any:
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    np.subtract(0.25 * around, u[1:-1, 1:-1], out=out)


def flat(count: int) -> Callable[[int], list[tuple[int, ...]]]:
    return lambda n: [(n,)] * count


def grid(n: int) -> list[tuple[int, ...]]:
    side = int(n**0.5)
    return [(side, side), (side - 2, side - 2)]


CASES: list[tuple[Callable[..., Any], Callable[[int], list[tuple[int, ...]]]]] = [
    (copy, flat(2)),
    (axpy, flat(4)),
    (magnitude, flat(3)),
    (dot, flat(2)),
    (stencil, grid),
]


AHEAD = (0, 1024, 4096, 8192)  # bytes that a loop asks for before it reads them

_ASK = "call void @llvm.prefetch.p0(ptr %{0}.ahead, i32 0, i32 3, i32 1)"
_READ = """
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
define void @read(ptr %arrays, i64 %begin, i64 %end) nounwind "frame-pointer"="all" {{
entry:
  %seen = alloca <8 x i64>, align 64
  %second = getelementptr ptr, ptr %arrays, i64 1
  %a = load ptr, ptr %arrays
  %b = load ptr, ptr %second
  br label %loop
loop:
  %i = phi i64 [%begin, %entry], [%next, %loop]
  %x = phi <8 x i64> [zeroinitializer, %entry], [%x.or, %loop]
  %y = phi <8 x i64> [zeroinitializer, %entry], [%y.or, %loop]
  %a.at = getelementptr <8 x i64>, ptr %a, i64 %i
  %b.at = getelementptr <8 x i64>, ptr %b, i64 %i
  %a.ahead = getelementptr i8, ptr %a.at, i64 {ahead}
  %b.ahead = getelementptr i8, ptr %b.at, i64 {ahead}
  {ask_a}
  {ask_b}
  %a.line = load <8 x i64>, ptr %a.at, align 1
  %b.line = load <8 x i64>, ptr %b.at, align 1
  %x.or = or <8 x i64> %x, %a.line
  %y.or = or <8 x i64> %y, %b.line
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  %all = or <8 x i64> %x.or, %y.or
  store volatile <8 x i64> %all, ptr %seen
  ret void
}}
"""


_PAST = """
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.x86.sse.sfence()
define void @past(ptr %arrays, i64 %begin, i64 %end) nounwind "frame-pointer"="all" {{
entry:
  %second = getelementptr ptr, ptr %arrays, i64 1
  %a = load ptr, ptr %arrays
  %b = load ptr, ptr %second
  br label %loop
loop:
  %i = phi i64 [%begin, %entry], [%next, %loop]
  %a.at = getelementptr <8 x i64>, ptr %a, i64 %i
  %b.at = getelementptr <8 x i64>, ptr %b, i64 %i
  %a.ahead = getelementptr i8, ptr %a.at, i64 {ahead}
  {ask_a}
  %line = load <8 x i64>, ptr %a.at, align 64
  store <8 x i64> %line, ptr %b.at, align 64, !nontemporal !0
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  call void @llvm.x86.sse.sfence()
  ret void
}}
!0 = !{{i32 1}}
"""


@cache
def _loop(text: str, ahead: int) -> Loaded:
    asks = {f"ask_{name}": _ASK.format(name) if ahead else "" for name in "ab"}
    return load(compiled(text.format(ahead=ahead, **asks)))


def _on_threads(code: int, a: Any, b: Any) -> Callable[[], None]:
    """Machine code over the whole lines of two arrays, on all threads."""
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3)(pool.ensure())
    arrays = (ctypes.c_void_p * 2)(a.ctypes.data, b.ctypes.data)
    lines = a.nbytes // 64
    return lambda: run(code, arrays, lines, 64, PIECES)


def reading(a: Any, b: Any, ahead: int) -> Callable[[], None]:
    """Reads two arrays, as a sum of products does."""
    return _on_threads(_loop(_READ, ahead)["read"], a, b)


def past_the_cache(size: int, ahead: int) -> Callable[[], None]:
    """Copies so many bytes with non-temporal stores."""
    a, b = (_whole_lines(size // 64) for _ in range(2))
    a[...], b[...] = 1.0, 0.0
    run = _on_threads(_loop(_PAST, ahead)["past"], a, b)
    run()
    assert (a == b).all()

    def copied(_: Any = (a, b)) -> None:  # keeps the arrays
        run()

    return copied


def _whole_lines(count: int) -> Any:
    room = np.empty(8 * count + 7)
    first = -room.ctypes.data // 8 % 8
    return room[first:first + 8 * count]


#: what takes no ``out=``
WITHOUT_OUT = ("dot", "reading")
PAST = "non-temporal"


class Found(NamedTuple):
    """GB/s, all arrays counted once."""

    own: float = 0.0
    like: float = 0.0  # of a copy that touches as many bytes
    past: float = 0.0  # the same with non-temporal stores


def gigabytes(n: int, dtype: str, rounds: int) -> dict[str, Found]:
    """The best of some interleaved turns.  (A copy of ``n`` elements stays in caches where what
    touches more does not; so there are copies of as many bytes.)"""
    rng = np.random.default_rng(n)
    copying = npcompile.jit(copy)
    made: list[tuple[str, Callable[..., Any], list[Any], int]] = []
    likes: dict[int, tuple[list[Any], list[Callable[[], None]]]] = {}
    for function, shapes in CASES:
        args = [rng.uniform(0.5, 2.0, shape).astype(dtype) for shape in shapes(n)]
        size = sum(a.nbytes for a in args) // 128 * 128  # of whole lines: what copies touch
        if size not in likes:
            like = [rng.uniform(0.5, 2.0, size // 2 // args[0].itemsize).astype(dtype)
                    for _ in range(2)]
            likes[size] = like, [past_the_cache(size // 2, ahead) for ahead in AHEAD]
        made.append((function.__name__, npcompile.jit(function), args, size))
        if function is copy:
            made += [(PAST, past, [], size) for past in likes[size][1]]
        if function is dot:
            made += [("reading", reading(*args, ahead), [], size) for ahead in AHEAD]
    found = {name: Found() for name, *_ in made}
    for _ in range(rounds):
        for name, function, args, size in made:
            like, past = likes[size]
            speeds = (size / burst(function, args, 0.03) / 1e9,
                      size / burst(copying, like, 0.03) / 1e9,
                      max(size / burst(copied, [], 0.03) / 1e9 for copied in past))
            found[name] = Found(*map(max, found[name], speeds))
    return found
