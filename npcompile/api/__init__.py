"""The public face: :func:`jit`, explanations, deterministic switches, logs."""
