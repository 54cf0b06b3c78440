"""Simulated homes, robots and sensors: MuJoCo worlds built from a seed."""
