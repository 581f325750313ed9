"""Python's own functions and containers, written in Python that is traced."""
