"""LLVM text to machine code, and machine code into this process.

Every use of llvmlite is behind one lock: it has one of its own, and the option set here is global.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from npcompile.backends.cpu.loader import symbols
from npcompile.backends.cpu.loader.cache_sizes import near_here
from npcompile.backends.target import Target, family, here
from npcompile.core.aside import aside, forking
from npcompile.core.config import capability
from npcompile.core.errors import Refusal
from npcompile.core.surroundings import Unusable
from npcompile.runtime.unsafe.raw_memory import keep_for_ever

_lock = threading.RLock()
forking(_lock)  # a child must not inherit LLVM in the middle of its work
_MAGIC = b"npc6"
#: newer parts of llvmlite
_NEEDED = ("create_lljit_compiler", "create_pass_builder", "JITLibraryBuilder")


P = ParamSpec("P")
R = TypeVar("R")


@cache
def _binding() -> Any:
    try:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for name in _NEEDED:
            getattr(llvm, name)
        _version(llvm)
    except Exception as error:  # it is missing, too old, blocked, or something stands in for it
        what = f"llvmlite can't be used: {type(error).__name__}: {error}"
        raise Unusable(Refusal("compiler", what)) from error
    for option in here().options:
        llvm.set_option("npcompile", option)
    return llvm


def _alone(function: Callable[P, R]) -> Callable[P, R]:
    """For functions that use llvmlite: one thread at a time, which no signal handler interrupts.
    Between two of its steps llvmlite may not be entered again, nor left."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        def work() -> R:
            with _lock:
                return function(*args, **kwargs)

        return aside(work)

    return wrapped


@cache
@_alone
def host_target(request: str) -> Target:
    """The target for a capability: ``default`` (the best of this machine), ``avx2``, ``avx512``."""
    llvm = _binding()
    have = llvm.get_host_cpu_features()
    return here().chosen(request, llvm.get_host_cpu_name(), have, have.flatten(), near_here())


def target(request: str | None = None) -> Target:
    """The target to use now: as asked for, or as ``NPCOMPILE_CPU_CAPABILITY`` says."""
    return host_target(request if request is not None else capability())


@cache
@_alone
def compiler_version() -> str:
    """The versions that object code depends on, that of its form among them."""
    return f"{_MAGIC.decode()} {_version(_binding())}"


def _version(llvm: Any) -> str:
    import llvmlite

    return f"{llvmlite.__version__} {'.'.join(map(str, llvm.llvm_version_info))}"


@cache
def _machine(of: Target, level: int) -> Any:
    llvm = _binding()
    if of.triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    triple = llvm.Target.from_triple(of.triple or llvm.get_process_triple())
    return triple.create_target_machine(
        cpu=of.cpu, features=of.features, opt=level, reloc="pic", codemodel="small"
    )


#: blocks of a module from which on LLVM's work on loops, which grows as the square of them, is
#: left out
LARGE = 256


INLINED = " alwaysinline "  #: in the head of a function that becomes a part of its callers


def _is_large(text: str) -> bool:
    return text.count(":\n") > LARGE


def _optimise(machine: Any, function: Any, large: bool) -> None:
    """LLVM's simplification of functions, and another round of unrolling and what it brings, for
    those with scalar loops; array kernels need none."""
    llvm = _binding()
    options = llvm.create_pipeline_tuning_options(speed_level=1 if large else 3)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = not large
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getFunctionPassManager()
    if not large:
        passes.add_loop_unroll_pass()
    passes.add_instruction_combine_pass()
    passes.add_reassociate_pass()
    passes.add_simplify_cfg_pass()
    passes.run(function, builder)


def _parsed(
    text: str, of: Target, optimise: tuple[str, ...], level: int | None = None
) -> tuple[Any, Any]:
    """A target machine and a module, ready to be written by it; ``optimise`` names functions with
    scalar loops."""
    llvm = _binding()
    # quotients of small numbers in wide registers take the narrow instruction from level 2 on
    machine = _machine(of, level if level is not None else 2 if optimise else 1)
    module = llvm.parse_assembly(text)
    module.verify()
    if INLINED in text:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.run(module, builder)
    for name in optimise:
        _optimise(machine, module.get_function(name), _is_large(text))
    return machine, module


#: passes of LLVM that change nothing in our code, but look at each function
_NEEDLESS = dict.fromkeys(
    ["disable-early-taildup", "disable-early-ifcvt", "disable-mergeicmps",
     "disable-partial-libcall-inlining", "disable-select-optimize"], True)
