"""Operators of the language and calls: resolved by the identity of the function object."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_INT
from npcompile.ops import python
from npcompile.ops.operands import ArrayRef
from npcompile.ops.record import Op, resolve
from npcompile.tracing import (
    attributes,
    consumers,
    containers,
    devices,
    growing,
    hosts,
    iteration,
    tensors,
)
from npcompile.tracing.bytecode import analyse
from npcompile.tracing.sources import Attribute, Default, Source
from npcompile.tracing.values import (
    NULL,
    UNBOUND,
    Box,
    Dead,
    Frame,
    Function,
    Growing,
    Iterator,
    Method,
    Partial,
    Sequence,
    State,
    Static,
    Value,
    boolean,
    python_class,
)

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert,
}
#: operands that are computed with while tracing: nothing of theirs warns or changes
_PLAIN = (bool, int, float, complex, str, bytes, tuple, type, type(None), np.dtype, slice, range)

#: objects that are one wherever they are found: nothing is added by guarding their identity
_SINGLE = (bool, type(None), type(Ellipsis), type, np.ufunc)


def executed(t: Tracer, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
    """Runs a pure function on known objects; what it raises, Python raises here."""
    try:
        with np.errstate(all="raise"):
            return t.value(function(*args, **kwargs))
    except FloatingPointError as error:
        raise t.refuse(function.__name__, f"{error}: Python warns at each call") from None
    except Exception:
        raise Dead from None


def _plain(t: Tracer, *values: Value) -> list[Any] | None:
    """The objects that values are, if they may be computed with now."""
    found = []
    for value in values:
        known, held = t.known(value) if not isinstance(value, Node) else (False, None)
        if not known or not (type(held) in _PLAIN or isinstance(held, np.dtype)):
            return None
        found.append(held)
    return found


# ---------------------------------------------------------------------- operators


def binary(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """``left symbol right``; with ``=`` at the end of the symbol, in place."""
    plain = symbol.rstrip("=")
    if tensors.among((left, right)):
        return tensors.binary(t, symbol, left, right)
    held = _plain(t, left, right)
    if held is not None:
        return executed(t, _BINARY[plain], *held)
    joined = _sequences(t, symbol, left, right)
    if joined is not None:
        return joined
    if plain == "**" and isinstance(right, Node) and right.op != "const" and (
        _is_int(left) and _is_int(right)
    ):
        return _power(t, left, right)
    if symbol != plain:
        devices.check_in_place(t, left)
    if symbol != plain and isinstance(left, ArrayRef):
        return _keep(t, left, plain, right)
    return _remember(t, plain, left, right, t.operate(python.binary, plain, left, right))


def _is_int(value: Value) -> bool:
    """Whether it is an int of Python's."""
    return python_class(value) in (int, bool)


def _power(t: Tracer, base: Value, exponent: Node) -> Value:
    """An int to a power that the run finds; a negative one gives a float, by Python."""
    if t.known(base) == (True, 2):
        return binary(t, "<<", Static(1), exponent)
    return consumers.follow(t, consumers.power, base, exponent)


_SIZES: dict[str, Callable[[Size, Size], Size]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}


def _remember(t: Tracer, symbol: str, left: Value, right: Value, made: Value) -> Value:
    """Keeps which size a computed integer is; that it fits into 64 bits has been checked."""
    if symbol in _SIZES and isinstance(made, Node) and made.type == PY_INT:
        first, second = _size(t, left), _size(t, right)
        if first is not None and second is not None:
            t.builder.known[made] = _SIZES[symbol](first, second)
    return made


def _size(t: Tracer, value: Value) -> Size | None:
    if isinstance(value, Node):
        return t.builder.known_size(value) if value.type == PY_INT else None
    return value.value if isinstance(value, Static) and type(value.value) is int else None


def _inplace(t: Tracer, symbol: str, left: Any, right: Any) -> Any:
    return python.inplace(t, symbol, left, right)


def _keep(t: Tracer, left: ArrayRef, symbol: str, right: Value) -> Value:
    """An array that is changed in place stays the same object."""
    t.operate(_inplace, symbol, left, right)
    return left


