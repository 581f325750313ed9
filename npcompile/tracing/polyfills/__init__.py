"""Functions of Python's library, written in Python that is traced."""
