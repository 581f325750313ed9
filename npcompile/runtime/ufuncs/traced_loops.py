"""Loops of ufuncs made of plain Python functions.

A function of numbers, or one of arrays that writes its last arguments, is called by a loop over
steps, which is traced, lowered and compiled like any function; :mod:`.loop_code` puts NumPy's
interface around it.  What the traced loop reads beside its operands (globals, closures) is a
constant of the compiled one: :meth:`TracedLoop.stands` tells whether it still holds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from threading import get_ident
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.backends import cpu
from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.core.config import Config
from npcompile.core.errors import Refusal, refuse
from npcompile.core.records import record
from npcompile.core.sizes import Predicate, Symbol, symbols
from npcompile.graph.ir import Items, NumberOf, OneOf, Resume, Tree
from npcompile.graph.types import Array, Scalar
from npcompile.guards.binding import WatchedWords
from npcompile.guards.kinds import Guard
from npcompile.guards.matching import Match, matcher
from npcompile.guards.sources import Roots, Trace, is_given
from npcompile.passes import interruptible_loops, rewrite
from npcompile.passes import run as run_passes
from npcompile.program.ir import Program
from npcompile.runtime.entry.executables import Stopwatch
from npcompile.runtime.entry.fp_warnings import CATEGORIES
from npcompile.runtime.entry.helpers import NAMES
from npcompile.runtime.memory import recycled
from npcompile.runtime.threads import pool
from npcompile.runtime.ufuncs.core_layouts import LoopKind
from npcompile.runtime.ufuncs.loop_code import HEAD, STALE, STEPS, LoopWriter
from npcompile.runtime.unsafe import raw_memory
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag
from npcompile.runtime.versions import fp_attribution
from npcompile.runtime.versions.compiling import Compiler
from npcompile.runtime.versions.native import machine_code, provide
from npcompile.schedule import schedule

_WORD = 2**64 - 1
_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_PYTHON = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
HINT = 4096  #: steps of the loop that is traced
_LIMITS = (1 << 30, 1 << 22, 1 << 18, 1 << 14, 1 << 10, 1 << 6, 1)


class Restarting(rewrite.Rewriter):
    """Rebuilds a graph whose checks have Python begin anew: it never goes on in the middle."""

    def resume(self, resume: Resume) -> Resume:
        return Resume(restarts=True)


def restarting(graph: Any) -> Any:
    """A lowered graph that Python runs from the start wherever it is left."""
    return Restarting(graph, lambda builder, node, args: None).run()


@record(eq=False)
class LoweredFunction:
    """A traced function of arrays or numbers as a program, with what it takes for granted."""

    trace: Trace
    program: Program
    guards: tuple[Guard, ...]  # those on globals and closures
    match: Match
    constants: tuple[int, ...]  # the leaves that are not given
    emitted: Any
    frame: FrameLayout

    def watched(self, function: FunctionType) -> list[VersionTag] | None:
        """The words of memory that change when a guard may not hold any more; None if there are
        none for some guard."""
        words = WatchedWords(Roots(function, {}))
        try:
            for guard in self.guards:
                guard.watch(words)
            for k in self.constants:
                words.source(self.trace.leaves[k].source, True)
            return words.in_order()
        except Unwatchable:
            return None


def lower(function: FunctionType, bound: Mapping[str, Any], config: Config) -> LoweredFunction:
    """Traces and lowers a function that no call of Python's interrupts.

    Raises
    ------
    Refused
        It can't be compiled whole.
    """
    compiler = Compiler(function, config, Parameters(function), None)
    trace = compiler.follow(dict(bound), False)
    interruptible_loops.drop(trace.graph.region)
    program = schedule(restarting(run_passes(trace.graph, config)), config)
    frame = FrameLayout(program)
    emitted = cpu.emit(program, frame, cpu.target(), config.parallel and pool.supported())
    if emitted.objects or emitted.routines or any(b.kind == "owned" for b in program.buffers):
        raise refuse("function", "needs Python or a library in the middle")
    constants = tuple(k for k, leaf in enumerate(trace.leaves) if not is_given(leaf.source))
    ours = tuple([guard for guard in trace.guards if not is_given(guard.source)])
    match = matcher(ours, [trace.leaves[k] for k in constants])
    return LoweredFunction(trace, program, ours, match, constants, emitted, frame)


def silent_flags(trace: Trace) -> int:
    """The floating-point flags that only Python's numbers can raise, which warn of nothing."""
    operations = fp_attribution.audible(trace.graph, fp_attribution.loud(trace.graph))
    quiet = {category for category in CATEGORIES
             if not fp_attribution.candidate(operations, category)[0]}
    return sum(flag for flag, name in NAMES.items() if any(c.startswith(name) for c in quiet))


