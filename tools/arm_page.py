"""Writes the page of what was measured on emulated ARM, from what its tests have said.

    python tools/arm_page.py SINCE FILE ...

``SINCE`` has programs that ran since the last change.  Files
have the lines of ``dev.py test-arm``, of ``tests.fuzz``, and of ``campaign``, ``calls``,
``page`` and ``foreign`` of ``tests.portable``, and pytest's last line of the corpus.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/measurements/arm.md"

_HEAD = """\
# 64-bit ARM, emulated

QEMU 7.2 runs an ARM program on an x86-64 machine: `python tools/arm.py FOLDER` makes a Python 3.11
with NumPy 2.4, SciPy 1.17 and llvmlite 0.50 there, `python tools/dev.py test-arm` runs the tests in
it, and `python tools/dev.py test-arm sample` the part that continuous integration runs.  This
machine's LLVM writes the machine code, the same as the emulated one does.  {date}, processor
`neoverse-n1` (NEON) where no other is named.  Results are the machine's; times are not.

| what ran | result |
|---|---|
"""
_TAIL = """\

A number out of an integer's range becomes the nearest one on ARM, and NaN 0, as in most of NumPy's
loops there; in mode `"portable"` both become the least integer, as on x86-64.  Programs in which
NumPy tells of such a number are compared up to there.

Programs differ in two ways.  A sum of such numbers in a small integer type is another number.  A
signal that an emulated process gets late finds a loop at another iteration.  The programs that
differ, and one process of `iterators` that ended by signal 9, whose cause is not known, ran before
extremes of zeros were NumPy's there; of {since} programs since then: {told}.  Calls, the sample and
objects for other systems ran before that, too; all of this ran before vectors were searched for NaN
by their bits, which tests of their own cover.
"""

_PROGRAMS = re.compile(r"^ROW (\w+): (\d+) programs from \d+: (.*)$", re.MULTILINE)
_FUZZ = re.compile(r"^(\w+): (?:<.*\n)?(\d+) programs, (\d+) differ", re.MULTILINE)
_CALLS = re.compile(r"^([\w-]+): (\d+) calls, (\d+) wrong", re.MULTILINE)
_SUMS = re.compile(r"^(\d+) lines, (\d+) differ", re.MULTILINE)
_CORPUS = re.compile(r"^(\d+) passed(?:, \d+ \w+)* in ", re.MULTILINE)
_PROGRESS = re.compile(r"^(\.+) *\[ *\d+%\]$", re.MULTILINE)
_SAMPLE = re.compile(r"^\| (.*) \| (passes|FAILS.*) \| \d+ s \|", re.MULTILINE)
_FOREIGN = re.compile(r"^([\w-]+): (\d+) modules, (\d+) left.*\n.*\n  (\d+) names that nobody has",
                      re.MULTILINE)


def rows(text: str) -> Iterator[tuple[str, str]]:
    """What ran, and what came of it."""
    for count, differ in _SUMS.findall(text):
        yield (f"the page of sums in mode `\"portable\"`, {count} functions: AVX-512, AVX2, one"
               " lane, NEON", "the same SHA-256 each" if differ == "0" else f"{differ} differ")
    dots = sum(map(len, _PROGRESS.findall(text)))  # of pytest where it prints no last line
    for count in _CORPUS.findall(text) or [str(dots)] * bool(dots):
        yield "tests of the corpus at small size, beside NumPy there", f"{count} pass"
    yield from _of_programs(text)
    for processor, count, wrong in _CALLS.findall(text):
        yield ("calls from threads, children of forks, through side exits, interrupted, from disk,"
               f" `{processor}`: {int(count):,}", f"{wrong} wrong, no crash")
    for name, told in _SAMPLE.findall(text):
        yield f"sample: {name}", told
    for triple, count, python, unknown in _FOREIGN.findall(text):
        yield (f"modules of the corpus and of operators as objects for `{triple}`: {count}"
               f" ({python} functions are Python's)", f"{unknown} imports that nobody has there")


def _of_programs(text: str) -> Iterator[tuple[str, str]]:
    found = [(name, int(count), told.removesuffix(" differ")) for name, count, told
             in [*_PROGRAMS.findall(text), *_FUZZ.findall(text)]]
    ends = [f"{name} {told}" for name, _, told in found if not told.isdecimal()]
    differ = sum(int(told) for *_, told in found if told.isdecimal())
    total, names = sum(count for _, count, _ in found), {name for name, *_ in found}
    yield (f"random programs of {len(names)} grammars: {total:,}",
           "; ".join([f"{differ} differ", *ends, *["no crash"] * (not ends)]))


def main() -> None:
    text = "\n".join(Path(name).read_text() for name in sys.argv[1:])
    lines = "".join(f"| {what} | {result} |\n" for what, result in rows(text))
    ((_, told),) = _of_programs(Path(sys.argv[1]).read_text())
    since = sum(int(count) for _, count, _ in _PROGRAMS.findall(Path(sys.argv[1]).read_text()))
    tail = _TAIL.format(since=since, told=told)
    PAGE.write_text(_HEAD.format(date=datetime.date.today()) + lines + tail)
    print(lines)


if __name__ == "__main__":
    main()
