"""Where Python goes on if a loop is interrupted between two of its iterations.

A signal handler that raises has its exception raised before the loop's header, with the variables
and arrays as they are there.  Loops whose state Python could not go on with have no such place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.errors import Refused
from npcompile.core.records import replace
from npcompile.core.sizes import Size, Unhinted
from npcompile.graph import ir
from npcompile.graph.ir import Items, NewArray, Node, Resume, Tree, ViewOf, result_nodes, trees
from npcompile.graph.types import Scalar
from npcompile.python.values import Frame, State
from npcompile.tracing import control
from npcompile.tracing.trip_counts import Iterations

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def edge(
    t: Tracer, frame: Frame, header: int, begin: State, over: Iterations | None, size: Size
) -> Resume | None:
    """The frames at a loop's header; ``begin`` is the state there, and ``size`` the index of the
    iteration that comes next, if the loop runs over something."""
    if any(f.transparent for f in t.frames):
        return None
    assert t.scope is not None
    before, mark, looked = replace(frame), t.builder.mark(), len(t.scope.params)
    state = begin.copy()
    try:
        with t.aliases.unless_interrupted():
            control.stand(t, frame, header, state)
            if over is not None:
                frame.stack[-1] = state.stack[-1] = over.before(size)
            frames = t.trees.at_edge(t.frames)
        if not _is_there(t, frames):
            raise t.refuse("loop", "begins an iteration with what is made for Python alone")
    except (Refused, Unhinted):
        t.builder.rollback(mark)
        return None
    finally:
        older = dict(t.scope.take_back(looked))  # what the loop itself has no use for
        frame.back_to(before)
    return Resume(tuple([
        replace(f, local=tuple([(name, _older(tree, older)) for name, tree in f.local]),
                stack=tuple([_older(tree, older) for tree in f.stack]))
        for f in frames
    ]))


#: what may be computed anew from numbers that an iteration begins with
_PLAIN = frozenset({"const", "size", "cast", "add", "sub", "mul"})


def _is_there(t: Tracer, frames: tuple[ir.ResumeFrame, ...]) -> bool:
    """Whether all that frames hold is there where an iteration begins, but for such numbers."""
    inside = set(t.builder.region.nodes)
    work = [node for tree in trees(Resume(frames)) for node in result_nodes(tree)]
    while work:
        node = work.pop()
        if node in inside:
            if node.op not in _PLAIN or not isinstance(node.type, Scalar):
                return False
            work += node.args
    return True


def _older(tree: Tree, versions: dict[Node, Node]) -> Tree:
    """A tree with other versions of arrays."""
    match tree:
        case NewArray(storage, node):
            return NewArray(storage, versions.get(node, node))
        case ViewOf(_, NewArray() as base):
            return replace(tree, base=_older(base, versions))
        case Items(_, items):
            return replace(tree, items=tuple([_older(item, versions) for item in items]))
    return tree
