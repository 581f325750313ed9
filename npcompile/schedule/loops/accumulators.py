"""Integers that iterations of a loop only add to, or take the extreme of: in whichever order.

The iterations are executed on *shares*: what a number has become since the iteration began.
``(kind, number)`` says that it is that number, and what does not depend on it added, or the smaller
or larger of both; ``("", number)`` the number itself.  ``None`` depends on none of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from npcompile.graph.types import BOOL, INT
from npcompile.program.ir import (
    Apply,
    Bind,
    Buffer,
    Constant,
    For,
    If,
    Kernel,
    Load,
    SideExit,
    Statement,
    Value,
    While,
    flat,
)

Share = Union[tuple[str, Union[Buffer, bool]], None]
MIXED: Share = ("mixed", False)
LIGHT = 12  # operations of an iteration beside which waiting for an extreme shows
PASSES = 4  # through the body of an inner loop, until nothing changes


class Entangled(Exception):
    """Something else depends on a number that an iteration adds to."""


def folds(body: Iterable[Statement], numbers: Iterable[Buffer]) -> dict[Buffer, str]:
    """How an iteration changes each number; raises :class:`Entangled`."""
    run = _Shares({number: ("", number) for number in numbers})
    run.block(body)
    found: dict[Buffer, str] = {}
    for number in numbers:
        share = run.shares[number]
        if share is None or share[1] is not number or share[0] in ("", "mixed"):
            raise Entangled
        if number.dtype != (BOOL if share[0] in ("and", "or") else INT):
            raise Entangled
        found[number] = share[0]
    return found


def extreme(body: Iterable[Statement], number: Buffer) -> tuple[str, set[Buffer]]:
    """Whether an iteration makes of an integer the ``min`` or ``max`` of it and of what does not
    depend on it, and the other numbers that do; raises :class:`Entangled`."""
    run = _Shares({number: ("", number)})
    run.block(body)
    share = run.shares[number]
    if number.dtype != INT or share is None or share[0] not in ("min", "max"):
        raise Entangled
    others = {b for b, s in run.shares.items() if s is not None and s[0] != "const"}
    return share[0], others - {number}


def is_light(body: Iterable[Statement]) -> bool:
    """Whether iterations do little but look for extremes, and have no loops inside."""
    operations = 0
    for statement in flat(body):
        if isinstance(statement, Kernel):
            operations += sum(isinstance(value, Apply) for value in statement.values)
        elif isinstance(statement, (For, While)):
            return False
    return operations <= LIGHT


class _Shares:
    def __init__(self, shares: dict[Buffer, Share]) -> None:
        self.shares = shares

    def free(self, share: Share) -> None:
        if share is not None and share[0] != "const":
            raise Entangled

    def block(self, body: Iterable[Statement]) -> None:
        for statement in body:
            match statement:
                case Kernel():
                    self.kernel(statement)
                case Bind(_, buffer) | SideExit(buffer):
                    self.free(self.shares.get(buffer))
                case If():
                    self.choose(statement)
                case For():
                    self.repeat(statement.body)
                case While():
                    self.repeat(statement.body)
                    self.free(self.shares.get(statement.again))

    def choose(self, choice: If) -> None:
        self.free(self.shares.get(choice.condition))
        before = dict(self.shares)
        self.block(choice.then)
        then, self.shares = self.shares, before
        self.block(choice.orelse)
        self.shares = _joined(then, self.shares)

    def repeat(self, body: Iterable[Statement]) -> None:
        for _ in range(PASSES):
            before = dict(self.shares)
            self.block(body)
            self.shares = _joined(before, self.shares)
            if self.shares == before:
                return
        raise Entangled

    # ------------------------------------------------------------------ kernels

    def kernel(self, kernel: Kernel) -> None:
        found: list[Share] = []
        for value in kernel.values:
            found.append(self.value(kernel.values, value, found))
        for store in kernel.stores:
            for at in (store.mask, store.by):
                self.free(None if at is None else found[at])
            if store.buffer.kind == "scalar" and not kernel.axes:
                self.shares[store.buffer] = found[store.value]
            else:
                self.free(found[store.value])
                self.shares[store.buffer] = None
        for reduce in kernel.reductions:
            self.free(found[reduce.value])
            self.shares[reduce.buffer] = None

    def value(self, values: tuple[Value, ...], value: Value, found: list[Share]) -> Share:
        match value:
            case Load(buffer, _, _, by):
                self.free(None if by is None else found[by])
                return self.shares.get(buffer)
            case Constant(number, dtype) if dtype == BOOL:
                return "const", bool(number)
            case Apply(op, args):
                given = [found[arg] for arg in args]
                if all(share is None or share[0] == "const" for share in given):
                    return None
                if op == "where":
                    return _chosen(values, args, found)
                return _applied(op, given)
        return None


def _applied(op: str, given: list[Share]) -> Share:
    """A number of which only one operand depends on a number from before."""
    if op in ("add", "sub") and len(given) == 2:
        one, other = given if given[0] is not None or op == "sub" else given[::-1]
        if one is not None and other is None and one[0] in ("", "sum"):
            return "sum", one[1]
    return MIXED


def _chosen(values: tuple[Value, ...], args: tuple[int, ...], found: list[Share]) -> Share:
    condition, yes, no = args
    if found[condition] is None:
        return _join(found[yes], found[no])
    test = values[condition]
    if not isinstance(test, Apply) or test.op not in ("lt", "le") or {*test.args} != {yes, no}:
        return MIXED
    kind = "min" if test.args[0] == yes else "max"
    share, other = (found[yes], found[no]) if found[yes] is not None else (found[no], found[yes])
    if share is None or other is not None or share[0] not in ("", kind):
        return MIXED
    return kind, share[1]


def _joined(one: dict[Buffer, Share], other: dict[Buffer, Share]) -> dict[Buffer, Share]:
    return {
        buffer: _join(one.get(buffer), other.get(buffer)) for buffer in {**one, **other}
    }


def _join(one: Share, other: Share) -> Share:
    """Either of two."""
    if one == other:
        return one
    if one is None or other is None:
        return None if (one or other or ("", False))[0] == "const" else MIXED
    if "const" in (one[0], other[0]):
        if one[0] == other[0]:
            return None
        constant, share = (one, other) if one[0] == "const" else (other, one)
        kind = "or" if constant[1] else "and"
        return (kind, share[1]) if share[0] in ("", kind) else MIXED
    if one[1] is not other[1] or {one[0], other[0]} & {"mixed"}:
        return MIXED
    kinds = {one[0], other[0]} - {""}
    return (kinds.pop(), one[1]) if len(kinds) == 1 else MIXED