def result_dtype(function: FunctionType, dtypes: tuple[np.dtype, ...], config: Config) -> np.dtype:
    """The dtype of what a function returns for NumPy's numbers of some dtypes.

    Raises
    ------
    Refused
        It can't be followed, or returns something else than a number.
    """
    parameters = Parameters(function)
    numbers = [dtype.type(1) for dtype in dtypes]
    bound = parameters.demand(tuple(numbers), {})
    trace = Compiler(function, config, parameters, None).follow(bound, False)
    return np.result_type(*_numbers(trace.graph.result))


def _numbers(tree: Tree) -> Iterator[np.dtype | int | float | complex | bool]:
    """What NumPy is asked for the dtype of a result."""
    match tree:
        case NumberOf(node) if isinstance(node.type, Scalar):
            yield node.dtype if node.type.origin == "np" else node.type.python_type()
        case Items(kind=kind, items=(_, *options)) if kind is OneOf:
            for option in options:
                yield from _numbers(option)
        case _:
            raise refuse("function", "does not return one number")


# ------------------------------------------------------------------ one loop


class PythonSteps:
    """Computes steps of a loop by the plain function; what it raises is kept for its thread."""

    def __init__(self, function: Callable[..., Any], kind: LoopKind) -> None:
        self.function, self.kind = function, kind
        self.raised: dict[int, BaseException] = {}
        self.entry = _PYTHON(self.step)

    @property
    def address(self) -> int:
        return ctypes.cast(self.entry, ctypes.c_void_p).value or 0

    def step(self, pointers: int, cores: int, steps: int) -> int:
        """One step of a loop; whether it has raised."""
        here = get_ident()
        if here in self.raised:
            return 1
        try:
            self.compute(pointers, cores, steps)
        except BaseException as error:
            self.raised[here] = error
            return 1
        return 0

    def compute(self, pointers: int, cores: int, steps: int) -> None:
        """One step on the operands at some addresses."""
        layout, dtypes = self.kind.layout, self.kind.dtypes
        names, places = layout.names, raw_memory.numbers(pointers, len(dtypes))
        lengths = dict(zip(names, raw_memory.numbers(cores, len(names)))) if names else {}
        strides = iter(raw_memory.numbers(steps, sum(map(len, layout.operands))))
        arrays = [
            raw_memory.strided(place, dtype, shape, tuple([next(strides) for _ in shape]))
            for place, dtype, shape in zip(places, dtypes, layout.shapes(lengths))]
        given = [array[()] for array in arrays[: len(layout.inputs)]]
        outs = arrays[len(layout.inputs):]
        if layout.scalar:
            outs[0][()] = self.function(*given)
        else:
            self.function(*given, *[array.reshape(array.shape or (1,)) for array in outs])

    def told(self) -> BaseException | None:
        """What the plain function has raised on this thread, which is forgotten."""
        return self.raised.pop(get_ident(), None)


