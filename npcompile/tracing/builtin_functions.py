"""Python's own functions on traced values, by identity; and those that are run while tracing."""

from __future__ import annotations

import abc
import math
import operator
import types
import typing
from collections import defaultdict, deque
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.tuples import REPLACE
from npcompile.frontend.bytecode import VERSION
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_BOOL
from npcompile.guards.class_hooks import answer
from npcompile.ops.operands import ArrayRef
from npcompile.python import characters, dictionary
from npcompile.python.composite import Composite
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import ArrayIterator
from npcompile.python.polyfills.containers import DefaultDict, HashedSet, Queue, scattered, whole
from npcompile.python.registry import view
from npcompile.python.values import (
    NONE,
    NULL,
    HeapObject,
    Sequence,
    Static,
    TaggedUnion,
    Unreachable,
    Value,
    Vector,
    boolean,
    described,
    is_model,
    python_class,
)
from npcompile.tracing import (
    attributes,
    device_arrays,
    iteration,
    operator_methods,
    operators,
    questions,
    traced_containers,
)
from npcompile.tracing.escapes import as_number
from npcompile.tracing.item_types import is_key, item_type
from npcompile.tracing.polyfills import consumers

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

Args = tuple[Value, ...]
Keywords = dict[str, Value]
#: returns NULL where the general rules for calls apply
Rule = Callable[["Tracer", Args, Keywords], Value]
FUNCTIONS: dict[Any, Rule] = {}


def rule(
    *functions: Any, counts: tuple[int, float] = (0, math.inf), names: tuple[str, ...] = (),
    most: float = math.inf,
) -> Callable[[Rule], Rule]:
    """Registers what calls mean; ``counts`` and ``names``, if given: how many positional
    arguments there are, the least and the most, and which keywords; ``most``: how many of both.
    Python refuses others."""
    anything = counts == (0, math.inf) and not names

    def register(made: Rule) -> Rule:
        def fitting(t: Tracer, args: Args, kwargs: Keywords) -> Value:
            fits = counts[0] <= len(args) <= counts[1] and kwargs.keys() <= set(names)
            return made(t, args, kwargs) if fits and len(args) + len(kwargs) <= most else NULL

        for function in functions:
            FUNCTIONS[function] = made if anything else fitting
        return made

    return register


# ---------------------------------------------------------------------- run while tracing

_PURE = frozenset({
    int, float, complex, bool, str, bytes, abs, round, divmod, pow, ord, chr, repr, min, max,
    np.dtype, np.finfo, np.iinfo, np.result_type, np.promote_types, np.can_cast, np.issubdtype,
    np.isscalar, np.broadcast_shapes, np.min_scalar_type,
})
_PLAIN = ("builtins", "abc", "enum")  # modules of metaclasses that run no code of a user's
_INSTANCE_CHECKS = (type.__instancecheck__, abc.ABCMeta.__instancecheck__)
_PURE_MODULES = frozenset({"math", "cmath", "_operator"})
_PURE_OWNERS = frozenset({str, bytes, tuple, int, float, complex, range, np.dtype, bool})


def hashable(held: Any) -> bool:
    return type(held).__hash__ is not None


def executable(t: Tracer, held: Any, args: Args, kwargs: Keywords) -> bool:
    """Whether a call only depends on known objects and changes nothing."""
    pure = (
        (hashable(held) and held in _PURE)
        or (isinstance(held, BuiltinFunctionType) and held.__module__ in _PURE_MODULES)
        or getattr(held, "__objclass__", None) in _PURE_OWNERS
        or (isinstance(held, type) and issubclass(held, np.generic))
    )
    known = [t.known(v) for v in (*args, *kwargs.values())] if pure else []
    return pure and all(ok for ok, _ in known) and not answer(found for _, found in known)


# ---------------------------------------------------------------------- sizes and kinds


