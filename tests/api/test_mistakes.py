"""What users get wrong: class, message and line of the exception are those of the plain function,
and so is what was changed before."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

ARRAYS: dict[str, Any] = {
    "x": np.linspace(0.5, 3, 6), "m": np.arange(12.0).reshape(3, 4), "k": np.arange(5),
    "sq": np.eye(3),
}

#: an expression, and its arguments
EXPRESSIONS = [
    ('x + np.ones(len(x) + 1)', 'x'),
    ('m @ m', 'm'),
    ('np.dot(m, x)', 'm x'),
    ('m.sum(axis=2)', 'm'),
    ('m.mean(axis=-3)', 'm'),
    ('m.reshape(5, 3)', 'm'),
    ('m.transpose(0, 0)', 'm'),
    ('np.concatenate([m, x])', 'm x'),
    ('np.stack([m, x])', 'm x'),
    ('x[10]', 'x'),
    ('x[-7]', 'x'),
    ('m[3, 0]', 'm'),
    ('m[0, 0, 0]', 'm'),
    ('x[1.5]', 'x'),
    ("x['a']", 'x'),
    ('x[k]', 'x k'),
    ('x[np.array([True, False])]', 'x'),
    ('np.linalg.inv(m)', 'm'),
    ('np.linalg.inv(sq * 0)', 'sq'),
    ('np.linalg.solve(sq, x)', 'sq x'),
    ('np.linalg.cholesky(-sq)', 'sq'),
    ("k.astype(float, casting='bogus')", 'k'),
    ('np.zeros(-1)', 'x'),
    ('np.arange(0, 1, 0)', 'x'),
    ('np.linspace(0, 1, -3)', 'x'),
    ('np.max(x[:0])', 'x'),
    ('np.argmin(x[:0])', 'x'),
    ('k ** -1', 'k'),
    ('k & x', 'k x'),
    ('~x', 'x'),
    ('x.foo', 'x'),
    ('np.foo(x)', 'x'),
    ('np.add(x)', 'x'),
    ('np.sum(x, bogus=1)', 'x'),
    ('int(m)', 'm'),
    ('float(x)', 'x'),
    ('bool(x)', 'x'),
    ('len(5)', 'x'),
    ('x if x else k', 'x k'),
    ("np.einsum('ij,jk->ik', m, m)", 'm'),
    ('np.broadcast_to(x, (5, 5))', 'x'),
    ('np.swapaxes(m, 0, 5)', 'm'),
    ('np.expand_dims(m, 7)', 'm'),
    ('np.squeeze(m, 0)', 'm'),
    ('np.split(x, 4)', 'x'),
    ('np.take(x, 9)', 'x'),
    ('np.choose([0, 5], [x, x])', 'x'),
    ('np.bincount(k - 3)', 'k'),
    ('np.repeat(x, -1)', 'x'),
    ("np.tile(x, 'a')", 'x'),
    ('np.clip(x)', 'x'),
    ('np.where(x > 1, m)', 'x m'),
    ('np.searchsorted(m, 1)', 'm'),
    ('np.interp(1, x, k)', 'x k'),
    ('np.cross(x, x)', 'x'),
    ('np.trace(x)', 'x'),
    ('np.diag(np.zeros((2,2,2)))', 'x'),
    ('np.convolve(x, x[:0])', 'x'),
    ('np.histogram(x, -1)', 'x'),
    ('np.polyfit(x, k, 1)', 'x k'),
    ('x.view(np.int32).reshape(5)', 'x'),
    ('np.vectorize(lambda a: 1 / 0)(x)', 'x'),
    ('np.apply_along_axis(np.sum, 2, m)', 'm'),
    ('np.piecewise(x, [x > 0], [])', 'x'),
    ('np.ix_(m)', 'm'),
    ('sorted(m)', 'm'),
    ('max([], key=abs)', 'x'),
    ('sum()', 'x'),
    ('sum(x, 0.0, 1)', 'x'),
    ('sum(x, strt=1)', 'x'),
    ('all()', 'x'),
    ('any(x, x)', 'x'),
    ('tuple(x=1)', 'x'),
    ('list(x, x)', 'x'),
    ('dict([], [])', 'x'),
    ('dict([(1, 2, 3)])', 'x'),
    ('bool(x, x)', 'x'),
    ('bool(x=1)', 'x'),
    ('range(0, 3, step=1)', 'x'),
    ('list(enumerate(x, strt=1))', 'x'),
    ('list(zip(x, foo=True))', 'x'),
    ('list(map(abs))', 'x'),
    ('list(map(abs, x, key=1))', 'x'),
    ('list(reversed(x, x))', 'x'),
    ('list(filter(None))', 'x'),
    ('sorted(x, None)', 'x'),
    ('x[slice(1, 2, 3, 4)]', 'x'),
    ('x[slice(1, step=2)]', 'x'),
    ('isinstance(x)', 'x'),
    ('isinstance(x, 3)', 'x'),
    ('callable(x, x)', 'x'),
    ('hasattr(x)', 'x'),
    ("getattr(x, 'size', 1, 2)", 'x'),
    ('math.prod(k, 1)', 'k'),
    ('list(itertools.product(x, repeat=-1))', 'x'),
    ('list(itertools.product(x, repeat=1.5))', 'x'),
    ("{'a': x}.get('b', x, 1)", 'x'),
    ('[x].append(x, x)', 'x'),
]

#: a statement, and its arguments
STATEMENTS = [
    ('x[2:4] = np.ones(3)', 'x'),
    ('m[:, 0] = x', 'm x'),
    ('x[10] = 1', 'x'),
    ("k[0] = 'a'", 'k'),
    ('k += 0.5', 'k'),
    ('x += 1j', 'x'),
    ('x[:2] += x[:3]', 'x'),
    ('m[k] = 0', 'm k'),
    ('x.flags.writeable = False; x[0] = 1', 'x'),
    ('m.shape = (5, 5)', 'm'),
    ('np.add(x, 1, out=k)', 'x k'),
    ('np.copyto(x, m)', 'x m'),
    ('k[0] = 2**70', 'k'),
    ('k[0] = np.nan', 'k'),
    ('x[0] = x', 'x'),
    ('x[m > 3] = 1', 'x m'),
    ('u8 = k.astype(np.uint8); u8[0] = 300', 'k'),
    ('u8 = k.astype(np.uint8) + 300', 'k'),
    ('del x; x + 1', 'x'),
    ('a, b = x', 'x'),
    ("raise ValueError(f'bad {x.shape}')", 'x'),
    ("assert x.sum() < 0, 'no'", 'x'),
    ('x.sort(axis=3)', 'x'),
    ('np.random.default_rng(0).choice(x[:0])', 'x'),
]


def function(body: str, names: str, written: bool) -> Callable[..., Any]:
    """A function of these arrays, the first of which it has changed before."""
    first = names.split()[0]
    before = f"    {first} *= 1\n" if written else ""
    scope: dict[str, Any] = {"np": np, "math": math, "itertools": itertools, **ARRAYS}
    text = f"def f({', '.join(names.split())}):\n{before}    {body}\n    return {first}\n"
    exec(compile(text, "<mistake>", "exec"), scope)
    made: Callable[..., Any] = scope["f"]
    return made


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(("body", "names"), [
    *((f"return {text}", names) for text, names in EXPRESSIONS), *STATEMENTS,
])
def test_as_python(body: str, names: str, written: bool) -> None:
    plain = function(body, names, written)
    compiled = jit(plain)
    args = [ARRAYS[name] for name in names.split()]
    for _ in range(2):
        oracle.check_calls(compiled, plain, *args)


NUMBERS: tuple[Any, ...] = (
    True, 3, 2.5, 1j, np.True_, np.int8(3), np.uint64(3), np.float64(2.5), np.float32(2),
    np.array(3), np.arange(3.0), "a", None,
)


@pytest.mark.parametrize("body", [
    "int.bit_length(b)", "int.bit_count(b)", "float.is_integer(b)", "float.conjugate(b)",
    "complex.conjugate(b)", "np.float64.is_integer(b)", "np.generic.item(b)", "np.ndarray.sum(b)",
    "np.ndarray.reshape(b, -1)", "np.ndarray.copy(b)", "list.index((1, 2), b)", "str.upper(b)",
    "math.gcd(b, 4)", "math.isqrt(b)", "math.factorial(b)", "math.comb(5, b)", "math.perm(5, b)",
    "pow(2, b, 3)", "pow(b, 2, 3)", "list(enumerate('ab', b))", "[*enumerate([1.5, 2], start=b)]",
    "sorted([3, 1], reverse=b)", "sorted([3, 1], key=None, reverse=b)",
    "sorted([3, 1], key=lambda v: -v, reverse=b)",
    "list(itertools.combinations([1, 2, 3], int(b) - 1.0 if b == 3 else b))",
])
def test_of_other_classes(body: str) -> None:
    """Methods fetched from a class, and functions of ints, take what they take in Python."""
    for start in ("", "b = a[0]; ", "b = a[0] > 2; "):
        scope: dict[str, Any] = {"np": np, "math": math, "itertools": itertools}
        exec(f"def f(a, b):\n    {start}return {body}", scope)
        for number in NUMBERS if not start else (2.5, 3):
            first = np.array([3, number]) if start else None
            oracle.check_calls(jit(scope["f"]), scope["f"], first, number)
