"""Every elementwise record against NumPy: all dtypes, special values, arrays and scalars."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile.ops.bitwise
import npcompile.ops.casting
import npcompile.ops.comparison
import npcompile.ops.rounding  # noqa: F401
from npcompile.core.errors import Refused
from npcompile.ops.record import OPERATORS, resolve
from tests.support import oracle
from tests.support.context import TestContext, run_both

UFUNCS = sorted(
    name for name, op in OPERATORS.items()
    if op.kind.name == "elementwise" and op.reference.startswith("numpy:")
    and op.lower is not None and "." not in name and op.reference == f"numpy:{name}"
    and (not op.ulp or name in ("absolute", "power"))
)
SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25, -7.0, 1e-7, 6e-8, 1e4, np.inf, -np.inf,
            np.nan]


def numbers(dtype: Any, rng: np.random.Generator) -> np.ndarray:
    """Special and random values of a dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([True, False, True, True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wanted = [info.min, info.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, 63, 64, info.max - 1, info.max]
        some = rng.integers(info.min, info.max, 40, dtype=dtype, endpoint=True)
        return np.concatenate([[v for v in wanted if info.min <= v <= info.max],
                               some]).astype(dtype)
    info = np.finfo(dtype)
    reals = np.array([*SPECIALS, float(info.max), float(info.tiny), float(info.tiny) / 8])
    random = rng.standard_normal(40) * 10.0 ** rng.integers(-3, 4, 40)
    reals = np.concatenate([reals, random]).astype(info.dtype)
    if dtype.kind == "f":
        return reals
    return (reals + 1j * rng.permutation(reals)).astype(dtype)


def pairs(dtypes: list[np.dtype], rng: np.random.Generator) -> list[np.ndarray]:
    """Operands in which every value meets many others."""
    columns = [numbers(d, rng) for d in dtypes]
    count = 600
    return [c[rng.integers(0, len(c), count)] for c in columns]


def operator_as_numpy(name: str, *args: Any, **kwargs: Any) -> None:
    """The operator's two readings equal NumPy's result on arrays or scalars."""
    op = OPERATORS[name]
    ctx = TestContext()
    lifted = [ctx.lift(a) for a in args]
    made = op.kind.call(op, ctx, tuple(lifted), kwargs)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = op.oracle()(*args, **kwargs)
        first, second = run_both(ctx, made)
    assert oracle.same(first, wanted, oracle.MEANING), (name, args, first, wanted)
    if not oracle.same(second, wanted, oracle.MEANING):
        bad = [(tuple(a[i] for a in args), second[i], wanted[i]) for i in range(len(wanted))
               if not oracle.same(second[i], wanted[i])] if isinstance(wanted, np.ndarray) else args
        raise AssertionError((name, bad[:5], second, wanted))


def cases() -> list[tuple[str, str]]:
    found = []
    for name in [*UFUNCS, "divmod", "modf", "frexp"]:
        seen = set()
        for loop in OPERATORS[name].signatures.split():
            inputs = loop.partition("->")[0]
            key = tuple(np.dtype(c).str for c in inputs)
            if key not in seen:
                seen.add(key)
                found.append((name, inputs))
    return found


#: these have their own tests
SKIPPED = {"power", "absolute"}


def signed_zeros_differ(name: str, args: list[np.ndarray]) -> list[np.ndarray]:
    """NumPy's extrema of zeros of unlike sign depend on the vector width: not compared."""
    if name not in ("maximum", "minimum", "fmax", "fmin") or args[0].dtype.kind not in "fc":
        return args
    zero = np.zeros(1, args[0].dtype)[0]
    return [np.where(a == 0, zero, a) for a in args]


@pytest.mark.parametrize(("name", "inputs"), cases())
def test_ufuncs_give_numpys_bits(name: str, inputs: str) -> None:
    if name in SKIPPED and inputs[0] not in "?bBhHiIlLqQ":
        pytest.skip("has its own test")
    rng = np.random.default_rng(1)
    args = pairs([np.dtype(c) for c in inputs], rng)
    if name == "power":
        args[1] = np.abs(args[1]).clip(0, None) if inputs[1] in "bhilq" else args[1]
        args[1] = np.where(args[1] < 0, 0, args[1]).astype(args[1].dtype)
    if name in ("ldexp",):
        args[1] = (args[1] % 3000).astype(args[1].dtype)
    operator_as_numpy(name, *signed_zeros_differ(name, args))


@pytest.mark.parametrize(("name", "inputs"), cases())
def test_ufuncs_of_numpy_scalars(name: str, inputs: str) -> None:
    if name in SKIPPED and inputs[0] not in "?bBhHiIlLqQ":
        pytest.skip("has its own test")
    rng = np.random.default_rng(2)
    args = signed_zeros_differ(name, pairs([np.dtype(c) for c in inputs], rng))
    if (name, inputs) == ("square", "F"):
        pytest.skip("depends on addresses in NumPy: fused or not")
    for k in range(6):
        values = [a[k] for a in args]
        if name == "power":
            values[1] = type(values[1])(abs(int(values[1])) % 60)
        if name == "ldexp":
            values[1] = type(values[1])(int(values[1]) % 300)
        operator_as_numpy(name, *values)


@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 0.5, -1.0, 2.0])
@pytest.mark.parametrize("dtype", "fd")
def test_exact_float_powers(dtype: str, exponent: float) -> None:
    rng = np.random.default_rng(3)
    x = numbers(dtype, rng)
    ctx = TestContext()
    op = OPERATORS["power"]
    made = op.kind.call(op, ctx, (ctx.array(x), exponent), {})
    with np.errstate(all="ignore"):
        first, second = run_both(ctx, made)
        assert oracle.same(first, np.power(x, exponent), oracle.MEANING)
        assert oracle.same(second, np.power(x, exponent), oracle.MEANING)


def test_every_record_documents_itself() -> None:
    for name, op in OPERATORS.items():
        assert op.doc or "." in name or op.kind.name != "elementwise", name


def test_aliases_resolve() -> None:
    assert resolve(np.abs) is OPERATORS["absolute"]
    assert resolve(np.true_divide) is OPERATORS["divide"]
    assert resolve(np.mod) is OPERATORS["remainder"]
    assert resolve(np.conj) is OPERATORS["conjugate"]


def test_loops_that_numpy_lacks_are_refused() -> None:
    ctx = TestContext()
    a = ctx.array(np.array([True, False]))
    with pytest.raises(Refused, match="Python raises"):
        OPERATORS["subtract"].kind.call(OPERATORS["subtract"], ctx, (a, a), {})
