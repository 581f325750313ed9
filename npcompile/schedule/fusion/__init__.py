"""Kernels that run together."""
