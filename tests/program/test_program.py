"""Programs by hand: the interpreter's semantics, the verifier's rules, the printer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.backends import reference
from npcompile.core.errors import VerifyError
from npcompile.core.records import replace
from npcompile.core.sizes import Poly, Symbol, symbol
from npcompile.graph.ir import Geometry, HostCall
from npcompile.graph.types import BOOL, FLOAT, INT
from npcompile.program.interpret import DONE, interpret, pairwise
from npcompile.program.ir import (
    Alloc,
    Apply,
    Axis,
    Bind,
    Buffer,
    BufferResult,
    Call,
    Constant,
    Exit,
    For,
    Free,
    If,
    Index,
    ItemsResult,
    Kernel,
    Load,
    ParamResult,
    Program,
    Reduce,
    ScalarResult,
    SideExit,
    SizeValue,
    Statement,
    Store,
    View,
    ViewResult,
    While,
)
from npcompile.program.show import show
from npcompile.program.verify import verify

N = symbol("n", 5, 0)
X = Buffer("x", "param", FLOAT, (N,), (1,), 0)
K = Buffer("k", "scalar", INT, index=1)
OUT = Buffer("out", "result", FLOAT, (N,), (1,))
GAPS = Buffer("gaps", "temp", FLOAT, (N,), (2,))
TEMP = Buffer("t", "temp", FLOAT, (N,), (1,))
COUNT = Buffer("count", "scalar", INT)
MORE = Buffer("more", "scalar", BOOL)
ZERO, ONE = Index(0, ()), Index(0, (1,))
AXES = (Axis("i", N),)
POSITIVE = (Load(K, ZERO, INT), Constant(0, INT), Apply("lt", (1, 0), BOOL))


def name(size: Any) -> Symbol:
    assert isinstance(size, Poly)
    found = size.terms[0][0][0]
    assert isinstance(found, Symbol)
    return found


def double(source: Buffer = X, target: Buffer = OUT) -> Kernel:
    values = (Load(source, ONE, FLOAT), Constant(2.0, FLOAT), Apply("mul", (0, 1), FLOAT))
    return Kernel("double", AXES, values, (Store(target, ONE, 2),))


def program(*body: Statement, result: Any = None, buffers: tuple[Buffer, ...] = ()) -> Program:
    known = [OUT, TEMP, GAPS, COUNT, MORE, *buffers]
    return Program("f", [X, K], known, body, result or ItemsResult(tuple, ()), [],
                   resumes=[Exit()])


def run(made: Program, *args: Any) -> Any:
    verify(made)
    status, result = interpret(made, args)
    assert status == DONE
    return result


def test_a_kernel() -> None:
    made = program(Alloc(OUT), double(), result=BufferResult(OUT))
    x = np.arange(5.0)
    assert (run(made, x, 0) == x * 2).all()
    assert (run(made, x[::-1].copy(), 0) == x[::-1] * 2).all()
    status, result = reference.load(made)([x, 0])
    assert status == DONE and (result == x * 2).all()


def test_loads_see_what_was_before_the_kernel() -> None:
    back = Kernel("back", AXES, (Load(X, Index(N - 1, (-1,)), FLOAT),), (Store(X, ONE, 0),))
    x = np.arange(5.0)
    run(program(back), x, 0)
    assert (x == np.arange(5.0)[::-1]).all()


def test_floating_point_exceptions_are_told() -> None:
    values = (Load(X, ONE, FLOAT), Constant(0.0, FLOAT), Apply("div", (0, 1), FLOAT))
    made = program(Kernel("divide", AXES, values, (Store(X, ONE, 2),)))
    flags: set[str] = set()
    assert reference.load(made)([np.array([0.0, 1.0]), 0], flags) == (DONE, ())
    assert flags == {"divide", "invalid"}


def test_views_and_identity() -> None:
    window = Geometry(1, (2,), (2,))
    view = ViewResult(1, BufferResult(OUT), window, FLOAT)
    items = ItemsResult(tuple, (ParamResult(0), view, view, BufferResult(OUT)))
    x = np.arange(5.0)
    same, one, two, out = run(program(Alloc(OUT), double(), result=items), x, 0)
    assert same is x and one is two and np.shares_memory(one, out)
    assert (one == out[1:5:2]).all()


def test_control() -> None:
    i, n = symbol("i"), symbol("c")
    size = Kernel("size", (), (SizeValue(i), Load(COUNT, ZERO, INT), Apply("add", (0, 1), INT)),
                  (Store(COUNT, ZERO, 2),))
    zero = Kernel("zero", (), (Constant(0, INT),), (Store(COUNT, ZERO, 0),))
    positive = Kernel("positive", (), POSITIVE, (Store(MORE, ZERO, 2),))
    step = Kernel("step", (), (Load(K, ZERO, INT), Constant(1, INT), Apply("sub", (0, 1), INT)),
                  (Store(K, ZERO, 2),))
    made = program(
        zero, positive, If(MORE, (While((step, positive), MORE),), ()), Bind(name(n), K),
        For(name(i), n, 4, 1, (size,)), result=ScalarResult(COUNT, "py"),
    )
    got = run(made, np.zeros(5), 3)
    assert got == 6 and type(got) is int
    assert "while more" in show(made) and "for i in c : 4 : 1" in show(made)


def test_checks_leave() -> None:
    test = Kernel("test", (), POSITIVE, (Store(MORE, ZERO, 2),))
    made = program(test, SideExit(MORE, "k is not positive", 0))
    verify(made)
    assert interpret(made, [np.zeros(5), 0]) == (0, None)
    assert interpret(made, [np.zeros(5), 1]) == (DONE, ())


def test_calls() -> None:
    total = Buffer("total", "scalar", FLOAT)
    sort = Call(HostCall("numpy:sort"), (View(X, Geometry(N - 1, (N,), (-1,)), FLOAT),), (OUT,))
    add = Call(HostCall("numpy:sum"), (View(OUT, Geometry(0, (N,), (1,)), FLOAT),), (total,))
    made = program(Alloc(OUT), sort, add, buffers=(total,),
                   result=ItemsResult(tuple, (BufferResult(OUT), ScalarResult(total, "np"))))
    out, number = run(made, np.array([3.0, 1, 2, 5, 4]), 0)
    assert (out == [1, 2, 3, 4, 5]).all() and number == 15 and type(number) is np.float64


@pytest.mark.parametrize("n", [1, 7, 8, 9, 127, 128, 129, 1000, 1001, 5003])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_pairwise_is_numpys(n: int, dtype: Any) -> None:
    x = np.random.default_rng(n).standard_normal((3, n)).astype(dtype)
    assert (pairwise(x) == [row.sum() for row in x]).all()


def test_sums() -> None:
    reduce = Reduce("sum", (0,), 0, Buffer("s", "scalar", FLOAT), ZERO, FLOAT, 0.0)
    for chunk in (0, 100):
        fold = replace(reduce, at=Index(0, (0,)), chunk=chunk)
        kernel = Kernel("sum", AXES, (Load(X, ONE, FLOAT),), (), (fold,))
        made = program(kernel, result=ScalarResult(fold.buffer, "np"), buffers=(fold.buffer,))
        x = np.random.default_rng(1).standard_normal(1000)
        pieces = [x[k : k + chunk] for k in range(0, 1000, chunk)] if chunk else [x]
        total = 0.0
        for piece in pieces:
            total += piece.sum()
        assert run(made, x, 0) == total


def test_out_of_bounds_is_noticed() -> None:
    past = Kernel("past", AXES, (Load(X, Index(1, (1,)), FLOAT),), (Store(X, ONE, 0),))
    with pytest.raises(VerifyError, match="out of bounds"):
        run(program(past), np.zeros(5), 0)


WRONG: dict[str, tuple[Statement, ...]] = {
    "not allocated": (double(),),
    "allocated twice": (Alloc(OUT), Alloc(OUT)),
    "elements with gaps": (Alloc(GAPS), Free(GAPS)),
    "not ours to free": (Alloc(OUT), Free(OUT)),
    "t is not allocated": (Alloc(TEMP), Free(TEMP), double(TEMP, X)),
    "arity": (Kernel("k", AXES, (Load(X, ZERO, FLOAT),), ()),),
    "value order": (Kernel("k", AXES, (Apply("neg", (0,), FLOAT),), ()),),
    "no primitive": (Kernel("k", (), (Constant(1.0, FLOAT), Apply("foo", (0,), FLOAT)), ()),),
    "takes 2": (Kernel("k", (), (Constant(1.0, FLOAT), Apply("add", (0,), FLOAT)), ()),),
    "add of float64, int64": (
        Kernel("k", (), (Constant(1.0, FLOAT), Constant(1, INT), Apply("add", (0, 1), FLOAT)), ()),
    ),
    "store to x: int64": (Kernel("k", AXES, (Constant(1, INT),), (Store(X, ONE, 0),)),),
    "no number": (SideExit(X, "", 0),),
    "tests a bool": (SideExit(K, "", 0),),
    "one element": (Kernel("k", AXES, (Load(K, ONE, INT),), ()),),
    "not known yet": (Kernel("k", (Axis("i", symbol("q")),), (), ()),),
    "its own axis": (
        Kernel("k", AXES, (Load(X, ONE, FLOAT),), (), (Reduce("sum", (0,), 0, X, ONE, FLOAT),)),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_verifier(message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        verify(program(*WRONG[message]))


def test_the_text_of_a_program() -> None:
    text = show(program(Alloc(OUT), double(), result=BufferResult(OUT)))
    assert text.splitlines() == [
        "program f(x: float64[n] strides (1), k: int64):",
        "  alloc result out: float64[n] strides (1)",
        "  kernel double over i < n:",
        "    v0 = load float64 x[i]",
        "    v1 = float64 2.0",
        "    v2 = mul v0 v1",
        "    store out[i] = v2",
        "  return out",
    ]


def test_sums_of_nothing_in_chunks() -> None:
    """Chunks of an array of no columns have no size."""
    compiled = jit(cache=False, backend="reference")(lambda a: (a[2:-2, 4:] * 2).sum())
    for shape in [(30, 9), (9, 4), (0, 4)]:
        a = np.ones(shape, complex)
        assert compiled(a) == (a[2:-2, 4:] * 2).sum()
