"""Creation, ranges, joins and products against NumPy."""

import numpy as np
import pytest

from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed
from npcompile.ops import contraction, creation, joining, ranges
from tests.support.arrays import as_numpy, call, check, run

RNG = np.random.default_rng(0)
A = RNG.standard_normal((6, 8))
F = np.asfortranarray(A)
B = RNG.standard_normal((3, 4, 5)).transpose(2, 0, 1)
V = np.arange(12.0)
I4 = np.arange(12).reshape(3, 4).astype("i4")
LAYOUTS = {"C": A, "F": F, "permuted": B, "strided": A[::2], "reversed": A[:, ::-1], "int": I4}
assert contraction and creation and joining and ranges


def made(function, *args, **options):
    """A function of NumPy's without arrays: its arguments known, and traced."""
    as_numpy(function, [], *args, **options)
    if args and all(type(a) in (int, float) for a in args):
        as_numpy(function, args, **options)


# ------------------------------------------------------------------ filled and counted


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_filled(name):
    function = getattr(np, name)
    for shape in (5, (3, 4), [2, 2], (), (0, 3)):
        for options in ({}, {"dtype": "i4"}, {"order": "F"}, {"dtype": bool}):
            made(function, shape, **options)
    for a in LAYOUTS.values():
        like = getattr(np, name + "_like")
        for options in ({}, {"dtype": "f4"}, {"shape": (3,)}, {"order": "F"}, {"order": "C"}):
            as_numpy(like, [a], **options)


def test_traced_shapes():
    check(lambda ctx, n, m: call(np.zeros, dtype="f4")(ctx, (n, m)),
          lambda n, m: np.zeros((n, m), "f4"), 3, 4)
    check(lambda ctx, n: call(np.eye)(ctx, n), np.eye, 4)
    with pytest.raises(Refused):
        run(lambda ctx, n: call(np.zeros)(ctx, n), -1)


@pytest.mark.parametrize("value", [7, True, 2.5, 1j, np.float32(3), [1, 2]])
def test_full(value):
    made(np.full, (3, 2), value)
    if not isinstance(value, complex):
        made(np.full, (3, 2), value, dtype="f4")
        for a in LAYOUTS.values():
            if not isinstance(value, list):
                as_numpy(np.full_like, [a], value)


def test_empty_has_numpys_layout():
    def same_layout(x):
        found = np.empty_like(x)
        found[...] = 1
        return found

    def program(ctx, x):
        found = call(np.empty_like)(ctx, x)
        call(np.ndarray.fill, 1)(ctx, found)
        return found

    for a in LAYOUTS.values():
        check(program, same_layout, a)


@pytest.mark.parametrize("args", [
    (5,), (0,), (-3,), (2, 10), (2, 10, 3), (10, 2, -3), (2, 2), (0.0, 1.0, 0.1), (5.0,),
    (1.0, 0.0, -0.3), (0, 1, 0.25), (-0.0, 2.0, 0.7), (0.1, 3.7, 0.3), (3, 0.5, -0.5),
    (1.0, 2.0, 1 / 3), (1e16, 1e16 + 64, 3.0),
])
def test_arange(args):
    made(np.arange, *args)
    made(np.arange, *args, dtype="f4")
    if all(isinstance(x, int) for x in args):
        made(np.arange, *args, dtype="i2")


@pytest.mark.parametrize("args", [(0, 1, 0), (0.0, 1.0, 0.0), (1.0, 0.0, 1.0), ("a",), (1j,)])
def test_arange_that_raises_or_is_odd_leaves(args):
    with pytest.raises((Refused, CheckFailed)):
        run(call(np.arange, *args))
    if isinstance(args[0], float):
        with pytest.raises((Refused, CheckFailed)):
            run(call(np.arange), *args)


@pytest.mark.parametrize("args", [(0, 1), (0.0, 1.0, 7), (2, 5, 1), (3, -7.5, 11), (0, 0, 5),
                                  (0, 5e-324, 10), (1, 2, 0), (-1, 1, 2), (0.1, 0.7, 1000)])
def test_linspace(args):
    for options in ({}, {"endpoint": False}, {"dtype": "i8"}, {"dtype": "f4"}):
        made(np.linspace, *args, **options)
    if len(args) == 3 and args[2] > 1:
        made(np.linspace, *args, retstep=True)


