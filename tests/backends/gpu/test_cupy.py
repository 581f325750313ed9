"""Arrays of CuPy's as arguments: arrays there come back, and nothing is copied to the host."""

import numpy as np
import pytest

import npcompile
from npcompile.core.errors import CompileError
from npcompile.tensors import device as images

pytest.importorskip("triton", reason="Triton is not installed: kernels for GPUs are not tested")

from tests.support import cupy as support_cupy
from tests.support import oracle

pytestmark = pytest.mark.usefixtures("machine_code")

U = np.random.default_rng(8).standard_normal((7, 12))


@pytest.fixture
def installed(monkeypatch):
    yield support_cupy.install(monkeypatch)
    images._functions.cache_clear()


def as_on_host(installed, function, *args, copies=0, **options):
    """Runs on CuPy's arrays and, plain, on NumPy's; the results on the device."""
    cupy, device = installed
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    ours = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    want = function(*theirs)
    compiled = npcompile.jit(function, fullgraph=True, **options)
    compiled.explain(*ours)
    device.launches.clear()
    device.copies = 0
    got = compiled(*ours)
    for mine, other in zip(ours, theirs):
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(mine.get(), other)
    assert device.launches and device.copies == copies
    check_on_device(cupy, got, want)
    return ours, got


def check_on_device(cupy, got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for pair in zip(got, want):
            check_on_device(cupy, *pair)
    elif isinstance(want, (np.ndarray, np.generic)):
        assert type(got) is cupy.ndarray and got.strides == want.strides
        assert oracle.elements(got.get(), want)
    else:
        oracle.check(got, want)


def test_arrays_stay_on_the_device(installed):
    as_on_host(installed, lambda u: u * 2 + 1, U)
    as_on_host(installed, lambda u: (u - u.mean(1, keepdims=True)) / u.std(1, keepdims=True), U)
    as_on_host(installed, lambda u: (u[1:] - u[:-1], u.T, u[::-1, 3], u.imag), U + 1j)
    as_on_host(installed, lambda u: u @ u.T @ (u + 1), np.round(8 * U))


def test_an_argument_comes_back_as_itself(installed):
    cupy, _ = installed
    u = cupy.asarray(U)
    got, view, new = npcompile.jit(lambda u: (u, u[2:, ::2], u + 1), fullgraph=True)(u)
    assert got is u and new is not u
    assert view.data.mem is u.data.mem and view.data.ptr == u.data.ptr + 8 * 24


def test_arguments_are_changed_in_place(installed):
    def step(u, k):
        for _ in range(3):
            u[1:-1] += k * (u[:-2] - 2 * u[1:-1] + u[2:])
        u[0] = 0
        return u[1]

    (u, _), row = as_on_host(installed, step, U, 0.25)
    assert row.data.mem is u.data.mem


def test_overlapping_arguments(installed):
    """Images share memory as arrays do."""
    cupy, _ = installed
    whole = U.ravel().copy()
    memory = cupy.asarray(whole)

    def shift(a, b):
        a[:] = b * 2
        return b.sum()

    compiled = npcompile.jit(shift, fullgraph=True)
    compiled(memory[:40], memory[40:80])
    shift(whole[:40], whole[40:80])
    np.testing.assert_array_equal(memory.get(), whole)
    with pytest.raises(CompileError, match="they overlap"):
        compiled(memory[1:31], memory[:30])


def test_elements_are_views(installed):
    def late(u):
        first = u[0, 0]
        u[0, 0] = 5
        return first + 1, u[1, 1]

    cupy, _ = installed
    u = cupy.asarray(U)
    first, element = npcompile.jit(late, fullgraph=True)(u)
    assert first.get() == 6 and element.shape == () and element.data.mem is u.data.mem


def test_names_of_cupy(installed):
    cupy, _ = installed

    def function(xp, u):
        v = xp.exp(u) + xp.zeros(12)
        return xp.where(u > 0, v, xp.zeros_like(u)), xp.linalg.norm(xp.sqrt(xp.abs(u)).sum(0))

    want = function(np, U)
    got = npcompile.jit(function, fullgraph=True)(cupy, cupy.asarray(U))
    for mine, other in zip(got, want):
        np.testing.assert_allclose(mine.get(), other, 1e-15)


def test_library_calls_take_arrays_to_the_host(installed):
    def function(u):
        v = np.linalg.inv(u @ u.T)
        return np.cumsum(v * 2)

    cupy, device = installed
    got = npcompile.jit(function, fullgraph=True)(cupy.asarray(U))
    np.testing.assert_allclose(got.get(), function(U), 1e-9)
    assert device.copies


@pytest.mark.parametrize("function", [
    lambda u: u + np.ones(12),
    lambda u: isinstance(u, np.ndarray),
    lambda u: type(u.sum()),
    lambda u: u.device,
    lambda u: sum(x for x in u[0]),
    lambda u: u.get(),
])
def test_what_differs_is_left_to_cupy(installed, function):
    cupy, _ = installed
    with pytest.raises(CompileError):
        npcompile.jit(function, fullgraph=True)(cupy.asarray(U))


def test_no_array_moves_by_itself(installed):
    cupy, _ = installed
    compiled = npcompile.jit(lambda u, v: u + v, fullgraph=True)
    with pytest.raises(CompileError, match="CuPy"):
        compiled(cupy.asarray(U), U)
    with pytest.raises(CompileError, match="CuPy"):
        compiled(U, cupy.asarray(U))
    np.testing.assert_array_equal(compiled(U, U), U + U)  # on the CPU
    np.testing.assert_array_equal(compiled(cupy.asarray(U), cupy.asarray(U)).get(), U + U)
    with pytest.raises(CompileError, match=r"cupy\.exp"):
        npcompile.jit(lambda xp, u: xp.exp(u), fullgraph=True)(cupy, U)


def test_without_triton_cupy_does_it(installed, monkeypatch):
    cupy, _ = installed
    monkeypatch.setattr("npcompile.backends.gpu.cuda.missing", lambda: "install it")
    with pytest.raises(CompileError, match="install it"):
        npcompile.jit(lambda u: u + 1, fullgraph=True)(cupy.asarray(U))
