"""Training and measuring the inference of articulation states on generated houses."""
