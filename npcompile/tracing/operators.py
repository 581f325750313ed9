"""Operators of the language: arithmetic, comparisons, truth and identity."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.core.paths import defer
from npcompile.core.sections import from_handler
from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_BOOL, PY_INT, Calling
from npcompile.guards.class_hooks import own
from npcompile.guards.sources import is_given
from npcompile.ops import python
from npcompile.ops.operands import ArrayRef
from npcompile.python.composite import Composite
from npcompile.python.values import (
    HeapObject,
    Sequence,
    Static,
    Unreachable,
    Value,
    Vector,
    boolean,
    is_model,
    is_of_user,
    is_tensor,
    python_class,
)
from npcompile.tracing import control

if TYPE_CHECKING:
    from npcompile.core import warned
    from npcompile.guards import kinds
    from npcompile.ops import arguments
    from npcompile.python import dictionary, protocol, registry
    from npcompile.tracing import (
        device_arrays,
        iteration,
        object_identity,
        operator_methods,
        tensor_values,
        texts,
        vectors,
    )
    from npcompile.tracing.polyfills import consumers
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.core", "warned")
    defer(globals(), "npcompile.guards", "kinds")
    defer(globals(), "npcompile.python", "dictionary", "protocol", "registry")
    defer(globals(), "npcompile.ops", "arguments")
    defer(globals(), "npcompile.tracing", "device_arrays", "iteration", "object_identity",
          "operator_methods", "tensor_values", "texts", "vectors")
    defer(globals(), "npcompile.tracing.polyfills", "consumers")

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
#: classes whose objects equal neither None nor text
_UNEQUAL = (bool, int, float, complex, tuple, list, dict, slice, range, bytes, np.bool)

_TRUTH = frozenset({"__bool__", "__len__"})
#: objects that are one wherever they are found: nothing is added by guarding their identity
_SINGLE = (bool, type(None), type(Ellipsis), type, np.ufunc)


#: in the text of an object that is known by where it is in memory
_ADDRESS = " at 0x"


def executed(t: Tracer, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
    """Runs a pure function on known objects; what it raises, Python raises here."""
    try:
        with np.errstate(all="raise"), warned.all_warnings("error"):
            found = function(*args, **kwargs)
    except (FloatingPointError, Warning) as error:
        raise t.refuse(function.__name__, f"{error}: Python warns at each call") from None
    except Exception as error:
        if from_handler(error):
            raise
        raise Unreachable from None
    if isinstance(found, str) and _ADDRESS in found:
        raise t.refuse(function.__name__, "gives an address, which is another one in each process")
    return t.value(found)


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


def binary(
    t: Tracer, symbol: str, left: Value, right: Value, on_stack: bool = False
) -> Value:
    """``left symbol right``; with ``=`` at the end of the symbol, in place.  ``on_stack``: the
    result goes on the stack, nothing else."""
    plain = symbol.rstrip("=")
    if is_tensor(left) or is_tensor(right):
        return tensor_values.binary(t, symbol, left, right)
    held = _plain(t, left, right)
    if held is not None:
        return executed(t, _BINARY[plain], *held)
    if any(is_of_user(value) or is_model(value) for value in (left, right)):
        called = operator_methods.binary(t, symbol, left, right, on_stack)
        if called is not None:
            return called
    found = _sequences(t, symbol, left, right)
    if isinstance(left, (HeapObject, Static)) and python_class(left) not in _PLAIN:
        found = found or operator_methods.of_type(t, symbol, left, right)
    if found is not None:
        return found
    if plain == "**" and isinstance(right, Node) and right.op != "const" and (
        _is_int(left) and _is_int(right)
    ):
        return _power(t, left, right)
    if isinstance(left, HeapObject) or isinstance(right, HeapObject):
        left, right = vectors.beside(t, left, right), vectors.beside(t, right, left)
    if symbol != plain:
        device_arrays.check_in_place(t, left)
    if symbol != plain and isinstance(left, ArrayRef):
        return _keep(t, left, plain, right)
    return _remember(t, plain, left, right, t.operate(_binary, plain, left, right))


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


def _binary(t: Tracer, symbol: str, left: Any, right: Any) -> Any:
    with t.called(_how(symbol)):
        return python.binary(t, symbol, left, right)


def _inplace(t: Tracer, symbol: str, left: Any, right: Any) -> Any:
    with t.called(_how(symbol)):
        return python.inplace(t, symbol, left, right)


def _how(symbol: str) -> Calling | None:
    """How the program calls an operator's ufunc; a product of matrices is another thing."""
    return None if symbol == "@" else "operator"


def _keep(t: Tracer, left: ArrayRef, symbol: str, right: Value) -> Value:
    """An array that is changed in place stays the same object."""
    t.operate(_inplace, symbol, left, right)
    return left


