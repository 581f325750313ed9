"""Random programs over objects of users' classes, which change between calls: attributes get other
types, go away or become one object, methods and properties are replaced, objects change class.
"""

from __future__ import annotations

import random
from collections import Counter

from tests.fuzz.framework import Grammar
from tests.support.scripts import differs

CALLS = 14
SPACE = """
from dataclasses import dataclass, field
from functools import partial
class Plain:
    rate = 0.5
    log = []
    table = np.zeros(3)
    def __init__(self, v=1.0, w=None):
        self.v, self.w, self.next, self.act = v, np.arange(3.0) if w is None else w, self, twice
        self.parts = [1.0, 2.0]
    @property
    def half(self):
        return self.v * 0.5
    @half.setter
    def half(self, v):
        self.v = v + 1
    def step(self, x):
        self.v += 1
        return self.w * self.rate + x
    def kept(self, x, seen=[]):
        seen.append(x)
        return len(seen)
    def __call__(self, k=1):
        return self.v * k
    def __getitem__(self, k):
        return self.w[k]
    def __setitem__(self, k, v):
        self.w[k] = v
    def __len__(self):
        return len(self.w)
    def __add__(self, other):
        return self.v + (other.v if isinstance(other, Plain) else other)
    def __eq__(self, other):
        return self.v == getattr(other, "v", other)
    __hash__ = object.__hash__
    def items(self):
        for u in self.w:
            yield u * self.rate
    @classmethod
    def count(cls, d):
        cls.rate += d
        return cls.rate
    @staticmethod
    def pair(a, b=2):
        return a, b
class Sub(Plain):
    extra = 3
    def step(self, x):
        return super().step(x) - self.extra
    @property
    def half(self):
        return self.v * 2
    def __bool__(self):
        return self.v > 1
class Slotted:
    __slots__ = ("v", "w", "next")
    rate = 2
    def __init__(self, v, w):
        self.v, self.w, self.next = v, w, None
    def __iter__(self):
        return iter(self.w)
@dataclass
class Data:
    v: float
    w: np.ndarray
    tags: list = field(default_factory=list)
    def step(self, x):
        self.tags.append(x.sum())
        return self.w + x
def twice(v):
    return v * 2
def less(v, by=1):
    return v - by
def walk(o, n):
    s = 0
    while o is not None and n > 0:
        s = s * 0.5 + o.v
        o, n = o.next, n - 1
    return s
"""
NUMBERS = [
    "o.v", "p.v", "q.v", "d.v", "o.rate", "o.half", "o(k)", "o[k]", "p[0]", "len(o)", "k", "s",
    "o.next.v", "o.act(o.v)", "p.act(k)", "walk(o, 3)", "walk(q, 2)", "x[k]", "o.w[k]", "q.w[0]",
    "Plain.rate", "o.pair(k)[1]", "o.kept(k)", "getattr(o, 'extra', 7)", "type(o).rate", "q.rate",
    "o.next.next.v", "sum(o.items())", "(o + p)", "(o + k)", "max(o.v, p.v)", "o.parts[-1]",
    "len(o.parts)", "(lambda v: v + k)(o.v)", "partial(less, by=k)(p.v)", "d.w.sum()",
]
ARRAYS = ["x", "o.w", "p.w", "q.w", "d.w", "y", "o.step(x)", "p.step(y)", "d.step(x)", "o.w[::-1]",
          "o.table", "twice(p.w)", "o.act(x)", "o.next.w", "np.array(list(o.items()))"]
CONDITIONS = ["o is p", "o.next is o", "o == p", "o.v > 1", "isinstance(o, Sub)", "o.w is p.w",
              "hasattr(o, 'extra')", "o.next is None", "o", "o.v is None", "x[k] > 0.5", "k > 1",
              "type(o) is type(p)", "o.act is twice", "q.v == o.v", "o.w is d.w", "not p"]
