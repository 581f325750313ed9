"""Elementary and special functions, and their operators' records.

As a namespace it has every function of scipy.special.  Those with a record are ufuncs over
compiled loops, the others SciPy's own.

>>> import npcompile
>>> npcompile.special.gammaln(5.0)
np.float64(3.1780538303479458)
"""

from __future__ import annotations

from typing import Any

from npcompile.core import late


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = late.built("of_special", name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *late.built("names_of_special")})
