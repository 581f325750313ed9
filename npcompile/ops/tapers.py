"""Windows, and numbers at equal ratios, in Python that is traced: NumPy's formulas, fused.

``raise`` leaves a call to NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib import _function_base_impl as numpys

from npcompile.ops.arguments import FOLLOWED, followed, program
from npcompile.ops.record import define

#: NumPy's Chebyshev coefficients of ``exp(-x) i0(x)`` up to 8, and of that times sqrt(x) beyond
_NEAR, _FAR = tuple(numpys._i0A), tuple(numpys._i0B)  # type: ignore[attr-defined]


@followed
def _odd_numbers(m: Any) -> Any:
    """``1 - m, 3 - m, ... m - 1``, of which there are two at least."""
    if not isinstance(m, int) or isinstance(m, bool) or m < 2:
        raise NotImplementedError
    return np.arange(1 - m, m, 2)


@program(FOLLOWED, "bartlett")
def bartlett(M: Any) -> Any:
    """A triangle."""
    n = _odd_numbers(M)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


@program(FOLLOWED, "hanning")
def hanning(M: Any) -> Any:
    """A raised cosine."""
    n = _odd_numbers(M)
    return 0.5 + 0.5 * np.cos(math.pi * n / (M - 1))


@program(FOLLOWED, "hamming")
def hamming(M: Any) -> Any:
    """A raised cosine on a pedestal."""
    n = _odd_numbers(M)
    return 0.54 + 0.46 * np.cos(math.pi * n / (M - 1))


@program(FOLLOWED, "blackman")
def blackman(M: Any) -> Any:
    """Two cosines, raised."""
    n = _odd_numbers(M)
    first, second = math.pi * n / (M - 1), 2.0 * math.pi * n / (M - 1)
    return 0.42 + 0.5 * np.cos(first) + 0.08 * np.cos(second)


@followed
def _chebyshev(x: Any, coefficients: Any) -> Any:
    """A Chebyshev series by Clenshaw's recurrence."""
    b0, b1 = coefficients[0], 0.0
    b2 = b1
    for coefficient in coefficients[1:]:
        b2 = b1
        b1 = b0
        b0 = x * b1 - b2 + coefficient
    return 0.5 * (b0 - b2)


@followed
def i0(x: Any) -> Any:
    """The modified Bessel function of order 0, by NumPy's series."""
    x = np.asarray(x)
    if x.dtype.kind == "c" or x.dtype.itemsize < 8 or x.ndim == 0:
        raise NotImplementedError
    x = np.abs(x if x.dtype.kind == "f" else x.astype(np.float64))
    is_near = x <= 8.0
    near, far = np.where(is_near, x, 0.0), np.where(is_near, 16.0, x)  # which raise no flags
    inner = np.exp(near) * _chebyshev(near / 2.0 - 2, _NEAR)
    outer = np.exp(far) * _chebyshev(32.0 / far - 2.0, _FAR) / np.sqrt(far)
    return np.where(is_near, inner, outer)


define("numpy.i0", FOLLOWED, aliases=("numpy:i0",), reference="numpy:i0", lower=i0,
       doc="The modified Bessel function of order 0, by NumPy's series.")


@program(FOLLOWED, "kaiser")
def kaiser(M: Any, beta: Any) -> Any:
    """Bessel functions of a half circle."""
    if not isinstance(M, int) or isinstance(M, bool) or M < 2:
        raise NotImplementedError
    if not isinstance(beta, (int, float)) or isinstance(beta, bool):
        raise NotImplementedError
    beta, alpha = float(beta), (M - 1) / 2.0
    rise = np.sqrt(1 - ((np.arange(0, M) - alpha) / alpha) ** 2.0)
    return i0(beta * rise) / i0(np.array([beta]))[0]


# ------------------------------------------------------------------ equal ratios


@program(FOLLOWED, "logspace")
def logspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0,
             dtype: Any = None, axis: Any = 0) -> Any:
    """Powers of a base, whose exponents are evenly spaced."""
    if not isinstance(base, (int, float)) or not isinstance(start, (int, float)):
        raise NotImplementedError
    if not isinstance(stop, (int, float)) or axis != 0:
        raise NotImplementedError
    powers = np.power(base, np.linspace(start, stop, num, endpoint=endpoint))
    return powers if dtype is None else powers.astype(dtype)


@program(FOLLOWED, "geomspace")
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None,
              axis: Any = 0) -> Any:
    """Numbers of which each is the one before times the same."""
    if not isinstance(start, (int, float)) or not isinstance(stop, (int, float)) or axis != 0:
        raise NotImplementedError
    low, high = np.float64(start), np.float64(stop)
    if dtype is not None or not (low * high > 0) or num < 2:
        raise NotImplementedError
    sign = np.sign(low)
    ends = np.log10(np.array([low / sign, high / sign]))
    powers = np.power(10.0, np.linspace(ends[0], ends[1], num, endpoint=endpoint))
    powers[0] = low / sign
    if endpoint:
        powers[-1] = high / sign
    return powers * sign
