"""Loads the routines of linear algebra: generated once per dtype, kept on disk like the rest."""

from __future__ import annotations

from functools import cache

import numpy as np

from npcompile.backends.cpu.linalg import batches, blas, lapack, portable_products
from npcompile.backends.cpu.loader.compile import Loaded, load, target
from npcompile.backends.target import Target
from npcompile.core.errors import refuse
from npcompile.core.locks import lock
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.memory import recycled
from npcompile.runtime.threads import pool
from npcompile.runtime.versions import small_matrices

_lock = lock()


def addresses(module: str) -> dict[str, int]:
    """The routines of a module, by the names that generated code has for them."""
    recycled.ensure()
    with _lock:
        return _routines(module, target()).addresses


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
    elif routine == "double":
        from npcompile.backends.cpu.linalg import double_products

        pool.ensure()
        text = double_products.text(dtype, machine)
        imports = _routines(f"product.{name}", machine).addresses
    elif routine == "vector_rows":
        from npcompile.backends.cpu.linalg import double_products

        text = double_products.separate_text(dtype, machine)
    elif routine == "rows":
        from npcompile.backends.cpu.linalg import row_products

        text = row_products.text(dtype, machine)
    elif routine in ("product", "own"):
        text = portable_products.text(dtype, machine, library if routine == "product" else None)
    elif library is None:
        raise refuse(routine, "needs LAPACK, which neither NumPy nor SciPy show here")
    else:
        text = lapack.text(routine, dtype, machine, library)
    return load(compiled(text), imports)
