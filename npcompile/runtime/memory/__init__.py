"""Recycled memory of results."""
