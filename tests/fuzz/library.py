"""Random functions that call NumPy's and SciPy's functions with odd arguments: iterations that go
on until nothing changes, axes that are not there, empty and special arrays, numbers of wrong types.

A program that does not end within the time that the plain function and compiling take is a
difference, too.
"""

from __future__ import annotations

import copy
import random
import re
import signal
from typing import Any

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial
import scipy.special
import scipy.stats

import npcompile
from tests.fuzz.framework import Counts, Grammar
from tests.support import oracle

#: calls; ``{...}`` stands for an odd argument of the pool of that name
CALLS = re.split(r"\n| {2,}", """
nd.binary_dilation({mask}, iterations={n})  nd.binary_erosion({mask}, iterations={n})
nd.binary_propagation({mask})  nd.binary_fill_holes({mask})  nd.binary_opening({mask})
nd.binary_closing({mask}, iterations={n})  nd.binary_hit_or_miss({mask})  nd.label({mask})[0]
nd.label({mask})[1]  nd.gaussian_filter({x}, {s})  nd.uniform_filter({x}, {n})
nd.median_filter({x}, {n})  nd.maximum_filter1d({x}, {n}, axis={axis})  nd.sobel({x}, {axis})
nd.gaussian_filter1d({x}, {s}, axis={axis}, mode={mode})  nd.shift({x}, {k}, mode={mode})
nd.zoom({x}, {k})  nd.rotate(m, {k})  nd.map_coordinates(m, np.ones((2, 3)) * {k})
nd.distance_transform_edt({mask})  nd.center_of_mass({x})  nd.percentile_filter({x}, {s}, size=3)
nd.correlate1d({x}, a, axis={axis}, mode={mode})  nd.grey_dilation({x}, size={n})
nd.sum_labels({x}, {mask}, index={n})  nd.generate_binary_structure({n}, {n})
nd.iterate_structure({mask}, {n})  nd.find_objects(np.asarray({mask}, int))
ss.convolve({x}, a, mode={mode})  ss.lfilter([1, {s}], [1, 0.5], {x}, axis={axis})
ss.medfilt({x}, {n})  ss.savgol_filter({x}, {n}, 1)  ss.find_peaks({x}, height={s})[0]
ss.detrend({x}, axis={axis})  ss.resample({x}, {n})  ss.butter({n}, {s})[0]  ss.welch({x})[1]
ss.firwin({n}, {s})  ss.get_window({mode}, {n})  ss.max_len_seq({n})[0]  ss.hilbert({x})
ss.symiirorder1({x}, {s}, 0.5)  ss.spline_filter(m, {s})  ss.argrelextrema(a, np.greater)[0]
ss.unit_impulse({n})  ss.chirp({x}, 1, {s}, 2)  ss.windows.kaiser({n}, {s})  ss.windows.dpss(9, {s})
ss.upfirdn([1, 2], {x}, {n}, {n})  ss.decimate(np.arange(40.0), {n})
ss.place_poles(m, m, a).gain_matrix
st.norm.ppf({x})  st.norm.pdf({x}, {s}, {s})  st.gamma.cdf({x}, {s})  st.t.isf(0.1, {s})
st.binom.ppf({s}, {n}, {s})  st.poisson.pmf({n}, {s})  st.zscore({x}, axis={axis})
st.rankdata({x}, axis={axis})  st.mode({x}, axis={axis})  st.skew({x})
st.kurtosis({x}, axis={axis})
st.pearsonr(a, a + {s})[0]  st.ttest_1samp({x}, {s})[1]  st.trim_mean({x}, {s})  st.gmean({x})
st.boxcox(a)[1]  st.iqr({x})  st.entropy({x})  st.describe({x})[2]  st.bayes_mvs(a)[0][0]
st.percentileofscore(a, {s})  st.linregress(a, a * {s})[0]  st.spearmanr(a, a[::-1])[0]
st.median_abs_deviation({x}, axis={axis})  st.ks_1samp(a, st.norm.cdf)[0]
st.yeojohnson_llf({s}, a)
so.nnls(m, a)[0]  so.linear_sum_assignment(m)[1]  so.isotonic_regression({x}).x
so.lsq_linear(m, a).x
so.rosen({x})  so.brentq(lambda t: t - 0.5, -1, 1)  so.linprog(a, A_ub=m, b_ub=a).fun
so.minimize_scalar(lambda t: (t - 2) ** 2).x  so.curve_fit(lambda t, p: p * t, a, a)[0]
it.trapezoid({x}, axis={axis})  it.simpson({x}, axis={axis})  it.cumulative_trapezoid({x})
it.romb(np.ones({n}))  it.quad(lambda t: t * t, 0, {s})[0]  it.newton_cotes({n})[0]
ip.make_interp_spline(a, a)({x})  ip.splrep(np.arange(9.0), np.arange(9.0) ** 2, s={s})[0]
ip.pchip_interpolate([0, 1, 2], [1, 4, 9], {x})  ip.lagrange(a, a * 2)({s})  ip.interp1d(a, a)(a)
ip.griddata(np.eye(4, 2) + 0.1, np.arange(4.0), (0.3, 0.4))  ip.krogh_interpolate(a, a, {x})
la.expm(m * {s})  la.logm(m)  la.sqrtm(m)  la.norm({x}, {n})  la.pinv(m)  la.toeplitz({x})
la.hadamard({n})  la.hilbert({n})  la.fractional_matrix_power(m, {s})  la.signm(m)  la.schur(m)[0]
la.solve_continuous_are(m, m, np.eye(3), np.eye(3))  la.null_space(m)  la.lu(m)[2]  la.orth(m)
la.solve_toeplitz(a, a)  la.circulant(a)  la.block_diag(m, {s})  la.polar(m)[0]  la.dft({n})
sp.jn_zeros({n}, 3)  sp.comb({n}, 2)  sp.factorial({n})  sp.softmax({x}, axis={axis})
sp.logsumexp({x}, axis={axis})  sp.lambertw({x})  sp.zeta({x}, {s})  sp.polygamma({n}, {x})
sp.roots_legendre({n})[0]  sp.hyp1f1({s}, {s}, {x})  sp.hyp2f1(1, {s}, 2, {x})  sp.struve({n}, {x})
sp.nbdtrik({s}, {s}, {s})  sp.kl_div({x}, {s})  sp.wofz({x})  sp.ellip_harm(5, 8, 1, 1, {s})
sp.bernoulli({n})  sp.multigammaln({s}, {n})  sp.spherical_jn({n}, {x})  sp.stirling2({n}, 2)
sf.fft({x}, {n}, {axis})  sf.dct({x}, axis={axis})  sf.rfft({x}, n={n})  sf.next_fast_len({n})
sf.fht(np.ones(8), 0.1, {s})  sf.fftshift({x})  sf.irfft({x}, {n})  sf.dst({x}, 2)
sd.cdist(m, m, {mode})  sd.pdist(m)  sd.squareform(sd.pdist(m))  sd.cosine(a, a + {s})
np.histogram({x}, {n})[0]  np.partition({x}, {n}, axis={axis})  np.percentile({x}, {s}, axis={axis})
np.roll({x}, {n}, {axis})  np.tile({x}, {n})  np.kron({x}, a)  np.cov({x})  np.interp({x}, a, a)
np.insert({x}, {n}, {s}, axis={axis})  np.delete({x}, {n}, axis={axis})
np.pad({x}, {n}, mode={mode})
np.linspace({s}, {s}, {n})  np.geomspace(1, {s}, {n})  np.unwrap({x}, {s})  np.polyfit(a, a, {n})
np.linalg.matrix_power(m, {n})  np.linalg.pinv(m, {s})  np.roots({x})
np.trapezoid({x}, axis={axis})
np.array_split({x}, {n})[0] * 1  np.unique({x}, axis={axis})  np.searchsorted(a, {x})
np.vander(a, {n})
np.apply_along_axis(np.sum, {axis}, {x})  np.gradient({x}, {s})  np.fft.fft({x}, {n}, {axis})
np.polynomial.chebyshev.chebval({x}, a)  np.polynomial.Polynomial(a)({x})  np.hanning({n})
""".strip())

