"""Machine code between torch's tensors and NumPy's arrays, by torch's C exchange interface.

``i32 tensor.quiet()`` says whether no mode and no transformation of functions is on; ``i32
tensor.view(ptr tensor, i32 quiet, ptr place)`` writes a DLTensor and gives 1, or gives 0 where the
tensor is no plain one; ``ptr tensor.lend(ptr tensor, i32 quiet)`` gives the array over a tensor's
memory, or None; ``ptr tensor.make(ptr array)`` the tensor over a fresh array, whose reference it
takes.  The last two give NULL where an exception is set.  They decide the usual case alone, a plain
tensor that autograd does not follow, and call Python in every other one, so that Python says what
is refused (:mod:`npcompile.tensors.tensor_memory`).  The interface is that of DLPack 1.3;
where torch has none, Python does all.
"""

from __future__ import annotations

from typing import Any

from npcompile.backends.cpu.loader import symbols
from npcompile.runtime.entry.guard_code import (
    DL_DEVICE,
    DL_DTYPE,
    DL_NDIM,
    DL_OFFSET,
    DL_SHAPE,
    DL_STRIDES,
    DL_TENSOR,
    dl_key,
)
from npcompile.runtime.unsafe import torch_functions
from npcompile.runtime.unsafe.layout import Layout, layout
from npcompile.runtime.unsafe.torch_functions import TorchFunctions
from npcompile.runtime.versions import shared_code
from npcompile.tensors import tensor_memory

_AXES = 8  #: more are Python's
_CPU, _VERSION, _WRITEABLE = 1, 1, 0x400
#: offsets in bytes of a DLManagedTensorVersioned, whose DLTensor comes last
_OWNER, _DELETER, _FLAGS, _TENSOR, _SIZE = 8, 16, 24, 32, 80


def address(what: str) -> int:
    """Where a function is: ``quiet``, ``view``, ``lend`` or ``make``."""
    exchange, where = torch_functions.exchange(), layout()
    for name, thing in (("npc.lent", tensor_memory.lent), ("npc.over", tensor_memory.over)):
        symbols.register(name, id(thing))
    if exchange is not None:
        for name, number in exchange.names().items():
            symbols.register(name, number)
        symbols.register("npc.tensor", id(tensor_memory.tensor_class()))
    kind = "plain"
    if exchange is not None and where is not None:
        kind = "fast" + "".join(f".{n}" for n in (
            exchange.body, exchange.keys, exchange.plain, *(key for _, key, _ in exchange.thread)))

    def text(target: Any) -> str:
        if exchange is None or where is None:
            return _PLAIN
        return _fast(exchange, where)

    return shared_code.function(f"tensor.{what}", f"tensor.{kind}", text)


_SLOW = """
declare ptr @PyObject_CallOneArg(ptr, ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare void @PyErr_Clear()
@npc.lent = external global i8
@npc.over = external global i8
define internal ptr @over(ptr %array) noinline {
  %made = call ptr @PyObject_CallOneArg(ptr @npc.over, ptr %array)
  call void @Py_DecRef(ptr %array)
  ret ptr %made
}
"""

#: where torch has no such interface
_PLAIN = _SLOW + """
define i32 @tensor.quiet() {
  ret i32 0
}
define i32 @tensor.view(ptr %x, i32 %quiet, ptr %dl) {
  ret i32 0
}
define ptr @tensor.lend(ptr %x, i32 %quiet) {
  %lent = call ptr @PyObject_CallOneArg(ptr @npc.lent, ptr %x)
  ret ptr %lent
}
define ptr @tensor.make(ptr %array) {
  %made = call ptr @over(ptr %array)
  ret ptr %made
}
"""


# ------------------------------------------------------------------ what is asked of a tensor