@rule(len, counts=(1, 1))
def _len(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return operator_methods.length(t, args[0]) or view(t, args[0]).length() or NULL


@rule(ord, counts=(1, 1))
def _ord(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return characters.code(args[0]) if characters.is_character(args[0]) else NULL


@rule(int)
def _int(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) != 1 or kwargs or not characters.is_character(args[0]):
        return NULL
    return consumers.follow(t, consumers.digit, characters.code(args[0]))


@rule(abs, counts=(1, 1))
def _abs(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    found = operator_methods.called(t, args[0], "__abs__")
    return NULL if found is None else found


@rule(isinstance, counts=(2, 2))
def _isinstance(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    device_arrays.check_class(t, args[0])
    kind, wanted = _class(t, args[0]), t.static(args[1], "isinstance")
    if not _asks_class(wanted) or not attributes.shows_class(args[0]):
        raise t.refuse("isinstance", "is answered by code of a class")
    return boolean(issubclass(kind, wanted))


def _class(t: Tracer, value: Value) -> type:
    """``type(value)``, where it is known."""
    kind = python_class(value)
    if kind is object and isinstance(value, Composite):
        raise t.refuse("type", f"of {described(value)} is left to Python")
    return kind


def _asks_class(wanted: Any) -> bool:
    """Whether what is of a class, or of one among several, shows in its own class alone."""
    if isinstance(wanted, tuple):
        return all(map(_asks_class, wanted))
    if isinstance(wanted, types.UnionType):
        return all(map(_asks_class, wanted.__args__))
    asked = getattr(type(wanted), "__instancecheck__", None)
    return isinstance(wanted, type) and asked in _INSTANCE_CHECKS


@rule(type)
def _type(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) != 1 or kwargs:
        raise t.refuse("type", "makes a class")
    device_arrays.check_class(t, args[0])
    return Static(_class(t, args[0]))


@rule(issubclass, counts=(2, 2))
def _issubclass(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    kind, wanted = t.static(args[0], "issubclass"), t.static(args[1], "issubclass")
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    if not all(isinstance(k, type) and type(k).__module__ in _PLAIN for k in (kind, *several)):
        return NULL
    return boolean(issubclass(kind, wanted))


@rule(typing.cast, counts=(2, 2))
def _cast(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return args[1]


@rule(callable, counts=(1, 1))
def _callable(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    held = args[0]
    if isinstance(held, Static):
        return boolean(callable(held.value))
    return boolean(any("__call__" in vars(base) for base in python_class(held).__mro__))


@rule(hasattr, counts=(2, 2))
def _hasattr(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return boolean(attributes.has(t, args[0], t.static(args[1], "hasattr")))


@rule(getattr, counts=(2, 3))
def _getattr(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    name = t.static(args[1], "getattr")
    if len(args) == 3 and not attributes.has(t, args[0], name):
        return args[2]
    return attributes.load(t, args[0], name)


@rule(setattr, counts=(3, 3))
def _setattr(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    attributes.store(t, args[0], t.static(args[1], "setattr"), args[2])
    return NONE


@rule(object.__setattr__, counts=(3, 3))
def _object_setattr(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    obj, name = args[0], t.static(args[1], "__setattr__")
    if not isinstance(obj, HeapObject) or is_model(obj):
        raise t.refuse("__setattr__", "of an object that is passed in or global")
    t.heap[obj] = {**t.heap[obj], name: args[2]}
    return NONE


# ---------------------------------------------------------------------- containers


def _is_long(t: Tracer, args: Args) -> bool:
    """Whether only the run knows how many items there are."""
    if len(args) != 1:
        return False
    value = args[0]
    if is_model(value):
        return True
    if isinstance(value, HeapObject) and value.kind is list:
        return isinstance(t.heap[value], Vector)
    known = (Iterator, ArrayRef)
    if not isinstance(value, known) or (isinstance(value, ArrayRef) and not value.ndim):
        return False
    iterator = value if isinstance(value, Iterator) else ArrayIterator((value,))
    return iterator.left(t) is None


@rule(tuple, counts=(0, 1))
def _tuple(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if args and _is_long(t, args):
        hint = "write its items out: (x[0], x[1])"
        raise t.refuse("tuple", "of a length that only the run knows", hint)
    return Sequence(iteration.items(t, args[0]) if args else ())


@rule(list, counts=(0, 1))
def _list(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if _is_long(t, args):
        return consumers.follow(t, consumers.listed, args[0])
    return t.allocate(list, iteration.items(t, args[0]) if args else ())


@rule(np.ndarray.tolist, counts=(1, 1))
def _tolist(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if not isinstance(args[0], ArrayRef) or args[0].ndim != 1:
        return NULL
    return consumers.follow(t, consumers.numbers, args[0]) if _is_long(t, args) else NULL


@rule(deque, counts=(0, 2), names=("maxlen",))
def _deque(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    most = kwargs.get("maxlen", args[1] if len(args) > 1 else NONE)
    if python_class(most) is int and len(args) + len(kwargs) < 3:
        if t.static(most, "deque") < 0:
            raise Unreachable
        found = t.allocate(
            Queue, {"_items": t.allocate(list, ()), "_head": Static(0), "_most": most}
        )
        if args:
            traced_containers.special(t, found, "extend", args[0])
        return found
    if not isinstance(most, Static) or most.value is not None:
        return NULL
    items = _list(t, args[:1], {})
    return t.allocate(Queue, {"_items": items, "_head": Static(0), "_most": NONE})


@rule(set, counts=(0, 1))
def _set(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    found = t.allocate(HashedSet, traced_containers.unhashed(t, False))
    if args:
        if issubclass(python_class(args[0]), (dict, set, frozenset)):
            raise t.refuse("set", "of a dictionary or set: Python makes room for all at once, "
                           "which shows in the order")
        consumers.follow(t, consumers.added, found, args[0])
    return found


@rule(defaultdict, counts=(1, 1))
def _defaultdict(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    factory = t.known(args[0])[1]
    if factory not in (int, float):
        return NULL
    return t.allocate(
        DefaultDict, {**traced_containers.unhashed(t, True), "_factory": Static(factory)}
    )


@rule(whole)
def _whole_key(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if not is_key(item_type(t, args[0])) or isinstance(args[0], Sequence):
        reason = f"{described(args[0])} among keys that only the run knows"
        raise t.refuse("dictionary", reason)
    return t.call(Static(int), args, {})


@rule(scattered)
def _scattered(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return consumers.follow(t, scattered, *args)


@rule(dict)
def _dict(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) > 1:
        return NULL
    found: dict[Any, Value] = {}
    if args and python_class(args[0]) is dict:
        found.update(dictionary.mapping(t, args[0]))
    elif args:
        for pair in iteration.items(t, args[0]):
            parts = iteration.items(t, pair)
            if len(parts) != 2:
                raise Unreachable
            key, value = parts
            found[t.static(key, "a dictionary's key")] = value
    return t.allocate(dict, {**found, **kwargs})


@rule(sorted, counts=(1, 1), names=("key", "reverse"))
def _sorted(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if isinstance(args[0], ArrayRef) or "key" in kwargs:
        from npcompile.tracing.polyfills import appliers

        return appliers.in_order(t, args, kwargs)
    if is_model(args[0]):
        args = (consumers.follow(t, consumers.listed, args[0]),)
    if _is_long(t, args[:1]) and isinstance(args[0], HeapObject):
        made = t.call(Static(list.copy), args, {})
        t.call(Static(list.sort), (made,), kwargs)
        return made
    held = [t.static(v, "sorted") for v in iteration.items(t, args[0])]
    options = {k: t.static(v, "sorted") for k, v in kwargs.items()}
    return t.executed(sorted, held, **options)


# ---------------------------------------------------------------------- numbers


@rule(sum, counts=(1, 2), names=("start",), most=2)
def _sum(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    total = kwargs.get("start", args[1] if len(args) > 1 else Static(0))
    plain = VERSION < (3, 12) or python_class(total) not in (int, float)
    if _is_long(t, args[:1]):
        plain = plain or isinstance(args[0], ArrayRef)
        consumer = consumers.total if plain else consumers.compensated_total
        return consumers.follow(t, consumer, args[0], total)
    items = iteration.items(t, args[0])
    if all(t.known(v)[0] for v in (*items, total)):
        held = [t.known(v)[1] for v in items]
        return t.executed(sum, held, t.known(total)[1])
    if not plain and any(python_class(v) is float for v in items):
        return consumers.follow(t, consumers.compensated_total, Sequence(items), total)
    for item in items:
        total = t.binary("+", total, item)
    return total


def _extreme(function: Any, consumer: Any, pair: Any) -> Rule:
    """``min`` and ``max``, of several arguments or of the items of one."""

    def extreme(t: Tracer, args: Args, kwargs: Keywords) -> Value:
        if kwargs:
            from npcompile.tracing.polyfills import appliers

            return appliers.by_key(t, function, args, kwargs)
        if _is_long(t, args):
            return consumers.follow(t, consumer, args[0])
        items = iteration.items(t, args[0]) if len(args) == 1 else args
        if not items:
            raise Unreachable
        if len(items) == 1:
            return items[0]
        if all(t.known(v)[0] for v in items):
            return t.executed(function, *(t.known(v)[1] for v in items))
        best = items[0]
        for item in items[1:]:
            if _unlike(t, best, item):
                best = consumers.follow(t, pair, best, item)
            else:
                best = t.call_record(function, (best, item))
        return best

    return extreme


def _unlike(t: Tracer, a: Value, b: Value) -> bool:
    """Whether these are numbers of two types, by the path perhaps."""
    if isinstance(a, TaggedUnion):
        return True
    first, second = as_number(t, a), as_number(t, b)
    return first is not None and second is not None and first.type != second.type


def _of_ints(consumer: Any, *counts: int, kinds: tuple[type, ...] = (int, np.integer)) -> Rule:
    """A function of ints, which Python computes itself where all are known."""

    def found(value: Value) -> bool:
        return isinstance(value, Node) and issubclass(python_class(value), kinds)

    def rule(t: Tracer, args: Args, kwargs: Keywords) -> Value:
        whole = [found(v) or type(t.known(v)[1]) is int for v in args]
        if kwargs or len(args) not in counts or not any(map(found, args)) or not all(whole):
            return NULL
        return consumers.follow(t, consumer, *args)

    return rule


FUNCTIONS[math.gcd] = _of_ints(consumers.greatest_divisor, 2)
FUNCTIONS[math.isqrt] = _of_ints(consumers.root, 1)
FUNCTIONS[math.factorial] = _of_ints(consumers.factorial, 1)
FUNCTIONS[math.comb] = _of_ints(consumers.choices, 2)
FUNCTIONS[math.perm] = _of_ints(consumers.arrangements, 2)
FUNCTIONS[pow] = _of_ints(consumers.residue, 3, kinds=(int,))


@rule(math.isclose)
def _isclose(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if len(args) != 2 or not any(isinstance(v, Node) for v in (*args, *kwargs.values())):
        return NULL
    return consumers.follow(t, consumers.close, *args, **kwargs)


@rule(math.prod, counts=(1, 1), names=("start",))
def _prod(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    if executable(t, math.prod, args, kwargs):
        return NULL
    return consumers.follow(t, consumers.product, args[0], kwargs.get("start", Static(1)))


FUNCTIONS[min], FUNCTIONS[max] = (
    _extreme(min, consumers.smallest, consumers.smaller),
    _extreme(max, consumers.largest, consumers.larger),
)


@rule(bool, counts=(0, 1))
def _bool(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return t.truth(args[0]) if args else boolean(False)


def _every(stops_at: bool, consumer: Any) -> None:
    """``all`` and ``any``."""

    @rule(any if stops_at else all, counts=(1, 1))
    def every(t: Tracer, args: Args, kwargs: Keywords) -> Value:
        calls = isinstance(args[0], Iterator) and args[0].calls()
        if calls or _is_long(t, args):
            return consumers.follow(t, consumer, args[0])
        total: Node | None = None
        for item in iteration.items(t, args[0]):
            found = t.truth(item)
            if isinstance(found, Static):
                if found.value == stops_at and total is None:
                    return boolean(stops_at)
                if found.value == stops_at:
                    found = t.builder.const(stops_at)
                else:
                    continue
            assert isinstance(found, Node)
            op = "bit_or" if stops_at else "bit_and"
            total = found if total is None else t.builder.emit(op, (total, found), None, PY_BOOL)
        return boolean(not stops_at) if total is None else total


_every(True, consumers.anything)
_every(False, consumers.everything)


_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "&": "and_", "|": "or_", "^": "xor", "<<": "lshift", ">>": "rshift",
}
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_SIGNS = {"-": "neg", "+": "pos", "~": "invert"}


def _operator(symbol: str, function: Callable[..., Value], count: int) -> Rule:
    """What the operator does, as a function of the module ``operator``."""

    def operate(t: Tracer, args: Args, kwargs: Keywords) -> Value:
        return function(t, symbol, *args) if len(args) == count and not kwargs else NULL

    return operate


for _names, _function, _count in (
    (_OPERATORS, operators.binary, 2), (_COMPARISONS, questions.compare, 2),
    (_SIGNS, operators.unary, 1),
):
    for _symbol, _name in _names.items():
        FUNCTIONS[getattr(operator, _name)] = _operator(_symbol, _function, _count)
for _symbol, _name in _OPERATORS.items():
    FUNCTIONS[getattr(operator, f"i{_name.rstrip('_')}")] = _operator(
        f"{_symbol}=", operators.binary, 2
    )


@rule(operator.getitem, counts=(2, 2))
def _getitem(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return view(t, args[0]).getitem(args[1])


@rule(np.ndarray)
def _ndarray(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    """Of a shape, without memory that it shall lie in: as ``empty``."""
    if len(args) > 2 or not kwargs.keys() <= {"shape", "dtype", "order"}:
        return NULL
    return t.call(Static(np.empty), args, kwargs)


@rule(REPLACE)
def _replace(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    """``_replace`` of a named tuple."""
    whole = args[0]
    assert isinstance(whole, Sequence)
    kind: Any = whole.kind
    fields: tuple[str, ...] = kind._fields
    if len(args) > 1 or not kwargs.keys() <= set(fields):
        raise Unreachable
    items = [kwargs.get(name, item) for name, item in zip(fields, whole.items, strict=True)]
    return Sequence(tuple(items), kind)


