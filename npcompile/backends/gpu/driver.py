"""Runs a program from the host: statements in order, kernels on a device.

The walk is the interpreter's of language 2; only kernels are launched instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from npcompile.backends.gpu.chains import chain
from npcompile.backends.gpu.kernels import pointwise
from npcompile.backends.gpu.mirror import Device, Launch, Mirror, Pointer
from npcompile.backends.gpu.packing import packed
from npcompile.backends.gpu.rows import RowGroup, arranged, group
from npcompile.backends.gpu.source import (
    Between,
    DeviceMemory,
    Given,
    KernelLaunch,
    KernelSource,
    Parameter,
    Tables,
    Whole,
)
from npcompile.backends.gpu.triton_reductions import reduction
from npcompile.core.errors import Refusal, Refused, refuse
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import largest
from npcompile.graph.ir import Geometry
from npcompile.graph.routines import product
from npcompile.ops.canonical import pairwise
from npcompile.program.interpret import DONE, ProgramRun
from npcompile.program.ir import (
    Alloc,
    Buffer,
    BufferResult,
    Call,
    Kernel,
    Load,
    ParamResult,
    Program,
    Result,
    RoutineCall,
    ScalarResult,
    SideExit,
    Statement,
    Swap,
    View,
    ViewResult,
    blocks,
    with_blocks,
)
from npcompile.tensors.device import owner


@record(eq=False, frozen=False)
class TritonModule:
    """A program's kernels as Triton code.

    ``sources`` are the functions that each kernel consists of, ``groups`` are by their first
    kernels, ``refused`` the kernels that the host runs and why; kernels in neither compute numbers
    on the host.  ``tables`` are the constants that the device has already.
    """

    program: Program
    sources: dict[Kernel, tuple[KernelSource, ...]] = field(default_factory=dict)
    groups: dict[Kernel, RowGroup] = field(default_factory=dict)
    refused: dict[Kernel, Refusal] = field(default_factory=dict)
    tables: dict[Tables, Pointer] = field(default_factory=dict)
    prepared: bool = False  # its kernels are compiled, as far as the first call could tell which

    @property
    def text(self) -> str:
        """The code of all kernels: of a group as a whole, not of each one."""
        apart = {k for group in self.groups.values() for k in group.kernels}
        texts = [part for k, sources in self.sources.items() for source in sources
                 if k in self.groups or k not in apart
                 for part in (self.groups[k].source if k in self.groups else source).parts]
        return "\n\n".join(dict.fromkeys(texts))


def lower(program: Program) -> TritonModule:
    """Kernels of a program as Triton code."""
    groups: list[list[Kernel]] = []
    stem = program.name.rpartition(".")[2].strip("<>")
    body = _named(program.body, stem if stem.isidentifier() else "kernel")
    program = replace(program, body=arranged(body, groups))
    module = TritonModule(program)
    kernels = [s for s in flatten(program.body) if isinstance(s, Kernel)]
    given = _given(program, kernels)
    for kernel in kernels:
        if _on_host(kernel, given):
            continue
        try:
            module.sources[kernel] = _sources(kernel, given)
        except Refused as refused:
            module.refused[kernel] = refused.refusal
    for members in groups:
        if all(kernel in module.sources for kernel in members):
            with suppress(Refused):  # they are kernels of their own
                module.groups[members[0]] = group(members, given)
    return module


def _named(body: Sequence[Statement], stem: str) -> tuple[Statement, ...]:
    """A block whose kernels have the name of the function."""
    found: list[Statement] = []
    for statement in body:
        match statement:
            case Kernel():
                statement = replace(statement, name=f"{stem}_{statement.name}")
            case SideExit():
                statement = replace(statement, leaving=_named(statement.leaving, stem))
        found.append(with_blocks(statement, lambda inner: _named(inner, stem)))
    return tuple(found)


def _sources(kernel: Kernel, given: frozenset[Buffer]) -> tuple[KernelSource, ...]:
    """Reductions read what stores of the same kernel change: they come first."""
    if kernel.ordered:
        raise refuse("kernel", "iterations that depend on each other have no GPU kernel")
    found = [
        replace(reduction(kernel, reduce, given), long=chain(kernel, reduce, given))
        for reduce in kernel.reductions
    ]
    others = tuple([store for store in kernel.stores if not store.packed])
    if len(others) < len(kernel.stores):
        found.append(packed(kernel, given))
    if others:
        found.append(pointwise(replace(kernel, stores=others), given))
    return tuple(found)


def flatten(body: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, those inside others too."""
    for statement in body:
        yield statement
        inside = (statement.leaving,) if isinstance(statement, SideExit) else blocks(statement)
        for block in inside:
            yield from flatten(block)


