"""The error functions."""
