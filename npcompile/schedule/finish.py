"""From nests to a program: results, kernels, allocation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from npcompile.core.sizes import Symbol
from npcompile.graph.ir import Param
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Edge,
    Exit,
    For,
    If,
    Program,
    Result,
    RoutineCall,
    SideExit,
    Statement,
    Swap,
    View,
    While,
)
from npcompile.schedule.memory.allocate import touched
from npcompile.schedule.memory.memories import Memory
from npcompile.schedule.program_passes import Draft, run
from npcompile.schedule.walk.draft_statements import (
    Binding,
    Choice,
    Counted,
    Exchange,
    Host,
    Leave,
    Operand,
    Repeated,
    RoutineStep,
    Step,
)
from npcompile.schedule.walk.nest import Nest
from npcompile.schedule.walk.result_memory import Results
from npcompile.schedule.walk.scheduler import Scheduler


def finish(s: Scheduler, together: bool = True, threads: bool = True, rounds: bool = True
           ) -> Program:
    """The program of a finished walk; ``together``: kernels share loops; ``threads``: and
    iterations of loops run side by side; ``rounds``: products may round otherwise than a
    library's."""
    graph, results = s.graph, Results(s)
    results.place(graph.result)
    seen = results.memories() | s.flagged
    seen |= {s.materialise(node).memory for node in graph.region.results}
    _prune(s.steps, seen)
    lasting = [memory.final() for memory in seen]
    seen |= _carried(s.steps).union(*(leave.results.memories() for leave in s.exits))
    draft = run(Draft(
        s.facts,
        tuple(_block(s.steps, count())),
        exits := [leave.exit() for leave in s.exits],
        [result := results.tree(graph.result), *_tested(s, exits)],
        kept=[memory.final() for memory in seen],
        lasting=lasting,
        owned=[memory.final() for memory in results.cells.values()],
        carried=_by_loop(s.steps),
        local=_made(s.steps),
        together=together,
        threads=threads,
        rounds=rounds,
    ))
    buffers = [memory.buffer for memory in s.memories if memory.buffer is not None]
    symbols = {
        p.attrs.index: p.attrs.symbol for p in graph.params
        if isinstance(p.attrs, Param) and p.attrs.symbol is not None
    }
    return Program(
        name=graph.name,
        params=[memory.final() for memory in s.params],
        buffers=[draft.smaller.get(buffer, buffer) for buffer in buffers] + draft.buffers,
        body=draft.body,
        result=result,
        guards=s.facts.guards,
        written=frozenset(graph.finals),
        int_symbols=symbols,
        resumes=exits,
        notes=s.notes + draft.notes,
    )


def _tested(s: Scheduler, exits: Sequence[Exit]) -> list[Result]:
    """The results that the tested side exits hand to Python."""
    tested = [e for e, leave in zip(exits, s.exits, strict=True) if leave.memory is not None]
    return [held for e in tested for held in e.held()]


def _by_loop(steps: list[Step]) -> dict[Symbol, set[Buffer]]:
    """The buffers that iterations of each loop leave to the next ones."""
    found: dict[Symbol, set[Buffer]] = {}
    for step in steps:
        match step:
            case Choice():
                found |= _by_loop(step.then) | _by_loop(step.other)
            case Counted():
                found |= {step.symbol: _buffers(step.carried)} | _by_loop(step.steps)
            case Repeated():
                found |= _by_loop(step.steps)
    return found


def _made(steps: list[Step]) -> dict[Symbol | Buffer, set[Buffer]]:
    """The buffers that an iteration of each loop makes."""
    found: dict[Symbol | Buffer, set[Buffer]] = {}
    for step in steps:
        match step:
            case Choice():
                found |= _made(step.then) | _made(step.other)
            case Counted(symbol, made=made):
                found[symbol] = _buffers(made)
                found |= _made(step.steps)
            case Repeated(again=again, made=made):
                assert again is not None
                found[again.final()] = _buffers(made)
                found |= _made(step.steps)
    return found


