"""The disk cache: what goes in comes out, everything else is ignored; stable fingerprints."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import types
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npcompile.core.config import Config
from npcompile.runtime.cache import disk
from npcompile.runtime.cache.disk import DiskCache, Record, fingerprint

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no file owners here")
RECORD = Record(b"\x7fELF" + bytes(range(256)), {"name": "f", "checks": [1, 2], "times": 0.5})


@pytest.fixture
def store(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


def the_file(store: DiskCache) -> Path:
    (found,) = store.path.glob("*.npc")
    return found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(), st.binary(max_size=500), st.dictionaries(st.text(), json_values, max_size=3))
def test_round_trip(store: DiskCache, key: bytes, code: bytes, metadata: dict[str, object]) -> None:
    assert store.put(key, Record(code, metadata))
    assert store.get(key) == Record(code, metadata)
    assert store.get(key + b"x") is None


def test_counts_clear_and_modes(store: DiskCache) -> None:
    assert store.get(b"k") is None and not store.path.exists()
    assert store.put(b"k", RECORD) and store.get(b"k") == RECORD
    info = store.info()
    assert (info.entries, info.hits, info.misses, info.written, info.rejected) == (1, 1, 1, 1, 0)
    assert info.bytes > 256 and info.reason == ""
    assert store.path.stat().st_mode & 0o777 == 0o700
    assert the_file(store).stat().st_mode & 0o777 == 0o600
    store.clear()
    assert store.info().entries == 0 and store.get(b"k") is None


def damage(edit: Callable[[bytearray], object]) -> Callable[[Path], object]:
    def apply(path: Path) -> None:
        content = bytearray(path.read_bytes())
        edit(content)
        path.write_bytes(content)

    return apply


def with_checksum(path: Path, body: bytes) -> None:
    path.write_bytes(b"npcompile\x02" + hashlib.blake2b(body, digest_size=32).digest() + body)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": damage(lambda c: c.__delitem__(slice(-5, None))),
    "empty": damage(lambda c: c.clear()),
    "longer": damage(lambda c: c.extend(b"more")),
    "magic": damage(lambda c: c.__setitem__(0, 0)),
    "version": damage(lambda c: c.__setitem__(9, 1)),
    "checksum": damage(lambda c: c.__setitem__(12, c[12] ^ 1)),
    "lengths": damage(lambda c: c.__setitem__(44, c[44] ^ 1)),
    "object": damage(lambda c: c.__setitem__(-1, c[-1] ^ 1)),
    "pickle": lambda p: p.write_bytes(b"\x80\x04cos\nsystem\n."),
    "no json": lambda p: with_checksum(p, (1).to_bytes(4, "little") * 2 + bytes(8) + b"k{"),
    "json list": lambda p: with_checksum(
        p, (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + bytes(8) + b"k[]"
    ),
    "deep json": lambda p: with_checksum(
        p,
        (1).to_bytes(4, "little") + (200_000).to_bytes(4, "little") + bytes(8) + b"k"
        + b"[" * 200_000,
    ),
    "huge lengths": lambda p: with_checksum(p, b"\xff" * 16),
    "group writable": lambda p: p.chmod(0o660),
    "link": lambda p: (p.rename(p.with_suffix(".old")), p.symlink_to(p.with_suffix(".old"))),
    "pipe": lambda p: (p.unlink(), os.mkfifo(p)),
    "folder": lambda p: (p.unlink(), p.mkdir()),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_other_files_are_ignored_and_removed(store: DiskCache, name: str) -> None:
    store.put(b"k", RECORD)
    path = the_file(store)
    DAMAGES[name](path)
    assert store.get(b"k") is None
    assert store.info().rejected == 1 and not path.exists() and not path.is_symlink()
    assert store.put(b"k", RECORD) and store.get(b"k") == RECORD


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_single_change_is_noticed(store: DiskCache, data: st.DataObject) -> None:
    store.put(b"k", RECORD)
    path = the_file(store)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    assert store.get(b"k") is None


def test_a_record_of_another_key_is_no_answer(store: DiskCache) -> None:
    store.put(b"k", RECORD)
    moved = store.path / disk._file_name(b"other")
    the_file(store).rename(moved)
    assert store.get(b"other") is None and store.info().rejected == 1


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_open_to_others_is_refused(store: DiskCache, mode: int) -> None:
    store.put(b"k", RECORD)
    store.path.chmod(mode)
    assert store.get(b"k") is None and not store.put(b"k", RECORD)
    assert "written by others" in store.info().reason
    store.path.chmod(0o700)
    assert store.get(b"k") == RECORD and store.info().reason == ""


def test_foreign_folders_links_and_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(real)
    file = tmp_path / "file"
    file.write_text("")
    for path in (link, file, file / "below"):
        bad = DiskCache(path)
        assert not bad.put(b"k", RECORD) and bad.get(b"k") is None and bad.info().reason
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    foreign = DiskCache(real)
    assert not foreign.put(b"k", RECORD) and "another user" in foreign.info().reason


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    store = DiskCache(tmp_path / "c", capacity=10_000)
    keys = [b"%d" % i for i in range(8)]
    for age, key in enumerate(keys):
        store.put(key, Record(bytes(1000), {}))
        stamp = time.time() - 1000 + age
        os.utime(store.path / disk._file_name(key), (stamp, stamp))
    assert store.get(keys[0]) is not None  # used now
    for i in range(3):
        store.put(b"new%d" % i, Record(bytes(1000), {}))
    kept = [key for key in keys if store.get(key) is not None]
    assert keys[0] in kept and keys[1] not in kept and keys[-1] in kept
    assert store.info().bytes <= 10_000
    assert not store.put(b"big", Record(bytes(20_000), {}))


def test_stale_temporary_files_go(store: DiskCache) -> None:
    store.put(b"k", RECORD)
    old, new = store.path / "a.tmp", store.path / "b.tmp"
    for path in (old, new):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    store.info()
    assert not old.exists() and new.exists()


WRITER = """
import sys
from npcompile.runtime.cache.disk import DiskCache, Record
store = DiskCache(sys.argv[1], capacity=60_000)
bad = 0
for i in range(150):
    key = b"%d" % (i % 7)
    store.put(key, Record(key * 4000, {"i": i}))
    got = store.get(b"%d" % (i * 3 % 7))
    if got is not None and got.object != (b"%d" % (i * 3 % 7)) * 4000:
        bad += 1
    if i % 50 == 49:
        store.clear()
