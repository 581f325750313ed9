"""Where CPython and NumPy keep the fields that machine code reads.

Nothing here is taken on trust: each offset is *found*, by searching objects whose contents are
known.  Where the search does not end in exactly one place (another CPython, a free-threaded
build), :func:`layout` is None and calls stay in Python.
"""

from __future__ import annotations

import ctypes
import gc
import platform
import sys
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from types import CellType
from typing import Any

import numpy as np

from npcompile.backends.target import here
from npcompile.core.config import tries_platform
from npcompile.core.records import record

ELSIZE = 40  #: of PyArray_Descr since NumPy 2; recycled memory is used where it holds


@record
class Layout:
    """Offsets in bytes from the start of an object."""

    type: int  #: of every object: its class
    data: int  #: ndarray: address of the first element
    ndim: int  #: ndarray: int32
    dims: int  #: ndarray: pointer to the lengths; that to the strides comes ``strides``
    strides: int
    descr: int
    flags: int  #: ndarray: int32
    type_number: int  #: dtype: int32
    byte_order: int  #: dtype: one character
    metadata: int  #: dtype: pointer, usually NULL
    float_value: int
    complex_value: int
    scalar_value: int  #: NumPy scalars of every numeric dtype
    tuple_items: int
    tuple_size: int
    list_items: int  #: pointer to its items
    cell_contents: int
    func_code: int
    func_defaults: int
    func_kwdefaults: int
    dict_version: int | None  #: a word that changes whenever the dict does
    type_version: int | None  #: half a word that changes whenever a class or a base of it does
    dict_keys: int | None  #: pointer to its table of keys, see :class:`KeyTable`
    type_flags: int  #: of a class


class UnknownLayout(Exception):
    """A field is nowhere, or in more than one place."""


@cache
def layout() -> Layout | None:
    """The layout of this interpreter's objects, or None if it is not understood."""
    if sys.implementation.name != "cpython" or sys.byteorder != "little":
        return None
    if "free-threading" in sys.version:
        return None
    try:
        return _probe()
    except UnknownLayout:
        return None


_VERSIONS = ((3, 11), (3, 12), (3, 13))  #: of CPython, whose bytecode is followed


#: systems that the tests have run on
_SYSTEMS = ("linux",)


@cache
def supported() -> bool:
    """Whether entries work here: on a known machine, with objects of a known layout."""
    return not _hindrance()


def proven() -> bool:
    """Whether the tests have run on such a machine and system, not in an emulator."""
    return here().proven and sys.platform in _SYSTEMS


def unsupported() -> str:
    """Says on which machine, with which Python and NumPy, calls cannot be machine code, and why."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    where = f"{platform.machine()} with {python} and NumPy {np.__version__}"
    return f"calls can't be machine code on {where}: {_hindrance()}"


def _hindrance() -> str:
    """Why calls can't be machine code; empty if they can."""
    tries = tries_platform()
    first, last = (".".join(map(str, _VERSIONS[k])) for k in (0, -1))
    if sys.implementation.name != "cpython":
        return "it is not CPython"
    if "free-threading" in sys.version:
        return "this Python has no GIL"
    if sys.version_info[:2] not in _VERSIONS:
        return f"CPython {first} to {last} are served"
    if not (2, 3) <= tuple(map(int, np.__version__.split(".")[:2])) < (3, 0):
        return "NumPy 2.3 and later ones before 3 are served"
    if not here().runs:
        return "such processors are not served"
    if sys.platform not in _SYSTEMS and not tries:
        return (f"the tests have not run on {sys.platform} yet (NPCOMPILE_PLATFORM=try compiles"
                " there, and `python -m npcompile selftest --device cpu` tells whether it works)")
    return "" if layout() is not None else "objects have an unknown layout"


def _bytes(thing: object) -> bytes:
    return ctypes.string_at(id(thing), type(thing).__basicsize__)


def _find(samples: Iterable[tuple[object, bytes]], step: int = 8) -> int:
    """The only offset at which every sample object holds its expected bytes."""
    common: set[int] | None = None
    for thing, expected in samples:
        memory, here = _bytes(thing), set()
        offset = memory.find(expected)
        while offset >= 0:
            if offset % step == 0:
                here.add(offset)
            offset = memory.find(expected, offset + 1)
        common = here if common is None else common & here
    if common is None or len(common) != 1:
        raise UnknownLayout(f"{len(common or ())} places")
    return common.pop()


def _word(value: int) -> bytes:
    return value.to_bytes(8, "little")


def _half(value: int) -> bytes:
    return value.to_bytes(4, "little", signed=True)


def _pointer(thing: object) -> bytes:
    return _word(id(thing))


