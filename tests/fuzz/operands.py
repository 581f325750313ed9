"""Single operations of NumPy's and Python's on operands of every kind, most of which they were not
made for: numbers of each type, arrays of each rank, order and byte order, lists, None.  Results
with their types, layouts and memory, mutated arguments, errors and warnings are Python's.
"""

from __future__ import annotations

import linecache
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from tests.fuzz.framework import Counts, Grammar
from tests.support import oracle

#: of ``x``, an operand of any kind; the others are arrays (``others``)
ALONE = re.split(r"\n| {2,}", """
np.sum(x, axis=-1)  np.sum(x, axis=0, keepdims=True, dtype=np.float32)  np.sum(x, initial=3)
np.prod(x, axis=None, initial=2.5)  np.mean(x, axis=-1, dtype=np.float32)  np.std(x, ddof=1)
np.var(x, axis=0, ddof=0.5)  np.var(x, axis=-1, mean=np.mean(x, axis=-1, keepdims=True))
np.std(x, correction=1)  np.median(x, axis=0)  np.percentile(x, [10, 50.5, 90])
np.quantile(x, 0.3, method='lower')  np.average(x, weights=np.ones_like(x))  np.cumsum(x, axis=-1)
np.cumprod(x)  np.diff(x)  np.diff(x, n=2, prepend=0)  np.ediff1d(x, to_end=[1, 2])
np.gradient(x, 2.0)  np.trapezoid(x, dx=0.5)  np.cross(x, x)  np.dot(x, x)  np.inner(x, x)
np.outer(x, [1, 2])  np.vdot(x, x)  np.kron(x, [1, 2])  np.tensordot(x, x, axes=0)
np.einsum('...i,...i->...', x, x)  np.trace(x)  np.diagonal(x)  np.diag(x)  np.diagflat(x)
np.tril(x)  np.triu(x, 1)  np.vander(x)  np.roll(x, 1)  np.roll(x, (1, 2), axis=(0, -1))
np.rot90(x)  np.flip(x)  np.fliplr(x)  np.flipud(x)  np.repeat(x, 2)  np.repeat(x, 2, axis=0)
np.tile(x, 2)  np.tile(x, (2, 1))  np.concatenate([x, x])  np.concatenate((x, x), axis=None)
np.stack([x, x], axis=-1)  np.hstack([x, x])  np.vstack((x, x))  np.dstack((x, x))
np.column_stack((x, x))  np.block([x, x])  np.split(x, 1)  np.array_split(x, 3)  np.hsplit(x, 1)
np.expand_dims(x, 0)  np.expand_dims(x, (0, 1))  np.squeeze(x)  np.ravel(x)  np.ravel(x, 'F')
np.reshape(x, -1)  np.reshape(x, (1, -1))  np.transpose(x)  np.swapaxes(x, 0, -1)
np.moveaxis(x, 0, -1)  np.atleast_1d(x)  np.atleast_2d(x)  np.atleast_3d(x)
np.broadcast_to(x, (2, 3, 4))  np.broadcast_arrays(x, np.ones((2, 1, 1)))[0]  np.sort(x)
np.sort(x, axis=0)  np.sort(x, axis=None)  np.argsort(x)  np.argsort(x, stable=True)
np.partition(x, 0)  np.searchsorted(np.sort(x), 2)  np.searchsorted([1, 2, 3], x, side='right')
np.unique(x)  np.unique(x, return_counts=True)  np.argmax(x)  np.argmax(x, axis=0)
np.argmin(x, axis=-1, keepdims=True)  np.max(x, initial=2)  np.min(x, axis=0, keepdims=True)
np.ptp(x)  np.nonzero(x)  np.flatnonzero(x)  np.argwhere(x)  np.where(x > 1, x, 0)
np.where(x > 1)  np.select([x > 2, x > 1], [x, -x], default=7)  np.choose(x > 1, [0, x])
np.piecewise(x, [x > 1], [lambda t: t * 2, -1])  np.clip(x, 1, 2)  np.clip(x, None, 2)
np.clip(x, min=1.5)  np.round(x, 1)  np.round(x, -1)  np.around(x)  np.fix(x)  np.trunc(x)
np.floor(x)  np.ceil(x)  np.rint(x)  np.sign(x)  np.signbit(x)  np.heaviside(x, 0.5)
np.copysign(x, -1)  np.nextafter(x, 2)  np.spacing(x)  np.modf(x)  np.frexp(x)  np.divmod(x, 2)
np.fmod(x, 2)  np.remainder(x, -2)  np.floor_divide(x, 2)  np.power(x, 2)  np.float_power(x, 2)
np.square(x)  np.sqrt(x)  np.cbrt(x)  np.exp2(x)  np.expm1(x)  np.log1p(x)  np.log2(x)
np.log10(x)  np.hypot(x, 3)  np.arctan2(x, 2)  np.sinc(x)  np.i0(x)  np.deg2rad(x)  np.unwrap(x)
np.angle(x)  np.real(x)  np.imag(x)  np.conj(x)  np.absolute(x)  np.fabs(x)  np.isnan(x)
np.isposinf(x)  np.isclose(x, 1)  np.allclose(x, x)  np.array_equal(x, x)  np.array_equiv(x, x)
np.isin(x, [1, 2])  np.logical_xor(x, 1)  np.bitwise_count(x)  np.invert(x)  np.left_shift(x, 1)
np.gcd(x, 6)  np.lcm(x, 4)  np.bincount(x)  np.histogram(x, 3)  np.digitize(x, [1, 2])
np.interp(x, [0, 1, 2], [1, 4, 9])  np.convolve(x, [1, 2])  np.correlate(x, [1, 2])
np.polyval([1, 2, 3], x)  np.polyfit(x, x, 1)  np.cov(x)  np.corrcoef(x)  np.nansum(x)
np.nanmean(x, axis=0)  np.nanmax(x)  np.nan_to_num(x, nan=1.0)  np.count_nonzero(x)
np.count_nonzero(x, axis=0)  np.all(x, axis=0)  np.any(x, keepdims=True)  np.take(x, 0)
np.take(x, [0, 0])  np.take_along_axis(x, np.argsort(x, axis=-1), -1)  np.compress([True], x)
np.extract(x > 1, x)  np.delete(x, 0)  np.insert(x, 0, 9)  np.append(x, 5)  np.pad(x, 1)
np.pad(x, (1, 2), mode='edge')  np.resize(x, (2, 3))  np.trim_zeros(x)  np.zeros_like(x)
np.full_like(x, 2.5)  np.ones_like(x, dtype=int)  np.copy(x)  np.asarray(x, dtype=float)
np.array(x, ndmin=2)  np.array(x, copy=True)  np.ascontiguousarray(x)  np.asfortranarray(x)
np.shape(x)  np.size(x)  np.ndim(x)  np.result_type(x, 1.0)  np.iscomplexobj(x)  np.isscalar(x)
np.isreal(x)  np.linalg.norm(x)  np.linalg.norm(x, ord=1)
np.linalg.norm(x, axis=-1, keepdims=True)  np.meshgrid(x, [1, 2])  np.indices(np.shape(x))
np.apply_along_axis(np.sum, 0, x)  np.vectorize(lambda t: t + 1)(x)  np.add.reduce(x)
np.add.accumulate(x)  np.multiply.outer(x, x)  np.maximum.reduce(x, initial=1)
np.add.reduceat(x, [0])  np.minimum(x, 2)  np.fmax(x, 2)  np.linspace(0, x, 3)  np.arange(x)
np.geomspace(1, x + 1, 3)  np.logspace(0, x, 3)  np.tri(2) + x  np.matmul(x, x)  np.packbits(x)
np.ldexp(x, 2)  x + 1  x * 2.5  1 / (x + 1)  x ** 2  x ** 0.5  2 ** x  -x  ~x  x // 2  x % 2
divmod(x, 2)  abs(x)  x > 1  x == 1  x & 1  x << 1  bool(x)  int(x)  float(x)  complex(x)  len(x)
round(x, 1)  round(x)  str(x)  x.sum()  x.mean(axis=0)  x.astype(int)  x.astype(np.float32)  x.T
x.real  x.imag  x.item()  x.tolist()  x.copy()  x.ravel()  x.flatten()  x.reshape(-1)  x.dtype
x.shape  x.ndim  x.size  x.nbytes  x.itemsize  x.any()  x.max()  x.argmax()  x.cumsum()
x.round(1)  x.clip(1, 2)  x.conj()  x.dot(x)  x.nonzero()  x.repeat(2)  x.squeeze()  x.std()
x.swapaxes(0, -1)  x.take(0)  x.trace()  x.transpose()  x.var()  x.view(np.int64)  x.byteswap()
x.fill(1)  x.sort()  x[0]  x[-1:]  x[...]  x[None]  x[()]  x[x > 1]  list(x)  tuple(x)  sum(x)
max(x)  sorted(x)  reversed(x)  isinstance(x, np.floating)  isinstance(x, float)  type(x)  x is x
x and 1  not x  3 in x  [t for t in x]  f"{x:.2f}"
""".strip())