print(bad, store.info().rejected, store.reason)
"""


def test_concurrent_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "c")]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(3)
    ]
    for process in running:
        output, _ = process.communicate(timeout=60)
        assert output.split() == ["0", "0"]
    assert not list((tmp_path / "c").glob("*.tmp"))


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPCOMPILE_CACHE_DIR", "/somewhere")
    assert disk.default_folder() == Path("/somewhere")
    monkeypatch.delenv("NPCOMPILE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert disk.default_folder() == Path("/xdg/npcompile")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/me")
    assert disk.default_folder() == Path("/home/me/.cache/npcompile")


# ------------------------------------------------------------------ fingerprints

SAMPLE = """
import numpy as np
from npcompile.core.config import Config
from npcompile.runtime.cache.disk import environment, fingerprint
def make(k):
    def f(x, y=2.5, *, z="t"):
        if x in {"a", "b", "c", 3, None}:
            return k
        return [(lambda q: q in {"u", "v", "w"})(e) for e in x]
    return f
print(fingerprint(make(3), make, {"a": 1}, {"x", "y", "z"}, np.dtype("f8"), np.float32(1)))
print(fingerprint(Config()))
print(environment("avx2"))
"""


def outputs(sample: str, *seeds: str) -> set[str]:
    """What a program prints in processes with these seeds of hashes."""
    found = set()
    for seed in seeds:
        done = subprocess.run(
            [sys.executable, "-c", sample], env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    return found


def test_the_same_in_every_process() -> None:
    assert len(outputs(SAMPLE, "0", "1", "77")) == 1


LOWERED = """
import npcompile
from benchmarks.programs import PROGRAMS
for name in ("run_length_encode", "contour_of_mask", "bank_queue"):
    program = PROGRAMS[name]
    print(npcompile.jit(program.function).lower(*program.arguments(program.small)).llvm)
