"""Kernels as functions ``void kN(ptr words, i64 begin, i64 end)`` over a range of their outermost
loop.  Those that do the same on other words are one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import precompiled
from npcompile.backends.cpu.kernels.scope import (
    AHEAD,
    PIECES,
    LoopScope,
    NestPlan,
    masks_tail,
    narrow_memory,
    one_by_one,
    pads,
    widest,
)
from npcompile.backends.cpu.llvm import access, register_shift
from npcompile.backends.cpu.llvm.scalar import component, wide_lanes
from npcompile.backends.cpu.llvm.sizes import SizeEmitter, SlotList, Slots, Word
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal
from npcompile.backends.target import Target
from npcompile.core.paths import defer
from npcompile.core.records import record, replace
from npcompile.core.sizes import Size
from npcompile.graph.ir import Subprogram, identity
from npcompile.program.ir import Apply, Buffer, Constant, Index, Kernel, Load, SizeValue, Store

if TYPE_CHECKING:
    from npcompile.backends.cpu.kernels import (
        parallel_reductions,
        reduction_kernels,
        scans,
        square_roots,
        tails,
    )
else:
    defer(
        globals(), "npcompile.backends.cpu.kernels", "parallel_reductions", "reduction_kernels",
        "scans", "square_roots", "tails",
    )

LIGHT = 16  # operations of a kernel that memory may hold up
STREAMS = 4  # arrays that are stored past the cache at a time, at most
PAIRED = 8  # operations up to which two registers are filled at a time
CHAINED = 24  # operations from which on they are too, where there are many registers
SOON = 1024  # bytes that light kernels ask for before they load them on Intel, AHEAD on Zen
BUSY = 10  # what operations cost from which on processors see too few loads to look ahead
FEW = 32  # elements of which one is packed at most, where few are
COLUMN = 3072  # bytes of a row that are computed before the next row's, where a stencil's pass by
LONG = 32  # vectors of a row of narrow elements from which on stores go past the cache


@record
class KernelPart:
    """A kernel that is called in turns, for a part of its elements in each.

    ``total``: elements of all calls; 0 if what they store is read soon.  ``ahead``: for each of its
    values that it loads, how many elements further the next iteration does, if this one has been
    there before; 0 if there is nothing to ask for, None if that is not known.  ``fresh``: whether
    it loads something that nobody has loaded or asked for.  ``alone``: whether the iterations store
    nothing but what they reduce and what they use again.
    """

    total: Size
    ahead: tuple[Size | None, ...]
    fresh: bool
    alone: bool


@record
class KernelFunction:
    """A kernel's function; ``extent`` is that of the loop that callers may divide.  ``past``: of
    all parts, the elements beyond which it stores past the cache, if its caller has to see to it
    that others find that."""

    name: str
    words: tuple[Word, ...]
    extent: Size
    work: tuple[Size, ...]  # extents of all axes
    unit: int  # ranges begin at multiples of it
    pieces: int  # that threads may take one after the other, if each is much work
    past: int | None = None


def trips(f: LLVMFunction, start: Value, stop: Value, step: Value) -> Value:
    """Turns of a loop; the step may be of either sign."""
    distance = f.binary("sub", stop, start)
    up = f.icmp("slt", i64(0), step)
    # trips = ceil(distance / step), at least 0
    last = f.binary("sub", f.binary("add", distance, step), f.select(up, i64(1), i64(-1)))
    nonzero = f.select(f.icmp("eq", step, i64(0)), i64(1), step)
    return f.binary("sdiv", last, nonzero)


def inline(f: LLVMFunction, slots: Slots, kernel: Kernel, target: Target) -> None:
    """A kernel without axes, in the middle of a function that LLVM passes rearrange: operations
    stay where they are, for their floating-point flags."""
    with f.in_order():
        scope = LoopScope.outermost(NestPlan(kernel, target, ()), f, slots)
        scope.stores()
        if any(store.packed for store in kernel.stores):
            scope.pack(i64(0))


#: elements times :func:`weight` from which on threads are worth waking (some 10 us of work)
PARALLEL_WORK = 1 << 18
SLOW = {"div": 8, "sqrt": 8, "fmod": 16, "call": 100}


def weight(kernel: Kernel) -> int:
    """What one element costs: a load, a store and most operations are 1."""
    others = sum(not isinstance(v, Apply) for v in kernel.values)
    return _cost(kernel) + others + len(kernel.stores)


def _cost(kernel: Kernel) -> int:
    """The same of the operations alone."""
    return sum(SLOW.get(v.op, 1) for v in kernel.values if isinstance(v, Apply))


def emit(
    module: LLVMModule,
    kernel: Kernel,
    name: str,
    target: Target,
    parallel: bool = False,
    part: KernelPart | None = None,
    least: int | None = None,
) -> KernelFunction:
    """The function of a kernel with axes; one whose only axis is reduced calls threads itself, from
    ``least`` elements on."""
    usual = PARALLEL_WORK // weight(kernel)
    if least is None or not (kernel.reductions and parallel_reductions.divides(kernel)):
        least = usual
    whole = parallel and part is None and least == usual
    in_stock = precompiled.find(kernel, target.width) if whole else None
    if in_stock is not None:
        name, words = in_stock
        module.declare(name, "void", ["ptr", "i64", "i64"])
        return _made(kernel, name, words)
    buffers, structure = _structure(kernel)
    key = structure, parallel, part, least, module.hasty
    made: KernelFunction
    if key not in module.written:
        made = _write(module, kernel, name, target, parallel, part, {}, least)
        module.written[key] = kernel, buffers, made
        return made
    _, others, made = module.written[key]
    instead = dict(zip(others, buffers, strict=True))
    return replace(made, words=tuple([
        (instead[word[0]], word[1]) if isinstance(word, tuple) else word for word in made.words
    ]))


def stock_text(name: str, target: Target) -> str:
    """The module of a function in stock."""
    kernel, words = precompiled.kernel(name.partition(".")[2])
    module, listed = LLVMModule(name), {word: at for at, word in enumerate(words)}
    _write(module, kernel, name, target, True, None, listed, PARALLEL_WORK // weight(kernel))
    assert tuple(listed) == words, f"{name} reads other words"
    return module.text()


def _structure(kernel: Kernel) -> tuple[list[Buffer], object]:
    """The buffers of a kernel, and all that its function depends on, these being numbered."""
    numbers: dict[Buffer, int] = {}

    def number(buffer: Buffer) -> int:
        return numbers.setdefault(buffer, len(numbers))

    def value(v: object) -> object:
        match v:
            case Load(buffer, at, dtype, by):
                return "load", number(buffer), at, dtype, by
            case Apply(op, args, dtype, attrs):
                return op, args, dtype, id(attrs)  # which the kernel keeps alive
        return v

    made = (
        tuple([axis.extent for axis in kernel.axes]),
        tuple(map(value, kernel.values)),
        tuple([(number(s.buffer), s.at, s.value, s.mask, s.by, s.packed) for s in kernel.stores]),
        tuple([(r.kind, r.axes, r.value, number(r.buffer), r.at, r.dtype, r.chunk, r.running,
                None if r.initial is None else identity(r.initial)) for r in kernel.reductions]),
        kernel.ordered,
        tuple([(b.kind, b.dtype, b.shape, b.strides) for b in numbers]),
    )
    return list(numbers), made


def _write(module: LLVMModule, kernel: Kernel, name: str, target: Target, parallel: bool,
           part: KernelPart | None, words: dict[Word, int], least: int) -> KernelFunction:
    """The function of a kernel; the words that it reads are added to ``words``."""
    rank = len(kernel.axes)
    if parallel and kernel.reductions and parallel_reductions.divides(kernel):
        plan = reduction_kernels.plan(kernel, target)
        name = parallel_reductions.emit(module, name, plan, least, words)
        return _made(kernel, name, tuple(words))
    if kernel.reductions and scans.scans(kernel):
        plan, nest = scans.plan(kernel, target), scans.nest
    elif kernel.reductions:
        plan, nest = reduction_kernels.plan(kernel, target), reduction_kernels.nest
    elif kernel.ordered:
        plan, nest = NestPlan(kernel, target, tuple(range(rank))), _nest
    else:
        lanes = _lanes(kernel, target)
        plan, nest = NestPlan(kernel, target, tuple(range(rank)), rank - 1, lanes), _nest
        nest = _packing_nest if kernel.in_order else _nest
    if part is not None:
        plan.total, plan.ahead = part.total, part.ahead
        plan.fresh, plan.alone = part.fresh, part.alone
    f = LLVMFunction(module, name, "void", [("ptr", "block"), ("i64", "begin"), ("i64", "end")])
    block, begin, end = f.params
    slots, loops = SlotList(f, block, words), _loops(kernel)
    if kernel.in_order:
        end = SizeEmitter(slots)(kernel.axes[0].extent)
    with f.when(_nonempty(f, kernel, loops[1:], slots, begin, end)):
        short = reduction_kernels.short_plan(kernel, target) if kernel.reductions else None
        if short is None:
            nest(LoopScope.outermost(plan, f, slots), begin, end)
        else:
            _by_length(f, slots, plan, short, begin, end)
        past = not kernel.reductions and streams(plan)
        if past and part is None:
            with f.when(_passes_much(plan, f, slots)):
                f.run("npc.streamed")
    f.do("ret void")
    return _made(kernel, module.shared(f), tuple(words), _streaming_from(plan) if past else None)


def _loops(kernel: Kernel) -> tuple[int, ...]:
    """The axes that may be empty."""
    reduced = kernel.reductions[0].axes if kernel.reductions else ()
    return tuple(axis for axis in range(len(kernel.axes)) if axis not in reduced)


def _made(
    kernel: Kernel, name: str, words: tuple[Word, ...], past: int | None = None
) -> KernelFunction:
    work, loops = tuple(axis.extent for axis in kernel.axes), _loops(kernel)
    if kernel.in_order or not loops:
        return KernelFunction(name, words, 1, work, 1, 1)
    along = loops == (len(kernel.axes) - 1,)
    # columns of reduced rows stay together: shorter regions of each row take longer
    pieces = 1 if along and len(kernel.axes) > 1 else PIECES
    return KernelFunction(
        name, words, kernel.axes[loops[0]].extent, work, 64 if along else 1, pieces, past
    )


def _lanes(kernel: Kernel, target: Target) -> int:
    """A register of the widest type; two where there is little to do for each, so that loops cost
    less and narrow elements fill more of a register, or so much that processors do not look ahead
    to the next one while operations wait for each other."""
    extent = kernel.axes[-1].extent
    few = extent if isinstance(extent, int) else 2 * target.width
    if few < 4 or one_by_one(kernel):
        return 1
    lanes = max(1, target.width // max(widest(kernel), _filled(kernel)))
    places, operations = _places(kernel), _operations(kernel)
    simple = (
        target.width >= 32 and not kernel.in_order
        and (operations <= PAIRED or (target.masks and operations >= CHAINED))
        and all(p.buffer.dtype.kind != "c" and p.by is None for p in places)
        and all(p.at.coefficients[-1] in (0, 1) for p in places)
    )
    if simple:
        lanes = max(2 * lanes, *_wide(kernel, target))
    while lanes >= 2 * few:
        lanes //= 2
    return lanes


def _filled(kernel: Kernel) -> int:
    """Bytes of the widest element of a kernel that stores nothing but constants, or of those that
    are brought together in a register."""
    constants = all(isinstance(value, (Constant, SizeValue)) for value in kernel.values)
    sizes = [component(s.buffer.dtype).itemsize for s in kernel.stores if constants or s.packed]
    return max(sizes, default=1)


def _wide(kernel: Kernel, target: Target) -> list[int]:
    """Lanes of the wide versions of subprograms."""
    return [0, *(wide_lanes(target, v.attrs) for v in kernel.values
                 if isinstance(v, Apply) and isinstance(v.attrs, Subprogram))]


def _operations(kernel: Kernel) -> int:
    return sum(isinstance(v, Apply) for v in kernel.values)


def _places(kernel: Kernel) -> list[Store | Load]:
    return [*kernel.stores, *(v for v in kernel.values if isinstance(v, Load))]


def _by_length(f: LLVMFunction, slots: Slots, plan: NestPlan, short: NestPlan, begin: Value,
               end: Value) -> None:
    """Reduces short runs side by side, others one by one."""
    sides, ones, after = (f.name_for(stem) for stem in ("sides", "ones", "after"))
    f.branch(reduction_kernels.is_short(plan.kernel, SizeEmitter(slots)), sides, ones)
    f.label(sides)
    reduction_kernels.short_nest(LoopScope.outermost(short, f, slots), begin, end)
    f.jump(after)
    f.label(ones)
    reduction_kernels.nest(LoopScope.outermost(plan, f, slots), begin, end)
    f.jump(after)
    f.label(after)


def _nonempty(f: LLVMFunction, kernel: Kernel, axes: tuple[int, ...], slots: Slots, begin: Value,
              end: Value) -> Value:
    """Nothing may be computed, and raise flags, for no element."""
    some, sizes = f.icmp("slt", begin, end), SizeEmitter(slots)
    for axis in axes:
        some = f.binary("and", some, f.icmp("slt", i64(0), sizes(kernel.axes[axis].extent)))
    return some


def _packing_nest(scope: LoopScope, begin: Value, end: Value) -> None:
    """The same where elements are packed, and all must count those before them."""
    f, plan = scope.f, scope.plan
    count = f.alloca("i64")
    f.store(i64(0), count)
    packed = next(store.buffer for store in plan.kernel.stores if store.packed)
    # where few elements hold, most vectors have none; else branches would often go astray
    room = f.binary("mul", scope.sizes(packed.shape[0]), i64(FEW))
    many = f.select(f.icmp("sle", scope.sizes(plan.total), room), i64(-1), i64(0))

    def iterations(outer: LoopScope, first: Value, last: Value) -> None:
        if outer.depth < len(plan.order) - 1:
            with f.loop(first, last) as loop:
                inside = outer.enter(loop.index)
                iterations(inside, i64(0), inside.extent(plan.order[inside.depth]))
            return
        lanes = plan.lanes
        masked = lanes if masks_tail(plan) else 1
        whole = f.binary("and", last, i64(-lanes))
        with f.loop(first, whole, lanes, [f.load(count, "i64")]) as loop:
            inside = outer.enter(loop.index, lanes)
            inside.stores()
            loop.goes_on([inside.pack(loop.carried[0], many)])
        with f.loop(whole, last, masked, loop.results) as rest:
            valid = f.binary("sub", last, rest.index) if masked > 1 else None
            inside = outer.enter(rest.index, masked, valid)
            inside.stores()
            rest.goes_on([inside.pack(rest.carried[0], many)])
        f.store(rest.results[0], count)

    iterations(scope, begin, end)


def _nest(scope: LoopScope, begin: Value, end: Value) -> None:
    """The loops from this scope on; the next one from ``begin`` to ``end``."""
    if scope.depth == len(scope.plan.order) - 1:
        row(scope, begin, end, lambda inside: inside.stores())
        return
    if scope.depth == len(scope.plan.order) - 2 and _in_columns(scope.plan):
        _columns(scope, begin, end)
        return
    with scope.f.loop(begin, end) as loop:
        inside = scope.enter(loop.index)
        _nest(inside, i64(0), inside.extent(inside.plan.order[inside.depth]))


def _in_columns(plan: NestPlan) -> bool:
    """Whether the rows of a stencil are divided.  With more than one array, or two loads, as much
    is lost by it as is gained; on Intel's processors a tenth is lost with one, too."""
    alone = all(far is None for far in plan.ahead) and len(plan.rows) > 2
    return (alone and plan.target.foresees and plan.lanes > 1 and streams(plan)
            and len({v.buffer for v in plan.kernel.values if isinstance(v, Load)}) == 1)


