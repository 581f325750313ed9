"""The machine code of memory on platforms where it can't be recycled (:mod:`.recycled`): what the
system's own functions give, at a multiple of 64."""

from __future__ import annotations

from npcompile.backends.cpu.loops.python_objects import ARRAY_DATA
from npcompile.runtime.memory import recycling_code

_PLAIN = (
    recycling_code.HELPER
    + f"""
declare ptr @memcpy(ptr, ptr, i64)

define ptr @npc_new_array(ptr %descr, i32 %nd, ptr %dims, ptr %strides) {{
  call void @Py_IncRef(ptr %descr)
  %made = call ptr @PyArray_NewFromDescr(ptr @PyArray_Type, ptr %descr, i32 %nd, ptr %dims,
    ptr %strides, ptr null, i32 0, ptr null)
  ret ptr %made
}}

define ptr @npc_take(i64 %n) {{
  %memory = call ptr @lines(i64 %n)
  ret ptr %memory
}}

define ptr @npc_adopt(ptr %descr, i32 %nd, ptr %dims, ptr %strides, ptr %memory, i64 %n) {{
entry:
  %made = call ptr @npc_new_array(ptr %descr, i32 %nd, ptr %dims, ptr %strides)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %out, label %copy
copy:
  %at = getelementptr i8, ptr %made, i64 {ARRAY_DATA}
  %data = load ptr, ptr %at
  call ptr @memcpy(ptr %data, ptr %memory, i64 %n)
  br label %out
out:
  call void @free(ptr %memory)
  ret ptr %made
}}

define void @npc_give(ptr %memory) {{
  call void @free(ptr %memory)
  ret void
}}
"""
)

#: what allocates and frees such memory on Windows
_WINDOWS = {
    "declare ptr @aligned_alloc": "declare ptr @_aligned_malloc", "@free(": "@_aligned_free(",
    "@aligned_alloc(i64 64, i64 %lines)": "@_aligned_malloc(i64 %lines, i64 64)",
}


def text(system: str) -> str:
    """The code for a system of this `os.name`."""
    code = _PLAIN
    for usual, theirs in _WINDOWS.items() if system == "nt" else ():
        code = code.replace(usual, theirs)
    return recycling_code.text(code)