def _given(program: Program, kernels: Sequence[Kernel]) -> frozenset[Buffer]:
    """The numbers that the host computes or is given: no kernel on the device writes them."""
    given = {b for b in (*program.params, *program.buffers) if b.kind == "scalar"}
    while True:
        lost = {
            buffer for kernel in kernels if not _on_host(kernel, given)
            for buffer in _written(kernel) if buffer in given
        }
        if not lost:
            return frozenset(given)
        given -= lost


def _on_host(kernel: Kernel, given: set[Buffer] | frozenset[Buffer]) -> bool:
    loads = [v.buffer for v in kernel.values if isinstance(v, Load)]
    return not kernel.axes and given.issuperset(loads + _written(kernel))


def is_hosts(statement: Statement) -> bool:
    """Whether arrays have to be on the host for a statement."""
    if not isinstance(statement, RoutineCall):
        return isinstance(statement, Call)
    return statement.routine.routine != "product" or any(
        view.geometry.part or view.dtype.char in "?e" for view in statement.inputs
    )


def _all_of(buffer: Buffer) -> View:
    return View(buffer, Geometry(0, buffer.shape, buffer.strides), buffer.dtype)


def _written(kernel: Kernel) -> list[Buffer]:
    stored = [store.buffer for store in kernel.stores]
    return stored + [reduce.buffer for reduce in kernel.reductions]


