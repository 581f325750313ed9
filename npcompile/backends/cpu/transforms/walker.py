"""The compiled functions that go through the steps of plans.

::

    void npc_fft_units(const int64_t *frame, int64_t begin, int64_t end)

    int npc_fft_run(const int64_t *frame, int64_t units, bool much)

The first runs all steps for each of some units: rows, or blocks of neighbouring columns.  A frame
says where units lie (:data:`FRAME`).  A block that would reach beyond the last column begins
earlier.  The second runs all units, on threads if that is much work, and returns the floating-point
flags that this raised; those of the caller stay as they are.

::

    void npc_fft_repeat(void *source, void *target, const int64_t *step, const int64_t *call)

is a step that goes through a frame of its own, the table of the step: as many units as ``lines``
says, or as the call has neighbours; on threads if ``extra`` is 1.

::

    int64_t npc_fft_call(void *kind, void *source, void *target, int64_t before, int64_t given,
                         int64_t n, int64_t made, int64_t behind)

is what compiled programs call, for arrays in C order of ``given`` and ``made`` numbers along the
transformed axis, with so many elements before and behind it; 0 if it failed.  ``kind`` holds the
entries of some lengths (:data:`ENTRY`), two functions of Python's that find an entry and that do
all the work, the number that these are told, and three of CPython's that raise an exception.
Python's functions give nothing, as a signal handler may raise in them at any place: they write
what they found into the memory that they get (:data:`TOLD`), and which exception is to be raised
in which thread once they have returned.
``npc_fft_once`` does the same for a caller in Python: it returns the floating-point flags that this
raised, or -1, and those of the caller stay as they are.
"""

from __future__ import annotations

from npcompile.backends.cpu.transforms.steps import (
    CALL,
    CALLS,
    ENTRIES,
    ENTRY,
    FEW,
    FRAME,
    MANY,
    MUCH,
    PART,
    STEP,
    TOLD,
    WAYS,
    WORD,
)


