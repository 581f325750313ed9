"""Library functions without a record, called at their place in compiled code."""

from __future__ import annotations

import importlib
import inspect
import logging
import random
import traceback
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.ndimage
import scipy.signal
import scipy.stats
from scipy.linalg import blas, lapack

import npcompile
from npcompile import jit
from npcompile.ops import foreign
from tests.support import oracle

X = np.linspace(0.5, 3.0, 12)
SQUARE = np.eye(4) * 3 + np.arange(16.0).reshape(4, 4) / 16


def run(function: Callable[..., Any], *args: Any) -> Any:
    """The result of the compiled function, which must be captured whole."""
    compiled = jit(function, fullgraph=True)
    want, mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args], list(args)
    expected = function(*want)
    for _ in range(2):
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        oracle.check(compiled(*mine), expected)
        for a, b in zip(mine, want):
            oracle.check(a, b)
    return compiled


class TestPure:
    @pytest.mark.parametrize("function", [
        lambda x: np.median(x) + 1,
        lambda x: np.percentile(x, 30.0) * x,
        lambda x: np.percentile(x, [5, 50]) * 2,
        lambda x: np.unwrap(x * 4) - x,
        lambda x: np.interp(x + 0.1, x, x * x),
        lambda x: np.convolve(x, x)[1:] * 2,
        lambda x: np.correlate(x, x[:3]) + 1,
        lambda x: np.histogram(x, bins=5),
        lambda x: np.polyfit(x, x * x, 2)[0] > 0.5,
        lambda x: np.allclose(x, x + 1e-12),
        lambda x: np.gradient(x) + np.trapezoid(x),
        lambda x: np.array_equal(x, x[::-1]),
        lambda x: scipy.ndimage.gaussian_filter1d(x, 1.5) - x,
        lambda x: scipy.signal.savgol_filter(x, 5, 2) * 2,
        lambda x: (np.frexp(x), np.divmod(x, 0.75)),
        lambda x: np.kron(x, x).sum(),
        lambda x: scipy.signal.detrend(x) * 2,
        lambda x: scipy.ndimage.uniform_filter1d(x * 2, 3) - 1,
    ])
    def test_of_an_array(self, function: Callable[..., Any]) -> None:
        run(function, X)

    def test_matrices(self) -> None:
        def f(a: Any, b: Any) -> Any:
            inverse = np.linalg.pinv(a)
            values, vectors = np.linalg.eigh(a + a.T)
            return inverse @ b, values * 2, vectors, np.linalg.matrix_rank(a)

        run(f, SQUARE, X[:4])

    def test_named_tuples(self) -> None:
        run(lambda a: np.linalg.svd(a).S * 2, SQUARE)

    def test_lists_from_outside(self) -> None:
        run(lambda parts, x: np.column_stack(parts) @ x[:2], [X, X * 2], X)

    def test_draws_of_their_own(self) -> None:
        def f(x: Any) -> Any:
            return scipy.stats.bootstrap((x,), np.mean, n_resamples=9).standard_error * 2

        def g(x: Any) -> Any:
            return scipy.cluster.vq.kmeans(x, 2)[1] + 1

        for function in (f, g):
            compiled = jit(function)
            np.random.seed(3)
            got = [compiled(X) for _ in range(2)]
            np.random.seed(3)
            if function is g:
                assert got == [g(X) for _ in range(2)]

    @pytest.mark.parametrize("path, public", [
        ("scipy.linalg._basic:scale", False), ("scipy.signal._sigtools:_linear_filter", False),
        ("scipy.cluster.vq:whiten", True), ("scipy.signal._signaltools:detrend", True),
        ("scipy.spatial.distance:pdist", True), ("numpy:median", True),
        ("scipy.stats._qmc:discrepancy", True), ("scipy.interpolate._fitpack_py:splint", False),
        ("scipy.interpolate._fitpack_py:splrep", True),
    ])
    def test_only_public_functions_are_tried_out(self, path: str, public: bool) -> None:
        """Helpers of libraries may trust their arguments, and write past the ends of arrays."""
        module, _, name = path.partition(":")
        helper = FunctionType((lambda x: x).__code__, {"__name__": module}, name)
        helper.__qualname__ = name
        helper.__module__ = module
        function = getattr(importlib.import_module(module), name, helper)
        assert (foreign.find(function) is not None) == public

    def test_in_a_loop(self) -> None:
        def f(a: Any, n: int) -> Any:
            total, rows = 0.0, np.zeros((n, a.shape[1]))
            for k in range(n):
                if k % 3 == 1:
                    total += float(np.median(a[k]))
                rows[k] = np.unwrap(a[k] * k)
            return total, rows

        run(f, np.arange(60.0).reshape(10, 6) % 7, 10)

    def test_layouts_and_geometries_of_operands(self) -> None:
        def f(a: Any) -> Any:
            b = a.T * 2
            return np.cov(b), np.median(a[1:, ::2], axis=0), np.cov(a[::-1])

        run(f, np.arange(30.0).reshape(5, 6) % 11)

    def test_a_changed_operand(self) -> None:
        def f(a: Any) -> Any:
            first = np.median(a)
            a[0] += 100
            second = np.median(a)
            a[1] += first
            return first, second

        run(f, X[:5])

    def test_results_are_arrays_of_their_own(self) -> None:
        def f(a: Any) -> Any:
            b = np.unwrap(a)
            c = b
            b[0] = -1
            return b, c, a

        compiled = run(f, X)
        b, c, _ = compiled(X)
        assert b is c
        assert not np.shares_memory(b, X)


