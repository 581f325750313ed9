"""Arrays as sets, in Python that is traced: NumPy's results over sorted rows, or over tables of
integers that lie close together.

``raise`` leaves a call to NumPy.  Where NumPy puts numbers into a hash table, the first of two
zeros of unlike signs stays, which a sorted row does not know.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib._arraysetops_impl import (
    UniqueAllResult,
    UniqueCountsResult,
    UniqueInverseResult,
)

from npcompile.ops.arguments import FOLLOWED, followed, program

#: test elements of ``isin`` that are compared one by one, and the widest table for each element
FEW, WIDEST = 16, 6


@followed
def _firsts(ordered: Any, equal_nan: Any) -> Any:
    """Where a sorted row has another element than before."""
    first = np.ones(ordered.size, dtype=np.bool_)
    if equal_nan and ordered.dtype.kind == "f":
        low, high = ordered[:-1], ordered[1:]
        first[1:] = (low != high) & (low == low)
    else:
        first[1:] = ordered[1:] != ordered[:-1]
    return first


@followed
def _counts(first: Any) -> Any:
    """How many elements there are from each first one to the next."""
    places = np.flatnonzero(first)
    counts = np.empty(places.size, np.intp)
    counts[:-1] = places[1:] - places[:-1]
    counts[-1] = first.size - places[-1]
    return counts


@followed
def _row(ar: Any) -> Any:
    """Real numbers, of which there is one at least, in a row."""
    ar = np.asarray(ar)
    if ar.size == 0 or ar.dtype.kind not in "iuf":
        raise NotImplementedError
    return ar.ravel()


@followed
def _range(row: Any) -> Any:
    """The least of a row's integers, and how many there are from it to the largest: 0 where a
    table of these is not worth its memory."""
    if row.dtype.kind != "i":
        return 0, 0
    low, high = int(row.min()), int(row.max())
    return low, high - low + 1 if high - low < row.size else 0


@followed
def _distinct(row: Any, equal_nan: Any) -> Any:
    """A row's elements in order, each once."""
    if row.dtype.kind == "f" and ((row == 0) & np.signbit(row)).any():
        raise NotImplementedError
    low, width = _range(row)
    if width > 0:
        table = np.zeros(width, dtype=np.bool_)
        table[row - low] = True
        return (np.flatnonzero(table) + low).astype(row.dtype)
    ordered = np.sort(row)
    return ordered[_firsts(ordered, equal_nan)]


@followed
def _counted(row: Any, equal_nan: Any) -> Any:
    """A row's elements in order, each once, and how often it is there."""
    if row.dtype.kind != "i":
        ordered = np.sort(row)
        first = _firsts(ordered, equal_nan)
        return ordered[first], _counts(first)
    low, width = _range(row)
    if width > 0:  # both arms fill arrays of the row's length, which no branch decides
        values = np.arange(row.size) + low
        counts = np.bincount(row - low, minlength=row.size)
    else:
        values = np.sort(row).astype(np.int64)
        first = _firsts(values, False)
        counts = np.zeros(row.size, np.intp)
        counts[np.flatnonzero(first)] = _counts(first)
    there = counts > 0
    return values[there].astype(row.dtype), counts[there]


@followed
def _placed(row: Any, equal_nan: Any) -> Any:
    """A row's elements in order, each once, and the place of each element of the row there."""
    low, width = _range(row)
    if width > 0:
        table = np.zeros(width, dtype=np.bool_)
        table[row - low] = True
        rank = np.cumsum(table) - 1
        return (np.flatnonzero(table) + low).astype(row.dtype), rank[row - low]
    order = np.argsort(row)
    ordered = row[order]
    first = _firsts(ordered, equal_nan)
    inverse = np.empty(row.size, np.intp)
    inverse[order] = np.cumsum(first) - 1
    return ordered[first], inverse


