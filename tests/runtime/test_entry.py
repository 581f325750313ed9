"""Calls through machine-code entries: guards, results, ways out."""

from __future__ import annotations

import gc
import pickle
import resource
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.core.sizes import Poly, Predicate, Size, SizeCall, symbol
from npcompile.graph.ir import Geometry, OneOf
from npcompile.program.ir import (
    Buffer,
    BufferResult,
    ItemsResult,
    ParamResult,
    Result,
    ScalarResult,
    StaticResult,
    ViewResult,
)
from npcompile.runtime.entry import result_building
from npcompile.runtime.entry.executables import FLAGS, OVERLAP
from npcompile.runtime.entry.frames import FrameReader
from npcompile.runtime.entry.helpers import DIVIDE, flag_names
from npcompile.runtime.entry.state import LeafPlace, Signature
from tests.support.entry import (
    F8,
    Body,
    Entry,
    array_leaf,
    atom,
    buffers,
    number_leaf,
    program,
)


def affine(arrays: int = 1) -> Entry:
    """``x * 2 + 1`` for the first of several arrays."""
    leaves = tuple(array_leaf(f"x{k}") for k in range(arrays))
    params = buffers(leaves)
    out = Buffer("out", "result", F8, params[0].shape, params[0].strides)
    made = program(leaves, BufferResult(out), [out], params=params)
    body = Body(FrameLayout(made))
    count = body.frame.symbol(atom(out.shape[0]))
    body.new_array(out, count)
    body.double_plus_one(out, params[0], count)
    return Entry(Signature.positional(leaves), made, body)


@pytest.fixture(scope="module")
def f() -> Entry:
    return affine()


def echo(*leaves: Any, result: Result | None = None, **fields: Any) -> Entry:
    """Returns its last argument."""
    made = program(leaves, result or ParamResult(len(leaves) - 1), **fields)
    return Entry(Signature.positional(leaves), made)


# ------------------------------------------------------------------ arrays


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_new_array(f: Entry, n: int) -> None:
    x = np.linspace(0, 1, n)
    got = f(x)
    assert got.dtype is F8 and got.flags.owndata and got.base is None and got.flags.writeable
    assert np.array_equal(got, x * 2 + 1)


def test_unpickled_array(f: Entry) -> None:
    x = pickle.loads(pickle.dumps(np.arange(5.0)))
    assert x.dtype is not F8
    assert np.array_equal(f(x), x * 2 + 1)


class Derived(np.ndarray):
    pass


@pytest.mark.parametrize(
    "bad",
    [
        3.0,
        None,
        np.arange(4),
        np.arange(4, dtype="f4"),
        np.arange(4.0).astype(">f8"),
        np.zeros((2, 2)),
        np.zeros(()),
        np.arange(8.0)[::2],
        np.arange(4.0).view(Derived),
        np.frombuffer(bytes(33), "u1")[1:].view("f8"),
        np.zeros(4, np.dtype("f8", metadata={"a": 1})),
        np.zeros(4, "M8[s]"),
    ],
    ids=str,
)
def test_other_arguments_go_to_python(f: Entry, bad: Any) -> None:
    kind, args, kwargs = f(bad)
    assert kind == "python" and args[0] is bad and kwargs == {}


def test_other_calls_go_to_python(f: Entry) -> None:
    x = np.ones(3)
    assert f() == ("python", (), {})
    assert f(x, x)[:1] == ("python",) and len(f(x, x)[1]) == 2
    assert f(x=x) == ("python", (), {"x": x})
    assert f(x, y=1)[2] == {"y": 1}
    assert np.array_equal(f(*[x]), x * 2 + 1)


def test_next_entry(f: Entry) -> None:
    other = echo(array_leaf("y", "i4"))
    first = affine()
    first.state.precede(other.loaded["entry"])
    y = np.arange(3, dtype="i4")
    assert first(y) is y
    assert first(3) == ("python", (3,), {})


def test_written_needs_writeable() -> None:
    entry = echo(array_leaf("x"), written=frozenset({0}))
    x = np.ones(3)
    assert entry(x) is x
    x.flags.writeable = False
    assert entry(x)[0] == "python"


