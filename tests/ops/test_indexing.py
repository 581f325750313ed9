"""``a[key]`` and ``a[key] = value`` against NumPy: values, layout, what is shared."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed
from npcompile.graph.types import PY_INT
from npcompile.ops import indexing
from tests.support.arrays import call, check, run

get = indexing.getitem
A = np.arange(60.0).reshape(5, 12)


def put(ctx, x, key, value):
    indexing.setitem(ctx, x, key, value)
    return x


def put_numpy(x, key, value):
    x[key] = value
    return x


def puts(a, key, value, **options):
    """The assignment of a traced value does what NumPy's does."""
    check(lambda ctx, x, v: put(ctx, x, key, v), lambda x, v: put_numpy(x, key, v), a, value,
          **options)


def leaves(a, key, value):
    with pytest.raises((Refused, CheckFailed)):
        run(lambda ctx, x, v: put(ctx, x, key, v), a.copy(), value)


bound = st.none() | st.integers(-8, 8)
step = st.none() | st.integers(-4, 4).filter(bool)
item = st.builds(slice, bound, bound, step) | st.integers(-3, 2) | st.just(None)
memory = st.sampled_from(["C", "F", "reversed", "strided"])


def laid_out(kind, shape):
    wide = np.arange(4.0 * np.prod(shape)).reshape([2 * n if k < 2 else n
                                                    for k, n in enumerate(shape)])
    a = wide[::2, ::2]
    return {"C": np.ascontiguousarray(a), "F": np.asfortranarray(a), "strided": a,
            "reversed": a[::-1, ..., ::-1]}[kind]


@settings(max_examples=300)
@given(st.lists(item, max_size=4), st.booleans(), st.integers(0, 4), memory)
def test_any_basic_key(items, dots, at, layout):
    if sum(i is not None for i in items) > 3:
        return
    key = tuple(items[:at] + [...] * dots + items[at:])
    a = laid_out(layout, (3, 4, 5))
    check(lambda ctx, x: get(ctx, x, key), lambda x: x[key], a)
    check(lambda ctx, x: put(ctx, x, key, 2.5), lambda x: put_numpy(x, key, 2.5), a)
    shape = a[key].shape
    value = np.arange(np.prod(shape)).reshape(shape)
    puts(a, key, value)


@pytest.mark.parametrize("key", [np.s_[5], np.s_[-6], np.s_[0, 12], np.s_[0, 0, 0], np.s_[..., ...],
                                 np.s_[1.5], np.s_["x"], np.s_[::0], np.s_[True], np.s_[[0.5, 1]]])
def test_what_raises_or_is_no_view_is_refused(key):
    with pytest.raises(Refused):
        run(lambda ctx, x: get(ctx, x, key), A)
    with pytest.raises(Refused):
        run(lambda ctx, x: put(ctx, x, key, 0), A)


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8])
def test_traced_indices(kind):
    for i in (0, 3, *([-1, -5] if kind is not np.uint8 else [])):
        check(lambda ctx, x, i: get(ctx, x, i), lambda x, i: x[i], A, kind(i))
        check(lambda ctx, x, i: get(ctx, x, (i, i)), lambda x, i: x[i, i], A, kind(i))
        check(lambda ctx, x, i: put(ctx, x, (i, i), 7), lambda x, i: put_numpy(x, (i, i), 7), A,
              kind(i))
    for i in (5, 100, *([-6] if kind is not np.uint8 else [])):
        with pytest.raises((Refused, CheckFailed)):
            run(lambda ctx, x, i: get(ctx, x, i), A, kind(i))


@pytest.mark.parametrize("i", [0, 2, 4, 5])
@pytest.mark.parametrize("key", [
    lambda i: slice(i, None), lambda i: slice(None, i), lambda i: slice(i, i + 1),
    lambda i: slice(i, None, 2), lambda i: slice(None, None, -1), lambda i: slice(i, 5),
])
def test_bounds_that_only_the_run_knows(i, key):
    def program(ctx, x, i):
        # a NumPy scalar is no size, but a computed integer
        node = ctx.builder.emit("cast", (i,), None, PY_INT)
        one = ctx.builder.const(1)
        found = key(_Sum(ctx, node, one))
        ends = [e.node if isinstance(e, _Sum) else e for e in (found.start, found.stop)]
        return get(ctx, x, slice(*ends, found.step))

    try:
        check(program, lambda x, i: x[key(i)], A, np.int64(i))
    except CheckFailed:
        assert i == 5  # where a slice is cut off


class _Sum:
    def __init__(self, ctx, node, one):
        self.ctx, self.node, self.one = ctx, node, one

    def __add__(self, other):
        node = self.ctx.builder.map("add", (self.node, self.one), np.int64, origin="py")
        return _Sum(self.ctx, node, self.one)


def test_a_stencil_has_simple_sizes_and_one_guard_an_axis():
    def program(ctx, x):
        found = get(ctx, x, np.s_[1:-1, 1:-1])
        for key in (np.s_[2:, 1:-1], np.s_[:-2, 1:-1], np.s_[1:-1, 2:], np.s_[1:-1, :-2]):
            other = get(ctx, x, key)
            assert other.shape == found.shape
        assert repr(found.shape) == "(a0.0 - 2, a0.1 - 2)"
        assert len(ctx.facts.guards) == 2
        return found

    run(program, A)


