"""Reads values from outside: arguments, globals, closures, attributes and items, with their guards.

Arrays and numbers become parameters of the graph; all else is static, and guarded.
"""

from __future__ import annotations

import enum
import functools
import sys
from collections.abc import Callable, Iterator, Sized
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.core.sizes import Size, Symbol, lone_symbol, symbol
from npcompile.graph.builder import Builder
from npcompile.graph.ir import (
    Geometry,
    Graph,
    Node,
    Param,
    Region,
    SameParam,
    Tree,
    ViewOf,
    handed,
    leaves,
    walk,
)
from npcompile.graph.texts import Bytes, Text, codes
from npcompile.graph.types import (
    PY_INT,
    PYTHON,
    SUPPORTED,
    Array,
    Opaque,
    Scalar,
    c_strides,
    contiguous,
)
from npcompile.guards.class_hooks import (
    HOLDING,
    has_finalizer,
    looks_up_plainly,
    of_library,
    wrapped_by_us,
)
from npcompile.guards.sources import (
    AddressOf,
    Attribute,
    Codes,
    Item,
    Leaf,
    ObjectWords,
    Source,
    TensorMemory,
    is_given,
)
from npcompile.ops.operands import ArrayRef, Inherited, Storage
from npcompile.python.values import Object, Static, TensorValue, Value

if TYPE_CHECKING:
    from npcompile.guards import kinds
    from npcompile.ops import foreign
    from npcompile.python import characters, registry
    from npcompile.runtime.unsafe import object_memory
    from npcompile.tensors import device, tensor_memory
    from npcompile.tracing.requests import Specialization
else:
    defer(globals(), "npcompile.core", "tuples")
    defer(globals(), "npcompile.guards", "kinds")
    defer(globals(), "npcompile.tensors", "device", "tensor_memory")
    defer(globals(), "npcompile.ops", "foreign")
    defer(globals(), "npcompile.python", "characters", "registry")
    defer(globals(), "npcompile.runtime.unsafe", "object_memory")


