"""Records of the functions of scipy.special: importing this module adds them."""

from npcompile.special import called, compositions, functions, tuples

__all__ = ["called", "compositions", "functions", "tuples"]
