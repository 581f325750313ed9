"""One run of a reduction along the kernel's last axis: lanes along it, floats summed as trees."""

from __future__ import annotations

from npcompile.backends.cpu.kernels import accumulators, extreme_positions
from npcompile.backends.cpu.kernels.accumulator_lists import flatten, groups, restore, save, shaped
from npcompile.backends.cpu.kernels.accumulators import (
    AcrossLanes,
    ArgAcrossLanes,
    ArgExtreme,
    ArgSearch,
    Count,
    Fold,
    FoldInput,
    InOrder,
    PairwiseTree,
    State,
)
from npcompile.backends.cpu.kernels.scope import LoopScope, NestPlan, masks_tail
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import Lanes
from npcompile.backends.cpu.llvm.scalar import Parts
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal, vector_literal
from npcompile.backends.target import Target
from npcompile.core.records import replace
from npcompile.program.ir import Apply, Kernel, Reduce

AHEAD = 2048  # bytes that are asked for before they are reduced
FAR_AHEAD = 8192  # the same where they come from memory
UNROLLED = 4  # vectors with their own partial results, where the order does not show
SEARCHED = 256  # vectors of a block of which the extreme is found at once
LOOKED_AT = 64  # elements that are compared with it at once
LIGHT = 12  # operations of what is summed up to which four leaves are summed at a time
#: of a kernel's input, up to which it may come from a cache, half where others store meanwhile
CACHED_BYTES = 16 << 20


def write(scope: LoopScope, reduce: Reduce, parts: Parts, lanes: Lanes) -> None:
    access.store(scope.f, scope.place(reduce.buffer, reduce.at), parts, lanes)


def cached(scope: LoopScope) -> Value:
    """Whether what the kernel reads may come from a cache.  Processors foresee what is needed from
    memory next where it is read in order, not where leaves or rows take turns (12 instead of
    29 GB/s on one core of Zen 4)."""
    plan = scope.plan
    if not plan.fresh:
        return literal("i1", True)
    share = CACHED_BYTES if plan.alone else CACHED_BYTES // 2
    most = share // max(plan.touched(), 1)
    return scope.f.icmp("sle", scope.sizes(plan.total), i64(most))


def _ahead(scope: LoopScope) -> Value:
    """Bytes that are asked for before they are reduced."""
    return scope.f.select(cached(scope), i64(AHEAD), i64(FAR_AHEAD))


def first_value(scope: LoopScope, fold: Fold) -> Parts | None:
    """The value at the start of all reduced axes, if the fold begins with it."""
    if not (fold.wants_first or isinstance(fold, ArgExtreme)):
        return None
    while scope.depth < len(scope.plan.order):
        lane_loop = scope.plan.order[scope.depth] == scope.plan.lane_axis
        scope = scope.enter(i64(0), 1) if lane_loop else scope.enter(i64(0))
    return scope.operand(fold.reduce.value, scope.lanes.count)


def row_kind(
    f: LLVMFunction, target: Target, kernel: Kernel, reduce: Reduce
) -> Fold | PairwiseTree:
    if accumulators.is_pairwise(reduce):
        return PairwiseTree(f, target, reduce)
    if reduce.kind.startswith("arg"):
        made = ArgSearch if accumulators.searches(kernel) else ArgAcrossLanes
        return made(f, target, reduce, kernel.values[reduce.value].dtype)
    bools = accumulators.counted(kernel, reduce)
    if bools is not None:
        return Count(f, target, replace(reduce, value=bools))
    fold = AcrossLanes(f, target, reduce)
    return InOrder(f, target, reduce) if fold.ordered else fold