BESIDE = re.split(r"\n| {2,}", """
np.take(a, x)  np.take(m, x, axis=1)  np.roll(a, x)  np.repeat(a, x)  a[x]  m[x]  m[x, 0]  m[:, x]
m[..., x]  a[x:]  a[:x]  a[::x]  a[-x:]  m[x, x]  np.linspace(0, 1, x)  np.arange(0, x, 2)
np.zeros(x)  np.full(x, 1.5)  np.full((2, 2), x)  np.ones((2, x))  np.eye(x)  np.identity(x)
a.reshape(x)  a.reshape(x, -1)  m.reshape(3, x)  np.split(a, x)  np.array_split(a, x)
np.sum(m, axis=x)  np.max(m, x)  np.cumsum(m, axis=x)  np.sort(m, axis=x)  np.argmax(m, axis=x)
np.swapaxes(m, x, 0)  np.moveaxis(m, x, 0)  np.expand_dims(a, x)  np.squeeze(m[None], x)
np.flip(m, x)  np.concatenate([a, x])  np.concatenate([a, [x]])  np.append(a, x)  np.stack([a, x])
np.hstack([a, x])  np.where(a > 1, a, x)  np.where(x, a, 0)  np.clip(a, x, None)  np.clip(a, 0, x)
np.pad(a, x)  np.tile(a, x)  np.round(a, x)  np.diag(m, x)  np.tril(m, x)  np.trace(m, x)
np.diff(a, x)  np.insert(a, x, 0)  np.insert(a, 1, x)  np.delete(a, x)  np.searchsorted(a, x)
np.interp(x, a, a)  np.polyval(a, x)  np.polyval(x, a)  np.broadcast_to(x, (2, 3))  np.isin(a, x)
np.isin(x, a)  np.unravel_index(x, (2, 3))  np.ravel_multi_index((x, 0), (4, 3))
np.bincount([0, 1, x])  np.minimum(a, x)  np.maximum(x, a)  np.add(a, x)  np.subtract(i, x)
np.multiply(u, x)  np.divide(i, x)  np.power(i, x)  np.power(a, x)  np.floor_divide(i, x)
np.remainder(u, x)  np.left_shift(i, x)  np.bitwise_and(i, x)  np.equal(i, x)  np.less(u, x)
np.logical_and(a, x)  np.hypot(a, x)  np.copysign(a, x)  np.ldexp(a, x)  np.gcd(i, x)
np.dot(a, x)  np.matmul(m, x)  np.outer(a, x)  np.inner(a, x)  np.cross(a, x)  np.kron(a, x)
np.convolve(a, x)  np.tensordot(m, x, 1)  np.einsum('i,i', a, x)  a + x  x + a  i - x  x - u
u * x  a / x  x / i  i // x  x // i  i % x  x % u  a ** x  i ** x  x ** i  i << x  x >> i  i & x
i | x  i ^ x  a < x  x >= u  i == x  u != x  a @ x  divmod(i, x)  pow(i, x)  a.dot(x)  a.take(x)
a.repeat(x)  a.clip(x)  a.round(x)  a.fill(x)  a.item(x)  a.astype(x)  m.sum(x)  m.mean(axis=x)
m.transpose(x, 0)  m.swapaxes(0, x)  a.searchsorted(x)  a.sum(initial=x)  np.sum(a, initial=x)
np.sum(a, where=x)  np.add.reduce(m, x)  np.add.at(a.copy(), x, 1)  np.array([x, 2.5])
np.array([x, x])  np.array([[x], [x]])  np.asarray(x)  np.float64(x)  np.int32(x)  np.bool_(x)
range(x)  list(range(x))  [0] * x  (1, 2) * x  'ab' * x  [1, 2, 3][x]  (1, 2, 3)[:x]  'abc'[x]
{1: 2, 3: 4}[x]  {1: 2, 3: 4}.get(x, 7)  math.sqrt(x)  math.floor(x)  math.exp(x)  math.isnan(x)
math.factorial(x)  math.gcd(x, 6)  math.comb(5, x)  math.hypot(x, 2)  math.fsum([x, 1])
math.prod([x, 2])  math.copysign(1, x)  math.log(x, 2)  math.pow(x, 2)  math.isclose(x, 3)
math.trunc(x)  round(2.567, x)  round(x, -1)  complex(x, 1)  divmod(7, x)  pow(x, 2, 5)  pow(2, x)
max(x, 2)  min(2.5, x)  sum([x, 1])  sum([1, 2], x)  sorted([x, 2, 1])  any([x])  all([x, 0])
x if x else 5  x and 3  x or 3  1 < x < 4  x in a  x in [1, 2, 3]  x in (2.5,)  x in {1, 3}
[x, 1].index(1)  [1, 2, 3].index(x)  [3, 1].count(x)  isinstance(x, int)
isinstance(x, np.integer)  isinstance(x, (float, np.floating))  type(x) is int  hex(x)  bin(x)
chr(x + 60)  f'{x}'  f'{x:5.1f}'  '%s' % x  repr(x)  x == x  x is None  a.sum() * x  a[0] + x
a[0] // x  i[0] / x  i[0] ** x  u[0] - x  u[0] + 300 + x  i[0] << x  -i[0] % x  a[0] > x
u[0] == x  bool(a[0] > x)  np.float32(2) * x  np.uint8(200) + x  np.int8(100) * x
np.float16(3) ** x  np.bool_(True) + x  True + x  3 - x  2.5 // x  1j * x  np.zeros(3)[x] + 1
np.ix_([0, 1], [x])  np.meshgrid(a, x)  np.histogram(a, x)  np.percentile(a, x)  np.quantile(a, x)
np.partition(a, x)  np.nan_to_num(x)  np.heaviside(a, x)  np.nextafter(a, x)
np.select([a > x], [a], x)  np.choose(i, x)  np.digitize(a, x)  np.vander(a, x)  np.tri(x)
np.indices((x, 2))  np.triu_indices(x)  np.geomspace(1, 8, x)  np.trapezoid(a, x)
np.gradient(a, x)  np.unwrap(a, x)  np.linalg.norm(a, x)  np.linalg.matrix_power(s, x)
np.linalg.solve(s, x)  np.fft.fft(a, x)  np.cumsum(x)  np.prod(x)  np.median(x)  np.resize(a, x)
np.rot90(m, x)  np.rollaxis(m, x)  np.put(a, x, 5)  np.copyto(a, x)  np.fill_diagonal(m, x)
np.place(a, a > 1, x)  np.putmask(a, a > 1, x)
""".strip())

