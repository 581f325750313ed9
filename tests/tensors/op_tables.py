"""Torch's own tables of operators (``OpInfo``) as a source of calls, with torch as the oracle.

``python -m tests.tensors.op_tables [NAME ...]`` compares every sample of the named operators, or
of all, and prints what differs; ``--count N`` takes so many samples of each.  Each sample is a
function of its tensors, called twice, compiled and plain; results must agree in type, dtype, shape,
layout, memory and numbers, and what is raised in its type.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from npcompile import jit

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")  # which torch's tables import

#: dtypes that samples are drawn of
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64)
#: relative and absolute error, for each dtype, beside the largest number of the result
CLOSE = {
    torch.float32: (2e-5, 2e-5), torch.float64: (1e-11, 1e-11),
    torch.complex64: (2e-5, 2e-5), torch.complex128: (1e-11, 1e-11),
}
#: torch's are less exact than it says
ROUGH = {f"special.bessel_{name}": 1e-6 for name in ("j0", "j1", "y0", "y1")}
#: operators whose results are no function of their operands, are any of several, or can't be
#: compared
UNSURE = frozenset({
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "bernoulli", "multinomial", "normal", "rand_like", "randn_like", "randint_like", "rand",
    "randn", "randint", "randperm", "uniform", "geometric", "cauchy", "exponential", "log_normal",
    "random", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout", "nn.functional.rrelu",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "pca_lowrank",
    "svd_lowrank", "linalg.eig", "linalg.svd", "svd", "linalg.eigh", "linalg.qr", "qr", "geqrf",
    "linalg.householder_product", "linalg.eigvals", "chalf",
})


@cache
def table() -> dict[str, list[Any]]:
    """Torch's tables by the operators' names."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for op in op_db:
        found.setdefault(op.name, []).append(op)
    return found


class Call:
    """A sample as a function of its tensors: ``def f(t0, t1): return op(t0, [t1], dim=0)``."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tensors: list[Any] = []
        self.space: dict[str, Any] = {"op": function, "torch": torch}
        texts = [self._text(a) for a in args]
        texts += [f"{name}={self._text(a)}" for name, a in kwargs.items()]
        names = ", ".join(f"t{k}" for k in range(len(self.tensors)))
        self.head, self.call = f"def f({names}):", f"op({', '.join(texts)})"
        self.text = f"{self.head}\n    return {self.call}"

    def _text(self, value: Any) -> str:
        if type(value) is torch.Tensor:
            self.tensors.append(value.detach())
            return f"t{len(self.tensors) - 1}"
        if type(value) in (tuple, list):
            inner = "".join(f"{self._text(item)}, " for item in value)
            return f"({inner})" if type(value) is tuple else f"[{inner}]"
        if isinstance(value, torch.dtype):
            return str(value)
        if type(value) is torch.Size:
            return str(tuple(value))
        if type(value) in (int, bool, str, type(None)) or (type(value) is float and repr(value)[
                -1].isdigit()):
            return repr(value)
        name = f"c{len(self.space)}"
        self.space[name] = value
        return name

    def function(self) -> Any:
        """The function."""
        space = dict(self.space)
        exec(self.text, space)
        return space["f"]

    def used(self) -> Call:
        """The same function, whose result is used and not given away."""
        made = Call(None, (), {})
        made.tensors, made.space = self.tensors, self.space
        made.text = f"{self.head}\n    return {self.call} * 1"
        return made

    def amid(self) -> Call:
        """The same call amid others of one more tensor, a large one."""
        made = Call(None, (), {})
        made.tensors, made.space = self.tensors, self.space
        made.text = "\n    ".join([
            self.head.replace("):", ", big):"), "before = torch.exp(big) * 2 + big",
            f"found = {self.call}", "after = torch.sin(before) * big", "return found, after",
        ])
        return made


def copies(tensors: list[Any]) -> list[Any]:
    """Tensors of the same layout, on memory of their own."""
    made = []
    for x in tensors:
        if x.layout is not torch.strided or x.is_conj() or x.is_neg():
            made.append(x.clone())
            continue
        fresh = torch.empty(0, dtype=x.dtype)
        made.append(fresh.set_(x.untyped_storage().clone(), x.storage_offset(), x.shape,
                               x.stride()))
    return made


def ran(function: Any, tensors: list[Any]) -> Any:
    """The result, or what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*tensors), None
        except Exception as error:
            return None, type(error)


