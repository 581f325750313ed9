"""The way of tensors into machine code and out of it, and what is left to torch on that way."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from npcompile import jit
from npcompile.runtime.unsafe import torch_functions
from npcompile.runtime.versions.dispatch import Dispatcher
from tests.tensors.test_torch import X, Y

torch = pytest.importorskip("torch")


def _double(x: Any) -> Any:
    return x * 2 + x


class _Dispatched(Exception):
    pass


@contextlib.contextmanager
def _default(dtype: Any) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def _modes() -> dict[str, Any]:
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            raise _Dispatched

    class Function(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            raise _Dispatched

    return {
        "dispatch": Dispatch, "function": Function, "autocast": lambda: torch.autocast("cpu"),
        "inference": torch.inference_mode, "dual": torch.autograd.forward_ad.dual_level,
        "default": lambda: _default(torch.float64), "none": contextlib.nullcontext,
        "no grad": torch.no_grad,
    }


@pytest.mark.parametrize("name", _modes())
def test_modes(name: str) -> None:
    """A version that was compiled without a mode does not serve a call in one."""
    compiled = jit(lambda x: _double(x) + 1.5)
    compiled(X)
    tensors, made = (X, X.double(), torch.arange(5)), []
    with _modes()[name]():
        for x in tensors:
            for f in (lambda x: _double(x) + 1.5, compiled):
                try:
                    made.append(f(x))
                except _Dispatched:
                    made.append(None)
    for want, have in zip(made[::2], made[1::2]):
        assert (want is None) == (have is None)
        if want is not None:
            assert have.dtype == want.dtype and have.is_inference() == want.is_inference()
            assert have.allclose(want)
    assert compiled(X).equal(_double(X) + 1.5)


def test_transformations() -> None:
    compiled = jit(_double)
    compiled(X)
    assert torch.vmap(compiled)(Y).equal(_double(Y))
    assert torch.func.grad(lambda x: compiled(x).sum())(X).equal(torch.full_like(X, 3))


def test_views_and_classes() -> None:
    """Tensors whose memory does not hold their numbers as they are."""
    compiled, z = jit(_double), Y + 1j * Y
    compiled(X), compiled(z)
    class Mine(torch.Tensor):
        pass

    with torch.inference_mode():
        inferred = X.clone()
    for x in (torch._neg_view(X), z.conj(), z.conj().imag, X.clone().requires_grad_(), inferred,
              X.as_subclass(Mine), torch.nn.Parameter(X.clone())):
        have, want = compiled(x), _double(x)
        assert type(have) is type(want) and have.requires_grad == want.requires_grad
        assert have.detach().equal(want.detach())


@pytest.mark.parametrize("x", [
    torch.tensor(2.0), torch.ones(1, 5), torch.ones(5, 1), torch.ones(5, 1).T, torch.ones(1, 1, 1),
    torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1), torch.arange(10.0)[::3],
    torch.ones(3, 1).expand(3, 4), torch.empty(0), torch.empty(3, 0), torch.ones(2, 2)[:, :1],
    torch.arange(3, dtype=torch.uint8), torch.tensor([True, False]), torch.ones(3) * 1j,
], ids=lambda x: f"{tuple(x.shape)}{x.stride()}{x.dtype}")
def test_layouts(x: Any) -> None:
    def f(x):
        return x + x, x.sum(), x

    compiled = jit(f)
    for _ in range(3):
        have, want = compiled(x), f(x)
        for a, b in zip(have, want):
            assert a.equal(b) and a.dtype == b.dtype and (not b.numel() or a.stride() == b.stride())
        assert have[2] is x


def test_a_call_makes_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of tensors runs no Python of ours."""
    from npcompile.tensors import tensor_memory

    assert torch_functions.exchange() is not None

    compiled = jit(lambda x, y: (x * y + x, x.amax()))
    compiled(X, X)
    monkeypatch.setattr(Dispatcher, "__call__", None)
    monkeypatch.setattr(tensor_memory.NewTensor, "_make", None)
    a, b = compiled(X, X)
    assert a.equal(X * X + X) and b.equal(X.amax())


def test_exits() -> None:
    """Python goes on with arrays of the tensors' memory, or from the beginning."""
    def f(x, k):
        x[0] = 5
        y = x * 2
        return y[k] + x[1]

    compiled = jit(f)
    for k in (1, 2, 30, -1, 99):
        x, y = X.clone(), X.clone()
        try:
            want = f(x, k)
        except IndexError:
            with pytest.raises(IndexError):
                compiled(y, k)
        else:
            assert compiled(y, k).equal(want)
        assert x.equal(y)


def test_results_outlive_what_made_them() -> None:
    """A result's memory is its own, whichever thread drops it, and the function may be gone."""
    compiled = jit(_double)
    kept = [compiled(X + k) for k in range(50)]
    del compiled
    gc.collect()
    assert all(x.equal(_double(X + k)) for k, x in enumerate(kept))
    made = kept.pop()
    before = sys.getrefcount(X)
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    assert made.equal(_double(X + 49)) and sys.getrefcount(X) == before
