"""Machine code for a program, with its entry, in this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from npcompile.backends import cpu
from npcompile.backends.cpu.loader import symbols
from npcompile.core import logs
from npcompile.core.aside import aside, load
from npcompile.core.config import Config
from npcompile.core.paths import import_path
from npcompile.core.records import replace
from npcompile.core.unseen import unseen
from npcompile.graph.types import Opaque
from npcompile.guards.sources import ObjectWords
from npcompile.runtime.cache.disk import DiskCache, Record, digest
from npcompile.runtime.entry.executables import MISS, Executable, Left, Stopwatch
from npcompile.runtime.entry.guard_binding import Wiring
from npcompile.runtime.entry.result_building import builder, constants
from npcompile.runtime.entry.state import EntryState
from npcompile.runtime.unsafe.native_functions import FunctionBase, install
from npcompile.runtime.versions.version_lookup import Linked

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm.frame import FrameLayout
    from npcompile.program.ir import Program
    from npcompile.runtime.entry.outline import Outline

Leave = Callable[[Executable, Left, Any, tuple[Any, ...]], Any]


class Probe(FunctionBase):
    """Calls one version's entry alone: where it does not fit, the call returns ``MISS``."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return MISS


class Native(Executable):
    """An executable with an entry; ``probe`` calls it with the arguments that it expects.
    ``alone``: its body calls nothing of Python's; ``bare``: and arguments are not followed to what
    they hold, and no Python makes its results."""

    alone: bool
    bare: bool
    wiring: Wiring
    state: EntryState
    probe: Probe

    def tells(self, text: str, optimise: tuple[str, ...]) -> None:
        """Keeps the text that it was made of, for who looks at it."""
        self.text, self.optimise = text, optimise

    def wire(self, wiring: Wiring) -> None:
        """Calls reach its leaves in another way from now on."""
        self.wiring = wiring


def native(traced: Outline, program: Program, config: Config, wiring: Wiring, leave: Leave,
           watch: Stopwatch) -> tuple[Native, Linked, FrameLayout]:
    """Compiles and links a program; also what another process needs to link it."""
    from npcompile.backends.cpu.llvm.frame import FrameLayout  # only who compiles needs them
    from npcompile.runtime.entry.entry_code import emit_entry
    from npcompile.runtime.entry.function_writer import combine
    from npcompile.runtime.threads import pool

    frame = FrameLayout(program)
    target = cpu.target()
    if config.deterministic == "portable":
        target = replace(target, saturates=False)
    own = bool(config.deterministic)
    # objects that are read where they lie stay as they are while this thread has the GIL
    releases = not any(isinstance(leaf.source, ObjectWords) for leaf in traced.leaves)
    parallel = config.parallel and pool.supported()
    emitted = cpu.emit(
        program, frame, target, parallel, own, releases, config.recorder, config.thorough)
    repeats = (traced.repeatable, traced.ambiguous or traced.late)
    entry = emit_entry(wiring.signature, program, frame, *repeats, traced.silent)
    text = combine(emitted.text, entry)
    watch.lap("emit")
    key, code = machine_code(text, target, emitted.optimise, config, watch)
    linked = Linked(wiring.signature, program.result, emitted.objects, emitted.routines, key)
    made = link(linked, code, config, wiring, lambda: (program, frame), leave)
    made.tells(text, emitted.optimise)
    watch.lap("load")
    return made, linked, frame


#: what gives the addresses of names of a kind, imported when a program has such
_PROVIDERS = {
    symbols.DRAW: "npcompile.runtime.random.draws:address",
    symbols.SUBPROGRAM: "npcompile.runtime.versions.shared_code:address",
    symbols.STOCK: "npcompile.runtime.versions.shared_code:stock_address",
    symbols.TENSOR: "npcompile.runtime.versions.tensor_code:address",
}


@functools.cache
def provide() -> None:
    """Names that need code beyond a program's own are found from now on."""
    for kind, path in _PROVIDERS.items():
        symbols.provide(kind, functools.partial(_address, path))


def _address(path: str, what: str) -> int:
    found: int = import_path(path)(what)
    return found


