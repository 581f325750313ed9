"""Which processors the pool's workers run on (see :mod:`.pool`): not the caller's."""

from __future__ import annotations

from npcompile.runtime.threads.processors import MAX_THREADS

# A thread's line (the caller's is the first): `ticket` counts the jobs that it was called for;
# pieces of its part that nobody has claimed, at most; whether it is asleep; its thread (0 until it
# runs); the processor that it keeps off, only for the caller.
LINE = "%line = type { i32, i32, i32, i32, i32, [44 x i8] }"

PLACEMENT = f"""
%mask = type [16 x i64]                                               ; a set of processors
@allowed = internal global [{MAX_THREADS} x %mask] zeroinitializer, align 64   ; as each began
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)

; A worker that begins tells where it may run, then who it is.
define internal void @note_worker(i64 %t) {{
  %line = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %t
  %allowed = getelementptr [{MAX_THREADS} x %mask], ptr @allowed, i64 0, i64 %t
  call i32 @sched_getaffinity(i32 0, i64 128, ptr %allowed)
  %task = call i64 (i64, ...) @syscall(i64 GETTID)
  %task.narrow = trunc i64 %task to i32
  %task.place = getelementptr %line, ptr %line, i64 0, i32 3
  store atomic i32 %task.narrow, ptr %task.place release, align 4
  ret void
}}

; The processors that worker %t may run on, but for one.
define internal void @all_but(ptr %mask, i64 %t, i32 %one) {{
entry:
  %allowed = getelementptr [{MAX_THREADS} x %mask], ptr @allowed, i64 0, i64 %t
  call void @llvm.memcpy.p0.p0.i64(ptr %mask, ptr %allowed, i64 128, i1 false)
  %known = icmp ult i32 %one, 1024
  br i1 %known, label %clear, label %done
clear:
  %word = lshr i32 %one, 6
  %place = and i32 %one, 63
  %place.wide = zext i32 %place to i64
  %at = getelementptr i64, ptr %mask, i32 %word
  %bits = load i64, ptr %at
  %set = shl i64 1, %place.wide
  %unset = xor i64 %set, -1
  %rest = and i64 %bits, %unset
  store i64 %rest, ptr %at
  br label %done
done:
  ret void
}}

; A worker that shares a processor with the caller takes turns with it, in every call: the worker is
; woken on the caller's processor (virtual machines do so above all), or the caller has moved to
; the worker's.  So workers keep off the caller's processor: whenever it has moved, it says so.
; Whose processors somebody else has chosen since stays there; the system refuses an empty choice.
define internal void @keep_off(i64 %t, i32 %here) {{
entry:
  %now = alloca %mask
  %wanted = alloca %mask
  %line = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %t
  %task.place = getelementptr %line, ptr %line, i64 0, i32 3
  %task = load atomic i32, ptr %task.place acquire, align 4
  %avoided.place = getelementptr %line, ptr %line, i64 0, i32 4
  %avoided = load i32, ptr %avoided.place
  %started = icmp ne i32 %task, 0
  %moved = icmp ne i32 %avoided, %here
  %needed = and i1 %started, %moved
  br i1 %needed, label %ask, label %done
ask:
  store i32 %here, ptr %avoided.place
  call void @llvm.memset.p0.i64(ptr %now, i8 0, i64 128, i1 false)
  call i32 @sched_getaffinity(i32 %task, i64 128, ptr %now)
  call void @all_but(ptr %wanted, i64 %t, i32 %avoided)
  %is = load i1024, ptr %now, align 8
  %was = load i1024, ptr %wanted, align 8
  %ours = icmp eq i1024 %is, %was
  br i1 %ours, label %choose, label %done
choose:
  call void @all_but(ptr %wanted, i64 %t, i32 %here)
  call i32 @sched_setaffinity(i32 %task, i64 128, ptr %wanted)
  br label %done
done:
  ret void
}}
"""