# ------------------------------------------------------------------ values


VALUES = [0, 3, -1, 2.75, True, np.float32(1.5), np.int64(7), np.float64(-2.5), np.uint8(9)]


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "F", "D"])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_numbers_are_cast_as_numpy_casts_them(dtype, value):
    a = np.ones((2, 3), dtype)
    if value < 0 and a.dtype.kind == "u":
        return  # wraps or raises, by the number's type: always left to Python
    for key in (0, np.s_[:, 1], np.s_[...]):
        try:
            put_numpy(a.copy(), key, value)
        except (OverflowError, TypeError, ValueError):
            leaves(a, key, value)
        else:
            puts(a, key, value)
            known(a, key, value)


def known(a, key, value):
    check(lambda ctx, x: put(ctx, x, key, value), lambda x: put_numpy(x, key, value), a)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, 300.0, 300, -129, np.int64(300), 1j])
def test_numbers_that_do_not_fit_leave(value):
    leaves(np.zeros(3, np.int8), 0, value)


@pytest.mark.parametrize("target", ["i1", "i8", "u8", "f4", "?"])
def test_arrays_are_cast_without_a_check(target):
    value = np.array([np.nan, 1e30, -1e30, 300.7, -0.5])
    with np.errstate(all="ignore"):
        check(lambda ctx, x, v: put(ctx, x, ..., v), lambda x, v: put_numpy(x, ..., v),
              np.zeros(5, target), value)


def test_shapes_that_do_not_broadcast_are_refused():
    for shape in [(5,), (2, 5, 12), (5, 12, 1), (4, 12)]:
        with pytest.raises(Refused):
            run(lambda ctx, x, v: put(ctx, x, ..., v), A.copy(), np.zeros(shape))
    check(lambda ctx, x, v: put(ctx, x, ..., v), lambda x, v: put_numpy(x, ..., v), A,
          np.ones((1, 1, 12)))


def test_lists_of_numbers():
    def program(ctx, x, v):
        return put(ctx, x, 1, [v, 2, *[0.5] * 10])

    check(program, lambda x, v: put_numpy(x, 1, [v, 2, *[0.5] * 10]), A, 4.0)


def test_a_view_written_through_is_seen_everywhere():
    def program(ctx, x):
        view = get(ctx, x, np.s_[1:, ::2])
        put(ctx, x, np.s_[2], -1.0)
        put(ctx, view, np.s_[0, 0], 100.0)
        return view, x, get(ctx, view, (1, 1))

    def numpy(x):
        view = x[1:, ::2]
        x[2] = -1.0
        view[0, 0] = 100.0
        return view, x, view[1, 1]

    check(program, numpy, A)


@pytest.mark.parametrize("source, target", [
    (np.s_[:-1], np.s_[1:]), (np.s_[1:], np.s_[:-1]), (np.s_[::-1], np.s_[...]),
])
def test_overlapping_assignment_reads_first(source, target):
    check(lambda ctx, x: put(ctx, x, target, get(ctx, x, source)),
          lambda x: put_numpy(x, target, x[source]), A)


# ------------------------------------------------------------------ masks


@pytest.mark.parametrize("value", [0, 2.5, np.float64(3.5)])
def test_masked_write(value):
    check(lambda ctx, x, m, v: put(ctx, x, m, v), put_numpy, A, A % 3 == 1, value)
    check(lambda ctx, x, m: put(ctx, x, m, value), lambda x, m: put_numpy(x, m, value), A, A > 20)


def test_masks_of_fewer_axes_and_wrapping():
    rows = np.array([True, False, True, True, False])
    check(lambda ctx, x, m: put(ctx, x, m, -1), lambda x, m: put_numpy(x, m, -1), A, rows)
    check(lambda ctx, x, m, v: put(ctx, x, m, v), put_numpy, A, rows, np.arange(12.0))
    small = np.zeros(5, np.int8)
    check(lambda ctx, x, m, v: put(ctx, x, m, v), put_numpy, small, rows, np.int64(300))


def test_masks_of_another_shape_are_refused():
    mask = A > 3
    with pytest.raises(CheckFailed):
        run(lambda ctx, x, m, v: put(ctx, x, m, v), A.copy(), mask, np.arange(55.0))
    with pytest.raises(Refused):
        run(lambda ctx, x, m, v: put(ctx, x, m, v), A.copy(), mask, np.zeros((5, 12)))
    with pytest.raises(Refused):
        run(lambda ctx, x, m: put(ctx, x, m, 1), A.copy(), mask[:4])


CUBE = np.arange(60.0).reshape(3, 4, 5)
LAYOUTS = [CUBE, np.asfortranarray(CUBE), CUBE[::-1, :, ::2], CUBE.transpose(1, 0, 2)]


