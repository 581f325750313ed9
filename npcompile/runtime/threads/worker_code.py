"""The thread pool's machine code, in LLVM's language; :mod:`.pool` says what it does."""

from __future__ import annotations

import signal

from npcompile.backends.target import Family
from npcompile.runtime.entry.function_writer import hasty
from npcompile.runtime.threads.placement import LINE, PLACEMENT
from npcompile.runtime.threads.processors import MAX_THREADS
from npcompile.runtime.threads.work_sharing import CALLS

# cycles of the time stamp counter: some 20 and 10 us; 200 us while others are at work
_SPIN, _YIELD, _LONGEST = 50_000, 25_000, 500_000

# of pthread_sigmask, where there are signals
_BLOCK, _SET = (int(getattr(signal, name, 0)) for name in ("SIG_BLOCK", "SIG_SETMASK"))

# The caller may write @job only while it holds @busy and every piece given out is done.  Whoever
# has claimed a piece knows by that that the job stays as it is; before, nobody may look at it.
#
# What a thread has written is seen by another one as far as these pairs say (C11's memory model): a
# line's count of pieces, stored with release and claimed with acquire, hands over the job and all
# that the caller wrote before; @remaining, subtracted with release and read as 0 with acquire,
# hands back flags and results; @busy, taken with acquire and given back with release, hands over
# the pool.  The rest are single words, whose order among others does not matter (monotonic):
# @running and @npc_pool_limit, which a worker that comes late or another Python thread may read at
# any time.
_POOL = f"""
{LINE}
%job = type {{ ptr, ptr, i64, i64, i64, i64, i32 }}  ; fn, frame, n, part length, grain, pieces of
                                                  ; a part, control bits
@lines = internal global [{MAX_THREADS} x %line] zeroinitializer, align 64
@handles = internal global [{MAX_THREADS} x ptr] zeroinitializer, align 64
@job = internal global %job zeroinitializer, align 64
@busy = internal global i32 0, align 64
@remaining = internal global i32 0, align 64
@flags = internal global i32 0, align 64
@stopping = internal global i32 0, align 64
@running = internal global i64 1, align 8          ; threads there are, with the caller
@npc_pool_limit = global i64 1, align 8            ; threads to use

declare i64 @npc.clock()
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @npc.spin()
declare void @npc.fp.save(ptr)
declare void @npc.fp.restore(ptr)

define internal i32 @fpstate() {{
  %p = alloca i32
  call void @npc.fp.save(ptr %p)
  %bits = load i32, ptr %p
  ret i32 %bits
}}

define internal void @set_fpstate(i32 %bits) {{
  %p = alloca i32
  store i32 %bits, ptr %p
  call void @npc.fp.restore(ptr %p)
  ret void
}}

; Where piece %index of a part of so many begins: at a half, three quarters, and so on.
define internal i64 @begin_of(i64 %count, i64 %index) {{
  %grain = load i64, ptr getelementptr (%job, ptr @job, i64 0, i32 4)
  %rest = lshr i64 %count, %index
  %before = sub i64 %count, %rest
  %over = urem i64 %before, %grain
  %begin = sub i64 %before, %over
  ret i64 %begin
}}

; Runs the piece of part %t that is followed by %others.
define internal void @run_piece(i64 %t, i64 %others) {{
entry:
  %fn = load ptr, ptr @job
  %frame = load ptr, ptr getelementptr (%job, ptr @job, i64 0, i32 1)
  %n = load i64, ptr getelementptr (%job, ptr @job, i64 0, i32 2)
  %length = load i64, ptr getelementptr (%job, ptr @job, i64 0, i32 3)
  %pieces = load i64, ptr getelementptr (%job, ptr @job, i64 0, i32 5)
  %part = mul i64 %t, %length
  %left = sub i64 %n, %part
  %count = call i64 @llvm.smin.i64(i64 %left, i64 %length)
  %after = sub i64 %pieces, %others
  %index = sub i64 %after, 1
  %first = call i64 @begin_of(i64 %count, i64 %index)
  %next = call i64 @begin_of(i64 %count, i64 %after)
  %is.last = icmp eq i64 %others, 0
  %stop = select i1 %is.last, i64 %count, i64 %next
  %some = icmp slt i64 %first, %stop
  br i1 %some, label %run, label %done
run:
  %begin = add i64 %part, %first
  %end = add i64 %part, %stop
  call void %fn(ptr %frame, i64 %begin, i64 %end)
  br label %done
done:
  ret void
}}

; Runs the pieces that are left of part %t; how many, with those %done before.  %hired: not in the
; caller's thread.
define internal i32 @run_left(i64 %t, i1 %hired, i32 %done) {{
entry:
  %left = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %t, i32 1
  br label %look
look:
  %count = phi i32 [ %done, %entry ], [ %more, %run ]
  %some = load atomic i32, ptr %left monotonic, align 4
  %any = icmp sgt i32 %some, 0
  br i1 %any, label %claim, label %leave
claim:
  %before = atomicrmw sub ptr %left, i32 1 acquire
  %mine = icmp sgt i32 %before, 0
  br i1 %mine, label %got, label %leave
got:
  %first = icmp eq i32 %count, 0
  %begins = and i1 %hired, %first
  br i1 %begins, label %begin, label %run
begin:
  %control = load i32, ptr getelementptr (%job, ptr @job, i64 0, i32 6)
  call void @set_fpstate(i32 %control)
  br label %run
run:
  %wide = zext i32 %before to i64
  %others = sub i64 %wide, 1
  call void @run_piece(i64 %t, i64 %others)
  %more = add i32 %count, 1
  br label %look
leave:
  ret i32 %count
}}

; Runs the pieces that are left, those of part %first before others.
define internal void @run_all_left(i64 %first, i1 %hired) {{
entry:
  %threads = load atomic i64, ptr @running monotonic, align 8
  br label %part
part:
  %k = phi i64 [ 0, %entry ], [ %next, %part ]
  %count = phi i32 [ 0, %entry ], [ %more, %part ]
  %sum = add i64 %first, %k
  %beyond = icmp sge i64 %sum, %threads
  %back = sub i64 %sum, %threads
  %t = select i1 %beyond, i64 %back, i64 %sum
  %more = call i32 @run_left(i64 %t, i1 %hired, i32 %count)
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %threads
  br i1 %again, label %part, label %all
all:
  %some = icmp sgt i32 %more, 0
  br i1 %some, label %tell, label %done
tell:
  br i1 %hired, label %join, label %subtract
join:
  %bits = call i32 @fpstate()
  %raised = and i32 %bits, 63
  atomicrmw or ptr @flags, i32 %raised monotonic
  br label %subtract
subtract:
  atomicrmw sub ptr @remaining, i32 %more release
  br label %done
done:
  ret void
}}

; The next ticket after %last of worker %t: spins, longer while others are at work, then sleeps.
define internal i32 @next_ticket(i64 %t, i32 %last) {{
entry:
  %line = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %t
  %start = call i64 @npc.clock()
  br label %look
look:
  %since = phi i64 [ %start, %entry ], [ %since, %spin ], [ %now, %tired ]
  %seen = load atomic i32, ptr %line acquire, align 64
  %fresh = icmp ne i32 %seen, %last
  br i1 %fresh, label %found, label %spin
spin:
  call void @npc.spin()
  %now = call i64 @npc.clock()
  %spent = sub i64 %now, %since
  %long = icmp ugt i64 %spent, {_SPIN}
  br i1 %long, label %tired, label %look
tired:
  %held = load atomic i32, ptr @busy monotonic, align 64
  %working = icmp ne i32 %held, 0
  %whole = sub i64 %now, %start
  %short = icmp ult i64 %whole, {_LONGEST}
  %stays = and i1 %working, %short
  br i1 %stays, label %look, label %doze
doze:
  %asleep = getelementptr %line, ptr %line, i64 0, i32 2
  store atomic i32 1, ptr %asleep seq_cst, align 4
  br label %sleep
sleep:
  call void @sleep(i64 %t, ptr %line, i32 %last)
  %woken = load atomic i32, ptr %line acquire, align 64
  %up = icmp ne i32 %woken, %last
  br i1 %up, label %wake, label %sleep
wake:
  store atomic i32 0, ptr %asleep seq_cst, align 4
  br label %found
found:
  %ticket = phi i32 [ %seen, %look ], [ %woken, %wake ]
  ret i32 %ticket
}}

define internal ptr @worker(ptr %argument) {{
entry:
  %t = ptrtoint ptr %argument to i64
  call void @note_worker(i64 %t)
  br label %wait
wait:
  %last = phi i32 [ 0, %entry ], [ %ticket, %work ]
  %ticket = call i32 @next_ticket(i64 %t, i32 %last)
  %stop = load atomic i32, ptr @stopping acquire, align 4
  %over = icmp ne i32 %stop, 0
  br i1 %over, label %leave, label %work
work:
  call void @run_all_left(i64 %t, i1 true)
  br label %wait
leave:
  ret ptr null
}}

; Starts workers until %wanted threads run; false if the system gives no more.
define internal i1 @start(i64 %wanted) {{
entry:
  %old = alloca [128 x i8]
  %all = alloca [128 x i8]
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  call i32 @pthread_sigmask(i32 {_BLOCK}, ptr %all, ptr %old)
  br label %more
more:
  %t = load atomic i64, ptr @running monotonic, align 8
  %missing = icmp slt i64 %t, %wanted
  br i1 %missing, label %create, label %done
create:
  %line = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %t
  call void @llvm.memset.p0.i64(ptr %line, i8 0, i64 64, i1 false)
  %avoided = getelementptr %line, ptr %line, i64 0, i32 4
  store i32 -1, ptr %avoided
  %handle = getelementptr ptr, ptr @handles, i64 %t
  %failed = call i32 @begin_thread(i64 %t, ptr %handle)
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %count, label %done
count:
  %next = add i64 %t, 1
  store atomic i64 %next, ptr @running monotonic, align 8
  br label %more
done:
  call i32 @pthread_sigmask(i32 {_SET}, ptr %old, ptr null)
  %have = load atomic i64, ptr @running monotonic, align 8
  %enough = icmp sge i64 %have, %wanted
  ret i1 %enough
}}

; Offers so many pieces of each part to whoever comes; gives one ticket to each of the workers
; 1 .. %parts - 1, then wakes those that sleep.
define internal void @give_tickets(i64 %parts, i32 %pieces) {{
entry:
  store atomic i32 %pieces, ptr getelementptr (%line, ptr @lines, i64 0, i32 1) release, align 4
  br label %give
give:
  %t = phi i64 [ 1, %entry ], [ %next, %give ]
  %line = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %t
  %left = getelementptr %line, ptr %line, i64 0, i32 1
  store atomic i32 %pieces, ptr %left release, align 4
  atomicrmw add ptr %line, i32 1 seq_cst
  %next = add i64 %t, 1
  %more = icmp slt i64 %next, %parts
  br i1 %more, label %give, label %look
look:
  %here = call i32 @sched_getcpu()
  br label %rouse
rouse:
  %s = phi i64 [ 1, %look ], [ %then, %following ]
  call void @keep_off(i64 %s, i32 %here)
  %bed = getelementptr [{MAX_THREADS} x %line], ptr @lines, i64 0, i64 %s
  %asleep = getelementptr %line, ptr %bed, i64 0, i32 2
  %sleeps = load atomic i32, ptr %asleep seq_cst, align 4
  %is = icmp ne i32 %sleeps, 0
  br i1 %is, label %wake, label %following
wake:
  call void @rouse(i64 %s, ptr %bed)
  br label %following
following:
  %then = add i64 %s, 1
  %again = icmp slt i64 %then, %parts
  br i1 %again, label %rouse, label %done
done:
  ret void
}}

; Waits until every piece is done: spins, then yields so that a worker can have this core.
define internal void @wait() {{
entry:
  %start = call i64 @npc.clock()
  br label %look
look:
  %left = load atomic i32, ptr @remaining acquire, align 64
  %over = icmp eq i32 %left, 0
  br i1 %over, label %done, label %spin
spin:
  call void @npc.spin()
  %now = call i64 @npc.clock()
  %spent = sub i64 %now, %start
  %tired = icmp ugt i64 %spent, {_YIELD}
  br i1 %tired, label %yield, label %look
yield:
  call i32 @sched_yield()
  br label %look
done:
  ret void
}}

define internal i1 @lock() {{
  %pair = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  ret i1 %mine
}}

define internal void @run_parallel(ptr %fn, ptr %frame, i64 %n, i64 %length, i64 %grain,
                                   i64 %pieces, i64 %parts) {{
entry:
  store ptr %fn, ptr @job
  store ptr %frame, ptr getelementptr (%job, ptr @job, i64 0, i32 1)
  store i64 %n, ptr getelementptr (%job, ptr @job, i64 0, i32 2)
  store i64 %length, ptr getelementptr (%job, ptr @job, i64 0, i32 3)
  store i64 %grain, ptr getelementptr (%job, ptr @job, i64 0, i32 4)
  store i64 %pieces, ptr getelementptr (%job, ptr @job, i64 0, i32 5)
  %bits = call i32 @fpstate()
  %control = and i32 %bits, -64
  store i32 %control, ptr getelementptr (%job, ptr @job, i64 0, i32 6)
  store i32 0, ptr @flags
  %all = mul i64 %parts, %pieces
  %remaining = trunc i64 %all to i32
  store atomic i32 %remaining, ptr @remaining monotonic, align 64
  %each = trunc i64 %pieces to i32
  call void @give_tickets(i64 %parts, i32 %each)
  call void @run_all_left(i64 0, i1 false)
  call void @wait()
  %raised = load i32, ptr @flags
  %some = icmp ne i32 %raised, 0
  br i1 %some, label %join, label %done
join:
  %own = call i32 @fpstate()
  %joined = or i32 %own, %raised
  call void @set_fpstate(i32 %joined)
  br label %done
done:
  ret void
}}

define void @npc_pool_run(ptr %fn, ptr %frame, i64 %n, i64 %grain, i64 %pieces) {{
entry:
  %something = icmp sgt i64 %n, 0
  br i1 %something, label %split, label %done
split:
  %given = icmp sgt i64 %grain, 0
  %unit = select i1 %given, i64 %grain, i64 64
  %limit = load atomic i64, ptr @npc_pool_limit monotonic, align 8
  %up = add i64 %limit, -1
  %n.up = add i64 %n, %up
  %even = sdiv i64 %n.up, %limit
  %units.up = add i64 %unit, -1
  %even.up = add i64 %even, %units.up
  %units = sdiv i64 %even.up, %unit
  %length = mul i64 %units, %unit
  %share = sdiv i64 %pieces, %limit
  %each = call i64 @llvm.smax.i64(i64 %share, i64 1)
  %less = add i64 %length, -1
  %n.less = add i64 %n, %less
  %parts = sdiv i64 %n.less, %length
  %several = icmp sgt i64 %parts, 1
  br i1 %several, label %try, label %serial
try:
  %free = call i1 @lock()
  br i1 %free, label %enough, label %serial
enough:
  %have = load atomic i64, ptr @running monotonic, align 8
  %lacking = icmp slt i64 %have, %parts
  br i1 %lacking, label %start, label %parallel
start:
  %started = call i1 @start(i64 %parts)
  br i1 %started, label %parallel, label %unlock
parallel:
  call void @run_parallel(ptr %fn, ptr %frame, i64 %n, i64 %length, i64 %unit,
                          i64 %each, i64 %parts)
  store atomic i32 0, ptr @busy release, align 64
  br label %done
unlock:
  store atomic i32 0, ptr @busy release, align 64
  br label %serial
serial:
  call void %fn(ptr %frame, i64 0, i64 %n)
  br label %done
done:
  ret void
}}

; In the child of a fork: there are no workers, and nobody holds the pool.
define void @npc_pool_forget() {{
  store atomic i64 1, ptr @running monotonic, align 8
  store i32 0, ptr @stopping
  store atomic i32 0, ptr @busy release, align 64
  ret void
}}

; Ends the workers; 0 if the pool is in use.  Later runs start new ones.
define i32 @npc_pool_stop() {{
entry:
  %free = call i1 @lock()
  br i1 %free, label %stop, label %inuse
inuse:
  ret i32 0
stop:
  %count = load atomic i64, ptr @running monotonic, align 8
  %some = icmp sgt i64 %count, 1
  br i1 %some, label %tell, label %done
tell:
  store atomic i32 1, ptr @stopping seq_cst, align 4
  call void @give_tickets(i64 %count, i32 0)
  br label %join
join:
  %t = phi i64 [ 1, %tell ], [ %next, %join ]
  %place = getelementptr ptr, ptr @handles, i64 %t
  %handle = load ptr, ptr %place
  call i32 @pthread_join(ptr %handle, ptr null)
  %next = add i64 %t, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %join, label %done
done:
  call void @npc_pool_forget()
  ret i32 1
}}

define i64 @npc_pool_threads() {{
  %count = load atomic i64, ptr @running monotonic, align 8
  ret i64 %count
}}
"""

