"""Kernels as functions of a range of their outermost loop."""
