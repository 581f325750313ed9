"""Checks: what runs where one fails, so that Python can go on in the middle of the function.

Everything that only Python would need is computed there, and nothing of it on the way past the
check.  Arrays are copied into memory of their own, which becomes the array object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from npcompile.core.errors import refuse
from npcompile.graph.ir import Check, Node, Resume, result_nodes, trees
from npcompile.graph.primitives import raises
from npcompile.program.ir import INTERRUPTED
from npcompile.schedule.memory.memories import Memory
from npcompile.schedule.walk.draft_statements import Leave
from npcompile.schedule.walk.result_memory import Results

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler


def check(s: Scheduler, node: Node) -> None:
    """Schedules one check."""
    attrs = cast(Check, node.attrs)
    memory = s.number(node.args[0])
    results = Results(s, takes=False)
    leave = Leave(memory, attrs.reason, len(s.exits), attrs.resume, results, node.line)
    if attrs.resume.frames:
        _hand_over(s, leave)
    elif s.written and not attrs.resume.restarts:
        raise refuse("check", "an array has been changed, and Python can't go on here", node.line)
    s.exits.append(leave)
    s.steps.append(leave)


def edge(s: Scheduler, resume: Resume, line: int, begun: Sequence[Node]) -> Leave:
    """Schedules what Python needs at the beginning of an iteration, if it is to go on there; sizes
    may be told in numbers that have ``begun`` to be other ones."""
    leave = Leave(None, INTERRUPTED, len(s.exits), resume, Results(s, takes=False), line)
    before = len(s.memories)
    _hand_over(s, leave, begun)
    leave.made.extend(s.memories[before:])
    s.exits.append(leave)
    return leave


def _hand_over(s: Scheduler, leave: Leave, begun: Sequence[Node] = ()) -> None:
    with s.aside(leave.steps):
        for number in begun:
            s.bind(number)
        for tree in trees(leave.resume):
            leave.results.place(tree)
        leave.flagged.update(_flagged(s, leave.resume))


def _flagged(s: Scheduler, resume: Resume) -> Iterator[Memory]:
    """Computes values that Python has computed before the check and does not need any more, but
    which raise floating-point flags."""
    wanted = {n for tree in trees(resume) for n in result_nodes(tree)}
    for node in list(s.live):
        late = s.demand.last_use.get(node, -1) > s.now
        if late and node not in wanted and node not in s.place and may_flag(s, node):
            yield s.materialise(node).memory


def may_flag(s: Scheduler, root: Node) -> bool:
    """Whether computing a virtual value may raise floating-point flags."""
    seen, stack = {root}, [root]
    while stack:
        node = stack.pop()
        if node in s.place:
            continue
        if raises(node):
            return True
        stack += [arg for arg in node.args if arg not in seen]
        seen.update(node.args)
    return False
