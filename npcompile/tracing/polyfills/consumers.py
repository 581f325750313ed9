"""Python's functions that are loops, in Python: their bytecode is followed like the user's own.

``sum`` and its like over what only the run knows the length of, and functions of ints.  Where they
raise, the call is left for Python, which raises itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.lines import file_of
from npcompile.guards.sources import Global
from npcompile.python.functions import Function
from npcompile.python.values import Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


#: owns the globals of these functions, which nobody changes
OURS = Global("npcompile")


def total(items: Iterable[Any], start: Any) -> Any:
    """``sum``"""
    for item in items:
        start = start + item
    return start


def compensated_total(items: Iterable[Any], start: Any) -> Any:
    """``sum`` since Python 3.12, which adds what sums of Python's floats have lost (Neumaier)."""
    lost = 0.0
    for item in items:
        if type(start) is not float or type(item) is int or type(item) is bool:
            start = start + item
        elif type(item) is float:
            made = start + item
            if abs(start) >= abs(item):
                lost = lost + ((start - made) + item)
            else:
                lost = lost + ((item - made) + start)
            start = made
        else:  # from here on all is of another class
            if lost != 0.0 and math.isfinite(lost):
                start = start + lost
            lost = 0.0
            start = start + item
    if lost != 0.0 and math.isfinite(lost):
        start = start + lost
    return start


def largest(items: Iterable[Any]) -> Any:
    """``max``"""
    best = None
    for item in items:
        if best is None or item > best:
            best = item
    if best is None:
        raise ValueError
    return best


def smallest(items: Iterable[Any]) -> Any:
    """``min``"""
    best = None
    for item in items:
        if best is None or item < best:
            best = item
    if best is None:
        raise ValueError
    return best


def anything(items: Iterable[Any]) -> bool:
    """``any``"""
    for item in items:
        if item:
            return True
    return False


def everything(items: Iterable[Any]) -> bool:
    """``all``"""
    for item in items:
        if not item:
            return False
    return True


def listed(items: Iterable[Any]) -> list[Any]:
    """``list``"""
    found = []
    for item in items:
        found.append(item)
    return found


def filled(found: Any, items: Any) -> None:
    """Copies numbers to an array."""
    for k in range(len(items)):
        found[k] = items[k]


def filled_columns(found: Any, items: Any) -> None:
    """Copies tuples of numbers to arrays."""
    for k in range(len(items)):
        for column, number in zip(found, items[k]):
            column[k] = number


def added(found: Any, items: Iterable[Any]) -> None:
    """``set`` of items"""
    for item in items:
        found.add(item)


def numbers(items: Iterable[Any]) -> list[Any]:
    """``tolist`` of an array of one axis"""
    found = []
    for item in items:
        found.append(item.item())
    return found


def place(items: Iterable[Any], wanted: Any) -> int:
    """``list.index``; what is not equal to itself is found by its identity"""
    if wanted != wanted:
        raise ValueError
    k = 0
    for item in items:
        if item == wanted:
            return k
        k += 1
    raise ValueError


def occurrences(items: Iterable[Any], wanted: Any) -> int:
    """``list.count``"""
    if wanted != wanted:
        raise ValueError
    found = 0
    for item in items:
        if item == wanted:
            found += 1
    return found


def held(items: Iterable[Any], wanted: Any) -> bool:
    """``wanted in items``"""
    if wanted != wanted:
        raise ValueError
    for item in items:
        if item == wanted:
            return True
    return False


def equal_codes(a: Any, b: Any) -> bool:
    """``==`` of two strings, by their code points"""
    if len(a) != len(b):
        return False
    for k in range(len(a)):
        if a[k] != b[k]:
            return False
    return True


def only_code(a: Any, wanted: int) -> Any:
    """``==`` of a string, by its code points, and a character"""
    if len(a) != 1:
        return False
    return a[0] == wanted