class PlainLoop:
    """A loop that calls the plain function, because of a ``refusal``."""

    data = None
    state = 0, 0

    def __init__(self, function: FunctionType, kind: LoopKind, refusal: Refusal) -> None:
        self.kind, self.refusal = kind, refusal
        self.steps = PythonSteps(function, kind)
        self._entry = _LOOP(self._run)
        self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def _run(self, args: int, dimensions: int, steps: int, data: int | None) -> None:
        many = len(self.kind.dtypes)
        first, strides = raw_memory.numbers(args, many)[:], raw_memory.numbers(steps, many)[:]
        places = (ctypes.c_int64 * many)()
        for k in range(raw_memory.numbers(dimensions, 1)[0]):
            places[:] = [start + k * stride for start, stride in zip(first, strides)]
            if self.steps.step(ctypes.addressof(places), dimensions + 8, steps + 8 * many):
                return

    def stands(self) -> bool:
        """The plain function looks at globals itself."""
        return True

    def fits(self, lengths: Mapping[str, int]) -> bool:
        """It takes all lengths."""
        return True


class TracedLoop:
    """A loop in machine code: ``address`` is the C function's, ``data`` its data's.

    Parameters
    ----------
    function
        The plain function of a step.
    kind
        The operands.
    lengths
        Those of core axes at the call at hand.
    config
        Options.

    Raises
    ------
    Refused
        The function can't be compiled.
    """

    refusal: Refusal | None = None

    def __init__(
        self, function: FunctionType, kind: LoopKind, lengths: Mapping[str, int], config: Config
    ) -> None:
        self.kind = kind
        self.steps = PythonSteps(function, kind)
        loop, bound = _loop_over(function, kind, lengths)
        self.lowered = lowered = lower(loop, bound, config)
        self.loop = loop
        self.values = lowered.match({}, loop)
        self.symbols = self._axes(lowered)
        self.limit = self._limit(lengths)
        slots, words = self._constants()
        frame, params = lowered.frame, lowered.program.params
        data = [frame.data(buffer) for k, buffer in enumerate(params) if k not in lowered.constants]
        known = {name: axis for name, axis in self.symbols.items() if name in frame}
        silent = silent_flags(lowered.trace)
        self._watched = lowered.watched(loop)
        emitted, writer = lowered.emitted, LoopWriter(
            kind, frame, data, known, slots, self.limit, silent, len(self._watched or ()))
        text = writer.beside(emitted.text)
        _, code = machine_code(text, cpu.target(), emitted.optimise, config, Stopwatch())
        recycled.ensure()
        provide()
        if config.parallel and pool.supported():
            pool.ensure()
        self._loaded = cpu.load(code, {})
        self.address: int = self._loaded["loop"]
        self._first = HEAD + len(slots)  # of the pairs
        self.state = (ctypes.c_uint64 * (self._first + 2 * len(self._watched or ())))(
            self.steps.address, 1, *[word & _WORD for word in words])
        self._watch()

    def _watch(self) -> None:
        """Has the machine code compare the words of memory as they are now."""
        found = self.lowered.watched(self.loop)
        if found is not None and len(found) == len(self._watched or ()):
            self._watched = found  # which keeps objects, so that their addresses stay theirs
            words = [word for tag in found for word in (tag.address, tag.expected)]
            for k, word in enumerate(words, self._first):
                self.state[k] = word
            self.state[STALE] = 0

    @property
    def data(self) -> int:
        """The address of what the function in machine code knows."""
        return ctypes.addressof(self.state)

    def stands(self) -> bool:
        """Whether globals and closures are what they were."""
        if not self.state[STALE]:
            return True
        self._watch()  # before it is made sure that what is there is right
        now = self.lowered.match({}, self.loop)
        same = now is not None and all(map(_same, now, self.values or ()))
        if not same:
            self.state[STALE] = 1
        return same

    def fits(self, lengths: Mapping[str, int]) -> bool:
        """Whether the loop is right for core axes of some lengths."""
        return all(self._holds(predicate, lengths, count)
                   for predicate in self.lowered.program.guards for count in (1, self.limit))

    # ------------------------------------------------------------------ sizes

    def _axes(self, lowered: LoweredFunction) -> dict[Symbol, str]:
        """What each symbol is the length of."""
        found: dict[Symbol, str] = {}
        given = [leaf for k, leaf in enumerate(lowered.trace.leaves) if k not in lowered.constants]
        for leaf, axes in zip(given, self.kind.layout.operands, strict=True):
            assert isinstance(leaf.type, Array)
            for size, axis in zip(leaf.type.shape, (STEPS, *axes)):
                found |= dict.fromkeys(symbols(size), axis)
        return found

    def _limit(self, lengths: Mapping[str, int]) -> int:
        """How many steps the body may do at once."""
        guards = self.lowered.program.guards
        for limit in _LIMITS:
            if all(self._holds(guard, lengths, count) for guard in guards for count in (1, limit)):
                return limit
        raise refuse("function", "is compiled for some numbers of steps only")

    def _holds(self, predicate: Predicate, lengths: Mapping[str, int], count: int) -> bool:
        def value(name: Symbol) -> int:
            if name in self._fixed:
                return self._fixed[name]
            axis = self.symbols[name]
            return count if axis == STEPS else lengths[axis]

        return predicate.holds(value)

    @property
    def _fixed(self) -> dict[Symbol, int]:
        """The symbols that constants give a value."""
        found: dict[Symbol, int] = {}
        lowered = self.lowered
        for k, value in zip(lowered.constants, self.values or ()):
            leaf = lowered.trace.leaves[k]
            if k in lowered.program.int_symbols:
                found[lowered.program.int_symbols[k]] = int(value)
            if isinstance(leaf.type, Array):
                for size, length in zip(leaf.type.shape, value.shape):
                    found |= dict.fromkeys(symbols(size), length)
        return found

    def _constants(self) -> tuple[list[int], list[int]]:
        """Slots of the frame, and the words that belong there."""
        slots, words, lowered = [], [], self.lowered
        for k, value in zip(lowered.constants, self.values or ()):
            buffer, leaf = lowered.program.params[k], lowered.trace.leaves[k]
            if isinstance(leaf.type, Scalar):
                first = lowered.frame.number(buffer)
                bits = leaf.type.dtype.type(value).tobytes().ljust(16, b"\0")
                slots += [first, first + 1]
                words += np.frombuffer(bits, np.int64).tolist()
            elif isinstance(leaf.type, Array) and leaf.contiguous and value.flags.c_contiguous:
                slots.append(lowered.frame.data(buffer))
                words.append(value.ctypes.data)
            else:
                raise refuse("function", f"reads {leaf.source.told()}, which is no number or array")
        for name, number in self._fixed.items():
            if name in lowered.frame:
                slots.append(lowered.frame.symbol(name))
                words.append(number)
        return slots, words


