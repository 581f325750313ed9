"""One operator is one record; kinds carry code, operators carry data.

Everything about an operator is said once, here in its record: names, signatures, meaning,
lowering, test domain, error bound, determinism.  Namespaces, call resolution, tests, the coverage
and accuracy pages are derived from :data:`OPERATORS` by loops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from npcompile.core.paths import import_path, loaded
from npcompile.core.records import field, record
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
    doc: str = ""
    data: Any = None  # what the kind needs beyond this

    def oracle(self) -> Callable[..., Any]:
        """The reference function."""
        found: Callable[..., Any] = import_path(self.reference)
        return found


OPERATORS: dict[str, Op] = {}


def define(name: str, kind: OperatorFamily, signatures: str = "", **fields: Any) -> Op:
    """Adds a record to :data:`OPERATORS`."""
    if name in OPERATORS:
        raise ValueError(f"operator {name!r} is defined twice")
    op = OPERATORS[name] = Op(name, kind, signatures, **fields)
    return op


_BY_IDENTITY: dict[int, tuple[Any, Op]] = {}


def stands_for(function: Any, op: Op) -> None:
    """Calls of a function are calls of this record from now on."""
    _BY_IDENTITY[id(function)] = (function, op)


_LATER: dict[str, Callable[[], object]] = {}


def later(module: str, add: Callable[[], object]) -> None:
    """The records of a module's functions are added when one of these is looked for."""
    _LATER[module] = add


def complete(function: Any = None) -> None:
    """Adds the records that were left for :func:`later`: all, or those of a function's module."""
    for module, add in list(_LATER.items()):
        held = list(vars(sys.modules[module]).values()) if module in sys.modules else []
        if function is None or any(value is function for value in held):
            add()  # a thread that is second waits for the first one's import
            _LATER.pop(module, None)


_SEEN_MODULES: set[str] = set()


def resolve(function: Any) -> Op | None:
    """The record of the operator that a function object is, whatever name it was imported by."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):  # np.add.reduce is another object at each access
        known = getattr(np, owner.__name__, None) is owner
        return OPERATORS.get(f"{owner.__name__}.{function.__name__}") if known else None
    found = _BY_IDENTITY.get(id(function))
    if found is not None and found[0] is function:
        return found[1]
    complete(function)
    for op in OPERATORS.values():
        for alias in op.aliases:
            module = alias.partition(":")[0]
            if module in sys.modules and alias not in _SEEN_MODULES:
                target = loaded(alias)
                if target is not None:
                    _SEEN_MODULES.add(alias)
                    _BY_IDENTITY.setdefault(id(target), (target, op))
    found = _BY_IDENTITY.get(id(function))
    return found[1] if found is not None and found[0] is function else None
