"""Tensors of float16: torch's bits, as kernels or by torch's functions at their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.tensors import table
from tests.tensors import op_tables

torch = pytest.importorskip("torch")

EVERY = np.arange(65536, dtype=np.uint16).view(np.float16)
COMPILED = [(names.split()[0], len(parameters)) for record, rule, parameters, names
            in table.ELEMENTWISE if "h" in rule.partition("|")[2]]


def _as_integers(x: Any) -> Any:
    array = x.numpy()
    return np.where(np.isnan(array), np.uint16(0x7E00), array.view(np.uint16)) if (
        x.dtype is torch.float16) else array


@pytest.mark.parametrize(("name", "count"), COMPILED)
def test_every_number_has_torchs_bits(name: str, count: int) -> None:
    function = getattr(torch, name)
    compiled = jit(lambda *args: function(*args))
    rng = np.random.default_rng(0)
    args = [torch.from_numpy(EVERY.copy()), torch.from_numpy(rng.permutation(EVERY))][:count]
    assert np.array_equal(_as_integers(compiled(*args)), _as_integers(function(*args)))
    assert compiled.cache_info().compiled == 1 and "library" not in str(compiled.explain(*args))


X, Y = (torch.from_numpy(np.random.default_rng(k).normal(0, 3, (7, 33)).astype(np.float16))
        for k in (1, 2))
F = torch.linspace(-3, 3, 33)
EXPRESSIONS = [
    "x * y + x", "x * 2 + 1", "x - y / 2", "1 - x", "x < 1", "x.t() + y.t()", "x[1:3] * y[:2]",
    "torch.where(x > 0, x, y)", "x * f", "x + f.double()", "x.float() * 2", "f.half() * x[0]",
    "x.roll(1, 0)", "torch.cat([x, y])", "x[torch.tensor([1, 0])]", "x.reshape(-1)", "-x",
    "torch.exp(x) * y", "x.numpy() * 2", "x.abs()", "torch.zeros_like(x)", "x[0, 0].item()",
]
BY_TORCH = [
    "x * 0.1", "x + 0.1", "x / 3 - 0.7", "x < 0.1", "x * f.double()[0]", "torch.sin(x) + x",
    "x.sum(1) * 2", "x.mean()", "torch.softmax(x, 1)", "x @ y.t()", "torch.nn.functional.gelu(x)",
    "x ** 2", "x.add(y, alpha=2)", "x.max(1)", "torch.sort(x)[0]", "f.double().half()", "x % y",
    "x.div(y, rounding_mode='trunc')", "x.lerp(y, 0.3)", "torch.addcmul(x, x, y)", "x.clamp(-1, 2)",
]
LEFT = ["(1j * x).dtype", "3 / x", "0.1 * x", "x.tolist()"]


@pytest.mark.parametrize("text", EXPRESSIONS + BY_TORCH + LEFT)
def test_expressions(text: str) -> None:
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f(x, y, f): return {text}", space)
    compiled = jit(space["f"])
    for _ in range(2):
        have, want = compiled(X, Y, F), space["f"](X, Y, F)
        if isinstance(want, torch.Tensor):
            assert not op_tables.different(have, want)
        else:
            assert np.array_equal(have, want) if isinstance(want, np.ndarray) else all(
                map(torch.equal, have, want)) if isinstance(want, tuple) else have == want
    info = compiled.cache_info()
    assert text in LEFT or (info.compiled and not info.fallbacks), compiled.explain(X, Y, F)


def test_in_place() -> None:
    def f(x: Any, y: Any) -> Any:
        x += y
        x[0] = 2
        x *= 0.5
        x[1] = y[1] / 4
        return x.sum()

    compiled = jit(f)
    for _ in range(2):
        ours, theirs = X.clone(), X.clone()
        assert torch.equal(compiled(ours, Y), f(theirs, Y)) and torch.equal(ours, theirs)


def test_times_a_tensor_without_axes() -> None:
    """Torch rounds it to float16 as a summand, and not as the second factor or divisor."""
    x, s = torch.linspace(-3.0, 3.0, 40).half(), torch.tensor(0.7519)
    for f in (lambda x, s: x * s, lambda x, s: s * x, lambda x, s: x + s, lambda x, s: x / s,
              lambda x, s: x.mul_(s) - s):
        compiled = jit(f)
        for _ in range(2):
            assert torch.equal(compiled(x.clone(), s), f(x.clone(), s))
