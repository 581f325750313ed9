"""Calls of library functions that have no record: they run as they are, at their place.

The call is made by a small function of our own for each place in the program, with the user's file
and line, so that warnings and tracebacks say what they say without us.  It makes sure that the
result looks as predicted.  Where it does not, Python goes on after the call with what it gave: no
function runs twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.effects import happened
from npcompile.core.paths import defer
from npcompile.core.sizes import Size, symbol
from npcompile.core.tuples import is_named_tuple
from npcompile.graph.ir import CallSite, Check, Direct, Node, Resume, StaticObject
from npcompile.graph.stubs import FramePlace, Globals, Stub
from npcompile.graph.types import (
    BOOL,
    PY_BOOL,
    PY_INT,
    Array,
    Nothing,
    Opaque,
    Tuple,
    Type,
    c_strides,
    contiguous,
)
from npcompile.guards.kinds import IdentityGuard
from npcompile.ops import foreign
from npcompile.ops.foreign import Foreign
from npcompile.ops.operands import ArrayRef
from npcompile.python.composite import Reader
from npcompile.python.values import (
    NONE,
    Object,
    Sequence,
    Static,
    TensorValue,
    Value,
    described,
    shown,
)
from npcompile.tracing import observed_results, predicted_results
from npcompile.tracing.inputs import pinned
from npcompile.tracing.predicted_results import Shape, fresh_strides
from npcompile.tracing.selectors import same

if TYPE_CHECKING:
    from npcompile.python.characters import CharacterValue
    from npcompile.python.composite import Composite
    from npcompile.python.values import HeapObject
    from npcompile.tensors import tensor_memory
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tensors", "tensor_memory")


def call(
    t: Tracer, function: Any, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool
) -> Value | None:
    """``function(*args, **kwargs)``; None if it is no function that may be called so.

    ``plain``: the result goes on the stack, nothing else.
    """
    if getattr(function, "__objclass__", None) is np.ufunc and isinstance(args[0], Static):
        function, args = getattr(args[0].value, function.__name__), args[1:]
    found = foreign.find(function)
    if found is None:
        return None
    t.tells(found.path)
    args = tuple([_opened(t, a) for a in args])
    kwargs = {name: _opened(t, a) for name, a in kwargs.items()}
    allowed(t, found, args, kwargs, plain)
    if found.writes:
        return _writing(t, found, function, args, kwargs)
    shape = Shape("none", type(None))
    if found.observed:
        shape = observed_results.predict(t, found, args, kwargs)
    elif found.trial is not None:
        shape = predicted_results.predict(t, found, args, kwargs)
    return _Call(t, found, function, shape).emit(args, kwargs)


def emitted(
    t: Tracer, found: Foreign, function: Any, shape: Shape, args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> Value:
    """The value of a call whose result is predicted."""
    return _Call(t, found, function, shape).emit(args, kwargs)


def changed(
    t: Tracer, found: Foreign, function: Any, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> None:
    """The call of a function that changes a tensor's memory, its first operand; it gives
    nothing."""
    target = shown(args[0])
    shape = Shape("array", np.ndarray, target.dtype, "C", target.shape)
    made = _Call(t, found, function, shape, 0).emit((target, *args[1:]), kwargs)
    assert isinstance(made, ArrayRef)
    t.write(target, t.read(made))


def _opened(t: Tracer, value: Value) -> Value:
    """A list from outside as a list of its items."""
    if isinstance(value, Static) and value.source is not None and type(value.value) is list:
        return t.allocate(list, t.items_outside(value.value, value.source))
    return value


def allowed(
    t: Tracer, found: Foreign, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool,
    options: tuple[str, ...] = ("out", "output", "file"),
) -> None:
    """Refuses calls that could not be told from Python's; with any of some ``options``, too."""
    if t.catches():
        raise t.refuse(found.path, "may raise inside try")
    if not plain and (found.effect or found.writes):
        raise t.refuse(found.path, "is called from inside another function")
    for name, value in kwargs.items():
        given = not (isinstance(value, Static) and (value.value is None or value.value is False))
        if given and (name in options or name.startswith("overwrite")):
            raise t.refuse(found.path, f"with {name}=")
    if any(isinstance(a, Static) and callable(a.value) and not isinstance(a.value, type)
           for a in (*args, *kwargs.values())):
        raise t.refuse(found.path, "calls a function that it is given")


