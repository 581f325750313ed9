"""Reductions and what is composed of them against NumPy, bit for bit."""

import numpy as np
import pytest

from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed
from npcompile.ops import reductions, statistics
from tests.support.arrays import as_numpy, call, check, run

RNG = np.random.default_rng(0)
ARRAYS = {
    "C": RNG.standard_normal((7, 30)),
    "permuted": RNG.standard_normal((5, 6, 40)).transpose(2, 0, 1),
    "window": RNG.standard_normal((300, 70))[1:-1, 2:60],
    "reversed": RNG.standard_normal((50, 9, 3))[::-1, ::2, ::-1],
}
OPTIONS = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": 0, "keepdims": True},
           {"keepdims": True}]
PLAIN = [np.sum, np.prod, np.min, np.max, np.all, np.any, np.mean, np.var, np.std, np.average,
         np.count_nonzero, np.ptp]
NAN = [np.nansum, np.nanprod, np.nanmin, np.nanmax, np.nanmean, np.nanvar, np.nanstd]
assert reductions and statistics


def typed(a, dtype):
    a = a * 100 if dtype in ("i4", "u1", "i8") else a
    with np.errstate(invalid="ignore"):
        return (a * (1 + 2j)).astype(dtype) if dtype in "FD" else a.astype(dtype)


def compiled(function, dtype):
    """Products of float16 and of complex numbers, and the like, are NumPy's own."""
    if function in (np.prod, np.nanprod):
        return dtype not in "eDF"
    if dtype in "FD":
        return function in (np.sum, np.mean, np.var, np.std, np.average, np.all, np.any,
                            np.count_nonzero, np.nansum, np.nanmean, np.min, np.max, np.ptp)
    return not (dtype == "?" and function is np.ptp)


@pytest.mark.parametrize("dtype", ["d", "f", "e", "D", "F", "i8", "i4", "u1", "?"])
@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
def test_reductions(function, dtype):
    for array in ARRAYS.values():
        a = typed(array, dtype)
        for options in OPTIONS:
            if not compiled(function, dtype):
                with pytest.raises(Refused):
                    run(call(function, **options), a)
                return
            with np.errstate(all="ignore"):
                as_numpy(function, [a], **options)


