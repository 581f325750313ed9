"""Triton code to cubins, ahead of time: without a GPU, without torch, without Triton's own cache.

The stages are Triton's; called one by one they need no driver, and no hash of Triton's whole
installation.  Multiplications and additions are never contracted.  What names a cubin on disk is
found without Triton, which takes longer to import than a cubin to load.
"""

from __future__ import annotations

import importlib
import inspect
import keyword
import linecache
import os
import re
import tempfile
from collections.abc import Sequence, Set
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from npcompile.backends.gpu.source import (
    SCOPE,
    Between,
    DeviceMemory,
    Given,
    KernelSource,
    Parameter,
    Tables,
)
from npcompile.core.records import record, replace

#: Triton's names of dtypes in signatures
NAMES = {
    "?": "i1", "b": "i8", "h": "i16", "i": "i32", "l": "i64", "q": "i64", "B": "u8", "H": "u16",
    "I": "u32", "L": "u64", "Q": "u64", "e": "fp16", "f": "fp32", "d": "fp64",
}


@record
class Cubin:
    """Machine code of one kernel, and what a launch must know.

    ``shared`` is bytes of shared memory; ``scratch`` bytes of global memory for each program, and
    of a profiler: hidden pointers after the parameters.
    """

    code: bytes
    entry: str
    warps: int
    shared: int
    scratch: tuple[int, int]
    ptx: str = ""


def identity(source: KernelSource, constants: dict[str, int], capability: int,
             sixteens: Set[str]) -> tuple[object, ...]:
    """All that the machine code of :func:`translate` depends on, in every process the same.  Names
    and comments are the user's: other ones make the same machine code."""
    text, names = unnamed(source.text)
    signature = tuple((names.get(name, name), signature_of(p)) for name, p in source.parameters)
    numbers = {names.get(name, name): value for name, value in constants.items()}
    return ("cubin", version("triton"), _means(), capability, text, signature,
            tuple(sorted(numbers.items())), tuple(sorted(names.get(n, n) for n in sixteens)))


#: words that are no names of a kernel's own
_KEPT = SCOPE | set(keyword.kwlist) | {"inf"}


@lru_cache(256)
def unnamed(text: str) -> tuple[str, dict[str, str]]:
    """Code without comments, in which all names are numbers; and the numbers of the names in the
    last function."""
    text = re.sub(r'(?m)^ *(#.*|""".*""")\n|  #.*$', "", text)
    functions = {name: f"f{k}" for k, name in enumerate(re.findall(r"(?m)^def (\w+)", text))}
    names: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        word = match[0]
        if word in _KEPT or word in functions:
            return functions.get(word, word)
        return names.setdefault(word, f"v{len(names)}")

    found = []
    for part in re.split(r"(?m)^(?=@)", text):
        names.clear()
        # not attributes, texts and names of arguments
        found.append(re.sub(r'(?<![\w."])[^\W\d]\w*\b(?!=[^=])', number, part))
    return "".join(found), names


@cache
def _means() -> bytes:
    """The text of the functions that kernels call."""
    return Path(__file__).with_name("device.py").read_bytes()


def translate(source: KernelSource, constants: dict[str, int], capability: int,
              sixteens: Set[str] = frozenset(), warps: int = 4) -> Cubin:
    """The machine code of a kernel for a GPU of a compute capability (90: sm_90).

    Parameters
    ----------
    constants
        Values of the function's constants: what its grid tells for the sizes at hand.
    sixteens
        Names of parameters that are multiples of 16, addresses and sizes: memory is accessed 16
        bytes at a time only where this is known.
    """
    found = assembly(source, constants, capability, sixteens, warps)
    return replace(found, code=assemble(found.ptx, capability, warps))


def assembly(source: KernelSource, constants: dict[str, int], capability: int,
             sixteens: Set[str] = frozenset(), warps: int = 4) -> Cubin:
    """What :func:`translate` makes, without the machine code: PTX."""
    return assemblies(source, constants, [(capability, sixteens)], warps)[0]


