"""Finance, images, machine learning."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from tests.programs.idioms import idiom, matrix, vector


@idiom(lambda: (np.array([-100.0, 30, 40, 50, 20]),))
def irr(cf):
    lo, hi = (-0.9, 1.0)
    t = np.arange(len(cf))
    npv = lambda r: np.sum(cf / (1 + r) ** t)
    for _ in range(60):
        mid = (lo + hi) / 2
        if npv(mid) > 0:
            lo = mid
        else:
            hi = mid
    return round(mid, 6)


@idiom(lambda: (np.abs(vector(60)) + 5,))
def sharpe(p, rf=0.0, periods=252):
    r = np.diff(np.log(p))
    ex = r - rf / periods
    return np.sqrt(periods) * ex.mean() / ex.std() if ex.std() else np.nan


@idiom(lambda: (100.0, 0.05, 0.2, 1.0, 20, 30))
def gbm(s0, mu, sigma, T, steps, paths):
    np.random.seed(42)
    dt = T / steps
    z = np.random.randn(paths, steps)
    x = np.exp((mu - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z)
    x = np.hstack([np.ones((paths, 1)), x])
    return s0 * x.cumprod(axis=1)


@idiom(lambda: (matrix(30, 4), np.array([0.1, 0.2, 0.3, 0.4])))
def portfolio(returns, w):
    mean = returns.mean(0)
    cov = np.cov(returns.T)
    return (w @ mean, np.sqrt(w.T @ cov @ w))


@idiom(lambda: (vector(60), 0.05))
def var_cvar(r, a):
    q = np.quantile(r, a)
    return (q, r[r <= q].mean())


@idiom(lambda: (100.0, 100.0, 1.0, 0.05, 0.2, 20))
def crr(S, K, T, r, sigma, N):
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    ST = S * u ** np.arange(N, -1, -1) * d ** np.arange(0, N + 1)
    V = np.maximum(K - ST, 0)
    for i in range(N - 1, -1, -1):
        V = np.exp(-r * dt) * (p * V[:-1] + (1 - p) * V[1:])
    return V[0]


@idiom(lambda: (np.abs(vector(60)) + 5, 5, 10))
def macd(p, fast, slow):

    def ewm(x, span):
        a = 2 / (span + 1)
        out = np.zeros(len(x))
        out[0] = x[0]
        for k in range(1, len(x)):
            out[k] = a * x[k] + (1 - a) * out[k - 1]
        return out

    line = ewm(p, fast) - ewm(p, slow)
    return (line, ewm(line, 9))


@idiom(lambda: (default_rng(0).integers(0, 256, (10, 12, 3)).astype(np.uint8),))
def gray(img):
    return np.dot(img[..., :3], [0.299, 0.587, 0.114]).astype(np.uint8)


@idiom(lambda: (default_rng(0).integers(0, 256, (10, 12)).astype(np.uint8),))
def hist_eq2(img):
    hist = np.bincount(img.ravel(), minlength=256)
    cdf = hist.cumsum()
    lut = np.clip((cdf - cdf.min()) * 255 // (cdf.max() - cdf.min()), 0, 255).astype(np.uint8)
    return lut[img]


@idiom(lambda: (matrix(12, 14),))
def sobel(img):
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    ky = kx.T
    h, w = img.shape
    gx = np.zeros((h, w))
    gy = np.zeros_like(gx)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            patch = img[i - 1 : i + 2, j - 1 : j + 2]
            gx[i, j] = np.sum(patch * kx)
            gy[i, j] = (patch * ky).sum()
    return (np.hypot(gx, gy), np.arctan2(gy, gx))


@idiom(lambda: (default_rng(0).integers(0, 256, (10, 12, 3)).astype(np.uint8),))
def gamma_correct(img, gamma=2.2):
    table = np.array([(i / 255.0) ** (1.0 / gamma) * 255 for i in np.arange(0, 256)]).astype(
        "uint8"
    )
    return table[img]


@idiom(lambda: (default_rng(0).integers(0, 256, (10, 12)).astype(np.uint8),))
def otsu(img):
    counts = np.bincount(img.reshape(-1), minlength=256)
    total = img.size
    best, thr = (-1.0, 0)
    s = np.dot(np.arange(256), counts)
    wb = sb = 0
    for t in range(256):
        wb += counts[t]
        if wb == 0:
            continue
        wf = total - wb
        if wf == 0:
            break
        sb += t * counts[t]
        mb, mf = (sb / wb, (s - sb) / wf)
        between = wb * wf * (mb - mf) ** 2
        if between > best:
            best, thr = (between, t)
    return thr


@idiom(lambda: (default_rng(0).random((8, 8, 3)),))
def rgb2hsv(rgb):
    r, g, b = (rgb[..., 0], rgb[..., 1], rgb[..., 2])
    mx, mn = (rgb.max(-1), rgb.min(-1))
    d = mx - mn
    h = np.zeros_like(mx)
    mask = d != 0
    idx = (mx == r) & mask
    h[idx] = (60 * ((g[idx] - b[idx]) / d[idx]) + 360) % 360
    idx = (mx == g) & mask
    h[idx] = (60 * ((b[idx] - r[idx]) / d[idx]) + 120) % 360
    idx = (mx == b) & mask
    h[idx] = (60 * ((r[idx] - g[idx]) / d[idx]) + 240) % 360
    s = np.where(mx == 0, 0, d / np.where(mx == 0, 1, mx))
    return np.stack([h, s, mx], axis=-1)


@idiom(lambda: (matrix(12, 14), 0.3))
def rotate_nn(img, angle):
    h, w = img.shape
    yy, xx = np.mgrid[0:h, 0:w]
    cy, cx = (h / 2, w / 2)
    c, s = (np.cos(angle), np.sin(angle))
    xs = np.round(c * (xx - cx) + s * (yy - cy) + cx).astype(int)
    ys = np.round(-s * (xx - cx) + c * (yy - cy) + cy).astype(int)
    ok = (xs >= 0) & (xs < w) & (ys >= 0) & (ys < h)
    out = np.zeros_like(img)
    out[ok] = img[ys[ok], xs[ok]]
    return out


@idiom(lambda: (matrix(12, 14), 5, 6))
def bilinear(img, h, w):
    y = np.linspace(0, img.shape[0] - 1, h)
    x = np.linspace(0, img.shape[1] - 1, w)
    y0 = np.floor(y).astype(int)
    x0 = np.floor(x).astype(int)
    y1 = np.minimum(y0 + 1, img.shape[0] - 1)
    x1 = np.minimum(x0 + 1, img.shape[1] - 1)
    wy = (y - y0)[:, None]
    wx = (x - x0)[None, :]
    a = img[np.ix_(y0, x0)]
    b = img[np.ix_(y0, x1)]
    c = img[np.ix_(y1, x0)]
    d = img[np.ix_(y1, x1)]
    return a * (1 - wy) * (1 - wx) + b * (1 - wy) * wx + c * wy * (1 - wx) + d * wy * wx


@idiom(lambda: (default_rng(0).random((9, 9)) > 0.6,))
def erode(mask):
    out = np.ones_like(mask)
    p = np.pad(mask, 1)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            out &= p[1 + dy : 1 + dy + mask.shape[0], 1 + dx : 1 + dx + mask.shape[1]]
    return out


@idiom(lambda: (default_rng(0).integers(0, 256, (10, 12, 3)).astype(np.uint8), 40))
def brighten(img, amount):
    return np.clip(img.astype(np.int16) + amount, 0, 255).astype(np.uint8)


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def relu(x):
    return np.maximum(0, x)


@idiom(lambda: (matrix(20, 4), (vector(20) > 0).astype(float), 0.1, 15))
def logreg(X, y, lr, epochs):
    w = np.zeros(X.shape[1])
    b = 0.0
    losses = []
    for _ in range(epochs):
        p = sigmoid(X @ w + b)
        gw = X.T @ (p - y) / len(y)
        gb = np.mean(p - y)
        w -= lr * gw
        b -= lr * gb
        losses.append(-np.mean(y * np.log(p + 1e-09) + (1 - y) * np.log(1 - p + 1e-09)))
    return (w, b, losses)


@idiom(lambda: (matrix(20, 4),))
def softmax(z):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@idiom(lambda: (default_rng(0).integers(0, 5, 12), 5))
def one_hot(y, k):
    return np.eye(k)[y]


@idiom(lambda: (default_rng(0).integers(0, 5, 12), 5))
def one_hot2(y, k):
    out = np.zeros((y.size, k))
    out[np.arange(y.size), y] = 1
    return out


@idiom(lambda: (default_rng(0).integers(0, 3, 22), default_rng(1).integers(0, 3, 22)))
def confusion(y, p):
    k = len(np.unique(y))
    cm = np.zeros((k, k), dtype=int)
    for a, b in zip(y, p):
        cm[a, b] += 1
    return (cm, np.trace(cm) / cm.sum())


@idiom(lambda: (matrix(20, 3), default_rng(0).integers(0, 2, 20), matrix(5, 3, 1), 3))
def knn(X, y, Q, k):
    d = np.sqrt(((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    idx = np.argsort(d, axis=1)[:, :k]
    votes = y[idx]
    return (votes.mean(axis=1) > 0.5).astype(int)


@idiom(lambda: (matrix(20, 3), 2))
def pca(X, k):
    Xc = X - X.mean(axis=0)
    U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
    return (np.abs(Xc @ Vt[:k].T), S**2 / (len(X) - 1))


@idiom(lambda: (matrix(20, 3), 2))
def pca_eig(X, k):
    w, V = np.linalg.eigh(np.cov(X.T))
    order = np.argsort(w)[::-1]
    return (np.abs(V[:, order[:k]]), w[order] / w.sum())


@idiom(lambda: ([matrix(4, 5), matrix(5, 3, 1)], [vector(5), vector(3)], matrix(6, 4, 2)))
def mlp(weights, biases, x):
    a = x
    for i, (W, b) in enumerate(zip(weights, biases)):
        z = a @ W + b
        a = relu(z) if i < len(weights) - 1 else z
    return a


@idiom(lambda: (vector(30), 4))
def batches(x, size):
    total = 0.0
    for start in range(0, len(x), size):
        batch = x[start : start + size]
        total += batch.mean() * len(batch)
    return total / len(x)


@idiom(lambda: (matrix(3, 8, 0), matrix(3, 8, 1)))
def cosine(a, b):
    num = np.einsum("ij,ij->i", a, b)
    return num / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))


@idiom(
    lambda: (
        default_rng(0).standard_normal((2, 5, 4)),
        default_rng(1).standard_normal((2, 5, 4)),
        default_rng(2).standard_normal((2, 5, 4)),
    )
)
def attention(q, k, v):
    s = np.matmul(q, k.transpose(0, 2, 1)) / np.sqrt(q.shape[-1])
    s -= s.max(-1, keepdims=True)
    w = np.exp(s)
    w /= w.sum(-1, keepdims=True)
    return np.einsum("bij,bjd->bid", w, v)


@idiom(lambda: (matrix(20, 2), np.array([1.0, 2.0]), 10))
def adam(g, x, steps):
    m_, v_ = (np.zeros_like(x), np.zeros_like(x))
    b1, b2, eps, lr = (0.9, 0.999, 1e-08, 0.01)
    for t in range(1, steps + 1):
        m_ = b1 * m_ + (1 - b1) * g[t]
        v_ = b2 * v_ + (1 - b2) * g[t] ** 2
        mh = m_ / (1 - b1**t)
        vh = v_ / (1 - b2**t)
        x = x - lr * mh / (np.sqrt(vh) + eps)
    return x


@idiom(lambda: (vector(30), vector(30, 1)))
def metrics(y, p):
    mse = np.mean((y - p) ** 2)
    rmse = mse**0.5
    mae = np.abs(y - p).mean()
    r2 = 1 - np.sum((y - p) ** 2) / np.sum((y - np.mean(y)) ** 2)
    return dict(mse=mse, rmse=rmse, mae=mae, r2=r2)


@idiom(lambda: (matrix(10, 3), 0.5))
def dropout(x, p):
    rng = np.random.RandomState(0)
    mask = rng.binomial(1, 1 - p, size=x.shape) / (1 - p)
    return x * mask


@idiom(lambda: (matrix(20, 3), vector(20), 0.1))
def ridge(X, y, lam):
    n, d = X.shape
    return np.linalg.solve(X.T @ X + lam * np.identity(d), X.T.dot(y))


@idiom(lambda: (matrix(20, 3), vector(20)))
def shuffle_split(X, y, frac=0.75):
    rng = np.random.default_rng(1)
    idx = rng.permutation(len(X))
    cut = int(frac * len(X))
    return (X[idx[:cut]], X[idx[cut:]], y[idx[:cut]], y[idx[cut:]])
