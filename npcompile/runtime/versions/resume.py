"""Leaving compiled code sideways: plain Python goes on from the middle of a function.

A *continuation* is a function whose code is a prologue followed by the whole original bytecode::

    COPY_FREE_VARS  closure + state cell        RESUME
    MAKE_CELL       each cell variable          state -> locals, cells, value stack
    [CALL inner]                                JUMP_FORWARD to the original offset

The original bytecode stays as it is: its jumps are relative, its slots keep their numbers (the
cell that brings the state comes last), its line and exception tables are shifted by the length of
the prologue.  So names, lines, handlers and closures are those of the user's function.

Several frames are resumed as nested calls: the prologue of an outer frame calls the next inner
one from an instruction with the position and the exception handler of the call it stands for.

Points inside an exception handler are out of reach: the exception being handled is no part of a
value stack.

>>> def f(x):
...     y = x + 1
...     return y * 2
>>> start = next(i.offset for i in dis.get_instructions(f) if i.opname == "STORE_FAST")
>>> resume([Activation.of(f, start, {"x": 1}, [10])])
20
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from types import CellType, CodeType, FunctionType
from typing import Any, cast

from npcompile.core.records import field, record
from npcompile.core.unseen import unseen
from npcompile.frontend.bytecode import analyse
from npcompile.graph.ir import Defined, Resume, SharedCell
from npcompile.program.ir import Exit
from npcompile.python.values import NULL, UNBOUND

_STATE = ".state"
_CACHES = {"UNPACK_SEQUENCE": 1, "PRECALL": 1, "CALL": 4 if sys.version_info < (3, 12) else 3}
_BEFORE = (dis.EXTENDED_ARG, dis.opmap.get("KW_NAMES"))
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@record
class Activation:
    """One Python frame to go on in.

    Innermost frame: ``offset`` is the instruction to execute next and ``stack`` the value stack
    before it, bottom first (``NULL`` for the empty slots that calls use).  Outer frames:
    ``offset`` is the call in progress and ``stack`` what is left when the callee and its arguments
    are popped; ``drops``: what the call gives is dropped.  Names missing in ``local`` are unbound;
    free variables named there are written through the closure.  ``cells`` gives the cells of cell
    variables that are shared with closures made before.
    """

    code: CodeType
    globals: dict[str, Any]
    closure: tuple[CellType, ...]
    offset: int
    local: Mapping[str, object]
    stack: Sequence[object] = ()
    cells: Mapping[str, CellType] = field(default_factory=dict)
    drops: bool = False

    @staticmethod
    def of(
        function: FunctionType,
        offset: int,
        local: Mapping[str, object],
        stack: Sequence[object] = (),
        cells: Mapping[str, CellType] | None = None,
        code: CodeType | None = None,
    ) -> Activation:
        """A frame of ``function``, whose code may be that of before."""
        closure = function.__closure__ or ()
        return Activation(
            code or function.__code__, function.__globals__, closure, offset, local, stack,
            cells or {},
        )


def activations(
    resume: Resume | Exit, value: Callable[[Any], object], function: Callable[[Any], FunctionType]
) -> list[Activation]:
    """The frames of a resume descriptor: ``value`` boxes what a variable or a stack slot holds
    (frame by frame, variables first), ``function`` finds an owner."""
    found = []
    space = function(resume.frames[0].owner).__globals__  # of all functions that are made anew
    for frame in resume.frames:
        owner = function(frame.owner)
        boxed = [(name, value(tree)) for name, tree in frame.local]
        shared = {name: held.settle(space) for name, held in boxed if isinstance(held, SharedCell)}
        local = {name: _settled(held, space) for name, held in boxed
                 if held is not UNBOUND and name not in shared}
        stack = [_settled(value(tree), space) for tree in frame.stack]
        cells = dict(zip(owner.__code__.co_freevars, owner.__closure__ or ())) | shared
        closure = tuple([cells[name] for name in frame.code.co_freevars])
        own = {name: shared[name] for name in frame.code.co_cellvars if name in shared}
        found.append(Activation(
            frame.code, owner.__globals__, closure, frame.offset, local, stack, own,
            frame.drops,
        ))
    return found


def _settled(held: object, space: dict[str, Any]) -> object:
    """Settles the contents of a variable: a traced function becomes one of Python's."""
    return held.function(space) if isinstance(held, Defined) else held