class Launched(ProgramRun):
    """A run whose kernels are a device's."""

    def __init__(self, module: TritonModule, device: Device) -> None:
        super().__init__(module.program, pairwise)
        self.module, self.device = module, device
        self.memory = self.mirror = Mirror(device)
        self.done: set[Kernel] = set()  # with the group that they are in
        self.on_device = False  # whether arguments are, and results have to be
        self.made: dict[Buffer | int, Any] = {}  # arrays of the device's, by buffer or view

    def run(self, params: Sequence[Any]) -> tuple[int, Any]:
        owners = {id(image): owner(image) for image in params if owner(image) is not None}
        self.on_device = bool(owners)
        images = [image for image in params if id(image) in owners]
        for image in images:
            self.mirror.lend(image, owners[id(image)])
        try:
            return super().run(params)
        finally:  # what is left of a run that an exception ends is seen, too
            if images:
                self.mirror.upload(images)
            else:
                self.mirror.settle(self.program.params)

    def result(self, result: Result, params: Sequence[Any]) -> Any:
        """With CuPy's arrays as arguments, arrays there; numbers are arrays without axes."""
        if not self.on_device:
            return super().result(result, params)
        match result:
            case ParamResult(index) if owner(params[index]) is not None:
                return owner(params[index])
            case BufferResult(buffer) | ScalarResult(buffer, "np"):
                whole = Geometry(0, buffer.shape, buffer.strides)
                return self.boxed(buffer, buffer, whole, buffer.dtype)
            case ViewResult(ident, ParamResult(index), geometry, dtype):
                return self.boxed(ident, self.program.params[index], geometry, dtype)
            case ViewResult(ident, BufferResult(buffer), geometry, dtype):
                return self.boxed(ident, buffer, geometry, dtype)
        return super().result(result, params)

    def boxed(self, key: Buffer | int, buffer: Buffer, geometry: Geometry,
              dtype: np.dtype[Any]) -> Any:
        """One array of the device's for each key."""
        if key not in self.made:
            shape = tuple([largest(n, 0) for n in geometry.shape])  # below 0 where it is not taken
            self.made[key] = self.array(buffer, replace(geometry, shape=shape), dtype, False)
        return self.made[key]

    def statement(self, statement: Statement) -> int:
        if isinstance(statement, Swap):
            self.mirror.swap(statement.first, statement.second)
            return DONE
        status = super().statement(statement)
        match statement:
            case Alloc(buffer):
                self.mirror.fresh(buffer)
            case Call():
                self.mirror.changed(statement.outputs)
        return status

    def library(self, call: RoutineCall) -> None:
        """Products are the device's; other routines take their operands to the host."""
        if is_hosts(call):
            super().library(call)
            self.mirror.changed(call.outputs)
            return
        views = [*call.inputs, *map(_all_of, call.outputs)]
        left, right, out = [
            self.array(view.buffer, view.geometry, view.dtype, view.buffer in call.outputs)
            for view in views
        ]
        out[...] = product(call.routine.spec, left, right, self.device.xp)

    def array(self, buffer: Buffer, geometry: Geometry, dtype: np.dtype[Any], written: bool) -> Any:
        """What a view shows of a buffer as an array of the device's."""
        place, unit = self.mirror.pointer(buffer, written), buffer.dtype.itemsize
        offset = place.offset + unit * self.size(geometry.offset)
        offset += unit // 2 if geometry.part == "imag" else 0
        strides = tuple([unit * step for step in self.shape(geometry.strides)])
        pointer = Pointer(place.handle, offset)
        return self.device.array(pointer, self.shape(geometry.shape), strides, dtype)

    def block(self, body: tuple[Statement, ...]) -> int:
        if not self.module.prepared:  # all sizes of arguments have values
            self.module.prepared = True
            self.device.prepare(list(self.launches()))
        return super().block(body)

    def launches(self) -> Iterator[Launch]:
        """What can be launched with the sizes that are known."""
        for sources in self.chosen():
            for source in sources:
                with suppress(KeyError):  # a size that is computed
                    for step in self.steps(source):
                        sizes: dict[Parameter, int] = {
                            p: self.size(p.size) for _, p in step.source.parameters
                            if isinstance(p, Whole)
                        }
                        yield step.source, step.constants, sizes

    def chosen(self) -> Iterator[tuple[KernelSource, ...]]:
        """The sources of kernels that are not in a group, and of groups."""
        inside: set[Kernel] = set()
        for kernel, sources in self.module.sources.items():
            group = self.module.groups.get(kernel)
            with suppress(KeyError):
                if group is not None and group.suits(self.size):
                    inside.update(group.kernels)
                    yield (group.source,)
            if kernel not in inside:
                yield sources

    def kernel(self, kernel: Kernel) -> None:
        group = self.module.groups.get(kernel)
        if kernel in self.done:
            self.done.remove(kernel)
        elif kernel not in self.module.sources:
            super().kernel(kernel)
            self.mirror.changed(_written(kernel))
        elif group is not None and group.suits(self.size):
            self.launch(group.source, {b for k in group.kernels for b in _written(k)})
            self.done.update(group.kernels[1:])
        else:
            for source in self.module.sources[kernel]:
                self.launch(source, set(_written(kernel)))

    def steps(self, source: KernelSource) -> list[KernelLaunch]:
        """The launches of a kernel: one, or those of a chain."""
        several = source.long.steps(self.size) if source.long is not None else []
        return several or [KernelLaunch(source, *source.grid.launch(self.size))]

    def launch(self, source: KernelSource, written: set[Buffer]) -> None:
        between: dict[bool, Pointer] = {}  # what a step writes (True) and what it reads
        for step in self.steps(source):
            if step.room:
                between[True] = Pointer(self.device.empty(step.room), 0)
            if step.programs:
                args = [between[p.out] if isinstance(p, Between) else self.argument(p, written)
                        for _, p in step.source.parameters]
                self.device.launch(step.source, step.programs, args, step.constants)
            if step.room:
                between[False] = between.pop(True)

    def argument(self, parameter: Parameter, written: set[Buffer]) -> Any:
        match parameter:
            case DeviceMemory(buffer):
                return self.mirror.pointer(buffer, buffer in written)
            case Given(buffer, part):
                number = self.memory[buffer][()]
                return getattr(number, part) if part else number
            case Whole(size):
                return np.int64(self.size(size))
            case Tables():
                return self.table(parameter)
            case Between():
                raise TypeError("only a chain has memory between kernels")

    def table(self, wanted: Tables) -> Pointer:
        """Constants on the device, brought there once."""
        found = self.module.tables.get(wanted)
        if found is None:
            numbers = np.array(wanted.values, wanted.dtype)
            handle = self.device.empty(numbers.nbytes)
            self.device.upload(handle, numbers.view(np.uint8))
            found = self.module.tables[wanted] = Pointer(handle, 0)
        return found
