"""Eager ufuncs over compiled loops, and the namespace npcompile.special."""

from __future__ import annotations

import importlib
import itertools
import operator
import subprocess
import sys
import types
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
import scipy.special

import npcompile
from npcompile import jit
from npcompile.api import namespaces
from npcompile.ops.record import OPERATORS
from npcompile.runtime.ufuncs import direct_calls
from tests.support.special_functions import operands_at

NAMES = sorted(namespaces.elementary())


def test_names_are_the_records() -> None:
    ours = {op.name for op in OPERATORS.values() if op.eager}
    assert ours == set(NAMES)
    assert {"exp", "absolute", "power", "hypot"} <= ours


@pytest.mark.parametrize("name", NAMES)
def test_is_a_ufunc_like_numpys(name: str) -> None:
    ours, numpys = getattr(npcompile, name), getattr(np, name)
    assert isinstance(ours, np.ufunc)
    assert ours.__name__ == name
    assert ours.types == numpys.types
    assert (ours.nin, ours.nout, ours.identity) == (numpys.nin, numpys.nout, numpys.identity)


@pytest.mark.parametrize("char", "efdFD")
@pytest.mark.parametrize("name", ["exp", "sin", "log1p", "arctan2"])
def test_one_implementation_at_every_size(name: str, char: str) -> None:
    function = getattr(npcompile, name)
    if name == "arctan2" and char in "FD":
        return
    rng = np.random.default_rng(3)
    x = rng.uniform(0.1, 2, (function.nin, 1500)).astype(char)
    whole = function(*x)
    assert whole.dtype == char
    assert np.array_equal(whole[:7], function(*x[:, :7]))
    assert np.array_equal(whole[::3], function(*x[:, ::3]))
    assert function(*x[:, 5]) == whole[5]
    assert type(function(*x[:, 5])) is np.dtype(char).type
    compiled = jit(lambda *args: function(*args), fullgraph=True, cache=False)
    assert np.array_equal(whole, compiled(*x))
    reference = getattr(np, name)(*x)
    assert np.allclose(whole, reference, rtol=1e-2 if char == "e" else 1e-6)


def _layout(a: np.ndarray) -> tuple[object, ...]:
    return type(a), a.dtype, a.shape, a.strides, a.flags.owndata, a.base is None


@pytest.mark.parametrize("name", ["exp", "arctan2"])
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 4), (3, 1), (1, 5), (2, 0), (2, 3, 2),
                                   (8192,), (8193,), (91, 91)])
def test_calls_without_numpys_machinery_are_numpys(name: str, shape: tuple[int, ...]) -> None:
    function, rng = getattr(npcompile, name), np.random.default_rng(5)
    for char in "fd":
        plain = [rng.uniform(0.1, 1, shape).astype(char) for _ in range(function.nin)]
        for x in (plain, [a.T for a in plain], [np.asfortranarray(a) for a in plain],
                  [np.repeat(a, 2, -1)[..., ::2] for a in plain], [plain[0], *plain[1:]][::-1]):
            want = function(*x, where=True)  # a keyword that leaves it to NumPy
            found = function(*x)
            assert _layout(found) == _layout(want) and np.array_equal(found, want)
            for give in (lambda out: {"out": out}, lambda out: {"out": (out,)}):
                out = np.full_like(want, 7)
                assert function(*x, **give(out)) is out and np.array_equal(out, want)
            assert np.array_equal(function(*x, np.full_like(want, 7)), want)
            assert np.array_equal(function(*x, None), want)
            assert np.array_equal(function(*x, out=None), want)
            same = x[0].copy()
            assert np.array_equal(function(same, *x[1:], out=same), want)


def test_calls_are_taken_from_numpy() -> None:
    npcompile.exp(np.ones(3))
    assert direct_calls.taken(npcompile.exp)
    assert not direct_calls.taken(np.exp)