def resume(frames: Sequence[Activation]) -> Any:
    """Run frames (innermost last) to the end of the outermost one; its result or exception."""
    return prepare(frames)()


def prepare(
    frames: Sequence[Activation], first: Callable[[], Any] | None = None
) -> FunctionType:
    """The function without arguments that goes on in ``frames``; for one call only.  ``first``: in
    place of the innermost frame's instruction it calls this function, which raises.

    A caller that is no Python frame keeps the traceback free of strangers.
    """
    function: Any = first
    for frame in reversed(frames):
        function = _function(frame, function)
    if not frames:
        raise ValueError("no frame to go on in")
    return cast(FunctionType, function)


@unseen
def execute(
    frame: Activation, end: int, kept: tuple[str, ...], depth: int
) -> tuple[dict[str, Any], list[Any]]:
    """Executes the instructions from a frame's offset up to ``end``, among which no jump is and no
    handler; the variables ``kept`` and the ``depth`` values on the stack after them."""
    nulls = tuple(value is NULL for value in frame.stack)
    code = _statement(
        frame.code, frame.code.co_filename, (frame.offset, end), tuple(frame.local), nulls, kept,
        depth,
    )
    values = (*frame.local.values(), *reversed(frame.stack))
    stack, local = _made(frame, code, values)()
    return dict(zip(kept, local)), list(stack)


def _function(frame: Activation, inner: Callable[[], Any] | None) -> FunctionType:
    stack = list(frame.stack)
    if inner is not None:
        stack += [inner, NULL] if sys.version_info >= (3, 13) else [NULL, inner]
    code = continuation(
        frame.code,
        frame.offset,
        tuple(frame.local),
        tuple(value is NULL for value in stack),
        tuple(frame.cells),
        inner is not None,
        frame.drops,
    )
    values = (*frame.local.values(), *frame.cells.values(), *reversed(stack))
    return _made(frame, code, values)


def _made(frame: Activation, code: CodeType, values: tuple[object, ...]) -> FunctionType:
    """A function of such code, with the state that it begins with."""
    original = frame.code
    function = FunctionType(
        code,
        frame.globals,
        original.co_name,
        (None,) * original.co_argcount,
        (*frame.closure, CellType(values)),
    )
    keywords = original.co_varnames[original.co_argcount :][: original.co_kwonlyargcount]
    function.__kwdefaults__ = dict.fromkeys(keywords)
    return function


def continuation(
    code: CodeType,
    offset: int,
    names: tuple[str, ...],
    nulls: tuple[bool, ...] = (),
    cells: tuple[str, ...] = (),
    calling: bool = False,
    drops: bool = False,
) -> CodeType:
    """The code of a continuation of ``code`` at ``offset``.

    Parameters
    ----------
    names
        The bound variables, in the order of their values in the state.
    nulls
        One item for each stack slot, bottom first: whether it is NULL.
    cells
        Cell variables whose cells come with the state.
    calling
        Whether the two topmost slots call the next inner frame; its result is pushed and the
        instruction after the one at ``offset`` is next.
    drops
        Whether that result is popped again.

    Returns
    -------
    CodeType
        Its last free variable is the state: ``(*values, *cells, *reversed(stack))``.
    """
    return _continuation(code, code.co_filename, offset, names, nulls, cells, calling, drops)


