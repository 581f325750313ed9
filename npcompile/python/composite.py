"""The structure of values: the parts that they are made of, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from npcompile.graph.ir import Node
from npcompile.ops.operands import ArrayRef

if TYPE_CHECKING:
    from npcompile.python.values import Value

Read = TypeVar("Read")


class Reader(Generic[Read]):
    """What somebody outside the trace gets of a value, as Python does of a result or a library
    function of an argument: a method for each kind of value.  Each kind says which method reads it;
    one that a reader leaves out is refused."""

    def read(self, value: Value) -> Read:
        """Reads a value."""
        if isinstance(value, Node):
            return self.read_number(value)
        return self.read_array(value) if isinstance(value, ArrayRef) else value.read_by(self)

    def refused(self, value: Value) -> Read:
        """Refuses a value."""
        raise NotImplementedError

    def _left_out(self, value: Any) -> Read:
        return self.refused(value)

    read_number = read_array = read_constant = read_object = read_tuple = read_tensor = _left_out
    read_text = read_character = read_list = read_dict = read_instance = read_iterator = _left_out
    read_union = read_function = read_method = read_partial = _left_out
    read_built = _left_out  #: of a value of which Python's object is built of its parts' objects


class Composite:
    """A value that is made of others.  What walks over values do with it follows from its parts:
    what it reaches, what moves out of a region, which option of a union is meant, what two paths
    leave, what a loop carries, and whether two values are one.

    ``joins``: what two paths leave is one value, part by part; else either of two."""

    __slots__ = ()
    joins = False
    #: whether two paths that make equal ones make two objects
    renewed: ClassVar[bool] = False
    #: whether what leaves a region takes after what another path leaves in its place
    takes_after: ClassVar[bool] = False
    #: whether only the code that it is made of looks at its parts
    closed: ClassVar[bool] = False
    #: makes Python's object of the objects that its parts are; None: nothing does
    builds: ClassVar[Any] = None

    @property
    def python_class(self) -> type:
        """The class that the program sees; ``object``: none that is known here."""
        return object

    def parts(self) -> tuple[Value, ...]:
        """The values that it is made of."""
        raise NotImplementedError

    def rebuilt(self, parts: Iterable[Value]) -> Value:
        """The same of other parts."""
        raise NotImplementedError

    def label(self) -> Any:
        """What it is beside its parts: two values are one if their labels are equal and their
        parts one.  An object that the program can tell from an equal one is its own label."""
        return self

    def resembling(self, value: Value) -> Value:
        """Another value as one of this kind, if it is a constant that has such parts."""
        return value

    def is_object_of(self, other: Value) -> bool:
        """Whether an equal value of its kind is the same external object."""
        return False

    def read_by(self, reader: Reader[Read]) -> Read:
        """What a reader gets of it."""
        found = reader.refused if self.builds is None else reader.read_built
        return found(cast("Any", self))

    def mapped(self, function: Callable[[Value], Value]) -> Value:
        """The same of what a function makes of its parts; itself if they stay what they are."""
        before, itself = self.parts(), cast("Value", self)
        after = tuple(map(function, before))
        stays = all(a is b for a, b in zip(before, after))
        return itself if stays else self.rebuilt(after)

    def alike(self, other: object) -> bool:
        """Whether another value has the same kind, label and number of parts."""
        return type(other) is type(self) and isinstance(other, Composite) and (
            self.label() == other.label() and len(self.parts()) == len(other.parts())
        )
