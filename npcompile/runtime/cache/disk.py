"""The disk cache of machine code: a folder of checked records, and stable fingerprints for keys.

::

    file   ::= magic, BLAKE2b of the rest, lengths, key, metadata (JSON, or nothing), object
    folder ::= $NPCOMPILE_CACHE_DIR | $XDG_CACHE_HOME/npcompile | ~/.cache/npcompile
             | the system's folder for such files, where it is not Linux

What is loaded from here is executed.  So the folder must be a real one, belong to this user and be
writable by nobody else; anything else is refused with a reason, and nothing is read or written.
Records are written to a temporary file and renamed, so readers and concurrent writers see whole
ones only.  A file that is not exactly what this module writes is removed and counted.

>>> import tempfile
>>> store = DiskCache(Path(tempfile.mkdtemp()) / "cache")
>>> store.put(b"key", Record(b"code", {"name": "f"}))
True
>>> store.get(b"key")
Record(object=b'code', metadata={'name': 'f'})
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from npcompile.core.aside import aside
from npcompile.core.config import Config, capability
from npcompile.core.locks import lock
from npcompile.core.records import field_names, record

try:
    from _blake2 import blake2b  # where hashlib has it, which loads OpenSSL: 4 ms
except ImportError:
    from hashlib import blake2b

CAPACITY = 512 << 20
_MAGIC = b"npcompile\x02"
_DIGEST = 32  # bytes
_HEAD = struct.Struct(f"<{len(_MAGIC)}s{_DIGEST}s")
_LENGTHS = struct.Struct("<IIQ")  # key, metadata, object
_SUFFIX, _TEMPORARY, _LOCK = ".npc", ".tmp", ".lock"
_TRIMS = 64  # looks at all files, on average, while one capacity is written: it takes long
_STALE = 3600.0  # seconds after which a temporary file or a lock is nobody's any more


Made = tuple[bytes, dict[str, Any]]  #: machine code and what belongs to it


@record
class Record:
    """``metadata`` is what JSON can hold: dicts with string keys, lists, numbers, strings."""

    object: bytes
    metadata: dict[str, Any]


@record
class DiskInfo:
    """``rejected`` counts the files that were no valid records; ``reason`` says why the folder
    is not used (empty: it is)."""

    path: Path
    reason: str
    entries: int
    bytes: int
    hits: int
    misses: int
    written: int
    rejected: int


def default_folder() -> Path:
    """The folder that the environment asks for."""
    given = os.environ.get("NPCOMPILE_CACHE_DIR")
    if given:
        return Path(given).expanduser()
    if sys.platform != "linux":
        from platformdirs import user_cache_path

        return user_cache_path("npcompile", appauthor=False)
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.cache"))
    return home / "npcompile"


_counting = lock()


class _Refused(Exception):
    """The folder can't be used, and why."""


class _Invalid(Exception):
    """A file is not a record."""