"""


def test_the_same_code_in_every_process() -> None:
    assert len(outputs(LOWERED, "1", "2")) == 1


VALUES = [
    None, ..., True, 1, 1.0, 1j, "1", b"1", -0.0, 0.0, 0, False, (), [], {}, frozenset(), (1,),
    [1], (1, 2), ((1,), 2), (1, (2,)), {1: 2}, {1: 2, 3: 4}, {1}, {1, 2}, slice(1), slice(1, 2),
    range(3),
    np.float64(1), np.float32(1), np.int64(1), np.int32(1), np.dtype("f8"), np.dtype(">f8"),
    np.dtype([("a", "f8")]), np, int, float, np.add, len, Config(), Config(dynamic=False),
    Config(static=("n",)), "a" * 11, ("a", "a"), "ab",
]  # fmt: skip


def test_different_values_differ() -> None:
    assert len({fingerprint(value) for value in VALUES}) == len(VALUES)
    assert fingerprint(1, 2) != fingerprint((1, 2)) != fingerprint("12")
    assert fingerprint(float("nan")) == fingerprint(float("nan"))
    with pytest.raises(TypeError, match="no fingerprint"):
        fingerprint(object())


def function_of(source: str) -> object:
    space: dict[str, object] = {}
    exec(compile(source, "f.py", "exec"), space)
    return space["f"]


def test_functions_differ_where_their_meaning_does() -> None:
    sources = [
        "def f(x): return x + 1",
        "def f(x): return x + 2",
        "def f(x): return x + 1.0",
        "def f(x): return x - 1",
        "def f(y): return y + 1",
        "def f(x, y=1): return x + 1",
        "def f(x, y=2): return x + 1",
        "def f(x, *, y=2): return x + 1",
        "def f(x, *, y=3): return x + 1",
        "def f(x): return (lambda v: v + 1)(x)",
        "def f(x): return (lambda v: v + 2)(x)",
        "def f(x): return a(x)",
        "def f(x): return b(x)",
    ]
    prints = [fingerprint(function_of(source)) for source in sources]
    assert len(set(prints)) == len(sources)
    assert prints == [fingerprint(function_of(source)) for source in sources]


def test_closures_count_by_constants_and_types() -> None:
    def make(k: object) -> Callable[[], object]:
        return lambda: k

    def same(a: object, b: object) -> bool:
        return fingerprint(make(a)) == fingerprint(make(b))

    assert same(1, 1) and not same(1, 2) and not same(1, 1.0)
    assert same(np.zeros(3), np.ones(4)) and not same(np.zeros(3), [0.0])
    assert not same(make(1), make(2)) and same((1, [2]), (1, [3])) and not same((1, []), (2, []))

    def recursive(n: int) -> int:
        return n and recursive(n - 1)

    assert fingerprint(recursive) == fingerprint(recursive)


def test_changed_sources_have_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same size and with the old time, in a new file, and of another llvmlite."""
    (tmp_path / "ours" / "runtime").mkdir(parents=True)
    source, llvmlite = tmp_path / "ours" / "a.py", tmp_path / "_version.py"
    for file in (source, llvmlite, tmp_path / "__init__.py"):
        file.write_text("x = 1\n")
    place = tmp_path / "ours" / "runtime" / "cache" / "disk.py"
    monkeypatch.setattr(disk, "__file__", str(place))
    spec = types.SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(disk, "find_spec", lambda name: spec)
    found = [disk.sources.__wrapped__()]
    assert disk.sources.__wrapped__() == found[0]
    for file in (source, llvmlite):
        status = file.stat()
        file.write_text("x = 2\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        found.append(disk.sources.__wrapped__())
    (tmp_path / "ours" / "runtime" / "b.py").write_text("")
    found.append(disk.sources.__wrapped__())
    assert len(set(found)) == 4


def test_sources_in_archives_and_without_source_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, folder = tmp_path / "all.zip", tmp_path / "ours" / "runtime"
    folder.mkdir(parents=True)
    for place, file in ((archive / "ours" / "runtime", archive), (folder, folder / "a.pyc")):
        monkeypatch.setattr(disk, "__file__", str(place / "cache" / "disk.py"))
        found = set()
        for text in (b"1", b"22"):
            file.write_bytes(text)
            found.add(disk.sources.__wrapped__())
        assert len(found) == 2
    nowhere = tmp_path / "nowhere" / "runtime" / "cache" / "disk.py"
    monkeypatch.setattr(disk, "__file__", str(nowhere))
    assert disk.sources.__wrapped__() not in found  # a program that holds its modules
    monkeypatch.setitem(sys.modules, "llvmlite", types.ModuleType("llvmlite"))
    assert disk.sources.__wrapped__() not in found  # a mock


def test_functions_are_compiled_where_the_package_is_in_an_archive(tmp_path: Path) -> None:
    home = Path(disk.__file__).parents[2]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for file in home.rglob("*.py"):
            archive.write(file, file.relative_to(home.parent))
    code = "import numpy as np, npcompile\n" \
           "f = npcompile.jit(lambda x: x * 2 + 1)\n" \
           "print(f(np.arange(3)), f.cache_info().compiled, npcompile.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "all.zip"),
                   "NPCOMPILE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[1 3 5] 1") and "all.zip" in done.stdout


def test_environment_tells_capabilities_apart() -> None:
    assert disk.environment("avx2") == disk.environment("avx2")
    assert disk.configuration(Config()) != disk.configuration(Config(fastmath=True))


def test_compiled_text_comes_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPCOMPILE_CACHE_DIR", str(tmp_path / "c"))
    text = "define i64 @seven() {\n  ret i64 7\n}\n"
    first = disk.compiled(text)
    assert DiskCache().info().entries == 1
    monkeypatch.setattr(DiskCache, "put", None)
    assert disk.compiled(text) == first
