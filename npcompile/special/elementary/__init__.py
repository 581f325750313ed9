"""Elementary functions of real numbers."""
