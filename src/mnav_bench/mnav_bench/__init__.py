"""Episodes, generators, oracles, metrics, runners and reports of mnav."""
