"""What an operator is called with while a function is traced, and what it may do.

::

    operand ::= Node                      a traced scalar (its type is a Scalar)
              | ArrayRef                  an array object of the program
              | Tensor                    a torch tensor
              | tuple | list | dict | slice of operands
              | any other Python object   static: its value is known while tracing

Operators get operands and return operands.  They never see the tracer: only a :class:`Context`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Geometry, HostCall, Node
from npcompile.graph.types import Array


class Storage:
    """One memory, whose contents change: its current version is the context's to know.

    ``first`` is the version it was made with; ``param`` the parameter it belongs to, or -1.
    """

    __slots__ = ("first", "param")

    def __init__(self, first: Node, param: int = -1) -> None:
        self.first = first
        self.param = param

    @property
    def type(self) -> Array:
        assert isinstance(self.first.type, Array)
        return self.first.type


class Inherited(Enum):
    """What views take from an array that is read-only in this call, and may not be in another."""

    READ_ONLY = 0

    def __bool__(self) -> bool:
        return False


@record(eq=False)
class ArrayRef:
    """An array object: a view on a cell.  Identity is by object, as in Python.

    ``writeable`` False: it is a view that never is; None: NumPy warns that it will not be (what
    ``broadcast_arrays`` gives).
    """

    storage: Storage
    geometry: Geometry
    dtype: np.dtype
    writeable: bool | Inherited | None = True

    @property
    def shape(self) -> tuple[Size, ...]:
        return self.geometry.shape

    @property
    def strides(self) -> tuple[Size, ...]:
        return self.geometry.strides

    @property
    def steps(self) -> tuple[Size, ...]:
        """The strides in elements of its own: a part of a complex number is half of one."""
        return self.geometry.steps

    @property
    def ndim(self) -> int:
        return len(self.geometry.shape)

    @property
    def type(self) -> Array:
        return Array(self.dtype, self.geometry.shape, self.steps)


@record(eq=False)
class Tensor:
    """A torch tensor of the program: its operators are torch's (:mod:`npcompile.tensors`)."""

    memory: ArrayRef


def same_elements(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether two arrays are one view of one memory."""
    return (a.storage, a.geometry, a.dtype) == (b.storage, b.geometry, b.dtype)


Operand = Any


class Context(Protocol):
    """What an operator may ask of whoever traces."""

    builder: Builder

    @property
    def facts(self) -> Facts: ...

    def version(self, storage: Storage) -> Node:
        """What a memory holds now."""

    def read(self, ref: ArrayRef) -> Node:
        """The array's contents now."""

    def write(self, ref: ArrayRef, value: Node, mask: Node | None = None) -> None:
        """``ref[...] = value`` (of ref's dtype, broadcast), where ``mask`` is true."""

    def scatter(self, ref: ArrayRef, value: Node, at: Node, combine: str, distinct: bool) -> None:
        """The same for the elements that are ``at`` further on; see
        :class:`npcompile.graph.ir.Scatter`."""

    def new(self, node: Node) -> ArrayRef:
        """A fresh array object with these contents."""

    def stand_in(self, made: ArrayRef, ref: ArrayRef) -> ArrayRef:
        """``made``, which holds a copy of what should be a view of ``ref``; nobody may tell."""

    def host_call(self, call: HostCall, args: tuple[Operand, ...], result: Array) -> ArrayRef:
        """The result, of a known type, of running a real Python function in place."""

    def refuse(self, construct: str, reason: str, hint: str = "") -> Refused:
        """``raise ctx.refuse(...)``: this call is left to Python; the line is filled in."""
