"""Random objects of classes that answer operators by code of their own, compiled and plain: the
results are the same, and what they are asked is asked as often.
"""

from __future__ import annotations

import collections
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit
from tests.fuzz.framework import Counts, Grammar
from tests.support import oracle

Point: Any = collections.namedtuple("Point", "a b c")
HELD: tuple[Any, ...] = (
    "abc", b"abc", frozenset({97, "b"}), (97, "b", 2.0), (1.0, 2.0, 3.0), Point(1.0, 2.0, 3.0),
    ["a", "b", 3], [1.0, 2.0, 3.0], {"k": 1, "abc": 2}, 2, 2.5, 1 + 2j, np.arange(3.0),
    np.float64(2.5), np.int64(2), np.str_("abc"), {97, "b"}, object(),
)
METHODS = (
    "__len__", "__getitem__", "__contains__", "__iter__", "__eq__", "__ne__", "__lt__", "__gt__",
    "__hash__", "__str__", "__repr__", "__format__", "__bool__", "__add__", "__radd__", "__mul__",
    "__rmul__", "__index__", "__int__", "__float__", "__array__", "__getattribute__", "__mod__",
    "__and__", "__neg__", "__abs__", "__round__", "__array_priority__", "__array_ufunc__",
)
VERDICTS = ("__bool__", "__contains__", "__eq__", "__ne__", "__lt__", "__gt__")
ASKED: tuple[Callable[[Any, Any], Any], ...] = (
    lambda v, x: (len(v), x * 2), lambda v, x: x * 2 if v else x, lambda v, x: (not v, x * 2),
    lambda v, x: (v[0], x * 2), lambda v, x: (v[1:], x * 2), lambda v, x: (v["k"], x * 2),
    lambda v, x: ("b" in v, x * 2), lambda v, x: (97 in v, x * 2), lambda v, x: (v == "abc", x * 2),
    lambda v, x: (v in ("x", b"y", "abc", 2.0), x * 2), lambda v, x: ("abc" == v, x * 2),  # noqa: SIM300
    lambda v, x: (v != "abc", x * 2), lambda v, x: (v == None, x * 2), lambda v, x: (v == v, x * 2),  # noqa: E711
    lambda v, x: (v == 1.5, x * 2), lambda v, x: (v == (1, 2), x * 2),
    lambda v, x: ({"abc": 1}.get(v), x * 2), lambda v, x: ({1: 1, 2.0: 5}.get(v), x * 2),
    lambda v, x: [(c, x[0]) for c in v], lambda v, x: (list(v), x * 2),
    lambda v, x: (max(v, v), x * 2), lambda v, x: (max(v), x * 2), lambda v, x: (sum(v), x * 2),
    lambda v, x: (str(v), x * 2), lambda v, x: (repr(v), x * 2), lambda v, x: (f"{v}", x * 2),
    lambda v, x: (f"{v!s:>9}", x * 2), lambda v, x: (v < v, x * 2),
    lambda v, x: [p[0] for p in zip(v, x)], lambda v, x: (lambda *p: p)(*v),
    lambda v, x: x if v in {"abc", 7} else x * 3, lambda v, x: (v + v, x * 2),
    lambda v, x: v + x, lambda v, x: x + v, lambda v, x: (v + 1, x * 2), lambda v, x: v * x,
    lambda v, x: x * v, lambda v, x: (v & v, x * 2), lambda v, x: (-v, x * 2),
    lambda v, x: (abs(v), x * 2), lambda v, x: (round(v), x * 2), lambda v, x: x[v],
    lambda v, x: np.zeros(v) + x[0], lambda v, x: [x[0] for _ in range(v)], lambda v, x: x[:v],
    lambda v, x: (int(v), x * 2), lambda v, x: (float(v), x * 2), lambda v, x: (bool(v), x * 2),
    lambda v, x: (hash(v) == hash("abc"), x * 2), lambda v, x: np.array(v),
    lambda v, x: np.sum(v), lambda v, x: np.maximum(v, x), lambda v, x: np.concatenate([v, x]),
    lambda v, x: np.dot(x, v), lambda v, x: np.median(v), lambda v, x: ("".join(v), x * 2),
    lambda v, x: (v.index("b"), x * 2), lambda v, x: ({v: 1.0}[v], x * 2),
    lambda v, x: ([1, 2, 3][v], x * 2), lambda v, x: (v in "xxabcxx", x * 2),
    lambda v, x: (any(v), all(v), x * 2), lambda v, x: (v % 2, x * 2), lambda v, x: np.full(3, v),
    lambda v, x: x.mean(axis=v), lambda v, x: (list(v.items()), x * 2),
    lambda v, x: np.where(x > v, x, v), lambda v, x: (np.float64(v), x * 2),
)
CALLS = [0]


def method(base: type, name: str) -> Callable[..., Any]:
    """A special method that counts its calls, and says otherwise at every second one if it can."""
    usual = getattr(base, name, None)

    def asked(held: Any, *args: Any) -> Any:
        CALLS[0] += 1
        odd = CALLS[0] % 2
        if name in VERDICTS:
            return bool(odd)
        if usual is not None:
            return usual(held, *args) + odd if name == "__len__" else usual(held, *args)
        new = {"__iter__": iter("pq"), "__float__": 1.5 + odd, "__array__": np.arange(3.0) + odd}
        return new.get(name, 1 + odd)

    return asked


def made(held: Any, names: list[str]) -> Any:
    """Such an object, of a class with some special methods of its own; None if it can't have
    them."""
    base = type(held)
    space: dict[str, Any] = {}
    for name in names:
        if name in ("__array_priority__", "__array_ufunc__"):
            space |= {name: None if name == "__array_ufunc__" else 100.0}
            space |= {n: method(base, n) for n in ("__radd__", "__rmul__")}
        else:
            space[name] = method(base, name)
    if "__eq__" in names:
        space.setdefault("__hash__", base.__hash__)
    try:
        kind: Any = type("Own", (base,), space)
        if base is np.ndarray:
            return held.view(kind)
        if base is object:
            return kind()
        return kind(*held) if base is Point else kind(held)
    except TypeError:
        return None


def observed(call: Callable[[Any, Any], Any], value: Any) -> list[oracle.Outcome]:
    """Calls, and how many special methods have been called by then."""
    CALLS[0] = 1
    return [oracle.observe(call, value, np.arange(3.0), world=lambda: list(CALLS))
            for _ in range(3)]


def check(seed: int, counts: Counts) -> str:
    """What differs in a case, or an empty string."""
    rng = random.Random(seed)
    k, names = rng.randrange(len(HELD)), rng.sample(METHODS, rng.choice((1, 1, 2)))
    value = made(HELD[k], names)
    if value is None:
        return ""
    for place in rng.sample(range(len(ASKED)), 6):
        compiled = jit(ASKED[place])
        for got, want in zip(observed(compiled, value), observed(ASKED[place], value)):
            if text := oracle.difference(got, want):
                return f"seed {seed}, {names} of {HELD[k]!r}, question {place}: {text}"
        counts["refused" if compiled.cache_info().refused else "compiled"] += 1
    return ""


GRAMMAR = Grammar(check=check)
