"""The MultINav agent: an interaction graph, choices by expected effect, verified interactions (sections 4, D, F, G)."""