def _asked(exchange: TorchFunctions) -> str:
    """``i32 tensor.quiet()``, and ``i1 plain(ptr tensor)``: nothing is special about it."""
    lines = ["define i32 @tensor.quiet() {"]
    for name, receiver in exchange.modes:
        given = f"@npc.torch.{name}.self" if receiver else "null"
        lines += [
            f"  %{name}.r = call ptr @npc.torch.{name}(ptr {given}, ptr null)",
            *_is(f"{name}.r", f"@npc.torch.{name}.want"),
        ]
    for k, (which, key, there) in enumerate(exchange.thread):
        lines += [
            f"  %key.{k} = call zeroext i1 @npc.torch.{which}(i16 zeroext {key})",
            f"  %fine.{k} = icmp eq i1 %key.{k}, {str(there).lower()}",
            f"  br i1 %fine.{k}, label %on.{k}, label %no", f"on.{k}:",
        ]
    lines += [
        "  %now = call ptr @PyDict_GetItemWithError(ptr @npc.torch.forward, "
        "ptr @npc.torch.current)",
        "  %off = icmp eq ptr %now, @npc.torch.none",
        "  %answer = zext i1 %off to i32",
        "  ret i32 %answer", "no:", "  call void @PyErr_Clear()", "  ret i32 0", "}",
        "define internal i1 @plain(ptr %x) {",
    ]
    lines += [
        f"  %body.at = getelementptr i8, ptr %x, i64 {exchange.body}",
        "  %body = load ptr, ptr %body.at",
        f"  %keys.at = getelementptr i8, ptr %body, i64 {exchange.keys}",
        "  %keys = load i64, ptr %keys.at",
        f"  %usual = icmp eq i64 %keys, {exchange.plain}",
        "  br i1 %usual, label %graph, label %no", "graph:",
        "  %requires = call ptr @npc.torch.requires_grad(ptr %x, ptr null)",
        *_is("requires", "@_Py_FalseStruct"),
    ]
    lines += ["  ret i1 true", "no:", "  call void @PyErr_Clear()", "  ret i1 false", "}"]
    outside = [
        *(f"declare ptr @npc.torch.{name}(ptr, ptr)"
          for name in ("requires_grad", *(name for name, _ in exchange.modes))),
        *(f"@npc.torch.{name}.want = external global i8" for name, _ in exchange.modes),
        *(f"@npc.torch.{name}.self = external global i8"
          for name, receiver in exchange.modes if receiver),
        *(f"@npc.torch.{name} = external global i8"
          for name in ("forward", "current", "none")),
        *(f"declare zeroext i1 @npc.torch.{which}(i16 zeroext)"
          for which in ("included", "excluded")),
        "@_Py_FalseStruct = external global i8",
        "declare ptr @PyDict_GetItemWithError(ptr, ptr)",
    ]
    return "\n".join([*outside, *lines, ""])


def _is(value: str, wanted: str) -> list[str]:
    """Goes on where an object, a new reference, is the one wanted."""
    return [
        f"  %{value}.some = icmp ne ptr %{value}, null",
        f"  br i1 %{value}.some, label %{value}.got, label %no", f"{value}.got:",
        f"  call void @Py_DecRef(ptr %{value})",
        f"  %{value}.is = icmp eq ptr %{value}, {wanted}",
        f"  br i1 %{value}.is, label %{value}.on, label %no", f"{value}.on:",
    ]


# ------------------------------------------------------------------ to an array and back