def _writing(
    t: Tracer, found: Foreign, function: Any, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """A function that changes its first operand: it changes a copy, which is written back."""
    place = 1 if isinstance(args[0], Object) else 0  # a method's receiver comes first
    target = args[place] if len(args) > place else None
    if not isinstance(target, ArrayRef):
        raise t.refuse(found.path, "changes something that is no array")
    if not target.writeable:
        raise t.refuse(found.path, "changes a read-only array: Python raises")
    shape = Shape("array", np.ndarray, target.dtype, "C", target.shape)
    made = _Call(t, found, function, shape, place).emit(args, kwargs)
    assert isinstance(made, ArrayRef)
    t.write(target, t.read(made))
    return NONE


class _Call(Reader[str]):
    """One call in the making: the text of the function that makes it, and its node."""

    def __init__(
        self, t: Tracer, found: Foreign, function: Any, shape: Shape, changed: int = -1
    ) -> None:
        self.t, self.found, self.shape, self.changed = t, found, shape, changed
        self.direct: Direct | None = None
        self.seeded = False
        self.nodes: list[Node] = []
        self.arrays: list[str] = []  # names of operands and results that are arrays
        self.constants: dict[str, Any] = {"f": function}
        self.lines: list[str] = []
        self.outputs: list[str] = []
        self.types: list[Type] = []
        self.stand_ins: list[str] = []  # what is given where the result is another one
        self.equal: list[tuple[int, Size]] = []  # lengths that must be these
        self.bindings: list[tuple[int, Size]] = []  # lengths that symbols are bound to

    # ------------------------------------------------------------------ the text

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def refused(self, value: Value) -> str:
        raise self.t.refuse("argument", f"{described(value)} of a library function")

    def read_number(self, value: Node) -> str:
        self.nodes.append(value)
        return f"a{len(self.nodes) - 1}"

    def read_object(self, value: Object) -> str:
        return self.read_number(value.node)

    def read_array(self, value: ArrayRef) -> str:
        name = self.read_number(self.t.read(value))
        self.arrays.append(name)
        return f"{name}.copy()" if self.found.keeps else name

    def read_tensor(self, value: TensorValue) -> str:
        self.constants["tensor"] = tensor_memory.over
        return f"tensor({self.read(value.memory)})"

    def read_tuple(self, value: Sequence) -> str:
        kind, inner = value.kind, self._each(value.items)
        if issubclass(kind, tuple) and not is_named_tuple(kind):
            return f"({inner})" if kind is tuple else f"{self.constant(kind)}(({inner}))"
        return f"{self.constant(kind)}({inner})"

    def read_list(self, value: HeapObject) -> str:
        return f"[{self._each(predicted_results.contents(self.t, value))}]"

    def read_dict(self, value: HeapObject) -> str:
        items = predicted_results.contents(self.t, value).items()
        return f"{{{''.join(f'{self.constant(k)}: {self.read(item)}, ' for k, item in items)}}}"

    def read_built(self, value: Composite) -> str:
        return f"{value.builds.__name__}({', '.join(map(self.read, value.parts()))})"

    def read_character(self, value: CharacterValue) -> str:
        return f"{self.constant(value.builds)}({self._each(value.parts())})"

    def read_constant(self, value: Static) -> str:
        held, source = value.value, value.source
        if source is not None and not pinned(held):
            if isinstance(held, (list, dict, set)) or self.t.effects.pending:
                raise self.t.refuse(source.text(), "goes to a library function as it is")
            self.t.inputs.guard(IdentityGuard(source, held))
        return self.constant(held)

    def _each(self, values: Iterable[Value]) -> str:
        return "".join(f"{self.read(value)}, " for value in values)

    def emit(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Writes the function and its node; what the call gives."""
        self.seeded = any(a is not NONE and not same(a, NONE) for a in (*args, *kwargs.values()))
        texts = list(map(self.read, args))
        texts += [f"{name}={self.read(value)}" for name, value in kwargs.items()]
        if self.changed >= 0:
            self.lines.append(f"r = {texts[self.changed]}.copy()")
            texts[self.changed] = "r"
            self.lines += [f"f({', '.join(texts)})", "return (r,)"]
            sizes = tuple([size for size in self.shape.sizes if size is not None])
            made = self._host_call((contiguous(self.shape.dtype, sizes),))
            return self.t.new(self.t.builder.get(made, 0))
        self.direct = self._direct(args, kwargs)
        self.lines.append(f"r = f({', '.join(texts)})")
        if self.found.trial is None and not self.found.observed:
            self.lines.append("return ()")
            self._host_call(())
            return NONE
        self.test(self.shape, "r")
        # the whole function again would call it twice, each time that the result is another one
        rerun = not (self.found.effect or self.found.varies or self.t.visible)
        # lengths are compared outside: where Python goes on then, it needs the result itself
        result = "r" if self.equal and not rerun else "None"
        self.lines.append(f"return ({', '.join(('True', result, *self.outputs))},)")
        return self._told(rerun)

    def _direct(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Direct | None:
        """The same call for machine code, if it draws one number."""
        kind = self.shape.type
        every = (*args, *kwargs.values())
        if not self.found.quiet or self.shape.kind != "number" or kind == PY_INT or not all(
            isinstance(a, (Node, Object, Static)) for a in every
        ):
            return None
        operands = count()
        arguments = tuple([
            StaticObject(a.value) if isinstance(a, Static) else next(operands) for a in every
        ])
        places = tuple([
            (f.code.code.co_name.encode(), f.code.code.co_filename.encode(), f.instruction.line)
            for f in reversed(self.t.frames) if f.instruction is not None
        ])
        of = kind.python_type if kind.origin == "py" else kind.dtype.type
        return Direct(self.constants["f"], arguments, tuple(kwargs), of, places)

    # ------------------------------------------------------------------ tests of the result

    def refuse(self, condition: str) -> None:
        """The result is another one than predicted where the condition holds."""
        self.lines.append(f"if {condition}: return miss(r)")

    def test(self, shape: Shape, name: str) -> None:
        """Tests one part of the result, and gives what the program needs of it."""
        match shape.kind:
            case "none":
                self.refuse(f"{name} is not None")
            case "number":
                kind = shape.type
                of = kind.python_type if kind.origin == "py" else kind.dtype.type
                self.refuse(f"type({name}) is not {self.constant(of)}")
                if of is int:
                    self.refuse(f"not -{2**63} <= {name} < {2**63}")
                self.give(name, kind, self.constant(of(0)))
            case "object":
                self.refuse(f"type({name}) is not {self.constant(shape.type)}")
                self.give(name, Opaque(shape.type), "None")
            case "tensor":
                self.constants["memory"] = tensor_memory.memory_of
                self.lines.append(f"{name}_m = memory({name})")
                self.refuse(f"{name}_m is None")
                self.array(shape.items[0], f"{name}_m", True)
            case "sequence":
                kind = self.constant(shape.type)
                self.refuse(f"type({name}) is not {kind} or len({name}) != {len(shape.items)}")
                for k, item in enumerate(shape.items):
                    part = f"{name}_{k}"
                    self.lines.append(f"{part} = {name}[{k}]")
                    self.test(item, part)
            case _:
                self.array(shape, name)

    def array(self, shape: Shape, name: str, fresh: bool = False) -> None:
        """Tests an array; ``fresh``: nobody else has its memory."""
        dtype, rank = self.constant(shape.dtype), len(shape.sizes)
        self.refuse(f"type({name}) is not ndarray or {name}.dtype != {dtype} or "
                    f"{name}.ndim != {rank}")
        flags = f"{name}.flags"
        if shape.steps:
            fits = f"{self.constant(predicted_results.is_spread)}({name})"
        elif shape.order == "C":
            fits = f"{flags}.carray"
        else:
            fits = f"({flags}.f_contiguous and {flags}.writeable and {flags}.aligned)"
        self.refuse(f"not {fits}")
        if not fresh:
            self.refuse(f"{name}.base is not None and borrowed({name})")
        if self.arrays:
            self.refuse(f"shares({name}, {', '.join(self.arrays)})")
        self.arrays.append(name)
        sizes = tuple([self._length(f"{name}.shape[{k}]", s) for k, s in enumerate(shape.sizes)])
        strides = c_strides(sizes) if shape.order == "C" else c_strides(sizes[::-1])[::-1]
        if shape.steps:
            strides = tuple([
                self._length(f"{name}.strides[{k}] // {shape.dtype.itemsize}", step)
                for k, step in enumerate(shape.steps)
            ])
        elif rank > 1:  # axes of length 1 may lie anywhere
            self.refuse(f"1 in {name}.shape and {name}.size and {name}.strides != "
                        f"{self.constant(fresh_strides)}({name}, {shape.order!r})")
        empty = self.constant(np.empty((0,) * rank, shape.dtype))
        self.give(name, Array(shape.dtype, sizes, strides), empty)

    def _length(self, text: str, size: Size | None) -> Size:
        if isinstance(size, int):
            self.refuse(f"{text} != {size}")
            return size
        if size is None:
            size = symbol(f"h{len(self.t.builder.bound)}.{len(self.outputs)}", None, 0)
            self.bindings.append((len(self.outputs), size))
        else:
            self.equal.append((len(self.outputs), size))
        self.give(text, PY_INT, "0")
        return size

    def give(self, text: str, type_: Type, stand_in: str) -> None:
        self.outputs.append(text)
        self.types.append(type_)
        self.stand_ins.append(stand_in)

    # ------------------------------------------------------------------ the node

    def _host_call(self, types: tuple[Type, ...]) -> Node:
        found = self.found
        lines, constants = self.lines, self.constants
        if found.effect and self.direct is None:
            lines, constants = ["happened()", *lines], {**constants, "happened": happened}
        text = stub(self.t, lines, len(self.nodes), constants)
        # a generator without a seed is another one at each call
        unseeded = found.path == "numpy.random.default_rng" and not self.seeded
        guarantee = "none" if unseeded else found.guarantee
        site = CallSite(found.path, text, found.effect, guarantee, self.direct)
        node = self.t.builder.emit("host_call", self.nodes, site, Tuple(types))
        self.t.takes_effect(self.found.effect)
        return node

    def _told(self, rerun: bool) -> Value:
        """The node of a call, and what its result is if it is as predicted."""
        t, builder = self.t, self.t.builder
        others = tuple(self.constants.get(s, 0) for s in self.stand_ins)
        self.constants["miss"] = partial(missed, others)
        self.constants |= {"shares": shares, "borrowed": borrowed, "ndarray": np.ndarray}
        node = self._host_call((PY_BOOL, Opaque(object), *self.types))
        holds = builder.get(node, 0)
        for position, size in self.equal:
            pair = (builder.get(node, position + 2), builder.size(size))
            both = (holds, builder.map("eq", pair, BOOL, origin="py"))
            holds = builder.emit("bit_and", both, None, PY_BOOL)
        resume = Resume(()) if rerun else t.resume_with(builder.get(node, 1))
        path = foreign.TOLD.get(self.found.path, self.found.path)
        reason = f"{path} gives a result of another kind than predicted"
        builder.emit("check", (holds,), Check(reason, resume), Nothing())
        for position, size in self.bindings:
            builder.bind(size, builder.get(node, position + 2))
        lengths = {position for position, _ in (*self.equal, *self.bindings)}
        parts = (builder.get(node, k + 2) for k in range(len(self.types)) if k not in lengths)
        return self._value(self.shape, parts)

    def _value(self, shape: Shape, parts: Iterator[Node]) -> Value:
        match shape.kind:
            case "none":
                return NONE
            case "number":
                return next(parts)
            case "object":
                return self.t.register(Object(next(parts), shape.type, shape.sample))
            case "tensor":
                return TensorValue(self._value(shape.items[0], parts))
            case "sequence":
                items = tuple([self._value(item, parts) for item in shape.items])
                return self.t.allocate(list, items) if shape.type is list else Sequence(
                    items, shape.type
                )
        if shape.steps:
            self.t.aliases.made_with_gaps()
        return self.t.new(next(parts))


def shares(array: Any, *others: Any) -> bool:
    """Whether an array may share memory with others."""
    if array.base is None:
        return any(array is other or array is other.base for other in others)
    return any(np.may_share_memory(array, other) for other in others)


def borrowed(array: Any) -> bool:
    """Whether an array's memory belongs to an object of another kind, which others may know."""
    owner = array.base
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return owner is not None and type(owner).__name__ != "PyCapsule"  # of C code, made for it


def missed(others: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    """Packs a stub's results for a call whose result is not as predicted."""
    return (False, result, *others)


def stub(t: Tracer, lines: list[str], count: int, constants: dict[str, Any]) -> Stub:
    """A function of ``count`` operands whose frames look like those of the program now."""
    places = []
    for frame in t.frames:
        assert frame.instruction is not None
        code, line = frame.code.code, frame.instruction.line
        names = (code.co_filename, code.co_name, code.co_qualname)
        places.append(FramePlace(*names, line, Globals(frame.space)))
    return Stub(tuple(lines), count, dict(constants), tuple(places))
