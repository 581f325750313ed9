"""Signals, statistics, finance."""

from __future__ import annotations

import math

import numpy as np
import scipy.signal
import scipy.stats

from tests.programs.idioms import idiom, matrix, vector


@idiom(lambda: (vector(64), 8000.0))
def spectral_centroid(x, fs):
    mag = np.abs(np.fft.rfft(x * np.hanning(len(x))))
    f = np.fft.rfftfreq(len(x), d=1 / fs)
    return (f * mag).sum() / mag.sum()


@idiom(lambda: (vector(50), 5))
def moving_average_cumsum(x, n):
    c = np.cumsum(np.insert(x, 0, 0))
    return (c[n:] - c[:-n]) / float(n)


@idiom(lambda: (vector(50),))
def zero_crossings(x):
    return np.where(np.diff(np.signbit(x)))[0]


@idiom(lambda: (vector(50), 0.9))
def ema(x, alpha):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@idiom(lambda: (vector(64), 16, 8))
def frames(x, size, hop):
    n = 1 + (len(x) - size) // hop
    idx = np.arange(size)[None, :] + hop * np.arange(n)[:, None]
    return x[idx] * np.hamming(size)


@idiom(lambda: (vector(64),))
def autocorr(x):
    x = x - x.mean()
    r = np.correlate(x, x, mode="full")[len(x) - 1 :]
    return r / r[0]


@idiom(lambda: (vector(64), 0.5))
def find_peaks(x, thr):
    mid = x[1:-1]
    return np.flatnonzero((mid > x[:-2]) & (mid > x[2:]) & (mid > thr)) + 1


@idiom(lambda: (vector(64),))
def db(x):
    return 20 * np.log10(np.maximum(np.abs(x), 1e-10))