def _sequences(t: Tracer, symbol: str, left: Value, right: Value) -> Value | None:
    """``+`` and ``*`` of tuples and lists."""
    kinds = [python_class(v) for v in (left, right)]
    plain = symbol.rstrip("=")
    grown = [isinstance(v, HeapObject) and isinstance(t.heap[v], Vector) for v in (left, right)]
    if plain == "+" and kinds[0] is kinds[1] is list and any(grown):
        made = left if symbol != plain else t.call(Static(list.copy), (left,), {})
        t.call(Static(list.extend), (made, right), {})
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
        from npcompile.tracing.containers import ListType

        changed = registry.view(t, left)
        assert isinstance(changed, ListType)
        t.heap[changed.own()] = items
        return left
    return Sequence(items) if python_class(left) is tuple else t.allocate(list, items)


def _repeated(t: Tracer, symbol: str, sequence: Value, times: Value) -> Value:
    """``sequence * times``"""
    items = iteration.items(t, sequence)
    if python_class(sequence) is list and isinstance(times, Node) and not symbol.endswith("="):
        obj = t.register(HeapObject(list, place=t.place()))
        wanted = t.requests.vector(obj.place)
        if wanted is not None:
            t.heap[obj] = vectors.repeated(t, items, times, wanted)
            return obj
        t.requests.columns_of(obj, items, False)
    return _joined(t, symbol, sequence, items * _repetitions(t, times))


def _repetitions(t: Tracer, value: Value) -> int:
    """How often a sequence is repeated."""
    held = t.static(value, "a repetition")
    if type(held) not in (int, bool):
        raise t.refuse("*", f"a repetition by a {type(held).__name__} is left to Python")
    return int(held)


def unary(t: Tracer, symbol: str, value: Value, on_stack: bool = False) -> Value:
    if is_tensor(value):
        return tensor_values.unary(t, symbol, value)
    held = _plain(t, value)
    if held is not None:
        return executed(t, _UNARY[symbol], *held)
    called = operator_methods.unary(t, symbol, value, on_stack)
    if called is not None:
        return called
    return t.operate(python.unary, symbol, value)


def compare(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    if is_tensor(left) or is_tensor(right):
        return tensor_values.compare(t, symbol, left, right)
    held = _plain(t, left, right)
    if held is not None:
        return executed(t, _BINARY[symbol], *held)
    if texts.among((left, right)):
        return texts.compare(t, symbol, left, right)
    if symbol in ("==", "!=") and _is_text(left) and _is_text(right):
        return executed(t, _BINARY[symbol], *(t.static(v, "text") for v in (left, right)))
    called = operator_methods.compare(t, symbol, left, right)
    if called is not None:
        return called
    if symbol == "!=":  # where there is no method for it
        called = operator_methods.compare(t, "==", left, right)
        if called is not None:
            return negated(t, truth(t, called))
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Static) and type(one.value) in (type(None), str):
            return _unlike(t, symbol, one.value, other)
    kinds = [python_class(v) for v in (left, right)]
    if kinds[0] is kinds[1] and kinds[0] in (tuple, list) and symbol in ("==", "!="):
        return _compare_sequences(t, symbol, left, right)
    if kinds[0] is kinds[1] is tuple and symbol in ("<", "<=", ">", ">="):
        return _order_tuples(t, symbol, left, right)
    if isinstance(left, Static) and isinstance(right, Static):
        return _compare_objects(t, symbol, left, right)
    left, right = vectors.beside(t, left, right), vectors.beside(t, right, left)
    return t.operate(python.compare, symbol, left, right)


def _is_text(value: Value) -> bool:
    """Whether it is a string, of a class perhaps that compares as strings do."""
    kind = python_class(value)
    return issubclass(kind, str) and (kind.__eq__, kind.__ne__) == (str.__eq__, str.__ne__)


def _unlike(t: Tracer, symbol: str, held: str | None, other: Value) -> Value:
    """None or a string beside what is neither."""
    kind, by_identity = python_class(other), cast(Any, object.__eq__)
    unequal = kind.__eq__ is by_identity or kind in _UNEQUAL or issubclass(kind, np.number)
    if symbol in ("==", "!=") and unequal:
        if held is not None and issubclass(kind, np.generic):  # which makes an array of the string
            return t.value(np.bool_(symbol == "!="))
        return boolean(symbol == "!=")
    raise t.refuse(symbol, f"between None or text and a {kind.__name__} is left to Python")


def _compare_objects(t: Tracer, symbol: str, left: Static, right: Static) -> Value:
    """Objects that compare by identity."""
    by_identity: Any = object.__eq__
    plain = all(type(x.value).__eq__ is by_identity for x in (left, right))
    if symbol not in ("==", "!=") or not plain:
        raise t.refuse(symbol, f"of a {type(left.value).__name__} is left to Python")
    return boolean(identical(t, left, right) == (symbol == "=="))


