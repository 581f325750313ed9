"""The classes of Python's types: a line for each, imported when a value of the type is first asked.

A type's class stands in this room; tracing adds lines for classes that use more of it than
:class:`.protocol.Tracing` has.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import operator
import sys
from collections.abc import Callable
from functools import partial
from types import BuiltinMethodType, FunctionType, MethodType, MethodWrapperType
from typing import Any, ClassVar

import numpy as np

from npcompile.ops.operands import Tensor
from npcompile.python.iterator import Iterator
from npcompile.python.polyfills.containers import Model
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import (
    NULL,
    TaggedUnion,
    Value,
    described,
    is_model,
    is_tensor,
    python_class,
)

#: where the class of a type is; a value's own class stands for a type that has no other name
TYPES: dict[type, str] = {
    object: "npcompile.python.instances:InstanceType",
    dict: "npcompile.python.dictionary:DictType",
    tuple: "npcompile.python.tuples:TupleType",
    range: "npcompile.python.ranges:RangeType",
    str: "npcompile.python.strings:TextType",
    bytes: "npcompile.python.strings:TextType",
    frozenset: "npcompile.python.sets:SetType",
    FunctionType: "npcompile.python.functions:DefinedType",
    **dict.fromkeys(
        (MethodType, BuiltinMethodType, MethodWrapperType),
        "npcompile.python.bound_methods:BoundMethodType",
    ),
    slice: "npcompile.python.slices:SliceType",
    functools.partial: "npcompile.python.partials:PartialType",
    operator.itemgetter: "npcompile.python.getters:ItemGetterType",
    operator.attrgetter: "npcompile.python.getters:AttributeGetterType",
    operator.methodcaller: "npcompile.python.getters:MethodCallerType",
    np.vectorize: "npcompile.python.partials:VectorizeType",
    Iterator: "npcompile.python.iterator_type:IteratorType",
    itertools.repeat: "npcompile.python.endless_iterators:RepeatType",
    itertools.count: "npcompile.python.endless_iterators:CountType",
    itertools.islice: "npcompile.python.iterator_slices:IsliceType",
    itertools.starmap: "npcompile.python.iterator_starmap:StarmapType",
    contextlib.nullcontext: "npcompile.python.null_contexts:NullContextType",
    type(np.s_): "npcompile.python.index_expressions:IndexExpressionType",
}
_LOADED: dict[type, type[PythonType]] = {TaggedUnion: PythonType}
#: registers the classes of the types that tracing still owns
_TRACING = "npcompile.tracing.type_classes"


def class_of(kind: type) -> type[PythonType] | None:
    """The class that is registered for a type itself."""
    if list not in _LOADED:
        importlib.import_module(_TRACING)
    if kind not in _LOADED and kind in TYPES:
        module, _, name = TYPES[kind].partition(":")
        _LOADED[kind] = getattr(importlib.import_module(module), name)
    return _LOADED.get(kind)


def _kind(value: Value) -> type:
    """The type that a value is asked as."""
    if isinstance(value, TaggedUnion):
        return TaggedUnion
    if is_model(value):
        return Model
    if is_tensor(value):
        return Tensor
    kind = python_class(value)
    return type(value) if kind is object else kind


def view(t: Tracing, value: Value) -> PythonType:
    """The behaviour of a value."""
    kind = _kind(value)
    found = class_of(kind)
    for base in kind.__mro__[1:] if found is None else ():
        inherited = class_of(base)
        if inherited is not None and (inherited.subclasses or base is object):
            found = inherited
            break
    assert found is not None
    return found.of(t, value)


def method(
    t: Tracing, held: Any, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """Calls a type, or a method by the function on its type; NULL where the general rules for calls
    apply."""
    if isinstance(held, type):
        made = class_of(held) if _is_plain(held) and held in TYPES else None
        return NULL if made is None else _bound(partial(made.construct, t), args, kwargs)
    kind = class_of(_owner(held))
    if kind is None or held not in kind.METHODS or not args:
        return NULL
    receiver = view(t, args[0])
    if not isinstance(receiver, kind):
        raise t.refuse(held.__qualname__, f"of {described(args[0])} is left to Python")
    return _bound(getattr(receiver, held.__name__), args[1:], kwargs)


def _owner(held: Any) -> type:
    """The type whose method a function is, which may be written in Python; else None's."""
    found = getattr(held, "__objclass__", None)
    if found is None and type(held) is FunctionType:
        module, name = sys.modules.get(held.__module__), held.__qualname__.partition(".")[0]
        found = getattr(module, name, None)
    return found if isinstance(found, type) and _is_plain(found) else type(None)


def _is_plain(kind: type) -> bool:
    """Whether looking a type up runs no code of its metaclass."""
    return type(kind).__hash__ is type.__hash__


def _bound(
    function: Callable[..., Value], args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """Calls a function of the type's class; NULL where the arguments do not fit."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:  # Python's words for it are others
        return NULL
    return function(*bound.args, **bound.kwargs)


class RepresentedType(PythonType):
    """A type of which some values have a representation of their own; the rest are instances."""

    represents: ClassVar[type]

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        found = cls if isinstance(value, cls.represents) else class_of(object)
        assert found is not None
        return found(t, value)
