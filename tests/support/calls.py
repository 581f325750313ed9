"""Calls of a function compiled and plain, compared."""

from __future__ import annotations

import copy

import numpy as np

from npcompile import jit
from tests.fuzz.programs import difference, run

BACKENDS = ("cpu", "reference")


def alike(function, *calls, captured=True, backends=BACKENDS):
    """Results, exceptions, warnings and changed arguments of each call, on each backend."""
    for backend in backends:
        compiled = jit(function, backend=backend, fullgraph=captured)
        for args in calls:
            got, want = (
                run(call, {str(i): x for i, x in enumerate(copy.deepcopy(args))})
                for call in (compiled, function)
            )
            assert not difference(got, want), f"{backend}{args}: {difference(got, want)}"


def agrees(plain, *args):
    """The compiled function does what the plain one does, twice."""
    compiled = jit(plain)
    for _ in range(2):
        want, got = (
            run(f, {str(i): x.copy() if isinstance(x, np.ndarray) else x
                    for i, x in enumerate(args)})
            for f in (plain, compiled)
        )
        assert not difference(got, want), difference(got, want)
