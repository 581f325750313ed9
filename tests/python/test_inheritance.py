"""``super()``, properties and compiled methods of base classes."""


import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

X = np.arange(4.0)


class Base:
    F = 3.0

    def __init__(self, k):
        super().__init__()
        self.k = k

    def f(self, x):
        return x * self.k

    @jit
    def g(self, x):
        return x - self.k

    @property
    def size(self):
        return self.k + 1

    @property
    @jit
    def area(self):
        return self.k * np.pi

    @staticmethod
    def shifted(x):
        return x + 1


class Derived(Base):
    F = 4.0

    def __init__(self, k, m=2.0):
        super().__init__(k)
        self.m = m

    @jit
    def f(self, x):
        return super().f(x) + self.m

    @jit
    def g(self, x):
        return super().g(x) * super(Derived, self).g(x)  # noqa: UP008 (both forms)

    @jit
    def all(self, x):
        return super().shifted(x) + super().size * self.area + super().f(self.F * x)


class Further(Derived):
    def f(self, x):
        return -super().f(x)


def plain(owner, name):
    return vars(owner)[name].__wrapped__


@pytest.mark.parametrize("name", ["f", "g", "all"])
def test_methods_of_base_classes(name):
    for thing in (Derived(2.0), Derived(3, 1), Further(1.5), Derived(2.0)):
        want = plain(Derived, name)(thing, X)
        assert (getattr(Derived, name)(thing, X) == want).all()
    assert getattr(Derived, name).explain(thing, X).captured


def test_instances_that_the_program_makes():
    @jit
    def made(x, k):
        thing = Derived(k, m=k + 1)
        return thing.f(x) + thing.all(x)

    for k in (1.0, 2.5, 2):
        assert (made(X, k) == made.__wrapped__(X, k)).all()
    assert made.explain(X, 1.0).captured


def test_compiled_properties():
    f = jit(lambda thing, x: x * thing.area)
    assert (f(Base(2.0), X) == X * (2.0 * np.pi)).all()
    assert f.explain(Base(2.0), X).captured


def test_methods_that_change():
    class A:
        def f(self, x):
            return x + 1

    class B(A):
        pass

    class C(B):
        @jit
        def f(self, x):
            return super().f(x) * 2

    thing = C()
    assert (thing.f(X) == (X + 1) * 2).all()
    B.f = lambda self, x: x + 5  # nearer than that of A
    assert (thing.f(X) == (X + 5) * 2).all()
    del B.f
    A.f = lambda self, x: x - 1
    assert (thing.f(X) == (X - 1) * 2).all()


def test_several_base_classes():
    class Left(Base):
        @jit
        def f(self, x):
            return super().f(x) + 1

    class Right(Base):
        def f(self, x):
            return super().f(x) * 10

    class Both(Left, Right):
        pass

    assert (Left(2.0).f(X) == X * 2 + 1).all()
    assert (Both(2.0).f(X) == X * 20 + 1).all()
    assert (Left(2.0).f(X) == X * 2 + 1).all()


def test_what_is_missing_is_python_s_error():
    class A:
        @jit
        def f(self, x):
            return super().f(x)

    with pytest.raises(AttributeError, match="'super' object has no attribute 'f'"):
        A().f(X)


class Tank:
    """Its level is set and read by properties that change other things too."""

    def __init__(self, levels):
        self.levels = levels
        self.count = 0

    @property
    def level(self):
        self.count += 1
        return self.levels[self.count]

    @level.setter
    def level(self, value):
        if value < 0:
            raise ValueError(f"negative level {value}")
        self.levels[0] += value
        self.count -= 1
        self.levels[int(value)] = value


class Leaking(Tank):
    def __init__(self, levels):
        super().__init__(levels)
        self.leak = 0.5

    @property
    def level(self):
        parent = super()
        return parent.level - self.leak

    @level.setter
    def level(self, value):
        Tank.level.fset(self, value - self.leak)


def filled(tank, n):
    for k in range(n):
        tank.level = k * 0.7
    return tank.count


def emptied(tank, n):
    try:
        for k in range(n):
            tank.level = 2 - k
    except ValueError as error:
        return str(error), tank.count
    return tank.level


def raised(tank, n):
    tank.level += n
    setattr(tank, "level", tank.level * 2)  # noqa: B010 (what is called is under test)
    return tank.level