#: what LLVM has for these, as others that use llvmlite expect it
_USUAL = {"enable-misched": True}


@contextmanager
def _switched(of: Target, optimise: tuple[str, ...]) -> Iterator[None]:
    """Sets global options of LLVM, and back.

    Loop strength reduction costs half of code generation and gains array kernels nothing, and
    scheduling a twentieth, which gains a few percent where there are only 16 registers.
    """
    options = {"disable-lsr": not optimise, "enable-misched": bool(optimise) or not of.masks,
               **_NEEDLESS}
    binding = _binding()
    for name, value in options.items():
        if value is not _USUAL.get(name, False):
            binding.set_option("npcompile", f"-{name}={str(value).lower()}")
    try:
        yield
    finally:
        for name, value in options.items():
            if value is not (usual := _USUAL.get(name, False)):
                binding.set_option("npcompile", f"-{name}={str(usual).lower()}")


@_alone
def assembly(text: str, of: Target | None = None, optimise: tuple[str, ...] = ()) -> str:
    """The machine code of a module as assembler text."""
    of = of if of is not None else target()
    text = family(of.family).spelled(text)
    with _switched(of, () if _is_large(text) else optimise):
        machine, module = _parsed(text, of, optimise)
        return str(machine.emit_assembly(module))


@_alone
def compile(text: str, of: Target | None = None, optimise: tuple[str, ...] = ()) -> bytes:
    """Objects with the names that they give and need; ``optimise`` names functions."""
    from npcompile.backends.cpu.loader.ir_splitter import (  # only who compiles needs them
        divided,
        interface,
    )

    of = of if of is not None else target()
    text = family(of.family).spelled(text)
    well, haste = divided(text)
    objects = []
    with _switched(of, () if _is_large(well) else optimise):
        for part, names, level in ((well, optimise, None), (haste, (), 0)):
            if part:
                machine, module = _parsed(part, of, names, level)
                objects.append(bytes(machine.emit_object(module)))
    gives, needs = interface(text)
    words = (gives, needs, [str(len(o)) for o in objects])
    head = "\n".join([" ".join(line) for line in words]).encode()
    return _MAGIC + len(head).to_bytes(4, "little") + head + b"".join(objects)


class Loaded:
    """Machine code in this process, as long as this object lives; ``loaded[name]`` is an address.
    """

    def __init__(self, holder: Any, names: list[str]) -> None:
        self._holder = holder
        self.addresses: dict[str, int] = {name: holder[name] for name in names}

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


def load(code: bytes, imports: Mapping[str, int] | None = None) -> Loaded:
    """Links what :func:`compile` made; ``imports`` gives addresses that no table knows."""
    if code[:4] != _MAGIC:
        raise ValueError("not an object of npcompile")
    end = 8 + int.from_bytes(code[4:8], "little")
    gives, needs, lengths = [line.split() for line in code[8:end].decode().split("\n")]
    objects = []
    for length in map(int, lengths):
        objects.append(code[end : end + length])
        end += length
    known: Mapping[str, int] = {} if imports is None else imports

    addresses = {n: known[n] if n in known else symbols.resolve(n) for n in needs}
    from npcompile.backends.cpu.loader import elf_loader

    try:
        return Loaded(elf_loader.Image(objects, addresses), gives)
    except elf_loader.Unplaceable:
        return Loaded(_linked(objects, gives, addresses), gives)


def lasting(code: bytes, imports: Mapping[str, int] | None = None) -> Loaded:
    """Like :func:`load`, for ever: two threads that ask for the same code at once may load it
    twice, and whichever is kept in the end, the addresses of both have been given away."""
    loaded = load(code, imports)
    keep_for_ever(loaded)
    return loaded


@cache
def _jit() -> Any:
    return _binding().create_lljit_compiler(use_jit_link=here().second_linker)


_linked_count = 0


@_alone
def _linked(objects: list[bytes], gives: list[str], imports: dict[str, int]) -> Any:
    """What LLVM's linker makes of objects."""
    global _linked_count
    builder = _binding().JITLibraryBuilder()
    for code in objects:
        builder.add_object_img(code)
    builder.add_current_process()
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for name in gives:
        builder.export_symbol(name)
    _linked_count += 1
    return builder.link(_jit(), f"npcompile.{_linked_count}")
