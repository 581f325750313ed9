"""Elementary and special functions: importing this room adds their records."""

from npcompile.special import elementary, functions

__all__ = ["elementary", "functions"]
