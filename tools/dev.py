"""Makes a virtual environment beside the sources and runs the demo or the tests in it.

    python3 tools/dev.py demo
    python3 tools/dev.py test [pytest arguments]

Needs Python 3.11 or newer with pip, nothing else: the environment is made without ``ensurepip``
(which Debian packages apart) and filled by the pip at hand, so that externally managed
installations of Python stay as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {"demo": "plot", "test": "test"}
SHORT = ["-m", "not slow", "-n", "2", "--dist", "worksteal"]
HOME = Path(os.environ.get("NPCOMPILE_VENV", ROOT / ".venv")).absolute()


def environment(extra: str) -> Path:
    """The Python of an environment that has npcompile and the extra installed."""
    python = HOME / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", "--without-pip", str(HOME))
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    # modules are compiled when they are imported, which most never are
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    run(*pip, "install", *options, "-e", f"{ROOT}[{extra}]")
    return python


def run(*command: str) -> None:
    """Runs a command in the project's folder; stops with its exit code if it fails."""
    print("$ " + " ".join(command), flush=True)
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code:
        raise SystemExit(code)


def main() -> None:
    task = sys.argv[1] if len(sys.argv) > 1 else ""
    if task not in EXTRAS or sys.version_info < (3, 11):
        raise SystemExit(__doc__)
    python = str(environment(EXTRAS[task]))
    # many processes read the same bytecode: it is kept, with the environment, whatever is set
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    os.environ["PYTHONPYCACHEPREFIX"] = str(HOME / "bytecode")
    if task == "demo":
        run(python, "-m", "npcompile", "demo", *sys.argv[2:])
    else:
        run(python, "-m", "pytest", *(sys.argv[2:] or SHORT))


if __name__ == "__main__":
    main()
