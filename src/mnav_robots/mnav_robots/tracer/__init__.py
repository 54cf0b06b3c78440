"""Agilex Tracer, the base of Cobot Magic: its driver's topics."""
