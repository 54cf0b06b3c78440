"""Hand-made houses for tests: what is in them is known to the millimetre."""
