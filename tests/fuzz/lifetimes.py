"""Random functions over objects whose classes have finalizers, ``__getattr__`` and properties: what
is called, in which order, and when each object dies, are Python's.  What the first call of a kind
was given may live until the next garbage collection, which here comes after each call.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from tests.fuzz.framework import Counts, Grammar
from tests.support import oracle

CLASSES = '''
class Mortal:
    def __init__(self, a): self.a = a
    def __del__(self): LOG.append(("del", self.a))
class Child(Mortal):
    @property
    def twice(self): return self.a * 2
class Plain:
    def __init__(self, a): self.a = a
class Asked:
    def __init__(self, a): self.a = a
    def __getattr__(self, name):
        LOG.append(("asked", name))
        if name.startswith("_"): raise AttributeError(name)
        return self.a + len(name)
class Watched:
    def __init__(self, a): self._a = a
    @property
    def a(self):
        LOG.append(("get", self._a))
        return self._a
    @a.setter
    def a(self, value):
        LOG.append(("set", value))
        self._a = value
class Manager:
    def __init__(self, a): self.a = a
    def __enter__(self): return self
    def __exit__(self, *told): LOG.append(("exit", self.a))
class Changing(Plain):
    def __del__(self): SHARED[0] += 1
class Holder: pass
def helper(k):
    c = Mortal(k)
    return c.a
def handed(c): return c.a + 1
def numbers(k):
    try:
        yield k
        yield k + 1
    finally: LOG.append(("closed", k))
'''
KINDS = ("Mortal", "Child", "Plain", "Asked", "Watched", "Manager", "Changing")


class Writer:
    """Writes one function of ``y`` (a number or an array), ``k`` (a number), ``h`` (an object whose
    attributes hold objects), ``xs`` (a list of objects) and ``d`` (a dictionary of objects)."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.objects: list[str] = []
        self.count = 0

    def made(self) -> str:
        return f"{self.rng.choice(KINDS)}({self.number()})"

    def number(self) -> str:
        return self.rng.choice(["k", "k + 1", "2.5", "k * 2", "1"])

    def object(self) -> str:
        places = [*self.objects, "h.c", "h.e", "xs[0]", "xs[-1]", "d['c']", "d['e']"]
        return self.rng.choice(places)

    def statement(self, depth: int) -> list[str]:
        rng, name = self.rng, f"c{self.count}"
        roll = rng.randrange(24)
        if roll < 3:
            self.count += 1
            self.objects.append(name)
            return [f"{name} = {self.made()}"]
        if roll < 5:
            self.count += 1
            self.objects.append(name)
            return [f"{name} = {self.object()}"]
        if roll < 8:
            place = rng.choice(["h.c", "h.e", "xs[0]", "xs[-1]", "d['c']", "d['e']", *self.objects])
            return [f"{place} = {rng.choice(['None', 'y', '1.0', self.made(), self.object()])}"]
        if roll < 11:
            return [f"y = y + {self.object()}.a"]
        if roll < 13 and depth < 2:
            head = rng.choice(["for i in range(3):", "if k > 1:", "for q in range(int(k)):",
                               f"with {self.made()} as w:", "for v in numbers(k):"])
            before = list(self.objects)
            body = [line for _ in range(rng.randint(1, 3)) for line in self.statement(depth + 1)]
            self.objects = before
            return [head, *("    " + line for line in body)]
        return [rng.choice([
            "LOG.append('here')", "LOG.append(float(np.sum(y)))", "y = y * 2",
            "y = y + helper(k)", f"y = y + handed({self.made()})",
            f"y = y + handed({self.object()})", f"{self.object()}.a = y",
            f"{self.object()}.a = 2.0", f"del {rng.choice(['h.c', 'xs[0]'])}",
            "xs.pop()", f"xs.append({self.made()})", "xs[:1] = []", "xs.clear()", "d.clear()",
            f"y = y + [{self.made()}, {self.made()}][0].a", f"y = y + {self.made()}.a",
            f"y = y + sum([c.a for c in ({self.made()}, {self.made()})])", "SHARED[0] = y.sum()",
            f"y = y + {self.object()}.twice", "y = y + SHARED[0]", "y = y + h.missing",
            "g = numbers(k)\ny = y + next(g)", f"d['new'] = {self.made()}", "y = y + len(xs)",
            f"h.c, h.e = h.e, {self.made()}", "y = y + (lambda c: c.a)(" + self.made() + ")",
        ])]

    def write(self) -> str:
        lines = [line for _ in range(self.rng.randint(2, 7)) for line in self.statement(0)]
        body = "".join(f"    {line}\n" for text in lines for line in self.spread(text))
        return f"def f(y, k, h, xs, d):\n{body}    return y\n"

    @staticmethod
    def spread(text: str) -> list[str]:
        """The lines of a statement that has two, at its depth."""
        depth = text[: len(text) - len(text.lstrip())]
        first, *rest = text.split("\n")
        return [first, *(depth + line for line in rest)]


def scope(source: str, seed: int) -> dict[str, Any]:
    space: dict[str, Any] = {"np": np, "LOG": [], "SHARED": np.zeros(1)}
    exec(compile(CLASSES + source, f"<lifetimes {seed}>", "exec"), space)
    return space


def seen(space: dict[str, Any], function: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """What happens in some calls, until all their objects are dead."""
    log: list[Any] = space["LOG"]
    for kinds, y, k in calls:
        c, e, first, last, of_c, of_e = (
            space[kind](100.0 * n + k) for n, kind in enumerate(kinds, 1))
        h = space["Holder"]()
        h.c, h.e, xs, d = c, e, [first, last], {"c": of_c, "e": of_e}
        c = e = first = last = of_c = of_e = None
        try:
            result = function(np.array(y), k, h, xs, d)
            log.append(("returns", np.asarray(result, float).tolist()))
        except Exception as error:  # compared, whatever it is
            log.append((type(error).__name__, str(error)))
            del error
        log.append((sorted(vars(h)), len(xs), list(d), space["SHARED"].tolist()))
        vars(h).clear()
        xs.clear()
        d.clear()
        result = None
        gc.collect()
        ended = 1 + max(k for k, told in enumerate(log) if not is_death(told))
        log[ended:] = sorted(log[ended:], key=repr)
        log.append("ended")
    return log


def is_death(told: Any) -> bool:
    return isinstance(told, tuple) and isinstance(told[0], str) and told[0] == "del"


def check(seed: int, counts: Counts) -> str:
    """The difference that compiling makes to one program, or nothing."""
    source = Writer(seed).write()
    rng = random.Random(seed)
    kinds = [rng.choice(KINDS) for _ in range(6)]
    others = [rng.choice(KINDS) for _ in range(6)]
    calls = [(kinds, [1.0, 2.0], 1.0), (kinds, [1.0, 2.0], 2.0), (kinds, [3.0], 3.0),
             (others, [1.0, 2.0], 1.0), (kinds, 2.0, 0.0)]
    plain, fast = scope(source, seed), scope(source, seed)
    want = seen(plain, plain["f"], calls)
    got = seen(fast, npcompile.jit(fast["f"], cache=False), calls)
    text = oracle.difference(got, want)
    return text and f"seed {seed}: {kinds}, {others}: {text}\n{source}  want {want}\n  got {got}"


GRAMMAR = Grammar(check=check)