def test_direct_calls_warn_and_refuse_as_numpy_does() -> None:
    x, exp = np.array([1.0, 2.0, 1000.0]), npcompile.exp
    exp(x[:2])
    with pytest.warns(RuntimeWarning, match="overflow encountered in exp"):
        assert exp(x)[2] == np.inf
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        exp(x)
    with np.errstate(over="ignore"):
        assert exp(x)[2] == np.inf
    out = np.zeros(3)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        exp(x, out=out)
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    for wrong, error in (((fixed,), ValueError), ((np.zeros(4)[:3],), ValueError),
                         ((out, out), TypeError)):
        with pytest.raises(error):
            exp(x[:2], *wrong)
    with pytest.raises(TypeError):
        exp()
    with pytest.raises(ValueError):
        exp(x[:2], out=(out, out))
    room = np.linspace(0, 1, 12)
    want = exp(room[:8].copy())
    exp(room[:8], out=room[4:])
    assert np.array_equal(room[4:], want)

    class Marked(np.ndarray):
        pass

    assert type(exp(np.ones(3).view(Marked))) is Marked
    assert exp(np.float64(1.0)) == exp(np.ones(1))[0] == exp(np.ones(2))[1]


def test_numpys_ways_of_calling() -> None:
    exp = npcompile.exp
    x = np.linspace(-1, 1, 700)
    want = exp(x)
    out = np.zeros(1400)[::2]
    assert exp(x, out=out) is out
    assert np.array_equal(out, want)
    masked = np.full(700, 7.0)
    exp(x, out=masked, where=x > 0)
    assert np.array_equal(masked, np.where(x > 0, want, 7.0))
    same = x.copy()
    exp(same, out=same)
    assert np.array_equal(same, want)
    shifted = x.copy()
    exp(shifted[:-1], out=shifted[1:])
    assert np.array_equal(shifted[1:], want[:-1])
    assert exp(x, dtype=np.float32).dtype == np.float32
    assert exp(1).dtype == np.float64 and exp(np.int8(1)).dtype == np.float16
    swapped = x.astype(x.dtype.newbyteorder())
    assert np.array_equal(exp(swapped), want)
    buffer = np.zeros(8 * 700 + 1, np.uint8)[1:].view(np.float64)
    buffer[:] = x
    assert np.array_equal(exp(buffer), want)
    assert npcompile.hypot.reduce([3.0, 4.0]) == 5.0
    assert np.array_equal(npcompile.arctan2.outer(x[:3], x[:2]),
                          npcompile.arctan2(x[:3, None], x[:2]))


def test_loops_without_a_record_are_numpys() -> None:
    assert npcompile.exp(np.longdouble(1)) == np.exp(np.longdouble(1))

    class Number:
        def exp(self) -> str:
            return "exp"

    assert npcompile.exp(np.array([Number()], object))[0] == "exp"


def test_complex_loops_are_those_of_the_name() -> None:
    """``jve`` shares a record with ``jv``, whose complex loops are not scaled."""
    z = np.array([0.2 - 1j, 3 + 2j, -1 + 0.5j])
    likes = {"f": z.real, "d": z.real, "F": z, "D": z}
    seen = set()
    for name in namespaces.names_of_special():
        ours, theirs = getattr(npcompile.special, name), getattr(scipy.special, name)
        if not isinstance(ours, np.ufunc):
            continue
        for loop in theirs.types:
            inputs = loop.partition("->")[0]
            if not {"F", "D"}.isdisjoint(inputs):
                args = [likes[c].astype(c) if c in likes else np.arange(1, 4).astype(c)
                        for c in inputs]
                with np.errstate(all="ignore"):
                    got, want = np.asarray(ours(*args)), np.asarray(theirs(*args))
                near = 1e-4 if "F" in inputs else 1e-11
                np.testing.assert_allclose(got, want, near, err_msg=f"{name} {loop}")
                seen.add(name)
    assert {"jv", "jve", "yve", "wofz", "loggamma"} <= seen


