"""C functions of plain Python functions, which C code calls by their address.

The arguments lie in *words*: one for each of C's, then one for the result.  Numbers go to the frame
of a traced function that stores its result; arrays are pointers with their lengths.  Where compiled
code is left, Python computes the call from the same words.  Integers that sizes depend on must be
those of the last call that Python has approved: so guards on sizes are tested only if one changes.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.backends.cpu.llvm.frame import DONE
from npcompile.backends.cpu.llvm.text import (
    METADATA,
    LLVMFunction,
    LLVMModule,
    Value,
    i64,
    literal,
)
from npcompile.backends.cpu.loader.compile import INLINED
from npcompile.core.config import Config
from npcompile.core.errors import Refusal, Refused, refuse
from npcompile.core.records import record
from npcompile.core.sizes import Symbol, symbols
from npcompile.graph.types import Array, Scalar
from npcompile.runtime.entry.function_writer import combine
from npcompile.runtime.ufuncs.captured import Captured
from npcompile.runtime.ufuncs.loop_code import cleared
from npcompile.runtime.ufuncs.lowered import LoweredFunction, lower
from npcompile.runtime.unsafe import raw_memory
from npcompile.runtime.versions.native import loaded

_PYTHON = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_BODY = re.compile(r"define i64 @body\(ptr %frame\) nounwind(?: optnone noinline)? {")
LONG = 4000  #: lines of a body that is not worth LLVM's passes
ENDLESS = 1 << 30  #: the length of an array that only a pointer tells of
HINT = 64  #: the length of arrays that a function is traced with
#: what Python's function returns: it has computed the call, or raised, or compiled code may go on
_DONE, _RAISED, _APPROVED = 1, 0, 2
_ELEMS = {"d": "double", "f": "float"}


@record
class CParam:
    """A parameter: a number of a dtype, or an array of so many axes: its address and its lengths
    are parameters of C's.  A ``pointer`` tells no length; without a dtype it is an int."""

    dtype: np.dtype | None
    ndim: int = 0
    pointer: bool = False

    @property
    def array(self) -> bool:
        return self.dtype is not None and (self.pointer or self.ndim > 0)

    @property
    def words(self) -> int:
        return 1 + self.ndim

    @property
    def elems(self) -> list[str]:
        """LLVM's types of the parameters of C's."""
        first = "ptr" if self.array or self.dtype is None else elem(self.dtype)
        return [first, *["i64"] * self.ndim]

    @property
    def ctypes(self) -> list[Any]:
        """The same as ctypes calls them."""
        if self.dtype is None:
            return [ctypes.c_void_p]
        item = np.ctypeslib.as_ctypes_type(self.dtype)
        first = ctypes.POINTER(item) if self.array else item
        return [first, *[ctypes.c_ssize_t] * self.ndim]

    def sample(self) -> Any:
        """An argument to trace a function with."""
        if self.dtype is None:
            return 1 << 40
        if self.array:
            return np.ones((HINT,) * max(self.ndim, 1), self.dtype)
        return number(self.dtype.type(HINT - 1 if self.dtype.kind in "iu" else 1))

    def read(self, address: int) -> Any:
        """The argument in some words."""
        if self.dtype is None:
            return raw_memory.word(address)
        if not self.array:
            return number(raw_memory.strided(address, self.dtype, (), ())[()])
        lengths = tuple(raw_memory.numbers(address + 8, self.ndim)) if self.ndim else (ENDLESS,)
        strides = tuple([math.prod(lengths[k + 1:]) * self.dtype.itemsize
                         for k in range(len(lengths))])
        return raw_memory.strided(raw_memory.word(address), self.dtype, lengths, strides)


def elem(dtype: np.dtype) -> str:
    """LLVM's type of a number in C."""
    if dtype.kind in "iu" or dtype.char == "?":
        return f"i{8 * dtype.itemsize}"
    if dtype.char not in _ELEMS:
        raise refuse("cfunc", f"C's functions take no {dtype.name} here")
    return _ELEMS[dtype.char]


def number(value: Any) -> Any:
    """A number as C's callers mean it: Python's, but for single precision."""
    return value if value.dtype.char == "f" else value.item()


