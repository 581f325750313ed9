"""The machine code that a call of a compiled function runs first."""
