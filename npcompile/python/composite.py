"""The structure of values that are made of other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

if TYPE_CHECKING:
    from npcompile.python.values import Value


class Composite:
    """A value that is made of others.  What walks over values do with it follows from its parts:
    what it reaches, what moves out of a region, which option of a union is meant, what two paths
    leave, what a loop carries, and whether two values are one.

    ``joins``: what two paths leave is one value, part by part; else either of two."""

    __slots__ = ()
    joins = False
    #: whether two paths that make equal ones make two objects
    renewed: ClassVar[bool] = False
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
