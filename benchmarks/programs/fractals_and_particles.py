"""Escape times, many bodies and rays."""

import math

import numpy as np

from benchmarks.programs.record import program


def mandelbrot_masks(x_min, x_max, y_min, y_max, width, height, limit):
    x = np.linspace(x_min, x_max, width)
    y = np.linspace(y_min, y_max, height)
    c = x + y[:, np.newaxis] * 1j
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for step in range(limit):
        inside = np.abs(z) < 2.0
        count[inside] = step
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def mandelbrot_shrinking(x_min, x_max, y_min, y_max, width, height, limit):
    """Points that have escaped are taken out of the arrays."""
    x = np.linspace(x_min, x_max, width)
    y = np.linspace(y_min, y_max, height)
    c = (x + y[:, np.newaxis] * 1j).ravel()
    where = np.arange(c.size)
    count = np.zeros(c.size, dtype=np.int64)
    z = np.zeros_like(c)
    for step in range(limit):
        if len(z) == 0:
            break
        z = z * z + c
        out = z.real * z.real + z.imag * z.imag > 4.0
        count[where[out]] = step + 1
        keep = ~out
        z, c, where = z[keep], c[keep], where[keep]
    return count.reshape(height, width)


def mandelbrot_scalars(x_min, x_max, y_min, y_max, width, height, limit):
    image = np.zeros((height, width), dtype=np.uint16)
    for row in range(height):
        cy = y_min + row * (y_max - y_min) / height
        for column in range(width):
            cx = x_min + column * (x_max - x_min) / width
            x = y = 0.0
            for step in range(limit):
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                if x * x + y * y > 4.0:
                    image[row, column] = step
                    break
            else:
                image[row, column] = limit
    return image


def julia_complex(points, c, limit):
    steps = np.zeros(len(points), dtype=np.int64)
    for i, z in enumerate(points):
        n = 0
        while abs(z) <= 2.0 and n < limit:
            z = z * z + c
            n += 1
        steps[i] = n
    return steps


