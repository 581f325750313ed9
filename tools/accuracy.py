"""Measures the largest errors of the compiled elementary functions; writes docs/accuracy.md.

Run from the repository's root::

    python -m tools.accuracy                     # all, a million points each
    python -m tools.accuracy 20000 exp           # fewer points, some functions: printed only
    python -m tools.accuracy 20000 exp --write   # and put into the page
    python -m tools.accuracy 1 routines --write  # transforms, factorisations and products

Each function is compiled and run on random points; x87 long double of the C library (64 bits of
mantissa) screens the results, and the worst are measured again with mpmath.  Functions that the C
library has not are measured with mpmath at some thousand points in float64, and float32 is screened
by float64.  NumPy's or SciPy's own function is measured on the same points.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

from npcompile import jit
from npcompile.ops.record import OPERATORS
from tests.special.test_complex import EXACT as COMPLEX
from tests.special.test_complex import modulus_errors
from tests.special.test_complex import points as complex_points
from tests.support.complex_subprograms import FADDEEVA
from tests.support.special_functions import (
    CALLS,
    FUNCTIONS,
    SIZES,
    SLOW,
    Points,
    Samples,
    called,
    chars_of,
    ulp_errors,
)
from tests.support.subprograms import CALLED
from tools import routine_accuracy

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
LONG = np.longdouble
CHECKED = 200  # of the worst by long double, how many go to mpmath

_LOOP = """
declare x86_fp80 @{name}(x86_fp80)
define void @run(ptr %a, ptr %o, i64 %n) {{
start:
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
  %pa = getelementptr x86_fp80, ptr %a, i64 %i
  %po = getelementptr x86_fp80, ptr %o, i64 %i
  %x = load x86_fp80, ptr %pa
  %r = call x86_fp80 @{name}(x86_fp80 %x)
  store x86_fp80 %r, ptr %po
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


@functools.cache
def _loop_over(name: str) -> tuple[Any, Callable[..., None]]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.load_library_permanently("libm.so.6")
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_LOOP.format(name=name)), machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long)
    return engine, kind(engine.get_function_address("run"))


def libm(name: str) -> Callable[[Any], Any]:
    """A function of the C library on arrays of long double."""

    def run(x: Any) -> Any:
        x = np.ascontiguousarray(x, LONG)
        out = np.empty_like(x)
        _loop_over(name)[1](x.ctypes.data, out.ctypes.data, x.size)
        return out

    return run


def _log_expit(x: Any) -> Any:
    return np.where(x < 0, x - np.log1p(np.exp(x)), -np.log1p(np.exp(-x)))


def _logit(x: Any) -> Any:
    return np.where(abs(x - 0.5) < 0.2, np.log1p((2 * x - 1) / (1 - x)), np.log(x / (1 - x)))


#: references in long double, where they are not NumPy's function of this name
REFERENCES: dict[str, Callable[..., Any]] = {
    "pow": np.power, "erf": libm("erfl"), "erfc": libm("erfcl"), "cbrt": libm("cbrtl"),
    "gammaln": libm("lgammal"),
    "ndtr": lambda x: libm("erfcl")(-x * np.sqrt(LONG(0.5))) / 2,
    "exp10": libm("exp10l"), "expit": lambda x: 1 / (1 + np.exp(-x)),
    "log_expit": _log_expit, "logit": _logit, "entr": lambda x: -x * np.log(x),
    "xlogy": lambda x, y: x * np.log(y), "xlog1py": lambda x, y: x * np.log1p(y),
}


#: torch's functions, where they are not of this name in torch or torch.special
TORCH = {
    "psi": "digamma", "beta": "", "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0",
    "y1": "bessel_y1", "k0": "modified_bessel_k0", "k1": "modified_bessel_k1",
    "k0e": "scaled_modified_bessel_k0", "k1e": "scaled_modified_bessel_k1", "gamma": "",
    "_zeta": "zeta", "log_expit": "",
}


def by_torch(name: str, samples: Samples) -> np.ndarray | None:
    """What torch computes on the same points, if it has the function."""
    import torch

    wanted = TORCH.get(name, name)
    function = getattr(torch.special, wanted, None) or getattr(torch, wanted or " ", None)
    if function is None:
        return None
    try:
        return np.asarray(function(*(torch.from_numpy(x.copy()) for x in samples)))
    except RuntimeError:  # not of this dtype
        return None


def shown(error: float | None) -> str:
    """An error as a cell of the table."""
    return "" if error is None else f"{error:.3f}" if error < 1000 else f"{error:.2g}"


