"""Frames, maps and rooms for tests."""
