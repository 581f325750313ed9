"""Program to program: each pass takes a draft and gives its statements, their order is data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from npcompile.core.facts import Facts
from npcompile.core.paths import import_path
from npcompile.core.records import field, record
from npcompile.core.sizes import Symbol
from npcompile.program.ir import Buffer, Exit, For, If, Result, RoutineCall, Statement, While
from npcompile.program.results import result_buffers
from npcompile.schedule.memory.allocate import reads, touched

if TYPE_CHECKING:
    from npcompile.schedule.fusion.row_blocks import Fusion
    from npcompile.schedule.fusion.shared_matrices import SharedMatrices
    from npcompile.schedule.loops.extreme_unrolling import Extremes
    from npcompile.schedule.loops.parallel_loops import Independent
    from npcompile.schedule.loops.scalar_replacement import ScalarReplacement
    from npcompile.schedule.loops.vector_loops import Raised
    from npcompile.schedule.loops.wavefront import Wavefronts
    from npcompile.schedule.memory.shared_temporaries import SharedMemory

Body = tuple[Statement, ...]


@record(eq=False, frozen=False)
class Draft:
    """A program before and between passes.

    ``kept`` are buffers that are needed after the program, ``lasting`` the results and the arrays
    whose flags are needed among them, ``owned`` those that results take over.  ``handed`` is what
    Python gets at the end and at side exits that are tested.  ``carried`` are the buffers that
    iterations of each loop leave to the next ones, ``local`` those that an iteration makes.
    ``together``: kernels may share loops; ``threads``: iterations may run side by side;
    ``rounds``: products may round otherwise than a library's.
    Passes add to ``buffers``, ``notes`` and ``smaller``, which maps buffers to their remainders.
    """

    facts: Facts
    body: Body
    exits: Sequence[Exit]
    handed: Sequence[Result]
    kept: Sequence[Buffer]
    lasting: Sequence[Buffer]
    owned: Sequence[Buffer]
    carried: dict[Symbol, set[Buffer]]
    local: dict[Symbol | Buffer, set[Buffer]]
    together: bool
    threads: bool
    rounds: bool = True
    buffers: list[Buffer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    smaller: dict[Buffer, Buffer] = field(default_factory=dict)

    def touched(self) -> Counter[Buffer]:
        """How often each buffer is touched, by statements and by what is handed to Python."""
        count = Counter(buffer for statement in self.body for buffer in touched(statement))
        count.update(buffer for result in self.handed for buffer in result_buffers(result))
        return count

    def reads(self) -> Counter[Buffer]:
        """How often each number is read, by statements and by what is handed to Python."""
        numbers = reads(self.body)
        for held in self.handed:
            numbers.update(result_buffers(held))
        return numbers

    def leaving(self) -> Set[Buffer]:
        """The buffers that any side exit hands to Python."""
        return {b for e in self.exits for held in e.held() for b in result_buffers(held)}

    def rewrite(self, body: Body) -> None:
        """Takes the statements that a pass gives."""
        self.body = body

    def add(
        self, buffers: Sequence[Buffer] = (), notes: Sequence[str] = (),
        smaller: Mapping[Buffer, Buffer] | None = None,
    ) -> None:
        """Takes the buffers and notes that a pass has made."""
        self.buffers += buffers
        self.notes += notes
        self.smaller |= smaller or {}


def _share_matrices(draft: Draft, transformer: type[SharedMatrices]) -> Body:
    shared = transformer(
        draft.facts, draft.touched() + Counter(draft.kept) + Counter(draft.leaving()))
    body = shared.block(draft.body)
    draft.add(shared.made, shared.notes)
    return body


def _fuse(draft: Draft, transform: Callable[..., tuple[list[Statement], Fusion]]) -> Body:
    body, fusion = transform(draft.facts, draft.body, draft.kept, draft.together, draft.exits,
                             draft.rounds)
    draft.add(fusion.made, fusion.notes, fusion.smaller)
    return tuple(body)


def _vectorize_loops(draft: Draft, transformer: type[Raised]) -> Body:
    loops = transformer(draft.touched())
    body = loops.block(draft.body)
    draft.add(loops.made)
    return body


def _replace_scalars(draft: Draft, transformer: type[ScalarReplacement]) -> Body:
    replacement = transformer()
    body = replacement.block(draft.body)
    draft.add(replacement.made)
    return body


def _unroll(draft: Draft, transform: Callable[[Body], Body]) -> Body:
    return transform(draft.body)


def _parallelize(draft: Draft, transformer: type[Independent]) -> Body:
    loops = transformer(
        draft.facts, draft.exits, draft.touched(), draft.reads(), draft.carried)
    body = loops.block(draft.body)
    draft.add(loops.made, loops.notes)
    return body


def _skew(draft: Draft, transformer: type[Wavefronts]) -> Body:
    waves = transformer(draft.facts, draft.exits, draft.reads())
    body = waves.block(draft.body)
    draft.add(waves.made, waves.notes)
    return body


def _unroll_extremes(draft: Draft, transformer: type[Extremes]) -> Body:
    extremes = transformer(draft.exits, draft.reads())
    body = extremes.block(draft.body)
    draft.add(extremes.made)
    return body


def _share_memory(draft: Draft, transformer: type[SharedMemory]) -> Body:
    kept = {*draft.lasting, *draft.leaving()}
    return transformer(draft.facts, draft.local, draft.body, kept).block(draft.body)


def _allocate(draft: Draft, transform: Callable[..., Body]) -> Body:
    return transform(draft.body, draft.owned)


def everywhere(draft: Draft) -> bool:
    return True


def has_loops(draft: Draft) -> bool:
    """Whether the program may have loops; a statement of another kind holds none."""
    return any(isinstance(statement, (For, While, If)) for statement in draft.body)


def shares_loops(draft: Draft) -> bool:
    """Whether kernels may share loops: not on a device with many lanes."""
    return draft.together


def has_several(draft: Draft) -> bool:
    """Whether there are statements that may share loops."""
    return shares_loops(draft) and (len(draft.body) > 1 or has_loops(draft))


def has_products(draft: Draft) -> bool:
    """Whether there may be several products whose rounding nobody knows."""
    return has_several(draft) and draft.rounds and any(
        isinstance(statement, (RoutineCall, For, While, If)) for statement in draft.body)


def has_serial_loops(draft: Draft) -> bool:
    return shares_loops(draft) and has_loops(draft)


def has_threads(draft: Draft) -> bool:
    return draft.threads and has_loops(draft)


@record
class ProgramPass:
    """``run`` gives the statements by means of the function or class at the import path ``uses``,
    whose module is imported when the pass first runs; ``reason`` says why it stands where it does;
    ``where`` says for which programs it runs."""

    name: str
    run: Callable[[Draft, Any], Body]
    uses: str
    reason: str
    where: Callable[[Draft], bool] = everywhere


_FUSION, _LOOPS, _MEMORY = (f"npcompile.schedule.{room}." for room in ("fusion", "loops", "memory"))
PASSES = (
    ProgramPass("shared matrices", _share_matrices, _FUSION + "shared_matrices:SharedMatrices",
                "products are statements of their own until here", has_products),
    ProgramPass("fusion", _fuse, _FUSION + "fuse:fuse", "the other passes look at whole kernels",
                has_several),
    ProgramPass("vector loops", _vectorize_loops, _LOOPS + "vector_loops:Raised",
                "a loop that becomes a kernel has no iterations", has_loops),
    ProgramPass("scalar replacement", _replace_scalars,
                _LOOPS + "scalar_replacement:ScalarReplacement",
                "loops that are kernels carry nothing", has_loops),
    ProgramPass("unrolling", _unroll, _LOOPS + "small_kernels:unrolled",
                "small kernels in loops are statements from here on", has_serial_loops),
    ProgramPass("parallel loops", _parallelize, _LOOPS + "parallel_loops:Independent",
                "dependences are those of the final statements", has_threads),
    ProgramPass("wavefronts", _skew, _LOOPS + "wavefront:Wavefronts",
                "only loops that are not parallel as they are", has_serial_loops),
    ProgramPass("extremes", _unroll_extremes, _LOOPS + "extreme_unrolling:Extremes",
                "only loops that stay serial", has_serial_loops),
    ProgramPass("shared memory", _share_memory, _MEMORY + "shared_temporaries:SharedMemory",
                "no pass that follows makes temporaries"),
    ProgramPass("allocation", _allocate, _MEMORY + "allocate:allocate",
                "memory is taken and freed around final statements"),
)


def run(draft: Draft) -> Draft:
    """The draft after all passes."""
    for step in PASSES:
        if step.where(draft):
            draft.rewrite(step.run(draft, import_path(step.uses)))
    return draft
