"""Each primitive in each dtype and vector width against its meaning in NumPy: bits and flags."""

import itertools

import numpy as np
import pytest

from npcompile.graph.ir import Table
from npcompile.graph.primitives import PRIMITIVES
from tests.support import oracle
from tests.support.cpu_backend import (
    TARGETS,
    Runner,
    announced,
    elementwise,
    pointwise,
    raised,
)

FLOATS, INTS = "fd", "bBhHiIlL"
CLASSES = {"f": FLOATS, "i": INTS, "n": FLOATS + INTS, "b": "?", "a": "?blfdFD", "c": "FD"}
RESULT_BITS = {"f": {"f": "i", "d": "l", "e": "h"}, "i": {"i": "f", "l": "d", "h": "e"}}
#: operations whose meaning in NumPy is spelled in a way that raises other flags, or is not NumPy's
NO_FLAGS = {"fma", "where", "rare", "complex", "lookup", "minimum", "maximum",
            "add_overflows", "sub_overflows", "mul_overflows"}
#: where; subprograms have tests of their own; NaN may be wherever a backend likes
SKIPPED = {"rare", "call", "floor_quotient"}
rng = np.random.default_rng(7)


def signatures(name):
    """(operand dtypes, result dtype) of a primitive."""
    wanted, _, result = PRIMITIVES[name].signature.partition("->")
    if name == "to_bits" or name == "from_bits":
        yield from (((a,), b) for a, b in RESULT_BITS[wanted].items())
    elif name == "popcount":
        yield from (((a,), "B") for a in INTS)
    elif name == "ldexp":
        yield from (((a, b), a) for a in FLOATS for b in "il")
    elif name == "lookup":
        yield from (((a,), b) for a in "il" for b in FLOATS + "l")
    elif name == "complex":
        yield from ((("f", "f"), "F"), (("d", "d"), "D"))
    elif name in ("real", "imag"):
        yield from ((("F",), "f"), (("D",), "d"))
    elif name.endswith("_overflows"):
        yield ("l", "l"), "?"
    else:
        letters = list(dict.fromkeys(c for c in wanted if c != "b"))
        extra = "?" if name.startswith("bit_") else ""
        for chars in itertools.product(*(CLASSES[c] + extra for c in letters)):
            of = dict(zip(letters, chars, strict=True)) | {"b": "?"}
            yield tuple(of[c] for c in wanted), of[result]


def samples(char):
    """Special values, then random ones."""
    dtype = np.dtype(char)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        special = [0, 1, 2, 3, 7, dtype.itemsize * 8 - 1, dtype.itemsize * 8, info.max,
                   info.max - 1, info.min, info.min + 1]
        special += [-1, -2, -7, -dtype.itemsize * 8] if dtype.kind == "i" else []
        more = rng.integers(info.min, info.max, 9, dtype, endpoint=True)
        return np.concatenate([np.array(special, dtype), more])
    if dtype.kind == "c":
        part = samples(dtype.char.lower())[:14]
        with np.errstate(invalid="ignore"):
            return (part[:, None] + 1j * part).ravel().astype(dtype)
    info = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 1.5, info.max, -info.max,
               info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 3 * info.tiny,
               127.5, 2.0**31, 2.0**63, -(2.0**31) - 1]
    more = rng.standard_normal(8) * 10.0 ** rng.integers(-30, 30, 8)
    with np.errstate(over="ignore"):
        return np.array([*special, *more]).astype(dtype)


def operands(name, chars):
    """All pairs of samples (of three operands: shuffled)."""
    columns = [samples(c) for c in chars]
    if name == "ldexp":
        span = 2 * np.finfo(chars[0]).maxexp + 60
        counts = np.concatenate([rng.integers(-span, span, 25), [0, 1, -1, 10**9, -(10**9)]])
        columns[1] = counts.astype(chars[1])
    if len(columns) < 3:
        grid = np.meshgrid(*columns, indexing="ij")
        return [np.ascontiguousarray(g.ravel()) for g in grid]
    return [rng.choice(column, 700) for column in columns]


def meaning(name, columns, table):
    """The result, and the flags that NumPy reports."""
    call = PRIMITIVES[name].meaning
    if table is not None:
        return announced(lambda: call(*columns, table=np.array(table.values)))
    return announced(lambda: call(*columns))



@pytest.mark.parametrize("name", [n for n in PRIMITIVES if n not in SKIPPED])
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
def test_primitive(name, target):
    for chars, result in signatures(name):
        for table in tables(name):
            columns = operands(name, chars)
            expected, flags = meaning(name, columns, table)
            expected = np.asarray(expected).astype(result)
            run = Runner(elementwise(name, chars, result, table), target)
            out = np.zeros(len(columns[0]), result)
            found = raised(lambda run=run, columns=columns, out=out: run(*columns, out))
            assert oracle.elements(out, expected), report(name, chars, columns, out, expected)
            assert name in NO_FLAGS or found == flags, (name, chars, found, flags)


def tables(name):
    if name != "lookup":
        return [None]
    return [Table(tuple(range(100, 100 + n))) for n in (2, 8, 16, 32, 64)]


def report(name, chars, columns, out, expected):
    wrong = [k for k in range(len(out)) if not oracle.elements(out[k], expected[k])][:5]
    rows = [([c[k] for c in columns], out[k], expected[k]) for k in wrong]
    return f"{name} {chars}: " + "; ".join(f"{a}: {b!r} instead of {c!r}" for a, b, c in rows)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("name", [n for n in PRIMITIVES if n not in SKIPPED])
def test_single_elements(name, target):
    for chars, result in signatures(name):
        if not set(chars) & set("dlDb"):
            continue
        table = tables(name)[-1]
        columns = [c[::13] for c in operands(name, chars)]
        expected, _ = meaning(name, columns, table)
        expected = np.asarray(expected).astype(result)
        run, out = Runner(pointwise(name, chars, result, table), target), np.zeros((), result)
        for k, row in enumerate(zip(*columns, strict=True)):
            arrays = [np.array(x) for x in row]
            flags = meaning(name, arrays, table)[1]
            found = raised(lambda run=run, arrays=arrays, out=out: run(*arrays, out))
            assert oracle.elements(out[()], expected[k]), (name, chars, row, out, expected[k])
            assert name in NO_FLAGS or found == flags, (name, chars, row, found, flags)


CASTS = "?bBhHiIlLefdFD"


@pytest.mark.parametrize("source", CASTS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_cast(source, target):
    values = samples("d" if source in "efdFD" else source)
    with np.errstate(all="ignore"):
        # NumPy converts the last few elements in another way, which shows out of range
        column = np.append(np.tile(values.astype(source), 16), np.zeros(8, source))
    for to in CASTS:
        expected, flags = announced(lambda column=column, to=to: column.astype(to))
        run, out = Runner(elementwise("cast", [source], to), target), np.zeros(len(column), to)
        found = raised(lambda run=run, out=out: run(column, out))
        assert oracle.elements(out, expected), report(
            "cast to " + to, source, [column], out, expected)
        assert found & ~16 == flags & ~16, (source, to, found, flags)
