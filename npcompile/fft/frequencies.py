"""Records of what stands around transforms: the order of frequencies, and lengths that are
transformed fast."""

from __future__ import annotations

from collections.abc import Callable

from npcompile.core.sizes import Size, floordiv, is_known
from npcompile.graph.types import INT
from npcompile.ops import arguments
from npcompile.ops.arguments import as_array, axes_in, program, static
from npcompile.ops.elementwise import run
from npcompile.ops.joining import joined, roll
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.python import binary
from npcompile.ops.ranges import arange

FREQUENCY = arguments.program_kind("frequencies")


def _shifted(ctx: Context, x: Operand, axes: Operand, half: Callable[[Size], Size]) -> ArrayRef:
    ref, given = as_array(ctx, x), static(axes)
    if not ref.ndim:
        raise ctx.refuse("fftshift", "of a number")
    along = axes_in(ctx, tuple(range(ref.ndim)) if given is None else given, ref.ndim, "fftshift")
    shifts = [half(ref.shape[axis]) for axis in along]
    return roll(ctx, ref, tuple(s if isinstance(s, int) else ctx.builder.size(s) for s in shifts),
                along)


@program(FREQUENCY, "fft.fftshift", "scipy.fft:fftshift")
def fftshift(ctx: Context, x: Operand, axes: Operand = None) -> ArrayRef:
    """Halves exchanged, so that frequency 0 comes to the centre."""
    return _shifted(ctx, x, axes, lambda n: floordiv(n, 2))


@program(FREQUENCY, "fft.ifftshift", "scipy.fft:ifftshift")
def ifftshift(ctx: Context, x: Operand, axes: Operand = None) -> ArrayRef:
    """The inverse of `fftshift`."""
    return _shifted(ctx, x, axes, lambda n: -floordiv(n, 2))


def _scale(ctx: Context, n: Operand, d: Operand, device: Operand) -> tuple[Size, Operand]:
    """The number of points, and the distance between frequencies."""
    if device is not None or not arguments.is_number(d):
        raise ctx.refuse("fftfreq", "device=, or d= that is no number")
    points = arguments.integer(ctx, n, "fftfreq")
    arguments.require(ctx, "<", 0, points, "fftfreq of no points")
    return points, binary(ctx, "/", 1.0, binary(ctx, "*", _number(ctx, points), d))


def _number(ctx: Context, size: Size) -> Operand:
    return size if isinstance(size, int) else ctx.builder.size(size)


@program(FREQUENCY, "fft.fftfreq")
def fftfreq(ctx: Context, n: Operand, d: Operand = 1.0, device: Operand = None) -> Operand:
    """Frequencies in the order of a transform's results."""
    points, distance = _scale(ctx, n, d, device)
    half = floordiv(points, 2)
    parts = [arange(ctx, 0, _number(ctx, points - half), None, INT),
             arange(ctx, _number(ctx, -half), 0, None, INT)]
    return run(ctx, "multiply", joined(ctx, "fftfreq", parts, 0), distance)


@program(FREQUENCY, "fft.rfftfreq")
def rfftfreq(ctx: Context, n: Operand, d: Operand = 1.0, device: Operand = None) -> Operand:
    """Frequencies in the order of a real transform's results."""
    points, distance = _scale(ctx, n, d, device)
    ranks = arange(ctx, 0, _number(ctx, floordiv(points, 2) + 1), None, INT)
    return run(ctx, "multiply", ranks, distance)


@program(FREQUENCY, "scipy.fft:fftfreq")
def scipy_fftfreq(ctx: Context, n: Operand, d: Operand = 1.0, *, xp: Operand = None,
                  device: Operand = None) -> Operand:
    """Frequencies in the order of a transform's results."""
    if xp is not None:
        raise ctx.refuse("fftfreq", "xp=")
    return fftfreq(ctx, n, d, device)


@program(FREQUENCY, "scipy.fft:rfftfreq")
def scipy_rfftfreq(ctx: Context, n: Operand, d: Operand = 1.0, *, xp: Operand = None,
                   device: Operand = None) -> Operand:
    """Frequencies in the order of a real transform's results."""
    if xp is not None:
        raise ctx.refuse("rfftfreq", "xp=")
    return rfftfreq(ctx, n, d, device)


# ------------------------------------------------------------------ lengths

#: factors of the lengths that SciPy calls fast: of complex transforms, of real ones
_FAST = {False: (2, 3, 5, 7, 11), True: (2, 3, 5)}


def _is_fast(n: int, primes: tuple[int, ...]) -> bool:
    for p in primes:
        while n % p == 0:
            n //= p
    return n == 1


def _fast(ctx: Context, name: str, target: Operand, real: Operand, step: int) -> int:
    """The nearest fast length; it is one number for each length that the function is called
    with."""
    size, kind = arguments.integer(ctx, target, name), static(real)
    if not isinstance(kind, bool) or not is_known(size):
        raise ctx.refuse(name, "of a number that only the run knows")
    n = arguments.pinned(ctx, size)
    if n < 1:
        raise ctx.refuse(name, "of no points")
    while not _is_fast(n, _FAST[kind]):
        n += step
    return n


@program(FREQUENCY, "scipy.fft:next_fast_len")
def next_fast_len(ctx: Context, target: Operand, real: Operand = False) -> int:
    """The least length of few small factors that is not below another."""
    return _fast(ctx, "next_fast_len", target, real, 1)


@program(FREQUENCY, "scipy.fft:prev_fast_len")
def prev_fast_len(ctx: Context, target: Operand, real: Operand = False) -> int:
    """The largest length of few small factors that is not above another."""
    return _fast(ctx, "prev_fast_len", target, real, -1)
