"""Program to program: each pass takes a draft and gives its statements, their order is data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set

from npcompile.core.facts import Facts
from npcompile.core.records import field, record
from npcompile.core.sizes import Symbol
from npcompile.program.ir import Buffer, Exit, Result, Statement
from npcompile.program.verify import result_buffers
from npcompile.schedule.fusion.fuse import fuse
from npcompile.schedule.loops.extreme_unrolling import Extremes
from npcompile.schedule.loops.parallel_loops import Independent, reads
from npcompile.schedule.loops.scalar_replacement import ScalarReplacement
from npcompile.schedule.loops.small_kernels import unrolled
from npcompile.schedule.loops.vector_loops import Raised
from npcompile.schedule.loops.wavefront import Wavefronts
from npcompile.schedule.memory.allocate import allocate, touched
from npcompile.schedule.memory.shared_temporaries import SharedMemory

Body = tuple[Statement, ...]


@record(eq=False, frozen=False)
class Draft:
    """A program before and between passes.

    ``kept`` are buffers that are needed after the program, ``lasting`` the results and the arrays
    whose flags are needed among them, ``owned`` those that results take over.  ``handed`` is what
    Python gets at the end and at side exits that are tested.  ``carried`` are the buffers that
    iterations of each loop leave to the next ones, ``local`` those that an iteration makes.
    ``together``: kernels may share loops; ``threads``: iterations may run side by side.
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

    def add(
        self, buffers: Sequence[Buffer] = (), notes: Sequence[str] = (),
        smaller: Mapping[Buffer, Buffer] | None = None,
    ) -> None:
        """Takes the buffers and notes that a pass has made."""
        self.buffers += buffers
        self.notes += notes
        self.smaller |= smaller or {}


def _fuse(draft: Draft) -> Body:
    body, fusion = fuse(draft.facts, draft.body, draft.kept, draft.together)
    draft.add(fusion.made, fusion.notes, fusion.smaller)
    return tuple(body)


def _vectorize_loops(draft: Draft) -> Body:
    loops = Raised(draft.touched())
    body = loops.block(draft.body)
    draft.add(loops.made)
    return body


def _replace_scalars(draft: Draft) -> Body:
    replacement = ScalarReplacement()
    body = replacement.block(draft.body)
    draft.add(replacement.made)
    return body


def _unroll(draft: Draft) -> Body:
    return unrolled(draft.body)


def _parallelize(draft: Draft) -> Body:
    loops = Independent(
        draft.facts, draft.exits, draft.touched(), draft.reads(), draft.carried)
    body = loops.block(draft.body)
    draft.add(loops.made, loops.notes)
    return body


def _skew(draft: Draft) -> Body:
    waves = Wavefronts(draft.facts, draft.exits, draft.reads())
    body = waves.block(draft.body)
    draft.add(waves.made, waves.notes)
    return body


def _unroll_extremes(draft: Draft) -> Body:
    extremes = Extremes(draft.exits, draft.reads())
    body = extremes.block(draft.body)
    draft.add(extremes.made)
    return body


def _share_memory(draft: Draft) -> Body:
    kept = {*draft.lasting, *draft.leaving()}
    return SharedMemory(draft.facts, draft.local, draft.body, kept).block(draft.body)


def _allocate(draft: Draft) -> Body:
    return allocate(draft.body, draft.owned)


def everywhere(draft: Draft) -> bool:
    return True


def shares_loops(draft: Draft) -> bool:
    """Whether kernels may share loops: not on a device with many lanes."""
    return draft.together


def has_threads(draft: Draft) -> bool:
    return draft.threads


@record
class ProgramPass:
    """``reason`` says why it stands where it does; ``where`` says for which programs it runs."""

    name: str
    run: Callable[[Draft], Body]
    reason: str
    where: Callable[[Draft], bool] = everywhere


PASSES = (
    ProgramPass("fusion", _fuse, "the other passes look at whole kernels"),
    ProgramPass("vector loops", _vectorize_loops, "a loop that becomes a kernel has no iterations"),
    ProgramPass("scalar replacement", _replace_scalars, "loops that are kernels carry nothing"),
    ProgramPass("unrolling", _unroll, "small kernels in loops are statements from here on",
                shares_loops),
    ProgramPass("parallel loops", _parallelize, "dependences are those of the final statements",
                has_threads),
    ProgramPass("wavefronts", _skew, "only loops that are not parallel as they are", shares_loops),
    ProgramPass("extremes", _unroll_extremes, "only loops that stay serial", shares_loops),
    ProgramPass("shared memory", _share_memory, "no pass that follows makes temporaries"),
    ProgramPass("allocation", _allocate, "memory is taken and freed around final statements"),
)


def run(draft: Draft) -> Draft:
    """The draft after all passes."""
    for step in PASSES:
        if step.where(draft):
            draft.body = step.run(draft)
    return draft
