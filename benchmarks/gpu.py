"""``python -m benchmarks.gpu``: kernels on a GPU against CuPy, torch.compile and jax.

Arrays are on the device, of CuPy's pool.  Times are of the device, by events, over interleaved
turns; bandwidth counts each argument and result once, against a copy of as many bytes.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from benchmarks.cases import CASES, Case, arguments
from benchmarks.peers import moved

Call = Callable[[], Any]
#: what moves its arguments and results through memory once, and little else
MEMORY_BOUND = ("axpy", "magnitude", "wave", "dot", "stencil", "normalise", "softmax")


def with_npcompile(case: Case, args: list[Any]) -> Call:
    compiled = npcompile.jit(case.function, fullgraph=True)
    return lambda: compiled(*args)


def with_cupy(case: Case, args: list[Any]) -> Call:
    import cupy
    import cupyx.scipy.special

    scope = dict(case.function.__globals__, np=cupy, erf=cupyx.scipy.special.erf)
    plain = moved(case.function, scope)
    return lambda: plain(*args)


def with_torch(case: Case, args: list[Any]) -> Call:
    import torch

    scope = dict(case.function.__globals__, np=_Names(torch), erf=torch.erf)
    torch._dynamo.reset()
    compiled = torch.compile(moved(case.function, scope))
    tensors = [torch.as_tensor(a, device="cuda") for a in args]
    return lambda: compiled(*tensors)


class _Names:
    """Torch's functions by the names that the cases use."""

    def __init__(self, torch: Any) -> None:
        self.sqrt, self.exp, self.sin, self.log = torch.sqrt, torch.exp, torch.sin, torch.log


def with_jax(case: Case, args: list[Any]) -> Call:
    import jax

    config: Any = jax.config
    config.update("jax_enable_x64", True)
    import jax.numpy
    import jax.scipy.special

    scope = dict(case.function.__globals__, np=jax.numpy, erf=jax.scipy.special.erf)
    compiled = jax.jit(moved(case.function, scope))
    arrays = [jax.dlpack.from_dlpack(a) for a in args]
    wait: Any = jax.block_until_ready
    return lambda: wait(compiled(*arrays))


PEERS = {"npcompile": with_npcompile, "cupy": with_cupy, "torch": with_torch, "jax": with_jax}


def seconds(cupy: Any, calls: dict[str, Call], turns: int) -> dict[str, float]:
    """The least time of each, on the device and of the host waiting for it."""
    best = dict.fromkeys(calls, float("inf"))
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    for call in calls.values():
        call(), call()
    for _ in range(turns):
        for name, call in calls.items():
            cupy.cuda.Device().synchronize()
            start.record()
            result = call()
            cupy.cuda.Device().synchronize()  # of streams that aren't CuPy's, too
            end.record()
            end.synchronize()
            best[name] = min(best[name], cupy.cuda.get_elapsed_time(start, end) / 1e3)
            del result
    return best


def table(cupy: Any, n: int, dtype: str, turns: int) -> list[str]:
    """A row for each function: seconds, ratios to the peers, part of a copy's bandwidth."""
    lines = [f"\n## {dtype}, N = {n:,}\n",
             "| function | npcompile ms | CuPy | torch.compile | jax | bandwidth |",
             "| --- | --- | --- | --- | --- | --- |"]
    for case in CASES:
        args = [cupy.asarray(a) for a in arguments(case, n, dtype)]
        calls, refused = {}, {}
        for name, make in PEERS.items():
            if name in ("torch", "jax") and importlib.util.find_spec(name) is None:
                continue
            try:
                calls[name] = make(case, args)
                calls[name]()
            except Exception as error:  # a peer that can't do it is on record, ours must
                if name == "npcompile":
                    raise
                calls.pop(name, None)
                refused[name] = type(error).__name__
        result = calls["npcompile"]()
        moved_bytes = sum(a.nbytes for a in args) + result.nbytes
        half = cupy.empty(moved_bytes // 2, np.uint8)
        other = cupy.empty_like(half)
        calls["copy"] = lambda half=half, other=other: cupy.copyto(other, half)
        best = seconds(cupy, calls, turns)
        ours = best["npcompile"]
        ratios = [f"{best[p] / ours:.2f}" if p in best else refused.get(p, "-")
                  for p in ("cupy", "torch", "jax")]
        share = f"{best['copy'] / ours:.2f}" if case.name in MEMORY_BOUND else ""
        lines.append(f"| {case.name} | {1e3 * ours:.3f} | {' | '.join(ratios)} | {share} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10**8)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--output", default="docs/measurements/gpu.md")
    options = parser.parse_args()
    from npcompile.backends.gpu.cuda import driver

    try:
        cupy = driver()
    except RuntimeError as error:
        raise SystemExit(f"benchmarks.gpu: {error}") from None
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    lines = ["# On a GPU", "",
             f"{name}, {datetime.date.today()}, CuPy {cupy.__version__}, NumPy {np.__version__}.  "
             "Ratios: the peer's time over ours.  Bandwidth: of a copy of as many bytes."]
    for dtype in ("float64", "float32"):
        lines += table(cupy, options.size, dtype, options.iterations)
    with open(options.output, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
