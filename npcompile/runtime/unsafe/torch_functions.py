"""The C functions of torch that machine code calls: its exchange interface (DLPack 1.3), and the
functions behind some of its attributes and methods.

Nothing here imports torch: who has a tensor has done so.  Each function is looked up by name in the
object that Python has of it; where one is not what it is expected to be, there are none.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path
from typing import Any

from npcompile.core.records import record
from npcompile.runtime.unsafe import raw_memory

_NO_ARGUMENTS = 4  # METH_NOARGS
_DESCRIPTION, _FUNCTION, _RECEIVER = 40, 16, 24  # of descriptors, and of built-in functions
_NAME, _CODE, _HOW = 0, 8, 16  # of PyMethodDef and PyGetSetDef
_POINTERS = 8  # behind the version: the previous one, then functions
_TO_OBJECT, _BORROW = 3, 4  # their places
_MAJOR = 1
_BODY = 24  # words of torch's own part of a tensor

#: of this thread's dispatch keys: whether among those included or excluded, which key, and whether
#: it is there while no mode, no transformation and no autocast is on
THREAD = (("included", "FuncTorchDynamicLayerFrontMode", False), ("included", "Python", False),
          ("excluded", "AutocastCPU", True), ("included", "ADInplaceOrView", True))


@record
class TorchFunctions:
    """Addresses: ``functions`` by the names that machine code has for them, ``objects`` likewise;
    ``modes`` are names of functions, and whether these have a receiver; ``thread`` has
    the rows of :data:`THREAD` with the numbers of keys.  ``body`` is the offset in a
    tensor's object of the pointer to torch's own, and ``keys`` the offset in that of its dispatch
    keys, a word that is ``plain`` for tensors in this machine's memory that are no negative or
    conjugate view and not made for inference."""

    functions: dict[str, int]
    objects: dict[str, Any]
    modes: tuple[tuple[str, bool], ...]
    thread: tuple[tuple[str, int, bool], ...]
    body: int
    keys: int
    plain: int

    def names(self) -> dict[str, int]:
        """The address of each name."""
        return {**self.functions, **{name: id(thing) for name, thing in self.objects.items()}}


class _Unlike(Exception):
    """A function is not what it is expected to be."""


def _description(held: Any, place: int, name: str) -> int:
    """The address of what C says of a function."""
    found = raw_memory.word(id(held) + place)
    if not found or raw_memory.text(raw_memory.word(found + _NAME)) != name:
        raise _Unlike(name)
    return found


def _method(held: Any, place: int, name: str) -> int:
    """The C function of a method without arguments."""
    found = _description(held, place, name)
    if raw_memory.word(found + _HOW) & 0xFFFFFFFF != _NO_ARGUMENTS:
        raise _Unlike(name)
    return raw_memory.word(found + _CODE)


@cache
def exchange() -> TorchFunctions | None:
    """The functions, or None: this torch has no exchange interface, or is unlike what is known."""
    try:
        return _found()
    except (_Unlike, AttributeError, ValueError, OSError):
        return None


def _found() -> TorchFunctions:
    torch = sys.modules["torch"]
    api = raw_memory.capsule(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    if raw_memory.word(api) & 0xFFFFFFFF != _MAJOR:
        raise _Unlike("another version")
    functions = {
        f"npc.torch.{name}": raw_memory.word(api + _POINTERS + 8 * place)
        for name, place in (("to_object", _TO_OBJECT), ("borrow", _BORROW))
    }
    held: Any = torch._C.TensorBase.__dict__["requires_grad"]
    if type(held) is not type(int.real):
        raise _Unlike("requires_grad")
    found = _description(held, _DESCRIPTION, "requires_grad")
    functions["npc.torch.requires_grad"] = raw_memory.word(found + _CODE)
    objects: dict[str, Any] = {}
    modes = []
    asked = [(torch._C._len_torch_function_stack, "_len_torch_function_stack", 0),
             (torch.get_default_dtype, "get_default_dtype", torch.float32)]
    for held, name, want in asked:
        if type(held) is not type(len):
            raise _Unlike(name)
        functions[f"npc.torch.{name}"] = _method(held, _FUNCTION, name)
        receiver = raw_memory.word(id(held) + _RECEIVER)
        functions[f"npc.torch.{name}.self"] = receiver
        objects[f"npc.torch.{name}.want"] = want
        modes.append((name, receiver != 0))
    objects["npc.torch.forward"] = torch.autograd.forward_ad.__dict__
    objects["npc.torch.current"] = sys.intern("_current_level")
    objects["npc.torch.none"] = -1
    library = ctypes.CDLL(str(Path(str(torch.__file__)).parent / "lib" / "libc10.so"))
    for which in ("included", "excluded"):
        name = f"_ZN3c104impl28tls_is_dispatch_key_{which}ENS_11DispatchKeyE"
        functions[f"npc.torch.{which}"] = raw_memory.symbol(library, name)
    thread = tuple([
        (which, int(getattr(torch._C.DispatchKey, key)), there) for which, key, there in THREAD
    ])
    return TorchFunctions(functions, objects, tuple(modes), thread, *_keys(torch))


def _keys(torch: Any) -> tuple[int, int, int]:
    """The places of a tensor's dispatch keys, and what they are for a plain tensor; found by
    tensors whose keys torch tells."""
    plain = [torch.ones(3), torch.ones(2, 3, dtype=torch.int64).T, torch.zeros(())]
    odd = [torch._neg_view(torch.ones(2)), torch.ones(2, dtype=torch.complex64).conj()]
    with torch.inference_mode():
        odd.append(torch.ones(2))
    told = {id(x): torch._C._dispatch_keys(x).raw_repr() for x in (*plain, *odd)}
    usual = told[id(plain[0])]
    if any(told[id(x)] != usual for x in plain) or any(told[id(x)] == usual for x in odd):
        raise _Unlike("dispatch keys")
    bodies = [k for k in range(2, 4)
              if all(raw_memory.word(id(x) + 8 * k) == x._cdata for x in (*plain, *odd))]
    keys = [k for k in range(1, _BODY)
            if all(raw_memory.word(x._cdata + 8 * k) == told[id(x)] for x in (*plain, *odd))]
    if len(bodies) != 1 or len(keys) != 1:
        raise _Unlike("dispatch keys")
    return 8 * bodies[0], 8 * keys[0], usual