@pytest.mark.parametrize("dtype", ["d", "f", "e", "F", "i4"])
@pytest.mark.parametrize("function", NAN, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_functions(function, dtype):
    if not compiled(function, dtype):
        return
    for array in ARRAYS.values():
        a = typed(array, dtype)
        if dtype != "i4":
            a[tuple(n // 2 for n in a.shape)] = np.nan
        for options in OPTIONS:
            as_numpy(function, [a], **options)


@pytest.mark.parametrize("function", [*NAN[2:], np.nanargmin, np.nanargmax],
                         ids=lambda f: f.__name__)
def test_only_nan_leaves_because_numpy_warns_or_raises(function):
    a = ARRAYS["C"].copy()
    a[:, 3] = np.nan
    with pytest.raises(CheckFailed):
        run(call(function, axis=0), a)


@pytest.mark.parametrize("dtype", ["d", "f", "e", "D", "i4", "?"])
@pytest.mark.parametrize("function", [np.nanargmin, np.nanargmax], ids=lambda f: f.__name__)
def test_positions_of_what_is_not_nan(function, dtype):
    for array in ARRAYS.values():
        a = typed(array, dtype)
        if dtype in "dfeD":
            a[tuple(n // 2 for n in a.shape)] = a[(0,) * a.ndim] = np.nan
        for options in [o for o in OPTIONS if not isinstance(o.get("axis"), tuple)]:
            as_numpy(function, [a], **options)


@pytest.mark.parametrize("function", [np.argmin, np.argmax], ids=lambda f: f.__name__)
def test_positions(function):
    for array in ARRAYS.values():
        first_nan = array.copy()
        first_nan[1, 1] = first_nan[0, 2] = np.nan
        for a in (array, first_nan, array > 0, (array * 3).astype("i4"), array.round().astype("f")):
            for options in [o for o in OPTIONS if not isinstance(o.get("axis"), tuple)]:
                as_numpy(function, [a], **options)


@pytest.mark.parametrize("options", [
    {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": 0, "ord": 1},
    {"axis": 0, "ord": np.inf}, {"axis": 0, "keepdims": True}, {"ord": "fro"},
])
def test_norm(options):
    a = ARRAYS["window"]
    for x in (a, a + 1j, (a * 10).astype(int), a.astype("f")):
        if x.dtype.kind == "c" and options.get("ord") in (1, np.inf):
            continue
        as_numpy(np.linalg.norm, [x], **options)


@pytest.mark.parametrize("function, options", [
    (np.sum, {"dtype": "f4"}), (np.sum, {"dtype": np.complex128}), (np.sum, {"initial": 2.5}),
    (np.mean, {"dtype": "f4", "axis": 0}), (np.var, {"ddof": 1}), (np.std, {"correction": 2}),
    (np.max, {"initial": 1.0, "axis": 0}), (np.min, {"initial": -9}), (np.prod, {"initial": 3}),
    (np.nansum, {"initial": 3.0}), (np.diff, {}), (np.diff, {"n": 2, "axis": 0}),
])
def test_options(function, options):
    for a in ARRAYS.values():
        as_numpy(function, [a], **options)


@pytest.mark.parametrize("ufunc", ["add", "multiply", "minimum", "maximum", "logical_and",
                                   "logical_or"])
def test_reduce_methods(ufunc):
    function = getattr(np, ufunc)
    for options in ({}, {"axis": None}, {"axis": 1, "keepdims": True}):
        a = ARRAYS["C"]
        as_numpy(function.reduce, [a], **options)
    bits = (ARRAYS["C"] * 50).astype(int)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        reduce = getattr(np, name).reduce
        as_numpy(reduce, [bits], axis=1)


def test_out():
    for function, dtype in [(np.sum, "d"), (np.max, "d"), (np.mean, "d"), (np.argmax, "l"),
                            (np.any, "?")]:
        def program(ctx, x, out, f=function):
            return call(f, axis=0, out=out)(ctx, x)

        check(program, lambda x, out, f=function: f(x, axis=0, out=out), ARRAYS["C"],
              np.zeros(30, dtype))


def test_small_arrays():
    for a in (np.array(2.5), np.array([-0.0]), np.zeros((0, 3)), np.ones((1, 1)), np.array(True)):
        for function in (np.sum, np.any, np.prod):
            check(call(function), function, a)
    as_numpy(np.sum, [np.zeros((0, 3))], axis=0)


@pytest.mark.parametrize("function", [np.min, np.max, np.mean, np.var, np.argmin, np.ptp])
def test_nothing_to_reduce_leaves(function):
    with pytest.raises((Refused, CheckFailed)):
        run(call(function), np.zeros((0, 3)))
    with pytest.raises((Refused, CheckFailed)):
        run(call(function, axis=0), np.zeros((0, 3)))


@pytest.mark.parametrize("options", [
    {"axis": 2}, {"axis": (0, 0)}, {"where": np.ones(30, bool)}, {"axis": ()}, {"dtype": "O"},
    {"initial": None}, {"unknown": 1}, {"axis": 1.0},
])
def test_what_is_not_compiled_is_refused(options):
    with pytest.raises(Refused):
        run(call(np.sum, **options), ARRAYS["C"])


def test_differences():
    a, v = ARRAYS["window"][:40], np.arange(20.0) ** 2
    for x in (a, v, a.astype("f"), (a * 9).astype(int), np.asfortranarray(a), a[:, ::-1]):
        as_numpy(np.diff, [x])
        as_numpy(np.diff, [x > 1])
        as_numpy(np.trapezoid, [x])
        as_numpy(np.trapezoid, [x], dx=0.3, axis=0)
        as_numpy(np.gradient, [x])
        as_numpy(np.gradient, [x], 0.1)
        as_numpy(np.gradient, [x], 2, axis=0)
    check(call(np.trapezoid), np.trapezoid, a, np.arange(58.0) ** 2)
    check(call(np.trapezoid), np.trapezoid, a, a * 2)
    for wrong in ({"axis": 5}, {"edge_order": 2}):
        with pytest.raises(Refused):
            run(call(np.gradient, **wrong), a)
    with pytest.raises(Refused):
        run(call(np.gradient), a[:1])