class RunReduction:
    """Reduces one run along the last axis."""

    def __init__(self, kinds: list[Fold | PairwiseTree]) -> None:
        self.kinds = kinds
        self.trees = [kind for kind in kinds if isinstance(kind, PairwiseTree)]
        self.folds = [kind for kind in kinds if isinstance(kind, Fold)]
        self.across = [k for k in kinds if isinstance(k, AcrossLanes | ArgAcrossLanes)]

    def __call__(self, scopes: list[LoopScope], states: list[State], counter: Value) -> list[State]:
        (scope,) = scopes
        f, length = scope.f, scope.extent(scope.plan.lane_axis)
        base = i64(0) if counter.text == "0" else f.binary("mul", counter, length)
        chunk = scope.sizes(self.trees[0].reduce.chunk) if self.trees else i64(0)
        if chunk.text == "0":
            return self.span(scope, states, i64(0), length, base)
        with f.loop(i64(0), length, chunk, flatten(states)) as loop:
            end = f.intrinsic("smin", f.binary("add", loop.index, chunk), length)
            now = shaped(loop.carried, states)
            loop.goes_on(flatten(self.span(scope, now, loop.index, end, base)))
        return shaped(loop.results, states)

    def span(self, scope: LoopScope, states: list[State], begin: Value, end: Value,
             base: Value) -> list[State]:
        """A region of the run; sums of one region are one tree."""
        if self.trees:
            return Forest(self, scope, base).sum(states, begin, end)
        if isinstance(self.kinds[0], ArgSearch):
            return [Search(self.kinds[0], scope, begin, end).position(states[0], base)]
        return self.sweep(scope, states, begin, end, base)

    def scalar_states(self) -> list[State]:
        """States of one lane, for their types."""
        return [list(kind.zero()) if isinstance(kind, PairwiseTree) else kind.types()
                for kind in self.kinds]

    def sweep(self, scope: LoopScope, states: list[State], begin: Value, end: Value,
              base: Value) -> list[State]:
        """Without trees: whole vectors, then the rest in masked ones (or in single steps)."""
        f, lanes, masked = scope.f, scope.plan.lanes, masks_tail(scope.plan)
        vectors = self.independent(scope.plan)
        step = lanes * vectors
        flat = list(states)
        for _ in range(vectors - 1):
            flat += [k.another(s) for k, s in zip(self.across, states, strict=True)]
        count, ahead = f.binary("sub", end, begin), _ahead(scope)
        whole = f.binary("add", begin, f.binary("and", count, i64(-step)))
        with f.loop(begin, whole, step, flatten(flat)) as loop:
            taken = []
            for k, copy in enumerate(groups(shaped(loop.carried, flat), len(states))):
                inside = scope.enter(f.binary("add", loop.index, i64(k * lanes)), lanes)
                inside.ask_ahead(ahead)
                taken += self.take(inside, copy, base)
            loop.goes_on(flatten(taken))
        states, *copies = groups(shaped(loop.results, flat), len(states))
        for copy in copies:
            states = [k.merge(a, b) for k, a, b in zip(self.across, states, copy, strict=True)]
        with f.loop(whole, end, lanes if masked else 1, flatten(states)) as rest:
            valid = f.binary("sub", end, rest.index) if masked else None
            inside = scope.enter(rest.index, lanes if masked else 1, valid)
            rest.goes_on(flatten(self.take(inside, shaped(rest.carried, states), base)))
        return shaped(rest.results, states)

    def independent(self, plan: NestPlan) -> int:
        """Vectors with partial results of their own, so that no result waits for another."""
        light = sum(isinstance(v, Apply) for v in plan.kernel.values) <= 4
        free = len(self.across) == len(self.kinds) and (plan.lanes == 1 or masks_tail(plan))
        return UNROLLED if light and free else 1

    def take(self, inside: LoopScope, states: list[State], base: Value) -> list[State]:
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
            taken.append(fold.step(state, FoldInput(parts, counter, mask)))
        return taken


