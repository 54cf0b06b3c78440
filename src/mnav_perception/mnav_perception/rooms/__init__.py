"""Rooms: split at doors from sensed geometry, typed by what is in them."""