class TestFortran:
    """Routines of LAPACK and BLAS by their Fortran names."""

    def test_a_tridiagonal_system(self) -> None:
        def f(a: Any, b: Any, c: Any, d: Any) -> Any:
            a[..., 0] = c[..., -1] = 0
            found = lapack.dgtsv(a.ravel()[1:], b.ravel(), c.ravel()[:-1], d.ravel())[3]
            return found.reshape(a.shape) * 2, blas.ddot(b[0], d[0])

        parts = [np.random.default_rng(k).random((3, 4)) for k in range(4)]
        parts[1] += 3
        compiled = npcompile.jit(f, fullgraph=True)
        for got, want in zip(compiled(*map(np.copy, parts)), f(*map(np.copy, parts))):
            assert np.array_equal(got, want)

    def test_what_changes_its_operand_is_left_to_python(self) -> None:
        def f(x: Any, y: Any) -> Any:
            return blas.daxpy(x, y, a=2.0) + y

        x, y, z = np.ones(3), np.ones(3), np.ones(3)
        assert np.array_equal(npcompile.jit(f)(x, y), f(x, z))
        assert np.array_equal(y, z)


class TestGaps:
    """Results with room between their elements."""

    def test_eigenvectors(self) -> None:
        def f(a):
            w, v = np.linalg.eig(a)
            return w, v, w.sum(), (v * 2).sum(axis=0), v.sum(), v[:, w.argmin()]

        compiled = run(f, SQUARE)
        oracle.check(compiled(SQUARE[:3, :3]), f(SQUARE[:3, :3]))
        turned = np.array([[0.0, -1.0], [1.0, 0.0]])  # whose eigenvalues are complex
        oracle.check(compiled(turned), f(turned))

    @pytest.mark.parametrize("n", [4, 7])
    def test_histograms(self, n: int) -> None:
        def f(x, n):
            counts, edges, _ = np.histogram2d(x, x[::-1], bins=n)
            return counts, counts.sum(), counts / counts.sum(), counts.T @ counts, edges[1]

        run(f, X, n)

    def test_python_goes_on(self) -> None:
        def f(x):
            counts = np.histogram2d(x, x, bins=3)[0]
            for _ in range(2):
                eval("x * 2", {"x": x})
            return counts

        compiled = jit(f)
        for _ in range(2):
            oracle.check(compiled(X), f(X))

    def test_written(self) -> None:
        def f(a):
            w, _ = np.linalg.eig(a)
            w += 1
            return w

        compiled = jit(f)
        for _ in range(2):
            oracle.check(compiled(SQUARE), f(SQUARE))