@pytest.mark.parametrize("strided", [False, True])
def test_overlap(strided: bool) -> None:
    leaves = array_leaf("x", strided=strided), array_leaf("y", strided=strided)
    entry = echo(*leaves, written=frozenset({0}))
    x = np.zeros(10)
    assert entry(x[:5], x[5:]) is not None
    apart = x[5:]
    assert entry(x[:5], apart) is apart and entry(x[8:], x[:8]).size == 8
    assert entry(x[:0], x).size == 10
    for a, b in ((x, x), (x[:5], x[4:]), (x[4:], x[:5]), (x, x[2:3])):
        assert entry(a, b)[:2] == ("exit", OVERLAP)
    if strided:
        assert entry(x[4::-1], x[5:]).size == 5
        assert entry(x[5::-1], x[5:])[1] == OVERLAP
        assert entry(x[::2], x[1::2])[1] == OVERLAP  # by range, not element by element
    read_only = echo(*leaves)
    assert read_only(x, x) is x


def test_elements_that_share_memory() -> None:
    entry = echo(array_leaf("x", ndim=2, strided=True), written=frozenset({0}))
    x = np.zeros(40)
    view = np.lib.stride_tricks.as_strided
    rows = x.reshape(5, 8)
    for fine in (rows, rows.T, rows[::-1, ::2], rows[:, :0], view(x, (3, 4), (8, 24)),
                 view(x, (1, 4), (8, 8)), view(x[20:], (3, 4), (-32, 8))):
        assert entry(fine) is fine
    for shared in (view(x, (3, 4), (0, 8)), view(x, (3, 4), (8, 8)), view(x, (3, 4), (24, 8)),
                   view(x[20:], (4, 5), (-32, 8)), view(x, (3, 4), (8, 16))):
        assert entry(shared)[1] == OVERLAP
    assert echo(array_leaf("x", ndim=2, strided=True))(shared) is shared


def test_strides() -> None:
    entry = echo(array_leaf("x", "c8", 2, strided=True))
    x = np.zeros((4, 6), "c8")
    for view in (x, x.T, x[::2, ::-1], x[:, :0], np.broadcast_to(x[0], (3, 6))):
        assert entry(view) is view
    assert entry(x.view("f4")[:, 1:].astype("c8")) is not None
    record = np.zeros((3, 3), [("a", "i4"), ("b", "c8")])["b"]
    assert record.strides[0] % 8 and entry(record)[0] == "python"


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize("kind", [bool, int, float, complex, *"?bBhHiIlLqQefdFD"])
def test_number_round_trip(kind: Any) -> None:
    leaf = number_leaf(kind)
    params = buffers([leaf])
    out = Buffer("out", "scalar", leaf.type.dtype)
    result = ScalarResult(out, leaf.type.origin)
    made = program([leaf], result, [out], params=params)
    body = Body(FrameLayout(made))
    body.copy_number(out, params[0])
    entry = Entry(Signature.positional((leaf,)), made, body)
    scalar = kind if isinstance(kind, type) else np.dtype(kind).type
    for value in (0, 1, 100):
        got = entry(scalar(value))
        assert type(got) is scalar and got == scalar(value)
    for other in (True, 1, 1.0, 1j, np.int16(1), np.float64(1), np.float32(1), np.bool_(1)):
        assert isinstance(entry(other), tuple) == (type(other) is not scalar)


def test_float_bits() -> None:
    leaf = number_leaf(float)
    params = buffers([leaf])
    entry = echo(leaf, result=ScalarResult(params[0], "py"), params=params)
    for value in (-0.0, 5e-324, float("inf"), -1.5):
        assert entry(value).hex() == value.hex()


def test_wide_int_goes_to_python() -> None:
    leaf = number_leaf(int)
    params = buffers([leaf])
    entry = echo(leaf, result=ScalarResult(params[0], "py"), params=params)
    for value in (2**63 - 1, -(2**63), 0, -1, 2**40):
        assert entry(value) == value and type(entry(value)) is int
    for value in (2**63, -(2**63) - 1, 10**40):
        assert entry(value) == ("python", (value,), {})
    assert sys.exc_info() == (None, None, None)


# ------------------------------------------------------------------ sizes

