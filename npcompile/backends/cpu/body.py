"""A program as ``define i64 @body(ptr %frame)``: statements in order (see :mod:`.frame`).

Whoever calls clears the slots of temporaries and results first.  Every way out frees the
temporaries that are left; result arrays are the caller's, however the body ends.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.llvm.frame import DONE, RAISED, SHORT, FrameLayout
from npcompile.backends.cpu.llvm.sizes import SizeEmitter, Slots, bytes_of, fill
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64
from npcompile.backends.cpu.loops import work_estimate
from npcompile.backends.cpu.loops.python_objects import (
    ARRAY_DATA,
    NULL,
    Objects,
    adopt,
    new_array,
)
from npcompile.backends.cpu.loops.registers import Registers, Use
from npcompile.backends.cpu.loops.statements import ROUTINES, Statements, scalar_loops
from npcompile.backends.cpu.parallel import gil
from npcompile.backends.cpu.parallel.parallel_cost import Company
from npcompile.backends.target import Target
from npcompile.core.paths import defer, import_path
from npcompile.core.records import record
from npcompile.core.sizes import product
from npcompile.graph.types import c_strides
from npcompile.program import contents
from npcompile.program.ir import (
    Alloc,
    Buffer,
    Call,
    Edge,
    For,
    Kernel,
    Program,
    RoutineCall,
    SideExit,
    Statement,
    While,
)

if TYPE_CHECKING:
    from npcompile.backends.cpu import moves
    from npcompile.backends.cpu.linalg.routine_calls import Routines
    from npcompile.backends.cpu.loops import control_flow, external_calls, signal_polls
    from npcompile.backends.cpu.parallel import parallel_for
else:
    defer(globals(), "npcompile.backends.cpu", "moves")
    defer(globals(), "npcompile.backends.cpu.loops", "control_flow", "external_calls",
          "signal_polls")
    defer(globals(), "npcompile.backends.cpu.parallel", "parallel_for")

ROOM, ROOMS = 2048, 8  # bytes of one on the stack, and how many


@record
class Emitted:
    """LLVM text with ``@body``; ``objects[N]`` says what ``@obj.N`` must be when it is loaded;
    ``optimise`` names the functions that LLVM passes help, ``routines`` the modules of routines of
    linear algebra that are called."""

    text: str
    objects: tuple[object, ...] = ()
    optimise: tuple[str, ...] = ()
    routines: tuple[str, ...] = ()


class ProgramBody(Statements):
    """Writes a program; ``parallel`` kernels are run by ``@npc_pool_call``; ``own``: products of
    matrices take nothing from a library; ``releases``: the caller holds the GIL, and other threads
    may have it where it is not needed."""

    def __init__(self, program: Program, frame: FrameLayout, target: Target, parallel: bool,
                 own: bool, releases: bool) -> None:
        self.module = LLVMModule()
        f = LLVMFunction(self.module, "body", "i64", [("ptr", "frame")], internal=False)
        use = Use(program)
        super().__init__(f, Registers(f, frame, f.params[0], program, use), program, target)
        self.lent, self.company = use.lent, Company(program)
        self.frame, self.parallel = frame, parallel
        self.objects = Objects()
        self.calls: external_calls.HostCalls | None = None  # made for the first one
        self.own = own
        self.routines: Routines | None = None  # a program without routines does not import them
        self.called: set[str] = set()  # modules of routines that iterations of loops call
        self.kernels = 0
        self.made: dict[Kernel, kernel_functions.KernelFunction] = {}  # in parallel loops
        self.optimise: list[str] = []
        self.rooms: dict[Buffer, Value] = {}  # on the stack, of temporaries in loops
        self.status = f.alloca("i64")
        self.shared = f.alloca("i64", 3)  # with the iterations of a parallel loop
        self.failures: set[str] = set()  # labels to go to
        self.exits = 0  # functions that leave for Python
        self.departs = False  # whether one of them is being written
        self.regions = gil.Regions()
        releases = releases and not contents.relied_on(program)
        releases = releases and self.regions.worth(program.body)
        self.gil = gil.Gil(f) if releases else None
        self.divides = releases  # whether the block is to be divided into regions

    def emit(self, thorough: bool = False) -> Emitted:
        """The text; ``thorough``: it is worth a compile that takes longer."""
        f = self.f
        self.block(self.program.body)
        self.slots.flush(self.program.result)
        self.leave(i64(DONE))
        self.fail_here()
        f.label("leave")
        first, count = self.frame.temporaries
        rooms = self.slots.address(first)
        if count:
            with f.loop(i64(0), i64(count)) as iteration:  # null if one is not there
                self.give(f.load(f.offset(rooms, "ptr", iteration.index), "ptr"))
        self.take_gil()
        f.do(f"ret i64 {f.load(self.status, 'i64').text}")
        scalar = scalar_loops(self.program.body)
        optimise = (*self.optimise, "body") if scalar else tuple(self.optimise)
        f.hurry(not thorough and self.hasty(scalar))
        used = sorted(self.called | (self.routines.used if self.routines else set()))
        return Emitted(self.module.text(), tuple(self.objects.listed), optimise, tuple(used))

    def leave(self, status: Value) -> None:
        """Frees what is left and returns."""
        if self.departs:
            self.f.do(f"ret {status.typed}")
            return
        self.f.store(status, self.status)
        self.f.jump("leave")

    def depart(self, way: SideExit | Edge) -> None:
        """Leaves by a function of its own where arrays are made: LLVM's passes on the loops around
        would take long for code that seldom runs."""
        if self.departs or not any(isinstance(s, Alloc) for s in way.leaving):
            super().depart(way)
            return
        failures, self.failures, self.departs = self.failures, set(), True
        with self.module.in_haste(isinstance(way, Edge)):  # which only a signal takes
            status = self.f.outline(f"exit.{self.exits}", lambda: self.write_exit(way))
        self.failures, self.departs = failures, False
        self.exits += 1
        self.leave(status)

    def write_exit(self, way: SideExit | Edge) -> None:
        super().depart(way)
        self.fail_here()

    def fail_here(self) -> None:
        """Writes the blocks that failures go to."""
        f = self.f
        if "unmade" in self.failures:
            f.label("unmade")
            f.run("PyErr_Clear")
            self.fail("memory")
        if "memory" in self.failures:
            f.label("memory")
            self.leave(i64(SHORT))
        if "raised" in self.failures:
            f.label("raised")
            self.leave(i64(RAISED))

    def fail(self, label: str) -> None:
        """Leaves with an exception that is set (``raised``), or because an array could not be made
        (``unmade``, which has set one) or other memory is short (``memory``)."""
        self.failures.add(label)
        self.f.jump(label)

    def fail_if(self, condition: Value, label: str) -> None:
        self.failures.add(label)
        on = self.f.name_for("on")
        self.f.branch(condition, label, on)
        self.f.label(on)

    # ------------------------------------------------------------------ the GIL

    def block(self, body: tuple[Statement, ...]) -> None:
        if self.gil is None or not self.divides:
            super().block(body)
            return
        for part in self.regions.of(body, not self.depth):
            if part.work is not None and part.worth:
                self.gil.release(self.size(part.work))
            self.divides = part.work is None
            super().block(part.statements)
            self.divides = True

    def repeat(self, loop: While) -> None:
        inner = self.depth > 0
        super().repeat(loop)
        if inner and self.gil is not None and loop.edge is None and not loop.short:
            self.gil.look()  # in the loop it would keep LLVM from its work on it

    def again(self, loop: While) -> Value:
        if self.gil is not None and loop.edge is None and not loop.short:
            # else the poll releases it, or it takes little
            self.gil.count()
            if self.depth == 1:
                self.gil.look()
        return super().again(loop)

    @property
    def released(self) -> Value:
        return NULL if self.gil is None else self.gil.state

    def take_gil(self) -> None:
        """Takes the GIL back where something needs Python."""
        if self.gil is not None:
            self.gil.take()

    def iterations(self, loop: For) -> None:
        f, name = self.f, self.name()
        if parallel_for.emit(
            self.module, self.slots, self.program, loop, name, self.target, self.made, self.called
        ) and not self.module.hasty:
            self.optimise.append(name)
        flags = f.alloca("i32")
        if loop.failed is not None:
            f.run("npc.fp.save", flags)
        f.store(self.slots.pointer, self.shared)
        status = f.offset(self.shared, "i64", i64(1))
        f.store(i64(DONE), status)
        if loop.edge is None:
            self.run_iterations(name, loop, i64(0), self.trips(loop))
        else:
            self.iterations_in_pieces(name, loop, loop.edge)
        left = f.load(status, "i64")
        if loop.failed is not None:
            fails = f.icmp("sle", i64(0), left)
            with f.when(fails):  # what else iterations have raised is not to be seen
                f.run("npc.fp.restore", flags)
            self.slots.set_number(loop.failed, (fails,))
        elif parallel_for.leaves(loop):
            out, on = f.name_for("out"), f.name_for("on")
            f.branch(f.icmp("slt", left, i64(0)), on, out, likely=True)
            f.label(out)
            self.leave(left)
            f.label(on)
        self.fail_if(f.icmp("eq", left, i64(parallel_for.MEMORY)), "memory")
        for number, _ in loop.folds:
            if self.slots.holds(number):
                self.slots.numbers[number] = Slots.number(self.slots, number)

    def trips(self, loop: For) -> Value:
        sizes = SizeEmitter(self.slots)
        return kernel_functions.trips(self.f, sizes(loop.start), sizes(loop.stop), sizes(loop.step))

    def iterations_in_pieces(self, name: str, loop: For, edge: Edge) -> None:
        """Runs some iterations of a loop after others, so that it may be left between them."""
        f, slots, sizes = self.f, self.slots, SizeEmitter(self.slots)
        trips, start, step = self.trips(loop), sizes(loop.start), sizes(loop.step)
        each = f.intrinsic("smax", sizes(work_estimate.iteration(loop)), i64(1))
        threads = f.load(self.module.extern("npc_pool_limit"), "i64") if self.parallel else i64(1)
        piece = f.intrinsic("smax", f.op(f"sdiv i64 {signal_polls.PIECE}, {each.text}", "i64"),
                            f.binary("mul", threads, i64(signal_polls.ITERATIONS)))
        with f.cycle([i64(0)]) as running, slots.inside():
            (begin,) = running.carried
            end = f.intrinsic("smin", trips, f.binary("add", begin, piece))
            self.run_iterations(name, loop, begin, f.binary("sub", end, begin))
            status = f.load(f.offset(self.shared, "i64", i64(1)), "i64")
            whole = f.icmp("eq", status, i64(DONE))
            running.repeats(f.binary("and", whole, f.icmp("slt", end, trips)))
            after, on = f.name_for("piece"), f.name_for("on")
            f.branch(running.again, after, on)
            f.label(after)
            with slots.inside():
                for number, _ in loop.folds:
                    if slots.holds(number):
                        slots.numbers[number] = Slots.number(slots, number)
                slots.set_symbol(loop.symbol, f.binary("add", start, f.binary("mul", end, step)))
                control_flow.edge(self, edge, i64(signal_polls.MANY))
            f.jump(on)
            f.label(on)
            running.goes_on([end])

    def run_iterations(self, name: str, loop: For, begin: Value, trips: Value) -> None:
        """Calls the function of a loop for some iterations, by threads if there is enough to do."""
        f, sizes = self.f, SizeEmitter(self.slots)
        f.store(begin, f.offset(self.shared, "i64", i64(2)))
        effort = f.binary("mul", sizes(work_estimate.iteration(loop)), trips)
        much = f.icmp("slt", i64(kernel_functions.PARALLEL_WORK), effort)
        function = Value(f"@{name}", "ptr")
        if not self.parallel:
            f.run_here(name, self.shared, i64(0), trips)
        elif parallel_for.uneven(loop):
            f.run("npc_pool_share", function, self.shared, trips, much)
        else:
            f.run("npc_pool_call", function, self.shared, trips, i64(1), i64(1), much)

    def name(self) -> str:
        """A new name of a function."""
        self.kernels += 1
        return f"k{self.kernels - 1}"

    def call(self, statement: RoutineCall | Call) -> None:
        if isinstance(statement, RoutineCall):
            if self.routines is None:
                self.routines = import_path(ROUTINES)(self.slots, self.own)
            self.routines.emit(statement)
        else:
            self.take_gil()
            if self.calls is None:
                leave = partial(self.fail, "raised")
                self.calls = external_calls.HostCalls(self.slots, self.objects, leave)
            self.calls.emit(statement)

    # ------------------------------------------------------------------ memory

    def free(self, buffer: Buffer) -> None:
        if buffer.kind == "owned":
            self.take_gil()
            self.f.run("Py_DecRef", self.slots.object(buffer))
            self.slots.set_object(buffer, NULL)
            return
        self.give(self.slots.data(buffer))
        self.slots.set_data(buffer, NULL)

    def give(self, memory: Value) -> None:
        """Gives memory back, but what is on the stack."""
        f = self.f
        if not self.rooms:
            f.run("npc_give", memory)
            return
        first, at = (f.convert("ptrtoint", p, "i64") for p in (self.stack, memory))
        outside = f.icmp("ule", i64(ROOM * ROOMS), f.binary("sub", at, first))
        with f.when(outside):
            f.run("npc_give", memory)

    def alloc(self, buffer: Buffer) -> None:
        if buffer.kind == "temp":
            self.alloc_temp(buffer)
        else:
            self.alloc_result(buffer)

    def alloc_temp(self, buffer: Buffer) -> None:
        f = self.f
        bytes_ = bytes_of(self.slots, buffer)
        room = self.room(buffer)
        if room is None:
            self.slots.set_data(buffer, self.fetched(bytes_))
            return
        before = f.block
        with f.when(f.icmp("slt", i64(ROOM), bytes_)):
            large, block = self.fetched(bytes_), f.block
        self.slots.set_data(buffer, f.phi("ptr", 1, (room, before), (large, block)))

    def fetched(self, bytes_: Value) -> Value:
        memory = self.f.call("npc_take", ("ptr", 1), bytes_)
        self.fail_if(self.f.icmp("eq", memory, NULL), "memory")
        return memory

    def room(self, buffer: Buffer) -> Value | None:
        """Room on the stack for a temporary of each iteration that may be small: to take and give
        memory would cost more than to fill it."""
        if not self.depth or buffer in self.lent:
            return None
        if not self.rooms:
            self.stack = self.f.alloca("i8", ROOM * ROOMS)
        if buffer not in self.rooms and len(self.rooms) < ROOMS:
            with self.f.at_entry():
                at = i64(ROOM * len(self.rooms))
                self.rooms[buffer] = self.f.offset(self.stack, "i8", at)
        return self.rooms.get(buffer)

    def alloc_result(self, buffer: Buffer) -> None:
        self.take_gil()
        made = self.there(new_array(self.f, buffer.dtype, *self.lengths(buffer)))
        if self.depth:  # made anew in every iteration
            self.f.run("Py_DecRef", self.slots.object(buffer))
        self.set_array(buffer, made)

    def lengths(self, buffer: Buffer) -> tuple[list[Value], list[Value] | None]:
        """The shape and the strides of an array object."""
        sizes, strides = SizeEmitter(self.slots), None
        if buffer.strides != c_strides(buffer.shape):
            strides = [sizes(s * buffer.dtype.itemsize) for s in buffer.strides]
        return [sizes(n) for n in buffer.shape], strides

    def there(self, made: Value) -> Value:
        """An array object, if it could be made."""
        self.fail_if(self.f.icmp("eq", made, NULL), "unmade")
        return made

    def set_array(self, buffer: Buffer, made: Value) -> None:
        self.slots.set_object(buffer, made)
        place = self.f.offset(made, "i8", i64(ARRAY_DATA))
        self.slots.set_data(buffer, self.f.load(place, "ptr"))

    def make(self, leaving: tuple[Statement, ...]) -> None:
        leaving = tuple(moves.apart(leaving))
        moved = moves.moved(leaving, self.rooms)
        filled = {move.target for move in moved.values()}
        for statement in leaving:
            if isinstance(statement, Kernel) and statement in moved:
                self.move(moved[statement])
            elif not (isinstance(statement, Alloc) and statement.buffer in filled):
                self.block((statement,))

    def move(self, move: moves.Move) -> None:
        """Hands the memory of a buffer to an array of its layout."""
        slots, source, target = self.slots, move.source, move.target
        if source.kind == "result":
            made = slots.object(source)
            slots.set_object(source, NULL)
        else:
            bytes_ = bytes_of(slots, source)
            self.take_gil()
            memory = slots.data(source)
            slots.set_data(source, NULL)
            made = self.there(
                adopt(self.f, target.dtype, *self.lengths(target), memory, bytes_))
        self.set_array(target, made)

    # ------------------------------------------------------------------ kernels

    def run(self, kernel: Kernel) -> None:
        each, enough = self.company.weighed(kernel)
        made = kernel_functions.emit(self.module, kernel, self.name(), self.target, self.parallel,
                            least=enough // each)
        self.count(product(made.work))
        f, sizes = self.f, SizeEmitter(self.slots)
        extent, block = sizes(made.extent), fill(self.slots, made.words)
        if made.extent == 1 or not self.parallel:
            f.run_here(made.name, block, i64(0), extent)
            return
        effort = sizes(product(made.work) * each)
        much = f.icmp("slt", i64(enough), effort)
        function = Value(f"@{made.name}", "ptr")
        worth = f.binary("lshr", effort, i64(kernel_functions.PARALLEL_WORK.bit_length()))
        pieces = f.intrinsic("smin", worth, i64(made.pieces))
        f.run("npc_pool_call", function, block, extent, i64(made.unit), pieces, much)