class TestLengths:
    def test_of_data(self) -> None:
        def f(a: Any) -> Any:
            return np.setdiff1d(a, a[:3]), np.unique(a, return_counts=True)

        run(f, np.array([3, 1, 3, 2, 7, 7, 1]))

    def test_another_length_than_predicted(self) -> None:
        """``trim_zeros`` looks as if it kept all of this array."""
        def f(a: Any) -> Any:
            a += 1
            kept = np.bincount(a)
            a += 1
            return kept * 2, a

        compiled = jit(f)
        for data in ([1, 2, 5], [0, 0, 0], [9, 1, 1]):
            mine, theirs = np.array(data), np.array(data)
            oracle.check(compiled(mine), f(theirs))
            oracle.check(mine, theirs)

    def test_another_type_than_predicted(self) -> None:
        calls = []

        def f(a: Any) -> Any:
            a[0] += 1
            roots = np.roots(a)
            a[1] += 1
            return roots, a

        real = np.roots
        compiled = jit(f)
        for data in ([1.0, -3.0, 2.0], [1.0, 0.0, 4.0]):
            mine, theirs = np.array(data), np.array(data)
            got, want = compiled(mine), f(theirs)
            assert got[0].dtype == want[0].dtype
            np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
            oracle.check(mine, theirs)
        assert real is np.roots
        assert not calls


class TestRandom:
    @pytest.mark.parametrize("function", [
        lambda rng, n: rng.random(n) + rng.normal(1.0, 2.0, (3, n)).sum(),
        lambda rng, n: rng.integers(0, n, size=n) * 2,
        lambda rng, n: rng.choice(n, 3, replace=False),
        lambda rng, n: rng.permutation(n) + 1,
        lambda rng, n: rng.exponential() + rng.poisson(3.0) + rng.random(),
        lambda rng, n: rng.multivariate_normal(np.zeros(2), np.eye(2), n),
        lambda rng, n: rng.standard_normal(n, dtype=np.float32),
        lambda rng, n: (rng.uniform(-1, 1), rng.standard_gamma(2.0, (n, 2))),
    ])
    def test_the_same_stream(self, function: Callable[..., Any]) -> None:
        compiled = jit(function, fullgraph=True)
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        for n in (5, 6, 9):
            oracle.check(compiled(one, n), function(other, n))
        assert one.random() == other.random()

    def test_a_generator_made_inside(self) -> None:
        def f(seed: int, n: int) -> Any:
            rng = np.random.default_rng(seed)
            total = 0.0
            for _ in range(n):
                if rng.random() < 0.5:
                    total += rng.normal()
            return total, rng.random(n)

        run(f, 4, 20)

    def test_an_old_generator(self) -> None:
        def f(state: Any, n: int) -> Any:
            return state.rand(n) + state.randn(), state.randint(10, size=n)

        compiled = jit(f, fullgraph=True)
        oracle.check(compiled(np.random.RandomState(1), 5), f(np.random.RandomState(1), 5))

    def test_the_functions_of_the_module(self) -> None:
        def f(n: int) -> Any:
            np.random.seed(5)
            return np.random.rand(n) + np.random.normal(size=n), np.random.randint(0, 9)

        run(f, 6)

    def test_shuffle(self) -> None:
        def f(rng: Any, a: Any) -> Any:
            rng.shuffle(a[1:])
            return a * 2

        compiled = jit(f, fullgraph=True)
        mine, theirs = np.arange(9), np.arange(9)
        oracle.check(compiled(np.random.default_rng(1), mine), f(np.random.default_rng(1), theirs))
        oracle.check(mine, theirs)

    def test_a_kind_of_generator(self) -> None:
        def f(rng: Any) -> float:
            return rng.random()

        compiled = jit(f, fullgraph=True)
        for bits in (np.random.PCG64, np.random.MT19937, np.random.SFC64):
            one, other = (np.random.Generator(bits(7)) for _ in range(2))
            assert compiled(one) == other.random()

    def test_python(self) -> None:
        def f(n: int) -> float:
            total = 0.0
            for _ in range(n):
                total += random.random() + random.gauss(0.0, 1.0)
            return total

        compiled = jit(f, fullgraph=True)
        random.seed(4)
        got = [compiled(5), compiled(7)]
        random.seed(4)
        assert got == [f(5), f(7)]

    def test_drawn_once_where_a_later_check_fails(self) -> None:
        def f(rng: Any, a: Any, k: int) -> Any:
            noise = rng.random(3)
            return noise + a[k]

        compiled = jit(f)
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        oracle.check(compiled(one, X, 2), f(other, X, 2))
        for call, rng in ((compiled, one), (f, other)):
            with pytest.raises(IndexError):
                call(rng, X, 50)
        assert one.random() == other.random()

    def test_wrong_arguments_raise(self) -> None:
        def f(rng: Any, low: int, high: int) -> Any:
            return rng.integers(low, high, 3)

        compiled = jit(f)
        compiled(np.random.default_rng(1), 0, 5)
        with pytest.raises(ValueError, match="low >= high") as caught:
            compiled(np.random.default_rng(1), 5, 0)
        lines = [e.lineno for e in traceback.extract_tb(caught.value.__traceback__)]
        assert inspect.getsourcelines(f)[1] + 1 in lines


