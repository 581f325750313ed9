"""Items of dictionaries and lists from outside that get other values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle


class Thing:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def full(value: float) -> Any:
    return np.full(3, float(value))


def parameters() -> tuple[Any, ...]:
    shapes = {"W1": (3, 4), "b1": 3, "W2": (1, 3), "b2": 1}
    params = {key: np.cos(np.arange(np.prod(shape))).reshape(shape)
              for key, shape in shapes.items()}
    grads = {f"d{key}": p * 0.25 for key, p in params.items()}
    return params, grads, {key: p * 0.0 for key, p in params.items()}


def momentum(params, grads, m):
    for k in params:
        m[k] = 0.9 * m[k] + 0.1 * grads["d" + k]
        params[k] = params[k] - 0.5 * m[k]


def adam(params, grads, m):
    for k in params.keys():  # noqa: SIM118 (what is tested)
        m[k] += 0.1 * (grads["d" + k] ** 2 - m[k])
        params[k] -= 0.5 * grads["d" + k] / (np.sqrt(m[k]) + 1e-8)


def by_number(params, grads, m):
    corrected = {}
    for i in range(1, len(params) // 2 + 1):
        m["W" + str(i)] = 0.9 * m["W" + str(i)] + grads["dW" + str(i)]
        corrected[f"W{i}"] = m[f"W{i}"] / 0.5
        params[f"W{i}"] = params[f"W{i}"] - 0.1 * corrected[f"W{i}"]
    return params, corrected


def made_at_need(params, grads, m):
    if not hasattr(momentum, "v"):
        m.setdefault("c", {})
    for k in grads:
        m[k] = m.get(k, 0.0) + grads[k]
    return len(m), "dW1" in m, list(m)


def several_times(params, grads, m):
    for _ in range(4):
        for key, p in params.items():
            params[key] = p * 0.5 + m[key]
            m[key] = p


def while_it_lasts(params, grads, m):
    while abs(params["W1"][0, 0]) > 0.3:
        params["W1"] = params["W1"] * 0.5
        m["n"] = 1.0
    return m["n"]


def taken(params, grads, m):
    if params["b2"][0] > 0.5:
        params["b1"] = params["b1"] * 0.5
    return params["b1"]


OPTIMISERS = [momentum, adam, by_number, several_times, taken]


def as_plain(f: Any, cases: list[Callable[[], tuple[Any, ...]]], calls: int = 3) -> Any:
    """Calls a function and its compiled twin on things of each kind, again and again."""
    compiled = jit(f)
    for make in cases:
        for _ in range(2):
            mine, theirs = make(), make()
            for _ in range(calls):
                oracle.check(oracle.observe(compiled, *mine), oracle.observe(f, *theirs))
    return compiled.cache_info()


@pytest.mark.parametrize("f", [*OPTIMISERS, made_at_need, while_it_lasts])
def test_dictionaries(f: Any) -> None:
    info = as_plain(f, [parameters])
    if f in OPTIMISERS:
        assert info.compiled and not info.fallbacks


def two() -> tuple[Any, ...]:
    return {"x": full(1), "y": full(2)}, {"x": full(3), "y": full(4)}


def one() -> tuple[Any, ...]:
    d = {"x": full(1), "y": full(2)}
    return d, d


def shared() -> tuple[Any, ...]:
    a = full(1)
    return {"x": a, "y": full(2)}, {"y": a, "x": a}


def other_key(p, q):
    p["x"] = p["x"] * 2.0
    return q["x"] + 1.0


def new_key(p, q):
    p["new"] = p["x"] * 2.0
    return list(q), len(q), "new" in q, q.get("new"), bool(q)


def new_keys(p, q):
    p["new"] = p["x"] * 2.0
    q["new"] = 3.0
    q["z"] = 3
    p["y"] = q["x"]
    return p["new"], len(p), list(p.items())


def items(p, q):
    total = 0.0
    for k, v in p.items():
        q[k] = v * 0.5
        total += float(q[k].sum()) + float(v[0])
    return total


def ahead(p, q):
    found = []
    for v in p.values():
        q["y"] = q["y"] + 1.0
        found.append(v.copy())
    return found


def growing(p, q):
    for k in p:
        q[k + "2"] = p[k]
    return len(p)


def in_place(p, q):
    p["x"] = q["y"]
    p["x"] += 1.0
    q["y"][0] = 9.0
    return p["x"] is q["y"]


def copies(p, q):
    p["x"] = full(5.0)
    found = dict(p), {**q}, p.copy()
    p["x"] = full(6.0)
    return found


def views(p, q):
    keys, values, pairs = p.keys(), p.values(), p.items()
    q["x"] = q["x"] + 5.0
    q["w"] = 3
    return len(keys), list(values), list(pairs), "w" in keys


def keywords(p, q):
    def inner(**named):
        named["x"] = 5
        return named

    p["x"] = full(9.0)
    return inner(**q), inner(**p)


def generator(p, q):
    sums = (v.sum() for v in p.values())
    q["x"] = q["x"] + 5.0
    return sum(sums)


def methods(p, q):
    p.update(q, z=full(6.0))
    p.update({"w": 3})
    p.setdefault("v", full(8.0))
    return p.setdefault("v", 0), p.get("zz", 4)


def equal_keys(p, q):
    p[1] = full(1.0)
    p[True] = full(2.0)
    p[1.0] = full(3.0)
    p[1, 2] = 4
    p[None] = p[np.int64(1)]
    return p[1], list(p)


def itself(p, q):
    p["me"] = p
    p["list"] = [p["x"], 1]
    p["list"].append(2)
    return p["me"]["x"]


def missing(p, q):
    p["x"] = full(5.0)
    return q["nope"]


def divided(p, q):
    p["x"] = full(5.0)
    return 1 // int(q["y"][0] - q["y"][1])


def after_a_write(p, q):
    p["x"] = full(5.0)
    q["y"][0] = 3.0
    q["y"][int(p["x"][0])] = 3.0


def swapped(p, q):
    p["x"], q["x"] = q["x"], p["x"]
    p["y"], p["x"] = p["x"], p["y"]


def printed(p, q):
    p["x"] = full(5.0)
    print(p["x"], end="")
    p["x"] = p["x"] + q["x"]
    return q


@pytest.mark.parametrize("f", [
    other_key, new_key, new_keys, items, ahead, growing, in_place, copies, views, keywords,
    generator, methods, equal_keys, itself, missing, divided, after_a_write, swapped, printed,
])
@pytest.mark.parametrize("cases", [[two, one], [one, two], [two, shared]])
def test_one_dictionary_under_two_names(f: Any, cases: Any) -> None:
    as_plain(f, cases, 2)


def two_lists() -> tuple[Any, ...]:
    return [full(1), full(2)], [full(3), full(4)]


def one_list() -> tuple[Any, ...]:
    held = [full(1), full(2)]
    return held, held


def other_lengths() -> tuple[Any, ...]:
    return [full(1)], [full(2), full(3)]


def layers(p, q):
    for i in range(len(p) - 1, -1, -1):
        q[i] = p[i] * 0.5
        p[-1] = p[0] + q[i]
    return len(q)


def enumerated(p, q):
    for k, w in enumerate(p):
        q[k] = w * 2.0
    return q[0], q[-1] is p[-1]


def zipped(p, q):
    found = []
    for w, v in zip(p, q):
        q[1] = w + v
        found.append(v)
    return found


def ahead_in_list(p, q):
    found = []
    for w in p:
        q[1] = q[1] + 1.0
        found.append(w)
    return found


def appended(p, q):
    q[0] = full(5.0)
    p.append(full(7.0))
    q[0] += 1.0
    return q[0]


def appended_first(p, q):
    p.append(full(7.0))
    q[0] = full(5.0)


def exchanged(p, q):
    p[0], q[0] = q[0], p[0]
    p[0], p[-1] = p[-1], p[0]


def sliced(p, q):
    q[0] = full(5.0)
    return p[:], sum(q), np.array(q), [*p]


@pytest.mark.parametrize("f", [
    layers, enumerated, zipped, ahead_in_list, appended, appended_first, sliced, exchanged,
])
@pytest.mark.parametrize("cases", [[two_lists, one_list], [one_list, other_lengths]])
def test_lists(f: Any, cases: Any) -> None:
    as_plain(f, cases, 2)


def own() -> tuple[Any, ...]:
    thing = Thing(x=full(1), y=full(2))
    return thing, thing.__dict__


def others() -> tuple[Any, ...]:
    return Thing(x=full(1), y=full(2)), {"x": full(4)}


def read_by_object(s, d):
    d["x"] = full(7.0)
    return s.x


def read_by_dictionary(s, d):
    s.x = full(7.0)
    return d["x"]


def counted(s, d):
    s.n = full(7.0)
    return len(d), list(d)


def asked(s, d):
    d["n"] = full(7.0)
    return hasattr(s, "n")


@pytest.mark.parametrize("f", [read_by_object, read_by_dictionary, counted, asked])
@pytest.mark.parametrize("cases", [[others, own], [own, others]])
def test_the_dictionary_of_an_object(f: Any, cases: Any) -> None:
    as_plain(f, cases, 2)


def test_caches_that_grow() -> None:
    """There are no versions for one call each."""
    @jit
    def get(cache, n):
        if n not in cache:
            cache[n] = np.arange(3.0) * n
        return cache[n]

    cache: dict[Any, Any] = {}
    for k in [*map(str, range(20))] * 2:
        n = float(k)
        assert get(cache, n) is cache[n]
    assert list(cache) == [float(k) for k in range(20)]


def test_identity() -> None:
    def f(d, x):
        d["kept"] = x
        d["made"] = made = x * 2.0
        d["again"] = d["before"]
        return made

    compiled = jit(f)
    for _ in range(3):
        before, x = full(1), full(2)
        d = {"before": before}
        made = compiled(d, x)
        assert d["kept"] is x and d["made"] is made and d["again"] is before is d["before"]


def test_check() -> None:
    compiled = jit(other_key, check=True)
    p, q = two()
    compiled(p, q)
    compiled(p, q)
    assert p["x"].tolist() == [4.0] * 3


def nested() -> tuple[Any, ...]:
    layers = [{"x": full(1)}, {"x": full(2)}]
    return {"sub": {"x": full(3)}, "b": {"x": full(4)}, "l": layers, "log": [], "n": 2, "e": 1.0},


def one_in_both() -> tuple[Any, ...]:
    (d,) = nested()
    d["b"] = d["sub"]
    return d,


def replaced(d):
    before = d["sub"]
    d["sub"] = {"x": full(5)}
    before["x"] = full(6)
    d["sub"]["y"] = 3.0
    return before, d["sub"]["x"]


def exchanged_dictionaries(d):
    for i in range(5):
        d["sub"], d["b"] = d["b"], d["sub"]
        d["sub"]["x"] = d["sub"]["x"] + i
    return d["b"]["x"]


def moved(d):
    d["b"] = d["sub"]
    d["sub"]["x"] = full(7)
    return d["b"]["x"]


def in_layers(d):
    for layer in d["l"]:
        layer["x"] = layer["x"] * 0.5 + d["n"]
    d["l"][0], d["l"][1] = d["l"][1], d["l"][0]
    return d["l"][0]["x"]


def simulated(d):
    x = d["sub"]["x"]
    for i in range(d["n"]):
        x = x * 0.5
        d["log"].append(x.copy())
        d["n"] = i + 1
        d["last"] = x
    return x


def numbers(d):
    d["n"] += 1
    d["e"] = d["e"] * 0.5
    d["t"] = (1, d["n"])
    d["s"], d["z"] = "text", None
    return d["n"]


def until_small(d):
    while d["e"] > 0.1:
        d["e"] *= 0.5
        d["sub"]["x"] = d["sub"]["x"] - d["e"]
        d["turns"] = d.get("turns", 0) + 1


@pytest.mark.parametrize("f", [
    replaced, exchanged_dictionaries, moved, in_layers, simulated, numbers, until_small,
])
@pytest.mark.parametrize("cases", [[nested, one_in_both], [one_in_both, nested]])
def test_containers_in_containers(f: Any, cases: Any) -> None:
    as_plain(f, cases)
