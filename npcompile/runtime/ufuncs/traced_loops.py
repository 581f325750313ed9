"""Loops of ufuncs made of plain Python functions.

A function of numbers, or one of arrays that writes its last arguments, is called by a loop over
steps, which is traced, lowered and compiled like any function; :mod:`.loop_code` puts NumPy's
interface around it.  What the traced loop reads beside its operands (globals, closures) is a
constant of the compiled one (:mod:`.captured`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from threading import get_ident
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.core.config import Config
from npcompile.core.errors import Refusal, refuse
from npcompile.core.locks import lock
from npcompile.core.records import record
from npcompile.core.sizes import Predicate, Symbol, symbols
from npcompile.core.unseen import unseen
from npcompile.graph.ir import Items, NumberOf, OneOf, Tree, walk
from npcompile.graph.types import Array, Scalar
from npcompile.guards.sources import Source, Trace, is_given
from npcompile.runtime.entry.fp_warnings import CATEGORIES
from npcompile.runtime.entry.helpers import NAMES
from npcompile.runtime.ufuncs.call_code import Watch
from npcompile.runtime.ufuncs.captured import Captured
from npcompile.runtime.ufuncs.core_layouts import LoopKind
from npcompile.runtime.ufuncs.loop_code import STEPS, LoopWriter
from npcompile.runtime.ufuncs.lowered import LoweredFunction, lower
from npcompile.runtime.unsafe import raw_memory
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.versions import fp_attribution
from npcompile.runtime.versions.compiling import Compiler
from npcompile.runtime.versions.native import loaded

_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_PYTHON = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_lock = lock()  # threads count their exceptions one after the other
HINT = 4096  #: steps of the loop that is traced
_LIMITS = (1 << 30, 1 << 22, 1 << 18, 1 << 14, 1 << 10, 1 << 6, 1)


def silent_flags(trace: Trace) -> int:
    """The floating-point flags that only Python's numbers can raise, which warn of nothing."""
    operations = fp_attribution.audible(trace.graph, fp_attribution.loud(trace.graph))
    quiet = {category for category in CATEGORIES
             if not fp_attribution.candidate(operations, category)[0]}
    return sum(flag for flag, name in NAMES.items() if any(c.startswith(name) for c in quiet))


@record
class TracedNumber:
    """What a function of numbers returns, and what it rests on."""

    dtype: np.dtype
    reads: frozenset[Source]  #: what the trace has looked at beside the operands
    pure: bool  #: a call has no effects, and gives for the same numbers the same one


@record
class LoopTypes:
    """The dtypes of a ufunc's loop for operands of some kinds."""

    given: tuple[np.dtype, ...]  #: what numbers of Python's become first
    operands: tuple[np.dtype, ...]
    result: np.dtype
    reads: frozenset[Source]  #: what the result's dtype rests on beside the operands


def traced_number(
    function: FunctionType, dtypes: tuple[np.dtype, ...], config: Config
) -> TracedNumber:
    """What a function returns for NumPy's numbers of some dtypes.

    Raises
    ------
    Refused
        It can't be followed, or returns something else than a number.
    """
    parameters = Parameters(function)
    numbers = [dtype.type(1) for dtype in dtypes]
    bound = parameters.demand(tuple(numbers), {})
    trace = Compiler(function, config, parameters, None).follow(bound, False)
    graph = trace.graph
    looked = [*[guard.source for guard in trace.guards], *[x.source for x in trace.leaves]]
    reads = [source for source in looked if not is_given(source)]
    pure = not graph.finals and all(node.op != "host_call" for node in walk(graph.region))
    return TracedNumber(np.result_type(*_numbers(graph.result)), frozenset(reads), pure)


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
        self.waiting = (ctypes.c_int64 * 1)()  #: how many exceptions these are
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
            with _lock:
                self.raised[here] = error
                self.waiting[0] = len(self.raised)
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
        if layout.returns:
            outs[0][()] = self.function(*given)
        else:
            self.function(*given, *[array.reshape(array.shape or (1,)) for array in outs])

    @unseen
    def tell(self) -> None:
        """Raises what the plain function has raised on this thread, which is forgotten."""
        with _lock:
            error = self.raised.pop(get_ident(), None)
            self.waiting[0] = len(self.raised)
        if error is not None:
            raise error


class PlainLoop:
    """A loop that calls the plain function, because of a ``refusal``."""

    data = None
    watch: Watch | None = None  #: what calls in machine code look at

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
        if lowered.rewritten:
            raise refuse("function", "may be left after it has changed a result that it reads")
        self.captured = captured = Captured(lowered, loop)
        self.symbols = self._axes(lowered)
        self.limit = self._limit(lengths)
        params, frame = lowered.program.params, lowered.frame
        data = [frame.data(params[k]) for k in lowered.given]
        known = {name: axis for name, axis in self.symbols.items() if name in frame}
        writer = LoopWriter(
            kind, frame, data, known, captured, self.limit, silent_flags(lowered.trace))
        text = writer.beside(lowered.emitted.text)
        self._loaded = loaded(text, lowered.emitted.optimise, config, {})
        self.address: int = self._loaded["loop"]
        captured.install(self.steps.address)
        self.data, self.watch = captured.address, captured.unchanged

    def stands(self) -> bool:
        """Whether globals and closures are what they were."""
        return self.captured.stands()

    def fits(self, lengths: Mapping[str, int]) -> bool:
        """Whether the loop is right for core axes of some lengths."""
        return all(self._holds(predicate, lengths, count)
                   for predicate in self.lowered.program.guards for count in (1, self.limit))

    # ------------------------------------------------------------------ sizes

    def _axes(self, lowered: LoweredFunction) -> dict[Symbol, str]:
        """What each symbol is the length of."""
        found: dict[Symbol, str] = {}
        given = [lowered.trace.leaves[k].type for k in lowered.given]
        for type_, axes in zip(given, self.kind.layout.operands, strict=True):
            assert isinstance(type_, Array)
            for size, axis in zip(type_.shape, (STEPS, *axes)):
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
            if name in self.captured.symbols:
                return self.captured.symbols[name]
            axis = self.symbols[name]
            return count if axis == STEPS else lengths[axis]

        return predicate.holds(value)


def _loop_over(
    function: FunctionType, kind: LoopKind, lengths: Mapping[str, int]
) -> tuple[FunctionType, dict[str, Any]]:
    """A function of arrays that calls another one step by step, and arrays to trace it with."""
    layout = kind.layout
    names = [f"x{k}" for k in range(len(layout.operands))]
    given = [f"{name}[step]" for name in names[: len(layout.inputs)]]
    if layout.returns:
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
