"""Branches and loops on data.

What a region uses from outside is computed before it.  Arrays that are changed inside stay where
they are, in both arms and in every iteration; what arms and iterations make anew gets a *home*, a
memory that both arms or all iterations store it to.  Nothing that is computed inside is known
outside but there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from npcompile.core.errors import refuse
from npcompile.core.sizes import Poly
from npcompile.graph.ir import WRITES, Get, Loop, Node, Region
from npcompile.graph.primitives import raises
from npcompile.graph.types import INT, Array
from npcompile.program.ir import SizeValue
from npcompile.schedule.memory.memories import BufferView, Memory
from npcompile.schedule.memory.overlaps import in_turn, overlap
from npcompile.schedule.walk.demand import carried, is_number, sources
from npcompile.schedule.walk.draft_statements import Choice, Counted, Repeated
from npcompile.schedule.walk.exits import edge
from npcompile.schedule.walk.nest import Nest, Put
from npcompile.schedule.walk.writes import assign, bring

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler


def choose(s: Scheduler, node: Node) -> None:
    """Schedules an ``if_``."""
    outside = _prepare(s, node)
    step = Choice(s.number(node.args[0]))
    homes = _common_homes(s, node, outside)
    demand, before, written = s.demand, s.written, s.written
    for k, steps in enumerate((step.then, step.other)):
        region = node.regions[k]
        s.foresee(demand.without(node.regions[1 - k]), before)
        with s.aside(steps):
            s.begin_iteration()  # what was made before is needed after the other arm too
            for root, home in outside.items():
                if s.place[root] != home:  # its old contents are somewhere else for later uses
                    s.demand.confine(root, region)
                    s.place[root] = home
                s.kept.discard(root)
            for result, home in zip(region.results, homes):
                begun = _begun(s, result)
                if begun in region.nodes:
                    s.place[begun] = home
            s.walk(region)
            _finish(s, region)
            for result, home in zip(region.results, homes):
                assign(s, result, home, node)
        written |= s.written
    s.foresee(demand, written)
    s.flagged.update(_raised(node, homes))
    s.steps.append(step)
    _leave(s, node, homes)


def _raised(node: Node, homes: list[BufferView]) -> set[Memory]:
    """Memory of results whose computation may raise floating-point flags, also if nobody reads
    them."""
    found = set()
    for region in _regions(node):
        loud: set[Node] = set()
        for inner in region.nodes:
            if raises(inner) or not loud.isdisjoint(inner.args):
                loud.add(inner)
        found |= {home.memory for home, result in zip(homes, region.results) if result in loud}
    return found


def _begun(s: Scheduler, result: Node) -> Node | None:
    """The fresh memory that nothing but a result is written into: it may be the result's own."""
    while result.op == "write" and len(s.demand.consumers[result.args[0]]) == 1:
        result = result.args[0]
    return result if result.op == "empty" else None


def repeat(s: Scheduler, node: Node) -> None:
    """Schedules a ``for_`` or ``while_``."""
    region = node.regions[0]
    outside = _prepare(s, node)
    homes = _carry(s, node, outside)
    memories = {home.memory for home in homes}
    step: Counted | Repeated = Repeated(memories, region.short)
    if isinstance(node.attrs, Loop):
        loop = node.attrs
        step = Counted(loop.symbol, (loop.start, loop.stop, loop.step), memories, node.line)
    writes = any(n in s.demand.own_writes for r in _regions(node) for n in r.nodes)
    s.foresee(s.demand, s.written or writes)
    with s.aside(step.steps):
        s.go_to(s.demand.start[node])
        s.begin_iteration()
        _anew(s, node)
        if isinstance(step, Counted):
            s.since[step.symbol] = len(s.memories)
            _index(s, region.params[0], step)
            if region.params[0] in s.binds:  # a number that was found to be the index
                s.bind(region.params[0], but=step.symbol)
        for (_, param, _), home in zip(carried(node), homes):
            s.place[param] = home
            s.live[param] = None
        begun = [param for _, param, _ in carried(node) if param in s.binds]
        if region.edge is not None:
            step.leaves_at(edge(s, region.edge, node.line, begun))
        for param in begun:
            s.bind(param)
        with in_turn(s.facts, *step.bounds) if isinstance(step, Counted) else nullcontext():
            s.walk(region)
            _finish(s, region)
            again = _iteration(s, node, homes)
        step.made.extend(s.memories[s.iteration :])
    if isinstance(step, Repeated):
        step.repeats(again)
    s.steps.append(step)
    _leave(s, node, homes)