class CFunction:
    """A C function: its ``address``, and why it runs in Python, if it does (``refusal``).

    Parameters
    ----------
    function
        The plain function.
    params, result
        What it takes, and the dtype of what it returns, or None.
    config
        Options.
    """

    def __init__(
        self, function: FunctionType, params: Sequence[CParam], result: np.dtype | None,
        config: Config,
    ) -> None:
        self.function, self.params, self.result = function, tuple(params), result
        self.starts = [sum(p.words for p in self.params[:k]) for k in range(len(self.params) + 1)]
        self.refusal: Refusal | None = None
        self.entry = _PYTHON(self._in_python)
        self.symbols: dict[Symbol, int] = {}  # the words that they are
        module = LLVMModule()
        lowered, captured = self._lowered(config)
        self.captured = captured
        writer = CFunctionWriter(self, module, captured)
        writer.write()
        parts = [*module.declarations.values(), "@npc.block = external global i64",
                 *[f.text() for f in module.functions]]
        text = "\n".join(parts)
        python = ctypes.cast(self.entry, ctypes.c_void_p).value or 0
        optimise: tuple[str, ...] = ()
        if lowered is None or captured is None:
            self._block = (ctypes.c_uint64 * 2)(python, 0)
            block, text = ctypes.addressof(self._block), "\n".join([text, *METADATA])
        else:
            captured.install(python, len(self.sizes))
            block, optimise = captured.address, lowered.emitted.optimise
            body, optimise = _inlined(lowered.emitted.text, optimise)
            text = combine(body, text)
        self._loaded = loaded(text, optimise, config, {"npc.block": block})
        self.address: int = self._loaded["cfunction"]

    def _lowered(self, config: Config) -> tuple[LoweredFunction | None, Captured | None]:
        call, bound = _storing(self.function, self.params, self.result)
        self._call = call
        try:
            lowered = lower(call, bound, config)
            if lowered.rewritten:
                raise refuse("function", "may be left after it has changed an array that it reads")
            self.symbols = self._words_of_symbols(lowered)
            captured = Captured(lowered, call)
            if captured.watched is None:
                raise refuse("function", "reads what no word of memory tells the changes of")
            return lowered, captured
        except Refused as refused:
            self.refusal = refused.refusal
            return None, None

    def _words_of_symbols(self, lowered: LoweredFunction) -> dict[Symbol, int]:
        found: dict[Symbol, int] = {}
        for k in lowered.given:
            leaf = lowered.trace.leaves[k]
            place = self.place(leaf.source)
            if k in lowered.program.int_symbols:
                found[lowered.program.int_symbols[k]] = self.starts[place]
            if isinstance(leaf.type, Array):
                for axis, size in enumerate(leaf.type.shape):
                    ending = place < len(self.params) and self.params[place].ndim > axis
                    word = self.starts[place] + 1 + axis if ending else -1
                    found |= dict.fromkeys(symbols(size), word)
        return found

    def place(self, source: Any) -> int:
        """Which parameter a source is; the last one is the result."""
        return int(source.root.name[1:]) if source.root.name != "out" else len(self.params)

    @property
    def sizes(self) -> list[int]:
        """The words of integers that the program's guards are about."""
        if self.captured is None:
            return []
        guards = self.captured.lowered.program.guards
        names = {name for guard in guards for size in (guard.left, guard.right)
                 for name in symbols(size)}
        return sorted({self.symbols[name] for name in names if name in self.symbols} - {-1})

    def _approves(self, address: int) -> bool:
        """Whether compiled code is right for the sizes in some words, which are noted."""
        captured = self.captured
        if captured is None or not captured.stands():
            return False

        def value(name: Symbol) -> int:
            if name in captured.symbols:
                return captured.symbols[name]
            place = self.symbols[name]
            if place == self.starts[-1] or place < 0:
                return ENDLESS if place < 0 else 1
            return int(raw_memory.numbers(address + 8 * place, 1)[0])

        if not all(guard.holds(value) for guard in captured.lowered.program.guards):
            return False
        before = list(captured.state[captured.size:])
        now = [raw_memory.word(address + 8 * place) for place in self.sizes]
        for k, word in enumerate(now, captured.size):
            captured.state[k] = word
        return before != now

    def _in_python(self, address: int) -> int:
        """A call on some words."""
        try:
            if self._approves(address):
                return _APPROVED
            args = [param.read(address + 8 * start)
                    for param, start in zip(self.params, self.starts)]
            result = self.function(*args)
            if self.result is not None:
                place = address + 8 * self.starts[-1]
                raw_memory.strided(place, self.result, (1,), (self.result.itemsize,))[0] = result
            return _DONE
        except BaseException as error:
            _report(error)
            return _RAISED


