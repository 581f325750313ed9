"""Signals that come while compiled code runs.

``i32 npc_poll(ptr released)`` is called at edges of loops.  Every 10 ms or so the main thread lets
Python run the handlers of signals that have come.  ``released``, if it is given, is where the
thread's state is if the GIL has been released, which is taken for that; after each look it is
released, by other threads too.  If a handler raises, its exception is kept here, and the loop is
left: Python goes on there by raising it (:mod:`.exits`).

``i32 npc_comes_again()`` drops an exception, unless a handler has raised it; whether it did.
"""

from __future__ import annotations

from functools import partial
from threading import get_ident, main_thread
from typing import Any

from npcompile.backends.cpu import target
from npcompile.backends.target import family
from npcompile.core.sections import from_handler
from npcompile.runtime.entry.helpers import ALL_FLAGS
from npcompile.runtime.unsafe.raw_memory import raise_here

#: cycles of the time stamp counter between two looks at signals, 4 to 16 ms; and where the GIL has
#: to be taken for that, for which a thread that runs Python may let this one wait for 5 ms
APART, SELDOM = 1 << 24, 1 << 26

#: exceptions of handlers, until their loops have been left
raised: list[BaseException] = []


def poll() -> str:
    """The LLVM text of ``npc_poll``.

    Its callers rely on vector registers being preserved, so it must not clear their upper halves
    before it returns, as LLVM does in other functions.
    """
    machine = target()
    features = ",".join(filter(None, (machine.features, family(machine.family).keeps_vectors)))
    return f"""
@npc.poll.last = internal global i64 0, align 8         ; when the main thread looked last
@npc.poll.others = internal global i64 0, align 8       ; when another one did
@npc_poll_main = global i64 0, align 8                  ; the main thread
@npc.poll.raised = external global i8
@npc.poll.handlers = external global i8
declare i64 @npc.clock()
declare void @npc.fp.save(ptr)
declare void @npc.fp.restore(ptr)
declare i32 @PyErr_CheckSignals()
declare i64 @PyThread_get_thread_ident()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
declare i32 @PyList_Append(ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyException_SetContext(ptr, ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare i32 @PyObject_IsTrue(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)

; Threads without the GIL read and write these words at any time; their order does not matter.
define preserve_allcc i32 @npc_poll(ptr %released) "target-features"="{features}" {{
entry:
  %main = load atomic i64, ptr @npc_poll_main monotonic, align 8
  %here = call i64 @PyThread_get_thread_ident()
  %is.main = icmp eq i64 %here, %main
  %clock = select i1 %is.main, ptr @npc.poll.last, ptr @npc.poll.others
  %never = icmp eq ptr %released, null
  br i1 %never, label %read, label %may
may:
  %state = load ptr, ptr %released
  %held = icmp eq ptr %state, null
  %between = select i1 %held, i64 {APART}, i64 {SELDOM}
  br label %read
read:
  %apart = phi i64 [ {APART}, %entry ], [ %between, %may ]
  %now = call i64 @npc.clock()
  %last = load atomic i64, ptr %clock monotonic, align 8
  %passed = sub i64 %now, %last
  %soon = icmp ult i64 %passed, %apart
  br i1 %soon, label %on, label %late
late:
  store atomic i64 %now, ptr %clock monotonic, align 8
  br i1 %is.main, label %look, label %other
look:
  %raised = call i32 @npc.look(ptr %released)
  ret i32 %raised
other:
  br i1 %never, label %on, label %let
let:
  %before = load ptr, ptr %released
  %has = icmp eq ptr %before, null
  br i1 %has, label %release, label %on
release:
  call void @npc.release(ptr %released)
  br label %on
on:
  ret i32 0
}}

define internal void @npc.release(ptr %released) noinline {{
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %released
  ret void
}}

define internal i32 @npc.look(ptr %released) noinline {{
look:
  %flags = alloca i32
  call void @npc.fp.save(ptr %flags)
  %never = icmp eq ptr %released, null
  br i1 %never, label %ask, label %may
may:
  %state = load ptr, ptr %released
  %held = icmp eq ptr %state, null
  br i1 %held, label %ask, label %take
take:
  call void @PyEval_RestoreThread(ptr %state)
  store ptr null, ptr %released
  br label %ask
ask:
  %failed = call i32 @PyErr_CheckSignals()
  call void @npc.fp.restore(ptr %flags)
  %quiet = icmp eq i32 %failed, 0
  br i1 %quiet, label %back, label %keep
back:
  br i1 %never, label %on, label %release
release:
  call void @npc.release(ptr %released)
  br label %on
on:
  ret i32 0
keep:                                                   ; nothing more is to be told of this run
  %told = load i32, ptr %flags
  %clear = and i32 %told, {~ALL_FLAGS}
  store i32 %clear, ptr %flags
  call void @npc.fp.restore(ptr %flags)
  call void @npc.keep(ptr @npc.poll.raised)
  ret i32 1
}}

define i32 @npc_comes_again() {{
  %class = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  call void @npc.fetch(ptr %class, ptr %value, ptr %traceback)
  %kind = load ptr, ptr %class
  %exception = load ptr, ptr %value
  %trace = load ptr, ptr %traceback
  %answer = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @npc.poll.handlers,
    ptr %exception, ptr null)
  %interrupted = icmp eq ptr %answer, null
  br i1 %interrupted, label %another, label %told
another:                                                ; a second handler has raised meanwhile
  %class.2 = alloca ptr
  %value.2 = alloca ptr
  %traceback.2 = alloca ptr
  call void @npc.fetch(ptr %class.2, ptr %value.2, ptr %traceback.2)
  %second = load ptr, ptr %value.2
  call void @Py_IncRef(ptr %exception)
  call void @PyException_SetContext(ptr %second, ptr %exception)
  %kind.2 = load ptr, ptr %class.2
  %trace.2 = load ptr, ptr %traceback.2
  call void @PyErr_Restore(ptr %kind.2, ptr %second, ptr %trace.2)
  br label %drop
told:
  %true = call i32 @PyObject_IsTrue(ptr %answer)
  call void @Py_DecRef(ptr %answer)
  %handler = icmp ne i32 %true, 0
  br i1 %handler, label %back, label %drop
back:
  call void @PyErr_Restore(ptr %kind, ptr %exception, ptr %trace)
  ret i32 0
drop:
  %again = phi i32 [ 0, %another ], [ 1, %told ]
  call void @Py_DecRef(ptr %kind)
  call void @Py_DecRef(ptr %exception)
  call void @Py_DecRef(ptr %trace)
  ret i32 %again
}}

define internal void @npc.keep(ptr %list) noinline {{
  %class = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  call void @npc.fetch(ptr %class, ptr %value, ptr %traceback)
  %kind = load ptr, ptr %class
  %exception = load ptr, ptr %value
  %trace = load ptr, ptr %traceback
  call i32 @PyList_Append(ptr %list, ptr %exception)
  call void @Py_DecRef(ptr %kind)
  call void @Py_DecRef(ptr %exception)
  call void @Py_DecRef(ptr %trace)
  ret void
}}

; Takes the exception, which knows its traceback then; there may be none.
define internal void @npc.fetch(ptr %class, ptr %value, ptr %traceback) noinline {{
  call void @PyErr_Fetch(ptr %class, ptr %value, ptr %traceback)
  call void @PyErr_NormalizeException(ptr %class, ptr %value, ptr %traceback)
  %exception = load ptr, ptr %value
  %trace = load ptr, ptr %traceback
  %traced = icmp ne ptr %trace, null
  br i1 %traced, label %set, label %done
set:
  call i32 @PyException_SetTraceback(ptr %exception, ptr %trace)
  br label %done
done:
  ret void
}}
"""


def known() -> dict[str, int]:
    """The addresses of what the code refers to, by the names that it has there."""
    return {"npc.poll.raised": id(raised), "npc.poll.handlers": id(from_handler)}


def taken() -> BaseException | None:
    """Takes the exception that a handler has raised in the loop that this thread has left last.

    Handlers run on the main thread.  Where a second one raised before the first one's exception was
    taken, nobody is to meet that later.
    """
    if not raised or get_ident() != main_thread().ident:
        return None
    *earlier, found = raised
    del raised[: len(earlier) + 1]
    return found


def raiser(exception: BaseException) -> Any:
    """A function of no arguments that raises, and leaves no frame in the traceback."""
    return partial(raise_here(), type(exception), exception)
