"""Properties of users' classes, and classes that compute attributes by code of their own."""

from __future__ import annotations

from types import FunctionType

from npcompile.guards.class_hooks import looks_up_plainly, wrapped_by_us
from npcompile.guards.sources import Attribute, Source
from npcompile.python.protocol import Tracing
from npcompile.python.values import Value


def computed(
    t: Tracing, held: property, owner: Source | None, name: str, receiver: Value,
    plain: bool = False,
) -> Value:
    """A property ``name`` of the class that ``owner`` is; ``plain``: it goes on the stack, nothing
    else."""
    return t.call(part(t, held, owner, name, "fget"), (receiver,), {}, plain)


def part(t: Tracing, held: property, owner: Source | None, name: str, which: str) -> Value:
    """The getter or the setter of a property of the class that ``owner`` is."""
    function = getattr(held, which)
    if owner is None or not (type(function) is FunctionType or wrapped_by_us(function)):
        raise t.refuse(f".{name}", "is a property that Python computes")
    return t.inputs.lift(function, Attribute(Attribute(owner, name), which))


def refuse_hooks(t: Tracing, kind: type) -> None:
    """Classes with code of their own for what attributes there are are left to Python."""
    if hasattr(kind, "__getattr__") or not looks_up_plainly(kind):
        raise t.refuse("attribute", f"of a {kind.__name__}, which computes attributes")
