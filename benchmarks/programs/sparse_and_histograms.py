"""Sparse products, counting and scattering."""

import numpy as np

from benchmarks.programs.record import program


def csr_product(indptr, indices, data, x):
    y = np.empty(len(indptr) - 1, dtype=data.dtype)
    for row in range(len(y)):
        columns = indices[indptr[row] : indptr[row + 1]]
        y[row] = data[indptr[row] : indptr[row + 1]] @ x[columns]
    return y


def csr_product_loops(indptr, indices, data, x):
    n = len(indptr) - 1
    y = np.zeros(n)
    for row in range(n):
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total
    return y


def coordinate_product(rows, columns, data, x):
    y = np.zeros_like(x)
    np.add.at(y, rows, data * x[columns])
    return y


def page_rank(indptr, indices, damping, tolerance):
    n = len(indptr) - 1
    degree = np.diff(indptr)
    source = np.repeat(np.arange(n), degree)
    rank = np.full(n, 1.0 / n)
    change = 1.0
    rounds = 0
    while change > tolerance:
        share = np.where(degree > 0, rank / np.maximum(degree, 1), 0.0)
        received = np.bincount(indices, weights=share[source], minlength=n)
        new = (1.0 - damping) / n + damping * (received + rank[degree == 0].sum() / n)
        change = np.abs(new - rank).sum()
        rank = new
        rounds += 1
    return rank, rounds


def histogram_loops(values, bins):
    low, high = values.min(), values.max()
    counts = np.zeros(bins, dtype=np.int64)
    width = (high - low) / bins
    for value in values:
        place = int((value - low) / width)
        if place == bins:
            place -= 1
        counts[place] += 1
    return counts


def histogram_equalisation(image):
    counts, edges = np.histogram(image, bins=64)
    share = np.cumsum(counts) / image.size
    return np.interp(image, edges[:-1], share)


def azimuthal_average(data, radius, bins):
    """Means over rings, by masks."""
    edges = np.linspace(0.0, radius.max(), bins + 1)
    out = np.empty(bins)
    for i in range(bins):
        ring = data[(edges[i] <= radius) & (radius < edges[i + 1])]
        out[i] = ring.mean() if ring.size > 0 else 0.0
    return out


def histogram_2d(x, y, weight, bins):
    counts = np.zeros((bins, bins))
    i = np.minimum((x * bins).astype(np.int64), bins - 1)
    j = np.minimum((y * bins).astype(np.int64), bins - 1)
    np.add.at(counts, (i, j), weight)
    return counts / counts.sum()


def group_means(keys, values):
    groups, inverse = np.unique(keys, return_inverse=True)
    sums = np.bincount(inverse, weights=values)
    return groups, sums / np.bincount(inverse)


def contour_of_mask(mask):
    """The cells of a mask that have a neighbour outside."""
    inner = mask.copy()
    inner[1:] &= mask[:-1]
    inner[:-1] &= mask[1:]
    inner[:, 1:] &= mask[:, :-1]
    inner[:, :-1] &= mask[:, 1:]
    return np.argwhere(mask & ~inner)


def grid_deposit(position, charge, cells):
    """Charges of particles shared between the two nearest cells."""
    density = np.zeros(cells)
    for p in range(len(position)):
        at = position[p] * cells
        left = int(at)
        part = at - left
        density[left % cells] += charge[p] * (1.0 - part)
        density[(left + 1) % cells] += charge[p] * part
    return density


def _csr(n, rng):
    counts = rng.integers(1, 20, n)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    indices = rng.integers(0, n, indptr[-1])
    return indptr, indices, rng.standard_normal(indptr[-1]), rng.standard_normal(n)


def _coordinates(n, rng):
    rows, columns = rng.integers(0, n, (2, 10 * n))
    return rows, columns, rng.standard_normal(10 * n), rng.standard_normal(n)


def _graph(n, rng):
    indptr, indices, _, _ = _csr(n, rng)
    return indptr, indices, 0.85, 1e-8


def _values(n, rng):
    return rng.standard_normal(n), 50


def _picture(n, rng):
    return (rng.random((n, n)) ** 2,)


def _disc(n, rng):
    y, x = np.mgrid[:n, :n] - 0.5 * n
    return rng.random((n, n)), np.sqrt(x * x + y * y), 40


def _pairs(n, rng):
    return *rng.random((3, n)), 30


def _groups(n, rng):
    return rng.integers(0, 50, n), rng.standard_normal(n)


def _mask(n, rng):
    smooth = rng.standard_normal((n, n)).cumsum(0).cumsum(1)
    return (smooth > 0,)


def _particles(n, rng):
    return *rng.random((2, n)), 64


program(csr_product, _csr, 100, 60_000)
program(csr_product_loops, _csr, 60, 40_000, scalar=True, exact=True)
program(coordinate_product, _coordinates, 100, 400_000, exact=True)
program(page_rank, _graph, 100, 100_000)
program(histogram_loops, _values, 400, 500_000, scalar=True, exact=True)
program(histogram_equalisation, _picture, 30, 1500)
program(azimuthal_average, _disc, 30, 1100)
program(histogram_2d, _pairs, 500, 4_000_000)
program(group_means, _groups, 500, 2_000_000)
program(contour_of_mask, _mask, 40, 4500, exact=True)
program(grid_deposit, _particles, 300, 400_000, scalar=True, exact=True)