# ------------------------------------------------------------------ what comes from outside


#: arrays from outside that are changed inside, and the memory where that happens
Homes = dict[Node, BufferView]


def _prepare(s: Scheduler, node: Node) -> Homes:
    """Computes what regions use from outside, and clears memory that they change of everything
    that is needed later."""
    regions = list(_regions(node))
    inside = [inner for region in regions for inner in region.nodes]
    own = {*inside, *(param for region in regions for param in region.params)}
    used = [arg for inner in inside for arg in inner.args]
    used += [result for region in regions for result in region.results]
    position = s.demand.position
    for value in sorted({*used, *node.args} - own, key=position.__getitem__):
        if is_number(value) and value.op not in ("const", "size"):
            s.number(value)
        elif not is_number(value) and not _is_constant(value):
            s.materialise(value)
    outside: Homes = {}
    for root, mine in _changed(s, node, inside, own).items():
        outside[root] = _changeable(s, outside, root, mine)
    until = position[node] if node.op == "if_" else s.demand.start[node]
    for home in outside.values():
        _clear(s, home, until)
    return outside


def _regions(node: Node) -> Iterator[Region]:
    for region in node.regions:
        yield region
        for inner in region.nodes:
            yield from _regions(inner)


def _changed(s: Scheduler, node: Node, inside: list[Node], own: set[Node]) -> dict[Node, bool]:
    """The arrays from outside that are changed inside, and whether they are parameters' own.  A
    loop changes only what it carries: each iteration writes into copies of all else."""
    carries = node.op != "if_"
    params = {param: result for _, param, result in carried(node)} if carries else {}
    found: dict[Node, bool] = {}
    for inner in inside:
        if inner.op in WRITES:
            for root in _roots(s, inner, own - params.keys()):
                if carries and params.get(root, root) is root:
                    continue
                root = s.demand.initial[root] if carries else root
                found[root] = found.get(root, False) or inner in s.demand.own_writes
    return found


def _anew(s: Scheduler, loop: Node) -> None:
    """Arrays from outside that an iteration must leave as they are: each iteration makes those that
    nothing is read for, and copies the others before it writes into them."""
    inside = [inner for region in _regions(loop) for inner in region.nodes]
    own = {*inside, *(param for region in _regions(loop) for param in region.params)}
    turning = {param: param is not result for _, param, result in carried(loop)}
    for inner in inside:
        if inner.op in WRITES:
            for root in _roots(s, inner, own - turning.keys()):
                if _is_constant(root):
                    s.place.pop(root, None)
                elif not turning.get(root, False):
                    s.kept.add(root)


def _is_constant(node: Node) -> bool:
    """An array that is made without reading memory."""
    return node.op in ("empty", "full", "iota") and all(arg.op == "const" for arg in node.args)


def _roots(s: Scheduler, version: Node, own: set[Node]) -> list[Node]:
    """The arrays from outside that a version descends from."""
    seen: dict[Node, None] = {}
    stack = [version]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen[node] = None
        if node in own:
            if node.op in WRITES:
                stack.append(node.args[0])
            elif node.op == "get":
                stack += sources(node)
            elif node in s.demand.initial:
                stack.append(s.demand.initial[node])
    return [node for node in seen if node not in own]


def _changeable(s: Scheduler, outside: Homes, root: Node, mine: bool) -> BufferView:
    """Memory that holds an array and is nobody else's."""
    place = s.laid_out(root)
    if not mine and (not s.may_change(root, place) or _meets(s, place, outside)):
        place = _home(s, root)
        s.put([root], place, root.line)
    return place


def _meets(s: Scheduler, place: BufferView, outside: Homes) -> bool:
    return any(overlap(s.facts, place, home) for home in outside.values())