def _compare_sequences(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """Tuples or lists, item by item."""
    first, second = iteration.items(t, left), iteration.items(t, right)
    verdicts = []
    for a, b in zip(first, second):
        verdict = _same_items(t, a, b)
        if isinstance(verdict, Node):
            verdicts.append(verdict)
        elif not t.static(verdict, "the equality of two sequences"):
            return boolean(symbol == "!=")
    if len(first) != len(second) or not verdicts:
        return boolean((len(first) == len(second)) == (symbol == "=="))
    equal = truth(t, consumers.follow(t, consumers.everything, Sequence(tuple(verdicts))))
    return equal if symbol == "==" else compare(t, "==", equal, boolean(False))


def _order_tuples(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """The order of tuples: that of the first items that differ, else that of their lengths."""
    first, second = iteration.items(t, left), iteration.items(t, right)
    found: Value = boolean(_BINARY[symbol](len(first), len(second)))
    for a, b in reversed(list(zip(first, second))):
        same, order = _same_items(t, a, b), compare(t, symbol, a, b)
        found = consumers.follow(t, consumers.union, same, found, order)
    return found


def _same_items(t: Tracer, a: Value, b: Value) -> Value:
    """Whether two items are equal, or one object, as NaN may be."""
    if isinstance(a, Node) or isinstance(b, Node):
        return truth(t, consumers.follow(t, consumers.same, a, b))
    if isinstance(a, Static) and isinstance(a.value, arguments.NUMBERS) and a.value != a.value:
        raise t.refuse("==", "of NaN, which may be one object")
    return truth(t, compare(t, "==", a, b))


def negated(t: Tracer, value: Value) -> Value:
    """``not value`` of a truth."""
    if isinstance(value, Static):
        return boolean(not value.value)
    assert isinstance(value, Node)
    return control.negate(t, value)


def truth(t: Tracer, value: Value) -> Value:
    """``bool(value)``: TRUE, FALSE or a traced bool."""
    called = operator_methods.truth(t, value)
    if called is not None:
        return called
    match value:
        case Static(held, source) if source is not None and type(held) in (list, dict):
            return boolean(bool(dictionary.size(t, value)))
        case Static(held, source) if own(type(held)) & _TRUTH or (
            source is not None and _changes_truth(held)
        ):
            raise t.refuse("truth", f"of a {type(held).__name__} is computed by Python")
        case Static(held):
            return boolean(bool(held))
        case HeapObject() if value.kind in (list, dict):
            held = t.heap[value]
            return vectors.truth(t, held) if isinstance(held, Vector) else boolean(bool(held))
        case Composite():
            known = registry.view(t, value).truth()
            if known is not None:
                return known
    found = t.operate(python.truth, value)
    return boolean(bool(found.value)) if isinstance(found, Static) else found


def _changes_truth(held: Any) -> bool:
    """Whether an object's truth may be another one at the next call."""
    own = any(hasattr(type(held), name) for name in ("__bool__", "__len__"))
    return own and not isinstance(held, (*protocol.LASTING, type(None)))


def identity(t: Tracer, left: Value, right: Value) -> Value:
    """``left is right``: TRUE, FALSE or a traced bool."""
    for one, other in ((left, right), (right, left)):
        bools = isinstance(one, Static) and isinstance(one.value, bool)
        if bools and isinstance(other, Node) and other.type == PY_BOOL:  # there are only two
            return compare(t, "==", left, right)
    return boolean(identical(t, left, right))


def identical(t: Tracer, left: Value, right: Value) -> bool:
    """``left is right``, where tracing tells."""
    if is_tensor(left) and is_tensor(right):
        return identical(t, tensor_values.array(left), tensor_values.array(right))
    if left is right and not isinstance(left, Node):
        return True
    if isinstance(left, Static) and isinstance(right, Static):
        if type(left.value) is not type(right.value):
            return False  # classes are guarded
        same = left.value is right.value
        if isinstance(left.value, _SINGLE):
            return same
        if is_given(left.source) and is_given(right.source):  # other objects at each call
            t.inputs.relate(left.source, right.source, same)
            return same
        for one in (left, right):
            if one.source is not None:
                t.inputs.guard(kinds.IdentityGuard(one.source, one.value))
        return same
    if isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        t.aliases.compares()
        if left.storage.param >= 0 and right.storage.param >= 0:
            raise t.refuse("is", "between two arrays from outside")
        return False
    if python_class(left) is not python_class(right):
        return False
    if isinstance(left, Node) and isinstance(right, Node):
        found = object_identity.identical(t, left, right)
        if found is not None:
            return found
    if (
        isinstance(left, HeapObject)
        and isinstance(right, HeapObject)
        and not (left.borrowed and right.borrowed)
    ):
        return False
    raise t.refuse("is", "between objects whose identity is not followed")


# ---------------------------------------------------------------------- calls
