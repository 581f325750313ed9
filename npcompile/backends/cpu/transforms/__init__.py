"""Fourier transforms: codelets, and plans as lists of steps."""
