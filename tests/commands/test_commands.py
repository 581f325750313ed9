"""The command line."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import npcompile
from npcompile.commands import notebook, run

SCRIPT = '''\
"""A script."""
from __future__ import annotations

import functools
import sys

import numpy as np


def total(x):
    return (x * x).sum()


@functools.lru_cache
def scale(k):
    return 2.0 * k


def numbers(n):
    for k in range(n):
        yield k


async def later():
    return 1


if __name__ == "__main__":
    def inner(x):
        return total(x) + scale(2)

    print(sys.argv[1:], type(total).__name__, type(numbers).__name__, type(later).__name__)
    print(inner(np.arange(4.0)), sum(numbers(3)))
    if "fail" in sys.argv:
        raise ValueError("as asked")
    sys.exit(int(sys.argv[1]))
'''


def command(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    given = [sys.executable, "-m", "npcompile", *words]
    where = {**os.environ, "NPCOMPILE_CACHE_DIR": str(folder)} if folder else None
    return subprocess.run(given, capture_output=True, text=True, check=False, env=where)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "work.py"
    path.write_text(SCRIPT)
    return path


def test_run(script: Path) -> None:
    done = command("run", "--compare", str(script), "3")
    assert done.stdout.splitlines() == ["['3'] Jit function function", "18.0 3"]
    assert done.returncode == 3
    first, *rest = done.stderr.splitlines()
    assert first.startswith("npcompile: 3 functions, ")
    assert any(line.startswith("  inner: ") for line in rest)
    assert rest[-1].startswith("plain Python: ")


def test_a_script_that_raises_shows_its_own_frames(script: Path) -> None:
    done = command("run", str(script), "fail")
    assert done.returncode == 1 and "ValueError: as asked" in done.stderr
    [shown] = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert "work.py" in shown


def test_functions_of_a_script(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text("""\
try:
    def a(): return 1
except ImportError:
    def b(): return 2
else:
    def c():
        def inner(): yield 3
        return inner
class K:
    def __init__(self): pass
    def method(self): return 4
    class Inner:
        def method(self): return 5
def generator():
    if True:
        x = yield
""")
    assert run.decorate(ast.parse(path.read_text())) == 5


METHODS = '''\
import abc, dataclasses, enum, functools, typing
import numpy as np

class Base(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

@dataclasses.dataclass
class Disc(Base):
    radius: float = 2.0

    def __post_init__(self):
        self.history = []

    def area(self):
        return np.pi * self.radius * self.radius

    @property
    def double(self):
        return 2 * self.area()

    @double.setter
    def double(self, value):
        self.radius = (value / 2 / np.pi) ** 0.5

    @classmethod
    def unit(cls):
        return cls(1.0)

    @staticmethod
    def total(x):
        return (x * x).sum()

    @functools.cached_property
    def name(self):
        return f"disc {self.radius}"

class Big(Disc):
    def area(self):
        return 10 * super().area()

class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    def brighter(self):
        return self.value + 1

class Pair(typing.NamedTuple):
    a: float
    b: float
    def both(self):
        return self.a + self.b

try:
    Base()
except TypeError:
    print("abstract")
disc = Disc()
for k in range(3):
    print(disc.area() > 12, disc.double > 25, Disc.unit().radius, Disc.total(np.arange(3.0)))
    print(Big(1.0).area() > 31, Colour.RED.brighter(), len(Colour), Pair(1.0, 2.0).both())
disc.double = 2 * np.pi
print(disc.radius, disc.name, Pair(3.0, 4.0), type(Disc.area).__name__)
'''


def test_methods_of_a_script(tmp_path: Path) -> None:
    path = tmp_path / "classes.py"
    path.write_text(METHODS)
    done = command("run", str(path))
    assert done.returncode == 0, done.stderr
    plain = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == plain.stdout.replace("function", "Jit")
    told = done.stderr.splitlines()
    assert any(line.startswith("  Disc.total: compiled whole") for line in told)
    assert told[-1] == "compiled in the functions that call them, or not called: Base.area"


def test_the_report_names_what_ran_inside_of_callers(tmp_path: Path) -> None:
    path = tmp_path / "nested.py"
    path.write_text("import numpy as np\n"
                    "def inner(x):\n    return x * x\n"
                    "def outer(x):\n    return inner(x).sum()\n"
                    "def main():\n    print(outer(np.arange(4.0)))\n"
                    "main()\n")
    told = command("run", str(path)).stderr.splitlines()
    assert told[-1].endswith("or not called: inner, outer")
    assert "    calls so far:" in told and "      1 compiled version" in told


def test_scripts_that_cannot_run(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    done = command("run", str(path))
    assert done.returncode == 2 and done.stderr.startswith("npcompile run: ")
    path.write_text("x = 1\ndef f(:\n")
    done, plain = command("run", str(path)), python(path)
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)


def python(path: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """A plain run of a script."""
    given = [sys.executable, str(path), *words]
    return subprocess.run(given, capture_output=True, text=True, check=False, input=text)


ENDS = '''\
import atexit, sys, threading

class Kept:
    def value(self):
        return 5

def end(how):
    if how == "text":
        sys.exit("a message")
    if how == "number":
        sys.exit(-1)
    if how == "chain":
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise RuntimeError("again") from error
    if how == "hook":
        sys.excepthook = lambda kind, error, trace: print("hook", kind, trace.tb_lineno)
        raise KeyError(how)
    if how == "interrupt":
        raise KeyboardInterrupt
    print(input(), Kept().value())

def late():
    threading.main_thread().join()
    print("a thread ends", sys.modules["__main__"].Kept.__name__)

print(__name__, __file__, __annotations__, __cached__, type(__loader__).__name__)
print(sorted(globals()), sys.path[0], sys.argv)
atexit.register(lambda: print("at exit", sys.modules["__main__"].Kept.__name__))
threading.Thread(target=late).start()
end(sys.argv[1])
'''


@pytest.mark.parametrize("how", ["text", "number", "chain", "hook", "interrupt", "input"])
def test_a_script_runs_and_ends_as_under_python(tmp_path: Path, how: str) -> None:
    path = tmp_path / "ends.py"
    path.write_text(ENDS)
    plain = python(path, how, text="a line")
    given = [sys.executable, "-m", "npcompile", "run", str(path), how]
    done = subprocess.run(given, capture_output=True, text=True, check=False, input="a line")
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert how != "interrupt" or done.returncode == -signal.SIGINT
    told, _, report = done.stderr.partition("npcompile: 3 functions, ")
    assert told == plain.stderr and "called" in report


def test_processes_that_a_script_starts(tmp_path: Path) -> None:
    path = tmp_path / "spawns.py"
    path.write_text("""\