def _lend(where: Layout) -> str:
    """``tensor.view`` and ``tensor.lend``."""
    known = tensor_memory.dtypes().values()
    cases = "\n".join(f"    i32 {dl_key(d)}, label %is.{d.name}" for d in known)
    chosen = "\n".join(f"is.{d.name}:\n  br label %known" for d in known)
    kinds = ", ".join(f"[@{symbols.descr(d)}, %is.{d.name}]" for d in known)
    sizes = ", ".join(f"[{d.itemsize}, %is.{d.name}]" for d in known)
    outside = "\n".join(f"@{symbols.descr(d)} = external global i8" for d in known)
    return f"""{outside}
@npc.tensor = external global i8
@PyArray_Type = external global i8
declare i32 @npc.torch.borrow(ptr, ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
define i32 @tensor.view(ptr %x, i32 %quiet, ptr %dl) {{
  %type.at = getelementptr i8, ptr %x, i64 {where.type}
  %type = load ptr, ptr %type.at
  %exact = icmp eq ptr %type, @npc.tensor
  %nothing = icmp ne i32 %quiet, 0
  %usual = and i1 %exact, %nothing
  br i1 %usual, label %ask, label %no
ask:
  %plain = call i1 @plain(ptr %x)
  br i1 %plain, label %borrow, label %no
borrow:
  %status = call i32 @npc.torch.borrow(ptr %x, ptr %dl)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %look, label %failed
failed:
  call void @PyErr_Clear()
  br label %no
look:
  %device.at = getelementptr i8, ptr %dl, i64 {DL_DEVICE}
  %device = load i32, ptr %device.at
  %here = icmp eq i32 %device, {_CPU}
  %answer = zext i1 %here to i32
  ret i32 %answer
no:
  ret i32 0
}}
define ptr @tensor.lend(ptr %x, i32 %quiet) {{
  %dl = alloca [{DL_TENSOR} x i8], align 8
  %steps = alloca [{_AXES} x i64]
  %seen = call i32 @tensor.view(ptr %x, i32 %quiet, ptr %dl)
  %fine = icmp ne i32 %seen, 0
  br i1 %fine, label %look, label %slow
look:
  %ndim.at = getelementptr i8, ptr %dl, i64 {DL_NDIM}
  %ndim = load i32, ptr %ndim.at
  %few = icmp ule i32 %ndim, {_AXES}
  %start = load ptr, ptr %dl
  %some = icmp ne ptr %start, null
  %all = and i1 %few, %some
  br i1 %all, label %kind, label %slow
kind:
  %dtype.at = getelementptr i8, ptr %dl, i64 {DL_DTYPE}
  %dtype = load i32, ptr %dtype.at
  switch i32 %dtype, label %slow [
{cases}
  ]
{chosen}
known:
  %descr = phi ptr {kinds}
  %unit = phi i64 {sizes}
  %shape.at = getelementptr i8, ptr %dl, i64 {DL_SHAPE}
  %shape = load ptr, ptr %shape.at
  %strides.at = getelementptr i8, ptr %dl, i64 {DL_STRIDES}
  %strides = load ptr, ptr %strides.at
  %offset.at = getelementptr i8, ptr %dl, i64 {DL_OFFSET}
  %offset = load i64, ptr %offset.at
  %data = getelementptr i8, ptr %start, i64 %offset
  %axes = zext i32 %ndim to i64
  br label %next
next:
  %k = phi i64 [0, %known], [%k.on, %step]
  %more = icmp ult i64 %k, %axes
  br i1 %more, label %step.it, label %made
step.it:
  %n.at = getelementptr i64, ptr %shape, i64 %k
  %n = load i64, ptr %n.at
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %slow, label %step
step:
  %s.at = getelementptr i64, ptr %strides, i64 %k
  %s = load i64, ptr %s.at
  %one = icmp eq i64 %n, 1
  %s.used = select i1 %one, i64 1, i64 %s
  %bytes = mul i64 %s.used, %unit
  %step.at = getelementptr i64, ptr %steps, i64 %k
  store i64 %bytes, ptr %step.at
  %k.on = add i64 %k, 1
  br label %next
made:
  call void @Py_IncRef(ptr %descr)
  %array = call ptr @PyArray_NewFromDescr(
      ptr @PyArray_Type, ptr %descr, i32 %ndim, ptr %shape, ptr %steps, ptr %data,
      i32 {_WRITEABLE}, ptr null)
  %good = icmp ne ptr %array, null
  br i1 %good, label %own, label %bad
own:
  call void @Py_IncRef(ptr %x)
  %owned = call i32 @PyArray_SetBaseObject(ptr %array, ptr %x)
  %done = icmp eq i32 %owned, 0
  br i1 %done, label %end, label %drop
end:
  ret ptr %array
drop:
  call void @Py_DecRef(ptr %array)
  br label %bad
bad:
  ret ptr null
slow:
  %lent = call ptr @PyObject_CallOneArg(ptr @npc.lent, ptr %x)
  ret ptr %lent
}}
"""


