"""Calls: resolved by the identity of the function object."""

from __future__ import annotations

import inspect
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused, advice
from npcompile.core.paths import import_path
from npcompile.core.records import replace
from npcompile.core.tuples import is_named_tuple
from npcompile.guards.class_hooks import has_finalizer, looks_up_plainly, of_library, wrapped_by_us
from npcompile.guards.own_attributes import C_METHODS
from npcompile.guards.sources import Attribute, Default, Source
from npcompile.ops.arguments import FOLLOWED, followed_functions
from npcompile.ops.elementwise import ELEMENTWISE
from npcompile.ops.record import Op, resolve
from npcompile.python import functions, registry
from npcompile.python.functions import Function
from npcompile.python.values import (
    NULL,
    HeapObject,
    Sequence,
    Static,
    Unreachable,
    Value,
    Vector,
    python_class,
)
from npcompile.tracing import (
    attributes,
    device_arrays,
    external_calls,
    tensor_values,
    traced_containers,
    vectors,
)
from npcompile.tracing.polyfills.consumers import follow

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def call(
    t: Tracer, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value],
    plain: bool = False,
) -> Value:
    """``function(*args, **kwargs)``; ``plain``: the result goes on the stack, nothing else."""
    if isinstance(function, Static):
        return _call_object(t, function.value, function.source, args, kwargs, plain)
    return registry.view(t, function).call(args, kwargs, plain)


def _call_object(
    t: Tracer, held: Any, source: Source | None, args: tuple[Value, ...],
    kwargs: dict[str, Value], plain: bool,
) -> Value:
    from npcompile.tracing.builtin_functions import executable, hashable
    from npcompile.tracing.function_rules import rule_of
    from npcompile.tracing.polyfills import appliers

    if getattr(held, "__objclass__", None) is np.ufunc and args and isinstance(args[0], Static):
        held, args = getattr(args[0].value, held.__name__), args[1:]  # of one ufunc
    _check_receiver(t, held, args)
    name = traced_containers.meant(held, args)
    if name:
        return traced_containers.special(t, args[0], name, *args[1:], **kwargs)
    held = device_arrays.function(t, held)
    found = tensor_values.called(t, held, args, kwargs, plain)
    if found is not None:
        return found
    special = rule_of(held) if hashable(held) else None
    if special is not None:
        found = special(t, args, kwargs)
        if found is not NULL:
            return found
    found = registry.method(t, held, args, kwargs)
    if found is not NULL:
        return found
    if executable(t, held, args, kwargs):
        known = [t.known(v)[1] for v in args]
        return t.executed(held, *known, **{k: t.known(v)[1] for k, v in kwargs.items()})
    if type(held) is FunctionType and held in followed_functions:
        return follow(t, held, *args, **kwargs)
    op = _record_of(held)
    if op is not None:
        return _recorded(t, op, held, args, kwargs, plain)
    called = external_calls.call(t, held, args, kwargs, plain)
    if called is not None:
        return called
    if type(held) is FunctionType and not of_library(held):
        if source is None:
            raise t.refuse(held.__qualname__, "is a function whose place is not known")
        return functions.enter(t, _from_outside(t, held, source), args, kwargs, plain)
    if isinstance(held, type):
        return _construct(t, held, source, args, kwargs, plain)
    if isinstance(held, np.vectorize) and source is not None:
        return call(t, appliers.vectorized(t, held, source), args, kwargs)
    if isinstance(held, (staticmethod, classmethod)):
        raise t.refuse(type(held).__name__, "called directly")
    wrapped = wrapped_by_us(held)
    if wrapped is not None and source is not None:
        function = t.inputs.lift(wrapped, Attribute(source, "__wrapped__"))
        return call(t, function, args, kwargs, plain)
    return _call_instance(t, held, source, args, kwargs, plain)


def _check_receiver(t: Tracer, held: Any, args: tuple[Value, ...]) -> None:
    """A method that is fetched from its class takes first what is of this class."""
    if not isinstance(held, C_METHODS):
        return
    kind = python_class(args[0]) if args else type(None)
    if kind is not object and not issubclass(kind, held.__objclass__):
        raise t.refuse(held.__qualname__, "called with what is not of its class: Python raises")


