"""Routines on matrices."""
