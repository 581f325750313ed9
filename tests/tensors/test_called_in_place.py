"""Functions of torch's without a record: called between kernels, on results that are predicted."""

from __future__ import annotations

from typing import Any

import pytest

from npcompile import jit
from npcompile.tensors import called_in_place
from tests.tensors import op_tables

torch = pytest.importorskip("torch")

X = torch.linspace(-2, 2, 24).reshape(4, 6)
AT, J = torch.tensor([0, 2]), torch.tensor([4, 6])

#: whose results' sizes depend on numbers: the first call tells what they look like
OBSERVED = [
    (torch.unique, (X.round(),)), (torch.Tensor.unique, (X.round(), True, True)),
    (torch.unique_consecutive, (X.round(),)), (torch.combinations, (X[0],)),
]
#: forms in place
CHANGES = [
    ("index_add_", (0, AT, X[:2] + 1)), ("masked_scatter_", (X > 0, X + 1)),
    ("put_", (J, torch.ones(2))), ("fill_diagonal_", (3.0,)),
    ("index_put_", ((AT, AT), torch.ones(2))), ("index_reduce_", (0, AT, X[:2] + 1, "mean")),
    ("scatter_reduce_", (0, AT[None], X + 1, "sum")),
]
DRAWS = [
    ("normal_", ()), ("random_", ()), ("uniform_", (0, 1)), ("bernoulli_", (0.3,)),
    ("cauchy_", ()), ("exponential_", ()), ("geometric_", (0.3,)), ("log_normal_", ()),
]


def followed(call: op_tables.Call, more: tuple[Any, ...], whole: bool = False) -> tuple[bool, str]:
    """Compares calls with plain ones; whether they are compiled, and what ``explain`` says."""
    plain, tensors = call.function(), [*call.tensors, *more]
    compiled = jit(plain, fullgraph=whole)
    for seed in (1, 2, 3):
        theirs, ours = op_tables.copies(tensors), op_tables.copies(tensors)
        before = [(x._version, y._version) for x, y in zip(ours, theirs)]
        torch.manual_seed(seed)
        want, state = plain(*theirs), torch.get_rng_state()
        torch.manual_seed(seed)
        have = compiled(*ours)
        assert not op_tables.different(have, want)
        assert not op_tables.different(ours, theirs)
        assert torch.get_rng_state().equal(state)
        for x, y, (our, their) in zip(ours, theirs, before):
            assert x._version > our or y._version == their
    info = compiled.cache_info()
    told = str(compiled.explain(*op_tables.copies(tensors)))
    return bool(info.compiled) and info.fallbacks < 2, told


@pytest.mark.parametrize("function, args", OBSERVED)
def test_results_whose_size_depends_on_numbers(function: Any, args: tuple[Any, ...]) -> None:
    compiled, told = followed(op_tables.Call(function, args, {}).amid(), (X,), whole=True)
    assert compiled, told


@pytest.mark.parametrize("name, args", CHANGES + DRAWS)
def test_forms_in_place(name: str, args: tuple[Any, ...]) -> None:
    """Autograd hears of them, and they draw what torch's own draw."""
    for x in (X, X.reshape(6, 4).T, X[::2, :3] if name == "fill_diagonal_" else X + 1):
        call = op_tables.Call(getattr(torch.Tensor, name), (x, *args), {})
        compiled, told = followed(call.amid(), (X,))
        assert compiled or ((name, args) in DRAWS and not x.is_contiguous()), told


def test_forms_in_place_of_what_shares_memory() -> None:
    def f(x):
        return x[1:].masked_scatter_(x[1:] > 0, x[:-1])

    theirs, ours = X.clone(), X.clone()
    assert jit(f)(ours).equal(f(theirs)) and ours.equal(theirs)


def test_torchs_compiler_is_not_imported() -> None:
    """Torch wraps what a mode does in a function that imports its compiler: ten seconds."""
    mode = type(called_in_place.watched_operators())
    assert not hasattr(mode.__torch_dispatch__, "__wrapped__")