def _inlined(body: str, optimise: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The text of a body that becomes a part of the C function, and the functions that LLVM's
    passes help then: its numbers are in registers.  A long body stays apart."""
    found = _BODY.search(body)
    if found is None or body.count("\n") > LONG:
        return body, optimise
    inner = f"define internal i64 @body(ptr %frame){INLINED}nounwind {{"
    return (f"{body[: found.start()]}{inner}{body[found.end():]}",
            (*[n for n in optimise if n != "body"], "cfunction"))


def _report(error: BaseException) -> None:
    """Has :func:`sys.unraisablehook` tell of an exception that no caller can see, as ctypes does
    for its callbacks."""
    def again() -> None:
        raise error

    ctypes.CFUNCTYPE(None)(again)()


class CFunctionWriter:
    """Writes the C function around a body; without one it calls Python."""

    def __init__(self, owner: CFunction, module: LLVMModule, captured: Captured | None) -> None:
        self.owner, self.captured = owner, captured
        self.elems = [elem for param in owner.params for elem in param.elems]
        self.result = "void" if owner.result is None else elem(owner.result)
        params = [(text, f"a{k}") for k, text in enumerate(self.elems)]
        self.f = LLVMFunction(module, "cfunction", self.result, params, False)
        self.asking = LLVMFunction(module, "ask", self.result, params)
        self.block = Value("@npc.block", "ptr")

    def write(self) -> None:
        f = self.f
        if self.captured is not None:
            self.captured.count(f, self.block, 1)
            f.branch(self.ready(self.captured), "run", "unready", likely=True)
            f.label("unready")
            self.captured.count(f, self.block, -1)
            f.jump("ask")
            f.label("run")
            out = f.alloca("i64")  # which no other function sees, but for the body
            status = self.body(self.captured, out)
            self.captured.count(f, self.block, -1)
            f.branch(f.icmp("eq", status, i64(DONE)), "done", "ask", likely=True)
            f.label("done")
            self.give(f, out)
            f.label("ask")
        self.again(f, "ask")
        self.ask()

    def again(self, f: LLVMFunction, name: str) -> None:
        """Returns what another function of the same parameters does."""
        call = f"tail call {self.result} @{name}({', '.join(v.typed for v in f.params)})"
        if self.result == "void":
            f.do(call)
            f.do("ret void")
        else:
            f.do(f"ret {f.op(call, self.result).typed}")

    def word(self, k: int, f: LLVMFunction) -> Value:
        """A parameter of C's as it lies in its word: integers as wide as this."""
        value = f.params[k]
        if not value.elem.startswith("i") or value.elem == "i64":
            return value
        return f.convert("sext" if self.kinds[k] == "i" else "zext", value, "i64")

    @property
    def kinds(self) -> list[str]:
        """The kinds of C's parameters: signed integers are "i"."""
        return [kind for param in self.owner.params for kind in (
            "p" if param.dtype is None or param.array else param.dtype.kind, *"i" * param.ndim)]

    def ready(self, captured: Captured) -> Value:
        """Whether the body may run: what it relies on is there, and sizes are approved ones."""
        f = self.f
        fits = f.negate(captured.stale(f, self.block))
        for k, place in enumerate(self.owner.sizes, captured.size):
            known = f.load(self.f.offset(self.block, "i64", i64(k)), "i64")
            fits = f.binary("and", fits, f.icmp("eq", known, self.word(place, f)))
        return fits

    def body(self, captured: Captured, out: Value) -> Value:
        f, lowered, owner = self.f, captured.lowered, self.owner
        frame = lowered.frame
        slots = f.alloca("i64", frame.size)
        cleared(f, frame, slots)
        for k in lowered.given:
            buffer, leaf = lowered.program.params[k], lowered.trace.leaves[k]
            place = owner.place(leaf.source)
            value = out if place == len(owner.params) else self.word(owner.starts[place], f)
            number = isinstance(leaf.type, Scalar)
            slot = frame.number(buffer) if number else frame.data(buffer)
            f.store(value, f.offset(slots, "i64", i64(slot)))
        for name, place in owner.symbols.items():
            if name in frame:
                size = i64(ENDLESS) if place < 0 else self.word(place, f)
                f.store(size, f.offset(slots, "i64", i64(frame.symbol(name))))
        captured.fill(f, slots, self.block)
        return f.op(f"call i64 @body({slots.typed})", "i64")

    def ask(self) -> None:
        """Has Python compute the call, or approve its sizes.  It is a function of its own, so that
        a call that does not need it has nothing on the stack."""
        f, count = self.asking, len(self.elems)
        words = f.alloca("i64", count + 1)
        for k in range(count):
            f.store(self.word(k, f), f.offset(words, "i64", i64(k)))
        python = f.load(self.block, "ptr")
        said = f.op(f"call i64 {python.text}({words.typed})", "i64")
        f.branch(f.icmp("eq", said, i64(_DONE)), "computed", "other")
        f.label("computed")
        self.give(f, f.offset(words, "i64", i64(count)))
        f.label("other")
        if self.captured is not None:
            f.branch(f.icmp("eq", said, i64(_APPROVED)), "run", "failed")
            f.label("run")
            self.again(f, "cfunction")
            f.label("failed")
        if self.result == "void":
            f.do("ret void")
        else:
            nothing = float("nan") if self.result in ("double", "float") else 0
            f.do(f"ret {literal(self.result, nothing).typed}")

    def give(self, f: LLVMFunction, place: Value) -> None:
        """Returns what is at some place."""
        if self.result == "void":
            f.do("ret void")
        else:
            f.do(f"ret {f.load(place, self.result).typed}")


def _storing(
    function: FunctionType, params: Sequence[CParam], result: np.dtype | None
) -> tuple[FunctionType, Mapping[str, Any]]:
    """A function that stores what another one returns, and arguments to trace it with."""
    names = [f"x{k}" for k in range(len(params))]
    bound = dict(zip(names, [param.sample() for param in params]))
    line = f"function({', '.join(names)})"
    if result is not None:
        line, bound["out"] = f"out[0] = {line}", np.ones(1, result)
    scope: dict[str, Any] = {"function": function}
    exec(f"def call({', '.join(bound)}):\n    {line}\n", scope)
    return scope["call"], bound
