"""Stencils in one, two and three dimensions with loops over time."""

import numpy as np

from benchmarks.programs.record import program


def jacobi_1d(steps, a, b):
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def jacobi_2d(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )


def jacobi_until_converged(u, tolerance, limit):
    for step in range(limit):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        change = np.max(np.abs(new - u))
        u = new
        if change < tolerance:
            return u, step
    return u, limit


def heat_3d(steps, a, b):
    def spread(u):
        middle = u[1:-1, 1:-1, 1:-1]
        return (
            0.125 * (u[2:, 1:-1, 1:-1] - 2.0 * middle + u[:-2, 1:-1, 1:-1])
            + 0.125 * (u[1:-1, 2:, 1:-1] - 2.0 * middle + u[1:-1, :-2, 1:-1])
            + 0.125 * (u[1:-1, 1:-1, 2:] - 2.0 * middle + u[1:-1, 1:-1, :-2])
            + middle
        )

    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = spread(a)
        a[1:-1, 1:-1, 1:-1] = spread(b)


def fdtd_2d(ex, ey, hz, source):
    for pulse in source:
        ey[0, :] = pulse
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                    + a[i, j - 1] + a[i, j] + a[i, j + 1]
                    + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0


def seidel_rows(steps, a):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i + 1, 1:-1] + a[i, 2:]
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 6.0


def adi(steps, u):
    n = u.shape[0]
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    dx, dt = 1.0 / n, 1.0 / steps
    a = -dt / (dx * dx)
    b = 1.0 - 2.0 * a
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            right = -a * u[j, :-2] + (1.0 + 2.0 * a) * u[j, 1:-1] - a * u[j, 2:]
            q[1:-1, j] = (right - a * q[1:-1, j - 1]) / (a * p[1:-1, j - 1] + b)
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            right = -a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - a * v[2:, j]
            q[1:-1, j] = (right - a * q[1:-1, j - 1]) / (a * p[1:-1, j - 1] + b)
        u[1:-1, -1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return u


def upwind_advection(u, velocity, dx, dt, steps):
    for _ in range(steps):
        un = u.copy()
        if velocity > 0:
            u[1:] = un[1:] - velocity * dt / dx * (un[1:] - un[:-1])
        else:
            u[:-1] = un[:-1] - velocity * dt / dx * (un[1:] - un[:-1])
    return u


def burgers_2d(u, v, nu, d, dt, steps):
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        for new, old in ((u, un), (v, vn)):
            new[1:-1, 1:-1] = (
                old[1:-1, 1:-1]
                - dt / d * un[1:-1, 1:-1] * (old[1:-1, 1:-1] - old[1:-1, :-2])
                - dt / d * vn[1:-1, 1:-1] * (old[1:-1, 1:-1] - old[:-2, 1:-1])
                + nu * dt / d**2 * (old[1:-1, 2:] - 2 * old[1:-1, 1:-1] + old[1:-1, :-2])
                + nu * dt / d**2 * (old[2:, 1:-1] - 2 * old[1:-1, 1:-1] + old[:-2, 1:-1])
            )
            new[0, :] = 1
            new[-1, :] = 1
            new[:, 0] = 1
            new[:, -1] = 1
    return u, v


def limited_hyperdiffusion(field, coefficient):
    laplacian = 4.0 * field[1:-1, 1:-1, :] - (
        field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :]
    )
    step = laplacian[1:, 1:-1, :] - laplacian[:-1, 1:-1, :]
    flux_x = np.where(step * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0, 0, step)
    step = laplacian[1:-1, 1:, :] - laplacian[1:-1, :-1, :]
    flux_y = np.where(step * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0, 0, step)
    return field[2:-2, 2:-2, :] - coefficient * (
        flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :]
    )


