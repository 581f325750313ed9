"""Traced functions, run through the graph interpreter, give what Python gives."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import inspect
import math
from collections import namedtuple

import numpy as np
import pytest

from npcompile.core.config import Config
from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed, interpret
from npcompile.graph.verify import verify
from npcompile.guards.kinds import EqualityGuard, FunctionGuard, IdentityGuard
from npcompile.guards.sources import Arg, Attribute, Closure, Default, Global, Item
from npcompile.tracing.retries import trace
from tests.support import oracle
from tests.support.arrays import meaning


def follow(function, *args, static=(), **kwargs):
    """The trace of a call, and its arguments by name."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    found = trace(function, dict(bound.arguments), Config(static=static))
    verify(found.graph)
    assert all(g.holds(lambda s: s.hint) for g in found.graph.facts.guards)
    return found, bound.arguments


def fetch(source, function, arguments):
    """What a source holds in this call."""
    match source:
        case Arg(name):
            return arguments[name]
        case Global(name, owner):
            space = (fetch(owner, function, arguments) if owner else function).__globals__
            return space[name] if name in space else space["__builtins__"][name]
        case Closure(name, owner):
            made = fetch(owner, function, arguments) if owner else function
            return made.__closure__[made.__code__.co_freevars.index(name)].cell_contents
        case Attribute(base, name):
            return getattr(fetch(base, function, arguments), name)
        case Item(base, key):
            return fetch(base, function, arguments)[key]
        case Default(name, owner):
            made = fetch(owner, function, arguments)
            return inspect.signature(made).parameters[name].default


def traced_as_python(function, *args, static=(), **kwargs):
    """Traces, interprets, and compares results and changed arguments with Python."""
    mine, theirs = (copy.deepcopy((args, kwargs)) for _ in range(2))
    want = function(*theirs[0], **theirs[1])
    found, arguments = follow(function, *mine[0], static=static, **mine[1])
    values = [fetch(leaf.source, function, arguments) for leaf in found.leaves]
    got = interpret(found.graph, values, meaning)
    oracle.check(got, want, oracle.MEANING)
    oracle.check(mine[0], theirs[0], oracle.MEANING)
    return found


def refused(function, *args, **kwargs):
    with pytest.raises(Refused) as caught:
        follow(function, *args, **kwargs)
    return caught.value.refusal


A = np.arange(12.0).reshape(3, 4)
V = np.linspace(-1, 2, 7)


def test_expression():
    def f(x):
        return x * 2 + 1

    found = traced_as_python(f, A)
    assert [leaf.source for leaf in found.leaves] == [Arg("x", 0)]
    assert not found.guards


def test_stencil_in_place():
    def f(u, dt):
        u[1:-1, 1:-1] += dt * (u[2:, 1:-1] + u[:-2, 1:-1] - 4 * u[1:-1, 1:-1])
        return np.abs(u).max()

    found = traced_as_python(f, np.sin(np.arange(30.0)).reshape(5, 6), 0.1)
    assert list(found.graph.finals) == [0]
    assert sum(node.op == "write" for node in found.graph.region.nodes) == 1


def test_sum():
    traced_as_python(lambda x: np.sum(x), A)
    traced_as_python(lambda x: x.sum(axis=0), A)


def test_raise_on_data_is_a_check():
    def f(x):
        if (x < 0).any():
            raise ValueError(f"negative: {x}")
        return x + 1

    traced_as_python(f, abs(V))
    found, _ = follow(f, abs(V))
    with pytest.raises(CheckFailed) as left:
        interpret(found.graph, [V], meaning)
    assert left.value.resume.frames == ()


def test_assert_is_a_check():
    def f(x):
        assert x.min() > -5, "too low"
        return x * x

    traced_as_python(f, V)


def helper(a, k=2, *rest, c=3.0, **named):
    total = a * k + c
    for more in rest:
        total = total + more
    return total - named.get("d", 1)


def test_inlined_calls():
    def f(x):
        y = helper(x) + helper(x, 3, 1, 2.5)
        return helper(y, c=1.0, d=4), helper(*(x, 1), **{"c": 2})  # noqa: PIE804

    found = traced_as_python(f, V)
    assert [(g.source, type(g)) for g in found.guards][:1] == [(Global("helper"), FunctionGuard)]


def test_static_loops():
    def f(x):
        y = x
        for i in range(3):
            y = y + i
        for a, b in zip((1, 2), [3, 4]):
            y = y * a - b
        for k, (u, v) in enumerate([(1.5, 2), (0.5, 1)], 1):
            y += k * u - v
        for step in reversed([1.0, 2.0]):
            y = y / step
        table = {"p": 2, "q": 3}
        for key, value in table.items():
            y = y + (value if key in table.keys() else 0)  # noqa: SIM118
        return y

    traced_as_python(f, V)