def _probe() -> Layout:
    dims, strides = _dims()
    return Layout(
        type=_find((thing, _pointer(type(thing))) for thing in (1.5, np.zeros(2), object())),
        dims=dims,
        strides=strides,
        tuple_items=_tuple_items(),
        tuple_size=_find((thing, _word(len(thing))) for thing in ((1,) * 7, (1,) * 29)),
        list_items=_list_items(),
        dict_version=_dict_version(),
        type_version=_type_version(),
        dict_keys=_dict_keys(),
        type_flags=_find((cls, _word(cls.__flags__)) for cls in (int, list, np.ndarray, _Sample)),
        **_array_fields(),
        **_dtype_fields(),
        **_number_fields(),
        **_function_fields(),
    )


def _array_fields() -> dict[str, int]:
    arrays = [np.zeros((2, 3, 4, 5, 6), "i2"), np.zeros((), "f4"), np.zeros((3, 5), order="F")]
    arrays.append(np.zeros((7, 9, 4))[:, ::2, 1])
    return {
        "data": _find((a, _word(a.__array_interface__["data"][0])) for a in arrays),
        "ndim": _find(((a, _half(a.ndim)) for a in arrays), 4),
        "descr": _find((a, _pointer(a.dtype)) for a in arrays),
        "flags": _find(((a, _half(a.flags.num)) for a in arrays), 4),
    }


def _dims() -> tuple[int, int]:
    """Lengths and strides are one block of memory, so their addresses differ by 8 * ndim."""
    a = np.zeros((2, 3, 5))[:, :, ::2]
    words = memoryview(_bytes(a)).cast("Q")
    found = [
        k for k in range(len(words) - 1) if words[k] and words[k + 1] == words[k] + 8 * a.ndim
    ]
    if len(found) != 1:
        raise UnknownLayout("dimensions")
    numbers = (ctypes.c_int64 * (2 * a.ndim)).from_address(words[found[0]])
    if tuple(numbers) != a.shape + a.strides:
        raise UnknownLayout("dimensions")
    return 8 * found[0], 8 * found[0] + 8


def _dtype_fields() -> dict[str, int]:
    swapped, plain = np.dtype(">f8"), [np.dtype(c) for c in "?bHilfdFD"]
    about = {"unit": "metre"}
    noted = np.dtype("f8", metadata=about)
    (held,) = gc.get_referents(noted.metadata)
    orders = [(swapped, b">"), (np.dtype("f8"), b"="), (np.dtype("i1"), b"|")]
    metadata = _find([(noted, _pointer(held))])
    if any(_bytes(d)[metadata : metadata + 8] != _word(0) for d in (*plain, swapped)):
        raise UnknownLayout("metadata")
    return {
        "type_number": _find(((d, _half(d.num)) for d in plain), 4),
        "byte_order": _find(orders, 1),
        "metadata": metadata,
    }


def _number_fields() -> dict[str, int]:
    scalars = [np.dtype(c).type(77) for c in "bBhHiIlLqQefdFD"] + [np.True_]
    return {
        "float_value": _find((x, np.float64(x).tobytes()) for x in (1.25, -7e300)),
        "complex_value": _find((x, np.complex128(x).tobytes()) for x in (1.25 + 3j, -7e300j)),
        "scalar_value": _find((x, x.tobytes()) for x in scalars),
    }


def _tuple_items() -> int:
    items = tuple(object() for _ in range(3))
    memory = ctypes.string_at(id(items), tuple.__basicsize__ + 8 * len(items))
    offset = memory.find(b"".join(map(_pointer, items)))
    if offset < 0 or offset % 8:
        raise UnknownLayout("tuple")
    return offset


def _list_items() -> int:
    """The only address in a list at which its items are."""
    it = [object() for _ in range(3)]
    found = [8 * k for k, w in enumerate(memoryview(_bytes(it)).cast("Q"))
             if w > 64 and w != id(list) and ctypes.string_at(w, 24) == b"".join(map(_pointer, it))]
    if len(found) != 1:
        raise UnknownLayout("list")
    return found[0]


class _Sample:
    pass


def _functions() -> list[Any]:
    def one(a: int = 1, *, b: int = 2) -> None: ...

    def two(a: str = "x", *, b: str = "y", c: int = 3) -> None: ...

    return [one, two]


def _function_fields() -> dict[str, int]:
    functions = _functions()
    cells = [CellType(object()), CellType("contents")]
    return {
        "func_code": _find((f, _pointer(f.__code__)) for f in functions),
        "func_defaults": _find((f, _pointer(f.__defaults__)) for f in functions),
        "func_kwdefaults": _find((f, _pointer(f.__kwdefaults__)) for f in functions),
        "cell_contents": _find((c, _pointer(c.cell_contents)) for c in cells),
    }