def test_flags_are_reported() -> None:
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            npcompile.log(0.0)
        with pytest.raises(FloatingPointError, match="overflow"):
            npcompile.exp(np.array([1.0, 1e3]))
        npcompile.sin(np.linspace(0, 1e6, 1000))


def reported(function: np.ufunc, *operands: np.ndarray) -> set[str]:
    """The floating-point errors that NumPy reports, underflow apart."""
    kinds: set[str] = set()
    with np.errstate(all="call", under="ignore", call=lambda kind, flag: kinds.add(kind)):
        function(*operands)
    return kinds


@pytest.mark.parametrize("name", NAMES)
def test_flags_at_special_points(name: str) -> None:
    """One point at a time; those of lanes that are computed for nothing would show."""
    ours, numpys = getattr(npcompile, name), getattr(np, name)
    if name == "power":
        numpys = np.float_power  # where power is vectorised it tells of overflow in x**inf
    for point in zip(*operands_at(name, "d")):
        if name in ("power", "float_power") and point == (0.0, -np.inf):
            continue  # a division by zero in NumPy's vectors, as here, and not in C's pow
        lanes = tuple(np.array([0.25, x]) for x in point)
        assert reported(ours, *lanes) == reported(numpys, *lanes), point


# ------------------------------------------------------------------ npcompile.special


def test_namespace_is_complete() -> None:
    public = {name for name in scipy.special.__all__ if name != "test"}
    assert public <= set(dir(npcompile.special))
    for name in public:
        found = getattr(npcompile.special, name)
        assert not isinstance(found, types.ModuleType), name
        compiled = found is not getattr(scipy.special, name)
        record = namespaces.special().get(name)
        assert compiled == (record is not None and record.kind.name == "elementwise"), name
    with pytest.raises(AttributeError):
        npcompile.special.no_such_function  # noqa: B018


@pytest.mark.parametrize("name", sorted(
    name for name, op in namespaces.special().items()
    if op.kind.name == "elementwise" and op.signatures.startswith("f->f ")))
def test_special_ufuncs(name: str) -> None:
    ours, scipys = getattr(npcompile.special, name), getattr(scipy.special, name)
    assert ours.types == scipys.types
    with np.errstate(all="raise", under="ignore"):
        for char in "fd":
            ours(operands_at("exp", char)[0])
    x = np.linspace(0.01, 0.99, 50)
    assert np.allclose(ours(x), scipys(x), rtol=1e-11, atol=1e-14)
    assert np.allclose(ours(x.astype(np.float32)), scipys(x), rtol=1e-4, atol=1e-6)
    assert ours(0.5) == ours(x[24:26])[0] or abs(x[24] - 0.5) > 1e-9
    jitted = jit(lambda x: ours(x), fullgraph=True, cache=False)
    assert np.array_equal(jitted(x), ours(x))


@pytest.mark.parametrize("name", ["ive", "kv"])
def test_special_ufuncs_of_real_order(name: str) -> None:
    """Loops over reals are compiled, those over complex numbers are SciPy's."""
    ours, scipys = getattr(npcompile.special, name), getattr(scipy.special, name)
    assert ours.types == scipys.types
    v, x = np.linspace(0, 7, 29), np.linspace(0.1, 40, 29)
    jitted = jit(lambda v, x: ours(v, x), fullgraph=True)
    assert ours(v, x).tobytes() == jitted(v, x).tobytes()
    assert np.allclose(ours(v, x), scipys(v, x), rtol=1e-13, atol=0)
    assert (ours(v, x) != scipys(v, x)).any()
    assert np.array_equal(ours(v, x + 1j), scipys(v, x + 1j))
    assert ours(2, x)[5] == ours(2.0, x[5])