# ------------------------------------------------------------------ copies of contents


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_of_arrays(name):
    a = LAYOUTS[name]
    for function, options in [
        (np.array, {}), (np.array, {"dtype": "f4"}), (np.array, {"order": "C"}),
        (np.array, {"order": "F"}), (np.array, {"ndmin": 4}), (np.array, {"copy": None}),
        (np.asarray, {}), (np.asarray, {"dtype": "f4"}), (np.asarray, {"order": "C"}),
        (np.asanyarray, {}), (np.ascontiguousarray, {}), (np.asfortranarray, {}),
    ]:
        as_numpy(function, [a], **options)


def test_asarray_is_the_array_itself():
    def program(ctx, x):
        found = call(np.asarray)(ctx, x)
        call(np.ndarray.fill, 3)(ctx, found)
        return x

    check(program, lambda x: (np.asarray(x).fill(3), x)[1], A)


def test_lists():
    array = call(np.array)
    check(lambda ctx, x, y: array(ctx, [[x, 1.0], [y, 2]]),
          lambda x, y: np.array([[x, 1.0], [y, 2]]), 3.5, 2)
    check(lambda ctx, x: array(ctx, [x, x]), lambda x: np.array([x, x]), V)
    check(lambda ctx, x: array(ctx, (x, 1)), lambda x: np.array((x, 1)), 3)
    check(lambda ctx, x: array(ctx, [x, True]), lambda x: np.array([x, True]), np.float32(3))
    check(lambda ctx: array(ctx, []), lambda: np.array([]))
    check(lambda ctx: call(np.array, dtype="f4")(ctx, [[1, 2], [3, 4]]),
          lambda: np.array([[1, 2], [3, 4]], dtype="f4"))
    check(lambda ctx, x: array(ctx, x), np.array, 2.5)
    for ragged in ([[1, 2], [3]], [1, [2]], ["a"], [None]):
        with pytest.raises(Refused):
            run(call(np.array, ragged))


def test_copyto_and_fill():
    def copyto(ctx, x, y, *mask):
        call(np.copyto, **({"where": mask[0]} if mask else {}))(ctx, x, y)
        return x

    def numpy(x, y, *mask):
        np.copyto(x, y, **({"where": mask[0]} if mask else {}))
        return x

    for target, value in [(A, A[0]), (A, 3), (I4, 7), (I4, np.int64(2**40 + 3)), (A, F)]:
        check(copyto, numpy, target, value)
    check(copyto, numpy, A, F, A > 0)
    for target, value in [(I4, 2.5), (I4, A[:3, :4]), (A, 1j)]:
        with pytest.raises(Refused):
            run(copyto, target.copy(), value)


# ------------------------------------------------------------------ matrices and grids


@pytest.mark.parametrize("k", [-9, -2, -1, 0, 1, 2, 9])
def test_matrices(k):
    made(np.eye, 4, 6, k=k)
    made(np.eye, 6, 4, k=k, dtype="i4")
    made(np.eye, 3, k=k, order="F")
    made(np.tri, 4, 6, k=k)
    for a in (*LAYOUTS.values(), V):
        for function in (np.tril, np.triu):
            as_numpy(function, [a], k=k)
    for a in (V, A, F):
        as_numpy(np.diag, [a], k=k)


def test_identity_and_fill_diagonal():
    made(np.identity, 4)

    def program(ctx, x):
        call(np.fill_diagonal, 5)(ctx, x)
        return x

    for a in (A, F, A.T, A[:4]):
        check(program, lambda x: (np.fill_diagonal(x, 5), x)[1], a)


def test_grids():
    w = A[0].copy()
    for options in ({}, {"indexing": "ij"}, {"sparse": True}):
        as_numpy(np.meshgrid, [V, w], **options)
        as_numpy(np.meshgrid, [V, w, V], **options)
    made(np.indices, (3, 4))
    made(np.indices, (3, 4), sparse=True)


# ------------------------------------------------------------------ joins


def joined(function, *arrays, **options):
    check(lambda ctx, *x: call(function, **options)(ctx, list(x)),
          lambda *x: function(list(x), **options), *arrays)


