"""Loops over elements: parallel, vector and scalar."""
