"""The demo's functions: plain NumPy, nothing in them knows of a compiler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import erf


def hillshade(height: Any, spacing: float, azimuth: float, altitude: float) -> Any:
    """Lambert shading of an elevation model, lit from ``azimuth`` and ``altitude`` (radians)."""
    dx = (height[1:-1, 2:] - height[1:-1, :-2]) / (2 * spacing)
    dy = (height[2:, 1:-1] - height[:-2, 1:-1]) / (2 * spacing)
    light = (
        math.cos(altitude) * math.sin(azimuth),
        math.cos(altitude) * math.cos(azimuth),
        math.sin(altitude),
    )
    shade = (light[2] - light[0] * dx - light[1] * dy) / np.sqrt(1.0 + dx * dx + dy * dy)
    return np.clip(shade, 0.0, 1.0)


def unsharp(image: Any, amount: float) -> Any:
    """Sharpens by adding back what a 3 x 3 binomial blur takes away."""
    sharp = image.copy()
    blur = (
        4.0 * image[1:-1, 1:-1]
        + 2.0 * (image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:])
        + (image[:-2, :-2] + image[:-2, 2:] + image[2:, :-2] + image[2:, 2:])
    ) / 16.0
    sharp[1:-1, 1:-1] += amount * (image[1:-1, 1:-1] - blur)
    return np.minimum(np.maximum(sharp, 0.0), 1.0)


def nearest_colour(pixels: Any, centres: Any) -> Any:
    """The assignment step of k-means: each pixel's nearest centre."""
    distance = np.empty((centres.shape[0], pixels.shape[0]))
    for k in range(6):
        difference = pixels - centres[k]
        distance[k] = (difference * difference).sum(axis=1)
    return distance.argmin(axis=0)


def black_scholes(spot: Any, strike: float, years: float, rate: float, sigma: Any) -> Any:
    """Prices of European calls and puts (Black and Scholes 1973, eq. 13)."""
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    n1 = 0.5 * (1.0 + erf(d1 / np.sqrt(2.0)))
    n2 = 0.5 * (1.0 + erf(d2 / np.sqrt(2.0)))
    call = spot * n1 - discounted * n2
    return call, call - spot + discounted


def softmax(scores: Any) -> Any:
    """Softmax over the last axis."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def logsumexp(scores: Any) -> Any:
    """``log(sum(exp(scores)))`` over the last axis without overflow."""
    top = scores.max(axis=-1, keepdims=True)
    return np.log(np.exp(scores - top).sum(axis=-1)) + top[..., 0]


def haversine(latitude: Any, longitude: Any, latitude0: float, longitude0: float) -> Any:
    """Great-circle distances in km to one place (all angles in radians)."""
    a = np.sin((latitude - latitude0) / 2) ** 2
    b = np.sin((longitude - longitude0) / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(a + np.cos(latitude) * math.cos(latitude0) * b))


def contrast(scan: Any, low: float, high: float, gamma: float) -> Any:
    """View and gamma correction of a scan."""
    geometry = np.clip((scan - low) / (high - low), 0.0, 1.0)
    return geometry**gamma


def volatility(prices: Any) -> Any:
    """Annual volatility from the last twelve monthly log returns, for each month and share."""
    returns = np.log(prices[1:] / prices[:-1])
    n = returns.shape[0] - 11
    mean = np.zeros((n, returns.shape[1]))
    for k in range(12):
        mean += returns[k : n + k]
    mean /= 12
    square = np.zeros_like(mean)
    for k in range(12):
        deviation = returns[k : n + k] - mean
        square += deviation * deviation
    return np.sqrt(square / 11) * math.sqrt(12)
