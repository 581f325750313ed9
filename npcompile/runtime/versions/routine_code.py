"""Loads the routines that programs call: transforms, and those of linear algebra."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npcompile.runtime.transforms import called
    from npcompile.runtime.versions import linalg_code
else:
    from npcompile.core.paths import defer

    defer(globals(), "npcompile.runtime.transforms", "called")
    defer(globals(), "npcompile.runtime.versions", "linalg_code")


def addresses(modules: Iterable[str]) -> dict[str, int]:
    """The routines of some modules (``product.float64``, ``own.float64`` without a library,
    ``solve.complex128``, ``batch_solve.float64``, ``transform_c2c_0_backward_even_numpy.float64``),
    by the names that generated code has for them.
    """
    found: dict[str, int] = {}
    for module in modules:
        maker = called if module.startswith("transform_") else linalg_code
        found |= maker.addresses(module)
    return found
