"""Records of functions of scipy.special that return tuples: one record for each part."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from npcompile.core.reported import reported
from npcompile.ops.elementwise import ELEMENTWISE, Program, Ufunc, loops, part
from npcompile.ops.record import Domain, define
from npcompile.special.bessel import airy_functions
from npcompile.special.elementary.piecewise import in_double
from npcompile.special.integrals import elliptic_incomplete, integral_functions

#: name in scipy.special, operands, programs of the parts, largest error in float64, where they are
#: tested, doc
_ROWS: list[tuple[str, str, tuple[Program, ...], float, tuple[Domain, ...], str]] = [
    ("sici", "x", (integral_functions.sine_integral, integral_functions.cosine_integral), 4.0,
     (Domain(0, 100),), "The sine and cosine integrals."),
    ("shichi", "x", (integral_functions.hyperbolic_sine_integral,
                     integral_functions.hyperbolic_cosine_integral), 4.0,
     (Domain(0, 100),), "The hyperbolic sine and cosine integrals."),
    ("fresnel", "x", (integral_functions.fresnel_sine, integral_functions.fresnel_cosine), 4.0,
     (Domain(-50, 50),), "The Fresnel integrals S and C."),
    ("airy", "x", (airy_functions.airy_ai, airy_functions.airy_ai_slope,
                   airy_functions.airy_bi, airy_functions.airy_bi_slope), 6.0,
     (Domain(-50, 50),), "Airy's functions Ai and Bi, each with its derivative."),
    ("ellipj", "xx", (elliptic_incomplete.jacobi_sn, elliptic_incomplete.jacobi_cn,
                      elliptic_incomplete.jacobi_dn, elliptic_incomplete.jacobi_amplitude), 12.0,
     (Domain(-10, 10), Domain(0, 1)), "Jacobi's elliptic functions sn, cn, dn and the amplitude."),
]


def _of_library(name: str, place: int) -> Callable[..., Any]:
    """One part of what the library returns."""

    def oracle(*operands: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*operands)[place]

    return oracle


def _define(name: str, operands: str, programs: tuple[Program, ...], ulp: float,
            domains: tuple[Domain, ...], doc: str) -> None:
    names = tuple(f"{name}.{k}" for k in range(len(programs)))
    for k, program in enumerate(programs):
        globals()[f"{name}_{k}"] = _of_library(name, k)
        part(names[k], loops(operands + "->x", "fd"), f"{__name__}:{name}_{k}",
             in_double(program), ulp={"d": ulp, "f": 0.51}, domains=domains, doc=doc)
    path = f"scipy.special:{name}"
    define(name, ELEMENTWISE, loops(f"{operands}->{'x' * len(programs)}", "fd"), aliases=(path,),
           reference=path, data=Ufunc(names), domains=domains, doc=doc)


for _row in _ROWS:
    _define(*_row)

reported.watch()  # SciPy may be told to report errors, which compiled code does not find