def assemblies(source: KernelSource, constants: dict[str, int],
               targets: Sequence[tuple[int, Set[str]]], warps: int = 4) -> list[Cubin]:
    """What :func:`assembly` makes for each compute capability with its multiples of 16: what the
    function means in Triton's language of tensors, half of the work, is found once."""
    if not targets:
        return []
    meaning = _meaning(source, constants, targets[0][0], warps)
    return [_lowered(meaning, source, *target, warps) for target in targets]


def _meaning(source: KernelSource, constants: dict[str, int], capability: int, warps: int) -> str:
    """A kernel in Triton's language of tensors, in which nothing depends on the GPU: what does
    are products of matrices, descriptors of tensors and floats of 8 bits, which no kernel has."""
    from triton.compiler import ASTSource

    signature = {name: signature_of(parameter) for name, parameter in source.parameters}
    tree = ASTSource(
        fn=_function(source), signature=signature | dict.fromkeys(constants, "constexpr"),
        constexprs=constants,
    )
    backend, options, stages = _pipeline(capability, warps)
    context = _context(backend)
    first = (backend.target,) if "target" in inspect.signature(tree.make_ir).parameters else ()
    module = tree.make_ir(*first, options, backend.get_codegen_implementation(options),
                          backend.get_module_map(), context)
    return str(stages["ttir"](module, {"target": backend.target, **options.__dict__}))


def _lowered(meaning: str, source: KernelSource, capability: int, sixteens: Set[str],
             warps: int) -> Cubin:
    """PTX of what :func:`_meaning` has found."""
    from triton._C.libtriton import ir

    backend, options, stages = _pipeline(capability, warps)
    context = _context(backend)
    with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:  # it is read from files only
        file.write(meaning)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    module.context = context
    function = module.get_function(module.get_entry_func_name())
    for place, (name, _) in enumerate(source.parameters):
        if name in sixteens:
            function.set_arg_attr(place, "tt.divisibility", 16)
    meta = {"target": backend.target, **options.__dict__}
    for name in ("ttgir", "llir", "ptx"):
        module = stages[name](module, meta)
    scratch = meta["global_scratch_size"], meta.get("profile_scratch_size", 0)
    return Cubin(b"", meta["name"], meta["num_warps"], meta["shared"], scratch, module)


def _context(backend: Any) -> Any:
    """What modules are made in: each has one of its own, for threads."""
    from triton._C.libtriton import ir

    os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def assemble(ptx: str, capability: int, warps: int = 4) -> bytes:
    """The machine code of PTX, which may be several kernels."""
    backend, options, stages = _pipeline(capability, warps)
    code: bytes = stages["cubin"](ptx, {"target": backend.target, **options.__dict__})
    return code


@cache
def _pipeline(capability: int, warps: int) -> tuple[Any, Any, dict[str, Any]]:
    """Triton's backend for a GPU, its options and the stages of a translation."""
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler import make_backend

    backend = make_backend(GPUTarget("cuda", capability, 32))
    options = backend.parse_options({"num_warps": warps, "enable_fp_fusion": False})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    return backend, options, stages


def signature_of(parameter: Parameter) -> str:
    """A parameter's type as Triton writes it."""
    match parameter:
        case DeviceMemory(buffer):
            return "*" + NAMES[stored(buffer.dtype).char]
        case Tables(dtype) | Between(dtype):
            return "*" + NAMES[stored(dtype).char]
        case Given(buffer, part):
            half = np.dtype(f"f{buffer.dtype.itemsize // 2}") if part else buffer.dtype
            return NAMES[half.char]
        case _:
            return "i64"


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Elements as kernels address them: complex as pairs, bools as bytes."""
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


_functions: dict[str, Any] = {}


def _function(source: KernelSource) -> Any:
    """The Triton function that a text defines."""
    import triton
    import triton.language as tl

    found = _functions.get(source.text)
    if found is None:
        file = f"<npcompile gpu {source.name} {len(_functions)}>"
        linecache.cache[file] = (len(source.text), None, source.text.splitlines(True), file)
        device = importlib.import_module("npcompile.backends.gpu.device")
        scope: dict[str, Any] = {
            "__name__": __name__, "triton": triton, "tl": tl, "npc": device,
        }
        exec(compile(source.text, file, "exec"), scope)
        found = _functions[source.text] = scope[source.name]
    return found