STATEMENTS = [
    "s += {n}", "s = {n}", "y = {a} * 0.5 + {n}", "y = {a}", "o.v = {n}", "p.v += {n}",
    "o.w = {a}", "p.w = {a} + 1", "o.w[k] = {n}", "p[k] = {n}", "o.half = {n}", "o.half += 1",
    "q.v = {n}", "q.w = {a}", "d.v += k", "d.w *= 0.5", "o.next = p", "p.next = {o}",
    "o, p = p, o", "o.parts.append({n})", "o.log.append({n})", "o.table[k] += 1", "o.count(0.25)",
    "o.new = {n}",
    "r.append({n})", "r.append({a})", "r.append({o})", "r += o.items()", "o.parts = r",
    "for u in o.items():\n{i}    s = s * 0.5 + u", "for u in q:\n{i}    s += u",
    "for u in o.parts:\n{i}    s += u * {n}",
    "for i in range(k + 1):\n{i}    o.v = o.v * 0.5 + {n}",
    "for i in range(k + 1):\n{i}    o.w = {a} * 0.5 + o.w\n{i}    o, p = p, o",
    "for u in (o, p, o):\n{i}    u.v += 1\n{i}    s += u.v",
    "u = o\n{i}for i in range(3):\n{i}    u.v += i\n{i}    u = u.next",
    "try:\n{i}    s += {n}\n{i}except (AttributeError, TypeError) as e:\n{i}    r.append(str(e))",
    "try:\n{i}    y = {a} + o.extra\n{i}except AttributeError:\n{i}    s += 1\n"
    "{i}finally:\n{i}    o.v = k",
    "match o:\n{i}    case Sub(v=1.0): s += 1\n{i}    case Plain(v=v): s += v\n"
    "{i}    case _: s = 0",
    "gs = [lambda: o.v + i for i in range(2)]\n{i}s += gs[0]()", "setattr(o, 'v', {n})",
    "del o.new", "if {c}:\n{i}    return s, o.w", "if {c}:\n{i}    raise ValueError(k)",
    "s += 1 if {c} else {n}", "o.act = less if {c} else twice", "u = o if {c} else p\n{i}u.v = {n}",
    "o.v += sum(v > 0 for v in o.w)", "def add(v, acc=[]):\n{i}    acc.append(v)\n"
    "{i}    return sum(acc)\n{i}s += add({n}) + add(k)",
]
CHANGES = [
    "o.v = {v}", "p.v = {v}", "q.v = {v}", "d.v = {v}", "o.w = {w}", "p.w = {w}", "q.w = {w}",
    "d.w = {w}", "o.w = p.w", "q.w = o.w", "d.w = q.w", "p.w = o.w[::-1]", "o.next = p",
    "o.next = o", "p.next = o", "o.next = None", "q.next = o", "q.next = q", "o.act = less",
    "o.act = twice", "p.act = np.negative", "o.act = lambda v: v", "o.act = partial(less, by=2)",
    "o.act = o.step", "Plain.rate = {v}", "Sub.rate = {v}", "o.rate = {v}",
    "vars(o).pop('rate', 0)", "vars(o).pop('v', 0)", "o.extra = {v}", "Plain.extra = {v}",
    "o.__class__ = Sub", "o.__class__ = Plain", "p.__class__ = Sub", "o = Sub({v})",
    "o = Plain({v})",
    "p = o", "p = Plain({v}, o.w)", "q = Slotted({v}, {w})", "q = o", "o.step = lambda x: x + 1",
    "vars(o).pop('step', 0)", "Plain.step = lambda self, x: x * self.v",
    "Plain.half = property(lambda self: 4)", "Sub.half = {v}", "Plain.__call__ = less",
    "Plain.__getitem__ = lambda self, k: self.w[-1 - k]", "Sub.__len__ = lambda self: 7",
    "Plain.pair = staticmethod(lambda a: (a, a))", "Plain.items = lambda self: iter(self.w)",
    "Plain.__add__ = lambda self, other: 9", "Plain.__eq__ = object.__eq__", "Plain.table = {w}",
    "o.parts = [{v}]", "o.parts = p.parts", "o.log = o.parts", "x = {w}", "x = o.w", "k = 2",
    "k = 0", "k = True", "d = Data({v}, {w})", "twice = abs", "Plain.kept.__defaults__ = ([],)",
]
VALUES = ["1", "2.5", "True", "np.float32(2)", "np.int64(1)", "1.0", "0", "None", "2**70"]
VECTORS = ["np.ones(3)", "np.arange(6.0)[::2]", "np.arange(3)", "np.ones(3, 'f4')", "np.zeros(0)",
           "np.arange(1.0, 5.0)", "[1.0, 2.0, 3.0]", "np.arange(3.0)[::-1]"]


def block(rng: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 3)):
        if depth < 2 and rng.random() < 0.25:
            lines.append(f"{indent}if {rng.choice(CONDITIONS)}:")
            lines += block(rng, depth + 1, indent + "    ")
            if rng.random() < 0.5:
                lines += [f"{indent}else:", *block(rng, depth + 1, indent + "    ")]
        else:
            lines.append(indent + rng.choice(STATEMENTS).format(
                n=rng.choice(NUMBERS), a=rng.choice(ARRAYS), c=rng.choice(CONDITIONS),
                o=rng.choice(["o", "p", "o.next", "None"]), i=indent))
    return lines


def changed(rng: random.Random) -> str:
    """A line between two calls; None and empty arrays are rare."""
    value = rng.choice(VALUES if rng.random() < 0.2 else VALUES[:6])
    vector = rng.choice(VECTORS if rng.random() < 0.3 else VECTORS[:4])
    return rng.choice(CHANGES).format(v=value, w=vector)


def write(seed: int) -> str:
    rng = random.Random(seed)
    lines = ["@jit", "def f(o, p, q, d, x, k):", "    s, y, r = 0.0, x, []", *block(rng, 0, "    "),
             f"    return s, y, r, {rng.choice(NUMBERS)}, {rng.choice(ARRAYS)}", "def script(go):",
             "    global world, twice",
             "    o, p, x, k = Plain(), Plain(2.0), np.arange(3.0) / 4, 1",
             "    q, d, world = Slotted(1.5, np.ones(3)), Data(0.5, np.ones(3)), Plain"]
    for _ in range(CALLS):
        lines.append("    go(f, o, p, q, d, x, k)")
        if rng.random() < 0.7:
            lines += [f"    {changed(rng)}" for _ in range(rng.choice([1, 1, 2]))]
    return "\n".join(lines) + "\n"


def check(seed: int, counts: Counter[str]) -> str:
    """What differs in a program, or an empty string."""
    source = write(seed)
    text = differs(SPACE + source, counts)
    return text and f"seed {seed}: {text}\n{source}"


GRAMMAR = Grammar(check=check)
