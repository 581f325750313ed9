"""Algorithms on matrices of up to eight rows and columns, written over scalars."""
