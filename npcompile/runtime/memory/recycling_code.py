"""The machine code of recycled memory, in LLVM's language; :mod:`.recycled` says what it does."""

from __future__ import annotations

from npcompile.runtime.entry.fp_messages import warn
from npcompile.runtime.entry.function_writer import combine, hasty
from npcompile.runtime.entry.helpers import heard
from npcompile.runtime.entry.interrupts import poll
from npcompile.runtime.unsafe.layout import ELSIZE

_LARGE = 1 << 18
_OLD = 1 << 34  # cycles of the time stamp counter: some 5 seconds
_HUGE = 4 << 20  # bytes from which on memory is in huge pages
_BLOCKS = 32

HELPER = """
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
@PyArray_Type = external global i8

define internal ptr @lines(i64 %n) {
  %up64 = add i64 %n, 127                                ; whole cache lines, at least one
  %lines = and i64 %up64, -64
  %memory = call ptr @aligned_alloc(i64 64, i64 %lines)
  ret ptr %memory
}
"""

# @busy is taken with acquire and given back with release: what one thread has written into blocks,
# and into the memory that they hold, comes before all that the next one does with them.  The counts
# of @npc_memory are single words (monotonic), which are read without it.
_RECYCLING = (
    HELPER
    + f"""
@_Py_NoneStruct = external global i8
%block = type {{ ptr, i64, i64 }}                        ; memory, capacity, when it came back
@blocks = internal global [{_BLOCKS} x %block] zeroinitializer, align 64
@busy = internal global i32 0, align 64
@adopted = internal global ptr null, align 8             ; what the next array is to own
@npc_memory = global [4 x i64] zeroinitializer, align 8  ; limit, idle bytes, reused, fresh
@npc_mem_handler = external global i8
declare ptr @PyDataMem_SetHandler(ptr)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare i64 @malloc_usable_size(ptr)
declare i32 @madvise(ptr, i64, i32)
declare i64 @npc.clock()
declare i32 @sched_yield()

define internal i1 @lock() {{
  %pair = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  ret i1 %mine
}}

define void @npc_memory_lock() {{
entry:
  br label %try
try:
  %free = call i1 @lock()
  br i1 %free, label %done, label %wait
wait:
  call i32 @sched_yield()
  br label %try
done:
  ret void
}}

define void @npc_memory_unlock() {{
  store atomic i32 0, ptr @busy release, align 4
  ret void
}}

; Adds to one of the numbers of @npc_memory.
define internal void @count(i64 %which, i64 %by) {{
  %at = getelementptr i64, ptr @npc_memory, i64 %which
  atomicrmw add ptr %at, i64 %by monotonic
  ret void
}}

; Takes a block out of the list.
define internal ptr @remove(ptr %block) {{
  %memory = load ptr, ptr %block
  %capacity.at = getelementptr %block, ptr %block, i64 0, i32 1
  %capacity = load i64, ptr %capacity.at
  %less = sub i64 0, %capacity
  call void @count(i64 1, i64 %less)
  store ptr null, ptr %block
  ret ptr %memory
}}

; Idle memory of at least %n bytes and not much more, or null.
define internal ptr @reuse(i64 %n) {{
entry:
  %eighth = lshr i64 %n, 3
  %huge = icmp uge i64 %n, {_HUGE}
  %rounded = select i1 %huge, i64 {4 << 20}, i64 0         ; up to a huge page, and aligned to one
  %slack = add i64 %eighth, %rounded
  %most = add i64 %n, %slack
  br label %look
look:
  %k = phi i64 [ 0, %entry ], [ %next, %on ]
  %block = getelementptr [{_BLOCKS} x %block], ptr @blocks, i64 0, i64 %k
  %memory = load ptr, ptr %block
  %capacity.at = getelementptr %block, ptr %block, i64 0, i32 1
  %capacity = load i64, ptr %capacity.at
  %is = icmp ne ptr %memory, null
  %enough = icmp uge i64 %capacity, %n
  %close = icmp ule i64 %capacity, %most
  %fits = and i1 %enough, %close
  %good = and i1 %is, %fits
  br i1 %good, label %found, label %on
found:
  %got = call ptr @remove(ptr %block)
  ret ptr %got
on:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {_BLOCKS}
  br i1 %more, label %look, label %none
none:
  ret ptr null
}}

; Gives blocks back to the system that came in before %since.
define internal void @drop(i64 %since) {{
entry:
  br label %look
look:
  %k = phi i64 [ 0, %entry ], [ %next, %on ]
  %block = getelementptr [{_BLOCKS} x %block], ptr @blocks, i64 0, i64 %k
  %memory = load ptr, ptr %block
  %stamp.at = getelementptr %block, ptr %block, i64 0, i32 2
  %stamp = load i64, ptr %stamp.at
  %is = icmp ne ptr %memory, null
  %before = icmp ult i64 %stamp, %since
  %old = and i1 %is, %before
  br i1 %old, label %release, label %on
release:
  %out = call ptr @remove(ptr %block)
  call void @free(ptr %out)
  br label %on
on:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {_BLOCKS}
  br i1 %more, label %look, label %done
done:
  ret void
}}

; The block that came in first, or null.
define internal ptr @eldest() {{
entry:
  br label %look
look:
  %k = phi i64 [ 0, %entry ], [ %next, %look ]
  %best = phi ptr [ null, %entry ], [ %better, %look ]
  %least = phi i64 [ -1, %entry ], [ %less, %look ]
  %block = getelementptr [{_BLOCKS} x %block], ptr @blocks, i64 0, i64 %k
  %memory = load ptr, ptr %block
  %stamp.at = getelementptr %block, ptr %block, i64 0, i32 2
  %stamp = load i64, ptr %stamp.at
  %is = icmp ne ptr %memory, null
  %before = icmp ult i64 %stamp, %least
  %older = and i1 %is, %before
  %better = select i1 %older, ptr %block, ptr %best
  %less = select i1 %older, i64 %stamp, i64 %least
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {_BLOCKS}
  br i1 %more, label %look, label %done
done:
  ret ptr %better
}}

; Keeps memory if the limit allows, in place of what came in before if there is no room for both.
define internal i1 @keep(ptr %memory, i64 %capacity, i64 %now) {{
entry:
  %limit = load atomic i64, ptr @npc_memory monotonic, align 8
  %small = icmp ule i64 %capacity, %limit
  br i1 %small, label %try, label %no
try:
  %idle = load atomic i64, ptr getelementptr (i64, ptr @npc_memory, i64 1) monotonic, align 8
  %then = add i64 %idle, %capacity
  %allowed = icmp ule i64 %then, %limit
  br i1 %allowed, label %look, label %room
look:
  %k = phi i64 [ 0, %try ], [ %next, %on ]
  %block = getelementptr [{_BLOCKS} x %block], ptr @blocks, i64 0, i64 %k
  %there = load ptr, ptr %block
  %free = icmp eq ptr %there, null
  br i1 %free, label %put, label %on
put:
  %capacity.at = getelementptr %block, ptr %block, i64 0, i32 1
  %stamp.at = getelementptr %block, ptr %block, i64 0, i32 2
  store ptr %memory, ptr %block
  store i64 %capacity, ptr %capacity.at
  store i64 %now, ptr %stamp.at
  call void @count(i64 1, i64 %capacity)
  ret i1 true
on:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {_BLOCKS}
  br i1 %more, label %look, label %room
room:
  %eldest = call ptr @eldest()
  %some = icmp ne ptr %eldest, null
  br i1 %some, label %evict, label %no
evict:
  %out = call ptr @remove(ptr %eldest)
  call void @free(ptr %out)
  br label %try
no:
  ret i1 false
}}

; Drops what came in more than %age ago.
define void @npc_memory_trim(i64 %age) {{
entry:
  %free = call i1 @lock()
  br i1 %free, label %trim, label %done
trim:
  %now = call i64 @npc.clock()
  %since = sub i64 %now, %age
  call void @drop(i64 %since)
  call void @npc_memory_unlock()
  br label %done
done:
  ret void
}}

; Called by the garbage collector.
define ptr @npc_memory_collected(ptr %phase, ptr %info) {{
  call void @npc_memory_trim(i64 {_OLD})
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
}}

define internal ptr @fresh(i64 %n) {{
entry:
  %huge = icmp uge i64 %n, {_HUGE}
  br i1 %huge, label %aligned, label %plain
aligned:
  %up = add i64 %n, {(2 << 20) - 1}
  %whole = and i64 %up, {-(2 << 20)}
  %memory = call ptr @aligned_alloc(i64 {2 << 20}, i64 %whole)
  %some = icmp ne ptr %memory, null
  br i1 %some, label %advise, label %out
advise:
  call i32 @madvise(ptr %memory, i64 %whole, i32 14)  ; MADV_HUGEPAGE
  br label %out
out:
  ret ptr %memory
plain:
  %small = call ptr @lines(i64 %n)
  ret ptr %small
}}

define internal ptr @taken(i64 %n) {{
entry:
  %large = icmp uge i64 %n, {_LARGE}
  br i1 %large, label %try, label %fresh
try:
  %free = call i1 @lock()
  br i1 %free, label %look, label %fresh
look:
  %old = call ptr @reuse(i64 %n)
  call void @npc_memory_unlock()
  %found = icmp ne ptr %old, null
  br i1 %found, label %again, label %fresh
again:
  call void @count(i64 2, i64 1)
  ret ptr %old
fresh:
  call void @count(i64 3, i64 1)
  %new = call ptr @fresh(i64 %n)
  ret ptr %new
}}

define ptr @npc_memory_malloc(ptr %context, i64 %n) {{
entry:
  %given = load ptr, ptr @adopted
  %none = icmp eq ptr %given, null
  br i1 %none, label %take, label %adopt
take:
  %memory = call ptr @taken(i64 %n)
  ret ptr %memory
adopt:
  store ptr null, ptr @adopted
  ret ptr %given
}}

define ptr @npc_take(i64 %n) {{
entry:
  %limit = load atomic i64, ptr @npc_memory monotonic, align 8
  %large = icmp uge i64 %n, {_LARGE}
  %on = icmp ule i64 %n, %limit
  %recycle = and i1 %large, %on
  br i1 %recycle, label %ours, label %plain
ours:
  %memory = call ptr @taken(i64 %n)
  ret ptr %memory
plain:
  %small = call ptr @lines(i64 %n)
  ret ptr %small
}}

define void @npc_give(ptr %memory) {{
entry:
  %none = icmp eq ptr %memory, null
  br i1 %none, label %done, label %give
give:
  call void @npc_memory_free(ptr null, ptr %memory, i64 0)
  br label %done
done:
  ret void
}}

define ptr @npc_memory_calloc(ptr %context, i64 %count, i64 %size) {{
  %memory = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %memory
}}

define ptr @npc_memory_realloc(ptr %context, ptr %memory, i64 %n) {{
  %moved = call ptr @realloc(ptr %memory, i64 %n)
  ret ptr %moved
}}

; The capacity is what malloc says, not what the array believes its size is.
define void @npc_memory_free(ptr %context, ptr %memory, i64 %n) {{
entry:
  %capacity = call i64 @malloc_usable_size(ptr %memory)
  %large = icmp uge i64 %capacity, {_LARGE}
  br i1 %large, label %try, label %release
try:
  %free = call i1 @lock()
  br i1 %free, label %keep, label %release
keep:
  %now = call i64 @npc.clock()
  %since = sub i64 %now, {_OLD}
  call void @drop(i64 %since)
  %kept = call i1 @keep(ptr %memory, i64 %capacity, i64 %now)
  call void @npc_memory_unlock()
  br i1 %kept, label %done, label %release
release:
  call void @free(ptr %memory)
  br label %done
done:
  ret void
}}

define internal i64 @bytes(ptr %descr, i32 %nd, ptr %dims) {{
entry:
  %size.at = getelementptr i8, ptr %descr, i64 {ELSIZE}
  %size = load i64, ptr %size.at
  %rank = sext i32 %nd to i64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %n = phi i64 [ %size, %entry ], [ %product, %body ]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %body, label %done
body:
  %at = getelementptr i64, ptr %dims, i64 %k
  %d = load i64, ptr %at
  %product = mul i64 %n, %d
  %next = add i64 %k, 1
  br label %loop
done:
  ret i64 %n
}}

define internal ptr @make(ptr %descr, i32 %nd, ptr %dims, ptr %strides) {{
  call void @Py_IncRef(ptr %descr)
  %made = call ptr @PyArray_NewFromDescr(ptr @PyArray_Type, ptr %descr, i32 %nd, ptr %dims,
    ptr %strides, ptr null, i32 0, ptr null)
  ret ptr %made
}}

define ptr @npc_new_array(ptr %descr, i32 %nd, ptr %dims, ptr %strides) {{
entry:
  %n = call i64 @bytes(ptr %descr, i32 %nd, ptr %dims)
  %limit = load atomic i64, ptr @npc_memory monotonic, align 8
  %large = icmp uge i64 %n, {_LARGE}
  %on = icmp ule i64 %n, %limit
  %recycle = and i1 %large, %on
  br i1 %recycle, label %ours, label %plain
plain:
  %ordinary = call ptr @make(ptr %descr, i32 %nd, ptr %dims, ptr %strides)
  ret ptr %ordinary
ours:
  %array = call ptr @npc_adopt(ptr %descr, i32 %nd, ptr %dims, ptr %strides, ptr null, i64 0)
  ret ptr %array
}}

; An array that owns memory from now on; null with an error set if it fails, and gives that back.
define ptr @npc_adopt(ptr %descr, i32 %nd, ptr %dims, ptr %strides, ptr %memory, i64 %n) {{
entry:
  %old = call ptr @PyDataMem_SetHandler(ptr @npc_mem_handler)
  %failed = icmp eq ptr %old, null
  br i1 %failed, label %lose, label %array
lose:
  call void @npc_give(ptr %memory)
  ret ptr null
array:
  store ptr %memory, ptr @adopted                        ; nothing here runs other code of Python's
  %made = call ptr @make(ptr %descr, i32 %nd, ptr %dims, ptr %strides)
  %left = load ptr, ptr @adopted
  store ptr null, ptr @adopted
  call void @npc_give(ptr %left)
  %new = call ptr @PyDataMem_SetHandler(ptr %old)
  call void @Py_DecRef(ptr %old)
  %lost = icmp eq ptr %new, null
  br i1 %lost, label %error, label %done
done:
  call void @Py_DecRef(ptr %new)
  ret ptr %made
error:
  ret ptr null
}}
"""
)


#: functions that calls with small arrays and iterations of loops run
_FREQUENT = frozenset({"bytes", "lines", "make", "npc_new_array", "npc_poll", "npc_take"})


def text(code: str = _RECYCLING) -> str:
    """The code that recycles, or other ``code``, with what else every process needs."""
    return hasty(combine(heard(), poll(), warn(), code), _FREQUENT)