def _clear(s: Scheduler, home: BufferView, until: int) -> None:
    """Copies what is in a memory, or computed from it, and needed after a position."""
    known: dict[Node, bool] = {}
    for node in list(s.live):
        if s.demand.last_use.get(node, -1) > until and s.touches(node, home, known):
            s.note(node, "a value is stored: memory that it reads is about to change")
            s.place[node] = s.store(node, s.fresh(node))
            known[node] = False


def _home(s: Scheduler, node: Node) -> BufferView:
    """New memory for values of a node's type."""
    type_ = node.type
    if isinstance(type_, Array):
        made = s.memory("t", "temp", type_.dtype, type_.shape, type_.strides)
        return made.whole(s.facts)
    return s.memory("s", "scalar", node.dtype).whole(s.facts)


def _leave(s: Scheduler, node: Node, homes: list[BufferView]) -> None:
    """What is known after the regions."""
    s.go_to(s.demand.position[node])
    for user in s.demand.consumers[node]:
        assert isinstance(user.attrs, Get)
        s.place[user] = homes[user.attrs.index]


def _finish(s: Scheduler, region: Region) -> None:
    """Computes, before the results of a region, the nodes of which only the floating-point flags
    are needed."""
    s.go_to(s.demand.end[region] - 1)
    s.flagged.update([s.materialise(node).memory for node in s.demand.idle[region]])


# ------------------------------------------------------------------ arms


def _common_homes(s: Scheduler, node: Node, outside: Homes) -> list[BufferView]:
    """Where both arms leave each result: in place if it is the same array from outside."""
    own = {n for region in _regions(node) for n in (*region.nodes, *region.params)}
    homes: list[BufferView] = []
    for x, y in zip(*(region.results for region in node.regions)):
        roots = {*_roots(s, x, own), *_roots(s, y, own)} if isinstance(x.type, Array) else set()
        home = outside.get(roots.pop()) if len(roots) == 1 else None
        if home is None or home in homes:
            home = _home(s, x)
        homes.append(home)
    return homes


# ------------------------------------------------------------------ iterations


def _carry(s: Scheduler, node: Node, outside: Homes) -> list[BufferView]:
    """Where each carried value is at the start of an iteration."""
    homes: list[BufferView] = []
    written = {param for arg, param, result in carried(node) if arg in outside}
    for arg, param, result in carried(node):
        if result is not param and result in written:
            # never a whole-array copy for the sake of one element
            raise refuse("loop", "needs in each iteration what an array held before it", node.line)
        if is_number(arg):
            if result is param and arg.op not in ("const", "size"):  # those stay what they are
                homes.append(s.number(arg).whole(s.facts))
                continue
        elif result is param and not _meets(s, s.laid_out(arg), outside):
            homes.append(s.laid_out(arg))
            continue
        elif result is not param and arg in outside and outside[arg] not in homes:
            homes.append(outside[arg])
            continue
        homes.append(_home(s, param))
        s.put([arg], homes[-1], node.line)
    return homes


def _index(s: Scheduler, index: Node, step: Counted) -> None:
    """The index of a loop as a number."""
    memory = s.memory("s", "scalar", INT)
    nest = Nest(())
    access = nest.access(memory.whole(s.facts), ())
    nest.puts.append(Put(access, nest.value(SizeValue(Poly((((step.symbol,), 1),))))))
    s.steps.append(nest)
    s.place[index] = memory.whole(s.facts)


def _iteration(s: Scheduler, node: Node, homes: list[BufferView]) -> Memory | None:
    """The end of an iteration: all values of the next one are computed, then they take their homes.
    The test of a ``while_``."""
    counted = node.op == "for_"
    again = [] if counted else node.regions[0].results[:1]
    changed = [
        (result, home) for (_, param, result), home in zip(carried(node), homes)
        if result is not param
    ]
    numbers = [(result, home) for result, home in changed if is_number(result)]
    taken = {home.memory for _, home in numbers}
    for number in (*(result for result, _ in numbers), *again):
        if s.number(number) in taken:
            s.place[number] = s.store(number, s.fresh(number))
    for result, home in changed:
        if not is_number(result):
            bring(s, result, home, node)
    for result, home in numbers:
        s.put([result], home, node.line)
    return None if counted else s.number(again[0])
