"""Elementary and special functions: importing this room adds their records."""

from npcompile.special import elementary

__all__ = ["elementary"]
