"""Checks that a graph is well formed; run between passes in tests and with ``check=True``."""

from __future__ import annotations

from npcompile.core.errors import VerifyError
from npcompile.core.sizes import Size, symbols
from npcompile.graph.ir import (
    Extern,
    Geometry,
    Get,
    Graph,
    Loop,
    Node,
    Param,
    Reduction,
    Region,
    Scatter,
    held,
    result_nodes,
    trees,
    walk,
)
from npcompile.graph.layout import is_packed_here
from npcompile.graph.routines import ROUTINES, parse
from npcompile.graph.types import BOOL, INT, Array, Nothing, Scalar, Tuple

_ATTRS: dict[str, type] = {
    "param": Param,
    "read": Geometry,
    "write": Geometry,
    "gather": Geometry,
    "scatter": Scatter,
    "reduce": Reduction,
    "extern": Extern,
    "settle": Extern,
    "get": Get,
    "for_": Loop,
}


#: nodes whose arrays may lie in memory of others
_ELSEWHERE = frozenset({"param", "read", "write", "scatter", "get", "host_call"})


def verify(graph: Graph) -> None:
    """Raises :class:`VerifyError` naming the first ill-formed node."""
    seen: set[Node] = set()
    _region(graph.region, seen)
    for node in walk(graph.region):
        if node.op not in _ELSEWHERE and isinstance(node.type, Array):
            _require(is_packed_here(node.type.shape, node.type.strides), node,
                     "has the strides of a view")
    for node in (*result_nodes(graph.result), *graph.finals.values()):
        if node not in seen:
            raise VerifyError(f"a result refers to a node that is not in the graph: {node.op}")


def _region(region: Region, seen: set[Node]) -> None:
    seen.update(region.params)
    for node in region.nodes:
        for arg in node.args:
            _require(arg in seen, node, f"uses {arg.op} before it is computed")
        for value in held(node) if not node.regions else ():
            _require(value in seen, node, f"hands {value.op} to Python before it is computed")
        expected = _ATTRS.get(node.op)
        _require(
            expected is None or isinstance(node.attrs, expected), node, "attributes of another op"
        )
        _rule(node)
        for inner in node.regions:
            _region(inner, set(seen))
        seen.add(node)
    edge = () if region.edge is None else trees(region.edge)
    for result in (*region.results, *(node for tree in edge for node in result_nodes(tree))):
        if result not in seen:
            raise VerifyError(f"a region yields {result.op}, which it does not compute")


def _require(holds: bool, node: Node, message: str) -> None:
    if not holds:
        raise VerifyError(f"line {node.line}: {node.op}: {message}")


def _rule(node: Node) -> None:
    for size in _sizes(node):
        _require(
            isinstance(size, int) or all(s.name for s in symbols(size)), node, "nameless symbol"
        )
    match node.op:
        case "check":
            _require(isinstance(node.type, Nothing), node, "has no value")
            _require(node.args[0].dtype == BOOL, node, "tests a bool")
        case "write":
            _require(node.type == node.args[0].type, node, "keeps the version's type")
            assert isinstance(node.attrs, Geometry)
            whole = node.dtype
            part = whole.type(0).real.dtype if node.attrs.part else whole
            _require(node.args[1].dtype == part, node, "value and memory differ in dtype")
        case "read":
            _require(isinstance(node.args[0].type, Array), node, "reads arrays")
        case "gather" | "scatter":
            _require(node.args[-1].dtype == INT, node, "finds elements by int64")
            _require(node.op == "gather" or node.type == node.args[0].type, node,
                     "keeps the version's type")
        case "pack":
            _require(node.args[1].dtype == BOOL, node, "packs by a mask")
            _require(node.args[0].dtype == node.dtype, node, "keeps the dtype")
        case "reduce":
            assert isinstance(node.attrs, Reduction)
            operand = node.args[0].type
            _require(isinstance(operand, Array), node, "reduces arrays")
            assert isinstance(operand, Array)
            _require(all(0 <= a < operand.ndim for a in node.attrs.axes), node, "axis out of range")
            _require(not node.attrs.running or (len(node.attrs.axes), len(node.args)) == (1, 1),
                     node, "runs along one axis, from its first element on")
        case "extern":
            _extern(node)
        case "get":
            _require(isinstance(node.args[0].type, Tuple), node, "takes one of several results")
        case "full" | "cast":
            _require(isinstance(node.type, (Array, Scalar)), node, "makes an array or a number")


def _extern(node: Node) -> None:
    attrs = node.attrs
    assert isinstance(attrs, Extern)
    _require(attrs.routine in ROUTINES, node, f"no routine {attrs.routine}")
    if attrs.routine == "product":
        spec, (a, b) = parse(attrs.spec), node.args
        _require(spec.holds(), node, f"{attrs.spec} is no product")
        _require(a.dtype == b.dtype == node.dtype, node, "operands and result of one dtype")
        ranks = (len(a.shape), len(b.shape), len(node.shape))
        _require(ranks == (len(spec.left), len(spec.right), len(spec.out)), node, "ranks")
        return
    routine = ROUTINES[attrs.routine]
    operands, results = (words.split(",") for words in routine.core.split("->"))
    types = list(node.type.items) if isinstance(node.type, Tuple) else [node.type]
    _require(types.pop() == Scalar(BOOL, "np"), node, "ends with a bool")
    arrays = [*(a.type for a in node.args), *types]
    _require(all(isinstance(kind, (Array, Scalar)) for kind in arrays), node, "makes arrays")
    batches = {len(kind.shape) - len(word) for kind, word in
               zip(arrays, (*operands, *results), strict=True) if isinstance(kind, (Array, Scalar))}
    _require(len(batches) == 1 and min(batches) >= 0, node, "batches of one rank")


def _sizes(node: Node) -> tuple[Size, ...]:
    if isinstance(node.type, Array):
        return (*node.type.shape, *node.type.strides)
    return ()