class DiskCache:
    """Records by key in one folder; the least recently used go when ``capacity`` is exceeded.

    No method raises for what the folder or its files are like: then nothing is found or kept.
    """

    def __init__(self, path: Path | str | None = None, capacity: int = CAPACITY) -> None:
        self.path = Path(path) if path is not None else default_folder()
        self.capacity = capacity
        self.reason = ""
        self._counts = dict.fromkeys(("hits", "misses", "written", "rejected"), 0)

    def get(self, key: bytes) -> Record | None:
        """The record kept under ``key``, if there is a valid one."""
        return aside(partial(self._get, key))

    def _get(self, key: bytes) -> Record | None:
        with self._folder(create=False) as folder:
            found = self._read(folder, key) if folder is not None else None
        self._count("misses" if found is None else "hits")
        return found

    def put(self, key: bytes, record: Record) -> bool:
        """Keep a record; whether that went well."""
        return aside(partial(self._put, key, record))

    def _put(self, key: bytes, record: Record) -> bool:
        metadata = _written(record.metadata)
        lengths = _LENGTHS.pack(len(key), len(metadata), len(record.object))
        body = lengths + key + metadata + record.object
        content = _HEAD.pack(_MAGIC, digest(body)) + body
        with self._folder(create=True) as folder:
            if folder is None or len(content) > self.capacity:
                return False
            try:
                _write(folder, _file_name(key), content)
                if _chance(_TRIMS * len(content) / self.capacity):
                    self._trim(folder)
            except OSError as error:
                self.reason = f"{self.path} can't be written: {error.strerror}"
                return False
        self._count("written")
        return True

    @contextmanager
    def making(self, key: bytes) -> Iterator[bool]:
        """While the record of ``key`` is made: whether another process has just made it, or has
        tried; see :mod:`.filelocks`."""
        with self._folder(create=True) as folder:
            if folder is None:
                yield False
                return
            from npcompile.runtime.cache import filelocks  # only who compiles needs them

            with filelocks.alone(folder, _file_name(key) + _LOCK) as waited:
                yield waited

    def clear(self) -> None:
        """Remove all records."""
        with self._folder(create=False) as folder:
            if folder is not None:
                for name, _ in _files(folder):
                    _remove(folder, name)

    def info(self) -> DiskInfo:
        """Counts the records on disk and how this object has used them."""
        with self._folder(create=False) as folder:
            sizes = [s.st_size for _, s in _files(folder)] if folder is not None else []
        return DiskInfo(self.path, self.reason, len(sizes), sum(sizes), **self._counts)

    # ------------------------------------------------------------------ inside

    def _count(self, what: str) -> None:
        with _counting:
            self._counts[what] += 1

    @contextmanager
    def _folder(self, create: bool) -> Iterator[int | None]:
        """A descriptor of the folder, checked; None (and a reason) if it can't be used."""
        descriptor, self.reason = None, ""
        try:
            descriptor = _open_folder(self.path, create)
        except _Refused as refused:
            self.reason = str(refused)
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _read(self, folder: int, key: bytes) -> Record | None:
        name = _file_name(key)
        try:
            content = _content(folder, name, self.capacity)
            record = _decode(content, key)
        except FileNotFoundError:
            return None
        except (_Invalid, OSError):
            _remove(folder, name)
            self._count("rejected")
            return None
        _touch(folder, name)
        return record

    def _trim(self, folder: int) -> None:
        """Remove the least recently used records until the rest takes 90 % of the capacity."""
        files = sorted(_files(folder), key=lambda item: item[1].st_mtime_ns, reverse=True)
        total, full = 0, sum(s.st_size for _, s in files) > self.capacity
        for name, status in files:
            total += status.st_size
            if full and total > 0.9 * self.capacity:
                _remove(folder, name)


def _chance(probability: float) -> bool:
    return int.from_bytes(os.urandom(4), "little") < probability * 2**32


def digest(data: bytes) -> bytes:
    """A hash that names data: nobody finds others with the same."""
    return blake2b(data, digest_size=_DIGEST).digest()


def _file_name(key: bytes) -> str:
    return digest(key).hex() + _SUFFIX


def _open_folder(path: Path, create: bool) -> int | None:
    if os.open not in os.supports_dir_fd or not hasattr(os, "geteuid"):
        raise _Refused("this system has no file owners that can be checked")
    try:
        if create:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _Refused(f"{path} is no folder to be used: {error.strerror}") from error
    status = os.fstat(descriptor)
    reason = ""
    if status.st_uid != os.geteuid():
        reason = f"{path} belongs to another user"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"{path} can be written by others"
    if reason:
        os.close(descriptor)
        raise _Refused(reason)
    return descriptor


