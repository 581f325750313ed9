"""A Python for 64-bit ARM with NumPy, SciPy and llvmlite, under QEMU's emulator of programs.

    python tools/arm.py FOLDER                  makes it (800 MB, a minute) and prints its Python
    python tools/arm.py FOLDER ARGUMENTS        runs that Python
    python tools/arm.py test [sample] [SEED]    runs the tests there, in .arm: hours, or minutes

Debian's archive has the emulator and Python, PyPI the wheels.  Packages are unpacked into the
folder and nothing is installed: it needs ``apt-get`` and ``dpkg``, and no rights.  ``CPU`` names
the processor: ``neoverse-n1`` (NEON, the usual one) or ``max`` (SVE2, too).  Bits, exceptions and
crashes are the machine's; times mean nothing.  This machine's LLVM writes the machine code of the
tests (``tools/arm_compiler.py``): emulated, that is most of the time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import arm_compiler

ROOT = Path(__file__).resolve().parent.parent

#: what the interpreter and wheels load
LIBRARIES = (
    "libc6", "libgcc-s1", "libstdc++6", "libgomp1", "zlib1g", "libexpat1", "libssl3", "libffi8",
    "libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1", "libncursesw6", "libtinfo6",
    "libreadline8", "libcrypt1", "libnsl2", "libtirpc3",
)
WHEELS = (
    "numpy", "scipy", "llvmlite", "sympy", "mpmath", "pytest", "pluggy", "iniconfig", "packaging",
    "hypothesis", "attrs", "sortedcontainers", "pygments", "pytest-timeout", "platformdirs",
    "cloudpickle", "joblib",
)
#: what the sample runs, the longest first
SAMPLE = (
    ("4 programs of every grammar", "tests.fuzz all SEED 4"),
    ("60 operators", "tests.portable.operators 60 SEED"),
    ("40 lines of the page of sums", "tests.portable.page 40 SEED"),
    ("threads, side exits, the disk cache, zeros and NaN",
     "pytest tests/backends/target/test_zeros.py tests/backends/target/test_quiet.py"
     " tests/runtime/test_thread_pool.py::test_floating_point_state_travels"
     " tests/runtime/test_side_exits.py"
     " tests/runtime/test_disk_cache.py::test_compiled_text_comes_from_the_cache"
     " tests/runtime/test_disk_cache.py::test_the_same_in_every_process"),
    ("objects that this machine's LLVM and the emulated one write", "tests.portable.objects"),
)
WHOLE = (
    ("50 programs of every grammar", "tests.portable.campaign SEED 50"),
    ("10,000 further calls of threads, forks, exits", "tests.portable.calls"),
    ("operators", "tests.portable.operators"), ("the page of sums", "tests.portable.page"),
    ("the corpus", "pytest tests/programs/test_corpus.py"),
    ("the loader and families of processors",
     "pytest tests/backends/target tests/backends/cpu/test_elf_loader.py"),
    ("threads, exits, memory, cache",
     "pytest tests/runtime/test_thread_pool.py tests/runtime/test_side_exits.py"
     " tests/runtime/test_memory.py tests/runtime/test_disk_cache.py"
     " tests/runtime/test_fp_warnings.py tests/runtime/test_versions_on_disk.py"),
    ("linear algebra and transforms", "pytest tests/linalg tests/fft"),
    SAMPLE[-1],
)
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_27", "manylinux_2_28")
VERSIONS = ("3.11", "3.12", "3.13")
#: what each emulated Python does first
CUSTOM = """\
import os
if os.environ.get("NPCOMPILE_ARM_COMPILER"):
    from tools import arm_compiler
    arm_compiler.install()
"""


class Missing(Exception):
    """The emulator or something of the other machine can't be had here."""


