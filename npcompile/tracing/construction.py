"""Opcodes that make and take apart containers, read attributes, make functions and call them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.records import replace
from npcompile.frontend.bytecode import VERSION, Instruction
from npcompile.python import dictionary
from npcompile.python.composite import Composite
from npcompile.python.functions import Function
from npcompile.python.registry import view
from npcompile.python.values import (
    NONE,
    NULL,
    Frame,
    HeapObject,
    Sequence,
    Unreachable,
    Value,
    is_model,
)
from npcompile.tracing import (
    attributes,
    containers,
    iteration,
)
from npcompile.tracing.opcodes import on, pop, push, take

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

# ---------------------------------------------------------------------- containers


@on("BUILD_TUPLE")
def build_tuple(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, Sequence(tuple(take(frame, i.arg))))


@on("BUILD_LIST")
def build_list(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, t.allocate(list, tuple(take(frame, i.arg))))


@on("LIST_TO_TUPLE")
def list_to_tuple(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, Sequence(iteration.items(t, pop(frame))))


@on("LIST_APPEND")
def list_append(t: Tracer, frame: Frame, i: Instruction) -> None:
    value = pop(frame)
    target = frame.state.stack[-i.arg]
    assert isinstance(target, HeapObject)
    containers.append(t, target, value)


@on("LIST_EXTEND")
def list_extend(t: Tracer, frame: Frame, i: Instruction) -> None:
    more = iteration.items(t, pop(frame))
    target = frame.state.stack[-i.arg]
    assert isinstance(target, HeapObject)
    containers.extend(t, target, more)


@on("BUILD_MAP")
def build_map(t: Tracer, frame: Frame, i: Instruction) -> None:
    flat = take(frame, 2 * i.arg)
    keys = [t.static(key, "a dictionary's key") for key in flat[::2]]
    push(frame, t.allocate(dict, dict(zip(keys, flat[1::2]))))


@on("BUILD_CONST_KEY_MAP")
def build_const_key_map(t: Tracer, frame: Frame, i: Instruction) -> None:
    *items, keys = take(frame, i.arg + 1)
    push(frame, t.allocate(dict, dict(zip(t.static(keys, "keys"), items))))


@on("MAP_ADD")
def map_add(t: Tracer, frame: Frame, i: Instruction) -> None:
    key, value = take(frame, 2)
    target = frame.state.stack[-i.arg]
    assert isinstance(target, HeapObject)
    view(t, target).setitem(key, value)


@on("DICT_UPDATE", "DICT_MERGE")
def dict_update(t: Tracer, frame: Frame, i: Instruction) -> None:
    more = dictionary.mapping(t, pop(frame))
    target = frame.state.stack[-i.arg]
    assert isinstance(target, HeapObject)
    if is_model(target):
        raise t.refuse("dict", "of keys that only the run knows, which gets others' items")
    old = t.heap[target]
    if i.op == "DICT_MERGE" and any(key in old for key in more):
        raise Unreachable
    t.heap[target] = {**old, **more}


@on("UNPACK_SEQUENCE")
def unpack_sequence(t: Tracer, frame: Frame, i: Instruction) -> None:
    found = iteration.items(t, pop(frame), exactly=i.arg)
    if len(found) != i.arg:
        raise Unreachable
    push(frame, *reversed(found))


@on("UNPACK_EX")
def unpack_ex(t: Tracer, frame: Frame, i: Instruction) -> None:
    found = iteration.items(t, pop(frame))
    before, after = i.arg & 255, i.arg >> 8
    if len(found) < before + after:
        raise Unreachable
    end = len(found) - after
    push(
        frame,
        *reversed(found[end:]),
        t.allocate(list, found[before:end]),
        *reversed(found[:before]),
    )


# ---------------------------------------------------------------------- attributes


@on("LOAD_ATTR", until=(3, 12))
@on("LOAD_METHOD")
def load_attr_311(t: Tracer, frame: Frame, i: Instruction) -> None:
    _load_attr(t, frame, frame.code.code.co_names[i.arg], i.op == "LOAD_METHOD")


@on("LOAD_ATTR", since=(3, 12))
def load_attr(t: Tracer, frame: Frame, i: Instruction) -> None:
    _load_attr(t, frame, frame.code.code.co_names[i.arg >> 1], bool(i.arg & 1))


def _load_attr(t: Tracer, frame: Frame, name: str, to_call: bool) -> None:
    value = pop(frame)
    if isinstance(value, Composite) and value.python_class is super:
        from npcompile.tracing import super_attributes

        super_attributes.load(t, frame, value, name, to_call)
        return
    if not to_call:
        push(frame, attributes.load(t, value, name, on_stack=True))
        return
    method = attributes.method(t, value, name)
    if method is not None:
        push(frame, method, value)
        return
    found = attributes.load(t, value, name)
    push(frame, *((NULL, found) if VERSION < (3, 13) else (found, NULL)))


@on("STORE_ATTR")
def store_attr(t: Tracer, frame: Frame, i: Instruction) -> None:
    value, target = take(frame, 2)
    attributes.store(t, target, frame.code.code.co_names[i.arg], value, plain=True)


# ---------------------------------------------------------------------- functions


@on("MAKE_FUNCTION")
def make_function(t: Tracer, frame: Frame, i: Instruction) -> None:
    code = t.static(pop(frame), "code")
    flags = i.arg if VERSION < (3, 13) else 0
    closure = pop(frame) if flags & 8 else None
    annotations = pop(frame) if flags & 4 else None
    named = pop(frame) if flags & 2 else None
    defaults = pop(frame) if flags & 1 else None
    push(frame, Function(
        code, frame.space, frame.owner, code.co_qualname,
        iteration.items(t, defaults) if defaults is not None else (),
        dictionary.mapping(t, named) if named is not None else {},
        iteration.items(t, closure) if closure is not None else (),
        iteration.items(t, annotations) if annotations is not None else (),
    ))


@on("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(t: Tracer, frame: Frame, i: Instruction) -> None:
    value, made = take(frame, 2)
    assert isinstance(made, Function)
    if i.arg == 2:
        made = replace(made, keyword_defaults=dictionary.mapping(t, value))
    else:
        name = {1: "defaults", 4: "annotations", 8: "closure"}[i.arg]
        made = replace(made, **{name: iteration.items(t, value)})
    push(frame, made)


def _call(t: Tracer, frame: Frame, values: list[Value], names: tuple[str, ...]) -> None:
    """``values``: two slots (one may be NULL) and the arguments."""
    first, second, *args = values
    if VERSION < (3, 13):
        function = second if first is NULL else first
        receiver = [] if first is NULL else [second]
    else:
        function, receiver = first, [] if second is NULL else [second]
    args = receiver + args
    split = len(args) - len(names)
    keywords = dict(zip(names, args[split:]))
    push(frame, t.call(function, tuple(args[:split]), keywords, plain=True))


@on("CALL")
def call(t: Tracer, frame: Frame, i: Instruction) -> None:
    names = frame.code.code.co_consts[i.keywords] if i.keywords >= 0 else ()
    _call(t, frame, take(frame, i.arg + 2), names)


@on("CALL_KW")
def call_kw(t: Tracer, frame: Frame, i: Instruction) -> None:
    names = t.static(pop(frame), "names of arguments")
    _call(t, frame, take(frame, i.arg + 2), names)


@on("CALL_FUNCTION_EX")
def call_function_ex(t: Tracer, frame: Frame, i: Instruction) -> None:
    keywords = dictionary.mapping(t, pop(frame)) if i.arg & 1 else {}
    args = iteration.items(t, pop(frame))
    function, null = reversed(take(frame, 2))
    if function is NULL:
        function, null = null, function
    push(frame, t.call(function, args, keywords, plain=True))


@on("RETURN_GENERATOR")
def return_generator(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, NONE)


@on("YIELD_VALUE")
def yield_value(t: Tracer, frame: Frame, i: Instruction) -> None:
    assert frame.yields is not None  # all items are wanted, see npcompile.tracing.generators
    t.generators.yields(frame, frame.state.stack[-1])
    containers.append(t, frame.yields, pop(frame))
    push(frame, NONE)
