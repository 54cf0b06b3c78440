"""Voxel log-odds map and the grids that follow from it."""
