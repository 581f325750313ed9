"""``npcompile cache``: what is kept on disk, and how it is deleted."""

from __future__ import annotations

import argparse

from npcompile.runtime.cache.disk import DiskCache


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    choices = ["list", "size", "clear"]
    parser.add_argument(
        "action", nargs="?", default="list", choices=choices,
        help="say where the files are and how many (list), their bytes (size), or delete them")


def main(options: argparse.Namespace) -> int:
    """Shows or deletes compiled functions."""
    disk = DiskCache()
    if options.action == "clear":
        before = disk.info()
        disk.clear()
        after = disk.info()
        print(f"deleted {before.entries - after.entries} files, "
              f"{(before.bytes - after.bytes) / 1e6:.1f} MB, in {disk.path}")
        return int(after.entries > 0)
    known = disk.info()
    if options.action == "size":
        print(known.bytes)
        return 0
    print(f"{known.path}: {known.entries} files, {known.bytes / 1e6:.1f} MB "
          f"of {disk.capacity / 1e6:.0f} MB")
    if known.reason:
        print(f"not used: {known.reason}")
    return 0
