"""Memory of CPython's and NumPy's that is read or written by address."""