def screened(got: np.ndarray, want: np.ndarray, least: Any = 0.0) -> np.ndarray:
    """Errors in ulp (of the least size if a result is smaller), by long double."""
    info = np.finfo(got.dtype)
    exponent = np.frexp(np.maximum(np.abs(want), least))[1] - 1
    unit = np.ldexp(LONG(1), np.maximum(exponent, info.minexp) - info.nmant)
    with np.errstate(all="ignore"):
        error = np.abs(got.astype(LONG) - want) / unit
        narrow = want.astype(got.dtype)
    same = (got == narrow) & ~np.isfinite(got)
    return np.where(same | (np.isnan(got) & np.isnan(want)), 0.0, error.astype(np.float64))


def largest(name: str, samples: Samples, got: np.ndarray, want: np.ndarray,
            checked: int) -> tuple[float, int]:
    """The largest error, measured with mpmath at the worst points, and where it is."""
    least: Any = 0.0
    if name in SIZES:
        least = np.sqrt(2 / (np.pi * np.maximum(np.abs(samples[0].astype(np.float64)), 1)))
    errors = screened(got, want, least)
    errors = np.where(np.isnan(errors), np.inf, errors)
    top = np.argsort(-errors)[:checked]
    exact = ulp_errors(name, tuple(x[top] for x in samples), got[top])
    return float(exact.max()), int(top[exact.argmax()])


#: how many points of functions without a long double go to mpmath
EXACT_CALLED = 600  # of subprograms
EXACT_POINTS = {**dict.fromkeys(SLOW, 1500), "k0": 300, "k1": 300, "k0e": 300, "k1e": 300}


def measure(name: str, char: str, count: int) -> str:
    """One row of the table."""
    points = FUNCTIONS[name][1]
    exactly = name in SLOW and not (name in REFERENCES and char == "d")
    if exactly and char == "d":
        count = EXACT_POINTS[name]
    per_unit = points(Points(char, 1000))[0].size / 1000
    samples = points(Points(char, round(1.1 * count / per_unit), seed=1))
    function = called(name, len(samples))
    with np.errstate(all="ignore"):
        got = np.asarray(jit(function, fullgraph=True)(*samples))
        own = np.asarray(function(*samples))
        if exactly:
            want = np.asarray(jit(function)(*(x.astype("d") for x in samples))).astype(LONG)
        else:
            reference = REFERENCES.get(name) or getattr(np, name)
            want = reference(*(x.astype(LONG) for x in samples))
    checked = EXACT_POINTS[name] * 2 if exactly and char == "d" else CHECKED
    if exactly and char == "f":
        checked = 40
    error, place = largest(name, samples, got, want, checked)
    few = checked if exactly else 20
    theirs, _ = largest(name, samples, own, want, few)
    torchs = by_torch(name, samples)
    other = None if torchs is None else largest(name, samples, torchs, want, few)[0]
    worst = ", ".join(float(x[place]).hex() for x in samples)
    bound = OPERATORS[name].ulp[char]
    row = f"| {CALLS.get(name, f'np.{name}')} | {got.dtype} | {got.size} | {error:.3f} | {bound} "
    return row + f"| {shown(theirs)} | {shown(other)} | `{worst}` |"


def exhaustive(name: str) -> str:
    """The same for all float16 numbers."""
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    function = called(name, 1)
    with np.errstate(all="ignore"):
        got = np.asarray(jit(function, fullgraph=True)(x))
        own = np.asarray(function(x))
        want = (REFERENCES.get(name) or getattr(np, name))(x.astype(LONG))
    ours, theirs = screened(got, want), screened(own, want)
    fine = np.isfinite(x) & np.isfinite(want) & (np.abs(want) < 65520)
    place = int(np.argmax(np.where(fine, ours, 0)))
    row = f"| np.{name} | float16 | 65536 | {ours[place]:.4f} | {OPERATORS[name].ulp['e']} "
    return row + f"| {theirs[fine].max():.4f} | | `{float(x[place]).hex()}` |"


def complex_row(name: str, char: str, count: int) -> str:
    """A row for complex numbers: errors in units of the result's modulus."""
    z = complex_points(char, count)
    module = "special" if name in FADDEEVA else "np"
    function = getattr(scipy.special if name in FADDEEVA else np, name)
    with np.errstate(all="ignore"):
        got = np.asarray(jit(lambda z: function(z), fullgraph=True)(z))
        own = function(z)
    ours, theirs = (modulus_errors(name, z, values) for values in (got, own))
    place = int(np.argmax(ours))
    row = f"| {module}.{name} | {got.dtype} | {got.size} | {ours[place]:.3f} "
    row += f"| {OPERATORS[name].ulp[char]} | {shown(theirs.max())} | "
    return row + f"| `{complex(z[place])}` |"