@idiom(lambda: (vector(64), 3))
def median_filter(x, k):
    pad = np.pad(x, k // 2, mode="edge")
    return np.array([np.median(pad[i : i + k]) for i in range(len(x))])


@idiom(lambda: (vector(64), 4))
def sliding(x, k):
    w = np.lib.stride_tricks.sliding_window_view(x, k)
    return w.max(axis=-1) - w.min(axis=-1)


@idiom(lambda: (vector(33),))
def rms_envelope(x):
    return np.sqrt(np.mean(np.square(x.reshape(-1, 3)), axis=1))


@idiom(lambda: (vector(60), vector(60, 1)))
def coherence(x, y):
    X, Y = (np.fft.fft(x), np.fft.fft(y))
    c = (X * np.conj(Y)).real
    return c / (np.abs(X) * np.abs(Y) + 1e-12)


@idiom(lambda: (vector(60), 4))
def resample(x, q):
    t = np.arange(0, len(x), 1 / q)
    return np.interp(t, np.arange(len(x)), x)


@idiom(lambda: (440.0, 0.01, 8000))
def tone(freq, dur, rate=44100):
    t = np.linspace(0, dur, int(rate * dur), endpoint=False)
    return (32767 * np.sin(2 * np.pi * freq * t)).astype(np.int16)


@idiom(lambda: (vector(60),))
def butter(x):
    b, a = scipy.signal.butter(3, 0.2)
    return scipy.signal.lfilter(b, a, x)


@idiom(lambda: (vector(60),))
def zscore(x):
    return (x - x.mean()) / x.std(ddof=1)


@idiom(lambda: (matrix(),))
def standardize(X, eps=1e-08):
    mu, sd = (X.mean(axis=0), X.std(axis=0))
    return ((X - mu) / (sd + eps), mu, sd)


@idiom(lambda: (vector(60),))
def iqr_outliers(x):
    q1, q3 = np.percentile(x, [25, 75])
    iqr = q3 - q1
    return x[(x < q1 - 1.5 * iqr) | (x > q3 + 1.5 * iqr)]


@idiom(lambda: (vector(60),))
def iqr_scalar(x):
    q75, q25 = np.percentile(x, [75, 25])
    return q75 - q25


@idiom(lambda: (vector(60), vector(60, 3)))
def linreg(x, y):
    A = np.vstack([x, np.ones(len(x))]).T
    (slope, c), res, rank, s = np.linalg.lstsq(A, y, rcond=None)
    return (slope, c)


@idiom(lambda: (vector(60), vector(60, 3)))
def pearson(x, y):
    xm, ym = (x - x.mean(), y - y.mean())
    r = (xm * ym).sum() / np.sqrt((xm**2).sum() * (ym**2).sum())
    return max(-1.0, min(1.0, r))


@idiom(lambda: (vector(60),))
def describe(x):
    return {
        "mean": x.mean(),
        "std": x.std(),
        "min": x.min(),
        "max": x.max(),
        "n": x.size,
        "median": np.median(x),
    }


@idiom(lambda: (vector(60),))
def mode_of_ints(x):
    vals, counts = np.unique(np.round(x).astype(int), return_counts=True)
    return vals[np.argmax(counts)]


@idiom(lambda: (vector(60), np.abs(vector(60, 1))))
def weighted(x, w):
    avg = np.average(x, weights=w)
    var = np.average((x - avg) ** 2, weights=w)
    return (avg, math.sqrt(var))


@idiom(lambda: (vector(60), 20))
def bootstrap(x, n):
    rng = np.random.default_rng(0)
    means = np.empty(n)
    for i in range(n):
        means[i] = rng.choice(x, size=len(x), replace=True).mean()
    return (np.percentile(means, 2.5), np.percentile(means, 97.5))


@idiom(lambda: (vector(60), 10))
def hist_entropy(x, bins):
    h, e = np.histogram(x, bins=bins, density=True)
    p = h * np.diff(e)
    p = p[p > 0]
    return -np.sum(p * np.log(p))


@idiom(lambda: (vector(60),))
def ecdf(x):
    xs = np.sort(x)
    ys = np.arange(1, len(xs) + 1) / len(xs)
    return (xs, ys)


@idiom(lambda: (vector(60),))
def skewness(x):
    m3 = np.mean((x - x.mean()) ** 3)
    return m3 / np.var(x) ** 1.5


@idiom(lambda: (matrix(30, 4),))
def cov_corr(X):
    c = np.cov(X, rowvar=False)
    d = np.sqrt(np.diag(c))
    return c / np.outer(d, d)


@idiom(lambda: (vector(60),))
def mad(x):
    med = np.median(x)
    return np.median(np.abs(x - med)) * 1.4826


@idiom(lambda: (vector(20), vector(20, 1)))
def spearman(x, y):
    rx = np.argsort(np.argsort(x))
    ry = np.argsort(np.argsort(y))
    return np.corrcoef(rx, ry)[0, 1]


@idiom(lambda: (vector(20), vector(20, 1)))
def ttest(a, b):
    t, p = scipy.stats.ttest_ind(a, b)
    return (t, p)


@idiom(lambda: (vector(20),))
def quantile_bins(x):
    q = np.quantile(x, np.linspace(0, 1, 5))
    return np.digitize(x, q[1:-1])


@idiom(lambda: (100.0, 95.0, 0.5, 0.02, 0.3))
def bs_scalar(S, K, T, r, sigma):
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    N = lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2)))
    return S * N(d1) - K * math.exp(-r * T) * N(d2)


@idiom(lambda: (np.abs(vector(60)) + 5,))
def max_drawdown(p):
    peak = np.maximum.accumulate(p)
    dd = (p - peak) / peak
    i = np.argmin(dd)
    j = np.argmax(p[:i]) if i > 0 else 0
    return (dd[i], j, i)


@idiom(lambda: (np.abs(vector(60)) + 5, 14))
def rsi(prices, n=14):
    deltas = np.diff(prices)
    seed = deltas[: n + 1]
    up = seed[seed >= 0].sum() / n
    down = -seed[seed < 0].sum() / n
    rs = up / down
    out = np.zeros_like(prices)
    out[:n] = 100.0 - 100.0 / (1.0 + rs)
    for i in range(n, len(prices)):
        delta = deltas[i - 1]
        if delta > 0:
            upval, downval = (delta, 0.0)
        else:
            upval, downval = (0.0, -delta)
        up = (up * (n - 1) + upval) / n
        down = (down * (n - 1) + downval) / n
        rs = up / down
        out[i] = 100.0 - 100.0 / (1.0 + rs)
    return out
