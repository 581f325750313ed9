"""Torch tensors as arguments, with torch as the oracle."""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.versions.dispatch import Dispatcher
from npcompile.tensors import table
from tests.fuzz import operator_methods, tensors
from tests.fuzz.framework import checked
from tests.support import oracle

torch = pytest.importorskip("torch")


def _copies(args: tuple[Any, ...]) -> list[Any]:
    """Copies of arguments, of the same layout."""
    return [_copy(a) if isinstance(a, torch.Tensor) else a for a in args]


def _copy(x: Any) -> Any:
    storage = x.untyped_storage().clone()
    fresh = torch.empty(0, dtype=x.dtype)
    return fresh.set_(storage, x.storage_offset(), x.shape, x.stride())


def _equal(have: Any, want: Any, where: str, loose: bool = False) -> None:
    assert type(have) is type(want), where
    if isinstance(want, (tuple, list)):
        assert len(have) == len(want), where
        for k, (a, b) in enumerate(zip(have, want)):
            _equal(a, b, f"{where}[{k}]", loose)
    elif isinstance(want, torch.Tensor):
        assert have.dtype == want.dtype, where
        assert have.shape == want.shape, where
        assert have.stride() == want.stride(), where
        assert have.storage_offset() == want.storage_offset(), where
        wide = {torch.float32: (2e-6, 1e-6), torch.float64: (1e-14, 1e-15)}
        if loose:
            wide = {torch.float32: (1e-5, 1e-5), torch.float64: (1e-12, 1e-12),
                    torch.complex64: (1e-5, 1e-5), torch.complex128: (1e-12, 1e-12)}
        rtol, atol = wide.get(want.dtype, (0, 0))
        torch.testing.assert_close(have, want, rtol=rtol, atol=atol, equal_nan=True)
    elif isinstance(want, np.ndarray):
        assert (have.dtype, have.strides) == (want.dtype, want.strides), where
        np.testing.assert_allclose(have, want, 1e-5, 1e-5, err_msg=where)
    elif isinstance(want, float):
        assert have == pytest.approx(want, 1e-5, 1e-5, nan_ok=True), where
    else:
        assert have == want, where


def check(f: Any, *args: Any, captured: bool = True, loose: bool = False) -> Any:
    """Compares a function with its compiled form: results, arguments, identity, exceptions."""
    compiled = jit(f)
    for _ in range(2):  # the call that compiles, and one that does not
        plain, ours = _copies(args), _copies(args)
        want, have = oracle.observe(f, *plain), oracle.observe(compiled, *ours)
        if want.error is not None:
            oracle.check(have, want, warnings="")
            continue
        assert have.error is None
        _equal(have.result, want.result, "result", loose)
        _equal(ours, plain, "arguments", loose)
        for k, arg in enumerate(plain):
            assert (want.result is arg) == (have.result is ours[k])
            if (isinstance(arg, torch.Tensor) and isinstance(want.result, torch.Tensor)
                    and arg.numel()):
                shared = [r.untyped_storage().data_ptr() == a.untyped_storage().data_ptr()
                          for r, a in ((want.result, arg), (have.result, ours[k]))]
                assert shared[0] == shared[1]
    if captured:
        info = compiled.cache_info()
        assert info.compiled and not info.fallbacks, str(compiled.explain(*_copies(args)))
    return compiled


X = torch.linspace(-2, 2, 10)
Y = torch.linspace(-1, 3, 12).reshape(3, 4)
OPERANDS = [
    X, X.double(), torch.arange(-4, 6), torch.arange(10, dtype=torch.int32),
    torch.arange(10, dtype=torch.uint8), X > 0, torch.tensor(1.5), torch.tensor(3),
    torch.tensor(2.5, dtype=torch.float64), 2, 0.5, True,
]


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "<", "==", "&"])
def test_promotion(symbol: str) -> None:
    """Tensors with axes, without, numbers of Python's."""
    space: dict[str, Any] = {}
    exec(f"def f(x, y):\n    return x {symbol} y", space)
    for x, y in itertools.product(OPERANDS, OPERANDS):
        if isinstance(x, torch.Tensor) or isinstance(y, torch.Tensor):
            check(space["f"], x, y, captured=False)