def vertical_implicit_advection(speed, field, dt):
    """A Thomas solver along the last axis for all columns at once."""
    levels = field.shape[2]
    c = np.zeros_like(field)
    d = np.zeros_like(field)
    for k in range(levels):
        below = -0.25 * dt * speed[:, :, k] if k > 0 else np.zeros(field.shape[:2])
        above = 0.25 * dt * speed[:, :, k + 1] if k < levels - 1 else np.zeros(field.shape[:2])
        diagonal = 1.0 - below - above
        if k == 0:
            c[:, :, k] = above / diagonal
            d[:, :, k] = field[:, :, k] / diagonal
        else:
            factor = 1.0 / (diagonal - below * c[:, :, k - 1])
            c[:, :, k] = above * factor
            d[:, :, k] = (field[:, :, k] - below * d[:, :, k - 1]) * factor
    out = np.empty_like(field)
    out[:, :, -1] = d[:, :, -1]
    for k in range(levels - 2, -1, -1):
        out[:, :, k] = d[:, :, k] - c[:, :, k] * out[:, :, k + 1]
    return out


def wave_equation(u, speed, steps):
    before = u.copy()
    for _ in range(steps):
        after = np.zeros_like(u)
        after[1:-1, 1:-1] = (
            2 * u[1:-1, 1:-1] - before[1:-1, 1:-1]
            + speed[1:-1, 1:-1] ** 2
            * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        )
        before, u = u, after
    return u


def gray_scott(u, v, feed, kill, steps):
    def laplacian(z):
        return (
            np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z
        )

    for _ in range(steps):
        uvv = u * v * v
        u = u + 0.16 * laplacian(u) - uvv + feed * (1 - u)
        v = v + 0.08 * laplacian(v) + uvv - (feed + kill) * v
    return u, v


def _line(n, rng):
    return 20, rng.random(n), rng.random(n)


def _square(n, rng):
    return 10, rng.random((n, n)), rng.random((n, n))


def _plate(n, rng):
    u = np.zeros((n, n))
    u[0] = rng.uniform(50.0, 100.0, n)
    return u, 0.1, 200


def _cube(n, rng):
    return 5, rng.random((n, n, n)), rng.random((n, n, n))


def _fields(n, rng):
    ex, ey, hz = rng.random((3, n, n + 2))
    return ex, ey, hz, np.arange(20.0)


def _seidel(n, rng):
    return 3, rng.random((n, n))


def _adi(n, rng):
    return 6, rng.random((n, n))


def _pulse(n, rng):
    u = np.ones(n)
    u[n // 4 : n // 2] = 2.0 + rng.random()
    return u, 1.0, 1.0 / n, 0.4 / n, 50


def _burgers(n, rng):
    u, v = 1.0 + rng.random((2, n, n))
    return u, v, 0.01, 2.0 / n, 0.001 / n, 20


def _atmosphere(n, rng):
    return rng.random((n, n, 40)), 0.025


def _columns(n, rng):
    return rng.uniform(-1.0, 1.0, (n, n, 41)), rng.random((n, n, 40)), 0.3


def _membrane(n, rng):
    return rng.random((n, n)), rng.uniform(0.1, 0.5, (n, n)), 20


def _chemicals(n, rng):
    u = np.ones((n, n))
    v = np.zeros((n, n))
    u[n // 3 : n // 2, n // 3 : n // 2] = 0.5
    v[n // 3 : n // 2, n // 3 : n // 2] = 0.25 + 0.05 * rng.random()
    return u, v, 0.035, 0.065, 20


program(jacobi_1d, _line, 1000, 1_000_000, exact=True)
program(jacobi_2d, _square, 30, 800, exact=True)
program(jacobi_until_converged, _plate, 24, 350, exact=True)
program(heat_3d, _cube, 12, 90, exact=True)
program(fdtd_2d, _fields, 30, 700, exact=True)
program(seidel_2d, _seidel, 20, 300, scalar=True, exact=True)
program(seidel_rows, _seidel, 20, 500, scalar=True, exact=True)
program(adi, _adi, 16, 500, exact=True)
program(upwind_advection, _pulse, 1000, 500_000, exact=True)
program(burgers_2d, _burgers, 24, 350, exact=True)
program(limited_hyperdiffusion, _atmosphere, 10, 220, exact=True)
program(vertical_implicit_advection, _columns, 8, 160, exact=True)
program(wave_equation, _membrane, 30, 600, exact=True)
program(gray_scott, _chemicals, 30, 400, exact=True)
