"""Python's types as traced values."""
