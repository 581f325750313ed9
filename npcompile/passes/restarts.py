"""Graphs that Python runs from the start wherever their code is left, and never in the middle.

Their callers use nothing of what was written till then: ufuncs' loops, C functions.  So no loop is
left between two of its iterations, and nothing is kept for Python.
"""

from __future__ import annotations

from npcompile.graph.ir import Graph, Resume
from npcompile.passes import interruptible_loops, rewrite


class Restarting(rewrite.Rewriter):
    """Rebuilds a graph whose checks have Python begin anew."""

    def resume(self, resume: Resume) -> Resume:
        return Resume(restarts=True)


def uninterrupted(graph: Graph) -> Graph:
    """A traced graph without the edges of its loops; its regions are changed."""
    interruptible_loops.drop(graph.region)
    return graph


def restarting(graph: Graph) -> Graph:
    """A lowered graph whose checks have Python begin anew."""
    return Restarting(graph, lambda builder, node, args: None).run()
