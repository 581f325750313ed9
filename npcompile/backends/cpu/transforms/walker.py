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
"""

from __future__ import annotations

from npcompile.backends.cpu.transforms.steps import CALL, CALLS, FRAME, PART, STEP, WORD


def text() -> str:
    """The module."""
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
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define i32 @npc_fft_run(ptr %frame, i64 %units, i1 %much) {{
  %before = alloca i32
  %after = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %before)
  %bits = load i32, ptr %before
  %clear = and i32 %bits, -64
  store i32 %clear, ptr %after
  call void @llvm.x86.sse.ldmxcsr(ptr %after)
  call void @npc_pool_call(ptr @npc_fft_units, ptr %frame, i64 %units, i64 1, i64 0, i1 %much)
  call void @llvm.x86.sse.stmxcsr(ptr %after)
  call void @llvm.x86.sse.ldmxcsr(ptr %before)
  %now = load i32, ptr %after
  %raised = and i32 %now, 63
  ret i32 %raised
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @npc_fft_repeat(ptr %source, ptr %target, ptr %step, ptr %call) {{
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
"""