#: lines of a function are parted by bars
STATEMENTS = """
a[x] = 7
a[x] = a[0]
m[x] = 7
m[:, x] += 1
m[x, 0] -= 2.5
a[x:] = 0
a[:x] *= 2
a[::x] += 1
u[0] = x
u[1:] = x
i[0] = x
i[:] = x
a[0] = x
a[...] = x
m[0] = x
m[:] = x
m[:, 1] = x
c[0] = x
c[:] = x
b[1] = x
b[:] = x
f[0] = x
f[:] = x
a += x
i += x
u += x
i -= x
u *= x
i //= x
a //= x
a %= x
i %= x
a **= x
i **= x
u <<= x
i >>= x
i &= x
i |= x
i ^= x
a /= x
i /= x
f += x
c *= x
b |= x
m @= x
m += x
m.T[0] = x
m[::-1] += x
m.flat[0] = x
m.real[0] = x
a.fill(x)
i.fill(x)
u.fill(x)
a.put(0, x)
np.add(a, x, out=a)
np.add(i, x, out=i)
np.multiply(i, x, out=a)
np.add(a, x, out=f)
np.add(a, x, out=f, casting='unsafe')
np.copyto(a, x)
np.copyto(i, x)
np.copyto(u, x, casting='unsafe')
np.add.at(a, [0, 0], x)
np.clip(a, x, 5, out=a)
np.maximum(a, x, out=a)
s = 0|for t in x: s += t|return s
s = 0.0|for t in x: s = s + t * 2|return s
r = []|for t in x: r.append(t)|return r
r = {}|for k, t in enumerate(x): r[k] = t|return r
n = 0|while x > 0:|  x -= 1|  n += 1|  if n > 50: break|return n, x
for k in range(x): a[k] = k|return k
for k in range(x): m[k, 0] += a[k]
for k in range(3): a[k] *= x|return a[k]
for k in range(3):|  if a[k] > x: return k
for k in range(3):|  i[k] = i[k] + x
for k in range(3):|  u[k] += x
for k in range(3):|  x = x + a[k]|return x
for k in range(3):|  x = x * 2|return x
for k in range(3):|  x = x - k|return x
for k in range(5):|  x = x * x|return x
for k in range(3):|  x = x / 2|return x
for k in range(3):|  x = x // 2|return x
for k in range(3):|  x += i|return x
t = x|t += 1|return t, x
t = x|t *= 2|return x
p, q = x|return q, p
p, *q = x|return q
return [*x]
return (*x, 1)
if x: return 1
if x > 1: return 1|elif x == 1: return 2
if x is None: return 9|return x
if not x: return 'no'
return x[0]
x[0] = 5|return x
x[-1] += 1|return x
x.sort()|return x
x *= 2|return x
x += [1]|return x
x = x[::-1]|x[0] = 9|return x
del x[0]|return x
x.append(4)|return x
y = x.copy()|y[0] = 8|return y, x
y = list(x)|y.append(1)|return y
return {x: 1}
return {1: x}[1]
return {x}
return [x] * 3
return x, x
return x.shape, x.dtype
try:|  return a[x]|except IndexError:|  return 'index'
try:|  return 1 / x|except ZeroDivisionError:|  return 'zero'
try:|  return x + 'a'|except TypeError as e:|  return str(e)
try:|  s = 0|  for t in x: s += 1 / t|except Exception as e:|  return s, type(e)|return s
with np.errstate(all='ignore'):|  return a / x
with np.errstate(divide='raise'):|  return 1.0 / np.asarray(x)
g = lambda y: y + x|return g(1), g(a)
def g(y=x): return y * 2|return g()
y = (t * 2 for t in x)|return sum(y)
return sum(t for t in x if t > 1)
return [t + 1 for t in x if t]
return {t: t for t in x}
return sorted(x, reverse=True)
return list(zip(x, a))
return list(map(abs, x))
return list(filter(None, x))
return max(x, key=lambda t: -t)
return any(t > 1 for t in x)
return all(x)
return sum(x, 10)
return ''.join(str(t) for t in x)
assert x, 'no'|return 1
assert x > 0|return np.sqrt(x)
match x:|  case 0: return 'z'|  case 3: return 'three'|  case [p, *_]: return p
match x:|  case float(): return 'f'|  case int(): return 'i'
y = x if a[0] > 1 else a|return y
y = a if x else i|y[0] = 3|return y
for t in x:|  if t > 1: break|else: return 'none'|return t
for j, (p, q) in enumerate(zip(a, x)): a[j] = p * q
while True:|  x = x + 1|  if x > 10: return x
k = 0|while k < 3 and a[k] < x: k += 1|return k
return x == a, x != i
return a[x > 1]
a[x > 1] = 0
m[m > x] = x
return np.where(m > x, m, x)
return a[np.argsort(x)]
a[[0, 2]] = x
a[[0, 0]] += x
return a[:, None] * x
return np.array([x, 1])
return np.zeros(3) + x
return np.full(3, x)
return divmod(x, 3), -x, +x, abs(x)
return x ** 2, x ** 0.5, x ** -1
return x << 2 if isinstance(x, int) else None
return math.floor(x) + math.ceil(x)
return int(x) // 2, float(x) / 3, complex(x)
return f'{x!r:>10}', '%r' % (x,)
return round(x, 2), round(x)
return x.real, x.imag, x.conjugate()
return x.item(), x.tolist()
return len(x), x[0], x[-1]
return x[1:], x[:-1], x[::2]
""".strip().splitlines()