import multiprocessing
def double(x):
    return 2 * x
if __name__ == "__main__":
    double(1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map_async(double, [1, 2]).get(timeout=60))
""")
    done = command("run", str(path))
    assert (done.returncode, done.stdout) == (0, "[2, 4]\n"), done.stderr


def test_both_runs_of_a_comparison_read_a_file(tmp_path: Path) -> None:
    path = tmp_path / "reads.py"
    path.write_text("import sys\ndef f(x):\n    return x.upper()\nprint(f(sys.stdin.read()))\n"
                    "assert f('a') == 'A'\n")
    (tmp_path / "text").write_text("some text")
    given = [sys.executable, "-m", "npcompile", "run", "--compare", str(path)]
    with open(tmp_path / "text") as file:
        done = subprocess.run(given, stdin=file, capture_output=True, text=True, check=True)
    assert done.stdout == "SOME TEXT\n"
    last = done.stderr.splitlines()[-1]
    assert last.startswith("plain Python: 0.") and "exit status" not in last


def test_info_and_version() -> None:
    done = command("info")
    assert done.returncode == 0
    told = dict(line.split("  ", 1) for line in done.stdout.splitlines())
    assert told["npcompile"].strip() == version("npcompile") and "threads" in told
    assert command("--version").stdout.strip() == version("npcompile")


def test_cache(tmp_path: Path, script: Path) -> None:
    folder = tmp_path / "cache"
    command("run", str(script), "0", folder=folder)
    size = int(command("cache", "size", folder=folder).stdout)
    assert size > 0 and str(folder) in command("cache", folder=folder).stdout
    assert command("cache", "clear", folder=folder).returncode == 0
    assert int(command("cache", "size", folder=folder).stdout) == 0


def test_a_command_that_is_missing_or_unknown() -> None:
    for words in ((), ("walk",)):
        done = command(*words)
        assert done.returncode == 2 and "run" in done.stderr


# ------------------------------------------------------------------ notebooks

CELL = """\
import numpy as np

def squares(x):
    return (x * x).sum()

def never(x):
    return x

squares(np.arange(4.0))
"""


class Shell:
    """What an extension is loaded into, as IPython's shell is."""

    def __init__(self) -> None:
        self.user_ns: dict[str, object] = {}
        self.magics: dict[tuple[str, str], object] = {}

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = function


def test_a_notebook_cell(capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell()
    npcompile.load_ipython_extension(shell)
    value = shell.magics["cell", "npcompile"]("", CELL)
    assert value == 14.0 and isinstance(shell.user_ns["squares"], npcompile.Jit)
    assert set(shell.user_ns) >= {"np", "squares", "never"} and run.NAME not in shell.user_ns
    shown = capsys.readouterr().out
    assert "squares: 1 calls" in shown and "return (x * x).sum()" in shown
    assert "never" not in shown


def test_a_notebook_cell_that_raises() -> None:
    names: dict[str, object] = {}
    with pytest.raises(ZeroDivisionError):
        notebook.run("def f(x):\n    return x / 0\nf(1)\n", names)
    assert run.NAME not in names and "f" in names