def _buffers(memories: Iterable[Memory]) -> set[Buffer]:
    return {memory.buffer for memory in memories if memory.buffer is not None}


def _is_empty(step: Step) -> bool:
    return isinstance(step, Nest) and not step.puts and not step.folds


def _prune(steps: list[Step], results: set[Memory]) -> set[Memory]:
    """Backwards, so that what only dead stores need is dead as well; what the steps need."""
    wanted = set(results)
    for step in reversed(steps):
        match step:
            case Nest():
                step.prune(wanted)
                wanted |= step.memories()
            case Exchange(source, target, copy):
                copy.prune({target})
                wanted |= {source, target}
            case Host() | RoutineStep():
                wanted |= {place.memory for place, *_ in step.inputs}
            case Leave():
                wanted |= _prune_leaving(step)
            case Binding():
                wanted.add(step.memory)
            case Choice():
                wanted = _prune(step.then, wanted) | _prune(step.other, wanted) | {step.memory}
            case Counted() | Repeated():
                needed = wanted | step.carried
                if isinstance(step, Repeated) and step.again is not None:
                    needed.add(step.again)
                wanted |= _prune(step.steps, needed)
                wanted |= set() if step.edge is None else _prune_leaving(step.edge)
    return wanted


def _prune_leaving(leave: Leave) -> set[Memory]:
    wanted = _prune(leave.steps, leave.results.memories() | leave.flagged)
    return wanted if leave.memory is None else {*wanted, leave.memory}


def _carried(steps: list[Step]) -> set[Memory]:
    """The buffers that iterations of loops leave to the next ones."""
    found: set[Memory] = set()
    for step in steps:
        match step:
            case Choice():
                found |= _carried(step.then) | _carried(step.other)
            case Counted() | Repeated():
                found |= step.carried | _carried(step.steps)
    return found


def _block(steps: list[Step], names: Iterator[int]) -> list[Statement]:
    """``names`` numbers the kernels of the program."""
    return [_statement(step, names) for step in steps if not _is_empty(step)]


def _statement(step: Step, names: Iterator[int]) -> Statement:
    match step:
        case Nest():
            return step.kernel(f"k{next(names)}")
        case Exchange(source, target, copy):
            if source.kind == target.kind == "temp":
                return Swap(source.final(), target.final())
            return copy.kernel(f"k{next(names)}")
        case Leave():
            made = [Alloc(memory.final()) for memory in step.results.cells.values()]
            leaving = (*made, *_block(step.steps, names))
            assert step.memory is not None
            return SideExit(step.memory.final(), step.reason, step.number, leaving)
        case Binding(symbol, memory):
            return Bind(symbol, memory.final())
        case Choice(memory, then, other):
            return If(memory.final(), tuple(_block(then, names)), tuple(_block(other, names)))
        case Counted(symbol, bounds, _, line, steps):
            body = tuple(_block(steps, names))
            return For(symbol, *bounds, body, line=line, edge=_edge(step.edge, names))
        case Repeated(_, short, steps, again):
            assert again is not None
            body = tuple(_block(steps, names))
            return While(body, again.final(), _edge(step.edge, names), short)
        case Host(host, inputs, outputs, line):
            return Call(host, _views(inputs), tuple([m.final() for m in outputs]), line)
        case RoutineStep(routine, inputs, outputs, line):
            return RoutineCall(routine, _views(inputs), tuple([m.final() for m in outputs]), line)


def _edge(leave: Leave | None, names: Iterator[int]) -> Edge | None:
    if leave is None:
        return None
    steps = _block(leave.steps, names)
    used = {buffer for statement in steps for buffer in touched(statement)}
    used.update(memory.final() for memory in leave.results.cells.values())
    made = [memory.final() for memory in leave.made if memory.kind in ("temp", "result")]
    return Edge(leave.number, (*[Alloc(buffer) for buffer in made if buffer in used], *steps))


def _views(inputs: tuple[Operand, ...]) -> tuple[View, ...]:
    return tuple([
        View(place.memory.final(), place.as_geometry(), dtype, origin)
        for place, dtype, origin in inputs
    ])
