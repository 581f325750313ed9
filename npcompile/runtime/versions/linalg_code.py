"""Loads the routines of linear algebra: generated once per dtype, kept on disk like the rest."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from npcompile.backends.cpu.linalg import batches, blas, lapack, portable_products
from npcompile.backends.cpu.loader.compile import Loaded, load, target
from npcompile.backends.target import Target
from npcompile.core.errors import refuse
from npcompile.core.locks import lock
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.memory import recycled
from npcompile.runtime.transforms import called
from npcompile.runtime.versions import small_matrices

_lock = lock()


def addresses(modules: Iterable[str]) -> dict[str, int]:
    """The routines of some modules (``product.float64``, ``own.float64`` without a library,
    ``solve.complex128``, ``batch_solve.float64``), by the names that generated code has for them.
    """
    found: dict[str, int] = {}
    for module in modules:
        if module.startswith("transform_"):
            found |= called.addresses(module)
            continue
        recycled.ensure()
        with _lock:
            found |= _routines(module, target()).addresses
    return found


@cache
def _routines(module: str, machine: Target) -> Loaded:
    routine, _, name = module.partition(".")
    dtype = np.dtype(name)
    library = blas.scipys() if lapack.of_scipy(routine) else blas.library()
    imports: dict[str, int] = blas.Addresses(library)
    if routine.startswith(batches.PREFIX):
        routine = routine.removeprefix(batches.PREFIX)
        text = batches.text(routine, dtype, machine)
        imports = {**_routines(f"{routine}.{name}", machine).addresses,
                   **small_matrices.table(routine, dtype, machine).addresses()}
    elif routine in ("product", "own"):
        text = portable_products.text(dtype, machine, library if routine == "product" else None)
    elif library is None:
        raise refuse(routine, "needs LAPACK, which neither NumPy nor SciPy show here")
    else:
        text = lapack.text(routine, dtype, machine, library)
    return load(compiled(text), imports)
