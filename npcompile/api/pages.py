"""Pages that show a profile: HTML without scripts or files of its own, in light and dark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

from npcompile.core.lines import file_of
from npcompile.core.units import bytes_text, time_text

if TYPE_CHECKING:
    from npcompile.api.profile import Profile, Step

#: colours of the kinds, in light and in dark; text says each kind, too
COLOURS = {
    "machine code": ("#2a9d6f", "#3fbf8c"),
    "library": ("#b7791f", "#e0a84a"),
    "Python": ("#c0392b", "#ef6f61"),
    "other": ("#7a8594", "#8f9bab"),
}
#: which of them a step's kind belongs to
GROUPS = {"kernel": "machine code", "loop": "machine code", "rest": "machine code",
          "library": "library", "Python": "Python", "memory": "other", "entry": "other"}
STYLE = """
.npc{--fg:#1b2530;--bg:#fff;--soft:#f2f5f8;--line:#d6dde5;LIGHT
 color:var(--fg);background:var(--bg);font:14px/1.45 system-ui,sans-serif}
@media(prefers-color-scheme:dark){.npc{--fg:#e3e9f0;--bg:#12181f;--soft:#1b232c;--line:#33404d;DARK}}
.npc h1{font-size:1.35em;margin:.2em 0}.npc h2{font-size:1.05em;margin:1.3em 0 .4em}
.npc table{border-collapse:collapse;width:100%}
.npc td,.npc th{padding:.1em .6em;text-align:left;vertical-align:top;color:var(--fg);
 background:none;border:0}
.npc tr{background:none}.npc th{border-bottom:1px solid var(--line)}
.npc .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.npc .k{white-space:nowrap}.npc small{opacity:.75}.npc a{color:inherit}
.npc .why td:last-child{padding-left:2.2em}.npc .why span{color:var(--c2)}
.npc code,.npc pre{font:13px/1.5 ui-monospace,monospace;white-space:pre;margin:0;
 background:none;color:inherit}
.npc .bar{display:inline-block;height:.7em;vertical-align:baseline}
.npc .src{width:auto}.npc .src td{padding:0 .6em}
.npc .src td:first-child{border-left:5px solid transparent}
.npc .box{overflow-x:auto;border:1px solid var(--line);background:var(--soft);padding:.4em}
.npc .key span{margin-right:1.4em;white-space:nowrap}.npc summary{cursor:pointer;padding:.3em .6em}
"""
for _shade, _name in enumerate(("LIGHT", "DARK")):
    STYLE = STYLE.replace(_name, "".join(
        f"--c{k}:{pair[_shade]};" for k, pair in enumerate(COLOURS.values())))
LARGE = 400  # steps that a table and a picture show at most
LONG = 80  # more lines than that: the slowest are listed; more steps: the picture is folded
SHORT = 0.0005  # a step with a smaller share of the call is folded away
ADVICE = ("Python runs the lines with a reason below them.  Often such a statement can stand "
          "before or after the function, or its result can be passed in as an argument.")


def page(profile: Profile, remarks: Mapping[int, str] | None = None, text: str = "") -> str:
    """A page of its own; ``remarks`` are shown at lines, ``text`` at the end."""
    more = f"<h2>In words</h2><div class=box><pre>{escape(text)}</pre></div>" if text else ""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>{escape(profile.name)}</title>"
        "<style>body{margin:0}.npc{padding:1.2em;min-height:100vh;box-sizing:border-box}</style>"
        f"{fragment(profile, remarks, more)}</html>"
    )


def fragment(profile: Profile, remarks: Mapping[int, str] | None = None, more: str = "") -> str:
    """What a notebook shows."""
    parts = [
        _head(profile), _source(profile, remarks or {}), _steps(profile), _picture(profile),
        _memory(profile), more,
    ]
    return f"<style>{STYLE}</style><div class=npc>{''.join(parts)}</div>"


def _colour(group: str) -> str:
    return f"var(--c{list(COLOURS).index(group)})"


def _head(profile: Profile) -> str:
    sums: defaultdict[str, float] = defaultdict(float)
    for step in profile.steps:
        sums[GROUPS[step.kind]] += step.seconds
    key = "".join(
        f"<span><i class=bar style='width:.7em;background:{_colour(group)}'></i> {group} "
        f"{profile.share(sums[group]):.1%}</span>" for group in COLOURS if group in sums)
    return (
        f"<h1>{escape(profile.name)}</h1><p>{escape(profile.head)}</p><p class=key>{key}</p>"
    )


def _source(profile: Profile, remarks: Mapping[int, str]) -> str:
    """The function's lines, each with its time and the colour of most of it."""
    if not profile.source:
        return ""
    by_line: defaultdict[int, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    steps: defaultdict[int, list[str]] = defaultdict(list)
    for step in profile.steps:
        for line, share in step.lines.items():
            if file_of(line) in ("", profile.file):
                by_line[int(line)][GROUPS[step.kind]] += share * step.seconds
                steps[int(line)].append(f"{step.kind}: {step.name}")
    everywhere = all(step.kind == "Python" and not step.lines for step in profile.steps)
    rows = []
    for number, text in enumerate(profile.source.splitlines(), profile.first):
        rows.append(_line(profile, number, text, by_line.get(number, {}), steps[number],
                          remarks.get(number, ""), "Python" if everywhere else ""))
    about = ("The colour at the left edge says what ran the line; the bar, how long. "
             "A line without a colour took no time of its own.")
    return (f"<h2>By line</h2><p>{about} {ADVICE if remarks else ''}</p>"
            f"{_slowest(profile, by_line)}"
            f"<div class=box><table class=src>{''.join(rows)}</table></div>")


def _slowest(profile: Profile, by_line: Mapping[int, Mapping[str, float]]) -> str:
    """Of a long function, the lines that take most, which lead to their places."""
    if profile.source.count("\n") <= LONG:
        return ""
    times = {number: sum(kinds.values()) for number, kinds in by_line.items()}
    most = sorted(times, key=lambda number: -times[number])[:8]
    found = ", ".join(f"<a href='#npc{number}'>line {number}</a> {profile.share(times[number]):.1%}"
                      for number in most)
    return f"<p>Most time: {found}</p>"


def _line(profile: Profile, number: int, text: str, times: Mapping[str, float],
          steps: list[str], remark: str, otherwise: str) -> str:
    total = sum(times.values())
    group = "Python" if remark else max(times, key=lambda g: times[g], default=otherwise)
    told = "\n".join(filter(None, [remark, *dict.fromkeys(steps)]))
    edge = f" style='border-left-color:{_colour(group)}'" if group else ""
    bars = "".join(
        f"<i class=bar style='width:{60 * profile.share(seconds):.1f}px;background:{_colour(g)}'>"
        "</i>" for g, seconds in times.items())
    share = f"{profile.share(total):.1%}" if total else ""
    title = f" title='{escape(told, quote=True)}'" if told else ""
    why = escape(remark.splitlines()[0].removeprefix(f"line {number}: ")) if remark else ""
    below = why and (
        f"<tr class=why><td{edge}><td><td><td><td><span>Python, because of</span> {why}</tr>")
    return (
        f"<tr id=npc{number}{title}><td class=n{edge}>{number}</td><td class=n>{share}</td>"
        f"<td class=n>{time_text(total) if total else ''}</td><td>{bars}</td>"
        f"<td><code>{escape(text)}</code></td></tr>{below}")


def _steps(profile: Profile) -> str:
    ordered = sorted(profile.steps, key=lambda step: -step.seconds)
    seen = [step for step in ordered if profile.share(step.seconds) >= SHORT][:LARGE]
    rest = ordered[len(seen):]
    head = ("<table><tr><th class=n>share<th class=n>time<th class=n>runs<th>kind<th>step<th>lines"
            "<th class=n>rate</tr>")
    folded = rest and (
        f"<details><summary>and {len(rest)} more, together "
        f"{profile.share(sum(step.seconds for step in rest)):.1%}</summary>"
        f"{head}{_rows(profile, rest[:LARGE])}</table></details>")
    return (f"<h2>By step</h2><div class=box>{head}{_rows(profile, seen)}</table>"
            f"{folded or ''}</div>")


def _rows(profile: Profile, steps: list[Step]) -> str:
    return "".join(
        f"<tr><td class=n>{profile.share(step.seconds):.1%}</td>"
        f"<td class=n>{time_text(step.seconds)}</td><td class=n>{step.runs:,}</td>"
        f"<td class=k><i class=bar style='width:.7em;background:{_colour(GROUPS[step.kind])}'>"
        f"</i> {escape(step.kind)}</td><td>{escape(step.name)} "
        f"<small>{escape(_statement(profile, step))}</small></td>"
        f"<td>{_ranges(sorted({int(line) for line in step.lines}))}</td>"
        f"<td class=n>{escape(step.rate)}</td></tr>" for step in steps)


def _statement(profile: Profile, step: Step) -> str:
    """The line from which most of a kernel comes, as kernels have numbers and no names."""
    lines = profile.source.splitlines()
    if step.kind != "kernel" or not step.lines:
        return ""
    most = max(step.lines, key=lambda line: step.lines[line])
    place = int(most) - profile.first
    inside = file_of(most) in ("", profile.file) and 0 <= place < len(lines)
    return lines[place].strip() if inside else ""


def _ranges(lines: list[int]) -> str:
    """Numbers of lines, neighbours as one range.

    >>> _ranges([4, 5, 6, 9])
    '4-6, 9'
    """
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def _picture(profile: Profile) -> str:
    """The steps from top to bottom, with arcs from what is stored to what reads it."""
    shown = [step for step in profile.steps if step.reads or step.writes][:LARGE]
    if not shown:
        return ""
    high, left, wide = 30, 40 + 8 * min(len(shown), 12), 720
    parts = []
    for k, earlier, name in _arcs(shown):
        top, bottom = high * earlier + 20, high * k + 12
        bend = left - 14 - 7 * min(k - earlier, 12)
        parts.append(
            f"<path d='M{left},{top} C{bend},{top} {bend},{bottom} {left},{bottom}' fill='none' "
            f"stroke='{_colour('other')}' stroke-width='1.5'><title>{escape(name)}</title></path>")
    for k, step in enumerate(shown):
        share, colour = profile.share(step.seconds), _colour(GROUPS[step.kind])
        text = f"{step.kind} {step.name} ({share:.1%})  {_statement(profile, step)}"
        label = escape(text if len(text) <= 108 else f"{text[:105]}...")
        place = f"x='{left}' y='{high * k + 3}' height='24' rx='4'"
        parts.append(
            f"<rect {place} width='{wide}' fill='var(--bg)' stroke='{colour}'/>"
            f"<rect {place} width='{wide * min(share, 1.0):.1f}' fill='{colour}' "
            f"fill-opacity='.3'/><text x='{left + 8}' y='{high * k + 19}' fill='var(--fg)' "
            f"font-size='12'>{label}</text>")
    size = f"width='{left + wide + 10}' height='{high * len(shown) + 8}'"
    opened = "open" * (len(shown) <= LONG)
    return (f"<h2>Graph</h2><details {opened}><summary>{len(shown)} steps in their order; an arc "
            "leads from the step that stores an array to one that reads it</summary>"
            f"<div class=box><svg {size} role=img aria-label='steps and what they read'>"
            f"{''.join(parts)}</svg></div></details>")


def _arcs(steps: list[Step]) -> Iterator[tuple[int, int, str]]:
    """For each array that a step reads: the step, the one that stored it last, its name."""
    stored: dict[str, int] = {}
    for k, step in enumerate(steps):
        for name in step.reads:
            if name in stored:
                yield k, stored[name], name
        stored.update(dict.fromkeys(step.writes, k))


def _memory(profile: Profile) -> str:
    """Bytes in use over time, as a step line."""
    if not profile.peak:
        return ""
    wide, high = 800, 120
    end = 1.02 * max(e for *_, e in profile.events) or 1.0  # what is taken last is seen, too
    points, before = [f"0,{high}"], high
    for at, held in profile.memory:
        x, y = wide * at / end, high - round((high - 24) * held / profile.peak)
        points += [f"{x:.1f},{before}", f"{x:.1f},{y}"]
        before = y
    points += [f"{wide},{before}", f"{wide},{high}"]
    return (
        f"<h2>Memory over time</h2><div class=box><svg width={wide} height={high + 20} role=img "
        f"aria-label='bytes in use over time'><polygon points='{' '.join(points)}' "
        f"fill='{_colour('other')}' fill-opacity='.35' stroke='{_colour('other')}'/>"
        f"<text x=4 y=14 fill='var(--fg)' font-size='12'>{bytes_text(profile.peak)} at the "
        "peak</text>"
        f"<text x={wide - 70} y={high + 15} fill='var(--fg)' font-size='12'>{end * 1e3:.3g} ms"
        "</text></svg></div>")
