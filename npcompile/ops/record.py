"""One operator is one record; kinds carry code, operators carry data.

Everything about an operator is said once, here in its record: names, signatures, meaning,
lowering, test domain, error bound, determinism.  Namespaces, call resolution, tests, the coverage
and accuracy pages are derived from :data:`OPERATORS` by loops.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Container, Iterator, Mapping, MutableMapping
from typing import Any, Literal

import numpy as np

from npcompile.core.paths import import_path, loaded
from npcompile.core.records import field, record
from npcompile.graph.ir import Node
from npcompile.ops.index import ALIASES, MODULES
from npcompile.ops.operands import Context, Operand

Guarantee = Literal["portable", "machine", "none"]
"""What the deterministic modes may rely on: ``portable``: same bits everywhere; ``machine``: same
bits on every run and thread count of one machine; ``none``: a library chooses."""


@record
class Domain:
    """From where to where an operator is tested, beside special values of each dtype."""

    low: float = -10.0
    high: float = 10.0


@record
class Errors:
    """The floating-point errors that NumPy's loops of an operator can report, by first letters:
    divide, over, under, invalid.  A capital ``I``: invalid for some finite numbers, too.
    ``complexes`` is None where complex numbers report the errors of floats.  ``of_node`` tells more
    of a call whose operands are known, or gives None.
    """

    floats: str = ""
    complexes: str | None = None
    integers: str = ""
    of_node: Callable[[Node], str | None] = lambda node: None

    def of(self, kind: str) -> str:
        """The first letters for a kind of dtype; unsigned integers don't overflow."""
        if kind in "iub":
            return self.integers if kind == "i" else self.integers.replace("o", "")
        letters = self.floats if kind != "c" or self.complexes is None else self.complexes
        return letters.lower()


SILENT = Errors()


def any_call(count: int, names: Container[str]) -> bool:
    """Says of each call that lists are arrays in it."""
    return True


@record
class OperatorFamily:
    """A family of operators: ``call`` builds the graph for one call of any of them."""

    name: str
    call: Callable[[Op, Context, tuple[Operand, ...], dict[str, Operand]], Operand]


@record(eq=False)
class Op:
    """One operator.

    ``aliases`` are import paths of the functions it stands for: ``"numpy:add"``,
    ``"scipy.special:erf"``, ``"math:sqrt"``, ``"numpy:ndarray.sum"``.  ``signatures`` are NumPy's
    loops (``"ff->f dd->d"``) that are compiled; others run in Python.  ``reference`` names the
    oracle.  ``lower`` is a primitive's name, or a program: a function of
    :class:`npcompile.graph.expression.Expr` operands, or of (builder, node, ...) for kinds other
    than elementwise.  ``derivative`` is a program that gives one partial derivative per operand
    (None where there is no closed form).
    ``ulp`` is the error bound per result type character (0: exact).
    ``errors`` are the floating-point errors that NumPy reports (None: not known); ``of_scalars``:
    NumPy's scalars compute it without the ufunc, and their warnings say so.
    ``of_numbers``: NumPy's numbers have the method, too, and it gives the same as of an array
    without axes.  ``lists_are_arrays`` says of a call, by its number of arguments and its keywords,
    whether NumPy's function takes lists in it as it takes arrays.  ``fresh``: numbers get a new
    object at each call, unlike ``+x`` or ``max(x, y)``.  ``eager``: npcompile's namespace has a
    ufunc of it, which is more accurate or faster than NumPy's or has the bits of compiled
    functions.
    """

    name: str
    kind: OperatorFamily
    signatures: str = ""
    aliases: tuple[str, ...] = ()
    reference: str = ""
    lower: str | Callable[..., Any] | None = None
    derivative: Callable[..., Any] | None = None
    domains: tuple[Domain, ...] = (Domain(),)
    ulp: Mapping[str, float] = field(default_factory=dict)
    guarantee: Guarantee = "portable"
    errors: Errors | None = None
    of_scalars: bool = False
    of_numbers: bool = False
    lists_are_arrays: Callable[[int, Container[str]], bool] = any_call
    fresh: bool = False
    eager: bool = False
    doc: str = ""
    data: Any = None  # what the kind needs beyond this
    deterministic: str = ""  # the path of a function in Python, followed in these modes

    def oracle(self) -> Callable[..., Any]:
        """The reference function."""
        found: Callable[..., Any] = import_path(self.reference)
        return found


_DEFINED: dict[str, Op] = {}


class Operators(MutableMapping[str, Op]):
    """The operator records by name, in the order of :mod:`npcompile.ops.index`.

    The module that defines a record is imported when the record is looked up.  A record is looked
    for only after that import, so that no thread sees one whose module another thread still
    executes.
    """

    def __init__(self) -> None:
        self._found: dict[str, Op] = {}

    def __getitem__(self, name: str) -> Op:
        found = self._found.get(name)
        if found is None:
            if name in MODULES:
                importlib.import_module(MODULES[name])
            found = self._found[name] = _DEFINED[name]
        return found

    def __setitem__(self, name: str, op: Op) -> None:
        self._found[name] = op

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in MODULES or name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*MODULES, *self._found)))

    def __len__(self) -> int:
        return len(MODULES.keys() | self._found.keys())


OPERATORS = Operators()


def define(name: str, kind: OperatorFamily, signatures: str = "", **fields: Any) -> Op:
    """Makes the record that :data:`OPERATORS` has of a name."""
    if name in _DEFINED:
        raise ValueError(f"operator {name!r} is defined twice")
    op = _DEFINED[name] = Op(name, kind, signatures, **fields)
    return op


_BY_IDENTITY: dict[int, tuple[Any, str]] = {}


def stands_for(function: Any, op: Op) -> None:
    """Calls of a function are calls of this record from now on."""
    _BY_IDENTITY[id(function)] = (function, op.name)


_SEEN_ALIASES: set[str] = set()


def resolve(function: Any) -> Op | None:
    """The record of the operator that a function object is, whatever name it was imported by."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):  # np.add.reduce is another object at each access
        known = getattr(np, owner.__name__, None) is owner
        return OPERATORS.get(f"{owner.__name__}.{function.__name__}") if known else None
    found = _BY_IDENTITY.get(id(function))
    if found is None or found[0] is not function:
        _look_at_aliases()
        found = _BY_IDENTITY.get(id(function))
    return OPERATORS[found[1]] if found is not None and found[0] is function else None


def _look_at_aliases() -> None:
    """Notes the functions of the modules that were imported since the last time."""
    for alias, name in ALIASES.items():
        if alias not in _SEEN_ALIASES:
            target = loaded(alias)
            if target is not None:
                _BY_IDENTITY.setdefault(id(target), (target, name))
                _SEEN_ALIASES.add(alias)  # not before: another thread would not find it


def of_path(alias: str) -> Op | None:
    """The record of the function with an import path."""
    name = ALIASES.get(alias)
    return None if name is None else OPERATORS[name]