@pytest.mark.parametrize("name", ["sici", "shichi", "fresnel", "airy", "ellipj"])
def test_tuples(name: str) -> None:
    """Functions of several results: compiled in programs, the library's loops elsewhere."""
    ours, scipys = getattr(npcompile.special, name), getattr(scipy.special, name)
    x = [np.linspace(0.01, 0.99, 50)] * scipys.nin
    jitted = jit(lambda *x: ours(*x), fullgraph=True, cache=False)(*x)
    for got, eager, want in zip(jitted, ours(*x), scipys(*x), strict=True):
        assert np.array_equal(eager, want)
        assert np.allclose(got, want, rtol=1e-11, atol=1e-14)


def test_host_functions_in_compiled_code() -> None:
    jv = importlib.import_module("npcompile.special").jv
    x = np.linspace(0.5, 3, 20)
    f = jit(lambda x: jv(1.5, x) + npcompile.special.gammaln(x), cache=False)
    assert np.allclose(f(x), scipy.special.jv(1.5, x) + scipy.special.gammaln(x), rtol=1e-14)


def test_records_that_are_read_late() -> None:
    """The namespace is complete though the first to ask for it is the import of its records."""
    script = """
import numpy, scipy.special, npcompile
npcompile.jit(lambda x: scipy.special.erf(x))(numpy.ones(3))
assert npcompile.special.gammaln is not scipy.special.gammaln
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("shift", [1, 3, 16, -1, -7])
@pytest.mark.parametrize("size", [100, 2000, 20000])
def test_results_over_a_shifted_operand(size: int, shift: int, char: str) -> None:
    x = np.linspace(0.1, 1, size + abs(shift)).astype(char)
    from_, to = (x[abs(shift):], x[:size]) if shift > 0 else (x[:size], x[abs(shift):])
    want = npcompile.exp(from_.copy())
    npcompile.exp(from_, out=to)
    assert np.array_equal(to, want)


def _in_order(function: np.ufunc, x: Iterable[float]) -> list[float]:
    return list(itertools.accumulate(x, function))


@pytest.mark.parametrize("size", [1, 2, 8, 700, 9000])
@pytest.mark.parametrize("name", ["arctan2", "hypot", "special.agm", "special.beta"])
def test_methods_go_from_element_to_element(name: str, size: int) -> None:
    function = operator.attrgetter(name)(npcompile)
    x = np.random.default_rng(size).uniform(0.1, 2, size)
    want = _in_order(function, x)
    assert np.array_equal(function.accumulate(x), want)
    first = [] if function.identity is None else [function.identity]
    assert np.array_equal(function.reduce(x), _in_order(function, [*first, *x])[-1])
    parts = x[:max(size // 2, 1)], x[size // 2:]
    assert np.array_equal(function.reduceat(x, [0, size // 2]),
                          [_in_order(function, part)[-1] for part in parts])
    assert np.array_equal(function.accumulate(np.stack([x, x + 1, x + 2]), 0)[2],
                          function(function(x, x + 1), x + 2))
    same = x.copy()
    function.accumulate(same, out=same)
    assert np.array_equal(same, want)


def test_a_reduction_of_nothing() -> None:
    assert npcompile.hypot.reduce([]) == 0.0
    with pytest.raises(ValueError, match="no identity"):
        npcompile.arctan2.reduce([])


def test_other_classes_get_numpys_ufuncs() -> None:
    class Asked:
        def __array_ufunc__(self, function: np.ufunc, method: str, *args: object) -> object:
            return function, method

    assert npcompile.sqrt(Asked()) == (np.sqrt, "__call__")
    assert npcompile.hypot(1.0, Asked()) == (np.hypot, "__call__")
    masked = np.ma.array([-1.0, 4.0, 9.0], mask=[False, False, True])
    with np.errstate(invalid="ignore"):
        assert npcompile.sqrt(masked).mask.tolist() == [True, False, True]
    seconds = np.array([-1, 5], "m8[s]")
    for name in ("absolute", "sign"):
        assert np.array_equal(getattr(npcompile, name)(seconds), getattr(np, name)(seconds))
    with pytest.raises(TypeError):
        npcompile.sign(True)


@pytest.mark.parametrize("char", "fdFD")
@pytest.mark.parametrize("name", NAMES)
def test_one_number_one_result(name: str, char: str) -> None:
    """The same bits called by itself, in a compiled function, and one by one."""
    function, rng = getattr(npcompile, name), np.random.default_rng(11)
    x = rng.standard_normal((function.nin, 3000)) * 10.0 ** rng.integers(-9, 9, 3000)
    x = (x + 1j * rng.standard_normal(3000) if char in "FD" else x).astype(char)
    x[-1, ::3] = rng.choice([-1, 0, 0.5, 1, 2, 3, 4], 1000)
    if not any(text.startswith(char * function.nin + "->") for text in function.types):
        return
    with np.errstate(all="ignore"):
        eager = function(*x)
        compiled = jit(lambda *args: function(*args), cache=False)(*x)
        single = np.array([function(*each) for each in x.T[:40]])
    assert np.array_equal(eager, compiled, equal_nan=True)
    assert np.array_equal(eager[:40], single, equal_nan=True)


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 2.5])
def test_exponents_known_and_traced_have_the_same_bits(exponent: float) -> None:
    x = np.random.default_rng(12).uniform(0, 100, 999)
    traced = jit(lambda x, y: x**y, cache=False)(x, exponent)
    many = jit(lambda x, y: x**y, cache=False)(x, np.full_like(x, exponent))
    known = jit(lambda x: x**exponent, cache=False)(x)
    for found in (traced, many, npcompile.power(x, exponent), npcompile.float_power(x, exponent)):
        assert np.array_equal(found, known)
    if exponent in (-1.0, 0.0, 0.5, 1.0, 2.0):
        assert np.array_equal(known, np.power(x, exponent))


@pytest.mark.parametrize(("char", "unit"), [("f", 2.0**-24), ("d", 2.0**-53)])
def test_hypot_is_rounded_almost_once(char: str, unit: float) -> None:
    x, y = np.random.default_rng(13).uniform(1, 2, (2, 2000)).astype(char)
    for a, b, found in zip(x.tolist(), y.tolist(), npcompile.hypot(x, y).tolist()):
        square = Fraction(a) ** 2 + Fraction(b) ** 2
        half = Fraction(0.502) * 2 * Fraction(unit) * (2 if found >= 2 else 1)
        assert (Fraction(found) - half) ** 2 <= square <= (Fraction(found) + half) ** 2


def test_errors_of_special_functions_are_scipys() -> None:
    compiled = jit(lambda x: scipy.special.gamma(x) * 2)
    functions = (compiled, npcompile.special.gamma)
    pole = np.array([-1.0, 2.0])
    for _ in range(2):
        for function in functions:
            assert np.isnan(function(pole)[0])
        with scipy.special.errstate(singular="raise"):
            for function in functions:
                with pytest.raises(scipy.special.SpecialFunctionError, match="singularity"):
                    function(pole)
                assert np.isfinite(function(pole[1:])).all()
    before = scipy.special.seterr(all="warn")
    try:
        for function in (*functions, jit(lambda x: scipy.special.psi(x))):
            with pytest.warns(scipy.special.SpecialFunctionWarning, match="singularity"):
                function(pole)
    finally:
        scipy.special.seterr(**before)
    fallbacks = compiled.cache_info().fallbacks
    assert np.isnan(compiled(pole)[0]) and compiled.cache_info().fallbacks == fallbacks


def test_an_errstate_inside_of_a_function() -> None:
    @jit
    def function(x: np.ndarray) -> np.ndarray:
        y = x * 2
        with scipy.special.errstate(all="raise"):
            y = y + scipy.special.gamma(x)
        return y * 3

    for _ in range(3):
        assert np.isfinite(function(np.array([1.5]))).all()
        with pytest.raises(scipy.special.SpecialFunctionError):
            function(np.array([-1.0]))
        assert scipy.special.geterr()["singular"] == "ignore"
