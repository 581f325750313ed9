"""Filters of pictures."""

import numpy as np

from benchmarks.programs.record import program


def sobel_edges(image):
    gx = np.zeros_like(image)
    gy = np.zeros_like(image)
    gx[1:-1, 1:-1] = (
        image[:-2, 2:] + 2 * image[1:-1, 2:] + image[2:, 2:]
        - image[:-2, :-2] - 2 * image[1:-1, :-2] - image[2:, :-2]
    )
    gy[1:-1, 1:-1] = (
        image[2:, :-2] + 2 * image[2:, 1:-1] + image[2:, 2:]
        - image[:-2, :-2] - 2 * image[:-2, 1:-1] - image[:-2, 2:]
    )
    strength = np.sqrt(gx**2 + gy**2)
    return np.where(strength > 0.5 * strength.max(), strength, 0.0)


def bilateral_filter(image, radius, space, tone):
    padded = np.pad(image, radius, mode="edge")
    rows, columns = image.shape
    total = np.zeros_like(image)
    weights = np.zeros_like(image)
    for di in range(2 * radius + 1):
        for dj in range(2 * radius + 1):
            shifted = padded[di : di + rows, dj : dj + columns]
            distance = (di - radius) ** 2 + (dj - radius) ** 2
            w = np.exp(-distance / (2 * space**2) - (shifted - image) ** 2 / (2 * tone**2))
            total += w * shifted
            weights += w
    return total / weights


def median_of_nine(image):
    """Sorts nine values for each pixel with a network of minima and maxima."""
    out = image.copy()
    values = [
        image[1 + di : image.shape[0] - 1 + di, 1 + dj : image.shape[1] - 1 + dj].copy()
        for di in (-1, 0, 1)
        for dj in (-1, 0, 1)
    ]
    for last in range(8, 3, -1):
        for k in range(last):
            low = np.minimum(values[k], values[k + 1])
            values[k + 1] = np.maximum(values[k], values[k + 1])
            values[k] = low
    out[1:-1, 1:-1] = values[4]
    return out


def box_blur_loops(image, radius):
    rows, columns = image.shape
    out = np.zeros_like(image)
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            count = 0
            for x in range(max(0, i - radius), min(rows, i + radius + 1)):
                for y in range(max(0, j - radius), min(columns, j + radius + 1)):
                    total += image[x, y]
                    count += 1
            out[i, j] = total / count
    return out


def integral_image_mean(image, radius):
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    table[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    side = 2 * radius + 1
    sums = table[side:, side:] - table[:-side, side:] - table[side:, :-side] + table[
        :-side, :-side
    ]
    return sums / side**2


def total_variation_denoise(image, weight, steps):
    px = np.zeros_like(image)
    py = np.zeros_like(image)
    for _ in range(steps):
        divergence = -px - py
        divergence[1:] += px[:-1]
        divergence[:, 1:] += py[:, :-1]
        out = image + divergence
        gx = np.zeros_like(image)
        gy = np.zeros_like(image)
        gx[:-1] = np.diff(out, axis=0)
        gy[:, :-1] = np.diff(out, axis=1)
        norm = 1.0 + 0.25 / weight * np.sqrt(gx**2 + gy**2)
        px = (px - 0.25 * gx) / norm
        py = (py - 0.25 * gy) / norm
    return out


def floyd_steinberg_dither(image):
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            old = image[i, j]
            new = 1.0 if old > 0.5 else 0.0
            image[i, j] = new
            error = old - new
            if j + 1 < columns:
                image[i, j + 1] += error * 7 / 16
            if i + 1 < rows:
                if j > 0:
                    image[i + 1, j - 1] += error * 3 / 16
                image[i + 1, j] += error * 5 / 16
                if j + 1 < columns:
                    image[i + 1, j + 1] += error * 1 / 16


def bilinear_rotation(image, angle):
    rows, columns = image.shape
    y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    cy, cx = (rows - 1) / 2, (columns - 1) / 2
    sx = np.cos(angle) * (x - cx) + np.sin(angle) * (y - cy) + cx
    sy = -np.sin(angle) * (x - cx) + np.cos(angle) * (y - cy) + cy
    x0 = np.clip(np.floor(sx).astype(np.int64), 0, columns - 2)
    y0 = np.clip(np.floor(sy).astype(np.int64), 0, rows - 2)
    fx, fy = np.clip(sx - x0, 0, 1), np.clip(sy - y0, 0, 1)
    top = image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx
    bottom = image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx
    return top * (1 - fy) + bottom * fy


def colours_to_hue(pixels):
    r, g, b = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    high = pixels.max(axis=-1)
    spread = high - pixels.min(axis=-1)
    hue = np.zeros_like(high)
    coloured = spread > 0
    red = coloured & (high == r)
    green = coloured & (high == g) & ~red
    blue = coloured & ~red & ~green
    hue[red] = ((g[red] - b[red]) / spread[red]) % 6.0
    hue[green] = (b[green] - r[green]) / spread[green] + 2.0
    hue[blue] = (r[blue] - g[blue]) / spread[blue] + 4.0
    return 60.0 * hue


def _image(n, rng):
    return (rng.random((n, n)),)


def _bilateral(n, rng):
    return rng.random((n, n)), 3, 2.0, 0.2


def _blur(n, rng):
    return rng.random((n, n)), 2


def _noisy(n, rng):
    return rng.random((n, n)), 0.1, 15


def _turned(n, rng):
    return rng.random((n, n)), 0.3 + 0.1 * rng.random()


def _colours(n, rng):
    return (rng.random((n, n, 3)),)


program(sobel_edges, _image, 30, 2000, exact=True)
program(bilateral_filter, _bilateral, 24, 600)
program(median_of_nine, _image, 24, 1200, exact=True)
program(box_blur_loops, _blur, 12, 120, scalar=True, exact=True)
program(integral_image_mean, lambda n, rng: (rng.random((n, n)), 3), 24, 2000, exact=True)
program(total_variation_denoise, _noisy, 24, 500, exact=True)
program(floyd_steinberg_dither, _image, 14, 400, scalar=True, exact=True)
program(bilinear_rotation, _turned, 24, 1300)
program(colours_to_hue, _colours, 24, 1000, exact=True)
