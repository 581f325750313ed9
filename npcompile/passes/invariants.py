"""What stays true from iteration to iteration of a loop: linear relations of the integers that it
carries.

Candidates are what holds before the first iteration: of one number and where it or another one
began, of two of them, and what comparisons in the loop ask.  All are supposed to hold when an
iteration begins; those that the iteration may break are dropped until it keeps the rest, which then
hold in all iterations (Flanagan and Leino, Houdini, an annotation assistant for ESC/Java, FME
2001).

A relation is a size that is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from npcompile.core.sizes import Poly, Predicate, Size, Symbol, lone_symbol, substitute, symbols
from npcompile.graph.ir import Get, Loop, Node, Region, walk
from npcompile.graph.types import INT, Scalar

if TYPE_CHECKING:
    from npcompile.passes.ranges import Ranges

MOST = 24  # candidates
REACH = 3  # facts that a proof may combine
CHOICES = 2  # that are looked at case by case, within one another


class Recurrence(NamedTuple):
    """A number that changes from iteration to iteration: in an iteration, before the first, and in
    the next."""

    name: Symbol
    start: Size
    following: Node | Size


class Goal(NamedTuple):
    """A candidate, by its place, that the next iteration's numbers should satisfy."""

    at: int
    gap: Size
    following: dict[Symbol, Node | Size]


def invariants(ranges: Ranges, loop: Node) -> list[Size]:
    """Relations of what a loop carries, among themselves and to sizes that don't change in it."""
    carried = _carried(ranges, loop)
    if all(not isinstance(c.following, Node) for c in carried):
        return []
    found = _candidates(ranges, loop, carried)
    while found:
        kept = _kept(ranges, loop, carried, found)
        if len(kept) == len(found):
            break
        found = kept
    return found


def _carried(ranges: Ranges, loop: Node) -> list[Recurrence]:
    region, skipped = loop.regions[0], int(loop.op == "while_")
    found, params = [], region.params
    if isinstance(loop.attrs, Loop):
        name, params = loop.attrs.symbol, params[1:]
        start, step = ranges.resolved(loop.attrs.start), ranges.resolved(loop.attrs.step)
        found.append(Recurrence(name, start, Poly((((name,), 1),)) + step))
    for param, begin, following in zip(
            params, loop.args[-len(params):] if params else (), region.results[skipped:],
            strict=True):
        name_of = lone_symbol(_size(ranges, param))
        begun = ranges.exact(begin)
        if name_of is not None and begun is not None and ranges.node.get(name_of) is param:
            found.append(Recurrence(name_of, begun, following))
    return found


def _size(ranges: Ranges, node: Node | Size) -> Size:
    """A number as a size; 0 for what is none, which is no lone symbol."""
    found = ranges.exact(node) if isinstance(node, Node) else node
    return 0 if found is None else found


def _candidates(ranges: Ranges, loop: Node, carried: list[Recurrence]) -> list[Size]:
    """What holds before the first iteration."""
    starts = {c.name: c.start for c in carried}
    found: dict[Size, None] = {}
    for gap in (*_asked(ranges, loop, starts), *_between(carried)):
        if len(found) < MOST and isinstance(gap, Poly) and gap not in found and (
                _holds_before(ranges, gap, starts)):
            found[gap] = None
    return list(found)


def _holds_before(ranges: Ranges, gap: Size, starts: dict[Symbol, Size]) -> bool:
    """Whether a gap is not negative where the loop begins; unknown if it divides by 0 there."""
    try:
        begun = substitute(gap, starts)
    except ZeroDivisionError:
        return False
    return ranges.facts.never_negative(begun, 2)


def _between(carried: list[Recurrence]) -> Iterator[Size]:
    """Differences of two of the numbers, and of numbers and where they began."""
    ends = list(dict.fromkeys([0, *(c.start for c in carried)]))
    for k, c in enumerate(carried):
        x = Poly((((c.name,), 1),))
        for end in ends:
            yield x - end
            if isinstance(c.following, Node) or end != c.start:
                yield end - x
        for other in carried[:k]:
            y = Poly((((other.name,), 1),))
            yield x - y
            yield y - x


