"""Modules of routines that LAPACK is called for."""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.linalg import general
from npcompile.backends.cpu.linalg.blas import Blas
from npcompile.backends.cpu.linalg.factors import WRITERS, Factors
from npcompile.backends.cpu.loader.compile import Target

WRITERS.update(general.WRITERS)


def text(routine: str, dtype: np.dtype, target: Target, blas: Blas) -> str:
    """The module of one routine for one dtype."""
    return Factors(dtype, target, blas).text(routine)
