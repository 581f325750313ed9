"""What an object keeps itself, asked for without making its ``__dict__``.

CPython before 3.13 keeps the attributes of an instance in an array until somebody asks for the
dictionary; from then on Python takes nearly twice as long for each read, for as long as the
object lives.  Tracing looks at objects whose functions may be left to Python afterwards.
"""

from __future__ import annotations

import gc
import inspect
from types import (
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any

from npcompile.runtime.unsafe.object_memory import has_inline_attributes

MISSING = object()
#: methods that are not written in Python, as classes have them
C_METHODS = (MethodDescriptorType, WrapperDescriptorType)


def own(held: Any, name: str) -> Any:
    """The value that an object's dictionary has under a name, or ``MISSING``; runs no code of the
    object's class, which looks its attributes up plainly."""
    if not _unmade(held):
        return getattr(held, "__dict__", {}).get(name, MISSING)
    on_class = _on_class(type(held), name)
    if not (on_class is MISSING or type(on_class) is FunctionType or _inert(type(on_class))):
        return vars(held).get(name, MISSING)
    try:
        found = object.__getattribute__(held, name)
    except AttributeError:
        return MISSING
    if on_class is MISSING:
        return found
    if not any(found is kept for kept in gc.get_referents(held)):
        return MISSING
    if found is on_class or isinstance(found, MethodType):  # which may be kept for another name
        return vars(held).get(name, MISSING)
    return found


def static(held: Any, name: str, default: Any) -> Any:
    """As :func:`inspect.getattr_static`, of an object that is no class."""
    if not _unmade(held):
        return inspect.getattr_static(held, name, default)
    on_class = _on_class(type(held), name)
    if hasattr(type(on_class), "__set__") or hasattr(type(on_class), "__delete__"):
        if hasattr(type(on_class), "__get__"):
            return on_class
        return inspect.getattr_static(held, name, default)
    found = own(held, name)
    if found is MISSING:
        found = on_class
    return default if found is MISSING else found


def has_dictionary(held: Any) -> bool:
    """Whether an object has a dictionary of its own, of no subclass."""
    return _unmade(held) or type(getattr(held, "__dict__", None)) is dict


def _unmade(held: Any) -> bool:
    """Whether an object has no dictionary yet, and is better left without one."""
    kind = type(held)
    return (
        has_inline_attributes(held)
        and not issubclass(kind, type)
        and _on_class(kind, "__getattribute__") is _on_class(object, "__getattribute__")
        and type(_on_class(kind, "__dict__")) is GetSetDescriptorType
    )


def _on_class(kind: type, name: str) -> Any:
    """What a class or one of its bases holds under a name."""
    return next((vars(k)[name] for k in kind.__mro__ if name in vars(k)), MISSING)


def _inert(kind: type) -> bool:
    """Whether a value of a class is no descriptor."""
    return _on_class(kind, "__get__") is MISSING


def ordinary(kind: type) -> bool:
    """Whether instances use ``object.__setattr__`` and ``object.__getattribute__``, so that an
    attribute read returns the last store."""
    names = ("__setattr__", "__getattribute__")
    return all(inspect.getattr_static(kind, name) is getattr(object, name) for name in names)
