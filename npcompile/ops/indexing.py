"""Indexing: ``a[key]`` and ``a[key] = value``.

::

    key  ::= item | tuple of items
    item ::= integer | start:stop:step | None | ...      npcompile.ops.slices: views
           | array of integers                           npcompile.ops.places: copies
           | array of bool                               npcompile.ops.masks: copies
"""

from __future__ import annotations

from npcompile.ops import arguments, masks, places
from npcompile.ops.assignment import assigned
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.slices import view_of


def getitem(ctx: Context, ref: ArrayRef, key: Operand) -> Operand:
    """``ref[key]``: a view, a copy of computed places, or a NumPy scalar where every axis has an
    integer."""
    items = key if isinstance(key, tuple) else (key,)
    if masks.is_whole(ref, items):
        return masks.read(ctx, ref, items[0])
    if places.is_advanced(items):
        return places.read(ctx, ref, masks.as_places(ctx, ref, items))
    geometry = view_of(ctx, ref, key)
    if geometry.ndim == 0 and not any(item is Ellipsis for item in items):
        return arguments.element(ctx, geometry)
    return geometry


def setitem(ctx: Context, ref: ArrayRef, key: Operand, value: Operand) -> None:
    """``ref[key] = value``."""
    if not ref.writeable:
        raise ctx.refuse("assignment", "the array is read-only: Python raises")
    items = key if isinstance(key, tuple) else (key,)
    if masks.is_alone(items):
        masks.write(ctx, ref, items[0], value)
        return
    if places.is_advanced(items):
        places.write(ctx, ref, masks.as_places(ctx, ref, items), value)
        return
    target = view_of(ctx, ref, key)
    ctx.write(target, assigned(ctx, target, value))
