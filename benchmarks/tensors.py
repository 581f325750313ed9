"""``python -m benchmarks.tensors [PART ... | --write]``: torch's functions on tensors, compiled.

Each call is the body of a function of 256 x 256 tensors of float32, compiled and plain; both take
turns in one process, on one thread, after 200 calls.  Of each, the processor time of the best of 20
rounds counts.  Spectral programs stand beside ``torch.compile`` too.
"""

from __future__ import annotations

import math
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import torch

import npcompile

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "tensors.md"
ROUNDS, ROUND, CALLS, BAR = 20, 2e-3, 200, 0.93

#: of tensors ``a`` and ``b`` between 0 and 1, a mask ``m``, indices ``i`` of rows, a row ``v``, a
#: complex ``z``
TYPICAL = re.split(r"\n| {2,}", """
torch.exp(-a * a) * torch.sin(a) + torch.sqrt(a)  a * b + a  a * 2 + 1  (a - b).abs()  a / (b + 1)
a ** 2  a ** 0.5  torch.exp(a)  torch.log(a + 1)  torch.sin(a)  torch.cos(a)  torch.tanh(a)
torch.sigmoid(a) * b  torch.erf(a)  torch.special.gammaln(a + 1)  torch.special.i0e(a)
torch.rsqrt(a + 1)  torch.clamp(a, 0.2, 0.8)  torch.where(m, a, b)  torch.maximum(a, b)
a.masked_fill(m, 0.0)  torch.lerp(a, b, 0.3)  torch.addcmul(a, a, b)  torch.hypot(a, b)
torch.atan2(a, b)  torch.nan_to_num(a)  torch.sign(a - 0.5)  torch.floor(a * 9)  torch.round(a * 9)
(a > b) & m  ~m  (a > 0.5).float()  a.double()  a.sum()  a.sum(dim=0)  a.sum(dim=1)  a.mean(dim=-1)
a.var(dim=1)  a.std()  a.amax(dim=1)  a.amin(dim=0)  a.max(dim=1).values  a.argmax(dim=1)
a.prod(dim=1)  a.norm()  torch.logsumexp(a, 1)  a.cumsum(1)  a.any(dim=1)  torch.count_nonzero(m)
torch.softmax(a, -1)  torch.log_softmax(a, -1)  torch.nn.functional.relu(a - 0.5)
torch.nn.functional.gelu(a)  torch.nn.functional.silu(a)  torch.nn.functional.softplus(a)
torch.nn.functional.layer_norm(a, (256,))  torch.nn.functional.mse_loss(a, b)
torch.nn.functional.linear(a, b)  a @ b  torch.mm(a, b.t())  torch.mv(a, v)  torch.outer(v, v)
torch.einsum("ij,jk->ik", a, b)  torch.dot(v, v)  torch.addmm(a, a, b)
torch.kron(a[:8, :8], b[:8, :8])
torch.cross(a[:, :3], b[:, :3], dim=1)  torch.diff(a)  torch.cat([a, b])  torch.stack([a, b])
a.reshape(-1)  a.t() + b  a.permute(1, 0).contiguous()  a[:, 1:] - a[:, :-1]  a[i]  a[m]  a[0] * 2
torch.flip(a, (0,))  torch.roll(a, 3, 0)  torch.tril(a)  torch.triu(a)  torch.diag(a)
torch.diagonal(a) * 2  a.repeat(2, 1)  torch.tile(a, (1, 2))  a.gather(1, i[None].expand(256, 100))
torch.take(a, i)  torch.index_select(a, 0, i)  torch.meshgrid(v, v, indexing="ij")[0]
torch.linspace(0, 1, 100) * v[:100]  torch.zeros_like(a)  a.clone()  torch.isclose(a, b)
torch.allclose(a, a)  torch.isnan(a).any()  z * z.conj()  z.abs()  torch.fft.fft(a)
torch.fft.rfft(a)  torch.linalg.solve(a + torch.eye(256), b)  torch.linalg.inv(a + torch.eye(256))
""".strip())

_PASS = """y = torch.fft.rfft(s)
    k = torch.fft.rfftfreq(s.shape[-1], 1e-3)
    return torch.fft.irfft(y * ((k > 20) & (k < 80)), n=s.shape[-1])"""
_STFT = """frames = s.unfold(-1, 256, 128) * w
    return torch.fft.rfft(frames).abs()"""
