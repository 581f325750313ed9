"""Real data: the sample files that come with matplotlib's wheel."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Data:
    """``photo`` in [0, 1] (rows, columns, 3), ``height`` in metres, ``scan`` raw, ``prices`` in
    dollars (months, shares)."""

    photo: Any
    height: Any
    latitude: Any
    longitude: Any
    scan: Any
    prices: Any


def load() -> Data:
    """Reads the files; needs matplotlib (``pip install npcompile[plot]``)."""
    import matplotlib
    from PIL import Image

    folder = Path(matplotlib.get_data_path()) / "sample_data"
    photo = np.asarray(Image.open(folder / "grace_hopper.jpg"), dtype=np.float64) / 255.0
    with np.load(folder / "jacksboro_fault_dem.npz") as dem:
        height = dem["elevation"].astype(np.float64)
        rows, columns = height.shape
        latitude = np.radians(np.linspace(dem["ymax"], dem["ymin"], rows))[:, None]
        longitude = np.radians(np.linspace(dem["xmin"], dem["xmax"], columns))[None, :]
    with gzip.open(folder / "s1045.ima.gz") as file:
        scan = np.frombuffer(file.read(), ">u2").astype(np.float64).reshape(256, 256)
    return Data(
        np.ascontiguousarray(photo),
        height,
        np.ascontiguousarray(np.broadcast_to(latitude, height.shape)),
        np.ascontiguousarray(np.broadcast_to(longitude, height.shape)),
        scan,
        _prices(folder / "Stocks.csv"),
    )


def _prices(path: Path) -> Any:
    """Monthly prices of the shares that are listed throughout."""
    with path.open() as file:
        rows = list(csv.reader(line for line in file if line[0] != "#"))
    table = np.array([[float(v) if v else np.nan for v in row[1:]] for row in rows[1:]])
    table = table[~np.isnan(table).all(axis=1)]
    complete = ~np.isnan(table).any(axis=0)
    return np.ascontiguousarray(table[:, complete])


def palette(pixels: Any) -> Any:
    """Six colours of a picture, from its darkest to its brightest."""
    order = pixels.sum(axis=1).argsort()
    places = (np.linspace(0.03, 0.97, 6) * len(order)).astype(int)
    return pixels[order[places]].copy()
