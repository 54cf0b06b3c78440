"""Unitree Go2: requests of its sport service over DDS."""