def _content(folder: int, name: str, capacity: int) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=folder), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise _Invalid("no file of this user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or status.st_size > capacity:
            raise _Invalid("writable by others, or too large")
        return file.read(status.st_size)


def _decode(content: bytes, key: bytes) -> Record:
    start = _HEAD.size + _LENGTHS.size
    if len(content) < start:
        raise _Invalid("too short")
    magic, known = _HEAD.unpack_from(content)
    if magic != _MAGIC or digest(content[_HEAD.size :]) != known:
        raise _Invalid("another format, or damaged")
    lengths = _LENGTHS.unpack_from(content, _HEAD.size)
    if start + sum(lengths) != len(content):
        raise _Invalid("lengths don't add up")
    middle, end = start + lengths[0], start + lengths[0] + lengths[1]
    if content[start:middle] != key:
        raise _Invalid("of another key")
    return Record(content[end:], _metadata(content[middle:end]))


def _written(metadata: dict[str, Any]) -> bytes:
    if not metadata:
        return b""
    import json  # few records have any

    return json.dumps(metadata, allow_nan=False, separators=(",", ":")).encode()


def _metadata(written: bytes) -> dict[str, Any]:
    if not written:
        return {}
    import json

    try:
        found = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise _Invalid("metadata is no JSON") from error
    if not isinstance(found, dict):
        raise _Invalid("metadata is no dict")
    return found


def _write(folder: int, name: str, content: bytes) -> None:
    temporary = f"{os.urandom(16).hex()}{_TEMPORARY}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        _remove(folder, temporary)
        raise


def _remove(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass  # another process was faster
    except IsADirectoryError:
        os.rename(name, name + ".not-a-file", src_dir_fd=folder, dst_dir_fd=folder)


def _touch(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):  # trimmed by another process meanwhile
        os.utime(name, dir_fd=folder, follow_symlinks=False)


def _files(folder: int) -> list[tuple[str, os.stat_result]]:
    """The records; removes temporary files and locks that no process holds any more."""
    found = []
    for name in os.listdir(folder):
        if not name.endswith((_SUFFIX, _TEMPORARY, _LOCK)):
            continue
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if name.endswith(_SUFFIX):
            found.append((name, status))
        elif time.time() - status.st_mtime > _STALE:
            _remove(folder, name)
    return found


# ------------------------------------------------------------------ fingerprints


def fingerprint(*parts: object) -> str:
    """A hash of values that is the same in every process.

    Knows constants, containers, dtypes, NumPy numbers, data classes, code objects (constants and
    nested code included) and functions (code, constant defaults and closure values; of other
    values there only the type counts).  Classes, modules and built-in functions go by name.

    >>> fingerprint(1, "a") == fingerprint(1, "a") != fingerprint(1.0, "a")
    True
    """
    encoder = _Encoder()
    encoder.sequence("parts", parts)
    return encoder.digest.hexdigest()


class _Encoder:
    """Feeds a hash with values: a tag, a length, and the bytes or the items."""

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=_DIGEST)
        self._open: list[int] = []

    def add(self, tag: str, data: bytes = b"") -> None:
        self.digest.update(f"{tag}:{len(data)}:".encode() + data)

    def sequence(self, tag: str, items: Any) -> None:
        items = list(items)
        self.add(f"{tag}[{len(items)}]")
        for item in items:
            self.value(item)

    def value(self, value: Any) -> None:
        if id(value) in self._open:
            self.add("cycle", str(len(self._open) - self._open.index(id(value))).encode())
            return
        self._open.append(id(value))
        try:
            self._value(value)
        finally:
            self._open.pop()

    def _value(self, value: Any) -> None:
        plain = _PLAIN.get(type(value))
        if plain is not None:
            self.add(type(value).__name__, plain(value))
        elif type(value) in (tuple, list):
            self.sequence(type(value).__name__, value)
        elif type(value) is dict:
            self.sequence("dict", [part for item in value.items() for part in item])
        elif type(value) in (set, frozenset):
            self.sequence("set", sorted(fingerprint(item) for item in value))
        elif isinstance(value, CodeType):
            self.sequence("code", [getattr(value, name) for name in _CODE])
        elif type(value) is FunctionType:
            self._function(value)
        elif isinstance(value, np.dtype):
            self.sequence("dtype", [value.str, value.char, value.itemsize, repr(value)])
        elif isinstance(value, np.generic):
            self.sequence("number", [value.dtype, value.tobytes()])
        elif isinstance(value, slice):
            self.sequence("slice", [value.start, value.stop, value.step])
        elif isinstance(value, type):
            from npcompile.guards.class_hooks import looks

            self.sequence("class", [*_name(value), *looks(value)])
        elif isinstance(value, (BuiltinFunctionType, np.ufunc, ModuleType)):
            self.sequence("named", _name(value))
        elif (own := field_names(value)) is not None:
            items = [getattr(value, name) for name in own]
            self.sequence("data", [*_name(type(value)), *items])
        else:
            raise TypeError(f"a {type(value).__name__} has no fingerprint")

    def _function(self, function: FunctionType) -> None:
        self.add("function")
        self.value(function.__qualname__)  # what decorators make shares its code
        self.value(function.__code__)
        cells = function.__closure__ or ()
        for value in (
            *(function.__defaults__ or ()),
            *(part for item in (function.__kwdefaults__ or {}).items() for part in item),
            *(_contents(cell) for cell in cells),
        ):
            self._constant(value)

    def _constant(self, value: Any) -> None:
        """A value if it is constant, else its type."""
        if issubclass(
            type(value), (*_PLAIN, np.generic, np.dtype, FunctionType, type, ModuleType)
        ):
            self.value(value)
        elif type(value) in (tuple, frozenset):
            self.add(f"constants[{len(value)}]")
            for item in value if type(value) is tuple else sorted(value, key=repr):
                self._constant(item)
        else:
            self.sequence("of type", _name(type(value)))


def _name(value: Any) -> tuple[str, str]:
    module = getattr(value, "__module__", None) or ""
    return str(module), getattr(value, "__qualname__", value.__name__)


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return CellType


_PLAIN: dict[type, Any] = {
    type(None): lambda v: b"",
    type(...): lambda v: b"",
    bool: lambda v: b"%d" % v,
    int: lambda v: b"%x" % v,
    float: lambda v: struct.pack("<d", v),
    complex: lambda v: struct.pack("<dd", v.real, v.imag),
    str: lambda v: v.encode("utf-8", "surrogatepass"),
    bytes: bytes,
    range: lambda v: b"%x %x %x" % (v.start, v.stop, v.step),
}

#: what the meaning of a code object depends on, and its lines, which messages name
_CODE = (
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_exceptiontable",
    "co_qualname",
    "co_firstlineno",
    "co_linetable",
)


def configuration(config: Config) -> str:
    """The fingerprint of a configuration."""
    return fingerprint(config)


def environment(request: str | None = None) -> str:
    """The fingerprint of what machine code depends on: Python, NumPy, this package's source, the
    processor, and the features of it that ``request`` (None: ``NPCOMPILE_CPU_CAPABILITY``) asks
    for.
    """
    return _environment(capability() if request is None else request)


@cache
def _environment(request: str) -> str:
    from npcompile.backends.cpu.loader.cache_sizes import near_here
    from npcompile.backends.cpu.loader.compile import target
    from npcompile.runtime.unsafe.processor import identity

    known = identity()  # what the target follows from; to ask LLVM takes longer
    processor = (request, known, near_here()) if known is not None else target(request)
    return fingerprint(sys.version, sys.platform, np.__version__, sources(), processor)


def compiled(text: str) -> bytes:
    """An object of LLVM text that is the same in every process, from the cache if it is there."""
    from npcompile.backends.cpu.loader.compile import compile, compiler_version, target

    key = ("text", text, target(), compiler_version())
    return kept(key, lambda: (compile(text), {}))[0]


def own(name: str, text: Callable[[], str]) -> bytes:
    """An object of LLVM text that follows from a name and this package's sources; the text is asked
    for if the cache does not have it."""
    from npcompile.backends.cpu.loader.compile import compile

    return kept((name, environment()), lambda: (compile(text()), {}))[0]


def kept(key: tuple[object, ...], make: Callable[[], Made]) -> Made:
    """Loads a record of an earlier process, or makes it and stores it."""
    store, name = DiskCache(), fingerprint(*key).encode()
    found = store.get(name)
    if found is not None:
        return found.object, found.metadata
    made = make()
    store.put(name, Record(*made))
    return made


@cache
def sources() -> str:
    """The fingerprint of this package's own source files and of llvmlite's version: place, sizes
    and times of change.

    Reading them all would cost more than loading what is cached.  Asked for before the modules are
    imported: who changes one later gets code of another name.
    """
    home = Path(__file__).parents[2]
    folders, stamps = [str(home)], [f"{place.parent} {_stamp(place)}" for place in _compiler()]
    if not home.is_dir():  # in an archive, or in a program that holds its modules
        held = [place for place in (*home.parents, Path(sys.executable)) if place.is_file()]
        return fingerprint(" ".join([str(home), *stamps, *map(_stamp, held)]))
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=attrgetter("name")):
                if entry.name.endswith((".py", ".pyc")):  # code without sources is beside none
                    stamps.append(_stamp(entry))
                elif entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    folders.append(entry.path)
    return fingerprint(" ".join([*folders, *stamps]))


def _stamp(file: os.DirEntry[str] | Path) -> str:
    status = file.stat()
    return f"{file.name} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _compiler() -> Iterator[Path]:
    """What is written anew when another llvmlite is installed, which is not imported here."""
    try:
        found = find_spec("llvmlite")
    except ValueError:  # something stands in for it, such as a mock where documentation is made
        return
    if found is not None and found.origin is not None:
        home = Path(found.origin)
        yield from (file for file in (home, home.with_name("_version.py")) if file.exists())
