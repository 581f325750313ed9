"""The gamma function and its relatives."""