#: which are right to some ulp (docs/accuracy.md), so that their digits are not compared
ROUNDED = re.compile(
    r"exp|log|sin|cos|tan|sqrt|cbrt|hypot|pow|\*\*|arc|geomspace|logspace|polyfit|i0|sinc|angle"
    r"|linalg|fft|dot|inner|matmul|@|outer|einsum|kron|cov|corr|convolve|float_power|unwrap"
    r"|percentile|quantile|cross|vander|gradient|deg2rad|std|var|ldexp"
)


def operands() -> dict[str, Any]:
    """A fresh one of each kind."""
    grid = np.array([[3.0, 1, 2], [0, 5, 4]])
    read_only = np.array([3.0, 1, 2])
    read_only.flags.writeable = False
    return {
        "int": 3, "zero": 0, "negative": -1, "large": 2**70, "float": 2.5, "float zero": 0.0,
        "nan": float("nan"), "infinity": float("inf"), "bool": True, "complex": 1 + 2j,
        "np.float64": np.float64(2.5), "np.float32": np.float32(1.5), "np.int64": np.int64(2),
        "np.int8": np.int8(-2), "np.uint8": np.uint8(3), "np.bool": np.bool_(True),
        "np.complex128": np.complex128(1 + 2j), "no axes": np.array(2.5), "no axes, int32":
        np.array(2, np.int32), "floats": np.array([3.0, 1, 2]), "ints": np.array([3, 1, 2]),
        "uint8": np.array([3, 1, 2], np.uint8), "bools": np.array([True, False, True]),
        "float32": np.array([3, 1, 2], np.float32), "float16": np.array([3, 1, 2], np.float16),
        "complexes": np.array([3 + 1j, 1, 2]), "grid": grid, "fortran": np.asfortranarray(grid),
        "transposed": grid.T, "int grid": grid.astype(int), "reversed": grid[0, ::-1],
        "every other": np.arange(6.0)[::2], "empty": np.zeros(0), "empty grid": np.zeros((0, 3)),
        "one": np.array([2.0]), "one by one": np.array([[2.0]]), "cube": np.arange(8.0).reshape(
        2, 2, 2), "big endian": np.array([3.0, 1, 2], ">f8"), "read-only": read_only,
        "specials": np.array([np.nan, np.inf, -0.0]), "list": [3, 1, 2], "list of floats":
        [3.5, 1, 2], "list of bools": [True, False, True], "tuple": (3, 1, 2), "pair": (1, 2),
        "None": None, "str": "a", "dtype": np.float32,
    }


