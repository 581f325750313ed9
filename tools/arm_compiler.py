"""LLVM of this machine for the emulated one: it writes the same objects, thirty times faster.

``python -m tools.arm_compiler SOCKET`` compiles what emulated processes ask for; ``install`` makes
a process ask.  ``tests.portable.objects`` compares both machines' objects.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import socket
import socketserver
import sys
import traceback
from typing import Any

TRIPLE = "aarch64-unknown-linux-gnu"
VARIABLE = "NPCOMPILE_ARM_COMPILER"  #: names the socket, in emulated processes
_MODULE = "npcompile.backends.cpu.loader.compile"


def _sent(end: socket.socket, data: bytes) -> None:
    end.sendall(len(data).to_bytes(8, "little") + data)


def _received(end: socket.socket) -> bytes:
    def exactly(count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            part = end.recv(min(count - len(found), 1 << 20))
            if not part:
                raise EOFError("the other machine's compiler has gone")
            found += part
        return bytes(found)

    return exactly(int.from_bytes(exactly(8), "little"))


# ------------------------------------------------------------------ this machine


class _Request(socketserver.BaseRequestHandler):
    """A text to compile, and the object or what went wrong."""

    def handle(self) -> None:
        from npcompile.backends.cpu.loader.compile import compile, compiler_version
        from npcompile.core.records import replace

        text, of, optimise = pickle.loads(_received(self.request))
        answer: tuple[bool, bytes | str, str]
        try:
            answer = True, compile(text, replace(of, triple=TRIPLE), optimise), compiler_version()
        except Exception:
            answer = False, traceback.format_exc(), ""
        _sent(self.request, pickle.dumps(answer))


def serve(path: str) -> None:
    """Compiles for processes that connect to a socket, one after the other, until it is ended."""
    with socketserver.UnixStreamServer(path, _Request) as server:
        server.serve_forever()


# ------------------------------------------------------------------ the emulated machine


def install() -> None:
    """Makes this process ask for objects, from the first import of the compiler on."""
    if os.environ.get(VARIABLE):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds one module, as the others would, and replaces a function of it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def executed(module: Any) -> None:
            execute(module)
            module.compile = asking(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


def asking(module: Any) -> Any:
    """The function that asks for objects, and makes those of third machines itself."""
    here = module.compile

    def compile(text: str, of: Any = None, optimise: tuple[str, ...] = ()) -> bytes:
        of = of if of is not None else module.target()
        if of.triple or of.family != "aarch64":
            made: bytes = here(text, of, optimise)
            return made
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(os.environ[VARIABLE])
            _sent(end, pickle.dumps((text, of, optimise)))
            well, found, version = pickle.loads(_received(end))
        if not well:
            raise RuntimeError(found)
        if version != module.compiler_version():
            raise RuntimeError(f"another compiler: {version}")
        return bytes(found)

    asked: Any = module._alone(compile)
    asked.own = here
    return asked


if __name__ == "__main__":
    serve(sys.argv[1])