class TestChanging:
    def test_operands(self) -> None:
        def f(a: Any, x: Any) -> Any:
            np.fill_diagonal(a, 7.0)
            np.place(x, x > 2, [0.0, 1.0])
            np.copyto(a[1:, 0], 3.0)
            x.partition(2)
            return a, x

        run(f, SQUARE, X)

    def test_a_read_only_operand(self) -> None:
        def f(a: Any) -> None:
            np.fill_diagonal(a, 7.0)

        a = SQUARE.copy()
        jit(f)(a)
        a.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            jit(f)(a)


class TestSaying:
    def test_prints_in_order(self, capsys: pytest.CaptureFixture[str]) -> None:
        def f(a: Any, n: int) -> Any:
            for k in range(n):
                a *= 1.5
                if k % 2 == 0:
                    print(f"step {k}: {a[0]:.3f} {a.sum():8.2e}", k, a.max(), end=";\n")
                print("array", a[:2], [k, 2.5], (a[1],), sep="|")
            return a.sum()

        compiled = jit(f, fullgraph=True)
        compiled(X.copy(), 4)
        got = capsys.readouterr().out
        f(X.copy(), 4)
        assert got == capsys.readouterr().out

    def test_log_records(self, caplog: pytest.LogCaptureFixture) -> None:
        log = logging.getLogger("npcompile-test")

        def f(a: Any) -> Any:
            log.warning("mean %.3f of %d", a.mean(), len(a))
            logging.warning("first %s", a[:2])
            return a + 1

        compiled = jit(f, fullgraph=True)
        with caplog.at_level(logging.INFO):
            compiled(X)
            f(X)
        own = [r for r in caplog.records if not r.name.startswith("npcompile.")]
        first, second, third, fourth = own
        assert [first.getMessage(), second.getMessage()] == [
            third.getMessage(), fourth.getMessage()
        ]
        assert (first.lineno, first.funcName) == (third.lineno, third.funcName)
        assert second.pathname == fourth.pathname == __file__

    def test_warnings_name_the_line(self) -> None:
        def f(a: Any) -> Any:
            low = np.nanmin(a)
            warnings.warn("careful", stacklevel=1)
            return low

        compiled = jit(f, fullgraph=True)
        compiled(X)
        told = []
        for function in (compiled, f):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(np.full(3, np.nan))
            told.append([(w.category, str(w.message), w.filename, w.lineno) for w in caught])
        assert told[0] == told[1]
        assert len(told[0]) == 2

    def test_exceptions_name_the_line(self) -> None:
        def inner(a: Any) -> Any:
            return np.linalg.cholesky(a)

        def f(a: Any, b: Any) -> Any:
            b += 1
            c = inner(a)
            b += 1
            return c

        compiled = jit(f)
        compiled(SQUARE @ SQUARE.T, X.copy())
        found = []
        for function in (compiled, f):
            mine = X.copy()
            with pytest.raises(np.linalg.LinAlgError) as caught:
                function(-SQUARE, mine)
            frames = traceback.extract_tb(caught.value.__traceback__)
            found.append((str(caught.value), mine.tolist(),
                          [(e.name, e.lineno) for e in frames if e.filename == __file__][1:]))
        assert found[0] == found[1]


