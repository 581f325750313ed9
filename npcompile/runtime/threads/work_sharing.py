"""Ways to call the thread pool: if there is enough to do, and by regions (see :mod:`.pool`)."""

from __future__ import annotations

_REGIONS = 8  # of a shared range, for each thread

CALLS = f"""
define void @npc_pool_call(ptr %fn, ptr %frame, i64 %n, i64 %grain, i64 %pieces, i1 %much) {{
entry:
  br i1 %much, label %wide, label %narrow
wide:
  call void @npc_pool_run(ptr %fn, ptr %frame, i64 %n, i64 %grain, i64 %pieces)
  ret void
narrow:
  call void %fn(ptr %frame, i64 0, i64 %n)
  ret void
}}

%shared = type {{ ptr, ptr, i64, i64, i64 }}     ; fn, frame, n, length of a stretch, next

; Takes ranges until none is left.
define internal void @take_ranges(ptr %range, i64 %begin, i64 %end) {{
entry:
  %fn = load ptr, ptr %range
  %frame.place = getelementptr %shared, ptr %range, i64 0, i32 1
  %frame = load ptr, ptr %frame.place
  %n.place = getelementptr %shared, ptr %range, i64 0, i32 2
  %n = load i64, ptr %n.place
  %length.place = getelementptr %shared, ptr %range, i64 0, i32 3
  %length = load i64, ptr %length.place
  %next = getelementptr %shared, ptr %range, i64 0, i32 4
  br label %take
take:
  %first = atomicrmw add ptr %next, i64 %length monotonic
  %some = icmp slt i64 %first, %n
  br i1 %some, label %work, label %done
work:
  %left = sub i64 %n, %first
  %short = icmp slt i64 %left, %length
  %mine = select i1 %short, i64 %left, i64 %length
  %last = add i64 %first, %mine
  call void %fn(ptr %frame, i64 %first, i64 %last)
  br label %take
done:
  ret void
}}

define void @npc_pool_share(ptr %fn, ptr %frame, i64 %n, i1 %much) {{
entry:
  %range = alloca %shared
  %threads = load atomic i64, ptr @npc_pool_limit monotonic, align 8
  %several = icmp sgt i64 %threads, 1
  %some = icmp sgt i64 %n, 1
  %both = and i1 %several, %some
  %wide.enough = and i1 %both, %much
  br i1 %wide.enough, label %wide, label %narrow
wide:
  %ranges = mul i64 %threads, {_REGIONS}
  %even = udiv i64 %n, %ranges
  %length = add i64 %even, 1
  store ptr %fn, ptr %range
  %frame.place = getelementptr %shared, ptr %range, i64 0, i32 1
  store ptr %frame, ptr %frame.place
  %n.place = getelementptr %shared, ptr %range, i64 0, i32 2
  store i64 %n, ptr %n.place
  %length.place = getelementptr %shared, ptr %range, i64 0, i32 3
  store i64 %length, ptr %length.place
  %next = getelementptr %shared, ptr %range, i64 0, i32 4
  store i64 0, ptr %next
  %parts.least = icmp slt i64 %n, %threads
  %parts = select i1 %parts.least, i64 %n, i64 %threads
  call void @npc_pool_run(ptr @take_ranges, ptr %range, i64 %parts, i64 1, i64 1)
  ret void
narrow:
  %nonempty = icmp sgt i64 %n, 0
  br i1 %nonempty, label %run, label %done
run:
  call void %fn(ptr %frame, i64 0, i64 %n)
  br label %done
done:
  ret void
}}
"""
