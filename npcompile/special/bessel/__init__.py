"""Bessel's functions and their relatives."""
