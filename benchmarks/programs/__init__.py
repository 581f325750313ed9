"""The corpus: ordinary NumPy functions, as their authors would write them for NumPy alone."""

from __future__ import annotations

import importlib

from benchmarks.programs.record import PROGRAMS, Program

TOPICS = (
    "linear_algebra", "stencils", "fluids", "dynamic_programming", "filters_and_codes",
    "fractals_and_particles", "sparse_and_histograms", "neural", "clustering", "monte_carlo",
    "root_finding", "agents_and_automata", "sorting", "finance_and_statistics", "images",
)

for _topic in TOPICS:
    importlib.import_module(f"benchmarks.programs.{_topic}")

__all__ = ["PROGRAMS", "Program"]
