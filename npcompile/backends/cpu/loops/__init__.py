"""Statements, and loops of one thread."""
