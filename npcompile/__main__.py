"""The command line of npcompile."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.metadata import version

#: for each command its module, which adds its arguments and runs it, and its line of help
COMMANDS = {
    "run": ("commands.run", "run a script with its functions compiled, and report on them"),
    "info": ("commands.info", "versions, processor, vector width, threads, cache"),
    "cache": ("commands.cache", "show or clear the compiled functions on disk"),
    "demo": ("commands.demo", "ordinary NumPy functions on real data, timed"),
    "selftest": ("commands.selftest", "functions on a device, compared with the CPU"),
}


def main() -> int:
    """Runs the command that the arguments of the process name."""
    parser = argparse.ArgumentParser(
        prog="npcompile", description="Compiles existing NumPy functions to machine code.")
    parser.add_argument("--version", action="version", version=version("npcompile"))
    commands = parser.add_subparsers(dest="command", metavar="command")
    chosen = next((word for word in sys.argv[1:] if word in COMMANDS), None)
    for name, (module, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        if name == chosen:  # the modules of other commands are not imported
            import_module(f"npcompile.{module}").add(command)
    options = parser.parse_args()
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    found: int = import_module(f"npcompile.{COMMANDS[options.command][0]}").main(options)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
