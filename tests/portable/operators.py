"""Elementwise functions beside NumPy's and SciPy's of the same machine.

    python -m tests.portable.operators [COUNT SEED]
"""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import numpy as np

from npcompile import jit
from npcompile.ops.record import OPERATORS
from tests.portable import page

#: relative differences of two functions that are right to some units in the last place, and where
#: results cancel
_CLOSE = {"f": 1e-5, "d": 1e-11, "F": 1e-4, "D": 1e-9}


def changed_lines(names: list[str]) -> list[str]:
    """The lines of the page whose results are not the library's."""
    return [name for name, line in page.elementwise() if name in names and not is_near(name, *line)]


def is_near(name: str, function: Any, operands: list[Any]) -> bool:
    """Whether a compiled function and the plain one agree: in their bits where the record promises
    that, else nearly."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, want = jit(function)(*operands), function(*operands)
    op = OPERATORS[name.rpartition(" ")[0]]
    exact = op.aliases[0].startswith("numpy:") and not any(op.ulp.values())
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    return all(_equal(np.asarray(a), np.asarray(b), exact) for a, b in pairs)


def _equal(a: Any, b: Any, exact: bool) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if exact or a.dtype.char not in _CLOSE:
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    finite = np.isfinite(a) & np.isfinite(b)
    rtol = _CLOSE[a.dtype.char]
    with np.errstate(all="ignore"):
        near = np.isclose(a[finite], b[finite], rtol=rtol, atol=rtol)
    return bool(near.mean() > 0.9 if near.size else True)


def main() -> None:
    names = [name for name, _ in page.elementwise()]
    if sys.argv[1:]:
        names = random.Random(int(sys.argv[2])).sample(names, int(sys.argv[1]))
    bad = changed_lines(names)
    print(f"{len(names)} functions, {len(bad)} differ", *bad, sep="\n")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