class Search:
    """The position of the first extreme of a region, by blocks."""

    def __init__(self, kind: ArgSearch, scope: LoopScope, begin: Value, end: Value) -> None:
        self.kind, self.scope, self.f = kind, scope, scope.f
        self.begin, self.end = begin, end
        self.block = i64(SEARCHED * scope.plan.lanes)

    def position(self, state: State, base: Value) -> State:
        """The better one of a state and the region; ``base`` is added to its positions."""
        if not extreme_positions.fits(self.kind, self.scope):
            return self._by_branches(state, base)
        f, (best, where) = self.f, state
        names = ("scan", "ordered", "other", "after")
        scan, ordered, other, after = (f.name_for(stem) for stem in names)
        length = f.binary("sub", self.end, self.begin)
        f.branch(f.icmp("sle", i64(extreme_positions.BLOCK), length), scan, other)
        f.label(scan)
        region = extreme_positions.Scan(self.kind, self.scope, self.begin, self.end)
        found, block, unordered = region.best(best)
        f.branch(unordered, other, ordered)
        f.label(ordered)
        first = region.first(found, block)
        first = first if base.text == "0" else f.binary("add", base, first)
        better = self.kind.beats(found, best)
        sure = [f.select(better, found, best), f.select(better, first, where)]
        at_sure = f.block
        f.jump(after)
        f.label(other)
        rest = self._by_branches(state, base)
        at_rest = f.block
        f.jump(after)
        f.label(after)
        return [f.phi(a.elem, 1, (a, at_sure), (b, at_rest))
                for a, b in zip(sure, rest, strict=True)]

    def _by_branches(self, state: State, base: Value) -> State:
        f, (best, where) = self.f, state
        some, after = f.name_for("some"), f.name_for("after")
        before = f.block
        f.branch(f.icmp("slt", self.begin, self.end), some, after)
        f.label(some)
        found, block = self._best(best)
        better, at = f.name_for("better"), f.block
        f.branch(f.icmp("sle", self.begin, block), better, after)
        f.label(better)
        first = self._first(found, block)
        first = first if base.text == "0" else f.binary("add", base, first)
        last = f.block
        f.jump(after)
        f.label(after)
        return [
            f.phi(best.elem, 1, (best, before), (best, at), (found, last)),
            f.phi("i64", 1, (where, before), (where, at), (first, last)),
        ]

    def _best(self, best: Value) -> tuple[Value, Value]:
        """The best value, and where the block with it begins: before the region if in none."""
        f, kind, scope = self.f, self.kind, self.scope
        early = not any(isinstance(v, Apply) for v in scope.plan.kernel.values)  # raise no flag
        run = RunReduction([kind.extreme])
        none = f.binary("sub", self.begin, i64(1))
        with f.cycle([self.begin, best, none]) as loop:
            index, best, block = loop.carried
            stop = f.intrinsic("smin", f.binary("add", index, self.block), self.end)
            start = [f.splat(best, scope.plan.lanes)]
            (state,) = run.sweep(scope, [start], index, stop, i64(0))
            (found,) = accumulators.merge_lanes(f, state, kind.extreme.merge)
            better = kind.beats(found, best)
            best = f.select(better, found, best)
            loop.goes_on([stop, best, f.select(better, index, block)])
            loop.repeats(f.icmp("slt", stop, self.end))
            if early:
                loop.repeats(f.binary("and", loop.again, f.negate(kind.is_last(best))))
        return loop.next[1], loop.next[2]

    def _first(self, best: Value, block: Value) -> Value:
        """Where the best value is first, from a block on in which it is."""
        f, scope = self.f, self.scope
        long, short, first = (f.name_for(stem) for stem in ("long", "short", "first"))
        last = f.binary("sub", self.end, i64(LOOKED_AT))
        f.branch(f.icmp("sle", self.begin, last), long, short)
        f.label(long)  # none of those before is it, so that vectors may overlap
        one, at_one = self._hit(best, block, LOOKED_AT, last), f.block
        f.jump(first)
        f.label(short)
        lanes = scope.plan.lanes if masks_tail(scope.plan) else 1
        other, at_other = self._hit(best, block, lanes), f.block
        f.jump(first)
        f.label(first)
        return f.phi("i64", 1, (one, at_one), (other, at_other))

    def _hit(self, best: Value, block: Value, lanes: int, last: Value | None = None) -> Value:
        """The same by vectors, of which the last one is as given, else masked."""
        f, scope = self.f, self.scope
        with f.cycle([block]) as loop:
            index, valid = loop.carried[0], None
            if last is not None:
                index = f.intrinsic("smin", index, last)
            elif lanes > 1:
                valid = f.binary("sub", self.end, index)
            inside = scope.enter(index, lanes, valid)
            hits = self.kind.hits(inside.operand(self.kind.reduce.value, lanes), best)
            if inside.lanes.mask is not None:
                hits = f.binary("and", hits, inside.lanes.mask)
            bits = f.op(f"bitcast {hits.typed} to i{lanes}", f"i{lanes}")
            loop.goes_on([f.binary("add", index, i64(lanes))])
            loop.repeats(f.icmp("eq", bits, literal(bits.elem, 0)))
        if lanes == 1:
            return index
        first = f.call(f"llvm.cttz.{bits.elem}", (bits.elem, 1), bits, "i1 true")
        return f.binary("add", index, first if lanes == 64 else f.convert("zext", first, "i64"))