class Inputs:
    """Everything that the trace read from outside, each once."""

    def __init__(
        self, builder: Builder, root: Region, config: Config, own: Callable[[ArrayRef], None],
        requests: Specialization,
    ) -> None:
        self.builder, self.root, self.config, self.own = builder, root, config, own
        self.requests = requests
        self.leaves: list[Leaf] = []
        self.guards: list[kinds.Guard] = []
        self.objects: dict[int, Any] = {}  # parameter index -> the object of this call
        self.tensors: dict[int, Static] = {}  # parameter index -> the tensor whose memory it is
        self.device = False  # whether arrays are CuPy's
        self.strings: dict[int, Static] = {}  # parameter index -> the string whose codes it is
        self.by_value: set[Source] = set()  # strings that shall not
        self._known: dict[Source, Value] = {}
        self._whole: dict[Source, Node] = {}
        self._guarded: set[tuple[Source, type[kinds.Guard]]] = set()

    def lift(self, value: Any, source: Source) -> Value:
        """The value that stands for what ``source`` holds."""
        found = self._known.get(source)
        if found is None:
            found = self._known[source] = self._lift(value, source)
        return found

    def known(self, source: Source) -> Value | None:
        """What was read there before."""
        return self._known.get(source)

    def finalized(self) -> Source | None:
        """Where an object was found whose class has a finalizer, if one was: an argument or global
        lives until the call returns, but what is inside another object may die before."""
        kinds = [(guard.source, guard.held_class) for guard in self.guards]
        kinds += [(leaf.source, leaf.type.python_type) for leaf in self.leaves
                  if isinstance(leaf.type, Opaque)]
        for source, kind in kinds:
            inside = isinstance(source, (Attribute, Item)) and isinstance(kind, type)
            if inside and has_finalizer(kind):
                return source
        return None

    def guard_kind(self, value: Any, source: Source) -> None:
        """Guards the class of an object that is not looked at; numbers, strings, arrays and None
        may take each other's place, as no code runs when one is dropped."""
        if self.known(source) is not None:
            return
        if type(value).__flags__ & HOLDING:
            self.guard_class(source, type(value))
        else:
            self.guard(kinds.FlagsGuard(source, HOLDING))

    def stand(self, source: Source, value: Value) -> None:
        """From here on a value stands for what is there."""
        self._known[source] = value

    def guard(self, made: kinds.Guard) -> None:
        """Adds a guard, unless its source has one of its class."""
        key = made.source, type(made)
        if key not in self._guarded:
            self._guarded.add(key)
            self.guards.append(made)

    def guard_class(self, source: Source, kind: type) -> None:
        """Guards the class of what a source holds."""
        self.guard(kinds.ClassGuard(source, kind))

    def guard_length(self, source: Source, held: Sized) -> None:
        """Guards the length of what a source holds."""
        self.guard(kinds.LengthGuard(source, len(held)))

    def guard_code(self, source: Source, function: Any) -> None:
        """Guards the code and the defaults of a function that a source holds."""
        self.guard(kinds.FunctionGuard(source, function))

    def guard_presence(self, source: Attribute, there: bool) -> None:
        """Guards whether there is an attribute."""
        self.guard(kinds.PresenceGuard(source, there))

    def guard_keys(self, source: Source, held: dict[Any, Any]) -> None:
        """Guards the keys of a dictionary, in their order."""
        if not all(map(compared, held)):  # guards don't call methods of the user's classes
            raise refuse(source.text(), "a dictionary whose keys are objects")
        self.guard(kinds.KeysGuard(source, tuple(held)))

    def relate(self, source: Source, other: Source, same: bool) -> None:
        """Guards whether two sources hold one object."""
        self.guards.append((kinds.SameGuard if same else kinds.ApartGuard)(source, other))

    def static(self, value: Any, source: Source) -> Static:
        """A value that is guarded by equality, as ``static=`` asks."""
        plain = pinned(value) or type(value) in (int, float, complex, tuple)
        if not plain or type(value).__hash__ is None:
            raise refuse(source.text(), f"a {type(value).__name__} can't be static")
        self.guard(kinds.EqualityGuard(source, value))
        self.by_value.add(source)
        self._known[source] = made = Static(value, source if pinned(value) else None)
        return made

    def wants_text(self, value: Value) -> None:
        """Asks for a string that is given to the function to be data in another attempt."""
        if isinstance(value, Static) and type(value.value) in (str, bytes) and (
            is_given(value.source) and value.source not in self.by_value
        ):
            self.requests.string(value.source)

    def _lift(self, value: Any, source: Source) -> Value:
        if source in self.requests.given.strings and type(value) in (str, bytes):
            return self._text(value, source)
        kind = type(value)
        if not looks_up_plainly(kind):  # nothing may look at it
            raise refuse(source.text(), f"a {kind.__name__} looks up attributes by its own code")
        for classes, rule in _RULES:
            if issubclass(kind, classes):  # what it is, not what it says it is
                return rule(self, value, source)
        if "numpy.random" in sys.modules and issubclass(kind, foreign.GENERATORS):
            return self._generator(value, source)
        if tensor_memory.is_torch(value):
            return self._tensor(value, source)
        if device.is_cupy(value):
            return self._on_device(value, source)
        if pinned(value):
            return self._same(value, source)  # a function of a library, whatever its type
        self.guard_class(source, type(value))
        return Static(value, source)

    # ------------------------------------------------------------------ parameters

    def _array(self, value: Any, source: Source) -> Value:
        self._accept(value, source)
        name = source.text()
        type_, contiguous = self._array_type(value, name, source in self.requests.given.strides)
        node = self._param(name, type_, None)
        self.leaves.append(Leaf(source, type_, contiguous))
        index = len(self.leaves) - 1
        self.objects[index] = value
        geometry = Geometry(0, type_.shape, type_.strides)
        writeable = bool(value.flags.writeable) or Inherited.READ_ONLY
        made = ArrayRef(Storage(node, index), geometry, type_.dtype, writeable)
        self.own(made)
        return made

    def _tensor(self, value: Any, source: Source) -> Value:
        """A torch tensor: its memory is the parameter."""
        reason = tensor_memory.refused(value)
        if reason:
            raise refuse(source.text(), reason)
        made = self._array(tensor_memory.lend(value), TensorMemory(source))
        assert isinstance(made, ArrayRef)
        self.tensors[made.storage.param] = Static(value, source)
        return TensorValue(made)

    def _text(self, value: Any, source: Source) -> Value:
        """A string or bytes as data: its code points are the parameter."""
        self.guard_class(source, type(value))
        made = self._array(codes(value), Codes(source))
        assert isinstance(made, ArrayRef)
        self.strings[made.storage.param] = Static(value, source)
        return characters.TextValue(made, Text if type(value) is str else Bytes)

    def words(self, name: str) -> ArrayRef:
        """An array by which objects are read."""
        source = ObjectWords(name)
        found = self._known.get(source)
        if found is None:
            array = object_memory.words(name)
            kind = contiguous(array.dtype, array.shape)
            node = self._param(name, kind, None)
            self.objects[len(self.leaves)] = array
            geometry = Geometry(0, kind.shape, kind.strides)
            found = ArrayRef(Storage(node, len(self.leaves)), geometry, kind.dtype, False)
            self.leaves.append(Leaf(source, kind))
            self.own(found)
            self._known[source] = found
        assert isinstance(found, ArrayRef)
        return found

    def address(self, source: Source) -> Node:
        """Where an object lies."""
        node = self._param(source.text(), PY_INT, None)
        self.leaves.append(Leaf(AddressOf(source), PY_INT))
        return self.builder.emit("cast", (node,), None, Scalar(PY_INT.dtype, "np"))

    def _on_device(self, value: Any, source: Source) -> Value:
        """An array of CuPy's: its image is the parameter."""
        if not self.device and any(isinstance(leaf.type, Array) for leaf in self.leaves):
            raise refuse(source.text(), "is an array of CuPy's, and others are not")
        self.device = True
        return self._array(device.image(value), TensorMemory(source))

    def _accept(self, array: Any, source: Source) -> None:
        dtype = array.dtype
        reasons = {
            "is an array of NumPy's, and others are CuPy's":
                self.device and device.owner(array) is None,
            f"a {type(array).__name__} may behave unlike an ndarray": type(array) is not np.ndarray,
            f"arrays of dtype {dtype} are Python's": dtype.char not in SUPPORTED,
            "its byte order is not this machine's": not dtype.isnative,
            "its elements are not aligned": not array.flags.aligned,
            "its strides are no multiple of its item size": any(
                s % max(dtype.itemsize, 1) for s in array.strides
            ),
        }
        for reason, holds in reasons.items():
            if holds:
                raise refuse(source.text(), reason)

    def _array_type(self, array: Any, name: str, ragged: bool) -> tuple[Array, bool]:
        if not self.config.dynamic:
            shape: tuple[Size, ...] = array.shape
        else:
            shape = tuple(symbol(f"{name}.{k}", n, low=0) for k, n in enumerate(array.shape))
        if array.flags.c_contiguous and not ragged:
            return Array(array.dtype, shape, c_strides(shape)), True
        strides = []
        for axis, step in enumerate(array.strides):
            step //= array.dtype.itemsize
            literal = step in (0, 1) or not self.config.dynamic
            strides.append(step if literal else symbol(f"{name}.s{axis}", step))
        return Array(array.dtype, shape, tuple(strides)), False

    def settle(self, graph: Graph) -> None:
        """Demands exact strides of arrays of which views are handed to Python, or of all if
        something rests on them: along axes of length 1, and of empty ones, the flag does not tell
        them; asks for them where an array does not have them."""
        every = graph.facts.all_strides
        found = {leaf.base.index for tree in _handed_out(graph) for leaf in leaves(tree)
                 if isinstance(leaf, ViewOf) and isinstance(leaf.base, SameParam)}
        for index in range(len(self.leaves)) if every else sorted(found):
            known = self.leaves[index]
            if known.contiguous and isinstance(known.type, Array):
                array = self.objects[index]
                exact = c_strides(array.shape)
                if array.strides != tuple(array.itemsize * step for step in exact):
                    self.requests.exact_strides(known.source)
                self.leaves[index] = replace(known, contiguous=False)

    def _number(self, value: Any, source: Source) -> Value:
        type_ = PYTHON.get(type(value))
        if type_ is None:
            if not isinstance(value, np.generic) or value.dtype.char not in SUPPORTED:
                raise refuse(source.text(), f"a {type(value).__name__} is Python's")
            type_ = Scalar(value.dtype, "np")
        name, bound = source.text(), None
        if type(value) is int:
            if not -(2**63) <= value < 2**63:
                raise refuse(name, "an int wider than 64 bits")
            size = symbol(name, value)
            bound = lone_symbol(size)
        node = self._param(name, type_, bound)
        if bound is not None:
            self.builder.bind(size, node)
        self.objects[len(self.leaves)] = value
        self.leaves.append(Leaf(source, type_))
        return node

    def _generator(self, value: Any, source: Source) -> Value:
        """A generator of random numbers; of its kind, no more is known."""
        kind = type(value)
        if kind not in foreign.GENERATORS:
            return self._same(value, source)
        node = self._param(source.text(), Opaque(kind), None)
        self.leaves.append(Leaf(source, Opaque(kind)))
        bits = type(value._bit_generator)
        return Object(node, kind, kind(bits(0)))

    def whole(self, value: Any, source: Source) -> Node | None:
        """The parameter that holds an object itself, of which only the kind or the value is
        guarded; None if it is the same one at each call."""
        if isinstance(value, (*_SAME, bool, np.bool_, type(None), type(Ellipsis), enum.Enum)):
            return None
        receiver = Attribute(source, "__self__")
        if isinstance(value, FunctionType) and any(g.source == receiver for g in self.guards):
            source = Attribute(source, "__func__")  # a bound method is found there
        if source not in self._whole:
            kind = Opaque(type(value))
            self._whole[source] = self._param(source.text(), kind, None)
            self.leaves.append(Leaf(source, kind))
        return self._whole[source]

    def object_of(self, number: Node) -> Node | None:
        """The parameter that holds the very object of a number from outside; None: it is a new
        one, or the only one of its value."""
        if not isinstance(number.attrs, Param) or number.attrs.index not in self.objects:
            return None
        held = self.objects[number.attrs.index]
        return self.whole(held, self.leaves[number.attrs.index].source)

    def one_object(self, number: Node, other: Node) -> bool:
        """Whether two numbers from outside are one object, which is guarded."""
        places = [n.attrs.index for n in (number, other) if isinstance(n.attrs, Param)]
        first, second = (self.objects[k] for k in places)
        source, another = (self.leaves[k].source for k in places)
        self.relate(source, another, first is second)
        return first is second

    def _param(self, name: str, type_: Array | Scalar | Opaque, bound: Symbol | None) -> Node:
        node = Node("param", (), Param(len(self.leaves), name, bound), type_, 0)
        self.root.params.append(node)
        return node

    # ------------------------------------------------------------------ statics

    def _equal(self, value: Any, source: Source) -> Value:
        own = isinstance(value, (str, bytes, frozenset)) and type(value) not in _EXACT
        # what == means, its class may say
        kind = kinds.IdentityGuard if own else kinds.EqualityGuard
        self.guard(kind(source, value))
        return Static(value, source)

    def _same(self, value: Any, source: Source) -> Value:
        self.guard(kinds.IdentityGuard(source, value))
        return Static(value, source)

    def _function(self, value: Any, source: Source) -> Value:
        self.guard(kept_by(value)(source, value))
        return Static(value, source)

    def _represented(self, value: Any, source: Source) -> Value:
        """An object whose parts are looked at, as its type's class says."""
        base = next(kind for kind in _REPRESENTED if issubclass(type(value), kind))
        found = registry.class_of(base)
        assert found is not None
        return found.external(self, value, source)


