"""Runs compiled functions: entries, versions, threads, memory and the disk cache."""
