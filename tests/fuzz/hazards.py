"""Random programs out of what goes wrong: flags under masks, casts that NumPy refuses, views that
overlap, integers of several widths, bounds and steps that only the run knows, exits out of nested
loops after writes, scalars of narrow dtypes.
"""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.calls import MORE, calls, written
from tests.fuzz.framework import Grammar
from tests.fuzz.idioms import OWN, IdiomWriter
from tests.fuzz.programs import HELPERS

MINE = '''
def search(v, limit):
    for i in range(len(v)):
        v[i] += 1
        for j in range(i, -1, -1):
            if v[j].sum() > limit:
                v[j] = limit
                return i, j
            if v[i - j].sum() < -limit:
                break
        else:
            v[-1] -= 1
    return None
def smooth(v, out):
    for i in range(1, len(v) - 1):
        out[i] = (v[i - 1] + v[i + 1]) / 2
    return out
def drain(v, most):
    taken = 0
    try:
        for i in range(most):
            if v[i].sum() == 0:
                continue
            v[i] = v[i] // 2
            taken += 1
        return taken
    except IndexError:
        v[0] = -taken if v.dtype.kind in "if" else taken
        return -1
    finally:
        v[-1] = taken
'''
KINDS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
         "float32", "float64", "complex64", "bool")


class HazardWriter(IdiomWriter):
    """Writes one program."""

    helpers: ClassVar[str] = HELPERS + MORE + OWN + MINE

    def statement(self, depth: int) -> list[str]:
        if depth > 1 or self.rng.random() < 0.3:
            return super().statement(depth)
        kind = self.rng.choice([self.flagged, self.refused, self.overlapping, self.widths,
                                self.bounds, self.exits, self.scalars, self.options, self.chosen])
        return kind(self.pick_array())

    def kind(self) -> str:
        return self.rng.choice(KINDS)

    def flagged(self, target: str) -> list[str]:
        """Operations that would warn, where a mask leaves that out."""
        other, x, name = self.same(target), self.number(), self.fresh()
        fn = self.pick("divide", "floor_divide", "remainder", "fmod", "true_divide")
        # moduli and roots of complex numbers are right within an ulp only: of real parts here
        one, near = self.pick("sqrt", "reciprocal", "square"), self.pick("log", "arcsin", "exp")
        mask = self.pick(f"{other} != 0", f"{target} > 0", f"{target}.real > {x}", "False")
        fresh = self.pick(f"np.zeros({target}.shape)", f"np.full({target}.shape, {x}, dtype=float)",
                          f"np.ones_like({target})", f"{target}.copy()")
        return self.pick(
            [f"{name} = np.{fn}({target}, {other}, out={fresh}, where={mask})"],
            [f"{name} = np.{one}({target}.real, out={fresh}, where={mask})"],
            [f"{name} = np.where({mask}, {target} / {other}, {x})"],
            [f"{name} = np.where({mask}, np.{one}({target}.real), 0)", f"{name}[:1] += 1"],
            [f"{name} = {target} / {other}", f"{name} = 0"], [f"np.{near}({target})"],
            [f"{name} = np.isfinite(np.{near}({target}))"],
            [f"{name} = np.{one}({target}[:1])[0] > {x}", f"{target}[0] = 1"],
            ["with np.errstate(divide='ignore'):", f"    {name} = np.{one}({target}.real)",
             f"{target}[:1] = 2"],
            [f"{name} = {target} / {other} if {target}.any() else np.{one}({target}.real)"],
            [f"{name} = ({target} / {other})[{mask}]"],
            [f"{name} = np.nan_to_num({target} / {x}, nan=1)"], [f"{target} /= {target}.sum()"],
            [f"{name} = {target}.mean(where={mask})"], [f"{name} = {target}[{mask}].mean()"],
            [f"{target}[{mask}] /= {other}[{mask}]"], [f"{name} = {target}[:0].mean()"],
            [f"{name} = np.var({target}[:1], ddof=1)"], [f"{name} = np.{fn}({target}, 0)"],
            [f"{name} = np.abs({target}.real).astype(np.{self.kind()}) / {x}"],
            [f"{name} = ({target} * 1e300 * 1e10).astype(np.{self.kind()})"],
            [f"{name} = {target}.astype(np.float16) * 7e4"], [f"{name} = np.{one}({x})"],
        )

    def chosen(self, target: str) -> list[str]:
        """The same value, or another, in both arms; read or not."""
        other, x, name, s = self.same(target), self.number(), self.fresh(), self.fresh("s")
        fn = self.pick(f"{target} / {other}", f"np.sqrt({target}.real)", f"{target} // {x}",
                       f"np.log({target} + {x}) > 0", f"{target} * 1e200 * 1e200")
        return self.pick(
            [f"if {target}.sum() > {x}:", f"    {name} = {fn}", "else:", f"    {name} = {fn}"],
            [f"if {target}.sum() > {x}:", f"    {name} = {fn}", "else:", f"    {name} = {target}",
             f"{name} = 1"],
            [f"{s} = ({fn}).sum() if {target}.any() else ({fn}).max()"],
            [f"{name} = {fn}", f"if {target}.sum() > {x}:", f"    {name} = {fn}",
             f"    {target}[0] = 1"],
            [f"for _i in range({self.rng.randint(0, 3)}):", f"    {name} = {fn}",
             f"    if _i > 1 or {target}.sum() > {x}: break", f"    {target}[:1] += 1"],
            [f"{name} = {fn} if {x} > 1 else {fn}", f"{target}[...] = {name}"],
        )

    def refused(self, target: str) -> list[str]:
        """Casts that NumPy may refuse, after writes."""
        x, s, name = self.number(), self.fresh("s"), self.fresh()
        op = self.pick("+", "-", "*", "/", "//", "%", "|", "&", "<<")
        what = self.pick(
            f"{target} {op}= {self.pick('0.5', '1j', '-1', '300', '2**40', 'True', x)}",
            f"{target} {op}= {target}.astype(np.{self.kind()})",
            f"np.add({target}, 1.5, out={target})", f"np.sqrt({target}.real, out={target})",
            f"np.multiply({target}, {target}.astype(np.{self.kind()}), out={target})",
            f"np.add({target}, 1.5, out={target}, casting='unsafe')",
            f"np.copyto({target}, {target} * 1.5)", f"np.negative({target}, out={target})",
            f"np.copyto({target}, {target} * 2.5, casting='unsafe')",
            f"{target}[0] = {self.pick('-1', '300', '1.5', '2**70', 'None', '1j', 'np.nan')}",
            f"{target}[:2] = [1.5, -1]", f"{target}.fill({self.pick('-1', '300', '1.5', '2**40')})",
            f"np.maximum({target}, {x}, out={target})", f"{target}.sum(axis=0, out={target}[0])",
            f"np.cumsum({target}, axis=0, out={target})", f"{target}[{target} > 0] {op}= 0.5",
            f"{target}.mean(axis=0, out={target}[-1])", f"np.round({target} / 3, 1, out={target})",
            f"np.clip({target}, 0.5, 2.5, out={target})", f"np.floor_divide({target}, 2, {target})",
        )
        return self.pick(
            [f"{s} = 0", "try:", f"    {target}[:1] = 2", f"    {what}",
             "except (TypeError, ValueError, OverflowError):", f"    {s} = 1"],
            [what], [f"{name} = {target}.copy()", what.replace(target, name)],
            [f"{name} = {target}.astype(np.{self.kind()})", what.replace(target, name)],
        )

    def overlapping(self, target: str) -> list[str]:
        """Reads and writes through several views of one memory."""
        x, u, w, s = self.number(), self.fresh(), self.fresh(), self.fresh("s")
        op = self.pick("+", "-", "*", "//")
        return self.pick(
            [f"{u}, {w} = {target}[::2], {target}[1::2]", f"{u}[:len({w})] {op}= {w}"],
            [f"{u}, {w} = {target}[1:], {target}[:-1]", f"{u} {op}= {w}", f"{w} {op}= {u}"],
            [f"{target}[1:], {target}[:-1] = {target}[:-1], {target}[1:] {op} 1"],
            [f"np.add({target}[::-1], {target}, out={target})"],
            [f"{u} = {target}.reshape(-1)", f"{u}[::2][:2] {op}= {u}[1::2][:2]", f"{u}[-1] = {x}"],
            [f"{u} = {target}.T", f"{u}[...] = {target}.T[::-1]"],
            [f"{u} = {target}[..., None]", f"{u} {op}= {target}[:1, ..., None]"],
            [f"{u} = {target}.ravel()", f"{u}[:3] = {x}", f"{w} = {target}.sum()"],
            [f"{u} = {target}[::-2]", f"{w} = {u}[::-1]", f"{w}[...] = {u} {op} 2"],
            [f"{u} = {target}[:]", f"for _i in range(len({u})):",
             f"    {target}[-_i] = {u}[_i] {op} 1"],
            [f"{u} = {target}[1:]", f"for _r in {target}[:-1]:", f"    {u}[0] += _r.sum()"],
            [f"{u} = np.diagonal({target})", f"{target}[0] = {x}", f"{s} = {u}.sum()"],
            [f"{u} = {target}.view()", f"{u}.shape = {target}.shape[::-1]", f"{u}[0] = {x}"],
            [f"{u} = np.broadcast_to({target}[:1], {target}.shape)", f"{target}[0] = {x}",
             f"{w} = {u} + 1"],
            [f"{u} = np.lib.stride_tricks.sliding_window_view({target}, 2, axis=0)",
             f"{target}[1] {op}= 2", f"{w} = {u}.sum(axis=-1)"],
            [f"{u} = {target}.real", f"{u} {op}= 2", f"{w} = {target}.imag"],
            [f"smooth({target}, {target})"], [f"{u} = smooth({target}[::-1], {target})"],
            [f"np.multiply({target}[:, None], {target}[None], out=np.ones((9, 9)))"],
            [f"{target}[...] = {target}.sum(axis=-1, keepdims=True) {op} {target}"],
            [f"{target}[:2], {target}[-2:] = {target}[-2:], {target}[:2].copy()"],
        )

    def widths(self, target: str) -> list[str]:
        """Integers of several widths and signs."""
        a, b, name = self.fresh(), self.fresh(), self.fresh()
        op = self.pick("+", "-", "*", "//", "%", "/", "&", "|", "^", "<<", ">>", "<", "==")
        fn = self.pick("add", "maximum", "floor_divide", "remainder", "bitwise_xor", "left_shift",
                       "minimum", "subtract", "gcd", "greater", "divmod", "bitwise_or")
        cast = f"{target}.real.astype(np.{self.kind()})"
        return [f"{a} = {cast}", f"{b} = {target}.real.astype(np.{self.kind()})", *self.pick(
            [f"{name} = {a} {op} {b}"], [f"{name} = np.{fn}({a}, {b})"], [f"{a} {op}= {b}"],
            [f"{name} = {a}.sum() {op} {b}.max()"],
            [f"{name} = {a}.ravel()[0] {op} {b}.ravel()[1]"],
            [f"{name} = {a} {op} {b}.ravel()[0]"], [f"{name} = ({a} {op} {b}).sum(axis=0)"],
            [f"{name} = np.where({a} > 0, {a}, {b})"], [f"{name} = np.concatenate([{a}, {b}])"],
            [f"{name} = np.dot({a}.ravel(), {b}.ravel())"], [f"{a}[...] = {b}"],
            [f"{name} = int({a}.ravel()[0]) {op} {b}"], [f"{name} = {a}[{b}.ravel()[:2] % 3]"],
            [f"{name} = {b}.prod() {op} {a}"], [f"{name} = np.array([{a}.max(), {b}.max()])"],
            [f"{name} = np.{fn}.reduce({a})"],
            [f"{name} = np.{fn}.outer({a}.ravel(), {b}.ravel())"],
            [f"{name} = np.add.accumulate({a}, dtype=np.{self.kind()})"],
            [f"{name} = np.stack([{a}, {b}]).min(axis=0)"],
            [f"{name} = np.interp({a}, [0, 3], [1, 2])"],
            [f"{name} = np.clip({a}, {b}.min(), {b}.max())"], [f"{name} = -{a} {op} {b}"],
        )]

    def bounds(self, target: str) -> list[str]:
        """Bounds and steps that the data gives."""
        n, m, name, s = self.fresh("n"), self.fresh("n"), self.fresh(), self.fresh("s")
        x, op = self.number(), self.pick("+", "-", "*")
        return [f"{n} = int(({target} > {x}).sum())", f"{m} = {n} % 5 - {self.rng.randint(0, 3)}",
                *self.pick(
            [f"{name} = {target}[{n}:{m}:-1]"], [f"{name} = {target}[::-{n} - 1]"],
            [f"{name} = {target}[-{n}:{m}]"], [f"{target}[{m}:] = {x}"],
            [f"{target}[{m}::-1] {op}= 2"], [f"{name} = {target}[{m}:{n}:2].sum(axis=0)"],
            [f"{name} = np.zeros({n})", f"{name}[{m}:] = {x}"],
            [f"{name} = np.arange({n}, {m}, -2)"],
            [f"for _i in range({n}, {m}, -{self.rng.randint(1, 3)}):",
             f"    {target}[_i % len({target})] {op}= 1"],
            [f"{s} = 0", f"for _i in range({m}, {n} % 9, {self.pick('1', '2', '-1')}):",
             f"    {s} += _i", f"    {target}[0] = _i"],
            [f"{name} = np.concatenate([{target}[:{m}], {target}[{m}:]])"],
            [f"{name} = {target}[:{n}] {op} {target}[::-1][:{n}]"],
            [f"{name} = np.roll({target}, {m}, axis=0)"],
            [f"{name} = np.repeat({target}, {n} % 3)"],
            [f"{name} = {target}[{target} > {x}][{m}:]"], [f"{name} = {target}[{m}:, None]"],
            [f"{name} = np.linspace(0, 1, {n})[::-2]"], [f"{name} = {target}[:{m}].mean()"],
            [f"{name} = {target}[{target} > {x}].reshape(-1, 1) {op} {target}.ravel()[:{n}]"],
            [f"{name} = np.split({target}, [{m}, {n}])[-1]"], [f"{name} = [{target}[0]] * {m}"],
            [f"{name} = np.tri({n} % 4, {m} % 4)"], [f"{name} = {target}[..., ::-{n} - 1].copy()"],
            [f"while {n} > {m}:", f"    {n} -= 2", f"    if {target}[{m}].sum() > {n}: break",
             f"    {target}[{m}] += 1"],
        )]

    def exits(self, target: str) -> list[str]:
        """Ways out of nested loops, after writes."""
        x, s, r = self.number(), self.fresh("s"), self.fresh("s")
        k = self.rng.randint(1, 9)
        return self.pick(
            [f"{s} = search({target}, {k})"], [f"{s} = drain({target}, {k})"],
            [f"{s} = search({target}[::-1], {k})", f"{r} = {s} is None"],
            [f"{s} = -1", f"for _i in range({k}):", f"    for _j in range(_i, {k}):",
             f"        {target}[_j % len({target})] += _i",
             f"        if {target}.sum() > {k * 10}:", f"            {s} = _j", "            break",
             "    else:", "        continue", f"    {target}[0] = {x}", "    break"],
            [f"{s} = 0", "while True:", f"    {s} += 1", f"    {target}[{s} % 2] -= {x}",
             f"    if {s} > {k}: break", f"    if {target}[0].sum() < {x}: continue",
             f"    {target}[-1] = {s}"],
            [f"{s} = 0", "try:", f"    for _i in range({k}):", "        for _j in range(_i):",
             f"            {target}[_i + _j] += _j", f"            {s} += 1",
             "except IndexError:", f"    {target}[0] = {s}"],
            [f"{s} = 0", f"for _r in {target}:", f"    {s} += 1", f"    if _r.sum() > {x}:",
             f"        {target}[-1] = {s}", "        break"],
            [f"for _i in range({k}):", "    try:", f"        {target}[_i] = {target}[_i + 1] // _i",
             "    except (IndexError, ZeroDivisionError):", f"        {target}[0] = _i",
             "        break"],
            [f"def {s}(v, k):", "    for _i in range(k):", "        v[_i % len(v)] += 1",
             f"        if v.sum() > {x}: return _i", "    return v", f"{r} = {s}({target}, {k})"],
        )

    def scalars(self, target: str) -> list[str]:
        """Numbers of narrow dtypes, in operators and functions."""
        s, r, x, k = self.fresh("s"), self.fresh("s"), self.number(), self.kind()
        op = self.pick("+", "-", "*", "/", "//", "%", "<", "==", "&", ">>")
        one = f"{target}.ravel()[{self.rng.randint(0, 2)}].real.astype(np.{k})"
        return [f"{s} = {one}", *self.pick(
            [f"{r} = {s} {op} {x}"], [f"{r} = {x} {op} {s}"], [f"{r} = {s} {op} np.{self.kind()}(3)"
             .replace("bool(", "bool_(")], [f"{s} {op}= 2", f"{r} = {s}"], [f"{r} = -{s}"],
            [f"{r} = abs({s}.real)"], [f"{r} = round({s})"], [f"{r} = int({s}) {op} 2"],
            [f"{r} = divmod({s}, 3)"], [f"{r} = max({s}, {x})"], [f"{r} = sum([{s}, {s}, 1])"],
            ["for _i in range(4):", f"    {s} = {s} * 2 + 1"], [f"{target}[0] = {s} {op} 1"],
            ["for _i in range(3):", f"    {s} {op}= {target}.ravel()[_i].real"],
            [f"{r} = np.sqrt({s}.real)"], [f"{r} = {s} if {s} > {x} else {x}"],
            [f"{r} = float({s})"], [f"{r} = np.array([{s}, {x}])"],
            [f"{r} = {s} in (1, 2.0, True)"], [f"{r} = ~{s}"],
            [f"{r} = not {s} or {s} == {s}.dtype.type(1)"], [f"{r} = {target} {op} {s}"],
            [f"{r} = np.minimum({s}, {x}) {op} {s}"], [f"{r} = {s}.sum() + {s}.item()"],
        )]

    def options(self, target: str) -> list[str]:
        """Keywords that are seldom used."""
        other, x, name = self.same(target), self.number(), self.fresh()
        fn = self.pick("add", "multiply", "maximum", "logical_or", "minimum", "bitwise_and")
        return [f"{name} = " + self.pick(
            f"np.{fn}.reduce({target}, axis={self.pick('0', '-1', 'None')}, where={other} > {x})",
            f"np.{fn}.reduce({target}, initial={x})", f"np.{fn}.reduce({target}, keepdims=True)",
            f"np.{fn}({target}, {other}, dtype=np.{self.kind()})",
            f"np.{fn}({target}, {other}, casting='safe', dtype=np.{self.kind()})",
            f"np.sum({target}, dtype=np.{self.kind()})",
            f"np.mean({target}, dtype=np.{self.kind()})",
            f"np.sum({target}, where={other} > {x}, initial={x})",
            f"np.max({target}, where={other} > {x}, initial=-9)",
            f"np.std({target}, keepdims=True)",
            f"np.array({target}, copy=None)", f"np.array({target}, ndmin=3)",
            f"np.asarray({target}, dtype=np.{self.kind()})", f"np.full_like({target}, {x})",
            f"np.empty_like({target}, shape=(2,)).shape",
            f"np.zeros_like({target}, dtype=np.{self.kind()})",
            f"{target}.astype(np.{self.kind()}, copy=False)", f"np.copy({target}, order='F')",
            f"{target}.astype(np.{self.kind()}, casting='unsafe', order='C')",
            f"np.linspace({target}[0], {target}[-1], 3)",
            f"np.any({target}, axis=(0,), keepdims=True)",
            f"np.argmax({target}, axis=0, keepdims=True)", f"np.diff({target}, n=2, prepend=0)",
            f"np.isclose({target}, {other}, equal_nan=True, rtol=0.1)",
            f"np.reshape({target}, -1, order='F')",
            f"np.ravel({target}, order='K')", f"{target}.flatten('F')",
            f"np.cumsum({target}, dtype=np.{self.kind()})",
            f"np.concatenate([{target}, {other}], axis=None)",
            f"np.stack([{target}, {other}], axis=-1)",
            f"np.concatenate([{target}, {other}], dtype=np.{self.kind()}, casting='unsafe')",
            f"np.sort({target}, axis=None)", f"np.round({target}, -1)",
            f"np.cross({target}[:3], {other}[:3])",
            f"np.nan_to_num({target}, copy=False)", f"np.vecdot({target}, {other})",
            f"np.triu_indices(3)[0] + {x}",
        )]


GRAMMAR = Grammar(lambda seed: calls(written(seed, HazardWriter)))
