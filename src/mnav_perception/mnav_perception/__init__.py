"""Perception: images and points to maps, coverage, frontiers and captures."""
