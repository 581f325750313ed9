"""Benchmarks, each side by side with the installed competitors in one process run."""