class Forest:
    """Sums runs as trees without recursion: leaves from left to right, and after each leaf the
    additions that it completes.

    ``pending`` holds, for each node on the way down, the length of its right half; 0 once that is
    being summed, and then ``left`` holds the sum of its left half.
    """

    def __init__(self, run: RunReduction, scope: LoopScope, base: Value, width: int = 1) -> None:
        """``width``: runs that are summed at once, a run to a lane."""
        self.run, self.scope, self.base, f = run, scope, base, scope.f
        self.f, self.width = f, width
        self.lanes, self.leaf = run.trees[0].lanes, run.trees[0].leaf
        self.length, self.at, self.depth = (f.alloca("i64") for _ in range(3))
        self.pending = f.alloca("i64", 64)
        self.parts = [[f.alloca(z.elem, width) for z in tree.zero()] for tree in run.trees]
        self.left = [[f.alloca(z.elem, 64 * width) for z in tree.zero()] for tree in run.trees]

    def sum(self, states: list[State], begin: Value, end: Value) -> list[State]:
        f, run = self.f, self.run
        of_folds = [s for kind, s in zip(run.kinds, states, strict=True) if isinstance(kind, Fold)]
        kept = [[f.alloca(v.type) for v in state] for state in of_folds]
        save(f, flatten(of_folds), flatten(kept))
        save(f, [f.binary("sub", end, begin), begin, i64(0)], [self.length, self.at, self.depth])
        names = {n: f.name_for(n) for n in ("descend", "split", "deeper", "four", "leaf", "ascend",
                                            "up", "node", "right", "done")}
        f.jump(names["descend"])
        self._descend(names)
        if self._takes_four():
            f.label(names["four"])
            self._four_leaves()
            f.jump(names["ascend"])
        f.label(names["leaf"])
        now = shaped(restore(f, flatten(of_folds), flatten(kept)), of_folds)
        save(f, flatten(self._leaf(now)), flatten(kept))
        f.jump(names["ascend"])
        self._ascend(names)
        f.label(names["done"])
        ends = iter(shaped(restore(f, flatten(of_folds), flatten(kept)), of_folds))
        sums = iter(self._load_parts())
        return [
            kind.close_run(state, next(sums)) if isinstance(kind, PairwiseTree) else next(ends)
            for kind, state in zip(run.kinds, states, strict=True)
        ]

    def _descend(self, names: dict[str, str]) -> None:
        f = self.f
        f.label(names["descend"])
        length = f.load(self.length, "i64")
        f.branch(f.icmp("slt", i64(self.leaf), length), names["split"], names["leaf"])
        f.label(names["split"])
        half, other = self._halves(length)
        if self._takes_four():
            largest = self._halves(other)[1]
            exactly = f.binary("and", f.icmp("slt", i64(self.leaf), half),
                               f.icmp("sle", largest, i64(self.leaf)))
            f.branch(f.binary("and", exactly, cached(self.scope)), names["four"], names["deeper"])
            f.label(names["deeper"])
        depth = f.load(self.depth, "i64")
        f.store(other, f.offset(self.pending, "i64", depth))
        save(f, [f.binary("add", depth, i64(1)), half], [self.depth, self.length])
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
            rooms = [f.offset(room, p.type, top) for room, p in zip(left, part)]
            lefts = restore(f, part, rooms)
            self._store_part(tree, tree.add(tuple(lefts), part))
        f.store(top, self.depth)
        f.jump(names["ascend"])
        f.label(names["right"])
        for part, left in zip(self._load_parts(), self.left, strict=True):
            for room, p in zip(left, part):
                f.store(p, f.offset(room, p.type, top))
        save(f, [i64(0), right], [slot, self.length])
        f.jump(names["descend"])

    def _halves(self, length: Value) -> tuple[Value, Value]:
        """Lengths of the two parts of a node; the second is the longer one."""
        f = self.f
        half = f.binary("and", f.binary("lshr", length, i64(1)), i64(-self.lanes))
        return half, f.binary("sub", length, half)

    # ------------------------------------------------------------------ four leaves at a time

    def _takes_four(self) -> bool:
        """Whether nothing but sums is made, so that leaves can be summed side by side."""
        kernel = self.scope.plan.kernel
        operations = sum(isinstance(v, Apply) for v in kernel.values)
        return (self.width == 1 and not self.run.folds and not kernel.stores
                and len(self.run.trees) <= 2 and operations <= LIGHT)

    def _four_leaves(self) -> None:
        """Sums a node of four leaves into ``parts``.  The first leaf is the shortest; the two in
        the middle are as long or a vector longer, and the last one has what is left over."""
        f, lanes, trees = self.f, self.lanes, self.run.trees
        begin, length = f.load(self.at, "i64"), f.load(self.length, "i64")
        end = f.binary("add", begin, length)
        f.store(end, self.at)
        lengths = [part for half in self._halves(length) for part in self._halves(half)]
        starts = [begin]
        for part in lengths[:3]:
            starts.append(f.binary("add", starts[-1], part))
        sums = [list(tree.zero(lanes)) for _ in starts for tree in trees]
        with f.loop(i64(0), lengths[0], lanes, flatten(sums)) as loop:
            now = groups(shaped(loop.carried, sums), len(trees))
            loop.goes_on(flatten([
                state for start, states in zip(starts, now, strict=True)
                for state in self._add_vector(f.binary("add", start, loop.index), states)
            ]))
        leaves = groups(shaped(loop.results, sums), len(trees))
        for k in (1, 2):
            at = f.binary("add", starts[k], lengths[0])
            longer = f.splat(f.icmp("slt", lengths[0], lengths[k]), lanes)
            leaves[k] = self._add_vector(at, leaves[k], longer)
        at = f.binary("add", starts[3], lengths[0])
        whole = f.binary("add", starts[3], f.binary("and", lengths[3], i64(-lanes)))
        with f.loop(at, whole, lanes, flatten(leaves[3])) as rest:
            rest.goes_on(flatten(self._add_vector(rest.index, shaped(rest.carried, leaves[3]))))
        leaves[3] = shaped(rest.results, leaves[3])
        sums = [
            list(tree.fold_leaves([tuple(leaf[k]) for leaf in leaves]))
            for k, tree in enumerate(trees)
        ]
        totals = [[tuple(f.extract(part, k) for part in parts) for k in range(4)] for parts in sums]
        lasts = self._tail([list(total[3]) for total in totals], whole, end)
        for tree, (a, b, c, _), d in zip(trees, totals, lasts, strict=True):
            self._store_part(tree, tree.add(tree.add(a, b), tree.add(c, tuple(d))))

    def _add_vector(self, index: Value, states: list[State], counts: Value | None = None
                    ) -> list[State]:
        """Adds a vector of values to partial sums, or nothing."""
        f, lanes = self.f, self.lanes
        inside, made = self.scope.enter(index, lanes), []
        inside.ask_ahead(4 * self.leaf * self.run.trees[0].reduce.dtype.itemsize)
        for tree, state in zip(self.run.trees, states, strict=True):
            parts = tree.widen(inside.operand(tree.reduce.value, lanes))
            if counts is not None:
                nothing = tree.zero(lanes)
                parts = tuple(f.select(counts, p, n) for p, n in zip(parts, nothing, strict=True))
            made.append(list(tree.add(tuple(state), parts)))
        return made

    def _tail(self, totals: list[State], whole: Value, end: Value) -> list[State]:
        """Adds what is left over after whole vectors, one after the other."""
        f, lanes = self.f, self.lanes
        with f.loop(whole, end, lanes, flatten(totals)) as rest:
            inside = self.scope.enter(rest.index, lanes, f.binary("sub", end, rest.index))
            now, mask = shaped(rest.carried, totals), inside.lanes.mask
            assert mask is not None
            rest.goes_on(flatten([
                list(tree.add_rest(tuple(s), inside.operand(tree.reduce.value, lanes), mask))
                for tree, s in zip(self.run.trees, now, strict=True)
            ]))
        return shaped(rest.results, totals)

    # ------------------------------------------------------------------ one leaf

    def _leaf(self, states: list[State]) -> list[State]:
        """Sums the next leaf into ``parts``; the folds take its values in passing."""
        f, scope, lanes, trees = self.f, self.scope, self.lanes, self.run.trees
        begin, length = f.load(self.at, "i64"), f.load(self.length, "i64")
        end = f.binary("add", begin, length)
        f.store(end, self.at)
        whole = f.binary("add", begin, f.binary("and", length, i64(-lanes)))
        sums = [list(tree.zero(lanes)) for tree in trees]
        both, ahead = [*sums, *states], _ahead(scope)
        with f.loop(begin, whole, lanes, flatten(both)) as loop:
            inside, now = scope.enter(loop.index, lanes), shaped(loop.carried, both)
            inside.ask_ahead(ahead)
            added = [
                list(tree.add(tuple(s), tree.widen(inside.operand(tree.reduce.value, lanes))))
                for tree, s in zip(trees, now)
            ]
            loop.goes_on(flatten([*added, *self.run.take(inside, now[len(trees):], self.base)]))
        ends = shaped(loop.results, both)
        totals = [list(tree.fold_lanes(tuple(s))) for tree, s in zip(trees, ends)]
        both = [*totals, *ends[len(trees):]]
        with f.loop(whole, end, lanes, flatten(both)) as rest:
            inside = scope.enter(rest.index, lanes, f.binary("sub", end, rest.index))
            now, mask = shaped(rest.carried, both), inside.lanes.mask
            assert mask is not None
            added = [
                list(tree.add_rest(tuple(s), inside.operand(tree.reduce.value, lanes), mask))
                for tree, s in zip(trees, now)
            ]
            rest.goes_on(flatten([*added, *self.run.take(inside, now[len(trees):], self.base)]))
        ends = shaped(rest.results, both)
        for tree, total in zip(trees, ends):
            self._store_part(tree, tuple(total))
        return ends[len(trees):]

    def _load_parts(self) -> list[Parts]:
        return [
            tuple(restore(self.f, tree.zero(self.width), rooms))
            for tree, rooms in zip(self.run.trees, self.parts, strict=True)
        ]

    def _store_part(self, tree: PairwiseTree, parts: Parts) -> None:
        rooms = self.parts[self.run.trees.index(tree)]
        save(self.f, list(parts), rooms)
