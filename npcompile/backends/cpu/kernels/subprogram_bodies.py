"""The bodies of subprograms on one register of each value.

Branches run an arm if any lane takes it, loops run until no lane goes on; in both, lanes that are
not concerned keep what they have.
"""

from __future__ import annotations

from npcompile.backends.cpu.llvm import scalar
from npcompile.backends.cpu.llvm.scalar import Parts, any_lane
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, literal
from npcompile.backends.target import Target
from npcompile.graph.ir import Const, Get, Node, Region, Subprogram, Table


def operation(f: LLVMFunction, target: Target, node: Node, args: list[Parts]) -> Parts:
    """A primitive, a cast or a call."""
    attrs = node.attrs if isinstance(node.attrs, (Table, Subprogram)) else None
    return scalar.apply(f, target, node.op, [a.dtype for a in node.args], args, node.dtype, attrs)


class VectorArm:
    """Writes a region for vectors."""

    def __init__(self, f: LLVMFunction, target: Target, lanes: int) -> None:
        self.f, self.target, self.lanes = f, target, lanes
        self.values: dict[Node, Parts] = {}
        self.several: dict[Node, list[Value]] = {}
        self.active: Value | None = None  # the lanes that take part here; None: all

    def whole(self, region: Region, params: list[Value]) -> Value:
        """The result of a subprogram."""
        self.values.update((node, (v,)) for node, v in zip(region.params, params, strict=True))
        self.region(region)
        return self.value(region.results[0])

    def parts(self, node: Node) -> Parts:
        if isinstance(node.attrs, Const):
            return scalar.constant(node.attrs.value, node.dtype, self.lanes)
        return self.values[node]

    def value(self, node: Node) -> Value:
        return self.parts(node)[0]

    def region(self, region: Region) -> None:
        for node in region.nodes:
            match node.op:
                case "const":
                    pass
                case "if_":
                    self.choose(node)
                case "while_":
                    self.repeat(node)
                case "get":
                    assert isinstance(node.attrs, Get)
                    self.values[node] = (self.several[node.args[0]][node.attrs.index],)
                case _:
                    args = [self.parts(a) for a in node.args]
                    self.values[node] = operation(self.f, self.target, node, args)

    def among(self, mask: Value) -> Value:
        """The lanes of a mask that take part."""
        return mask if self.active is None else self.f.binary("and", self.active, mask)

    def choose(self, node: Node) -> None:
        f, before = self.f, self.active
        condition = self.value(node.args[0])
        ends = []
        for arm, taken in zip(node.regions, (condition, f.negate(condition))):
            self.active, skipped = self.among(taken), f.block
            some, after = f.name_for("arm"), f.name_for("after")
            f.branch(any_lane(f, self.active), some, after)
            f.label(some)
            self.region(arm)
            results, last = [self.value(r) for r in arm.results], f.block
            f.jump(after)
            f.label(after)
            ends.append([f.phi(v.elem, v.lanes, (literal(v.elem, 0, v.lanes), skipped), (v, last))
                         for v in results])
            self.active = before
        self.several[node] = [f.select(condition, a, b) for a, b in zip(*ends, strict=True)]

    def repeat(self, node: Node) -> None:
        f, before, body = self.f, self.active, node.regions[0]
        start = literal("i1", True, self.lanes) if before is None else before
        with f.cycle([start, *(self.value(a) for a in node.args)]) as running:
            active, *carried = running.carried
            self.values.update((p, (v,)) for p, v in zip(body.params, carried, strict=True))
            self.active = active
            self.region(body)
            again, *following = (self.value(r) for r in body.results)
            kept = [f.select(active, new, old) for new, old in zip(following, carried)]
            more = f.binary("and", active, again)
            running.goes_on([more, *kept])
            running.repeats(any_lane(f, more))
        self.active, self.several[node] = before, kept
