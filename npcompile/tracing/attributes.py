"""Attributes: of arrays, numbers, modules, objects from outside, and objects the program made."""

from __future__ import annotations

import enum
import inspect
import sys
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.graph.ir import Node
from npcompile.guards.class_hooks import is_library, looks_up_plainly, wrapped_by_us
from npcompile.guards.own_attributes import C_METHODS, MISSING, ordinary, own, static
from npcompile.guards.sources import Attribute, Source
from npcompile.ops import views
from npcompile.ops.operands import ArrayRef
from npcompile.python import properties, registry
from npcompile.python.bound_methods import Method
from npcompile.python.values import (
    Object,
    Static,
    Unreachable,
    Value,
    described,
    is_model,
    is_tensor,
    python_class,
)
from npcompile.tracing import (
    device_arrays,
    traced_containers,
)
from npcompile.tracing.inputs import pinned

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_CLASS = vars(object)["__class__"]
_DATA = (GetSetDescriptorType, MemberDescriptorType)
#: objects whose attributes never change, but those of subclasses, which are of a user's
_CONSTANT = (range, str, bytes, bool, int, float, complex)
_NUMPYS = (np.dtype, np.finfo, np.iinfo)
_OF_MEMBERS = ("name", "value", "_name_", "_value_")  # of enumerations


def method(t: Tracer, value: Value, name: str) -> Value | None:
    """The plain function that ``value.name(...)`` calls with ``value`` first, if it is one."""
    if t.effects.load(value, name) is not None:
        return None
    if isinstance(value, Static):
        if isinstance(value.value, (type, ModuleType)):
            return None
        if value.source is not None:
            return _method_outside(t, value.value, value.source, name)
    if traced_containers.is_attribute(t, value, name):
        return None
    if is_model(value):
        return traced_containers.method(t, value, name)
    kind = python_class(value)
    found = inspect.getattr_static(kind, name, MISSING)
    special = None if isinstance(value, (Node, ArrayRef)) else registry.view(t, value).method(name)
    if special is not None or is_tensor(value):
        return special
    if isinstance(value, Object):
        return Static(getattr(kind, name)) if callable(found) else None
    if isinstance(found, C_METHODS):
        if isinstance(value, ArrayRef):
            device_arrays.check_attribute(t, name)
        return Static(getattr(kind, name))
    return None


def _method_outside(t: Tracer, held: Any, source: Source, name: str) -> Value | None:
    if not looks_up_plainly(type(held)):
        return None
    found = inspect.getattr_static(type(held), name, MISSING)
    if isinstance(found, C_METHODS):
        return Static(found)
    if type(found) is FunctionType and own(held, name) is MISSING:
        place = Attribute(source, name)
        t.inputs.guard_code(place, found)
        t.inputs.relate(Attribute(place, "__self__"), source, True)  # not another's, kept here
        return Static(found, place)
    if wrapped_by_us(found) and own(held, name) is MISSING:
        place = Attribute(Attribute(source, name), "__func__")
        t.inputs.guard_class(Attribute(source, name), MethodType)
        t.inputs.guard_class(place, type(found))
        t.inputs.relate(Attribute(place.base, "__self__"), source, True)
        return Static(found, place)
    return None


def load(t: Tracer, value: Value, name: str, on_stack: bool = False) -> Value:
    """``value.name``.  ``on_stack``: it goes on the stack, nothing else."""
    found = t.effects.load(value, name)
    if found is not None:
        return found
    found = method(t, value, name)
    if found is not None:
        return Method(found, value)
    match value:
        case ArrayRef():
            device_arrays.check_attribute(t, name)
            if name == "flat":
                from npcompile.tracing import flat_iterators

                return flat_iterators.of(t, value)
            return t.operate(views.attribute, value, name)
        case Node():
            return _number(t, value, name)
        case Static(held, source):
            return _static(t, held, source, name, on_stack)
    found = registry.view(t, value).attribute(name, on_stack)
    if found is not None:
        return found
    raise t.refuse(f".{name}", f"of {described(value)} is left to Python")


