"""Graphs built by hand and at random: the program's answers are the graph's, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit, passes
from npcompile.core.errors import Refused
from npcompile.core.facts import Facts
from npcompile.core.sizes import Size, symbol
from npcompile.graph.builder import Builder
from npcompile.graph.interpret import interpret as meaning
from npcompile.graph.ir import (
    Check,
    Geometry,
    Graph,
    HostCall,
    Items,
    NewArray,
    Node,
    NumberOf,
    Param,
    Reduction,
    Resume,
    ResumeFrame,
    SameParam,
    Tree,
    ViewOf,
)
from npcompile.graph.layout import k_strides
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import BOOL, FLOAT, INT, Array, Nothing, Scalar, contiguous
from npcompile.ops import canonical as order
from npcompile.ops.canonical import reduce as canonical
from npcompile.program import interpret, show, verify
from npcompile.program.ir import Kernel, Program, flat
from npcompile.schedule import schedule
from npcompile.schedule.memory.overlaps import disjoint
from tests.support import oracle

N, M = 6, 5


@dataclass
class Drawing:
    """A graph in the making, with its arguments."""

    builder: Builder = field(default_factory=lambda: Builder(Facts()))
    args: list[Any] = field(default_factory=list)
    finals: dict[int, Node] = field(default_factory=dict)

    def array(self, shape: tuple[Size, ...], dtype: Any = FLOAT, order: str = "C") -> Node:
        sizes = [n if isinstance(n, int) else n.terms[0][0][0].hint for n in shape]
        rng = np.random.default_rng(len(self.args))
        data = (rng.standard_normal(sizes) * 4).astype(dtype)
        type_ = contiguous(np.dtype(dtype), shape)
        if order == "F":
            data = np.asfortranarray(data)
            type_ = Array(type_.dtype, shape, contiguous(type_.dtype, shape[::-1]).strides[::-1])
        return self.param(data, type_)

    def number(self, value: Any, type_: Scalar) -> Node:
        return self.param(value, type_)

    def param(self, value: Any, type_: Any) -> Node:
        index = len(self.args)
        self.args.append(value)
        node = self.builder.emit("param", (), Param(index, f"p{index}"), type_)
        self.builder.region.params.append(node)
        return node

    def reduce(self, kind: str, x: Node, axes: tuple[int, ...], loop: Any = None,
               keepdims: bool = False) -> Node:
        loop = x.dtype if loop is None else np.dtype(loop)
        dtype = INT if kind.startswith("arg") else loop
        shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
        assert isinstance(x.type, Array)
        strides = k_strides(self.builder.facts, shape, [x.type.strides])
        kept = [k for k in range(len(shape)) if keepdims or k not in axes]
        result: Any = Array(dtype, tuple(shape[k] for k in kept), tuple(strides[k] for k in kept))
        if not kept:
            result = Scalar(dtype, "np")
        return self.builder.emit("reduce", (x,), Reduction(kind, axes, keepdims, loop), result)

    def scan(self, kind: str, x: Node, axis: int) -> Node:
        assert isinstance(x.type, Array)
        type_ = Array(x.dtype, x.shape, k_strides(self.builder.facts, x.shape, [x.type.strides]))
        attrs = Reduction(kind, (axis,), True, x.dtype, running=True)
        return self.builder.emit("reduce", (x,), attrs, type_)

    def graph(self, *results: Tree) -> Graph:
        return Graph("f", self.builder.region, Items(tuple, results), self.builder.facts,
                     self.finals, self.builder.bound)


def means(name: str) -> Any:
    if name != "reduce":
        return PRIMITIVES[name].meaning

    def run(array: Any, attrs: Reduction, initial: Any) -> Any:
        with np.errstate(all="ignore"):
            if attrs.running:
                return order.meaning(array, attrs)
            return canonical(array, attrs.kind, attrs.axes, attrs.keepdims, attrs.loop, initial)

    return run


def copies(args: list[Any]) -> list[Any]:
    return [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args]


def compile_graph(graph: Graph) -> Program:
    program = schedule(passes.run(graph))
    verify.verify(program)
    return program


def check(drawing: Drawing, *results: Tree) -> Program:
    """Compares both interpreters: results and what became of the arguments."""
    graph = drawing.graph(*results)
    wanted_args, got_args = copies(drawing.args), copies(drawing.args)
    wanted = meaning(graph, wanted_args, means)
    program = compile_graph(graph)
    status, got = interpret.interpret(program, got_args)
    assert status == interpret.DONE
    text = show.show(program)
    assert oracle.same(wanted, got, oracle.MEANING), f"{wanted}\n{got}\n{text}"
    for a, b in zip(wanted_args, got_args):
        assert oracle.same(a, b, oracle.MEANING), f"{a}\n{b}\n{text}"
    return program


def kernels(program: Program) -> list[Kernel]:
    return [statement for statement in program.body if isinstance(statement, Kernel)]


def sizes() -> tuple[Size, Size]:
    return symbol("n", N, 2), symbol("m", M, 2)


# ------------------------------------------------------------------ fusion


def test_an_expression_is_one_kernel_over_one_axis() -> None:
    d = Drawing()
    b = d.builder
    x, y = d.array(sizes_ := sizes()), d.array(sizes_)
    z = b.map("mul", [b.map("add", [x, y], FLOAT), b.const(np.float64(2))], FLOAT)
    program = check(d, NewArray(1, z))
    (kernel,) = kernels(program)
    assert len(kernel.axes) == 1


def test_transposed_memory_is_walked_in_its_own_order() -> None:
    d = Drawing()
    x = d.array(sizes(), order="F")
    program = check(d, NewArray(1, d.builder.map("neg", [x], FLOAT)))
    assert len(kernels(program)[0].axes) == 1


def test_several_results_are_one_kernel() -> None:
    d = Drawing()
    b = d.builder
    x = d.array(sizes())
    root = b.map("sqrt", [b.map("abs", [x], FLOAT)], FLOAT)
    program = check(d, NewArray(1, root), NewArray(2, b.map("neg", [root], FLOAT)))
    assert len(kernels(program)) == 1


def test_numbers_are_computed_once_outside_of_loops() -> None:
    d = Drawing()
    b = d.builder
    x, k = d.array(sizes()), d.number(0.3, Scalar(FLOAT, "py"))
    step = b.map("div", [k, b.const(np.float64(7))], FLOAT)
    program = check(d, NewArray(1, b.map("mul", [x, step], FLOAT)))
    scalar, loop = kernels(program)
    assert not scalar.axes and len(loop.axes) == 1


def test_what_only_raises_flags_is_computed() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    b.map("div", [x, b.map("add", [x, x], FLOAT)], FLOAT)
    b.map("eq", [x, x], BOOL)
    (kernel,) = kernels(check(d))
    assert [getattr(v, "op", "load") for v in kernel.values] == ["load", "add", "div"]


def test_dear_small_operands_are_stored_first() -> None:
    d = Drawing()
    b = d.builder
    n, m = sizes()
    x, v = d.array((n, m)), d.array((m,))
    root = b.map("sqrt", [b.map("abs", [v], FLOAT)], FLOAT)
    program = check(d, NewArray(1, b.map("mul", [x, root], FLOAT)))
    assert [len(k.axes) for k in kernels(program)] == [1, 2]


# ------------------------------------------------------------------ memory


def inner(n: Size, m: Size, row: int = 1, column: int = 1) -> Geometry:
    return Geometry(row * m + column, (n - 2, m - 2), (m, 1))


def test_a_write_at_the_same_places_is_in_place() -> None:
    d = Drawing()
    b = d.builder
    n, m = sizes()
    x, y = d.array((n, m)), d.array((n, m))
    total = b.map("add", [b.read(x, inner(n, m)), b.read(y, inner(n, m, 0))], FLOAT)
    d.finals[0] = b.write(x, total, inner(n, m))
    program = check(d, SameParam(0))
    assert len(kernels(program)) == 1
    assert not [buffer for buffer in program.buffers if buffer.kind == "temp"]


def test_a_stencil_in_place_reads_old_values() -> None:
    d = Drawing()
    b = d.builder
    n, m = sizes()
    x = d.array((n, m))
    total = b.map("add", [b.read(x, inner(n, m, 0)), b.read(x, inner(n, m, 2))], FLOAT)
    d.finals[0] = b.write(x, total, inner(n, m))
    made = [s.name for s in flat(check(d).body) if isinstance(s, Kernel) and s.axes]
    # the rows beside a part, the values of some rows, their store, the rows that the next need
    assert list(dict.fromkeys(made)) == ["save", "k0", "k1", "keep"]


def test_a_value_is_saved_before_what_it_reads_changes() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    double = b.map("add", [x, x], FLOAT)
    row = b.read(x, Geometry(1, (2,), (1,)))
    d.finals[0] = b.write(x, b.const(np.float64(0)), Geometry(0, (N,), (1,)))
    check(d, NewArray(1, double), NewArray(2, _dense(b, row)))


def test_two_copies_of_one_array_are_two_arrays() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    twice = b.map("add", [x, x], FLOAT)
    first = b.write(twice, b.const(np.float64(5)), Geometry(2, (), ()))
    program = check(d, NewArray(1, first), NewArray(2, twice), NewArray(3, twice))
    assert len([buffer for buffer in program.buffers if buffer.kind == "result"]) == 3


def test_a_copy_of_a_parameter_is_written_elsewhere() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    copy = b.write(x, b.const(np.float64(5)), Geometry(2, (), ()))
    check(d, NewArray(1, copy), SameParam(0))


def test_overwriting_all_of_an_array_needs_no_old_one() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    empty = b.emit("empty", (), None, contiguous(FLOAT, (N,)))
    full = b.write(empty, b.map("neg", [x], FLOAT), Geometry(0, (N,), (1,)))
    view = ViewOf(1, NewArray(1, full), Geometry(0, (2,), (2,)), FLOAT)
    program = check(d, NewArray(1, full), view)
    assert len(kernels(program)) == 1


def test_masked_writes() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    mask = b.map("lt", [x, b.const(np.float64(0))], BOOL)
    d.finals[0] = b.write(x, b.map("neg", [x], FLOAT), Geometry(0, (N,), (1,)), mask)
    assert len(kernels(check(d, NewArray(1, mask)))) == 1


def test_parts_of_complex_memory() -> None:
    d = Drawing()
    b = d.builder
    z = d.array((N,), np.complex128)
    real = b.read(z, Geometry(0, (N,), (1,), "real"))
    z2 = b.write(z, b.map("neg", [real], FLOAT), Geometry(0, (N,), (1,), "imag"))
    d.finals[0] = z2
    check(d, NewArray(1, b.map("mul", [z2, z2], np.complex128)), NewArray(2, _dense(b, real)))


# ------------------------------------------------------------------ reductions


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("kind", ["sum", "prod", "min", "max", "argmin", "argmax"])
def test_reductions(kind: str, axes: tuple[int, ...], order: str) -> None:
    if kind.startswith("arg") and len(axes) > 1:
        axes = (0,)
    d = Drawing()
    x = d.array(sizes(), order=order)
    square = d.builder.map("mul", [x, x], FLOAT)
    kept, gone = (d.reduce(kind, v, axes, keepdims=k) for v, k in ((x, True), (square, False)))
    number = NumberOf if isinstance(gone.type, Scalar) else lambda node: NewArray(2, node)
    check(d, NewArray(1, kept), number(gone))


def test_reductions_of_one_space_share_a_kernel() -> None:
    d = Drawing()
    x = d.array(sizes())
    square = d.builder.map("mul", [x, x], FLOAT)
    total, other = d.reduce("sum", x, (0, 1)), d.reduce("sum", square, (0, 1))
    (kernel,) = kernels(check(d, NumberOf(total), NumberOf(other)))
    assert len(kernel.axes) == 1 and len(kernel.reductions) == 2


def test_what_a_sum_needs_in_memory_is_stored() -> None:
    d = Drawing()
    b = d.builder
    n, m = sizes()
    x = d.array((n, m))
    square = b.map("neg", [b.read(x, inner(n, m))], FLOAT)
    program = check(d, NumberOf(d.reduce("sum", square, (0, 1))))
    assert len(kernels(program)) == 2 and any("in memory" in note for note in program.notes)


def test_sums_of_casts() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((20000,), np.float32)
    flags = b.map("lt", [x, b.const(np.float32(0.5))], BOOL)
    check(d, NumberOf(d.reduce("sum", x, (0,), np.float64)),
          NumberOf(d.reduce("sum", flags, (0,), np.int64)), NumberOf(d.reduce("any", flags, (0,))),
          NumberOf(d.reduce("all", x, (0,), np.bool_)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_sums_that_numpy_buffers(dtype: Any, step: int) -> None:
    d = Drawing()
    n, m = symbol("n", 70, 2), symbol("m", 300, 2)
    x = d.array((n, m), dtype)
    narrow = d.builder.read(x, Geometry(1, (n, 290), (m, 1)))
    strided = d.builder.read(x, Geometry(0, (n, 50), (m, step)))
    wide = np.complex128 if dtype is np.complex128 else np.float64
    check(d, *[NumberOf(d.reduce("sum", v, (0, 1), loop)) for v in (narrow, strided)
               for loop in (dtype, wide)])


def test_what_a_sum_asks_does_not_move_memory() -> None:
    """Asking for the order of a sum finds that a stride is a length."""
    d = Drawing()
    b = d.builder
    n, m = sizes()
    stride = symbol("stride", N, 0)
    data = np.asfortranarray(np.arange(N * M).reshape(N, M) - 7)
    x = d.param(data, Array(INT, (n, m), (1, stride)))
    mean = d.reduce("sum", x, (0, 1), np.float64)
    mask = b.map("lt", [x, b.const(np.int64(0))], BOOL)
    d.finals[0] = b.write(x, b.const(np.int64(0)), Geometry(0, (n, m), (1, stride)), mask)
    check(d, NumberOf(mean), SameParam(0))


# ------------------------------------------------------------------ effects


def test_checks_come_before_later_writes() -> None:
    d = Drawing()
    b = d.builder
    x, k = d.array((N,)), d.number(-1.0, Scalar(FLOAT, "py"))
    b.check(b.map("lt", [b.const(np.float64(0)), k], BOOL), "k is not positive")
    d.finals[0] = b.write(x, b.const(np.float64(0)), Geometry(0, (N,), (1,)))
    program = compile_graph(d.graph())
    args = copies(d.args)
    assert interpret.interpret(program, args) == (0, None)
    assert oracle.same(args[0], d.args[0], oracle.MEANING)
    assert interpret.interpret(program, [args[0], 2.0]) == (interpret.DONE, ())
    assert not args[0].any()


def test_leaving_after_an_effect() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    new = b.write(x, b.const(np.float64(0)), Geometry(0, (N,), (1,)))
    twice = b.map("add", [new, b.const(np.float64(2))], FLOAT)
    holds = b.map("lt", [b.element(new, Geometry(0, (), ())), b.const(np.float64(0))], BOOL)
    resume = Resume((ResumeFrame(None, 0, (("x", SameParam(0)),), (NewArray(1, twice),)),))
    b.emit("check", (holds,), Check("no", resume), Nothing())
    d.finals[0] = new
    program = compile_graph(d.graph())
    args = copies(d.args)
    status, held = interpret.interpret(program, args)
    assert status == 0
    assert held[0] is args[0]
    assert not args[0].any()
    assert np.array_equal(held[1], np.full_like(args[0], 2.0))


def test_a_rerun_after_an_effect_is_refused() -> None:
    d = Drawing()
    b = d.builder
    x = d.array((N,))
    new = b.write(x, b.const(np.float64(0)), Geometry(0, (N,), (1,)))
    holds = b.map("lt", [b.element(new, Geometry(0, (), ())), b.const(np.float64(1))], BOOL)
    b.emit("check", (holds,), Check("no", Resume(())), Nothing())
    d.finals[0] = new
    with pytest.raises(Refused):
        compile_graph(d.graph())


def test_host_calls_get_memory() -> None:
    d = Drawing()
    b = d.builder
    x, y = d.array((N, M)), d.array((M, N))
    product = b.emit("host_call", (b.map("neg", [x], FLOAT), y), HostCall("numpy:matmul"),
                     contiguous(FLOAT, (N, N)))
    check(d, NewArray(1, b.map("add", [product, b.const(np.float64(1))], FLOAT)))


def test_computed_sizes() -> None:
    d = Drawing()
    b = d.builder
    k = d.number(3, Scalar(INT, "py"))
    n = b.size_of(b.map("add", [k, b.const(1)], INT, origin="py"))
    steps = b.map("mul", [b.iota(n), b.const(np.int64(2))], INT)
    check(d, NewArray(1, steps), NumberOf(d.reduce("sum", steps, (0,))))


# ------------------------------------------------------------------ at random


@st.composite
def drawings(draw: Any) -> tuple[Drawing, tuple[Tree, ...]]:
    """A program of a few arrays: expressions, windows, writes, reductions, copies."""
    d = Drawing()
    b = d.builder
    n, m = sizes()
    params = [d.array((n, m)), d.array((n, m), order="F"), d.array((m,))]
    versions = list(params)  # the arrays that can be written
    pool: list[Node] = list(params)
    for _ in range(draw(st.integers(1, 9))):
        what = draw(st.sampled_from(["map", "map", "read", "write", "reduce", "scan", "copy",
                                     "element"]))
        x = draw(st.sampled_from(pool))
        k = draw(st.integers(0, len(versions) - 1))
        version = versions[k]
        if what == "map":
            op = draw(st.sampled_from(["add", "mul", "sub", "minimum"]))
            y = draw(st.sampled_from(pool))
            if len(x.shape) == len(y.shape) and x.shape != y.shape:
                continue
            if {len(x.shape), len(y.shape)} == {1, 2} and x.shape[-1] != y.shape[-1]:
                continue
            pool.append(b.map(op, [x, y], FLOAT))
            if draw(st.booleans()):
                root = b.map("sqrt", [b.map("abs", [pool[-1]], FLOAT)], FLOAT)
                pool.append(root)
        elif what == "read":
            pool.append(b.read(version, draw(st.sampled_from(_windows(version, n, m)))))
        elif what == "write":
            window = draw(st.sampled_from(_windows(version, n, m)))
            values = [p for p in pool if p.shape == window.shape] or [b.const(np.float64(3))]
            versions[k] = b.write(version, draw(st.sampled_from(values)), window)
            pool.append(versions[k])
        elif what == "copy":
            if isinstance(x.type, Array):
                pool.append(b.emit("copy", (x,), None, contiguous(FLOAT, x.shape)))
                versions.append(pool[-1])
        elif what in ("reduce", "scan"):
            axis = draw(st.integers(0, len(x.shape) - 1)) if x.shape else None
            if axis is not None:
                kind = draw(st.sampled_from(["sum", "max"]))
                pool.append(d.scan(kind, x, axis) if what == "scan" else d.reduce(kind, x, (axis,)))
        elif x.shape and isinstance(version.type, Array):
            pool.append(b.element(version, Geometry(1, (), ())))
    d.finals = {i: versions[i] for i in range(3) if versions[i] is not params[i]}
    chosen = draw(st.lists(st.sampled_from(pool), max_size=3))
    results: list[Tree] = [
        NumberOf(node) if isinstance(node.type, Scalar) else NewArray(i, _dense(b, node))
        for i, node in enumerate(chosen)
    ]
    return d, tuple(results)


def _dense(b: Builder, node: Node) -> Node:
    return node if node.op not in ("read", "param") else b.emit(
        "copy", (node,), None, contiguous(FLOAT, node.shape))


def _windows(version: Node, n: Size, m: Size) -> list[Geometry]:
    assert isinstance(version.type, Array)
    shape, strides = version.type.shape, version.type.strides
    whole = Geometry(0, shape, strides)
    if len(shape) == 1:
        return [whole, Geometry(1, (shape[0] - 1,), strides), Geometry(0, (shape[0] - 1,), strides),
                Geometry((shape[0] - 1) * strides[0], shape, (-strides[0],))]
    s, t = strides
    return [whole, Geometry(0, (shape[0] - 1, shape[1]), strides),
            Geometry(s, (shape[0] - 1, shape[1]), strides),
            Geometry(t, (shape[0],), (s,)), Geometry(0, (shape[1],), (t,)),
            Geometry((shape[0] - 1) * s, (shape[1],), (t,))]


@settings(max_examples=150)
@given(drawings())
def test_random_programs(drawn: tuple[Drawing, tuple[Tree, ...]]) -> None:
    drawing, results = drawn
    try:
        check(drawing, *results)
    except Refused as refused:
        assert "laid out" in str(refused)


def test_columns_are_apart() -> None:
    """Accesses that meet the same rows at different columns."""
    facts = Facts()
    rows, columns = symbol("n", 100, 0), symbol("m", 100, 2)
    whole, one = (columns, 1), (columns,)
    assert disjoint(facts, (3, (rows,), one), (4, (rows,), one))
    assert not disjoint(facts, (3, (rows,), one), (6, (rows,), one))  # m may be 3
    wide = symbol("w", 100, 5)
    assert disjoint(facts, (3, (rows,), (wide,)), (7, (rows,), (wide,)))
    assert not disjoint(facts, (3, (rows,), (wide,)), (8, (rows,), (wide,)))
    assert disjoint(facts, (0, (rows,), one), (1, (rows, columns - 1), whole))
    assert not disjoint(facts, (0, (rows,), one), (1, (rows, columns), whole))
    planes = (rows * columns, columns)
    assert disjoint(facts, (0, (rows, rows), planes), (1, (rows, rows), planes))


def test_two_writes_into_one_array_in_an_arm() -> None:
    """Equal arrays are one value: both writes begin with it, and the first must leave it whole."""

    def function(a: np.ndarray, b: np.ndarray, i: int) -> tuple[int, np.ndarray, np.ndarray]:
        m = 0
        x = a[0] * 1.5
        c = np.zeros(5)
        for _ in range(1):
            if int(a[0] > b[3]) != i % 4 or not a[2] > x:
                pass
            else:
                continue
            m = 1
        c[2 : i % 5] += 1.0
        old = c
        w = np.zeros(5)
        w[3] = x
        c = w
        return m, c, old

    fast, rng = jit(function, cache=False), np.random.default_rng(0)
    for _ in range(60):
        a, b, i = rng.normal(size=5), rng.normal(size=5), int(rng.integers(-5, 12))
        for found, wanted in zip(fast(a, b, i), function(a, b, i)):
            np.testing.assert_array_equal(found, wanted)
