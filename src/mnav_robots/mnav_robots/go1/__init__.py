"""Unitree Go1: high-level commands over UDP."""