def has(t: Tracer, value: Value, name: str) -> bool:
    """``hasattr(value, name)``; of an object from outside each call looks anew."""
    if t.effects.load(value, name) is not None:
        return True
    if isinstance(value, Static) and value.source is not None and not is_library(value.value):
        return _has_outside(t, value, value.source, name)
    kind = python_class(value)
    if isinstance(value, Static):
        return hasattr(value.value, name)
    if is_model(value):
        return hasattr(kind, name)
    if issubclass(kind, tuple) and getattr(kind, "__dictoffset__", False):
        raise t.refuse("hasattr", f"of a {kind.__name__}, which may have other attributes")
    found = None
    if not isinstance(value, (Node, ArrayRef)):
        found = registry.view(t, value).has_attribute(name)
    return hasattr(kind, name) if found is None else found


def _has_outside(t: Tracer, value: Static, source: Source, name: str) -> bool:
    held, kind = value.value, type(value.value)
    if not kind.__dictoffset__ and not kind.__flags__ & _HEAP_TYPE:  # lists, ranges
        return hasattr(held, name)
    properties.refuse_hooks(t, kind)
    on_class = inspect.getattr_static(kind, name, MISSING)
    if isinstance(on_class, property):
        load(t, value, name)  # where that raises, Python answers
        return True
    if isinstance(held, ModuleType) and "__getattr__" in vars(held):
        raise t.refuse("hasattr", "of a module that computes attributes")
    if not isinstance(held, (type, ModuleType)) and hasattr(type(on_class), "__get__") and not (
        isinstance(on_class, (FunctionType, MemberDescriptorType, *C_METHODS))
        or wrapped_by_us(on_class)
    ):
        raise t.refuse("hasattr", f"of a {kind.__name__}, which computes it")
    return _noted(t, source, name, hasattr(held, name))


def _noted(t: Tracer, source: Source, name: str, there: bool) -> bool:
    t.inputs.guard_presence(Attribute(source, name), there)
    return there


def shows_class(value: Value) -> bool:
    """Whether ``x.__class__`` is ``type(x)``: not so for stand-ins."""
    kind = python_class(value)
    if inspect.getattr_static(kind, "__class__") is not _CLASS or not looks_up_plainly(kind):
        return False
    return not isinstance(value, Static) or value.value.__class__ is kind


def _number(t: Tracer, node: Node, name: str) -> Value:
    """Attributes of numbers."""
    numpy = python_class(node) is node.dtype.type
    shared = {"dtype": node.dtype, "ndim": 0, "shape": (), "size": 1,
              "itemsize": node.dtype.itemsize, "nbytes": node.dtype.itemsize}
    if numpy and name in shared:
        return t.value(shared[name])
    if numpy and name == "T":
        return node
    return t.operate(views.attribute, node, name)


def _static(
    t: Tracer, held: Any, source: Source | None, name: str, on_stack: bool
) -> Value:
    if isinstance(held, ModuleType) and is_library(held):
        if not hasattr(held, name):
            raise Unreachable
        found = getattr(held, name)
        if not _stays(held, found):
            return _changing(t, source, held, name)
        return Static(found)
    if type(held) in _CONSTANT or isinstance(held, _NUMPYS) or _of_member(held, name) or (
        isinstance(held, type) and is_library(sys.modules.get(held.__module__))
    ):
        if not hasattr(held, name):
            raise Unreachable
        return t.value(getattr(held, name))
    if source is None:
        raise t.refuse(f".{name}", f"of a {type(held).__name__} is left to Python")
    return _outside(t, held, source, name, on_stack)


def _of_member(held: Any, name: str) -> bool:
    """Whether it is what an enumeration's own code says of a member."""
    if not isinstance(held, enum.Enum) or name not in _OF_MEMBERS:
        return False
    own, usual = (inspect.getattr_static(k, name, None) for k in (type(held), enum.Enum))
    return own is usual


def _stays(module: ModuleType, found: Any) -> bool:
    """Whether an attribute of a library is always the same: not the state of the interpreter."""
    of_python = module.__name__.partition(".")[0] in sys.stdlib_module_names
    return not of_python or pinned(found) or type(found) in (*_CONSTANT, tuple)


