"""Hand-made scenes whose sensor readings are known exactly."""
