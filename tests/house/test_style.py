"""The habits that are kept by machine: lint, types, layers, sizes of modules, doctests."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import npcompile

ROOT = Path(npcompile.__file__).parent
ROOMS = [
    "core", "frontend", "backends.target", "runtime.unsafe", "graph", "program", "ops",
    "special.coefficients", "special.arithmetic", "special.elementary", "special.error",
    "special.gamma_functions", "special.integrals", "special.complex", "special.bessel",
    "special.statistics", "special",
    "fft", "linalg", "tensors", "guards", "python.polyfills", "python", "tracing", "passes",
    "schedule.memory", "schedule.walk", "schedule.fusion", "schedule.loops", "schedule",
    "backends.cpu.loader", "backends.cpu.llvm", "backends.cpu.transforms", "backends.cpu.linalg",
    "backends.cpu.kernels", "backends.cpu.loops", "backends.cpu.parallel", "backends.cpu",
    "backends.reference", "backends.gpu", "runtime.cache", "runtime.entry", "runtime.memory",
    "runtime.random", "runtime.threads", "runtime.transforms", "runtime.versions",
    "runtime.ufuncs", "runtime", "api", "demo", "commands",
]
MODULES = sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return lowest(".".join(path.relative_to(ROOT).with_suffix("").parts))


def lowest(name: str) -> str:
    """The room of a module, which may be a room within a room."""
    parts = name.split(".")
    while parts and ".".join(parts) not in ROOMS:
        parts.pop()
    return ".".join(parts)


def imported(path: Path) -> set[str]:
    """The rooms that a module imports from, lazily too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            package, _, inner = name.partition(".")
            if package == "npcompile":
                found.add(lowest(inner))
    return found - {""}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    here = room(path)
    if here:
        above = {r for r in imported(path) if ROOMS.index(r) > ROOMS.index(here)}
        assert not above, f"imports from {above}, which lie above {here}"


def test_every_room_is_known() -> None:
    assert {room(path) for path in MODULES} - {""} <= set(ROOMS)


def test_modules_are_small() -> None:
    lengths = {p: len(p.read_text().splitlines()) for p in MODULES}
    assert not {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > 700}


def test_ruff() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "npcompile", "tests", "tools", "benchmarks"],
        cwd=ROOT.parent, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stdout


def test_types() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=ROOT.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name", [m.name for m in pkgutil.walk_packages([str(ROOT)], "npcompile.")
             if not m.name.endswith("__main__")]
)
def test_doctests(name: str) -> None:
    if name == "npcompile.backends.gpu.device":
        pytest.importorskip("triton", reason="functions for GPUs need Triton")
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_import_is_light() -> None:
    """Nothing heavy is imported before it is used."""
    code = (
        "import numpy, sys; import npcompile; npcompile.jit(lambda x: x);"
        "print([m for m in ('sympy', 'scipy', 'llvmlite', 'triton', 'cupy', 'torch', 'mpmath')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_devices_differ_by_what_they_can_do() -> None:
    """Only a device's own room and the options know a device by its name."""
    homes = {"core/config.py", "demo/selftest.py", "commands/selftest.py"}
    found = []
    for path in MODULES:
        name = path.relative_to(ROOT).as_posix()
        if name in homes or name.startswith("backends/gpu/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asks = isinstance(node, ast.Compare) and any(
                isinstance(side, ast.Attribute) and side.attr in ("device", "backend")
                for side in (node.left, *node.comparators))
            if asks and _strings(node) & {"cpu", "cuda", "interpreter", "reference"}:
                found.append(f"{name}:{node.lineno}")
    assert found == []


def _strings(node: ast.AST) -> set[object]:
    """The constants of an expression."""
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