@program(FOLLOWED, "unique")
def unique(ar: Any, return_index: Any = False, return_inverse: Any = False,
           return_counts: Any = False, axis: Any = None, *, equal_nan: Any = True,
           sorted: Any = True) -> Any:
    """An array's elements in order, each once."""
    ar = np.asarray(ar)
    row = _row(ar)
    if axis is not None and ar.ndim != 1:
        raise NotImplementedError
    if not return_index:
        if not return_inverse:
            return _counted(row, equal_nan) if return_counts else _distinct(row, equal_nan)
        if not return_counts:
            found, inverse = _placed(row, equal_nan)
            return found, inverse.reshape(ar.shape)
    order = np.argsort(row, kind="stable") if return_index else np.argsort(row)
    ordered = row[order]
    first = _firsts(ordered, equal_nan)
    results = [ordered[first]]
    if return_index:
        results.append(order[first])
    if return_inverse:
        inverse = np.empty(row.size, np.intp)
        inverse[order] = np.cumsum(first) - 1
        results.append(inverse.reshape(ar.shape))
    if return_counts:
        results.append(_counts(first))
    return tuple(results)


@program(FOLLOWED, "unique_counts")
def unique_counts(x: Any) -> Any:
    """An array's elements, and how often each is there."""
    return UniqueCountsResult(*np.unique(x, return_counts=True, equal_nan=False))


@program(FOLLOWED, "unique_inverse")
def unique_inverse(x: Any) -> Any:
    """An array's elements, and the place of each element among these."""
    return UniqueInverseResult(*np.unique(x, return_inverse=True, equal_nan=False))


@program(FOLLOWED, "unique_all")
def unique_all(x: Any) -> Any:
    """An array's elements, where each stands first, the places of elements, and counts."""
    return UniqueAllResult(*np.unique(x, return_index=True, return_inverse=True,
                                      return_counts=True, equal_nan=False))


@program(FOLLOWED, "union1d")
def union1d(ar1: Any, ar2: Any) -> Any:
    """The sorted elements that are in at least one of two arrays."""
    return _distinct(np.concatenate((_row(ar1), _row(ar2))), True)


@followed
def _merged(ar1: Any, ar2: Any, assume_unique: Any) -> Any:
    """The distinct elements of two arrays, in order."""
    first, second = _row(ar1), _row(ar2)
    if first.dtype != second.dtype:
        raise NotImplementedError
    if not assume_unique:
        first, second = _distinct(first, True), _distinct(second, True)
    return np.sort(np.concatenate((first, second)))


@program(FOLLOWED, "intersect1d")
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False,
                return_indices: Any = False) -> Any:
    """The sorted elements that are in both of two arrays."""
    if return_indices or assume_unique:
        raise NotImplementedError
    both = _merged(ar1, ar2, False)
    return both[:-1][both[1:] == both[:-1]]


@program(FOLLOWED, "setxor1d")
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The sorted elements that are in exactly one of two arrays."""
    if assume_unique:
        raise NotImplementedError
    both = _merged(ar1, ar2, False)
    flag = np.ones(both.size + 1, dtype=np.bool_)
    flag[1:-1] = both[1:] != both[:-1]
    return both[flag[1:] & flag[:-1]]


@program(FOLLOWED, "setdiff1d")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The elements of the first array that are not in the second one."""
    first, second = _row(ar1), _row(ar2)
    if assume_unique:
        raise NotImplementedError
    first = _distinct(first, True)
    return first[~_among(first, second)]


# ------------------------------------------------------------------ membership


@followed
def _among(a: Any, tests: Any) -> Any:
    """Which elements of a row are among those of another."""
    if tests.size <= FEW:
        return (a[None, :] == tests[:, None]).any(axis=0)
    if a.dtype.kind == "i" and tests.dtype.kind == "i":
        low, high = int(tests.min()), int(tests.max())
        if high - low <= WIDEST * (a.size + tests.size):
            table = np.zeros(high - low + 1, dtype=np.bool_)
            table[tests - low] = True
            inside = (a >= low) & (a <= high)
            return table[np.where(inside, a - low, 0)] & inside
    ordered = np.sort(tests)
    if a.dtype.kind == "f" and np.isnan(ordered[-1]):
        raise NotImplementedError
    at = np.searchsorted(ordered, a)
    return ordered[np.minimum(at, ordered.size - 1)] == a


@program(FOLLOWED, "isin")
def isin(element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *,
         kind: Any = None) -> Any:
    """Which elements are among others."""
    element = np.asarray(element)
    a, tests = _row(element), _row(test_elements)
    if kind is not None or element.ndim == 0:
        raise NotImplementedError
    if a.dtype != tests.dtype and (tests.size >= 10 or a.dtype.kind == "u"
                                   or tests.dtype.kind == "u"):
        raise NotImplementedError  # NumPy compares many in the dtype that both promote to
    found = _among(a, tests)
    return (~found if invert else found).reshape(element.shape)