@pytest.mark.parametrize("kind", [Tank, Leaking])
@pytest.mark.parametrize("function", [filled, emptied, raised])
def test_properties_that_are_set(function, kind):
    compiled = jit(function)
    for n in (0, 1, 3, 4, 9, 1):
        oracle.check_made(compiled, function, lambda n=n: (kind(np.arange(5.0)), n))
    if function is filled:
        assert compiled.explain(kind(np.arange(5.0)), 2).captured


class Row:
    """Its items are in an array, which they change as they are asked for and set."""

    def __init__(self, items):
        self.items = items
        self.count = 0

    def __getitem__(self, k):
        self.items[0] += 1
        self.count += 1
        return self.items[k]

    def __setitem__(self, k, value):
        self.items[0] -= value
        self.count -= 1
        self.items[k] = value


def swapped(row, n):
    for k in range(n):
        row[k] = row[k + 1] * 2
        row.count += 1
    return row.count


def test_items_that_methods_get_and_set():
    compiled = jit(swapped)
    for n in (0, 1, 3, 4, 9, -2, 1):
        found = []
        for function in (compiled, swapped):
            row = Row(np.arange(5.0))
            try:
                found.append((function(row, n), row.items.tolist(), row.count))
            except IndexError as error:
                found.append((str(error), row.items.tolist(), row.count))
        assert found[0] == found[1]
    assert compiled.explain(Row(np.arange(5.0)), 2).captured


def test_a_property_without_a_setter_is_python_s_error():
    class Fixed:
        @property
        def level(self):
            return 1.0

    @jit
    def change(tank, x):
        x += 1
        tank.level = x

    with pytest.raises(AttributeError, match="property 'level' of"):
        change(Fixed(), x := np.zeros(3))
    assert (x == 1).all()


class Picked:
    def __init__(self, x, k):
        x += 1
        self.k = k + 1  # may be wider than 64 bits
        self.x = x[k]


class Weighed(Picked):
    def __init__(self, x, k):
        super().__init__(x, k)
        self.x = self.x * x[self.k]


def picked(x, k):
    first = Weighed(x, k)
    second = Weighed(x, first.k)
    return first.x + second.x, second


def test_checks_inside_constructors():
    compiled = jit(picked)
    for k in (0, 1, 2, 3, 7, -2, -9, 2**63 - 2):
        found = []
        for function in (compiled, picked):
            x = np.arange(4.0)
            try:
                result, last = function(x, k)
                found.append((result, type(last), vars(last), x.tolist()))
            except IndexError as error:
                found.append((str(error), x.tolist()))
        assert found[0] == found[1]
    assert compiled.explain(np.arange(4.0), 1).captured


class Computed:
    v = 1.0

    def __getattribute__(self, name):
        return 5.0


def test_instances_that_compute_their_attributes():
    compiled = jit(lambda x: x * Computed().v)
    np.testing.assert_array_equal(compiled(X), X * 5)


def test_builtins_of_a_function_s_own():
    """Code run by ``exec`` may get other builtins."""
    space = {"__builtins__": {"abs": lambda x: x - 7}}
    f = eval("lambda x: abs(x)", space)
    np.testing.assert_array_equal(jit(f)(X), X - 7)
    np.testing.assert_array_equal(jit(lambda x: f(x))(X), X - 7)


@pytest.mark.parametrize("scalar", [np.float64(1), np.int8(1), np.bool(True), np.complex64(1), 1.0])
def test_numbers_beside_text(scalar):
    """NumPy's scalars make an array of the text: their answer is a ``numpy.bool``."""
    def f(p):
        return p == "a", p != "a", p == None  # noqa: E711

    assert [type(v) for v in jit(f)(scalar)] == [type(v) for v in f(scalar)]
    assert jit(f)(scalar) == f(scalar)


class Counted:
    def __init__(self, x, k):
        x[0] += 1
        self.v = int(x[k])
        x[0] += 1


@pytest.mark.parametrize("large", [3.0, 1e30])
def test_checks_inside_constructors_that_iterators_call(large):
    """Python can't go on in them: no instruction waits for the object alone."""
    def f(x, n):
        total = 0
        for made in map(Counted, [x, x], [n, n + 1]):
            total += made.v
        return total, [made.v for made in map(Counted, [x, x], [n, n + 1])]

    arrays = [np.arange(7.0), np.arange(7.0)]
    for x in arrays:
        x[2] = large
    assert jit(f)(arrays[0], 1) == f(arrays[1], 1)
    np.testing.assert_array_equal(*arrays)
