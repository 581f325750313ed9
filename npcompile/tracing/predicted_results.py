"""Predicts results of library functions by calling them on small operands.

Every size that the call depends on gets a small number of its own, so that the lengths in the
result tell which sizes they are made of; several trials with other numbers and other contents tell
what is certain.  Where contents decide about a length, only the run knows it.  The prediction is
checked at each call, so it need not be right: it must be right nearly always.
"""

from __future__ import annotations

import copy
import enum
import pickle
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.records import field, record
from npcompile.core.sections import from_handler
from npcompile.core.sizes import Size, Symbol, evaluate
from npcompile.core.tuples import reads_as_tuple
from npcompile.core.warned import all_warnings
from npcompile.graph.ir import Node, Param
from npcompile.graph.types import PYTHON, SUPPORTED, Scalar
from npcompile.guards.class_hooks import classes_of_users, own
from npcompile.ops.foreign import GENERATORS, Foreign
from npcompile.ops.operands import ArrayRef, Tensor
from npcompile.python.composite import Reader
from npcompile.python.values import Value, Vector, assembled, described

if TYPE_CHECKING:
    from npcompile.python.composite import Composite
    from npcompile.python.values import HeapObject, Object, Sequence, Static, TensorValue
    from npcompile.tracing.services import Tracer

#: elements of an array that a function is tried out on; some take time for each, or worse
LARGEST = 1 << 20
#: numbers for sizes, one column per round; differences of two are other ones, too
_SMALL = [(7, 10), (12, 6), (5, 14), (13, 9), (17, 22), (19, 16), (24, 26), (29, 21), (31, 38)]
_LARGE = 64  # constants from here on get small numbers in trials
#: which sizes are told apart: all; those that differ at hand; and those that are small are kept
_SCHEMES = ("distinct", "small", "hinted")
_FILLS = ("various", "fractions", "ones", "zeros")
_NOT_ZERO = ("various", "ones")  # fractions of integers are
_AS_THEY_ARE = (
    int, float, complex, str, bytes, type(None), type, np.dtype, np.generic, enum.Enum, ModuleType,
)


@record(eq=False, frozen=False)
class Shape:
    """What a result looks like.

    ``kind``: array, tensor, number, none, sequence or object; ``type`` is its class (the Scalar of
    a number); ``sizes`` are an array's lengths, None where only the run knows, and ``steps`` its
    strides in elements, if it is not contiguous; ``sample`` is an object of its kind.
    """

    kind: str
    type: Any
    dtype: Any = None
    order: str = "C"
    sizes: tuple[Size | None, ...] = ()
    steps: tuple[Size, ...] = ()
    items: tuple[Shape, ...] = ()
    sample: Any = None