def _sequences(t: Tracer, symbol: str, left: Value, right: Value) -> Value | None:
    """``+`` and ``*`` of tuples and lists."""
    kinds = [python_class(v) for v in (left, right)]
    plain = symbol.rstrip("=")
    grown = [isinstance(v, Box) and isinstance(t.cells[v], Growing) for v in (left, right)]
    if plain == "+" and kinds[0] is kinds[1] is list and any(grown):
        made = left if symbol != plain else containers.METHODS[list.copy](t, left)
        containers.METHODS[list.extend](t, made, right)
        return made
    if plain == "+" and kinds[0] is kinds[1] and kinds[0] in (tuple, list):
        joined = (*iteration.items(t, left), *iteration.items(t, right))
    elif plain == "*" and kinds[0] in (tuple, list) and not isinstance(right, ArrayRef):
        return _repeated(t, symbol, left, right)
    elif plain == "*" and kinds[1] in (tuple, list) and not isinstance(left, ArrayRef):
        return _repeated(t, symbol, right, left)
    else:
        return None
    return _joined(t, symbol, left, joined)


def _joined(t: Tracer, symbol: str, left: Value, items: tuple[Value, ...]) -> Value:
    """The result of ``+`` or ``*``."""
    if len(items) > 4096:
        raise t.refuse("sequence", "is too long to follow item by item")
    if symbol.endswith("=") and python_class(left) is list:
        t.cells[containers.own(t, left)] = items
        return left
    return Sequence(items) if python_class(left) is tuple else t.box(list, items)


def _repeated(t: Tracer, symbol: str, sequence: Value, times: Value) -> Value:
    """``sequence * times``"""
    items = iteration.items(t, sequence)
    if python_class(sequence) is list and isinstance(times, Node) and not symbol.endswith("="):
        box = t.register(Box(list, place=t.place()))
        wanted = t.columns.get(box.place)
        if wanted is not None:
            t.cells[box] = growing.repeated(t, items, times, wanted)
            return box
        growing.wish(t, box, items, False)
    return _joined(t, symbol, sequence, items * _repetitions(t, times))


def _repetitions(t: Tracer, value: Value) -> int:
    """How often a sequence is repeated."""
    held = t.static(value, "a repetition")
    if type(held) not in (int, bool):
        raise t.refuse("*", f"a repetition by a {type(held).__name__} is left to Python")
    return int(held)


def unary(t: Tracer, symbol: str, value: Value) -> Value:
    if tensors.is_tensor(value):
        return tensors.unary(t, symbol, value)
    held = _plain(t, value)
    if held is not None:
        return executed(t, _UNARY[symbol], *held)
    return t.operate(python.unary, symbol, value)


