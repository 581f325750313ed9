"""Memories of a program: places, lifetimes, what can be proved about accesses."""
