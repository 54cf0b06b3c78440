"""Geometric executor: visual point to anchor, approach pose, path and velocity; plain cores, time passed in."""