def _same(now: Any, before: Any) -> bool:
    """Whether a constant is what it was: arrays are the same object."""
    if isinstance(now, np.ndarray):
        return now is before
    return type(now) is type(before) and (now == before or (now != now and before != before)) \
        and np.signbit(np.real(now)) == np.signbit(np.real(before))


def _loop_over(
    function: FunctionType, kind: LoopKind, lengths: Mapping[str, int]
) -> tuple[FunctionType, dict[str, Any]]:
    """A function of arrays that calls another one step by step, and arrays to trace it with."""
    layout = kind.layout
    names = [f"x{k}" for k in range(len(layout.operands))]
    given = [f"{name}[step]" for name in names[: len(layout.inputs)]]
    if layout.scalar:
        line = f"{names[-1]}[step] = function({', '.join(given)})"
    else:
        outs = [f"{name}[step]" if axes else f"{name}[step : step + 1]"
                for name, axes in zip(names[len(layout.inputs):], layout.outputs)]
        line = f"function({', '.join(given + outs)})"
    text = (f"def loop({', '.join(names)}):\n"
            f"    for step in range(len({names[-1]})):\n        {line}\n")
    scope: dict[str, Any] = {"function": function}
    exec(text, scope)
    return scope["loop"], dict(zip(names, kind.samples(HINT, lengths)))
