"""The house generator: from a seed to an accepted MJCF home and its record."""
