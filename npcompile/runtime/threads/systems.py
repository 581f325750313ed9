"""Threads of other systems than Linux, for the pool's code (:mod:`.worker_code`).

::

    i32 begin_thread(i64 t, ptr handle)     starts @worker(t); not 0 if the system gives no more
    void sleep(i64 t, ptr line, i32 last)   until the ticket is another one than the last, or less
    void rouse(i64 t, ptr line)             worker t, if it sleeps; its ticket is another one by now
    void note_worker(i64 t)                 a worker begins
    void keep_off(i64 t, i32 processor)     worker t leaves a processor to its caller

and POSIX's ``pthread_join``, ``pthread_sigmask``, ``sched_yield``, and ``sched_getcpu`` (-1: it
isn't known).

Whoever gives a ticket changes it, then looks whether the worker sleeps; a worker says that it
sleeps, then looks at its ticket.  Neither may look before its own word is out: both words are
sequentially consistent, and the look at the ticket comes behind a barrier of the kernel's
(``futex``, ``WaitOnAddress``) or behind the mutex that whoever rouses takes.
"""

from __future__ import annotations

from npcompile.runtime.threads.processors import MAX_THREADS

_STACK = 8 << 20  # bytes, Linux's: systems give threads from half a megabyte on

# A mutex has 40 bytes on Linux, 64 on macOS, a condition 48 on both.
_POSIX = f"""
@mutexes = internal global [{MAX_THREADS} x [64 x i8]] zeroinitializer, align 64
@conditions = internal global [{MAX_THREADS} x [64 x i8]] zeroinitializer, align 64
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)

declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sched_yield()

define internal i32 @begin_thread(i64 %t, ptr %handle) {{
  %attributes = alloca [128 x i8], align 8
  call void @prepare_bed(i64 %t)
  call i32 @pthread_attr_init(ptr %attributes)
  call i32 @pthread_attr_setstacksize(ptr %attributes, i64 {_STACK})
  %argument = inttoptr i64 %t to ptr
  %failed = call i32 @pthread_create(ptr %handle, ptr %attributes, ptr @worker, ptr %argument)
  call i32 @pthread_attr_destroy(ptr %attributes)
  ret i32 %failed
}}

; Anew, for after a fork they are as threads left them that are no more.
define internal void @prepare_bed(i64 %t) {{
  %mutex = getelementptr [64 x i8], ptr @mutexes, i64 %t
  %condition = getelementptr [64 x i8], ptr @conditions, i64 %t
  call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  call i32 @pthread_cond_init(ptr %condition, ptr null)
  ret void
}}

define internal void @sleep(i64 %t, ptr %line, i32 %last) {{
entry:
  %mutex = getelementptr [64 x i8], ptr @mutexes, i64 %t
  %condition = getelementptr [64 x i8], ptr @conditions, i64 %t
  call i32 @pthread_mutex_lock(ptr %mutex)
  %seen = load atomic i32, ptr %line acquire, align 4
  %same = icmp eq i32 %seen, %last
  br i1 %same, label %wait, label %done
wait:
  call i32 @pthread_cond_wait(ptr %condition, ptr %mutex)
  br label %done
done:
  call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}}

define internal void @rouse(i64 %t, ptr %line) {{
  %mutex = getelementptr [64 x i8], ptr @mutexes, i64 %t
  %condition = getelementptr [64 x i8], ptr @conditions, i64 %t
  call i32 @pthread_mutex_lock(ptr %mutex)
  call i32 @pthread_cond_signal(ptr %condition)
  call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}}
"""

_WINDOWS = f"""
declare ptr @CreateThread(ptr, i64, ptr, ptr, i32, ptr)
declare i32 @WaitForSingleObject(ptr, i32)
declare i32 @CloseHandle(ptr)
declare i32 @WaitOnAddress(ptr, ptr, i64, i32)
declare void @WakeByAddressSingle(ptr)
declare i32 @SwitchToThread()

define internal i32 @begin_thread(i64 %t, ptr %handle) {{
  %argument = inttoptr i64 %t to ptr
  %thread = call ptr @CreateThread(ptr null, i64 {_STACK}, ptr @worker, ptr %argument,
    i32 65536, ptr null)                       ; the size is that of memory reserved
  store ptr %thread, ptr %handle
  %none = icmp eq ptr %thread, null
  %failed = zext i1 %none to i32
  ret i32 %failed
}}

define internal i32 @pthread_join(ptr %handle, ptr %result) {{
  call i32 @WaitForSingleObject(ptr %handle, i32 -1)
  call i32 @CloseHandle(ptr %handle)
  ret i32 0
}}

define internal void @sleep(i64 %t, ptr %line, i32 %last) {{
  %compared = alloca i32
  store i32 %last, ptr %compared
  call i32 @WaitOnAddress(ptr %line, ptr %compared, i64 4, i32 -1)
  ret void
}}

define internal void @rouse(i64 %t, ptr %line) {{
  call void @WakeByAddressSingle(ptr %line)
  ret void
}}

define internal i32 @sched_yield() {{
  call i32 @SwitchToThread()
  ret i32 0
}}

define internal i32 @pthread_sigmask(i32 %how, ptr %set, ptr %old) {{
  ret i32 0
}}
"""

# Where a thread can't be kept off a processor.
_ANYWHERE = """
define internal i32 @sched_getcpu() {
  ret i32 -1
}

define internal void @note_worker(i64 %t) {
  ret void
}

define internal void @keep_off(i64 %t, i32 %here) {
  ret void
}
"""

# Where there are no threads: everything runs in the caller.
SERIAL = """
@npc_pool_limit = global i64 1, align 8
define void @npc_pool_run(ptr %fn, ptr %frame, i64 %n, i64 %grain, i64 %pieces) {
entry:
  %something = icmp sgt i64 %n, 0
  br i1 %something, label %run, label %done
run:
  call void %fn(ptr %frame, i64 0, i64 %n)
  br label %done
done:
  ret void
}
define void @npc_pool_forget() {
  ret void
}
define i32 @npc_pool_stop() {
  ret i32 1
}
define i64 @npc_pool_threads() {
  ret i64 1
}
"""


def threads(system: str) -> str:
    """The functions of ``windows`` or of any ``posix`` system."""
    return (_WINDOWS if system == "windows" else _POSIX) + _ANYWHERE