def kept_by(function: FunctionType) -> type[kinds.IdentityGuard] | type[kinds.FunctionGuard]:
    """The guard of a function: functions of libraries may share code with others."""
    return kinds.IdentityGuard if of_library(function) else kinds.FunctionGuard


def _handed_out(graph: Graph) -> Iterator[Tree]:
    """Yields the result trees that Python sees: the function's result, and the frames of its exits.
    """
    yield graph.result
    for node in walk(graph.region):
        yield from handed(node)


#: objects that their guard pins down: what is computed from them stays true
_EQUAL = (bool, str, bytes, type(None), type(Ellipsis), range, np.dtype, frozenset)
_EXACT = (str, bytes, frozenset, np.str_, np.bytes_)
_SAME = (enum.Enum, ModuleType, type, BuiltinFunctionType, np.ufunc)


def pinned(value: Any) -> bool:
    """Whether an object from outside is known whole, not by its class alone."""
    if issubclass(type(value), (*_EQUAL, *_SAME, FunctionType)):
        return True
    if not callable(value):
        return False
    called = type(value).__call__
    return type(called) is not FunctionType and wrapped_by_us(called) is None


def compared(key: Any) -> bool:
    """Whether a key is compared with others by Python's own code."""
    if type(key) in (tuple, frozenset):
        return all(map(compared, key))
    plain = (str, bytes, int, float, complex, bool, type(None), range, FunctionType)
    return type(key) in plain or isinstance(key, (*_SAME, np.generic, np.dtype))


#: types whose objects have a representation of their own
_REPRESENTED = (MethodType, tuple, functools.partial, slice)

Rule = Callable[[Inputs, Any, Source], Value]
_RULES: list[tuple[Any, Rule]] = [  # the first that fits
    (np.ndarray, Inputs._array),
    (enum.Enum, Inputs._same),
    (_EQUAL, Inputs._equal),
    (np.generic, Inputs._number),
    ((int, float, complex), Inputs._number),
    (_SAME, Inputs._same),
    (FunctionType, Inputs._function),
    (_REPRESENTED, Inputs._represented),
]
