"""Tables that are filled from their smaller entries."""

import numpy as np

from benchmarks.programs.record import program


def rna_folding(sequence):
    """The largest number of nested pairs (Nussinov)."""
    n = len(sequence)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j] if i + 1 < n else 0)
            if i < j - 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                best = max(best, table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def edit_distance(a, b):
    m, n = len(a), len(b)
    table = np.zeros((m + 1, n + 1), dtype=np.int32)
    table[:, 0] = np.arange(m + 1)
    table[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[m, n]


def viterbi(observed, start, transition, emission):
    steps, states = len(observed), len(start)
    score = np.zeros((steps, states))
    origin = np.zeros((steps, states), dtype=np.int64)
    score[0] = start + emission[:, observed[0]]
    for t in range(1, steps):
        for s in range(states):
            candidates = score[t - 1] + transition[:, s]
            origin[t, s] = np.argmax(candidates)
            score[t, s] = candidates[origin[t, s]] + emission[s, observed[t]]
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = np.argmax(score[-1])
    for t in range(steps - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]
    return path, score[-1].max()


def hidden_markov_forward(observed, start, transition, emission):
    alpha = start * emission[:, observed[0]]
    scale = alpha.sum()
    alpha = alpha / scale
    likelihood = np.log(scale)
    for t in range(1, len(observed)):
        alpha = (alpha @ transition) * emission[:, observed[t]]
        scale = alpha.sum()
        alpha = alpha / scale
        likelihood += np.log(scale)
    return likelihood, alpha


def knapsack(values, weights, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for value, weight in zip(values, weights):
        best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + value)
    return best[capacity]


def longest_common_subsequence(a, b):
    previous = [0] * (len(b) + 1)
    for x in a:
        current = [0] * (len(b) + 1)
        for j in range(len(b)):
            if x == b[j]:
                current[j + 1] = previous[j] + 1
            else:
                current[j + 1] = max(current[j], previous[j + 1])
        previous = current
    return previous[-1]


def smith_waterman(a, b, match, mismatch, gap):
    rows, columns = len(a) + 1, len(b) + 1
    score = np.zeros((rows, columns))
    best, where = 0.0, (0, 0)
    for i in range(1, rows):
        for j in range(1, columns):
            step = match if a[i - 1] == b[j - 1] else mismatch
            score[i, j] = max(
                0.0, score[i - 1, j - 1] + step, score[i - 1, j] + gap, score[i, j - 1] + gap
            )
            if score[i, j] > best:
                best = score[i, j]
                where = (i, j)
    return best, where


def dynamic_time_warping(x, y):
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = abs(x[i - 1] - y[j - 1]) + min(
                cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1]
            )
    return cost[n, m]


def matrix_chain(dimensions):
    n = len(dimensions) - 1
    cost = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            least = -1
            for k in range(i, j):
                total = (
                    cost[i, k] + cost[k + 1, j]
                    + dimensions[i] * dimensions[k + 1] * dimensions[j + 1]
                )
                if least < 0 or total < least:
                    least = total
            cost[i, j] = least
    return cost[0, n - 1]


def rod_cutting(prices, n):
    """The best price of a rod, and its pieces, from a table of prices by length."""
    best = np.zeros(n + 1)
    first = np.zeros(n + 1, dtype=np.int64)
    for length in range(1, n + 1):
        for piece in range(1, min(length, len(prices)) + 1):
            worth = prices[piece - 1] + best[length - piece]
            if worth > best[length]:
                best[length] = worth
                first[length] = piece
    pieces = []
    rest = n
    while rest > 0:
        pieces.append(first[rest])
        rest -= first[rest]
    return best[n], np.array(pieces)


def _bases(n, rng):
    return (rng.integers(0, 4, n),)


def _texts(n, rng):
    return rng.integers(0, 4, n), rng.integers(0, 4, n + n // 10)


def _model(n, rng):
    states, symbols = 24, 8
    observed = rng.integers(0, symbols, n)
    return (
        observed, rng.dirichlet(np.ones(states)), rng.dirichlet(np.ones(states), states),
        rng.dirichlet(np.ones(symbols), states),
    )


def _log_model(n, rng):
    observed, *tables = _model(n, rng)
    return observed, *[np.log(table) for table in tables]


def _items(n, rng):
    return rng.integers(1, 1000, n), rng.integers(1, 100, n), 25 * n


def _alignment(n, rng):
    return *_texts(n, rng), 2.0, -1.0, -1.5


def _signals(n, rng):
    return rng.standard_normal(n).cumsum(), rng.standard_normal(n + 3).cumsum()


def _dimensions(n, rng):
    return (rng.integers(1, 100, n),)


def _prices(n, rng):
    return np.cumsum(rng.random(40)).tolist(), n


program(rna_folding, _bases, 24, 100, scalar=True, exact=True)
program(edit_distance, _texts, 30, 600, scalar=True, exact=True)
program(viterbi, _log_model, 20, 2500, exact=True)
program(hidden_markov_forward, _model, 60, 20_000)
program(knapsack, _items, 30, 2000, exact=True)
program(longest_common_subsequence, _texts, 40, 1000, scalar=True, exact=True)
program(smith_waterman, _alignment, 30, 400, scalar=True, exact=True)
program(dynamic_time_warping, _signals, 30, 500, scalar=True, exact=True)
program(matrix_chain, _dimensions, 14, 90, scalar=True, exact=True)
program(rod_cutting, _prices, 60, 3000, scalar=True, exact=True)
