"""Versions of a function: compiled, found, chosen and left."""