class Emulated:
    """A folder with the emulator, a root of the other machine's files and modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.root, self.modules = self.folder / "root", self.folder / "modules"
        self.python = self.folder / "python"
        self.host = self.folder / "host/bin/python"  #: of this machine, with the same LLVM

    def make(self) -> None:
        """Fills the folder, unless it is complete."""
        if self.python.exists():
            return
        if not shutil.which("apt-get") or not shutil.which("dpkg"):
            raise Missing("this system has no apt-get and dpkg")
        for name in ("root", "here", "modules", "wheels", "debs", "state/lists/partial",
                     "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._apt("apt-get", "update")
        version, names = self._packages()
        self._apt("apt-get", "download", "qemu-user-static", *(f"{name}:arm64" for name in names))
        for package in (self.folder / "debs").glob("*.deb"):
            place = self.folder / "here" if package.name.startswith("qemu") else self.root
            _run(["dpkg", "-x", str(package), str(place)])
        self._install(version)
        self._equip()
        self._write(version)

    def _apt(self, *command: str) -> str:
        """Runs a program of apt's with lists of its own, of both machines."""
        state = {"Dir::State": "state", "Dir::State::lists": "state/lists", "Dir::Cache": "cache"}
        options = [f"-o{name}={self.folder / place}" for name, place in state.items()]
        both = ["-oAPT::Architectures::=amd64", "-oAPT::Architectures::=arm64"]
        options += ["-oDir::State::status=/var/lib/dpkg/status", *both]
        return _run([command[0], "-q", *options, *command[1:]], self.folder / "debs")

    def _packages(self) -> tuple[str, list[str]]:
        """The newest Python that is served and that the archive has, and the packages of it and of
        what it loads."""
        have = set(self._apt("apt-cache", "pkgnames").split())
        found = [name for library in LIBRARIES for name in (library, f"{library}t64")
                 if name in have]
        for version in reversed(VERSIONS):
            name = f"python{version}"
            if name in have:
                return version, [f"{name}-minimal", name, f"lib{name}-minimal",
                                 f"lib{name}-stdlib", *found]
        raise Missing("the archive has no Python that is served")

    def _install(self, version: str) -> None:
        wheels = self.folder / "wheels"
        platforms = [f"--platform={name}_aarch64" for name in PLATFORMS]
        _run([sys.executable, "-m", "pip", "download", "--quiet", *platforms,
              "--only-binary=:all:", f"--python-version={version}", "--no-deps", "--dest",
              str(wheels), *WHEELS])
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as file:
                file.extractall(self.modules)

    def _equip(self) -> None:
        """An environment of this machine, whose LLVM writes the code of both."""
        [wheel] = (self.folder / "wheels").glob("llvmlite-*.whl")
        same = f"llvmlite=={wheel.name.split('-')[1]}"
        _run([sys.executable, "-m", "venv", "--without-pip", str(self.host.parents[1])])
        _run([sys.executable, "-m", "pip", "--python", str(self.host), "install", "--quiet",
              "--no-compile", "--disable-pip-version-check", "numpy", "scipy", same])

    def _write(self, version: str) -> None:
        """A script that is the Python, for programs that start it, too."""
        emulator = self.folder / "here/usr/bin/qemu-aarch64-static"
        lines = [
            "#!/bin/sh",
            f'export PYTHONHOME="{self.root}/usr" '
            f'PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}{self.modules}"',
            f'exec "{emulator}" -cpu "${{CPU:-neoverse-n1}}" -L "{self.root}" -0 "$0" '
            f'"{self.root}/usr/bin/python{version}" "$@"', ""]
        (self.modules / "sitecustomize.py").write_text(CUSTOM)
        script = self.folder / "made"
        script.write_text("\n".join(lines))
        script.chmod(0o755)
        said = _run([str(script), "-c", "import platform, numpy; print(platform.machine())"])
        if said.strip() != "aarch64":
            raise Missing(f"the emulated Python says {said!r}")
        for name in ("debs", "wheels", "state", "cache"):
            shutil.rmtree(self.folder / name)
        script.rename(self.python)


def _run(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{' '.join(command[:4])} ...: {done.stderr.strip()[-300:]}")
    return done.stdout


@contextmanager
def compiler(emulated: Emulated) -> Iterator[str]:
    """This machine's LLVM at work for the emulated one; its socket."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "socket")
        command = [str(emulated.host), "-m", "tools.arm_compiler", str(place)]
        paths = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, cwd=ROOT, env=paths) as run:
            try:
                while not place.exists():
                    if run.poll() is not None:
                        raise Missing("the compiler for ARM does not start")
                    time.sleep(0.05)
                yield str(place)
            finally:
                run.terminate()


def test(emulated: Emulated, sample: bool, seed: int) -> int:
    """Runs parts of the tests, two at a time, and prints a row for each; how many fail."""
    with compiler(emulated) as socket, ThreadPoolExecutor(2) as lanes:
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "",
            arm_compiler.VARIABLE: socket, "NPCOMPILE_CACHE_DIR": str(emulated.folder / "kept"),
            "NPCOMPILE_TEST_SLOWER": "12",
            "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(emulated.folder / "bytecode")}

        def passes(part: tuple[str, str]) -> bool:
            return _passes(emulated, *part, seed, environment)

        return list(lanes.map(passes, SAMPLE if sample else WHOLE)).count(False)


def _passes(emulated: Emulated, name: str, words: str, seed: int, environment: dict[str, str]
            ) -> bool:
    """Runs a part of the tests and prints its row, and all that a part that fails has said."""
    arguments = words.replace("SEED", str(seed)).split()
    if arguments[0] == "pytest":
        arguments += ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-o", "timeout=1800"]
    begun = time.monotonic()
    done = subprocess.run([str(emulated.python), "-m", *arguments], cwd=ROOT, text=True,
                          env=environment, capture_output=True, check=False)
    said = "passes" if not done.returncode else f"FAILS with {done.returncode}"
    row = f"| {name} | {said} | {time.monotonic() - begun:.0f} s |"
    if done.returncode:
        row = "\n".join([row, done.stdout[-6000:], done.stderr[-4000:], f"seed {seed}"])
    print(row, flush=True)
    return not done.returncode


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    if sys.argv[1] == "test":
        emulated = Emulated(Path(os.environ.get("NPCOMPILE_ARM", ROOT / ".arm")))
        try:
            emulated.make()
        except Missing as missing:
            print(f"64-bit ARM is not tested: no emulator here ({missing})")
            return
        seeds = [int(word) for word in sys.argv[2:] if word.isdecimal()]
        raise SystemExit(test(emulated, "sample" in sys.argv[2:], *(seeds or [1])))
    emulated = Emulated(Path(sys.argv[1]))
    try:
        emulated.make()
    except Missing as missing:
        raise SystemExit(f"no emulated ARM here: {missing}") from None
    if len(sys.argv) == 2:
        print(emulated.python)
        return
    os.execv(emulated.python, [str(emulated.python), *sys.argv[2:]])


if __name__ == "__main__":
    main()
