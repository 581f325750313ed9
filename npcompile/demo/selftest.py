"""``python -m npcompile selftest``: functions on a device, compared with the CPU bit for bit; those
of the CPU itself with NumPy.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import npcompile

Array = Any


def stencil(u: Array, k: float) -> Array:
    return 0.25 * k * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def in_place(u: Array, k: float) -> Any:
    for _ in range(5):
        u[1:-1] += 0.25 * k * (u[:-2] - 2 * u[1:-1] + u[2:])
        if u.max() > 1e6:
            raise OverflowError("it grows")
    return u.sum()


def normalise(u: Array, k: float) -> Any:
    return (u - u.mean(1, keepdims=True)) / (u.std(1, keepdims=True) + k)


def softmax(u: Array, k: float) -> Any:
    e = np.exp(k * (u - u.max(1, keepdims=True)))
    return e / e.sum(1, keepdims=True)


def extremes(u: Array, k: float) -> Any:
    return u.argmin(1), u.argmax(), np.minimum(u, k).min(0), (u > k).any(1), (u > k).sum()


def outer(u: Array, k: float) -> Any:
    return u[0][:, None] * u[1][None, :] - u.T[:1, :1] * k


def views(u: Array, k: float) -> Any:
    return u[::-1, ::2].T + k, u.reshape(-1)[3::7] * 2, u.astype(np.int8) // 3


def integers(u: Array, k: float) -> Any:
    n = (u * 100).astype(np.int64)
    return n // 7, n % -5, n << 3, n >> 2, n & 255, ~n, n.prod(0)


def complex_numbers(u: Array, k: float) -> Any:
    z = (u + 1j * k) * (u - 2j) / (1 + abs(u))
    return z, z.sum(1)


def gather(u: Array, k: float) -> Any:
    return u[np.array([3, 0, -1])] + u[:, np.arange(4)].sum() * k


def scans(u: Array, k: float) -> Any:
    n = (u * 100).astype(np.int32)
    return np.cumsum(n), np.maximum.accumulate(u, 1), np.cumsum(u, 0)


def masks(u: Array, k: float) -> Any:
    return u[u > k], np.nonzero(u < -k), u.ravel().argmin()


def single_precision(u: Array, k: float) -> Any:
    v = u.astype(np.float32)
    return (v * np.float32(0.1)).sum(0) / np.float32(3), np.sqrt(abs(v)), v.sum()


def exponentials(u: Array, k: float) -> Any:
    return np.exp(u * k), np.log(abs(u) + k), np.tanh(u)


def waves(u: Array, k: float) -> Any:
    return np.sin(40 * u), np.cos(u + 1e6 * k)


def bell(u: Array, k: float) -> Any:
    return npcompile.special.erf(u / k), npcompile.special.ndtr(u)


def gamma_family(u: Array, k: float) -> Any:
    return npcompile.special.gammainc(k, abs(u)), npcompile.special.betainc(k, 2.0, u % 1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (
        stencil, in_place, normalise, softmax, extremes, outer, views, integers, complex_numbers,
        gather, scans, masks, single_precision, exponentials, waves, bell, gamma_family,
    )
}


def arguments(rows: int = 9, columns: int = 40) -> tuple[Array, float]:
    """Arguments of each of the functions."""
    return np.random.default_rng(5).standard_normal((rows, columns)), 0.75


def same(a: Any, b: Any) -> bool:
    """Equal in type and bits, any NaN being like any other."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if a.dtype.kind == "c":
        return same(a.real, b.real) and same(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    signs = [np.signbit(x) & ~np.isnan(x) for x in (a, b)]
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(*signs))


def run(device: str, rows: int, columns: int) -> Iterator[tuple[str, bool, float]]:
    """Each function's name, whether both devices agree, and the milliseconds of a second call."""
    for name, function in FUNCTIONS.items():
        theirs, ours = arguments(rows, columns), arguments(rows, columns)
        want = npcompile.jit(fullgraph=True)(function)(*theirs)
        compiled = npcompile.jit(fullgraph=True, device=device)(function)
        got = compiled(*ours)
        agree = same(got, want) and same(ours[0], theirs[0])
        started = time.perf_counter()
        compiled(*arguments(rows, columns))
        yield name, agree, 1e3 * (time.perf_counter() - started)


#: functions with elementary ones, whose last bits are not NumPy's
NEAR = (softmax, exponentials, waves, bell, gamma_family)


def close(a: Any, b: Any) -> bool:
    """Nearly equal."""
    pairs = zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]
    return all(np.allclose(x, y, rtol=1e-11, atol=1e-13) for x, y in pairs)


def beside_numpy(rows: int, columns: int) -> Iterator[tuple[str, str]]:
    """Each function's name, and what its results are beside those of the plain one."""
    for name, function in FUNCTIONS.items():
        theirs, ours = arguments(rows, columns), arguments(rows, columns)
        compiled = npcompile.jit(function)
        want, got = function(*theirs), compiled(*ours)
        again = compiled(*arguments(rows, columns))
        agree = close(got, want) if function in NEAR else same(got, want)
        right = agree and same(again, got) and same(ours[0], theirs[0])
        headline = str(compiled.explain(*arguments(rows, columns))).splitlines()[0]
        where = "compiled" if "compiled whole" in headline else "in Python"
        yield name, f"{where}, {'as NumPy' if right else 'DIFFERS'}"


def on_cpu(rows: int, columns: int) -> int:
    """Prints a page that tells whether this machine is served: send it to the authors."""
    from npcompile.backends.cpu import compiler_version, target
    from npcompile.runtime.entry import self_check
    from npcompile.runtime.unsafe.layout import proven, supported, unsupported

    print(f"{platform.platform()}, {platform.machine()}, {platform.python_implementation()}"
          f" {platform.python_version()}, NumPy {np.__version__}, npcompile"
          f" {npcompile.__version__}")
    if not supported():
        print(unsupported())
        return 1
    print(f"llvmlite {compiler_version()}, {target().cpu}, registers of {target().width} bytes,"
          f" {'tested' if proven() else 'not tested'} by the authors")
    print(f"machine code's check: {self_check.difference() or 'passed'}", flush=True)
    wrong = 0
    for name, said in beside_numpy(rows, columns):
        wrong += not said.startswith("compiled, as NumPy")
        print(f"{name:18} {said}", flush=True)
    print(f"{len(FUNCTIONS) - wrong} of {len(FUNCTIONS)} compiled and as NumPy")
    return wrong


def main(device: str, rows: int, columns: int) -> int:
    """Prints a line for each function; the exit code is the number that differ."""
    if device == "cpu":
        return on_cpu(rows, columns)
    try:
        npcompile.jit(device=device)(stencil)
    except RuntimeError as error:  # there is no such device
        raise SystemExit(f"npcompile: {error}") from None
    wrong = 0
    for name, agree, ms in run(device, rows, columns):
        wrong += not agree
        print(f"{name:18} {'same bits' if agree else 'DIFFERS':10} {ms:9.2f} ms", flush=True)
    print(f"{len(FUNCTIONS) - wrong} of {len(FUNCTIONS)} as on the CPU")
    return wrong