def called_row(name: str, char: str) -> str:
    """A row for a subprogram; SciPy's function is measured on the same points."""
    points = CALLED[name][1]
    sets = points(Points(char, 8))[0].size // 8
    samples = points(Points(char, (EXACT_CALLED if char == "d" else 80) // sets, seed=1))
    function = called(name, len(samples))
    with np.errstate(all="ignore"):
        got = np.asarray(jit(function, fullgraph=True)(*samples))
        own = np.asarray(function(*samples))
    ours, theirs = (ulp_errors(name, samples, values) for values in (got, own))
    place = int(np.argmax(ours))
    worst = ", ".join(float(x[place]).hex() for x in samples)
    torchs = by_torch(name, samples)
    other = None if torchs is None else ulp_errors(name, samples, torchs).max()
    row = f"| special.{name} | {got.dtype} | {got.size} | {ours[place]:.3f} "
    row += f"| {OPERATORS[name].ulp[char]} | {shown(theirs.max())} "
    return row + f"| {shown(other)} | `{worst}` |"


HEAD = """# Measured accuracy

Largest errors in units in the last place of the exact result (of the smallest subnormal, where
the result is subnormal), measured by `tools/accuracy.py` on the compiled functions.  Points are
random: bit patterns over the whole range, intervals where results are ordinary numbers, and
numbers next to zeros, poles, multiples of pi/2 and the borders of each algorithm.  Long double of
the C library screens the results; the {checked} worst of each row are measured again with mpmath.
*bound* is what the record promises and the tests check; *library* is the largest error of NumPy's
or SciPy's own function on the same points, *torch* that of torch's on the CPU.

Oscillating Bessel functions: units of their size about x, `sqrt(2 / (pi * max(x, 1)))`, where that
is larger than the result.  Complex functions: units of the result's modulus.  gammaln and psi are
measured for positive arguments; next to their negative zeros the error is some units of the terms
that cancel, of gammaln some hundredths.

logaddexp and logaddexp2 are measured where the result is not small against the operands; next to
their zeros the error is one ulp of the larger operand.  float16 is computed in float32 and rounded
once: within {half} ulp of exact on all numbers.

betaln, and sn and cn of ellipj: units of 1 where the result is smaller; Ei and Chi: of 1/4; Ci: of
`1/max(x, 1)`; Airy's functions of negative numbers: of half their size, `abs(x)**(-1/4)`, and of
their derivatives', `abs(x)**(1/4)`; elliprj of negative p: of the terms that cancel.  Functions
that return tuples: a row for each part.  betaincc is left to SciPy, which computes it in long
double, twenty times as slowly.

Inverses: where the function is nearly flat the problem itself amplifies errors.  betainc is
measured up to parameters of 1000.

Machine: {machine}, NumPy {numpy}, SciPy {scipy}, torch {torch}.

| function | dtype | points | largest error | bound | library | torch | worst argument |
|---|---|--:|--:|--:|--:|--:|---|
"""


def page(rows: list[str], halves: list[str]) -> str:
    """The page's text."""
    import scipy
    import torch

    half = max(float(row.split("|")[4]) for row in halves)
    head = HEAD.format(checked=CHECKED, half=half, machine=platform.machine(),
                       numpy=np.__version__, scipy=scipy.__version__,
                       torch=torch.__version__.partition("+")[0])
    return head + "\n".join([*rows, *halves]) + "\n"


def rewritten(fresh: list[str]) -> str:
    """The page with rows put in the place of those for the same function and dtype."""
    text, start, tail = PAGE.read_text().partition(routine_accuracy.START)
    old = [line for line in text.splitlines() if line.startswith(("| np.", "| spec"))]
    rows = {tuple(row.split("|")[1:3]): row for row in (*old, *fresh)}
    halves = [row for key, row in rows.items() if "float16" in key[1]]
    return page([row for row in rows.values() if row not in halves], halves) + start + tail


def main(arguments: list[str]) -> None:
    """Measures and prints; writes the page if no functions are named, or if asked to."""
    chosen = [a for a in arguments if a != "--write"]
    count = int(chosen[0]) if chosen else 1_000_000
    names = chosen[1:] or [*FUNCTIONS, *CALLED, "complex", "routines"]
    rows = []
    for name in names:
        kinds = list("df") if name in FUNCTIONS else []
        made = [measure(name, char, count) for char in kinds]
        if kinds and "e->e" in OPERATORS[name].signatures.split():
            made.append(exhaustive(name))
        if name == "complex":
            made = [complex_row(each, char, 400) for each in (*COMPLEX, *FADDEEVA)
                    for char in "DF"]
        if name in CALLED:
            made = [called_row(name, char) for char in chars_of(name)]
        print("\n".join(made), flush=True)
        rows += made
    if "--write" in arguments or not chosen[1:]:
        PAGE.write_text(rewritten(rows))
        if "routines" in names:
            kept = PAGE.read_text().partition(routine_accuracy.START)[0]
            PAGE.write_text(kept + routine_accuracy.told())


if __name__ == "__main__":
    main(sys.argv[1:])
