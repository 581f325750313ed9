"""``python -m npcompile demo``: ordinary NumPy functions on real data, before and after."""
