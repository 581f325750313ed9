"""Results that are stored past the cache: rows, and rows of whole lines, at any address."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu.kernels import kernel_functions, reduction_runs, scope
from npcompile.backends.cpu.loader import cache_sizes
from npcompile.backends.cpu.loader.compile import host_target, target
from npcompile.backends.target import Target
from npcompile.core.records import replace

WIDTHS = (1, 7, 8, 16, 24, 32, 40, 63, 64, 96, 104, 256, 544, 600)


def scaled(x: Any, s: Any, out: Any) -> Any:
    np.multiply(x - 1, s, out=out)
    return out


def divided(x: Any, s: Any, out: Any) -> Any:
    np.divide(x, s, out=out)
    return out


def at(place: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of ones ``place`` bytes behind a line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + 128, np.uint8)
    first = -room.ctypes.data % 64 + place
    made = room[first : first + size].view(dtype).reshape(shape)
    made[...] = 1
    return made


def nothing_is_near(monkeypatch: pytest.MonkeyPatch, foresees: bool = False) -> None:
    """All that has more than a line goes past the caches."""
    module = sys.modules[host_target.__module__]  # beside it the package has a function of its name
    monkeypatch.setattr(module, "host_target", lambda wish: replace(host_target(wish), near=64))
    monkeypatch.setattr(Target, "foresees", foresees)


@pytest.mark.parametrize("capability", ["default", "avx2"])
@pytest.mark.parametrize(("function", "dtypes"), [(scaled, "dfF"), (divided, "df")])
def test_rows(function: Any, dtypes: str, capability: str,
              monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_is_near(monkeypatch)
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", capability)
    compiled = npcompile.jit(function, cache=False)
    rng = np.random.default_rng(0)
    for dtype in dtypes:
        for width in WIDTHS:
            x = rng.uniform(0.5, 2, (5, width)).astype(dtype)
            s = rng.uniform(0.5, 2, (5, 1)).astype(dtype)
            for place in (0, 4, 8, 16, 32):
                if place % x.itemsize == 0:
                    got = compiled(x, s, at(place, x.shape, dtype))
                    want = function(x, s, at(place, x.shape, dtype))
                    assert got.tobytes() == want.tobytes()
    assert "nontemporal" in compiled.lower(x, s, at(0, x.shape, dtype)).llvm


def two(x: Any, y: Any, plus: Any, minus: Any) -> None:
    np.add(x, y, out=plus)
    np.subtract(x, y, out=minus)


def mixed(x: Any, y: Any, plus: Any, minus: Any) -> None:
    np.add(x, y, out=plus)
    minus[...] = (x - y).astype(minus.dtype)


@pytest.mark.parametrize("capability", ["default", "avx2"])
def test_several_results(capability: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_is_near(monkeypatch)
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", capability)
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.5, 2, (2, 3, 1000))
    for function, other in ((two, "d"), (mixed, "f")):
        compiled = npcompile.jit(function, cache=False)
        for width in (8, 64, 600, 1000):
            a, b = x[:, :width].copy(), y[:, :width].copy()
            for one, another in ((0, 0), (8, 8), (0, 32), (16, 40), (56, 8)):
                got = at(one, a.shape, "d"), at(another, a.shape, other)
                want = np.empty_like(a), np.empty(a.shape, other)
                compiled(a, b, *got)
                function(a, b, *want)
                assert got[0].tobytes() == want[0].tobytes()
                assert got[1].tobytes() == want[1].tobytes()
        text = compiled.lower(a, b, *got).llvm
        assert ("nontemporal" in text) == (function is two)


def scaled_sum(a: Any, b: Any, c: Any, out: Any = None) -> Any:
    return np.add(a * b, c, out=out)


def test_new_results_count_twice() -> None:
    """Those of the last call are in the cache, too, while the next are computed."""
    compiled = npcompile.jit(scaled_sum)
    a, b, c, out = np.ones((4, 1000))
    for arrays, size in (((a, b, c), 40), ((a, b, c, out), 32)):
        most = target().near // size
        assert f" {most}," in compiled.lower(*arrays).llvm


def centred(x: Any) -> Any:
    return x - x.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("capability", ["default", "avx2"])
def test_results_of_iterations_are_asked_for(
    capability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before they are written, where turns read what is there already."""
    monkeypatch.setattr(scope, "WRITTEN_FROM", 64)
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", capability)
    rng = np.random.default_rng(5)
    for function, asks in ((centred, True), (doubled, False)):
        compiled = npcompile.jit(function, cache=False)
        for dtype in ("float64", "float32"):
            for shape in ((1, 1), (3, 5), (200, 32), (7, 1001), (1001, 7)):
                x = rng.uniform(-1, 1, shape).astype(dtype)
                assert compiled(x).tobytes() == function(x).tobytes()
        to_be_written = re.findall(r"call void @llvm.prefetch.*i32 1, i32 3, i32 1\)",
                                   compiled.lower(x).llvm)
        assert bool(to_be_written) == asks