# Equal code objects may differ in their file name, so that is a key of its own.
@lru_cache(maxsize=1024)
def _continuation(
    code: CodeType,
    filename: str,
    offset: int,
    names: tuple[str, ...],
    nulls: tuple[bool, ...],
    cells: tuple[str, ...],
    calling: bool,
    drops: bool,
) -> CodeType:
    if code.co_flags & _GENERATOR:
        raise ValueError(f"{code.co_qualname} is a generator or coroutine")
    if offset in analyse(code).handling:
        raise ValueError(f"{code.co_qualname} handles an exception at {offset}")
    if not (0 <= offset < len(code.co_code) and offset % 2 == 0):
        raise ValueError(f"{code.co_qualname} has no instruction at {offset}")
    head, state = _enter(code), _restore(code, names, nulls, cells)
    call = _call() if calling else b""
    if drops:
        call += _emit("POP_TOP")
    target = (_next_instruction if calling else _beginning)(code.co_code, offset)
    leave = _emit("JUMP_FORWARD", target // 2 + 1)
    place, delta = _position(code, offset, len(call) // 2) if calling else (b"", 0)
    lines = _line(len(head) // 2, 0) + _nowhere(len(state) // 2) + place
    lines += _nowhere(len(leave) // 2) + _line(1, -delta)  # the NOP takes the line back
    prologue = head + state + call + leave + _emit("NOP")
    shift = len(prologue) // 2
    handlers = [
        _entry(start + shift, length, to + shift, how)
        for start, length, to, how in _exception_table(code.co_exceptiontable)
    ]
    if calling:
        # 3.13 looks up the unit before a call that failed; what stands there can't fail itself.
        guarded = (len(head) // 2, len(state + call) // 2)
        handlers.insert(0, _handler(code, offset, *guarded, shift))
    return code.replace(
        co_code=prologue + code.co_code,
        co_linetable=lines + code.co_linetable,
        co_exceptiontable=b"".join(handlers),
        co_freevars=(*code.co_freevars, _STATE),
        co_stacksize=max(code.co_stacksize, len(names) + len(cells) + len(nulls) + 2),
    )


@lru_cache(maxsize=1024)
def _statement(
    code: CodeType,
    filename: str,
    place: tuple[int, int],
    names: tuple[str, ...],
    nulls: tuple[bool, ...],
    kept: tuple[str, ...],
    depth: int,
) -> CodeType:
    """Some instructions between a prologue and the return of what is there after them."""
    head, state = _enter(code), _restore(code, names, nulls, ())
    first, end = place
    slots = _slots(code)
    leave = _emit("BUILD_TUPLE", depth)
    leave += b"".join(_emit("LOAD_FAST", slots.index(name)) for name in kept)
    leave += _emit("BUILD_TUPLE", len(kept)) + _emit("BUILD_TUPLE", 2) + _emit("RETURN_VALUE")
    lines = _line(len(head) // 2, 0) + _nowhere(len(state) // 2)
    line = code.co_firstlineno
    for position in list(code.co_positions())[first // 2 : end // 2]:
        lines += _extent(position, line, 1)
        line = line if position[0] is None else position[0]
    return code.replace(
        co_code=head + state + code.co_code[first:end] + leave,
        co_linetable=lines + _nowhere(len(leave) // 2),
        co_exceptiontable=b"",
        co_freevars=(*code.co_freevars, _STATE),
        co_stacksize=max(code.co_stacksize, len(names) + len(nulls), depth + len(kept)) + 2,
    )


# ------------------------------------------------------------------ the prologue


def _emit(name: str, arg: int = 0) -> bytes:
    prefix = b"".join(
        bytes((dis.EXTENDED_ARG, arg >> shift & 255)) for shift in (24, 16, 8) if arg >> shift
    )
    return prefix + bytes((dis.opmap[name], arg & 255)) + bytes(2 * _CACHES.get(name, 0))


def _slots(code: CodeType) -> list[str]:
    """Variables in the order of their slots: locals, other cells, free variables."""
    other = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *other, *code.co_freevars]


def _enter(code: CodeType) -> bytes:
    """The bytecode that CPython expects at the start of a function: closures, then cells, then
    RESUME."""
    slots = _slots(code)
    cells = (_emit("MAKE_CELL", slots.index(name)) for name in code.co_cellvars)
    return _emit("COPY_FREE_VARS", len(code.co_freevars) + 1) + b"".join(cells) + _emit("RESUME")


def _restore(
    code: CodeType, names: tuple[str, ...], nulls: tuple[bool, ...], cells: tuple[str, ...]
) -> bytes:
    """Empties the state cell into locals, cells and the value stack."""
    slots = _slots(code)
    shared = (*code.co_cellvars, *code.co_freevars)
    parts = [
        _emit("LOAD_DEREF", len(slots)),
        _emit("DELETE_DEREF", len(slots)),
        _emit("UNPACK_SEQUENCE", len(names) + len(cells) + len(nulls)),
    ]
    for name in names:
        store = "STORE_DEREF" if name in shared else "STORE_FAST"
        parts.append(_emit(store, slots.index(name)))
    parts += [_emit("STORE_FAST", slots.index(name)) for name in cells]
    for name in _parameters(code):
        if name not in names and name not in cells:
            delete = "DELETE_DEREF" if name in shared else "DELETE_FAST"
            parts.append(_emit(delete, slots.index(name)))
    for depth, null in enumerate(reversed(nulls), 1):
        if null:
            parts += [_emit("PUSH_NULL"), _emit("SWAP", depth + 1), _emit("POP_TOP")]
    return b"".join(parts)


def _parameters(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _call() -> bytes:
    return (_emit("PRECALL") if "PRECALL" in dis.opmap else b"") + _emit("CALL")


def _beginning(code: bytes, offset: int) -> int:
    """Where the instruction starts, with what must run just before it: EXTENDED_ARG, and
    KW_NAMES and PRECALL, which 3.11 and 3.12 have before a CALL."""
    while offset:
        if code[offset - 2] in _BEFORE:
            offset -= 2
        elif not code[offset - 2] and code[offset - 4] == dis.opmap.get("PRECALL"):
            offset -= 4  # with its inline cache
        else:
            break
    return offset


def _next_instruction(code: bytes, offset: int) -> int:
    """The offset after the instruction at ``offset`` and its inline caches (opcode 0)."""
    while code[offset] == dis.EXTENDED_ARG:
        offset += 2
    return offset + 2 + 2 * sum(1 for _ in takewhile(lambda op: op == 0, code[offset + 2 :: 2]))


# ------------------------------------------------------------------ tables
# The formats are described in CPython's Objects/locations.md and exception_handling_notes.txt.


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 63:
        out.append(64 | value & 63)
        value >>= 6
    return bytes((*out, value))


def _signed(value: int) -> bytes:
    return _varint(-value << 1 | 1 if value < 0 else value << 1)


def _locations(kind: int, units: int, first: bytes, rest: bytes) -> bytes:
    """Entries of one kind: each covers at most eight code units."""
    out = b""
    for start in range(0, units, 8):
        out += bytes((128 | kind << 3 | min(units - start, 8) - 1,)) + (rest if start else first)
    return out


def _nowhere(units: int) -> bytes:
    return _locations(15, units, b"", b"")


def _line(units: int, delta: int) -> bytes:
    return _locations(13, units, _signed(delta), _signed(0))


def _position(code: CodeType, offset: int, units: int) -> tuple[bytes, int]:
    """Entries with the position of the instruction at ``offset``; its line, relative."""
    position = list(code.co_positions())[offset // 2]
    delta = 0 if position[0] is None else position[0] - code.co_firstlineno
    return _extent(position, code.co_firstlineno, units), delta


def _extent(position: tuple[int | None, ...], before: int, units: int) -> bytes:
    """Entries with a position, after the line ``before``."""
    line, end, column, end_column = position
    if line is None:
        return _nowhere(units)
    if end is None or column is None or end_column is None:
        return _line(units, line - before)
    extent = _varint(end - line) + _varint(column + 1) + _varint(end_column + 1)
    return _locations(14, units, _signed(line - before) + extent, _signed(0) + extent)


def _exception_table(table: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(start, length, target, depth and lasti flag), in code units."""
    numbers = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    return zip(*[iter(numbers)] * 4)


def _entry(start: int, length: int, target: int, how: int) -> bytes:
    first, *rest = (_big_endian(number) for number in (start, length, target, how))
    return bytes((first[0] | 128, *first[1:])) + b"".join(rest)


def _big_endian(value: int) -> bytes:
    digits = [value & 63]
    while value := value >> 6:
        digits.append(value & 63 | 64)
    return bytes(reversed(digits))


def _handler(code: CodeType, offset: int, start: int, length: int, shift: int) -> bytes:
    """An entry that gives ``start`` the handler of the instruction at ``offset``."""
    unit = offset // 2
    for begin, count, target, how in _exception_table(code.co_exceptiontable):
        if begin <= unit < begin + count:
            return _entry(start, length, target + shift, how)
    return b""
