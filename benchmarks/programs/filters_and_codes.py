"""Recursive filters, checksums and bit codes."""

import numpy as np

from benchmarks.programs.record import program


def crc32(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
    return crc ^ 0xFFFFFFFF


def crc16(data, polynomial=0x8408):
    crc = 0xFFFF
    for i in range(data.shape[0]):
        byte = 0xFF & int(data[i])
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            byte >>= 1
    crc = ~crc & 0xFFFF
    return (crc << 8) | ((crc >> 8) & 0xFF)


def adler32(data):
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def hamming_distances(words):
    n = len(words)
    distances = np.zeros((n, n), dtype=np.uint8)
    for i in range(n):
        x = words[i] ^ words
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        distances[i] = (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return distances


def gray_code_order(n):
    codes = np.empty(n, dtype=np.int64)
    flips = 0
    for i in range(n):
        codes[i] = i ^ (i >> 1)
        if i > 0:
            changed = codes[i] ^ codes[i - 1]
            while changed > 1:
                changed >>= 1
                flips += 1
    return codes, flips


def biquad(x, b0, b1, b2, a1, a2):
    y = np.empty_like(x)
    x1 = x2 = y1 = y2 = 0.0
    for i in range(len(x)):
        y[i] = b0 * x[i] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        x2, x1 = x1, x[i]
        y2, y1 = y1, y[i]
    return y


def recursive_smoothing(image, alpha):
    """A causal and an anticausal pass of second order along the rows (Deriche)."""
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = k
    a2 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    left = np.empty_like(image)
    right = np.empty_like(image)
    left[:, 0] = a1 * image[:, 0]
    left[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * left[:, 0]
    for j in range(2, image.shape[1]):
        left[:, j] = (
            a1 * image[:, j] + a2 * image[:, j - 1] + b1 * left[:, j - 1] + b2 * left[:, j - 2]
        )
    right[:, -1] = 0.0
    right[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        right[:, j] = (
            a3 * image[:, j + 1] + a4 * image[:, j + 2]
            + b1 * right[:, j + 1] + b2 * right[:, j + 2]
        )
    return left + right


def levinson_durbin(r):
    """The Toeplitz system of Yule and Walker."""
    y = np.zeros_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def kalman_filter(measured, f, h, q, r):
    n = len(measured)
    x = np.zeros(f.shape[0])
    p = np.eye(f.shape[0])
    identity = np.eye(f.shape[0])
    states = np.zeros((n, f.shape[0]))
    for t in range(n):
        x = f @ x
        p = f @ p @ f.T + q
        innovation = measured[t] - h @ x
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ innovation
        p = (identity - gain @ h) @ p
        states[t] = x
    return states


def least_mean_squares(x, desired, taps, rate):
    weights = np.zeros(taps)
    errors = np.zeros(len(x))
    for i in range(taps, len(x)):
        window = x[i - taps : i][::-1]
        errors[i] = desired[i] - weights @ window
        weights += 2 * rate * errors[i] * window
    return weights, errors


def run_length_encode(data):
    values = []
    counts = []
    i = 0
    while i < len(data):
        j = i
        while j < len(data) and data[j] == data[i]:
            j += 1
        values.append(data[i])
        counts.append(j - i)
        i = j
    return np.array(values), np.array(counts)


def xorshift_generator(seed, count):
    """An xorshift (Marsaglia) cut to 31 bits, in Python integers."""
    state = seed
    out = np.empty(count)
    for i in range(count):
        state ^= (state << 13) & 0x7FFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0x7FFFFFFF
        out[i] = state / 2147483648.0
    return out


def _bytes(n, rng):
    return (rng.integers(0, 256, n, dtype=np.uint8),)


def _ints(n, rng):
    return (rng.integers(0, 256, n),)


def _words(n, rng):
    return (rng.integers(0, 2**64, n, dtype=np.uint64),)


def _count(n, rng):
    return (n + int(rng.integers(3)),)


def _sound(n, rng):
    return rng.standard_normal(n), 0.2, 0.4, 0.2, -0.7, 0.3


def _image(n, rng):
    return rng.random((n, n)), 0.25


def _autocorrelation(n, rng):
    return (0.9 ** np.arange(1, n + 1) * rng.uniform(0.4, 0.6),)


def _track(n, rng):
    f = np.eye(4)
    f[0, 2] = f[1, 3] = 0.1
    return rng.standard_normal((n, 2)).cumsum(0), f, np.eye(2, 4), 0.01 * np.eye(4), np.eye(2)


def _echo(n, rng):
    x = rng.standard_normal(n)
    return x, np.convolve(x, [0.5, -0.3, 0.1])[:n], 16, 0.01


def _runs(n, rng):
    return (np.repeat(rng.integers(0, 9, n // 4 + 1), rng.integers(1, 9, n // 4 + 1)),)


def _seed(n, rng):
    return int(rng.integers(1, 2**31)), n


program(crc32, _bytes, 200, 100_000, scalar=True, exact=True)
program(crc16, _bytes, 200, 100_000, scalar=True, exact=True)
program(adler32, _ints, 500, 1_000_000, scalar=True, exact=True)
program(hamming_distances, _words, 60, 2500, exact=True)
program(gray_code_order, _count, 300, 150_000, scalar=True, exact=True)
program(biquad, _sound, 500, 300_000, scalar=True, exact=True)
program(recursive_smoothing, _image, 40, 1500)
program(levinson_durbin, _autocorrelation, 60, 6000)
program(kalman_filter, _track, 20, 10_000)
program(least_mean_squares, _echo, 200, 60_000)
program(run_length_encode, _runs, 300, 400_000, scalar=True, exact=True)
program(xorshift_generator, _seed, 500, 500_000, scalar=True, exact=True)
