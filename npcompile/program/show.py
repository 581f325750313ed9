"""Prints programs: one line per statement, kernels with what they load, compute and store."""

from __future__ import annotations

from npcompile.core.sizes import Poly, Size
from npcompile.graph.ir import Geometry, Subprogram
from npcompile.program.ir import (
    Alloc,
    Apply,
    Axis,
    AxisIndex,
    Bind,
    Buffer,
    BufferResult,
    Call,
    Constant,
    Edge,
    For,
    Free,
    If,
    Index,
    ItemsResult,
    Kernel,
    Load,
    ObjectResult,
    ParamResult,
    Program,
    Reduce,
    Result,
    RoutineCall,
    ScalarResult,
    SideExit,
    SizeValue,
    Statement,
    StaticResult,
    Store,
    Swap,
    Value,
    ViewResult,
    While,
)


def show(program: Program) -> str:
    """The text of a program, for people."""
    lines = [f"program {program.name}({', '.join(_declare(b) for b in program.params)}):"]
    lines += [f"  valid where {guard!r}" for guard in program.guards]
    lines += _block(program.body, "  ")
    lines.append(f"  return {_result(program.result)}")
    lines += [f"  note: {note}" for note in program.notes]
    return "\n".join(lines)


def _declare(buffer: Buffer) -> str:
    if buffer.kind in ("scalar", "object"):
        return f"{buffer.name}: {buffer.dtype.name}"
    shape = ", ".join(map(repr, buffer.shape))
    strides = ", ".join(map(repr, buffer.strides))
    return f"{buffer.name}: {buffer.dtype.name}[{shape}] strides ({strides})"


def _block(body: tuple[Statement, ...], indent: str) -> list[str]:
    lines: list[str] = []
    for statement in body:
        lines += [indent + line for line in _statement(statement)]
    return lines


def _statement(statement: Statement) -> list[str]:
    match statement:
        case Alloc(buffer):
            return [f"alloc {buffer.kind} {_declare(buffer)}"]
        case Free(buffer):
            return [f"free {buffer.name}"]
        case Swap(first, second):
            return [f"swap {first.name}, {second.name}"]
        case Kernel():
            return _kernel(statement)
        case Bind():
            return [f"bind {statement.symbol!r} = {statement.buffer.name}"]
        case SideExit():
            return [f"check {statement.buffer.name} else exit {statement.number}: "
                    f"{statement.reason}", *_block(statement.leaving, "  ")]
        case RoutineCall() | Call():
            given = [f"{v.buffer.name}{_geometry(v.geometry)}" for v in statement.inputs]
            outputs = ", ".join(b.name for b in statement.outputs)
            if isinstance(statement, RoutineCall):
                given += map(repr, statement.sizes)
                outputs += "" if statement.into is None else _geometry(statement.into)
            inputs = ", ".join(given)
            if isinstance(statement, Call):
                name = statement.function.path
            else:
                routine = statement.routine
                name = f"{routine.routine} {routine.spec}" if routine.spec else routine.routine
            return [f"call {outputs} = {name}({inputs})"]
        case For():
            word = "parallel for" if statement.parallel else "for"
            head = f"{word} {statement.symbol!r} in {statement.start!r} : {statement.stop!r}"
            folds = "".join(f", {kind} {b.name}" for b, kind in statement.folds)
            if statement.failed is not None:
                folds += f", left by {statement.failed.name}"
            return [f"{head} : {statement.step!r}{folds}:", *_edge(statement.edge),
                    *_block(statement.body, "  ")]
        case While():
            return ["do:", *_edge(statement.edge), *_block(statement.body, "  "),
                    f"while {statement.again.name}"]
        case If():
            return [f"if {statement.condition.name}:", *_block(statement.then, "  "),
                    "else:", *_block(statement.orelse, "  ")]


def _edge(edge: Edge | None) -> list[str]:
    return [] if edge is None else [
        f"  if a signal handler raises, exit {edge.number}", *_block(edge.leaving, "    ")]


