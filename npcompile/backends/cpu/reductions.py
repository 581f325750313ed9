"""Kernels with reductions, in the canonical order (see :mod:`npcompile.program.ir`).

Kept axes are the outer loops.  Where the kernel's last axis is reduced, lanes run along it, and
floats are summed as trees.  Where it is kept, lanes run along it, and rows are added to the result
in memory, some at a time; or, where the result is no place for that, the reduced loops are inside
and the partial results of some columns stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npcompile.backends.cpu import access, folds
from npcompile.backends.cpu.access import Lanes
from npcompile.backends.cpu.compile import Target
from npcompile.backends.cpu.folds import (
    AcrossLanes,
    Arg,
    ArgAcrossLanes,
    Fold,
    InOrder,
    Item,
    State,
    Tree,
    merge_lanes,
)
from npcompile.backends.cpu.frame import Frame
from npcompile.backends.cpu.scalar import Parts
from npcompile.backends.cpu.scope import Plan, Scope, masks_tail, widest
from npcompile.backends.cpu.sizes import Slots
from npcompile.backends.cpu.text import Function, Module, Value, i64, vector_literal
from npcompile.program.ir import Apply, Kernel, Load, Reduce

UNROLLED = 4  # vectors with their own partial results, where the order does not show
COLUMNS = 4  # vectors of columns that are reduced side by side in registers
BLOCK = 2048  # columns of results that stay in the nearest cache while rows are added


def plan(kernel: Kernel, target: Target) -> Plan:
    """Kept axes outside, then the reduced ones; lanes along the kernel's last axis."""
    rank = len(kernel.axes)
    reduced = set(kernel.reductions[0].axes)
    kept = [axis for axis in range(rank) if axis not in reduced]
    order = (*kept, *(axis for axis in range(rank) if axis in reduced))
    if adds_rows(kernel):
        order = (*(axis for axis in order if axis != rank - 1), rank - 1)
    lanes = max(1, target.width // widest(kernel))
    trees = [r for r in kernel.reductions if folds.is_pairwise(r)] if rank - 1 in reduced else []
    if trees:
        lanes, _ = folds.shape_of_tree(trees[0])
    elif any(r.kind.startswith("arg") for r in kernel.reductions):
        lanes = min(lanes, target.width // 8)  # positions are int64
    return Plan(kernel, target, order, rank - 1, lanes)


def nest(scope: Scope, begin: Value, end: Value) -> None:
    """The kept loops; the outermost of them from ``begin`` to ``end``."""
    kernel = scope.plan.kernel
    reduced = kernel.reductions[0].axes
    kept = len(scope.plan.order) - len(reduced)
    if scope.plan.lane_axis in reduced:
        _kept(scope, kept, begin, end, _rows)
    else:
        _kept(scope, kept - 1, begin, end, _add_rows if adds_rows(kernel) else _columns)


def adds_rows(kernel: Kernel) -> bool:
    """Whether the results' own memory can hold the partial results."""
    last = len(kernel.axes) - 1
    loaded = {v.buffer for v in kernel.values if isinstance(v, Load)}
    return last not in kernel.reductions[0].axes and all(
        not r.kind.startswith("arg") and r.dtype != folds.HALF and r.buffer not in loaded
        and r.at.coefficients[last] != 0
        for r in kernel.reductions
    )


def _kept(scope: Scope, count: int, begin: Value, end: Value,
          inner: Callable[[Scope, Value, Value], None]) -> None:
    if scope.depth == count:
        inner(scope, begin, end)
        return
    with scope.f.loop(begin, end) as loop:
        inside = scope.enter(loop.index)
        last = inside.depth == count  # what is left of the kept axes is the lanes'
        axis = inside.plan.lane_axis if last else inside.plan.order[inside.depth]
        _kept(inside, count, i64(0), inside.extent(axis), inner)


def _write(scope: Scope, reduce: Reduce, parts: Parts, lanes: Lanes) -> None:
    access.store(scope.f, scope.place(reduce.buffer, reduce.at), parts, lanes)


def _counter(scope: Scope, outer: Value, index: Value) -> Value:
    """The position along the reduced axes, row-major."""
    axis = scope.plan.order[scope.depth]
    if outer.text == "0":
        return index
    return scope.f.binary("add", scope.f.binary("mul", outer, scope.extent(axis)), index)


# ------------------------------------------------------------------ rows added in memory


def _add_rows(scope: Scope, begin: Value, end: Value) -> None:
    f = scope.f
    kinds = [Fold(f, scope.plan.target, r) for r in scope.plan.kernel.reductions]
    operations = sum(isinstance(v, Apply) for v in scope.plan.kernel.values)
    together = 8 if operations <= 1 else 4 if operations <= 4 else 1
    with f.loop(begin, end, BLOCK) as block:
        stop = f.intrinsic("smin", f.binary("add", block.index, i64(BLOCK)), end)
        columns = _Columns(kinds, block.index, stop)
        columns.start(scope)
        columns.rows(scope, together)


class _Columns:
    """A block of columns, whose results are in memory."""

    def __init__(self, kinds: list[Fold], begin: Value, end: Value) -> None:
        self.kinds, self.begin, self.end = kinds, begin, end

    def start(self, scope: Scope) -> None:
        while scope.depth < len(scope.plan.order) - 1:
            scope = scope.enter(i64(0))
        self.sweep([scope], self._write_start)

    def _write_start(self, scopes: list[Scope]) -> None:
        (scope,) = scopes
        for fold in self.kinds:
            first = None
            if fold.wants_first:
                first = scope.operand(fold.reduce.value, scope.lanes.count)
            state = fold.start(first, scope.lanes.count)
            _write(scope, fold.reduce, tuple(state), scope.lanes)

    def rows(self, scope: Scope, together: int) -> None:
        """The reduced loops; of the innermost, ``together`` turns in one pass over the columns."""
        f, extent = scope.f, scope.extent(scope.plan.order[scope.depth])
        if scope.depth < len(scope.plan.order) - 2:
            with f.loop(i64(0), extent) as loop:
                self.rows(scope.enter(loop.index), together)
            return
        whole = f.binary("and", extent, i64(-together))
        with f.loop(i64(0), whole, together) as loop:
            turns = [f.binary("add", loop.index, i64(k)) for k in range(together)]
            self.sweep([scope.enter(turn) for turn in turns], self._add)
        if together > 1:
            with f.loop(whole, extent) as loop:
                self.sweep([scope.enter(loop.index)], self._add)

    def sweep(self, rows: list[Scope], each: Callable[[list[Scope]], None]) -> None:
        f, plan, lanes = rows[0].f, rows[0].plan, rows[0].plan.lanes
        count = f.binary("sub", self.end, self.begin)
        whole = f.binary("add", self.begin, f.binary("and", count, i64(-lanes)))
        with f.loop(self.begin, whole, lanes) as loop:
            each([row.enter(loop.index, lanes) for row in rows])
        if masks_tail(plan):
            with f.when(f.icmp("slt", whole, self.end)):
                valid = f.binary("sub", self.end, whole)
                each([row.enter(whole, lanes, valid) for row in rows])
        else:
            with f.loop(whole, self.end) as loop:
                each([row.enter(loop.index) for row in rows])

    def _add(self, scopes: list[Scope]) -> None:
        first = scopes[0]
        states = [
            list(access.load(first.f, first.place(k.reduce.buffer, k.reduce.at), first.lanes))
            for k in self.kinds
        ]
        for scope in scopes:
            scope.stores()
            for position, fold in enumerate(self.kinds):
                parts = scope.operand(fold.reduce.value, scope.lanes.count)
                states[position] = fold.step(states[position], Item(parts, i64(0)))
        for fold, state in zip(self.kinds, states, strict=True):
            _write(first, fold.reduce, tuple(state), first.lanes)


# ------------------------------------------------------------------ lanes along a kept axis


def _columns(scope: Scope, begin: Value, end: Value) -> None:
    f, lanes = scope.f, scope.plan.lanes
    block = lanes * COLUMNS
    count = f.binary("sub", end, begin)
    whole = f.binary("add", begin, f.binary("and", count, i64(-block)))
    with f.loop(begin, whole, block) as loop:
        starts = [f.binary("add", loop.index, i64(k * lanes)) for k in range(COLUMNS)]
        _reduce_columns([scope.enter(start, lanes) for start in starts])
    if masks_tail(scope.plan):
        with f.loop(whole, end, lanes) as loop:
            _reduce_columns([scope.enter(loop.index, lanes, f.binary("sub", end, loop.index))])
    else:
        with f.loop(whole, end) as loop:
            _reduce_columns([scope.enter(loop.index)])


def _reduce_columns(scopes: list[Scope]) -> None:
    """Reduces some vectors of columns side by side."""
    first = scopes[0]
    f, kernel, target = first.f, first.plan.kernel, first.plan.target
    kinds = [
        Arg(f, target, r, kernel.values[r.value].dtype) if r.kind.startswith("arg")
        else Fold(f, target, r) for r in kernel.reductions
    ]
    starts = [fold.start(_first(s, fold), s.lanes.count) for s in scopes for fold in kinds]

    def innermost(inside: list[Scope], states: list[State], counter: Value) -> list[State]:
        taken = []
        for scope, group in zip(inside, _groups(states, len(kinds)), strict=True):
            scope.stores()
            for fold, state in zip(kinds, group, strict=True):
                parts = scope.operand(fold.reduce.value, scope.lanes.count)
                taken.append(fold.step(state, Item(parts, counter)))
        return taken

    ends = _loops(scopes, starts, i64(0), innermost)
    for scope, group in zip(scopes, _groups(ends, len(kinds)), strict=True):
        for fold, state in zip(kinds, group, strict=True):
            _write(scope, fold.reduce, fold.finish(state), scope.lanes)


def _groups(states: list[State], size: int) -> list[list[State]]:
    return [states[at : at + size] for at in range(0, len(states), size)]


Inner = Callable[[list[Scope], list[State], Value], list[State]]


def _loops(scopes: list[Scope], states: list[State], counter: Value, innermost: Inner,
           stop: int | None = None) -> list[State]:
    """The reduced loops down to depth ``stop`` (all of them), carrying states."""
    first = scopes[0]
    if first.depth == (len(first.plan.order) if stop is None else stop):
        return innermost(scopes, states, counter)
    f, extent = first.f, first.extent(first.plan.order[first.depth])
    with f.loop(i64(0), extent, carried=_flat(states)) as loop:
        inside = [scope.enter(loop.index) for scope in scopes]
        at = _counter(first, counter, loop.index)
        loop.next = _flat(_loops(inside, _shaped(loop.carried, states), at, innermost, stop))
    return _shaped(loop.results, states)


def _flat(states: Sequence[State]) -> State:
    return [value for state in states for value in state]


def _shaped(flat: State, like: Sequence[State]) -> list[State]:
    found, at = [], 0
    for state in like:
        found.append(flat[at : at + len(state)])
        at += len(state)
    return found


def _first(scope: Scope, fold: Fold) -> Parts | None:
    """The value at the start of all reduced axes, if the fold begins with it."""
    if not (fold.wants_first or isinstance(fold, Arg)):
        return None
    while scope.depth < len(scope.plan.order):
        lane_loop = scope.plan.order[scope.depth] == scope.plan.lane_axis
        scope = scope.enter(i64(0), 1) if lane_loop else scope.enter(i64(0))
    return scope.operand(fold.reduce.value, scope.lanes.count)


# ------------------------------------------------------------------ a long run by several threads

LEVELS = 5  # of a tree whose 2**5 nodes threads may sum, where it is at least so long:
LONG = 1 << 15


def divides(kernel: Kernel) -> bool:
    """Whether stretches of the only axis may be reduced apart, with the same bits."""
    return len(kernel.axes) == 1 and all(
        reduce.chunk == 0 and reduce.dtype != folds.HALF
        and (folds.is_pairwise(reduce) or not (reduce.kind == "prod" and reduce.dtype.kind in "fc"))
        for reduce in kernel.reductions
    )


def divided(module: Module, name: str, plan: Plan, frame: Frame, work: int) -> None:
    """``name`` as a function of the frame that has nodes of the tree reduced by ``name.nodes``, at
    once by threads if there is enough to do, and combines them in the tree's order.

    What they share is a block of words: the frame, the levels of the tree, states of nodes.
    """
    f = Function(module, name, "void", [("ptr", "frame"), ("i64", "begin"), ("i64", "end")])
    run = _Run([_row_kind(f, plan.target, plan.kernel, r) for r in plan.kernel.reductions])
    scope = Scope.outermost(plan, f, Slots(f, frame, f.params[0]))
    like = run.scalar_states()
    width = sum(map(len, like))
    block = f.alloca("i64", 2 + width * (1 << LEVELS))
    length = scope.extent(0)
    least = max(LONG, work // (len(plan.kernel.values) + len(plan.kernel.stores)))
    long = f.icmp("slt", i64(least), length)
    levels = f.select(long, i64(LEVELS), i64(0))
    _save(f, [f.params[0], levels], [block, f.offset(block, "i64", i64(1))])
    nodes = Value(f"@{name}.nodes", "ptr")
    wide, narrow, after = (f.name_for(stem) for stem in ("wide", "narrow", "after"))
    f.branch(long, wide, narrow)
    f.label(wide)
    f.run("npc_pool_run", nodes, block, i64(1 << LEVELS), i64(1))
    f.jump(after)
    f.label(narrow)
    f.run_here(f"{name}.nodes", block, i64(0), i64(1))
    f.jump(after)
    f.label(after)
    _combine(f, run, block, levels, like)
    for kind, state in zip(run.kinds, _read(f, block, i64(0), like), strict=True):
        parts = (tuple(kind.close_run(kind.start(), tuple(state))) if isinstance(kind, Tree)
                 else kind.finish(state))
        _write(scope, kind.reduce, parts, access.ALL)
    f.do("ret void")
    _nodes(module, name, plan, frame)


def _nodes(module: Module, name: str, plan: Plan, frame: Frame) -> None:
    """Reduces nodes ``begin`` to ``end`` of the tree's last level."""
    f = Function(module, f"{name}.nodes", "void",
                 [("ptr", "block"), ("i64", "begin"), ("i64", "end")])
    block, begin, end = f.params
    slots = Slots(f, frame, f.load(block, "ptr"))
    levels = f.load(f.offset(block, "i64", i64(1)), "i64")
    scope = Scope.outermost(plan, f, slots)
    run = _Run([_row_kind(f, plan.target, plan.kernel, r) for r in plan.kernel.reductions])
    lanes = run.trees[0].lanes if run.trees else plan.lanes
    with f.loop(begin, end) as node:
        with f.loop(i64(0), levels, carried=[i64(0), scope.extent(0)]) as level:
            first, length = level.carried
            half = f.binary("and", f.binary("lshr", length, i64(1)), i64(-lanes))
            bit = f.binary("lshr", node.index, f.binary("sub", f.binary("sub", levels, i64(1)),
                                                        level.index))
            right = f.icmp("ne", f.binary("and", bit, i64(1)), i64(0))
            level.next = [
                f.binary("add", first, f.select(right, half, i64(0))),
                f.select(right, f.binary("sub", length, half), half),
            ]
        first, length = level.results
        starts = [
            list(kind.zero()) if isinstance(kind, Tree)
            else kind.start(_first(scope, kind), plan.lanes) for kind in run.kinds
        ]
        ends = run.span(scope, starts, first, f.binary("add", first, length), i64(0))
        merged = [
            merge_lanes(f, state, kind.merge) if isinstance(kind, AcrossLanes | ArgAcrossLanes)
            else state for kind, state in zip(run.kinds, ends, strict=True)
        ]
        _keep(f, block, node.index, merged)
    f.do("ret void")


def _combine(f: Function, run: _Run, block: Value, levels: Value, like: list[State]) -> None:
    """Combines neighbours, level by level."""
    with f.loop(i64(0), levels) as level:
        rest = f.binary("sub", f.binary("sub", levels, i64(1)), level.index)
        with f.loop(i64(0), f.binary("shl", i64(1), rest)) as node:
            left = f.binary("shl", node.index, i64(1))
            lefts = _read(f, block, left, like)
            rights = _read(f, block, f.binary("add", left, i64(1)), like)
            _keep(f, block, node.index, [
                list(kind.add(tuple(a), tuple(b))) if isinstance(kind, Tree)
                else kind.merge(a, b)
                for kind, a, b in zip(run.kinds, lefts, rights, strict=True)
                if isinstance(kind, Tree | AcrossLanes | ArgAcrossLanes)
            ])


def _rooms(f: Function, block: Value, node: Value, like: Sequence[State]) -> list[Value]:
    width = sum(map(len, like))
    first = f.offset(block, "i64", f.binary("add", f.binary("mul", node, i64(width)), i64(2)))
    return [f.offset(first, "i64", i64(k)) for k in range(width)]


def _read(f: Function, block: Value, node: Value, like: list[State]) -> list[State]:
    return _shaped(_restore(f, _flat(like), _rooms(f, block, node, like)), like)


def _keep(f: Function, block: Value, node: Value, states: list[State]) -> None:
    _save(f, _flat(states), _rooms(f, block, node, states))


# ------------------------------------------------------------------ lanes along a reduced axis


def _rows(scope: Scope, begin: Value, end: Value) -> None:
    del begin, end  # all of the reduced axes
    f, kernel, target = scope.f, scope.plan.kernel, scope.plan.target
    run = _Run([_row_kind(f, target, kernel, r) for r in kernel.reductions])
    starts = [
        kind.start() if isinstance(kind, Tree)
        else kind.start(_first(scope, kind), scope.plan.lanes)
        for kind in run.kinds
    ]
    ends = _loops([scope], starts, i64(0), run, len(scope.plan.order) - 1)
    for kind, state in zip(run.kinds, ends, strict=True):
        parts = tuple(state) if isinstance(kind, Tree) else kind.finish(state)
        _write(scope, kind.reduce, parts, access.ALL)


def _row_kind(f: Function, target: Target, kernel: Kernel, reduce: Reduce) -> Fold | Tree:
    if folds.is_pairwise(reduce):
        return Tree(f, target, reduce)
    if reduce.kind.startswith("arg"):
        return ArgAcrossLanes(f, target, reduce, kernel.values[reduce.value].dtype)
    fold = AcrossLanes(f, target, reduce)
    return InOrder(f, target, reduce) if fold.ordered else fold


class _Run:
    """Reduces one run along the last axis."""

    def __init__(self, kinds: list[Fold | Tree]) -> None:
        self.kinds = kinds
        self.trees = [kind for kind in kinds if isinstance(kind, Tree)]
        self.folds = [kind for kind in kinds if isinstance(kind, Fold)]
        self.across = [k for k in kinds if isinstance(k, AcrossLanes | ArgAcrossLanes)]

    def __call__(self, scopes: list[Scope], states: list[State], counter: Value) -> list[State]:
        (scope,) = scopes
        f, length = scope.f, scope.extent(scope.plan.lane_axis)
        base = i64(0) if counter.text == "0" else f.binary("mul", counter, length)
        chunk = scope.sizes(self.trees[0].reduce.chunk) if self.trees else i64(0)
        if chunk.text == "0":
            return self.span(scope, states, i64(0), length, base)
        with f.loop(i64(0), length, chunk, _flat(states)) as loop:
            end = f.intrinsic("smin", f.binary("add", loop.index, chunk), length)
            now = _shaped(loop.carried, states)
            loop.next = _flat(self.span(scope, now, loop.index, end, base))
        return _shaped(loop.results, states)

    def span(self, scope: Scope, states: list[State], begin: Value, end: Value,
             base: Value) -> list[State]:
        """A stretch of the run; sums of one stretch are one tree."""
        if self.trees:
            return _Forest(self, scope, base).sum(states, begin, end)
        return self.sweep(scope, states, begin, end, base)

    def scalar_states(self) -> list[State]:
        """States of one lane, for their types."""
        return [list(kind.zero()) if isinstance(kind, Tree) else kind.types()
                for kind in self.kinds]

    def sweep(self, scope: Scope, states: list[State], begin: Value, end: Value,
              base: Value) -> list[State]:
        """Without trees: whole vectors, then the rest in masked ones (or in single steps)."""
        f, lanes, masked = scope.f, scope.plan.lanes, masks_tail(scope.plan)
        vectors = self.independent(scope.plan)
        step = lanes * vectors
        flat = list(states)
        for _ in range(vectors - 1):
            flat += [k.another(s) for k, s in zip(self.across, states, strict=True)]
        count = f.binary("sub", end, begin)
        whole = f.binary("add", begin, f.binary("and", count, i64(-step)))
        with f.loop(begin, whole, step, _flat(flat)) as loop:
            taken = []
            for k, copy in enumerate(_groups(_shaped(loop.carried, flat), len(states))):
                inside = scope.enter(f.binary("add", loop.index, i64(k * lanes)), lanes)
                taken += self.take(inside, copy, base)
            loop.next = _flat(taken)
        states, *copies = _groups(_shaped(loop.results, flat), len(states))
        for copy in copies:
            states = [k.merge(a, b) for k, a, b in zip(self.across, states, copy, strict=True)]
        with f.loop(whole, end, lanes if masked else 1, _flat(states)) as rest:
            valid = f.binary("sub", end, rest.index) if masked else None
            inside = scope.enter(rest.index, lanes if masked else 1, valid)
            rest.next = _flat(self.take(inside, _shaped(rest.carried, states), base))
        return _shaped(rest.results, states)

    def independent(self, plan: Plan) -> int:
        """Vectors with partial results of their own, so that no result waits for another."""
        light = sum(isinstance(v, Apply) for v in plan.kernel.values) <= 4
        free = len(self.across) == len(self.kinds) and masks_tail(plan)
        return UNROLLED if light and free else 1

    def take(self, inside: Scope, states: list[State], base: Value) -> list[State]:
        """One vector of values into every fold."""
        inside.stores()
        f, lanes = inside.f, inside.plan.lanes
        axis = inside.plan.lane_axis
        counter = inside.index[axis]
        if base.text != "0":
            counter = f.binary("add", base, counter)
        mask, taken = inside.lanes.mask, []
        for fold, state in zip(self.folds, states, strict=True):
            parts = inside.operand(fold.reduce.value, inside.lanes.count)
            if inside.lanes.count < lanes and not isinstance(fold, InOrder):
                parts = tuple(f.splat(part, lanes) for part in parts)  # only the first lane counts
                mask = vector_literal("i1", [k == 0 for k in range(lanes)])
            taken.append(fold.step(state, Item(parts, counter, mask)))
        return taken


class _Forest:
    """Sums runs as trees without recursion: leaves from left to right, and after each leaf the
    additions that it completes.

    ``pending`` holds, for each node on the way down, the length of its right half; 0 once that is
    being summed, and then ``left`` holds the sum of its left half.
    """

    def __init__(self, run: _Run, scope: Scope, base: Value) -> None:
        self.run, self.scope, self.base, f = run, scope, base, scope.f
        self.f = f
        self.lanes, self.leaf = run.trees[0].lanes, run.trees[0].leaf
        self.length, self.at, self.depth = (f.alloca("i64") for _ in range(3))
        self.pending = f.alloca("i64", 64)
        self.parts = [[f.alloca(z.elem) for z in tree.zero()] for tree in run.trees]
        self.left = [[f.alloca(z.elem, 64) for z in tree.zero()] for tree in run.trees]

    def sum(self, states: list[State], begin: Value, end: Value) -> list[State]:
        f, run = self.f, self.run
        of_folds = [s for kind, s in zip(run.kinds, states, strict=True) if isinstance(kind, Fold)]
        kept = [[f.alloca(v.type) for v in state] for state in of_folds]
        _save(f, _flat(of_folds), _flat(kept))
        _save(f, [f.binary("sub", end, begin), begin, i64(0)], [self.length, self.at, self.depth])
        names = {n: f.name_for(n) for n in ("descend", "split", "leaf", "ascend", "up", "node",
                                            "right", "done")}
        f.jump(names["descend"])
        self._descend(names)
        f.label(names["leaf"])
        now = _shaped(_restore(f, _flat(of_folds), _flat(kept)), of_folds)
        _save(f, _flat(self._leaf(now)), _flat(kept))
        f.jump(names["ascend"])
        self._ascend(names)
        f.label(names["done"])
        ends = iter(_shaped(_restore(f, _flat(of_folds), _flat(kept)), of_folds))
        sums = iter(self._load_parts())
        return [
            kind.close_run(state, next(sums)) if isinstance(kind, Tree) else next(ends)
            for kind, state in zip(run.kinds, states, strict=True)
        ]

    def _descend(self, names: dict[str, str]) -> None:
        f = self.f
        f.label(names["descend"])
        length = f.load(self.length, "i64")
        f.branch(f.icmp("slt", i64(self.leaf), length), names["split"], names["leaf"])
        f.label(names["split"])
        half = f.binary("and", f.binary("lshr", length, i64(1)), i64(-self.lanes))
        depth = f.load(self.depth, "i64")
        f.store(f.binary("sub", length, half), f.offset(self.pending, "i64", depth))
        _save(f, [f.binary("add", depth, i64(1)), half], [self.depth, self.length])
        f.jump(names["descend"])

    def _ascend(self, names: dict[str, str]) -> None:
        f = self.f
        f.label(names["ascend"])
        depth = f.load(self.depth, "i64")
        f.branch(f.icmp("eq", depth, i64(0)), names["done"], names["up"])
        f.label(names["up"])
        top = f.binary("sub", depth, i64(1))
        slot = f.offset(self.pending, "i64", top)
        right = f.load(slot, "i64")
        f.branch(f.icmp("eq", right, i64(0)), names["node"], names["right"])
        f.label(names["node"])
        for tree, part, left in zip(self.run.trees, self._load_parts(), self.left, strict=True):
            lefts = [f.load(f.offset(room, p.elem, top), p.elem) for room, p in zip(left, part)]
            self._store_part(tree, tree.add(tuple(lefts), part))
        f.store(top, self.depth)
        f.jump(names["ascend"])
        f.label(names["right"])
        for part, left in zip(self._load_parts(), self.left, strict=True):
            for room, p in zip(left, part):
                f.store(p, f.offset(room, p.elem, top))
        _save(f, [i64(0), right], [slot, self.length])
        f.jump(names["descend"])

    def _leaf(self, states: list[State]) -> list[State]:
        """Sums the next leaf into ``parts``; the folds take its values in passing."""
        f, scope, lanes, trees = self.f, self.scope, self.lanes, self.run.trees
        begin, length = f.load(self.at, "i64"), f.load(self.length, "i64")
        end = f.binary("add", begin, length)
        f.store(end, self.at)
        whole = f.binary("add", begin, f.binary("and", length, i64(-lanes)))
        sums = [list(tree.zero(lanes)) for tree in trees]
        both = [*sums, *states]
        with f.loop(begin, whole, lanes, _flat(both)) as loop:
            inside, now = scope.enter(loop.index, lanes), _shaped(loop.carried, both)
            added = [
                list(tree.add(tuple(s), tree.widen(inside.operand(tree.reduce.value, lanes))))
                for tree, s in zip(trees, now)
            ]
            loop.next = _flat([*added, *self.run.take(inside, now[len(trees):], self.base)])
        ends = _shaped(loop.results, both)
        totals = [list(tree.fold_lanes(tuple(s))) for tree, s in zip(trees, ends)]
        both = [*totals, *ends[len(trees):]]
        with f.loop(whole, end, lanes, _flat(both)) as rest:
            inside = scope.enter(rest.index, lanes, f.binary("sub", end, rest.index))
            now, mask = _shaped(rest.carried, both), inside.lanes.mask
            assert mask is not None
            added = [
                list(tree.add_rest(tuple(s), inside.operand(tree.reduce.value, lanes), mask))
                for tree, s in zip(trees, now)
            ]
            rest.next = _flat([*added, *self.run.take(inside, now[len(trees):], self.base)])
        ends = _shaped(rest.results, both)
        for tree, total in zip(trees, ends):
            self._store_part(tree, tuple(total))
        return ends[len(trees):]

    def _load_parts(self) -> list[Parts]:
        return [
            tuple(self.f.load(room, z.elem) for room, z in zip(rooms, tree.zero()))
            for tree, rooms in zip(self.run.trees, self.parts, strict=True)
        ]

    def _store_part(self, tree: Tree, parts: Parts) -> None:
        rooms = self.parts[self.run.trees.index(tree)]
        _save(self.f, list(parts), rooms)


def _save(f: Function, values: Sequence[Value], rooms: Sequence[Value]) -> None:
    for value, room in zip(values, rooms, strict=True):
        f.store(value, room)


def _restore(f: Function, like: Sequence[Value], rooms: Sequence[Value]) -> list[Value]:
    return [f.load(room, v.elem, v.lanes) for v, room in zip(like, rooms, strict=True)]
