"""Continuations: going on from any point gives what running straight through gives."""

from __future__ import annotations

import ctypes
import dis
import sys
import weakref
from collections.abc import Callable
from functools import cache, partial
from types import CellType, CodeType, FrameType, FunctionType, TracebackType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile.graph.ir import Resume, ResumeFrame, StaticObject
from npcompile.runtime.versions.resume import (
    NULL,
    Activation,
    activations,
    continuation,
    prepare,
    resume,
)
from tests.support import oracle

# ------------------------------------------------------------------ the functions that are left
# Many split expressions over lines: a new line inside an expression is a point with a full stack.


class Log:
    """A context manager that writes down what happens to it."""

    def __init__(self, swallow: bool = False) -> None:
        self.events: list[str] = []
        self.swallow = swallow

    def __enter__(self) -> Log:
        self.events.append("in")
        return self

    def __exit__(self, kind: Any, error: Any, tb: Any) -> bool:
        self.events.append("out" if kind is None else f"{kind.__name__} {tb.tb_lineno}")
        return self.swallow


def loops(n):
    total = 0
    for i in range(n):
        for j in [1, 2, i]:
            total += (i *
                      (j + total))
            if total > 900:
                break
        else:
            total -= 1
    while total > 7:
        total //= 3
    return total, i, j


def handlers(values):
    out = []
    for v in values:
        try:
            try:
                w = 10 / v
            finally:
                out.append(
                    v)
            out.append(w)
        except ZeroDivisionError:
            out.append("zero")
    return out