def _changing(t: Tracer, source: Source | None, module: ModuleType, name: str) -> Value:
    if source is None:
        raise t.refuse(f"{module.__name__}.{name}", "may be another one at each call")
    return t.inputs.lift(getattr(module, name), Attribute(source, name))


def _outside(t: Tracer, held: Any, source: Source, name: str, on_stack: bool) -> Value:
    """An attribute of an object, class or module from outside."""
    if isinstance(held, (ModuleType, type)):
        if not hasattr(held, name):
            raise Unreachable
        if isinstance(held, ModuleType) and not _kept(held, name):
            raise t.refuse(f".{name}", "of a module is computed by Python")
        return t.inputs.lift(getattr(held, name), Attribute(source, name))
    if not looks_up_plainly(type(held)):
        raise t.refuse(f".{name}", f"of a {type(held).__name__} is computed by Python")
    found = static(held, name, MISSING)
    on_class = inspect.getattr_static(type(held), name, MISSING)
    if isinstance(on_class, property):
        t.inputs.guard_class(source, type(held))
        owner = Attribute(source, "__class__")
        return properties.computed(t, on_class, owner, name, Static(held, source), on_stack)
    if found is MISSING or (
        hasattr(type(on_class), "__set__")
        and not (isinstance(on_class, _DATA) and hasattr(held, name))  # nothing is in the slot
    ):
        raise t.refuse(f".{name}", f"of a {type(held).__name__} is computed by Python")
    return t.inputs.lift(getattr(held, name), Attribute(source, name))


def _kept(module: ModuleType, name: str) -> bool:
    """Whether a module has an attribute without code of its own, or of its class, being asked."""
    kind = type(module)
    on_class = inspect.getattr_static(kind, name, MISSING)
    if isinstance(on_class, _DATA):
        return True
    computed = hasattr(type(on_class), "__set__") or not looks_up_plainly(kind)
    return name in vars(module) and not computed


def store(t: Tracer, target: Value, name: str, value: Value, plain: bool = False) -> None:
    """``target.name = value``.  ``plain``: nothing else is done."""
    if is_model(target) and not traced_containers.is_attribute(t, target, name):
        raise t.refuse(f".{name} =", f"of {described(target)} is left to Python")
    if isinstance(target, ArrayRef) and name == "shape":
        from npcompile.tracing import reshaping

        reshaping.assign(t, target, value)
        return
    if isinstance(target, ArrayRef):
        raise t.refuse(f".{name} =", "changes an array's layout or is left to Python")
    if isinstance(target, Static):
        if _set_by_property(t, target, name, value, plain):
            return
        if _holds(t, target, name, value):
            return  # what ``target.name += b`` assigns in the end
        if t.effects.store(target, name, value):
            return
    elif not isinstance(target, Node) and registry.view(t, target).assign(name, value, plain):
        return
    raise t.refuse(f".{name} =", "changes an object that is passed in or global")


def _set_by_property(t: Tracer, target: Static, name: str, value: Value, plain: bool) -> bool:
    """Calls the setter, if the attribute is a property of the object's class."""
    if target.source is None:
        return False
    kind = type(target.value)
    held = inspect.getattr_static(kind, name, None)
    if type(held) is not property or not ordinary(kind):
        return False
    t.inputs.guard_class(target.source, kind)
    setter = properties.part(t, held, Attribute(target.source, "__class__"), name, "fset")
    t.call_for((), setter, (target, value), {}, plain)
    return True


def _holds(t: Tracer, target: Static, name: str, value: Value) -> bool:
    """Whether a value is the very array that an object from outside has as a plain attribute."""
    held = target.value
    if not isinstance(value, ArrayRef):
        return False
    on_class = inspect.getattr_static(type(held), name, MISSING)
    if not ordinary(type(held)) or own(held, name) is MISSING or hasattr(type(on_class), "__set__"):
        return False
    return load(t, target, name) is value
