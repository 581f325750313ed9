"""Ufuncs over compiled loops."""
