"""Bytecode before any value is known: instructions, control flow, liveness, statements."""