def link(linked: Linked, code: bytes, config: Config, wiring: Wiring,
         rest: Callable[[], tuple[Program, FrameLayout]], leave: Leave) -> Native:
    """Loads machine code and connects it with this process.

    ``rest`` gives the program and its frame; ``leave(executable, left, function, args)`` decides
    what happens when compiled code is left.
    """
    from npcompile.runtime.memory import recycled
    from npcompile.runtime.threads import pool  # only what is run needs them

    aside(recycled.ensure)
    provide()
    if config.parallel and pool.supported():
        aside(pool.ensure)

    @unseen
    def on_exit(
        function: Any, number: int, raised: int, what: Any, /, *args: Any, **kw: Any
    ) -> Any:
        load("npcompile.runtime.entry.frames", "npcompile.program.ir")
        from npcompile.runtime.entry.frames import left  # most calls don't leave

        return leave(made, left(*rest(), number, raised, what), function, args)

    result = linked.result
    state = EntryState(
        wiring.signature,
        python=in_python,
        exit=on_exit,
        same=wiring.same,
        constants=constants(result),
        build=builder(result),
        looked=wiring.looked,
    )
    objects = [_host_object(o) for o in linked.objects]
    imports = {"npc.state": state.address, **{f"obj.{k}": id(o) for k, o in enumerate(objects)}}
    for k, leaf in enumerate(wiring.signature.leaves):
        if isinstance(leaf.type, Opaque):
            imports[f"kind.{k}"] = id(leaf.type.python_type)
    if config.recorder is not None:
        imports["npc.record"] = config.recorder.address
    if linked.routines:
        from npcompile.runtime.versions import routine_code

        imports |= routine_code.addresses(linked.routines)
    loaded = cpu.load(code, imports)
    probe = Probe()
    made = Native(
        lambda: rest()[0], unseen(lambda leaves: probe(*leaves)), loaded["entry"],
        keep=(loaded, state, objects))
    made.probe = probe
    install(made.probe, loaded["entry"])
    state.alone = made.probe
    made.wiring, made.state = wiring, state
    made.alone = not objects
    made.bare = not (objects or wiring.signature.steps or builder(result))
    if not wiring.connect(state):
        raise RuntimeError("the words to watch changed while the function was compiled")
    return made


@functools.cache
def store() -> DiskCache:
    """The machine code that earlier processes left on disk."""
    return DiskCache()


def machine_code(
    text: str, target: cpu.Target, optimise: tuple[str, ...], config: Config, watch: Stopwatch
) -> tuple[bytes, bytes]:
    """The cache key of a module's text and its object code, compiled unless the disk cache has it.
    """
    key = _key(text, target, optimise)
    if not config.cache:
        code = cpu.compile(text, target, optimise)
        watch.lap("llvm")
        return key, code
    found = store().get(key)
    if found is not None:
        logs.log("cache", lambda: f"hit {key.hex()[:12]}")
        watch.lap("cache")
        return key, found.object
    code = cpu.compile(text, target, optimise)
    watch.lap("llvm")
    kept = store().put(key, Record(code, {}))
    logs.log("cache", lambda: f"{'kept' if kept else 'not kept'} {key.hex()[:12]}")
    watch.lap("cache")
    return key, code


def loaded(
    text: str, optimise: tuple[str, ...], config: Config, imports: Mapping[str, int]
) -> cpu.Loaded:
    """The machine code of a text that has no entry, in this process, with what it calls."""
    from npcompile.runtime.memory import recycled
    from npcompile.runtime.threads import pool

    _, code = machine_code(text, cpu.target(), optimise, config, Stopwatch())
    recycled.ensure()
    provide()
    if config.parallel and pool.supported():
        pool.ensure()
    return cpu.load(code, imports)


def _key(text: str, target: cpu.Target, optimise: tuple[str, ...]) -> bytes:
    """The cache key of machine code.

    The text says everything: what was traced, with every static value, callee and offset.  So an
    object can't be stale; what compiles it is the rest of the key.
    """
    parts = [text, repr(target), *optimise, cpu.compiler_version()]
    return digest("\0".join(parts).encode())


@unseen
def in_python(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls the class's ``__call__``, whatever code is installed in ``function``."""
    return type(function).__call__(function, *args, **kwargs)



def _host_object(described: object) -> Any:
    from npcompile.graph.ir import CallSite, HostCall  # few programs call Python

    if isinstance(described, CallSite):
        from npcompile.runtime.versions.fast_calls import quick

        return quick(described)
    return import_path(described.path) if isinstance(described, HostCall) else described