def test_arithmetic() -> None:
    def f(x):
        return x * 2 + 1

    for x in (X, X.double(), torch.arange(5), Y, Y.T, Y[:, 1:3], torch.tensor(2.0),
              torch.empty(0), torch.empty(0, 3)):
        check(f, x)


def test_transcendental() -> None:
    def f(x):
        return torch.exp(x) * torch.sin(x) + torch.special.erf(x) - x.tanh()

    for x in (X, X.double(), Y, torch.arange(5)):
        check(f, x)


def test_sum() -> None:
    def f(x):
        return x.sum(), x.sum(dim=-1, keepdim=True), torch.sum(x, 0), x.mean(dim=(0, 1))

    check(f, Y)
    check(f, Y.T)

    def g(x):
        return x.sum(), (x > 1).sum(), x.sum(dtype=torch.float64)

    check(g, torch.arange(5, dtype=torch.int32))


def test_slices() -> None:
    def f(x):
        x[1:-1] = x[2:] * 0.5 + x[:-2]
        x[0] = 7
        x[-1] += 2
        return x

    check(f, X)

    def g(x):
        return x[0], x[1:, 2], x[None, ..., 0], x[:, None], x[1, 2], x[::2]

    check(g, Y)
    check(g, Y.T)


def test_views_share_memory() -> None:
    def f(x):
        y = x * 2
        return y[1:], y, x[1:], x

    a, b, c, d = check(f, X)(X)
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    assert c.data_ptr() == X[1:].data_ptr() and d is X


def test_branches_on_data() -> None:
    def f(x, y):
        if (x > 0).all():
            return torch.log(x) + y
        if x[0] < -1:
            return y
        return x

    for x in (X + 3, X, X + 1.5):
        check(f, x, Y[0, :1])


def test_loop() -> None:
    def f(x, n):
        y = torch.exp(x)
        for _ in range(n):
            y = y * 0.5 + x
            x += 1
        return y.sum().item(), y

    check(f, X, 5)
    check(f, X, 0)


def test_shapes() -> None:
    def f(x):
        n = x.shape[0]
        if x.ndim == 2 and x.dtype == torch.float32 and len(x) == n:
            return x * n, x.shape, x.shape[:-1]
        return None

    check(f, Y)


def test_in_place() -> None:
    def f(x, y):
        x += y
        x.mul_(2)
        return x.add_(y), x

    check(f, X, X + 1)
    check(f, X, 3)

    def overlapping(x):
        x[1:] += x[:-1]
        return x

    check(overlapping, X, captured=False)
    check(f, torch.arange(3), 0.5, captured=False)


def test_errors_are_torch_s() -> None:
    def f(x, y):
        return x + y

    check(f, X, X[:3], captured=False)

    def g(x, k):
        x[0] = 5
        return x[k]

    check(g, X, 3)
    check(g, X, 30, captured=False)
    check(g, X, -10)


def test_left_to_torch() -> None:
    """Tensors that are followed by autograd, other dtypes, and modes."""
    def f(x):
        return x * 2

    class Mine(torch.Tensor):
        pass

    compiled = jit(f)
    for x in (X.clone().requires_grad_(), X.bfloat16(), X.to(torch.complex64).conj(), X.to_sparse(),
              X.as_subclass(Mine)):
        assert type(compiled(x)) is type(f(x))
    assert compiled(X.clone().requires_grad_()).requires_grad
    assert not compiled.cache_info().compiled
    compiled(X)
    assert compiled.cache_info().compiled
    assert compiled(X.clone().requires_grad_()).requires_grad
    assert torch.vmap(compiled)(Y).equal(f(Y))
    with torch.autocast("cpu"):
        assert compiled(X).equal(f(X))
    integers = torch.arange(3)
    half = jit(lambda x: x * 0.5)
    assert half(integers).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert half(integers).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_autograd_hears_of_changes() -> None:
    def f(x):
        x[0] = 1

    compiled, x = jit(f), X.clone()
    for _ in range(2):
        before = x._version
        compiled(x)
        assert x._version > before


def test_arguments_can_be_resized() -> None:
    x = X.clone()
    jit(lambda x: x + 1)(x)
    x.resize_(100)


