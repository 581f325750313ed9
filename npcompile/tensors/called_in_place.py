"""Functions of torch's that have no record: which of them may run as they are, at their place.

The result's kind is predicted while tracing by calling the function on tensors of torch's ``meta``
device, which have no numbers: a function that takes numbers on trust, as places in memory, can do
no harm.  The run checks the prediction.  One whose result depends on numbers can't be predicted so.
A function that draws random numbers is found out by the tags of the operators that it calls: it
counts as an effect.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from npcompile.core.unseen import unseen
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
_PREFIXES = ("cudnn", "miopen", "mkldnn", "quantized", "fbgemm", "fused_", "batch_norm_",
             "native_", "rnn", "lstm", "gru", "choose_", "fake_", "set_",
             "use_", "_", "get_", "autocast_", "is_", "sparse_", "quantize", "q_", "sym_")
_NAMESPACES = ("", "Tensor", "linalg", "fft", "special", "nn.functional")
#: forms in place that change what a tensor is, not its elements, or call what they are given
_NOT_ELEMENTS = frozenset({
    "apply_", "as_strided_", "detach_", "map_", "map2_", "rename_", "requires_grad_", "resize_",
    "resize_as_", "retain_grad_", "set_", "share_memory_", "squeeze_", "swapaxes_", "swapdims_",
    "t_", "transpose_", "unsqueeze_",
})


def _pure(name: str) -> bool:
    return not (name.startswith(_PREFIXES) or name.endswith("_") or name in _NOT_PURE)


def _changes(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name not in _NOT_ELEMENTS and (
        not name.startswith(_PREFIXES))


@cache
def _functions(wanted: Callable[[str], bool]) -> dict[int, tuple[Any, str]]:
    """Torch's functions that may be called, by identity, with their paths."""
    torch = sys.modules["torch"]
    found: dict[int, tuple[Any, str]] = {}
    for space in _NAMESPACES:
        holder = torch
        for name in filter(None, space.split(".")):
            holder = getattr(holder, name)
        for name in dir(holder):
            held = getattr(holder, name) if wanted(name) else None
            if callable(held) and not isinstance(held, type):
                found[id(held)] = (held, ".".join(filter(None, ("torch", space, name))))
    return found


def path(held: Any) -> str | None:
    """The import path of a function of torch's that may be called in place, or None."""
    return _path(held, _pure)


def path_of_change(held: Any) -> str | None:
    """The import path of a function that changes the elements of its first operand, or None."""
    return _path(held, _changes)


def _path(held: Any, wanted: Callable[[str], bool]) -> str | None:
    if not hasattr(sys.modules.get("torch"), "Tensor"):
        return None
    found = _functions(wanted).get(id(held))
    return found[1] if found is not None and found[0] is held else None


class Change:
    """A function of torch's that changes its first operand, an array in the place of a tensor."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @unseen
    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> None:
        self.function(tensor_memory.over(array), *args, **kwargs)


class Trial:
    """A function of torch's, for operands and results that are arrays, of which it sees the layout.

    ``draws``: it has called an operator that draws random numbers.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.draws = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operands: list[Any] = []
        return self.of(self.ran(operands, args, kwargs), operands)

    def ran(self, operands: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the function on tensors without numbers, which are noted."""
        given = {name: _as_meta(value, operands) for name, value in kwargs.items()}
        placed = [_as_meta(value, operands) for value in args]
        with sys.modules["torch"].device("meta"), watched_operators() as watched:
            result = self.function(*placed, **given)
        self.draws |= watched.draws
        return result

    def of(self, result: Any, operands: list[Any]) -> Any:
        """What a result tells."""
        return _as_arrays(result, operands)


class TrialOfChange(Trial):
    """The same of a function that changes its first operand."""

    def of(self, result: Any, operands: list[Any]) -> Any:
        if result is not operands[0]:
            raise ValueError("it gives something else than its operand")



def watched_operators() -> Any:
    """A mode that notes whether operators draw random numbers."""
    return _mode_class()()


@cache
def _mode_class() -> Any:
    torch: Any = sys.modules["torch"]
    base: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Watched(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.draws = False

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # the wrapper that keeps it out imports torch's compiler: ten seconds

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.draws |= torch.Tag.nondeterministic_seeded in func.tags
            return func(*args, **(kwargs or {}))

    return Watched


def _as_meta(value: Any, operands: list[Any]) -> Any:
    """An operand with tensors that have a layout only in the place of arrays; these are noted."""
    if type(value) is Tensor:
        memory: Any = value.memory
        given = tensor_memory.over(memory)
        made = sys.modules["torch"].empty_strided(
            given.size(), given.stride(), dtype=given.dtype, device="meta")
        operands.append(made)
        return made
    if type(value) in (tuple, list):
        return type(value)(_as_meta(item, operands) for item in value)
    return value


def _as_arrays(value: Any, operands: list[Any]) -> Any:
    """A result with arrays in the place of tensors."""
    if isinstance(value, tuple) and hasattr(type(value), "n_sequence_fields"):
        return type(value)(_as_arrays(item, operands) for item in value)
    if type(value) in (tuple, list):
        return type(value)(_as_arrays(item, operands) for item in value)
    if tensor_memory.is_torch(value):
        if value._is_view() or any(value is operand for operand in operands):
            raise ValueError("it gives a view of its operand")
        if value.device.type != "meta":
            raise ValueError("its result does not depend on its operands' device")
        made = sys.modules["torch"].empty_strided(value.size(), value.stride(), dtype=value.dtype)
        reason = tensor_memory.refused(made)
        if reason:
            raise ValueError(reason)
        memory: Any = made.numpy()
        return Tensor(memory)
    return value