def different(have: Any, want: Any, error: float = 0.0) -> str:
    """How two results differ, by more than an error that is known; empty: not."""
    if type(have) is not type(want):
        return f"{type(have).__name__}, not {type(want).__name__}"
    if isinstance(want, (tuple, list)):
        if len(have) != len(want):
            return f"{len(have)} items, not {len(want)}"
        return next((d for a, b in zip(have, want) if (d := different(a, b, error))), "")
    if not isinstance(want, torch.Tensor):
        close = isinstance(want, float) and (want != want or abs(have - want) <= 1e-5 * abs(want))
        return "" if close or have == want else f"{have!r}, not {want!r}"
    for name in ("dtype", "shape", "layout"):
        if getattr(have, name) != getattr(want, name):
            return f"{name} {getattr(have, name)}, not {getattr(want, name)}"
    if want.layout is not torch.strided or not want.numel():
        return ""
    if have.stride() != want.stride():
        return f"strides {have.stride()}, not {want.stride()}"
    if have.is_conj() != want.is_conj():
        return "a view of conjugates"
    return _numbers(have, want, error)


def _numbers(have: Any, want: Any, error: float) -> str:
    if want.dtype not in CLOSE:
        return "" if have.equal(want) else "other numbers"
    rtol, atol = (max(bound, error) for bound in CLOSE[want.dtype])
    finite = want[want.isfinite()]
    size = float(finite.abs().max()) if finite.numel() else 0.0
    near = torch.isclose(have, want, rtol, atol * max(size, 1.0), equal_nan=True)
    if bool(near.all()):
        return ""
    at = tuple((~near).nonzero()[0].tolist())
    return f"{have[at].item()!r}, not {want[at].item()!r}, at {at}"


def tried(call: Call, error: float = 0.0) -> tuple[str, Any]:
    """How the compiled call differs, and the compiled function."""
    plain = call.function()
    compiled = jit(plain)
    for _ in range(2):
        theirs, ours = copies(call.tensors), copies(call.tensors)
        want, raised = ran(plain, theirs)
        have, other = ran(compiled, ours)
        if raised is not other:
            return f"{other} raised, not {raised}", compiled
        if found := different(have, want, error) or different(ours, theirs):
            return found, compiled
    return "", compiled


def samples(op: Any, dtype: Any, requires: bool = False) -> Iterator[Call]:
    """The samples of an operator, those of errors too."""
    torch.manual_seed(0)
    random.seed(0)
    function = op.op
    if getattr(function, "__name__", "") == "<lambda>":  # of a method
        function = getattr(torch.Tensor, op.name, function)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=requires):
        yield Call(function, (sample.input, *sample.args), sample.kwargs)


def reason(call: Call, compiled: Any) -> str:
    """Why a function is not compiled; empty: it is."""
    info = compiled.cache_info()
    if info.compiled and not info.fallbacks:
        return ""
    text = str(compiled.explain(*copies(call.tensors)))
    return text.partition("why: ")[2].partition("\n")[0] or text


def tries(name: str, count: int, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Compares some samples of an operator: the call, how it differs, why it is not compiled."""
    for op in table()[name]:
        for dtype in DTYPES:
            if dtype not in op.dtypes:
                continue
            calls = [c for c in samples(op, dtype) if c.tensors]
            for call in random.Random(seed).sample(calls, min(count, len(calls))):
                try:
                    found, compiled = tried(call, ROUGH.get(name, 0.0))
                    why = reason(call, compiled)
                except Exception as error:
                    found, why = f"inside: {error!r}", "an error"
                shapes = [(tuple(t.shape), t.stride(), t.dtype) for t in call.tensors
                          if t.layout is torch.strided]
                yield f"{name}: {call.text} {shapes} {call.space}", found, why


def main() -> None:
    """Compares and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=10**6)
    parser.add_argument("--why", action="store_true", help="print what is not compiled, too")
    options = parser.parse_args()
    wrong = 0
    for name in options.names or sorted(set(table()) - UNSURE):
        total = native = 0
        reasons: dict[str, int] = {}
        for text, found, why in tries(name, options.count):
            total += 1
            native += not why
            if found:
                wrong += 1
                print("WRONG", text[:600], "\n   ", found, flush=True)
            elif why and options.why:
                reasons[why] = reasons.get(why, 0) + 1
        print(f"{name}: {native} of {total} compiled", flush=True)
        for why, times in reasons.items():
            print(f"      {times} {why[:150]}")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
