"""Figures: what the kernels and the seams cost, beside peers."""
