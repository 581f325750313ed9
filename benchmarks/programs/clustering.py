"""Groups, neighbours and mixtures."""

import numpy as np

from benchmarks.programs.record import program


def k_means(points, centres, limit):
    labels = np.zeros(len(points), dtype=np.int64)
    moved = True
    steps = 0
    while moved and steps < limit:
        distance = ((points[:, np.newaxis, :] - centres[np.newaxis]) ** 2).sum(axis=2)
        labels = distance.argmin(axis=1)
        new = centres.copy()
        for k in range(len(centres)):
            mine = labels == k
            if mine.any():
                new[k] = points[mine].mean(axis=0)
        moved = bool((np.abs(new - centres) > 1e-9).any())
        centres = new
        steps += 1
    return centres, labels, steps


def k_means_loops(points, centres, rounds):
    n, dimensions = points.shape
    k = len(centres)
    labels = np.zeros(n, dtype=np.int32)
    for _ in range(rounds):
        sums = np.zeros((k, dimensions))
        counts = np.zeros(k, dtype=np.int64)
        for i in range(n):
            best, least = -1, np.inf
            for c in range(k):
                squared = 0.0
                for d in range(dimensions):
                    difference = points[i, d] - centres[c, d]
                    squared += difference * difference
                if squared < least:
                    best, least = c, squared
            labels[i] = best
            counts[best] += 1
            for d in range(dimensions):
                sums[best, d] += points[i, d]
        for c in range(k):
            if counts[c] > 0:
                for d in range(dimensions):
                    centres[c, d] = sums[c, d] / counts[c]
    return labels


def nearest_neighbours(points, queries):
    nearest = np.empty(len(queries), dtype=np.int64)
    for i, query in enumerate(queries):
        nearest[i] = np.argmin(((points - query) ** 2).sum(axis=1))
    return nearest


def density_peaks(points, radius):
    n = len(points)
    density = np.zeros(n, dtype=np.int64)
    for i in range(n):
        d = np.sqrt(((points - points[i]) ** 2).sum(axis=1))
        density[i] = np.count_nonzero(d < radius) - 1
    order = np.argsort(-density, kind="stable")
    parent = np.full(n, -1)
    for rank in range(1, n):
        i = order[rank]
        denser = order[:rank]
        d = ((points[denser] - points[i]) ** 2).sum(axis=1)
        parent[i] = denser[np.argmin(d)]
    return density, parent


def gaussian_mixture(x, means, deviations, shares, rounds):
    for _ in range(rounds):
        scaled = (x[:, None] - means) / deviations
        p = shares * np.exp(-0.5 * scaled**2) / (deviations * np.sqrt(2 * np.pi))
        p /= p.sum(axis=1, keepdims=True)
        weight = p.sum(axis=0)
        means = (p * x[:, None]).sum(axis=0) / weight
        deviations = np.sqrt((p * (x[:, None] - means) ** 2).sum(axis=0) / weight)
        shares = weight / len(x)
    return means, deviations, shares


def correlation_loops(data):
    n, m = data.shape
    centred = data - data.mean(axis=0)
    deviation = data.std(axis=0)
    deviation[deviation <= 0.1] = 1.0
    scaled = centred / (np.sqrt(n) * deviation)
    correlation = np.eye(m)
    for i in range(m - 1):
        correlation[i, i + 1 :] = scaled[:, i] @ scaled[:, i + 1 :]
        correlation[i + 1 :, i] = correlation[i, i + 1 :]
    return correlation


def connected_components(edges, n):
    """Union-find with path halving."""
    parent = np.arange(n)
    count = n
    for a, b in edges:
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[b] = a
            count -= 1
    return parent, count


def single_linkage(distance):
    """The lengths of a minimal spanning tree (Prim)."""
    n = len(distance)
    inside = np.zeros(n, dtype=bool)
    inside[0] = True
    reach = distance[0].copy()
    lengths = np.empty(n - 1)
    for step in range(n - 1):
        candidates = np.where(inside, np.inf, reach)
        new = np.argmin(candidates)
        lengths[step] = candidates[new]
        inside[new] = True
        reach = np.minimum(reach, distance[new])
    return lengths


def _points(n, rng):
    centres = rng.uniform(-5.0, 5.0, (8, 3))
    points = centres[rng.integers(0, 8, n)] + rng.standard_normal((n, 3))
    return points, points[:8].copy(), 15


def _queries(n, rng):
    return rng.random((n, 3)), rng.random((n // 4, 3))


def _plane(n, rng):
    return rng.random((n, 2)), 0.1


def _mixture(n, rng):
    x = np.concatenate((rng.normal(-2.0, 1.0, n // 2), rng.normal(3.0, 0.5, n - n // 2)))
    return x, np.array([-1.0, 1.0]), np.ones(2), np.full(2, 0.5), 10


def _table(n, rng):
    return (rng.standard_normal((n, n // 2)),)


def _edges(n, rng):
    return rng.integers(0, n, (2 * n, 2)), n


def _distances(n, rng):
    points = rng.random((n, 2))
    return (np.sqrt(((points[:, None] - points) ** 2).sum(-1)),)


program(k_means, _points, 60, 20_000)
program(k_means_loops, lambda n, rng: (*_points(n, rng)[:2], 3), 20, 8000, scalar=True,
        exact=True)
program(nearest_neighbours, _queries, 60, 8000)
program(density_peaks, _plane, 60, 2500)
program(gaussian_mixture, _mixture, 100, 300_000)
program(correlation_loops, _table, 20, 1000)
program(connected_components, _edges, 60, 40_000, scalar=True, exact=True)
program(single_linkage, _distances, 40, 4500, exact=True)
