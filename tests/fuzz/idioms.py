"""Random programs out of what NumPy code is full of: writes of an array into itself, steps with a
negative sign, chains of ``np.where``, masks on the left of augmented assignments, ``out=`` that
overlaps, results by name, unsigned arithmetic with negative numbers, narrow dtypes side by side,
exceptions after writes, loops over rows with several exits, closures that count.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tests.fuzz.calls import MORE, CallWriter, calls, written
from tests.fuzz.framework import Grammar
from tests.fuzz.programs import HELPERS

OWN = '''
from collections import namedtuple
from dataclasses import dataclass
Found = namedtuple("Found", "value count")
@dataclass
class State:
    field: object
    step: int = 0
    def advance(self, dt=0.5):
        self.field = self.field + dt
        self.step += 1
        return self
def minmax(v):
    return Found(v.min(), v.size)
def normalize(v, *, axis=-1, eps=1e-3):
    v = v - v.mean(axis=axis, keepdims=True)
    return v / (np.abs(v.real).max(axis=axis, keepdims=True) + eps)
def update(v, w=None, rate=0.5):
    if w is None:
        w = np.zeros(v.shape)
    w += rate * v
    return w
def rows(v):
    for row in v:
        yield row * 2
def until(v, limit, most=4):
    turns = 0
    while True:
        turns += 1
        v = v * 0.5
        if np.abs(v.real).max() < limit:
            break
        if turns >= most:
            return v, -1
    return v, turns
def check_shape(v, n):
    if v.ndim != n:
        raise TypeError(f"{n} axes, not {v.ndim}")
    return v
'''


class IdiomWriter(CallWriter):
    """Writes one program."""

    helpers: ClassVar[str] = HELPERS + MORE + OWN
    ranks: ClassVar[tuple[int, ...]] = (1, 1, 2, 2, 3)

    def statement(self, depth: int) -> list[str]:
        if depth > 1 or self.rng.random() < 0.3:
            return super().statement(depth)
        kind = self.rng.choice([
            self.itself, self.chained, self.masked, self.narrow, self.outs, self.records,
            self.rounds, self.raising, self.counting, self.shaping, self.statistics, self.kernels,
        ])
        return kind(self.pick_array())

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def itself(self, target: str) -> list[str]:
        """Writes of an array, or what is computed of it, into itself."""
        op, x = self.pick("+", "-", "*", "//", "%"), self.number()
        k, name = self.rng.randint(1, 3), self.fresh()
        return self.pick(
            [f"{target}[{k}:] {op}= {target}[:-{k}]"], [f"{target}[:-{k}] {op}= {target}[{k}:]"],
            [f"{target}[::-1] {op}= {target}"], [f"{target} {op}= {target}[0]"],
            [f"{target}[:] = {target}[::-1] {op} {target}"], [f"{target} -= {target}[-1:]"],
            [f"{target}[1:-1] = {target}[:-2] {op} {target}[2:]"],
            [f"{target}[1:] = {target}[:-1]", f"{target}[0] = {x}"],
            [f"{target}[[0, -1]] = {target}[[-1, 0]]"],
            [f"{target}[::2], {target}[1::2] = {target}[::2] {op} 2, {target}[1::2] - {x}"],
            [f"{target}[-2::-2] {op}= {x}"], [f"{target}.T[-1:] = {target}.T[:1]"],
            [f"{name} = {target}[:, None] - {target}[None]", f"{target} += {name}.sum(0)"],
            [f"{target}[..., 0] {op}= {target}[..., -1]"], [f"{target}[0], {x} = {x}, 1"],
            [f"{name} = {target}", f"{name} = {name} {op} 1", f"{target} += {name}"],
            [f"{name} = {target}", f"{name} {op}= 1", f"{target} += {name}"],
            [f"{name} = {target}[...]", f"{target} = {target} * 2", f"{name}[:1] = {x}"],
            [f"{target}[{k}:{k + 2}] = {x}, {self.number()}"], [f"{target}[:2] = [1, 2.7]"],
            [f"{target}[np.array([1, 1, 0])] {op}= 1"], [f"{target}[-{k}] = {target}[0] {op} {x}"],
        )

    def chained(self, target: str) -> list[str]:
        """Values by conditions on values."""
        other, x, y = self.same(target), self.number(), self.number()
        return [f"{self.fresh()} = " + self.pick(
            f"np.where({target} > {x}, 1, np.where({target} < {y}, -1, 0))",
            f"np.where({target} > {other}, {target}, {x}) + np.where({other} > {y}, 1, 0.5)",
            f"np.where(({target} > {x}) & ~({other} > {y}), {target} * 2, {other})",
            f"np.where({target}.any(), {target}, {x})", f"np.where(True, {target}, {x})",
            f"np.where({target} > {x}, {x}, {y})", f"np.where({target}[:1] > {x}, {target}, {y})",
            f"({target} > {x}) * {other} - ({target} <= {x}) * {y}",
            f"np.select([{target} > 2, {target} > 0], [{x}, {other}], default={y})",
            f"np.clip(np.where({target} != 0, {other}, {x}), {y}, 5)",
            f"np.where(np.isnan({target}), {x}, {target})", f"np.heaviside({target}, 0.5)",
            f"np.maximum({target}, 0) - np.minimum({target}, {x})",
            f"np.logical_or({target} > {x}, {other} > {y}).sum(axis=-1)",
            f"np.copysign(np.abs({target}.real), {other})",
            f"np.abs(({target} - {other}).real).max(axis=0)",
            f"np.minimum.reduce([{target}, {other}, {target} * 2])",
            f"np.nonzero({target} > {x})[0]", f"np.argwhere({target} > {x})",
            f"np.isclose({target}, {other})", f"np.array_equal({target}, {other})",
            f"np.count_nonzero({target} > {x}, axis=-1)", f"({target} > {x}).argmax(axis=0)",
            f"np.digitize({target}.ravel(), [-1, 0, 2])", f"np.diff({target}, axis=0)",
            f"np.outer({target}, {other})", f"np.tri(3)[:, :1] * {target}[:1]",
        )]

    def masked(self, target: str) -> list[str]:
        """Masks on the left."""
        other, x, y, name = self.same(target), self.number(), self.number(), self.fresh("m")
        op = self.pick("+", "-", "*", "/", "//", "%")
        return self.pick(
            [f"{target}[{target} > {x}] **= 2"],
            [f"{target}[{target} > {x}] {op}= {self.pick('2', '0.5', y)}"],
            [f"{name} = {target} > {x}", f"{target}[{name}] {op}= {other}[{name}]"],
            [f"{name} = {other} > {x}", f"{target}[~{name}] = {y}", f"{other}[{name}] {op}= 2"],
            [f"{name} = {target} > {x}", f"{target}[{name}] = {target}[{name}][::-1]"],
            [f"{name} = {target}[:, 0] > {x}", f"{target}[{name}] {op}= 2"],
            [f"{name} = ({target} > {x}) | ({other} == {y})", f"{name} &= {other} < 3",
             f"{target}[{name}] = {self.pick('0', other + '[' + name + ']')}"],
            [f"{name} = np.flatnonzero({target} > {x})", f"{target}.ravel()[{name}] = {y}"],
            [f"{target}[np.isnan({target})] = 0"], [f"{target}[{target} == {target}.max()] = {x}"],
            [f"np.putmask({target}, {other} > {x}, {y})"], [f"{target}[{name}_] = 1"],
            [f"{name} = np.zeros({target}.shape, bool)", f"{name}[1:-1] = True",
             f"{target}[{name}] {op}= 3"],
            [f"{name} = {target} > {x}", f"{name}[0] = False", f"{self.fresh('s')} = {name}.sum()",
             f"{self.fresh()} = {target}[{name}].mean() if {name}.any() else {y}"],
        )

    def narrow(self, target: str) -> list[str]:
        """Dtypes side by side, and numbers that do not fit."""
        kind = self.pick("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                         "float16", "float32", "complex64", "bool", "int64")
        n = self.pick("-1", "300", "2**31", "0.5", "1e5", "2", "-2.5", "True", "1j", "10**10")
        op = self.pick("+", "-", "*", "/", "//", "%", "<", "==", ">>", "<<", "&", "|", "^")
        cast, name = f"{target}.astype(np.{kind})", self.fresh()
        return self.pick(
            [f"{name} = {cast} {op} {n}"], [f"{name} = {cast} {op} {target}"],
            [f"{name} = {n} {op} {cast}"], [f"{name} = {cast}", f"{name} {op}= {n}"],
            [f"{name} = {cast}", f"{name} {op}= {target}"], [f"{name} = {cast}.sum(axis=-1)"],
            [f"{name} = {cast}", f"{name}[:1] = {n}"], [f"{name} = -{cast}"],
            [f"{name} = {cast}.mean(axis=0)"], [f"{name} = {cast}.cumsum()"],
            [f"{name} = np.add({cast}, {n}, dtype=np.float32)"], [f"{name} = {cast} ** 2"],
            [f"{name} = np.full({target}.shape, {n}, dtype=np.{kind}) {op} {target}"],
            [f"{name} = {cast}.view(np.uint8)"], [f"{name} = np.abs({cast}.real)"],
            [f"{name} = {cast} {op} np.{kind.replace('bool', 'bool_')}(1)"],
            [f"{name} = np.array([{n}, 1]) {op} {target}.ravel()[:2]"],
            [f"{name} = {target}[0] {op} np.array({n})"], [f"{name} = np.result_type({target}, 1)"],
            [f"{name} = np.array({n}) {op} {cast}"], [f"{name} = divmod({cast}, {n})[1]"],
            [f"{name} = {cast}.max() {op} {n}"], [f"{name} = {cast}.ravel()[0] {op} {n}"],
            [f"{name} = np.concatenate([{cast}, {target}])"], [f"{name} = {cast}.prod(axis=-1)"],
            [f"{name} = np.where({target} > 0, {cast}, {n})"], [f"{name} = ~{cast}"],
            [f"{name} = np.bincount({target}.ravel().astype(np.{kind}) % 5)"],
        )

    def outs(self, target: str) -> list[str]:
        """Results in memory that is there, which may be the operands' own."""
        other, x, name = self.same(target), self.number(), self.fresh()
        fn = self.pick("add", "subtract", "multiply", "maximum", "floor_divide", "divide")
        return self.pick(
            [f"np.{fn}({target}[1:], {target}[:-1], out={target}[1:])"],
            [f"np.{fn}({target}, {other}, {target})"], [f"{name} = np.empty_like({target})",
             f"np.{fn}({target}, {x}, out={name})"],
            [f"{name} = np.{fn}({target}, {x}, out={target}[::-1])"],
            [f"np.negative({target}, out={other})"], [f"np.cumsum({target}, axis=0, out={other})"],
            [f"{target}.sum(axis=0, out={other}[0])"],
            [f"np.sqrt(np.abs({target}.real), out={target})"],
            [f"np.{fn}({target}, {other}, out={other}, where={target} > {x})"],
            [f"np.{fn}({target}[0], {x}, out={target}[-1])"],
            [f"{target}.clip(-1, 2, out={target})"],
            [f"{name} = np.zeros({target}.shape)", f"np.{fn}({target}, {other}, out=({name},))"],
            [f"np.copyto({target}[1:], {target}[:-1])"], [f"{target}.round(1, out={target})"],
            [f"np.copyto({target}, {x}, where={other} > 0)"],
            [f"np.dot({target}, {other}, {target})"],
            [f"{name} = np.add.accumulate({target}, out={target})"],
            [f"np.take({target}, [1, 0], axis=0, out={target}[:2])"],
            [f"np.add.at({target}, [0, 0, -1], {x})"], [f"np.add.at({target}, ([0, 1, 0],), 1)"],
            [f"np.subtract.at({target}, {target} > {x}, 1)"],
            [f"np.abs({target}.real, out={other}[::-1])"],
        )

    def records(self, target: str) -> list[str]:
        """Results and state by name."""
        x, name, s = self.number(), self.fresh(), self.fresh("s")
        return self.pick(
            [f"_t = minmax({target})", f"{s} = _t.count", f"{name} = {target} - _t.value"],
            [f"_u, {s} = minmax({target})"],
            [f"{name} = State({target}).advance().advance(1).field"],
            [f"_t = State({target})", f"for _q in range({self.rng.randint(0, 3)}):",
             f"    _t.advance({x})", f"{name} = _t.field", f"{s} = _t.step"],
            [f"_d = {{'a': {target}, 'b': {x}}}", "_d['a'] = _d['a'] * _d['b']",
             f"{name} = _d.get('a')", f"{s} = len(_d)"],
            [f"_d = dict(a={target}, n={x})", "for _q, _v in _d.items():",
             f"    {name} = _v * 2", f"{s} = 'a' in _d"],
            [f"_t = Found({target}, {x})._replace(count=1)", f"{name}, {s} = _t"],
            [f"_l = [{target}, {target} * 2]", f"_l[0] = {x}", f"{name} = _l[-1]", f"{s} = _l[0]"],
            [f"{name} = np.stack([_q for _q in rows({target})])"],
            [f"{name} = normalize({target}, axis={self.pick('0', '-1')})"],
            [f"{name} = update({target})"], [f"{name} = update({target}, rate={x})"],
            [f"{name}, {s} = until({target}, {self.pick('0.5', '2', '0')})"],
            [f"_f = Found(*minmax({target}))", f"{s} = _f[0]", f"{name} = {target} - {s}"],
            [f"{name} = max({target}.ravel(), key=lambda _q: -_q)"],
            [f"{s} = sorted({target}.ravel().tolist())[0]"], [f"{s} = sum({target}.ravel())"],
            [f"{name} = np.array([[_q, {x}] for _q in {target}.ravel()])"],
            [f"{name} = {target}.tolist()", f"{s} = len({name})", f"{name} = np.array({name})"],
            [f"{s} = {{k: v for k, v in zip('ab', {target})}}['a']"],
        )

    def rounds(self, target: str) -> list[str]:
        """Loops with several exits."""
        other, x, s, name = self.same(target), self.number(), self.fresh("s"), self.fresh()
        n = self.rng.randint(1, 6)
        return self.pick(
            [f"{s} = 0", f"while {s} < {n}:", f"    {s} += 1",
            f"    if {target}.sum() > {x}: break",
             f"    {target}[{s} % len({target})] += 1", "else:", f"    {target}[0] = {x}"],
            [f"{s} = {x}", f"for _i in range(len({target})):", f"    if {target}[_i].sum() < {s}:",
             "        continue", f"    {s} = {target}[_i].sum()", f"    {target}[_i] = 0"],
            [f"{s} = -1", f"for _i, _r in enumerate({target}):", f"    if (_r > {x}).any():",
             f"        {s} = _i", "        break", "    _r *= 2" if self.env[target].ndim > 1
             else f"    {target}[_i] *= 2"],
            [f"for _i in range(1, len({target})):",
             f"    {target}[_i] = {target}[_i - 1] + {other}[_i]"],
            [f"for _i in range(len({target}) - 2, -1, -1):",
             f"    {target}[_i] -= {target}[_i + 1] // 2"],
            [f"{name} = {target}.copy()", f"for _i in range({n}):", f"    _o = {name}.copy()",
             f"    {name}[1:-1] = (_o[:-2] + _o[2:]) / 2",
             f"    if np.abs(({name} - _o).real).max() < 0.1: break"],
            [f"{name} = []", f"for _r in {target}:", f"    if _r.sum() > {x}: {name}.append(_r)",
             f"{s} = len({name})", f"{name} = np.array({name})"],
            [f"_i, _j = 0, len({target}) - 1", "while _i < _j:",
             f"    if {target}[_i].sum() > {x}: _j -= 1", "    else: _i += 1", f"{s} = _i"],
            [f"{s} = 1", f"for _i in range({n}):", f"    {s} = {s} * 37 % 101",
             f"    {target}[{s} % len({target})] {self.pick('+', '-', '*')}= {s}"],
            [f"{name} = np.zeros(({n}, *{target}.shape), {target}.dtype)", f"{name}[0] = {target}",
             f"for _i in range(1, {n}):", f"    {name}[_i] = {name}[_i - 1] + {other}"],
            [f"for _i, _q in zip(range({n}), {target}):", f"    {s} = _q.sum() + _i"],
        )

    def raising(self, target: str) -> list[str]:
        """Exceptions after writes, caught or not."""
        other, x, s = self.pick_array(), self.number(), self.fresh("s")
        k = self.rng.randint(3, 9)
        boom = self.pick(f"{target}[_i] = {x}", f"{target}[{k}] += 1", f"1 // ({k} - _i)",
                         f"check_shape({target}, 2)", f"{target} += {other}", "[1, 2][_i]",
                         f"{target}[:] = {other}", f"int({target}[_i])", "{}[_i]",
                         f"assert _i < {k}", f"{target}.reshape(_i, -1)", "raise KeyError(_i)",
                         f"{target}[np.array([0, _i])] = 1", f"np.concatenate([{target}, {other}])")
        caught = self.pick("IndexError", "ValueError", "Exception", "(TypeError, KeyError)",
                           "ZeroDivisionError", "Exception as e", "LookupError", "AssertionError")
        loop = [f"for _i in range({self.rng.randint(1, 9)}):", f"    {target}[0] += 1",
                f"    {boom}"]
        return self.pick(
            [f"{s} = 0", "try:", *("    " + line for line in loop), f"except {caught}:",
             f"    {s} = _i"],
            [f"{s} = 0", loop[0], "    try:", "    " + loop[1], "    " + loop[2],
             f"    except {caught}:", f"        {s} += 1", "        continue",
             "    finally:", f"        {target}[-1] = {s}"],
            [f"{s} = 0", loop[0], "    try:", "    " + loop[2], f"    except {caught} :",
             "        break", f"    {s} += 2"],
            [f"{s} = 0", "with np.errstate(all='raise'):", "    try:",
             f"        {s} = ({target} / {x}).sum()", "    except FloatingPointError:",
             f"        {s} = -1"],
            [f"with np.errstate({self.pick('all', 'divide', 'invalid', 'over')}='ignore'):",
             f"    {self.fresh()} = {target} / {other}"],
        )

    def counting(self, target: str) -> list[str]:
        """Functions within the function that change what is around them."""
        x, s, f, name = self.number(), self.fresh("n"), self.fresh("f"), self.fresh()
        return self.pick(
            [f"{s} = []", f"def {f}(v, scale=2):", f"    {s}.append(v[0])", "    return v * scale",
             f"{name} = {f}({f}({target}), scale={x})", f"{s} = np.array({s})"],
            [f"{f} = lambda v, k={x}: v * k + {target}", f"{name} = {f}({target}, k=1)"],
            [f"def {f}(v):", f"    {target}[0] = {x}", f"    return v + {target}",
             f"{name} = {f}({target})"],
            [f"{f} = [lambda v, k=k: v + k for k in range(3)]", f"{name} = {f}[2]({target})"],
            [f"def {f}(k):", f"    return {target} if k < 1 else {f}(k - 1) + 1",
             f"{name} = {f}({self.rng.randint(0, 3)})"],
            [f"{name} = list(map(lambda q: q * 2, {target}))[0]"],
            [f"{name} = [q for q in {target} if q.sum() > {x}]", f"{name} = np.array({name})"],
            [f"{s} = any(q.sum() > {x} for q in {target})"],
            [f"{s} = max(q.sum() for q in {target})"],
            [f"{s} = {{'n': 0}}", f"def {f}(v):", f"    {s}['n'] += 1", "    return v.sum()",
             f"{name} = {f}({target}) + {f}({target}[1:])", f"{s} = {s}['n']"],
        )

    def shaping(self, target: str) -> list[str]:
        """Other shapes, joined and split."""
        other, name, x = self.pick_array(), self.fresh(), self.number()
        return [f"{name} = " + self.pick(
            f"np.pad({target}, 1)", f"np.pad({target}, (1, 2), mode='edge')", f"{target}.T.copy()",
            f"np.vstack([{target}, {other}])", f"np.hstack([{target}, {other}])",
            f"np.column_stack([{target}.ravel(), {target}.ravel()])", f"np.atleast_2d({target})",
            f"np.repeat({target}, 2, axis=0)", f"np.tile({target}, (2, 1))", f"{target}.squeeze()",
            f"np.roll({target}, {self.rng.randint(-2, 9)}, axis=0)", f"{target}.T @ {target}",
            f"np.broadcast_to({target}, (2, *{target}.shape))[0]", f"np.squeeze({target}[:1])",
            f"np.split({target}, [2, 3])[1]", f"{target}.reshape(-1, 1) + {target}.ravel()",
            f"np.ascontiguousarray({target}.T)", f"np.asarray({target}, dtype=np.float32)",
            f"np.meshgrid({target}.ravel(), [1, 2])[0]", f"np.array([{target}, {target}]).T",
            f"np.r_[{target}.ravel(), {x}]", f"np.c_[{target}.ravel(), {target}.ravel()]",
            f"np.append({target}, {x})", f"np.einsum('i...->...', {target})",
            f"np.transpose({target})[::-1]", f"{target}[np.newaxis, ..., None]",
            f"np.concatenate([{target}[:1], {target}, {target}[-1:]])", f"{target}.flatten()",
            f"np.tensordot({target}, {target}, axes=([0], [0]))", f"np.triu({target})",
            f"np.diag({target})", f"np.trace({target})", f"np.ix_({target}.ravel() > 0)[0]",
            f"np.lib.stride_tricks.sliding_window_view({target}, 2, axis=0).sum(-1)",
            f"np.delete({target}, 1, axis=0)", f"np.insert({target}, 1, {x}, axis=0)",
        )]

    def statistics(self, target: str) -> list[str]:
        """Reductions with options, sorting, counting."""
        name, x = self.fresh(), self.number()
        axis = self.pick("0", "-1", "None")
        return [f"{name} = " + self.pick(
            f"({target} - {target}.mean(axis={axis})) / {target}.std(axis={axis})",
            f"{target} / {target}.sum(axis=-1, keepdims=True)", f"np.median({target}, axis={axis})",
            f"{target}.var(axis={axis}, ddof=1)", f"np.average({target}, axis=0, weights=None)",
            f"{target}.argsort(axis=-1, kind='stable')", f"np.sort({target}, axis=0)[::-1]",
            f"np.unique({target}.ravel())", f"np.unique({target} > {x}, return_counts=True)[1]",
            f"np.histogram({target}, bins=4, range=(-3, 3))[0]",
            f"np.cumsum({target}, axis={axis})",
            f"np.percentile({target}, [25, 75])", f"np.nanmean({target}, axis={axis})",
            f"np.sum({target}, axis={axis}, where={target} > {x})",
            f"np.ptp({target}, axis={axis})",
            f"np.sum({target} * {target}, axis={axis}, dtype=np.float64)", f"np.argmin({target})",
            f"np.max({target}, axis={axis}, initial=0)", f"np.prod({target}.shape)",
            f"np.unravel_index({target}.argmax(), {target}.shape)[0]", f"{target}.nbytes",
            f"np.cov({target}.reshape(-1, 1).T)", f"np.linalg.norm({target}.ravel())",
            f"np.searchsorted(np.sort({target}.ravel()), {x})",
            f"np.corrcoef({target}[0], {target}[1])",
            f"np.convolve({target}.ravel()[:5], [1, -1])", f"np.gradient({target}, axis=0)",
            f"np.trapezoid({target}, axis=0)", f"np.logical_xor.reduce({target}, axis={axis})",
            f"np.add.reduceat({target}, [0, 2, 1])", f"np.multiply.outer({target}[:2], [1, 2])",
            f"np.lexsort(({target}.ravel(), {target}.ravel() > 0))", f"np.nansum({target}, {axis})",
            f"np.in1d({target}, [1, 2])" if x == "1" else f"np.isin({target}, [1, 2, 0])",
        )]

    def kernels(self, target: str) -> list[str]:
        """Short numeric kernels of several lines."""
        name, other, x = self.fresh(), self.same(target), self.number()
        u, w = self.fresh(), self.fresh()
        return self.pick(
            [f"{u} = np.zeros_like({target})", f"{u}[1:-1] = {target}[2:] - 2 * {target}[1:-1] + "
             f"{target}[:-2]", f"{name} = {target} + 0.1 * {u}"],
            [f"{u} = {target} - {target}.max(axis=-1, keepdims=True)", f"{w} = 1 / (1 + {u} * {u})",
             f"{name} = {w} / {w}.sum(axis=-1, keepdims=True)"],
            [f"{u} = np.floor({target})", f"{w} = {target} - {u}",
            f"{name} = {u} * (1 - {w}) + {x}"],
            [f"{u} = {target} // 2", f"{w} = {target} % 2", f"{name} = {u} * 2 + {w} == {target}"],
            [f"{u}, {w} = np.divmod({target}, 3)", f"{name} = {u} - {w}"],
            [f"{u}, {w} = np.modf({target})", f"{name} = {u} + {w}"],
            [f"{u}, {w} = np.frexp({target})", f"{name} = np.ldexp({u}, {w})"],
            [f"{u} = {target}.astype(np.int64)", f"{name} = ({u} << 1) ^ ({u} >> 1) & 7"],
            [f"{u} = {target}.astype(np.uint8)", f"{name} = ({u} * 3 + {u}[::-1] // 2) % 7"],
            [f"{u} = np.sum(({target} - {other}) ** 2)", f"{name} = np.sqrt({u})"],
            [f"{u} = np.sign({target}.real)",
            f"{name} = {u} * np.maximum(np.abs({target}.real) - 1, 0)"],
            [f"{u} = {target}.astype(np.int32)", f"{name} = {other}[{u} % len({other})]"],
            [f"{u} = {target}.astype(np.int16)", f"{name} = np.zeros(5, dtype=int)",
             f"np.add.at({name}, {u}.ravel() % 5, 1)"],
            [f"{u} = np.arange(len({target}))", f"{name} = {target}[{u} % 2 == 0].sum(axis=0)"],
            [f"{u} = {target}.astype(np.complex64)", f"{name} = ({u} * {u}.conj()).real"],
            [f"{u} = {target} > {x}", f"{name} = np.cumsum({u}) - {u}.ravel()"],
        )


GRAMMAR = Grammar(lambda seed: calls(written(seed, IdiomWriter)))