FLOATS = [X, X.double(), Y, Y.T, Y[:, ::2], torch.tensor(0.7)]
UNARY = sorted({
    names.split()[0] for _, _, parameters, names in table.ELEMENTWISE if len(parameters) == 1
    if hasattr(torch, names.split()[0]) or hasattr(torch.special, names.split()[0])
})


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name: str) -> None:
    """Every row of the table, for all dtypes; floats must be compiled."""
    function = getattr(torch, name, None) or getattr(torch.special, name)

    def f(x):
        return function(x)

    for x in FLOATS:
        check(f, x, captured=name not in ("bitwise_not",), loose=True)
    for x in (torch.arange(-3, 4), X > 0, torch.arange(4, dtype=torch.uint8)):
        check(f, x, captured=False, loose=True)


EXPRESSIONS = [
    "x.sum()", "x.sum(-1)", "x.sum((0,), keepdim=True)", "x.prod()", "x.mean()", "x.mean(-1)",
    "x.amax()", "x.amin(-1)", "x.amax((0, -1))",
    "x.max()", "x.min()", "torch.max(x, y)", "x.max(-1)",
    "x.min(dim=0).indices", "x.argmax()", "x.argmin(-1, keepdim=True)", "x.var()", "x.std(-1)",
    "x.var(dim=0, unbiased=False)", "torch.std(x, dim=-1, correction=0, keepdim=True)",
    "x.norm()", "torch.linalg.norm(x)", "torch.logsumexp(x, -1)", "torch.softmax(x, -1)",
    "x.log_softmax(dim=0)", "torch.nn.functional.softmax(x, dim=-1)", "x.cumsum(-1)",
    "x.cumprod(0)", "(x > 0).any()", "(x > 0).all(-1)", "torch.count_nonzero(x > 0, -1)",
    "torch.where(x > y, x, y)", "torch.where(x > 0, x, 0.0)", "torch.where(x > 0, 1, 2)",
    "x.clamp(min=-0.5, max=0.5)", "torch.clamp(x, 0)", "x.clip(y, y + 1)", "torch.relu(x)",
    "torch.nn.functional.relu(x)", "torch.sign(x)", "torch.rsqrt(x)", "x.square()", "x ** 2",
    "x ** 3", "x ** 0.5", "x ** -1", "x ** 2.5", "torch.pow(x, y)", "2 ** x", "x // 0.3",
    "x % 0.7", "x % y", "torch.remainder(x, -0.7)", "-x", "abs(x)", "+x", "1 - x", "2 / x",
    "x.T", "x.mT", "x.t()", "x.transpose(0, -1)", "x.permute(*range(x.ndim)[::-1])",
    "x.reshape(-1)", "x.reshape(x.shape[0], -1)", "x.view(x.numel())", "x.flatten()", "x.ravel()",
    "x.unsqueeze(0)", "x.unsqueeze(-1)", "x[None].squeeze()", "x[..., None].squeeze(-1)",
    "x[:1].expand(5, *x.shape[1:])", "x[None].expand(3, *x.shape)", "x.size()", "x.size(0)",
    "x.dim()", "x.numel()", "len(x)", "x.shape", "x.clone()", "x.contiguous()", "x.detach()",
    "x.to(torch.float64)", "x.double()", "x.float()", "x.bool()", "x.flip(0)", "x.flip((0, -1))",
    "torch.cat([x, y])", "torch.stack([x, y, x], dim=-1)", "torch.zeros_like(x)",
    "torch.ones_like(x, dtype=torch.int32)", "torch.full_like(x, 3)", "torch.zeros(3, 4)",
    "torch.ones((2, x.shape[0]))", "x.new_zeros(3)", "torch.full((2,), 2.5)", "torch.full((2,), 2)",
    "torch.arange(5)", "torch.arange(1, x.shape[0])", "torch.linspace(0, 1, 7)", "torch.eye(3)",
    "x @ y.T", "torch.matmul(x, y.mT)", "torch.outer(x, y)", "torch.dot(x, y)",
    "torch.mm(x, y.t())",
    "x.requires_grad", "x.dtype", "x.is_cuda", "x.copy_(y)", "x.zero_()", "x.fill_(2)",
    "x.clamp_(0, 1)", "x.mul_(y).add_(1)", "x.exp_()", "x.sum().item()", "float(x.mean())",
    "bool((x > 9).any())", "x.gt(0).sum()", "torch.erf(x)", "torch.special.erfinv(x / 9)",
    "torch.special.sinc(x)", "torch.special.multigammaln(abs(x) + 2, 3)", "x.sinc()",
    "torch.special.xlogy(abs(x), y)", "torch.atan2(x, y)", "torch.hypot(x, y)",
    "torch.logaddexp(x, y)", "torch.maximum(x, y) - torch.minimum(x, y)", "torch.fmod(x, 0.7)",
    "torch.logical_and(x > 0, y > 0)", "torch.nn.functional.sigmoid(x)",
    "isinstance(x, torch.Tensor)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str) -> None:
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f(x, y):\n    return {text}", space)
    compiled = 0
    for x, y in ((X, X.flip(0)), (Y.double(), Y.double() - 1), (Y.T, Y.T * 0.5)):
        compiled += check(space["f"], x, y, captured=False, loose=True).cache_info().compiled
    assert compiled, jit(space["f"]).explain(X.clone(), X.clone())
    odd = torch.tensor([float("nan"), -0.0, 0.0, float("inf")])
    for x, y in ((torch.arange(6), torch.arange(6) * 2), (X > 0, X > 1), (odd, torch.ones(4)),
                 (torch.tensor(1.5), torch.tensor(2.5)), (torch.empty(0), torch.empty(0))):
        check(space["f"], x, y, captured=False, loose=True)


def test_no_class_is_asked() -> None:
    """What is a tensor is not found out by code of users' classes."""
    checked(operator_methods.GRAMMAR, range(10, 16))


def test_references() -> None:
    """What a call borrows it gives back, on every way out."""
    def f(x, y):
        if x[0] > 5:
            raise ValueError
        return x[1:] * y[1:], y[:2]

    compiled, cases = jit(f), [(X, X), (X, X.double()), (X, X[:4]), (X + 10, X), (X, X.half())]
    counts = []
    for _ in range(10):
        for args in cases:
            with contextlib.suppress(ValueError, RuntimeError):
                compiled(*args)
        gc.collect()  # tracebacks
        counts.append([[sys.getrefcount(a) for a in args] for args in cases])
    assert counts[5] == counts[-1]


def test_a_call_needs_no_python_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine-code entry takes tensors."""
    def f(x, y):
        return x * y + 1, x[1:]

    compiled = jit(f)
    compiled(X, X)
    monkeypatch.setattr(Dispatcher, "__call__", None)
    a, b = compiled(X, X)
    assert a.equal(X * X + 1) and b.equal(X[1:])


@pytest.mark.parametrize("seed", range(900, 925))
def test_random_functions(seed: int) -> None:
    checked(tensors.GRAMMAR, [seed])


@pytest.mark.parametrize("text", [
    "x.sum(dim=())", "x.any(dim=())", "x.var(dim=())", "x.argmax(keepdim=True)", "x.prod(())",
])
def test_no_dimensions(text: str) -> None:
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f(x):\n    return {text}", space)
    check(space["f"], Y, captured=False)


def test_autograd_hears_of_changes_before_an_error() -> None:
    def f(x, k):
        x[0] = 1
        return x[k]

    compiled, x = jit(f), X.clone()
    for k in (1, 50, 2, 50):
        before = x._version
        outcome = oracle.observe(compiled, x, k)
        assert x._version > before and isinstance(outcome.error, IndexError) == (k == 50)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 4, 3)])
def test_pseudo_inverses_are_compiled(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Torch's tolerance decides which singular values count."""
    a = torch.from_numpy(np.random.default_rng(3).random(shape)).to(dtype)
    a[..., -1, :] = a[..., 0, :]

    def pseudo_inverse(x: Any) -> Any:
        return torch.linalg.pinv(x)

    compiled = jit(pseudo_inverse)
    found, wanted = compiled(a.clone()), torch.linalg.pinv(a)
    # torch itself is off by 2e-6 in float32: the reference is its result of float64
    exact = torch.linalg.pinv(a.double())
    torch.testing.assert_close(found, exact.to(dtype))
    assert found.stride() == wanted.stride()
    assert ": torch." not in str(compiled.explain(a)).partition("valid while")[0]


EMPTY = ["s.T", "s[:1]", "s[..., ::2]", "s[None]", "s.unsqueeze(-1)", "s.permute(1, 0)"]


@pytest.mark.parametrize("text", EMPTY)
def test_views_of_no_elements_have_torchs_strides(text: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def f(s): return {text}", space)
    for shape in [(0, 2), (2, 0), (0, 0)]:
        check(space["f"], torch.empty(shape), captured=False)
    check(space["f"], torch.rand(3, 4))


SHAPES = [("(-1)", True), ("(4, 6)", True), ("(2, 1, 3, 4, 1)", True), ("(12, 2)", False),
          ("(3, 8)", True)]


@pytest.mark.parametrize("laid", ["x[:, :6]", "x.T[:6]", "x[:, ::2][:, :6]", "x[None, :, 1:7]"])
@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES])
def test_slices_are_reshaped_as_views_where_torch_does(laid: str, shape: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def f(x): return {laid}.reshape{shape}\ndef g(x): return {laid}.view{shape}", space)
    x = torch.arange(48.0).reshape(4, 12)
    x = x if "T" not in laid else x[:, :12].contiguous()
    check(space["f"], x)
    try:
        space["g"](x)
    except RuntimeError:
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            jit(space["g"])(x)
    else:
        check(space["g"], x)


def test_ravel_copies_what_has_steps() -> None:
    check(lambda x: x[::2].ravel() + 1, torch.arange(9.0))
    check(lambda x: (torch.reshape(x, (2, -1)), torch.flatten(x, 1), x.flatten(0, 1)),
          torch.rand(4, 3, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
def test_equations_by_factors(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a = torch.rand(5, 5, dtype=dtype) + 2 * torch.eye(5, dtype=dtype)
    factors, pivots = torch.linalg.lu_factor(a)
    b = torch.rand(5, 3, dtype=dtype)
    for turned in ("", ", adjoint=True"):
        space: dict[str, Any] = {"torch": torch}
        exec(f"def f(lu, p, b): return torch.linalg.lu_solve(lu, p, b{turned})\n"
             f"def g(lu, p, b): return torch.linalg.lu_solve(lu, p, b, left=False{turned})", space)
        check(space["f"], factors, pivots, b, loose=True)
        if not dtype.is_complex:
            check(space["g"], factors, pivots, b.T.contiguous(), loose=True)


@pytest.mark.parametrize("shape", [(6, 3), (4, 4), (3, 6)])
def test_least_squares(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    a, b = torch.rand(shape), torch.rand(shape[0], 2)
    check(lambda a, b: torch.linalg.lstsq(a, b), a, b, loose=True)
    check(lambda a, b: torch.linalg.lstsq(a, b), torch.ones(shape), b, captured=False, loose=True)


def test_inverses_of_tensors() -> None:
    torch.manual_seed(0)
    a = torch.rand(12, 12) + torch.eye(12)
    for shape in [(3, 4, 6, 2), (3, 4, 1, 12), (12, 1, 2, 6), (1, 12, 12, 1)]:
        check(lambda a: torch.linalg.tensorinv(a, 2), a.reshape(shape), loose=True,
              captured=shape[0] > 1)


@pytest.mark.parametrize("text", ["x.reshape(-1)", "x.t().contiguous()", "x.clamp(0.2, 0.8)",
                                  "torch.sort(x, dim=1)[0]", "x.prod(dim=1)"])
def test_calls_with_torchs_bits_are_compared_with_torchs(text: str) -> None:
    """Their results are the same whoever makes them, so that a clock may choose."""
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f(x): return {text}", space)
    f, compiled = space["f"], jit(space["f"])
    x = torch.rand(8, 16)
    for _ in range(60):
        assert torch.equal(compiled(x), f(x))
    assert compiled.cache_info().fallbacks > 0


@pytest.mark.parametrize("text", ["x.sum(dim=1)", "torch.exp(x)", "x * 2 + 1"])
def test_other_calls_of_tensors_are_compiled_whatever_a_clock_says(text: str) -> None:
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f(x): return {text}", space)
    compiled = jit(space["f"])
    for _ in range(60):
        compiled(torch.rand(8, 16))
    assert not compiled.cache_info().fallbacks


def test_products_along_rows_are_compiled_where_bits_are_promised() -> None:
    compiled = jit(lambda x: x.prod(dim=1), deterministic="portable")
    x = torch.rand(8, 16)
    assert torch.allclose(compiled(x), x.prod(dim=1))
    assert compiled.cache_info().compiled == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (1,)])
def test_expanded_numbers_have_no_steps(shape: tuple[int, ...]) -> None:
    check(lambda x: x.expand(shape), torch.tensor(1.5))
    check(lambda x: x.expand(shape), torch.tensor([1.5]))
