"""Sets the workspace up. Runs on any Python 3.10 to 3.13 with the standard library alone."""