_LINUX = f"""
{PLACEMENT}
declare i64 @syscall(i64, ...)
declare i32 @sched_yield()
declare i32 @sched_getcpu()
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)

define internal i32 @begin_thread(i64 %t, ptr %handle) {{
  %argument = inttoptr i64 %t to ptr
  %failed = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %argument)
  ret i32 %failed
}}

; futex(line, FUTEX_WAIT_PRIVATE, last) returns at once if the ticket has changed.
define internal void @sleep(i64 %t, ptr %line, i32 %last) {{
  call i64 (i64, ...) @syscall(i64 FUTEX, ptr %line, i32 128, i32 %last, ptr null)
  ret void
}}

define internal void @rouse(i64 %t, ptr %line) {{
  call i64 (i64, ...) @syscall(i64 FUTEX, ptr %line, i32 129, i32 1)
  ret void
}}
"""


#: functions that calls with little work run
_FREQUENT = frozenset({"npc_pool_call", "npc_pool_share"})


def text(system: str, machine: Family) -> str:
    """The code for a system (:func:`.systems.threads` tells of some) and a family of processors."""
    if system == "linux":
        code = _POOL + _LINUX
        for name, number in machine.kernel_calls.items():
            code = code.replace(f"@syscall(i64 {name.upper()}", f"@syscall(i64 {number}")
        return hasty(code + CALLS, _FREQUENT)
    from npcompile.runtime.threads import systems

    return hasty((_POOL + systems.threads(system) if system else systems.SERIAL) + CALLS, _FREQUENT)
