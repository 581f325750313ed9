"""Functions of torch's that have no record: which of them may run as they are, at their place.

The result's kind is predicted by calling the function on small tensors while tracing, as for
NumPy's functions, and checked by the run.  A function that draws random numbers is found out by
that, too: it counts as an effect.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from npcompile.ops.operands import Tensor
from npcompile.tensors import tensor_memory

#: what changes torch, a tensor's metadata or the graph of autograd, or looks at memory
_NOT_PURE = frozenset({
    "apply_", "map_", "map2_", "backward", "register_hook", "retain_grad", "requires_grad_",
    "record_stream", "set_", "resize", "resize_as", "data_ptr", "const_data_ptr", "storage",
    "untyped_storage", "storage_type", "share_memory_", "pin_memory", "register_post_accumulate_"
    "grad_hook", "manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state", "save",
    "load", "compile", "from_file", "vmap", "while_loop", "cond", "wait", "fork", "numpy",
    "from_numpy", "from_dlpack", "frombuffer", "to_dlpack", "as_tensor", "asarray", "result_type",
    "can_cast", "promote_types", "typename", "is_tensor", "is_storage", "module_load", "reinforce",
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "to_sparse", "to_mkldnn", "cuda", "xpu", "ipu", "mtia", "as_subclass", "is_shared",
    "is_pinned", "is_set_to", "stride", "storage_offset", "dim_order", "tolist", "unify_type_list",
})
#: what takes on trust that numbers in its operands are places, and crashes on others: not to be
#: tried out
_TRUSTING = frozenset({
    "lu_unpack", "lu_solve", "ldl_solve", "ldl_factor", "orgqr", "ormqr", "householder_product",
    "segment_reduce", "embedding_bag", "ctc_loss", "fold", "max_unpool1d", "max_unpool2d",
    "max_unpool3d", "as_strided", "as_strided_copy", "as_strided_scatter", "slice_inverse",
})
_PREFIXES = ("cudnn", "miopen", "mkldnn", "quantized", "fbgemm", "fused_", "batch_norm_",
             "native_", "rnn", "lstm", "gru", "choose_", "fake_", "set_",
             "use_", "_", "get_", "autocast_", "is_", "sparse_", "quantize", "q_", "sym_")
_NAMESPACES = ("", "Tensor", "linalg", "fft", "special", "nn.functional")


@cache
def _functions() -> dict[int, tuple[Any, str]]:
    """Torch's functions that may be called, by identity, with their paths."""
    torch = sys.modules["torch"]
    found: dict[int, tuple[Any, str]] = {}
    for space in _NAMESPACES:
        holder = torch
        for name in filter(None, space.split(".")):
            holder = getattr(holder, name)
        for name in dir(holder):
            if name.startswith(_PREFIXES) or name.endswith("_") or (
                    name in _NOT_PURE or name in _TRUSTING):
                continue
            held = getattr(holder, name)
            if callable(held) and not isinstance(held, type):
                found[id(held)] = (held, ".".join(filter(None, ("torch", space, name))))
    return found


def path(held: Any) -> str | None:
    """The import path of a function of torch's that may be called in place, or None."""
    if "torch" not in sys.modules:
        return None
    found = _functions().get(id(held))
    return found[1] if found is not None and found[0] is held else None


class Trial:
    """A function of torch's, for operands and results that are arrays."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.draws = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        torch = sys.modules["torch"]
        state = torch.get_rng_state()
        try:
            given = {name: _as_torch(value) for name, value in kwargs.items()}
            return _as_arrays(self.function(*map(_as_torch, args), **given))
        finally:
            if not torch.equal(state, torch.get_rng_state()):
                self.draws = True
                torch.set_rng_state(state)


def _as_torch(value: Any) -> Any:
    """An operand with tensors in the place of their memory."""
    if type(value) is Tensor:
        memory: Any = value.memory
        return tensor_memory.over(memory)
    if type(value) in (tuple, list):
        return type(value)(map(_as_torch, value))
    return value


def _as_arrays(value: Any) -> Any:
    """A result with memory in the place of tensors."""
    if isinstance(value, tuple) and hasattr(type(value), "n_sequence_fields"):
        return type(value)(map(_as_arrays, value))
    if type(value) in (tuple, list):
        return type(value)(map(_as_arrays, value))
    if tensor_memory.is_torch(value):
        reason = tensor_memory.refused(value)
        if reason:
            raise ValueError(reason)
        memory: Any = value.numpy()
        return Tensor(memory)
    return value