@pytest.mark.parametrize("pair", [(A, A), (F, F), (A, F), (A, A.astype("f4")),
                                  (A[::2], A[1::2]), (B, B), (V, V + 1)])
def test_joins(pair):
    vectors = pair[0].ndim == 1
    for function, options in [
        (np.concatenate, {}), (np.concatenate, {"axis": -1}), (np.concatenate, {"axis": None}),
        (np.stack, {}), (np.stack, {"axis": 1}), (np.stack, {"axis": -1}), (np.vstack, {}),
        (np.hstack, {}), (np.dstack, {}), (np.column_stack, {}),
    ]:
        joined(function, *pair, **options)
    as_numpy(np.append, pair)
    if not vectors:
        joined(np.concatenate, *pair, dtype="f4", axis=1)


def test_joins_of_unlike_arrays():
    joined(np.concatenate, V, I4[0].copy(), V[:3].copy())
    as_numpy(np.append, [V], 3.5)
    with pytest.raises(Refused):
        run(lambda ctx, x, y: call(np.concatenate)(ctx, [x, y]), A, V)
    with pytest.raises(Refused):
        run(lambda ctx, x, y: call(np.stack)(ctx, [x, y]), V, V[:3].copy())


@pytest.mark.parametrize("name", ["C", "F", "permuted", "int"])
def test_repetition_roll_and_pad(name):
    a = LAYOUTS[name]
    for options in ({"repeats": 3}, {"repeats": 2, "axis": 0}, {"repeats": 0, "axis": -1}):
        as_numpy(np.repeat, [a], **options)
    for reps in (2, (2, 3), (1, 2), (2, 1, 1, 2), 1, (1, 1)):
        as_numpy(np.tile, [a], reps)
    for options in ({"shift": 1}, {"shift": -2}, {"shift": 1, "axis": 0}, {"shift": 0},
                    {"shift": -1, "axis": -1}, {"shift": 100, "axis": 0},
                    {"shift": (1, 2), "axis": (0, 1)}):
        as_numpy(np.roll, [a], **options)
    for width in (1, (1, 2), ((1, 2),), ((0, 3),) * a.ndim):
        for options in ({}, {"constant_values": 4}):
            as_numpy(np.pad, [a], width, **options)


def test_roll_by_a_traced_number():
    for shift in (-2, 0, 5, 100):
        check(lambda ctx, x, s: call(np.roll)(ctx, x, s, 0), lambda x, s: np.roll(x, s, 0), A,
              shift)


# ------------------------------------------------------------------ products

M = RNG.standard_normal((8, 5))
W = RNG.standard_normal(8)
T = RNG.standard_normal((3, 6, 8))


@pytest.mark.parametrize("pair", [
    (A, M), (A, W), (W, M), (W, W), (T, M), (A.astype("f4"), M.astype("f4")), (F, M),
    (A.astype("D"), M), (A[:, ::2], M[::2]), (A[::-1], M), (np.arange(48).reshape(6, 8), M),
])
def test_products(pair):
    # np.dot over more axes is one product of matrices here, and differs in the last bits
    for function in (np.matmul, np.dot) if pair[0].ndim < 3 else (np.matmul,):
        check(call(function), function, *pair)


def test_other_products():
    check(call(np.matmul), np.matmul, T, T.transpose(0, 2, 1))
    check(call(np.inner), np.inner, A, A)
    check(call(np.vdot), np.vdot, W * (1 + 1j), W * (2 - 1j))
    check(call(np.outer), np.outer, W, A)
    as_numpy(np.tensordot, [T, M], 1)
    pairs = ([0, 1], [0, 1])
    as_numpy(np.tensordot, [T, T], pairs)
    with pytest.raises(Refused, match="of a number"):  # NumPy chooses between two ways
        as_numpy(np.dot, [A], 2.5)
    out = np.zeros((6, 5))
    check(lambda ctx, x, y, o: call(np.matmul, out=o)(ctx, x, y),
          lambda x, y, o: np.matmul(x, y, out=o), A, M, out)
    for pair in ((A, A), (A, W[:3].copy())):
        with pytest.raises(Refused):
            run(call(np.matmul), *pair)
