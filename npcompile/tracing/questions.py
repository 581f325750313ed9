"""Comparisons, truth and identity of traced values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.core.paths import defer
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_BOOL
from npcompile.guards.class_hooks import own
from npcompile.guards.sources import is_given
from npcompile.ops import python
from npcompile.ops.operands import ArrayRef
from npcompile.python.composite import Composite
from npcompile.python.values import (
    HeapObject,
    Static,
    Value,
    Vector,
    boolean,
    is_tensor,
    python_class,
    sequence,
)
from npcompile.tracing import control
from npcompile.tracing.operators import BINARY, executed, plain_objects

if TYPE_CHECKING:
    from npcompile.guards import kinds
    from npcompile.ops import arguments
    from npcompile.python import dictionary, protocol, registry
    from npcompile.tracing import (
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
    defer(globals(), "npcompile.guards", "kinds")
    defer(globals(), "npcompile.ops", "arguments")
    defer(globals(), "npcompile.python", "dictionary", "protocol", "registry")
    defer(globals(), "npcompile.tracing", "iteration", "object_identity", "operator_methods",
          "tensor_values", "texts", "vectors")
    defer(globals(), "npcompile.tracing.polyfills", "consumers")

#: classes whose objects equal neither None nor text
_UNEQUAL = (bool, int, float, complex, tuple, list, dict, slice, range, bytes, np.bool)

_TRUTH = frozenset({"__bool__", "__len__"})
#: objects that are one wherever they are found: nothing is added by guarding their identity
_SINGLE = (bool, type(None), type(Ellipsis), type, np.ufunc)


def compare(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    if is_tensor(left) or is_tensor(right):
        return tensor_values.compare(t, symbol, left, right)
    held = plain_objects(t, left, right)
    if held is not None:
        return executed(t, BINARY[symbol], *held)
    if texts.among((left, right)):
        return texts.compare(t, symbol, left, right)
    if symbol in ("==", "!=") and _is_text(left) and _is_text(right):
        return executed(t, BINARY[symbol], *(t.static(v, "text") for v in (left, right)))
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
    equal = truth(t, consumers.follow(t, consumers.everything, sequence(tuple(verdicts))))
    return equal if symbol == "==" else compare(t, "==", equal, boolean(False))


def _order_tuples(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """The order of tuples: that of the first items that differ, else that of their lengths."""
    first, second = iteration.items(t, left), iteration.items(t, right)
    found: Value = boolean(BINARY[symbol](len(first), len(second)))
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
            raise t.refuse("is", "between two arrays that are passed in or global")
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