def _called() -> str:
    """The function that compiled programs call."""
    entry = {name: k for k, name in enumerate(ENTRY)}

    def of_entry(name: str) -> str:
        return (f"  %e.{name}.at = getelementptr i64, ptr %e, i64 {entry[name]}\n"
                f"  %e.{name} = load i64, ptr %e.{name}.at")

    def of_kind(name: str, elem: str, place: int) -> str:
        return (f"  %{name}.at = getelementptr i64, ptr %kind, i64 {place}\n"
                f"  %{name} = load {elem}, ptr %{name}.at")

    known = "\n".join(map(of_entry, ("slow", "lanes", "block", "source_size", "target_size")))
    words = "\n".join(
        f"  %f.{name} = getelementptr i64, ptr %frame, i64 {PART[name]}\n"
        f"  store {value}, ptr %f.{name}" for name, value in (
            ("source", "ptr %source"), ("target", "ptr %target"), ("inner", "i64 %per"),
            ("source_outer", "i64 %so"), ("target_outer", "i64 %to"), ("source_inner", "i64 %si"),
            ("target_inner", "i64 %ti"), ("source_stride", "i64 %ss"),
            ("target_stride", "i64 %ts"), ("block", "i64 %block"), ("total", "i64 %total")))
    sizes = "\n".join(map(of_entry, ("source_size", "target_size", "lanes", "block")))
    of_rows = "\n".join(
        f"  %f.{name} = getelementptr i64, ptr %frame, i64 {PART[name]}\n"
        f"  store {value}, ptr %f.{name}" for name, value in (
            ("source", "ptr %source"), ("target", "ptr %target"), ("inner", "i64 %units"),
            ("total", "i64 %rows"), ("source_outer", "i64 0"), ("target_outer", "i64 0"),
            ("source_inner", "i64 %si"), ("target_inner", "i64 %ti"), ("block", "i64 %block"),
            ("source_stride", "i64 %si"), ("target_stride", "i64 %ti")))
    told = "\n".join(
        f"  %{name}.at = getelementptr i64, ptr %told, i64 {TOLD.index(name)}\n"
        f"  %{name} = load {elem}, ptr %{name}.at" for name, elem in (
            ("error", "ptr"), ("thread", "i64")))
    return f"""
define internal void @npc.fft.raise(ptr %kind, ptr %told) noinline {{
{told}
  %none = icmp eq ptr %error, null
  br i1 %none, label %end, label %some
some:
{of_kind("ensure", "ptr", ENTRIES + 3)}
{of_kind("release", "ptr", ENTRIES + 4)}
{of_kind("raise", "ptr", ENTRIES + 5)}
  %state = call i32 %ensure()
  %threads = call i32 %raise(i64 %thread, ptr %error)
  call void %release(i32 %state)
  br label %end
end:
  ret void
}}

define i64 @npc_fft_call(ptr %kind, ptr %source, ptr %target, i64 %before, i64 %given, i64 %n,
                         i64 %made, i64 %behind) {{
entry:
  %frame = alloca [{len(FRAME)} x i64], align 64
  %told = alloca [{len(TOLD)} x i64]
  %control = alloca i32
  %numbers = mul i64 %before, %behind
  %none = icmp eq i64 %numbers, 0
  br i1 %none, label %fine, label %some
some:
  %columns = icmp ne i64 %behind, 1
  %few.points = icmp sle i64 %n, {FEW}
  %many = icmp sge i64 %before, {MANY}
  %in.lanes = and i1 %few.points, %many
  %of.rows = select i1 %in.lanes, i64 {WAYS.index("lanes")}, i64 {WAYS.index("rows")}
  %c = select i1 %columns, i64 {WAYS.index("columns")}, i64 %of.rows
  %twice = shl i64 %n, 1
  %hash = add i64 %twice, %c
  %at = and i64 %hash, {ENTRIES - 1}
  %place = getelementptr ptr, ptr %kind, i64 %at
  %found = load atomic ptr, ptr %place acquire, align 8
  %any = icmp ne ptr %found, null
  br i1 %any, label %compare, label %miss
compare:
  %its = load i64, ptr %found
  %its.c.at = getelementptr i64, ptr %found, i64 {entry["way"]}
  %its.c = load i64, ptr %its.c.at
  %same.n = icmp eq i64 %its, %n
  %same.c = icmp eq i64 %its.c, %c
  %same = and i1 %same.n, %same.c
  br i1 %same, label %ready, label %miss
miss:
  call void @npc.fp.save(ptr %control)
{of_kind("find", "ptr", ENTRIES)}
{of_kind("id", "i64", ENTRIES + 2)}
  store [{len(TOLD)} x i64] zeroinitializer, ptr %told
  call void %find(i64 %id, i64 %n, i64 %c, ptr %told)
  %fresh = load ptr, ptr %told
  call void @npc.fft.raise(ptr %kind, ptr %told)
  call void @npc.fp.restore(ptr %control)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %bad, label %ready
ready:
  %e = phi ptr [ %found, %compare ], [ %fresh, %miss ]
{known}
  %few = icmp slt i64 %behind, %e.lanes
  %narrow = and i1 %few, %columns
  %is.slow = icmp ne i64 %e.slow, 0
  %python = or i1 %narrow, %is.slow
  br i1 %python, label %slow, label %fast
fast:
  %template = getelementptr i64, ptr %e, i64 {entry["steps"]}
  call void @llvm.memcpy.p0.p0.i64(ptr %frame, ptr %template, i64 {8 * len(FRAME)}, i1 false)
  %minus = sub i64 0, %e.lanes
  %total = select i1 %columns, i64 %behind, i64 %before
  %even = and i64 %total, %minus
  %most = call i64 @llvm.smin.i64(i64 %e.block, i64 %even)
  %single = icmp sle i64 %e.block, 1
  %block = select i1 %single, i64 1, i64 %most
  %less = sub i64 %block, 1
  %up = add i64 %total, %less
  %per = sdiv i64 %up, %block
  %units.columns = mul i64 %per, %before
  %units = select i1 %columns, i64 %units.columns, i64 %per
  %ss.columns = mul i64 %behind, %e.source_size
  %ts.columns = mul i64 %behind, %e.target_size
  %so = mul i64 %ss.columns, %given
  %to = mul i64 %ts.columns, %made
  %ss = select i1 %columns, i64 %ss.columns, i64 %so
  %ts = select i1 %columns, i64 %ts.columns, i64 %to
  %si = select i1 %columns, i64 %e.source_size, i64 %so
  %ti = select i1 %columns, i64 %e.target_size, i64 %to
{words}
  %all = mul i64 %numbers, %n
  %much = icmp sge i64 %all, {MUCH}
  call void @npc_pool_call(ptr @npc_fft_units, ptr %frame, i64 %units, i64 1, i64 0, i1 %much)
  br label %fine
slow:
  call void @npc.fp.save(ptr %control)
{of_kind("run", "ptr", ENTRIES + 1)}
{of_kind("own", "i64", ENTRIES + 2)}
  store [{len(TOLD)} x i64] zeroinitializer, ptr %told
  store i64 -1, ptr %told
  call void %run(i64 %own, ptr %source, ptr %target, i64 %before, i64 %given, i64 %n,
                 i64 %made, i64 %behind, ptr %told)
  %raised = load i32, ptr %told
  call void @npc.fft.raise(ptr %kind, ptr %told)
  %refused = icmp slt i32 %raised, 0
  %bits = load i32, ptr %control
  %joined = or i32 %bits, %raised
  %kept = select i1 %refused, i32 %bits, i32 %joined
  store i32 %kept, ptr %control
  call void @npc.fp.restore(ptr %control)
  br i1 %refused, label %bad, label %fine
bad:
  ret i64 0
fine:
  ret i64 1
}}

define i64 @npc_fft_entry(ptr %kind, i64 %n) optnone noinline {{
entry:
  %told = alloca [{len(TOLD)} x i64]
  %control = alloca i32
  %few = icmp sle i64 %n, {FEW}
  %c = select i1 %few, i64 {WAYS.index("lanes")}, i64 {WAYS.index("rows")}
  %twice = shl i64 %n, 1
  %hash = add i64 %twice, %c
  %at = and i64 %hash, {ENTRIES - 1}
  %place = getelementptr ptr, ptr %kind, i64 %at
  %found = load atomic ptr, ptr %place acquire, align 8
  %any = icmp ne ptr %found, null
  br i1 %any, label %compare, label %miss
compare:
  %its = load i64, ptr %found
  %its.c.at = getelementptr i64, ptr %found, i64 {entry["way"]}
  %its.c = load i64, ptr %its.c.at
  %same.n = icmp eq i64 %its, %n
  %same.c = icmp eq i64 %its.c, %c
  %same = and i1 %same.n, %same.c
  br i1 %same, label %ready, label %miss
miss:
  call void @npc.fp.save(ptr %control)
{of_kind("find", "ptr", ENTRIES)}
{of_kind("id", "i64", ENTRIES + 2)}
  store [{len(TOLD)} x i64] zeroinitializer, ptr %told
  call void %find(i64 %id, i64 %n, i64 %c, ptr %told)
  %fresh = load ptr, ptr %told
  call void @npc.fft.raise(ptr %kind, ptr %told)
  call void @npc.fp.restore(ptr %control)
  br label %ready
ready:
  %e = phi ptr [ %found, %compare ], [ %fresh, %miss ]
  %address = ptrtoint ptr %e to i64
  ret i64 %address
}}

define void @npc_fft_rows(i64 %entry, ptr %source, ptr %target, i64 %rows, i64 %given,
                         i64 %made) optnone noinline {{
  %frame = alloca [{len(FRAME)} x i64], align 64
  %whole = inttoptr i64 %entry to ptr
  %least.at = getelementptr i64, ptr %whole, i64 {entry["lanes"]}
  %least = load i64, ptr %least.at
  %few = icmp slt i64 %rows, %least
  %single.at = getelementptr i64, ptr %whole, i64 {entry["single"]}
  %single = load ptr, ptr %single.at
  %e = select i1 %few, ptr %single, ptr %whole
{sizes}
  %minus = sub i64 0, %e.lanes
  %even = and i64 %rows, %minus
  %block = call i64 @llvm.smin.i64(i64 %e.block, i64 %even)
  %less = sub i64 %block, 1
  %up = add i64 %rows, %less
  %units = sdiv i64 %up, %block
  %template = getelementptr i64, ptr %e, i64 {entry["steps"]}
  call void @llvm.memcpy.p0.p0.i64(ptr %frame, ptr %template, i64 {8 * len(FRAME)}, i1 false)
  %si = mul i64 %given, %e.source_size
  %ti = mul i64 %made, %e.target_size
{of_rows}
  call void @npc_fft_units(ptr %frame, i64 0, i64 %units)
  ret void
}}

define i32 @npc_fft_once(ptr %kind, ptr %source, ptr %target, i64 %before, i64 %given, i64 %n,
                         i64 %made, i64 %behind) optnone noinline {{
  %before.flags = alloca i32
  %after.flags = alloca i32
  call void @npc.fp.save(ptr %before.flags)
  %bits = load i32, ptr %before.flags
  %clear = and i32 %bits, -64
  store i32 %clear, ptr %after.flags
  call void @npc.fp.restore(ptr %after.flags)
  %well = call i64 @npc_fft_call(ptr %kind, ptr %source, ptr %target, i64 %before, i64 %given,
                                 i64 %n, i64 %made, i64 %behind)
  call void @npc.fp.save(ptr %after.flags)
  call void @npc.fp.restore(ptr %before.flags)
  %now = load i32, ptr %after.flags
  %raised = and i32 %now, 63
  %failed = icmp eq i64 %well, 0
  %result = select i1 %failed, i32 -1, i32 %raised
  ret i32 %result
}}
"""