def test_while_with_static_condition():
    def f(x):
        k, y = 0, x
        while True:
            k += 1
            if k == 2:
                continue
            y = y + k
            if k >= 4:
                break
        else:
            y = y * 100
        return y, k

    traced_as_python(f, V)


def test_loop_over_rows_of_known_length():
    def f(x, pairs):
        total = 0.0
        for a, b in pairs:
            total = total + a * b
        return x + total

    traced_as_python(f, V, [(1.0, 2.0), (3.0, 4.0)])


def test_comprehensions_and_closures():
    def f(x):
        w = [0.5**k for k in range(3)]
        table = {k: v * 2 for k, v in enumerate(w)}
        scale = 3.0

        def g(y, p=w[1]):
            return y * p + scale

        def h():
            nonlocal scale
            scale = scale + 1

        h()
        return g(x) + sum(v for v in w), (lambda z: z + table[2])(x), [g(x) for _ in range(2)]

    traced_as_python(f, V)


def test_containers():
    def f(x):
        parts = [x, x + 1]
        parts.append(x * 2)
        parts += [x - 1]
        first, *middle, last = parts
        middle[0], last = last, middle[0]
        table = dict(a=first, b=last)  # noqa: C408
        table["c"] = parts.pop()
        if "z" not in table and len(parts) == 3:
            table.update(z=tuple(parts)[1:])
        return table, middle, [k for k, _ in table.items()], max(1, 2, 3), min([4.0, 2.5])

    traced_as_python(f, V)


def test_same_object_is_returned_once():
    def f(x):
        y = x + 1
        rows = [y, y]
        view = y[1:]
        return rows, rows, y, view, view, x

    found = traced_as_python(f, V)
    got = interpret(found.graph, [V], meaning)
    assert got[0] is got[1] and got[0][0] is got[2] and got[3] is got[4] and got[5] is V
    assert np.shares_memory(got[3], got[2])


def test_views_and_aliases():
    def f(a):
        b = a[1:]
        c = b[:, ::2]
        c[1] += 100
        b[0, 0] = -1
        d = a
        d[0, :2] = a[1, 1:3]
        e, g = a + 0, b
        e, g = g, e
        e *= 2
        return c.sum(), g, a[::-1][0]

    traced_as_python(f, np.arange(20.0).reshape(4, 5))


def mutating_helper(x, k):
    x[k] *= 2
    y = x[1:]
    y += 1
    return y


def test_helpers_that_write():
    def f(a):
        h = mutating_helper(a[1:], 2)
        h[0] = -3
        return a.sum(), h

    traced_as_python(f, np.arange(6.0))


@dataclasses.dataclass
class Settings:
    gain: float
    data: np.ndarray
    mode: str = "fast"
    count: int = 2

    def apply(self, v):
        return v * self.gain + self.data

    @property
    def twice(self):
        return self.gain * 2


def test_objects_as_arguments():
    def f(s, x):
        if s.mode == "fast":
            for _ in range(2):
                x = s.apply(x)
        return x * s.twice + s.count

    s = Settings(1.5, V)
    found, arguments = follow(f, s, V)
    values = [fetch(leaf.source, f, arguments) for leaf in found.leaves]
    oracle.check(interpret(found.graph, values, meaning), f(s, V), oracle.MEANING)
    sources = [leaf.source for leaf in found.leaves]
    assert Attribute(Arg("s", 0), "gain") in sources and Attribute(Arg("s", 0), "data") in sources
    assert (EqualityGuard, "fast") in [(type(g), g.value) for g in found.guards]


def test_objects_made_inside():
    def f(x):
        s = Settings(2.0, x, count=3)
        s.gain = s.gain + 1
        return s.apply(x) + s.count

    traced_as_python(f, V)


Pair = namedtuple("Pair", "low high")


def test_named_tuples():
    def f(x, p):
        q = Pair(p.low + 1, high=p.high)
        return x * q.low, q

    traced_as_python(f, V, Pair(1.5, 2.5))


def test_partial_and_map():
    add = functools.partial(helper, k=4)

    def f(x):
        return add(x), list(map(lambda y, k: y + k, [x, x], (1, 2))), [*filter(None, (0, 1, 2))]

    traced_as_python(f, V)


SCALE, SHAPE = 2.5, (2, 3)


def test_globals_and_closures_are_read_at_each_call():
    offset = 0.25

    def f(x):
        return x * SCALE + offset, np.zeros(SHAPE)

    found = traced_as_python(f, V)
    sources = [leaf.source for leaf in found.leaves]
    assert Global("SCALE") in sources and Closure("offset") in sources
    assert Item(Global("SHAPE"), 0) in sources
    assert not any(g.source == Global("SCALE") for g in found.guards)


