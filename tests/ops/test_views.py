"""Views, copies, splits and attributes against NumPy: values, strides, what is shared."""

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.errors import Refused
from npcompile.core.releases import numpy_before
from npcompile.ops import indexing, queries, selection, views
from tests.support.arrays import as_numpy, call, check, run

RNG = np.random.default_rng(0)
A = RNG.standard_normal((6, 8))
V = np.arange(12.0)
assert queries
ARRAYS = {
    "C": A,
    "F": np.asfortranarray(A),
    "complex": A.astype("F"),
    "permuted": RNG.standard_normal((3, 4, 5)).transpose(2, 0, 1),
    "strided": RNG.standard_normal((9, 10, 11))[1:7:2, ::-1, 2:5],
    "half": V.reshape(3, 4)[:, ::2],
}
CALLS = [
    (np.transpose, ()), (np.swapaxes, (0, -1)), (np.moveaxis, (0, -1)),
    (np.moveaxis, ((0, 1), (1, 0))), (np.rollaxis, (1,)), (np.rollaxis, (0, 2)),
    (np.matrix_transpose, ()), (np.ravel, ()), (np.ndarray.flatten, ()), (np.ndarray.copy, ()),
    (np.copy, ()), (np.ndarray.copy, ("F",)), (np.reshape, (-1,)), (np.squeeze, ()),
    (np.expand_dims, (0,)), (np.expand_dims, ((0, -1),)), (np.atleast_1d, ()),
    (np.atleast_2d, ()), (np.atleast_3d, ()), (np.flip, ()), (np.flip, (0,)),
    (np.flip, ((0, 1),)), (np.flipud, ()), (np.fliplr, ()), (np.rot90, ()), (np.rot90, (2,)),
    (np.rot90, (3,)), (np.rot90, (-1, (1, 0))), (np.diagonal, ()), (np.diagonal, (1,)),
    (np.diagonal, (-2,)), (np.diagonal, (0, 1, 0)), (np.trace, ()), (np.trace, (1,)),
    (np.array_split, (4,)), (np.array_split, (3, 1)), (np.split, ([1, 3],)),
    (np.split, ([1, 3, 100],)), (np.hsplit, ([2],)), (np.vsplit, ([1],)),
]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("function, args", CALLS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_views(name, function, args):
    as_numpy(function, [ARRAYS[name]], *args)


@pytest.mark.parametrize("shape", [(2, 3, 8), (4, 12), (48,), (6, 2, 4), (6, 4, 2), (3, 2, 8),
                                   (6, 8, 1), (1, 6, 1, 8), (2, 24), (-1, 2), (2, -1, 4)])
@pytest.mark.parametrize("array", [A, A[:, ::-1], ARRAYS["F"], RNG.standard_normal((6, 9))[:, :8],
                                   RNG.standard_normal((12, 8))[::2]])
def test_reshape_is_a_view_exactly_where_numpys_is(array, shape):
    def program(ctx, x):
        found = call(np.ndarray.reshape, *shape)(ctx, x)
        indexing.setitem(ctx, found, Ellipsis, 1.0)
        return x, found

    def numpy(x):
        found = x.reshape(*shape)
        found[...] = 1.0
        return x, found

    check(program, numpy, array)


def flat(x):
    return x.flatten(), x.T.flatten(), x.flatten("F"), x[0].flatten(), x.T.ravel(), x[:, :1].ravel()


def test_flat_copies_own_their_memory():
    compiled = jit(flat, fullgraph=True)
    for x in (A, A[:3, :2]):
        for got, want in zip(compiled(x), flat(x), strict=True):
            assert np.array_equal(got, want)
            assert got.base is None
            assert want.base is None
            got.resize(3, refcheck=False)  # what a view can't


@pytest.mark.parametrize("function", [views.ravel, lambda ctx, x: selection.diagonal_of(
    ctx, x, 0, (0, 1)), views.transpose])
def test_writes_through_views(function):
    like = {views.ravel: np.ravel, views.transpose: np.transpose}.get(
        function, lambda x: np.einsum("ii->i", x[:, :6]))

    def program(ctx, x):
        view = function(ctx, x)
        indexing.setitem(ctx, view, slice(1, 4), 9.0)
        return view, x

    def numpy(x):
        view = like(x)
        view[1:4] = 9.0
        return view, x

    check(program, numpy, A)


@pytest.mark.parametrize("function, args, array", [
    (np.atleast_2d, (), V), (np.atleast_3d, (), V), (np.atleast_2d, (), np.array(3.0)),
    (np.hsplit, (3,), V), (np.split, (4,), V), (np.array_split, (5,), V),
    (np.broadcast_to, ((2, 6, 8),), A), (np.broadcast_arrays, (), A),
    (np.squeeze, (), A[None, :, None]), (np.squeeze, (0,), A[None]),
])
def test_other_views(function, args, array):
    as_numpy(function, [array], *args)


def test_broadcast_arrays_of_unlike_shapes():
    as_numpy(np.broadcast_arrays, [A, A[0].copy()])


@pytest.mark.parametrize("function, args", [
    (np.transpose, ((0,),)), (np.swapaxes, (0, 2)), (np.reshape, (7,)), (np.reshape, ((-1, -1),)),
    (np.split, (5,)), (np.squeeze, (0,)), (np.expand_dims, (5,)), (np.broadcast_to, ((3, 8),)),
    (np.moveaxis, ((0, 0), (0, 1))), (np.diagonal, (0, 0, 0)),
])
def test_what_raises_is_refused(function, args):
    with pytest.raises(Refused):
        run(call(function, *args), A)


@pytest.mark.parametrize("name", ["T", "mT", "shape", "ndim", "size", "dtype", "itemsize",
                                  "nbytes", "strides", "real", "imag"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_attributes(name, kind):
    check(lambda ctx, x: views.attribute(ctx, x, name), lambda x: getattr(x, name), ARRAYS[kind])


@pytest.mark.parametrize("name", ["flat", "flags", "data", "base", "ctypes"])
def test_attributes_of_memory_are_left_to_python(name):
    with pytest.raises(Refused):
        run(lambda ctx, x: views.attribute(ctx, x, name), A)


def test_queries():
    for a in ARRAYS.values():
        for function in (np.shape, np.ndim, np.size):
            as_numpy(function, [a])
        as_numpy(np.size, [a], 0)
        if not numpy_before(2, 4):  # where it raises
            as_numpy(np.size, [a], (0, 1))
        as_numpy(np.ndarray.item, [a], *[1] * a.ndim)
        as_numpy(np.array_equal, [a, a])
    as_numpy(np.array_equal, [A, V])
    as_numpy(np.array_equal, [A, A + (A > 2)])
    for a in (np.array(2.5), np.ones((1, 1), "f4"), np.array([True]), np.array(3, "i1")):
        as_numpy(np.ndarray.item, [a])
    for args in ((), (0,), (9, 0), (0, 0, 0)):
        with pytest.raises(Refused):
            run(call(np.ndarray.item, *args), A)


def test_strides_of_axes_whose_length_the_run_finds():
    """An axis of length 1 is repeated with stride 0."""
    def f(v, k):
        w = v[int((v > k).sum()):] - 7
        u = np.broadcast_to(w, (2, *w.shape))
        return u, u.sum(axis=0), u + 1

    for backend in ("cpu", "reference"):
        compiled = jit(f, backend=backend, fullgraph=True)
        for n in (0, 1, 2, 5, 50):
            v = np.random.default_rng(n).random(n)
            for k in (-1.0, 0.3, 0.5, 0.9, 2.0):
                for got, want in zip(compiled(v, k), f(v, k), strict=True):
                    assert got.shape == want.shape and got.tobytes() == want.tobytes()
                    assert not want.size or got.strides == want.strides
