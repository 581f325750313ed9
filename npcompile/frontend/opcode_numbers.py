"""The numbers of opcodes, which tell whether this interpreter is one that can be compiled for."""

from __future__ import annotations

import opcode
import sys
import zlib
from functools import cache

from npcompile.core.errors import Refusal
from npcompile.core.surroundings import Unusable

VERSION = sys.version_info[:2]
#: checksums of the opcodes' numbers: an interpreter of the same version may have others
_OPCODES = {(3, 11): 2731149115, (3, 12): 878142643, (3, 13): 860739603}


@cache
def check_opcodes() -> None:
    """Raises :class:`Unusable` if instructions have other numbers than CPython gives them."""
    numbers = zlib.crc32(repr(sorted(opcode.opmap.items())).encode())
    if _OPCODES.get(VERSION) != numbers:
        version = ".".join(map(str, VERSION))
        raise Unusable(Refusal("machine", f"this Python {version} has opcodes of its own"))