def compare(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    if tensors.among((left, right)):
        return tensors.compare(t, symbol, left, right)
    held = _plain(t, left, right)
    if held is not None:
        return executed(t, _BINARY[symbol], *held)
    for one in (left, right):
        if isinstance(one, Static) and (one.value is None or isinstance(one.value, str)):
            return _unlike(t, symbol, left, right)
    kinds = [python_class(v) for v in (left, right)]
    if kinds[0] is kinds[1] and kinds[0] in (tuple, list) and symbol in ("==", "!="):
        return _compare_sequences(t, symbol, left, right)
    if isinstance(left, Static) and isinstance(right, Static):
        return _compare_objects(t, symbol, left, right)
    return t.operate(python.compare, symbol, left, right)


def _unlike(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """A number compared with None or a string."""
    if symbol in ("==", "!=") and not isinstance(left, ArrayRef) and not isinstance(
        right, ArrayRef
    ):
        return boolean(symbol == "!=")
    raise t.refuse(symbol, "between an array and something that is no number")


def _compare_objects(t: Tracer, symbol: str, left: Static, right: Static) -> Value:
    """Objects that compare by identity."""
    by_identity: Any = object.__eq__
    plain = all(type(x.value).__eq__ is by_identity for x in (left, right))
    if symbol not in ("==", "!=") or not plain:
        raise t.refuse(symbol, f"of a {type(left.value).__name__} is left to Python")
    return boolean(identical(t, left, right) == (symbol == "=="))


def _compare_sequences(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """Tuples or lists, item by item, where the items decide now."""
    first, second = iteration.items(t, left), iteration.items(t, right)
    equal = len(first) == len(second)
    for a, b in zip(first, second):
        if not equal:
            break
        verdict = truth(t, compare(t, "==", a, b))
        equal = bool(t.static(verdict, "the equality of two sequences"))
    return boolean(equal == (symbol == "=="))


def truth(t: Tracer, value: Value) -> Value:
    """``bool(value)``: TRUE, FALSE or a traced bool."""
    match value:
        case Static(held, source) if source is not None and type(held) in (list, dict):
            t.inputs.guard(source, "length", len(held))
            return boolean(bool(held))
        case Static(held, source) if _computes_truth(type(held)) or (
            source is not None and _changes_truth(held)
        ):
            raise t.refuse("truth", f"of a {type(held).__name__} is computed by Python")
        case Static(held):
            return boolean(bool(held))
        case Sequence() if tensors.is_tensor(value):
            return tensors.truth(t, value)
        case Sequence(items):
            return boolean(bool(items))
        case Box() if value.kind in (list, dict):
            held = t.cells[value]
            return growing.truth(t, held) if isinstance(held, Growing) else boolean(bool(held))
        case Function() | Method() | Partial() | Iterator():
            return boolean(True)
    found = t.operate(python.truth, value)
    return boolean(bool(found.value)) if isinstance(found, Static) else found


def _changes_truth(held: Any) -> bool:
    """Whether an object's truth may be another one at the next call."""
    own = any(hasattr(type(held), name) for name in ("__bool__", "__len__"))
    return own and not isinstance(held, (*containers.LASTING, type(None)))


def _computes_truth(kind: type) -> bool:
    """Whether a class has its own Python code for ``bool``."""
    return any(
        isinstance(getattr(kind, name, None), FunctionType) for name in ("__bool__", "__len__")
    )


def identical(t: Tracer, left: Value, right: Value) -> bool:
    """``left is right``."""
    if tensors.is_tensor(left) and tensors.is_tensor(right):
        return identical(t, tensors.array(left), tensors.array(right))
    if left is right and not isinstance(left, Node):
        return True
    if isinstance(left, Static) and isinstance(right, Static):
        for one in (left, right):
            if one.source is not None and not isinstance(one.value, _SINGLE):
                t.inputs.guard(one.source, "is", one.value)
        return left.value is right.value
    if isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        t.lending.compares()
        if left.cell.param >= 0 and right.cell.param >= 0:
            raise t.refuse("is", "between two arrays from outside")
        return False
    if python_class(left) is not python_class(right):
        return False
    if isinstance(left, Box) and isinstance(right, Box):
        return False
    raise t.refuse("is", "between objects whose identity is not followed")


# ---------------------------------------------------------------------- calls


def call(
    t: Tracer, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value],
    plain: bool = False,
) -> Value:
    """``function(*args, **kwargs)``; ``plain``: the result goes on the stack, nothing else."""
    match function:
        case Function():
            return inline(t, function, args, kwargs, plain)
        case Method(inner, receiver):
            return call(t, inner, (receiver, *args), kwargs, plain)
        case Partial(inner, first, keywords):
            return call(t, inner, first + args, {**keywords, **kwargs}, plain)
        case Static(held, source):
            return _call_object(t, held, source, args, kwargs, plain)
    raise t.refuse("call", f"of a {type(function).__name__.lower()}")


def _call_object(
    t: Tracer, held: Any, source: Source | None, args: tuple[Value, ...],
    kwargs: dict[str, Value], plain: bool,
) -> Value:
    from npcompile.tracing import appliers
    from npcompile.tracing.functions import FUNCTIONS, executable

    if getattr(held, "__objclass__", None) is np.ufunc and args and isinstance(args[0], Static):
        held, args = getattr(args[0].value, held.__name__), args[1:]  # of one ufunc
    held = devices.function(t, held)
    found = tensors.called(t, held, args, kwargs)
    if found is not None:
        return found
    special = FUNCTIONS.get(held) if hashable(held) else None
    if special is not None:
        found = special(t, args, kwargs)
        if found is not NULL:
            return found
    if executable(t, held, args, kwargs):
        known = [t.known(v)[1] for v in args]
        return executed(t, held, *known, **{k: t.known(v)[1] for k, v in kwargs.items()})
    op = resolve(_ufunc_of(held, args))
    if op is not None:
        return _recorded(t, op, held, args, kwargs, plain)
    called = hosts.call(t, held, args, kwargs, plain)
    if called is not None:
        return called
    if isinstance(held, FunctionType) and not _of_library(held):
        if source is None:
            raise t.refuse(held.__qualname__, "is a function whose place is not known")
        return inline(t, _from_outside(t, held, source), args, kwargs, plain)
    if isinstance(held, type):
        return _construct(t, held, source, args, kwargs)
    if isinstance(held, np.vectorize) and source is not None:
        return call(t, appliers.vectorized(t, held, source), args, kwargs)
    if isinstance(held, (staticmethod, classmethod)):
        raise t.refuse(type(held).__name__, "called directly")
    wrapped = _compiled(held)
    if wrapped is not None and source is not None:
        return call(t, t.inputs.lift(wrapped, Attribute(source, "__wrapped__")), args, kwargs)
    return _call_instance(t, held, source, args, kwargs)


#: functions of NumPy's that take no list for the array that they write
_WRITING = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"})


def _arrays(t: Tracer, op: Op, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """Lists of a length that only the run knows, as NumPy's functions take them."""
    first = op.aliases[0] if op.aliases else op.reference
    if not first.startswith("numpy:") or op.name in _WRITING:
        return args
    return tuple(
        growing.as_array(t, t.cells[arg])
        if isinstance(arg, Box) and isinstance(t.cells[arg], Growing) else arg
        for arg in args
    )


def inlines(t: Tracer, function: Value) -> bool:
    """Whether a call only hands its arguments to a function of the program."""
    from npcompile.tracing.functions import FUNCTIONS

    if isinstance(function, Method):
        return inlines(t, function.function)
    if isinstance(function, Function):
        return True
    held = function.value if isinstance(function, Static) else None
    return (
        isinstance(held, FunctionType) and held not in FUNCTIONS and resolve(held) is None
        and not _of_library(held)
    )


def hashable(held: Any) -> bool:
    return type(held).__hash__ is not None


#: methods that give the same for a number as for an array without axes
_OF_NUMBERS = frozenset([
    "sum", "prod", "min", "max", "mean", "std", "var", "any", "all", "argmin", "argmax", "ptp",
    "round", "clip", "astype", "view", "item", "tolist", "reshape", "ravel", "conj", "conjugate",
    "dot",
])


def _ufunc_of(held: Any, args: tuple[Value, ...]) -> Any:
    """Methods of NumPy's numbers are found as those of arrays."""
    owner = getattr(held, "__objclass__", None)
    if owner is not None and owner is not np.ndarray and issubclass(owner, np.generic):
        return getattr(np.ndarray, held.__name__, held) if held.__name__ in _OF_NUMBERS else held
    return held


def _recorded(
    t: Tracer, op: Op, held: Any, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool
) -> Value:
    """Calls a record; what it refuses, the library's own function may do in its place."""
    mark, writes = t.builder.mark(), t.writes
    try:
        return t.operate(_call_record, Static(op), _arrays(t, op, args), kwargs)
    except Refused:
        if t.writes != writes:
            raise
        t.builder.rollback(mark)
        try:
            called = hosts.call(t, held, args, kwargs, plain)
        except Refused:
            called = None
        if called is None:
            raise
        return called


def _call_record(t: Tracer, op: Any, args: Any, kwargs: Any) -> Any:
    return op.kind.call(op, t, args, kwargs)


def record(t: Tracer, function: Any, args: tuple[Value, ...]) -> Value:
    """Calls the record of a function of Python's."""
    op = resolve(function)
    if op is None:
        raise t.refuse(function.__name__, "of data is left to Python")
    return t.operate(_call_record, Static(op), args, {})


def _of_library(function: FunctionType) -> bool:
    name = function.__globals__.get("__name__", "")
    return attributes.is_library(sys.modules.get(name))


def _compiled(held: Any) -> FunctionType | None:
    """The Python function inside a compiled one of ours."""
    if type(held).__module__.partition(".")[0] == "npcompile":
        wrapped = getattr(held, "__wrapped__", None)
        return wrapped if isinstance(wrapped, FunctionType) else None
    return None


def _call_instance(
    t: Tracer, held: Any, source: Source | None, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """An object with a ``__call__`` of its own, or something unknown."""
    method = None
    if source is not None and not isinstance(held, (BuiltinFunctionType, np.ufunc)):
        method = attributes.method(t, Static(held, source), "__call__")
    if isinstance(method, Static) and isinstance(method.value, FunctionType):
        return call(t, method, (Static(held, source), *args), kwargs)
    name = getattr(held, "__qualname__", None) or getattr(held, "__name__", None) or repr(held)
    name = name.removeprefix("function ")  # as f2py calls its routines
    module = getattr(held, "__module__", None)
    where = f"{module}." if module and module != "builtins" else ""
    raise t.refuse(f"{where}{name}", "is a function that is not known here")


def _from_outside(t: Tracer, function: FunctionType, source: Source) -> Function:
    """A plain function; its guard covers code and defaults."""

    def default(value: Any, name: str) -> Value:
        if isinstance(value, (np.ndarray, list, dict)):
            return t.inputs.lift(value, Default(name, source))
        return t.value(value)

    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    named = function.__kwdefaults__ or {}
    return Function(
        code,
        function.__globals__,
        source,
        function.__qualname__,
        tuple(map(default, values, names)),
        {name: default(value, name) for name, value in named.items()},
        t.free_variables(function, source),
    )


def inline(
    t: Tracer, f: Function, args: tuple[Value, ...], kwargs: dict[str, Value],
    plain: bool = False, transparent: bool = False,
) -> Value:
    """Follows a function; see :class:`~npcompile.tracing.values.Frame` for the options."""
    variables = _bind(t, f, args, kwargs)
    code = analyse(f.code)
    variables += [UNBOUND] * (len(code.names) - len(variables))
    state = State(variables, [], t.cells)
    frame = Frame(code, f.space, f.owner, f.closure, state, plain, transparent)
    return t.enter(frame)


def _bind(
    t: Tracer, f: Function, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> list[Value]:
    """Arguments as local variables; what does not fit raises in Python."""
    code = f.code
    positional, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:total]
    variables: list[Value] = [UNBOUND] * total
    variables[: min(len(args), positional)] = args[:positional]
    extra: dict[str, Value] = {}
    for name, value in kwargs.items():
        place = names.index(name, code.co_posonlyargcount) if (
            name in names[code.co_posonlyargcount :]
        ) else -1
        if place < 0:
            extra[name] = value
        elif variables[place] is UNBOUND:
            variables[place] = value
        else:
            raise Dead
    first = positional - len(f.defaults)
    for place in range(total):
        if variables[place] is UNBOUND:
            if place >= positional and names[place] in f.keyword_defaults:
                variables[place] = f.keyword_defaults[names[place]]
            elif first <= place < positional:
                variables[place] = f.defaults[place - first]
            else:
                raise Dead
    return variables + _rest(t, f, args[positional:], extra)


def _rest(
    t: Tracer, f: Function, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> list[Value]:
    """``*args`` and ``**kwargs``."""
    rest: list[Value] = []
    if f.code.co_flags & 0x04:
        rest.append(Sequence(args))
    elif args:
        raise Dead
    if f.code.co_flags & 0x08:
        rest.append(t.box(dict, dict(kwargs)))
    elif kwargs:
        raise Dead
    return rest


# ---------------------------------------------------------------------- classes


def _construct(
    t: Tracer, kind: type, source: Source | None, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """An instance of a plain class or a named tuple."""
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and fields is not None:
        return _named_tuple(t, kind, fields, args, kwargs)
    if issubclass(kind, BaseException):
        return t.box(kind, {})  # it can only be raised
    plain_new: Any = object.__new__
    plain = (type(kind) is type and kind.__new__ is plain_new and kind.__dictoffset__ != 0
             and not _has_slots(kind))
    if not plain or source is None:
        raise t.refuse(kind.__qualname__, "is a class whose instances only Python makes")
    box = t.box(kind, {}, source)
    held: Any = inspect.getattr_static(kind, "__init__")
    if held is object.__init__:
        if args or kwargs:
            raise Dead
        return box
    init = t.inputs.lift(held, Attribute(source, "__init__"))
    call(t, init, (box, *args), kwargs)
    return box


def _has_slots(kind: type) -> bool:
    return any("__slots__" in c.__dict__ for c in kind.__mro__[:-1])


def _named_tuple(
    t: Tracer, kind: type, fields: tuple[str, ...], args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> Value:
    defaults = getattr(kind, "_field_defaults", {})
    found = dict(zip(fields, args))
    if len(args) > len(fields) or any(k in found or k not in fields for k in kwargs):
        raise Dead
    found.update(kwargs)
    for name in fields:
        if name not in found:
            if name not in defaults:
                raise Dead
            found[name] = t.value(defaults[name])
    return Sequence(tuple(found[name] for name in fields), kind)
