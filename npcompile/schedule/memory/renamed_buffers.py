"""The same statements on other buffers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from npcompile.core.records import replace
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Edge,
    For,
    Free,
    If,
    Kernel,
    Load,
    RoutineCall,
    SideExit,
    Statement,
    Swap,
    While,
)
from npcompile.schedule.memory.allocate import touched

Names = Mapping[Buffer, Buffer]


def renamed(body: Iterable[Statement], names: Names) -> tuple[Statement, ...]:
    """Statements with buffers in place of others."""
    return tuple([_statement(statement, names) for statement in body])


def _statement(statement: Statement, names: Names) -> Statement:
    def now(buffer: Buffer) -> Buffer:
        return names.get(buffer, buffer)

    match statement:
        case Kernel():
            return renamed_kernel(statement, names)
        case RoutineCall() | Call():
            views = tuple([replace(v, buffer=now(v.buffer)) for v in statement.inputs])
            return replace(statement, inputs=views, outputs=tuple(map(now, statement.outputs)))
        case Alloc(buffer) | Free(buffer) | Bind(_, buffer):
            return replace(statement, buffer=now(buffer))
        case Swap(first, second):
            return Swap(now(first), now(second))
        case SideExit():
            leaving = renamed(statement.leaving, names)
            return replace(statement, buffer=now(statement.buffer), leaving=leaving)
        case For():
            failed = None if statement.failed is None else now(statement.failed)
            folds = tuple([(now(buffer), kind) for buffer, kind in statement.folds])
            return replace(statement, body=renamed(statement.body, names), failed=failed,
                           folds=folds, edge=_edge(statement.edge, names))
        case While():
            return replace(statement, body=renamed(statement.body, names),
                           again=now(statement.again), edge=_edge(statement.edge, names))
        case If():
            then, other = (renamed(arm, names) for arm in (statement.then, statement.orelse))
            return replace(statement, condition=now(statement.condition), then=then, orelse=other)


def _edge(edge: Edge | None, names: Names) -> Edge | None:
    return None if edge is None else replace(edge, leaving=renamed(edge.leaving, names))


def renamed_kernel(old: Kernel, names: Names) -> Kernel:
    """A kernel on other buffers."""
    if names.keys().isdisjoint(touched(old)):
        return old
    return replace(
        old,
        values=tuple([
            replace(v, buffer=names.get(v.buffer, v.buffer)) if isinstance(v, Load) else v
            for v in old.values
        ]),
        stores=tuple([replace(s, buffer=names.get(s.buffer, s.buffer)) for s in old.stores]),
        reductions=tuple([
            replace(r, buffer=names.get(r.buffer, r.buffer)) for r in old.reductions
        ]),
    )
