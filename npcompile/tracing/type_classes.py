"""The classes of Python's types that use more of tracing than the services of a type: a line for
each."""

import numpy as np

from npcompile.ops.operands import Tensor
from npcompile.python.polyfills.containers import Model
from npcompile.python.registry import TYPES

TYPES.update({
    list: "npcompile.tracing.containers:ListType",
    Model: "npcompile.tracing.traced_containers:ModelType",
    np.ndarray: "npcompile.tracing.array_types:ArrayType",
    Tensor: "npcompile.tracing.array_types:TensorType",
    np.flatiter: "npcompile.tracing.flat_iterators:FlatType",
    **dict.fromkeys(
        map(type, (np.mgrid, np.ogrid, np.r_, np.c_)),
        "npcompile.tracing.array_types:IndexTrickType",
    ),
    np.errstate: "npcompile.tracing.contexts:ErrorStateType",
})