def _arrays(
    t: Tracer, op: Op, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> tuple[Value, ...]:
    """Lists of a length that only the run knows, as NumPy's functions take them."""
    first = op.aliases[0] if op.aliases else op.reference
    if not first.startswith("numpy:") or not op.lists_are_arrays(len(args), kwargs):
        return args
    return tuple(
        vectors.as_array(t, t.heap[arg])
        if isinstance(arg, HeapObject) and isinstance(t.heap[arg], Vector) else arg
        for arg in args
    )


def inlines(t: Tracer, function: Value) -> bool:
    """Whether a call only hands its arguments to a function of the program."""
    from npcompile.tracing.function_rules import rule_of

    if not isinstance(function, Static):
        return registry.view(t, function).inlines()
    held = function.value
    return (
        type(held) is FunctionType and rule_of(held) is None and resolve(held) is None
        and not of_library(held)
    )


def _record_of(held: Any) -> Op | None:
    """The record of a function; methods of NumPy's numbers may have those of arrays."""
    owner = getattr(held, "__objclass__", None)
    if owner is not None and owner is not np.ndarray and issubclass(owner, np.generic):
        op = resolve(getattr(np.ndarray, held.__name__, held))
        if op is not None and op.of_numbers:
            return op
    return resolve(held)


def _recorded(
    t: Tracer, op: Op, held: Any, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool
) -> Value:
    """Calls a record; what it refuses, the library's own function may do in its place."""
    mark, writes = t.builder.mark(), t.writes
    try:
        if t.config.deterministic and op.deterministic:
            return _followed(t, import_path(op.deterministic), args, kwargs)
        if op.kind is FOLLOWED:
            return _followed(t, op.lower, args, kwargs)
        return t.operate(_call_record, Static(op), _arrays(t, op, args, kwargs), kwargs)
    except Refused:
        if t.writes != writes:
            raise
        t.builder.rollback(mark)
        try:
            called = external_calls.call(t, held, args, kwargs, plain)
        except Refused:
            called = None
        if called is None:
            raise
        return called


def _followed(t: Tracer, function: Any, args: tuple[Value, ...],
              kwargs: dict[str, Value]) -> Value:
    """Follows a record's function; where it raises on every path, it leaves the call."""
    try:
        return follow(t, function, *args, **kwargs)
    except Unreachable:
        raise t.refuse(function.__name__, "of these arguments is the library's") from None


def _call_record(t: Tracer, op: Any, args: Any, kwargs: Any) -> Any:
    with t.called("ufunc" if op.kind is ELEMENTWISE else None):
        return op.kind.call(op, t, args, kwargs)


def record(t: Tracer, function: Any, args: tuple[Value, ...]) -> Value:
    """Calls the record of a function of Python's."""
    op = resolve(function)
    if op is None:
        raise t.refuse(function.__name__, "of data is left to Python")
    return t.operate(_call_record, Static(op), args, {})


def _call_instance(
    t: Tracer, held: Any, source: Source | None, args: tuple[Value, ...], kwargs: dict[str, Value],
    plain: bool,
) -> Value:
    """An object with a ``__call__`` of its own, or something unknown."""
    if not getattr(type(held), "inlined", True):
        from npcompile.tracing.polyfills import mapped_ufuncs

        return mapped_ufuncs.called(t, held, source, args, kwargs)
    method = None
    if source is not None and not isinstance(held, (BuiltinFunctionType, np.ufunc)):
        method = attributes.method(t, Static(held, source), "__call__")
    if isinstance(method, Static) and (
        type(method.value) is FunctionType or wrapped_by_us(method.value)
    ):
        return call(t, method, (Static(held, source), *args), kwargs, plain)
    name = getattr(held, "__qualname__", None) or getattr(held, "__name__", None) or repr(held)
    name = name.removeprefix("function ")  # as f2py calls its routines
    module = getattr(held, "__module__", None)
    where = f"{module}." if module and module != "builtins" else ""
    hint = "call it outside, and pass its result"
    raise t.refuse(f"{where}{name}", "is a function that is not known here", hint)


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


# ---------------------------------------------------------------------- classes


def call_for(
    t: Tracer, given: tuple[Value, ...], function: Value, args: tuple[Value, ...],
    kwargs: dict[str, Value], plain: bool, drops: bool = True,
) -> Value:
    """Calls a function for an instruction that is ``plain`` and puts ``given`` on the stack; the
    result is dropped, or goes on top."""
    frame, before = t.frame, t.given.get(t.frame)
    t.given[frame] = (given, drops)
    try:
        return call(t, function, args, kwargs, plain)
    finally:
        del t.given[frame]
        if before is not None:
            t.given[frame] = before


_OUTSIDE = "make the object outside"


def _construct(
    t: Tracer, kind: type, source: Source | None, args: tuple[Value, ...],
    kwargs: dict[str, Value], plain: bool,
) -> Value:
    """An instance of a plain class or a named tuple."""
    fields = getattr(kind, "_fields", None)
    if fields is not None and is_named_tuple(kind):
        return _named_tuple(t, kind, fields, args, kwargs)
    if issubclass(kind, BaseException):
        return t.allocate(kind, {})  # it can only be raised
    plain_new: Any = object.__new__
    ordinary = (type(kind) is type and kind.__new__ is plain_new and kind.__dictoffset__ != 0
                and not _has_slots(kind) and looks_up_plainly(kind))
    if has_finalizer(kind):  # Python's statements after a graph break would see it live on
        library = kind.__module__.partition(".")[0]
        why, hint = "objects of this class have a finalizer", advice(library) or _OUTSIDE
        refusal = t.refuse(kind.__qualname__, why, hint).refusal
        raise Refused(replace(refusal, general=True))
    if not ordinary or source is None:
        hint = "make the object outside, and pass it"
        raise t.refuse(kind.__qualname__, "only Python makes objects of this class", hint)
    obj = t.allocate(kind, {}, source)
    held: Any = inspect.getattr_static(kind, "__init__")
    if held is object.__init__:
        if args or kwargs:
            raise Unreachable
        return obj
    init = t.inputs.lift(held, Attribute(source, "__init__"))
    call_for(t, (obj,), init, (obj, *args), kwargs, plain)
    return obj


def _has_slots(kind: type) -> bool:
    return any("__slots__" in c.__dict__ for c in kind.__mro__[:-1])


def _named_tuple(
    t: Tracer, kind: type, fields: tuple[str, ...], args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> Value:
    defaults = getattr(kind, "_field_defaults", {})
    found = dict(zip(fields, args))
    if len(args) > len(fields) or any(k in found or k not in fields for k in kwargs):
        raise Unreachable
    found.update(kwargs)
    for name in fields:
        if name not in found:
            if name not in defaults:
                raise Unreachable
            found[name] = t.value(defaults[name])
    return Sequence(tuple(found[name] for name in fields), kind)
