"""Flows with a pressure solver, lattice gases and shallow water."""

import numpy as np

from benchmarks.programs.record import program


def _pressure_source(u, v, rho, dt, d):
    b = np.zeros_like(u)
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * d)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * d)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * d)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * d)
    b[1:-1, 1:-1] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * uy * vx - vy**2)
    return b


def _advance(w, u, v, gradient, rho, nu, dt, d):
    return (
        w[1:-1, 1:-1]
        - u[1:-1, 1:-1] * dt / d * (w[1:-1, 1:-1] - w[1:-1, :-2])
        - v[1:-1, 1:-1] * dt / d * (w[1:-1, 1:-1] - w[:-2, 1:-1])
        - dt / (2 * rho * d) * gradient
        + nu * dt / d**2 * (w[1:-1, 2:] - 2 * w[1:-1, 1:-1] + w[1:-1, :-2])
        + nu * dt / d**2 * (w[2:, 1:-1] - 2 * w[1:-1, 1:-1] + w[:-2, 1:-1])
    )


def cavity_flow(u, v, p, steps, sweeps, rho, nu, dt, d):
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        b = _pressure_source(u, v, rho, dt, d)
        for _ in range(sweeps):
            pn = p.copy()
            p[1:-1, 1:-1] = 0.25 * (
                pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]
                - d**2 * b[1:-1, 1:-1]
            )
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        u[1:-1, 1:-1] = _advance(un, un, vn, p[1:-1, 2:] - p[1:-1, :-2], rho, nu, dt, d)
        v[1:-1, 1:-1] = _advance(vn, un, vn, p[2:, 1:-1] - p[:-2, 1:-1], rho, nu, dt, d)
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return u, v, p


def channel_flow(u, p, force, nu, dt, d, sweeps, tolerance):
    """Flow between walls, periodic along it, until it is nearly stationary."""
    v = np.zeros_like(u)
    change = 1.0
    steps = 0
    while change > tolerance:
        un = u.copy()
        vn = v.copy()
        divergence = np.zeros_like(u)
        divergence[1:-1, :] = (
            (np.roll(u, -1, axis=1) - np.roll(u, 1, axis=1))[1:-1, :] + v[2:, :] - v[:-2, :]
        ) / (2 * d * dt)
        for _ in range(sweeps):
            pn = p.copy()
            around = np.roll(pn, -1, axis=1) + np.roll(pn, 1, axis=1)
            p[1:-1, :] = 0.25 * (
                around[1:-1, :] + pn[2:, :] + pn[:-2, :] - d * d * divergence[1:-1, :]
            )
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        east, west = np.roll(un, -1, axis=1), np.roll(un, 1, axis=1)
        push = (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))[1:-1, :]
        u[1:-1, :] = (
            un[1:-1, :]
            - un[1:-1, :] * dt / d * (un[1:-1, :] - west[1:-1, :])
            - vn[1:-1, :] * dt / d * (un[1:-1, :] - un[:-2, :])
            - dt / (2 * d) * push
            + nu * dt / d**2 * (east + west - 4 * un)[1:-1, :]
            + nu * dt / d**2 * (un[2:, :] + un[:-2, :])
            + dt * force
        )
        v[1:-1, :] = vn[1:-1, :] - dt / (2 * d) * (p[2:, :] - p[:-2, :])
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return u, v, p, steps


def lattice_boltzmann(f, solid, omega, steps):
    """A gas on nine directions with walls that bounce it back."""
    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    for _ in range(steps):
        for i in range(9):
            f[i] = np.roll(np.roll(f[i], cx[i], axis=1), cy[i], axis=0)
        back = f[opposite][:, solid]
        rho = f.sum(axis=0)
        ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
        uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
        square = 1.5 * (ux * ux + uy * uy)
        for i in range(9):
            along = 3.0 * (cx[i] * ux + cy[i] * uy)
            f[i] += omega * (weights[i] * rho * (1 + along + 0.5 * along**2 - square) - f[i])
        f[:, solid] = back
    return f


def shallow_water(h, hu, hv, d, dt, steps):
    """Lax-Friedrichs steps on a periodic sea."""
    def around(q):
        return 0.25 * (
            np.roll(q, 1, 0) + np.roll(q, -1, 0) + np.roll(q, 1, 1) + np.roll(q, -1, 1)
        )

    def slope(q, axis):
        return (np.roll(q, -1, axis) - np.roll(q, 1, axis)) / (2 * d)

    for _ in range(steps):
        u, v = hu / h, hv / h
        pressure = 0.5 * 9.81 * h * h
        new = around(h) - dt * (slope(hu, 1) + slope(hv, 0))
        hu, hv = (
            around(hu) - dt * (slope(hu * u + pressure, 1) + slope(hu * v, 0)),
            around(hv) - dt * (slope(hv * u, 1) + slope(hv * v + pressure, 0)),
        )
        h = new
    return h, hu, hv


def _cavity(n, rng):
    u, v, p = np.zeros((3, n, n))
    return u, v, p, 8, 20, 1.0, 0.1 + 0.01 * rng.random(), 0.001 * (41 / n) ** 2, 2 / (n - 1)


def _channel(n, rng):
    u, p = np.zeros((2, n, n))
    d = 2 / (n - 1)
    return u, p, 1.0 + 0.1 * rng.random(), 0.1, 0.5 * d * d, d, 10, 0.05


def _gas(n, rng):
    y, x = np.mgrid[:n, : 2 * n]
    solid = (x - n // 2) ** 2 + (y - n // 2) ** 2 < (n // 8) ** 2
    f = 1.0 + 0.01 * rng.random((9, n, 2 * n))
    f[1] += 0.3
    return f, solid, 1.6, 5


def _sea(n, rng):
    y, x = np.mgrid[:n, :n] / n
    h = 1.0 + 0.3 * np.exp(-100 * ((x - 0.5) ** 2 + (y - 0.4 - 0.1 * rng.random()) ** 2))
    return h, np.zeros((n, n)), np.zeros((n, n)), 1.0 / n, 0.05 / n, 10


program(cavity_flow, _cavity, 21, 250, exact=True)
program(channel_flow, _channel, 15, 201)
program(lattice_boltzmann, _gas, 16, 260)
program(shallow_water, _sea, 20, 400, exact=True)
