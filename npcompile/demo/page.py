"""The demo's page: NumPy's pictures beside npcompile's, a chart, and the report on one function."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.demo.data import palette

if TYPE_CHECKING:
    from npcompile.api.report import Report
    from npcompile.demo.data import Data
    from npcompile.demo.run import Measurement

#: the functions whose results are pictures, with their colours
PICTURES = {"hillshade": "gray", "unsharp": None, "nearest_colour": None, "haversine": "viridis",
            "contrast": "bone"}
#: of these, the unit of the result
UNITS = {"haversine": "km"}
#: the functions whose results are curves, with the names of the axes
CURVES = {"volatility": ("month", "volatility a year"), "softmax": ("temperature step", "weight")}
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:1.5em auto;padding:0 1em;
 color:#1b2530;background:#fff}
img{max-width:100%}table{border-collapse:collapse}td,th{padding:.15em .8em;text-align:right}
td:first-child,th:first-child{text-align:left}th{border-bottom:1px solid #d6dde5}
@media(prefers-color-scheme:dark){body{color:#e3e9f0;background:#12181f}}
"""


def page(
    data: Data, rows: list[Measurement], ready: float, report: Report, folder: Path
) -> Path:
    """Writes the page and returns where it is; ``ready``: the seconds of the first compile."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["<h1>npcompile beside NumPy</h1><p>Each picture is computed twice: by plain NumPy and "
             "by the same function under <code>@jit</code>.  The third shows the difference.</p>"]
    by_name = {row.name: row for row in rows}
    for name, colours in PICTURES.items():
        parts.append(f"<h2>{name}</h2>{pictures(by_name[name], colours, data)}")
    parts += [f"<h2>{name}</h2>{curves(by_name[name])}" for name in CURVES]
    parts.append(f"<h2>Speed</h2>{chart(rows, folder / 'demo.png')}{table(rows, ready)}")
    parts.append(f"<h2>The report on one function</h2>{report._repr_html_()}")
    path = folder / "index.html"
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>npcompile</title>"
        f"<style>{STYLE}</style>{''.join(parts)}</html>", encoding="utf-8")
    return path


def pictures(row: Measurement, colours: str | None, data: Data) -> str:
    """NumPy's picture, npcompile's, and their difference."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    shown = None
    for axis, title, image in zip(axes, ("NumPy", "npcompile"), (row.expected, row.result)):
        shown = axis.imshow(coloured(row.name, image, data), cmap=colours)
        axis.set(title=title, xticks=[], yticks=[])
    if colours is not None and shown is not None:
        figure.colorbar(shown, ax=list(axes[:2]), label=UNITS.get(row.name, ""), shrink=0.8)
    away = np.abs(np.asarray(row.result, float) - np.asarray(row.expected, float))
    away = away.reshape((*coloured(row.name, row.result, data).shape[:2], -1)).max(axis=2)
    most = float(away.max())
    apart = axes[2].imshow(away, cmap="magma", vmin=0, vmax=most or 1)
    if most:
        figure.colorbar(apart, ax=axes[2], label=UNITS.get(row.name, ""), shrink=0.8)
    axes[2].set(title="no difference" if most == 0 else f"difference: at most {most:.1e}",
                xticks=[], yticks=[])
    return embedded(figure)


def coloured(name: str, image: Any, data: Data) -> Any:
    """A result as a picture: indices of colours as these."""
    if name != "nearest_colour":
        return image
    return palette(data.photo.reshape(-1, 3))[image].reshape(data.photo.shape)


def curves(row: Measurement) -> str:
    """NumPy's curves, and npcompile's as dots on them."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(13, 3.4), layout="constrained")
    shape = (np.asarray(row.result)[-1] if row.name == "softmax" else np.asarray(row.result))
    other = (np.asarray(row.expected)[-1] if row.name == "softmax" else np.asarray(row.expected))
    shape, other = shape[..., :6], other[..., :6]
    every = max(len(shape) // 60, 1)
    lines = axis.plot(other, color="#7a8594", linewidth=1.5)
    places = range(0, len(shape), every)
    dots = axis.plot(places, shape[::every], ".", color="#c0392b", markersize=5)
    axis.legend([lines[0], dots[0]], ["NumPy", "npcompile"], loc="upper right")
    across, up = CURVES[row.name]
    axis.set(xlabel=across, ylabel=up)
    return embedded(figure)


def chart(rows: list[Measurement], path: Path) -> str:
    """Bars of the speed-ups, with their numbers; also a file of its own."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(11, 4.2), layout="constrained")
    ordered = rows[::-1]
    bars = axis.barh([r.name for r in ordered], [r.speedup for r in ordered], color="#3a7ca5")
    axis.bar_label(bars, [f" {r.speedup:.1f}" for r in ordered])
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set(title="times NumPy's speed (logarithmic)", xscale="log")
    axis.margins(x=0.1)
    figure.savefig(path, dpi=80)
    return embedded(figure)


def table(rows: list[Measurement], ready: float) -> str:
    """The measurements; the first compile of the process stands apart."""
    body = "".join(
        f"<tr><td>{escape(r.name)}<td>{1e3 * r.numpy:.2f}<td>{1e3 * r.compiled:.3f}"
        f"<td>{1e3 * r.first_call:.1f}<td>{'bit for bit' if r.error == 0 else f'{r.error:.0f} ulp'}"
        for r in rows)
    return ("<table><tr><th>function<th>NumPy, ms<th>npcompile, ms<th>first call, ms<th>equal"
            f"{body}</table><p>The first compile of the process, which imports the compiler, took "
            f"{1e3 * ready:.0f} ms more.  A result is told in units of its last place where a "
            "composition of functions cancels digits.</p>")


def embedded(figure: Any) -> str:
    """A figure as part of a page."""
    from matplotlib import pyplot

    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=75)
        pyplot.close(figure)
        text = base64.b64encode(file.getvalue()).decode()
    return f"<img alt='' src='data:image/png;base64,{text}'>"
