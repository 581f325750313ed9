"""Prints one sum of the bits of each function in mode ``"portable"``: :mod:`.test_portable`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit


def numbers(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(sum(shape))
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if dtype in "DF" else a).astype(dtype)


def products() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Products of every way to compute them: functions and operands."""
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {}
    for dtype in "dfDF":
        for m, k, n in ((5, 7, 3), (64, 64, 64), (130, 500, 77), (200, 1000, 50)):
            a, b = numbers(dtype, m, k), numbers(dtype, k, n)
            found[f"matmul {dtype} {m}"] = (lambda a, b: a @ b), [a, b]
        a, x = numbers(dtype, 300, 517), numbers(dtype, 517)
        found[f"matrix by vector {dtype}"] = (lambda a, x: a @ x), [a, x]
        found[f"vector by matrix {dtype}"] = (lambda a, x: x @ a.T), [a, x]
        found[f"dot {dtype}"] = (lambda a, x: np.dot(a[3], x)), [a, x]
        found[f"inner {dtype}"] = (lambda a, x: np.inner(a, a[:9])), [a, x]
        found[f"times its transpose {dtype}"] = (lambda a, x: a.T @ a), [a, x]
        found[f"einsum {dtype}"] = (lambda a, x: np.einsum("ij,kj->ik", a, a[:50])), [a, x]
    for dtype in "df":
        x, w, b = numbers(dtype, 207, 300), numbers(dtype, 300, 53), numbers(dtype, 53)
        found[f"product and bias {dtype}"] = (lambda x, w, b: (x @ w + b) / 3), [x, w, b]
        q = numbers(dtype, 3, 203, 24)
        found[f"rows between products {dtype}"] = _normalised, [q]
    return found


def _normalised(q: Any) -> Any:
    scores = q @ q.swapaxes(-1, -2)
    return (scores - scores.mean(axis=-1, keepdims=True)) @ (q[..., :9] * q.dtype.type(2))


def factorisations() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """What is built over products: functions and operands."""
    linalg = np.linalg
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {}
    for dtype in "dfD":
        for n in (5, 70):
            a = numbers(dtype, n, n)
            positive = (a @ a.conj().T + n * np.eye(n)).astype(dtype)
            batch = np.stack([a, a + 1])
            found[f"solve {dtype} {n}"] = (lambda a: linalg.solve(a, a[:, :3])), [a]
            found[f"solve a vector {dtype} {n}"] = (lambda a: linalg.solve(a, a[0])), [a]
            found[f"inv {dtype} {n}"] = linalg.inv, [a]
            found[f"inv of two {dtype} {n}"] = linalg.inv, [batch]
            found[f"det {dtype} {n}"] = linalg.det, [a]
            found[f"cholesky {dtype} {n}"] = linalg.cholesky, [positive]
            if dtype != "f":
                found[f"qr {dtype} {n}"] = linalg.qr, [a[:, : n - 2].copy()]
    a = numbers("d", 20, 20)
    found["slogdet"] = linalg.slogdet, [a]
    found["eigh"] = linalg.eigh, [a + a.T]
    found["eigvalsh"] = linalg.eigvalsh, [a + a.T]
    found["svd"] = linalg.svd, [a]
    found["svdvals"] = linalg.svdvals, [a[:9].copy()]
    return found


def sums(found: dict[str, tuple[Callable[..., Any], list[Any]]]) -> dict[str, str]:
    """Of the results of each function on operands in C order; all other orders, and batches, must
    give the same."""
    told = {}
    for name, (function, operands) in found.items():
        compiled = jit(_call(function), deterministic="portable", fullgraph=True)
        bits = {hashlib.sha256(b"".join(
            np.ascontiguousarray(x).tobytes() for x in _several(compiled(*arrays)))).hexdigest()
            for arrays in _laid_out(operands)}
        assert len(bits) == 1, name
        told[name] = bits.pop()
    return told


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*operands)


def _several(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, tuple) else (found,)


def _laid_out(operands: list[Any]) -> list[list[Any]]:
    wide = [np.repeat(x, 2, axis=-1)[..., ::2] for x in operands]
    return [operands, [np.asfortranarray(x) for x in operands], wide,
            [np.ascontiguousarray(x[::-1])[::-1] for x in operands]]


if __name__ == "__main__":
    for name, told in sums(products() | factorisations()).items():
        print(f"{name}: {told}")