@record(eq=False, frozen=False)
class Sample(Reader[Any]):
    """Numbers for one trial: ``scheme`` says which sizes may be told apart."""

    t: Tracer
    scheme: str
    round: int
    fill: str
    numbers: dict[object, int] = field(default_factory=dict)
    candidates: dict[Size, int] = field(default_factory=dict)  # sizes of operands -> numbers here
    arrays: list[tuple[Any, Any]] = field(default_factory=list)  # operands, and what they held
    lists: list[tuple[Any, Any]] = field(default_factory=list)  # and those that are lists, as text
    objects: list[tuple[Any, bytes]] = field(default_factory=list)  # others, and as they were

    def number(self, key: object, hint: int | None) -> int:
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = self._new(hint)
        return found

    def _new(self, hint: int | None) -> int:
        if self.scheme == "hinted" and hint is not None:
            return hint if hint < _LARGE else _LARGE + len(self.numbers)
        if self.scheme == "small" and hint is not None:
            if 0 <= hint <= 4:
                return hint
            key = ("hint", hint)
            if key in self.numbers:
                return self.numbers[key]
            self.numbers[key] = self._small()
            return self.numbers[key]
        return self._small()

    def _small(self) -> int:
        return _SMALL[len(self.numbers) % len(_SMALL)][self.round] + len(self.numbers) // 9

    def size(self, size: Size) -> int:
        size = self.t.facts.norm(size)
        found = evaluate(size, self._symbol)
        if not isinstance(size, int):
            self.candidates[size] = found
        return found

    def _symbol(self, name: Symbol) -> int:
        if name in self.t.facts.ranges:  # the index of a loop
            return self.numbers.setdefault(name, 1 + self.round)
        return self.number(name, name.hint)

    # ------------------------------------------------------------------ operands

    def sample(self, value: Value) -> Any:
        """Something that looks like a value."""
        return self.read(value)

    def refused(self, value: Value) -> Any:
        raise self.t.refuse("argument", f"{described(value)} of a library function")

    def read_object(self, value: Object) -> Any:
        return self._object(value.sample)

    def read_tuple(self, value: Sequence) -> Any:
        if own(value.kind):
            return self.refused(value)
        return assembled(value.kind, [self.sample(item) for item in value.items])

    def read_tensor(self, value: TensorValue) -> Any:
        return Tensor(self.sample(value.memory))

    def read_list(self, value: HeapObject) -> Any:
        made = [self.sample(item) for item in contents(self.t, value)]
        self.lists.append((made, repr(made)))
        return made

    def read_dict(self, value: HeapObject) -> Any:
        return {key: self.sample(item) for key, item in contents(self.t, value).items()}

    def read_built(self, value: Composite) -> Any:
        return value.builds(*map(self.sample, value.parts()))

    def read_constant(self, value: Static) -> Any:
        held = value.value
        if type(held) is not int or held < _LARGE:
            return self._object(held)
        small = self.candidates[held] = self.number(("constant", held), held)
        return small

    def _object(self, held: Any) -> Any:
        """A copy of an object, which the function may change: draws may, others must not."""
        if type(held) in GENERATORS:
            return copy.deepcopy(held)
        if issubclass(type(held), _AS_THEY_ARE) and not own(type(held)):
            return held
        try:
            users = classes_of_users(held)
            if users:
                name = users[0].__name__
                raise self.t.refuse("argument", f"a {name}, whose code may do anything")
            made = copy.deepcopy(held)
            if made is not held:
                self.objects.append((made, pickle.dumps(made)))
        except Refused:
            raise
        except Exception as error:  # whatever the object's own methods raise
            if from_handler(error):
                raise
            raise self.t.refuse(
                "argument", f"a {type(held).__name__} that can't be copied: {error}") from error
        return made

    def read_number(self, node: Node) -> Any:
        kind = node.type
        assert isinstance(kind, Scalar)
        size = self.t.builder.known_size(node)
        if size is not None:
            found: Any = self.size(size)
        elif isinstance(node.attrs, Param):
            found = self.t.inputs.objects[node.attrs.index]
        elif kind.dtype.kind in "iu":
            found = {"ones": 1, "zeros": 0}.get(self.fill, 2)
        else:
            found = {"ones": 1.0, "zeros": 0.0}.get(self.fill, 0.5)
        return kind.python_type(found) if kind.origin == "py" else kind.dtype.type(found)

    def read_array(self, ref: ArrayRef) -> Any:
        shape = tuple(max(self.size(n), 0) for n in ref.shape)
        norm = self.t.facts.norm
        fortran = ref.ndim > 1 and norm(ref.steps[0]) == 1 and norm(ref.steps[-1]) != 1
        made = np.empty(shape, ref.dtype, order="F" if fortran else "C")
        made[...] = _contents(shape, ref.dtype, self.fill)
        self.arrays.append((made, made.copy()))
        return made


def contents(t: Tracer, obj: HeapObject) -> Any:
    """What a list or dictionary holds that a library function gets."""
    held = t.heap.get(obj)
    if held is None or isinstance(held, Vector):
        raise t.refuse("argument", "a list of a length that only the run knows")
    return held


