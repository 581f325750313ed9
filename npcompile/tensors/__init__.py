"""Torch tensors as arguments: torch's names and rules, spelled with our operators."""
