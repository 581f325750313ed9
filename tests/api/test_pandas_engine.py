"""pandas' engine protocol, with tables that follow it in pandas' place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit


class Column:
    """What the engine asks a Series for."""

    ndim = 1

    def __init__(self, values: Any, index: Any = None, name: Any = None) -> None:
        self.values, self.index, self.name = np.asarray(values), index, name
        self.shape = self.values.shape

    def to_numpy(self) -> np.ndarray:
        return self.values

    def map(self, func: Any, na_action: str = "", engine: Any = None, **kwargs: Any) -> Any:
        if engine is None:
            return Column([None if v is None else func(v) for v in self.values], self.index)
        found = engine.__pandas_udf__.map(
            data=self, func=func, args=(), kwargs=kwargs, decorator=engine,
            skip_na=na_action == "ignore")
        return found if isinstance(found, Column) else Column(found, self.index, self.name)


class Table:
    """What the engine asks a DataFrame for."""

    ndim = 2
    _constructor_sliced = Column

    def __init__(self, values: Any, index: Any = None, columns: Any = None) -> None:
        self.values, self.index, self.columns = np.asarray(values), index, columns
        self.shape = self.values.shape
        self.iloc = _Located(self)

    def to_numpy(self) -> np.ndarray:
        return self.values

    def apply(self, func: Any, axis: Any = 0, raw: bool = False, engine: Any = None,
              args: tuple[Any, ...] = (), **kwargs: Any) -> Any:
        return engine.__pandas_udf__.apply(
            data=self.values if raw else self, func=func, args=args, kwargs=kwargs,
            decorator=engine, axis=axis)


class _Located:
    def __init__(self, table: Table) -> None:
        self.table = table

    def __getitem__(self, place: Any) -> Column:
        return Column(self.table.values[place])


TABLE = Table(np.arange(12.0).reshape(4, 3), index="wxyz", columns="abc")


def spread(values, scale=1.0):
    return (values.max() - values.min()) * scale


def centred(values):
    return values - values.mean()


@pytest.mark.parametrize("engine", [jit, jit(parallel=False)])
def test_apply(engine: Any) -> None:
    for raw in (False, True):
        down = TABLE.apply(spread, raw=raw, engine=engine, scale=2.0)
        across = TABLE.apply(spread, axis=1, raw=raw, engine=engine, args=(3.0,))
        assert np.asarray(down.to_numpy() if not raw else down).tolist() == [18.0] * 3
        assert np.asarray(across.to_numpy() if not raw else across).tolist() == [6.0] * 4
    assert down.shape == (3,)
    assert TABLE.apply(spread, engine=engine).index == "abc"
    assert TABLE.apply(spread, axis="columns", engine=engine).index == "wxyz"
    whole = TABLE.apply(centred, engine=engine)
    assert whole.columns == "abc"
    np.testing.assert_array_equal(whole.values, TABLE.values - TABLE.values.mean(0))
    whole = TABLE.apply(centred, axis=1, engine=engine)
    np.testing.assert_array_equal(whole.values, (TABLE.values.T - TABLE.values.mean(1)).T)


def test_map() -> None:
    column = Column([1.0, np.nan, -4.0], index="xyz", name="n")
    positive = lambda v: v if v > 0 else 0  # noqa: E731
    assert column.map(positive, engine=jit).values.tolist() == [1.0, 0.0, 0.0]
    kept = column.map(positive, na_action="ignore", engine=jit)
    np.testing.assert_array_equal(kept.values, [1.0, np.nan, 0.0])
    assert (kept.index, kept.name) == ("xyz", "n")
    scaled = column.map(lambda v, by: v * by, engine=jit, by=2)
    np.testing.assert_array_equal(scaled.values, [2.0, np.nan, -8.0])
    texts = Column(np.array(["ab", None], object))
    assert texts.map(len, na_action="ignore", engine=jit).values.tolist() == [2, None]


def test_one_function_is_compiled_once() -> None:
    calls = []
    made = jit.__pandas_udf__._once(spread, "kind", lambda: calls.append(1))
    assert jit.__pandas_udf__._once(spread, "kind", lambda: calls.append(1)) is made
    assert len(calls) == 1