class TestModes:
    def test_deterministic(self) -> None:
        f = jit(lambda x: np.trim_zeros(x) + 1, deterministic=True)
        with pytest.raises(npcompile.DeterminismError, match=r"numpy\.trim_zeros"):
            f(X)
        seeded = jit(lambda n: np.random.default_rng(3).random(n), deterministic=True)
        oracle.check(seeded(4), np.random.default_rng(3).random(4))
        for unseeded in (lambda: np.random.default_rng().random(),
                         lambda: np.random.default_rng(None).random()):
            with pytest.raises(npcompile.DeterminismError, match="default_rng"):
                jit(unseeded, deterministic=True)()

    def test_checked(self) -> None:
        f = jit(lambda rng, n: rng.random(n) * 2 + np.random.rand(), check=True)
        rng = np.random.default_rng(1)
        f(rng, 3)
        f(rng, 4)

    def test_reference_backend(self) -> None:
        def f(seed: int, x: Any) -> Any:
            rng = np.random.default_rng(seed)
            return np.median(x) + rng.normal(size=3), rng.random(), str(seed)

        oracle.check(jit(f, backend="reference")(3, X), f(3, X))

    def test_explain_tells_lines(self) -> None:
        def f(x: Any) -> Any:
            return np.sort(x)

        line = inspect.getsourcelines(f)[1] + 1
        assert jit(f).explain(X).host_calls == [f"line {line}: numpy.sort"]

    def test_refused(self) -> None:
        for function in (
            lambda x: np.median(x, out=np.zeros(())),
            lambda x: np.apply_along_axis(lambda v: v + 1, 0, x),
            lambda x: np.broadcast_to(x, (2, x.size)).flags.writeable,
        ):
            with pytest.raises(npcompile.CompileError):
                jit(function, fullgraph=True)(X)


GLOBAL = np.random.default_rng(11)


class Model:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(12)
        self.gain = 2.0

    def step(self, x: Any) -> Any:
        return x * self.gain + self.rng.normal(size=x.shape[0])


class TestWhereGeneratorsAre:
    def test_globals(self) -> None:
        def f(n: int) -> Any:
            return GLOBAL.random(n) + GLOBAL.normal()

        compiled, space = jit(f, fullgraph=True), f.__globals__
        for seed in (11, 12, 13):
            space["GLOBAL"] = np.random.default_rng(seed)
            got = [compiled(3) for _ in range(2)]
            space["GLOBAL"] = np.random.default_rng(seed)
            oracle.check(got, [f(3) for _ in range(2)])

    def test_closures(self) -> None:
        rng = np.random.default_rng(3)

        def f(n: int) -> Any:
            return rng.random(n)

        got = jit(f, fullgraph=True)(3)
        rng = np.random.default_rng(3)
        oracle.check(got, f(3))

    def test_defaults(self) -> None:
        def f(x: Any, rng: Any = np.random.default_rng(5)) -> Any:  # noqa: B008
            return x + rng.random()

        compiled = jit(f, fullgraph=True)
        other = np.random.default_rng(5)
        for _ in range(3):
            oracle.check(compiled(X), X + other.random())

    def test_attributes(self) -> None:
        def f(model: Any, x: Any) -> Any:
            return model.step(x) + model.step(x)

        compiled = jit(f, fullgraph=True)
        one, other = Model(), Model()
        for _ in range(3):
            oracle.check(compiled(one, X), f(other, X))
        one.rng = np.random.default_rng(1)
        other.rng = np.random.default_rng(1)
        oracle.check(compiled(one, X), f(other, X))

    def test_returned(self) -> None:
        def f(seed: int) -> Any:
            rng = np.random.default_rng(seed)
            return rng, rng.random()

        compiled = jit(f, fullgraph=True)
        first, x = compiled(4)
        second, y = compiled(4)
        assert first is not second
        assert x == y
        assert first.random() == second.random()


def test_in_comprehensions() -> None:
    def f(x, n):
        return np.array([np.median(x[i:]) * 2 for i in range(n)])

    run(f, X, 4)


def test_in_comprehensions_inside_try() -> None:
    def f(x, n):
        try:
            return [np.percentile(x[i:], 200) for i in range(n)]
        except ValueError:
            return n

    assert jit(f)(X, 3) == 3


def test_in_functions_called_inside_try() -> None:
    def inner(x, q):
        return np.percentile(x, q) + 1

    def middle(x, q):
        return inner(x, q) * 2

    def f(x, q):
        try:
            return middle(x, q)
        except ValueError:
            return -1.0

    compiled = jit(f)
    for q in (200.0, 50.0, 200.0):
        oracle.check(compiled(X, q), f(X, q))


