"""The competitors: each makes a callable of an unmodified function, or says that it can't."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

import npcompile
from benchmarks.cases import Case
from npcompile.runtime.threads import pool

Maker = Callable[[Case], Callable[..., Any] | None]


def moved(function: Any, scope: dict[str, Any]) -> Any:
    """A function that looks up its globals elsewhere."""
    return FunctionType(function.__code__, scope, function.__name__)


def with_npcompile(case: Case) -> Callable[..., Any]:
    made: Callable[..., Any] = npcompile.jit(case.function)
    return made


def with_numexpr(case: Case) -> Callable[..., Any] | None:
    import numexpr

    if not case.numexpr:
        return None
    names = list(inspect.signature(case.function).parameters)
    return lambda *args: numexpr.evaluate(case.numexpr, dict(zip(names, args)), {})


def with_numba(case: Case) -> Callable[..., Any]:
    import numba

    return numba.njit(parallel=True)(case.function)


def with_numba_loop(case: Case, fastmath: bool = False) -> Callable[..., Any] | None:
    import numba

    if case.loop is None:
        return None
    made: Callable[..., Any] = numba.njit(parallel=True, fastmath=fastmath)(case.loop)
    return made


def with_numba_fastmath(case: Case) -> Callable[..., Any] | None:
    """The same loop, whose sums numba may add in any order."""
    return with_numba_loop(case, fastmath=True)


def with_jax(case: Case) -> Callable[..., Any]:
    import jax

    config: Any = jax.config
    config.update("jax_enable_x64", True)
    import jax.numpy
    import jax.scipy.special

    scope = dict(case.function.__globals__)
    scope.update(np=jax.numpy, erf=jax.scipy.special.erf)
    fast = jax.jit(moved(case.function, scope))
    wait: Any = jax.block_until_ready
    return lambda *args: wait(fast(*args))


def with_torch(case: Case) -> Callable[..., Any]:
    import torch

    torch._dynamo.reset()
    scope = dict(case.function.__globals__)
    scope.update(erf=lambda x: torch.erf(torch.from_numpy(x)).numpy())
    return torch.compile(moved(case.function, scope))


PEERS: dict[str, tuple[str, Maker]] = {
    "npcompile": ("npcompile", with_npcompile),
    "numexpr": ("numexpr", with_numexpr),
    "numba": ("numba", with_numba),
    "numba loop": ("numba", with_numba_loop),
    "numba fastmath": ("numba", with_numba_fastmath),
    "jax": ("jax", with_jax),
    "torch": ("torch", with_torch),
}


def installed() -> list[str]:
    """The peers that can be imported here."""
    return [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module)]


@contextlib.contextmanager
def threads(count: int, name: str) -> Iterator[None]:
    """Limits a library to a number of threads."""
    if name == "npcompile":
        pool.set_num_threads(count)
    elif name == "numexpr":
        import numexpr

        numexpr.set_num_threads(count)
    elif name.startswith("numba"):
        import numba

        numba.set_num_threads(min(count, vars(numba.config)["NUMBA_NUM_THREADS"]))
    elif name == "torch":
        import torch

        torch.set_num_threads(count)
    yield


def make(name: str, case: Case, args: list[Any]) -> Callable[..., Any] | str:
    """A peer's callable, checked against NumPy on these arguments, or why there is none."""
    try:
        made = PEERS[name][1](case)
        if made is None:
            return "can't say it"
        got = np.asarray(made(*args))
    except Exception as error:  # a peer may fail in any way: that is a result too
        return f"{type(error).__name__}: {str(error).splitlines()[0][:60] if str(error) else ''}"
    want = np.asarray(case.function(*args))
    rtol = 1e-3 if want.dtype == np.float32 else 1e-9
    if got.shape != want.shape or not np.allclose(got, want, rtol=rtol, atol=rtol):
        return "wrong result"
    return made
