"""Calls with arrays that are not aligned: machine code runs on aligned copies of them.

Only versions with elementary functions run so, whose last bits may differ from NumPy's: an array
shall give the same as its neighbours do.  Versions with NumPy's bits leave such calls to NumPy,
which adds up an array that is not aligned in another order than its copy.

No caller sees a copy.  What machine code has written is copied back when it ends; where it is left
on the way, the copies are dropped and Python runs the whole call on the arguments themselves.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refusal
from npcompile.graph.types import Array, Scalar
from npcompile.guards.kinds import Guard, IdentityGuard, RelationGuard
from npcompile.guards.sources import AddressOf, Arg, Item, Leaf, Roots, Source, is_given
from npcompile.program.results import ItemsResult, ParamResult, Result, ViewResult
from npcompile.runtime.entry import fp_warnings
from npcompile.runtime.entry.executables import FLAGS, MISS, Left
from npcompile.runtime.entry.held_objects import REACH, held, reached
from npcompile.runtime.entry.leaf_matching import CONTAINERS, is_unaligned
from npcompile.runtime.versions.native import Native

if TYPE_CHECKING:
    from npcompile.runtime.versions.version import Version

#: attributes by which a function can tell an array from its copy
_TELLING = {"strides", "flags"}
#: types of objects that hold no container of the caller's but what is seen in them
_KNOWN = CONTAINERS | {
    np.ndarray, int, float, complex, bool, str, bytes, type(None),
    *(kind for kind in np.sctypeDict.values() if kind is not np.object_ and kind is not np.void),
}


class AlignedCopies:
    """The arguments of one call of ``function``, ``bound``, with an aligned copy in the place of
    each array that needs one.

    A container that holds such an array has a copy as well.  The arguments then hold nothing but
    numbers, strings, arrays and containers: anything else may hold the container itself.
    """

    def __init__(self, bound: dict[str, Any], function: FunctionType) -> None:
        self._given, self._function = bound, function
        around = reached(bound)
        self._deep = len(around) < REACH and all(type(value) in _KNOWN for value in around)
        self._copies: dict[int, Any] = {}
        self.bound = {name: self._copy(value) for name, value in bound.items()}
        self._copied = any(self._copies.get(id(v), v) is not v
                           for v in around if type(v) in CONTAINERS)
        self._originals = {id(copy): value for value in around
                           if (copy := self._copies.get(id(value), value)) is not value}
        self._saved: list[tuple[np.ndarray, np.ndarray]] = []
        self._written: list[tuple[np.ndarray, np.ndarray]] = []

    def _copy(self, value: Any) -> Any:
        """The copy of an object, or the object itself if it needs none; an object that arguments
        hold twice has one copy."""
        if id(value) not in self._copies:
            made = value
            if is_unaligned(value):
                made = value.copy(order="K")
                made.setflags(write=value.flags.writeable)
            elif self._deep and type(value) in CONTAINERS:
                made = self._container(value)
            self._copies[id(value)] = made
        return self._copies[id(value)]

    def _container(self, value: Any) -> Any:
        """A container of what stands in the places of its items; itself if they do."""
        before = value.copy() if type(value) is dict else [*value]  # other threads may change it
        items = [self._copy(item) for item in held(before)]
        if all(map(operator.is_, items, held(before))):
            return value
        return dict(zip(before, items)) if type(value) is dict else type(value)(items)

    def refusal(self, version: Version) -> Refusal | None:
        """Why a version can't run on the copies; None: it can."""
        trace = version.trace
        if trace.exact:
            why = "and all that is done with them has NumPy's bits"
        elif not self._computes(version):
            why = "and the function does more than to compute"
        elif self._copied and any(map(_compares, trace.guards)):
            why = "and what holds them is compared with other objects"
        elif any(self._holds(version, p) for p in _parts(version.executable.program.result)):
            why = "and the function returns views of them"
        elif not all(self._apart(version, given) for given, _ in self._stored(version)):
            why = "and what is written shares memory"
        else:
            return None
        return Refusal("arguments", f"arrays are not aligned, {why}")

    def _computes(self, version: Version) -> bool:
        """Whether a run of a version does nothing but compute from its arguments' elements: it can
        be made anew in Python, and nobody keeps an array of it or looks at its layout."""
        from npcompile.program.stored import stores

        trace, made, function = version.trace, version.executable, self._function
        codes = [function.__code__, *(c for guard in trace.guards for c in _codes(guard.value))]
        return (
            isinstance(made, Native)
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
        given, copy = self._both(version, base.index)
        return given is not copy

    def _both(self, version: Version, leaf: int) -> tuple[Any, Any]:
        """What a leaf is in the arguments, and what is in its place."""
        source = version.trace.leaves[leaf].source
        given, copied = (Roots(self._function, bound) for bound in (self._given, self.bound))
        return given.value(source), copied.value(source)

    def _stored(self, version: Version) -> list[tuple[np.ndarray, np.ndarray]]:
        """The arrays that a version writes, and what is in their places."""
        return [self._both(version, k) for k in sorted(version.trace.written)]

    def _apart(self, version: Version, array: np.ndarray) -> bool:
        """Whether an array that is written shares memory with no other one, nor with itself."""
        leaves = [self._both(version, k)[0] for k in range(len(version.trace.leaves))]
        others = [v for v in leaves if isinstance(v, np.ndarray) and v is not array]
        return not (_overlaps_itself(array) or any(np.may_share_memory(array, o) for o in others))

    def run(
        self, version: Version, leaves: tuple[Any, ...], python: Callable[[], Any],
        count: Callable[[Left], None],
    ) -> Any:
        """The result of a call that a version takes with these leaves, or that of ``python``, which
        makes the same call there; ``count`` is told of an exit before."""
        self._save(version)
        try:
            result = version.run(tuple(self.bound.values()), leaves)
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
        self._written = self._stored(version)
        self._saved = [(given, given.copy()) for given, copy in self._written if given is copy]

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
        for given, copy in self._written:
            if given is not copy:
                given[...] = copy

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
    """Whether a leaf is a number, or an array that is an argument or stands in a container."""
    if not isinstance(leaf.type, Array):
        return isinstance(leaf.type, Scalar) and not isinstance(leaf.source, AddressOf)
    source: Source | None = leaf.source
    while isinstance(source, Item):
        source = source.base
    return isinstance(source, Arg)


def _compares(guard: Guard) -> bool:
    """Whether a guard compares a container that is an argument with an object that may be it."""
    if isinstance(guard, RelationGuard):
        return not (is_given(guard.source) and is_given(guard.value))
    given = isinstance(guard, IdentityGuard) and is_given(guard.source)
    return given and type(guard.value) in CONTAINERS


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
