"""Random programs of NumPy's functions that are composed of sorts, tables and products: medians,
quantiles, partitions, sets, covariances, polynomials, elements put in or left out.

Arrays have ties, NaN, infinities and zeros of both signs; they are empty or of one element, strided
or turned, of floats and integers of several widths.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

#: calls; ``{...}`` stands for a choice of the pool of that name
CALLS = re.split(r"\n| {2,}", """
np.median({x}{axis}{keep})  np.nanmedian({x}{axis})  np.percentile({x}, {percent}{axis}{keep})
np.quantile({x}, {share}{axis}{keep})  np.nanpercentile({x}, {percent}{axis})
np.nanquantile({x}, {share}{axis})  np.sort({x}{axis}{kind})  np.argsort({x}{axis}, kind='stable')
np.argsort({x}{axis})  np.partition({x}, {k}{axis})[..., :1]  np.argpartition({v}, {k})[{k}]
np.searchsorted(np.sort({v}), {x}{side})  np.searchsorted({v}, {v}{side})
np.unique({x})  np.unique({x}, return_counts=True)  np.unique({x}, return_inverse=True)
np.unique({x}, return_index=True, equal_nan=False)  np.unique({x}, axis=0)
np.unique_counts({x})  np.unique_all({x})  np.unique_inverse({x})
np.isin({x}, {x}{invert})  np.isin({x}, {v}[:3]{invert})  np.isin({x}, [0, 1, 2.5]{invert})
np.union1d({x}, {x})  np.intersect1d({x}, {x})  np.setxor1d({x}, {x})  np.setdiff1d({x}, {x})
np.cov({x}{row})  np.cov({v}, {v}, ddof={small})  np.corrcoef({x}{row})  np.corrcoef({v}, {v})
np.polyval({v}[:{small}], {x})  np.polyval([1, {number}], {x})  np.vander({v}, {small})
np.vander({v}[:4], increasing=True)  np.polyfit({v}, np.arange({v}.size) * 0.5, {small})
np.select([{x} > 1, {x} == 0], [{x}, {number}], {number})  np.select([{x} != {x}], [1], {x})
np.insert({x}, {k}, {number}{axis})  np.insert({v}, {k}, {v}[:2])  np.delete({x}, {k}{axis})
np.delete({v}, [0, {k}])  np.delete({v}, {v} > 1)  np.ediff1d({x})  np.ediff1d({x}, to_end={number})
np.ediff1d({v}, to_begin={v}[:2], to_end=[1])  np.triu_indices({small}, {k})
np.tril_indices({small}, {k}, 5)  np.triu_indices_from({x}, {k})  np.bartlett({small})
np.gcd({i}, {i})  np.lcm({i}, {i})  np.gcd({i}, {small})
np.convolve({v}, {v}[:{small}]{mode})  np.correlate({v}, {v}[:{small}]{mode})
np.convolve({i}, [1, 2, 1]{mode})  np.interp({v}, np.sort({v}), {v}{ends})
np.packbits({x} > 0{axis})  np.unpackbits(({i} % 256).astype(np.uint8))
""".strip())

POOLS = {
    "x": ["a", "a", "a", "a.T", "a[::2]", "b", "(a + 1)", "a.ravel()", "b[::-1]", "c"],
    "v": ["b", "b", "b[::-1]", "b[::2]", "c", "(b * 2)", "a.ravel()"],
    "i": ["i", "i[::-1]", "(i * 3)", "(-i)", "(abs(i) + 1)"],
    "k": ["0", "1", "-1", "n", "n - 2", "3"],
    "small": ["1", "2", "3", "n"],
    "number": ["0", "2", "1.5", "-1", "s"],
    "percent": ["30", "50.0", "100", "s * 10", "[25, 75]", "[0.0, 50.0, 99.5]", "-1"],
    "share": ["0.3", "0.0", "1.0", "s / 3", "[0.1, 0.9]", "np.float64(0.25)", "1"],
    "axis": ["", "", ", axis=0", ", axis=-1", ", axis=n - 3", ", axis=None"],
    "keep": ["", "", ", keepdims=True"],
    "kind": ["", ", kind='stable'"],
    "side": ["", ", side='right'"],
    "invert": ["", ", invert=True"],
    "row": ["", ", rowvar=False", ", ddof=0"],
    "mode": ["", ", 'same'", ", 'valid'", ", 'full'"],
    "ends": ["", ", left=-1.0", ", right=0.5", ", period=3.0"],
}
#: statements around a call; bars part lines
FRAMES = """
return CALL
r = CALL|return r, a * 2
a = a * 2|r = CALL|return r, a.sum()
a = np.where(a > 0, a, -a)|return CALL
r = []|for k in range(n):|  a = a + 1|  r.append(CALL)|return r
if s > 1:|  return CALL|return a * s
r = CALL|q = CALL2|return r, q
b[:1] = 0|r = CALL|b[-1:] = 5|return r, b
""".strip().splitlines()


def written(rng: random.Random) -> str:
    """A function's source."""
    def call() -> str:
        return re.sub(r"\{(\w+)\}", lambda found: rng.choice(POOLS[found[1]]), rng.choice(CALLS))

    frame = rng.choice(FRAMES).replace("CALL2", call()).replace("CALL", call())
    lines = "".join(f"    {line}\n" for line in frame.split("|"))
    return "def f(a, b, c, i, n, s):\n" + lines


def numbers(rng: np.random.Generator, char: str, shape: tuple[Any, ...]) -> Any:
    """Numbers of which some are equal, and some special."""
    style = rng.integers(6)
    if char not in "df":
        low = 0 if char == "B" else -5
        return rng.integers(low, [3, 100, 6][style % 3], shape).astype(char)
    if style < 2:
        return (rng.random(shape) * 10 - 5).astype(char)
    pool = [[1.0, 2.0, 3.0, -1.0], [0.0, -0.0, 1.0], [np.nan, 0.5, 2.0, -7.0],
            [np.inf, -np.inf, 1.0, 2.0]][style - 2]
    return rng.choice(pool, shape).astype(char)


def arguments(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    char = rng.choice(list("dddfflliB"))
    rows, columns = rng.integers(0, 7), rng.choice([0, 1, 2, 5, 5, 9, 9, 9, 300])
    a = numbers(rng, char, (rows, columns) if rng.random() < 0.8 else (2, rows, columns))
    b = numbers(rng, char, (rng.choice([0, 1, 2, 7, 30, 400]),))
    return [a, b, numbers(rng, "d", (5,)), rng.integers(-60, 60, rng.choice([1, 9, 40])), 3,
            float(rng.choice([0.5, 2.0]))]


def program(seed: int) -> Program:
    calls = [arguments(seed * 4 + call) for call in range(3)]
    return Program(written(random.Random(seed)), lambda call, space: [
        x.copy() if isinstance(x, np.ndarray) else x for x in calls[call]], seed, calls=3)


GRAMMAR = Grammar(program)