POOLS = {
    "x": ["x", "x * 2", "a", "m", "x[:0]", "m[:, :0]", "x.ravel()", "m.T", "a + np.nan", "-x",
          "1.5", "m > 2", "x.astype(int)", "[1.0, 2.0]", "x.astype(np.float32)", "a * 1j",
          "np.inf * a"],
    "mask": ["x > 1", "m > 2", "m > 99", "m < 99", "b", "x", "b[:0]", "b & (m > 0)", "a > 1"],
    "n": ["-1", "0", "1", "2", "3", "7", "n", "2.5", "None", "True", "np.int8(2)", "(2,)", "-n"],
    "k": ["0.5", "-1.5", "2", "s", "np.float32(0.25)"],  # the C code crashes for huge ones
    "s": ["0.5", "0", "-1.5", "2", "s", "np.float32(0.25)", "np.nan", "np.inf", "1e300", "None"],
    "axis": ["0", "-1", "1", "None", "-2", "3", "(0,)", "n - 3"],
    "mode": ["'valid'", "'same'", "'full'", "'nearest'", "'wrap'", "'constant'", "'hann'", "'x'",
             "None", "'reflect'", "'edge'", "'euclidean'", "'cityblock'"],
}
#: statements around a call; bars part lines
FRAMES = """
return CALL
r = CALL|return r, x * 2
y = x * 2 + 1|r = CALL|return r, y.sum()
r = 0|for i in range(n):|  r = r + CALL|return r
r = []|for i in range(n):|  x = x + 1|  r.append(CALL)|return r
if s > 5:|  return CALL|return x * s
r = CALL|q = CALL|return r, q
t = 0.0|for i in range(n):|  if i > 1:|    t = t + np.sum(CALL)|  t += s|return t
def inner(y):|  return CALL|return inner(x * 2), x + 1
with np.errstate(all='ignore'):|  r = CALL|return r, np.sqrt(x)
try:|  return CALL|except (ValueError, TypeError) as e:|  return str(e)
return np.exp(np.asarray(CALL) * 0)
""".strip().splitlines()

