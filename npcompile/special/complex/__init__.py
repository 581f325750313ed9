"""Functions of complex numbers."""
