"""``python -m npcompile demo``."""

from __future__ import annotations

import argparse


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="npcompile", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="ordinary NumPy functions on real data, timed")
    demo.add_argument("--output", default="demo_output", help="folder for the page of pictures")
    options = parser.parse_args()
    from npcompile.demo import run

    return run.main(options.output)


if __name__ == "__main__":
    raise SystemExit(main())