def nbody_arrays(mass, position, velocity, dt, steps, softening):
    def acceleration(at):
        x, y, z = at[:, 0:1], at[:, 1:2], at[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inverse = dx**2 + dy**2 + dz**2 + softening**2
        inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
        return np.hstack(((dx * inverse) @ mass, (dy * inverse) @ mass, (dz * inverse) @ mass))

    velocity = velocity - np.mean(mass * velocity, axis=0) / np.mean(mass)
    a = acceleration(position)
    kinetic = np.zeros(steps + 1)
    kinetic[0] = 0.5 * np.sum(mass * velocity**2)
    for i in range(steps):
        velocity += a * dt / 2.0
        position = position + velocity * dt
        a = acceleration(position)
        velocity += a * dt / 2.0
        kinetic[i + 1] = 0.5 * np.sum(mass * velocity**2)
    return position, velocity, kinetic


def nbody_scalars(mass, position, velocity, dt, steps):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                squared = dx * dx + dy * dy + dz * dz
                size = dt / (squared * math.sqrt(squared))
                for axis, d in enumerate((dx, dy, dz)):
                    velocity[i, axis] -= d * mass[j] * size
                    velocity[j, axis] += d * mass[i] * size
        for i in range(n):
            for axis in range(3):
                position[i, axis] += dt * velocity[i, axis]


def lennard_jones(position, box, cutoff):
    n = len(position)
    force = np.zeros_like(position)
    energy = 0.0
    for i in range(n):
        for j in range(i):
            d = position[i] - position[j]
            d -= box * np.round(d / box)
            squared = (d * d).sum()
            if squared < cutoff * cutoff:
                inverse = 1.0 / squared
                sixth = inverse**3
                energy += 4.0 * sixth * (sixth - 1.0)
                pull = 24.0 * inverse * sixth * (2.0 * sixth - 1.0) * d
                force[i] += pull
                force[j] -= pull
    return force, energy


def flock(position, velocity, radius, steps):
    """Animals that head where their neighbours head and keep apart."""
    for _ in range(steps):
        offset = position[:, np.newaxis, :] - position[np.newaxis, :, :]
        distance = np.sqrt((offset**2).sum(axis=-1))
        near = distance < radius
        count = near.sum(axis=1)
        heading = (near[:, :, np.newaxis] * velocity[np.newaxis]).sum(axis=1)
        apart = (offset * (near / (distance + 0.1))[:, :, np.newaxis]).sum(axis=1)
        velocity = 0.9 * velocity + 0.1 * heading / count[:, np.newaxis] + 0.01 * apart
        speed = np.sqrt((velocity**2).sum(axis=1, keepdims=True))
        velocity = velocity / np.maximum(speed, 0.1)
        position = (position + 0.05 * velocity) % 10.0
    return position, velocity


def ray_march(width, height, radius):
    """Spheres on a lattice, seen by marching along each ray by the distance to the nearest."""
    image = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            dx = (column - 0.5 * width) / height
            dy = (row - 0.5 * height) / height
            norm = math.sqrt(dx * dx + dy * dy + 1.0)
            dx, dy, dz = dx / norm, dy / norm, 1.0 / norm
            t = 0.0
            for _ in range(60):
                x = (2.0 + t * dx) % 4.0 - 2.0
                y = (2.0 + t * dy) % 4.0 - 2.0
                z = (t * dz) % 4.0 - 2.0
                distance = math.sqrt(x * x + y * y + z * z) - radius
                if distance < 0.001:
                    image[row, column] = 1.0 / (1.0 + 0.1 * t)
                    break
                t += distance
                if t > 40.0:
                    break
    return image


def ray_march_arrays(origin, direction, radius, steps):
    t = np.zeros(len(direction))
    alive = np.ones(len(direction), dtype=bool)
    for _ in range(steps):
        point = origin + t[:, np.newaxis] * direction
        point = np.mod(point + 2.0, 4.0) - 2.0
        distance = np.linalg.norm(point, axis=1) - radius
        t[alive] += distance[alive]
        alive &= (distance > 0.001) & (t < 40.0)
        if not alive.any():
            break
    return np.where(t < 40.0, 1.0 / (1.0 + 0.1 * t), 0.0)


def _view(n, rng):
    return -2.25, 0.75, -1.25, 1.25 - 0.01 * rng.random(), n, n, 40


def _points(n, rng):
    return rng.uniform(-1.5, 1.5, n) + 1j * rng.uniform(-1.5, 1.5, n), -0.7 + 0.27j, 60


def _bodies(n, rng):
    return 20.0 * np.ones((n, 1)) / n, *rng.standard_normal((2, n, 3)), 0.01, 10, 0.1


def _planets(n, rng):
    return rng.uniform(0.01, 1.0, n), *rng.standard_normal((2, n, 3)), 0.001, 5


def _gas(n, rng):
    side = int(np.ceil(n ** (1 / 3)))
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)[:n]
    return 1.2 * lattice + rng.uniform(-0.1, 0.1, (n, 3)), 1.2 * side, 2.5


def _animals(n, rng):
    return rng.uniform(0.0, 10.0, (n, 2)), rng.uniform(-1.0, 1.0, (n, 2)), 1.0, 10


def _screen(n, rng):
    return n, n, 0.8 + 0.1 * rng.random()


def _rays(n, rng):
    y, x = (np.mgrid[:n, :n].reshape(2, -1) - 0.5 * n) / n
    direction = np.stack((x, y, np.ones(n * n)), 1)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return np.array([2.0, 2.0, 0.0]), direction, 0.8 + 0.1 * rng.random(), 40


program(mandelbrot_masks, _view, 24, 600)
program(mandelbrot_shrinking, _view, 30, 800, exact=True)
program(mandelbrot_scalars, _view, 16, 250, scalar=True, exact=True)
program(julia_complex, _points, 200, 40_000, scalar=True, exact=True)
program(nbody_arrays, _bodies, 12, 600)
program(nbody_scalars, _planets, 8, 150, scalar=True, exact=True)
program(lennard_jones, _gas, 20, 250)
program(flock, _animals, 20, 400)
program(ray_march, _screen, 10, 150, scalar=True, exact=True)
program(ray_march_arrays, _rays, 10, 180)
