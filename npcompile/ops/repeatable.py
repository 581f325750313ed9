"""Functions of NumPy and SciPy without threads and without BLAS: on one machine they give the same
bits at each run, so that deterministic functions may call them."""

from __future__ import annotations

_NAMES = {
    "numpy": (
        "array_equiv block diag_indices diagflat gcd histogram2d histogram_bin_edges histogramdd "
        "lcm lexsort mask_indices packbits polyadd polyder polyint polysub ravel_multi_index "
        "resize sort_complex trim_zeros unpackbits unravel_index"),
    "scipy.ndimage": (
        "binary_closing binary_dilation binary_erosion binary_fill_holes binary_opening "
        "black_tophat center_of_mass convolve convolve1d correlate correlate1d "
        "distance_transform_cdt distance_transform_edt extrema fourier_gaussian fourier_shift "
        "fourier_uniform gaussian_filter gaussian_filter1d gaussian_gradient_magnitude "
        "gaussian_laplace grey_closing grey_dilation grey_erosion grey_opening label laplace "
        "map_coordinates maximum maximum_filter maximum_filter1d mean median_filter minimum "
        "minimum_filter minimum_filter1d morphological_gradient percentile_filter prewitt "
        "rank_filter shift sobel spline_filter spline_filter1d standard_deviation sum "
        "sum_labels uniform_filter uniform_filter1d variance white_tophat"),
    "scipy.signal": (
        "argrelextrema argrelmax argrelmin chirp convolve2d correlate2d fftconvolve find_peaks "
        "gausspulse get_window hilbert lfilter medfilt medfilt2d order_filter peak_prominences "
        "peak_widths sawtooth sosfilt square unit_impulse upfirdn wiener"),
}

#: names by the modules that users find them in
REPEATABLE = {module: frozenset(names.split()) for module, names in _NAMES.items()}


def is_repeatable(module: str, name: str) -> bool:
    """Whether a function of a module, which may be one of the library's inside, is listed."""
    return name in REPEATABLE.get(module.partition("._")[0], ())
