"""Calls with arrays that are not aligned: machine code runs on aligned copies of them.

Only versions with elementary functions run so, whose last bits may differ from NumPy's: an array
shall give the same as its neighbours do.  Versions with NumPy's bits leave such calls to NumPy,
which adds up an array that is not aligned in another order than its copy.

No caller sees a copy.  What machine code has written is copied back when it ends; where it is left
on the way, the copies are dropped and Python runs the whole call on the arguments themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refusal
from npcompile.graph.types import Array, Scalar
from npcompile.guards.sources import Arg, Leaf
from npcompile.program.results import ItemsResult, ParamResult, Result, ViewResult
from npcompile.runtime.entry import fp_warnings
from npcompile.runtime.entry.executables import FLAGS, MISS, Left
from npcompile.runtime.entry.leaf_matching import is_unaligned
from npcompile.runtime.versions.native import Native

if TYPE_CHECKING:
    from npcompile.runtime.versions.version import Version

#: attributes by which a function can tell an array from its copy
_TELLING = {"strides", "flags"}


class AlignedCopies:
    """The arguments of one call, ``bound``, with an aligned copy in the place of each array that
    needs one."""

    def __init__(self, bound: dict[str, Any]) -> None:
        self._given = bound
        apart = {id(value): value for value in bound.values() if is_unaligned(value)}
        self._copies = {key: array.copy(order="K") for key, array in apart.items()}
        self._originals = {id(copy): apart[key] for key, copy in self._copies.items()}
        self._saved: list[tuple[np.ndarray, np.ndarray]] = []
        self._written: list[str] = []
        self.bound = {name: self._copies.get(id(v), v) for name, v in bound.items()}
        for key, copy in self._copies.items():
            copy.setflags(write=apart[key].flags.writeable)

    def refusal(self, version: Version, function: FunctionType) -> Refusal | None:
        """Why a version can't run on the copies; None: it can."""
        trace = version.trace
        if trace.exact:
            why = "and all that is done with them has NumPy's bits"
        elif not self._computes(version, function):
            why = "and the function does more than to compute"
        elif any(self._holds(version, p) for p in _parts(version.executable.program.result)):
            why = "and the function returns views of them"
        elif not all(map(self._apart, _written(version))):
            why = "and what is written shares memory"
        else:
            return None
        return Refusal("arguments", f"arrays are not aligned, {why}")

    @staticmethod
    def _computes(version: Version, function: FunctionType) -> bool:
        """Whether a run of a version does nothing but compute from its arguments' elements: it can
        be made anew in Python, and nobody keeps an array of it or looks at its layout."""
        from npcompile.program.stored import stores

        trace, made = version.trace, version.executable
        codes = [function.__code__, *(c for guard in trace.guards for c in _codes(guard.value))]
        return (
            version.direct
            and isinstance(made, Native)
            and made.alone
            and not stores(made.program.result)
            and not (trace.graph_breaks or trace.lasting or function.__code__.co_exceptiontable)
            and all(map(_plain, trace.leaves))
            and not any(_TELLING & set(code.co_names) for code in codes)
        )

    def _holds(self, version: Version, part: Result) -> bool:
        """Whether a part of the result is an array that is copied, or a view of it."""
        base = part.base if isinstance(part, ViewResult) else part
        if not isinstance(base, ParamResult):
            return False
        return self._copied(_name(version.trace.leaves[base.index]))

    def _apart(self, name: str) -> bool:
        """Whether an array that is written shares memory with no other one, nor with itself."""
        array = self._given[name]
        others = [v for v in self._given.values() if isinstance(v, np.ndarray) and v is not array]
        return not (_overlaps_itself(array) or any(np.may_share_memory(array, o) for o in others))

    def run(
        self, version: Version, python: Callable[[], Any], count: Callable[[Left], None]
    ) -> Any:
        """The result of a call that a version takes, or that of ``python``, which makes the same
        call there; ``count`` is told of an exit before."""
        self._save(version)
        try:
            result = version.run(tuple(self.bound.values()), ())
        except Left as found:
            left = found.with_traceback(None)
        except BaseException:
            self._write_back()
            raise
        else:
            if result is MISS:
                return python()
            version.called()
            self._write_back()
            return self._returned(result)
        if left.exception is not None:
            self._write_back()
            raise left.exception
        if left.number != FLAGS:
            self._drop()
            count(left)
            return python()
        if fp_warnings.wanted(left.flags - version.trace.silent):
            self._warn(python)
        self._write_back()
        return self._returned(left.result)

    def _save(self, version: Version) -> None:
        """Notes what a run of a version will write, and keeps what of it is no copy."""
        self._written = _written(version)
        arrays = [self._given[name] for name in self._written if not self._copied(name)]
        self._saved = [(array, array.copy()) for array in arrays]

    def _copied(self, name: str) -> bool:
        return self.bound[name] is not self._given[name]

    def _drop(self) -> None:
        """Makes all arguments what they were before the run."""
        for array, before in self._saved:
            array[...] = before

    def _warn(self, python: Callable[[], Any]) -> None:
        """Has Python make the same call, for its warnings; what the run has written stays."""
        kept = [(array, array.copy()) for array, _ in self._saved]
        self._drop()
        python()
        for array, after in kept:
            array[...] = after

    def _write_back(self) -> None:
        """Gives the arguments what was written into their copies."""
        for name in self._written:
            if self._copied(name):
                self._given[name][...] = self.bound[name]

    def _returned(self, result: Any) -> Any:
        """The result, or the argument whose copy it is."""
        return self._originals.get(id(result), result)


def _overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements may share memory: an axis steps over less than the finer ones reach."""
    reach = array.itemsize
    for step, n in sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1):
        if step < reach:
            return True
        reach += step * (n - 1)
    return False


def _plain(leaf: Leaf) -> bool:
    """Whether a leaf is a number, or an array that is an argument."""
    if isinstance(leaf.type, Array):
        return isinstance(leaf.source, Arg)
    return isinstance(leaf.type, Scalar)


def _name(leaf: Leaf) -> str:
    """The argument that a leaf is."""
    assert isinstance(leaf.source, Arg)
    return leaf.source.name


def _written(version: Version) -> list[str]:
    """The arguments that a version writes."""
    return [_name(version.trace.leaves[k]) for k in sorted(version.trace.written)]


def _codes(value: Any) -> Iterator[CodeType]:
    """The code of a function that a guard names."""
    if isinstance(value, FunctionType):
        yield value.__code__


def _parts(result: Result) -> Iterator[Result]:
    """The parts of a result, but for an argument that is all of it."""
    for item in result.items if isinstance(result, ItemsResult) else ():
        yield item
        yield from _parts(item)
    if isinstance(result, ViewResult):
        yield result
