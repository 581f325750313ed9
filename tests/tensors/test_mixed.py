"""Tensors as indices and masks, iteration, arrays as tensors and back, complex tensors, and calls
of torch's functions in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.tensors.test_torch import X, Y, check

torch = pytest.importorskip("torch")

I = torch.tensor([0, 2])  # noqa: E741
J = torch.tensor([[0, 1, 2], [1, 2, 3]])
Z = torch.arange(120.0).reshape(4, 5, 6)

EXPRESSIONS = [
    ("x[i]", X, I), ("x[:, i]", Y, I), ("x[i, i]", Y, I), ("x[0, :, i]", Z, I),
    ("x[i, :, i]", Z, I), ("x[..., i]", Z, I), ("x[i, 0]", Y, I), ("x[:, i, None]", Z, I),
    ("x[i]", Y, Y > 0), ("x[i].sum()", Y, Y > 0), ("x[i]", Y, torch.tensor(1)),
    ("x[i, 1:]", Y, torch.tensor([True, False, True])), ("x[-i]", X, I), ("x[i + 20]", X, I),
    ("x[i]", X, J), ("x[:, i]", Y, J), ("[v.item() for v in x]", X, I), ("x.numpy() + 1", X, I),
    ("torch.from_numpy(x.numpy() * 2) + x", X, I), ("np.sin(x.numpy()) * 2", X, I),
    ("torch.as_tensor(x) is x", X, I), ("x.numpy()", X, I), ("np.asarray(x) * 2", X, I),
    ("x.real + x.imag", Y + 1j, I), ("x.real", Y + 1j, I), ("x.conj() * x", Y + 1j, I),
    ("x.abs() ** 2", Y + 1j, I), ("x.H @ x", Y, I), ("x.device", X, I), ("x.data + 1", X, I),
    ("torch.fft.rfft(x).abs() ** 2", X, I), ("x * 1j", X, I), ("x + (2 - 1j)", X.double(), I),
    ("torch.fft.ihfft(x) * 2", X, I),
    ("torch.fft.irfft(torch.fft.rfft(x) * torch.exp(1j * x[:6]), n=x.shape[0])", X, I),
    ("torch.sort(x.sin())[0] * 2", X, I),
    ("torch.topk(x, 3).values + torch.median(x)", X, I), ("torch.renorm(x * 2, 2, 0, 1.0)", Y, I),
    ("x.where(x > 0, x * 0.5)", X, I), ("(x > 0).where(x < 1, x > -1)", X, I),
    ("x.masked_fill(x > 1, 0.5)", Y.T, I), ("x.expand(1, 1, 10)", X, I),
    ("x.flip(dims=(0,))", X, I), ("x.to(torch.float64)", X, I),
]


@pytest.mark.parametrize(("text", "x", "i"), EXPRESSIONS, ids=lambda v: v if type(v) is str else "")
def test_expressions(text: str, x: Any, i: Any) -> None:
    space: dict[str, Any] = {"torch": torch, "np": np}
    exec(f"def f(x, i):\n    return {text}", space)
    check(space["f"], x, i, captured="20" not in text, loose=True)


def test_assignments() -> None:
    def f(x, i, v):
        x[i] = v
        x[:, i] += 1
        x[x > 2] = 0
        x[x < 0] *= 2
        return x

    check(f, Y, I, torch.ones(4))


def test_rows() -> None:
    def f(x):
        a, b, c = x
        for r in x:
            r += 1
        return a + b, c

    check(f, Y)


@pytest.mark.parametrize("text", [
    "x[i]", "x[i, 0]", "x[i] + torch.where(x > 0, x, 1)[0]", "x.conj()", "torch.fft.ifft(x.real)",
])
def test_left_to_torch(text: str) -> None:
    """Indices of odd kinds, and views of conjugates that are returned."""
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f(x, i):\n    return {text}", space)
    compiled = jit(space["f"])
    for i in (torch.tensor(True), torch.tensor([1, 0, 1], dtype=torch.uint8), [0, 2], [True] * 3):
        x = (Y + 1j).T.contiguous().T
        try:
            want = space["f"](x, i)
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(x, i)
            continue
        have = compiled(x, i)
        assert have.is_conj() == want.is_conj() and have.stride() == want.stride()
        assert have.equal(want)


def test_an_array_and_a_tensor() -> None:
    """A tensor over an array's memory and the array see each other's changes."""
    def f(a, x):
        t = torch.from_numpy(a)
        t += x
        a *= 2
        return t, a

    compiled = jit(f)
    for _ in range(2):
        a = np.arange(10.0)
        t, same = compiled(a, X.double())
        want, _ = f(np.arange(10.0), X.double())
        assert same is a and t.equal(want) and t.data_ptr() == a.ctypes.data
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(a, X.double())


def test_random_numbers_are_torchs() -> None:
    """A call in place draws as often as the program does."""
    def f(x):
        return x + torch.randn(x.shape) * torch.rand_like(x)

    compiled = jit(f)
    for seed in (1, 2):
        torch.manual_seed(seed)
        want = f(X), torch.rand(1)
        torch.manual_seed(seed)
        have = compiled(X), torch.rand(1)
        assert have[0].allclose(want[0]) and have[1].equal(want[1])
    assert compiled.cache_info().compiled


def test_a_result_of_another_kind() -> None:
    """Python goes on behind a call whose result is another one than predicted; none runs twice."""
    def f(x, y):
        z = x * 2
        z = torch.cdist(z, y)
        return z + 1

    compiled = jit(f)
    for a, b in ((3, 4), (1, 4), (3, 1), (0, 4)):
        x, y = torch.rand(a, 5), torch.rand(b, 5)
        have, want = compiled(x, y), f(x, y)
        assert have.stride() == want.stride() and have.allclose(want)


def test_results_whose_size_depends_on_numbers_are_pythons() -> None:
    def f(x):
        return torch.unique(x.round()) + 1

    compiled = jit(f)
    for k in range(3):
        assert compiled(X * k).equal(f(X * k))


def test_what_trusts_its_operands_is_not_tried_out_on_numbers() -> None:
    """Made-up pivots would make torch write where nothing is."""
    def f(x):
        factors, pivots = torch.linalg.lu_factor(x)
        return torch.lu_unpack(factors, pivots)[1]

    x = torch.eye(4) * 3 + torch.ones(4, 4)
    assert jit(f)(x).allclose(f(x))