def test_ints_act_as_sizes():
    def f(x, n):
        y = np.zeros(n)
        y[: n - 1] = x[1:n]
        return y

    found = traced_as_python(f, V, 5)
    assert found.graph.result.node.type.shape[0] is not None


def test_ints_are_made_static_on_demand():
    def f(x, axis):
        return x.sum(axis=axis)

    found = traced_as_python(f, A, 1)
    assert any(repr(g) == "axis == 1" for g in found.graph.facts.guards)


def test_static_arguments():
    def f(x, n, name):
        for _ in range(n):
            x = x + 1
        return x if name == "up" else -x

    found = traced_as_python(f, V, 3, "down", static=("n",))
    assert [(g.source, type(g), g.value) for g in found.guards if g.source == Arg("n", 1)] == [
        (Arg("n", 1), EqualityGuard, 3)
    ]
    traced_as_python(f, V, 3, "down")


def test_scalar_choice_is_a_select():
    def f(x, k):
        if x > 0:
            k = 2.0
        else:
            k = 3.0
        low = x if x < k else k
        return k, low, min(x, k), max(k, x), abs(x)

    traced_as_python(f, -1.5, 0.0)
    traced_as_python(f, 1.5, 0.0)


def test_and_or_not():
    def f(a, b):
        return (a > 0 and b > 0), (a > 0 or b > 0), not a > 0, 0 < a < b, bool(a) != bool(b)

    for a, b in ((1.0, 2.0), (-1.0, 2.0), (3.0, 2.0), (0.0, -1.0)):
        traced_as_python(f, a, b)


def test_default_arguments_and_variadics():
    def f(x, *rest, k=2, **named):
        for r in rest:
            x = x * r
        return x + k + named["z"]

    traced_as_python(f, V, 1.5, 2.0, z=3.0)


def test_layouts():
    for x in (A.T, A[:, ::2], A[::-1], np.asfortranarray(A), A[1:, 1:], np.float32(A), A[:0]):
        traced_as_python(lambda x: x + x * 2, x)
    traced_as_python(lambda x: x + 1, np.array(3.0))


def test_math_on_constants():
    def f(x):
        return x * math.sqrt(2) + math.pi * np.finfo(x.dtype).eps, np.dtype("f4")

    traced_as_python(f, V)


def test_checks_after_a_visible_effect_go_on_in_python():
    def inner(a, n):
        a[0] = 7.0
        return n * n

    def f(a, n):
        k = 1.5
        m = inner(a, n)
        return a * k, m

    globals()["inner"] = inner
    found, _ = follow(f, np.ones(3), 4)
    check = next(n for n in found.graph.region.nodes if n.op == "check")
    outer, last = check.attrs.resume.frames
    assert [name for name, _ in outer.local] == ["a", "k"] and outer.code is f.__code__
    assert not last.local and last.code is inner.__code__  # n is on the stack
    assert len(last.stack) == 2 and last.offset < len(last.code.co_code)


def test_refusals_say_why_and_where():
    def asks(x):
        input(x)

    def unknown(x):
        return np.load(x)

    def loops(x, parts):
        for k in parts:
            x = x + np.load(k)
        return x

    def changes(x, parts):
        parts.reverse()

    def sets(s, x):
        if x[0] > 0:
            s.other = 2.0

    def always(x):
        raise KeyError(x)

    for function, args, construct in (
        (asks, (V,), "input"),
        (loops, (V, [V, V + 1]), "numpy.load"),
        (changes, (V, []), "list"),
        (sets, (Settings(1.0, V), V), ".other ="),
        (always, (V,), "raise"),
    ):
        refusal = refused(function, *args)
        assert refusal.construct == construct, refusal
        first = function.__code__.co_firstlineno
        assert first < refusal.line <= first + 3
        assert refusal.line.file == __file__
    assert "load" in refused(unknown, V).construct


@pytest.mark.parametrize("x", [
    V.astype(object), np.array(["a"]), V.astype(">f8"), np.ma.array(V), np.longdouble(1),
    2**70, np.zeros(3, "M8[s]"), np.zeros(3, "i1,f8")["f1"],
])
def test_arguments_that_are_left_to_python(x):
    def f(x):
        return x

    assert refused(f, x).construct == "x"


def test_iterators_run_once():
    def f(x):
        z = zip((1, 2), (3, 4))
        for a, _ in z:
            x = x + a
        for a, _ in z:
            x = x + a
        return x

    assert refused(f, V).construct == "iterator"


def test_a_dictionary_must_not_grow_while_it_is_run_over():
    def f(x):
        table = {1: x}
        keys = table.keys()
        table[2] = x
        for k in keys:
            table[k + 5] = x
        return x

    assert refused(f, V).construct == "raise"


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


MARK = object()