def _kernel(kernel: Kernel) -> list[str]:
    axes = ", ".join(f"{axis.name} < {axis.extent!r}" for axis in kernel.axes)
    where = ", ".join(map(str, kernel.lines))
    way = ", in order" if kernel.ordered else ""
    head = f"kernel {kernel.name}" + (f" over {axes}" if axes else "") + f"{way}:"
    lines = [f"{head:<58}  # line {where}" if where else head]
    lines += [f"  v{k} = {_value(v, kernel.axes)}" for k, v in enumerate(kernel.values)]
    lines += ["  " + _store(store, kernel.axes) for store in kernel.stores]
    lines += ["  " + _reduce(reduce, kernel.axes) for reduce in kernel.reductions]
    return lines


def _value(value: Value, axes: tuple[Axis, ...]) -> str:
    match value:
        case Load(buffer, at, dtype, by):
            return f"load {dtype.name} {buffer.name}{_index(at, axes, by)}"
        case Constant(number, dtype):
            return f"{dtype.name} {number!r}"
        case AxisIndex(axis):
            return f"index {axes[axis].name}"
        case SizeValue(size):
            return f"size {size!r}"
        case Apply(op, args, dtype, attrs):
            shown = " ".join(f"v{a}" for a in args)
            kind = f".{dtype.name}" if op == "cast" else ""
            if isinstance(attrs, Subprogram):
                return f"{op} {attrs.name} {shown}"
            return f"{op}{kind} {shown}" + (f" of {len(attrs.values)} values" if attrs else "")


def _index(at: Index, axes: tuple[Axis, ...], by: int | None = None, packed: bool = False) -> str:
    terms = [] if by is None else [f"v{by}"]
    terms += ["+"] if packed else []
    for axis, coefficient in zip(axes, at.coefficients):
        if coefficient == 1:
            terms.append(axis.name)
        elif coefficient != 0:
            terms.append(f"{_factor(coefficient)}*{axis.name}")
    if at.offset != 0 or not terms:
        terms.append(repr(at.offset))
    return f"[{' + '.join(terms)}]" + (f".{at.part}" if at.part else "")


def _factor(size: Size) -> str:
    return f"({size!r})" if isinstance(size, Poly) and len(size.terms) > 1 else repr(size)


def _store(store: Store, axes: tuple[Axis, ...]) -> str:
    mask = f" where v{store.mask}" if store.mask is not None else ""
    index = _index(store.at, axes, store.by, store.packed)
    return f"store {store.buffer.name}{index} = v{store.value}{mask}"


def _reduce(reduce: Reduce, axes: tuple[Axis, ...]) -> str:
    over = ", ".join(axes[axis].name for axis in reduce.axes)
    start = "" if reduce.initial is None else f" from {reduce.initial!r}"
    chunk = f" in chunks of {reduce.chunk}" if reduce.chunk != 0 else ""
    target = f"{reduce.buffer.name}{_index(reduce.at, axes)}"
    running = "running " if reduce.running else ""
    return f"{running}{reduce.kind} {target} = v{reduce.value} over {over}{start}{chunk}"


def _geometry(geometry: Geometry) -> str:
    shape = ", ".join(map(repr, geometry.shape))
    return f"[{geometry.offset!r}: {shape}]" + (f".{geometry.part}" if geometry.part else "")


def _result(result: Result) -> str:
    match result:
        case ParamResult(index):
            return f"parameter {index}"
        case BufferResult(buffer):
            return buffer.name
        case ViewResult(_, base, geometry, _):
            return f"view {_result(base)}{_geometry(geometry)}"
        case ScalarResult(buffer, origin):
            return f"{origin}.{buffer.dtype.name} {buffer.name}"
        case ObjectResult(buffer):
            return f"object {buffer.name}"
        case StaticResult():
            return repr(result.value)
        case ItemsResult(kind, items):
            return f"{kind.__name__}({', '.join(map(_result, items))})"
