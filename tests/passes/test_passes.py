"""Passes keep the meaning of graphs, bit for bit, and do what they are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import passes
from npcompile.core.errors import Refused
from npcompile.core.facts import Facts
from npcompile.core.sizes import symbol
from npcompile.graph.builder import Builder
from npcompile.graph.interpret import interpret
from npcompile.graph.ir import (
    Geometry,
    Graph,
    Items,
    NewArray,
    Node,
    NumberOf,
    Param,
    SizeOf,
)
from npcompile.graph.types import BOOL, FLOAT, Array, Scalar, contiguous
from npcompile.ops.record import OPERATORS, Op, OperatorFamily
from npcompile.passes import Pass, check_order
from npcompile.passes.complexes import expand_complex
from npcompile.passes.dead import drop_dead
from npcompile.passes.decompose import decompose
from npcompile.passes.halves import widen_halves
from npcompile.passes.normalise import normalise
from npcompile.passes.simplify import simplify

Build = Callable[..., Node]
SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-7, 3e4]


def graph(build: Build, *dtypes: Any, scalar: bool = False, length: int = 9) -> Graph:
    b = Builder(Facts())
    params = []
    for index, dtype in enumerate(map(np.dtype, dtypes)):
        type_ = Scalar(dtype, "np") if scalar else contiguous(dtype, (length,))
        params.append(b.emit("param", (), Param(index, f"p{index}"), type_))
        b.region.params.append(params[-1])
    result = build(b, *params)
    tree = NumberOf(result) if isinstance(result.type, Scalar) else NewArray(1, result)
    return Graph("f", b.region, tree, b.facts)


def ops(made: Graph) -> list[str]:
    return [node.op for node in made.region.nodes if node.op not in ("param", "const")]


def values(dtype: Any, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    reals, imags = rng.permutation(SPECIAL), rng.permutation(SPECIAL)
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind != "c":
            return reals.astype(dtype)
        z = np.empty(len(SPECIAL), dtype)
        z.real, z.imag = reals, imags
        return z


def equal(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "c":
        return equal(a.real, b.real) and equal(a.imag, b.imag)
    return bool(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                and np.array_equal(np.signbit(a)[a == a], np.signbit(b)[b == b])
                if a.dtype.kind == "f" else np.array_equal(a, b))


def keeps_meaning(before: Graph, after: Graph, *args: Any) -> bool:
    with np.errstate(all="ignore"):
        return equal(interpret(before, args), interpret(after, args))


def test_the_order_of_passes_is_checked() -> None:
    late = Pass("late", "simplify:simplify", ("early",), "it must")
    with pytest.raises(ValueError, match="late must come after"):
        check_order((late, Pass("early", "simplify:simplify")))


# ------------------------------------------------------------------ normalise


def test_equal_sizes_get_one_name() -> None:
    n, m = symbol("n", 3, 0), symbol("m", 3, 0)
    b = Builder(Facts())
    x, y = (b.emit("param", (), Param(k, "p"), contiguous(FLOAT, (s,))) for k, s in
            enumerate((n, m)))
    before = b.emit("size", (), SizeOf(n + 1), Scalar(np.dtype(int), "py"))
    z = b.map("add", [b.map("neg", [x], FLOAT), b.map("neg", [y], FLOAT)], FLOAT)
    window = b.read(z, Geometry(n - 1, (n,), (-1,)))
    result = Items(tuple, (NewArray(1, window), NumberOf(before)))
    after = normalise(Graph("f", b.region, result, b.facts))
    sizes = {node.type.shape for node in after.region.nodes
             if isinstance(node.type, Array) and node.op != "param"}
    assert sizes == {(b.facts.norm(n),)} == {(b.facts.norm(m),)}


# ------------------------------------------------------------------ decompose


def test_records_become_primitives(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = OperatorFamily("elementwise", lambda *args: None)
    program = Op("twice_plus", kind, lower=lambda x, y: x * 2 + y)
    monkeypatch.setitem(OPERATORS, "twice_plus", program)
    monkeypatch.setitem(OPERATORS, "plus", Op("plus", kind, lower="add"))
    monkeypatch.setitem(OPERATORS, "hopeless", Op("hopeless", kind))
    before = graph(lambda b, x, y: b.map("twice_plus", [b.map("plus", [x, y], "f8"), y], "f8"),
                   "f8", "f8")
    assert ops(decompose(before)) == ["add", "mul", "add"]
    with pytest.raises(Refused, match="hopeless"):
        decompose(graph(lambda b, x: b.map("hopeless", [x], "f8"), "f8"))


def test_records_of_float16_round_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = OperatorFamily("elementwise", lambda *args: None)
    monkeypatch.setitem(OPERATORS, "poly", Op("poly", kind, lower=lambda x: x * x + x))
    after = decompose(graph(lambda b, x: b.map("poly", [x], "f2"), "f2"))
    assert ops(after) == ["cast", "mul", "add", "cast"]


# ------------------------------------------------------------------ halves


@pytest.mark.parametrize("op", ["add", "mul", "sub", "div", "minimum", "lt", "copysign"])
def test_halves(op: str) -> None:
    dtype = BOOL if op == "lt" else "f2"
    before = graph(lambda b, x, y: b.map(op, [x, y], dtype), "f2", "f2")
    after = widen_halves(before)
    assert not any(node.op == op and node.args[0].dtype == np.float16
                   for node in after.region.nodes)
    for seed in range(3):
        assert keeps_meaning(before, after, values("f2", seed), values("f2", seed + 1))


# ------------------------------------------------------------------ complexes


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "eq", "ne", "neg", "cast", "not_zero"])
def test_complex(op: str, dtype: Any, scalar: bool) -> None:
    """As NumPy's own loops: of arrays with fused products, of scalars with plain ones."""

    def build(b: Builder, x: Node, y: Node) -> Node:
        if op in ("cast", "not_zero"):
            return b.cast(x, BOOL if op == "not_zero" else np.complex128)
        return b.map(op, [x] if op == "neg" else [x, y], BOOL if op in ("eq", "ne") else dtype)

    before = graph(build, dtype, dtype, scalar=scalar)
    after = expand_complex(before)
    kept = {"real", "imag", "complex", "param", "const"}
    assert not any(
        node.op not in kept and any(a.dtype.kind == "c" for a in node.args)
        for node in after.region.nodes if node.op != "cast" or node.dtype != np.complex128
    )
    for seed in range(2):
        x, y = values(dtype, seed), values(dtype, seed + 2)
        pairs = zip(x, y) if scalar else [(x, y)]
        assert all(keeps_meaning(before, after, a, b) for a, b in pairs)