def same(a: Any, b: Any) -> Any:
    """``a is b or a == b`` of two numbers"""
    if a != a:
        raise ValueError
    return a == b


def union(condition: Any, first: Any, second: Any) -> Any:
    """``first if condition else second``"""
    if condition:
        return first
    return second


def product(items: Iterable[Any], start: Any) -> Any:
    """``math.prod``"""
    for item in items:
        start = start * item
    return start


def digit(code: int) -> int:
    """``int`` of one character; digits of other scripts are Python's"""
    if code < 48 or code > 57:
        raise ValueError
    return code - 48


def larger(best: Any, item: Any) -> Any:
    """``max`` of two"""
    if item > best:
        return item
    return best


def smaller(best: Any, item: Any) -> Any:
    """``min`` of two"""
    if item < best:
        return item
    return best


def greatest_divisor(a: int, b: int) -> int:
    """``math.gcd`` of two"""
    a, b = abs(int(a)), abs(int(b))
    while b:
        a, b = b, a % b
    return a


def root(n: int) -> int:
    """``math.isqrt``"""
    n = int(n)
    if n < 0:
        raise ValueError
    found = int(math.sqrt(n))
    while found * found > n:
        found -= 1
    while (found + 1) * (found + 1) <= n:
        found += 1
    return found


def factorial(n: int) -> int:
    """``math.factorial``"""
    n = int(n)
    if n < 0:
        raise ValueError
    found = 1
    for k in range(2, n + 1):
        found *= k
    return found


def choices(n: int, k: int) -> int:
    """``math.comb``"""
    n, k = int(n), int(k)
    if n < 0 or k < 0:
        raise ValueError
    if k > n:
        return 0
    found = 1
    for j in range(min(k, n - k)):
        found = found * (n - j) // (j + 1)
    return found


def arrangements(n: int, k: int) -> int:
    """``math.perm`` of two"""
    n, k = int(n), int(k)
    if n < 0 or k < 0:
        raise ValueError
    if k > n:
        return 0
    found = 1
    for j in range(k):
        found *= n - j
    return found


def power(base: int, exponent: int) -> int:
    """``base ** exponent`` of ints"""
    if exponent < 0:
        raise ValueError
    found = 1
    while exponent:
        if exponent & 1:
            found *= base
        exponent >>= 1
        if exponent:
            base *= base
    return found


def residue(base: int, exponent: int, modulus: int) -> int:
    """``pow(base, exponent, modulus)``"""
    if exponent < 0:
        raise ValueError
    found = 1 % modulus
    base %= modulus
    while exponent:
        if exponent & 1:
            found = found * base % modulus
        exponent >>= 1
        if exponent:
            base = base * base % modulus
    return found


def close(a: float, b: float, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
    """``math.isclose``"""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError
    a, b = float(a), float(b)
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    gap = math.fabs(b - a)
    return (
        gap <= math.fabs(rel_tol * b) or gap <= math.fabs(rel_tol * a) or gap <= abs_tol
    )


def follow(t: Tracer, consumer: Any, *args: Value, **named: Value) -> Value:
    """Follows one of these functions; where a check fails in it, Python makes the call anew.

    All of it stands in the line of the call, for what tells of lines.
    """
    assert isinstance(consumer, FunctionType)
    defaults = tuple(map(Static, consumer.__defaults__ or ()))
    code = _standing(consumer.__code__, t.builder.line)
    options: dict[str, Value] = {k: Static(v) for k, v in (consumer.__kwdefaults__ or {}).items()}
    made = Function(code, consumer.__globals__, OURS, consumer.__name__, defaults, options)
    return t.follow(made, args, named)


def _standing(code: CodeType, line: int) -> CodeType:
    """The same code, all of it in one line of the user's."""
    inner = tuple([_standing(c, line) if isinstance(c, CodeType) else c for c in code.co_consts])
    return code.replace(
        co_consts=inner, co_linetable=b"", co_firstlineno=line, co_filename=file_of(line)
    )