def doubled(x: Any) -> Any:
    return 2 * x


def total(*arrays: Any) -> Any:
    return sum(arrays[1:], arrays[0])


def test_addresses_ahead() -> None:
    """Asked for at an address in rbp, memory does not come."""
    from npcompile.backends.cpu.loader.compile import assembly

    llvm = npcompile.jit(total, cache=False).lower(*np.ones((12, 100))).llvm
    asked = [line for line in assembly(llvm).splitlines() if "prefetcht0" in line]
    assert asked and not any("(%rbp" in line for line in asked)


def test_what_is_asked_for_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one result is made of; where two are, processors foresee it.  Sums ask for what is
    further away if it comes from memory, which shows in numbers of bytes only."""
    monkeypatch.setattr(Target, "foresees", True)
    x, *rest = np.ones((4, 1000))
    for function, args, asks in ((total, (x, *rest), True), (two, (x, *rest), False)):
        llvm = npcompile.jit(function, cache=False).lower(*args).llvm
        assert ("call void @llvm.prefetch" in llvm) == asks
    far = f"i64 {reduction_runs.AHEAD}, i64 {reduction_runs.FAR_AHEAD}"
    for reduced in (lambda x: (x + 1).max(), lambda x: (x * x).sum()):
        assert far in npcompile.jit(reduced, cache=False).lower(x).llvm


def five_points(u: Any, out: Any) -> Any:
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return np.subtract(0.25 * around, u[1:-1, 1:-1], out=out)


def two_arrays(u: Any, out: Any) -> Any:
    return np.subtract(u[2:, 1:-1] * u[1:-1, 2:], out, out=np.empty_like(out))


def in_layers(u: Any, out: Any) -> Any:
    v = u.reshape(u.shape[0], -1, 6)
    return v[1:, 1:, 1:] + v[1:, :-1, 1:] - v[:-1, 1:, :-1]


def in_planes(u: Any, out: Any) -> Any:
    np.add(u[:, 2:, 1:-1] + u[:, :-2, 1:-1], u[:, 1:-1, 2:] + u[:, 1:-1, :-2], out=out)
    return out


@pytest.mark.parametrize("foresees", [False, True])
@pytest.mark.parametrize(("function", "rows"), [(five_points, 1), (two_arrays, 2), (in_layers, 0)])
def test_rows_of_a_stencil(function: Any, rows: int, foresees: bool,
                           monkeypatch: pytest.MonkeyPatch) -> None:
    """Only rows that nobody has read are asked for, and rows divided into columns or not."""
    nothing_is_near(monkeypatch, foresees)
    monkeypatch.setattr(kernel_functions, "COLUMN", 256)
    compiled = npcompile.jit(function, cache=False)
    rng = np.random.default_rng(3)
    for shape in ((3, 36), (9, 72), (4, 30), (40, 6), (5, 66), (6, 204)):
        whole = rng.uniform(-1, 1, (2 * shape[0], shape[1]))
        for u in (whole[: shape[0]], whole[::2], whole[::-2], whole[: shape[0], ::-1]):
            out = rng.uniform(-1, 1, (shape[0] - 2, shape[1] - 2))
            want = function(u, out.copy())
            assert compiled(u, out).tobytes() == want.tobytes()
    llvm = compiled.lower(whole[: shape[0]], out).llvm
    asked = [line for line in llvm.splitlines() if "call void @llvm.prefetch" in line]
    assert not rows or len(asked) in (rows, 2 * rows)  # one or two lines each


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int16", "int8"])
def test_columns(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns end where lines do, and the last may be empty."""
    nothing_is_near(monkeypatch, foresees=True)
    monkeypatch.setattr(kernel_functions, "COLUMN", 128)
    compiled = npcompile.jit(in_planes, cache=False)
    rng = np.random.default_rng(4)
    for width in (1, 15, 16, 17, 31, 32, 33, 47, 64, 65, 127, 129, 200):
        u = rng.integers(0, 100, (2, 6, width + 2)).astype(dtype)
        for place in (0, 8, 16, 56):
            got = compiled(u, at(place, (2, 4, width), dtype))
            assert got.tobytes() == in_planes(u, at(place, (2, 4, width), dtype)).tobytes()
    llvm = compiled.lower(u, got).llvm
    assert "nontemporal" in llvm and "prefetch" in llvm