def _make(where: Layout) -> str:
    """``ptr tensor.make(ptr array)``; its memory is let go by whichever thread drops the tensor."""
    known = tensor_memory.dtypes().values()
    cases = "\n".join(f"    i32 {d.num}, label %is.{d.name}" for d in known)
    chosen = "\n".join(f"is.{d.name}:\n  br label %known" for d in known)
    keys = ", ".join(f"[{dl_key(d)}, %is.{d.name}]" for d in known)
    sizes = ", ".join(f"[{d.itemsize}, %is.{d.name}]" for d in known)
    return f"""
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @npc.torch.to_object(ptr, ptr)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @Py_IsInitialized()
define internal void @drop(ptr %managed) {{
  %alive = call i32 @Py_IsInitialized()
  %runs = icmp ne i32 %alive, 0
  br i1 %runs, label %let, label %end
let:
  %state = call i32 @PyGILState_Ensure()
  %owner.at = getelementptr i8, ptr %managed, i64 {_OWNER}
  %owner = load ptr, ptr %owner.at
  call void @Py_DecRef(ptr %owner)
  call void @PyGILState_Release(i32 %state)
  br label %end
end:
  call void @free(ptr %managed)
  ret void
}}
define ptr @tensor.make(ptr %array) {{
  %out = alloca ptr
  %descr.at = getelementptr i8, ptr %array, i64 {where.descr}
  %descr = load ptr, ptr %descr.at
  %number.at = getelementptr i8, ptr %descr, i64 {where.type_number}
  %number = load i32, ptr %number.at
  %ndim.at = getelementptr i8, ptr %array, i64 {where.ndim}
  %ndim = load i32, ptr %ndim.at
  %flags.at = getelementptr i8, ptr %array, i64 {where.flags}
  %flags = load i32, ptr %flags.at
  %written = and i32 %flags, {_WRITEABLE}
  %may = icmp ne i32 %written, 0
  br i1 %may, label %kind, label %slow
kind:
  switch i32 %number, label %slow [
{cases}
  ]
{chosen}
known:
  %key = phi i32 {keys}
  %unit = phi i64 {sizes}
  %axes = zext i32 %ndim to i64
  %words = mul i64 %axes, 16
  %room = add i64 %words, {_SIZE}
  %managed = call ptr @malloc(i64 %room)
  %got = icmp ne ptr %managed, null
  br i1 %got, label %fill, label %slow
fill:
  %dims.at = getelementptr i8, ptr %array, i64 {where.dims}
  %dims = load ptr, ptr %dims.at
  %bytes.at = getelementptr i8, ptr %array, i64 {where.strides}
  %bytes = load ptr, ptr %bytes.at
  %shape = getelementptr i8, ptr %managed, i64 {_SIZE}
  %steps = getelementptr i64, ptr %shape, i64 %axes
  br label %next
next:
  %k = phi i64 [0, %fill], [%k.on, %step]
  %more = icmp ult i64 %k, %axes
  br i1 %more, label %step.it, label %head
step.it:
  %n.from = getelementptr i64, ptr %dims, i64 %k
  %n = load i64, ptr %n.from
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %undo, label %step
step:
  %n.to = getelementptr i64, ptr %shape, i64 %k
  store i64 %n, ptr %n.to
  %s.from = getelementptr i64, ptr %bytes, i64 %k
  %s = load i64, ptr %s.from
  %s.units = sdiv i64 %s, %unit
  %s.to = getelementptr i64, ptr %steps, i64 %k
  store i64 %s.units, ptr %s.to
  %k.on = add i64 %k, 1
  br label %next
head:
  store i32 {_VERSION}, ptr %managed
  %minor.at = getelementptr i8, ptr %managed, i64 4
  store i32 0, ptr %minor.at
  %owner.at = getelementptr i8, ptr %managed, i64 {_OWNER}
  store ptr %array, ptr %owner.at
  %deleter.at = getelementptr i8, ptr %managed, i64 {_DELETER}
  store ptr @drop, ptr %deleter.at
  %rights.at = getelementptr i8, ptr %managed, i64 {_FLAGS}
  store i64 0, ptr %rights.at
  %dl = getelementptr i8, ptr %managed, i64 {_TENSOR}
  %data.at = getelementptr i8, ptr %array, i64 {where.data}
  %data = load ptr, ptr %data.at
  store ptr %data, ptr %dl
  %device.at = getelementptr i8, ptr %dl, i64 {DL_DEVICE}
  store i64 {_CPU}, ptr %device.at
  %ndim.to = getelementptr i8, ptr %dl, i64 {DL_NDIM}
  store i32 %ndim, ptr %ndim.to
  %dtype.to = getelementptr i8, ptr %dl, i64 {DL_DTYPE}
  store i32 %key, ptr %dtype.to
  %shape.to = getelementptr i8, ptr %dl, i64 {DL_SHAPE}
  store ptr %shape, ptr %shape.to
  %steps.to = getelementptr i8, ptr %dl, i64 {DL_STRIDES}
  store ptr %steps, ptr %steps.to
  %offset.to = getelementptr i8, ptr %dl, i64 {DL_OFFSET}
  store i64 0, ptr %offset.to
  %status = call i32 @npc.torch.to_object(ptr %managed, ptr %out)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %end, label %bad
end:
  %made = load ptr, ptr %out
  ret ptr %made
bad:
  call void @PyErr_Clear()
  br label %undo
undo:
  call void @free(ptr %managed)
  br label %slow
slow:
  %plain = call ptr @over(ptr %array)
  ret ptr %plain
}}
"""


def _fast(exchange: TorchFunctions, where: Layout) -> str:
    return "\n".join([_SLOW, _asked(exchange), _lend(where), _make(where)])
