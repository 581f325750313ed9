"""pandas' engine protocol: ``DataFrame.apply(f, engine=npcompile.jit)``.

pandas asks ``jit.__pandas_udf__``, which is this module, to apply a function to columns or rows, or
to each element; see pandas' documentation of third-party engines.  pandas itself is imported only
through the objects that it hands over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from npcompile.api.vectorize import vectorize

_made: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()  #: by function and decorator


def map(data: Any, func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
        decorator: Callable[..., Any], skip_na: bool) -> Any:
    """The function of each element of a Series, a DataFrame or an array.

    ``skip_na``: missing values stay what they are.
    """
    values = _values(data)
    if values.dtype.kind not in "biufc":  # texts and other objects, of which some may be missing
        if isinstance(data, np.ndarray) or not skip_na:
            return _like(data, np.vectorize(_bound(func, args, kwargs))(values))
        return data.map(_bound(func, args, kwargs), na_action="ignore")
    made = _once(func, "map", lambda: vectorize(_bound(func, args, kwargs))) if not (
        args or kwargs) else vectorize(_bound(func, args, kwargs))
    if not skip_na or values.dtype.kind not in "fc":
        return _like(data, made(values))
    missing = np.isnan(values)
    computed = made(values[~missing])
    result = np.full(values.shape, np.nan, np.result_type(computed.dtype, values.dtype))
    result[~missing] = computed
    return _like(data, result)


def apply(data: Any, func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
          decorator: Callable[..., Any], axis: Any) -> Any:
    """The function of each column of a DataFrame or an array, or (``axis`` 1) of each row; of a
    Series, of the whole.

    The function gets arrays.  If all results are numbers there is one for each column or row;
    arrays as long as these make a table of the same shape.
    """
    options = getattr(decorator, "keywords", {})
    made = _once(func, tuple(sorted(options.items())), lambda: decorator(func))
    if data.ndim == 1:
        return _like(data, made(_values(data), *args, **kwargs))
    rows = axis in (1, "columns")
    if rows or isinstance(data, np.ndarray):
        table = _values(data)
        parts = table if rows else table.T
    else:  # columns may have different dtypes
        parts = [data.iloc[:, k].to_numpy() for k in range(data.shape[1])]
    result = np.array([made(part, *args, **kwargs) for part in parts])
    if result.ndim > 1 and not rows:
        result = result.T
    return _labelled(data, result, rows)


def _once(func: Any, name: Any, make: Callable[[], Any]) -> Any:
    """What was made of a function before, or is now."""
    known = _made.setdefault(func, {})
    if name not in known:
        known.setdefault(name, make())
    return known[name]


def _bound(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """A function of one element."""
    func = getattr(func, "__wrapped__", func)
    if not args and not kwargs:
        return func
    given = dict(kwargs)
    return lambda value: func(value, *args, **given)


def _values(data: Any) -> Any:
    return data if isinstance(data, np.ndarray) else data.to_numpy()


def _like(data: Any, result: Any) -> Any:
    """A result as what the data was: arrays of the same shape get its labels."""
    if isinstance(data, np.ndarray) or np.shape(result) != data.shape:
        return result
    if result.ndim == 1:
        return type(data)(result, index=data.index, name=data.name)
    return type(data)(result, index=data.index, columns=data.columns)


def _labelled(data: Any, result: np.ndarray, rows: bool) -> Any:
    """Results of columns or rows with the labels of these."""
    if isinstance(data, np.ndarray):
        return result
    if result.ndim > 1:
        if result.shape != data.shape:
            raise ValueError(f"results have the shape {result.shape}, not that of the data")
        return type(data)(result, index=data.index, columns=data.columns)
    labels = data.index if rows else data.columns
    return data._constructor_sliced(result, index=labels)