def text(register: int) -> str:
    """The module; registers have so many bytes."""
    loads = "\n".join(
        f"  %{name}.at = getelementptr i64, ptr %frame, i64 {k}\n"
        f"  %{name} = load {'ptr' if name in ('steps', 'source', 'target') else 'i64'}, "
        f"ptr %{name}.at" for name, k in PART.items())

    def call_word(name: str, value: str) -> str:
        place = f"%call.{name}"
        return (f"  {place} = getelementptr i64, ptr %call, i64 {CALL[name]}\n"
                f"  store {value}, ptr {place}")

    def step_word(name: str, elem: str = "i64") -> str:
        return (f"  %s.{name}.at = getelementptr i64, ptr %step, i64 {WORD[name]}\n"
                f"  %s.{name} = load {elem}, ptr %s.{name}.at")

    fixed = "\n".join([
        call_word("one", "i64 1"), call_word("source_stride", "i64 %source_stride"),
        call_word("target_stride", "i64 %target_stride"), call_word("scale", "i64 %scale")])
    return f"""
declare ptr @npc_take(i64)
declare void @npc_give(ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare void @npc_pool_call(ptr, ptr, i64, i64, i64, i1)
declare void @npc.fp.save(ptr)
declare void @npc.fp.restore(ptr)

define i64 @npc_fft_register() optnone noinline {{
  ret i64 {register}
}}

define i32 @npc_fft_run(ptr %frame, i64 %units, i1 %much) optnone noinline {{
  %before = alloca i32
  %after = alloca i32
  call void @npc.fp.save(ptr %before)
  %bits = load i32, ptr %before
  %clear = and i32 %bits, -64
  store i32 %clear, ptr %after
  call void @npc.fp.restore(ptr %after)
  call void @npc_pool_call(ptr @npc_fft_units, ptr %frame, i64 %units, i64 1, i64 0, i1 %much)
  call void @npc.fp.save(ptr %after)
  call void @npc.fp.restore(ptr %before)
  %now = load i32, ptr %after
  %raised = and i32 %now, 63
  ret i32 %raised
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @npc_fft_repeat(ptr %source, ptr %target, ptr %step, ptr %call) optnone noinline {{
{step_word("table", "ptr")}
{step_word("lines")}
{step_word("extra")}
  %frame = alloca [{len(FRAME)} x i64], align 64
  call void @llvm.memcpy.p0.p0.i64(ptr %frame, ptr %s.table, i64 {8 * len(FRAME)}, i1 false)
  %source.at = getelementptr i64, ptr %frame, i64 {PART["source"]}
  store ptr %source, ptr %source.at
  %target.at = getelementptr i64, ptr %frame, i64 {PART["target"]}
  store ptr %target, ptr %target.at
  %scale.from = getelementptr i64, ptr %call, i64 {CALL["scale"]}
  %scale = load i64, ptr %scale.from
  %scale.at = getelementptr i64, ptr %frame, i64 {PART["scale"]}
  store i64 %scale, ptr %scale.at
  %width.at = getelementptr i64, ptr %call, i64 {CALL["width"]}
  %width = load i64, ptr %width.at
  %all = icmp eq i64 %s.lines, 0
  %count = select i1 %all, i64 %width, i64 %s.lines
  %inner.at = getelementptr i64, ptr %frame, i64 {PART["inner"]}
  store i64 %count, ptr %inner.at
  %total.at = getelementptr i64, ptr %frame, i64 {PART["total"]}
  %total = load i64, ptr %total.at
  %some = icmp ne i64 %total, 0
  %neighbours = select i1 %some, i64 %total, i64 %count
  store i64 %neighbours, ptr %total.at
  %much = icmp ne i64 %s.extra, 0
  call void @npc_pool_call(ptr @npc_fft_units, ptr %frame, i64 %count, i64 1, i64 0, i1 %much)
  ret void
}}

define void @npc_fft_units(ptr %frame, i64 %begin, i64 %end) {{
entry:
  %call = alloca [{len(CALLS)} x i64]
  %places = alloca [3 x ptr]
{loads}
  %room = call ptr @npc_take(i64 %scratch)
{fixed}
  %place.scratch = getelementptr ptr, ptr %places, i64 2
  store ptr %room, ptr %place.scratch
  %less = sub i64 %lanes, 1
  %mask = sub i64 0, %lanes
  br label %unit
unit:
  %u = phi i64 [ %begin, %entry ], [ %u.next, %unit.done ]
  %o = sdiv i64 %u, %inner
  %whole = mul i64 %o, %inner
  %i = sub i64 %u, %whole
  %from = mul i64 %i, %block
  %left = sub i64 %total, %from
  %left.up = add i64 %left, %less
  %left.round = and i64 %left.up, %mask
  %width = call i64 @llvm.smin.i64(i64 %left.round, i64 %block)
  %latest = sub i64 %total, %width
  %first = call i64 @llvm.smin.i64(i64 %from, i64 %latest)
{call_word("width", "i64 %width")}
{call_word("first", "i64 %first")}
  %so = mul i64 %o, %source_outer
  %si = mul i64 %first, %source_inner
  %s.away = add i64 %so, %si
  %s = getelementptr i8, ptr %source, i64 %s.away
  store ptr %s, ptr %places
  %to = mul i64 %o, %target_outer
  %ti = mul i64 %first, %target_inner
  %t.away = add i64 %to, %ti
  %t = getelementptr i8, ptr %target, i64 %t.away
  %place.target = getelementptr ptr, ptr %places, i64 1
  store ptr %t, ptr %place.target
  br label %walk
walk:
  %step = phi ptr [ %steps, %unit ], [ %step.next, %run ]
  %function = load ptr, ptr %step
  %over = icmp eq ptr %function, null
  br i1 %over, label %unit.done, label %run
run:
{step_word("source")}
{step_word("source_at")}
{step_word("target")}
{step_word("target_at")}
  %base.source = getelementptr ptr, ptr %places, i64 %s.source
  %source.base = load ptr, ptr %base.source
  %source.here = getelementptr i8, ptr %source.base, i64 %s.source_at
  %base.target = getelementptr ptr, ptr %places, i64 %s.target
  %target.base = load ptr, ptr %base.target
  %target.here = getelementptr i8, ptr %target.base, i64 %s.target_at
  call void %function(ptr %source.here, ptr %target.here, ptr %step, ptr %call)
  %step.next = getelementptr i64, ptr %step, i64 {len(STEP)}
  br label %walk
unit.done:
  %u.next = add i64 %u, 1
  %again = icmp slt i64 %u.next, %end
  br i1 %again, label %unit, label %done
done:
  call void @npc_give(ptr %room)
  ret void
}}
""" + _called()
