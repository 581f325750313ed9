"""Elementary and special functions: importing this room adds the records of NumPy's.  Those of
scipy.special's, which are many, are added when one of these is looked for.

As a namespace it has every function of scipy.special.  Those with a record are ufuncs over
compiled loops, the others SciPy's own.

>>> import npcompile
>>> npcompile.special.gammaln(5.0)
np.float64(3.1780538303479458)
"""

from __future__ import annotations

import importlib
from typing import Any

from npcompile.core import late
from npcompile.core.reported import reported
from npcompile.ops.record import later
from npcompile.special import axes, elementary_records
from npcompile.special.elementary import nextafter

__all__ = ["axes", "elementary_records", "nextafter"]

def _complete() -> None:
    importlib.import_module("npcompile.special.scipy_records")
    reported.watch()


for _module in ("scipy.special", "scipy.special._ufuncs"):
    later(_module, _complete)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = late.built("of_special", name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *late.built("names_of_special")})
