"""Subprograms: functions of float64 numbers with branches and loops, called from programs.

A program has no branches; what needs them, or is too large to stand in every kernel, is a
subprogram: compiled once, by itself, for a vector of numbers.  Written for one number::

    @subprogram
    def root(x):
        def step(y):
            better = 0.5 * (y + x / y)
            return abs(better - y) > 1e-15 * y, better

        return repeat(step, x + 1.0)[0]

    root(x)  # in any program

``choose`` runs an arm only if some number needs it and ``repeat`` runs until no number needs
another iteration; what a number gets does not depend on the others in its vector.  Subprograms
raise no floating-point flags.  Operands that are not float64 are cast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any

import numpy as np

from npcompile.graph.builder import Builder, Carried
from npcompile.graph.expression import _SCALARS, Expr, ExpressionScope, Value, cast
from npcompile.graph.ir import Const, Get, Node, Region, Subprogram, keywords

DOUBLE = np.dtype(np.float64)
NUMBER = _SCALARS[DOUBLE]
Results = tuple[Expr, ...]


@cache
def region_of(what: Subprogram) -> Region:
    """A subprogram's body, on scalars unless it has one."""
    if what.body is not None:
        return what.body
    builder = Builder()
    params = [builder.param(NUMBER) for _ in range(what.operands)]
    scope = ExpressionScope(builder, params)
    result = what.program(*[Expr(scope, param) for param in params])
    builder.region.begins_with(params)
    builder.region.ends_with([result.node])
    _drop_unused(builder.region)
    return builder.region


def _drop_unused(region: Region) -> set[Node]:
    """Drops nodes whose results nobody uses, and gives all that the region uses."""
    used = set(region.results)
    kept = []
    for node in reversed(region.nodes):
        if node in used:
            kept.append(node)
            used.update(node.args, *map(_drop_unused, node.regions))
    region.nodes[:] = kept[::-1]
    return used


Meaning = Callable[[str], Callable[..., Any]]


def evaluate(what: Subprogram, args: Sequence[Any], meaning: Meaning) -> Any:
    """The meaning of a call by NumPy, on arrays; ``meaning`` is that of a primitive's name."""
    region = region_of(what)
    whole = np.broadcast_arrays(*(np.asarray(a, p.dtype) for a, p in zip(args, region.params)))
    with np.errstate(all="ignore"):
        run = _RegionRun(region, [np.array(a, ndmin=1).ravel() for a in whole], meaning)
    return run.results[0].reshape(whole[0].shape)[()]


#: by name
SUBPROGRAMS: dict[str, Subprogram] = {}


def subprogram(
    program: Callable[..., Expr], registers: int = 1, name: str = ""
) -> Callable[..., Expr]:
    """Makes a subprogram of a function of expressions, named as the function or otherwise: what is
    returned calls it."""
    name = name or program.__name__
    assert name not in SUBPROGRAMS, name
    made = SUBPROGRAMS[name] = Subprogram(name, program.__code__.co_argcount, program, registers)

    @wraps(program)
    def call(*args: Value) -> Expr:
        (scope, *_) = [a.scope for a in args if isinstance(a, Expr)]
        wide = [cast(a, DOUBLE) if isinstance(a, Expr) else scope.constant(a, DOUBLE)
                for a in args]
        assert len(wide) == made.operands, name
        return scope.emit("call", tuple([a.node for a in wide]), DOUBLE, made)

    return call


def packed_subprogram(program: Callable[..., Expr]) -> Callable[..., Expr]:
    """A subprogram whose numbers may be sorted by the arms of the choices outside of loops: these
    are long, and the rest is short, because it is repeated for all numbers that are sorted."""
    return subprogram(program, registers=8)


def paired_subprogram(program: Callable[..., Expr]) -> Callable[..., Expr]:
    """A subprogram of few branches whose operations wait for each other: of two registers at a
    time one goes on meanwhile."""
    return subprogram(program, registers=2)


def choose(condition: Expr, yes: Callable[[], Results], no: Callable[[], Results]) -> Results:
    """The results of one of two functions of nothing, which give the same dtypes."""
    scope = condition.scope
    arms = []
    for arm in (yes, no):
        region = Region()
        with scope.builder.inside(region):
            region.ends_with([part.node for part in arm()])
        arms.append(region)
    return tuple([Expr(scope, node) for node in scope.builder.if_(condition.node, *arms)])


def choose_among(result: Expr, *arms: tuple[Expr, Callable[[], Expr]]) -> Expr:
    """The result of the arm whose condition holds, of which at most one does, or the one given."""

    def either(condition: Expr, arm: Callable[[], Expr], other: Expr) -> Expr:
        return choose(condition, lambda: (arm(),), lambda: (other,))[0]

    for condition, arm in arms:
        result = either(condition, arm, result)
    return result


def repeat(step: Callable[..., tuple[Expr, ...]], *start: Expr) -> Results:
    """Runs ``step`` on its own results, which follow a bool, as long as that is true."""
    scope, region = start[0].scope, Region()
    builder = scope.builder
    params = [builder.param(_SCALARS[x.dtype]) for x in start]
    with builder.inside(region):
        again, *following = step(*[Expr(scope, param) for param in params])
    carried = [Carried(x.node, p, n.node) for x, p, n in zip(start, params, following, strict=True)]
    loop = builder.while_(again.node, carried, region)
    return tuple([Expr(scope, builder.get(loop, k)) for k in range(len(start))])


class _RegionRun:
    """Runs a region on arrays."""

    def __init__(self, region: Region, args: Sequence[Any], meaning: Meaning) -> None:
        self.meaning = meaning
        self.values: dict[Node, Any] = dict(zip(region.params, args, strict=True))
        self.count = len(args[0])
        self.region(region, np.ones(self.count, bool))
        self.results = [self.value(node) for node in region.results]

    def value(self, node: Node) -> Any:
        if isinstance(node.attrs, Const):
            return np.full(self.count, node.attrs.value, node.dtype)
        return self.values[node]

    def region(self, region: Region, active: Any) -> None:
        for node in region.nodes:
            if node.op != "const":
                self.values[node] = self.node(node, active)

    def node(self, node: Node, active: Any) -> Any:
        args = [self.value(a) for a in node.args]
        match node.op:
            case "if_":
                return self.choose(node, args[0], active)
            case "while_":
                return self.repeat(node, args, active)
            case "get":
                assert isinstance(node.attrs, Get)
                return args[0][node.attrs.index]
            case "cast":
                return args[0].astype(node.dtype)
            case "call":
                assert isinstance(node.attrs, Subprogram)
                return evaluate(node.attrs, args, self.meaning)
        return self.meaning(node.op)(*args, **keywords(node.attrs, node.dtype))

    def choose(self, node: Node, condition: Any, active: Any) -> list[Any]:
        ends = []
        for arm, taken in zip(node.regions, (active & condition, active & ~condition)):
            if taken.any():
                self.region(arm, taken)
                ends.append([self.value(r) for r in arm.results])
            else:
                ends.append([np.zeros(self.count, r.dtype) for r in arm.results])
        return [np.where(condition, yes, no) for yes, no in zip(*ends)]

    def repeat(self, node: Node, carried: list[Any], active: Any) -> list[Any]:
        body = node.regions[0]
        while active.any():
            self.values.update(zip(body.params, carried))
            self.region(body, active)
            again, *following = (self.value(r) for r in body.results)
            carried = [np.where(active, new, old) for new, old in zip(following, carried)]
            active = active & again
        return carried