def sums(x: Any) -> Any:
    return x.sum(), (x * x).sum(axis=1), x.var(axis=1), x / x.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("foresees", [False, True])
def test_sums_of_what_is_in_no_cache(foresees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves and rows are summed in turns or in their order; that does not show."""
    monkeypatch.setattr(Target, "foresees", foresees)
    shapes = (9, 1300), (33, 200), (70, 32), (17, 9), (3, 5000)
    arrays = [np.random.default_rng(2).uniform(-1, 1, shape) for shape in shapes]
    texts, found = [], []
    for cached in (1 << 30, 64):
        monkeypatch.setattr(reduction_runs, "CACHED_BYTES", cached)
        compiled = npcompile.jit(sums, cache=False)
        texts.append(compiled.lower(arrays[0]).llvm)
        found.append([np.asarray(part).tobytes() for x in arrays for part in compiled(x)])
    assert (texts[0] != texts[1]) == foresees  # else the rows are asked for in time
    assert found[0] == found[1]


def test_caches_that_are_near(tmp_path: Path) -> None:
    """A last cache that a whole server shares is not."""
    def say(*found: tuple[int, str, str]) -> dict[int, int]:
        for at, (level, kind, size) in enumerate(found):
            folder = tmp_path / f"index{at}"
            folder.mkdir(exist_ok=True)
            for name, text in (("level", str(level)), ("type", kind), ("size", size)):
                (folder / name).write_text(text + "\n")
        return cache_sizes.levels(tmp_path)

    levels = say((1, "Data", "48K"), (1, "Instruction", "64K"), (2, "Unified", "2048K"),
                 (3, "Unified", "491520K"))
    assert levels == {1: 48 << 10, 2: 2 << 20, 3: 480 << 20}
    assert cache_sizes.near(levels, 2) == 6 << 20
    assert cache_sizes.near({2: 1 << 20, 3: 32 << 20}, 64) == 32 << 20
    assert cache_sizes.near({3: 480 << 20}, 2) == cache_sizes.WHOLE
    assert cache_sizes.near({}, 2) == cache_sizes.USUAL
    assert cache_sizes.levels(tmp_path / "nothing") == {}
    (tmp_path / "index3" / "size").write_text("many\n")
    assert 3 not in cache_sizes.levels(tmp_path)

    def refuse(path: object) -> None:
        raise PermissionError(13, "not allowed", path)

    with pytest.MonkeyPatch.context() as patch:  # a system that does not let us look
        patch.setattr(cache_sizes.os, "listdir", refuse)
        assert cache_sizes.levels(tmp_path) == {}
