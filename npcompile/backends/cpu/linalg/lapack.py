"""Modules of routines that LAPACK is called for."""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.linalg import columns, general
from npcompile.backends.cpu.linalg.blas import Blas
from npcompile.backends.cpu.linalg.factors import PARAMETERS, WRITERS, Factors
from npcompile.backends.target import Target

WRITERS.update(general.WRITERS | columns.WRITERS)
PARAMETERS.update(columns.PARAMETERS)


def of_scipy(routine: str) -> bool:
    """Whether SciPy's library has a routine's bits."""
    return routine.partition("_")[0] in columns.WRITERS


def text(routine: str, dtype: np.dtype, target: Target, blas: Blas) -> str:
    """The module of one routine for one dtype."""
    return Factors(dtype, target, blas).text(routine)
