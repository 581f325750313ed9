"""The graph in traced order, as loop nests and statements."""
