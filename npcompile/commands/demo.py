"""``npcompile demo``: ordinary NumPy functions on real data, timed."""

from __future__ import annotations

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--output", default="demo_output", help="folder for the page of pictures")


def main(options: argparse.Namespace) -> int:
    """Runs the demo."""
    from npcompile.demo import run

    return run.main(options.output)
