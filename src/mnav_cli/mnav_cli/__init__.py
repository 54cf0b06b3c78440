"""The `mnav` command: bootstrap, tests, and supervised systems."""
