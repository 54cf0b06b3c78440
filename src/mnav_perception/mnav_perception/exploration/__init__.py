"""Where to go next."""