def test_what_complex_numbers_lack_is_refused() -> None:
    with pytest.raises(Refused):
        expand_complex(graph(lambda b, x: b.map("floor", [x], "c16"), "c16"))


# ------------------------------------------------------------------ simplify


@pytest.mark.parametrize(
    ("build", "left"),
    [
        (lambda b, x: b.map("mul", [x, b.const(np.float64(1))], FLOAT), []),
        (lambda b, x: b.map("div", [x, b.const(np.float64(1))], FLOAT), []),
        (lambda b, x: b.map("sub", [x, b.const(np.float64(0))], FLOAT), []),
        (lambda b, x: b.map("sub", [x, b.const(np.float64(-0.0))], FLOAT), ["sub"]),
        (lambda b, x: b.map("add", [x, b.const(np.float64(0))], FLOAT), ["add"]),
        (lambda b, x: b.map("where", [b.const(np.bool_(True)), x, x], FLOAT), []),
        (lambda b, x: b.cast(b.cast(x, np.float64), np.float64), []),
        (lambda b, x: b.cast(b.cast(x, np.float32), np.float64), ["cast", "cast"]),
        (lambda b, x: b.cast(b.cast(x, np.complex128), np.complex64),
         ["cast", "cast"]),
    ],
)
def test_simplify(build: Build, left: list[str]) -> None:
    before = graph(build, "f8")
    after = drop_dead(simplify(before))
    assert ops(after) == left
    assert keeps_meaning(before, after, values("f8"))


def test_elements_of_what_is_filled_are_its_number() -> None:
    def second(b: Builder, x: Node) -> Node:
        filled = b.emit("full", (b.const(np.float64(2.5)),), None, x.type)
        return b.emit("read", (filled,), Geometry(1, (), ()), Scalar(FLOAT, "np"))

    before = graph(second, "f8")
    after = drop_dead(simplify(before))
    assert ops(after) == []
    assert keeps_meaning(before, after, values("f8"))


def test_constants_fold_unless_they_raise_flags() -> None:
    def build(b: Builder, x: Node, zero: float) -> Node:
        number = b.map("div", [b.const(np.float64(1)), b.const(np.float64(zero))], FLOAT)
        b.check(b.map("lt", [b.const(1), b.const(2)], BOOL), "one is less than two")
        return b.map("mul", [x, number], FLOAT)

    assert ops(drop_dead(simplify(graph(lambda b, x: build(b, x, 2.0), "f8")))) == ["mul"]
    assert ops(drop_dead(simplify(graph(lambda b, x: build(b, x, 0.0), "f8")))) == ["div", "mul"]


def test_widening_that_is_undone() -> None:
    before = graph(lambda b, x: b.cast(b.cast(x, np.float64), np.float32), "f4")
    assert ops(drop_dead(simplify(before))) == []


# ------------------------------------------------------------------ dead code


def test_dead_code() -> None:
    def build(b: Builder, x: Node) -> Node:
        b.map("sqrt", [x], FLOAT)
        b.check(b.element(b.map("eq", [x, x], BOOL), Geometry(0, (), ())), "not a number")
        b.write(x, b.const(np.float64(1)), Geometry(0, (9,), (1,)))
        return b.map("neg", [x], FLOAT)

    assert ops(drop_dead(graph(build, "f8"))) == ["eq", "read", "check", "neg"]


def test_computed_sizes_keep_their_nodes() -> None:
    def build(b: Builder, x: Node) -> Node:
        return b.iota(b.size_of(b.cast(b.element(x, Geometry(0, (), ())), np.int64)))

    b_graph = graph(build, "f8")
    bound = {s: n for n in b_graph.region.nodes if n.op == "cast"
             for s in [b_graph.result.node.shape[0].terms[0][0][0]]}  # type: ignore[union-attr]
    b_graph.bound.update(bound)
    after = passes.run(b_graph)
    assert ops(after) == ["read", "cast", "iota"] and list(after.bound) == list(bound)
