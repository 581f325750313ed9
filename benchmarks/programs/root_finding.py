"""Roots, integrals and differential equations."""

import math

import numpy as np

from benchmarks.programs.record import program


def newton_roots(a, b, tolerance):
    """Kepler's equation for many planets, one after the other."""
    out = np.empty_like(a)
    most = 0
    for i in range(len(a)):
        x = a[i]
        steps = 0
        while True:
            change = (x - b[i] * math.sin(x) - a[i]) / (1.0 - b[i] * math.cos(x))
            x -= change
            steps += 1
            if abs(change) < tolerance or steps > 50:
                break
        out[i] = x
        most = max(most, steps)
    return out, most


def newton_arrays(mean, eccentricity, tolerance):
    x = mean.copy()
    for _ in range(50):
        change = (x - eccentricity * np.sin(x) - mean) / (1.0 - eccentricity * np.cos(x))
        x -= change
        if np.all(np.abs(change) < tolerance):
            break
    return x


def bisection(coefficients, low, high, tolerance):
    """Roots of one polynomial for each row, all rows at once."""
    def value(x):
        total = np.zeros_like(x)
        for k in range(coefficients.shape[1]):
            total = total * x + coefficients[:, k]
        return total

    at_low = value(low)
    while (high - low).max() > tolerance:
        middle = 0.5 * (low + high)
        at_middle = value(middle)
        left = at_low * at_middle <= 0
        high = np.where(left, middle, high)
        low = np.where(left, low, middle)
        at_low = np.where(left, at_low, at_middle)
    return 0.5 * (low + high)


def polynomial_roots(coefficients, limit):
    """All roots at once (Weierstrass, Durand, Kerner)."""
    n = len(coefficients) - 1
    roots = (0.4 + 0.9j) ** np.arange(n)
    for _ in range(limit):
        value = np.full(n, coefficients[0] + 0j)
        for c in coefficients[1:]:
            value = value * roots + c
        step = np.empty(n, dtype=np.complex128)
        for i in range(n):
            others = 1.0 + 0.0j
            for j in range(n):
                if j != i:
                    others *= roots[i] - roots[j]
            step[i] = value[i] / others
        roots = roots - step
        if np.abs(step).max() < 1e-12:
            break
    return roots


def contour_integral(h0, h1, source, points, radius):
    """Moments of a resolvent around a circle."""
    n = h0.shape[0]
    p0 = np.zeros((n, source.shape[1]), dtype=np.complex128)
    p1 = np.zeros_like(p0)
    for k in range(points):
        z = radius * np.exp(2j * np.pi * (k + 0.5) / points)
        x = np.linalg.solve(z * np.eye(n) - h0 - h1 / z, source)
        p0 += z * x / points
        p1 += z * z * x / points
    return p0, p1


def runge_kutta(f, y, t, dt, steps):
    path = np.empty((steps + 1, len(y)))
    path[0] = y
    for i in range(steps):
        k1 = f(t, y)
        k2 = f(t + dt / 2, y + dt / 2 * k1)
        k3 = f(t + dt / 2, y + dt / 2 * k2)
        k4 = f(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
        path[i + 1] = y
    return path


def lorenz(t, y):
    return np.array(
        [10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]]
    )


def adaptive_euler_heun(y, t, end, tolerance):
    """Steps that grow and shrink with the estimated error."""
    dt = 0.01
    accepted = rejected = 0
    while t < end:
        dt = min(dt, end - t)
        k1 = -50.0 * (y - math.cos(t))
        k2 = -50.0 * (y + dt * k1 - math.cos(t + dt))
        error = abs(dt * (k2 - k1) / 2)
        if error <= tolerance:
            t += dt
            y += dt * (k1 + k2) / 2
            accepted += 1
        else:
            rejected += 1
        dt *= min(2.0, max(0.3, 0.9 * math.sqrt(tolerance / (error + 1e-300))))
    return y, accepted, rejected


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += (4 if i % 2 else 2) * f(a + i * h)
    return total * h / 3


def bell(x):
    return math.exp(-x * x / 2)


def predator_prey(prey, predators, rates, dt, steps):
    a, b, c, d = rates
    history = np.empty((steps, 2))
    for i in range(steps):
        change = a * prey - b * prey * predators
        predators += dt * (d * prey * predators - c * predators)
        prey += dt * change
        history[i, 0] = prey
        history[i, 1] = predators
        if prey < 0 or predators < 0:
            raise ValueError("the step is too long")
    return history


def golden_section(scale, shift, tolerance):
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    best = np.empty_like(scale)
    for i in range(len(scale)):
        a, b = -10.0, 10.0
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        while b - a > tolerance:
            if scale[i] * (c - shift[i]) ** 2 < scale[i] * (d - shift[i]) ** 2:
                b, d = d, c
                c = b - ratio * (b - a)
            else:
                a, c = c, d
                d = a + ratio * (b - a)
        best[i] = (a + b) / 2
    return best


def _orbits(n, rng):
    return rng.uniform(0.0, 2.0 * np.pi, n), rng.uniform(0.0, 0.8, n), 1e-12


def _polynomials(n, rng):
    coefficients = rng.uniform(0.1, 1.0, (n, 6))
    coefficients[:, -1] = -1.0
    return coefficients, np.zeros(n), np.full(n, 10.0), 1e-9


def _polynomial(n, rng):
    return np.concatenate(([1.0], rng.uniform(-1.0, 1.0, n))), 500


def _resolvent(n, rng):
    return rng.random((n, n)), rng.random((n, n)), rng.random((n, n // 2)), 32, 30.0


def _path(n, rng):
    return lorenz, rng.uniform(0.5, 1.5, 3), 0.0, 0.01, n


def _stiff(n, rng):
    return rng.random(), 0.0, float(n), 1e-6


def _bell(n, rng):
    return bell, -5.0, 5.0 + rng.random(), 2 * n


def _animals(n, rng):
    return 10.0 + rng.random(), 5.0, (1.1, 0.4, 0.4, 0.1), 0.001, n


def _valleys(n, rng):
    return rng.uniform(0.5, 2.0, n), rng.uniform(-5.0, 5.0, n), 1e-6


program(newton_roots, _orbits, 100, 100_000, scalar=True)
program(newton_arrays, _orbits, 200, 500_000)
program(bisection, _polynomials, 100, 100_000, exact=True)
program(polynomial_roots, _polynomial, 5, 30, scalar=True)
program(contour_integral, _resolvent, 8, 130)
program(runge_kutta, _path, 40, 20_000, exact=True)
program(adaptive_euler_heun, _stiff, 1, 150, scalar=True)
program(simpson, _bell, 200, 300_000, scalar=True)
program(predator_prey, _animals, 300, 300_000, scalar=True, exact=True)
program(golden_section, _valleys, 20, 10_000, scalar=True, exact=True)