SPACE = {
    "np": np, "nd": scipy.ndimage, "ss": scipy.signal, "st": scipy.stats, "so": scipy.optimize,
    "it": scipy.integrate, "ip": scipy.interpolate, "la": scipy.linalg, "sp": scipy.special,
    "sf": scipy.fft, "sd": scipy.spatial.distance,
}
#: seconds that a program may take, compiled
LONGEST = 60


def written(rng: random.Random) -> str:
    """A function's source."""
    call = re.sub(r"\{(\w+)\}", lambda found: rng.choice(POOLS[found[1]]), rng.choice(CALLS))
    lines = rng.choice(FRAMES).replace("CALL", call).split("|")
    return "def f(x, a, m, b, n, s):\n" + "".join(f"    {line}\n" for line in lines)


def arguments(rng: random.Random) -> tuple[Any, ...]:
    m = np.array([[3.0, 1, 2], [1, 5, 4], [2, 4, 6]])
    x = rng.choice([m, np.arange(7.0), np.arange(1.0, 4), m[:2], np.linspace(-1, 1, 5)])
    return x.copy(), np.array([1.0, 2, 4]), m, m > 2, rng.choice([3, 4]), rng.choice([0.25, 2.0])


def _late(number: int, frame: Any) -> None:
    raise TimeoutError("it does not end")


def check(seed: int, counts: Counts) -> str:
    """The difference that compiling makes to one program, or nothing."""
    rng = random.Random(seed)
    source = written(rng)
    space: dict[str, Any] = dict(SPACE)
    exec(compile(source, f"<library {seed}>", "exec"), space)
    plain = space["f"]
    fast = npcompile.jit(plain, cache=False)
    first, second = arguments(rng), arguments(rng)
    before = signal.signal(signal.SIGALRM, _late)
    try:
        for given in (first, first, second):
            signal.setitimer(signal.ITIMER_REAL, LONGEST, LONGEST)
            want, got = (oracle.observe(f, *copy.deepcopy(given)) for f in (plain, fast))
            text = oracle.difference(got, want, close=(1e-5, 1e-12), warnings="")
            if text or heard(got) != heard(want):
                return f"seed {seed}: {text or (heard(got), heard(want))}\n{source}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return ""


def heard(outcome: oracle.Outcome) -> set[tuple[str, int]]:
    """The classes and lines of the warnings about the program's own lines."""
    return {(category, line) for category, _, line, file in outcome.warned if "<library" in file}


GRAMMAR = Grammar(check=check)