def managers(n, swallow):
    log = Log(swallow)
    with log as a, Log() as b:
        a.events.append(n)
        b.events.append(
            1 // n)
    with log:
        n += 1
    return log.events, b.events, n


def comprehensions(n):
    squares = [i * i
               for i in range(n)
               if i != 2]
    table = {k: [k +
                 v for v in squares] for k in squares}
    squares = sum(len(v) for v in [squares])
    return table, squares


def helper(x, *rest, scale=2, **more):
    y = x * scale
    if y > 20:
        raise ValueError(f"{y} is too much")
    for r in rest:
        y += r
    return y + sum(more[k] for k in [])


def calls(n):
    a = helper(n)
    try:
        b = helper(n,
                   1, 2,
                   scale=a)
    except ValueError as error:
        b = str(error)
    c = (helper(1), helper(
        *[n, 3], **{"scale": 1}))  # noqa: PIE804
    return a, b, c, helper(n, scale=3, z=4)


def closures(n):
    shared = [n]
    count = 0

    def bump(by):
        nonlocal count
        count += by
        shared.append(
            count)
        return n + count

    first = bump(1)
    n += 5
    second = (bump(2) +
              bump(3))
    del first
    return second, count, shared, n


class Base:
    def scale(self, x):
        return x * 3


class Child(Base):
    def scale(self, x, /, power=1, *args, extra=0, **kw):
        y = super().scale(x)
        y += len(args) + len(kw)
        keep = lambda: (self, y)  # noqa: E731
        y **= power
        return keep()[1] + (super().scale(y) +
                            extra)


def methods(n):
    c = Child()
    return (c.scale(n, 2, 7, extra=1, z=3),
            Child.scale(c, n))


def unbound(flag):
    b = [2]
    if flag:
        a = 1
    del flag
    return a, b, flag  # noqa: F821


def unwound(n):
    for i in [3, n]:
        j = i - 1
    return deep(j,
                i)


def deep(j, i):
    with Log():
        return helper(j, scale=[
            deeper(i)][0])


def deeper(i):
    if i < 0:
        raise KeyError(i)
    return i // (i - 1)


CASES: list[tuple[Callable[..., object], tuple[object, ...]]] = [
    (loops, (6,)),
    (loops, (0,)),
    (handlers, ([1, 0, 4],)),
    (managers, (1, False)),
    (managers, (0, False)),
    (managers, (0, True)),
    (comprehensions, (4,)),
    (calls, (3,)),
    (calls, (12,)),
    (closures, (2,)),
    (methods, (2,)),
    (unbound, (True,)),
    (unbound, (False,)),
    (unwound, (2,)),
    (unwound, (1,)),
    (unwound, (-1,)),
]

# ------------------------------------------------------------------ reading live frames
# Offsets inside CPython's frames, the same in 3.11, 3.12 and 3.13.
_FRAME, _STACKTOP, _SLOTS = 24, 64, 72


def slots(frame: FrameType) -> list[Any]:
    """The slots of a live frame: variables, then the value stack."""
    inner = ctypes.c_void_p.from_address(id(frame) + _FRAME).value
    assert inner is not None
    top = ctypes.c_int.from_address(inner + _STACKTOP).value
    assert top >= 0, "only frames that are traced or in a call have saved their stack"
    found = []
    for address in range(inner + _SLOTS, inner + _SLOTS + 8 * top, 8):
        empty = ctypes.c_void_p.from_address(address).value is None
        found.append(NULL if empty else ctypes.py_object.from_address(address).value)
    return found


def activation(frame: FrameType) -> Activation:
    code = frame.f_code
    other = [name for name in code.co_cellvars if name not in code.co_varnames]
    names = [*code.co_varnames, *other]
    values = slots(frame)
    free = len(names) + len(code.co_freevars)
    own = dict(zip(names, values))
    return Activation(
        code,
        frame.f_globals,
        tuple(values[len(names) : free]),
        frame.f_lasti,
        {k: v for k, v in own.items() if v is not NULL and k not in code.co_cellvars},
        values[free:],
        {k: v for k, v in own.items() if k in code.co_cellvars},
    )


class Stop(BaseException):
    """Ends a run that was left."""


Finished = tuple[oracle.Outcome, list[tuple[object, ...]]]


def finished(call: Callable[..., object], *args: object) -> Finished:
    """The outcome of a call, and the functions and positions that an exception passed."""
    found = oracle.observe(partial(call, *args))
    trace = found.error.__traceback__ if found.error is not None else None
    return found, passed(trace.tb_next if trace is not None else None)


def as_plain(got: Finished, want: Finished, where: str) -> None:
    text = oracle.difference(got[0], want[0])
    assert not text, f"{where}: {text}"
    assert got[1] == want[1], where


def passed(tb: TracebackType | None) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    while tb is not None:
        code = tb.tb_frame.f_code
        # 3.11 joins instructions, which then report the position of the first
        fine = sys.version_info >= (3, 12)
        position = list(code.co_positions())[tb.tb_lasti // 2] if fine else None
        found.append((code.co_name, code.co_filename, tb.tb_lineno, position))
        tb = tb.tb_next
    return found


def leave(function: FunctionType, args: tuple[object, ...], stop: int) -> Any:
    """Runs to the ``stop``-th point and goes on there in continuations; None: no such point."""
    seen, result = 0, None
    opcodes = sys.version_info < (3, 12)  # later versions save the stack at new lines only

    def frames_of(frame: FrameType) -> list[Activation]:
        chain = [frame]
        while chain[-1].f_code is not function.__code__:
            assert chain[-1].f_back is not None
            chain.append(chain[-1].f_back)
        return [activation(f) for f in reversed(chain)]

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal seen, result
        if frame.f_code.co_filename != __file__:
            return None
        frame.f_trace_opcodes = opcodes
        if event != ("opcode" if opcodes else "line") or not can_leave(frame, function):
            return trace
        seen += 1
        if seen == stop:
            sys.settrace(None)
            result = finished(prepare(frames_of(frame)))
            raise Stop
        return trace

    sys.settrace(trace)
    try:
        function(*args)
    except (Stop, Exception):
        pass
    finally:
        sys.settrace(None)
    return result


PUSHES_ERROR = dis.opmap["PUSH_EXC_INFO"]


@cache
def beginning(code: CodeType) -> int:
    """Where a frame is entered, found once: this is asked at each line of each run."""
    return next(i.offset for i in dis.get_instructions(code) if i.opname == "RESUME")


def can_leave(frame: FrameType, function: FunctionType) -> bool:
    """Whether the frame is entered, handles no exception, and hangs by Python calls only."""
    code = frame.f_code
    if frame.f_lasti <= beginning(code) or code.co_code[frame.f_lasti] == PUSHES_ERROR:
        return False
    if sys.exc_info()[0] is not None:
        return False
    at: FrameType | None = frame
    while at is not None and at.f_code is not function.__code__:
        if at.f_code.co_name in ("__init__", "__exit__", "__enter__", "<genexpr>"):
            return False
        at = at.f_back
    return at is not None


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_goes_on_from_every_point(function: FunctionType, args: tuple[Any, ...]) -> None:
    fresh = lambda: tuple(list(a) if isinstance(a, list) else a for a in args)  # noqa: E731
    want = finished(function, *fresh())
    stop = 1
    while (got := leave(function, fresh(), stop)) is not None:
        as_plain(got, want, f"left at point {stop}")
        stop += 1
    assert stop > 4


# ------------------------------------------------------------------ random functions

LEAVES = [
    "a = a * 3 + b",
    "b -= a % 5",
    "c.append(a)",
    "a = (b +\n     len(c))",
    "b = helper(a % 9,\n     b % 4)",
    "b = [x +\n     a for x in c[-2:]][-1:] == [b]",
    "a //= b % 3",
    "a = (lambda: b)() + \\\n     (lambda q: q + a)(1)",
    "del b\nb = 4",
]
HEADS = [
    ("for i in range(3):", None),
    ("for j in [a, b]:", None),
    ("if a % 2:", "else:"),
    ("while a % 3 and len(c) < 9:\n    c.append(0); a += 1", "else:"),
    ("try:", "except ZeroDivisionError:"),
    ("try:", "finally:"),
    ("with Log(a % 2 == 0):", None),
]
LAST = ["", "", "return a, b", "raise KeyError(a)"]


def block(draw: Callable[..., Any], depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        if depth and draw(st.booleans()):
            head, other = draw(st.sampled_from(HEADS))
            lines += head.split("\n")
            lines += ["    " + line for line in block(draw, depth - 1)]
            if other:
                lines += [other, *("    " + line for line in block(draw, depth - 1))]
        else:
            lines += draw(st.sampled_from(LEAVES)).split("\n")
    return lines + [line for line in [draw(st.sampled_from(LAST))] if line]


@settings(max_examples=40)
@given(st.data())
def test_random_functions(data: st.DataObject) -> None:
    lines = [*block(data.draw, 3), "return a, b, c"]
    source = "def f(a, b, c):\n" + "".join(f"    {line}\n" for line in lines)
    space = dict(globals())
    exec(compile(source, __file__, "exec"), space)
    want = finished(space["f"], 7, 2, [1])
    stop = 1
    while stop < 150 and (got := leave(space["f"], (7, 2, [1]), stop)) is not None:
        as_plain(got, want, f"left at point {stop} of\n{source}")
        stop += 7 if sys.version_info < (3, 12) else 2


# ------------------------------------------------------------------ details


def offset_of(function: FunctionType, opname: str, which: int = 0) -> int:
    found = [i.offset for i in dis.get_instructions(function) if i.opname == opname]
    return found[which]


def test_result_of_the_inner_frame_is_pushed() -> None:
    def outer(x):
        return x + inner(x) * 2

    def inner(x):
        return x - 1

    multiply = offset_of(inner, "BINARY_OP")
    call = offset_of(outer, "CALL")
    frames = [
        Activation.of(outer, call, {"x": 10}, [10]),
        Activation.of(inner, multiply, {"x": 10}, [7, 1]),
    ]
    assert resume(frames) == 10 + (7 - 1) * 2


def test_shared_cells_stay_shared() -> None:
    def outer():
        count = 1
        bump = lambda: count  # noqa: E731
        count = 2
        return bump, count

    cell = CellType(5)
    bump = next(c for c in outer.__code__.co_consts if isinstance(c, CodeType))
    sees = FunctionType(bump, {}, closure=(cell,))
    start = offset_of(outer, "STORE_DEREF", 1)
    got, count = resume([Activation.of(outer, start, {"bump": sees}, [9], {"count": cell})])
    assert got() == count == cell.cell_contents == 9


def test_from_a_descriptor() -> None:
    scale = 3

    def outer(x):
        return inner(x) + scale

    def inner(x):
        return x - 1

    call, minus = offset_of(outer, "CALL"), offset_of(inner, "BINARY_OP")
    held = [StaticObject(v) for v in (5, 1)]
    frames = (
        ResumeFrame(outer.__code__, call, (("x", held[0]),), (), "outer"),
        ResumeFrame(inner.__code__, minus, (), tuple(held), "inner"),
    )
    owners = {"outer": outer, "inner": inner}
    found = activations(Resume(frames), lambda tree: tree.value, lambda owner: owners[owner])
    assert resume(found) == 7


def test_free_variables_are_written_through() -> None:
    total = 3

    def add(x):
        nonlocal total
        total += x
        return total

    start = offset_of(add, "BINARY_OP")
    assert resume([Activation.of(add, start, {"x": 4, "total": 10}, [10, 4])]) == 14 == total


def test_values_are_released_as_python_does() -> None:
    class Thing:
        pass

    def consume(thing):
        ref = weakref.ref(thing)
        del thing
        return ref()

    start = offset_of(consume, "DELETE_FAST")
    thing = Thing()
    function = prepare(
        [Activation.of(consume, start, {"thing": thing, "ref": weakref.ref(thing)})]
    )
    del thing
    assert function() is None


def test_many_variables_and_a_long_way() -> None:
    names = [f"v{i}" for i in range(300)]
    body = "\n".join(f"    {n} = {i} + k" for i, n in enumerate(names))
    source = f"def wide(k):\n{body}\n    return [{', '.join(names)}]\n"
    space: dict[str, Any] = {}
    exec(compile(source, "wide.py", "exec"), space)
    wide = space["wide"]
    stores = [i.offset for i in dis.get_instructions(wide) if i.argval == "v290"]
    local = {"k": 1, **{n: -i for i, n in enumerate(names[:290])}}
    got = resume([Activation.of(wide, stores[0], local, [7])])
    assert got == [-i for i in range(290)] + [7] + [i + 1 for i in range(291, 300)]


def test_equal_code_of_different_files_is_told_apart() -> None:
    files = []
    for name in ("one.py", "two.py"):
        space: dict[str, Any] = {}
        exec(compile("def f(x):\n    return 1 // x\n", name, "exec"), space)
        start = offset_of(space["f"], "BINARY_OP")
        with pytest.raises(ZeroDivisionError) as caught:
            resume([Activation.of(space["f"], start, {"x": 0}, [1, 0])])
        files.append(caught.traceback[-1].frame.code.raw.co_filename)
    assert files == ["one.py", "two.py"]


def test_refuses_what_it_cannot_do() -> None:
    def generator():
        yield 1

    with pytest.raises(ValueError, match="generator"):
        continuation(generator.__code__, 4, ())
    with pytest.raises(ValueError, match="no instruction"):
        continuation(offset_of.__code__, 10**6, ())
    with pytest.raises(ValueError, match="no frame"):
        prepare([])


def test_locals_and_tracing_look_as_ever() -> None:
    def show(a, *rest):
        b = [a]
        inner = lambda: b  # noqa: E731
        seen = dict(locals())
        del inner
        return seen

    start = offset_of(show, "LOAD_GLOBAL")
    cell = CellType([1])
    lines: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_name == "show":
            lines.append((event, frame.f_lineno - show.__code__.co_firstlineno))
        return trace

    function = prepare([Activation.of(show, start, {"rest": (2,), "inner": 1}, [], {"b": cell})])
    sys.settrace(trace)
    seen = function()
    sys.settrace(None)
    assert seen == {"rest": (2,), "b": [1], "inner": 1}
    assert [line for event, line in lines if event == "line"][-2:] == [4, 5]
