"""Fourier transforms of arrays: plans in memory, and calls of them."""
