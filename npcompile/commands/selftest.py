"""``npcompile selftest``: functions on a device, compared with the CPU."""

from __future__ import annotations

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--device", default="cuda", choices=["cuda", "interpreter", "cpu"])
    parser.add_argument("--rows", type=int, default=0, help="of the arrays")
    parser.add_argument("--columns", type=int, default=0)


def main(options: argparse.Namespace) -> int:
    """Runs the comparison."""
    from npcompile.demo import selftest

    rows, columns = (1000, 4000) if options.device == "cuda" else (9, 40)
    return selftest.main(options.device, options.rows or rows, options.columns or columns)
