"""Library functions that may be run on made-up operands while a function is traced.

A function is tried out only if it is pure and sure to end, soon, on any numbers: no search for a
bracket, no iteration until numbers settle.  The table names such functions, by room or one by one.
A function with a rule is predicted by the rule, which makes an empty result of the right kind.
Every other function is predicted by its first real call
(:mod:`npcompile.tracing.observed_results`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: rooms all of whose functions end: array operations, LAPACK's bounded iterations, transforms
_ROOMS = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.lib", "numpy.random",
    "scipy.fft",
)
_NAMED = {
    "scipy.linalg": """
        bandwidth block_diag cdf2rdf cho_factor cho_solve cho_solve_banded cholesky cholesky_banded
        circulant companion convolution_matrix coshm cosm det dft diagsvd eig eig_banded eigh
        eigh_tridiagonal eigvals eigvals_banded eigvalsh eigvalsh_tridiagonal expm expm_frechet
        fiedler fiedler_companion find_best_blas_type get_blas_funcs get_lapack_funcs hadamard
        hankel helmert hessenberg hilbert inv invhilbert invpascal ishermitian issymmetric
        khatri_rao ldl leslie lstsq lu lu_factor lu_solve matmul_toeplitz matrix_balance norm
        null_space orth orthogonal_procrustes pascal pinv pinvh polar qr qr_delete qr_insert
        qr_multiply qr_update qz rq rsf2csf schur sinhm sinm solve solve_banded solve_circulant
        solve_lyapunov solve_sylvester solve_continuous_lyapunov solve_discrete_lyapunov
        solve_toeplitz solve_triangular solveh_banded subspace_angles svd svdvals tanhm tanm
        toeplitz
    """,
    "scipy.ndimage": """
        black_tophat center_of_mass convolve convolve1d correlate correlate1d distance_transform_bf
        distance_transform_cdt distance_transform_edt extrema find_objects fourier_ellipsoid
        fourier_gaussian fourier_shift fourier_uniform gaussian_filter gaussian_filter1d
        gaussian_gradient_magnitude gaussian_laplace generate_binary_structure grey_closing
        grey_dilation grey_erosion grey_opening histogram label laplace maximum maximum_filter
        maximum_filter1d maximum_position mean median median_filter minimum minimum_filter
        minimum_filter1d minimum_position morphological_gradient morphological_laplace
        percentile_filter prewitt rank_filter sobel spline_filter spline_filter1d standard_deviation
        sum sum_labels uniform_filter uniform_filter1d variance watershed_ift white_tophat
    """,
    "scipy.signal": """
        argrelmax argrelmin bessel besselap bilinear bilinear_zpk buttap butter buttord cheb1ap
        cheb1ord cheb2ap cheb2ord cheby1 cheby2 check_COLA check_NOLA chirp coherence convolve
        convolve2d correlate correlate2d correlation_lags csd czt czt_points decimate deconvolve
        detrend ellip ellipap ellipord fftconvolve filtfilt find_peaks firls firwin firwin2 freqs
        freqs_zpk freqz freqz_sos freqz_zpk gammatone gauss_spline gausspulse get_window
        group_delay hilbert hilbert2 iircomb iirdesign iirfilter iirnotch iirpeak istft kaiser_atten
        kaiser_beta kaiserord lfilter lfilter_zi lfiltic lombscargle lp2bp lp2bp_zpk lp2bs
        lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk medfilt medfilt2d minimum_phase normalize
        oaconvolve order_filter peak_prominences peak_widths periodogram remez resample
        resample_poly savgol_coeffs savgol_filter sawtooth sepfir2d sos2tf sos2zpk sosfilt
        sosfilt_zi sosfiltfilt sosfreqz spectrogram square stft sweep_poly tf2sos tf2zpk
        unit_impulse upfirdn vectorstrength welch wiener zoom_fft zpk2sos zpk2tf
        barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine dpss exponential
        flattop gaussian general_cosine general_gaussian general_hamming hamming hann kaiser
        kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey
    """,
    "scipy.interpolate": """
        barycentric_interpolate griddata interpn krogh_interpolate lagrange make_interp_spline
        make_lsq_spline pade pchip_interpolate splprep splrep
    """,
    "scipy.stats": """
        bartlett binned_statistic binned_statistic_2d binned_statistic_dd brunnermunzel
        chi2_contingency chisquare circmean circstd circvar combine_pvalues cumfreq describe
        differential_entropy energy_distance entropy f_oneway fligner friedmanchisquare gmean gstd
        gzscore hmean iqr jarque_bera kendalltau kruskal kurtosis kurtosistest levene linregress
        median_abs_deviation mode moment mood normaltest obrientransform pearsonr
        percentileofscore pmean pointbiserialr power_divergence rankdata ranksums relfreq
        scoreatpercentile sem siegelslopes sigmaclip skew skewtest spearmanr theilslopes
        tiecorrect tmax tmean tmin trim1 trim_mean trimboth tsem tstd ttest_1samp ttest_ind
        ttest_ind_from_stats ttest_rel tvar variation wasserstein_distance weightedtau zmap zscore
        discrepancy scale expected_freq margins crosstab
    """,
    "scipy.spatial": """
        distance_matrix geometric_slerp minkowski_distance minkowski_distance_p procrustes
        braycurtis canberra cdist chebyshev cityblock correlation cosine dice directed_hausdorff
        euclidean hamming is_valid_dm is_valid_y jaccard jensenshannon mahalanobis minkowski
        num_obs_dm num_obs_y pdist rogerstanimoto russellrao seuclidean sokalsneath sqeuclidean
        squareform yule
    """,
    "scipy.integrate": """
        cumulative_simpson cumulative_trapezoid lebedev_rule newton_cotes romb simpson trapezoid
    """,
    "scipy.optimize": "isotonic_regression linear_sum_assignment rosen rosen_der rosen_hess",
    "scipy.cluster": """
        vq whiten py_vq average centroid complete cophenet fcluster inconsistent is_monotonic
        is_valid_im is_valid_linkage leaves_list linkage maxRstat maxdists maxinconsts median
        num_obs_linkage single ward weighted
    """,
    "scipy.special": """
        assoc_laguerre bernoulli comb diric euler factorial factorial2 factorialk h1vp h2vp ivp jvp
        kvp lambertw log_softmax logsumexp multigammaln perm polygamma sinc softmax softplus
        spherical_in spherical_jn spherical_kn spherical_yn stirling2 yvp zeta roots_chebyc
        roots_chebys roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre roots_hermite
        roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt
        roots_sh_chebyu roots_sh_jacobi roots_sh_legendre chebyc chebys chebyt chebyu gegenbauer
        genlaguerre hermite hermitenorm jacobi laguerre legendre sh_chebyt sh_chebyu sh_jacobi
        sh_legendre
    """,
}
_ENDING = {room: frozenset(names.split()) for room, names in _NAMED.items()}


def _like_input(input: Any, *args: Any, **options: Any) -> Any:
    """Masks of binary morphology, some of which grow until nothing changes."""
    return np.empty(np.shape(input), bool)


def _shifted(input: Any, *args: Any, **options: Any) -> Any:
    """An image moved by any number, where the C code reads beyond arrays for huge ones."""
    return np.empty(np.shape(input), np.asarray(input).dtype)


def _at_coordinates(input: Any, coordinates: Any, *args: Any, **options: Any) -> Any:
    """An image at given places."""
    return np.empty(np.shape(coordinates)[1:], np.asarray(input).dtype)


_RULES: dict[tuple[str, str], Callable[..., Any]] = {
    ("scipy.ndimage", "shift"): _shifted,
    ("scipy.ndimage", "map_coordinates"): _at_coordinates,
} | {
    ("scipy.ndimage", name): _like_input
    for name in ("binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes",
                 "binary_hit_or_miss", "binary_opening", "binary_propagation")
}


def elementwise(ufunc: np.ufunc) -> Callable[..., Any]:
    """The rule of a ufunc: operands broadcast, and NumPy names the dtypes of results."""

    def rule(*args: Any, **options: Any) -> Any:
        if options:
            raise TypeError("options of ufuncs are not predicted")
        given = [a if type(a) in (int, float, complex) else np.asarray(a).dtype for a in args]
        kinds = tuple([type(k) if isinstance(k, (int, float, complex)) else k for k in given])
        dtypes = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))[ufunc.nin:]
        shape = np.broadcast_shapes(*map(np.shape, args))
        made = [np.ones(shape, dtype) for dtype in dtypes]
        results = tuple(made if shape else [m[()] for m in made])
        return results if ufunc.nout > 1 else results[0]

    return rule


def trial(function: Any, module: str, path: str) -> Callable[..., Any] | None:
    """What may be called on made-up operands in a function's place; None: nothing may."""
    if isinstance(function, np.ufunc):
        plain = module == "scipy.special" and function.signature is None
        return elementwise(function) if plain else function
    for room in _ROOMS:
        if module == room or module.startswith(room + "."):
            return function if callable(function) else None
    room = ".".join(module.split(".")[:2])
    if path in _ENDING.get(room, ()):
        return function if callable(function) else None
    return _RULES.get((room, path))