@pytest.mark.parametrize("array", LAYOUTS)
def test_masked_read(array):
    for mask in (array % 3 == 1, array > 99, array > -1, np.asfortranarray(array > 30)):
        check(lambda ctx, x, m: get(ctx, x, m), lambda x, m: x[m], array, mask)
    for key in (np.s_[array[:, 0, 0] > 20], np.s_[array[..., 0] > 20],
                np.s_[1:, array[0, :, 0] > 7], np.s_[array[:, 0, 0] > 0, 1],
                np.s_[array[:, 0, 0] > 0, :, np.array([1])]):
        given = key if isinstance(key, tuple) else (key,)

        def program(ctx, x, *masks, given=given):
            rest = iter(masks)
            return get(ctx, x, tuple(
                next(rest) if isinstance(k, np.ndarray) else k for k in given))

        masks = [k for k in given if isinstance(k, np.ndarray)]
        check(program, lambda x, *masks, key=key: x[key], array, *masks)


@pytest.mark.parametrize("array", LAYOUTS)
def test_masked_write_of_an_element_each(array):
    mask = array % 3 == 1
    check(lambda ctx, x, m, v: put(ctx, x, m, v), put_numpy, array, mask, -array[mask])
    rows = array[:, 0, 0] > 0
    check(lambda ctx, x, m, v: put(ctx, x, m, v), put_numpy, array, rows, -array[rows])


def test_read_only_views_are_refused():
    with pytest.raises(Refused):
        run(lambda ctx, x: put(ctx, call(np.broadcast_to, (2, 5, 12))(ctx, x), 0, 1.0), A.copy())


# ------------------------------------------------------------------ arrays of integers


@pytest.mark.parametrize("array", [A, np.asfortranarray(A), A[::-1, ::2], A.reshape(3, 4, 5), A[0]])
@pytest.mark.parametrize("index", [np.array([0, 2, -1]), np.array([[1, 1], [0, 2], [2, -3]]),
                                   np.array([2, 0], np.uint8), np.zeros(0, int)])
def test_gather(array, index):
    check(lambda ctx, x, i: get(ctx, x, i), lambda x, i: x[i], array, index)


def test_other_gathers():
    i, j = np.array([0, 2, -1]), np.array([3, 1, 0])
    check(lambda ctx, x, i, j: get(ctx, x, (i, j)), lambda x, i, j: x[i, j], A, i, j)
    check(lambda ctx, x: get(ctx, x, [2, 0]), lambda x: x[[2, 0]], A)
    for k in (np.array([5]), np.array([-6, 0])):
        with pytest.raises(CheckFailed):
            run(lambda ctx, x, i: get(ctx, x, i), A, k)
    with pytest.raises(Refused):
        run(lambda ctx, x, i: get(ctx, x, i), A, i.astype(float))


P, Q = np.array([0, 2, -1]), np.array([1, 0, 1])
KEYS = [np.s_[:, P], np.s_[P, Q], np.s_[..., P], np.s_[P, :, Q], np.s_[0, :, P], np.s_[None, P],
        np.s_[P, None], np.s_[P[:, None], Q], np.s_[:, P[:, None], Q[:2]], np.s_[P, 1:, ::-1],
        np.s_[:, P.reshape(3, 1)], np.s_[P, 1], np.s_[np.asfortranarray(np.ones((3, 2), int))],
        np.s_[P, Q, P], np.s_[np.asfortranarray(np.ones((3, 2), int)), 1, 2], np.s_[P[:0]]]


def with_arrays(action, key):
    """``action(ctx, x, key, *more)`` as a program whose first operands are the key's arrays."""
    items = key if isinstance(key, tuple) else (key,)
    arrays = [k for k in items if isinstance(k, np.ndarray)]

    def program(ctx, x, *operands):
        found = iter(operands)
        given = tuple(next(found) if isinstance(k, np.ndarray) else k for k in items)
        return action(ctx, x, given, *found)

    return program, arrays


@pytest.mark.parametrize("array", LAYOUTS)
@pytest.mark.parametrize("key", KEYS)
def test_keys_with_arrays(array, key):
    array = np.tile(array, (1, 1, 2))
    program, arrays = with_arrays(get, key)
    check(program, lambda x, *_: x[key], array, *arrays)


@pytest.mark.parametrize("array", LAYOUTS)
@pytest.mark.parametrize("key", KEYS[:-2])
def test_writes_by_arrays(array, key):
    program, arrays = with_arrays(put, key)
    like = array[key]
    for value in (np.array(2.0), -np.arange(float(like.size)).reshape(like.shape), like[..., :1]):
        try:
            check(program, lambda x, *_, v=value: put_numpy(x, key, v), array, *arrays, value)
        except Refused as refused:
            assert "C order" in str(refused)


def test_of_several_writes_the_last_stays():
    i, v = np.array([3, 1, 3, -2, 3, 1]), np.arange(6.0)
    check(lambda ctx, x, i, v: put(ctx, x, i, v), put_numpy, A[0].copy(), i, v)
    check(lambda ctx, x, i, v: put(ctx, x, i, v), put_numpy, A[0].copy(), i.reshape(2, 3),
          v.reshape(2, 3))

