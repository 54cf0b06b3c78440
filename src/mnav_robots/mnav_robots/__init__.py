"""Robot drivers and the velocity gate, the only source of base velocity."""