M, N = symbol("m", 1), symbol("n", 1)
small = st.integers(-9, 9)
sizes: st.SearchStrategy[Size] = st.recursive(
    st.sampled_from([M, N]) | small,
    lambda inner: st.builds(lambda a, b: a + b, inner, inner)
    | st.builds(lambda a, b: a - 3 * b, inner, inner)
    | st.builds(lambda a, b: a * b, inner, inner)
    | st.builds(
        lambda name, a, b: Poly((((SizeCall(name, a, b),), 1),)),
        st.sampled_from(["floordiv", "mod", "min", "max"]), inner, inner,
    ),
    max_leaves=5,
)


@settings(max_examples=25)
@given(st.sampled_from(["==", "!=", "<", "<="]), sizes, sizes,
       st.lists(st.tuples(small, small), min_size=1, max_size=12))
def test_predicates(op: str, left: Size, right: Size, values: list[tuple[int, int]]) -> None:
    guard = Predicate(op, left, right)
    leaves = number_leaf(int), number_leaf(int)
    entry = echo(
        *leaves, result=StaticResult("taken"), guards=[guard],
        int_symbols={0: atom(M), 1: atom(N)},
    )
    for m, n in values:
        try:
            holds = guard.holds({atom(M): m, atom(N): n}.__getitem__)
        except ZeroDivisionError:
            holds = False
        assert entry(m, n) == ("taken" if holds else ("python", (m, n), {}))


def test_sizes_that_overflow_go_to_python() -> None:
    leaves = number_leaf(int), number_leaf(int)
    rest = Poly((((SizeCall("mod", M, N),), 1),))
    entry = echo(
        *leaves, result=StaticResult("taken"), int_symbols={0: atom(M), 1: atom(N)},
        guards=[Predicate("!=", M * N + M, 5), Predicate("!=", rest, 5)],
    )
    assert entry(3, 4) == "taken"
    for m, n in ((2**62, 2), (2**32, 2**31), (2**63 - 1, 1), (-(2**63), -1), (1, 0)):
        assert entry(m, n) == ("python", (m, n), {})


def test_sizes_of_arrays() -> None:
    n = symbol("n", 4, 0)
    one, two = array_leaf("x"), array_leaf("y")
    object.__setattr__(one, "type", type(one.type)(F8, (n,), (1,)))
    object.__setattr__(two, "type", type(one.type)(F8, (n + 1,), (1,)))
    entry = echo(one, two)
    x, y = np.zeros(4), np.zeros(5)
    assert entry(x, y) is y and entry(y, x)[0] == "python"


# ------------------------------------------------------------------ places


def test_keywords_and_same_objects() -> None:
    leaves = (array_leaf("x"), number_leaf(float))
    places = (LeafPlace("argument", 1), LeafPlace("argument", 2))
    signature = Signature(leaves, places, 2, ("scale",), same=(0,))
    mode = object()
    entry = Entry(signature, program(leaves, ParamResult(0)), same=(mode,))
    x = np.ones(2)
    assert entry(mode, x, scale=2.0) is x
    assert entry(None, x, scale=2.0)[0] == "python"
    assert entry(mode, x, other=2.0)[0] == "python"
    assert entry(mode, x, 2.0)[0] == "python"
    assert entry(mode, x, **{"".join(["sc", "ale"]): 2.0}) is not None


def test_variables() -> None:
    leaves = (array_leaf("x"), array_leaf("y"))
    signature = Signature(leaves, (LeafPlace("variable", 0), LeafPlace("argument", 0)), 1)
    entry = Entry(signature, program(leaves, ParamResult(0)))
    x, y = np.ones(2), np.ones(2)
    count = sys.getrefcount(x)
    assert entry(y)[0] == "python"  # an empty variable
    entry.state.hold(0, x)
    for _ in range(10):
        assert entry(y) is x
    assert sys.getrefcount(x) == count + 1
    entry.state.hold(0, 3)
    assert entry(y)[0] == "python" and sys.getrefcount(x) == count


# ------------------------------------------------------------------ results


def views(*parts: Geometry, dtype: Any = F8, base_dtype: Any = F8, ndim: int = 1) -> Entry:
    leaf = array_leaf("x", base_dtype, ndim)
    made: tuple[Result, ...] = tuple(
        ViewResult(k, ParamResult(0), part, np.dtype(dtype)) for k, part in enumerate(parts)
    )
    params = buffers([leaf])
    return echo(leaf, result=ItemsResult(tuple, (*made, *made)), params=params)