def _type_version() -> int | None:
    """The one number of a class that is another one after each change of it or of its base, once
    something has been looked up."""
    base: Any = type("Base", (), {})
    kind: Any = type("Kind", (base,), {})
    seen: list[memoryview] = []
    for changed in (kind, base, kind, base):
        changed.changed = len(seen)
        if not hasattr(kind, "changed"):  # a look-up
            return None
        seen.append(memoryview(_bytes(kind)).cast("I"))
        if seen[-1] != memoryview(_bytes(kind)).cast("I"):
            return None
    found = [  # numbers are handed out one after the other; how many a class has had is a short
        4 * k for k, numbers in enumerate(zip(*seen))
        if numbers[0] and all(0 < b - a < 2**16 for a, b in pairwise(numbers))
    ]
    return found[0] if len(found) == 1 and not found[0] % 8 else None


def _dict_version() -> int | None:
    """The one word that every change of a dict changes (PEP 509), up to CPython 3.13."""
    table: dict[str, object] = {"a": 1, "b": 2}
    changes: list[Callable[[], object]] = [
        lambda: table.__setitem__("a", 3),
        lambda: table.update(b=4),
        lambda: table.__setitem__("a", 1),
    ]
    common = set(range(0, dict.__basicsize__, 8))
    seen: dict[int, set[bytes]] = {offset: set() for offset in common}
    for change in changes:
        before = _bytes(table)
        if before != _bytes(table):
            return None
        change()
        after = _bytes(table)
        common = {k for k in common if before[k : k + 8] != after[k : k + 8]}
        for offset in common:
            seen[offset].add(after[offset : offset + 8])
    if len(common) != 1:
        return None
    (offset,) = common
    return offset if len(seen[offset]) == len(changes) else None


class UfuncHead(ctypes.Structure):
    """The head of NumPy's ufunc objects (numpy/ufuncobject.h)."""

    _fields_ = (
        ("refcount", ctypes.c_ssize_t), ("type", ctypes.c_void_p),
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int), ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)), ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int), ("name", ctypes.c_void_p), ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p), ("pointer", ctypes.c_void_p), ("object", ctypes.c_void_p),
        ("user_loops", ctypes.c_void_p), ("core_enabled", ctypes.c_int),
        ("core_dimensions", ctypes.c_int), ("core", ctypes.c_void_p * 4),
        ("type_resolver", ctypes.c_void_p),
    )


class KeyTable(ctypes.Structure):
    """The head of CPython's PyDictKeysObject; 2**log2_index_bytes bytes of hash table and then
    the entries come after it.

    ``version`` is a number of its own for each set of keys, or 0; giving keys another value leaves
    it as it is, adding and deleting keys does not.
    """

    _fields_ = (
        ("refcount", ctypes.c_ssize_t),
        ("log2_size", ctypes.c_uint8),
        ("log2_index_bytes", ctypes.c_uint8),
        ("kind", ctypes.c_uint8),
        ("version", ctypes.c_uint32),
        ("usable", ctypes.c_ssize_t),
        ("entries", ctypes.c_ssize_t),
    )

    def value_addresses(self) -> dict[int, int]:
        """Where the value of each key is, by the key's id.  Only for tables of strings."""
        first = ctypes.addressof(self) + ctypes.sizeof(self) + (1 << self.log2_index_bytes)
        words = (ctypes.c_uint64 * (2 * self.entries)).from_address(first)
        return {words[k]: first + 8 * k + 8 for k in range(0, len(words), 2) if words[k + 1]}


STRING_KEYS = 1  #: the kind of a table that has nothing but strings as keys


def key_table(table: dict[str, Any], offset: int) -> KeyTable:
    """The table of keys that a dict has now."""
    return KeyTable.from_address(ctypes.c_uint64.from_address(id(table) + offset).value)


def _dict_keys() -> int | None:
    """Where a dict has the pointer to its keys, if they are laid out as in :class:`KeyTable`."""
    offset = dict.__basicsize__ - 16  # the values of a split table come last
    for count in (1, 5, 300):
        table: dict[str, object] = {f"name{k}": object() for k in range(count)}
        before = _bytes(table)
        keys = int.from_bytes(before[offset : offset + 8], "little")
        if before[offset + 8 :] != _word(0) or keys == 0 or keys % 8:
            return None
        found = key_table(table, offset)
        if (found.refcount, found.kind, found.entries) != (1, STRING_KEYS, count):
            return None
        if not count <= 1 << found.log2_size <= 4 * count + 8:
            return None
        expected = {id(key): id(value) for key, value in table.items()}
        addresses = found.value_addresses()
        if {k: ctypes.c_uint64.from_address(a).value for k, a in addresses.items()} != expected:
            return None
    return offset
