"""A Python for 64-bit ARM with NumPy, SciPy and llvmlite, under QEMU's emulator of programs.

    python tools/arm.py FOLDER              makes it (400 MB, minutes) and prints its Python
    python tools/arm.py FOLDER ARGUMENTS    runs that Python
    python tools/arm.py test [sample]       runs the tests there, in .arm: hours, or minutes

Debian's archive has the emulator and Python, PyPI the wheels.  Packages are unpacked into the
folder and nothing is installed: it needs ``apt-get`` and ``dpkg``, and no rights.  ``CPU`` names
the processor: ``neoverse-n1`` (NEON, the usual one) or ``max`` (SVE2, too).  Bits, exceptions and
crashes are the machine's; times mean nothing.
"""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

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
#: what the sample runs; SEED is another one each day
SAMPLE = (
    ("60 operators", "tests.portable.operators 60 SEED"),
    ("40 lines of the page of sums", "tests.portable.page 40 SEED"),
    ("threads", "pytest tests/runtime/test_thread_pool.py -k floating_point_state"),
    ("side exits", "pytest tests/runtime/test_side_exits.py -k leaks"),
    ("the disk cache", "pytest tests/runtime/test_disk_cache.py -k compiled_text"),
    ("4 programs of every grammar", "tests.fuzz all SEED 4"),
)
WHOLE = (
    ("operators", "tests.portable.operators"), ("the page of sums", "tests.portable.page"),
    ("the corpus", "pytest tests/programs/test_corpus.py"),
    ("the loader and families of processors",
     "pytest tests/backends/target tests/backends/cpu/test_elf_loader.py"),
    ("threads, exits, memory, cache",
     "pytest tests/runtime/test_thread_pool.py tests/runtime/test_side_exits.py"
     " tests/runtime/test_memory.py tests/runtime/test_disk_cache.py"
     " tests/runtime/test_fp_warnings.py tests/runtime/test_versions_on_disk.py"),
    ("linear algebra and transforms", "pytest tests/linalg tests/fft"),
    ("50 programs of every grammar", "tests.fuzz all SEED 50"),
)
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_27", "manylinux_2_28")
VERSIONS = ("3.11", "3.12", "3.13")


class Missing(Exception):
    """The emulator or something of the other machine can't be had here."""


class Emulated:
    """A folder with the emulator, a root of the other machine's files and modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.root, self.modules = self.folder / "root", self.folder / "modules"
        self.python = self.folder / "python"

    def make(self) -> None:
        """Fills the folder, unless it is complete."""
        if self.python.exists():
            return
        if not shutil.which("apt-get") or not shutil.which("dpkg"):
            raise Missing("this system has no apt-get and dpkg")
        for name in ("root", "here", "modules", "wheels", "debs", "state/lists/partial",
                     "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._apt("update")
        self._unpack(["qemu-user-static"], self.folder / "here")
        version = self._unpack_python()
        self._install(version)
        self._write(version)

    def _apt(self, *arguments: str) -> str:
        """Runs apt-get with lists of its own, of both machines."""
        state = {"Dir::State": "state", "Dir::State::lists": "state/lists", "Dir::Cache": "cache"}
        options = [f"-o{name}={self.folder / place}" for name, place in state.items()]
        both = ["-oAPT::Architectures::=amd64", "-oAPT::Architectures::=arm64"]
        command = ["apt-get", "-q", *options, "-oDir::State::status=/var/lib/dpkg/status", *both]
        return _run([*command, *arguments], self.folder / "debs")

    def _unpack(self, packages: list[str], root: Path) -> None:
        before = set((self.folder / "debs").iterdir())
        self._apt("download", *packages)
        for package in sorted(set((self.folder / "debs").iterdir()) - before):
            _run(["dpkg", "-x", str(package), str(root)])

    def _unpack_python(self) -> str:
        """Unpacks the newest Python that is served and that the archive has."""
        for version in reversed(VERSIONS):
            name = f"python{version}"
            parts = (f"{name}-minimal", name, f"lib{name}-minimal", f"lib{name}-stdlib")
            try:
                self._unpack([f"{part}:arm64" for part in parts], self.root)
            except Missing:
                continue
            for library in LIBRARIES:
                for found in (library, f"{library}t64"):  # as newer archives call some
                    try:
                        self._unpack([f"{found}:arm64"], self.root)
                        break
                    except Missing:
                        continue
            return version
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

    def _write(self, version: str) -> None:
        """A script that is the Python, for programs that start it, too."""
        emulator = self.folder / "here/usr/bin/qemu-aarch64-static"
        lines = [
            "#!/bin/sh",
            f'export PYTHONHOME="{self.root}/usr" '
            f'PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}{self.modules}"',
            f'exec "{emulator}" -cpu "${{CPU:-neoverse-n1}}" -L "{self.root}" -0 "$0" '
            f'"{self.root}/usr/bin/python{version}" "$@"', ""]
        script = self.folder / "made"
        script.write_text("\n".join(lines))
        script.chmod(0o755)
        said = _run([str(script), "-c", "import platform, numpy; print(platform.machine())"])
        if said.strip() != "aarch64":
            raise Missing(f"the emulated Python says {said!r}")
        script.rename(self.python)


def _run(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{' '.join(command[:4])} ...: {done.stderr.strip()[-300:]}")
    return done.stdout


def test(emulated: Emulated, sample: bool) -> int:
    """Runs parts of the tests, prints a row for each; how many fail."""
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "NPCOMPILE_CACHE_DIR": str(emulated.folder / "kept"),
        "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(emulated.folder / "bytecode")}
    seed = str(datetime.date.today().toordinal())
    failed = 0
    for name, words in SAMPLE if sample else WHOLE:
        arguments = words.replace("SEED", seed).split()
        if arguments[0] == "pytest":
            arguments += ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-o", "timeout=1800"]
        begun = time.monotonic()
        done = subprocess.run([str(emulated.python), "-m", *arguments], cwd=ROOT, text=True,
                              env=environment, capture_output=True, check=False)
        failed += done.returncode != 0
        said = "well" if not done.returncode else f"FAILS with {done.returncode}"
        print(f"| {name} | {said} | {time.monotonic() - begun:.0f} s |", flush=True)
        if done.returncode:
            print(done.stdout[-4000:], done.stderr[-4000:], f"seed {seed}", sep="\n")
    return failed


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
        raise SystemExit(test(emulated, "sample" in sys.argv[2:]))
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
