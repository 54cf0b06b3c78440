"""Bodies of the simulated robots."""
