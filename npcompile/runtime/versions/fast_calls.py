"""Library functions that are called as they are, but where functions of our own give the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.core.records import replace
from npcompile.graph.ir import CallSite
from npcompile.runtime.random import draws

LEAST = 1000  # elements that are worth it


def _unique(x: Any, return_index: Any = False, return_inverse: Any = False,
            return_counts: Any = False, *others: Any, **named: Any) -> Any:
    """``np.unique`` of integers that lie close together, which it sorts: they are counted.  None
    where NumPy is to be asked."""
    if others or named or return_index is not False:
        return None
    if type(return_inverse) is not bool or type(return_counts) is not bool:
        return None
    plain = type(x) is np.ndarray and x.ndim == 1 and x.dtype.kind in "iu" and x.dtype.isnative
    if not plain or x.size < LEAST or not (return_inverse or return_counts):
        return None
    least = x.min()
    count = int(x.max()) - int(least) + 1
    if count > x.size:
        return None
    places = (x - least).astype(np.int64) if x.dtype == np.uint64 else np.subtract(
        x, least, dtype=np.int64)
    counts = np.bincount(places, minlength=count)
    (present,) = counts.nonzero()
    found = [present.astype(x.dtype) + least]
    if return_inverse:
        ranks = np.empty(count, np.intp)
        ranks[present] = np.arange(present.size)
        found.append(ranks[places])
    if return_counts:
        found.append(counts[present])
    return tuple(found)


#: by path; they give None where NumPy must be asked
FUNCTIONS: dict[str, Callable[..., Any]] = {**draws.FUNCTIONS, "numpy.unique": _unique}


def quick(site: CallSite) -> Callable[..., Any]:
    """The function of a call, which asks the library only where it must."""
    function, stub, call = FUNCTIONS.get(site.path), site.stub, "r = f("
    calls = [k for k, line in enumerate(stub.lines) if line.startswith(call)]
    if function is None or site.direct is not None or not calls:
        return site.function
    first, line, rest = stub.lines[: calls[0]], stub.lines[calls[0]], stub.lines[calls[0] + 1 :]
    return replace(
        stub,
        lines=(*first, f"r = q({line.removeprefix(call)}", f"if r is None: {line}", *rest),
        constants={**stub.constants, "q": function},
    ).function()
