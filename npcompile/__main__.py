"""``python -m npcompile demo`` and ``python -m npcompile selftest``."""

from __future__ import annotations

import argparse


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="npcompile", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="ordinary NumPy functions on real data, timed")
    demo.add_argument("--output", default="demo_output", help="folder for the page of pictures")
    test = commands.add_parser("selftest", help="functions on a device, compared with the CPU")
    test.add_argument("--device", default="cuda", choices=["cuda", "interpreter"])
    test.add_argument("--rows", type=int, default=0, help="of the arrays")
    test.add_argument("--columns", type=int, default=0)
    options = parser.parse_args()
    if options.command == "selftest":
        from npcompile.demo import selftest

        large = options.device == "cuda"
        rows, columns = options.rows or (1000 if large else 9), options.columns or (
            4000 if large else 40)
        return selftest.main(options.device, rows, columns)
    from npcompile.demo import run

    return run.main(options.output)


if __name__ == "__main__":
    raise SystemExit(main())
