"""Integrals, Lambert's W and orthogonal polynomials."""
