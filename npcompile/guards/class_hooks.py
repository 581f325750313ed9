"""Which classes answer for their objects by code of a user's: at each call it may say, and do, what
it likes, so nothing asks it while tracing."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterable
from contextlib import suppress
from inspect import getattr_static
from os.path import dirname
from types import FunctionType, GeneratorType, ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from npcompile.core.errors import advice

if TYPE_CHECKING:
    from npcompile.core.errors import Refused

_LIBRARIES = frozenset({"numpy", "scipy", "torch", "npcompile", "mpmath", "sympy", "llvmlite"})
_STANDARD = dirname(sys.modules["os"].__file__ or "")
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
#: flags of classes whose objects may run code when they are dropped: users', or what holds objects
HOLDING = _HEAP_TYPE | 1 << 14  # Py_TPFLAGS_HAVE_GC
#: special names of classes that no operator and no function asks a constant for: what makes
#: objects, copies them, describes the class, or is looked at by who reads an attribute or calls
_ASIDE = frozenset({
    "__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__qualname__",
    "__annotations__", "__annotate__", "__annotations_cache__", "__annotate_func__",
    "__static_attributes__", "__firstlineno__", "__orig_bases__", "__parameters__",
    "__type_params__", "__match_args__", "__protocol_attrs__", "__non_callable_proto_members__",
    "__final__", "__dataclass_fields__", "__dataclass_params__", "__abstractmethods__",
    "__new__", "__init__", "__init_subclass__", "__post_init__", "__class_getitem__",
    "__set_name__", "__del__", "__call__", "__instancecheck__", "__subclasscheck__",
    "__subclasshook__", "__prepare__", "__get__", "__set__", "__delete__", "__getattr__",
    "__getattribute__", "__setattr__", "__delattr__", "__enter__", "__exit__", "__aenter__",
    "__aexit__", "__copy__", "__deepcopy__", "__replace__", "__getnewargs__", "__getnewargs_ex__",
    "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__dir__", "__sizeof__",
})
#: what classes get while they are used, or in an order of its own
_LATE = ("__slotnames__", "__static_attributes__")
_CONSTANT = (str, int, float, bool, complex, bytes, type(None))
#: what only texts are made with
SHOWN = frozenset({"__str__", "__repr__", "__format__"})
_NONE: frozenset[str] = frozenset()


def is_library(module: Any) -> bool:
    """Whether something is a module of a library whose names stay what they are."""
    if not isinstance(module, ModuleType):  # objects may make attributes when asked
        return False
    name = str(getattr(module, "__name__", "")).partition(".")[0]
    if name in _LIBRARIES:
        return True
    file = getattr(module, "__file__", None)  # a user's module may be called like Python's own
    return name in sys.stdlib_module_names and (file is None or file.startswith(_STANDARD))


def of_library(function: FunctionType) -> bool:
    """Whether a function is called by what it is known for, not followed."""
    return is_library(sys.modules.get(function.__globals__.get("__name__", "")))


def wrapped_by_us(held: Any) -> FunctionType | None:
    """The Python function inside a compiled one, if a call of this is a call of that."""
    if is_ours(type(held)) and getattr(type(held), "inlined", True):
        wrapped = getattr(held, "__wrapped__", None)
        return wrapped if type(wrapped) is FunctionType else None
    return None


def looks_up_plainly(kind: type) -> bool:
    """Whether reading an attribute runs no code of the class before it is found."""
    found = getattr_static(kind, "__getattribute__")
    return type(found) is not FunctionType and not wrapped_by_us(found)


def has_finalizer(kind: type) -> bool:
    """Whether code of a program runs when an object of a class dies; npcompile's own tells
    nobody."""
    found = getattr_static(kind, "__del__", None)
    return type(found) is FunctionType and not is_ours(kind)


def may_finalize(held: object) -> bool:
    """Whether code of a program may run when an object is dropped, a generator's for instance."""
    return type(held) is GeneratorType or has_finalizer(type(held))


def is_ours(kind: type) -> bool:
    """Whether npcompile defines a class."""
    return str(kind.__module__).partition(".")[0] == "npcompile"


def of_user(kind: type) -> bool:
    """Whether a class, or one that it inherits from, is a user's."""
    return any(map(_is_users, kind.__mro__))


def _is_users(kind: type) -> bool:
    if not kind.__flags__ & _HEAP_TYPE:
        return False
    home = vars(kind).get("__module__")
    if isinstance(home, str) and home.startswith("_cython_"):  # Cython's functions and their like
        return False
    return not isinstance(home, str) or not is_library(sys.modules.get(home))


def own(kind: type) -> frozenset[str]:
    """The special methods of a class that are not those of the library's class it is based on."""
    if not kind.__flags__ & _HEAP_TYPE:
        return _NONE
    users = [base for base in kind.__mro__ if _is_users(base)]
    return frozenset([
        name for base in users for name, held in vars(base).items()
        if name[:2] == "__" == name[-2:] and name not in _ASIDE
        and not _is_librarys(kind, users, name, held)
    ])


def looks(kind: type) -> list[str]:
    """What tells whether a class asks other code than it did: the names of its classes, those of
    its metaclass, and those of what users' ones have, with their kinds."""
    found, metaclass = [], type(kind)
    for base in (*type.mro(metaclass), *kind.__mro__):
        users = vars(base).items() if _is_users(base) else ()
        inner = sorted(f"{name}={_look(held)}" for name, held in users if name not in _LATE)
        found.append(f"{base.__module__}.{base.__qualname__}: {' '.join(inner)}")
    return found


def _look(held: Any) -> str:
    """The kind of what a class has; with the items of tuples (the names of fields) and what
    functions are given by default, as far as they are constant."""
    function = held.__func__ if type(held) in (staticmethod, classmethod) else held
    items = held if type(held) is tuple else ()
    if type(function) is FunctionType:
        items = function.__defaults__ or ()
    constant = (repr(v) if type(v) in _CONSTANT else type(v).__name__ for v in items)
    return f"{type(held).__name__}({', '.join(constant)})"


def _is_librarys(kind: type, users: list[type], name: str, held: Any) -> bool:
    """Whether a special method is what a library has written, or what the class would have had."""
    if isinstance(held, FunctionType):
        return of_library(held)
    rest = (base for base in kind.__mro__ if base not in users)
    return any(vars(base).get(name, base) is held for base in rest)


def answer(things: Iterable[Any]) -> bool:
    """Whether some objects are of such a class."""
    return any(map(own, {id(type(thing)): type(thing) for thing in things}.values()))


class _Refusing(Protocol):
    """Something that refuses at the line at hand."""

    def refuse(self, construct: str, reason: str, hint: str = "") -> Refused: ...


def ask(ctx: _Refusing, held: Any, what: str) -> None:
    """Refuses to ask an object of such a class now."""
    if own(type(held)):
        kind = type(held)
        reason = f"Python runs the code of the class {kind.__name__}"
        raise ctx.refuse(what, reason, advice(kind.__module__.partition(".")[0]))


def classes_of_users(held: Any) -> list[type]:
    """The first class of a user's of which there are objects in one, if any; raises what pickling
    it raises.  No code of theirs runs."""
    looked = _Classes(io.BytesIO())
    with suppress(_Found):
        looked.dump(held)
    return looked.users


class _Found(Exception):
    """An object is of a class of a user's."""


class _Classes(pickle.Pickler):
    """Looks at the objects in an object."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.users: list[type] = []

    def reducer_override(self, held: Any) -> Any:
        if of_user(type(held)):
            self.users.append(type(held))
            raise _Found
        return NotImplemented