#: programs of 64 signals ``s`` of 4096 points and a window ``w``
SPECTRAL = {
    "`rfft(s).abs() ** 2`": "return torch.fft.rfft(s).abs() ** 2", "band-pass filter": _PASS,
    "windows' spectra (STFT)": _STFT,
}


def operands() -> dict[str, Any]:
    """Tensors by name."""
    torch.manual_seed(0)
    a, b = torch.rand(256, 256), torch.rand(256, 256)
    return {"a": a, "b": b, "m": torch.rand(256, 256) > 0.5, "i": torch.randint(0, 256, (100,)),
            "v": torch.rand(256), "z": torch.complex(a, b), "s": torch.randn(64, 4096),
            "w": torch.hann_window(256), "x": torch.rand(8), "y": torch.rand(8)}


def function(body: str) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the tensors that its body names, and these."""
    held = operands()
    names = [name for name in held if re.search(rf"(?<![\w.\"]){name}(?![\w(=\"])", body)]
    space: dict[str, Any] = {"torch": torch}
    exec(f"def f({', '.join(names)}):\n    {body}", space)
    return space["f"], [held[name] for name in names]


def best(functions: list[Callable[..., Any]], args: list[Any]) -> list[float]:
    """Microseconds of the best round of each."""
    found = [math.inf] * len(functions)
    for f in functions:
        for _ in range(CALLS):
            f(*args)
    for k in range(ROUNDS):
        for place, f in enumerate(functions):
            if k == 0:
                begun = time.process_time()
                f(*args)
                found[place] = max(time.process_time() - begun, 1e-7)
                continue
            calls = max(1, int(ROUND / max(found[place], 1e-7)))
            begun = time.process_time()
            for _ in range(calls):
                f(*args)
            found[place] = min(found[place], (time.process_time() - begun) / calls)
    return [seconds * 1e6 for seconds in found]


def typical(words: list[str]) -> tuple[str, list[str]]:
    """The typical calls: their summary and rows."""
    rows, ratios = [], []
    for call in TYPICAL:
        if words and not any(word in call for word in words):
            continue
        plain, args = function(f"return {call}")
        eager, ours = best([plain, npcompile.jit(plain)], args)
        ratios.append(eager / ours)
        rows.append(f"| `{call}` | {eager:.1f} | {eager / ours:.2f} |".replace("||", "| |"))
        print(rows[-1], flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    below = sum(ratio < BAR for ratio in ratios)
    return f"{len(ratios)} calls: geometric mean {mean:.2f}, {below} below {BAR}.", rows


def spectral() -> list[str]:
    """The spectral programs beside eager and ``torch.compile``."""
    rows = []
    for name, body in SPECTRAL.items():
        plain, args = function(body)
        eager, other, ours = best([plain, torch.compile(plain), npcompile.jit(plain)], args)
        rows.append(f"| {name} | {eager:.0f} | {eager / other:.2f} | {eager / ours:.2f} |")
        print(rows[-1], flush=True)
    return rows


def main(words: list[str]) -> None:
    """Measures, and writes the page."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    plain, args = function("return x * y + x")
    eager, ours = best([plain, npcompile.jit(plain)], args)
    small = f"A call of `x * y + x` on 8 elements: {ours:.2f} us, torch's {eager:.2f}."
    print(small)
    told, rows = typical([word for word in words if not word.startswith("--")])
    print(told)
    if "--write" in words:
        PAGE.write_text(_page(small, told, rows, spectral()))


def _page(small: str, told: str, rows: list[str], programs: list[str]) -> str:
    machine = f"{platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}"
    return "\n".join([
        "# Calls with tensors", "",
        "Torch's microseconds on tensors of 256 x 256, float32, and how many times as fast the "
        "call is under `jit`.",
        "Both take turns in one process on one thread, after 200 calls; the processor time of each "
        "one's best round counts.", "", "    python -m benchmarks.tensors --write", "",
        f"{date.today()}, {machine}.", "", small, "", told, "",
        "| program, 64 x 4096 | torch, us | torch.compile | npcompile |", "|---|--:|--:|--:|",
        *programs, "", "| call | torch, us | compiled |", "|---|--:|--:|", *rows, "",
    ])


if __name__ == "__main__":
    main(sys.argv[1:])
