"""``super().name``: attributes of the classes after one, in the order of an instance's class."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING

from npcompile.frontend.bytecode import VERSION, Instruction
from npcompile.guards.class_hooks import wrapped_by_us
from npcompile.guards.sources import Attribute, Item, Source
from npcompile.python import properties
from npcompile.python.bound_methods import Method
from npcompile.python.composite import Composite
from npcompile.python.super_objects import Super
from npcompile.python.values import NONE, NULL, UNBOUND, Frame, HeapObject, Static, Value
from npcompile.tracing.builtin_functions import FUNCTIONS
from npcompile.tracing.opcodes import on, push, take

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


@on("LOAD_SUPER_ATTR")
def load_super_attr(t: Tracer, frame: Frame, i: Instruction) -> None:
    function, after, receiver = take(frame, 3)
    if not (isinstance(function, Static) and function.value is super):
        raise t.refuse("super", "is not Python's own")
    name = frame.code.code.co_names[i.arg >> 2]
    load(t, frame, Super(after, receiver), name, bool(i.arg & 1))


def load(t: Tracer, frame: Frame, parent: Composite, name: str, to_call: bool) -> None:
    """``super().name``, on the stack as LOAD_ATTR leaves it."""
    assert isinstance(parent, Super)
    found, bound = _next(t, parent.after, parent.receiver, name)
    if not to_call:
        push(frame, Method(found, parent.receiver) if bound else found)
    elif bound:
        push(frame, found, parent.receiver)
    else:
        push(frame, *((NULL, found) if VERSION < (3, 13) else (found, NULL)))


def _super(t: Tracer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``super()``, as Python 3.11 calls it, or ``super(after, receiver)``."""
    if len(args) == 2 and not kwargs:
        return Super(*args)
    frame = t.frames[-1]
    code = frame.code
    if args or kwargs or "__class__" not in code.names or not code.code.co_argcount:
        return NULL
    after = t.contents(frame.state.locals[code.names.index("__class__")])
    receiver = frame.state.locals[0]
    if code.names[0] in code.code.co_cellvars:
        receiver = t.contents(receiver)
    if UNBOUND in (after, receiver):
        return NULL
    return Super(after, receiver)


FUNCTIONS[super] = _super


def _next(t: Tracer, after: Value, receiver: Value, name: str) -> tuple[Value, bool]:
    """Looks up ``super(after, receiver).name``; and whether the receiver becomes its first
    argument."""
    kind, place = _class(t, receiver)
    order = kind.__mro__
    if not isinstance(after, Static) or after.value not in order[:-1]:
        raise t.refuse("super", "of another class is left to Python")
    index = order.index(after.value) + 1
    base = order[index]
    if base.__mro__ != order[index:]:  # else looking in it is looking in all that come after
        raise t.refuse("super", "with several base classes is left to Python")
    source = Item(Attribute(place, "__mro__"), index)
    t.inputs.lift(base, source)
    held = inspect.getattr_static(base, name, None)
    if isinstance(held, FunctionType) or wrapped_by_us(held):
        return t.inputs.lift(held, Attribute(source, name)), True
    if isinstance(held, staticmethod) and isinstance(held.__func__, FunctionType):
        return t.inputs.lift(held.__func__, Attribute(source, name)), False
    if isinstance(held, property):
        return properties.computed(t, held, source, name, receiver), False
    if held is object.__init__:
        return Static(held), True
    raise t.refuse(f"super().{name}", "is left to Python")


def _made(t: Tracer, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``object.__init__``."""
    return NONE if len(args) == 1 and not kwargs else NULL


FUNCTIONS[object.__init__] = _made


def _class(t: Tracer, receiver: Value) -> tuple[type, Source]:
    """The class of an instance, and where it is found."""
    if (
        isinstance(receiver, HeapObject)
        and receiver.kind is not None
        and receiver.source is not None
    ):
        return receiver.kind, receiver.source
    if isinstance(receiver, Static) and receiver.source is not None:
        kind = type(receiver.value)
        if not isinstance(receiver.value, type):
            t.inputs.guard_class(receiver.source, kind)
            return kind, Attribute(receiver.source, "__class__")
    raise t.refuse("super", "of this kind of object is left to Python")
