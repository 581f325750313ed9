"""Random numbers from NumPy's generators, in and outside of loops."""

import numpy as np

from benchmarks.programs.record import program


def pi_by_points(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y = rng.random(n)
    return 4.0 * np.count_nonzero(x * x + y * y < 1.0) / n


def asian_option(rng, spot, strike, rate, volatility, paths, steps):
    dt = 1.0 / steps
    price = np.full(paths, spot)
    total = np.zeros(paths)
    for _ in range(steps):
        shock = rng.standard_normal(paths)
        price *= np.exp((rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * shock)
        total += price
    payoff = np.maximum(total / steps - strike, 0.0)
    return np.exp(-rate) * payoff.mean(), payoff.std() / np.sqrt(paths)


def random_walks(rng, walkers, steps):
    position = np.zeros((walkers, 2))
    furthest = np.zeros(walkers)
    for _ in range(steps):
        angle = rng.uniform(0.0, 2.0 * np.pi, walkers)
        position[:, 0] += np.cos(angle)
        position[:, 1] += np.sin(angle)
        furthest = np.maximum(furthest, np.hypot(position[:, 0], position[:, 1]))
    return furthest.mean(), position


def ising_sweeps(spins, uniform, beta):
    """Metropolis steps on a periodic lattice with given random numbers."""
    n = spins.shape[0]
    for sweep in range(uniform.shape[0]):
        for i in range(n):
            for j in range(n):
                around = (
                    spins[(i + 1) % n, j] + spins[i - 1, j]
                    + spins[i, (j + 1) % n] + spins[i, j - 1]
                )
                cost = 2 * spins[i, j] * around
                if cost <= 0 or uniform[sweep, i, j] < np.exp(-beta * cost):
                    spins[i, j] = -spins[i, j]
    return spins.mean()


def ising_checkerboard(rng, spins, beta, sweeps):
    n = spins.shape[0]
    black = (np.add.outer(np.arange(n), np.arange(n)) % 2).astype(bool)
    magnetisation = np.empty(sweeps)
    for sweep in range(sweeps):
        for colour in (black, ~black):
            around = (
                np.roll(spins, 1, 0) + np.roll(spins, -1, 0)
                + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
            )
            accept = rng.random((n, n)) < np.exp(-2.0 * beta * spins * around)
            spins[colour & accept] *= -1
        magnetisation[sweep] = spins.mean()
    return magnetisation


def metropolis_chain(seed, steps, width):
    """Samples of a density with two humps."""
    rng = np.random.default_rng(seed)
    samples = np.empty(steps)
    x, accepted = 0.0, 0
    log_p = -((x * x - 1.0) ** 2)
    for i in range(steps):
        proposal = x + width * rng.normal()
        log_q = -((proposal * proposal - 1.0) ** 2)
        if np.log(rng.random()) < log_q - log_p:
            x, log_p = proposal, log_q
            accepted += 1
        samples[i] = x
    return samples, accepted / steps


def particle_filter(rng, observed, count, motion_noise, sensor_noise):
    particles = rng.normal(0.0, 1.0, count)
    estimates = np.empty(len(observed))
    for t, z in enumerate(observed):
        particles = 0.9 * particles + rng.normal(0.0, motion_noise, count)
        weights = np.exp(-0.5 * ((z - particles) / sensor_noise) ** 2)
        weights /= weights.sum()
        estimates[t] = (weights * particles).sum()
        start = rng.random() / count
        places = np.searchsorted(np.cumsum(weights), start + np.arange(count) / count)
        particles = particles[np.minimum(places, count - 1)]
    return estimates


def bootstrap_interval(seed, data, rounds):
    rng = np.random.default_rng(seed)
    means = np.empty(rounds)
    for i in range(rounds):
        means[i] = data[rng.integers(0, len(data), len(data))].mean()
    means.sort()
    return means[rounds // 20], means[-rounds // 20]


def simulated_annealing(uniform, cities):
    """A tour shortened by reversing stretches, with given random numbers."""
    n = len(cities)
    tour = np.arange(n)
    temperature = 1.0
    for k in range(len(uniform)):
        i = int(uniform[k, 0] * (n - 1))
        j = int(uniform[k, 1] * (n - 1))
        if i > j:
            i, j = j, i
        if i == j:
            continue
        a, b = cities[tour[i]], cities[tour[i + 1]]
        c, d = cities[tour[j]], cities[tour[j + 1]]
        gain = abs(a - b) + abs(c - d) - abs(a - c) - abs(b - d)
        if gain > 0 or uniform[k, 2] < np.exp(gain / temperature):
            tour[i + 1 : j + 1] = tour[i + 1 : j + 1][::-1].copy()
        temperature *= 0.9999
    return tour, np.abs(np.diff(cities[tour])).sum()


def _seeded(n, rng):
    return int(rng.integers(1000)), n


def _option(n, rng):
    return rng, 100.0, 105.0, 0.03, 0.2, n, 50


def _walks(n, rng):
    return rng, n, 40


def _spins(n, rng):
    return rng.choice(np.array([-1, 1]), (n, n)), rng.random((5, n, n)), 0.4


def _board(n, rng):
    return rng, rng.choice(np.array([-1, 1]), (n, n)), 0.4, 10


def _chain(n, rng):
    return int(rng.integers(1000)), n, 1.0


def _observations(n, rng):
    return rng, rng.standard_normal(n).cumsum() * 0.3, 1000, 0.5, 0.4


def _sample(n, rng):
    return int(rng.integers(1000)), rng.standard_normal(n), 200


def _cities(n, rng):
    return rng.random((10 * n, 3)), rng.random(n) + 1j * rng.random(n)


program(pi_by_points, _seeded, 500, 5_000_000, exact=True)
program(asian_option, _option, 100, 100_000)
program(random_walks, _walks, 60, 60_000)
program(ising_sweeps, _spins, 10, 100, scalar=True)
program(ising_checkerboard, _board, 16, 400)
program(metropolis_chain, _chain, 200, 50_000, scalar=True)
program(particle_filter, _observations, 20, 3000)
program(bootstrap_interval, _sample, 60, 60_000)
program(simulated_annealing, _cities, 20, 3000, scalar=True)
