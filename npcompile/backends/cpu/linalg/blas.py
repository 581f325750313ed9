"""BLAS and LAPACK: where they are in this process, and how generated code calls them.

NumPy's own library comes first: the same bits as NumPy's, and no second pool of threads.  NumPy's
wheels hold OpenBLAS with 64-bit integers under prefixed names, which the dynamic loader finds
through NumPy's extension module.  Otherwise SciPy's pointers (``scipy.linalg.cython_blas``), with
32-bit integers.  Names in generated code are ``blas.dgemm`` and the like.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.core.records import record
from npcompile.runtime.unsafe import raw_memory

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
_PATTERNS = (("scipy_{}_64_", 64), ("{}_64_", 64), ("{}_", 32))


@record
class Blas:
    """A library: ``bits`` of its integers, and where a function is."""

    bits: int
    find: Callable[[str], int]
    cblas: bool = False  # whether it has the interface for C, too

    def address(self, name: str) -> int:
        """Of a routine, ``dgemm``."""
        return self.find(name)

    def integers(self, f: LLVMFunction, *values: Value) -> list[Value]:
        """Addresses of integers, as Fortran takes them."""
        rooms = []
        for value in values:
            room = f.alloca(f"i{self.bits}")
            f.store(value if self.bits == 64 else f.convert("trunc", value, "i32"), room)
            rooms.append(room)
        return rooms

    def letter(self, f: LLVMFunction, value: Value | str) -> Value:
        """The address of a character."""
        room = f.alloca("i8")
        f.store(literal("i8", ord(value)) if isinstance(value, str) else value, room)
        return room

    def number(self, f: LLVMFunction, dtype: np.dtype, value: float) -> Value:
        """The address of a number."""
        elem = "float" if dtype.char in "fF" else "double"
        room = f.alloca(elem, 2)
        f.store(literal(elem, value), room)
        f.store(literal(elem, 0.0), f.offset(room, elem, i64(1)))
        return room

    def run(
        self, f: LLVMFunction, dtype: np.dtype, name: str, args: list[Value], letters: int
    ) -> None:
        """Calls a routine; compiled Fortran also takes the lengths of ``letters`` characters."""
        f.run(f"blas.{LETTERS[dtype.char]}{name}", *args, *[i64(1)] * letters)

    def gemm(self, f: LLVMFunction, dtype: np.dtype, m: Value, n: Value, k: Value,
             a: tuple[Value, Value, Value], b: tuple[Value, Value, Value], c: Value,
             width: Value) -> None:
        """``c = op(a) @ op(b)``, columns first; operands are (letter, address, width)."""
        m, n, k, wide_a, wide_b, wide_c = self.integers(f, m, n, k, a[2], b[2], width)
        one, zero = (self.number(f, dtype, x) for x in (1.0, 0.0))
        ops = [self.letter(f, a[0]), self.letter(f, b[0])]
        args = [*ops, m, n, k, one, a[1], wide_a, b[1], wide_b, zero, c, wide_c]
        self.run(f, dtype, "gemm", args, 2)

    def syrk(self, f: LLVMFunction, dtype: np.dtype, n: Value, k: Value,
             a: tuple[Value, Value, Value], c: Value, width: Value) -> None:
        """Above the diagonal of ``c``, rows first: ``a @ a.T``; ``a`` as in :meth:`gemm`."""
        other = f.binary("xor", a[0], literal("i8", ord("N") ^ ord("T")))
        n, k, wide_a, wide_c = self.integers(f, n, k, a[2], width)
        one, zero = (self.number(f, dtype, x) for x in (1.0, 0.0))
        args = [self.letter(f, "L"), self.letter(f, other), n, k, one, a[1], wide_a, zero, c]
        self.run(f, dtype, "syrk", [*args, wide_c], 2)

    def has_dot(self, dtype: np.dtype) -> bool:
        """Whether :meth:`dot` can be called: complex results come back as compilers like."""
        return dtype.kind == "f" or self.cblas

    def dot(self, f: LLVMFunction, dtype: np.dtype, n: Value, x: Value, dx: Value, y: Value,
            dy: Value, out: Value) -> None:
        """``out = x @ y``."""
        if dtype.kind == "c":
            short = self.bits == 32
            n, dx, dy = (f.convert("trunc", v, "i32") if short else v for v in (n, dx, dy))
            f.run(f"blas.cblas_{LETTERS[dtype.char]}dotu_sub", n, x, dx, y, dy, out)
            return
        n, dx, dy = self.integers(f, n, dx, dy)
        elem = "float" if dtype.char == "f" else "double"
        name = f"blas.{LETTERS[dtype.char]}dot"
        f.store(f.call(name, (elem, 1), n, x, dx, y, dy), out)

    def gemv(self, f: LLVMFunction, dtype: np.dtype, letter: Value, m: Value, n: Value,
             a: tuple[Value, Value], x: tuple[Value, Value], y: tuple[Value, Value]) -> None:
        """``y = op(a) @ x``; operands are (address, width or step)."""
        m, n, wide, dx, dy = self.integers(f, m, n, a[1], x[1], y[1])
        one, zero = (self.number(f, dtype, v) for v in (1.0, 0.0))
        args = [self.letter(f, letter), m, n, one, a[0], wide, x[0], dx, zero, y[0], dy]
        self.run(f, dtype, "gemv", args, 1)


@cache
def library() -> Blas | None:
    """NumPy's library, or SciPy's, or None."""
    return _numpys() or scipys()


def _numpys() -> Blas | None:
    from numpy.linalg import _umath_linalg

    try:
        handle = ctypes.CDLL(_umath_linalg.__file__)
    except OSError:
        return None
    for pattern, bits in _PATTERNS:
        def find(name: str, pattern: str = pattern) -> int:
            # OpenBLAS puts no underscore into the names of its interface for C
            sep = "" if name.startswith("cblas") else "_"
            function = getattr(handle, pattern.format(name).replace(f"{name}_", f"{name}{sep}"))
            return ctypes.cast(function, ctypes.c_void_p).value or 0

        try:
            if all(find(name) for name in ("dgemm", "zgemv", "dgesv", "zheevd")):
                return Blas(bits, find, pattern.startswith("scipy"))
        except AttributeError:
            continue
    return None


@cache
def scipys() -> Blas | None:
    """SciPy's library, which its functions have their bits from."""
    try:
        from scipy.linalg import cython_blas, cython_lapack
    except ImportError:
        return None
    tables = (cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__)

    def find(name: str) -> int:
        capsule = next(table[name] for table in tables if name in table)
        return raw_memory.capsule(capsule, raw_memory.capsule_name(capsule))

    return Blas(32, find)


class Addresses(dict[str, int]):
    """A library's routines by the names that generated code has for them."""

    def __init__(self, library: Blas | None) -> None:
        super().__init__()
        self.library = library

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name.startswith("blas.") or super().__contains__(name))

    def __missing__(self, name: str) -> int:
        assert self.library is not None
        return self.library.address(name.removeprefix("blas."))
