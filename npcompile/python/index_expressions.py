"""``np.s_`` and ``np.index_exp``, whose items are the keys themselves."""

from __future__ import annotations

from npcompile.python.protocol import PythonType
from npcompile.python.values import Sequence, Static, Value


class IndexExpressionType(PythonType):
    """``np.s_`` and ``np.index_exp``."""

    value: Static

    def getitem(self, key: Value) -> Value:
        several = (isinstance(key, Sequence) and key.kind is tuple) or (
            isinstance(key, Static) and isinstance(key.value, tuple))
        return key if several or not self.value.value.maketuple else Sequence((key,))