def test_views() -> None:
    n = symbol("n", 5, 0)
    leaf = array_leaf("x")
    object.__setattr__(leaf, "type", type(leaf.type)(F8, (n,), (1,)))
    windows = [
        Geometry(1, (n - 1,), (1,)),
        Geometry(n - 1, (n,), (-1,)),
        Geometry(0, (n // 2,), (2,)),
        Geometry(2, (), ()),
        Geometry(0, (3, n), (0, 1)),
    ]
    items = tuple(ViewResult(k, ParamResult(0), w, F8) for k, w in enumerate(windows))
    entry = echo(leaf, result=ItemsResult(tuple, (*items, items[0])))
    x = np.arange(6.0)
    got = entry(x)
    expected = (x[1:], x[::-1], x[:6][::2], x[2:3].reshape(()), np.broadcast_to(x, (3, 6)))
    for a, b in zip(got[:-1], expected, strict=True):
        assert a.base is x and a.strides == b.strides and np.array_equal(a, b)
        assert a.flags.writeable and a.flags.aligned and not a.flags.owndata
        assert a.flags.c_contiguous == b.flags.c_contiguous
    assert got[-1] is got[0]
    x.flags.writeable = False
    assert not entry(x)[0].flags.writeable
    whole = np.arange(8.0)
    assert entry(whole[2:])[0].base is whole  # as NumPy: the owner of the memory
    del got, expected, a, b
    assert sys.getrefcount(x) == sys.getrefcount(whole)


def test_views_of_complex_parts() -> None:
    n = symbol("n", 5, 0)
    leaf = array_leaf("z", "c16")
    object.__setattr__(leaf, "type", type(leaf.type)(np.dtype("c16"), (n,), (1,)))
    items = tuple(
        ViewResult(k, ParamResult(0), Geometry(1, (n - 1,), (1,), part), F8)
        for k, part in enumerate(("real", "imag"))
    )
    z = np.arange(4) * (1 + 2j)
    real, imag = echo(leaf, result=ItemsResult(tuple, items))(z)
    assert np.array_equal(real, z.real[1:]) and np.array_equal(imag, z.imag[1:])
    assert real.strides == (16,)


def test_containers() -> None:
    leaf, static = array_leaf("x"), object()
    x = np.ones(3)
    inner = ItemsResult(tuple, (ParamResult(0), ItemsResult(tuple, ()), StaticResult(static)))
    assert echo(leaf, result=inner)(x) == (x, (), static)
    shared = ItemsResult(list, (ParamResult(0),), ident=7)
    nested = ItemsResult(dict, (shared, inner, shared), keys=("a", "b", "c"))
    got = echo(leaf, result=nested)(x)
    assert list(got) == ["a", "b", "c"] and got["a"] is got["c"] and got["a"][0] is x
    assert got["b"][2] is static and got["b"][1] == ()


def test_tuples_need_no_builder() -> None:
    inner = ItemsResult(tuple, (ParamResult(0),), ident=2)
    assert result_building.builder(ItemsResult(tuple, (inner, ParamResult(0)), ident=1)) is None
    for kind in (tuple, list):
        twice = ItemsResult(kind, (inner, StaticResult("a"), inner, StaticResult("b")), ident=1)
        assert result_building.builder(twice) is None
        x = np.ones(2)
        got = echo(array_leaf("x"), result=twice)(x)
        assert type(got) is kind and got[0] is got[2] and got[0][0] is x
        assert got[1::2] == kind("ab")
    named = ItemsResult(dict, (inner,), keys=("a",))
    assert result_building.builder(ItemsResult(list, (named,), ident=1)) is not None


def test_constants_after_a_container_that_is_there_twice() -> None:
    inner = ItemsResult(list, (StaticResult("in"), ItemsResult(tuple, (StaticResult("deep"),))),
                        ident=3)
    result = ItemsResult(list, (inner, inner, StaticResult("out")))
    got = echo(array_leaf("x"), result=result)(np.ones(2))
    assert got == [["in", ("deep",)]] * 2 + ["out"] and got[0] is got[1]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_of_several_results_in_tuples(which: int) -> None:
    """Taken from the leaves by their places, as putting containers together would give it."""
    inside: dict[str, Any] = {"one": 1.5}
    chosen = ItemsResult(OneOf, tuple(map(StaticResult, (which, None, inside, "last"))))
    inner = ItemsResult(tuple, (StaticResult("before"), chosen, StaticResult(2)), ident=2)
    result = ItemsResult(tuple, (inner, chosen, ItemsResult(tuple, ()), ParamResult(0)), ident=1)
    build = result_building.builder(result)
    assert build is not None
    leaves = result_building.leaves(result)
    flat = [leaf.value if isinstance(leaf, StaticResult) else "x" for leaf in leaves]
    option = (None, inside, "last")[which]
    assert build(tuple(flat)) == (("before", option, 2), option, (), "x")
    x = np.ones(2)
    got = echo(array_leaf("x"), result=result)(x)
    assert got[:3] == (("before", option, 2), option, ()) and got[3] is x
    twice = ItemsResult(tuple, (inner, inner))
    again = result_building.builder(twice)
    assert again is not None
    made = again((*flat[:6], *flat[:6]))
    assert made[0] is made[1] and made[0][1] is option


def test_fresh_array_in_two_places() -> None:
    leaf = array_leaf("x")
    params = buffers([leaf])
    out = Buffer("out", "result", F8, params[0].shape, params[0].strides)
    lost = Buffer("lost", "result", F8, params[0].shape, params[0].strides)
    view = ViewResult(1, BufferResult(out), Geometry(0, (2,), (1,)), F8)
    result = ItemsResult(tuple, (BufferResult(out), view, BufferResult(out), view))
    made = program([leaf], result, [out, lost], params=params)
    body = Body(FrameLayout(made))
    count = body.frame.symbol(atom(out.shape[0]))
    for buffer in (out, lost):
        body.new_array(buffer, count)
    body.double_plus_one(out, params[0], count)
    entry = Entry(Signature.positional((leaf,)), made, body)
    a, b, c, d = entry(np.ones(4))
    assert a is c and b is d and b.base is a and a.tolist() == [3.0] * 4
    alive = weakref.ref(a)
    del a, c, b, d
    assert alive() is None


# ------------------------------------------------------------------ ways out


def test_failed_check_releases_results() -> None:
    leaf = array_leaf("x")
    params = buffers([leaf])
    out = Buffer("out", "result", F8, params[0].shape, params[0].strides)
    made = program([leaf], BufferResult(out), [out], params=params)
    body = Body(FrameLayout(made))
    body.new_array(out, body.frame.symbol(atom(out.shape[0])))
    seen: list[Any] = []

    def leave(function: Any, code: int, flags: int, what: int, *args: Any) -> Any:
        import ctypes

        slots = (ctypes.c_uint64 * body.frame.size).from_address(what)
        fresh = ctypes.cast(slots[body.frame.object(out)], ctypes.py_object).value
        seen.append((code, weakref.ref(fresh), args))
        if len(args[0]) == 1:
            raise ValueError("one")
        return "left"

    entry = Entry(Signature.positional((leaf,)), made, body, status="3", exit=leave)
    x = np.ones(4)
    assert entry(x) == "left"
    code, fresh, args = seen[-1]
    assert code == 3 and fresh() is None and args[0] is x
    with pytest.raises(ValueError, match="one"):
        entry(np.ones(1))
    assert seen[-1][1]() is None


def test_exception_in_the_body() -> None:
    leaf = array_leaf("x")
    made = program([leaf], ParamResult(0))
    body = Body(FrameLayout(made))
    body.writer.call("ptr", "PyErr_NoMemory")
    entry = Entry(Signature.positional((leaf,)), made, body, status="-2")
    with pytest.raises(MemoryError):
        entry(np.ones(1))


def test_floating_point_flags(f: Entry) -> None:
    big, fine = np.array([1.7e308]), np.array([1.0])
    kind, code, flags, what, args, _ = f(big)
    assert (kind, code, flag_names(flags)) == ("exit", FLAGS, {"over"})
    assert what.tolist() == [np.inf] and args[0] is big
    assert f(fine).tolist() == [3.0]  # the flag does not stay
    with np.errstate(over="ignore"):
        assert f(big).tolist() == [np.inf]
        assert f(fine).tolist() == [3.0]
    with np.errstate(all="ignore", over="raise"):
        assert f(big)[0] == "exit"
    tiny = np.array([2.3e-308])
    assert f(tiny)[0] == 1.0
    assert f(np.array([np.inf])).tolist() == [np.inf]


def test_underflow_counts_where_asked_for() -> None:
    leaf = array_leaf("x")
    params = buffers([leaf])
    made = program([leaf], ParamResult(0), params=params)
    body = Body(FrameLayout(made))
    w = body.writer
    data = w.load("ptr", "%frame", 8 * body.frame.data(params[0]))
    w.store("double", w.add("fmul", "double", w.load("double", data), "0.5"), data)
    entry = Entry(Signature.positional((leaf,)), made, body)
    assert isinstance(entry(np.array([3e-308 / 3.0000000001])), np.ndarray)
    with np.errstate(under="warn"):
        assert flag_names(entry(np.array([3e-308 / 3.0000000001]))[2]) == {"under"}
        assert isinstance(entry(np.ones(1)), np.ndarray)


def test_earlier_flags_are_not_ours(f: Entry) -> None:
    leaf = array_leaf("x")
    params = buffers([leaf])
    made = program([leaf], ParamResult(0), params=params)
    body = Body(FrameLayout(made))
    w = body.writer
    data = w.load("ptr", "%frame", 8 * body.frame.data(params[0]))
    w.store("double", w.add("fdiv", "double", w.load("double", data), "0.0"), data)
    entry = Entry(Signature.positional((leaf,)), made, body)
    kind, code, flags, *_ = entry(np.ones(1))
    assert (kind, code, flags) == ("exit", FLAGS, DIVIDE)
    assert f(np.ones(1)).tolist() == [3.0]


# ------------------------------------------------------------------ leaks


def test_no_leaks() -> None:
    entry = affine(2)
    x, y, odd = np.arange(10.0), np.arange(10.0), np.arange(3)
    objects = (x, y, odd, F8, np.ndarray)

    def counts() -> list[int]:
        return [sys.getrefcount(thing) for thing in objects]

    for _ in range(1000):
        entry(x, y)
        entry(odd, y)
    gc.collect()
    none = sys.getrefcount(None)
    before, memory = counts(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100_000):
        entry(x, y)
    for _ in range(10_000):
        entry(odd, y)
        entry(x, y, odd=odd)
    assert counts() == before and abs(sys.getrefcount(None) - none) < 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 1000  # KiB


def test_frames_read_from_python() -> None:
    n = symbol("n", 5, 0)
    leaf, number, wide = array_leaf("x"), number_leaf("f4"), number_leaf(complex)
    object.__setattr__(leaf, "type", type(leaf.type)(F8, (n,), (1,)))
    leaves = leaf, number, wide
    params = buffers(leaves)
    out = Buffer("out", "result", F8, (n,), (1,))
    made = program(leaves, ParamResult(0), [out], params=params)
    body = Body(FrameLayout(made))
    body.new_array(out, body.frame.symbol(atom(n)))
    view = ViewResult(1, ParamResult(0), Geometry(n - 1, (n, 1), (-1, 0)), F8)
    fresh = ViewResult(2, BufferResult(out), Geometry(1, (n - 1,), (1,)), F8)
    numbers = ScalarResult(params[1], "np"), ScalarResult(params[2], "py")
    tree = ItemsResult(list, (view, ItemsResult(dict, (fresh, *numbers), ("a", "b", "c")), view,
                              StaticResult("s"), ItemsResult(type(iter(())), (view,))))

    def leave(function: Any, code: int, flags: int, what: int, *args: Any) -> Any:
        reader = FrameReader(made, body.frame, what)
        return reader.size(n * 2), reader.box(tree)

    entry = Entry(Signature.positional(leaves), made, body, status="0", exit=leave)
    x = np.arange(4.0)
    for _ in range(100):
        size, (a, table, b, s, rest) = entry(x, np.float32(1.5), 2j)
    assert size == 8 and a is b is next(rest) and s == "s"
    assert a.base is x and a.tolist() == [[3.0], [2.0], [1.0], [0.0]] and a.flags.writeable
    assert table["a"].shape == (3,) and table["a"].base.shape == (4,)
    assert type(table["b"]) is np.float32 and table["b"] == 1.5 and table["c"] == 2j
    owner = weakref.ref(table["a"].base)
    del a, b, table, rest, _
    assert owner() is None and sys.getrefcount(x) == 2