def _columns(scope: LoopScope, begin: Value, end: Value) -> None:
    """The rows of a stencil.  Those that pass over much memory are divided into columns, in which
    the lines asked for are read out of the first cache and processors look ahead no rows of their
    own accord: the lines that they fetch are in the way (on Zen 5, half of the speed)."""
    f, plan = scope.f, scope.plan
    width, edge = scope.extent(plan.order[-1]), _edge(plan)
    assert edge is not None
    size, lanes = edge[0].dtype.itemsize, plan.lanes
    least = COLUMN // size
    count = f.binary("udiv", f.binary("add", width, i64(least // 2)), i64(least))
    even = f.binary("udiv", width, f.intrinsic("smax", count, i64(1)))
    even = f.binary("and", f.binary("add", even, i64(lanes)), i64(-lanes))
    column = f.select(_passes_much(plan, f, scope.slots), even, width)
    with f.loop(i64(0), width, column) as left:
        right = f.binary("add", left.index, column)
        with f.loop(begin, end) as loop:
            inside = scope.enter(loop.index)
            under = f.binary("sub", i64(0), _address(inside, edge, i64(0)))
            shift = f.binary("udiv", f.binary("and", under, i64(plan.target.width - 1)), i64(size))
            first, last = (
                f.intrinsic("smin", f.binary("add", bound, shift), width)
                for bound in (left.index, right)
            )
            first = f.select(f.icmp("eq", left.index, i64(0)), i64(0), first)
            last = f.select(f.icmp("slt", right, width), last, width)
            with f.when(f.icmp("slt", first, last)):
                row(inside, first, last, lambda inside: inside.stores())


def row(scope: LoopScope, begin: Value, end: Value, each: Callable[[LoopScope], None]) -> None:
    """A loop along lanes: whole vectors, then the rest in one masked (or in single steps)."""
    f, lanes = scope.f, scope.plan.lanes
    if lanes == 1:
        steps = scope.steps()
        paces = [scope.sizes(step) for step in steps]
        starts = [f.binary("mul", begin, pace) for pace in paces]
        with f.loop(begin, end, carried=starts) as loop:
            distances = dict(zip(steps, loop.carried, strict=True))
            each(scope.enter(loop.index, distances=distances))
            loop.goes_on([f.binary("add", d, p) for d, p in zip(loop.carried, paces, strict=True)])
        return
    edge = _edge(scope.plan)
    if pads(scope.plan):
        tails.row(scope, begin, end, *_vectors(scope, edge, begin, end))
        return
    if edge is not None and streams(scope.plan) and not _is_one_row(scope.plan):
        _row_of_several(scope, edge, begin, end)
        return
    if edge is not None:
        whole = _aligned_row(scope, edge, begin, end)
    else:
        count = f.binary("sub", end, begin)
        whole = f.binary("add", begin, f.binary("and", count, i64(-lanes)))
        with f.loop(begin, whole, lanes) as loop:
            each(_entered(scope, loop.index))
    if masks_tail(scope.plan):
        with f.when(f.icmp("slt", whole, end)):
            each(scope.enter(whole, lanes, f.binary("sub", end, whole)))
    else:
        with f.loop(whole, end) as loop:
            each(scope.enter(loop.index))


def _entered(scope: LoopScope, index: Value, written: Value | None = None) -> LoopScope:
    """A whole vector of a row; what is stored so many bytes later is asked for."""
    inside = scope.enter(index, scope.plan.lanes)
    inside.ask_ahead(AHEAD if _cost(scope.plan.kernel) >= BUSY else 0)
    if written is not None:
        inside.ask_to_write(written)
    return inside


# ------------------------------------------------------------------ aligned vectors


def _edge(plan: NestPlan) -> tuple[Buffer, Index] | None:
    """What vectors had better be aligned to, if they may overlap the first one: what is stored,
    else what is loaded, in whole registers."""
    kernel = plan.kernel
    loaded = {v.buffer for v in kernel.values if isinstance(v, Load)}
    if not kernel.stores or any(s.buffer in loaded or s.by is not None for s in kernel.stores):
        return None
    for place in _places(kernel):
        if (place.by is None and not place.at.part and place.at.coefficients[-1] == 1
                and place.buffer.dtype.itemsize * plan.lanes % plan.target.width == 0):
            return place.buffer, place.at
    return None


def _vectors(scope: LoopScope, edge: tuple[Buffer, Index] | None, begin: Value,
             end: Value) -> tuple[Value, Value]:
    """How far the second vector is from the first, and before where vectors begin; in long rows
    all but the first are aligned, and the second may overlap it.  Where much memory is passed over
    in one row there is only that one, and others are stored past the cache."""
    f, plan, lanes = scope.f, scope.plan, scope.plan.lanes
    stop = f.binary("sub", end, i64(lanes - 1))
    if edge is None:
        return i64(lanes), stop
    if _is_one_row(plan):
        return _vectors_of_one_row(scope, edge, begin, end, stop)
    long, short, after = (f.name_for(stem) for stem in ("long", "short", "after"))
    count = f.binary("sub", end, begin)
    f.branch(f.icmp("sle", i64(_least(plan) * lanes), count), long, short)
    f.label(long)
    within = f.binary("and", _best_edge(scope, edge, begin), i64(plan.target.width - 1))
    over = f.binary("udiv", within, i64(edge[0].dtype.itemsize))
    first = f.binary("sub", i64(lanes), over)
    f.jump(after)
    f.label(short)
    f.jump(after)
    f.label(after)
    return f.phi("i64", 1, (first, long), (i64(lanes), short)), stop


def _is_one_row(plan: NestPlan) -> bool:
    return len(plan.kernel.axes) == 1 and plan.total == plan.kernel.axes[0].extent


def _vectors_of_one_row(scope: LoopScope, edge: tuple[Buffer, Index], begin: Value, end: Value,
                        stop: Value) -> tuple[Value, Value]:
    """The same for a kernel of one row, which is short only if all is: without branches, which take
    long to compile."""
    f, plan, lanes = scope.f, scope.plan, scope.plan.lanes
    count, size = f.binary("sub", end, begin), edge[0].dtype.itemsize
    long = f.icmp("sle", i64(_least(plan) * lanes), count)
    address = _address(scope, edge, begin)
    inside = f.binary("and", address, i64(plan.target.width - 1))
    over = f.binary("lshr", inside, i64(size.bit_length() - 1))
    first = f.select(long, f.binary("sub", i64(lanes), over), i64(lanes))
    if not streams(plan):
        return first, stop
    past = f.binary("and", long, _passes_much(plan, f, scope.slots))
    if size > 1:
        odd = f.binary("and", address, i64(size - 1))
        past = f.binary("and", past, f.icmp("eq", odd, i64(0)))
    if len(plan.kernel.stores) > 1:
        past = f.binary("and", past, _side_by_side(scope, edge, address, begin))
    return first, f.select(past, f.binary("add", begin, i64(lanes + 1)), stop)


def _least(plan: NestPlan) -> int:
    """Vectors of a row that are worth one more."""
    return max(2, weight(plan.kernel) // 2)


def _address(scope: LoopScope, edge: tuple[Buffer, Index], begin: Value) -> Value:
    return scope.f.op(f"ptrtoint {scope.first(*edge, begin).typed} to i64", "i64")


def _best_edge(scope: LoopScope, edge: tuple[Buffer, Index], begin: Value) -> Value:
    """The address of what vectors had better be aligned to.  Loads are what stencils wait for: if
    two or more begin lines together, their vectors cross none and those that are stored may."""
    f, plan, stored = scope.f, scope.plan, _address(scope, edge, begin)
    alone = register_shift.beside(plan.kernel, plan.runs)
    if len(alone) < 2 or alone[0].buffer.dtype != edge[0].dtype:
        return stored
    first, *others = alone
    apart = i64(0)
    for other in others:
        apart = f.binary("or", apart, scope.sizes(other.at.offset - first.at.offset))
    apart = f.binary("and", apart, i64(plan.target.width // edge[0].dtype.itemsize - 1))
    loaded = _address(scope, (first.buffer, first.at), begin)
    return f.select(f.icmp("eq", apart, i64(0)), loaded, stored)


def _side_by_side(
    scope: LoopScope, edge: tuple[Buffer, Index], first: Value, begin: Value
) -> Value:
    """Whether all that is stored begins vectors where the first does, at ``first``."""
    f, apart = scope.f, i64(0)
    for store in scope.plan.kernel.stores:
        if (store.buffer, store.at) != edge:
            other = _address(scope, (store.buffer, store.at), begin)
            apart = f.binary("or", apart, f.binary("xor", first, other))
    apart = f.binary("and", apart, i64(scope.plan.target.width - 1))
    return f.icmp("eq", apart, i64(0))


def _passes_much(plan: NestPlan, f: LLVMFunction, slots: Slots) -> Value:
    """Whether the output does not stay in the cache anyway."""
    return f.icmp("slt", i64(_streaming_from(plan)), SizeEmitter(slots)(plan.total))


def _aligned_row(scope: LoopScope, edge: tuple[Buffer, Index], begin: Value, end: Value) -> Value:
    """Whole vectors of a row; where the rest of it begins."""
    f, plan, lanes = scope.f, scope.plan, scope.plan.lanes
    first, once = _vectors(scope, edge, begin, end)
    written = scope.written_ahead()
    with f.loop(begin, once, lanes, first=first) as loop:
        _entered(scope, loop.index, written).stores()
    if not streams(plan):
        return loop.end
    stop = f.binary("sub", end, i64(lanes - 1))
    then = f.select(f.icmp("slt", once, stop), stop, begin)
    with f.loop(loop.end, then, lanes, first=i64(lanes)) as past:
        _past_the_cache(scope, past.index)
    return past.end


def _row_of_several(scope: LoopScope, edge: tuple[Buffer, Index], begin: Value, end: Value) -> None:
    """A row that is stored past the cache, its ends too, where rows pass over much memory: a line
    that is to be read before it is written holds up all others."""
    f, plan, lanes = scope.f, scope.plan, scope.plan.lanes
    look, near, ends = f.name_for("look"), f.name_for("near"), f.name_for("ends")
    f.branch(_passes_much(plan, f, scope.slots), look, near)
    f.label(look)
    aligned, goes = _past(scope, edge, begin, end)
    looked = f.block
    f.branch(goes, ends, near)
    f.label(near)
    first, stop = _vectors(scope, edge, begin, end)
    written = scope.written_ahead()
    with f.loop(begin, stop, lanes, first=first) as loop:
        _entered(scope, loop.index, written).stores()
    there = f.block
    f.jump(ends)
    f.label(ends)
    start = f.phi("i64", 1, (begin, looked), (loop.end, there))
    until = f.phi("i64", 1, (aligned, looked), (end, there))
    past = f.phi("i1", 1, (literal("i1", True), looked), (literal("i1", False), there))
    stop = f.binary("sub", end, i64(lanes - 1))
    with f.cycle([start, until]) as running:
        start, until = running.carried
        if masks_tail(plan):
            with f.when(f.icmp("slt", start, until)):
                scope.enter(start, lanes, f.binary("sub", until, start)).stores(past=past)
        else:
            with f.loop(start, until) as single:
                scope.enter(single.index).stores()
        with f.loop(until, stop, lanes, first=i64(lanes)) as loop:
            _past_the_cache(scope, loop.index)
        running.goes_on([loop.end, end])
        running.repeats(f.icmp("slt", loop.end, end))


def _past(scope: LoopScope, edge: tuple[Buffer, Index], begin: Value,
          end: Value) -> tuple[Value, Value]:
    """Where a row's aligned vectors begin, and whether it is worth storing past the cache; if its
    elements are narrow, its ends are not."""
    f, plan, size = scope.f, scope.plan, i64(edge[0].dtype.itemsize)
    address, within = _address(scope, edge, begin), i64(plan.target.width - 1)
    under = f.binary("and", f.binary("sub", i64(0), address), within)
    aligned = f.intrinsic("smin", f.binary("add", begin, f.binary("udiv", under, size)), end)
    fits = f.icmp("eq", f.binary("urem", address, size), i64(0))
    fits = f.binary("and", fits, _side_by_side(scope, edge, address, begin))
    least = plan.lanes * (LONG if narrow_memory(plan.kernel) else 1)
    worth = f.icmp("sle", i64(least), f.binary("sub", end, begin))
    return aligned, f.binary("and", fits, worth)


def _past_the_cache(scope: LoopScope, index: Value) -> None:
    """A whole vector; processors that store past the cache look less far themselves, and on Zen in
    light kernels loads that cross lines bring the next ones sooner than those put together, but
    where the next ones are there."""
    plan = scope.plan
    waits = bool(plan.products) and square_roots.hidden(plan.kernel, plan.products)
    columns = _in_columns(plan)
    light = plan.target.foresees and not columns and _operations(plan.kernel) <= PAIRED
    loaded = None if light else scope.loaded
    inside = replace(scope, waits=waits, loaded=loaded).enter(index, plan.lanes)
    soon = not plan.target.foresees and _cost(plan.kernel) < BUSY
    inside.ask_ahead(0 if _foreseen(plan) else SOON if soon else AHEAD, columns)
    inside.stores(streaming=True)


def _foreseen(plan: NestPlan) -> bool:
    """Whether what is read will be there without being asked for, as where several arrays are read
    and several stored, which hold up each other."""
    read = {access.split(v.buffer, v.at)[0] for v in plan.kernel.values
            if isinstance(v, Load) and v.by is None and v.at.coefficients[-1] == 1}
    several = len(read) > 1 and len(plan.kernel.stores) > 1
    return plan.target.foresees and not plan.rows and several


def streams(plan: NestPlan) -> bool:
    """Whether a kernel might store past the cache: light, and fresh output in whole
    vectors."""
    kernel = plan.kernel
    loaded = {v.buffer for v in kernel.values if isinstance(v, Load)}
    return (
        plan.total != 0
        and 1 <= len(kernel.stores) <= STREAMS
        and len({s.buffer for s in kernel.stores}) == len(kernel.stores)
        and len({s.buffer.dtype.itemsize for s in kernel.stores}) == 1
        and plan.target.width >= 32
        and _operations(kernel) <= LIGHT
        and all(
            s.mask is None and s.by is None and not s.packed
            and not s.at.part and s.at.coefficients[-1] == 1
            and s.buffer not in loaded
            and s.buffer.dtype.itemsize * plan.lanes % plan.target.width == 0
            for s in kernel.stores
        )
    )


def _streaming_from(plan: NestPlan) -> int:
    """Elements from which on the output does not stay in near caches anyway; of less it often is
    there from the last iteration, and stores that go past the caches wait until it left.  New
    results are in there twice: those of the last call are mostly in use until the next ones are
    ready."""
    new = {s.buffer for s in plan.kernel.stores if s.buffer.kind == "result"}
    again = sum(buffer.dtype.itemsize for buffer in new)
    return plan.target.near // (plan.touched() + again)
