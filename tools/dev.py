"""Makes a virtual environment beside the sources; runs the demo or the tests in it, builds the
site, or builds the wheel and the source distribution and tries each.

    python3 tools/dev.py demo
    python3 tools/dev.py test [pytest arguments]
    python3 tools/dev.py docs
    python3 tools/dev.py package
    python3 tools/dev.py test-arm [sample]

Needs Python 3.11 or newer with pip, nothing else: the environment is made without ``ensurepip``
(which Debian packages apart) and filled by the pip at hand, so that externally managed
installations of Python stay as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {"demo": "plot", "test": "test", "docs": "docs", "package": "package"}
SHORT = ["-m", "not slow", "-n", "2", "--dist", "worksteal"]
HOME = Path(os.environ.get("NPCOMPILE_VENV", ROOT / ".venv")).absolute()


def environment(home: Path, *wanted: str) -> Path:
    """The Python of an environment in a folder, which has some packages installed."""
    python = home / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", "--without-pip", str(home))
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    # modules are compiled when they are imported, which most never are
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    run(*pip, "install", *options, *wanted)
    return python


def run(*command: str, folder: Path = ROOT) -> None:
    """Runs a command in a folder, the project's by default; stops with its exit code if it
    fails."""
    print("$ " + " ".join(command), flush=True)
    code = subprocess.run(command, cwd=folder, check=False).returncode
    if code:
        raise SystemExit(code)


def package(python: str) -> None:
    """Builds the distributions; each is installed by itself and runs the demo from another folder,
    and tests of the source distribution run in its own tree."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "build", "--outdir", name, str(ROOT))
        [wheel], [source] = folder.glob("*.whl"), folder.glob("*.tar.gz")
        for built in (wheel, source):
            home = folder / built.suffix.strip(".")
            installed = environment(home, f"{built}[plot]")
            run(str(installed), "-m", "npcompile", "demo", "--output", str(home), folder=folder)
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        [tree] = folder.glob("*/tests")
        run(python, "-m", "pytest", "-m", "not slow", "tests/api/test_jit.py", folder=tree.parent)


def main() -> None:
    task = sys.argv[1] if len(sys.argv) > 1 else ""
    if task == "test-arm":  # in an emulator, which needs nothing of the environment
        run(sys.executable, "tools/arm.py", "test", *sys.argv[2:])
        return
    if task not in EXTRAS or sys.version_info < (3, 11):
        raise SystemExit(__doc__)
    others = os.environ.get("NPCOMPILE_WITH", "").split()  # as numpy==2.3.*
    python = str(environment(HOME, "-e", f"{ROOT}[{EXTRAS[task]}]", *others))
    # many processes read the same bytecode: it is kept, with the environment, whatever is set
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    os.environ["PYTHONPYCACHEPREFIX"] = str(HOME / "bytecode")
    if task == "demo":
        run(python, "-m", "npcompile", "demo", *sys.argv[2:])
    elif task == "package":
        package(python)
    elif task == "docs":
        run(python, "-m", "mkdocs", "build", *sys.argv[2:])
    else:
        run(python, "-m", "pytest", *(sys.argv[2:] or SHORT))


if __name__ == "__main__":
    main()