def test_records_in_functions_called_inside_try() -> None:
    def inner(a):
        return np.linalg.cholesky(a)

    def f(a):
        try:
            return inner(a).sum()
        except np.linalg.LinAlgError:
            return np.float64(-1.0)

    compiled = jit(f)
    for a in (SQUARE @ SQUARE.T, -np.eye(4), SQUARE @ SQUARE.T):
        assert np.isclose(compiled(a), f(a))


def test_closures_of_libraries_are_not_tried_out() -> None:
    """They may count their calls."""
    def counting() -> Any:
        calls = [0]

        def call(x: Any) -> Any:
            calls[0] += 1
            return x * 2.0

        call.__module__ = "scipy.optimize._optimize"
        return call, calls

    call, calls = counting()
    compiled = jit(lambda x: call(x + 1) * 3)
    for k in range(3):
        assert compiled(np.ones(3)).tolist() == [12.0] * 3
        assert calls == [k + 1]


class Heir(np.random.Generator):
    """Of its own class, so that it is one object for the compiler."""


class OldHeir(np.random.RandomState):
    pass


@pytest.mark.parametrize("make", [
    lambda: Heir(np.random.PCG64(5)), lambda: OldHeir(5),
    lambda: scipy.stats.qmc.Halton(2, scramble=False),
])
def test_objects_that_a_call_changes(make: Callable[[], Any]) -> None:
    """Trying out a method must not change the program's own object, nor two calls become one."""
    def twice(source: Any) -> Any:
        return source.random(3) - 2 * source.random(3)

    compiled, ours, other = jit(twice), make(), make()
    for _ in range(3):
        assert compiled(ours).tolist() == twice(other).tolist()


def test_objects_that_a_call_reads() -> None:
    spread = scipy.stats.norm(1.0, 2.0)
    compiled = jit(lambda x: spread.pdf(x + 1) * 2, fullgraph=True)
    assert compiled(X).tolist() == (spread.pdf(X + 1) * 2).tolist()


def test_sizes_that_must_go_together() -> None:
    """The C code of ndimage looks for a structure where its footprint is, whatever its size, and
    for something in the footprint."""
    def opened(a: Any, footprint: Any, structure: Any) -> Any:
        return scipy.ndimage.grey_opening(a, footprint=footprint, structure=structure) + 1

    compiled, footprint = jit(opened), np.array([[1, 0, 1], [1, 1, 0]])
    for shape in ((3, 5), (4, 7), (3, 5)):
        a, structure = np.arange(shape[0] * shape[1]).reshape(shape) % 7, np.zeros((2, 3), int)
        want = opened(a, footprint, structure)
        assert compiled(a, footprint, structure).tolist() == want.tolist()


@pytest.mark.parametrize("kind", ["F", "D", "e", "f"])
def test_numbers_that_libraries_give(kind: str) -> None:
    """Half precision and single complex numbers are read whole."""
    x = (np.arange(6) + 1j).astype(kind) if kind in "FD" else np.arange(6).astype(kind) + 0.5
    calls: list[Callable[[Any], Any]] = [
        lambda x: np.median(x), lambda x: np.prod(x, initial=2),
        lambda x: np.percentile(x.real, 30),
    ]
    for function in calls:
        want, got = function(x), jit(function, fullgraph=True)(x)
        assert type(got) is type(want) and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("reduced", [
    lambda z, m: z.prod(),
    lambda z, m: np.prod(z, axis=1),
    lambda z, m: np.multiply.reduce(z, axis=0),
    lambda z, m: z.cumprod(),
    lambda z, m: np.multiply.accumulate(z, axis=1),
    lambda z, m: np.nancumprod(z),
    lambda z, m: z.real.sum(where=m),
    lambda z, m: np.add.reduce(z.imag, axis=1, where=m),
    lambda z, m: z.real.mean(axis=1, where=m),
    lambda z, m: np.var(z.real, where=m),
])
def test_reductions_that_numpy_makes_warn_where_it_does(reduced):
    z = np.full((4, 600), 1e308 - 1e308j)
    z[1, 3] = np.inf
    told = []
    for f in (reduced, npcompile.jit(reduced, fullgraph=True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f(z, z.real < np.inf)
        told.append([(w.category, str(w.message), w.filename, w.lineno) for w in caught])
    assert told[0] == told[1] != []