def others() -> dict[str, Any]:
    return {
        "a": np.array([1.0, 2, 3]), "m": np.arange(1.0, 10).reshape(3, 3), "i": np.array([1, 0, 2]),
        "u": np.array([1, 0, 2], np.uint8), "c": np.array([1 + 2j, 3]),
        "b": np.array([True, False]), "f": np.array([1, 2, 3], np.float32),
        "s": np.array([[2.0, 1], [1, 3]]),
    }


def written(text: str) -> Callable[..., Any]:
    """A function of an operand and the others."""
    lines = [f"return {text}"] if text not in STATEMENTS else re.split(r"\|(?!=)", text)
    source = f"def function({', '.join(['x', *others()])}):\n" + "".join(
        f"    {line}\n" for line in lines)
    name = f"<{text}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, name, "exec"), space)
    function: Callable[..., Any] = space["function"]
    return function


def check(seed: int, counts: Counts) -> str:
    """The difference that an operation makes on a kind of operand, or nothing."""
    rng = random.Random(seed)
    text = rng.choice([*ALONE, *BESIDE, *STATEMENTS])
    kind = rng.choice(list(operands()))
    plain = written(text)
    fast = npcompile.jit(plain)
    close = (1e-5, 1e-7) if ROUNDED.search(text) else None
    want = oracle.observe(plain, operands()[kind], **others())
    for _ in range(2):
        got = oracle.observe(fast, operands()[kind], **others())
        if found := oracle.difference(got, want, close=close):
            return f"seed {seed}: {text} of {kind}: {found}"
    return ""


GRAMMAR = Grammar(check=check)