def _asked(ranges: Ranges, loop: Node, starts: dict[Symbol, Size]) -> Iterator[Size]:
    """What comparisons in a loop say of what it carries and of what does not change in it."""
    changing = inside(loop)
    before = ranges.mark()
    for node in walk(loop.regions[0]):
        if node.op not in ("lt", "le") or not all(map(_is_integer, node.args)):
            continue
        left, right = map(ranges.exact, node.args)
        if left is None or right is None:
            continue
        gap = right - left
        names = symbols(gap)
        if any(s in starts for s in names) and all(
                s in starts or ranges.node.get(s) not in changing for s in names):
            yield gap
            yield gap + 1
    ranges.undo(before)


def inside(loop: Node) -> set[Node]:
    """All that each iteration of a loop makes anew."""
    nodes = set(walk(loop.regions[0]))
    params = [p for node in (loop, *nodes) for region in node.regions for p in region.params]
    return nodes.union(params)


def _is_integer(node: Node) -> bool:
    return isinstance(node.type, Scalar) and node.type.dtype == INT


# ------------------------------------------------------------------ one iteration


def _kept(
    ranges: Ranges, loop: Node, carried: list[Recurrence], candidates: list[Size]
) -> list[Size]:
    """The candidates that hold after an iteration if all hold before it."""
    before = ranges.mark()
    ranges.sized.clear()  # what was asked for too early
    for gap in candidates:
        ranges.facts.learn(Predicate("<=", 0, gap))
    following = {c.name: c.following for c in carried}
    goals = [Goal(k, gap, {s: following[s] for s in symbols(gap) if s in following})
             for k, gap in enumerate(candidates)]
    broken: set[int] = set()
    again = loop.regions[0].results[0] if loop.op == "while_" else None
    _follow(ranges, loop.regions[0], goals, broken, again)
    ranges.undo(before)
    return [gap for k, gap in enumerate(candidates) if k not in broken]


def _follow(ranges: Ranges, region: Region, goals: Sequence[Goal], broken: set[int],
            again: Node | None = None) -> None:
    """Walks through a region on what is known; at its end goals hold, or are broken.  Those about
    what a branch decides are looked at where its arms end."""
    mine: dict[Node, list[Goal]] = {}
    ends: list[Goal] = []
    places = {node: at for at, node in enumerate(region.nodes) if node.op == "if_"}
    for goal in goals:
        branches = [b for n in goal.following.values() if (b := _branch(n)) in places]
        if branches:
            mine.setdefault(max(branches, key=places.__getitem__), []).append(goal)
        else:
            ends.append(goal)
    for node in region.nodes:
        ranges.pass_over(node)
        for k, inner in enumerate(node.regions if node in mine else ()):
            before = ranges.mark()
            ranges.learn(node.args[0], k == 0)
            left = [_inside(goal, node, k) for goal in mine[node] if goal.at not in broken]
            _follow(ranges, inner, left, broken)
            ranges.undo(before)
    if again is not None:
        ranges.learn(again, True)
    broken.update(goal.at for goal in ends
                  if goal.at not in broken and not _holds(ranges, goal, CHOICES))


def _branch(node: Node | Size) -> Node | None:
    """The branch that decides a number."""
    if isinstance(node, Node) and isinstance(node.attrs, Get) and node.args[0].op == "if_":
        return node.args[0]
    return None


def _inside(goal: Goal, branch: Node, arm: int) -> Goal:
    """A goal in terms of an arm's results."""
    results = branch.regions[arm].results
    following = {
        name: results[n.attrs.index]
        if isinstance(n, Node) and isinstance(n.attrs, Get) and _branch(n) is branch else n
        for name, n in goal.following.items()
    }
    return goal._replace(following=following)


def _holds(ranges: Ranges, goal: Goal, depth: int) -> bool:
    """Whether a goal follows from what is known; numbers that are chosen by a condition are looked
    at case by case."""
    nodes = {name: ranges.chosen(n) if isinstance(n, Node) else n
             for name, n in goal.following.items()}
    sizes: dict[Symbol, Size] = {}
    for name, n in nodes.items():
        size = ranges.exact(n) if isinstance(n, Node) else n
        if size is None:
            return False
        sizes[name] = size
    if ranges.facts.never_negative(substitute(goal.gap, sizes), REACH):
        return True
    choice = next((n for n in nodes.values() if isinstance(n, Node) and n.op == "where"), None)
    if choice is None or not depth:
        return False
    condition, *cases = choice.args
    for truth, case in zip((True, False), cases, strict=True):
        before = ranges.mark()
        ranges.learn(condition, truth)
        following = {name: case if n is choice else n for name, n in nodes.items()}
        held = _holds(ranges, goal._replace(following=following), depth - 1)
        ranges.undo(before)
        if not held:
            return False
    return True
