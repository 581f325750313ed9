"""Random numbers, as NumPy's generators draw them."""
