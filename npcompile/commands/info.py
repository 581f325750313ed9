"""``npcompile info``: the versions, the machine and the settings that compiled code depends on."""

from __future__ import annotations

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments: it has none."""


def main(options: argparse.Namespace) -> int:
    """Prints one line for each fact."""
    from npcompile.api.system import found

    facts = list(found())
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"{name:{width}}  {value}")
    return 0
