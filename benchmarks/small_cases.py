"""Small functions on small arguments: what a call costs decides, not what is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """``kwargs`` are given by name; ``family`` is what the function is an example of."""

    family: str
    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__


CASES: list[Case] = []


def small(family: str, *args: Any, **kwargs: Any) -> Callable[[Function], Function]:
    """Adds the function to the cases, to be called with these arguments."""

    def add(function: Function) -> Function:
        CASES.append(Case(family, function, args, kwargs))
        return function

    return add


def matrix(n: int) -> Any:
    """Regular and well conditioned."""
    return np.random.default_rng(n).normal(size=(n, n)) + n * np.eye(n)


def symmetric(n: int) -> Any:
    return matrix(n) + matrix(n).T


V3, W3, X10 = np.array([1.0, 2.0, 3.0]), np.array([-2.0, 0.5, 4.0]), np.arange(10.0)
M2, M3, M5, M10 = matrix(2), matrix(3), matrix(5), matrix(10)
WORDS = ["the", "fox", "jumps", "over", "the", "lazy", "dog", "and", "the", "cat"]
NUMBERS = [5, 3, 8, 1, 9, 2, 8, 3]

# ------------------------------------------------------------------ linear algebra

LINALG = "linear algebra"


@small(LINALG, M2)
def inv2(m):
    return np.linalg.inv(m)


@small(LINALG, M5)
def inv5(m):
    return np.linalg.inv(m)


@small(LINALG, M2)
def det2(m):
    return np.linalg.det(m)


@small(LINALG, M10)
def det10(m):
    return np.linalg.det(m)


@small(LINALG, M3, V3)
def solve3(m, b):
    return np.linalg.solve(m, b)


@small(LINALG, M10, X10)
def solve10(m, b):
    return np.linalg.solve(m, b)


@small(LINALG, M3)
def svd3(m):
    u, _, vt = np.linalg.svd(m)
    return u @ vt


@small(LINALG, M10)
def singular_values10(m):
    return np.linalg.svd(m, compute_uv=False)


@small(LINALG, symmetric(3))
def eigh3(m):
    w, v = np.linalg.eigh(m)
    return v * w


@small(LINALG, symmetric(10))
def eigvalsh10(m):
    return np.linalg.eigvalsh(m)


@small(LINALG, M3)
def eig3(m):
    return np.linalg.eigvals(m)


@small(LINALG, M3)
def qr3(m):
    q, r = np.linalg.qr(m)
    return q @ r


@small(LINALG, M10)
def qr10(m):
    return np.linalg.qr(m)[1]


@small(LINALG, M5 @ M5.T)
def cholesky5(m):
    return np.linalg.cholesky(m)


@small(LINALG, matrix(6)[:, :3], np.arange(6.0))
def lstsq6(m, b):
    return np.linalg.lstsq(m, b, rcond=None)[0]


@small(LINALG, M3)
def pinv3(m):
    return np.linalg.pinv(m)


@small(LINALG, M3)
def rank3(m):
    return np.linalg.matrix_rank(m)


@small(LINALG, M3)
def power3(m):
    return np.linalg.matrix_power(m, 5)


@small(LINALG, M3, V3)
def matvec3(m, v):
    return m @ v


@small(LINALG, M10, M10)
def matmul10(a, b):
    return a @ b


@small(LINALG, V3, W3)
def dot3(a, b):
    return np.dot(a, b)


@small(LINALG, V3, W3)
def outer3(a, b):
    return np.outer(a, b)


@small(LINALG, M3, V3)
def einsum3(m, v):
    return np.einsum("ij,j->i", m, v)


# ------------------------------------------------------------------ NumPy on few numbers

TINY = "NumPy on few numbers"


@small(TINY, V3)
def norm3(v):
    return np.linalg.norm(v)


@small(TINY, V3)
def unit3(v):
    return v / np.linalg.norm(v)


@small(TINY, M3)
def norm_rows(m):
    return np.linalg.norm(m, axis=1)


@small(TINY, V3, W3)
def cross3(a, b):
    return np.cross(a, b)


@small(TINY, X10)
def clip10(x):
    return np.clip(x, 2.0, 7.0)


@small(TINY, 3.7)
def clip_number(x):
    return np.clip(x, 0.0, 1.0)


@small(TINY, V3, W3)
def concatenate3(a, b):
    return np.concatenate([a, b])


@small(TINY, V3, W3)
def stack3(a, b):
    return np.stack((a, b), axis=1)


@small(TINY, V3)
def sum3(v):
    return v.sum()


@small(TINY, X10)
def mean_std10(x):
    return x.mean(), x.std()


@small(TINY, X10)
def argmax10(x):
    return np.argmax(x)


@small(TINY, X10)
def any10(x):
    return np.any(x > 5)


@small(TINY, X10)
def median10(x):
    return np.median(x)


@small(TINY, X10)
def percentile10(x):
    return np.percentile(x, 90)


@small(TINY, X10[::-1].copy())
def sort10(x):
    return np.sort(x)


@small(TINY, X10[::-1].copy())
def argsort10(x):
    return np.argsort(x)


@small(TINY, np.array([3, 1, 2, 3, 1]))
def unique5(x):
    return np.unique(x)


@small(TINY, X10)
def where10(x):
    return np.where(x > 4, x, -x)


@small(TINY, X10)
def nonzero10(x):
    return np.nonzero(x > 4)[0]


@small(TINY, X10)
def mask10(x):
    return x[x > 4]


@small(TINY, X10)
def diff10(x):
    return np.diff(x)


@small(TINY, X10)
def cumsum10(x):
    return np.cumsum(x)


@small(TINY, 4.5, X10, X10 * X10)
def interp_number(t, x, y):
    return np.interp(t, x, y)


@small(TINY, X10, 4.5)
def searchsorted_number(x, t):
    return np.searchsorted(x, t)


@small(TINY, 1.0, 2.0, 3.0)
def array3(a, b, c):
    return np.array([a, b, c])


@small(TINY, 0.3)
def rotation(t):
    c, s = np.cos(t), np.sin(t)
    return np.array([[c, -s], [s, c]])


@small(TINY, 3)
def zeros_n(n):
    return np.zeros(n)


@small(TINY, 3)
def eye_n(n):
    return np.eye(n)


@small(TINY, 5)
def linspace_n(n):
    return np.linspace(0.0, 1.0, n)


@small(TINY, M3)
def transpose3(m):
    return m.T.copy()


@small(TINY, X10)
def reshape10(x):
    return x.reshape(2, 5)


@small(TINY, X10)
def slice10(x):
    return x[2:5]


@small(TINY, X10)
def tolist10(x):
    return x.tolist()


@small(TINY, 0.5)
def polynomial(x):
    return np.polyval([1.0, -2.0, 3.0], x)


@small(TINY, X10, X10 + 1e-9)
def allclose10(a, b):
    return np.allclose(a, b)


@small(TINY, X10, X10)
def equal10(a, b):
    return np.array_equal(a, b)


@small(TINY, X10, V3)
def convolve10(x, k):
    return np.convolve(x, k, mode="same")


@small(TINY, X10)
def histogram10(x):
    return np.histogram(x, bins=5)[0]


@small(TINY, np.array([0, 1, 1, 2]))
def bincount4(x):
    return np.bincount(x)


# ------------------------------------------------------------------ Python's numbers and results

SCALARS = "Python's numbers"


@small(SCALARS, 3.0, 4.0)
def hypot2(a, b):
    return math.sqrt(a * a + b * b)


@small(SCALARS, 3.0, 4.0)
def polar(a, b):
    return math.hypot(a, b), math.atan2(b, a)


@small(SCALARS, 3)
def nothing(a):
    return a


@small(SCALARS, 17)
def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


@small(SCALARS, 48, 18)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@small(SCALARS, 12)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@small(SCALARS, 3.0)
def root_pairs(a):
    return [a, a + 1, a * a]


@small(SCALARS, 2.0, 3.0, by=4.0)
def with_keyword(a, b, by=1.0):
    return (a + b) * by


@small(SCALARS, X10, scale=2.0, shift=1.0)
def with_keywords(x, *, scale=1.0, shift=0.0):
    return x * scale + shift


@small(SCALARS, 1.0, 2.0, 3.0)
def of_arguments(*numbers):
    total = 0.0
    for number in numbers:
        total += number
    return total


@small(SCALARS, 5)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


# ------------------------------------------------------------------ lists, dictionaries, sets

CONTAINERS = "lists, dictionaries, sets"


@small(CONTAINERS, NUMBERS)
def sum_list(numbers):
    return sum(numbers)


@small(CONTAINERS, NUMBERS)
def squares(numbers):
    return [n * n for n in numbers]


@small(CONTAINERS, NUMBERS)
def largest(numbers):
    best = numbers[0]
    for n in numbers:
        if n > best:
            best = n
    return best


@small(CONTAINERS, NUMBERS)
def sorted_list(numbers):
    return sorted(numbers)


@small(CONTAINERS, NUMBERS)
def bubble_sort(numbers):
    out = list(numbers)
    for i in range(len(out)):
        for j in range(len(out) - 1 - i):
            if out[j] > out[j + 1]:
                out[j], out[j + 1] = out[j + 1], out[j]
    return out


@small(CONTAINERS, NUMBERS)
def count_numbers(numbers):
    counts = {}
    for n in numbers:
        counts[n] = counts.get(n, 0) + 1
    return counts


@small(CONTAINERS, NUMBERS, 11)
def two_sum(numbers, target):
    seen = {}
    for i, n in enumerate(numbers):
        if target - n in seen:
            return seen[target - n], i
        seen[n] = i
    return None


@small(CONTAINERS, NUMBERS)
def has_duplicates(numbers):
    seen = set()
    for n in numbers:
        if n in seen:
            return True
        seen.add(n)
    return False


@small(CONTAINERS, 5)
def flood(n):
    seen, stack = set(), [(0, 0)]
    while stack:
        i, j = stack.pop()
        if (i, j) in seen or not (0 <= i < n and 0 <= j < n):
            continue
        seen.add((i, j))
        stack.append((i + 1, j))
        stack.append((i, j + 1))
    return len(seen)


@small(CONTAINERS, {"a": 1.0, "b": 2.0})
def read_dict(values):
    return values["a"] + values["b"]


@small(CONTAINERS, 2.0)
def make_dict(a):
    return {"mean": a, "square": a * a}


@small(CONTAINERS, [1.0, 2.0, 3.0])
def array_of_list(numbers):
    return np.array(numbers) * 2


@small(CONTAINERS, [V3, W3])
def sum_arrays(arrays):
    total = np.zeros(3)
    for a in arrays:
        total += a
    return total


@small(CONTAINERS, {"w": V3, "b": 1.0}, W3)
def linear_model(parameters, x):
    return parameters["w"] @ x + parameters["b"]


# ------------------------------------------------------------------ strings

STRINGS = "strings"


@small(STRINGS, X10, "mean")
def by_name(x, how):
    if how == "sum":
        return x.sum()
    if how == "mean":
        return x.mean()
    raise ValueError(how)


@small(STRINGS, X10, how="max")
def by_named(x, how="sum"):
    return x.max() if how == "max" else x.sum()


@small(STRINGS, "racecar")
def palindrome(text):
    return text == text[::-1]


@small(STRINGS, "kitten", "sitting")
def edit_distance(a, b):
    last = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + (x != y)))
        last = row
    return last[-1]


@small(STRINGS, "hello world")
def count_vowels(text):
    return sum(1 for c in text if c in "aeiou")


@small(STRINGS, WORDS)
def count_words(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


@small(STRINGS, 3.5)
def formatted(a):
    return f"{a:.2f}"


@small(STRINGS, "abc")
def caesar(text):
    return "".join(chr((ord(c) - 97 + 3) % 26 + 97) for c in text)


# ------------------------------------------------------------------ calls that raise

RAISING = "calls that raise"


@small(RAISING, -1.0)
def checked_root(a):
    if a < 0:
        raise ValueError("negative")
    return math.sqrt(a)


@small(RAISING, V3, X10)
def checked_shapes(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return a + b


@small(RAISING, np.ones((2, 2)))
def singular(m):
    return np.linalg.inv(m)


@small(RAISING, V3, 7)
def out_of_bounds(v, i):
    return v[i]


@small(RAISING, {"a": 1.0})
def missing_key(d):
    return d["b"]


@small(RAISING, X10, 0)
def divided(x, n):
    return x.sum() / (1 // n)


@small(RAISING, 3, 0)
def caught(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return 0


@small(RAISING, [1, 2, 3], 4)
def caught_lookup(numbers, n):
    try:
        return numbers.index(n)
    except ValueError:
        return -1


# ------------------------------------------------------------------ objects

OBJECTS = "objects"


@dataclass
class Point:
    x: float
    y: float

    def length(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def move(self, dx):
        self.x += dx
        self.x -= dx


class Layer:
    def __init__(self, w, b):
        self.w, self.b, self.calls = w, b, 0

    def forward(self, x):
        return np.maximum(self.w @ x + self.b, 0)

    def counted(self, x):
        self.calls += 1
        return x + self.b


@small(OBJECTS, Point(3.0, 4.0))
def point_length(p):
    return p.length()


@small(OBJECTS, Point(3.0, 4.0), 2.0)
def point_moved(p, a):
    return Point(p.x + a, p.y)


@small(OBJECTS, Point(3.0, 4.0), 2.0)
def point_moves(p, a):
    p.move(a)


@small(OBJECTS, Layer(M3, V3), W3)
def layer_forward(layer, x):
    return layer.forward(x)


@small(OBJECTS, Layer(M3, V3), W3)
def layer_counted(layer, x):
    return layer.counted(x)


# ------------------------------------------------------------------ functions of other libraries

HOSTS = "functions that are called as they are"


@small(HOSTS, X10[:8])
def spectrum(x):
    return np.abs(np.fft.rfft(x))


@small(HOSTS, X10, X10 * X10)
def fitted(x, y):
    return np.polyfit(x, y, 1)


@small(HOSTS, V3)
def printed_array(v):
    return str(v)


@small(HOSTS, X10)
def opaque_between(x):
    y = x * 2
    text = repr(y.shape)
    return y + len(text)


@small(HOSTS, np.random.default_rng(0), 3)
def drawn(rng, n):
    return rng.normal(size=n)


@small(HOSTS, np.random.default_rng(0), V3)
def noisy(rng, v):
    return v + 0.1 * rng.standard_normal(3)
