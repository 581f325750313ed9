"""Records of the functions of scipy.special: importing this module adds them."""

from npcompile.special import scipy_compositions, scipy_programs, scipy_subprograms, scipy_tuples

__all__ = ["scipy_compositions", "scipy_programs", "scipy_subprograms", "scipy_tuples"]
