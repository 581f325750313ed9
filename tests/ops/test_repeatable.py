"""Functions of libraries that deterministic functions may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage, signal

from npcompile import DeterminismError, get_num_threads, jit, set_num_threads
from npcompile.ops.repeatable import REPEATABLE
from tests.support.oracle import difference, observe

X = np.random.default_rng(0).random(400) - 0.5
IMAGE = np.random.default_rng(1).random((24, 31)) - 0.5
BITS = IMAGE > 0
INTEGERS = (X * 1000).astype(np.int64)
LABELS = (IMAGE * 8).astype(np.int64) + 4
KERNEL = np.random.default_rng(2).random((3, 5))
PEAKS = signal.find_peaks(X)[0]
INDEX = np.arange(5)
WHOLE = np.fft.fft2(IMAGE)
GRID = (24, 31)

#: a call of each function that is not called with an array alone
CALLS: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "numpy.array_equiv": lambda f: f(X, X),
    "numpy.block": lambda f: f([[IMAGE, IMAGE], [IMAGE, IMAGE]]),
    "numpy.diag_indices": lambda f: f(5),
    "numpy.gcd": lambda f: f(INTEGERS, INTEGERS[::-1]),
    "numpy.histogram2d": lambda f: f(X, X[::-1], 12),
    "numpy.histogramdd": lambda f: f(X.reshape(200, 2), 9),
    "numpy.lcm": lambda f: f(INTEGERS, 12),
    "numpy.lexsort": lambda f: f((X, np.round(X, 1))),
    "numpy.mask_indices": lambda f: f(6, np.triu),
    "numpy.packbits": lambda f: f(BITS),
    "numpy.polyadd": lambda f: f(X[:4], X[:6]),
    "numpy.polysub": lambda f: f(X[:4], X[:6]),
    "numpy.ravel_multi_index": lambda f: f((INDEX, INDEX), GRID),
    "numpy.resize": lambda f: f(X, (7, 90)),
    "numpy.trim_zeros": lambda f: f(np.maximum(X, 0)),
    "numpy.unpackbits": lambda f: f(np.packbits(BITS)),
    "numpy.unravel_index": lambda f: f(INDEX * 3, GRID),
    **{f"scipy.ndimage.{name}": lambda f: f(BITS) for name in (
        "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes",
        "binary_opening", "distance_transform_cdt", "distance_transform_edt", "label")},
    **{f"scipy.ndimage.{name}": lambda f: f(IMAGE, 3) for name in (
        "black_tophat", "white_tophat", "gaussian_filter", "gaussian_filter1d",
        "gaussian_gradient_magnitude", "gaussian_laplace", "grey_closing", "grey_dilation",
        "grey_erosion", "grey_opening", "maximum_filter", "maximum_filter1d", "median_filter",
        "minimum_filter", "minimum_filter1d", "morphological_gradient", "uniform_filter",
        "uniform_filter1d", "shift", "spline_filter", "spline_filter1d")},
    **{f"scipy.ndimage.{name}": lambda f: f(IMAGE, KERNEL) for name in ("convolve", "correlate")},
    **{f"scipy.ndimage.{name}": lambda f: f(IMAGE, KERNEL[0])
       for name in ("convolve1d", "correlate1d")},
    **{f"scipy.ndimage.{name}": lambda f: f(WHOLE, 2)
       for name in ("fourier_gaussian", "fourier_shift", "fourier_uniform")},
    **{f"scipy.ndimage.{name}": lambda f: f(IMAGE, LABELS, INDEX) for name in (
        "center_of_mass", "extrema", "maximum", "mean", "minimum", "standard_deviation", "sum",
        "sum_labels", "variance")},
    "scipy.ndimage.map_coordinates": lambda f: f(IMAGE, np.abs(X.reshape(2, 200)) * 40),
    "scipy.ndimage.percentile_filter": lambda f: f(IMAGE, 30, 3),
    "scipy.ndimage.rank_filter": lambda f: f(IMAGE, 2, 3),
    "scipy.signal.argrelextrema": lambda f: f(X, np.greater),
    "scipy.signal.chirp": lambda f: f(X, 1.0, 2.0, 30.0),
    **{f"scipy.signal.{name}": lambda f: f(IMAGE, KERNEL)
       for name in ("convolve2d", "correlate2d", "fftconvolve")},
    "scipy.signal.get_window": lambda f: f("hann", 33),
    "scipy.signal.lfilter": lambda f: f([0.2, 0.1], [1.0, -0.5], X),
    "scipy.signal.order_filter": lambda f: f(IMAGE, np.ones((3, 3)), 4),
    "scipy.signal.peak_prominences": lambda f: f(X, PEAKS),
    "scipy.signal.peak_widths": lambda f: f(X, PEAKS),
    "scipy.signal.sosfilt": lambda f: f([[0.2, 0.1, 0.0, 1.0, -0.5, 0.1]], X),
    "scipy.signal.unit_impulse": lambda f: f(9),
    "scipy.signal.upfirdn": lambda f: f(KERNEL[0], X, 3, 2),
    "scipy.signal.medfilt2d": lambda f: f(IMAGE),
}
MODULES = {"numpy": np, "scipy.ndimage": ndimage, "scipy.signal": signal}


def call(module: str, name: str) -> Any:
    function = getattr(MODULES[module], name)
    made = CALLS.get(f"{module}.{name}")
    if made is not None:
        return made(function)
    return function(IMAGE if module == "scipy.ndimage" else X)


def test_calls_name_functions_of_the_list() -> None:
    assert {*CALLS} <= {f"{module}.{name}" for module, names in REPEATABLE.items()
                        for name in names}


@pytest.mark.parametrize("module", [*REPEATABLE])
def test_twenty_runs_on_one_to_three_threads(module: str) -> None:
    before = get_num_threads()
    for name in sorted(REPEATABLE[module]):
        first = observe(call, module, name)
        assert first.error is None, (name, first.error)
        for threads in (1, 2, 3):
            set_num_threads(threads)
            for _ in range(20):
                assert not difference(observe(call, module, name), first, nans=True), name
    set_num_threads(before)


def test_deterministic_functions_call_them() -> None:
    def smoothed(x: Any) -> Any:
        return ndimage.gaussian_filter(x, 2) * 2

    def peaks(x: Any) -> Any:
        return signal.lfilter([0.5, 0.5], [1.0, -0.2], x) + 1

    def sorted_pairs(x: Any) -> Any:
        return np.lexsort((x, np.round(x, 1))) + 1

    def equations(x: Any) -> Any:
        return signal.detrend(x) + 1  # by LAPACK

    for function, x in ((smoothed, IMAGE), (peaks, X), (sorted_pairs, X)):
        assert (jit(function, deterministic=True)(x) == function(x)).all()
        with pytest.raises(DeterminismError):
            jit(function, deterministic="portable")(x)
    with pytest.raises(DeterminismError, match="detrend"):
        jit(equations, deterministic=True)(X)
