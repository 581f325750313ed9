"""The figure of a throughput run."""

from __future__ import annotations

from typing import Any

Rows = list[tuple[str, str, dict[str, float]]]  # function, dtype, seconds of each peer
COLOURS = {"npcompile": "#d1495b", "numexpr": "#9aa5b1", "numba": "#66a182",
           "numba loop": "#2e6f57", "numba fastmath": "#7fb069", "jax": "#edae49",
           "torch": "#00798c"}


def plot(rows: Rows, caption: str, path: str) -> None:
    """Speed-ups over NumPy at N = 1e6, a panel for each dtype."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 1, figsize=(11, 7.5), sharex=True)
    for panel, dtype in zip(panels, ("float64", "float32"), strict=True):
        _bars(panel, [(name, times) for name, d, times in rows if d == dtype])
        panel.set_title(f"{dtype}, N = 1,000,000", loc="left", fontsize=11)
    panels[0].legend(ncols=len(COLOURS), fontsize=9, frameon=False, loc="upper left")
    figure.text(0.01, 0.005, caption, fontsize=6.5, color="#555555")
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    figure.savefig(path, dpi=150)


def _bars(panel: Any, rows: list[tuple[str, dict[str, float]]]) -> None:
    width = 0.84 / len(COLOURS)
    for place, (peer, colour) in enumerate(COLOURS.items()):
        for position, (_, times) in enumerate(rows):
            if peer in times:
                height, at = times["numpy"] / times[peer], position - 0.42 + place * width
                label = peer if position == 0 else None
                panel.bar(at, height, width, align="edge", color=colour, label=label)
                panel.annotate(f"{height:.1f}", (at + width / 2, height), ha="center",
                               va="bottom", fontsize=6, rotation=90, xytext=(0, 2),
                               textcoords="offset points")
    panel.set_yscale("log")
    panel.axhline(1.0, color="black", linewidth=0.8)
    panel.set_xticks(range(len(rows)), [name for name, _ in rows], rotation=20, fontsize=9)
    panel.set_ylabel("times NumPy's speed")
    panel.set_ylim(top=panel.get_ylim()[1] * 2.2)
    panel.spines[["top", "right"]].set_visible(False)
