"""Profiles and reports: where the time of a call goes."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import threading
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

import npcompile
from npcompile import CompileError, jit
from npcompile.core.recorder import EVENTS


@jit
def mixed(x, y):
    a = np.sqrt(x * x + y * y)
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + x[i]
    b = np.exp(a) / (1 + a)
    return gaussian_filter1d(b, 1.0).sum() + total + a @ a


@jit
def changing(x):
    x += 1
    return np.random.random() + x.sum()


@jit
def with_file(x, path):
    a = np.cumsum(x * x)
    with open(path) as file:
        n = len(file.read())
    for k in range(10):
        a = a * 0.9 + k
    return a.sum() + n


X, Y = np.random.default_rng(0).random((2, 200_000))


def test_the_lines_of_a_profile_are_the_call() -> None:
    p = mixed.profile(X, Y)
    assert sum(p.lines.values()) == pytest.approx(p.seconds, rel=0.05)
    assert sum(step.seconds for step in p.steps) == pytest.approx(p.seconds, rel=0.05)
    first = mixed.__wrapped__.__code__.co_firstlineno
    named = {int(line) - first for line in p.lines if line}
    assert named == {2, 4, 5, 6, 7}
    kinds = {step.kind for step in p.steps}
    assert kinds == {"kernel", "loop", "library", "memory", "entry", "rest"}


def test_a_profile_says_what_kernels_move() -> None:
    p = jit(lambda x, y: x * y + x).profile(X, Y)
    [kernel] = [step for step in p.steps if step.kind == "kernel"]
    assert (kernel.points, kernel.bytes, kernel.operations) == (X.size, 24 * X.size, 2 * X.size)
    assert kernel.reads == ("x", "y") and len(kernel.writes) == 1
    assert p.peak == X.nbytes and "GB/s" in str(p)


def test_arguments_and_random_numbers_stay_as_they_are() -> None:
    x = np.ones(1000)
    np.random.seed(3)
    changing.profile(x)
    assert (x == 1).all()
    drawn = np.random.random()
    np.random.seed(3)
    assert drawn == np.random.random()


def test_what_python_executes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    p = with_file.profile(X, str(path))
    first = with_file.__wrapped__.__code__.co_firstlineno
    python = [step for step in p.steps if step.kind == "Python"]
    assert [int(line) - first for step in python for line in step.lines] == [3]
    report = with_file.report(X, str(path))
    assert [line - first for line in report.remarks] == [3]


@jit
def dithered(work, centres):
    chosen = np.zeros(work.shape[0], np.int64)
    for i in range(len(work)):
        best, nearest = np.inf, 0
        for k in range(len(centres)):
            d = np.sum((work[i] - centres[k]) ** 2)
            if d < best:
                best, nearest = d, k
        chosen[i] = nearest
    return chosen


def test_a_loop_of_short_statements_is_one_step() -> None:
    rng = np.random.default_rng(1)
    p = dithered.profile(rng.random((300, 3)), rng.random((6, 3)))
    [loop] = [step for step in p.steps if step.kind == "loop"]
    first = dithered.__wrapped__.__code__.co_firstlineno
    named = {int(line) - first: share for line, share in loop.lines.items()}
    assert max(named, key=lambda line: named[line]) == 6 and {5, 7} <= named.keys()
    assert f"line {first + 3}" in loop.name
    assert len(p.events) < 20  # noting a kernel of three elements takes longer than it does


def test_long_statements_of_a_loop_are_steps_of_their_own() -> None:
    @jit
    def relaxed(x, n):
        total = 0.0
        for k in range(n):
            total = total * 0.5 + k
            x = np.sqrt(x * x + 1.0)
            total += x.sum()
        return total

    p = relaxed.profile(np.ones(200_000), 50)
    kernels = [step for step in p.steps if step.kind == "kernel"]
    assert max(step.runs for step in kernels) >= 49  # the first iteration may stand before it
    [loop] = [step for step in p.steps if step.kind == "loop"]
    assert loop.seconds < sum(step.seconds for step in kernels)  # its own time, without theirs
    assert sum(p.lines.values()) == pytest.approx(p.seconds, rel=0.05)


def test_more_events_than_there_is_room_for() -> None:
    @jit
    def sorted_often(x, n):
        total = 0.0
        for _ in range(n):
            total += np.sort(x)[0]
        return total

    p = sorted_often.profile(np.ones(3), 70_000)
    assert len(p.events) == EVENTS and p.seconds > 0
    assert sum(p.lines.values()) == pytest.approx(p.seconds, rel=0.05)


def test_a_function_that_runs_in_python() -> None:
    def refused(x):
        return eval("x + 1")

    p = jit(refused).profile(X)
    assert [step.kind for step in p.steps] == ["Python"] and not p.memory


def test_a_call_that_raises() -> None:
    @jit
    def fails(x):
        if x.sum() > 0:
            raise ValueError("as asked")
        return x

    for call in (fails.profile, fails.report):
        with pytest.raises(ValueError, match="as asked"):
            call(X)


def test_only_code_of_the_cpu_is_profiled() -> None:
    with pytest.raises(CompileError):
        jit(backend="reference")(lambda x: x + 1).profile(X)


def test_traces(tmp_path: Path) -> None:
    p = mixed.profile(X, Y)
    p.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    timed = [event for event in events if event["ph"] == "X"]
    assert {"kernel", "library", "memory", "program"} <= {event["cat"] for event in timed}
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in timed)
    [program] = [event for event in timed if event["cat"] == "program"]
    assert all(event["ts"] + event["dur"] <= program["ts"] + program["dur"] + 1 for event in timed)


# ------------------------------------------------------------------ pages


class _Balanced(HTMLParser):
    """Notes elements that are opened and not closed, and what comes from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.wrong += [f"{k}={v}" for k, v in named.items()
                       if k in ("src", "href") and not v.startswith("#")]
        if tag in ("div", "table", "svg", "style", "code", "pre"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("div", "table", "svg", "style", "code", "pre") and self.open.pop() != tag:
            self.wrong.append(tag)


def check_page(text: str) -> None:
    parser = _Balanced()
    parser.feed(text)
    assert not parser.open and not parser.wrong


def test_pages_are_whole_and_of_their_own(tmp_path: Path) -> None:
    report = mixed.report(X, Y)
    check_page(str(report))
    check_page(report._repr_html_())
    report.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "np.sqrt(x * x + y * y)" in text and "prefers-color-scheme:dark" in text
    mixed.profile(X, Y).save(tmp_path / "profile.html")
    check_page((tmp_path / "profile.html").read_text())


def test_sources_are_escaped() -> None:
    @jit
    def compared(x):
        return (x < 0.5) & (x > 0.1)  # <b> & "quotes"

    check_page(str(compared.report(X)))
    assert "&lt;b&gt; &amp;" in str(compared.report(X))


def test_long_functions_have_pages() -> None:
    body = "\n".join(f"    x = x * 0.5 + {k}" for k in range(150))
    names: dict[str, object] = {}
    exec(f"def long(x):\n{body}\n    return x", names)
    check_page(str(jit(names["long"]).report(X[:100])))


def test_a_long_source_begins_with_its_slowest_lines(tmp_path: Path) -> None:
    body = "\n".join(f"    x = x * 0.5 + {k}" for k in range(90))
    (tmp_path / "ninety.py").write_text(f"def ninety(x):\n{body}\n    return x\n")
    names = runpy.run_path(str(tmp_path / "ninety.py"))
    text = str(jit(names["ninety"]).report(X[:100]))
    check_page(text)
    named = re.findall(r"href='#npc(\d+)'", text)
    assert len(named) == 8 and all(f"<tr id=npc{line} " in text for line in named)


def test_pages_say_why_python_runs_a_line(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    line = with_file.__wrapped__.__code__.co_firstlineno + 3
    text = str(with_file.report(X, str(path)))
    [(row, why)] = re.findall(rf"(?s)<tr id=npc{line}(.*?)</tr><tr class=why>(.*?)</tr>", text)
    assert "with open(path) as file:" in row
    assert "Python, because of</span>" in why and "io.open" in why
    assert "can stand" in text


def test_a_page_of_a_function_that_runs_in_python() -> None:
    def refused(x):
        return eval("x + 1")

    text = str(jit(refused).report(X))
    red = "<td class=n style='border-left-color:var(--c2)'>"
    assert text.count(red) == 2 and "eval" in text


def _pixels(path: Path) -> np.ndarray:
    image = pytest.importorskip("matplotlib.image")
    return image.imread(path)[..., :3]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium here")
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_a_page(tmp_path: Path, dark: bool) -> None:
    mixed.report(X, Y).save(tmp_path / "page.html")
    command = [
        "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--window-size=900,900", f"--screenshot={tmp_path / 'page.png'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        (tmp_path / "page.html").as_uri(),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    seen = _pixels(tmp_path / "page.png")
    background = seen[-1, -1].mean()
    assert background < 0.3 if dark else background > 0.9
    away = np.abs(seen - seen[-1, -1]).max(axis=2) > 0.3
    assert away[: len(away) // 2].mean() > 0.005  # text and bars


# ------------------------------------------------------------------ whole programs


def test_a_profiler_takes_the_calls_of_its_block() -> None:
    @jit
    def double(x):
        return x * 2 + 1

    before = double(X)
    with npcompile.profiler() as p:
        assert all((double(X) == before).all() for _ in range(3))
        mixed(X, Y)
    assert p.calls["mixed"] == 1 and p.calls[double.__qualname__] == 3
    double(X)
    assert p.calls[double.__qualname__] == 3
    found = p.profiles["mixed"]
    assert sum(found.lines.values()) == pytest.approx(found.seconds, rel=0.05)
    names = {event["name"] for event in p.trace()["traceEvents"]}
    assert "mixed" in names and any("gaussian_filter1d" in name for name in names)
    assert re.search(r"mixed: 1 calls", str(p))


def test_a_profiler_takes_other_kinds_of_calls() -> None:
    with npcompile.profiler() as p:
        results = [mixed(X, Y), mixed(X[:10].astype(np.float32), Y[:10]), mixed(X, Y)]
    assert p.calls == {"mixed": 3} and results[0] == results[2] == mixed(X, Y)
    assert results[1] == mixed(X[:10].astype(np.float32), Y[:10])


def test_a_profiler_records_one_thread_and_no_other_profiler() -> None:
    @jit
    def half(x):
        return x * 0.5

    with npcompile.profiler() as p:
        thread = threading.Thread(target=half, args=(X,))
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="already"), npcompile.profiler():
            pass
        half(X)
    assert p.calls[half.__qualname__] == 1


def test_a_profiler_ends_when_its_block_raises() -> None:
    @jit
    def bad(x):
        return x[10]

    with pytest.raises(IndexError), npcompile.profiler() as p:
        bad(np.ones(3))
    assert p.calls[bad.__qualname__] == 1
    with npcompile.profiler():
        pass