def _contents(shape: tuple[int, ...], dtype: np.dtype[Any], fill: str) -> Any:
    count = prod(shape)
    if count > LARGEST:
        raise _Failed("an array of so many axes is too large to try out")
    if fill in ("ones", "zeros"):
        return int(fill == "ones")
    if fill == "fractions":
        return 1.0 / max(shape[-1] if shape else 1, 1)
    if dtype.kind == "b":
        return (np.arange(count) % 2).reshape(shape)
    if dtype.kind in "iu":  # indices, as far as that goes
        return np.arange(count).reshape(shape) % 5
    made = 0.25 + (np.arange(count) * 0.37) % 1.0
    made = made.reshape(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:  # a matrix that is easy to decompose
        made = (made + np.swapaxes(made, -1, -2)) / 2 + np.eye(shape[-1]) * 2 * shape[-1]
    return made


# ------------------------------------------------------------------ trials


def predict(
    t: Tracer, found: Foreign, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Shape:
    """Predicts the kind of a call's result by calling the function on small samples."""
    name, function, problem = found.path, found.trial, "gives no result"
    assert function is not None
    for scheme in _SCHEMES[found.trusting :]:
        trials: list[tuple[Sample, Any]] = []
        for round_ in (0, 1):
            for fill in _NOT_ZERO if found.trusting else _FILLS:
                trial = Sample(t, scheme, round_, fill)
                try:
                    trials.append((trial, _try(t, name, trial, function, args, kwargs)))
                except _Failed as failed:
                    problem = str(failed)
                    continue
                if round_:
                    break
        if _both_rounds(trials):
            return _agreed(t, name, trials)
    raise t.refuse(name, f"what it gives can't be predicted: {problem}")


def _both_rounds(trials: list[tuple[Sample, Any]]) -> bool:
    return {trial.round for trial, _ in trials} == {0, 1}


def _agreed(t: Tracer, name: str, trials: list[tuple[Sample, Any]]) -> Shape:
    """Describes the result on which all trials agree, or else the trials with random numbers (whose
    eigenvalues, for example, are real)."""
    try:
        return _describe(t, name, [trial for trial, _ in trials], [r for _, r in trials])
    except Refused:
        likely = [(trial, r) for trial, r in trials if trial.fill == _FILLS[0]]
        if not _both_rounds(likely):
            raise
        return _describe(t, name, [trial for trial, _ in likely], [r for _, r in likely])


class _Failed(Exception):
    """A trial raised an exception."""


def _try(
    t: Tracer, name: str, trial: Sample, function: Callable[..., Any], args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> Any:
    positional = [trial.sample(a) for a in args]
    keywords = {key: trial.sample(a) for key, a in kwargs.items()}
    shared: Any = np.random.get_state() if name.startswith("scipy.") else None
    try:
        # zeros over zeros would make LAPACK print what it thinks of NaN
        invalid: Any = "raise" if trial.fill == "zeros" else "ignore"
        with np.errstate(all="ignore", invalid=invalid), all_warnings("ignore"):
            result = function(*positional, **keywords)
    except Exception as error:
        if from_handler(error):
            raise
        raise _Failed(f"{type(error).__name__}: {error}") from None
    finally:
        drawn = shared is not None and not _same_state(shared)
        if drawn:
            np.random.set_state(shared)
    if drawn:
        raise t.refuse(name, "draws random numbers of its own")
    for array, before in trial.arrays:
        if array.tobytes() != before.tobytes():
            raise t.refuse(name, "changes its operands")
    for thing, was in trial.objects:
        if pickle.dumps(thing) != was:
            raise t.refuse(name, f"changes a {type(thing).__name__}")
    if any(repr(held) != before for held, before in trial.lists):
        raise t.refuse(name, "changes its operands")
    given = [operand for operand, _ in (*trial.arrays, *trial.lists)]
    if any(_shares(part, operand) for part in _parts(result) for operand in given):
        raise t.refuse(name, "returns one of its arguments or a view of one")
    return result


def _same_state(before: Any) -> bool:
    """Whether nobody has drawn from NumPy's shared generator."""
    after: Any = np.random.get_state()
    return all(np.array_equal(a, b) for a, b in zip(before, after))


def _parts(result: Any) -> Iterator[Any]:
    """The arrays and lists in a result."""
    if isinstance(result, (np.ndarray, list)):
        yield result
    if isinstance(result, (tuple, list)):
        for item in result:
            yield from _parts(item)


def _shares(part: Any, operand: Any) -> bool:
    if isinstance(part, list) or isinstance(operand, list):
        return part is operand
    return part is operand or bool(np.may_share_memory(part, operand))


# ------------------------------------------------------------------ what they tell


def _describe(t: Tracer, name: str, trials: list[Sample], results: list[Any]) -> Shape:
    first = results[0]
    if any(type(r) is not type(first) for r in results):
        raise t.refuse(name, "gives results of several types")
    kind = type(first)
    if kind is np.ndarray:
        return _array(t, name, trials, results)
    if first is None:
        return Shape("none", kind)
    if kind in PYTHON:
        return Shape("number", PYTHON[kind])
    if isinstance(first, np.generic) and first.dtype.char in SUPPORTED:
        return Shape("number", Scalar(first.dtype, "np"))
    if kind is Tensor:
        memory = _describe(t, name, trials, [r.memory for r in results])
        return Shape("tensor", kind, items=(memory,))
    if kind in (tuple, list) or reads_as_tuple(kind) or hasattr(kind, "n_sequence_fields"):
        if any(len(r) != len(first) for r in results):
            raise t.refuse(name, "gives a sequence of a length that only the run knows")
        items = [_describe(t, name, trials, list(column)) for column in zip(*results)]
        return Shape("sequence", kind, items=tuple(items))
    if isinstance(first, (np.ndarray, np.generic, dict, set)):
        raise t.refuse(name, f"gives a {kind.__name__}")
    return Shape("object", kind, sample=first)


def _array(t: Tracer, name: str, trials: list[Sample], results: list[Any]) -> Shape:
    first = results[0]
    if any((r.dtype, r.ndim) != (first.dtype, first.ndim) for r in results):
        raise t.refuse(name, "gives arrays of several types")
    if first.dtype.char not in SUPPORTED or not first.dtype.isnative:
        raise t.refuse(name, f"gives an array of dtype {first.dtype}")
    order = "C"
    steps: tuple[Size, ...] = ()
    if not all(r.flags.carray for r in results) or _lies_like_fortran(results):
        order = "F"
        if not all(r.flags.f_contiguous and r.flags.writeable for r in results):
            steps = _steps(t, name, trials, results)
    sizes = [
        _size(trials, [int(r.shape[axis]) for r in results]) for axis in range(first.ndim)
    ]
    return Shape("array", np.ndarray, first.dtype, order, tuple(sizes), steps)


def _steps(t: Tracer, name: str, trials: list[Sample], results: list[Any]) -> tuple[Size, ...]:
    """The strides, in elements, of arrays that are not contiguous."""
    first = results[0]
    found = [
        _size(trials, [r.strides[axis] // first.itemsize for r in results])
        for axis in range(first.ndim)
    ]
    known = tuple([step for step in found if step is not None])
    if len(known) < len(found) or not all(map(is_spread, results)):
        raise t.refuse(name, "gives an array that is not contiguous")
    return known


def is_spread(array: Any) -> bool:
    """Whether an array may be written, and each element has a place of its own: each axis steps
    over all that the ones with smaller strides span."""
    end = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape)):
        if stride < end or stride % array.itemsize:
            return False
        end = stride * size
    return bool(array.flags.writeable and array.flags.aligned and array.size)


def _lies_like_fortran(results: list[Any]) -> bool:
    """Whether arrays that may be contiguous in both orders were made in order F."""
    made = [r for r in results if r.size]
    return any(r.strides != fresh_strides(r, "C") for r in made) and all(
        r.strides == fresh_strides(r, "F") for r in made)


def fresh_strides(array: Any, order: Literal["C", "F"]) -> tuple[int, ...]:
    """The strides of a fresh array of an array's shape."""
    return np.empty(array.shape, array.dtype, order=order).strides


def _size(trials: list[Sample], lengths: list[int]) -> Size | None:
    """The size that a length is in every trial."""
    for size, numbers in _expressions(trials):
        if numbers == lengths:
            return size
    return None


def _expressions(trials: list[Sample]) -> Iterator[tuple[Size, list[int]]]:
    """Sizes that results are likely to have, with their numbers; the likeliest first."""
    plain = [
        (size, [trial.candidates.get(size, -1) for trial in trials])
        for size in trials[0].candidates
    ]
    yield from plain
    rounds = [trial.round for trial in trials]
    for constant in range(300):
        yield constant, [constant] * len(rounds)
    for extra in (1, -1, 2, -2):
        for size, numbers in plain:
            yield size + extra, [n + extra for n in numbers]
    for size, numbers in plain:
        yield size // 2 + 1, [n // 2 + 1 for n in numbers]
        yield size * 2, [n * 2 for n in numbers]
    for (a, left), (b, right) in combinations_with_replacement(plain, 2):
        for extra in (0, -1, 1):
            yield a + b + extra, [x + y + extra for x, y in zip(left, right)]
        yield a * b, [x * y for x, y in zip(left, right)]

