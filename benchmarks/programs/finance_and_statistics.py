"""Prices, distances and statistics of series."""

import numpy as np
from scipy.special import erf

from benchmarks.programs.record import program


def black_scholes_prices(spot, strike, time, rate, volatility):
    root = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / root
    d2 = d1 - root
    n1 = 0.5 * (1.0 + erf(d1 / np.sqrt(2.0)))
    n2 = 0.5 * (1.0 + erf(d2 / np.sqrt(2.0)))
    discounted = strike * np.exp(-rate * time)
    call = spot * n1 - discounted * n2
    return call, call - spot + discounted


def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(np.radians, (lat1, lon1, lat2, lon2))
    a = (
        np.sin(0.5 * (lat2 - lat1)) ** 2
        + np.cos(lat1) * np.cos(lat2) * np.sin(0.5 * (lon2 - lon1)) ** 2
    )
    return 6371.0 * 2.0 * np.arcsin(np.sqrt(a))


def binomial_tree(spot, strike, rate, volatility, steps):
    """An American put."""
    dt = 1.0 / steps
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    discount = np.exp(-rate * dt)
    prices = spot * up ** np.arange(-steps, steps + 1, 2)
    values = np.maximum(strike - prices, 0.0)
    for _ in range(steps):
        prices = prices[1:] / up
        values = discount * (p * values[1:] + (1.0 - p) * values[:-1])
        values = np.maximum(values, strike - prices)
    return values[0]


def option_grid(prices, strike, rate, volatility, steps):
    """An explicit scheme for the Black-Scholes equation."""
    n = len(prices)
    value = np.maximum(prices - strike, 0.0)
    dt = 1.0 / steps
    k = np.arange(1, n - 1)
    for _ in range(steps):
        gamma = value[2:] - 2.0 * value[1:-1] + value[:-2]
        delta = 0.5 * (value[2:] - value[:-2])
        value[1:-1] += dt * (
            0.5 * volatility**2 * k**2 * gamma + rate * k * delta - rate * value[1:-1]
        )
        value[-1] = 2.0 * value[-2] - value[-3]
    return value


def exponential_average(prices, alpha):
    out = np.empty_like(prices)
    out[0] = prices[0]
    for i in range(1, len(prices)):
        out[i] = alpha * prices[i] + (1.0 - alpha) * out[i - 1]
    return out


def largest_drawdown(prices):
    peak = prices[0]
    worst = 0.0
    start = end = candidate = 0
    for i in range(len(prices)):
        if prices[i] > peak:
            peak = prices[i]
            candidate = i
        fall = (peak - prices[i]) / peak
        if fall > worst:
            worst = fall
            start, end = candidate, i
    return worst, start, end


def rolling_statistics(x, window):
    n = len(x) - window + 1
    means = np.empty(n)
    deviations = np.empty(n)
    for i in range(n):
        part = x[i : i + window]
        means[i] = part.mean()
        deviations[i] = part.std()
    return means, deviations


def moving_average_crossing(prices, short, long):
    total = np.cumsum(prices)
    fast = (total[short:] - total[:-short]) / short
    slow = (total[long:] - total[:-long]) / long
    above = fast[long - short :] > slow
    crossings = np.flatnonzero(above[1:] != above[:-1])
    return crossings, prices[crossings + long].mean()


def garch_likelihood(returns, omega, alpha, beta):
    variance = returns.var()
    total = 0.0
    for r in returns:
        total += np.log(variance) + r * r / variance
        variance = omega + alpha * r * r + beta * variance
    return -0.5 * total


def least_squares_lines(x, y):
    """A line for each row, with its residual's size."""
    mx = x.mean(axis=1, keepdims=True)
    my = y.mean(axis=1, keepdims=True)
    slope = ((x - mx) * (y - my)).sum(axis=1) / ((x - mx) ** 2).sum(axis=1)
    level = my[:, 0] - slope * mx[:, 0]
    residual = y - slope[:, np.newaxis] * x - level[:, np.newaxis]
    return slope, level, np.sqrt((residual**2).mean(axis=1))


def clean_outliers(x, limit):
    x = x.copy()
    removed = 0
    while True:
        good = ~np.isnan(x)
        mean, deviation = x[good].mean(), x[good].std()
        bad = good & (np.abs(np.where(good, x, mean) - mean) > limit * deviation)
        if not bad.any():
            return x, removed
        removed += int(bad.sum())
        x[bad] = np.nan


def kendall_tau(x, y):
    n = len(x)
    concordant = discordant = 0
    for i in range(n):
        for j in range(i):
            product = (x[i] - x[j]) * (y[i] - y[j])
            if product > 0:
                concordant += 1
            elif product < 0:
                discordant += 1
    return (concordant - discordant) / (n * (n - 1) / 2)


def _market(n, rng):
    return rng.uniform(80, 120, n), rng.uniform(80, 120, n), rng.uniform(0.1, 2, n), 0.03, 0.3


def _places(n, rng):
    return (
        rng.uniform(-90, 90, n), rng.uniform(-180, 180, n), rng.uniform(-90, 90, n),
        rng.uniform(-180, 180, n),
    )


def _tree(n, rng):
    return 100.0, 100.0 + 10 * rng.random(), 0.03, 0.2, n


def _grid(n, rng):
    return np.linspace(0.0, 200.0, n), 100.0 + rng.random(), 0.03, 0.2, n * n // 20


def _prices(n, rng):
    return (100.0 * np.exp(0.01 * rng.standard_normal(n).cumsum() / np.sqrt(n)),)


def _smooth(n, rng):
    return *_prices(n, rng), 0.1


def _window(n, rng):
    return rng.standard_normal(n), 20


def _crossing(n, rng):
    return *_prices(n + 60, rng), 10, 50


def _returns(n, rng):
    return 0.01 * rng.standard_normal(n), 1e-6, 0.1, 0.85


def _rows(n, rng):
    return rng.random((n, 50)), rng.random((n, 50))


def _noisy(n, rng):
    return rng.standard_t(3, n), 4.0


def _ranks(n, rng):
    return rng.random(n), rng.random(n)


program(black_scholes_prices, _market, 300, 2_000_000)
program(haversine, _places, 300, 1_000_000)
program(binomial_tree, _tree, 100, 6000)
program(option_grid, _grid, 50, 600, exact=True)
program(exponential_average, _smooth, 500, 500_000, scalar=True, exact=True)
program(largest_drawdown, _prices, 500, 600_000, scalar=True, exact=True)
program(rolling_statistics, _window, 200, 15_000)
program(moving_average_crossing, _crossing, 500, 6_000_000)
program(garch_likelihood, _returns, 200, 150_000, scalar=True)
program(least_squares_lines, _rows, 20, 80_000)
program(clean_outliers, _noisy, 500, 1_000_000)
program(kendall_tau, _ranks, 40, 1000, scalar=True, exact=True)
