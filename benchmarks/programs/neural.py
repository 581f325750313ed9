"""Layers of networks as a beginner writes them, and training loops."""

from itertools import pairwise

import numpy as np

from benchmarks.programs.record import program


def convolution_layer(images, weights, bias):
    k = weights.shape[0]
    count, height, width, _ = images.shape
    out = np.empty((count, height - k + 1, width - k + 1, weights.shape[3]), images.dtype)
    for i in range(height - k + 1):
        for j in range(width - k + 1):
            out[:, i, j, :] = np.sum(
                images[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis],
                axis=(1, 2, 3),
            )
    return out + bias


def convolution_loops(image, kernel):
    height, width = image.shape
    k = kernel.shape[0]
    out = np.zeros((height - k + 1, width - k + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for di in range(k):
                for dj in range(k):
                    total += image[i + di, j + dj] * kernel[di, dj]
            out[i, j] = total
    return out


def max_pooling(images):
    count, height, width, channels = images.shape
    out = np.empty((count, height // 2, width // 2, channels), dtype=images.dtype)
    for i in range(height // 2):
        for j in range(width // 2):
            out[:, i, j, :] = np.max(
                images[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2)
            )
    return out


def softmax_rows(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def perceptron(x, w1, b1, w2, b2, w3, b3):
    def relu(v):
        return np.maximum(v, 0)

    hidden = relu(relu(x @ w1 + b1) @ w2 + b2)
    return softmax_rows(hidden @ w3 + b3)


def train_perceptron(x, labels, w1, b1, w2, b2, rate, rounds):
    n = len(x)
    loss = 0.0
    for _ in range(rounds):
        hidden = np.tanh(x @ w1 + b1)
        probability = softmax_rows(hidden @ w2 + b2)
        loss = -np.log(probability[np.arange(n), labels]).mean()
        error = probability.copy()
        error[np.arange(n), labels] -= 1.0
        error /= n
        back = (error @ w2.T) * (1.0 - hidden**2)
        w2 -= rate * (hidden.T @ error)
        b2 -= rate * error.sum(axis=0)
        w1 -= rate * (x.T @ back)
        b1 -= rate * back.sum(axis=0)
    return loss


def logistic_regression(x, y, rate, tolerance, limit):
    w = np.zeros(x.shape[1])
    for step in range(limit):
        p = 1.0 / (1.0 + np.exp(-(x @ w)))
        gradient = x.T @ (p - y) / len(y)
        w -= rate * gradient
        if np.sqrt((gradient**2).sum()) < tolerance:
            return w, step
    return w, limit


def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    n = q.shape[-2]
    later = np.arange(n)[:, None] < np.arange(n)
    scores = np.where(later, -np.inf, scores)
    return softmax_rows(scores) @ v


def layer_norm_gelu(x, scale, shift):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    y = (x - mean) / np.sqrt(variance + 1e-5) * scale + shift
    return 0.5 * y * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (y + 0.044715 * y**3)))


def recurrent_network(x, w, u, b):
    """A gated recurrent unit over time."""
    def sigmoid(z):
        return 1.0 / (1.0 + np.exp(-z))

    h = np.zeros((x.shape[1], u.shape[1]))
    for t in range(x.shape[0]):
        update = sigmoid(x[t] @ w[0] + h @ u[0] + b[0])
        reset = sigmoid(x[t] @ w[1] + h @ u[1] + b[1])
        fresh = np.tanh(x[t] @ w[2] + (reset * h) @ u[2] + b[2])
        h = (1.0 - update) * h + update * fresh
    return h


def adam_fit(x, y, steps):
    """A line fitted by the Adam method."""
    w = np.zeros(2)
    m = np.zeros(2)
    s = np.zeros(2)
    for t in range(1, steps + 1):
        residual = w[0] * x + w[1] - y
        g = np.array([(residual * x).mean(), residual.mean()])
        m = 0.9 * m + 0.1 * g
        s = 0.999 * s + 0.001 * g * g
        w = w - 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
    return w


def _layer(n, rng):
    return (
        rng.random((8, n, n, 3), dtype=np.float32), rng.random((3, 3, 3, 16), dtype=np.float32),
        rng.random(16, dtype=np.float32),
    )


def _plane(n, rng):
    return rng.random((n, n)), rng.random((5, 5))


def _maps(n, rng):
    return (rng.random((8, n, n, 16), dtype=np.float32),)


def _batch(n, rng):
    return (rng.random((8, 16, n, n), dtype=np.float32),)


def _network(n, rng):
    sizes = [32, 256, 128, 10]
    layers = []
    for a, b in pairwise(sizes):
        layers += [rng.standard_normal((a, b)) / np.sqrt(a), rng.standard_normal(b)]
    return rng.random((n, 32)), *layers


def _training(n, rng):
    w1, w2 = 0.1 * rng.standard_normal((20, 32)), 0.1 * rng.standard_normal((32, 10))
    labels = rng.integers(0, 10, n)
    return rng.random((n, 20)), labels, w1, np.zeros(32), w2, np.zeros(10), 0.1, 10


def _regression(n, rng):
    x = rng.standard_normal((n, 10))
    y = (x @ rng.standard_normal(10) + rng.standard_normal(n) > 0).astype(float)
    return x, y, 1.0, 1e-4, 50


def _heads(n, rng):
    return tuple(rng.standard_normal((8, n, 32)) for _ in range(3))


def _tokens(n, rng):
    return rng.standard_normal((n, 512)), rng.random(512), rng.random(512)


def _sequence(n, rng):
    return (
        rng.standard_normal((n, 8, 16)), 0.2 * rng.standard_normal((3, 16, 32)),
        0.2 * rng.standard_normal((3, 32, 32)), np.zeros((3, 32)),
    )


def _cloud(n, rng):
    x = rng.uniform(-1.0, 1.0, n)
    return x, 3.0 * x - 1.0 + 0.1 * rng.standard_normal(n), 300


program(convolution_layer, _layer, 8, 70)
program(convolution_loops, _plane, 10, 120, scalar=True, exact=True)
program(max_pooling, _maps, 10, 250, exact=True)
program(softmax_rows, _batch, 8, 256)
program(perceptron, _network, 10, 20_000)
program(train_perceptron, _training, 30, 4000)
program(logistic_regression, _regression, 50, 60_000)
program(attention, _heads, 16, 350)
program(layer_norm_gelu, _tokens, 10, 3000)
program(recurrent_network, _sequence, 10, 3000)
program(adam_fit, _cloud, 60, 100_000)
