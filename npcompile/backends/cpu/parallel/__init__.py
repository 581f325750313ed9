"""Loops of several threads."""