def test_identity_is_guarded_where_it_is_asked():
    def f(x, mode, mark=None):
        if mode is Mode.FAST and mode == Mode.FAST:
            x = x + mode.value
        return x if mark is MARK else x * 2

    found, _ = follow(f, V, Mode.FAST, MARK)
    guards = [(g.source, type(g)) for g in found.guards]
    assert (Arg("mark", 2), IdentityGuard) in guards and (Global("MARK"), IdentityGuard) in guards
    assert (Arg("mode", 1), IdentityGuard) in guards


def test_slices_and_objects_from_outside():
    def f(x, where, _unused):
        return x[where]

    found, _ = follow(f, V, slice(1, 3), {1, 2})
    sources = [leaf.source for leaf in found.leaves]
    assert Attribute(Arg("where", 1), "start") in sources


def test_code_that_may_be_caught():
    def f(x):
        try:
            y = x * 2
            if (x > 100).any():
                raise ValueError
        except ValueError:
            y = x
        finally:
            x = x + 1
        return y, x

    traced_as_python(f, V)
    assert refused(lambda x: open(x), "name").construct.endswith("open")  # noqa: SIM115


def test_with_is_refused():
    def f(x):
        with np.errstate(all="raise"):
            return x / 0

    assert "errstate" in refused(f, V).construct


# ------------------------------------------------------------------ branches on data


def test_arms_that_write():
    def f(a, t):
        s = 0.0
        if a[0] > t:
            a[1:] *= 2
            s = a.sum()
        else:
            a[0] = t
            b = a + 1
            s = b[0]
        return s + a[1]

    for t in (-5.0, 5.0):
        traced_as_python(f, V, t)


def test_arms_that_make_arrays():
    def f(a, t):
        if a[0] > t:
            b = a * 2
            c = b[1:]
        else:
            b = a + t
            c = b[1:]
        c[0] = 9.0
        return b, c, a

    for t in (-5.0, 5.0):
        found = traced_as_python(f, V, t)
        b, c, _ = interpret(found.graph, [V.copy(), t], meaning)
        assert np.shares_memory(b, c)


def test_arms_that_return():
    def f(a, t):
        if a[0] > t:
            return a * 2, 1
        for i in range(3):
            if a[i] < t - 7:
                return a + i, i
            a = a + 1
        if t > 6:
            a[0] = 2
            k = -1
        else:
            k = -2
        return a, k

    for t in (-5.0, 5.0, 5.9, 7.0, 8.5, 100.0):
        traced_as_python(f, V, t)


def test_arms_within_arms():
    def f(a, s, t):
        k = 0
        if a.max() > t:
            if s > 0:
                k = 1
                a[0] = k
            elif s < -1:
                k = 2
                if a[1] > 100:
                    raise ValueError
            rows = [a[0], s]
            rows[1] = s * 2
        else:
            rows = [a[1], t]
        return k, rows, a

    for s in (1.0, 0.0, -2.0):
        for t in (0.0, 9.0):
            traced_as_python(f, V, s, t)


def test_strings_and_optional_attributes():
    def f(x, s, n):
        weights = {f"w{k}": k * 0.5 for k in range(3)}
        if getattr(s, "missing", None) is None and hasattr(s, "gain"):
            x = x * weights[f"w{2:d}"]
        return x, f"{n!r:>4}"

    s = Settings(1.5, V)
    found, arguments = follow(f, s=s, x=V, n=3)
    values = [fetch(leaf.source, f, arguments) for leaf in found.leaves]
    oracle.check(interpret(found.graph, values, meaning), f(V, s, 3), oracle.MEANING)


def test_unpacked_arguments_and_tuples():
    def f(x):
        rows = [x, x + 1]
        rows.extend((x * 2,))
        together = (*rows, x)
        return np.stack(together), max(rows[0][1], x[0]), min(x[0], x[1], x[2])

    traced_as_python(f, V)


def test_helpers_that_branch():
    def clip(v, low):
        if v < low:
            return low
        return v

    def f(a, low):
        return clip(a[0], np.float64(low)) + clip(a[3], a[2])

    for low in (-9.0, 9.0):
        traced_as_python(f, V, low)


def test_joins_are_exact():
    def types(a, t):
        return 1 if a[0] > t else 2.0

    def identity(a, b, t):
        x = a if t > 0 else b
        x[0] = 1
        return a

    def lengths(a, t):
        r = [a]
        if t > 0:
            r.append(a)
        return r

    def shapes(a, t):
        return a[1:] if t > 0 else a + 1

    for function, args in ((types, (V,)), (identity, (V, V + 1)), (shapes, (V,))):
        for t in (-2.0, 0.0, 1.0):
            traced_as_python(function, *args, t)
    refusal = refused(lengths, V, 1.0)
    assert refusal.construct == "return" and "lists that hold the same arrays" in refusal.reason
